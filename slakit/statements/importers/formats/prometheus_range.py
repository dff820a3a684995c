"""Answers of Prometheus to `/api/v1/query_range`: series of `up`, `probe_success` and node conditions.

A reading speaks for one step. What lies between two readings that are further apart is unknown, and so is the time
before the first and after the last reading of a series that others of the file cover.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from schemas.service_levels import Level
from slakit.statements.importers import json_records
from slakit.statements.importers.form import Form, Options
from slakit.statements.importers.imported import Bound, Collector, Imported
from slakit.statements.importers.json_records import Element
from slakit.statements.importers.log import Log, printable
from slakit.statements.importers.refusal import refused
from slakit.statements.importers.spells import Beat, Spell, spells
from slakit.statements.importers.times import TimeError, from_epoch

CONDITION = "kube_node_status_condition"
LABELS: Mapping[str, tuple[str, Level]] = {
    "up": ("instance", "node"),
    "probe_success": ("instance", "site"),
    CONDITION: ("node", "node"),
}
"""Metrics that tell whether a unit is up: the label that names it, and its level."""


@dataclass(frozen=True, slots=True)
class _Series:
    element: Element
    metric: str
    unit: str
    level: Level
    bad: Decimal
    """Value that means down."""
    values: list[tuple[datetime, Decimal | None]]


def read(log: Log, options: Options) -> Imported:
    """Read an answer.

    Raises
    ------
    DealError
        When it is an error, no matrix of readings over time, or has no series of a unit.
    """
    found = Collector(log, "prometheus-range")
    root = log.json()
    data = root.get("data") if isinstance(root, Mapping) else None
    if not isinstance(data, Mapping) or root.get("status") == "error":
        raise refused(
            log.name,
            f"the error {str(root.get('error'))[:120]!r}" if isinstance(root, Mapping) else "a list",
            "an answer to query_range",
            "ask again",
        )
    if data.get("resultType") != "matrix":
        raise refused(
            log.name,
            f"a {str(data.get('resultType'))[:30]}: readings of one moment",
            "a matrix over time",
            "ask /api/v1/query_range with start, end and step",
        )
    elements = json_records.elements(log, "data", "result")
    if not elements:
        raise refused(log.name, "no series", "one a unit", "a query without a result does not say that all was up")
    reasons: list[str] = []
    series = []
    for element in elements:
        made = _series(found, element, elements, options, reasons)
        if made is not None:
            series.append(made)
    if not series:
        why = "; ".join(dict.fromkeys(reasons))[:400]
        raise refused(
            log.name,
            f"{len(elements)} series of which none tells whether one unit was up ({why})",
            f"series of {', '.join(LABELS)} with a label for each unit",
            "ask for the metric itself, without sum or count",
        )
    for reason in dict.fromkeys(reasons):
        found.note(reason)
    step = _step(series)
    if step is None:
        raise refused(log.name, "one reading a series", "readings over time", "ask with a shorter step")
    seconds = step.total_seconds()
    first = min(one.values[0][0] for one in series if one.values)
    last = max(one.values[-1][0] for one in series if one.values)
    found.note(
        f"readings every {seconds:g} s from {first:%Y-%m-%dT%H:%M:%SZ} to {last:%Y-%m-%dT%H:%M:%SZ}: nothing is known "
        f"outside, and a start or an end is known to {seconds:g} s"
    )
    found.covers = (first, last + step)
    for one in series:
        found.named_units.add(printable(one.unit.strip())[:200])
        _add(found, one, step, first, last)
    return found.finish()


def _add(found: Collector, one: _Series, step: timedelta, first: datetime, last: datetime) -> None:
    """Account for the readings of one series."""
    beats = [
        Beat(
            at,
            "down" if value == one.bad else "up",
            one.element.line,
            f"{one.element.value.get('metric')} at {at}: {value}",
        )
        for at, value in one.values
        if value is not None
    ]
    blank = len(one.values) - len(beats)
    if blank:
        found.leave_out("reading without a value: unknown", blank)
    down = sum(beat.seen == "down" for beat in beats)
    found.use(down)
    found.leave_out("reading good", len(beats) - down)
    if not beats:
        _unknown(found, one, first, last + step, one.element.raw)
        return
    if beats[0].at > first:
        _unknown(found, one, first, beats[0].at, one.element.raw)
    for spell in spells(beats, step):
        _spell(found, one, spell)
    if beats[-1].at < last:
        _unknown(found, one, beats[-1].at + step, last + step, one.element.raw)


def _spell(found: Collector, one: _Series, spell: Spell) -> None:
    if spell.is_gap:
        assert spell.ended_at is not None
        _unknown(found, one, spell.started_at, spell.ended_at, spell.first.raw)
        return
    made = found.incident(
        line=spell.first.line,
        raw=spell.first.raw,
        counts=False,
        id=f"{found.log.name}:{one.unit}:{one.metric}:{spell.started_at:%Y%m%dT%H%M%S}"[:200],
        unit_id=one.unit,
        level=one.level,
        state="down",
        started_at=spell.started_at,
        ended_at=spell.ended_at,
        monitor_id=one.metric,
        cause=f"{one.metric} {one.bad}",
    )
    if made is not None:
        found.bound(Bound(made.id, "started_at", spell.last_good_at, spell.started_at))
        found.bound(Bound(made.id, "ended_at", spell.last_at, spell.ended_at if spell.ended_by_reading else None))


def _unknown(found: Collector, one: _Series, started_at: datetime, ended_at: datetime, raw: str) -> None:
    found.note("time without readings is unknown")
    found.incident(
        line=one.element.line,
        raw=raw,
        counts=False,
        id=f"{found.log.name}:{one.unit}:{one.metric}:unknown:{started_at:%Y%m%dT%H%M%S}"[:200],
        unit_id=one.unit,
        level=one.level,
        state="unknown",
        started_at=started_at,
        ended_at=max(started_at, ended_at),
        monitor_id=one.metric,
        cause="no readings",
    )


def _series(
    found: Collector, element: Element, every: list[Element], options: Options, reasons: list[str]
) -> _Series | None:
    """Return a series of a unit; None, with the reason, for another."""
    labels, values = (
        element.value.get(n) if isinstance(element.value, Mapping) else None for n in ("metric", "values")
    )
    if not isinstance(labels, Mapping) or not isinstance(values, list):
        found.skip(element.line, element.raw, "no series of readings")
        return None
    reason = None
    name = labels.get("__name__")
    bad = Decimal(0)
    if name is None:
        shown = ", ".join(sorted(map(str, labels)))[:200] or "(none)"
        reason = (
            f"a series without the name of its metric and with labels {shown}: "
            "an aggregate, whose values count units and name none"
        )
    elif not isinstance(name, str) or name not in LABELS:
        reason = f"the metric {str(name)[:80]!r}, which does not say whether a unit is up"
    elif not isinstance(labels.get(LABELS[name][0]), str) or not labels[LABELS[name][0]]:
        reason = f"a series of {name} without the label {LABELS[name][0]!r}"
    elif name == CONDITION:
        status, condition = labels.get("status"), labels.get("condition")
        if condition != "Ready":
            reason = f"the condition {str(condition)[:40]!r}: another than Ready"
        elif status in ("false", "unknown"):
            bad = Decimal(1)
            if any(_is_ready(other, labels.get("node")) for other in every):
                reason = "the series status false and unknown of Ready: status true says the same"
        elif status != "true":
            reason = f"the status {str(status)[:40]!r} of Ready"
    if reason is not None:
        reasons.append(f"left out: {reason}")
        found.leave_out(f"reading of {reason}", len(values))
        return None
    label, level = LABELS[str(name)]
    return _Series(
        element, str(name), str(labels[label]), options.unit_level or level, bad, _values(found, element, values)
    )


def _is_ready(element: Element, node: Any) -> bool:
    labels = element.value.get("metric") if isinstance(element.value, Mapping) else None
    expected = {"__name__": CONDITION, "condition": "Ready", "status": "true", "node": node}
    return isinstance(labels, Mapping) and all(labels.get(key) == value for key, value in expected.items())


def _values(found: Collector, element: Element, values: list[Any]) -> list[tuple[datetime, Decimal | None]]:
    """Return the readings in time order, None for one without a value; skip what is no reading."""
    made: dict[datetime, Decimal | None] = {}
    for pair in values:
        try:
            at, text = pair
            if not isinstance(text, str):
                raise TypeError
            number = Decimal(text)
            moment = from_epoch(str(at))
        except (TypeError, ValueError, InvalidOperation, TimeError):
            found.skip(element.line, str(pair)[:200], "no reading [seconds, value]")
            continue
        if not number.is_nan() and number not in (0, 1):
            found.skip(element.line, str(pair)[:200], f"the value {text[:20]} of a metric that is 0 or 1")
        elif moment in made:
            found.skip(element.line, str(pair)[:200], "a second reading of the same time")
        else:
            made[moment] = None if number.is_nan() else number
    return sorted(made.items())


def _step(series: list[_Series]) -> timedelta | None:
    """Return the shortest time between two readings of one series."""
    return min(
        (later[0] - earlier[0] for one in series for earlier, later in zip(one.values, one.values[1:], strict=False)),
        default=None,
    )


def _sniff(log: Log) -> int:
    return 92 if json_records.keys(log).issuperset({"resultType", "result"}) else 0


FORMS = (Form("prometheus-range", "Prometheus query_range", _sniff, read),)
