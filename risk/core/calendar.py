"""Months of the simulation: when they start, how long they are, and where a date falls among them."""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import date

import numpy as np
from numpy.typing import NDArray

from schemas.periods import DatePoint, Duration, Month, MonthsAfterClose

HOURS_PER_EQUAL_MONTH = 730
"""Hours of a month where all months are equal. [h]"""
DAYS_PER_MEAN_MONTH = 365.25 / 12
"""Mean length of a calendar month, used to turn a duration in days into months. [day]"""


@dataclass(frozen=True, slots=True)
class Timeline:
    """Months 1..M after close."""

    edges_seconds: NDArray[np.int64]
    """Start of each month and the end of the last, from close, shape (months + 1,). [s]"""
    first: Month | None
    """Calendar month of engine month 1; None where all months are equal."""
    close: date

    @property
    def months(self) -> int:
        """Return how many months there are."""
        return len(self.edges_seconds) - 1

    @property
    def window_minutes(self) -> NDArray[np.int64]:
        """Return the length of each month, shape (months,). [min]"""
        return np.diff(self.edges_seconds) // 60

    @property
    def hours(self) -> NDArray[np.float64]:
        """Return the length of each month, shape (months,). [h]"""
        return np.diff(self.edges_seconds) / 3600.0

    def at(self, point: DatePoint) -> float:
        """Return where a date falls: whole months since close plus the share of the running one. [month]"""
        if isinstance(point, MonthsAfterClose):
            return float(point.close_plus_months)
        start = self.first or Month(self.close.year, self.close.month)
        whole = (point.year - start.year) * 12 + point.month - start.month
        return whole + (point.day - 1) / calendar.monthrange(point.year, point.month)[1]

    def length(self, duration: Duration) -> float:
        """Return a duration in months; days are turned at the mean calendar month. [month]"""
        if duration.months is not None:
            return float(duration.months)
        assert duration.days is not None
        return duration.days / DAYS_PER_MEAN_MONTH

    def seconds(self, months: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return moments given in months after close as whole seconds after close, up to the last month's end. [s]"""
        return np.rint(np.interp(months, np.arange(self.months + 1.0), self.edges_seconds)).astype(np.int64)

    def label(self, month: int) -> str:
        """Return the calendar month of engine month `month`, or its number where months are equal."""
        return str(self.first.plus(month - 1)) if self.first else f"M{month}"


def timeline(close: date, months: int, kind: str, zone: str) -> Timeline:
    """Return `months` months from close.

    `real`: calendar months in `zone`; close snaps to the first day of its month. `equal_730`: months of 730 hours.
    """
    if kind == "equal_730":
        edges = np.arange(months + 1, dtype=np.int64) * (HOURS_PER_EQUAL_MONTH * 3600)
        return Timeline(edges, None, close)
    first = Month(close.year, close.month)
    start = first.start(zone)
    seconds = [int((first.plus(m).start(zone) - start).total_seconds()) for m in range(months + 1)]
    return Timeline(np.array(seconds, dtype=np.int64), first, close)
