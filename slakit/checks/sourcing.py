"""Which source the provenance of a deal gives a value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal

from schemas.base import Terms
from schemas.deal import Deal
from schemas.sources import Source

WHOLE_DEAL = "*"
_OWN_SOURCE = ("provenance", "accepted_findings", "schema_version")


def source_of(deal: Deal, path: str) -> Source | None:
    """Return the source of the value at `path`: the longest path of `provenance` that holds it."""
    patterns = [pattern for pattern in deal.provenance if _holds(pattern, path)]
    return deal.provenance[max(patterns, key=len)] if patterns else None


def _holds(pattern: str, path: str) -> bool:
    if pattern == WHOLE_DEAL:
        return True
    beginning = pattern.removesuffix(".*")
    return path == beginning or path.startswith((f"{beginning}.", f"{beginning}["))


def numbers_without_source(deal: Deal) -> Iterator[str]:
    """Yield the path of each number typed in the file that neither carries its source nor has one in `provenance`."""
    for name in type(deal).model_fields:
        if name in deal.model_fields_set and name not in (*_OWN_SOURCE, "amendments"):
            yield from (path for path in _numbers(getattr(deal, name), name) if source_of(deal, path) is None)
    for i, amendment in enumerate(deal.amendments):
        for term, value in amendment.set.items():
            for path in _numbers(value, term):
                if source_of(deal, path) is None and source_of(deal, f"amendments[{i}]") is None:
                    yield f"amendments[{i}].set: {path}"


def _numbers(value: object, path: str) -> Iterator[str]:
    """Yield the paths of numbers in a value, those with a source of their own left out."""
    match value:
        case bool() | str():
            return
        case int() | Decimal():
            yield path
        case Source():
            return
        case Terms():
            for name in type(value).model_fields:
                if name in value.model_fields_set:
                    yield from _numbers(getattr(value, name), f"{path}.{name}")
        case Mapping():
            for key, inner in value.items():
                yield from _numbers(inner, f"{path}.{key}")
        case list() | tuple():
            for i, inner in enumerate(value):
                yield from _numbers(inner, f"{path}[{i}]")
