"""Node failures in the simulation: how many nodes of a tranche are in each credit band, month by month."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from risk.cluster.domains import MOST_MISSING, domain_law
from risk.cluster.nodes import HOURS_PER_YEAR, NodeRates, node_rates
from risk.cluster.slot_month import allowed_minutes, slot_law
from risk.contract_rules.counting_rules import CountingRules, counting_rules
from risk.core.data import hardware
from risk.core.downtime import Lengths
from risk.core.notes import grouped
from risk.core.protocol import Paths, Phase, Risk, State, StepFunction
from risk.core.setting import Setting
from schemas.capacity import Cluster
from schemas.credit_shapes import CreditBands
from schemas.deal import Deal
from schemas.errors import MissingTermError, NotComputedError
from schemas.service_levels import ServiceLevel

STREAM = "outage:nodes"
NEVER_UP = 1e-12
"""A rack or domain up for less than this share of time is never up. [1]"""
MOST_UNITS = 1_000_000
"""Units of one tranche that are counted by band; more take too long. [1]"""
MOST_NUMBERS = 32_768
"""Random numbers of one draw, for each tranche, month and band: a block of more does not fit into memory. [1]"""
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TrancheUnits:
    """Like units of one tranche: nodes, or racks or domains of nodes."""

    tranche: int
    """Position among the tranches."""
    units: int
    """[1]"""
    nodes_each: int
    """Nodes of one unit. [1]"""
    survival: Mapping[int, FloatArray]
    """By length of month [min]: probability that one unit's own minutes exceed 0, 1 ... [1]"""


@dataclass(frozen=True, slots=True)
class LevelUnits:
    """One service level measured on units that fail by themselves."""

    id: str
    credit: CreditBands
    rules: CountingRules
    tranches: tuple[TrancheUnits, ...]


@dataclass(slots=True)
class NodeFailures:
    """Nodes of each tranche by the deepest credit band they fall into, given the month's common downtime.

    Path `node_uniform:<service level>`, shape (draws, tranches, months, bands). Writes
    `nodes_in_band:<service level>`, shape (draws, tranches, bands): for a rack or domain, the nodes of the racks or
    domains in that band.
    """

    levels: tuple[LevelUnits, ...]
    tranches: int
    windows: IntArray
    """Length of each month, shape (months,). [min]"""
    notes: tuple[str, ...]
    streams: tuple[str, ...] = field(init=False)
    """One for each service level."""

    def __post_init__(self) -> None:
        self.streams = tuple(f"{STREAM}:{level.id}" for level in self.levels)

    def sample(self, rng: Mapping[str, Generator], draws: int) -> Paths:
        """Return one uniform number for each draw, tranche, month and band.

        Numbers are drawn month by month, so that a longer horizon leaves the months before it as they were.
        """
        paths: Paths = {}
        for level, stream in zip(self.levels, self.streams, strict=True):
            tranches, months, bands = self._shape(level)
            uniform = rng[stream].random((months, tranches, draws, bands))
            paths[f"node_uniform:{level.id}"] = uniform.transpose(2, 1, 0, 3)
        return paths

    def base(self) -> Paths:
        """Return numbers that stand for no failure at all."""
        return {f"node_uniform:{level.id}": np.zeros((1, *self._shape(level))) for level in self.levels}

    def steps(self) -> Mapping[Phase, StepFunction]:
        """Return the count of nodes by band."""
        return {Phase.NODES: self._count} if self.levels else {}

    def ignores(self) -> tuple[str, ...]:
        """Return what the model leaves out."""
        return self.notes

    def _shape(self, level: LevelUnits) -> tuple[int, int, int]:
        return self.tranches, len(self.windows), len(level.credit.bands)

    def _count(self, month: int, state: State) -> None:
        """Write the nodes in each band this month."""
        from risk.cluster.counts import slots_by_band  # compiled; kept off the path of deals without nodes

        window = int(self.windows[month - 1])
        for level in self.levels:
            uniform = state.path[f"node_uniform:{level.id}"]
            minutes = state.now.get(f"counted_minutes:{level.id}")
            found = np.zeros((state.draws, self.tranches, len(level.credit.bands)))
            allowed = allowed_minutes(level.credit, level.rules, window)
            for group in level.tranches:
                common = (
                    np.zeros(state.draws, dtype=np.int64)
                    if minutes is None
                    else np.ascontiguousarray(minutes[:, group.tranche, month - 1])
                )
                counts = np.zeros((state.draws, len(allowed)))
                own = np.ascontiguousarray(uniform[:, group.tranche, month - 1])
                slots_by_band(own, group.units, group.survival[window], allowed, common, counts)
                found[:, group.tranche] = counts * group.nodes_each
            state.now[f"nodes_in_band:{level.id}"] = found


