"""Incidents of a Statuspage: `/api/v2/incidents.json`, `scheduled-maintenances.json`, or JSON lines of incidents.

A page tells when the provider wrote, not when the outage began: `created_at` is the notice. An incident runs from
`started_at`, or else from the notice, until `resolved_at`. Service was usually back when `monitoring` was written: that
time is kept as a bound. Work planned ahead begins when it is `in progress`, not when it was announced.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from slakit.statements.importers import json_records
from slakit.statements.importers.clock import Clock
from slakit.statements.importers.form import Form, Options
from slakit.statements.importers.imported import Bound, Collector, Imported, State
from slakit.statements.importers.json_records import Element
from slakit.statements.importers.log import Log
from slakit.statements.importers.table_words import plain
from slakit.statements.importers.times import TimeError

STATES: Mapping[str, State] = {
    "critical": "down",
    "major": "down",
    "minor": "degraded",
    "maintenance": "planned",
}
"""What the impact of an incident means. The product derives it from its components: minor is degraded performance,
major a partial outage, critical a major outage."""
CLOSED = frozenset({"resolved", "completed", "postmortem"})
LISTS = ("incidents", "scheduled_maintenances")


@dataclass(frozen=True, slots=True)
class _Update:
    at: datetime
    status: str


def read(log: Log, options: Options) -> Imported:
    """Read incidents.

    Raises
    ------
    DealError
        When the file is not plain JSON, holds no incidents, or no time can be placed.
    """
    found, clock = Collector(log, "statuspage"), Clock(log, options)
    page: str | None = None
    if json_records.is_json_lines(log):
        records = list(json_records.lines(log))
    else:
        root = log.json()
        page = _text(root.get("page"), "name") if isinstance(root, Mapping) else None
        lists = [name for name in LISTS if isinstance(root, Mapping) and isinstance(root.get(name), list)]
        records = [one for name in lists for one in json_records.elements(log, name)] or (
            [] if lists else json_records.elements(log)
        )
    latest = _latest(records, found)
    for record in records:
        if record.reason is not None:
            found.skip(record.line, record.raw, record.reason)
        elif not isinstance(record.value, Mapping):
            found.skip(record.line, record.raw, "no incident")
        elif latest[_key(record)] is record:
            _add(found, record, clock, options, page)
    clock.check()
    found.note(
        "units are components of the provider's page: a record counts only where a unit of the contract bears the "
        "name of its component, or names it in log_names"
    )
    return found.finish()


def _add(found: Collector, record: Element, clock: Clock, options: Options, page: str | None) -> None:
    """Account for one incident: one record, an incident for each component that it names."""
    value = record.value
    impact = value.get("impact")
    planned = impact == "maintenance" or bool(value.get("scheduled_for"))
    if impact == "none" and not planned:
        found.leave_out("impact none: the page reports no component affected")
        return
    try:
        updates = _updates(value, clock)
        times = {
            name: _time(value, name, clock)
            for name in ("created_at", "started_at", "monitoring_at", "resolved_at", "scheduled_for", "scheduled_until")
        }
    except TimeError as error:
        found.skip(record.line, record.raw, str(error))
        return
    notice = times["created_at"] or min((update.at for update in updates), default=None)
    begun = times["started_at"] or notice
    if planned:
        begun = _first(updates, "in_progress") or times["scheduled_for"] or begun
    if begun is None:
        found.skip(record.line, record.raw, "gives no time at which it began or was written")
        return
    status = plain(str(value.get("status") or (updates[-1].status if updates else "")))
    ended = times["resolved_at"] or (_last(updates, ("completed", "resolved")) if status in CLOSED else None)
    if ended is None and planned:
        ended = times["scheduled_until"]
    if ended is None and status in CLOSED:
        found.skip(record.line, record.raw, f"is {status} but does not say since when")
        return
    state: State = "planned" if planned else STATES.get(str(impact), "unknown")
    if state == "unknown":
        found.unknown_state(str(impact) if impact else "(no impact)")
    units = _components(value) or [unit for unit in (options.unit_id, page, _host(value)) if unit][:1]
    if not units:
        found.skip(record.line, record.raw, "names no component: name the unit with --unit")
        return
    if not _components(value):
        found.note("an incident that names no component stands under the name of its page")
    monitoring = times["monitoring_at"] or _first(updates, "monitoring")
    for place, unit in enumerate(dict.fromkeys(units)):
        made = found.incident(
            line=record.line,
            raw=record.raw,
            counts=place == 0,
            unit_id=unit,
            level=options.unit_level or "site",
            state=state,
            started_at=begun,
            ended_at=ended,
            notice_at=notice,
            cause=_text(value, "name") or _text(value, "title"),
        )
        if made is None:
            return
        if times["started_at"] is None and not planned:
            found.bound(Bound(made.id, "started_at", None, begun))
        if ended is not None and monitoring is not None and begun <= monitoring < ended and not planned:
            found.bound(Bound(made.id, "ended_at", monitoring, ended))


def _latest(records: list[Element], found: Collector) -> dict[str, Element]:
    """Return the record of each incident that was updated last; count the others as repeats."""
    latest: dict[str, Element] = {}
    for record in records:
        if not isinstance(record.value, Mapping):
            continue
        key = _key(record)
        if key in latest:
            found.duplicate()
            if str(record.value.get("updated_at")) < str(latest[key].value.get("updated_at")):
                continue
        latest[key] = record
    return latest


def _key(record: Element) -> str:
    """Return what tells an incident from others."""
    return str(record.value.get("id") or record.raw)


def _updates(value: Mapping[str, Any], clock: Clock) -> list[_Update]:
    """Return the updates, oldest first."""
    listed = value.get("incident_updates") or value.get("updates") or []
    found = []
    for one in listed if isinstance(listed, list) else []:
        if isinstance(one, Mapping):
            written = one.get("display_at") or one.get("created_at") or one.get("at")
            if isinstance(written, str):
                found.append(_Update(clock.read(written).at, plain(str(one.get("status") or ""))))
    return sorted(found, key=lambda update: update.at)


def _first(updates: list[_Update], status: str) -> datetime | None:
    return next((update.at for update in updates if update.status == status), None)


def _last(updates: list[_Update], statuses: tuple[str, ...]) -> datetime | None:
    return next((update.at for update in reversed(updates) if update.status in statuses), None)


def _components(value: Mapping[str, Any]) -> list[str]:
    """Return the names of the components that an incident lists, or else that its updates list."""
    listed = value.get("components")
    if not listed:
        listed = [
            one
            for update in _listed(value.get("incident_updates"))
            if isinstance(update, Mapping)
            for one in _listed(update.get("affected_components"))
        ]
    names = (
        [one if isinstance(one, str) else _text(one, "name") for one in listed if one]
        if isinstance(listed, list)
        else []
    )
    return [name for name in names if name and name.strip()]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _time(value: Mapping[str, Any], name: str, clock: Clock) -> datetime | None:
    """Return a time that an incident gives, None where it is absent."""
    written = value.get(name)
    if written is None or written == "":
        return None
    if not isinstance(written, str):
        raise TimeError(f"{name} is {str(written)[:40]!r}, no text")
    return clock.read(written).at


def _text(value: Any, name: str) -> str | None:
    found = value.get(name) if isinstance(value, Mapping) else None
    return found if isinstance(found, str) and found.strip() else None


def _host(value: Mapping[str, Any]) -> str | None:
    """Return the host of the page on which an incident stands."""
    link = _text(value, "url") or _text(value, "shortlink") or ""
    match = re.match(r"https?://([A-Za-z0-9.-]{1,100})", link)
    return match[1] if match else None


def _sniff(log: Log) -> int:
    keys = json_records.keys(log)
    if keys.issuperset({"incident_updates", "impact"}):
        return 90
    if keys.issuperset({"impact", "resolved_at"}) and keys & {"updates", "status_sequence", "components"}:
        return 85
    return 80 if keys.issuperset({"page", "incidents"}) or keys.issuperset({"page", "scheduled_maintenances"}) else 0


FORMS = (Form("statuspage", "Incidents of a Statuspage, JSON", _sniff, read),)
