"""Durations, dates counted from financial close, and measurement periods in a zone."""

from __future__ import annotations

import calendar
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import total_ordering
from itertools import pairwise
from typing import Literal, Self
from zoneinfo import ZoneInfo

from pydantic import model_validator

from schemas.base import Terms
from schemas.errors import MissingTermError, TermsError
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


@total_ordering
class Period(ABC):
    """One measurement period: whole days, from the midnight that starts the first to the one that ends the last.

    Periods are ordered by their first day.
    """

    __slots__ = ()

    @abstractmethod
    def first_day(self) -> date:
        """Return its first day."""

    @abstractmethod
    def day_after(self) -> date:
        """Return the first day after it."""

    def terms_day(self) -> date:
        """Return the day whose terms apply to it."""
        return self.first_day()

    def start(self, zone: str) -> datetime:
        """Return local midnight of its first day in `zone`, as UTC."""
        return _midnight(self.first_day(), zone)

    def end(self, zone: str) -> datetime:
        """Return local midnight of the day after its last in `zone`, as UTC."""
        return _midnight(self.day_after(), zone)

    def minutes(self, zone: str) -> int:
        """Return its length in `zone`, daylight saving included. [min]"""
        return int((self.end(zone) - self.start(zone)).total_seconds()) // 60

    def __lt__(self, other: Period) -> bool:
        """Return whether it starts on an earlier day."""
        if not isinstance(other, Period):
            return NotImplemented
        return self.first_day() < other.first_day()


def _midnight(day: date, zone: str) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(zone)).astimezone(UTC)


@dataclass(frozen=True, slots=True)
class Month(Period):
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

    def months_since(self, earlier: Month) -> int:
        """Return how many months lie between the start of an earlier month and its own. [month]"""
        return (self.year - earlier.year) * 12 + self.month - earlier.month

    def first_day(self) -> date:
        """Return its first day."""
        return date(self.year, self.month, 1)

    def day_after(self) -> date:
        """Return the first day of the next month."""
        return self.plus(1).first_day()

    def __str__(self) -> str:
        return f"{self.year:04d}-{self.month:02d}"


@dataclass(frozen=True, slots=True)
class Cycle(Period):
    """A period that is no calendar month: a month of billing, a quarter, a year, or a number of days."""

    first: date
    months: int = 0
    """Its length in months; 0 where it is a number of days. [month]"""
    days: int = 0
    """[day]"""

    def plus(self, periods: int) -> Cycle:
        """Return the period `periods` later (earlier when negative)."""
        if self.days:
            return replace(self, first=self.first + timedelta(days=self.days * periods))
        month = Month(self.first.year, self.first.month).plus(self.months * periods)
        return replace(self, first=date(month.year, month.month, self.first.day))

    def first_day(self) -> date:
        """Return its first day."""
        return self.first

    def day_after(self) -> date:
        """Return the first day of the next one."""
        return self.plus(1).first

    def __str__(self) -> str:
        if self.months == MONTHS_OF["year"]:
            return f"{self.first.year:04d}"
        if self.months == MONTHS_OF["quarter"]:
            return f"{self.first.year:04d}-Q{(self.first.month + 2) // 3}"
        return self.first.isoformat()


@dataclass(frozen=True, slots=True)
class Part(Period):
    """The part of a period that an amendment divides, or the whole of it on the terms of a day."""

    whole: Month | Cycle
    first: date
    after: date
    terms_of: date

    def first_day(self) -> date:
        """Return its first day."""
        return self.first

    def day_after(self) -> date:
        """Return the first day after it."""
        return self.after

    def terms_day(self) -> date:
        """Return the day whose terms apply to it."""
        return self.terms_of

    def __str__(self) -> str:
        return self.first.isoformat()


PeriodKind = Literal["calendar_month", "billing_month", "rolling_days", "quarter", "year"]
MONTHS_OF: Mapping[str, int] = {"calendar_month": 1, "billing_month": 1, "quarter": 3, "year": 12}
"""Length of the kinds of periods that are made of months. [month]"""
_EXAMPLES: Mapping[PeriodKind, str] = {
    "calendar_month": "a period such as 2026-10",
    "billing_month": "the first day of a period such as {day}",
    "rolling_days": "the first day of a period such as {day}",
    "quarter": "a quarter such as 2026-Q4",
    "year": "a year such as 2026",
}


