"""Bounds on credits: of the unit, of the month, of the contract year."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from risk.core.computed import Computed, Step
from schemas.credits import CreditCaps
from schemas.money import Money, Rounding, minor_unit_places, rounded_to_minor_unit, total

PARAGRAPH = "credit-caps.month"
UNIT_PARAGRAPH = "credit-caps.unit"
YEAR_PARAGRAPH = "credit-caps.year"
ORDER_PARAGRAPH = "credit-caps.order"
LOST_PARAGRAPH = "credit-caps.lost"

FloatArray = NDArray[np.float64]


def of_unit(credit: Fraction, unit_fee: Fraction, caps: CreditCaps) -> Computed[Fraction]:
    """Return the credit of one unit, at most its cap, not rounded. [currency]"""
    cap = Fraction(caps.unit) * unit_fee
    allowed = min(credit, cap)
    rule = f"at most {caps.unit} of the fee accrued for the unit in the month"
    inputs = {"credit": credit, "cap": cap}
    return Computed(allowed, (Step(UNIT_PARAGRAPH, rule, allowed, inputs, "credits.caps.unit"),))


def exact(
    lines: Sequence[Money],
    cap: Fraction | None,
    paid: Money,
    rounding: Rounding,
    *,
    year: bool = False,
    share: Decimal | None = None,
) -> Computed[tuple[Money, ...]]:
    """Return what is left of each line under the cap of the month, or of the year.

    Parameters
    ----------
    lines : rounded credits in the order of the statement.
    cap : the cap, not rounded; no cap when None. [currency]
    paid : credits already given in the contract year; nothing for the cap of the month.
    rounding : how the cap itself is rounded.
    year : whether it is the cap of the contract year.
    share : the share of the fee that the cap is, for the step. [1]

    Notes
    -----
    Lines are reduced in proportion. The running sum of the reduced lines is cut down to the smallest unit of the
    currency, so that they add up to the cap and the last line takes what is left.
    """
    currency = paid.currency
    asked = total(lines, currency)
    if cap is None:
        return Computed(tuple(lines), ())
    room = Money(rounded_to_minor_unit(cap, currency, rounding), currency) - paid
    room = max(room, Money(Decimal(0).scaleb(-minor_unit_places(currency)), currency), key=lambda m: m.amount)
    given = asked if asked <= room else room
    of = "planned for the service in the contract year" if year else "accrued for the service in the month"
    step = Step(
        YEAR_PARAGRAPH if year else PARAGRAPH,
        f"the credits are at most {share} of the fee {of}",
        given,
        {"credits": asked, "cap": cap, "given_before": paid, "room": room},
        "credits.caps.year" if year else "credits.caps.month",
    )
    if given == asked:
        return Computed(tuple(lines), (step,))
    ratio = Fraction(room.amount) / Fraction(asked.amount)
    reduced: list[Money] = []
    running, before = Fraction(0), Decimal(0)
    for line in lines:
        running += Fraction(line.amount)
        now = rounded_to_minor_unit(running * ratio, currency, "down")
        reduced.append(Money(now - before, currency))
        before = now
    rule = "what exceeds the cap is not owed and is not carried forward"
    lost = Step(LOST_PARAGRAPH, rule, asked - given, {"credits": asked, "given": given})
    return Computed(tuple(reduced), (step, lost))


def order_step() -> Step:
    """Return the step that names the order of the caps."""
    order = ("cap of the unit", "rounding", "choice between levels", "claims", "cap of the month", "cap of the year")
    return Step(ORDER_PARAGRAPH, "the limits are applied in this order", order)


def arrays(
    credit: FloatArray,
    month_base: FloatArray,
    year_base: FloatArray,
    paid_this_year: FloatArray,
    caps: CreditCaps,
) -> FloatArray:
    """Return credits after the caps of month and year, not rounded, shape (draws, services). [currency]

    Parameters
    ----------
    credit : credits of the month before these caps, shape (draws, services). [currency]
    month_base : fees accrued in the month, broadcast against it. [currency]
    year_base : fees planned for the contract year, broadcast against it. [currency]
    paid_this_year : credits already given in the contract year, same shape. [currency]
    caps : shares of these fees.
    """
    allowed = np.asarray(credit, dtype=float)
    if caps.month is not None:
        allowed = np.minimum(allowed, float(caps.month) * np.asarray(month_base))
    if caps.year is not None:
        room = np.maximum(float(caps.year) * np.asarray(year_base) - np.asarray(paid_this_year), 0.0)
        allowed = np.minimum(allowed, room)
    return allowed
