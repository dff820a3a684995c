"""Where a backstop does not answer: ways of ending it does not name, and months in which it is less than the debt."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction

from schemas.backstop import WayOfEnding


def unanswered(ways: Sequence[WayOfEnding], triggers: Collection[WayOfEnding]) -> tuple[WayOfEnding, ...]:
    """Return the ways in which a contract can end that are no trigger of the backstop, in the order given."""
    return tuple(way for way in ways if way not in triggers)


def cover(
    month: int, amount: Fraction, starts: Fraction, amortisation_months: int | None, ends: Fraction | None = None
) -> Fraction:
    """Return the sum that a backstop covers at the end of a month after close. [currency]

    Parameters
    ----------
    month : months after close.
    amount : sum covered at the start. [currency]
    starts, ends : months after close between which there is cover; no end when None. [month]
    amortisation_months : time over which it falls to nothing in equal parts; level when None. [month]
    """
    if month < starts or (ends is not None and month >= ends):
        return Fraction(0)
    if amortisation_months is None:
        return amount
    return amount * max(Fraction(0), 1 - (month - starts) / amortisation_months)


def exact(debt: Sequence[Fraction], covered: Sequence[Fraction]) -> dict[int, Fraction]:
    """Return by how much the cover falls short of the debt, for each month in which it does. [currency]

    Parameters
    ----------
    debt, covered : at close and after each month. [currency]
    """
    gaps = ((month, owed - sum_) for month, (owed, sum_) in enumerate(zip(debt, covered, strict=True)))
    return {month: gap for month, gap in gaps if gap > 0}