@dataclass(frozen=True, slots=True)
class PeriodCalendar:
    """The row of measurement periods of one contract.

    Examples
    --------
    >>> quarters = PeriodCalendar("quarter", "UTC")
    >>> str(quarters.containing(date(2026, 11, 5))), str(quarters.plus(quarters.parse("2026-Q4"), 1))
    ('2026-Q4', '2027-Q1')
    >>> thirty = PeriodCalendar("rolling_days", "UTC", first_service=date(2026, 10, 15))
    >>> str(thirty.containing(date(2026, 11, 20)))
    '2026-11-14'
    """

    kind: PeriodKind
    zone: str
    billing_day: int = 1
    rolling_days: int = 30
    first_service: date | None = None
    """First day of service, from which periods of a number of days follow each other."""
    cuts: tuple[date, ...] = ()
    """Days on which amendments divide a period."""

    @property
    def example(self) -> str:
        """Return in words how one of its periods is written."""
        first = self.first_service if self.kind == "rolling_days" else None
        return _EXAMPLES[self.kind].format(day=first or f"2026-10-{self.billing_day:02d}")

    def containing(self, day: date) -> Month | Cycle:
        """Return the period that holds a day.

        Raises
        ------
        MissingTermError
            When periods follow each other from the first day of service and that is not known.
        """
        match self.kind:
            case "calendar_month":
                return Month(day.year, day.month)
            case "billing_month":
                month = Month(day.year, day.month).plus(-1 if day.day < self.billing_day else 0)
                return Cycle(date(month.year, month.month, self.billing_day), months=1)
            case "quarter":
                return Cycle(date(day.year, (day.month - 1) // 3 * 3 + 1, 1), months=3)
            case "year":
                return Cycle(date(day.year, 1, 1), months=12)
            case "rolling_days":
                if self.first_service is None:
                    raise MissingTermError(
                        "units[].in_service_from",
                        f"periods of {self.rolling_days} days from the first day of service",
                        "say when the service of the units started",
                    )
                number = (day - self.first_service).days // self.rolling_days
                return Cycle(self.first_service, days=self.rolling_days).plus(number)

    def of(self, moment: datetime) -> Month | Cycle:
        """Return the period that holds an aware `moment`."""
        return self.containing(moment.astimezone(ZoneInfo(self.zone)).date())

    def parse(self, text: str) -> Month | Cycle:
        """Return the period that a text names: `2026-10`, `2026-Q4`, `2026`, or its first day.

        Raises
        ------
        ValueError
            When the text names no period of this kind.
        """
        match self.kind:
            case "calendar_month":
                return Month.parse(text)
            case "quarter":
                year, number = text.split("-Q")
                return self.containing(date(int(year), int(number) * 3 - 2, 1))
            case "year":
                return self.containing(date(int(text), 1, 1))
        day = date.fromisoformat(text)
        if self.kind == "rolling_days" and self.first_service is None:
            return Cycle(day, days=self.rolling_days)
        found = self.containing(day)
        if found.first_day() != day:
            raise ValueError(f"{text} is in the period from {found}")
        return found

    def parts(self, whole: Month | Cycle) -> tuple[Period, ...]:
        """Return what amendments leave of a period: itself, or its parts in order of time."""
        first, after = whole.first_day(), whole.day_after()
        edges = [first, *(day for day in self.cuts if first < day < after), after]
        if len(edges) == 2:
            return (whole,)
        return tuple(Part(whole, start, end, start) for start, end in pairwise(edges))

    def plus(self, period: Period, periods: int) -> Period:
        """Return the period, or part of one, that comes `periods` later (earlier when negative)."""
        if not self.cuts:
            whole = _whole(period)
            return whole.plus(periods)
        found = period
        for _ in range(abs(periods)):
            found = self._next(found) if periods > 0 else self._previous(found)
        return found

    def between(self, first: Period, last: Period) -> tuple[Period, ...]:
        """Return the periods, or parts of them, from one to another, both included."""
        found = [first]
        while found[-1] < last:
            found.append(self.plus(found[-1], 1))
        return tuple(found)

    def _next(self, period: Period) -> Period:
        return self._part_from(period.day_after())

    def _previous(self, period: Period) -> Period:
        return self._part_from(period.first_day() - timedelta(days=1))

    def _part_from(self, day: date) -> Period:
        return next(part for part in self.parts(self.containing(day)) if day < part.day_after())


def _whole(period: Period) -> Month | Cycle:
    if isinstance(period, Part):
        return period.whole
    assert isinstance(period, Month | Cycle)
    return period
