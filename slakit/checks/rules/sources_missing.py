"""Numbers that nobody can trace."""

from __future__ import annotations

from collections.abc import Iterator

from schemas.deal import Deal
from slakit.checks.finding import Raised, everybody
from slakit.checks.sourcing import numbers_without_source

ID = "source-missing"
CONCERN = everybody("note")
NAMED = 5
"""Paths that the message names."""


def find(deal: Deal) -> Iterator[Raised]:
    """Yield one finding for all numbers without a source."""
    paths = list(numbers_without_source(deal))
    if paths:
        rest = f" and {len(paths) - NAMED:,} more" if len(paths) > NAMED else ""
        numbers, have = ("number", "has") if len(paths) == 1 else ("numbers", "have")
        yield Raised(
            CONCERN,
            None,
            "provenance",
            f"{len(paths):,} {numbers} {have} no source: {', '.join(paths[:NAMED])}{rest}. Add them to `provenance`, "
            "by path, by a beginning with .* or by * for all.",
        )
