"""Logs of NVIDIA's fabric manager: faults of NVSwitches, in local time.

A record is a line with a time and the lines without one that follow it. The log is of one node and does not name it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from slakit.statements.importers import gpu_faults, snapshots
from slakit.statements.importers.clock import MONTHS, Clock, Reading
from slakit.statements.importers.form import Form, Options
from slakit.statements.importers.gpu_faults import Effect
from slakit.statements.importers.imported import Bound, Collector, Imported
from slakit.statements.importers.log import Log
from slakit.statements.importers.times import TimeError

QUIET = frozenset({"INFO", "DEBUG"})
"""Levels of lines that report no fault."""

_RECORD = re.compile(
    r"\[([A-Z][a-z]{2}) (\d{1,2}) (\d{4}) (\d\d):(\d\d):(\d\d)\] \[([A-Z]{1,12})\] \[tid (\d{1,10})\] ?(.*)"
)
_SXID = re.compile(r"detected NVSwitch ((?:non-)?fatal) error (\d{1,6})\b(.*)", re.IGNORECASE)
_PLACE = re.compile(r"pci bus id ([0-9A-Fa-f:.]{5,20})")


@dataclass(slots=True)
class _Record:
    line: int
    raw: str
    match: re.Match[str] | None


def read(log: Log, options: Options) -> Imported:
    """Read a log.

    Raises
    ------
    DealError
        When it holds faults and no zone or unit is named.
    """
    found, clock = Collector(log, "nvidia-fabric-manager"), Clock(log, options)
    records: list[_Record] = []
    for number, line in log.lines():
        match = _RECORD.match(line)
        if match is None and records and records[-1].match is not None and not line.startswith("["):
            records[-1].raw = f"{records[-1].raw} {line}"[:20_000]
        else:
            records.append(_Record(number, line, match))
    for record in records:
        _add(found, clock, record, options)
    if not found.incidents:
        clock.check()
    return found.finish()


def _add(found: Collector, clock: Clock, record: _Record, options: Options) -> None:
    if record.match is None:
        found.skip(record.line, record.raw, "has no time")
        return
    month, day, year, hour, minute, second, level, _, message = record.match.groups()
    fault = _SXID.search(message)
    if fault is None:
        if level in QUIET:
            found.leave_out(f"a line of level {level}, no fault of a switch")
        else:
            found.unknown_state(f"{level}: {message[:40]}")
            found.skip(record.line, record.raw, f"a line of level {level} that no table knows")
        return
    effect: Effect = gpu_faults.sxid(int(fault[2]), fault[1], options.fault_list)
    if effect.state is None:
        found.leave_out(effect.reason)
        return
    try:
        at = _time(clock, month, (day, year, hour, minute, second))
    except TimeError as error:
        found.skip(record.line, record.raw, str(error))
        return
    if options.unit_id is None:
        raise snapshots.needs_unit(found.log)
    if not effect.is_known:
        found.unknown_state(f"{effect.code} ({fault[1]})")
    place = _PLACE.search(fault[3])
    made = found.incident(
        line=record.line,
        raw=record.raw,
        unit_id=options.unit_id,
        level=options.unit_level or "node",
        state=effect.state,
        started_at=at.at,
        ended_at=None,
        detected_at=at.at,
        fault_code=effect.code,
        cause=f"NVSwitch {gpu_faults.pci(place[1])}: {message}" if place else message,
    )
    if made is not None and at.later is not None:
        found.bound(Bound(made.id, "started_at", at.at, at.later))
        found.comes_twice(made.id, "started_at", at.at, at.later)
    found.note("a fault of a switch is open until another record ends it: this log does not say when it was repaired")


def _time(clock: Clock, month: str, rest: tuple[str, str, str, str, str]) -> Reading:
    """Return a time in UTC, or raise `TimeError`."""
    day, year, hour, minute, second = rest
    if month.casefold() not in MONTHS:
        raise TimeError(f"{month!r} is no month")
    number = MONTHS.index(month.casefold()) + 1
    try:
        naive = datetime(int(year), number, int(day), int(hour), int(minute), int(second))  # noqa: DTZ001 - zone follows
    except ValueError as error:
        raise TimeError(f"is no time: {error}") from error
    return clock.local(naive)


def _sniff(log: Log) -> int:
    return 90 if re.search(_RECORD.pattern, log.head, re.MULTILINE) else 0


FORMS = (Form("nvidia-fabric-manager", "Log of NVIDIA's fabric manager", _sniff, read),)
