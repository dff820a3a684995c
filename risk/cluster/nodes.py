"""How often a node fails, how long its slot is down, and how many spares that takes."""

from __future__ import annotations

from dataclasses import dataclass

from scipy.special import betainc, pdtr

from risk.cluster.slot_month import band_probabilities, slot_law
from risk.contract_rules.counting_rules import counting_rules
from risk.core.calendar import HOURS_PER_EQUAL_MONTH
from risk.core.data import Hardware, hardware
from risk.core.downtime import Lengths
from schemas.capacity import Cluster
from schemas.credit_shapes import CreditBands
from schemas.errors import MissingTermError, NotComputedError
from schemas.service_levels import Measurement, ServiceLevel
from schemas.sources import Sourced

HOURS_PER_YEAR = 8760.0
"""Rates a year are turned into rates an hour at this length. [h]"""
SPARES_CONFIDENCE = 0.99
"""Probability with which the suggested spares are enough. [1]"""


@dataclass(frozen=True, slots=True)
class NodeRates:
    """Failure and repair of one node slot of a cluster."""

    nodes: int
    """Contracted slots. [1]"""
    spares: int
    """[1]"""
    interrupts_per_year: float
    """Of one node. [1/year]"""
    hardware_share: float
    """[1]"""
    reset_hours: float
    """[h]"""
    swap_hours: float
    """[h]"""
    repair_hours: float
    """[h]"""

    @property
    def in_repair(self) -> float:
        """Return the mean number of nodes in repair, after which they are spares again. [1]"""
        yearly = self.nodes * self.interrupts_per_year * self.hardware_share
        return yearly * self.repair_hours / HOURS_PER_YEAR

    @property
    def spare_free(self) -> float:
        """Return the probability that a node that fails finds a spare. [1]

        Notes
        -----
        Nodes in repair are Poisson whatever the law of the repair time (Palm), and a failure sees them as they are in
        the long run. A spare is free while fewer nodes are in repair than there are spares.
        """
        return float(pdtr(self.spares - 1, self.in_repair)) if self.spares > 0 else 0.0

    def lengths(self, *, swaps: bool = True) -> Lengths:
        """Return the law of the time a slot is down: exponential with the mean of what ends it. [min]

        Parameters
        ----------
        swaps
            Whether a spare may take the slot; if not, hardware failures last for the repair.
        """
        free = self.spare_free if swaps else 0.0
        share = self.hardware_share
        return Lengths(
            (self.reset_hours * 60.0, self.swap_hours * 60.0, self.repair_hours * 60.0),
            (1.0 - share, share * free, share * (1.0 - free)),
        )

    def availability(self, *, swaps: bool = True) -> float:
        """Return the long-run share of time a slot is up. [1]"""
        return 1.0 / (1.0 + self.interrupts_per_year * self.lengths(swaps=swaps).mean / 60.0 / HOURS_PER_YEAR)

    def spares_needed(self, confidence: float = SPARES_CONFIDENCE) -> int:
        """Return the fewest spares that cover the nodes in repair with probability `confidence`. [1]"""
        spares = 0
        while pdtr(spares, self.in_repair) < confidence:
            spares += 1
        return spares

    def chance_of_too_few(self, needed: int) -> float:
        """Return the share of time in which fewer than `needed` slots are up, by node failures alone. [1]"""
        spare_slots = self.nodes - needed
        if spare_slots < 0:
            return 1.0
        if needed <= 0:
            return 0.0
        return float(betainc(spare_slots + 1, self.nodes - spare_slots, 1.0 - self.availability()))


@dataclass(frozen=True, slots=True)
class NodeLawResult:
    """The nodes of one cluster in the long run."""

    rates: NodeRates
    availability: float
    """Of one slot, swaps included. [1]"""
    mean_down_hours: float
    """Of one interruption. [h]"""
    expected_nodes_down: float
    """Slots down at an instant. [1]"""
    expected_nodes_in_repair: float
    """[1]"""
    spare_free: float
    """Probability that a node that fails finds a spare. [1]"""
    spares_needed: int
    """Fewest spares that cover the nodes in repair with probability 0.99. [1]"""
    band_probabilities: tuple[float, ...]
    """Of one slot in one month: probability that each band is the deepest it falls into, no common outage. [1]"""


