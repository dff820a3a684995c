"""The extract of a deal that travels with a document: the terms its texts read, and nothing else."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from schemas.deal import steps_of

FORMAT = "slakit-terms"


def extract(leaves: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values read, nested and ordered as they were read, as plain JSON data.

    The order of service levels is a term: of two that pay the same the first is paid.

    >>> extract({"credits.caps.unit": Decimal("1.0"), "limbs[1].k": 3})
    {'credits': {'caps': {'unit': '1'}}, 'limbs': [None, {'k': 3}]}
    """
    tree: dict[str | int, Any] = {}
    for path in leaves:
        *trail, last = steps_of(path)
        holder = tree
        for step in trail:
            below = holder.setdefault(step, {})
            if not isinstance(below, dict):
                below = holder[step] = {}
            holder = below
        if not isinstance(holder.get(last), dict):
            holder[last] = _plain(leaves[path])
    listed: dict[str, Any] = _lists(tree)
    return listed


def in_order_of(deal: Any, terms: Any) -> Any:
    """Return an extract whose entries of one section stand in the order of the deal, in which the texts list them.

    >>> in_order_of({"sites": {"a": 1, "b": 2}}, {"sites": {"b": 2, "a": 1}})
    {'sites': {'a': 1, 'b': 2}}
    """
    match terms:
        case dict():
            names = [name for name in deal if name in terms] if isinstance(deal, Mapping) else []
            return {name: in_order_of(_below(deal, name), terms[name]) for name in dict.fromkeys((*names, *terms))}
        case list():
            return [in_order_of(_below(deal, i), item) for i, item in enumerate(terms)]
    return terms


def canonical(data: Any) -> bytes:
    """Return JSON without spaces and with keys in their order, the form that digests are taken of."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode()


def digest(data: Any) -> str:
    """Return the sha256 of the canonical form."""
    return hashlib.sha256(canonical(data)).hexdigest()


def _below(deal: Any, step: str | int) -> Any:
    """Return what stands under one step of a deal, None for nothing."""
    if isinstance(deal, Mapping):
        return deal.get(step)
    if isinstance(step, int):
        return deal[step] if isinstance(deal, tuple) and step < len(deal) else None
    return getattr(deal, step, None)


def _plain(value: Any) -> Any:
    match value:
        case None | bool() | int():
            return value
        case Decimal():
            text = f"{value:f}"
            return text.rstrip("0").rstrip(".") if "." in text else text
        case date():
            return value.isoformat()
        case str():
            return str(value)
        case tuple():
            return []
        case _:
            return {}


def _lists(tree: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    if tree and all(isinstance(key, int) for key in tree):
        return [_lists(tree.get(index)) for index in range(max(tree) + 1)]
    return {key: _lists(value) for key, value in tree.items()}
