"""Times of rows: a whole column at once where its texts are alike, one by one where they are not."""

from __future__ import annotations

import re
from collections.abc import Iterable
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
_USUAL = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}|\s*\d+(?:\.\d*)?\s*$")
_OFFSET = re.compile(r".{10,}(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})\s*", re.IGNORECASE)


def microseconds(at: datetime) -> int:
    """Return an aware time as its distance from 1970. [us]"""
    past = at - EPOCH
    return (past.days * 86_400 + past.seconds) * MICROSECONDS + past.microseconds


def at(microsecond: int) -> datetime:
    """Return the time so many microseconds after 1970, in UTC."""
    seconds, rest = divmod(microsecond, MICROSECONDS)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest)


FIRST, LAST = microseconds(EARLIEST), microseconds(LATEST)


def whole_column(name: str, dtype: pl.DataType, samples: Iterable[object], zone: str | None) -> pl.Expr:
    """Return the times of a column, null where one must be looked at by itself. [us]

    Parameters
    ----------
    samples : first values of the column, which tell how its texts are written.
    zone : zone of times without an offset; those that it skips or has twice are null.

    Notes
    -----
    A number is a time in seconds, milliseconds, microseconds or nanoseconds since 1970, whichever lies in 1995 to
    2100; the four never overlap.
    """
    import polars as pl

    column = pl.col(name)
    if dtype == pl.String:
        found = _of_text(column, next((str(s) for s in samples if s and _USUAL.match(str(s))), ""), zone)
    elif isinstance(dtype, pl.Datetime):
        moments = column.dt.cast_time_unit("us")
        found = (moments if dtype.time_zone else _localized(moments, zone)).dt.timestamp("us")
    elif dtype.is_numeric():
        found = _of_number(column if dtype.is_integer() else column.cast(pl.Float64))
    else:
        found = pl.lit(None, pl.Int64)
    return pl.when(found.is_between(FIRST, LAST, closed="left")).then(found)


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
    """Return the times of texts written like `sample`, their offsets and fractions of seconds aside. [us]"""
    import polars as pl

    if _NUMBER.fullmatch(sample):
        return _of_number(column.cast(pl.Float64, strict=False))
    pattern = f"%Y-%m-%d{sample[10:11] or 'T'}%H:%M:%S%.f"
    if _OFFSET.fullmatch(sample):
        return column.str.to_datetime(f"{pattern}%#z", time_unit="us", strict=False).dt.timestamp("us")
    return _localized(column.str.to_datetime(pattern, time_unit="us", strict=False), zone).dt.timestamp("us")


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
