"""Readings to runs: readings of one unit that follow each other, say the same and leave no gap.

Runs are made batch by batch, so that memory holds one batch and the runs, which are few. The latest readings of a batch
wait for the next, so that rows which come late find their place. Where rows come so late that runs of one unit overlap
all the same, the readings of that unit are read again and taken together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from slakit.statements.telemetry.account import Account
from slakit.statements.telemetry.rows import IntArray, Names, Rows, batches
from slakit.statements.telemetry.source import Source
from slakit.statements.telemetry.times import MICROSECONDS

LATENESS_US = 3600 * MICROSECONDS
"""Rows that come later than this behind others cost a second reading of their units. [us]"""
MOST_WAITING = 1_000_000
"""Readings of a batch that wait for the next. [row]"""
ROWS_TOGETHER = 4_000_000
"""Readings that are taken together in a second reading; of one unit all are. [row]"""


@dataclass(frozen=True, slots=True)
class Runs:
    """Runs by unit and time; each array has the shape (runs,)."""

    unit: IntArray
    state: IntArray
    first: IntArray
    """Time of its first reading. [us]"""
    last: IntArray
    """Time of its last reading. [us]"""
    line: IntArray
    """Row of its first reading."""
    last_line: IntArray
    """Row of its last reading."""
    readings: IntArray
    """Rows in it. [1]"""

    def __len__(self) -> int:
        return len(self.unit)

    def where(self, rows: NDArray[np.bool_] | IntArray) -> Runs:
        """Return some of the runs, in the order asked for."""
        return Runs(*(getattr(self, field.name)[rows] for field in fields(self)))

    @staticmethod
    def together(parts: list[Runs]) -> Runs:
        """Return the runs of all parts, one after the other."""
        none = [np.empty(0, dtype=np.int64)]
        return Runs(*(np.concatenate([getattr(p, f.name) for p in parts] or none) for f in fields(Runs)))


@dataclass(slots=True)
class Repeats:
    """Rows beside another of the same unit and time, by unit. [1]"""

    surplus: IntArray
    contradictions: IntArray

    @classmethod
    def none(cls) -> Repeats:
        """Return no repeats."""
        return cls(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))

    def add(self, surplus: NDArray[np.int32], contradictions: NDArray[np.int32]) -> None:
        """Count the units of surplus rows and of times at which rows differ."""
        self.surplus = _summed(self.surplus, np.bincount(surplus))
        self.contradictions = _summed(self.contradictions, np.bincount(contradictions))

    def forget(self, units: IntArray) -> None:
        """Count nothing for these units, which are read again."""
        for counts in (self.surplus, self.contradictions):
            counts[units[units < len(counts)]] = 0


def runs(source: Source, names: Names, account: Account, zone: str | None, holds_us: int) -> Runs:
    """Return the runs of a file of readings.

    Parameters
    ----------
    names, account : filled.
    holds_us : how long a reading holds; a longer pause parts two runs. [us]
    """
    repeats = Repeats.none()
    parts: list[Runs] = []
    waiting: Rows | None = None
    for batch in batches(source, names, account, zone):
        rows = batch if waiting is None else _joined(waiting, batch)
        waiting = None
        if not len(rows.unit):
            continue
        late = rows.times[0] > _ready_until(rows.times[0])
        waiting, ready = _some(rows, late), _some(rows, ~late)
        if len(ready.unit):
            parts.append(of_rows(ready, holds_us, repeats))
    if waiting is not None:
        parts.append(of_rows(waiting, holds_us, repeats))
    found = _sorted(Runs.together(parts))
    crossed = np.unique(found.unit[1:][_touches(found)])
    if len(crossed):
        repeats.forget(crossed)
        rows_of = np.bincount(found.unit, weights=found.readings).astype(np.int64)
        again = [of_rows(rows, holds_us, repeats) for rows in _again(source, names, zone, crossed, rows_of[crossed])]
        kept = ~np.isin(found.unit, crossed)
        found = _sorted(Runs.together([found.where(kept), *again]))
    account.duplicates += int(repeats.surplus.sum())
    account.contradictions += int(repeats.contradictions.sum())
    return _without_seams(found, holds_us)


def of_rows(rows: Rows, holds_us: int, repeats: Repeats) -> Runs:
    """Return the runs of readings in any order, by unit and time."""
    order, step = _in_order(rows.unit, rows.times[0], holds_us)
    state = rows.state[order]
    same = step == 0
    if same.any():
        _settle(order, state, same, rows.unit, repeats)
        kept = np.r_[True, ~same]
        order, state, step = order[kept], state[kept], step[~same]
    opens = np.empty(len(order), dtype=np.bool_)
    opens[0] = True
    np.logical_or(step > holds_us, state[1:] != state[:-1], out=opens[1:])
    first = np.flatnonzero(opens)
    end = np.r_[first[1:], len(order)]
    begins, ends = order[first], order[end - 1]
    time, line = rows.times[0], rows.line
    wide = (rows.unit[begins], state[first], time[begins], time[ends], line[begins], line[ends], end - first)
    return Runs(*(np.asarray(values, dtype=np.int64) for values in wide))


def _in_order(unit: NDArray[np.int32], time: IntArray, holds_us: int) -> tuple[IntArray, IntArray]:
    """Return the order by unit, time and row, and the steps of time between neighbours. [us]

    Notes
    -----
    Unit, time and row are packed into one number each where they fit into 63 bits, since numbers alone are sorted many
    times faster than rows. A step from one unit to the next is longer than a reading holds.
    """
    seconds = time // MICROSECONDS
    scale, ticks = (MICROSECONDS, seconds) if (seconds * MICROSECONDS == time).all() else (1, time)
    start = int(ticks.min())
    row_bits = len(time).bit_length()
    time_bits = (int(ticks.max()) - start + holds_us // scale + 1).bit_length()
    if int(unit.max()).bit_length() + time_bits + row_bits <= 63:
        packed = unit.astype(np.int64)
        packed <<= time_bits
        packed += ticks - start
        packed <<= row_bits
        packed += np.arange(len(time))
        packed.sort()
        order = packed & ((1 << row_bits) - 1)
        packed >>= row_bits
        return order, np.diff(packed) * scale
    order = np.lexsort((time, unit))
    step = np.diff(time[order])
    step[np.diff(unit[order]) != 0] = holds_us + 1
    return order, step


def _settle(
    order: IntArray, state: NDArray[np.int8], same: NDArray[np.bool_], unit: NDArray[np.int32], repeats: Repeats
) -> None:
    """Put the row that says the worst first among rows of one unit and time, in place, and count the others.

    Parameters
    ----------
    same : whether a row, from the second on, has the unit and time of the row before it.
    """
    among = np.flatnonzero(np.r_[False, same] | np.r_[same, False])
    first = np.flatnonzero(~np.r_[False, same][among])
    size = np.diff(np.r_[first, len(among)])
    said = state[among]
    worst, best = np.maximum.reduceat(said, first), np.minimum.reduceat(said, first)
    place = np.where(said == np.repeat(worst, size), np.arange(len(among)), len(among))
    chosen = among[np.minimum.reduceat(place, first)]
    repeats.add(np.repeat(unit[order[among[first]]], size - 1), unit[order[among[first]]][worst > best])
    order[among[first]] = order[chosen]
    state[among[first]] = worst


def _ready_until(time: IntArray) -> int:
    """Return the time after which the readings of a batch wait for the next. [us]"""
    until = int(time.max()) - LATENESS_US
    if len(time) > MOST_WAITING:
        until = max(until, int(np.partition(time, -MOST_WAITING)[-MOST_WAITING]))
    return until


def _again(source: Source, names: Names, zone: str | None, units: IntArray, rows_of_units: IntArray) -> Iterator[Rows]:
    """Yield all readings of some units, of as many units at a time as `ROWS_TOGETHER` allows."""
    total = np.cumsum(rows_of_units) - rows_of_units
    for group in np.unique(total // ROWS_TOGETHER):
        asked = np.zeros(len(names.names), dtype=np.bool_)
        asked[units[total // ROWS_TOGETHER == group]] = True
        parts = [_some(rows, asked[rows.unit]) for rows in batches(source, names, Account(), zone)]
        yield _joined(*parts)


def _without_seams(found: Runs, holds_us: int) -> Runs:
    """Return runs that no batch has cut in two."""
    if not len(found):
        return found
    parted = (found.unit[1:] != found.unit[:-1]) | (found.state[1:] != found.state[:-1])
    first = np.flatnonzero(np.r_[True, parted | (found.first[1:] - found.last[:-1] > holds_us)])
    last = np.r_[first[1:], len(found)] - 1
    return Runs(
        found.unit[first],
        found.state[first],
        found.first[first],
        found.last[last],
        found.line[first],
        found.last_line[last],
        np.add.reduceat(found.readings, first),
    )


def _touches(found: Runs) -> NDArray[np.bool_]:
    """Return which runs but the first begin before the run of the same unit before them has ended, or as it does."""
    return np.asarray((found.unit[1:] == found.unit[:-1]) & (found.first[1:] <= found.last[:-1]))


def _sorted(found: Runs) -> Runs:
    return found.where(np.lexsort((found.first, found.unit)))


def _joined(*parts: Rows) -> Rows:
    return Rows(
        np.concatenate([rows.unit for rows in parts]),
        tuple(np.concatenate([rows.times[i] for rows in parts]) for i in range(len(parts[0].times))),
        np.concatenate([rows.state for rows in parts]),
        np.concatenate([rows.line for rows in parts]),
    )


def _some(rows: Rows, which: NDArray[np.bool_]) -> Rows:
    return Rows(rows.unit[which], tuple(time[which] for time in rows.times), rows.state[which], rows.line[which])


def _summed(first: IntArray, second: IntArray) -> IntArray:
    size = max(len(first), len(second))
    return np.asarray(np.pad(first, (0, size - len(first))) + np.pad(second, (0, size - len(second))), dtype=np.int64)
