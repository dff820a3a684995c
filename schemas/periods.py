"""Durations, dates counted from financial close, and calendar months in a zone."""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Self
from zoneinfo import ZoneInfo

from pydantic import model_validator

from schemas.base import Terms
from schemas.errors import TermsError
from schemas.units import Day, Days, Months


class Duration(Terms):
    """A length of time in months or in days, exactly one of them."""

    months: Months | None = None
    """[month]"""
    days: Days | None = None
    """[day]"""

    @model_validator(mode="after")
    def _one_unit(self) -> Self:
        if (self.months is None) == (self.days is None):
            raise TermsError("both or neither of months and days", "one of them", "write {months: n} or {days: n}")
        return self

    @property
    def days_at_least(self) -> Decimal:
        """Return its length if every month has 28 days. [day]"""
        return Decimal(self.days) if self.days is not None else (self.months or Decimal(0)) * 28

    @property
    def days_at_most(self) -> Decimal:
        """Return its length if every month has 31 days. [day]"""
        return Decimal(self.days) if self.days is not None else (self.months or Decimal(0)) * 31

    def may_exceed(self, other: Duration) -> bool:
        """Return whether it is longer than another, in some month at least where one is in months and one in days."""
        if self.months is not None and other.months is not None:
            return self.months > other.months
        return self.days_at_most > other.days_at_least

    def __str__(self) -> str:
        number, unit = (self.months, "month") if self.months is not None else (self.days, "day")
        return (
            f"{number:f} {unit}{'' if number == 1 else 's'}"
            if self.months is not None
            else (f"{number} {unit}{'' if number == 1 else 's'}")
        )


class MonthsAfterClose(Terms):
    """A date given as months after financial close, for deals without a calendar."""

    close_plus_months: Months
    """[month]"""


DatePoint = Day | MonthsAfterClose
"""A calendar date, or months after close."""


def months_after_close(point: DatePoint, close: date | None) -> Decimal | None:
    """Return where a date falls: whole months since the month of close plus the share of the running one. [month]

    None for a calendar date when close is not known.
    """
    if isinstance(point, MonthsAfterClose):
        return point.close_plus_months
    if close is None:
        return None
    whole = (point.year - close.year) * 12 + point.month - close.month
    return whole + Decimal(point.day - 1) / calendar.monthrange(point.year, point.month)[1]


def is_before(first: DatePoint, second: DatePoint, close: date | None) -> bool | None:
    """Return whether one date lies before another, None where one is on the calendar and close is not known."""
    if not isinstance(first, MonthsAfterClose) and not isinstance(second, MonthsAfterClose):
        return first < second
    one, other = months_after_close(first, close), months_after_close(second, close)
    return None if one is None or other is None else one < other


@dataclass(frozen=True, slots=True, order=True)
class Month:
    """One calendar month."""

    year: int
    month: int

    @classmethod
    def of(cls, moment: datetime, zone: str) -> Month:
        """Return the month that holds an aware `moment`, in `zone`."""
        local = moment.astimezone(ZoneInfo(zone))
        return cls(local.year, local.month)

    @classmethod
    def parse(cls, text: str) -> Month:
        """Return the month written as `2026-10`."""
        year, month = text.split("-")
        first = date(int(year), int(month), 1)
        return cls(first.year, first.month)

    def plus(self, months: int) -> Month:
        """Return the month `months` later (earlier when negative)."""
        index = self.year * 12 + self.month - 1 + months
        return Month(index // 12, index % 12 + 1)

    def first_day(self) -> date:
        """Return its first day."""
        return date(self.year, self.month, 1)

    def start(self, zone: str) -> datetime:
        """Return local midnight of its first day in `zone`, as UTC."""
        return datetime(self.year, self.month, 1, tzinfo=ZoneInfo(zone)).astimezone(UTC)

    def end(self, zone: str) -> datetime:
        """Return local midnight of the day after its last in `zone`, as UTC."""
        return self.plus(1).start(zone)

    def minutes(self, zone: str) -> int:
        """Return its length in `zone`, daylight saving included. [min]"""
        return int((self.end(zone) - self.start(zone)).total_seconds()) // 60

    def __str__(self) -> str:
        return f"{self.year:04d}-{self.month:02d}"
