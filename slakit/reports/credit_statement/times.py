"""Times of a statement in the zone of the contract."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from slakit.reports import figures

_UTC = re.compile(r"\b(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d)?) ?UTC\b")


def in_zone(moment: str, zone: str) -> str:
    """Return a moment in a zone, to the second where it is not a whole minute, and which of two where it comes twice.

    >>> print(in_zone("2026-10-28T01:00:00Z", "America/Chicago"), in_zone("2026-10-28T01:00:40Z", "Asia/Tokyo"))
    27 Oct 2026, 20:00 28 Oct 2026, 10:00:40
    >>> print(in_zone("2026-11-01T07:30:00Z", "America/Chicago"))
    1 Nov 2026, 01:30 CST
    """
    at = parsed(moment)
    local = at.astimezone(ZoneInfo(zone))
    comes_twice = local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset()
    return _clock(at, zone) + (f" {_offset_name(local)}" if comes_twice else "")


def stretch_in_zone(start: str, end: str, zone: str) -> str:
    """Return a stretch of time in a zone, its day once where it begins and ends on it.

    Where the clocks are changed in it, each end names its offset, so that its length can be followed.

    >>> print(stretch_in_zone("2026-10-03T07:14:00Z", "2026-10-03T14:41:00Z", "America/Chicago"))
    3 Oct 2026, 02:14 to 09:41
    >>> print(stretch_in_zone("2026-11-01T06:30:00Z", "2026-11-01T07:32:00Z", "America/Chicago"))
    1 Nov 2026, 01:30 CDT to 01:32 CST
    """
    first, last = in_zone(start, zone), in_zone(end, zone)
    locals_ = [parsed(moment).astimezone(ZoneInfo(zone)) for moment in (start, end)]
    if locals_[0].utcoffset() != locals_[1].utcoffset():
        first, last = (f"{_clock(at, zone)} {_offset_name(at)}" for at in locals_)
    day, _, clock = last.partition(", ")
    return f"{first} to {clock if first.startswith(f'{day}, ') else last}"


def _clock(at: datetime, zone: str) -> str:
    return figures.clock(at, zone) + (f":{at.second:02d}" if at.second else "")


def _offset_name(local: datetime) -> str:
    """Return the name of the offset of a local time, such as CST, or the offset itself where it has no name."""
    name = f"{local:%Z}"
    return name if name.isalpha() else f"UTC{local:%z}"


def last_day(late_from: str, zone: str) -> str:
    """Return the day in a zone whose end is the first moment that is too late.

    >>> print(last_day("2026-12-01T06:00:00Z", "America/Chicago"))
    30 November 2026
    """
    return figures.date_long(local_day(parsed(late_from) - timedelta(microseconds=1), zone))


def day_of(moment: str, zone: str) -> str:
    """Return the day of a moment in a zone, as sentences write it."""
    return figures.date_long(local_day(parsed(moment), zone))


def local_day(moment: datetime, zone: str) -> date:
    """Return the day of a moment in a zone."""
    return moment.astimezone(ZoneInfo(zone)).date()


def times_in_zone(words: str, zone: str) -> str:
    """Return a sentence with its times in UTC in the contract's zone.

    >>> print(times_in_zone("up to 2026-11-01 05:00 UTC.", "America/Chicago"))
    up to 1 Nov 2026, 00:00.
    """
    return _UTC.sub(lambda match: in_zone(f"{match[1]}T{match[2]}Z", zone), words)


def parsed(moment: str) -> datetime:
    """Return a moment of the document."""
    return datetime.fromisoformat(moment)
