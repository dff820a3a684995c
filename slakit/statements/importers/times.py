"""Times as logs write them: with an offset, or local to a zone that the user names; never guessed."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from schemas.errors import SlakitError

EARLIEST = datetime(1995, 1, 1, tzinfo=UTC)
LATEST = datetime(2100, 1, 1, tzinfo=UTC)
OPEN = frozenset({"", "unknown", "none", "null", "n/a", "na", "-", "?", "infinite", "open", "ongoing", "now"})
"""Spellings of an end that has not come, in lower case."""

_PLAIN = re.compile(r"(\d{4})[-/](\d{2})[-/](\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?")
_OFFSET = re.compile(r"\s*(Z|UTC|GMT|[+-]\d{2}:?\d{2})$", re.IGNORECASE)


class TimeError(SlakitError):
    """A time that cannot be read without guessing; the words say why."""


def is_open(text: str | None) -> bool:
    """Return whether an end is spelled as not yet come."""
    return text is None or text.strip().casefold() in OPEN


def moment(text: str, zone: str | None) -> datetime:
    """Return a time in UTC from ISO 8601 text, with its own offset or else local to `zone`.

    Raises
    ------
    TimeError
        When it is no such time, has no offset and no zone is given, or does not exist in the zone (clocks put forward).
    """
    text = text.strip()
    found = _OFFSET.search(text)
    offset = found[1].upper() if found and len(text) > 10 else None
    body = text[: found.start()] if found and offset else text
    parts = _PLAIN.fullmatch(body.strip())
    if parts is None:
        raise TimeError(f"{text[:40]!r} is no time such as 2026-11-30T14:05:00Z")
    year, month, day, hour, minute, second, fraction = parts.groups()
    try:
        naive = datetime(  # noqa: DTZ001 - its zone or offset follows
            int(year),
            int(month),
            int(day),
            int(hour or 0),
            int(minute or 0),
            int(second or 0),
            int((fraction or "0").ljust(6, "0")[:6]),
        )
        if offset in ("Z", "UTC", "GMT"):
            return plausible(naive.replace(tzinfo=UTC))
        if offset is not None:
            sign = -1 if offset[0] == "-" else 1
            ahead = timedelta(hours=int(offset[1:3]), minutes=int(offset[-2:])) * sign
            return plausible((naive - ahead).replace(tzinfo=UTC))
    except (ValueError, OverflowError) as error:
        raise TimeError(f"{text[:40]!r} is no time: {error}") from error
    return local(naive, zone)


def local(naive: datetime, zone: str | None, *, later: bool = False) -> datetime:
    """Return a local time in UTC; in the hour that an autumn night has twice, the first of the two unless `later`.

    Raises
    ------
    TimeError
        When no zone is given, or the zone skips this time.
    """
    if zone is None:
        raise TimeError(f"{naive:%Y-%m-%d %H:%M:%S} has no offset: name the zone of the file with --zone")
    there = naive.replace(tzinfo=ZoneInfo(zone), fold=int(later))
    back = there.astimezone(UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    if back != naive:
        raise TimeError(f"{naive:%Y-%m-%d %H:%M:%S} does not exist in {zone}: clocks were put forward")
    return plausible(there.astimezone(UTC))


def is_ambiguous(naive: datetime, zone: str) -> bool:
    """Return whether a local time comes twice in a zone, in the night when clocks are put back."""
    there = naive.replace(tzinfo=ZoneInfo(zone))
    return there.utcoffset() != there.replace(fold=1).utcoffset() and there.astimezone(UTC) < there.replace(
        fold=1
    ).astimezone(UTC)


def from_epoch(seconds: float | int | str) -> datetime:
    """Return a time from seconds since 1970.

    Raises
    ------
    TimeError
        When it is no number or lies outside what a log can hold.
    """
    try:
        number = float(seconds)
        if number != number or abs(number) > 1e11:
            raise ValueError("out of range")
        whole = int(number // 1)
        micro = round((number - whole) * 1e6)
        return plausible(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=whole, microseconds=micro))
    except (TypeError, ValueError, OverflowError) as error:
        raise TimeError(f"{str(seconds)[:40]!r} is no time in seconds since 1970") from error


def plausible(found: datetime) -> datetime:
    """Return a time that a log can hold.

    Raises
    ------
    TimeError
        When it lies before 1995 or after 2100.
    """
    if not EARLIEST <= found < LATEST:
        raise TimeError(f"{found:%Y-%m-%d} lies outside 1995 to 2100")
    return found
