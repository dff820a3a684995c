"""Half-open intervals of time: sorted, apart from each other, with their start and without their end."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

Span = tuple[datetime, datetime]
"""From its first moment up to, not including, its second; both in UTC."""
Spans = tuple[Span, ...]
"""Sorted spans that neither overlap nor touch."""
Minutes = int | Fraction
"""Whole minutes, or an exact fraction where the contract counts seconds. [min]"""

MINUTE = timedelta(minutes=1)
MICROSECONDS_PER_MINUTE = 60_000_000
MICROSECOND = timedelta(microseconds=1)
START = datetime.min.replace(tzinfo=UTC)
END = datetime.max.replace(tzinfo=UTC)


def union(spans: Iterable[Span]) -> Spans:
    """Return the time covered by any of `spans`; touching spans become one, empty ones vanish."""
    joined: list[Span] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if joined and start <= joined[-1][1]:
            if end > joined[-1][1]:
                joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return tuple(joined)


def intersection(first: Spans, second: Spans) -> Spans:
    """Return the time covered by both."""
    found: list[Span] = []
    i = j = 0
    while i < len(first) and j < len(second):
        start = max(first[i][0], second[j][0])
        end = min(first[i][1], second[j][1])
        if start < end:
            found.append((start, end))
        if first[i][1] < second[j][1]:
            i += 1
        else:
            j += 1
    return tuple(found)


def difference(first: Spans, second: Spans) -> Spans:
    """Return the time covered by `first` and not by `second`."""
    left: list[Span] = []
    j = 0
    for start, end in first:
        while j < len(second) and second[j][1] <= start:
            j += 1
        position, k = start, j
        while k < len(second) and second[k][0] < end:
            if second[k][0] > position:
                left.append((position, second[k][0]))
            position = max(position, second[k][1])
            k += 1
        if position < end:
            left.append((position, end))
    return tuple(left)


def clipped(spans: Spans, start: datetime, end: datetime) -> Spans:
    """Return the part of `spans` from `start` up to `end`."""
    return intersection(spans, ((start, end),)) if start < end else ()


def length(spans: Spans) -> timedelta:
    """Return how long `spans` last together."""
    return sum((end - start for start, end in spans), timedelta())


def touches(span: Span, spans: Spans) -> bool:
    """Return whether `span` shares time with any of `spans`."""
    return any(start < span[1] and span[0] < end for start, end in spans)


def whole_minutes(duration: timedelta) -> int:
    """Return a duration cut down to whole minutes. [min]"""
    return duration // MINUTE


def exact_minutes(duration: timedelta) -> Minutes:
    """Return a duration in minutes, a fraction only where it is not whole. [min]"""
    return plain(Fraction(duration // MICROSECOND, MICROSECONDS_PER_MINUTE))


def hours(number: Decimal) -> timedelta:
    """Return a number of hours as a duration, to the microsecond."""
    return int(number * 3_600_000_000) * MICROSECOND


def plain(minutes: Minutes) -> Minutes:
    """Return whole minutes as an integer, others as they are. [min]"""
    return int(minutes) if minutes == int(minutes) else minutes
