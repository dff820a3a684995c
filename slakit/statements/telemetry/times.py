"""Times of rows: a whole column at once where its texts are alike, one by one where they are not."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from slakit.statements.importers.times import EARLIEST, LATEST, TimeError, from_epoch, is_ambiguous, moment

if TYPE_CHECKING:
    import polars as pl

MICROSECONDS = 1_000_000
"""In a second."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_NUMBER = re.compile(r"\s*\d+(?:\.\d*)?(?:[eE]\+?\d+)?\s*")
_OFFSET = re.compile(r".{10,}?(Z|UTC|GMT|[+-]\d{2}:?\d{2})\s*", re.IGNORECASE)


def microseconds(at: datetime) -> int:
    """Return an aware time as its distance from 1970. [us]"""
    past = at - EPOCH
    return (past.days * 86_400 + past.seconds) * MICROSECONDS + past.microseconds


def at(microsecond: int) -> datetime:
    """Return the time so many microseconds after 1970, in UTC."""
    seconds, rest = divmod(microsecond, MICROSECONDS)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest)


FIRST, LAST = microseconds(EARLIEST), microseconds(LATEST)


def whole_column(name: str, dtype: pl.DataType, sample: str | None, zone: str | None) -> pl.Expr:
    """Return the times of a column, null where one must be looked at again. [us]

    Parameters
    ----------
    sample : a text of the column; texts that are written in the same way, with the same offset, are read.
    zone : zone of times without an offset; those that it skips or has twice are null.

    Notes
    -----
    A number is a time in seconds, milliseconds, microseconds or nanoseconds since 1970, whichever lies in 1995 to
    2100; the four never overlap.
    """
    import polars as pl

    column = pl.col(name)
    if dtype == pl.String:
        return _possible(_of_text(column, sample or "", zone))
    if isinstance(dtype, pl.Datetime):
        moments = column.dt.cast_time_unit("us")
        return _possible((moments if dtype.time_zone else _localized(moments, zone)).dt.timestamp("us"))
    if dtype.is_numeric():
        return _possible(_of_number(column if dtype.is_integer() else column.cast(pl.Float64)))
    return pl.lit(None, pl.Int64)


def any_column(name: str, zone: str | None) -> pl.Expr:
    """Return the times of texts written in any of the usual ways, null where one must be looked at by itself. [us]"""
    import polars as pl

    column = pl.col(name)
    found = []
    for between in "T ":
        pattern = f"%Y-%m-%d{between}%H:%M:%S%.f"
        moments = column.str.to_datetime(f"{pattern}%#z", time_unit="us", strict=False)
        found += [moments, _localized(column.str.to_datetime(pattern, time_unit="us", strict=False), zone)]
    of_text = pl.coalesce(moments.dt.timestamp("us") for moments in found)
    return _possible(pl.coalesce(of_text, _of_number(column.cast(pl.Float64, strict=False))))


@lru_cache(maxsize=65_536)
def one(text: str, zone: str | None) -> int:
    """Return one time. [us]

    Raises
    ------
    TimeError
        When it cannot be read without guessing.
    """
    if _NUMBER.fullmatch(text):
        number = float(text)
        while number >= 1e11 and number < 1e20:
            number /= 1000
        return microseconds(from_epoch(number))
    found = moment(text, zone)
    if zone is not None and not _OFFSET.fullmatch(text.strip()):
        there = found.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
        if is_ambiguous(there, zone):
            raise TimeError(f"{text[:40]!r} comes twice in {zone}: clocks were put back")
    return microseconds(found)


def _of_text(column: pl.Expr, sample: str, zone: str | None) -> pl.Expr:
    """Return the times of texts written like `sample`. [us]"""
    import polars as pl

    if _NUMBER.fullmatch(sample):
        return _of_number(column.cast(pl.Float64, strict=False))
    pattern = f"%Y-%m-%d{' ' if ' ' in sample[:11] else 'T'}%H:%M:%S{'%.f' if '.' in sample else ''}"
    offset = _OFFSET.fullmatch(sample)
    if offset is None:
        return _localized(column.str.to_datetime(pattern, time_unit="us", strict=False), zone).dt.timestamp("us")
    # polars reads texts without an offset many times faster, and all but a few have the same
    naive = column.str.strip_suffix(offset[1]).str.to_datetime(pattern, time_unit="us", strict=False)
    has_it = column.str.ends_with(offset[1])
    return pl.when(has_it).then(naive.dt.timestamp("us") - _ahead_us(offset[1]))


def _ahead_us(offset: str) -> int:
    """Return how far local time is ahead of UTC. [us]"""
    if offset[0] not in "+-":
        return 0
    minutes = int(offset[1:3]) * 60 + int(offset[-2:])
    return (-minutes if offset[0] == "-" else minutes) * 60 * MICROSECONDS


def _possible(microseconds: pl.Expr) -> pl.Expr:
    import polars as pl

    return pl.when(microseconds.is_between(FIRST, LAST, closed="left")).then(microseconds)


def _localized(moments: pl.Expr, zone: str | None) -> pl.Expr:
    import polars as pl

    if zone is None:  # each is refused by itself, with the reason
        return pl.lit(None, pl.Datetime("us", "UTC"))
    return moments.dt.replace_time_zone(zone, ambiguous="null", non_existent="null")


def _of_number(number: pl.Expr) -> pl.Expr:
    import polars as pl

    whole = number.round().cast(pl.Int64, strict=False)
    seconds = (number * MICROSECONDS).round().cast(pl.Int64, strict=False)
    milliseconds = (number * 1000).round().cast(pl.Int64, strict=False)
    return (
        pl.when(number < 1e11)
        .then(seconds)
        .when(number < 1e14)
        .then(milliseconds)
        .when(number < 1e17)
        .then(whole)
        .otherwise(whole // 1000)
    )
