"""Logs of UptimeRobot's API, `getMonitors` with logs: each begins a state that lasts until the next.

A printed duration is compared with the time to the next log; the duration of the last log still grows, so its state is
open. A monitor that was paused saw nothing: that time is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from slakit.statements.importers import json_records
from slakit.statements.importers.form import Form, Options
from slakit.statements.importers.imported import Collector, Imported
from slakit.statements.importers.log import Log
from slakit.statements.importers.refusal import refused
from slakit.statements.importers.spells import Seen
from slakit.statements.importers.times import TimeError, from_epoch

TYPES: Mapping[str, Seen] = {"1": "down", "2": "up", "98": "up", "99": "unknown"}
"""1 down, 2 up, 98 started, 99 paused."""
TOLERANCE_SECONDS = 1


@dataclass(frozen=True, slots=True)
class _Entry:
    at: datetime
    seen: Seen
    duration: int | None
    cause: str | None
    raw: str


def read(log: Log, options: Options) -> Imported:
    """Read monitors with their logs.

    Raises
    ------
    DealError
        When the file is not plain JSON, an error of the API, or has no logs.
    """
    found = Collector(log, "uptimerobot")
    root = log.json()
    if isinstance(root, Mapping) and root.get("stat") == "fail":
        raise refused(log.name, f"the error {str(root.get('error'))[:120]!r}", "monitors with logs", "ask again")
    monitors = json_records.elements(log, "monitors") if isinstance(root, Mapping) and "monitors" in root else []
    if not monitors:
        raise refused(log.name, "no monitors", "monitors with logs", "ask getMonitors with logs=1")
    differences = 0
    for monitor in monitors:
        logs = monitor.value.get("logs") if isinstance(monitor.value, Mapping) else None
        if not isinstance(logs, list):
            found.skip(monitor.line, monitor.raw, "a monitor without logs")
            continue
        name = monitor.value.get("friendly_name") or monitor.value.get("id")
        unit = options.unit_id if len(monitors) == 1 and options.unit_id else str(name or "")
        entries = _entries(found, monitor.line, logs)
        for number, entry in enumerate(entries):
            until = entries[number + 1].at if number + 1 < len(entries) else None
            if until is not None and entry.duration is not None:
                differences += abs((until - entry.at).total_seconds() - entry.duration) > TOLERANCE_SECONDS
            if entry.seen == "up":
                found.leave_out("log of a monitor that was up or began")
                continue
            found.incident(
                line=monitor.line,
                raw=entry.raw,
                id=f"{log.name}:{monitor.value.get('id') or unit}:{entry.at:%Y%m%dT%H%M%S}"[:200],
                unit_id=unit,
                level=options.unit_level or "site",
                state=entry.seen,
                started_at=entry.at,
                ended_at=until,
                monitor_id=unit or None,
                cause=entry.cause,
            )
    if found.used + len(found.skipped) + sum(found.left_out.values()) == 0:
        raise refused(log.name, "monitors without one log", "at least one log", "ask getMonitors with logs=1")
    if differences:
        found.note(f"{differences} printed durations differ from the time to the next log, which counts")
    found.note("nothing is known before the first log of a monitor; the last log of each still runs")
    return found.finish()


def _entries(found: Collector, line: int, logs: list[Any]) -> list[_Entry]:
    """Return the logs of one monitor, oldest first."""
    entries: dict[tuple[datetime, str], _Entry] = {}
    for one in logs:
        if not isinstance(one, Mapping):
            found.skip(line, str(one)[:200], "no log")
            continue
        kind, raw = str(one.get("type")), str({key: one[key] for key in sorted(one, key=str)})[:400]
        try:
            at = from_epoch(str(one.get("datetime")))
        except TimeError as error:
            found.skip(line, raw, str(error))
            continue
        if kind not in TYPES:
            found.unknown_state(kind)
        if (at, kind) in entries:
            found.duplicate()
            continue
        reason, duration = one.get("reason"), one.get("duration")
        cause = reason.get("detail") if isinstance(reason, Mapping) else None
        is_number = isinstance(duration, int) and not isinstance(duration, bool)
        entries[at, kind] = _Entry(
            at, TYPES.get(kind, "unknown"), duration if is_number else None, str(cause) if cause else None, raw
        )
    return sorted(entries.values(), key=lambda entry: entry.at)


def _sniff(log: Log) -> int:
    keys = json_records.keys(log)
    return 90 if "monitors" in keys and keys & {"friendly_name", "stat"} else 0


FORMS = (Form("uptimerobot", "Logs of UptimeRobot", _sniff, read),)
