"""Times of one file: which have an offset, which need the zone that the user names, and which come twice."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from slakit.statements.importers.form import Options
from slakit.statements.importers.log import Log
from slakit.statements.importers.refusal import refused
from slakit.statements.importers.times import TimeError, from_epoch, is_ambiguous, local, moment, plausible

Order = Literal["day first", "month first"]
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MICROSECONDS_PER_SECOND = 1_000_000

_EPOCH = re.compile(r"\d{9,10}(?:\.\d{1,9})?|\d{12,13}")
_NUMBERED = re.compile(
    r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})(?:[ T,]+(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\s*([AP])\.?M\.?)?)?", re.IGNORECASE
)
_MAIL = re.compile(
    r"(?:([A-Za-z]{3}),\s+)?(\d{1,2})\s+([A-Za-z]{3})\s+(\d{4})\s+(\d{2}):(\d{2})(?::(\d{2}))?\s+"
    r"(GMT|UTC|UT|Z|[+-]\d{4})"
)


@dataclass(frozen=True, slots=True)
class Reading:
    """A time as read."""

    at: datetime
    later: datetime | None = None
    """The other reading of a local time that comes twice in the night when clocks are put back."""


class Clock:
    """Reads the times of one file and remembers whether any of them needed a zone."""

    def __init__(self, log: Log, options: Options, order: Order | None = None) -> None:
        """Start; `order` is how the file writes dates of numbers such as 3/4/2026.

        Raises
        ------
        DealError
            When the zone that the user names does not exist.
        """
        self.log, self.zone, self.order = log, options.zone, order
        self.with_offset = self.without_offset = 0
        if self.zone is not None:
            try:
                ZoneInfo(self.zone)
            except (ZoneInfoNotFoundError, ValueError, OSError) as error:
                raise refused("--zone", repr(self.zone), "an IANA time zone", "write America/Chicago or UTC") from error

    def read(self, text: str) -> Reading:
        """Return a time in UTC.

        Raises
        ------
        TimeError
            When it cannot be read without guessing.
        """
        text = text.strip()
        if _EPOCH.fullmatch(text):
            at = from_epoch(text) if "." in text or len(text) < 12 else from_epoch(int(text) / 1000)
            self.with_offset += 1
            return Reading(at)
        if mail := _MAIL.fullmatch(text):
            at = _from_mail(mail, text)
            self.with_offset += 1
            return Reading(at)
        if numbered := _NUMBERED.fullmatch(text):
            return self.local(_from_numbers(numbered, self.order, text))
        try:
            at = moment(text, None)
        except TimeError:
            return self.local(moment(text, "UTC").replace(tzinfo=None))
        self.with_offset += 1
        return Reading(at)

    def local(self, naive: datetime) -> Reading:
        """Return a local time in UTC, with its second reading where it has one.

        Raises
        ------
        TimeError
            When no zone is named, or the zone skips this time.
        """
        self.without_offset += 1
        at = local(naive, self.zone)
        assert self.zone is not None
        return Reading(at, local(naive, self.zone, later=True) if is_ambiguous(naive, self.zone) else None)

    def check(self) -> None:
        """Refuse a file of which no time can be placed.

        Raises
        ------
        DealError
            When no zone is named and not one time of the file has an offset.
        """
        if self.zone is None and self.without_offset and not self.with_offset:
            raise refused(
                self.log.name,
                f"{self.without_offset:,} times without an offset",
                "times with an offset, or the zone of the machine that wrote them",
                "name the zone with --zone, for example --zone America/Chicago",
            )


def order_of_dates(log: Log, texts: Iterable[str]) -> Order | None:
    """Return whether a file writes the day or the month first, shown by a number above 12; None without such dates.

    Raises
    ------
    DealError
        When nothing in the file shows it, or it shows both.
    """
    found = [match for text in texts if (match := _NUMBERED.fullmatch(text.strip()))]
    if not found:
        return None
    day_first = any(int(match[1]) > 12 or match[2] == "." for match in found)
    month_first = any(int(match[3]) > 12 for match in found)
    if day_first == month_first:
        what = (
            "dates of both orders" if day_first else f"{len(found)} dates such as {found[0][0]!r}, no number above 12"
        )
        raise refused(log.name, what, "dates in one order that can be told", "write dates as 2026-11-30")
    return "day first" if day_first else "month first"


def exact_seconds(since: datetime, seconds: Decimal) -> datetime:
    """Return a time so many seconds after another, to the microsecond.

    Raises
    ------
    TimeError
        When it lies outside what a log can hold.
    """
    if not seconds.is_finite() or abs(seconds) > 10**11:
        raise TimeError(f"{str(seconds)[:40]!r} is no number of seconds")
    return plausible(since + timedelta(microseconds=round(seconds * MICROSECONDS_PER_SECOND)))


def _from_mail(parts: re.Match[str], text: str) -> datetime:
    """Return a time as mail headers write it; a weekday that contradicts its date is an error."""
    weekday, day, month, year, hour, minute, second, offset = parts.groups()
    if month.casefold() not in MONTHS:
        raise TimeError(f"{text[:40]!r} names no month")
    number = MONTHS.index(month.casefold()) + 1
    found = moment(
        f"{year}-{number:02}-{int(day):02}T{hour}:{minute}:{second or '00'}{offset if offset[0] in '+-' else 'Z'}",
        None,
    )
    there = datetime(int(year), number, int(day), tzinfo=UTC)
    if weekday is not None and weekday.casefold() != WEEKDAYS[there.weekday()]:
        raise TimeError(f"{text[:40]!r} contradicts itself: that day was a {there:%A}")
    return found


def _from_numbers(parts: re.Match[str], order: Order | None, text: str) -> datetime:
    """Return a local time from a date of numbers, without its zone."""
    first, _, second_number, year, hour, minute, second, half = parts.groups()
    if order is None:
        raise TimeError(f"{text[:40]!r} may name the day or the month first")
    day, month = (first, second_number) if order == "day first" else (second_number, first)
    hours = int(hour or 0)
    if half is not None:
        if not 1 <= hours <= 12:
            raise TimeError(f"{text[:40]!r} is no time: {hours} {half.upper()}M")
        hours = hours % 12 + (12 if half.upper() == "P" else 0)
    try:
        return datetime(  # noqa: DTZ001 - its zone follows
            int(year), int(month), int(day), hours, int(minute or 0), int(second or 0)
        )
    except ValueError as error:
        raise TimeError(f"{text[:40]!r} is no time: {error}") from error
