"""Days, Business Days and months after an event, counted in the contract's zone."""

from __future__ import annotations

import calendar
from collections.abc import Container, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Literal
from zoneinfo import ZoneInfo

from risk.core.computed import Computed, Step
from schemas.commercial import Law
from schemas.deal import Deal
from schemas.errors import DealError, NotComputedError, Problem
from schemas.periods import Duration

PARAGRAPH = "time-money-rules.days"
BUSINESS_DAYS_PARAGRAPH = "time-money-rules.business-days"
MONTHS_PARAGRAPH = "time-money-rules.months"

DayCount = Literal["exclude_event_day", "include_event_day"]
_FIRST = {
    "exclude_event_day": "the day after the event is day 1",
    "include_event_day": "the day of the event is day 1",
}
_END = "an act is in time up to, not at, the midnight that ends the last day"
_PLACE_OF_LAW: Mapping[Law, str] = {
    "new_york": "US-NY",
    "england_wales": "GB-ENG",
    "delaware": "US-DE",
    "texas": "US-TX",
    "singapore": "SG",
    "ireland": "IE",
}
"""Calendar of the place that the contract names where it names no calendar."""
_WEEKEND = (5, 6)
_ONE_DAY = timedelta(days=1)


def exact(
    event_day: date, days: int, zone: str, *, term: str | None = None, day_count: DayCount = "exclude_event_day"
) -> Computed[datetime]:
    """Return the moment from which an act within `days` of `event_day` is late, in UTC."""
    late_from = midnight(event_day + (days + _first(day_count)) * _ONE_DAY, zone)
    facts = {"event_day": event_day, "days": days, "zone": zone}
    return Computed(late_from, (Step(PARAGRAPH, f"{_FIRST[day_count]}; {_END}", late_from, facts, term),))


def in_business_days(
    event_day: date,
    days: int,
    zone: str,
    calendars: Sequence[str],
    *,
    term: str | None = None,
    day_count: DayCount = "exclude_event_day",
) -> Computed[datetime]:
    """Return the moment from which an act within `days` Business Days of `event_day` is late, in UTC.

    Parameters
    ----------
    calendars : holidays that are no Business Days.

    Raises
    ------
    DealError
        When there is no calendar of a name.
    """
    last = business_days_after(event_day if day_count == "exclude_event_day" else event_day - _ONE_DAY, days, calendars)
    late_from = midnight(last + _ONE_DAY, zone)
    rule = (
        "Saturdays, Sundays and holidays are no Business Days"
        if calendars
        else "Saturdays and Sundays are no Business Days; no holidays are named"
    )
    facts = {"event_day": event_day, "business_days": days, "calendars": tuple(calendars), "last_day": last}
    rule = f"{rule}; {_FIRST[day_count]} if it is one"
    return Computed(late_from, (Step(BUSINESS_DAYS_PARAGRAPH, rule, late_from, facts, term),))


def in_months(
    event_day: date, months: int, zone: str, *, term: str | None = None, day_count: DayCount = "exclude_event_day"
) -> Computed[datetime]:
    """Return the moment from which an act within `months` of `event_day` is late, in UTC."""
    last = months_later(event_day, months)
    late_from = midnight(last + _first(day_count) * _ONE_DAY, zone)
    rule = "a period of months ends with the day of the same number, or with the last of a month that has none"
    if day_count == "include_event_day":
        rule += ", one day earlier because the day of the event counts"
    facts = {"event_day": event_day, "months": months, "zone": zone}
    return Computed(late_from, (Step(MONTHS_PARAGRAPH, rule, late_from, facts, term),))


def business_days_after(day: date, days: int, calendars: Sequence[str]) -> date:
    """Return the last of `days` Business Days that follow `day`, `day` itself when there are none.

    Parameters
    ----------
    calendars : holidays that are no Business Days: a country such as `GB`, a part of one such as `US-NY`, or a
        financial market such as `NYSE`.

    Raises
    ------
    DealError
        When there is no calendar of a name.

    Examples
    --------
    Thanksgiving, 26 November 2026, is a Thursday.

    >>> business_days_after(date(2026, 11, 25), 2, ["US-NY"]), business_days_after(date(2026, 11, 25), 2, [])
    (datetime.date(2026, 11, 30), datetime.date(2026, 11, 27))
    """
    holidays = [_holidays(name) for name in calendars]
    left = days
    while left:
        day += _ONE_DAY
        left -= day.weekday() not in _WEEKEND and not any(day in one for one in holidays)
    return day


def business_calendars(terms: Deal) -> tuple[str, ...]:
    """Return the calendars of Business Days: those named, or that of the place that goes with the governing law."""
    if terms.measurement.business_calendars or terms.commercial is None:
        return terms.measurement.business_calendars
    return (_PLACE_OF_LAW[terms.commercial.governing_law],)


@lru_cache(maxsize=64)
def _holidays(name: str) -> Container[date]:
    """Return the holidays of one calendar."""
    import holidays  # takes longer to load than most statements take, and few count Business Days

    country, _, part = name.partition("-")
    if name in holidays.list_supported_financial():
        return holidays.financial_holidays(name)
    parts = holidays.list_supported_countries().get(country)
    if parts is not None and (not part or part in parts):
        return holidays.country_holidays(country, subdiv=part or None)
    problem = Problem(
        "measurement.business_calendars",
        repr(name),
        "a country such as GB, a part of one such as US-NY, or a financial market such as NYSE",
        "correct the name",
    )
    raise DealError([problem])


def _first(day_count: DayCount) -> int:
    """Return how many days after the event the first day begins to count. [day]"""
    return 1 if day_count == "exclude_event_day" else 0


def midnight(day: date, zone: str) -> datetime:
    """Return the midnight that starts `day` in `zone`, in UTC."""
    return datetime.combine(day, time(), ZoneInfo(zone)).astimezone(UTC)


def local_day(moment: datetime, zone: str) -> date:
    """Return the day in `zone` on which an event at `moment` falls."""
    return moment.astimezone(ZoneInfo(zone)).date()


def day_that_ends(moment: datetime, zone: str) -> date:
    """Return the last day of a period that runs up to, not including, `moment`."""
    return local_day(moment - timedelta(microseconds=1), zone)


def days_later(moment: datetime, days: int, zone: str) -> datetime:
    """Return the same time of day in `zone`, `days` later (earlier when negative), in UTC."""
    return (moment.astimezone(ZoneInfo(zone)) + timedelta(days=days)).astimezone(UTC)


def months_later(day: date, months: int) -> date:
    """Return the day with the same number `months` later, or the last day of a month that has no such day."""
    index = day.year * 12 + day.month - 1 + months
    year, month = index // 12, index % 12 + 1
    return date(year, month, min(day.day, calendar.monthrange(year, month)[1]))


def day_after(day: date, duration: Duration, path: str) -> date:
    """Return the day a duration of whole months or days after `day`.

    Raises
    ------
    NotComputedError
        When the duration is a part of a month, which has no length in days.
    """
    if duration.months is None:
        assert duration.days is not None
        return day + timedelta(days=duration.days)
    if duration.months != int(duration.months):
        raise NotComputedError(path, f"a calendar date {duration.months} months later", "write whole months, or days")
    return months_later(day, int(duration.months))
