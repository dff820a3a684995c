"""Times as Slurm prints them: local, to the second, without a zone; or seconds since 1970 where it was so asked."""

from __future__ import annotations

import re

from slakit.statements.importers.clock import Clock, Reading
from slakit.statements.importers.imported import Bound, Collector
from slakit.statements.importers.refusal import refused
from slakit.statements.importers.times import TimeError

NOT_YET = frozenset({"unknown", "none", "n/a", "(null)", "0", "infinite"})
"""Spellings of a time that Slurm does not have, in lower case."""

_WHOLE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?|\d{10}")


def is_missing(written: str) -> bool:
    """Return whether Slurm has no such time; a blank one does not say so."""
    written = written.strip()
    return written.casefold() in NOT_YET or written.startswith(("1970-01-01T", "1969-12-31T"))


def read(clock: Clock, written: str) -> Reading:
    """Return a time; one that is not written to the second is refused, for it may be cut off.

    Raises
    ------
    TimeError
        When it is no such time, or no zone is named for it.
    """
    if not _WHOLE.fullmatch(written.strip()):
        raise TimeError(f"{written.strip()[:40]!r} is no time of Slurm such as 2026-11-30T14:05:00")
    return clock.read(written)


def check_zone(clock: Clock) -> None:
    """Refuse a file that has times without a zone when none is named.

    Raises
    ------
    DealError
        When it does.
    """
    if clock.zone is None and clock.without_offset:
        raise refused(
            clock.log.name,
            f"{clock.without_offset:,} local times, for Slurm prints no zone",
            "the zone of the machine on which the command ran or the log was written",
            "name it with --zone, for example --zone America/Chicago",
        )


def bound_twice(found: Collector, incident: str, started: Reading, ended: Reading | None = None) -> None:
    """Note a start or an end that comes twice in the night when clocks are put back."""
    if started.later is not None:
        found.bound(Bound(incident, "started_at", started.at, started.later))
        found.comes_twice(incident, "started_at", started.at, started.later)
    if ended is not None and ended.later is not None:
        found.bound(Bound(incident, "ended_at", ended.at, ended.later))
        found.comes_twice(incident, "ended_at", ended.at, ended.later)
