"""How much credit a month can bear before cover of the debt falls to its covenant.

The lender's side has no clause of its own yet, so this rule and its neighbours `deductions`, `default_sum`,
`backstop_gap`, `contagion`, `earliest_end`, `unit_days` and `patch_age` return plain values without steps.
"""

from __future__ import annotations

from fractions import Fraction


def exact(revenue: Fraction, operating_cost: Fraction, debt_service: Fraction, minimum_dscr: Fraction) -> Fraction:
    """Return the greatest share of a month's revenue that can be credited; negative when cover is too low already. [1]

    Parameters
    ----------
    revenue, operating_cost, debt_service : of one month, before any credit; revenue above 0. [currency]
    minimum_dscr : the covenant. [1]

    Notes
    -----
    A credit of share c leaves (revenue * (1 - c) - operating_cost) / debt_service, which is set equal to the covenant.

    Examples
    --------
    >>> exact(Fraction(10), Fraction(2), Fraction(7), Fraction("1.05"))
    Fraction(13, 200)
    """
    return (revenue - operating_cost - minimum_dscr * debt_service) / revenue


def dscr(revenue: Fraction, operating_cost: Fraction, debt_service: Fraction, credit: Fraction) -> Fraction | None:
    """Return cover of the debt in a month with a credit, None where no debt service is due. [1]

    Parameters
    ----------
    credit : share of revenue that is credited. [1]
    """
    return (revenue * (1 - credit) - operating_cost) / debt_service if debt_service else None
