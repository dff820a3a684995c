"""Durations, dates counted from financial close, and calendar months in a zone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
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
