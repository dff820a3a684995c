"""From readings to spells: from the first failed reading up to the first good one; a gap is unknown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from slakit.statements.importers.imported import State

Seen = State | Literal["up"]
GAP_IN_STEPS = 1.5
"""A pause between two readings of more than this many steps is a gap. [1]"""


@dataclass(frozen=True, slots=True)
class Beat:
    """What a monitor saw at one time, and the record that says so."""

    at: datetime
    seen: Seen
    line: int | None
    raw: str
    words: str | None = None


@dataclass(frozen=True, slots=True)
class Spell:
    """A run of readings with the same state, or a gap between readings."""

    state: State
    first: Beat
    """First reading of the spell; for a gap the last one before it."""
    started_at: datetime
    ended_at: datetime | None
    last_good_at: datetime | None
    """Reading before the first, when there was one and no gap."""
    last_at: datetime
    """Last reading of the spell."""
    ended_by_reading: bool
    """False where a gap or the end of the file ended it."""
    is_gap: bool = False


def spells(
    beats: Iterable[Beat], step: timedelta | None, gap: timedelta | None = None, *, stays_open: bool = False
) -> Iterator[Spell]:
    """Yield the spells in readings sorted by time.

    Parameters
    ----------
    step : time between readings; a reading speaks for one step from its time on. Without it there are no gaps, and the
        last spell stays open.
    gap : longest pause that is none; `GAP_IN_STEPS` steps when not given.
    stays_open : whether the last spell goes on after the last reading, rather than for one step.
    """
    longest = gap if gap is not None else GAP_IN_STEPS * step if step is not None else None
    first: Beat | None = None
    before: Beat | None = None
    good_at: datetime | None = None
    for beat in beats:
        if before is not None and step is not None and longest is not None and beat.at - before.at > longest:
            until = before.at + step
            if first is not None and first.seen != "up":
                yield Spell(first.seen, first, first.at, until, good_at, before.at, ended_by_reading=False)
            yield Spell("unknown", before, until, beat.at, None, until, ended_by_reading=True, is_gap=True)
            first = before = None
        if first is None or beat.seen != first.seen:
            if first is not None and first.seen != "up" and before is not None:
                yield Spell(first.seen, first, first.at, beat.at, good_at, before.at, ended_by_reading=True)
            good_at = before.at if before is not None else None
            first = beat
        before = beat
    if first is not None and first.seen != "up" and before is not None:
        end = before.at + step if step is not None and not stays_open else None
        yield Spell(first.seen, first, first.at, end, good_at, before.at, ended_by_reading=False)
