"""Logs and record files to the records of one statement, with an account of what became of every record.

Rules for records that meet (the only ones; all else is the contract's):

1. Two records of one unit with the same state, times, monitor and cause are one record; the evidence of both stays.
2. Records of one unit that overlap or touch are left as they are: the contract's rules count each minute once.
3. Where one record shows a unit as down and another of the same monitor as unknown, it was down.
4. Planned work is downtime like any other until a window with its notice excludes it.
5. A record of a name that is no unit of the contract is left out, and the name is listed with its number of records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

from risk.contract_rules.records import Records
from schemas.deal import Deal
from schemas.errors import DealError, Problem
from schemas.incidents import Evidence, Incident, LedgerEntry, Notice, Ticket, UnitService, Window
from schemas.periods import Period
from slakit.statements.importers.find import form_of
from slakit.statements.importers.form import Options
from slakit.statements.importers.imported import Imported
from slakit.statements.importers.log import Log
from slakit.statements.importers.snapshots import paired
from slakit.statements.record_files import read_records
from slakit.statements.silence import known_up_to, outside_readings
from slakit.statements.units import UnitNames, no_unit_named, unit_names, units_for

MOST_INCIDENTS = 50_000
"""Incidents of one log that a statement works out, each with its steps. [1]"""
MOST_EVIDENCE = 20
"""Lines kept for one record; their number is kept beside them. [1]"""


@dataclass(frozen=True, slots=True)
class Sources:
    """Files of one statement."""

    logs: tuple[Path, ...]
    windows: Path | None = None
    notices: Path | None = None
    units: Path | None = None
    ledger: Path | None = None
    tickets: Path | None = None
    captured: tuple[datetime, ...] = ()
    """When each log was taken, where each of them is a snapshot of the same system: two show an end between them."""


@dataclass(frozen=True, slots=True)
class ReadLog:
    """One log as it was read."""

    imported: Imported
    title: str
    """Name of its format in words."""
    sha256: str
    """Of its bytes."""
    is_snapshot: bool = False


@dataclass(frozen=True, slots=True)
class Gathered:
    """Records of one statement, and what was read and left out on the way."""

    records: Records
    logs: tuple[ReadLog, ...]
    not_mapped: Mapping[str, int]
    """Names that are no unit of the contract, with their number of records."""
    merged: int
    """Records that repeat another and became one with it. [1]"""
    files: Mapping[str, str]
    """SHA-256 of every record file, by what it holds."""
    names: UnitNames
    """Names by which logs know the units."""
    warnings: tuple[str, ...] = ()
    """What the statement would be misread without."""

    @property
    def nothing_read(self) -> bool:
        """Return whether no log has a record that says anything."""
        read = (log.imported for log in self.logs)
        return not any(one.used or one.left_out or one.duplicates for one in read)

    def with_silence(self, deal: Deal, periods: Sequence[Period]) -> Gathered:
        """Return the records with the time in some periods that files of readings do not cover, as unknown."""
        silent = outside_readings(deal, [log.imported for log in self.logs], self.names, self.records.units, periods)
        incidents = tuple(sorted((*self.records.incidents, *silent), key=_order))
        return replace(self, records=replace(self.records, incidents=incidents))

    def no_period(self, example: str) -> DealError:
        """Return the error that no record gives a period, with what became of the records, to be raised."""
        skipped = [one for log in self.logs for one in log.imported.skipped]
        found, remedy = "no period, and no outage on record to take one from", "name the period with --period"
        if skipped:
            place = f"{skipped[0].file}, line {skipped[0].line}" if skipped[0].line else skipped[0].file
            found += f": {len(skipped):,} of the records skipped, the first ({place}) because {skipped[0].reason}"
            remedy = f"correct the records, or {remedy}"
        elif self.not_mapped:
            found += f": {sum(self.not_mapped.values()):,} of the records name no unit of the contract"
        return DealError([Problem("--period", found, example, remedy)])


def read_log(path: Path, options: Options, form: str | None = None) -> ReadLog:
    """Read one log.

    Raises
    ------
    DealError
        When the file as a whole must be refused, or holds more than `MOST_INCIDENTS` incidents.
    """
    log = Log.open(path)
    found = form_of(log, form)
    imported = found.read(log, options)
    if len(imported.incidents) > MOST_INCIDENTS:
        counted = f"{len(imported.incidents):,} incidents"
        remedy = "split it by time, or give readings of many units to --nodes"
        raise DealError([Problem(log.name, counted, f"at most {MOST_INCIDENTS:,} in one statement", remedy)])
    if not imported.records:
        imported = replace(imported, notes=(*imported.notes, f"{imported.file} holds no record at all"))
    return ReadLog(imported, found.title, sha256(log.data).hexdigest(), found.is_snapshot)


def gathered(deal: Deal, sources: Sources, options: Options, form: str | None = None) -> Gathered:
    """Read every file of a statement.

    Raises
    ------
    DealError
        With the problems of all files that must be refused; when no record belongs to a unit of the contract.
    MissingTermError
        When neither a file nor the deal names the units.
    """
    options = replace(
        options,
        monitor_interval_seconds=int(deal.measurement.monitor_interval_seconds),
        fault_list=deal.measurement.fault_list or None,
    )
    problems: list[Problem] = []
    logs: list[ReadLog] = []
    for i, path in enumerate(sources.logs):
        own = replace(options, captured_at=sources.captured[i]) if sources.captured else options
        try:
            logs.append(read_log(path, own, form))
        except DealError as error:
            problems += error.problems
    if sources.captured and not problems:
        logs = [_one_after_the_other(logs, sources.captured)]
        options = replace(options, captured_at=max(sources.captured))
    logs = [
        replace(log, imported=known_up_to(log.imported, options.captured_at or log.imported.captured_at))
        if log.is_snapshot
        else log
        for log in logs
    ]
    read: dict[str, tuple[object, ...]] = {}
    files: dict[str, str] = {}
    for kind in ("windows", "notices", "units", "ledger", "tickets"):
        path = getattr(sources, kind)
        if path is None:
            continue
        try:
            read[kind] = read_records(path, kind)
            files[kind] = sha256(path.read_bytes()).hexdigest()
        except DealError as error:
            problems += error.problems
    if problems:
        raise DealError(problems)
    units = units_for(deal, read.get("units"), "a statement of credits")  # type: ignore[arg-type]
    return _with_units(deal, logs, read, units, files)


def _one_after_the_other(logs: Sequence[ReadLog], captured: Sequence[datetime]) -> ReadLog:
    """Return snapshots of one system as one log, from the oldest to the newest."""
    order = sorted(range(len(logs)), key=lambda i: captured[i])
    whole = logs[order[0]]
    for before, now in pairwise(order):
        whole = ReadLog(
            paired(whole.imported, logs[now].imported, captured[before], captured[now]),
            whole.title,
            sha256(f"{whole.sha256}{logs[now].sha256}".encode()).hexdigest(),
            whole.is_snapshot,
        )
    return whole


def _with_units(
    deal: Deal,
    logs: Sequence[ReadLog],
    read: Mapping[str, tuple[object, ...]],
    units: Sequence[UnitService],
    files: Mapping[str, str],
) -> Gathered:
    names = unit_names(deal, units)
    levels = {unit.unit_id: unit.level for unit in units}
    not_mapped: Counter[str] = Counter()
    incidents: list[Incident] = []
    windows: list[Window] = list(read.get("windows", ()))  # type: ignore[arg-type]
    named: dict[str, set[str]] = {}
    for log in logs:
        named.setdefault(log.imported.file, set()).update(_named_in(log.imported))
        for incident in log.imported.incidents:
            unit = names.of(incident.unit_id)
            if unit is None:
                not_mapped[incident.unit_id] += 1
            else:
                incidents.append(incident.model_copy(update={"unit_id": unit, "level": levels[unit]}))
        windows += (_named(window, names) for window in log.imported.windows)
    foreign = [file for file, found in named.items() if found and not any(names.of(name) for name in found)]
    if foreign and len(foreign) == sum(1 for found in named.values() if found):
        raise no_unit_named((name for found in named.values() for name in found), levels)
    unique = merged(incidents)
    notices: tuple[Notice, ...] = read.get("notices", ())  # type: ignore[assignment]
    ledger: tuple[LedgerEntry, ...] = read.get("ledger", ())  # type: ignore[assignment]
    tickets: tuple[Ticket, ...] = read.get("tickets", ())  # type: ignore[assignment]
    return Gathered(
        Records(
            incidents=unique,
            windows=tuple(windows),
            notices=notices,
            units=tuple(units),
            ledger=ledger,
            tickets=tickets,
        ),
        tuple(logs),
        dict(sorted(not_mapped.items())),
        len(incidents) - len(unique),
        files,
        names,
        (
            *(words for log in logs for words in log.imported.warnings),
            *(f"{file}: none of its records belongs to a unit of the contract" for file in foreign),
        ),
    )


def _named_in(log: Imported) -> set[str]:
    """Return the units that a log names, well or not."""
    return {*(incident.unit_id for incident in log.incidents), *log.named_units, *log.healthy_units}


def _named(window: Window, names: UnitNames) -> Window:
    """Return a window of a log with the ids of the contract for the units it names."""
    ids = tuple(dict.fromkeys(names.of(name) or name for name in window.unit_ids))
    return window.model_copy(update={"unit_ids": ids})


def merged(incidents: Iterable[Incident]) -> tuple[Incident, ...]:
    """Return incidents in order of time, those that say the same as one, with the evidence of all."""
    kept: dict[tuple[object, ...], Incident] = {}
    for incident in sorted(incidents, key=_order):
        key = tuple(getattr(incident, name) for name in _SAID)
        before = kept.get(key)
        kept[key] = incident if before is None else _with_evidence(before, incident.evidence)
    return tuple(kept.values())


_SAID = tuple(name for name in Incident.model_fields if name not in ("id", "evidence"))
"""What two records must share to be one."""


def _order(incident: Incident) -> tuple[object, ...]:
    """Return what records are sorted by: nothing of the order in which files and rows were given."""
    return (
        incident.started_at,
        incident.unit_id,
        incident.state,
        incident.ended_at is None,
        incident.ended_at or incident.started_at,
        incident.cause or "",
        tuple(str(line) for line in incident.evidence),
        incident.id,
    )


def _with_evidence(incident: Incident, more: tuple[Evidence, ...]) -> Incident:
    lines = tuple(dict.fromkeys((*incident.evidence, *more)))[:MOST_EVIDENCE]
    return incident.model_copy(update={"evidence": lines})
