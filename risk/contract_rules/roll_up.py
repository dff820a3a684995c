"""Racks, scale-up domains and clusters: down while too few of their nodes are up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import ceil

from risk.contract_rules.intervals import Spans, clipped, intersection, union
from risk.core.computed import Computed, Step
from schemas.errors import DealError, Problem
from schemas.service_levels import ServiceLevel

PARAGRAPH = "domain-availability.k-of-n"
NOT_IN_SERVICE_PARAGRAPH = "domain-availability.not-in-service"
CLUSTER_PARAGRAPH = "cluster-availability.k-of-n"
CHANGES_PARAGRAPH = "cluster-availability.changes"
OVERLAP_PARAGRAPH = "cluster-availability.overlap"
WHOLE_PARAGRAPH = "cluster-availability.whole"


@dataclass(frozen=True, slots=True)
class Child:
    """One node of a rack, domain or cluster."""

    in_service: Spans
    counted: Spans
    """Downtime that counts, exclusions taken out."""


@dataclass(frozen=True, slots=True)
class RolledUp:
    """Time in which too few nodes were up."""

    down: Spans
    needed: tuple[tuple[datetime, int, int], ...]
    """From each moment on: nodes in service and nodes that had to be up."""


def exact(
    children: Sequence[Child], level: ServiceLevel, own: Spans, within: Spans, unit: str, level_id: str
) -> Computed[RolledUp]:
    """Return when too few nodes of `unit` were up.

    Parameters
    ----------
    children : its nodes; none when the records name none, so that its own incidents alone decide.
    own : downtime of the unit's own incidents, for the step on overlaps.
    within : when the unit itself is in service.

    Raises
    ------
    DealError
        When the records name another number of nodes than the contract's n.
    """
    share = level.nodes_needed_share
    if not children or (share is None and level.k is None):
        return Computed(RolledUp((), ()), _whole(level, own, level_id))
    if share is None and len(children) != level.n:
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
    rolled = _sweep(children, level.k, share, within)
    steps: list[Step] = []
    term = f"service_levels.{level_id}." + ("k" if share is None else "nodes_needed_share")
    counts = sorted({(nodes, needed) for _, nodes, needed in rolled.needed})
    facts: dict[str, object] = {"unit": unit, "nodes": counts[-1][0], "needed": counts[-1][1]} if counts else {}
    if share is None:
        rule = f"down, minute by minute, while fewer than {level.k} of {level.n} nodes are up"
        steps.append(Step(PARAGRAPH, rule, rolled.down, facts, term))
        if any(nodes != level.n for nodes, _ in counts):
            rule = "a node not in service counts neither as up nor as one of n; k stays the same"
            steps.append(Step(NOT_IN_SERVICE_PARAGRAPH, rule, tuple(counts), {"unit": unit}, term))
    else:
        rule = f"down, minute by minute, while fewer than {share} of the slots, rounded up, are up"
        steps.append(Step(CLUSTER_PARAGRAPH, rule, rolled.down, facts, term))
        if len(counts) > 1:
            rule = "the number is worked out from the slots in service, anew from the moment that changes"
            steps.append(Step(CHANGES_PARAGRAPH, rule, rolled.needed, {"unit": unit}, term))
    steps += _whole(level, own, level_id)
    both = intersection(own, rolled.down)
    if level.level == "cluster" and both:
        rule = "time in which several causes make the cluster down counts once"
        steps.append(Step(OVERLAP_PARAGRAPH, rule, both, {"unit": unit}))
    return Computed(rolled, tuple(steps))


def _whole(level: ServiceLevel, own: Spans, level_id: str) -> tuple[Step, ...]:
    """Return the step for downtime of a cluster as a whole."""
    if level.level != "cluster" or not own:
        return ()
    rule = "a cluster is also down while a test is met for the cluster as a whole"
    return (Step(WHOLE_PARAGRAPH, rule, own, {}, f"service_levels.{level_id}.down_tests"),)


def _sweep(children: Sequence[Child], k: int | None, share: Decimal | None, within: Spans) -> RolledUp:
    """Return the stretches in which the nodes that are up are fewer than those needed."""
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
    needed_from: list[tuple[datetime, int, int]] = []
    in_service = down = 0
    for moment, following in pairwise(moments):
        in_service += change[moment][0]
        down += change[moment][1]
        if not clipped(within, moment, following):
            continue
        needed = ceil(Fraction(share) * in_service) if share is not None else (k or 0)
        if not needed_from or needed_from[-1][1:] != (in_service, needed):
            needed_from.append((moment, in_service, needed))
        if in_service - down < needed:
            spans.append((moment, following))
    return RolledUp(intersection(union(spans), within), tuple(needed_from))
