"""Units that contain nodes, or need other units: down while too few of these are up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from itertools import pairwise
from math import ceil

from risk.contract_rules.degraded_performance import Weighted
from risk.contract_rules.intervals import END, Spans, clipped, intersection, union
from risk.core.computed import Computed, Step
from schemas.errors import DealError, Problem
from schemas.service_levels import Level, ServiceLevel

PARAGRAPH = "domain-availability.k-of-n"
NOT_IN_SERVICE_PARAGRAPH = "domain-availability.not-in-service"
DOMAIN_REQUIRES_PARAGRAPH = "domain-availability.requires"
CLUSTER_PARAGRAPH = "cluster-availability.k-of-n"
CHANGES_PARAGRAPH = "cluster-availability.changes"
OVERLAP_PARAGRAPH = "cluster-availability.overlap"
WHOLE_PARAGRAPH = "cluster-availability.whole"
REQUIRES_PARAGRAPH = "cluster-availability.requires"
FACILITY_PARAGRAPH = "facility-level.nodes"

CONTAINERS: tuple[Level, ...] = ("scale_up_domain", "rack", "cluster", "hall", "site")
"""Levels whose units contain nodes."""
_PARAGRAPHS: dict[Level, str] = {"cluster": CLUSTER_PARAGRAPH, "hall": FACILITY_PARAGRAPH, "site": FACILITY_PARAGRAPH}
_RULES = {
    "any_down": "down, minute by minute, while any of its nodes is down",
    "all_down": "down, minute by minute, while all of its nodes are down",
    "capacity_share": "each minute counts in the share of its nodes that is down",
}


@dataclass(frozen=True, slots=True)
class Child:
    """One node of a rack, domain, cluster, hall or site."""

    in_service: Spans
    counted: Spans
    """Downtime that counts, exclusions taken out."""


@dataclass(frozen=True, slots=True)
class Needed:
    """A unit that another needs in order to be up."""

    id: str
    level: Level
    counted: Spans
    """Downtime that counts, exclusions taken out."""


@dataclass(frozen=True, slots=True)
class RolledUp:
    """Time in which the units that a unit contains or needs bring it down."""

    down: Spans
    needed: tuple[tuple[datetime, int, int], ...] = ()
    """From each moment on: nodes in service and nodes that had to be up."""
    partly: tuple[Weighted, ...] = ()
    """Time that counts in the share of the nodes that is down."""

    def as_known(self, open_until: datetime, known_until: datetime) -> RolledUp:
        """Return what is known of it: as long as too few nodes are in service no record ends it."""
        down = ((start, open_until if end == END else min(end, known_until)) for start, end in self.down)
        return replace(self, down=union(down))


def is_rolled_up(level: ServiceLevel) -> bool:
    """Return whether the nodes of a unit of this level decide whether it is up."""
    by_number = level.nodes_needed_share is not None or level.k is not None
    return level.level in CONTAINERS and (by_number or level.down_when != "too_few_up")


def exact(
    children: Sequence[Child],
    level: ServiceLevel,
    own: Spans,
    within: Spans,
    unit: str,
    level_id: str,
    required: Sequence[Needed] = (),
) -> Computed[RolledUp]:
    """Return when its nodes, and the units it needs, brought `unit` down.

    Parameters
    ----------
    children : its nodes; none when the records name none, so that its own incidents alone decide.
    own : downtime of the unit's own incidents, for the step on overlaps.
    within : when the unit itself is in service.
    required : units of the levels it needs.

    Raises
    ------
    DealError
        When the records name another number of nodes than the contract's n.
    """
    others, steps = _required(required, level, within, level_id)
    if not children or not is_rolled_up(level):
        return Computed(RolledUp(others), (*steps, *_whole(level, own, level_id)))
    if level.k is not None and len(children) != level.n:
        raise DealError(
            [
                Problem(
                    f"service_levels.{level_id}.n",
                    f"{len(children)} nodes of {unit!r} on record",
                    f"n = {level.n}",
                    "list every node that the unit holds, or correct n",
                )
            ]
        )
    rolled = _sweep(children, level, within)
    steps = (*_of_nodes(rolled, level, unit, level_id), *steps, *_whole(level, own, level_id))
    both = intersection(union((*own, *others)), rolled.down)
    if level.level == "cluster" and both:
        rule = "time in which several causes make the cluster down counts once"
        steps = (*steps, Step(OVERLAP_PARAGRAPH, rule, both, {"unit": unit}))
    return Computed(RolledUp(union((*rolled.down, *others)), rolled.needed, rolled.partly), steps)


def _of_nodes(rolled: RolledUp, level: ServiceLevel, unit: str, level_id: str) -> tuple[Step, ...]:
    """Return the steps on the number of nodes that must be up."""
    share = level.nodes_needed_share
    counts = sorted({(nodes, needed) for _, nodes, needed in rolled.needed})
    facts: dict[str, object] = {"unit": unit, "nodes": counts[-1][0], "needed": counts[-1][1]} if counts else {}
    paragraph = _PARAGRAPHS.get(level.level, PARAGRAPH)
    if level.down_when != "too_few_up":
        result: object = rolled.down
        if level.down_when == "capacity_share":
            facts = {"unit": unit}
            result = tuple((*one.span, one.weight) for one in rolled.partly)
        rule, term = _RULES[level.down_when], f"service_levels.{level_id}.down_when"
        return (Step(paragraph, rule, result, facts, term), *_changes(rolled, counts, level, unit, term))
    term = f"service_levels.{level_id}." + ("k" if share is None else "nodes_needed_share")
    if share is None:
        rule = f"down, minute by minute, while fewer than {level.k} of {level.n} nodes are up"
        steps = [Step(paragraph, rule, rolled.down, facts, term)]
        if any(nodes != level.n for nodes, _ in counts):
            rule = "a node not in service counts neither as up nor as one of n; k stays the same"
            steps.append(Step(NOT_IN_SERVICE_PARAGRAPH, rule, tuple(counts), {"unit": unit}, term))
        return tuple(steps)
    rule = f"down, minute by minute, while fewer than {share} of the slots, rounded up, are up"
    return (Step(paragraph, rule, rolled.down, facts, term), *_changes(rolled, counts, level, unit, term))


def _changes(
    rolled: RolledUp, counts: Sequence[tuple[int, int]], level: ServiceLevel, unit: str, term: str
) -> tuple[Step, ...]:
    if len(counts) < 2 or level.level != "cluster":
        return ()
    rule = "the number is worked out from the slots in service, anew from the moment that changes"
    return (Step(CHANGES_PARAGRAPH, rule, rolled.needed, {"unit": unit}, term),)


def _required(
    required: Sequence[Needed], level: ServiceLevel, within: Spans, level_id: str
) -> tuple[Spans, tuple[Step, ...]]:
    """Return when a unit that is needed was down, with the step."""
    if not required:
        return (), ()
    down = intersection(union(span for one in required for span in one.counted), within)
    names = {one.id: one.level for one in required}
    paragraph = REQUIRES_PARAGRAPH if level.level == "cluster" else DOMAIN_REQUIRES_PARAGRAPH
    rule = "the unit is also down while a unit that it needs is down"
    return down, (Step(paragraph, rule, down, {"needed": names}, f"service_levels.{level_id}.requires"),)


def _whole(level: ServiceLevel, own: Spans, level_id: str) -> tuple[Step, ...]:
    """Return the step for downtime of a cluster as a whole."""
    if level.level != "cluster" or not own:
        return ()
    rule = "a cluster is also down while a test is met for the cluster as a whole"
    return (Step(WHOLE_PARAGRAPH, rule, own, {}, f"service_levels.{level_id}.down_tests"),)


def _sweep(children: Sequence[Child], level: ServiceLevel, within: Spans) -> RolledUp:
    """Return the stretches in which the nodes that are up are fewer than those needed, or some are down."""
    change: dict[datetime, list[int]] = {}
    for child in children:
        for start, end in child.in_service:
            change.setdefault(start, [0, 0])[0] += 1
            change.setdefault(end, [0, 0])[0] -= 1
        for start, end in intersection(child.counted, child.in_service):
            change.setdefault(start, [0, 0])[1] += 1
            change.setdefault(end, [0, 0])[1] -= 1
    bounds = [moment for span in within for moment in span]
    for moment in bounds:
        change.setdefault(moment, [0, 0])
    moments = sorted(change)
    spans: list[tuple[datetime, datetime]] = []
    partly: list[Weighted] = []
    needed_from: list[tuple[datetime, int, int]] = []
    in_service = down = 0
    for moment, following in pairwise(moments):
        in_service += change[moment][0]
        down += change[moment][1]
        if not clipped(within, moment, following):
            continue
        needed = _number_needed(level, in_service)
        if not needed_from or needed_from[-1][1:] != (in_service, needed):
            needed_from.append((moment, in_service, needed))
        if level.down_when == "capacity_share":
            if down:
                partly.append(Weighted((moment, following), Fraction(down, in_service)))
        elif in_service - down < needed:
            spans.append((moment, following))
    return RolledUp(intersection(union(spans), within), tuple(needed_from), _joined(partly))


def _number_needed(level: ServiceLevel, in_service: int) -> int:
    """Return how many of the nodes in service must be up. [1]"""
    match level.down_when:
        case "any_down" | "capacity_share":
            return in_service
        case "all_down":
            return min(in_service, 1)
    if level.nodes_needed_share is not None:
        return ceil(Fraction(level.nodes_needed_share) * in_service)
    return level.k or 0


def _joined(stretches: Sequence[Weighted]) -> tuple[Weighted, ...]:
    """Return stretches that touch and have the same weight as one."""
    found: list[Weighted] = []
    for one in stretches:
        if found and found[-1].span[1] == one.span[0] and found[-1].weight == one.weight:
            found[-1] = Weighted((found[-1].span[0], one.span[1]), one.weight)
        else:
            found.append(one)
    return tuple(found)
