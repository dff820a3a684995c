"""Where a number comes from: unit, date, source and kind."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from schemas.base import Terms
from schemas.errors import TermsError, TermsErrors
from schemas.units import Day, Number, Text

Kind = Literal["measured", "published", "derived", "contract", "judgement"]
"""How a number is known. A number without a public source is a judgement and says why."""
Unit = Annotated[str, StringConstraints(min_length=1, max_length=40)]
"""Unit of a quantity in plain signs, `1` for a pure number."""


class Source(Terms):
    """Where one or many values of the deal file come from."""

    source: Text | None = None
    """Document, page or address, with what was read there."""
    as_of: Day
    """Date of the source or of the judgement."""
    kind: Kind
    rationale: Text | None = None
    """Why this value, for a judgement or a derivation."""

    @model_validator(mode="after")
    def _judgement_says_why(self) -> Self:
        if self.kind == "judgement" and self.source is None and self.rationale is None:
            raise TermsError("a judgement without a reason", "`rationale`", "say why this value was chosen")
        if self.kind != "judgement" and self.source is None:
            raise TermsError(
                f"kind {self.kind} without `source`",
                "a source",
                "name the source, or call it a judgement and say why",
            )
        return self


class Spread(Terms):
    """How wide our knowledge of a number is, as a law around its value."""

    law: Literal["lognormal", "beta", "normal"]
    """`lognormal`: the value is the median; `beta`: the mean, of a share; `normal`: the mean."""
    size: Number = Field(gt=0)
    """`lognormal`: standard deviation of the logarithm [1]; `beta`: a + b, the strength of belief [1]; `normal`:
    standard deviation, in the unit of the value."""


class Sourced(Source):
    """One number about the world with its unit, date, kind, source and range."""

    value: Number
    unit: Unit
    low: Number | None = None
    """Low end of the plausible range, 5th percentile where a source gives one."""
    high: Number | None = None
    """High end of the plausible range, 95th percentile where a source gives one."""
    spread: Spread | None = None
    """Law of what we do not know about it; from `low` and `high` when not given."""

    @model_validator(mode="after")
    def _range_holds_the_value(self) -> Self:
        wrong = []
        if self.low is not None and self.low > self.value:
            wrong.append(TermsError(f"low {self.low} above value {self.value}", "low <= value", "correct one of them"))
        if self.high is not None and self.high < self.value:
            wrong.append(
                TermsError(f"high {self.high} below value {self.value}", "value <= high", "correct one of them")
            )
        law = self.spread.law if self.spread else None
        if law == "beta" and not 0 < self.value < 1:
            wrong.append(
                TermsError(
                    f"spread.law 'beta' around {self.value}",
                    "a value between 0 and 1",
                    (_as_fraction(self.value) if self.unit == "1" else None) or "use another law",
                )
            )
        if law == "lognormal" and self.value <= 0:
            wrong.append(
                TermsError(f"spread.law 'lognormal' around {self.value}", "a value above 0", "use the law `normal`")
            )
        if wrong:
            raise TermsErrors(wrong)
        return self

    def __float__(self) -> float:
        return float(self.value)


def _as_fraction(number: Decimal) -> str | None:
    """Return what to write instead of a number that may be meant in percent."""
    if not 1 < number <= 100:
        return None
    return f"write the fraction of 1: {(number / 100).normalize():f} for {number.normalize():f}%"


def quantity(*units: str, low: float = 0.0, high: float = 1e15) -> object:
    """Return a validator for a `Sourced` field that fixes its units and the range the model is right in."""
    from pydantic import AfterValidator

    def check(number: Sourced) -> Sourced:
        if number.unit not in units:
            raise TermsError(f"unit {number.unit!r}", " or ".join(units), "convert the value and write that unit")
        unit = "" if number.unit == "1" else f" {number.unit}"
        wrong = [
            TermsError(
                f"{name} {end}{unit}",
                f"{low:,.0f} to {high:,.0f}",
                (_as_fraction(end) if (low, high) == (0.0, 1.0) else None) or "correct the number or its unit",
            )
            for name, end in (("value", number.value), ("low", number.low), ("high", number.high))
            if end is not None and not low <= float(end) <= high
        ]
        if wrong:
            raise TermsErrors(wrong)
        return number

    return AfterValidator(check)


SourcedShare = Annotated[Sourced, quantity("1", high=1.0)]
SourcedPositive = Annotated[Sourced, quantity("1", high=1000.0)]
SourcedLogDeviation = Annotated[Sourced, quantity("1", high=10.0)]
"""Standard deviation of a logarithm; above 10 a lognormal spans more than money can. [1]"""
SourcedMonths = Annotated[Sourced, quantity("month", high=1200.0)]
SourcedYears = Annotated[Sourced, quantity("year", high=100.0)]
SourcedHours = Annotated[Sourced, quantity("h", high=1e6)]
SourcedHoursOfAYear = Annotated[Sourced, quantity("h", high=8784.0)]
"""At most the hours of a year. [h]"""
SourcedPerYear = Annotated[Sourced, quantity("1/year", high=1e6)]
SourcedAnnualRate = Annotated[Sourced, quantity("1/year", low=-5.0, high=5.0)]
"""A rate that works through an exponential. [1/year]"""
SourcedRent = Annotated[Sourced, quantity("USD/GPU-hour", "EUR/GPU-hour", "GBP/GPU-hour", high=10_000.0)]
SourcedMoney = Annotated[Sourced, quantity("USD", "EUR", "GBP", high=1e15)]
SourcedCorrelation = Annotated[Sourced, quantity("1", low=-1.0, high=1.0)]
SourcedSigned = Annotated[Sourced, quantity("1", low=-100.0, high=100.0)]
Provenance = dict[Annotated[str, Field(min_length=1, max_length=300)], Source]
"""Path of a value, or a prefix ending in `.*`, or `*`, to its source."""
