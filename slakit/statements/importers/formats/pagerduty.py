"""Incidents of PagerDuty's API: when somebody was called, which is after the outage began.

The file does not say what became of a unit: the state of each incident is unknown. An incident merged into another is
a repeat of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from slakit.statements.importers import json_records
from slakit.statements.importers.clock import Clock
from slakit.statements.importers.form import Form, Options
from slakit.statements.importers.imported import Bound, Collector, Imported
from slakit.statements.importers.json_records import Element
from slakit.statements.importers.log import Log
from slakit.statements.importers.times import TimeError

OPEN = frozenset({"triggered", "acknowledged"})
PEOPLE = frozenset({"user_reference", "user", "contact_reference"})


def read(log: Log, options: Options) -> Imported:
    """Read incidents.

    Raises
    ------
    DealError
        When the file is not plain JSON, or no time can be placed.
    """
    found, clock = Collector(log, "pagerduty"), Clock(log, options)
    root = log.json()
    inside = ("incidents",) if isinstance(root, Mapping) and "incidents" in root else ()
    for record in json_records.once_each(json_records.elements(log, *inside), found):
        _add(found, record, clock, options)
    clock.check()
    found.note("the file says when somebody was called, not when the outage began, nor whether a unit was down")
    return found.finish()


def _add(found: Collector, record: Element, clock: Clock, options: Options) -> None:
    """Account for one incident."""
    value = record.value
    private = () if options.with_names else json_records.both_spellings(tuple(dict.fromkeys(_people(value))))
    reason = value.get("resolve_reason")
    if isinstance(reason, Mapping) and "merge" in str(reason.get("type")):
        found.duplicate()
        found.note("an incident merged into another is a repeat of it")
        return
    status = str(value.get("status") or "")
    service = value.get("service")
    unit = (service.get("summary") or service.get("id")) if isinstance(service, Mapping) else None
    unit = unit if isinstance(unit, str) and unit.strip() else options.unit_id
    if not unit:
        found.skip(record.line, record.raw, "names no service", private)
        return
    try:
        created = clock.read(str(value.get("created_at"))).at
        written = value.get("resolved_at") or (value.get("last_status_change_at") if status == "resolved" else None)
        ended = clock.read(str(written)).at if written else None
    except TimeError as error:
        found.skip(record.line, record.raw, str(error), private)
        return
    if status == "resolved" and ended is None:
        found.skip(record.line, record.raw, "is resolved but does not say since when", private)
        return
    if status != "resolved" and status not in OPEN:
        found.unknown_state(status or "(no status)")
    cause = value.get("title") or value.get("summary")
    made = found.incident(
        line=record.line,
        raw=record.raw,
        private=private,
        unit_id=unit,
        level=options.unit_level or "site",
        state="unknown",
        started_at=created,
        ended_at=ended,
        detected_at=created,
        cause=found.log.evidence(None, str(cause), private).text if cause else None,
    )
    if made is not None:
        found.bound(Bound(made.id, "started_at", None, created))


def _people(value: Any) -> Iterator[str]:
    """Yield the names and addresses of people, wherever an incident holds them."""
    if isinstance(value, Mapping):
        if str(value.get("type")) in PEOPLE:
            yield from (str(value[name]) for name in ("summary", "name", "email") if value.get(name))
        for one in value.values():
            yield from _people(one)
    elif isinstance(value, list):
        for one in value:
            yield from _people(one)


def _sniff(log: Log) -> int:
    keys = json_records.keys(log)
    return 91 if keys.issuperset({"incident_number", "last_status_change_at"}) else 0


FORMS = (Form("pagerduty", "Incidents of PagerDuty", _sniff, read),)
