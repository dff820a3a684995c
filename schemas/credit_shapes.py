"""How a missed level turns into money: the shapes of published contracts, one per service level."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from schemas.base import Terms
from schemas.errors import TermsError
from schemas.units import Amount, Days, Hours, Minutes, Multiple, Positive, Share, Text


class CreditBand(Terms):
    """One row of a credit table."""

    below: Share
    """The band applies when measured availability is strictly below this. [1]"""
    credit_fraction: Share
    """Share of the base credited. [1]"""


class CreditBands(Terms):
    """A table of bands: the greatest fraction whose threshold is above the availability, unrounded."""

    shape: Literal["bands"] = "bands"
    bands: tuple[CreditBand, ...] = Field(min_length=1, max_length=20)

    @model_validator(mode="after")
    def _from_the_highest_threshold_to_the_lowest(self) -> Self:
        for i, (previous, band) in enumerate(zip(self.bands, self.bands[1:], strict=False), start=1):
            if band.below >= previous.below:
                raise TermsError(
                    f"bands[{i}].below {band.below}",
                    f"less than bands[{i - 1}].below ({previous.below})",
                    "list bands from the highest threshold to the lowest",
                )
            if band.credit_fraction <= previous.credit_fraction:
                raise TermsError(
                    f"bands[{i}].credit_fraction {band.credit_fraction}",
                    f"more than bands[{i - 1}].credit_fraction ({previous.credit_fraction})",
                    "a lower availability must pay more; correct the fraction",
                )
        return self


class LinearCredit(Terms):
    """In proportion to the shortfall: `slope` times what availability falls short of the target, up to `cap`."""

    shape: Literal["linear"]
    slope: Multiple
    """Share of the base per whole of shortfall; 1 credits the shortfall itself, 2 credits 2% for each point. [1]"""
    cap: Share = Decimal(1)
    """Greatest share of the base. [1]"""


class StepCredit(Terms):
    """A share for each step by which availability falls short of the target."""

    shape: Literal["steps"]
    step: Share = Field(gt=0)
    """Size of one step of shortfall. [1]"""
    credit_fraction: Share
    """Share of the base for each step. [1]"""
    counted: Literal["started", "completed"] = "started"
    cap: Share = Decimal(1)
    """Greatest share of the base. [1]"""


class DurationRow(Terms):
    """One row of a table of durations, up to the start of the next."""

    from_minutes: Minutes
    """Shortest downtime of the row. [min]"""
    credit_hours: Hours | None = None
    """Hours of the unit's hourly price that are credited. [h]"""
    unstated: Text | None = None
    """Why the contract gives no credit for this row: it is then never computed."""

    @model_validator(mode="after")
    def _hours_or_the_reason_why_not(self) -> Self:
        if (self.credit_hours is None) == (self.unstated is None):
            raise TermsError(
                "both or neither of credit_hours and unstated", "one of them", "give the hours, or why there are none"
            )
        return self


class DurationTable(Terms):
    """Hours of price by how long the unit was down; each row runs to the next, the last has no end."""

    shape: Literal["duration_table"]
    rows: tuple[DurationRow, ...] = Field(min_length=1, max_length=50)
    per: Literal["outage", "period"] = "outage"
    """Whether the table is read for each outage, or once for the downtime of the period."""
    cap_hours: Hours | None = None
    """Greatest hours of price in one period. [h]"""

    @model_validator(mode="after")
    def _rows_follow_each_other(self) -> Self:
        starts = [row.from_minutes for row in self.rows]
        if starts[0] > 1 or any(later <= start for start, later in pairwise(starts)):
            raise TermsError(
                f"rows that start at {', '.join(map(str, starts))} minutes",
                "rows from 0 or 1 minute on, each later than the one before",
                "order the rows; a stretch for which the contract gives no row is a row with `unstated`",
            )
        return self


class MultipleOfPrice(Terms):
    """A multiple of what the unit would have cost in the counted downtime."""

    shape: Literal["multiple_of_price"]
    multiple: Multiple
    """[1]"""
    least: Amount = Decimal(0)
    """Least credit of a unit with counted downtime in a period. [currency]"""


class PerBreach(Terms):
    """A share for each counted outage that starts in the period."""

    shape: Literal["per_breach"]
    credit_fraction: Share
    """Share of the base for each. [1]"""
    at_risk: Share = Decimal(1)
    """Greatest share of the base in one period. [1]"""


class HourWaiver(Terms):
    """A clock hour in which the unit was down for too long is not charged."""

    shape: Literal["hour_waiver"]
    minutes_in_clock_hour: Annotated[Minutes, Field(le=59)]
    """An hour is waived when more than this of it is counted downtime. [min]"""


class OnsetPlusHourly(Terms):
    """A share when the outage begins and a share for each period that it lasts."""

    shape: Literal["onset_plus_hourly"]
    onset: Share = Decimal(0)
    """Share of the base once per outage, or per period where `per` says so. [1]"""
    hourly: Share
    """Share of the base for each `hour_minutes`. [1]"""
    hour_minutes: Positive = 60
    """[min]"""
    free_minutes: Minutes = 0
    """Downtime before the first of them starts to run; no onset is due for less. [min]"""
    counted: Literal["started", "completed"] = "completed"
    per: Literal["outage", "period"] = "outage"
    """Whether each outage is looked at by itself, or the downtime of the period."""
    cap: Share = Decimal(1)
    """Greatest share of the base in one period. [1]"""


class ExtensionRow(Terms):
    """One row of a table of days."""

    below: Share
    """[1]"""
    days: Days
    """Days added to the term. [day]"""


class TermExtension(Terms):
    """No money: days are added to the end of the term at no charge."""

    shape: Literal["term_extension"]
    rows: tuple[ExtensionRow, ...] = Field(min_length=1, max_length=20)

    @model_validator(mode="after")
    def _from_the_highest_threshold_to_the_lowest(self) -> Self:
        for i, (previous, row) in enumerate(zip(self.rows, self.rows[1:], strict=False), start=1):
            if row.below >= previous.below or row.days <= previous.days:
                raise TermsError(
                    f"rows[{i}] below {row.below} with {row.days} days",
                    f"a lower threshold and more days than rows[{i - 1}]",
                    "list rows from the highest threshold to the lowest",
                )
        return self


class UnstatedCredit(Terms):
    """The contract promises a level and its text, as known, does not say what a miss pays: it is never computed."""

    shape: Literal["unstated"]
    reason: Text


def _bands_unless_named(value: Any) -> Any:
    """A credit without `shape` is a table of bands."""
    return {"shape": "bands", **value} if isinstance(value, dict) and "shape" not in value else value


CreditShape = Annotated[
    Annotated[
        CreditBands
        | LinearCredit
        | StepCredit
        | DurationTable
        | MultipleOfPrice
        | PerBreach
        | HourWaiver
        | OnsetPlusHourly
        | TermExtension
        | UnstatedCredit,
        Field(discriminator="shape"),
    ],
    BeforeValidator(_bands_unless_named),
]
NEEDS_TARGET = ("bands", "linear", "steps")
"""Shapes that are read against the target."""
