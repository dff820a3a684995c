"""Health events of NVSentinel: `isHealthy` true with the same check and entity ends what false began."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from slakit.statements.importers import checks, gpu_faults, json_records
from slakit.statements.importers.checks import Check
from slakit.statements.importers.clock import exact_seconds
from slakit.statements.importers.form import Form, Options
from slakit.statements.importers.imported import Collector, Imported, State
from slakit.statements.importers.json_records import Element
from slakit.statements.importers.log import Log
from slakit.statements.importers.refusal import refused
from slakit.statements.importers.times import TimeError, moment

PLACEHOLDERS = frozenset({"NODE_NAME", "<NODE_NAME>", "${NODE_NAME}", "$NODE_NAME"})
"""Names of nodes in the project's own test payloads."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def read(log: Log, options: Options) -> Imported:
    """Read events.

    Raises
    ------
    DealError
        When the file is no plain JSON, or nothing says when its events were made or of which node they are.
    """
    found = Collector(log, "nvsentinel")
    if json_records.is_json_lines(log):
        records = list(json_records.lines(log))
    else:
        root = log.json()
        inside = next(
            (n for n in ("events", "items") if isinstance(root, Mapping) and isinstance(root.get(n), list)), None
        )
        records = json_records.elements(log, inside) if inside else json_records.elements(log)
    made: list[Check] = []
    wants: dict[str, None] = {}
    seen: dict[str, None] = {}
    for record in records:
        made += _checks(found, record, options, wants, seen)
    if not made and wants:
        raise refused(
            log.name,
            f"events without {' and without '.join(wants)}",
            "events of NVSentinel as it stores them",
            "export them with generatedTimestamp and nodeName, or say --captured-at and --unit",
        )
    checks.add(found, made, options, start_is_exact=True)
    return found.finish()


def _checks(
    found: Collector, record: Element, options: Options, wants: dict[str, None], seen: dict[str, None]
) -> list[Check]:
    """Return what one event says of each of its entities; account for one that cannot be used."""
    value = record.value
    if record.reason is not None or not isinstance(value, Mapping):
        found.skip(record.line, record.raw, record.reason or "no event")
        return []
    wrapped = value.get("healthevent", value.get("healthEvent"))
    event = wrapped if isinstance(wrapped, Mapping) else value
    check, healthy = event.get("checkName"), event.get("isHealthy")
    if not isinstance(check, str) or not check or not isinstance(healthy, bool):
        found.skip(record.line, record.raw, "has no checkName or no isHealthy")
        return []
    node = event.get("nodeName")
    unit = node if isinstance(node, str) and node.strip() and node not in PLACEHOLDERS else options.unit_id
    if unit is None:
        wants["a nodeName"] = None
        found.skip(record.line, record.raw, "names no node: name the unit with --unit")
        return []
    try:
        at = _time(event.get("generatedTimestamp") or value.get("createdAt")) or options.captured_at
    except TimeError as error:
        found.skip(record.line, record.raw, str(error))
        return []
    if at is None:
        wants["a generatedTimestamp"] = None
        found.skip(record.line, record.raw, "has no generatedTimestamp: say when with --captured-at")
        return []
    codes = [str(code) for code in event.get("errorCode") or [] if str(code).strip()]
    state, code = (None, None) if healthy else _state(found, event, check, codes, options)
    if not healthy and state is None:
        found.leave_out(f"{check} {code}: not an outage by the contract's fault list")
        return []
    names = _entities(event.get("entitiesImpacted"))
    key = f"{unit}|{check}|{names}|{healthy}|{at}|{codes}"
    if key in seen:
        found.duplicate()
        return []
    seen[key] = None
    cause = f"{check}: {event.get('message') or ''}".rstrip(": ")
    return [
        Check(
            at.astimezone(UTC),
            unit,
            f"{check}/{name}",
            state,
            record.line,
            record.raw,
            cause=f"{cause} ({name})" if name else cause,
            fault_code=code,
            counts=number == 0,
            passes_all_below=not name,
            found_by=str(event["agent"]) if event.get("agent") else None,
        )
        for number, name in enumerate(names)
    ]


def _state(
    found: Collector, event: Mapping[str, Any], check: str, codes: list[str], options: Options
) -> tuple[State | None, str | None]:
    """Return the state that an unhealthy event means, and the code of its fault."""
    code = codes[0] if codes else None
    is_xid = "xid" in check.casefold() and "sxid" not in check.casefold()
    if is_xid and code is not None and code.isdigit() and len(code) < 5:
        effect = gpu_faults.xid(int(code), str(event.get("message") or ""), options.fault_list)
        if options.fault_list:
            return effect.state, effect.code
        code = effect.code
    fatal = event.get("isFatal")
    if not isinstance(fatal, bool):
        found.unknown_state(f"{check} without isFatal")
        return "unknown", code
    return ("down" if fatal else "degraded"), code


def _entities(written: Any) -> list[str]:
    """Return the entities of an event, their kind in lower case; one blank name for the whole node."""
    entities = [one for one in written or [] if isinstance(one, Mapping)] if isinstance(written, list) else []
    names = [f"{str(one.get('entityType')).casefold()} {one.get('entityValue')}" for one in entities]
    return list(dict.fromkeys(names)) or [""]


def _time(written: Any) -> datetime | None:
    """Return a time as protobuf, JSON or a database writes it; None where it is absent.

    Raises
    ------
    TimeError
        When it is none of them.
    """
    if written is None:
        return None
    if isinstance(written, Mapping) and "$date" in written:
        written = written["$date"]
    if isinstance(written, str):
        return moment(written, None)
    if isinstance(written, Mapping):
        seconds, nanos = written.get("seconds"), written.get("nanos", 0)
        if isinstance(seconds, Mapping):
            seconds = seconds.get("$numberLong")
        if isinstance(seconds, str) and seconds.isdigit() and len(seconds) < 13:
            seconds = int(seconds)
        if isinstance(seconds, int) and isinstance(nanos, int) and 0 <= nanos < 10**9:
            return exact_seconds(_EPOCH, Decimal(seconds) + Decimal(nanos) / 10**9)
    raise TimeError("its generatedTimestamp is no time")


def _sniff(log: Log) -> int:
    return 92 if json_records.keys(log).issuperset({"isHealthy", "checkName"}) else 0


FORMS = (Form("nvsentinel", "Health events of NVSentinel", _sniff, read),)
