"""What does not count: windows on the closed list, each minute excluded once, allowances used up in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from risk.contract_rules import allowance, emergency_maintenance, force_majeure, scheduled_maintenance
from risk.contract_rules.intervals import Span, Spans, difference, intersection, touches, union
from risk.contract_rules.scheduled_maintenance import is_named
from risk.core.computed import Computed, Step
from schemas.errors import NotComputedError
from schemas.exclusions import Exclusions, Head
from schemas.incidents import Incident, Notice, Window
from schemas.periods import Month

PARAGRAPH = "excluded-downtime.closed-list"
CONCURRENT_PARAGRAPH = "excluded-downtime.concurrent"
OVERLAPS_PARAGRAPH = "excluded-downtime.overlaps"
WHILE_IT_LASTS_PARAGRAPH = "excluded-downtime.while-it-lasts"
ACT_PARAGRAPH = "customer-responsibilities.act"
HOLD_PARAGRAPH = "customer-responsibilities.hold"

WITHOUT_ALLOWANCE: tuple[Head, ...] = (
    "force_majeure",
    "customer_act",
    "customer_hold",
    "suspension",
    "test_at_customer_request",
)
"""Heads that use up no allowance; they come before those that do."""
OF_A_CAUSE: tuple[Head, ...] = ("force_majeure", "customer_act")
"""Heads that excuse a cause, so that another cause of the same outage matters; the others excuse a time."""


@dataclass(frozen=True, slots=True)
class Trace:
    """A step that concerns one stretch of time."""

    span: Span
    step: Step


@dataclass(frozen=True, slots=True)
class Case:
    """What is on record about one unit and may exclude its downtime."""

    names: frozenset[str]
    """The unit and the units that contain it."""
    spells: Sequence[tuple[Incident, Spans]]
    """Its incidents, with the time each covers under the contract's clock."""
    windows: Sequence[Window]
    notices: Mapping[str, Notice]


@dataclass(frozen=True, slots=True)
class Excluded:
    """Excluded downtime of one unit, each minute under one head."""

    by_head: Mapping[Head, Spans]
    traces: tuple[Trace, ...]

    @property
    def spans(self) -> Spans:
        """Return excluded time under any head."""
        return union(span for spans in self.by_head.values() for span in spans)


def exact(down: Spans, case: Case, terms: Exclusions, zone: str, first_month: Month) -> Computed[Excluded]:
    """Return what is excluded of the downtime of one unit.

    Parameters
    ----------
    down : downtime in outages long enough to count, over all months.
    zone : the contract's zone.
    first_month : first month of the contract year, from which quarters are counted.

    Notes
    -----
    A window on record is taken as proved: what a party does not prove, it leaves out of the records.
    """
    traces: list[Trace] = []
    valid: dict[Head, Spans] = {}
    for window in sorted(case.windows, key=lambda w: (w.starts_at, w.ends_at, w.id)):
        span = (window.starts_at, window.ends_at)
        if not is_named(case.names, window.unit_ids) or not touches(span, down):
            continue
        found = _of_window(window, case, terms, zone)
        traces += [Trace(span, step) for step in found.steps]
        if found.value:
            traces += _while_it_lasts(window, found.value, down)
            valid[window.kind] = union((*valid.get(window.kind, ()), *found.value))
    for head in OF_A_CAUSE:
        if head in valid:
            kept = _sole_cause(head, valid[head], down, case, terms)
            traces += [Trace(valid[head][0], step) for step in kept.steps]
            valid[head] = kept.value
    traces += _overlaps(valid, down)
    by_head: dict[Head, Spans] = {}
    left = down
    for head in WITHOUT_ALLOWANCE:
        taken = intersection(left, valid.get(head, ()))
        if taken:
            by_head[head] = taken
            left = difference(left, taken)
    granted = allowance.exact(
        intersection(left, valid.get("scheduled", ())),
        terms.scheduled.cap_unit_month_hours,
        allowance.months(zone),
        allowance.MONTH_PARAGRAPH,
        "exclusions.scheduled.cap_unit_month_hours",
    )
    traces += _of_periods(granted.steps)
    by_head["scheduled"] = granted.value
    granted = allowance.exact(
        difference(intersection(left, valid.get("emergency", ())), granted.value),
        terms.emergency.cap_quarter_hours if terms.emergency else None,
        allowance.quarters(first_month, zone),
        allowance.QUARTER_PARAGRAPH,
        "exclusions.emergency.cap_quarter_hours",
    )
    traces += _of_periods(granted.steps)
    by_head["emergency"] = granted.value
    by_head = {head: spans for head, spans in by_head.items() if spans}
    return Computed(Excluded(by_head, tuple(traces)), tuple(trace.step for trace in traces))


