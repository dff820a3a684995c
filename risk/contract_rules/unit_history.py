"""Steps 1 to 6 for one unit: its outages that count, and what of them is excluded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from risk.contract_rules import (
    degraded_performance,
    excluded_downtime,
    fault_codes,
    flaps,
    minimum_outage,
    outage_end,
    outage_start,
    readings,
)
from risk.contract_rules.counting_rules import CountingRules
from risk.contract_rules.degraded_performance import Weighted
from risk.contract_rules.excluded_downtime import Case, Excluded, Trace
from risk.contract_rules.flaps import Outage
from risk.contract_rules.intervals import Spans, clipped, difference, intersection, union
from risk.contract_rules.roll_up import RolledUp
from risk.core.computed import Step
from schemas.deal import Deal
from schemas.incidents import Incident
from schemas.periods import Month

SLOT_PARAGRAPH = "node-availability.per-slot"

NOTHING_ROLLED_UP = RolledUp(())


@dataclass(frozen=True, slots=True)
class UnitHistory:
    """Outages of one unit under one set of counting rules, over all months."""

    in_service: Spans
    outages: tuple[Outage, ...]
    """Outages that count."""
    disregarded: tuple[Outage, ...]
    """Outages too short to count."""
    excluded: Excluded
    unknown: Spans
    """Time without a reading."""
    traces: tuple[Trace, ...]
    """Steps, each with the time it concerns."""
    weighted: tuple[Weighted, ...] = ()
    """Time outside the outages that count of which each minute counts in part, exclusions not yet taken out."""
    disputed: Spans = ()
    """Time that some monitors show as down and others do not, and on which no one has decided."""
    shown: Mapping[readings.Whose, Spans] = field(default_factory=dict)
    """Downtime that each party's monitors show, where they differ."""

    @property
    def counted(self) -> Spans:
        """Return downtime that counts."""
        return difference(union(piece for outage in self.outages for piece in outage.pieces), self.excluded.spans)

    @property
    def down_by_force_majeure(self) -> Spans:
        """Return downtime that force majeure excused; a unit that is only too slow is not down."""
        down = union(piece for outage in self.outages for piece in outage.pieces)
        return intersection(down, self.excluded.by_head.get("force_majeure", ()))

    def started(self, start: datetime, end: datetime) -> UnitHistory:
        """Return the history of what starts from `start` up to `end`."""

        def starts(moment: datetime) -> bool:
            return start <= moment < end

        return replace(
            self,
            outages=tuple(outage for outage in self.outages if starts(outage.start)),
            disregarded=tuple(outage for outage in self.disregarded if starts(outage.start)),
            weighted=tuple(one for one in self.weighted if starts(one.span[0])),
        )

    def steps(self, start: datetime, end: datetime) -> tuple[Step, ...]:
        """Return the steps that concern the time from `start` up to `end`."""
        return tuple(t.step for t in self.traces if t.span[0] < end and start < t.span[1])


@dataclass(frozen=True, slots=True)
class ClockedIncident:
    """One record with the time it covers under the contract's clock."""

    incident: Incident
    spans: Spans
    traces: tuple[Trace, ...]


def clocked(
    incident: Incident, terms: Deal, in_service: Spans, open_until: datetime, known_until: datetime
) -> ClockedIncident:
    """Return the time of one record, in service only and up to what is known (steps 1 to 3).

    Parameters
    ----------
    open_until : end of an outage whose end is not on record.
    known_until : nothing after this is known when the statement is made.
    """
    judged = fault_codes.exact(incident, terms.measurement)
    if judged.value is None:  # nothing to the contract, whatever it says of the unit
        begins = incident.started_at.astimezone(UTC)
        span = (begins, max((incident.ended_at or open_until).astimezone(UTC), begins))
        return ClockedIncident(incident, (), tuple(Trace(span, step) for step in judged.steps))
    incident = judged.value
    if incident.state == "unknown":  # no reading is no outage: the clocks of outages do not apply to it
        silent = (incident.started_at.astimezone(UTC), (incident.ended_at or open_until).astimezone(UTC))
        return ClockedIncident(incident, clipped(in_service, silent[0], min(silent[1], known_until)), ())
    start = outage_start.exact(incident, terms.measurement)
    end = outage_end.exact(incident, terms.measurement, open_until)
    steps = (*judged.steps, *start.steps, *end.steps)
    record = (incident.started_at.astimezone(UTC), max(end.value, incident.started_at.astimezone(UTC)))
    if start.value is None:
        return ClockedIncident(incident, (), tuple(Trace(record, step) for step in steps))
    spans = clipped(in_service, start.value, min(end.value, known_until))
    span = (spans[0][0], spans[-1][1]) if spans else record
    if incident.level == "node":
        rule = "downtime is that of the slot, whatever node fills it"
        steps = (*steps, Step(SLOT_PARAGRAPH, rule, incident.unit_id, {"incident": incident.id}))
    return ClockedIncident(incident, spans, tuple(Trace(span, step) for step in steps))


