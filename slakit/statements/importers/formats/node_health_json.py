"""JSON lines of SuperBench: nodes found defective by its rules, and samples of its monitor.

A defective node is a finding of a validation run, without a time. A sample of the monitor says nothing about an outage
by itself, but for a counter of uncorrected errors of memory, whose meaning is the contract's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from slakit.statements.importers import checks, json_records, snapshots
from slakit.statements.importers.checks import Check
from slakit.statements.importers.clock import Clock
from slakit.statements.importers.form import Form, Options
from slakit.statements.importers.imported import Bound, Collector, Imported, State
from slakit.statements.importers.json_records import Element
from slakit.statements.importers.log import Log
from slakit.statements.importers.refusal import refused
from slakit.statements.importers.times import TimeError

UNCORRECTED = "gpu_uncorrected_ecc"

_DETAIL = re.compile(r"([^,()]{1,160})\(B/L: [^)]{0,40}? VAL: (-?\d{1,20}(?:\.\d{1,12})?) ")


def read(log: Log, options: Options) -> Imported:
    """Read results.

    Raises
    ------
    DealError
        When the file holds neither, or findings cannot be placed for want of a time, a zone or a unit.
    """
    found, clock = Collector(log, "node-health-json"), Clock(log, options)
    records = list(json_records.lines(log))
    keys = json_records.keys(log)
    if "Defective Details" in keys:
        for record in records:
            _defect(found, clock, record, options)
    elif "time" in keys and any(key.startswith("gpu_") for key in keys):
        made = [one for record in records for one in _sample(found, clock, record, options)]
        clock.check()
        for check in made:
            found.taken(check.at)
        checks.add(found, made, options)
    else:
        raise refused(log.name, "JSON lines of another kind", "SuperBench's diagnosis or monitor", "name its format")
    return found.finish()


def _defect(found: Collector, clock: Clock, record: Element, options: Options) -> None:
    value = record.value
    if record.reason is not None or not isinstance(value, Mapping):
        found.skip(record.line, record.raw, record.reason or "no object")
        return
    node, details, category = (value.get(name) for name in ("index", "Defective Details", "Category"))
    if not isinstance(node, str) or not node.strip():
        found.skip(record.line, record.raw, "names no node")
        return
    if not isinstance(details, str) or not details.strip():
        found.leave_out("node without a defect")
        return
    measured = _DETAIL.match(details)
    state: State = "degraded" if measured else "unknown"
    if measured is None:
        found.unknown_state(f"{category}: results missing" if "_miss" in details else f"category {category}")
    at = snapshots.time_of(found.log, clock, options)
    found.taken(at.later or at.at)
    made = found.incident(
        line=record.line,
        raw=record.raw,
        unit_id=node,
        level=options.unit_level or "node",
        state=state,
        started_at=at.at,
        ended_at=None,
        detected_at=at.at,
        cause=f"{category}: {details}",
        metric=measured[1].strip() if measured else None,
        measured=Decimal(measured[2]) if measured else None,
    )
    if made is not None:
        found.bound(Bound(made.id, "started_at", None, at.later or at.at))
    found.note("a snapshot: a defect began at some time before the run, and nothing here shows what came after it")


def _sample(found: Collector, clock: Clock, record: Element, options: Options) -> list[Check]:
    """Return what a sample of the monitor says of each counter of uncorrected errors."""
    value = record.value
    if record.reason is not None or not isinstance(value, Mapping):
        found.skip(record.line, record.raw, record.reason or "no object")
        return []
    try:
        at = clock.read(str(value.get("time") or "")).at
    except TimeError as error:
        found.skip(record.line, record.raw, str(error))
        return []
    counters = {name: number for name, number in value.items() if name.startswith(UNCORRECTED) and _counts(number)}
    if not counters:
        found.leave_out("a sample of load, which says nothing about an outage")
        return []
    if options.unit_id is None:
        if any(counters.values()):
            raise snapshots.needs_unit(found.log)
        found.leave_out("a passed check, which ends nothing by itself")
        return []
    made = []
    for number, (name, count) in enumerate(sorted(counters.items(), key=lambda one: (not one[1], one[0]))):
        if count:
            found.unknown_state("uncorrected errors of memory")
        made.append(
            Check(
                at,
                options.unit_id,
                name,
                "unknown" if count else None,
                record.line,
                record.raw,
                cause=f"{count} uncorrected errors of memory, {name}",
                metric=UNCORRECTED if count else None,
                measured=Decimal(count) if count else None,
                counts=number == 0,
            )
        )
    return made


def _counts(number: Any) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and 0 <= number < 10**15


def _sniff(log: Log) -> int:
    keys = json_records.keys(log)
    if "Defective Details" in keys:
        return 90
    return 85 if "time" in keys and any(re.fullmatch(r"gpu_\w{1,40}:\d{1,3}", key) for key in keys) else 0


FORMS = (Form("node-health-json", "Findings and samples of SuperBench, JSON lines", _sniff, read, is_snapshot=True),)