def from_deal(deal: Deal, setting: Setting) -> Risk | None:
    """Return the node failures of a deal; None when no service level looks at nodes, racks or clusters.

    Raises
    ------
    MissingTermError
        When a service level is measured on nodes and the cluster says neither how many nor of what kind.
    NotComputedError
        When a service level asks for what this model cannot give.
    """
    windows = setting.timeline.window_minutes
    levels: list[LevelUnits] = []
    notes: list[str] = []
    for name, terms in deal.service_levels.items():
        if terms.level in ("node", "rack", "scale_up_domain"):
            level, words = _level(name, terms, deal, setting, windows)
            notes += grouped(f"Service level {name!r}, cluster", words)
            if level.tranches:
                levels.append(level)
        elif terms.level == "cluster" and deal.assumptions.prescribed.bad_month is None:
            notes += grouped(f"Service level {name!r}, tranche", _cluster_notes(terms, setting))
    if any(group.nodes_each > 1 for level in levels for group in level.tranches):
        notes.append(
            "Racks and domains: an outage lasts until the first node is back, scaled to the exact mean, and outages "
            "come evenly over time, which overstates the months with any by up to a tenth; parts that a rack shares "
            "fail as the hardware file says; a spare elsewhere does not stand in for a node of the rack."
        )
    if levels:
        notes += [
            "Nodes: what one node does in one month does not depend on what it did the month before; nodes that fail "
            "again and again, bad batches, early failures of new hardware, faults that a repair does not cure and "
            "repair crews are not simulated.",
            "Nodes: in a month with an outage of the whole site, a node's own downtime is added to the common part "
            "even where they overlap; outages of one node are not merged across short gaps.",
            "Nodes: in a tranche's first, shorter month the chance of each band is that of a full month.",
        ]
    if not levels and not notes:
        return None
    _refuse_too_many(levels, len(setting.tranches), len(windows))
    return NodeFailures(tuple(levels), len(setting.tranches), windows, tuple(notes))


def _level(
    name: str, terms: ServiceLevel, deal: Deal, setting: Setting, windows: IntArray
) -> tuple[LevelUnits, list[tuple[str, str]]]:
    """Return one level with its tranches, and words on what is particular to each cluster."""
    path = f"service_levels.{name}"
    if terms.aggregation == "fleet_mean":
        raise NotComputedError(f"{path}.aggregation", "a fleet mean in the simulation", "use per_unit")
    credit = terms.credit
    if not isinstance(credit, CreditBands):
        raise NotComputedError(
            f"{path}.credit",
            f"a credit of shape {credit.shape!r} on single units of level {terms.level!r} in the simulation",
            "use bands there, or leave the level out",
        )
    rules = counting_rules(deal.measurement, terms.measurement)
    assert deal.delivery is not None
    groups: list[TrancheUnits] = []
    notes: list[tuple[str, str]] = []
    laws: dict[str, tuple[int, int, dict[int, FloatArray]]] = {}
    for position, tranche in enumerate(setting.tranches):
        if terms.service is not None and terms.service != setting.service_of[position]:
            continue
        cluster, key = setting.cluster_of(position), deal.delivery.tranches[tranche].cluster
        if cluster is None or key is None:
            raise MissingTermError(
                f"delivery.tranches.{tranche}.cluster", f"{path} on level {terms.level}", "name the cluster"
            )
        if key not in laws:
            rates = node_rates(cluster, f"clusters.{key}")
            if terms.level == "node":
                units, each, rate, lengths = _nodes(rates)
                words = _node_words(rates)
            else:
                units, each, rate, lengths, words = _domains(name, key, terms, cluster, rates)
            notes.append((key, words))
            if units > MOST_UNITS:
                raise NotComputedError(
                    f"clusters.{key}.units.node",
                    f"{path} on {units:,} units of one cluster, more than {MOST_UNITS:,},",
                    "correct the number, or describe several clusters",
                )
            own = cluster.nodes is not None and cluster.nodes.interrupts_per_node_year is not None
            rests_on = f"clusters.{key}.{'nodes.interrupts_per_node_year' if own else 'hardware'}"
            laws[key] = units, each, _survival(rate, lengths, credit, rules, windows, rests_on)
        units, each, survival = laws[key]
        groups.append(TrancheUnits(position, units, each, survival))
    return LevelUnits(name, credit, rules, tuple(groups)), notes