def unit_history(
    unit_id: str,
    level: str | None,
    in_service: Spans,
    records: Sequence[ClockedIncident],
    case: Case,
    terms: Deal,
    rules: CountingRules,
    first_month: Month,
    rolled_up: RolledUp = NOTHING_ROLLED_UP,
    watching: frozenset[str] = frozenset(),
) -> UnitHistory:
    """Return the history of one unit.

    Parameters
    ----------
    level : service level whose rules apply, for the paths of terms.
    records : the unit's incidents under the contract's clock.
    case : what may exclude its downtime.
    first_month : first month of the contract year.
    rolled_up : downtime that its children bring about, exclusions already taken out; never excluded again.
    watching : monitors that watch units of its level.
    """
    spells = [(r.incident, r.spans) for r in records]
    read = readings.exact(unit_id, spells, terms.measurement, watching)
    own = read.value.down
    concerned = [*read.value.unknown, *read.value.disputed, *(span for _, spans in spells for span in spans)]
    traces = [
        *(trace for r in records if r.incident.state != "degraded" for trace in r.traces),
        *(Trace((min(concerned)[0], max(end for _, end in concerned)), step) for step in read.steps if concerned),
    ]
    joined = flaps.exact(union((*own, *rolled_up.down)), rules, level)
    merged = [outage for outage in joined.value if outage.parts > 1]
    traces += [Trace(o.span, step) for o, step in zip(merged, joined.steps, strict=True)]
    kept: list[Outage] = []
    dropped: list[Outage] = []
    for whole in joined.value:
        outage = whole
        if rules.gap_counts:  # time out of service is neither up nor down
            outage = Outage(intersection(whole.pieces, in_service), whole.parts)
        tested = minimum_outage.exact(outage, rules, level)
        (kept if tested.value else dropped).append(outage)
        traces += [Trace(outage.span, step) for step in tested.steps]
    down = union(piece for outage in kept for piece in outage.pieces)
    down_records = [(i, intersection(spans, own)) for i, spans in spells if i.state in readings.DOWN]
    slow, slow_traces = _slow(spells, down, level, terms)
    traces += slow_traces
    partly = degraded_performance.without(rolled_up.partly, down)
    own_case = replace(case, spells=[(i, spans) for i, spans in down_records if spans])
    excludable = difference(down, rolled_up.down) if rolled_up.down else down
    if slow:  # what nodes bring about is excluded at the nodes, and no minute counts twice
        alone = difference(union(one.span for one in slow), union(one.span for one in partly))
        excludable = union((*excludable, *alone))
        own_case = replace(own_case, spells=[*own_case.spells, *((i, s) for i, s in spells if i.state == "degraded")])
    excluded = excluded_downtime.exact(
        excludable, own_case, terms.exclusions, terms.measurement.zone, first_month
    ).value
    weighted = degraded_performance.at_worst([*slow, *partly]) if partly else slow
    measured = union((*(p for o in (*kept, *dropped) for p in o.pieces), *(one.span for one in weighted)))
    disputed = difference(intersection(read.value.disputed, in_service), measured)
    return UnitHistory(
        in_service,
        tuple(kept),
        tuple(dropped),
        excluded,
        difference(intersection(read.value.unknown, in_service), union((*measured, *disputed))),
        (*sorted(traces, key=lambda trace: trace.span[0]), *excluded.traces),
        weighted,
        disputed,
        read.value.shown,
    )


def _slow(
    spells: Sequence[tuple[Incident, Spans]], down: Spans, level: str | None, terms: Deal
) -> tuple[tuple[Weighted, ...], list[Trace]]:
    """Return when a unit that was not down was too slow, with the steps."""
    metrics = terms.service_levels[level].degraded if level is not None else {}
    records = [(incident, spans) for incident, spans in spells if incident.state == "degraded" and spans]
    if level is None or not metrics or not records:
        return (), []
    found = degraded_performance.exact(records, metrics, level)
    spans = [span for _, some in records for span in some]
    whole = (min(start for start, _ in spans), max(end for _, end in spans))
    traces = [Trace(whole, step) for step in found.steps]
    covered = intersection(union(one.span for one in found.value), down)
    if covered:
        traces.append(Trace(whole, degraded_performance.down_first(covered)))
    return degraded_performance.without(found.value, down), traces
