"""Clause numbers of a statement: those of the signed copy where it is at hand, else of the agreement as drafted now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from schemas.deal import Deal, path_of
from schemas.errors import DealError, Problem
from slakit.documents.extract import extract
from slakit.loading.source import shown_name
from slakit.reports.clauses import Clauses, clauses_of

COMPARED = ("parties", "commercial", "service_levels", "measurement", "exclusions", "credits", "cancellation")
"""Sections of which a copy and the deal must say the same."""
MAY_CHANGE = frozenset({"notice_address"})
"""Terms that change by a notice alone."""
MOST_DIFFERENCES = 10
"""Differing terms that are named. [1]"""
REMEDY = "name the copy of this contract, correct the deal, or add what was agreed since to its amendments"

Difference = tuple[str, Any, Any]
"""Path of a term, its value in the copy and in the deal."""


def clauses_for(deal: Deal, contract: Path | None) -> Clauses:
    """Return the printed numbers by paragraph.

    Parameters
    ----------
    contract : a PDF that slakit drafted, whose own map of numbers is used.

    Raises
    ------
    DealError
        When the file is no such PDF, or its terms are others than those of the deal, as signed or as amended.
    """
    if contract is None:
        return clauses_of(deal)
    from slakit.documents.embed import read

    copy = read(contract)
    found = _fewest(copy["terms"], deal)
    if found:
        raise DealError(_problems(found, shown_name(contract.name)))
    return Clauses(copy["numbering"], copy["sha256"])


def _fewest(terms: Mapping[str, Any], deal: Deal) -> list[Difference]:
    """Return how a copy differs from the deal as signed, or as amended on some date where that is nearer."""
    dates: list[date] = sorted({amendment.effective_from for amendment in deal.amendments})
    versions = [deal, *(deal.at(day) for day in dates)]
    return min((list(differences(terms, version)) for version in versions), key=len)


def differences(terms: Mapping[str, Any], deal: Deal) -> Iterator[Difference]:
    """Yield the terms that a copy and a deal give differently, of the sections in `COMPARED`."""
    for section in COMPARED:
        if section in terms:
            yield from _differ((section,), terms[section], getattr(deal, section))


def _differ(steps: tuple[str | int, ...], said: Any, value: Any) -> Iterator[Difference]:
    if isinstance(said, Mapping) and said and value is not None:
        names = [name for name in said if name not in MAY_CHANGE]
        for name in names:
            below = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
            yield from _differ((*steps, name), said[name], below)
        if steps == ("service_levels",):
            for name in value:
                if name not in said:
                    yield path_of((*steps, name)), None, "a service level"
        return
    if isinstance(said, list) and said and isinstance(value, tuple):
        for i, item in enumerate(said):
            if i < len(value) and item is not None:
                yield from _differ((*steps, i), item, value[i])
        if len(said) != len(value):
            yield path_of(steps), f"{len(said)} entries", f"{len(value)} entries"
        return
    here = extract({"value": value})["value"]
    if said != here:
        yield path_of(steps), said, here


def _problems(found: list[Difference], name: str) -> Iterator[Problem]:
    for path, copy, deal in found[:MOST_DIFFERENCES]:
        yield Problem(path, f"{_shown(deal)} in the deal", f"{_shown(copy)}, as in {name}", REMEDY)
    if len(found) > MOST_DIFFERENCES:
        more = f"{len(found) - MOST_DIFFERENCES} more terms that differ from {name}"
        yield Problem("--contract", more, "a copy of this deal", REMEDY)


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    return "other terms" if isinstance(value, Mapping) else str(value)[:60]
