"""Time in which a unit answers and is too slow: each minute at its greatest weight, downtime at full weight first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from itertools import pairwise

from risk.contract_rules.intervals import Span, Spans, difference, exact_minutes, union
from risk.core.computed import Computed, Step
from schemas.incidents import Incident
from schemas.service_levels import DegradedMetric

PARAGRAPH = "degraded-performance.weight"
FLOOR_PARAGRAPH = "degraded-performance.floor"
SHORTEST_PARAGRAPH = "degraded-performance.shortest"
WORST_PARAGRAPH = "degraded-performance.worst"

_RULES = {
    "none": "a minute in which the unit is too slow counts nothing",
    "shortfall": "a minute in which the unit is too slow counts as the part of a minute by which it falls short",
    "full": "a minute in which the unit is too slow counts in full",
}


@dataclass(frozen=True, slots=True)
class Weighted:
    """A stretch of time of which each minute counts in part."""

    span: Span
    weight: Fraction
    """What a minute of it counts. [1]"""


WeightedSpans = tuple[Weighted, ...]
"""Stretches in order of time, apart from each other where their weights are the same."""
Spell = tuple[Incident, Spans]


def exact(
    records: Sequence[Spell], metrics: Mapping[str, DegradedMetric], level_id: str
) -> Computed[tuple[Weighted, ...]]:
    """Return when a unit was too slow, each moment at the greatest weight of its metrics.

    Parameters
    ----------
    records : records of a degraded unit with the time of each; those without a value, or of a metric that the service
        level does not name, are left out.
    metrics : the metrics of the service level.

    Notes
    -----
    With the baseline of the metric, or 1 where records give shares of it, `weight = 1 - measured / baseline`, 0 at
    least. A spell is an unbroken time below the floor; the shortest spell is tested on the whole of it, before anything
    is divided or taken out.
    """
    found: list[Weighted] = []
    steps: list[Step] = []
    for name, metric in metrics.items():
        path = f"service_levels.{level_id}.degraded.{name}"
        slow: list[tuple[Spans, Fraction]] = []
        for incident, spans in records:
            if incident.metric != name or incident.measured is None or not spans:
                continue
            share = Fraction(incident.measured) / Fraction(metric.baseline if metric.baseline is not None else 1)
            is_slow = share < Fraction(metric.floor)
            rule = f"a unit is too slow while it reaches less than {metric.floor} of its baseline"
            facts = {"incident": incident.id, "measured": incident.measured, "baseline": metric.baseline}
            steps.append(Step(FLOOR_PARAGRAPH, rule, is_slow, facts, f"{path}.floor"))
            if is_slow:
                slow.append((spans, _weight(share, metric)))
        long_enough = _long_enough(union(span for spans, _ in slow for span in spans), metric, path, steps)
        for spans, weight in slow:
            kept = difference(spans, difference(spans, long_enough))
            found += [Weighted(span, weight) for span in kept]
            if kept:
                facts = {"time": kept, "weight": metric.weight}
                steps.append(Step(PARAGRAPH, _RULES[metric.weight], weight, facts, f"{path}.weight"))
    worst = at_worst(found)
    if _overlap(found):
        rule = "where several values apply to one minute, the one that counts most applies, once"
        steps.append(Step(WORST_PARAGRAPH, rule, tuple(one.span for one in worst), {"stretches": len(found)}))
    return Computed(worst, tuple(steps))


def without(stretches: Iterable[Weighted], taken: Spans) -> tuple[Weighted, ...]:
    """Return what is left of weighted time outside `taken`."""
    return tuple(Weighted(span, one.weight) for one in stretches for span in difference((one.span,), taken))


def at_worst(stretches: Sequence[Weighted]) -> tuple[Weighted, ...]:
    """Return the greatest weight of each moment that any stretch covers."""
    if not stretches:
        return ()
    starts: dict[datetime, list[Fraction]] = {}
    ends: dict[datetime, list[Fraction]] = {}
    for one in stretches:
        starts.setdefault(one.span[0], []).append(one.weight)
        ends.setdefault(one.span[1], []).append(one.weight)
    active: dict[Fraction, int] = {}
    found: list[Weighted] = []
    for moment, following in pairwise(sorted({*starts, *ends})):
        for weight in starts.get(moment, ()):
            active[weight] = active.get(weight, 0) + 1
        for weight in ends.get(moment, ()):
            active[weight] -= 1
            if not active[weight]:
                del active[weight]
        if not active:
            continue
        greatest = max(active)
        if found and found[-1].span[1] == moment and found[-1].weight == greatest:
            found[-1] = Weighted((found[-1].span[0], following), greatest)
        else:
            found.append(Weighted((moment, following), greatest))
    return tuple(found)


def down_first(covered: Spans) -> Step:
    """Return the step that says why time `covered` by downtime has no weight of its own."""
    return Step(WORST_PARAGRAPH, "time in which the unit is down counts as downtime, once", covered)


def _weight(share: Fraction, metric: DegradedMetric) -> Fraction:
    """Return what a minute at `share` of the baseline counts. [1]"""
    match metric.weight:
        case "none":
            return Fraction(0)
        case "full":
            return Fraction(1)
    return min(max(1 - share, Fraction(0)), Fraction(1))


def _long_enough(slow: Spans, metric: DegradedMetric, path: str, steps: list[Step]) -> Spans:
    """Return the spells that are long enough to count, with a step for each."""
    kept: list[Span] = []
    for start, end in slow:
        lasts = exact_minutes(end - start)
        counts = lasts >= metric.minimum_minutes
        rule = f"a spell counts if the whole of it lasts at least {metric.minimum_minutes} minutes"
        facts = {"from": start, "to": end, "minutes": lasts}
        steps.append(Step(SHORTEST_PARAGRAPH, rule, counts, facts, f"{path}.minimum_minutes"))
        if counts:
            kept.append((start, end))
    return tuple(kept)


def _overlap(stretches: Sequence[Weighted]) -> bool:
    """Return whether two stretches share time."""
    spans = sorted(one.span for one in stretches)
    return any(later[0] < earlier[1] for earlier, later in pairwise(spans))
