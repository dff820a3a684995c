"""The terms of the contract that a statement reads and carries: nothing of lenders, insurers or the model."""

from __future__ import annotations

from schemas.deal import Deal
from slakit.json_text import typed_text
from slakit.load import deal_in
from slakit.loading.source import source_of

CONTRACT_SECTIONS = (
    "schema_version", "title", "parties", "clusters", "services", "measurement", "service_levels", "exclusions",
    "credits", "delivery", "cancellation", "commercial", "operations", "amendments", "unknown",
)  # fmt: skip
"""Sections that a statement may read; a lender's and an insurer's stay behind."""
LENDER_AMENDMENTS = (
    "finance",
    "assumptions",
    "insurance",
    "backstop",
    "residual_value",
    "power",
    "sites",
    "provenance",
)


def contract_terms(deal: Deal) -> Deal:
    """Return the terms of the contract alone, without sites, money of lenders, assumptions and sources."""
    data = deal.model_dump(mode="python", exclude_unset=True)
    kept = {name: data[name] for name in CONTRACT_SECTIONS if name in data}
    clusters = kept.get("clusters", {})
    kept["clusters"] = {name: {k: v for k, v in one.items() if k != "site"} for name, one in clusters.items()}
    amendments = []
    for amendment in kept.get("amendments", ()):
        changes = {path: v for path, v in amendment["set"].items() if not path.startswith(LENDER_AMENDMENTS)}
        if changes:
            amendments.append({**amendment, "set": changes})
    kept["amendments"] = amendments
    return Deal.model_validate(kept)


def as_carried(deal: Deal) -> Deal:
    """Return the terms of the contract read back from the file that carries them.

    A statement is computed on these, so that it is the same, to the last letter of every rule, when it is made again.
    """
    return deal_in(source_of("terms.json", typed_text(contract_terms(deal)).encode())).deal
