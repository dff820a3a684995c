"""Heartbeats of Uptime Kuma: its SQLite database, or an export of the table `heartbeat` as CSV or JSON.

The database is read from a copy that nothing can write to or run code in: plain tables are asked for, never views.
Times are UTC, as the product writes them. A beat that was `pending` and then `down` failed from its first retry on; one
that was `pending` and then `up` did not fail.
"""

from __future__ import annotations

import contextlib
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

from slakit.statements.importers import delimited, json_records
from slakit.statements.importers.form import Form, Options
from slakit.statements.importers.imported import Bound, Collector, Imported
from slakit.statements.importers.log import Log
from slakit.statements.importers.refusal import refused
from slakit.statements.importers.spells import Beat, Seen, Spell, spells
from slakit.statements.importers.times import TimeError, moment

STATUSES: Mapping[str, Seen | None] = {"0": "down", "1": "up", "2": None, "3": "planned"}
"""Statuses of a beat; None is pending, which the beats after it decide."""
MOST_STEPS = 2_000_000_000
"""Steps of SQLite's machine after which a database is given up."""
GAP_IN_INTERVALS = 3
"""Intervals of a monitor after which a missing beat is a gap: a check may wait for nearly one before it fails. [1]"""
SQLITE = b"SQLite format 3\x00"


class _Beats:
    """Gathers beats by monitor."""

    def __init__(self, log: Log) -> None:
        self.found = Collector(log, "uptime-kuma")
        self.by_monitor: dict[str, list[tuple[Beat, Seen | None]]] = defaultdict(list)
        self.names: dict[str, str] = {}
        self.intervals: dict[str, timedelta] = {}

    def add(self, line: int | None, record: Mapping[str, Any], raw: str) -> None:
        """Account for one beat, or keep it to be accounted for with its monitor."""
        monitor = record.get("monitor_id", record.get("monitorID"))
        status = str(record.get("status")).strip()
        if monitor is None or not str(monitor).strip():
            self.found.skip(line, raw, "names no monitor")
            return
        if status not in STATUSES:
            self.found.unknown_state(status)
        try:
            at = moment(str(record.get("time")), "UTC")
        except TimeError as error:
            self.found.skip(line, raw, str(error))
            return
        seen = STATUSES.get(status, "unknown")
        words = record.get("msg")
        beat = Beat(at, seen or "up", line, raw, str(words) if words else None)
        self.by_monitor[str(monitor).strip()].append((beat, seen))

    def finish(self, options: Options) -> Imported:
        """Return the spells of all monitors."""
        for monitor, beats in sorted(self.by_monitor.items()):
            self._monitor(monitor, sorted(beats, key=lambda pair: pair[0].at), options)
        self.found.note("an outage is open when the last beat of its monitor was down")
        if unpaced := len(self.by_monitor.keys() - self.intervals.keys()):
            self.found.note(f"{unpaced} monitors without their interval: pauses between beats were not looked for")
        return self.found.finish()

    def _monitor(self, monitor: str, beats: list[tuple[Beat, Seen | None]], options: Options) -> None:
        """Account for the beats of one monitor."""
        unit = options.unit_id if len(self.by_monitor) == 1 and options.unit_id else self.names.get(monitor, monitor)
        settled: list[Beat] = []
        for (at, _), group in groupby(beats, key=lambda pair: (pair[0].at, pair[1])):
            same = [beat for beat, _ in group]
            self.found.duplicate(len(same) - 1)
            settled.append(same[0])
            del at
        pending = {beat.at for beat, seen in beats if seen is None}
        resolved = _without_pending(settled, pending)
        good = sum(beat.seen == "up" for beat in resolved)
        self.found.leave_out("beat good, or pending and then good", good)
        self.found.use(len(resolved) - good)
        interval = self.intervals.get(monitor)
        for spell in spells(resolved, interval, GAP_IN_INTERVALS * interval if interval else None, stays_open=True):
            self._spell(monitor, unit, spell, options)

    def _spell(self, monitor: str, unit: str, spell: Spell, options: Options) -> None:
        made = self.found.incident(
            line=spell.first.line,
            raw=spell.first.raw,
            counts=False,
            id=f"{self.found.log.name}:{monitor}:{spell.state}:{spell.started_at:%Y%m%dT%H%M%S.%f}"[:200],
            unit_id=unit,
            level=options.unit_level or "site",
            state=spell.state,
            started_at=spell.started_at,
            ended_at=spell.ended_at,
            monitor_id=monitor,
            cause="no beats" if spell.is_gap else spell.first.words,
        )
        if made is None or spell.is_gap:
            return
        self.found.bound(Bound(made.id, "started_at", spell.last_good_at, spell.started_at))
        if spell.ended_at is not None:
            self.found.bound(
                Bound(made.id, "ended_at", spell.last_at, spell.ended_at if spell.ended_by_reading else None)
            )


def _without_pending(beats: list[Beat], pending: set[Any]) -> list[Beat]:
    """Return beats of which each pending one has taken the state of the first after it that was not."""
    found: list[Beat] = []
    after: Seen = "unknown"
    for beat in reversed(beats):
        if beat.at in pending:
            seen: Seen = "down" if after == "down" else "unknown" if after == "unknown" else "up"
            found.append(Beat(beat.at, seen, beat.line, beat.raw, beat.words))
        else:
            after = beat.seen
            found.append(beat)
    return found[::-1]


