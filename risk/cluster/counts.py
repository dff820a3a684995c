"""Numbers of slots by credit band, drawn exactly by inverting binomial laws."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

FEW = 20.0
"""Mean below which a count is looked for from zero; a choice of speed, not of result."""
NEGLIGIBLE = 1e-18
PLACES = 4096
"""Starts that are kept for each band; a choice of memory, not of result. [1]"""


@njit(cache=True)
def _start(number: int, p: float) -> tuple[int, float, float]:
    """Return a count near the middle, its probability, and that of no more than it."""
    if number * p < FEW and p <= 0.5:
        none = math.exp(number * math.log1p(-p))
        return 0, none, none
    count = min(int((number + 1) * p), number)
    mass = math.exp(
        math.lgamma(number + 1.0)
        - math.lgamma(count + 1.0)
        - math.lgamma(number - count + 1.0)
        + count * math.log(p)
        + (number - count) * math.log1p(-p)
    )
    total, part = mass, mass
    for j in range(count, 0, -1):
        part *= j * (1.0 - p) / ((number - j + 1) * p)
        total += part
        if part < NEGLIGIBLE:
            break
    return count, mass, total


@njit(cache=True)
def _walk(uniform: float, number: int, p: float, count: int, mass: float, total: float) -> int:
    """Return the smallest count whose distribution function reaches `uniform`, from a count with known values."""
    if uniform <= 0.0:  # the base case: rounding must not stop the walk down before it comes to none
        return 0
    while count > 0 and uniform <= total - mass:
        total -= mass
        mass *= count * (1.0 - p) / ((number - count + 1) * p)
        count -= 1
    while count < number and uniform > total:
        mass *= (number - count) * p / ((count + 1) * (1.0 - p))
        count += 1
        total += mass
        if mass < NEGLIGIBLE and count > number * p:
            break
    return count


@njit(cache=True)
def inverse_binomial(uniform: float, number: int, p: float) -> int:
    """Return the quantile of a binomial count of `number` with probability `p`. [1]"""
    if number <= 0 or p <= 0.0:
        return 0
    if p >= 1.0:
        return number
    count, mass, total = _start(number, p)
    return int(_walk(uniform, number, p, count, mass, total))


@njit(cache=True)
def slots_by_band(
    uniform: NDArray[np.float64],
    slots: int,
    survival: NDArray[np.float64],
    allowed: NDArray[np.int64],
    common: NDArray[np.int64],
    found: NDArray[np.float64],
) -> None:
    """Write into `found`, shape (draws, bands), how many slots have each band as their deepest.

    Parameters
    ----------
    uniform
        One number for each draw and band, shape (draws, bands).
    slots
        Like slots. [1]
    survival
        Probability that a slot's own minutes exceed 0, 1 ... in this month, shape (minutes,). [1]
    allowed
        Most minutes that do not reach each band, shape (bands,). [min]
    common
        Minutes that all slots have in common this month, shape (draws,). [min]

    Notes
    -----
    Nested: first the slots in any band, then among them those in a deeper one, and so on.
    """
    bands = len(allowed)
    # In most months nothing is common, and few numbers of slots inside a band occur: their starts are kept.
    places = min(slots + 1, PLACES)
    kept = np.full((bands, places), -1, dtype=np.int64)
    counts = np.empty((bands, places), dtype=np.int64)
    masses = np.empty((bands, places))
    totals = np.empty((bands, places))
    for draw in range(len(common)):
        inside, before = slots, 1.0
        for band in range(bands):
            left = allowed[band] - common[draw]
            p = survival[left] if left >= 0 else 1.0
            share = min(p / before, 1.0)
            if common[draw] == 0 and 0.0 < share < 1.0 and inside > 0:
                at = inside % places
                if kept[band, at] != inside:
                    kept[band, at] = inside
                    counts[band, at], masses[band, at], totals[band, at] = _start(inside, share)
                deeper = _walk(uniform[draw, band], inside, share, counts[band, at], masses[band, at], totals[band, at])
            else:
                deeper = inverse_binomial(uniform[draw, band], inside, share)
            if band > 0:
                found[draw, band - 1] = inside - deeper
            inside, before = deeper, p
            if deeper == 0:
                found[draw, band:] = 0.0
                break
        else:
            found[draw, bands - 1] = inside
