"""How far readings stand apart, held against the interval of the contract's monitor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from schemas.errors import DealError
from slakit.statements.importers.refusal import refused
from slakit.statements.telemetry.runs import Runs
from slakit.statements.telemetry.times import MICROSECONDS

LEAST_STEPS = 20
"""Steps between readings of one unit from which its rhythm can be told. [1]"""
MOST_UNKNOWN = 4
"""A file is refused where more than one part in so many of the time between its readings would be unknown. [1]"""


@dataclass(frozen=True, slots=True)
class Spacing:
    """Readings of most units that stand further apart than a reading holds."""

    typical_us: int
    """Median of the steps that are longer than a reading holds. [us]"""
    silent_us: int
    """Time between readings that is unknown for it, of all units together. [us]"""
    whole_us: int
    """Time from the first reading to the last one, of all units together. [us]"""

    def words(self, interval_seconds: int) -> str:
        """Return what a reader of the result must know."""
        return (
            f"readings come about every {self.typical_us / MICROSECONDS:,.0f} s, the contract's monitor every "
            f"{interval_seconds:,} s (measurement.monitor_interval_seconds): the time beyond three intervals after "
            "each reading is unknown"
        )

    def check(self, file: str, interval_seconds: int) -> None:
        """Refuse a file that would leave too much of the time unknown.

        Raises
        ------
        DealError
            Where more than a quarter of the time between readings would be unknown.
        """
        if MOST_UNKNOWN * self.silent_us > self.whole_us:
            raise self.refusal(file, interval_seconds)

    def refusal(self, file: str, interval_seconds: int) -> DealError:
        """Return the error that refuses the file."""
        share = 100 * self.silent_us / self.whole_us
        return refused(
            file,
            f"readings about every {self.typical_us / MICROSECONDS:,.0f} s under a monitor of every "
            f"{interval_seconds:,} s, which would leave {share:.0f}% of the time between them unknown",
            "readings at most three intervals of the contract's monitor apart",
            "set measurement.monitor_interval_seconds in the deal to the interval that the contract means, or give "
            "finer readings",
        )


def spacing_of(said: Runs, holds_us: int) -> Spacing | None:
    """Return how far apart readings stand, None where those of most units are close enough.

    Parameters
    ----------
    said : runs by unit and time; a step longer than a reading holds parts two of them.
    holds_us : how long a reading holds. [us]
    """
    if not len(said):
        return None
    inside = said.unit[1:] == said.unit[:-1]
    step = said.first[1:] - said.last[:-1]
    wide = inside & (step > holds_us)
    units = int(said.unit.max()) + 1
    steps = np.bincount(said.unit, weights=said.readings, minlength=units).astype(np.int64) - 1
    too_wide = np.bincount(said.unit[1:][wide], minlength=units)
    judged = steps >= LEAST_STEPS
    coarse = judged & (2 * too_wide > steps)
    if 2 * int(coarse.sum()) <= int(judged.sum()):
        return None
    of_coarse = np.sort(step[wide & coarse[said.unit[1:]]])
    opens, ends = np.r_[True, ~inside], np.r_[~inside, True]
    return Spacing(
        typical_us=int(of_coarse[len(of_coarse) // 2]),
        silent_us=int((step[wide] - holds_us).sum()),
        whole_us=int((said.last[ends] - said.first[opens]).sum()),
    )
