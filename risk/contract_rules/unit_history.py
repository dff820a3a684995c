"""Steps 1 to 6 for one unit: its outages that count, and what of them is excluded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from risk.contract_rules import excluded_downtime, flaps, minimum_outage, outage_end, outage_start, readings
from risk.contract_rules.counting_rules import CountingRules
from risk.contract_rules.excluded_downtime import Case, Excluded, Trace
from risk.contract_rules.flaps import Outage
from risk.contract_rules.intervals import Spans, clipped, difference, intersection, union
from risk.core.computed import Step
from schemas.deal import Deal
from schemas.incidents import Incident
from schemas.periods import Month

SLOT_PARAGRAPH = "node-availability.per-slot"


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

    @property
    def counted(self) -> Spans:
        """Return downtime that counts."""
        return difference(union(piece for outage in self.outages for piece in outage.pieces), self.excluded.spans)

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
    if incident.state == "unknown":  # no reading is no outage: the clocks of outages do not apply to it
        silent = (incident.started_at.astimezone(UTC), (incident.ended_at or open_until).astimezone(UTC))
        return ClockedIncident(incident, clipped(in_service, silent[0], min(silent[1], known_until)), ())
    start = outage_start.exact(incident, terms.measurement)
    end = outage_end.exact(incident, terms.measurement, open_until)
    steps = (*start.steps, *end.steps)
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
    rolled_up: Spans = (),
    rolled_up_traces: tuple[Trace, ...] = (),
) -> UnitHistory:
    """Return the history of one unit.

    Parameters
    ----------
    level : service level whose rules apply, for the paths of terms.
    records : the unit's incidents under the contract's clock.
    case : what may exclude its downtime.
    first_month : first month of the contract year.
    rolled_up : downtime that its children bring about, exclusions already taken out; never excluded again.
    """
    own = union(span for r in records if r.incident.state in ("down", "planned") for span in r.spans)
    spells = [(r.incident, r.spans) for r in records]
    silent = readings.exact(unit_id, spells, own, terms.measurement)
    traces = [
        *(trace for r in records if r.incident.state != "degraded" for trace in r.traces),
        *(Trace(span, step) for span in silent.value[:1] for step in silent.steps),
        *rolled_up_traces,
    ]
    joined = flaps.exact(union((*own, *rolled_up)), rules, level)
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
    down_records = [(i, spans) for i, spans in spells if i.state in ("down", "planned") and spans]
    own_case = replace(case, spells=down_records)
    excludable = difference(down, rolled_up) if rolled_up else down
    excluded = excluded_downtime.exact(
        excludable, own_case, terms.exclusions, terms.measurement.zone, first_month
    ).value
    return UnitHistory(
        in_service,
        tuple(kept),
        tuple(dropped),
        excluded,
        intersection(silent.value, in_service),
        (*sorted(traces, key=lambda trace: trace.span[0]), *excluded.traces),
    )
