"""Runs of readings, or rows of spells, to the time in which a unit was not up."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from slakit.statements.telemetry import states
from slakit.statements.telemetry.account import Account
from slakit.statements.telemetry.rows import OPEN_END, IntArray, Names, batches
from slakit.statements.telemetry.runs import Runs, runs
from slakit.statements.telemetry.source import READINGS, Source, source_of
from slakit.statements.telemetry.spacing import Spacing, spacing_of
from slakit.statements.telemetry.times import MICROSECONDS

MOST_INTERVALS = 3
"""How long a reading holds at most, in intervals of the monitor: two readings that follow may be missing. [1]"""


@dataclass(frozen=True, slots=True)
class Spells:
    """Spells by unit and time that do not overlap; each array has the shape (spells,)."""

    unit: IntArray
    state: IntArray
    start: IntArray
    """[us]"""
    end: IntArray
    """`OPEN_END` where a row of spells gives none. [us]"""
    line: IntArray
    """Row on which it rests: its first reading, the last one before a gap, or the row that gives it."""

    def __len__(self) -> int:
        return len(self.unit)

    def where(self, which: NDArray[np.bool_] | IntArray) -> Spells:
        """Return some of the spells, in the order asked for."""
        return Spells(*(getattr(self, field.name)[which] for field in fields(self)))

    @staticmethod
    def together(*parts: Spells) -> Spells:
        """Return the spells of all parts by unit and time; those of one state that touch are one."""
        every = [np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(Spells)]
        order = np.lexsort((every[2], every[0]))
        unit, state, start, end, line = (values[order] for values in every)
        if not len(unit):
            return Spells(unit, state, start, end, line)
        apart = (unit[1:] != unit[:-1]) | (state[1:] != state[:-1]) | (start[1:] != end[:-1])
        first = np.flatnonzero(np.r_[True, apart])
        last = np.r_[first[1:], len(unit)] - 1
        return Spells(unit[first], state[first], start[first], end[last], line[first])


@dataclass(frozen=True, slots=True)
class Telemetry:
    """What one file says of all its units."""

    source: Source
    units: tuple[str, ...]
    spells: Spells
    """Spells that are not up; time after the last reading of a unit and before its first is no spell."""
    first: IntArray | None
    """First reading of each unit, shape (units,); None for rows of spells, which say nothing of other times. [us]"""
    until: IntArray | None
    """End of what the last reading of each unit says, same shape. [us]"""
    account: Account
    spacing: Spacing | None = None
    """How far readings stand apart, where those of most units stand further apart than a reading holds."""

    def unknown_outside(self, start: int, end: int) -> Spells:
        """Return the time from `start` to `end` before the first reading of each unit and after its last. [us]"""
        none = np.zeros(0, dtype=np.int64)
        if self.first is None or self.until is None:
            return Spells(none, none, none, none, none)
        unit = np.arange(len(self.units))
        before, after = np.minimum(self.first, end), np.maximum(self.until, start)
        silent = Spells(
            np.r_[unit, unit],
            np.full(2 * len(unit), states.UNKNOWN),
            np.r_[np.full(len(unit), start), after],
            np.r_[before, np.full(len(unit), end)],
            np.zeros(2 * len(unit), dtype=np.int64),
        )
        return silent.where(silent.start < silent.end)


def telemetry(name: str, content: Path | bytes, interval_seconds: int, zone: str | None = None) -> Telemetry:
    """Return what a file of readings or of spells says.

    Parameters
    ----------
    name : name of the file, as it is cited.
    interval_seconds : interval of the monitor under the contract. [s]
    zone : IANA zone of times without an offset; without it such rows are skipped.

    Raises
    ------
    DealError
        When the file as a whole cannot be read.
    """
    source = source_of(name, content)
    names, account = Names(), Account()
    holds_us = interval_seconds * MOST_INTERVALS * MICROSECONDS
    first = until = spacing = None
    if source.columns == READINGS:
        said = runs(source, names, account, zone, holds_us)
        spells, (first, until) = of_runs(said, holds_us), _covered(said, len(names.names), holds_us)
        spacing = spacing_of(said, holds_us)
    else:
        spells = _of_rows(source, names, account, zone)
    account.listed.sort(key=lambda skipped: skipped.line or 0)
    # units have been numbered as they came, which differs from one reading of a file to the next
    order = np.array(sorted(range(len(names.names)), key=names.names.__getitem__), dtype=np.int64)
    place = np.argsort(order)
    return Telemetry(
        source,
        tuple(names.names[i] for i in order.tolist()),
        Spells.together(replace(spells, unit=place[spells.unit])),
        None if first is None else first[order],
        None if until is None else until[order],
        account,
        spacing,
    )


def _covered(said: Runs, units: int, holds_us: int) -> tuple[IntArray, IntArray]:
    """Return the first reading of each unit and the end of what its last one says. [us]"""
    first = np.full(units, OPEN_END)
    until = np.zeros(units, dtype=np.int64)
    if len(said):
        np.minimum.at(first, said.unit, said.first)
        np.maximum.at(until, said.unit, said.last + holds_us)
    return first, until


def of_runs(said: Runs, holds_us: int) -> Spells:
    """Return the spells of runs that stand by unit and time: what was said, and the silence between."""
    following = np.full(len(said), OPEN_END)
    if len(said):
        following[:-1] = np.where(said.unit[1:] == said.unit[:-1], said.first[1:], OPEN_END)
    held = said.last + holds_us
    told = Spells(said.unit, said.state, said.first, np.minimum(following, held), said.line)
    silence = Spells(said.unit, np.full(len(said), states.UNKNOWN), held, following, said.last_line)
    return Spells.together(
        told.where(said.state != states.UP), silence.where((held < following) & (following < OPEN_END))
    )


def _of_rows(source: Source, names: Names, account: Account, zone: str | None) -> Spells:
    """Return the spells of rows that each give one; where rows overlap the worst state counts."""
    parts: list[Spells] = []
    for rows in batches(source, names, account, zone):
        start, end = rows.times
        wide = (rows.unit, rows.state, start, end, rows.line)
        given = Spells(*(np.asarray(values, dtype=np.int64) for values in wide))
        up = int((given.state == states.UP).sum())
        if up:
            account.left_out["unit up"] += up
        parts.append(given.where(given.state != states.UP))
    every = [np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(Spells)] if parts else []
    if not every or not len(every[0]):
        none = np.zeros(0, dtype=np.int64)
        return Spells(none, none, none, none, none)
    order = np.lexsort((every[4], every[1], every[3], every[2], every[0]))
    given = Spells(*(values[order] for values in every))
    again = np.r_[False, np.logical_and.reduce([v[1:] == v[:-1] for v in _values(given)[:4]])]
    account.duplicates += int(again.sum())
    return _worst(given.where(~again), account)


def _worst(given: Spells, account: Account) -> Spells:
    """Return spells that do not overlap: at each time the worst state that a row gives."""
    count = len(given)
    unit, state = np.tile(given.unit, 2), np.tile(given.state, 2)
    time = np.r_[given.start, given.end]
    change = np.r_[np.ones(count, dtype=np.int64), np.full(count, -1)]
    row = np.tile(np.arange(count), 2)
    order = np.lexsort((time, unit))
    unit, state, time, change, row = unit[order], state[order], time[order], change[order], row[order]
    last = np.flatnonzero(np.r_[(unit[1:] != unit[:-1]) | (time[1:] != time[:-1]), True])
    worst = np.zeros(len(last), dtype=np.int64)
    said = np.zeros(len(last), dtype=np.int64)
    line = np.zeros(len(last), dtype=np.int64)
    for code in range(1, len(states.NAMES)):
        active = np.cumsum(np.where(state == code, change, 0))[last] > 0
        latest = np.maximum.accumulate(np.where((state == code) & (change > 0), np.arange(len(unit)), -1))[last]
        worst[active] = code
        said += active
        line[active] = given.line[row[latest[active]]]
    account.contradictions += int((said > 1).sum())
    until = np.r_[time[last][1:], OPEN_END]
    pieces = Spells(unit[last], worst, time[last], until, line)
    return Spells.together(pieces.where((worst > 0) & (pieces.start < pieces.end)))


def _values(spells: Spells) -> list[IntArray]:
    return [getattr(spells, field.name) for field in fields(spells)]
