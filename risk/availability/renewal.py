"""Outages drawn as an alternating renewal process: up, down, up, down, for many draws at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from risk.core.downtime import Lengths

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
NUMBERS_A_ROUND = 3
"""Uniforms drawn for each draw in each round, needed or not."""


class RenewalLaw(Protocol):
    """Lengths of up times and outages, by inverse distribution function."""

    def mean_cycle_within(self, hours: float) -> float:
        """Return the mean of an up time and the outage after it, of each no more than `hours`. [h]

        What lies beyond the horizon makes no room for other outages, and may be all of the mean of a long tail.
        """
        ...

    def up(self, choice: FloatArray, uniform: FloatArray) -> FloatArray:
        """Return up times. [h]"""
        ...

    def down(self, choice: FloatArray, uniform: FloatArray) -> FloatArray:
        """Return lengths of outages. [h]"""
        ...


@dataclass(frozen=True, slots=True)
class GraphLaw:
    """What the graph of a site says: exponential up times, and one exponential for each form of cut set."""

    mean_up_hours: float
    """[h]"""
    lengths: Lengths
    """Restart included. [min]"""

    def mean_cycle_within(self, hours: float) -> float:
        """Return the mean of an up time and the outage after it, of each no more than `hours`. [h]"""
        fixed = min(self.lengths.fixed / 60.0, hours)
        parts = zip(self.lengths.means, self.lengths.weights, strict=True)
        down = fixed + sum(weight * _exponential_within(mean / 60.0, hours - fixed) for mean, weight in parts)
        return _exponential_within(self.mean_up_hours, hours) + down

    def up(self, choice: FloatArray, uniform: FloatArray) -> FloatArray:
        """Return up times. [h]"""
        return -self.mean_up_hours * np.log1p(-uniform)

    def down(self, choice: FloatArray, uniform: FloatArray) -> FloatArray:
        """Return lengths of outages, restart included. [h]"""
        edges = np.cumsum(self.lengths.weights)[:-1]
        means = np.array(self.lengths.means)[np.searchsorted(edges, choice, side="right")]
        return (self.lengths.fixed - means * np.log1p(-uniform)) / 60.0


@dataclass(frozen=True, slots=True)
class RepeatLaw:
    """A typed law: an outage is followed by a repeat, soon, with some probability; lengths are lognormal."""

    up_mean_hours: float
    """Mean up time where no repeat follows. [h]"""
    repeat_share: float
    """Probability that an up time is that before a repeat. [1]"""
    repeat_mean_hours: float
    """[h]"""
    median_hours: float
    """[h]"""
    sigma: float
    """[1]"""

    def mean_cycle_within(self, hours: float) -> float:
        """Return the mean of an up time and the outage after it, of each no more than `hours`. [h]

        References
        ----------
        Klugman, Panjer and Willmot, Loss Models, 4th ed. 2012, appendix A (limited expected values of the lognormal and
        the exponential).
        """
        up = (1.0 - self.repeat_share) * _exponential_within(self.up_mean_hours, hours)
        up += self.repeat_share * _exponential_within(self.repeat_mean_hours, hours)
        if self.median_hours == 0 or self.sigma == 0:
            return up + min(self.median_hours, hours)
        score = np.log(hours / self.median_hours) / self.sigma
        shorter = self.median_hours * np.exp(self.sigma**2 / 2) * ndtr(score - self.sigma)
        return up + float(shorter + hours * ndtr(-score))

    def up(self, choice: FloatArray, uniform: FloatArray) -> FloatArray:
        """Return up times. [h]"""
        mean = np.where(choice < self.repeat_share, self.repeat_mean_hours, self.up_mean_hours)
        return -mean * np.log1p(-uniform)

    def down(self, choice: FloatArray, uniform: FloatArray) -> FloatArray:
        """Return lengths of outages. [h]"""
        return self.median_hours * np.exp(self.sigma * ndtri(uniform))


def _exponential_within(mean: float, hours: float) -> float:
    """Return E[min(X, hours)] of an exponential time. [h]"""
    return mean * -float(np.expm1(-hours / mean)) if mean > 0 else 0.0


def draw_outages(law: RenewalLaw, rng: Generator, draws: int, horizon_s: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return the draw, start and end of every outage that starts before the horizon, sorted by draw and start.

    Up at close, so the first up time is like any other. Times are whole seconds from close; an outage is at most as
    long as the horizon. [s]

    Notes
    -----
    Rounds draw `NUMBERS_A_ROUND` uniforms for every draw, whether its horizon is reached or not: a parameter that
    changes moves each draw by itself and leaves the others alone. The same number chooses the kind of up time and,
    where lengths are a mixture, another the kind of outage.
    """
    time = np.zeros(draws)
    horizon = horizon_s / 3600.0
    found: list[tuple[IntArray, IntArray, IntArray, IntArray]] = []
    count = np.zeros(draws, dtype=np.int64)
    open_draws = np.arange(draws, dtype=np.int64)
    while len(open_draws):
        choice, first, second = rng.random((NUMBERS_A_ROUND, draws))[:, open_draws]
        start = time[open_draws] + law.up(choice, first)
        end = start + law.down(choice, second)
        time[open_draws] = end
        start_s = np.rint(np.minimum(start, horizon) * 3600.0).astype(np.int64)
        end_s = np.rint(np.minimum(end, start + horizon) * 3600.0).astype(np.int64)
        kept = (start < horizon) & (end_s > start_s)
        of = open_draws[kept]
        found.append((of, count[of], start_s[kept], end_s[kept]))
        count[of] += 1
        open_draws = open_draws[end < horizon]
    before = np.cumsum(count) - count  # outages of earlier draws; rounds fill each draw in the order of time
    draw, number, start_s, end_s = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.empty(len(draw), dtype=np.int64)
    order[before[draw] + number] = np.arange(len(draw))
    return draw[order], start_s[order], end_s[order]
