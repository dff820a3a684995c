"""Bounds on credits: of the unit, of the month, of the contract year, of the whole term; and the least that is paid."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from risk.core.computed import Computed, Step
from schemas.credits import CreditCaps
from schemas.money import Money, Rounding, rounded_to_minor_unit, total, zero

PARAGRAPH = "credit-caps.month"
UNIT_PARAGRAPH = "credit-caps.unit"
YEAR_PARAGRAPH = "credit-caps.year"
TERM_PARAGRAPH = "credit-caps.term"
MINIMUM_PARAGRAPH = "credit-caps.minimum"
ORDER_PARAGRAPH = "credit-caps.order"
LOST_PARAGRAPH = "credit-caps.lost"

FloatArray = NDArray[np.float64]
CapOf = Literal["month", "year", "term"]
_PARAGRAPHS = {"month": PARAGRAPH, "year": YEAR_PARAGRAPH, "term": TERM_PARAGRAPH}
_FEES = {
    "month": "accrued for the service in the month",
    "year": "planned for the service in the contract year",
    "term": "planned for the service in the whole term",
}
_TERM = "credits.caps"


def of_unit(credit: Fraction, unit_fee: Fraction, caps: CreditCaps) -> Computed[Fraction]:
    """Return the credit of one unit, at most its cap, not rounded. [currency]"""
    cap = Fraction(caps.unit) * unit_fee
    allowed = min(credit, cap)
    rule = f"at most {caps.unit} of the fee accrued for the unit in the month"
    inputs = {"credit": credit, "cap": cap}
    return Computed(allowed, (Step(UNIT_PARAGRAPH, rule, allowed, inputs, "credits.caps.unit"),))


def least(credit: Money, minimum: Decimal) -> Computed[bool]:
    """Return whether the credit of one line is large enough to be paid."""
    is_paid = credit.amount > minimum
    rule = f"only a line of more than {minimum} is paid, and one that is not paid uses up no limit"
    return Computed(is_paid, (Step(MINIMUM_PARAGRAPH, rule, is_paid, {"credit": credit}, "credits.minimum_payable"),))


def amount_of(share: Decimal | None, fee: Fraction | None, currency: str, rounding: Rounding) -> Money | None:
    """Return a cap that is a share of a fee, rounded like a line; None where there is no cap."""
    if share is None or fee is None:
        return None
    return Money(rounded_to_minor_unit(Fraction(share) * fee, currency, rounding), currency)


def exact(
    lines: Sequence[Money],
    cap: Money | None,
    paid: Money,
    *,
    of: CapOf = "month",
    share: Decimal | None = None,
    of_previous: bool = False,
    carries: bool = False,
) -> Computed[tuple[Money, ...]]:
    """Return what is left of each line under the cap of the month, of the year or of the term.

    Parameters
    ----------
    lines : rounded credits in the order of the statement.
    cap : the cap, rounded; no cap when None.
    paid : what the cap has gone to already: credits given before, and those of earlier periods that are owed now.
    of : which cap it is.
    share : the share of the fee that the cap is, for the step. [1]
    of_previous : whether the fee is that of the period before.
    carries : whether what exceeds the cap is owed in later periods.

    Notes
    -----
    Lines are reduced in proportion. The running sum of the reduced lines is cut down to the smallest unit of the
    currency, so that they add up to the cap and the last line takes what is left.
    """
    currency = paid.currency
    asked = total(lines, currency)
    if cap is None:
        return Computed(tuple(lines), ())
    room = max(cap - paid, zero(currency), key=lambda m: m.amount)
    given = asked if asked <= room else room
    fee = "accrued for the service in the month before" if of_previous else _FEES[of]
    facts = {"credits": asked, "cap": cap, "given_before": paid, "room": room}
    rule = f"the credits are at most {share} of the fee {fee}"
    step = Step(_PARAGRAPHS[of], rule, given, facts, f"{_TERM}.month_of" if of_previous else f"{_TERM}.{of}")
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
    if carries:
        rule = "what exceeds the cap of the month is owed in later months, under their caps, the oldest first"
    term = f"{_TERM}.carry_forward"
    lost = Step(LOST_PARAGRAPH, rule, asked - given, {"credits": asked, "given": given}, term)
    return Computed(tuple(reduced), (step, lost))


def order_step() -> Step:
    """Return the step that names the order of the caps."""
    order = (
        "cap of the unit",
        "rounding",
        "least amount",
        "choice between levels and heads",
        "claims",
        "cap of the month",
        "cap of the year",
        "cap of the term",
    )
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
    allowed = bounded(np.asarray(credit, dtype=float), caps.month, month_base, np.zeros(1))
    return bounded(allowed, caps.year, year_base, paid_this_year)


def bounded(credit: FloatArray, share: Decimal | None, base: FloatArray, paid: FloatArray) -> FloatArray:
    """Return credits after one cap, not rounded, shape (draws, services). [currency]

    Parameters
    ----------
    credit : credits before the cap, shape (draws, services). [currency]
    share : share of `base` that the cap is, no cap when None. [1]
    base : fees that it is a share of, broadcast against `credit`. [currency]
    paid : what it has gone to already, broadcast against `credit`. [currency]
    """
    if share is None:
        return credit
    return np.minimum(credit, np.maximum(float(share) * np.asarray(base) - np.asarray(paid), 0.0))
