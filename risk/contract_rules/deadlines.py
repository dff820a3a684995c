"""Days and months after an event, counted in the contract's zone."""

from __future__ import annotations

import calendar
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from risk.core.computed import Computed, Step
from schemas.errors import NotComputedError
from schemas.periods import Duration

PARAGRAPH = "time-money-rules.days"


def exact(event_day: date, days: int, zone: str, *, term: str | None = None) -> Computed[datetime]:
    """Return the moment from which an act within `days` after `event_day` is late, in UTC."""
    late_from = midnight(event_day + timedelta(days=days + 1), zone)
    step = Step(
        PARAGRAPH,
        "the day after the event is day 1; an act is in time up to, not at, the midnight that ends the last day",
        late_from,
        {"event_day": event_day, "days": days, "zone": zone},
        term,
    )
    return Computed(late_from, (step,))


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
