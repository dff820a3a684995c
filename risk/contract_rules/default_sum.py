"""What is owed when the customer fails: the fees left, less what letting again brings, at today's value."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import zip_longest

from schemas.money import Money, Rounding, rounded_to_minor_unit


def exact(
    fees: Sequence[Money],
    reletting: Sequence[Money],
    annual_rate: Fraction,
    currency: str,
    rounding: Rounding = "half_up",
) -> Money:
    """Return the present value of remaining fees less the income of letting again, not below nothing, rounded once.

    Parameters
    ----------
    fees : fee of each month left of the firm term, from the month after the end on.
    reletting : income from letting the same capacity again in the same months; none where it is not given.
    annual_rate : discount rate, a twelfth a month, at the end of each month. [1/year]

    Notes
    -----
    A month in which letting again brings more than the fee reduces the sum of the others: it is the loss of the whole
    term that is paid, not that of its bad months.
    """
    value, factor = Fraction(0), Fraction(1)
    for fee, income in zip_longest(fees, reletting):
        factor /= 1 + annual_rate / 12
        value += (_amount(fee) - _amount(income)) * factor
    return Money(rounded_to_minor_unit(max(value, Fraction(0)), currency, rounding), currency)


def _amount(money: Money | None) -> Fraction:
    return Fraction(money.amount) if money is not None else Fraction(0)