def _refuse_too_many(levels: Sequence[LevelUnits], tranches: int, months: int) -> None:
    """Refuse bands of nodes, racks and domains over so many tranches and months that a block does not fit."""
    bands = sum(len(level.credit.bands) for level in levels)
    if bands * tranches * months > MOST_NUMBERS:
        raise NotComputedError(
            f"service_levels.{levels[0].id}.credit.bands",
            f"{bands} credit bands of nodes, racks and domains over {tranches} tranches and {months:,} months, more "
            f"than {MOST_NUMBERS:,} in all,",
            "simulate fewer months, or leave out levels or bands",
        )


def _nodes(rates: NodeRates) -> tuple[int, int, float, Lengths]:
    """Return slots, nodes each, interruptions per minute up, and the law of lengths."""
    return rates.nodes, 1, rates.interrupts_per_year / HOURS_PER_YEAR / 60.0, rates.lengths()


def _node_words(rates: NodeRates) -> str:
    """Return the figures of a node level in words."""
    return (
        f"{rates.interrupts_per_year:.3g} interruptions of one node a year, a spare free for {rates.spare_free:.1%} of "
        f"hardware failures, mean availability of a slot {rates.availability():.5f}; lengths are exponential with the "
        "mean of what ends them, and months are stationary."
    )


def _domains(
    name: str, key: str, terms: ServiceLevel, cluster: Cluster, rates: NodeRates
) -> tuple[int, int, float, Lengths, str]:
    """Return domains, nodes each, outages per minute up, the law of lengths, and words on them."""
    path = f"service_levels.{name}"
    if terms.k is None or terms.n is None:
        raise MissingTermError(f"{path}.k", "a level of racks or domains", "give k and n, the nodes that must be up")
    if terms.n - terms.k + 1 > MOST_MISSING:
        raise NotComputedError(f"{path}.k", f"a unit that stays up with {terms.n - terms.k} nodes down", "raise k")
    units = rates.nodes // terms.n
    if units == 0:
        raise MissingTermError(
            f"clusters.{key}.units.node",
            f"{path}, whose units hold {terms.n} nodes",
            f"give at least {terms.n} nodes, or lower n",
        )
    law = domain_law(rates, terms.k, terms.n, hardware(cluster.hardware) if cluster.hardware else None)
    if law.unavailability > 1 - NEVER_UP:
        raise NotComputedError(
            f"{path}.k",
            f"a unit of {terms.n} nodes of cluster {key!r} that is never up",
            "check the interruptions and repair hours of its nodes",
        )
    words = (
        f"{units} units of {terms.n} nodes of which {terms.k} must be up, "
        f"{law.per_hour * HOURS_PER_YEAR:.3g} outages of one unit a year, unavailable {law.unavailability:.3g} of the "
        "time"
    )
    left = rates.nodes - units * terms.n
    words += f"; {left} nodes that fill no unit are left out." if left else "."
    return units, terms.n, law.per_minute_up, law.lengths, words


def _survival(
    per_minute: float, lengths: Lengths, credit: CreditBands, rules: CountingRules, windows: IntArray, path: str
) -> dict[int, FloatArray]:
    """Return the law of one unit's minutes for each length of month that occurs."""
    distinct = sorted({int(window) for window in windows})
    law = slot_law(per_minute, lengths, credit, rules, distinct[-1], path)
    return {window: law.survival(window) for window in distinct}


def _cluster_notes(terms: ServiceLevel, setting: Setting) -> list[tuple[str, str]]:
    """Return the chance that node failures alone take a cluster under its needed share, which is not simulated."""
    assert setting.deal.delivery is not None
    assert terms.nodes_needed_share is not None
    notes: list[tuple[str, str]] = []
    for position, tranche in enumerate(setting.tranches):
        key = setting.deal.delivery.tranches[tranche].cluster
        cluster = setting.cluster_of(position)
        if terms.service is not None and terms.service != setting.service_of[position]:
            continue
        if cluster is None or cluster.units.node is None or not (cluster.hardware or cluster.nodes):
            words = "that chance is not known, because the cluster gives no nodes or no hardware"
        else:
            rates = node_rates(cluster, f"clusters.{key}")
            needed = ceil(Fraction(terms.nodes_needed_share) * rates.nodes)
            chance = rates.chance_of_too_few(needed)
            figure = f"{chance:.2g}" if chance >= 1e-6 else "less than a millionth"
            words = f"with {needed} of {rates.nodes} nodes needed that is {figure} of the time"
        notes.append((tranche, f"node failures alone can leave too few nodes up, which is not simulated; {words}."))
    return notes