def read(log: Log, options: Options) -> Imported:
    """Read beats.

    Raises
    ------
    DealError
        When the file is no database of the product, no export of its beats, or holds none.
    """
    beats = _Beats(log)
    if log.data.startswith(SQLITE):
        _check_whole(log)
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "copy.db"
            copy.write_bytes(log.data)
            try:
                with contextlib.closing(_opened(copy)) as database:
                    _from_database(log, database, beats)
            except sqlite3.Error as error:
                raise refused(
                    log.name, str(error), "a sound database", "copy it again while Kuma is stopped"
                ) from error
        beats.found.note("a record of a database has no line: the number cited is its id")
    elif log.head.lstrip()[:1] in ("[", "{"):
        _from_json(log, beats)
    else:
        header = tuple(name.strip() for name in delimited.columns(log))
        for name in ("monitor_id", "status", "time"):
            delimited.only_column(log, header, name)
        for row in delimited.rows(log, len(header)):
            if isinstance(row, delimited.BadRow):
                beats.found.skip(row.line, row.raw, row.reason)
            else:
                beats.add(row.line, dict(zip(header, row.cells, strict=True)), row.raw)
    if not beats.by_monitor and not beats.found.skipped:
        raise refused(
            log.name, "no beats", "at least one", "a database or export without beats says nothing about uptime"
        )
    return beats.finish(options)


def _check_whole(log: Log) -> None:
    """Refuse a database of which pages are missing at its end; SQLite would read what is left without a word."""
    page = int.from_bytes(log.data[16:18], "big")
    size, there = (page if page > 1 else 65536) * int.from_bytes(log.data[28:32], "big"), len(log.data)
    if there < max(size, 512):
        raise refused(
            log.name, f"{there:,} bytes of a database of {size:,}", "all of it", "copy it again; it was cut off"
        )


def _opened(copy: Path) -> sqlite3.Connection:
    """Open a copy so that nothing in it can run or be written."""
    database = sqlite3.connect(f"{copy.as_uri()}?mode=ro&immutable=1", uri=True)
    database.text_factory = lambda data: data.decode("utf-8", errors="replace")
    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("PRAGMA cell_size_check = ON")
    database.execute("PRAGMA query_only = ON")
    steps = iter(range(MOST_STEPS // 1_000_000))
    database.set_progress_handler(lambda: next(steps, None) is None, 1_000_000)
    problems = [str(row[0]) for row in database.execute("PRAGMA quick_check(1)")]
    if problems != ["ok"]:
        raise sqlite3.DatabaseError(f"damaged database: {'; '.join(problems)[:150]}")
    database.set_authorizer(
        lambda action, *_: (
            sqlite3.SQLITE_OK if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ) else sqlite3.SQLITE_DENY
        )
    )
    return database


def _from_database(log: Log, database: sqlite3.Connection, beats: _Beats) -> None:
    """Take the beats, names and intervals from a database."""
    tables = {str(name) for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if "heartbeat" not in tables:
        raise refused(log.name, "a database without the table heartbeat", "one of Uptime Kuma", "check the file")
    if "monitor" in tables:
        for monitor, name, interval in database.execute("SELECT id, name, interval FROM monitor"):
            if isinstance(name, str) and name.strip():
                beats.names[str(monitor)] = name.strip()
            if isinstance(interval, int) and 0 < interval <= 10_000_000:
                beats.intervals[str(monitor)] = timedelta(seconds=interval)
        doubled = [name for name in beats.names.values() if list(beats.names.values()).count(name) > 1]
        beats.names = {
            monitor: f"{name} #{monitor}" if name in doubled else name for monitor, name in beats.names.items()
        }
    for number, monitor, status, time, words in database.execute(
        "SELECT id, monitor_id, status, time, msg FROM heartbeat"
    ):
        raw = f"heartbeat id={number} monitor_id={monitor} status={status} time={time} msg={words}"
        line = number if isinstance(number, int) and number >= 1 else None
        beats.add(line, {"monitor_id": monitor, "status": status, "time": time, "msg": words}, raw)
    if log.data[18:20] == b"\x02\x02":
        beats.found.note("the database was in write-ahead mode: beats still in its -wal file are not in this one")


def _from_json(log: Log, beats: _Beats) -> None:
    """Take beats from a list of them, or from a status page's lists by monitor."""
    root = log.json()
    lists = root.get("heartbeatList") if isinstance(root, Mapping) else None
    found: Iterator[tuple[str | None, json_records.Element]]
    if isinstance(lists, Mapping):
        found = ((m, one) for m in lists for one in json_records.elements(log, "heartbeatList", m))
    else:
        found = ((None, one) for one in json_records.elements(log))
    for monitor, element in found:
        if isinstance(element.value, Mapping):
            named = {"monitor_id": monitor} if monitor is not None else {}
            beats.add(element.line, {**named, **element.value}, element.raw)
        else:
            beats.found.skip(element.line, element.raw, "no beat")


def _sniff(log: Log) -> int:
    if log.data.startswith(SQLITE):
        return 90 if b"heartbeat" in log.data[:1_000_000] else 0
    if "heartbeatList" in (keys := json_records.keys(log)):
        return 90
    if keys.issuperset({"status", "time", "ping"}) and keys & {"monitor_id", "monitorID"}:
        return 88
    return 88 if {"monitor_id", "status", "time"} <= {name.strip() for name in delimited.columns(log)} else 0


FORMS = (Form("uptime-kuma", "Heartbeats of Uptime Kuma", _sniff, read),)