def node_rates(cluster: Cluster, path: str = "cluster") -> NodeRates:
    """Return the figures of a cluster's own law where it gives them, else those of its hardware.

    Raises
    ------
    MissingTermError
        When the cluster gives neither, or no number of nodes can be told.
    """
    data: Hardware | None = hardware(cluster.hardware) if cluster.hardware else None
    own = cluster.nodes

    def figure(name: str) -> float:
        typed: Sourced | None = getattr(own, name) if own else None
        if typed is not None:
            return float(typed)
        if data is None:
            raise MissingTermError(
                f"{path}.nodes.{name}", "the law of node failures", f"give it, or name {path}.hardware"
            )
        found: Sourced = getattr(data, name)
        return float(found)

    rate: Sourced | None = own.interrupts_per_node_year if own else None
    if rate is None and data is None:
        raise MissingTermError(
            f"{path}.hardware", "the law of node failures", f"name the generation, or give {path}.nodes"
        )
    if rate is not None:
        yearly = float(rate)
    else:
        assert data is not None
        yearly = float(data.interrupts_per_gpu_year) * float(data.gpus_per_node)
    nodes = cluster.units.node
    if nodes is None:
        raise MissingTermError(f"{path}.units.node", "the law of node failures", "give the number of nodes")
    return NodeRates(
        nodes=nodes,
        spares=cluster.spares.node,
        interrupts_per_year=yearly,
        hardware_share=figure("hardware_share"),
        reset_hours=figure("reset_hours"),
        swap_hours=figure("swap_hours"),
        repair_hours=figure("repair_hours"),
    )


def node_law(
    cluster: Cluster,
    level: ServiceLevel | None = None,
    measurement: Measurement | None = None,
    window_minutes: int = HOURS_PER_EQUAL_MONTH * 60,
    path: str = "cluster",
) -> NodeLawResult:
    """Return the long-run figures of a cluster's nodes, and the bands of one slot in one month.

    Parameters
    ----------
    level
        A service level of level node, whose bands are asked for; no bands when not given.
    measurement
        General counting rules; the schema's defaults when not given.
    window_minutes
        Length of the month. [min]

    Raises
    ------
    NotComputedError
        For a level whose credit is no table of bands.

    Notes
    -----
    A slot alternates between an exponential up time and an exponential time down with the mean of what ends it: a
    reset, a spare that takes the slot, or a repair when no spare is free. Ignores infant mortality, bad batches, repair
    crews and faults that a repair does not cure.
    """
    rates = node_rates(cluster, path)
    bands: tuple[float, ...] = ()
    if level is not None:
        table = level.credit
        if not isinstance(table, CreditBands):
            raise NotComputedError(
                f"{path}.nodes", f"bands of one slot for a credit of shape {table.shape!r}", "ask without a level"
            )
        rules = counting_rules(measurement or Measurement(), level.measurement)
        law = slot_law(
            rates.interrupts_per_year / HOURS_PER_YEAR / 60.0,
            rates.lengths(),
            table,
            rules,
            window_minutes,
        )
        within = band_probabilities(law, table, rules, window_minutes)
        bands = tuple(p - deeper for p, deeper in zip(within, (*within[1:], 0.0), strict=True))
    availability = rates.availability()
    return NodeLawResult(
        rates=rates,
        availability=availability,
        mean_down_hours=rates.lengths().mean / 60.0,
        expected_nodes_down=rates.nodes * (1.0 - availability),
        expected_nodes_in_repair=rates.in_repair,
        spare_free=rates.spare_free,
        spares_needed=rates.spares_needed(),
        band_probabilities=bands,
    )
