"""Months that are bad by a prescribed chance, drawn, or enumerated exactly for a right of k bad months in m."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from risk.core.protocol import Paths, Phase, StepFunction
from schemas.errors import NotComputedError

STREAM = "outage:bad_month"
MOST_STATES = 200_000
"""Memories of past months that the enumeration follows; a limit of the method."""


@dataclass(slots=True)
class BadMonths:
    """Every month is bad with one probability, for the whole order at once, independently of all others."""

    probability: float
    """[1]"""
    tranches: int
    months: int
    streams: tuple[str, ...] = (STREAM,)

    def sample(self, rng: Mapping[str, Generator], draws: int) -> Paths:
        """Return `bad_month`, shape (draws, tranches, months)."""
        uniform = rng[STREAM].random((self.months, draws)).T  # by month, so that the horizon moves no draw
        bad = uniform < self.probability
        return {"bad_month": np.broadcast_to(bad[:, None, :], (draws, self.tranches, self.months))}

    def base(self) -> Paths:
        """Return a draw without a bad month."""
        return {"bad_month": np.zeros((1, self.tranches, self.months), dtype=np.bool_)}

    def steps(self) -> Mapping[Phase, StepFunction]:
        """Return nothing to do month by month."""
        return {}

    def ignores(self) -> tuple[str, ...]:
        """Return what the law leaves out."""
        return (
            f"Months are bad by a prescribed law, each with probability {self.probability:g} and independently of the "
            "others: outages, their lengths and their straddling of month ends are not simulated, and no credit is "
            "computed from them.",
        )


def enumerate_bad_months(
    probability: float | Decimal, k: int, m: int, months: int, first: int = 1
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return one path of bad months for each month in which a right of `k` in `m` is first used, and one for never.

    Parameters
    ----------
    probability
        That a month is bad. [1]
    k, m
        The right arises at the end of a bad month when at least `k` of the last `m` are bad; months before the first
        count as not bad.
    months
        Months followed. [month]
    first
        Month from which a right is used at once. A right that arises before it lapses and leaves the bad months behind
        it in the count; a later bad month may give a new one. [month]

    Returns
    -------
    paths
        Shape (nodes, months). All futures that share the month of their first use are one node, so the paths serve
        steps that depend on the bad months only through that month.
    weights
        Probability of each node, shape (nodes,). [1]

    Notes
    -----
    Exact: a chain on the bit mask of the last m - 1 months, absorbed when the right is used, in whole numbers.

    Raises
    ------
    NotComputedError
        When the masks to be followed are too many.

    Examples
    --------
    >>> paths, weights = enumerate_bad_months(0.05, 2, 6, 36)
    >>> round(float(weights[:-1].sum()), 14)  # golden deal GD-02
    0.27270275613486
    >>> paths, weights = enumerate_bad_months(0.05, 2, 6, 36, first=15)
    >>> round(float(weights[:-1].sum()), 13)  # golden deal GD-12
    0.1920695733867
    """
    if not 1 <= k <= m:
        raise ValueError(f"{k} bad months in {m}: expected 1 <= k <= m")
    if first < 1:
        raise ValueError(f"rights used from month {first}: expected at least 1")
    chance = Fraction(str(probability))
    bad, good, scale = chance.numerator, chance.denominator - chance.numerator, chance.denominator
    keep = (1 << (m - 1)) - 1
    chain: dict[int, int] = {0: 1}  # weight of each mask, times scale ** months passed
    weights: list[float] = []
    for month in range(1, months + 1):
        following: dict[int, int] = {}
        used = 0
        for mask, weight in chain.items():
            if month >= first and mask.bit_count() >= k - 1:
                used += weight * bad
            else:
                after = (mask << 1 | 1) & keep
                following[after] = following.get(after, 0) + weight * bad
            after = mask << 1 & keep
            following[after] = following.get(after, 0) + weight * good
        if len(following) > MOST_STATES:
            raise NotComputedError(
                "cancellation.chronic_failure",
                f"the exact law of {k} bad months in {m}",
                "use fewer months, or simulate",
            )
        chain = following
        weights.append(float(Fraction(used, scale**month)))
    weights.append(float(Fraction(sum(chain.values()), scale**months)))
    paths = np.zeros((months + 1, months), dtype=np.bool_)
    for month in range(k, months + 1):
        paths[month - 1, month - k : month] = True
    possible = np.arange(1, months + 2) >= min(max(k, first), months + 1)  # the last row is never
    return paths[possible], np.array(weights)[possible]
