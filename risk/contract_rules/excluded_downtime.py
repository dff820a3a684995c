"""What does not count: windows on the closed list, each minute excluded once, allowances used up in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from risk.contract_rules import allowance, force_majeure, judged_window, root_cause_reports
from risk.contract_rules.intervals import Span, Spans, difference, hours, intersection, touches, union
from risk.contract_rules.judged_window import Case, Judged, Refusal
from risk.contract_rules.scheduled_maintenance import is_named
from risk.core.computed import Computed, Step
from schemas.exclusions import Exclusions, Head
from schemas.incidents import Window
from schemas.periods import Month

__all__ = ["Case", "Excluded", "Trace", "exact"]

CONCURRENT_PARAGRAPH = "excluded-downtime.concurrent"
OVERLAPS_PARAGRAPH = "excluded-downtime.overlaps"
WHILE_IT_LASTS_PARAGRAPH = "excluded-downtime.while-it-lasts"

WITHOUT_ALLOWANCE: tuple[Head, ...] = (
    "force_majeure",
    "customer_act",
    "customer_hold",
    "suspension",
    "test_at_customer_request",
)
"""Heads that use up no allowance of their own; they come before those that do."""
OF_A_CAUSE: tuple[Head, ...] = ("force_majeure", "customer_act")
"""Heads that excuse a cause, so that another cause of the same outage matters; the others excuse a time."""


@dataclass(frozen=True, slots=True)
class Trace:
    """A step that concerns one stretch of time."""

    span: Span
    step: Step


@dataclass(frozen=True, slots=True)
class Excluded:
    """Excluded downtime of one unit, each minute under one head."""

    by_head: Mapping[Head, Spans]
    traces: tuple[Trace, ...]
    windows: tuple[Judged, ...] = ()
    """Windows that touch its downtime, in order of time."""
    over: tuple[Refusal, ...] = ()
    """Time that windows cover and an allowance, which is used up, does not."""

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
    first_month : first month of the contract year, from which quarters and years are counted.

    Notes
    -----
    A window on record is taken as proved: what a party does not prove, it leaves out of the records.
    """
    windows, traces = _judged(down, case, terms, zone)
    for blocked, span, steps in _blocked(windows, down, case, terms, zone):
        windows = [w.without(blocked[w.window.kind]) if w.window.kind in blocked else w for w in windows]
        traces += [Trace(span, step) for step in steps]
    valid = _by_head(windows)
    traces += _overlaps(valid, down)
    by_head, over, steps = _within_allowances(valid, down, case, terms, zone, first_month)
    traces += _of_periods(steps)
    return Computed(
        Excluded(by_head, tuple(traces), tuple(windows), over),
        tuple(trace.step for trace in traces),
    )


def _judged(down: Spans, case: Case, terms: Exclusions, zone: str) -> tuple[list[Judged], list[Trace]]:
    """Return the windows that touch the downtime, each with the part that excludes, in order of time."""
    windows: list[Judged] = []
    traces: list[Trace] = []
    for window in sorted(case.windows, key=lambda w: (w.starts_at, w.ends_at, w.id)):
        span = (window.starts_at, window.ends_at)
        if not is_named(case.names, window.unit_ids) or not touches(span, down):
            continue
        found = judged_window.exact(window, case, terms, zone)
        traces += [Trace(span, step) for step in found.steps]
        judged = found.value
        if judged.valid:
            grace = _recovery(window, judged.valid, down, terms)
            traces += _while_it_lasts(window, judged.valid, grace, down, terms)
            judged = Judged(window, union((*judged.valid, *grace)), judged.refusals)
        windows.append(judged)
    return windows, traces


def _by_head(windows: Iterable[Judged]) -> dict[Head, Spans]:
    """Return the time that each head covers."""
    found: dict[Head, list[Span]] = {}
    for judged in windows:
        if judged.valid:
            found.setdefault(judged.window.kind, []).extend(judged.valid)
    return {head: union(spans) for head, spans in found.items()}


