"""The law of the minutes one unit is down in one window, when it fails at a constant rate and comes back."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schemas.errors import NotComputedError

FloatArray = NDArray[np.float64]

MOST_OUTAGES = 60.0
"""Greatest mean number of outages in a window for which the law is computed; a limit of the method."""
NEGLIGIBLE = 1e-16


@dataclass(frozen=True, slots=True)
class Lengths:
    """Law of the length of an outage: a mixture of exponentials, each added to the same fixed time."""

    means: tuple[float, ...]
    """Mean of each exponential part. [min]"""
    weights: tuple[float, ...]
    """Probability of each. [1]"""
    fixed: float = 0.0
    """Time that is always there, such as a restart. [min]"""

    @property
    def mean(self) -> float:
        """Return the mean length. [min]"""
        return self.fixed + sum(w * m for w, m in zip(self.weights, self.means, strict=True))

    def survival(self, minutes: FloatArray) -> FloatArray:
        """Return the probability that an outage lasts longer than `minutes`. [1]"""
        beyond = np.maximum(minutes - self.fixed, 0.0)
        total = np.zeros_like(beyond)
        for mean, weight in zip(self.means, self.weights, strict=True):
            total += weight * (np.exp(-beyond / mean) if mean > 0 else (beyond <= 0.0))
        return np.where(minutes < self.fixed, 1.0, total)


def whole_minutes(lengths: Lengths, most: int, *, rule: str = "nearest", minimum: int = 0) -> tuple[FloatArray, float]:
    """Return the mass of counted minutes 0, 1 ... `most`, and the mean of all counted minutes.

    Parameters
    ----------
    rule
        `floor`: the part of a minute is dropped; `ceil`: it counts as one; `nearest`: it is rounded.
    minimum
        Outages shorter than this count as nothing. [min]
    """
    shift = {"floor": 0.0, "nearest": -0.5, "ceil": -1.0}[rule]
    reach = max(most, minimum, math.ceil(lengths.fixed)) + 2
    edges = np.maximum(np.arange(reach + 1) + shift, float(minimum))
    survival = lengths.survival(edges)
    mass = survival[: most + 1] - survival[1 : most + 2]
    mass[0] += 1.0 - survival[0]
    # The mean is the sum over j >= 1 of P(counted >= j): beyond the lattice a geometric series for each part.
    beyond = reach + 1 + shift - lengths.fixed
    tail = sum(
        weight * math.exp(-beyond / mean) / -math.expm1(-1.0 / mean)
        for weight, mean in zip(lengths.weights, lengths.means, strict=True)
        if mean > 0
    )
    return mass, float(survival[1:].sum() + tail)


class DowntimeLaw:
    """Minutes down in a window of a unit that alternates between exponential up times and whole minutes down.

    Notes
    -----
    Stationary, so an outage under way at the start counts with its rest, and one over the end with its first part.
    With up times of rate r, n outages of total length G(n) and the rest R of an outage under way at the start,

        P(D <= x) = sum over n of Poisson(n; r (T - x)) (A P(G(n) <= x) + (1 - A) P(R + G(n) <= x)),

    where A is the long-run share of time up. Lattice of one minute; sums of lengths by fast Fourier transform.
    Ignores that parts of minutes are dropped again where an outage is cut at a month end.

    References
    ----------
    L. Takacs, On certain sojourn time problems in the theory of stochastic processes, 1957 (the law of the total
    time down in a window).
    """

    def __init__(
        self,
        up_mean: float,
        mass: FloatArray,
        mean_length: float,
        longest_window: int,
        *,
        by_start: bool = False,
        path: str = "outage law",
    ) -> None:
        """Prepare the law.

        Parameters
        ----------
        up_mean
            Mean up time between outages that count at all. [min]
        mass
            Probability of a length of 0, 1 ... minutes; what is not zero is scaled to outages that count.
        mean_length
            Mean of the counted minutes, those of zero included. [min]
        longest_window
            [min]
        by_start
            All minutes of an outage belong to the window in which it starts (or ends), none to another.
        path
            Where the rate of failures stands in the deal, for messages.
        """
        counted = 1.0 - float(mass[0])
        self.points = len(mass)
        self.by_start = by_start
        self.rate = counted / up_mean
        mean = mean_length / counted if counted > 0 else 0.0
        self.availability = 1.0 / (1.0 + self.rate * mean)
        expected = self.rate * longest_window
        if expected > MOST_OUTAGES:
            raise NotComputedError(
                path,
                f"{expected:.0f} outages expected in one window; the law of minutes of more than {MOST_OUTAGES:.0f}",
                "check the failure rates",
            )
        lengths = np.array(mass, dtype=np.float64)
        lengths[0] = 0.0
        if counted > 0:
            lengths /= counted
        rest = np.zeros_like(lengths)
        if mean > 0 and not by_start:
            rest = np.maximum(1.0 - np.cumsum(lengths), 0.0) / mean
        self._beyond = self._complements(lengths, rest, expected)

    def _complements(self, lengths: FloatArray, rest: FloatArray, expected: float) -> list[FloatArray]:
        """Return for n = 0, 1 ... the probability that n outages, and a rest at the start, exceed x."""
        size = 1 << (2 * self.points - 1).bit_length()
        transform = np.fft.rfft(lengths, size)
        up = 1.0 if self.by_start else self.availability
        down = 1.0 - up
        fresh, carried = np.zeros_like(lengths), rest
        fresh[0] = 1.0
        beyond = [down * (1.0 - np.cumsum(carried))]
        weight, n = math.exp(-expected), 0
        left = 1.0 - weight
        while left > NEGLIGIBLE and n < 20 + 3 * MOST_OUTAGES and self.rate > 0:
            n += 1
            fresh = np.fft.irfft(np.fft.rfft(fresh, size) * transform, size)[: self.points]
            carried = np.fft.irfft(np.fft.rfft(carried, size) * transform, size)[: self.points]
            within = up * np.cumsum(fresh) + down * np.cumsum(carried)
            beyond.append(np.clip(1.0 - within, 0.0, 1.0))
            weight *= expected / n
            left -= weight
            if n > expected and weight < NEGLIGIBLE:
                break
        return beyond

    def survival(self, window: int) -> FloatArray:
        """Return P(D > x) for x = 0, 1 ... minutes in a window of `window` minutes. [1]"""
        x = np.arange(self.points, dtype=np.float64)
        if self.by_start:  # outages start at the long-run rate
            exposure = np.full(self.points, self.rate * self.availability * window)
        else:
            exposure = self.rate * np.maximum(window - x, 0.0)
        weight = np.exp(-exposure)
        covered, total = weight.copy(), weight * self._beyond[0]
        for n, beyond in enumerate(self._beyond[1:], start=1):
            weight = weight * exposure / n
            covered += weight
            total += weight * beyond
        total += np.maximum(1.0 - covered, 0.0)
        ends = np.inf if self.by_start else window
        return np.where(x < ends, np.clip(total, 0.0, 1.0), 0.0)
