"""Each line is rounded once, to the smallest unit of the currency."""

from __future__ import annotations

from fractions import Fraction

from risk.core.computed import Computed, Step
from schemas.money import Money, Rounding, rounded_to_minor_unit

PARAGRAPH = "time-money-rules.rounding"


def exact(amount: Fraction, currency: str, rounding: Rounding) -> Computed[Money]:
    """Return an exact amount as money, rounded once."""
    money = Money(rounded_to_minor_unit(amount, currency, rounding), currency)
    rule = "the line is rounded once, to the smallest unit of the currency"
    return Computed(money, (Step(PARAGRAPH, rule, money, {"amount": amount}, "credits.rounding"),))
