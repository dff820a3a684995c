"""Blocks of like components reduced to one: the chance of being down, and how often that begins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, gammaln, xlog1py, xlogy

from risk.core.data import Component, component
from schemas.sources import Sourced
from schemas.topology import ComponentBlock

HOURS_PER_YEAR = 8760.0
"""Rates a year are turned into rates an hour at this length. [h]"""


@dataclass(frozen=True, slots=True)
class BlockLaw:
    """One block in the long run, seen from outside."""

    name: str
    block: ComponentBlock
    title: str
    """Type of component in words."""
    failures_per_year: Sourced
    repair_hours: Sourced
    order: int
    """Components that must be down for the block to be down. [1]"""
    down: float
    """Probability that the block is down. [1]"""
    per_hour: float
    """How often it goes down. [1/h]"""


def block_law(name: str, block: ComponentBlock) -> BlockLaw:
    """Return the law of a block of independent components, at least `needed` of which must work.

    Notes
    -----
    One component is up for an exponential time of rate r = `failures_per_year` / 8760 and down for a mean time m, each
    with its own repairer, and fails only while up: it is down with probability q = r m / (1 + r m).

    References
    ----------
    Billinton and Allan, Reliability Evaluation of Engineering Systems, 2nd edition 1992, chapters 9 and 11.

    Examples
    --------
    >>> law = block_law("pumps", ComponentBlock(component="pump_chilled_water", count=2, needed=1))
    >>> f"{law.down:.3g}", law.order
    ('3.27e-10', 2)
    """
    data: Component = component(block.component)
    failures = block.failures_per_year or data.failures_per_year
    repair = block.repair_hours or data.repair_hours
    rate, mean = float(failures) / HOURS_PER_YEAR, float(repair)
    down = rate * mean / (1.0 + rate * mean)
    count = block.count
    order = count - (count if block.needed is None else block.needed) + 1
    return BlockLaw(
        name=name,
        block=block,
        title=data.title,
        failures_per_year=failures,
        repair_hours=repair,
        order=order,
        down=at_least_down(order, count, down),
        per_hour=count * float(exactly_down(order - 1, count - 1, down)) * rate * (1.0 - down),
    )


def at_least_down(least: int, count: int, down: float) -> float:
    """Return the probability that at least `least` of `count` independent units are down. [1]"""
    if least <= 0:
        return 1.0
    if least > count:
        return 0.0
    return float(betainc(least, count - least + 1, down))


def exactly_down(number: ArrayLike, count: int, down: float) -> NDArray[np.float64]:
    """Return the probability that exactly `number` of `count` independent units are down. [1]"""
    n = np.asarray(number, dtype=np.float64)
    inside = (n >= 0) & (n <= count)
    k = np.where(inside, n, 0.0)
    logs = gammaln(count + 1.0) - gammaln(k + 1.0) - gammaln(count - k + 1.0)
    mass = np.exp(logs + xlogy(k, down) + xlog1py(count - k, -down))
    return np.where(inside, mass, 0.0)
