"""The terms of the contract that a statement reads and carries: nothing of lenders, insurers or the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schemas.deal import Deal, steps_of
from slakit.json_text import typed_text
from slakit.load import deal_in
from slakit.loading.source import source_of

EVERYTHING = None
CARRIED: Mapping[str, frozenset[str] | None] = {
    "schema_version": EVERYTHING,
    "title": EVERYTHING,
    "parties": EVERYTHING,
    "clusters": frozenset({"name", "hardware", "units", "spares"}),
    "services": EVERYTHING,
    "measurement": EVERYTHING,
    "service_levels": EVERYTHING,
    "exclusions": EVERYTHING,
    "credits": EVERYTHING,
    "delivery": EVERYTHING,
    "cancellation": EVERYTHING,
    "commercial": EVERYTHING,
    "operations": frozenset({"replacement", "support", "reports", "units"}),
    "amendments": EVERYTHING,
    "unknown": EVERYTHING,
}
"""Sections of the contract, and the fields of those that hold more than the contract."""
BELOW_AN_ENTRY = ("clusters",)
"""Sections whose fields stand below a name."""
SIGNS = ("provider", "customer")
"""Roles of the parties that a statement names."""


def contract_terms(deal: Deal) -> Deal:
    """Return the terms of the contract alone: without sites, lenders, insurers, costs, assumptions and sources."""
    data = deal.model_dump(mode="python", exclude_unset=True)
    kept: dict[str, Any] = {}
    for section, fields in CARRIED.items():
        if section not in data:
            continue
        value = data[section]
        if fields is not None and section in BELOW_AN_ENTRY:
            value = {name: {k: v for k, v in one.items() if k in fields} for name, one in value.items()}
        elif fields is not None:
            value = {k: v for k, v in value.items() if k in fields}
        kept[section] = value
    kept["parties"] = {name: one for name, one in kept.get("parties", {}).items() if one["role"] in SIGNS}
    kept["unknown"] = {path: reason for path, reason in kept.get("unknown", {}).items() if is_carried(path)}
    amendments = []
    for amendment in kept.get("amendments", ()):
        changes = {path: value for path, value in amendment["set"].items() if is_carried(path)}
        if changes:
            amendments.append({**amendment, "set": changes})
    kept["amendments"] = amendments
    return Deal.model_validate(kept)


def is_carried(path: str) -> bool:
    """Return whether a term is one of the contract, and whole.

    >>> [is_carried(path) for path in ("credits.caps.month", "operations.support", "operations", "finance")]
    [True, True, False, False]
    """
    section, *rest = (str(step) for step in steps_of(path))
    fields = CARRIED.get(section, frozenset())
    if fields is None:
        return True
    place = 1 if section in BELOW_AN_ENTRY else 0
    return len(rest) > place and rest[place] in fields


def as_carried(deal: Deal) -> Deal:
    """Return the terms of the contract read back from the file that carries them.

    A statement is computed on these, so that it is the same, to the last letter of every rule, when it is made again.
    """
    return deal_in(source_of("terms.json", typed_text(contract_terms(deal)).encode())).deal
