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
from schemas.errors import DealError, MissingTermError, Problem
from schemas.incidents import Evidence, Incident, LedgerEntry, Notice, Ticket, UnitService, Window
from slakit.statements.importers.find import form_of
from slakit.statements.importers.form import Options
from slakit.statements.importers.imported import Imported
from slakit.statements.importers.log import Log
from slakit.statements.importers.snapshots import paired
from slakit.statements.record_files import read_records
from slakit.statements.units import UnitNames, contracted_units, unit_names

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


def read_log(path: Path, options: Options, form: str | None = None) -> ReadLog:
    """Read one log.

    Raises
    ------
    DealError
        When the file as a whole must be refused.
    """
    log = Log.open(path)
    found = form_of(log, form)
    imported = found.read(log, options)
    if not imported.records:
        imported = replace(imported, notes=(*imported.notes, f"{imported.file} holds no record at all"))
    return ReadLog(imported, found.title, sha256(log.data).hexdigest())


def gathered(deal: Deal, sources: Sources, options: Options, form: str | None = None) -> Gathered:
    """Read every file of a statement.

    Raises
    ------
    DealError
        With the problems of all files that must be refused.
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
    units: Sequence[UnitService] = read.get("units") or contracted_units(deal)  # type: ignore[assignment]
    if not units:
        raise MissingTermError(
            "operations.units", "a statement of credits", "name the units there, or in a file with --units"
        )
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
    for log in logs:
        for incident in log.imported.incidents:
            unit = names.of(incident.unit_id)
            if unit is None:
                not_mapped[incident.unit_id] += 1
            else:
                incidents.append(incident.model_copy(update={"unit_id": unit, "level": levels[unit]}))
        windows += (_named(window, names) for window in log.imported.windows)
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
    )


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
