"""AWS Health events, as EventBridge delivers them or as the API lists them.

Only the category `issue` counts as an outage; `scheduledChange` is planned work; the others say nothing about one. The
format does not tell down from degraded, but for codes that name degradation.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from slakit.statements.importers import json_records
from slakit.statements.importers.clock import Clock
from slakit.statements.importers.form import Form, Options
from slakit.statements.importers.imported import Collector, Imported, State
from slakit.statements.importers.json_records import Element
from slakit.statements.importers.log import Log, parsed
from slakit.statements.importers.times import TimeError, from_epoch

STATES: Mapping[str, State] = {"issue": "down", "scheduledChange": "planned"}
NO_OUTAGE = frozenset({"accountNotification", "investigation"})
REAL_SOURCE = "aws.health"
EXAMPLE_ACCOUNTS = frozenset({"123456789012", "111122223333", "444455556666", "012345678901", "000000000000"})
"""Account numbers that the vendor's documents use in examples."""


def read(log: Log, options: Options) -> Imported:
    """Read events.

    Raises
    ------
    DealError
        When the file is not plain JSON, or no time can be placed.
    """
    found, clock = Collector(log, "aws-health"), Clock(log, options)
    if json_records.is_json_lines(log):
        records = list(json_records.lines(log))
    else:
        root = log.json()
        inside = next((n for n in ("events", "Events") if isinstance(root, Mapping) and n in root), None)
        records = json_records.elements(log, inside) if inside else json_records.elements(log)
    seen: dict[str, None] = {}
    for record in records:
        if record.reason is not None or not isinstance(record.value, Mapping):
            found.skip(record.line, record.raw, record.reason or "no event")
            continue
        _add(found, record, clock, options, seen)
    clock.check()
    return found.finish()


def _add(found: Collector, record: Element, clock: Clock, options: Options, seen: dict[str, None]) -> None:
    """Account for one event: one record, an incident for each entity."""
    value = record.value
    detail = value.get("detail", value.get("Detail", value))
    if isinstance(detail, str):
        try:
            detail = parsed(detail)
        except (ValueError, RecursionError) as error:
            found.skip(record.line, record.raw, f"its detail is no JSON: {str(error)[:100]}")
            return
    if not isinstance(detail, Mapping):
        found.skip(record.line, record.raw, "has no detail")
        return
    source = value.get("source", value.get("Source"))
    if source is not None and source != REAL_SOURCE:
        found.leave_out(f"a test event: its source is {str(source)[:40]}, not {REAL_SOURCE}")
        return
    account = str(value.get("account") or detail.get("affectedAccount") or detail.get("awsAccountId") or "")
    if account in EXAMPLE_ACCOUNTS:
        found.leave_out(f"an example of the vendor: its account is {account}")
        return
    category, code = str(detail.get("eventTypeCategory") or ""), str(detail.get("eventTypeCode") or "")
    if category in NO_OUTAGE:
        found.leave_out(f"category {category}: no outage")
        return
    try:
        start = _time(detail.get("startTime"), clock)
        end = _time(detail.get("endTime"), clock)
        written = _time(value.get("time", value.get("Time")), clock)
    except TimeError as error:
        found.skip(record.line, record.raw, str(error))
        return
    if start is None:
        found.skip(record.line, record.raw, "has no startTime")
        return
    if end is None and detail.get("statusCode") == "closed":
        found.skip(record.line, record.raw, "is closed but has no endTime")
        return
    units = _units(value, detail, options)
    if not units:
        found.skip(record.line, record.raw, "names no entity")
        return
    key = f"{detail.get('eventArn')}|{start}|{end}|{units}"
    if detail.get("eventArn") and key in seen:
        found.duplicate()
        return
    seen[key] = None
    state: State = STATES.get(category, "unknown")
    if state == "unknown":
        found.unknown_state(category or "(no eventTypeCategory)")
    elif state == "down" and "DEGRADED" in code.upper():
        state = "degraded"
    elif state == "down":
        found.note(
            "AWS Health does not tell down from degraded: an issue is taken as down unless its code says degraded"
        )
    for number, unit in enumerate(units):
        made = found.incident(
            line=record.line,
            raw=record.raw,
            counts=number == 0,
            unit_id=unit,
            level=options.unit_level or ("node" if unit.startswith("i-") else "site"),
            state=state,
            started_at=start,
            ended_at=end,
            notice_at=written,
            cause=code or None,
        )
        if made is None:
            return


def _units(value: Mapping[str, Any], detail: Mapping[str, Any], options: Options) -> list[str]:
    """Return the entities that an event names, or else its service in its region."""
    entities = detail.get("affectedEntities")
    names = [
        one.get("entityValue") for one in (entities if isinstance(entities, list) else []) if isinstance(one, Mapping)
    ]
    found = [name.strip()[:200] for name in names if isinstance(name, str) and name.strip()]
    if not found and options.unit_id:
        return [options.unit_id]
    service, region = detail.get("service"), detail.get("eventRegion") or detail.get("region") or value.get("region")
    if not found and isinstance(service, str) and service:
        found = [f"{service}@{region}" if isinstance(region, str) and region else service]
    return list(dict.fromkeys(found))


def _time(written: Any, clock: Clock) -> datetime | None:
    """Return a time as text with an offset or as seconds since 1970; None where it is absent."""
    if written is None or written == "":
        return None
    if isinstance(written, int | Decimal) and not isinstance(written, bool):
        return from_epoch(str(written))
    return clock.read(str(written)).at


def _sniff(log: Log) -> int:
    if "eventTypeCategory" not in log.head or log.head.lstrip()[:1] not in ("{", "["):
        return 0
    return 92


FORMS = (Form("aws-health", "Events of AWS Health", _sniff, read),)
