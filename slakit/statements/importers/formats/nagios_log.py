"""Archive logs of Nagios and its kin: `[epoch] HOST ALERT: host;DOWN;HARD;3;text`.

A problem counts once the monitor confirmed it (HARD); it began with the first failed reading (SOFT), and both times are
kept as bounds. A SOFT problem that went away was never confirmed. Planned downtime is a spell of its own: whether it is
excluded is for the contract to say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from schemas.incidents import Evidence
from slakit.statements.importers.form import Form, Options
from slakit.statements.importers.imported import Bound, Collector, Imported, State
from slakit.statements.importers.log import Log
from slakit.statements.importers.spells import Seen
from slakit.statements.importers.times import TimeError, from_epoch

STATES: Mapping[str, Seen] = {
    "UP": "up",
    "OK": "up",
    "RECOVERY": "up",
    "DOWN": "down",
    "UNREACHABLE": "down",
    "CRITICAL": "down",
    "WARNING": "degraded",
    "UNKNOWN": "unknown",
}
"""States of hosts and services. UNREACHABLE: the way to the host is down."""
OTHER_RECORDS = (
    "HOST NOTIFICATION", "SERVICE NOTIFICATION", "HOST FLAPPING ALERT", "SERVICE FLAPPING ALERT", "EXTERNAL COMMAND",
    "HOST EVENT HANDLER", "SERVICE EVENT HANDLER", "PASSIVE HOST CHECK", "PASSIVE SERVICE CHECK", "LOG ROTATION",
    "LOG VERSION", "Warning", "Error", "Auto-save of retention data completed",
    "HOST ACKNOWLEDGE ALERT", "SERVICE ACKNOWLEDGE ALERT", "GLOBAL HOST EVENT HANDLER", "GLOBAL SERVICE EVENT HANDLER",
)  # fmt: skip
"""Records that say nothing about the state of a unit, or repeat it."""

MOST_CITED = 20
"""SOFT lines that one incident cites. [1]"""

_LINE = re.compile(r"\[(\d{9,10})\] (.+)")
_STATE = re.compile(r"(HOST|SERVICE) ALERT: (.+)|(?:CURRENT|INITIAL) (HOST|SERVICE) STATE: (.+)")
_DOWNTIME = re.compile(r"(HOST|SERVICE) DOWNTIME ALERT: (.+)")
_STOPPED = re.compile(
    r"Caught SIG\w+, shutting down|Successfully shutdown|\w+ shutting down|Bailing out", re.IGNORECASE
)
_STARTED = re.compile(r"\w+ [\d.]+\S* starting\.\.\.|\w+ starting", re.IGNORECASE)


@dataclass(slots=True)
class _Unit:
    """What is known of one host or service."""

    seen: Seen | None = None
    """None before its first record."""
    since: datetime | None = None
    first_soft: datetime | None = None
    confirmed: datetime | None = None
    line: int | None = None
    raw: str = ""
    words: str = ""
    is_first: bool = False
    """Whether it was down when the log began to speak of it."""
    soft: list[Evidence] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Record:
    at: datetime
    line: int
    raw: str


def read(log: Log, options: Options) -> Imported:
    """Read an archive log."""
    reader = _Reader(log, options)
    before: datetime | None = None
    for number, line in log.lines():
        match = _LINE.fullmatch(line.strip())
        if match is None:
            reader.found.skip(number, line, "no line [epoch] text")
            continue
        try:
            at = from_epoch(match[1])
        except TimeError as error:
            reader.found.skip(number, line, str(error))
            continue
        if before is not None and at < before:
            reader.found.skip(number, line, "earlier than the line before it")
            continue
        before = at
        reader.add(_Record(at, number, line), match[2])
    return reader.finish()


class _Reader:
    """Follows the states of all units through a log."""

    def __init__(self, log: Log, options: Options) -> None:
        self.options, self.found = options, Collector(log, "nagios-log")
        self.units: dict[str, _Unit] = {}
        self.planned: dict[str, _Record] = {}
        self.stopped: _Record | None = None

    def add(self, record: _Record, text: str) -> None:
        """Account for one line."""
        if state := _STATE.fullmatch(text):
            is_host = (state[1] or state[3]) == "HOST"
            self._state(record, is_host, (state[2] or state[4]).split(";"))
        elif downtime := _DOWNTIME.fullmatch(text):
            self._downtime(record, downtime[1] == "HOST", downtime[2].split(";"))
        elif _STOPPED.match(text):
            self.found.leave_out("monitor stopped or started")
            self.stopped = self.stopped or record
        elif _STARTED.match(text):
            self.found.leave_out("monitor stopped or started")
            self._restarted(record)
        elif text.startswith(OTHER_RECORDS) or text.startswith("TIMEPERIOD TRANSITION"):
            self.found.leave_out("no state of a unit: notifications, commands, flapping and the like")
        else:
            self.found.skip(record.line, record.raw, "a kind of line that no table knows")

    def _state(self, record: _Record, is_host: bool, cells: list[str]) -> None:
        """Take in a state of a host or service."""
        if len(cells) < (3 if is_host else 4):
            self.found.skip(record.line, record.raw, "too few fields")
            return
        name = cells[0] if is_host else f"{cells[0]};{cells[1]}"
        word, certainty, *rest = cells[1 if is_host else 2 :]
        if word not in STATES or certainty not in ("SOFT", "HARD"):
            self.found.unknown_state(f"{word};{certainty}")
            self.found.skip(record.line, record.raw, f"a state {word[:30]};{certainty[:30]} that no table knows")
            return
        unit = self.units.setdefault(name, _Unit())
        seen, words = STATES[word], ";".join(rest[1:])
        if seen == "up":
            self.found.leave_out("unit up")
            self._close(name, unit, record)
            unit.seen = "up"
        elif certainty == "SOFT":
            if unit.first_soft is None and unit.confirmed is None:
                unit.first_soft = record.at
            unit.soft.append(self.found.log.evidence(record.line, record.raw))
        elif unit.confirmed is not None and unit.seen == seen:
            self.found.duplicate()
        else:
            if unit.confirmed is not None:
                self._close(name, unit, record)
            unit.is_first = unit.seen is None and unit.first_soft is None
            unit.seen, unit.confirmed, unit.since = seen, record.at, unit.first_soft or record.at
            unit.line, unit.raw, unit.words = record.line, record.raw, words
            self.found.use()

    def _close(self, name: str, unit: _Unit, record: _Record | None) -> None:
        """End what a unit had, at the time of a record or, with none, leave it open."""
        if unit.confirmed is not None and unit.since is not None and unit.seen is not None and unit.seen != "up":
            self.found.use(len(unit.soft))
            also = unit.soft[:MOST_CITED]
            if record is not None:
                also.append(self.found.log.evidence(record.line, record.raw))
            made = self._incident(
                name,
                unit.seen,
                unit.since,
                record.at if record else None,
                unit.line,
                unit.raw,
                unit.words,
                tuple(also),
                unit.confirmed,
            )
            if made is not None and unit.is_first:
                self.found.bound(Bound(made, "started_at", None, unit.since))
                self.found.note("a unit was down when the log began: its outage began no later than its first line")
            elif made is not None and unit.first_soft is not None:
                self.found.bound(Bound(made, "started_at", unit.first_soft, unit.confirmed))
        elif unit.first_soft is not None:
            self.found.leave_out("SOFT problem that was never confirmed", len(unit.soft))
        unit.first_soft = unit.confirmed = unit.since = None
        unit.soft, unit.is_first = [], False

    def _downtime(self, record: _Record, is_host: bool, cells: list[str]) -> None:
        """Take in the start or end of planned downtime."""
        name = cells[0] if is_host else ";".join(cells[:2])
        word = cells[1 if is_host else 2].strip() if len(cells) > (1 if is_host else 2) else ""
        if word == "STARTED":
            if name in self.planned:
                self.found.duplicate()
            else:
                self.planned[name] = record
                self.found.use()
        elif word in ("STOPPED", "CANCELLED"):
            if name not in self.planned:
                self.found.skip(record.line, record.raw, "ends a planned downtime that did not begin in this file")
                return
            started = self.planned.pop(name)
            self.found.use()
            self._incident(
                name,
                "planned",
                started.at,
                record.at,
                started.line,
                started.raw,
                "planned downtime",
                (self.found.log.evidence(record.line, record.raw),),
            )
        else:
            self.found.unknown_state(f"DOWNTIME {word}")
            self.found.skip(record.line, record.raw, f"a downtime {word[:30]!r} that no table knows")

    def _restarted(self, record: _Record) -> None:
        """While the monitor was stopped, units last seen up are unknown; those down stay so until seen up."""
        if self.stopped is None:
            return
        for name, unit in self.units.items():
            if unit.seen == "up" and record.at > self.stopped.at:
                self._incident(
                    name,
                    "unknown",
                    self.stopped.at,
                    record.at,
                    self.stopped.line,
                    self.stopped.raw,
                    "the monitor was stopped",
                    (self.found.log.evidence(record.line, record.raw),),
                )
        self.stopped = None

    def _incident(
        self, name: str, state: State, started_at: datetime, ended_at: datetime | None, line: int | None, raw: str,
        cause: str, also: tuple[Evidence, ...], detected_at: datetime | None = None,
    ) -> str | None:  # fmt: skip
        is_host = ";" not in name
        made = self.found.incident(
            line=line,
            raw=raw,
            counts=False,
            unit_id=name,
            id=f"{self.found.log.name}:{line}:{state}:{name}"[:200],
            level=self.options.unit_level or ("node" if is_host else "site"),
            state=state,
            started_at=started_at,
            ended_at=ended_at,
            detected_at=detected_at,
            cause=cause or None,
            also=also,
        )
        return made.id if made is not None else None

    def finish(self) -> Imported:
        """Leave open what has not ended."""
        for name, unit in self.units.items():
            self._close(name, unit, None)
        for name, record in self.planned.items():
            self._incident(name, "planned", record.at, None, record.line, record.raw, "planned downtime", ())
        if self.stopped is not None:
            self.found.note("the monitor was stopped when the log ended: what came after is unknown")
        self.found.note("a problem counts from its first failed reading once confirmed (HARD)")
        return self.found.finish()


def _sniff(log: Log) -> int:
    lines = [line for line in log.head.split("\n")[:200] if line.strip()]
    named = sum(
        bool(re.match(r"\[\d{9,10}\] (HOST|SERVICE|CURRENT|INITIAL|LOG|EXTERNAL|PASSIVE)[ A-Z]", line))
        for line in lines
    )
    return 88 if lines and named * 2 >= len(lines) else 60 if named else 0


FORMS = (Form("nagios-log", "Archive log of Nagios", _sniff, read),)