def _of_periods(steps: tuple[Step, ...]) -> list[Trace]:
    """Return the steps of an allowance, each with the period it concerns."""
    traces: list[Trace] = []
    for step in steps:
        period = step.inputs["period"]
        assert isinstance(period, tuple)
        traces.append(Trace(period, step))
    return traces


def _of_window(window: Window, case: Case, terms: Exclusions, zone: str) -> Computed[Spans]:
    """Return the part of one window that its head of the list covers."""
    is_listed = window.kind in terms.heads
    if not is_listed and terms.open_ended:
        raise NotComputedError(
            "exclusions.open_ended",
            f"whether an open list also covers {window.kind!r} (window {window.id!r})",
            "add the head to exclusions.heads, or close the list",
        )
    listed = Step(
        PARAGRAPH,
        "downtime is excluded under a head of the list, and no other",
        is_listed,
        {"window": window.id, "head": window.kind},
        "exclusions.heads",
    )
    if not is_listed:
        return Computed((), (listed,))
    notice = case.notices.get(window.notice_id) if window.notice_id is not None else None
    if window.kind == "scheduled":
        found = scheduled_maintenance.exact(window, notice, case.names, terms.scheduled, zone)
    elif window.kind == "emergency":
        found = emergency_maintenance.exact(window, notice, case.names, terms.emergency)
    elif window.kind == "force_majeure":
        found = force_majeure.exact(window, notice, case.names, terms.force_majeure, zone)
    else:
        spans = ((window.starts_at, window.ends_at),)
        rules = {
            "customer_act": (ACT_PARAGRAPH, "downtime is excluded while an act of the customer causes it"),
            "customer_hold": (HOLD_PARAGRAPH, "time in which the customer withholds a node is excluded"),
        }
        steps: tuple[Step, ...] = ()
        if window.kind in rules:
            paragraph, rule = rules[window.kind]
            steps = (Step(paragraph, rule, spans, {"window": window.id}),)
        found = Computed(spans, steps)
    return Computed(found.value, (listed, *found.steps))


def _sole_cause(head: Head, valid: Spans, down: Spans, case: Case, terms: Exclusions) -> Computed[Spans]:
    """Return the windows of a head without the outages that have a cause which is not on the list.

    A party on record that the head does not excuse is such a cause; an unknown one is not. Causes that are never
    force majeure are never excused by it.
    """
    excused = {"unknown"}
    excused |= {"third_party"} if head == "force_majeure" else set()
    excused |= {"customer"} if "customer_act" in terms.heads else set()
    blocked: list[Span] = []
    steps: list[Step] = []
    for incident, spans in case.spells:
        time = intersection(spans, intersection(valid, down))
        if not time:
            continue
        if head == "force_majeure" and incident.cause in terms.force_majeure.never:
            rule = "a cause of this kind is never force majeure"
            inputs = {"incident": incident.id, "cause": incident.cause}
            steps.append(Step(force_majeure.NEVER_PARAGRAPH, rule, False, inputs, "exclusions.force_majeure.never"))
            blocked += spans
        elif incident.cause_party not in excused:
            only_sole = terms.concurrent == "excluded_only_if_sole"
            rule = (
                "downtime with several causes is excluded only if each of them is on the list"
                if only_sole
                else "downtime with several causes is excluded if one of them is on the list"
            )
            inputs = {"incident": incident.id, "cause_party": incident.cause_party, "head": head}
            steps.append(Step(CONCURRENT_PARAGRAPH, rule, not only_sole, inputs, "exclusions.concurrent"))
            blocked += spans if only_sole else ()
    return Computed(difference(valid, union(blocked)), tuple(steps))


def _while_it_lasts(window: Window, valid: Spans, down: Spans) -> list[Trace]:
    """Return a step where an outage goes on after its window has ended."""
    rule = "downtime is excluded only while its entry in the list lasts; time to bring the unit back counts"
    return [
        Trace(piece, Step(WHILE_IT_LASTS_PARAGRAPH, rule, valid[-1][1], {"window": window.id, "down": piece}))
        for piece in down
        if piece[0] < valid[-1][1] < piece[1]
    ]


def _overlaps(valid: Mapping[Head, Spans], down: Spans) -> list[Trace]:
    """Return a step for each pair of heads that cover the same downtime."""
    heads = [head for head in (*WITHOUT_ALLOWANCE, "scheduled", "emergency") if head in valid]
    found: list[Trace] = []
    for i, first in enumerate(heads):
        for second in heads[i + 1 :]:
            both = intersection(intersection(valid[first], valid[second]), down)
            if both:
                rule = (
                    "time to which several heads apply is excluded once: it uses up the allowance of scheduled before "
                    "that of emergency maintenance, and neither if it is excluded for another reason"
                )
                found.append(Trace(both[0], Step(OVERLAPS_PARAGRAPH, rule, first, {"heads": (first, second)})))
    return found