def _blocked(
    windows: list[Judged], down: Spans, case: Case, terms: Exclusions, zone: str
) -> Iterator[tuple[dict[Head, Refusal], Span, tuple[Step, ...]]]:
    """Yield what is refused for other causes and missing reports, by head, with the time and the steps of each."""
    valid = _by_head(windows)
    for head in OF_A_CAUSE:
        if head in valid:
            blocked = _other_causes(head, valid[head], down, case, terms)
            span = valid[head][0]
            yield {}, span, blocked.steps
            for refusal in blocked.value:
                yield {head: refusal}, span, ()
                valid[head] = difference(valid[head], refusal.spans)
    if terms.report_days is None:
        return
    whole = union(span for spans in valid.values() for span in spans)
    for piece in down:
        if touches(piece, whole):
            report = root_cause_reports.received(piece, case, terms.report_days, zone)
            if report.value is False:
                refusal = Refusal((piece,), "no report", root_cause_reports.NO_REPORT_PARAGRAPH)
                yield dict.fromkeys(valid, refusal), piece, report.steps
            else:
                yield {}, piece, report.steps


def _within_allowances(
    valid: Mapping[Head, Spans], down: Spans, case: Case, terms: Exclusions, zone: str, first_month: Month
) -> tuple[dict[Head, Spans], tuple[Refusal, ...], tuple[Step, ...]]:
    """Return excluded time by head, what goes over an allowance, and the steps of the allowances."""
    by_head: dict[Head, Spans] = {}
    steps: list[Step] = []
    over: list[Refusal] = []

    def grant(wanted: Spans, granted: Computed[Spans], paragraph: str) -> Spans:
        steps.extend(granted.steps)
        refused = difference(wanted, granted.value)
        over.extend([Refusal(refused, "over the allowance", paragraph)] if refused else ())
        return granted.value

    left = down
    for head in WITHOUT_ALLOWANCE:
        by_head[head] = intersection(left, valid.get(head, ()))
        left = difference(left, by_head[head])
    planned = intersection(left, valid.get("scheduled", ()))
    cap, path = terms.scheduled.cap_unit_month_hours, "exclusions.scheduled.cap_unit_month_hours"
    granted = allowance.exact(planned, cap, allowance.months(zone), allowance.MONTH_PARAGRAPH, path)
    planned = grant(planned, granted, allowance.MONTH_PARAGRAPH)
    granted = _of_cluster(planned, case, terms, zone, first_month)
    by_head["scheduled"] = grant(planned, granted, allowance.CLUSTER_PARAGRAPH)
    urgent = difference(intersection(left, valid.get("emergency", ())), by_head["scheduled"])
    cap = terms.emergency.cap_quarter_hours if terms.emergency else None
    quarters, path = allowance.quarters(first_month, zone), "exclusions.emergency.cap_quarter_hours"
    granted = allowance.exact(urgent, cap, quarters, allowance.QUARTER_PARAGRAPH, path)
    by_head["emergency"] = grant(urgent, granted, allowance.QUARTER_PARAGRAPH)
    if terms.year_cap_hours is not None:
        wanted = union(span for spans in by_head.values() for span in spans)
        years, path = allowance.years(first_month, zone), "exclusions.year_cap_hours"
        granted = allowance.exact(wanted, terms.year_cap_hours, years, allowance.YEAR_PARAGRAPH, path)
        kept = grant(wanted, granted, allowance.YEAR_PARAGRAPH)
        by_head = {head: intersection(spans, kept) for head, spans in by_head.items()}
    return {head: spans for head, spans in by_head.items() if spans}, tuple(over), tuple(steps)


def _of_cluster(planned: Spans, case: Case, terms: Exclusions, zone: str, first_month: Month) -> Computed[Spans]:
    """Return the part of a unit's planned work that its cluster's allowance of the quarter covers."""
    cap = terms.scheduled.cap_cluster_quarter_hours
    if cap is None or case.cluster is None or not planned:
        return Computed(planned, ())
    name, work = case.cluster
    granted = allowance.exact(
        union((*work, *planned)),
        cap,
        allowance.quarters(first_month, zone),
        allowance.CLUSTER_PARAGRAPH,
        "exclusions.scheduled.cap_cluster_quarter_hours",
        of=f"all units of {name} together",
    )
    own = [
        step for step, period in zip(granted.steps, _periods(granted.steps), strict=True) if touches(period, planned)
    ]
    return Computed(intersection(planned, granted.value), tuple(own))


