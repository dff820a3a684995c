"""Contract money: exact, in one currency, rounded once and only here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import StringConstraints

from schemas.errors import TermsError

Currency = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]
"""ISO 4217 code."""
Rounding = Literal["half_up", "half_even", "down"]

_MODES = {"half_up": ROUND_HALF_UP, "half_even": ROUND_HALF_EVEN, "down": ROUND_DOWN}
_MINOR_UNITS = {
    "JPY": 0,
    "KRW": 0,
    "VND": 0,
    "CLP": 0,
    "ISK": 0,
    "BHD": 3,
    "KWD": 3,
    "JOD": 3,
    "OMR": 3,
    "TND": 3,
}
"""Decimal places of the minor unit where it is not 2 (ISO 4217 list one)."""


def minor_unit_places(currency: str) -> int:
    """Return the decimal places of the currency's minor unit. [1]"""
    return _MINOR_UNITS.get(currency, 2)


def as_decimal(value: Fraction | Decimal | int) -> Decimal:
    """Return `value` as a decimal with 50 significant digits, exact where it terminates."""
    if isinstance(value, Fraction):
        with localcontext() as context:
            context.prec = 50
            return Decimal(value.numerator) / Decimal(value.denominator)
    return Decimal(value)


def rounded_to_minor_unit(value: Fraction, currency: str, rounding: Rounding = "half_up") -> Decimal:
    """Return an exact amount rounded once to the currency's minor unit. [currency]

    The rounding is decided on the fraction itself, so no intermediate decimal can tip a half.
    """
    scale = 10 ** minor_unit_places(currency)
    scaled = value * scale
    floor = scaled.numerator // scaled.denominator
    rest = scaled - floor
    if rounding == "down":
        units = floor if value >= 0 else -((-scaled.numerator) // scaled.denominator)
    elif rest > Fraction(1, 2) or (rest == Fraction(1, 2) and (rounding == "half_up" or floor % 2)):
        units = floor + 1
    else:
        units = floor
    return Decimal(units).scaleb(-minor_unit_places(currency))


@dataclass(frozen=True, slots=True, order=False)
class Money:
    """An exact amount in one currency. Sums of different currencies are refused."""

    amount: Decimal
    currency: str

    def __add__(self, other: Money) -> Money:
        self._same(other)
        return Money(self.amount + other.amount, self.currency)

    def __sub__(self, other: Money) -> Money:
        self._same(other)
        return Money(self.amount - other.amount, self.currency)

    def __lt__(self, other: Money) -> bool:
        self._same(other)
        return self.amount < other.amount

    def __le__(self, other: Money) -> bool:
        self._same(other)
        return self.amount <= other.amount

    def times(self, factor: Fraction | Decimal | int, rounding: Rounding = "half_up") -> Money:
        """Return the amount times an exact factor, rounded once to the minor unit."""
        exact = Fraction(self.amount) * Fraction(factor)
        return Money(rounded_to_minor_unit(exact, self.currency, rounding), self.currency)

    def __str__(self) -> str:
        places = minor_unit_places(self.currency)
        return f"{self.currency} {self.amount:,.{places}f}"

    def as_json(self) -> dict[str, str]:
        """Return the amount as a plain decimal text beside its currency."""
        return {"amount": f"{self.amount:f}", "currency": self.currency}

    def _same(self, other: Money) -> None:
        if self.currency != other.currency:
            raise TermsError(
                f"{self.currency} and {other.currency}",
                "one currency",
                "convert before adding; slakit never does",
            )


def zero(currency: str) -> Money:
    """Return nothing, in `currency`."""
    return Money(Decimal(0).scaleb(-minor_unit_places(currency)), currency)


def total(amounts: Iterable[Money], currency: str) -> Money:
    """Return the sum of `amounts`, zero in `currency` when there are none."""
    result = zero(currency)
    for amount in amounts:
        result = result + amount
    return result
