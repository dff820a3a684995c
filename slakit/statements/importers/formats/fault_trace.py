"""Fault traces: pairs of `fault_start` and `fault_end` on nodes, in days since a day that the file does not hold.

Notes
-----
The published trace of 400 GPU servers (InfiniteHBD, 2025) counts days since 2024-03-30, to four decimals. Faults that
overlap on one node are one incident of it, from the first start to the last end; each of them stays as evidence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from schemas.incidents import Evidence
from slakit.statements.importers import json_records
from slakit.statements.importers.clock import exact_seconds
from slakit.statements.importers.form import Form, Options
from slakit.statements.importers.imported import Collector, Imported
from slakit.statements.importers.json_records import Element
from slakit.statements.importers.log import Log
from slakit.statements.importers.refusal import refused
from slakit.statements.importers.times import TimeError, local

FIRST_DAY = datetime(2024, 3, 30)  # noqa: DTZ001 - local to the zone that the user names
"""Day 0 of the published trace."""
SECONDS_PER_DAY = 86400
RESOLUTION_SECONDS = Decimal("8.64")
"""A day to four decimals. [s]"""


@dataclass(slots=True)
class _Down:
    """A node with faults that have not ended."""

    since: datetime
    first: Element
    cause: str | None
    faults: list[str]
    also: list[Evidence] = field(default_factory=list)


def read(log: Log, options: Options) -> Imported:
    """Read a trace.

    Raises
    ------
    DealError
        When it is no list of events, or nothing says when its day 0 began.
    """
    found = Collector(log, "fault-trace")
    events = json_records.elements(log)
    if options.captured_at is None and options.zone is None:
        raise refused(
            log.name,
            "times in days since a day 0 that the file does not hold",
            "the zone in which day 0, 2024-03-30 in the published trace, began, or when day 0 began",
            "name the zone with --zone",
        )
    origin = options.captured_at.astimezone(UTC) if options.captured_at else local(FIRST_DAY, options.zone)
    found.note(f"day 0 is taken to begin at {origin:%Y-%m-%dT%H:%M:%SZ}; times are given to {RESOLUTION_SECONDS} s")
    down: dict[str, _Down] = {}
    before: datetime | None = None
    for event in events:
        value = event.value
        if not isinstance(value, Mapping):
            found.skip(event.line, event.raw, "no event")
            continue
        node, kind, fault = value.get("node_id"), value.get("event_type"), _fault(value.get("fault_type"))
        try:
            at = exact_seconds(origin, Decimal(value["event_time"]) * SECONDS_PER_DAY)
        except (KeyError, TypeError, ValueError, ArithmeticError, TimeError) as error:
            found.skip(event.line, event.raw, str(error) if isinstance(error, TimeError) else "no event_time in days")
            continue
        if not isinstance(node, str) or not node.strip():
            found.skip(event.line, event.raw, "names no node")
        elif before is not None and at < before:
            found.skip(event.line, event.raw, "earlier than the event before it")
        elif kind == "fault_start":
            before = at
            _start(found, down, node, at, fault, event)
        elif kind == "fault_end":
            before = at
            _end(found, down, node, at, fault, event, options)
        else:
            found.unknown_state(str(kind))
            found.skip(event.line, event.raw, f"an event {str(kind)[:40]!r} that no table knows")
    for node, open_faults in down.items():
        _add(found, node, open_faults, None, options)
    return found.finish()


def _start(found: Collector, down: dict[str, _Down], node: str, at: datetime, fault: str, event: Element) -> None:
    """Open a fault."""
    if node not in down:
        down[node] = _Down(at, event, fault or None, [fault])
        return
    found.note("a fault began on a node already down: both count once for the node")
    down[node].faults.append(fault)
    down[node].also.append(found.log.evidence(event.line, event.raw))
    found.use()


def _end(
    found: Collector, down: dict[str, _Down], node: str, at: datetime, fault: str, event: Element, options: Options
) -> None:
    """Close the fault of the same kind; the node is up again when no fault is left."""
    if node not in down or fault not in down[node].faults:
        found.skip(event.line, event.raw, "ends a fault that did not begin in this file")
        return
    down[node].faults.remove(fault)
    down[node].also.append(found.log.evidence(event.line, event.raw))
    found.use()
    if not down[node].faults:
        _add(found, node, down.pop(node), at, options)


def _add(found: Collector, node: str, down: _Down, ended_at: datetime | None, options: Options) -> None:
    found.incident(
        line=down.first.line,
        raw=down.first.raw,
        unit_id=node,
        level=options.unit_level or "node",
        state="down",
        started_at=down.since,
        ended_at=ended_at,
        cause=down.cause,
        also=down.also,
    )


def _fault(kind: Any) -> str:
    """Return the kind of a fault in words."""
    if not isinstance(kind, Mapping):
        return str(kind or "")
    return ": ".join(str(kind[name]) for name in ("Level", "Class", "Desc") if kind.get(name))


def read_totals(log: Log, options: Options) -> Imported:
    """Refuse counts of faults.

    Raises
    ------
    DealError
        Always.
    """
    raise refused(
        log.name, "counts of faults by kind, without nodes or times", "starts and ends", "give the trace itself"
    )


def _sniff_totals(log: Log) -> int:
    return 90 if json_records.keys(log).issuperset({"LevelTotal", "ClassTotal"}) else 0


def _sniff(log: Log) -> int:
    return 90 if json_records.keys(log).issuperset({"node_id", "event_time", "event_type"}) else 0


FORMS = (
    Form("fault-trace", "Starts and ends of faults, in days", _sniff, read),
    Form("fault-totals", "Counts of faults, without times", _sniff_totals, read_totals, holds_outages=False),
)
