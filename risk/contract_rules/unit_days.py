"""An invoice by units and days: pay for what is accepted, from the day it is ready for service."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from schemas.money import Money, Rounding, rounded_to_minor_unit, total
from schemas.periods import Month

Proration = Literal["actual_days", "thirty_days", "none"]
"""`actual_days`: days over the days of the month; `thirty_days`: days over 30, at most a whole month; `none`: a whole
month for any part of one."""


@dataclass(frozen=True, slots=True)
class BilledUnit:
    """One accepted unit."""

    unit: str
    monthly_fee: Decimal
    """[currency/month]"""
    ready: date
    """Ready-for-Service Date, the first day billed."""
    ends: date | None = None
    """First day no longer billed."""
    unavailable: frozenset[date] = frozenset()
    """Days on which the capacity was not available; nothing is payable for them."""


def exact(
    units: Sequence[BilledUnit],
    month: Month,
    currency: str,
    proration: Proration = "actual_days",
    *,
    basis: Literal["available_units", "contracted_units"] = "available_units",
    rounding: Rounding = "half_up",
) -> tuple[tuple[tuple[str, int, Money], ...], Money]:
    """Return a line of unit, days and fee for each unit billed in a month, each rounded once, and their sum.

    Parameters
    ----------
    basis : whether days on which a unit was not available are billed.
    """
    first, after = month.first_day(), month.plus(1).first_day()
    length = (after - first).days
    lines: list[tuple[str, int, Money]] = []
    for unit in units:
        start, end = max(first, unit.ready), min(after, unit.ends or after)
        billed = {start + timedelta(days=i) for i in range(max((end - start).days, 0))}
        if basis == "available_units":
            billed -= unit.unavailable
        if not billed:
            continue
        days = len(billed)
        share = {
            "actual_days": Fraction(days, length),
            "thirty_days": Fraction(1) if days == length else min(Fraction(days, 30), Fraction(1)),
            "none": Fraction(1),
        }[proration]
        amount = rounded_to_minor_unit(Fraction(unit.monthly_fee) * share, currency, rounding)
        lines.append((unit.unit, days, Money(amount, currency)))
    return tuple(lines), total((fee for _, _, fee in lines), currency)
