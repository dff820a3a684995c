"""Racks and scale-up domains: k of n like nodes, and the parts they share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations_with_replacement

from scipy.special import betainc

from risk.cluster.nodes import HOURS_PER_YEAR, NodeRates
from risk.core.data import Hardware
from risk.core.downtime import Lengths

MOST_MISSING = 5
"""Nodes down together beyond which the law of lengths is not built; a limit of the method."""


@dataclass(frozen=True, slots=True)
class DomainLaw:
    """A domain in the long run: how often it is down, and for how long."""

    unavailability: float
    """[1]"""
    per_hour: float
    """How often it goes down. [1/h]"""
    lengths: Lengths
    """[min]"""

    @property
    def per_minute_up(self) -> float:
        """Return how often it goes down per minute of time up; it must be up at times. [1/min]"""
        return self.per_hour / (1.0 - self.unavailability) / 60.0


def domain_law(rates: NodeRates, needed: int, nodes: int, data: Hardware | None) -> DomainLaw:
    """Return the law of a domain that is up while `needed` of its `nodes` and its shared parts are.

    Notes
    -----
    Nodes are independent, so the probability of too few and how often that begins are exact. Such an outage begins when
    one node fails while as many others are down as the domain can spare, and ends when the first of them is back: the
    failing node's own time, and for the others what is left of theirs, which in the long run has the density
    P(time > t) / mean. More failures meanwhile are counted by scaling to the exact mean. No spare from elsewhere can
    stand in for a node of the domain, so hardware failures last for the repair. Shared parts are in series.

    References
    ----------
    Cox, Renewal Theory, 1962 (the rest of an interval met at random).
    """
    own = rates.lengths(swaps=False)
    down = 1.0 - rates.availability(swaps=False)
    missing = nodes - needed + 1
    per_node = rates.interrupts_per_year / HOURS_PER_YEAR * (1.0 - down)
    too_few = float(betainc(missing, nodes - missing + 1, down))
    others = math.comb(nodes - 1, missing - 1) * down ** (missing - 1) * (1.0 - down) ** (nodes - missing)
    begins = nodes * others * per_node
    first = _first_back(own, missing - 1)
    scale = too_few / begins * 60.0 / first.mean if begins > 0 and first.mean > 0 else 1.0
    parts = [(begins, weight, mean * scale) for weight, mean in zip(first.weights, first.means, strict=True)]
    up, frequency = 1.0 - too_few, begins
    if nodes > 1 and data is not None:
        rate, hours = float(data.rack_interrupts_per_year) / HOURS_PER_YEAR, float(data.rack_repair_hours)
        shared_up = 1.0 / (1.0 + rate * hours)
        frequency = begins * shared_up + rate * shared_up * up
        parts = [(begins * shared_up, weight, mean) for _, weight, mean in parts]
        parts.append((rate * shared_up * up, 1.0, hours * 60.0))
        up *= shared_up
    total = sum(often * weight for often, weight, _ in parts)
    if total <= 0 or up >= 1.0:
        return DomainLaw(1.0 - up, 0.0, Lengths((1.0,), (1.0,)))
    mixed = sum(often * weight * mean for often, weight, mean in parts) / total
    exact = (1.0 - up) / frequency * 60.0  # shared parts and nodes may be down at the same time
    lengths = Lengths(
        tuple(mean * exact / mixed for _, _, mean in parts),
        tuple(often * weight / total for often, weight, _ in parts),
    )
    return DomainLaw(1.0 - up, frequency, lengths)


def _first_back(own: Lengths, others: int) -> Lengths:
    """Return the law of the least of one whole time and `others` rests of such times."""
    rest = [w * m / own.mean if own.mean > 0 else w for w, m in zip(own.weights, own.means, strict=True)]
    parts: dict[float, float] = {}
    for chosen in combinations_with_replacement(range(len(rest)), others):
        ways = math.factorial(others)
        for i in set(chosen):
            ways //= math.factorial(chosen.count(i))
        chance = ways * math.prod(rest[i] for i in chosen)
        for weight, mean in zip(own.weights, own.means, strict=True):
            if weight * chance <= 0:
                continue
            times = [mean, *(own.means[i] for i in chosen)]
            least = 0.0 if min(times) == 0 else 1.0 / sum(1.0 / time for time in times)
            parts[least] = parts.get(least, 0.0) + weight * chance
    return Lengths(tuple(parts), tuple(parts.values()))