def _of_periods(steps: tuple[Step, ...]) -> list[Trace]:
    """Return the steps of an allowance, each with the period it concerns."""
    return [Trace(period, step) for step, period in zip(steps, _periods(steps), strict=True)]


def _periods(steps: tuple[Step, ...]) -> list[Span]:
    """Return the period that each step of an allowance concerns."""
    found: list[Span] = []
    for step in steps:
        period = step.inputs["period"]
        assert isinstance(period, tuple)
        found.append(period)
    return found


def _other_causes(
    head: Head, valid: Spans, down: Spans, case: Case, terms: Exclusions
) -> Computed[tuple[Refusal, ...]]:
    """Return the outages inside the windows of a head that have a cause which is not on the list.

    A party on record that the head does not excuse is such a cause; an unknown one is not. Causes that are never
    force majeure are never excused by it.
    """
    excused = {"unknown"}
    excused |= {"third_party"} if head == "force_majeure" else set()
    excused |= {"customer"} if "customer_act" in terms.heads else set()
    never: list[Span] = []
    beside: list[Span] = []
    steps: list[Step] = []
    for incident, spans in case.spells:
        time = intersection(spans, intersection(valid, down))
        if not time:
            continue
        if head == "force_majeure" and incident.cause in terms.force_majeure.never:
            rule = "a cause of this kind is never force majeure"
            inputs = {"incident": incident.id, "cause": incident.cause}
            steps.append(Step(force_majeure.NEVER_PARAGRAPH, rule, False, inputs, "exclusions.force_majeure.never"))
            never += spans
        elif incident.cause_party not in excused:
            only_sole = terms.concurrent == "excluded_only_if_sole"
            rule = (
                "downtime with several causes is excluded only if each of them is on the list"
                if only_sole
                else "downtime with several causes is excluded if one of them is on the list"
            )
            inputs = {"incident": incident.id, "cause_party": incident.cause_party, "head": head}
            steps.append(Step(CONCURRENT_PARAGRAPH, rule, not only_sole, inputs, "exclusions.concurrent"))
            beside += spans if only_sole else ()
    refusals = (
        Refusal(union(never), "other cause", force_majeure.NEVER_PARAGRAPH),
        Refusal(union(beside), "other cause", CONCURRENT_PARAGRAPH),
    )
    return Computed(tuple(refusal for refusal in refusals if refusal.spans), tuple(steps))


def _recovery(window: Window, valid: Spans, down: Spans, terms: Exclusions) -> Spans:
    """Return the time after a window in which bringing the unit back is excluded too.

    Work that runs over its announced end gives none: what is past that end is work, not recovery.
    """
    end = valid[-1][1]
    if not terms.recovery_grace_hours or end != window.ends_at:
        return ()
    until = _later(end, terms)
    return union((end, min(piece[1], until)) for piece in down if piece[0] < end < piece[1])


def _later(end: datetime, terms: Exclusions) -> datetime:
    return end + hours(terms.recovery_grace_hours)


def _while_it_lasts(window: Window, valid: Spans, grace: Spans, down: Spans, terms: Exclusions) -> list[Trace]:
    """Return a step where an outage goes on after its window has ended."""
    rule = "downtime is excluded only while its entry in the list lasts; time to bring the unit back counts"
    term, end = None, valid[-1][1]
    if terms.recovery_grace_hours:
        rule += (
            f" beyond {terms.recovery_grace_hours} hours after that, and from the announced end of work that overran"
        )
        term = "exclusions.recovery_grace_hours"
    rule += "; excluded up to"
    last = grace[-1][1] if grace else end
    return [
        Trace(piece, Step(WHILE_IT_LASTS_PARAGRAPH, rule, last, {"window": window.id, "down": piece}, term))
        for piece in down
        if piece[0] < end < piece[1]
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
                    "that of emergency maintenance, and neither if it is excluded for another reason; excluded here "
                    "under the head"
                )
                found.append(Trace(both[0], Step(OVERLAPS_PARAGRAPH, rule, first, {"heads": (first, second)})))
    return found
