"""The one-number law of delay, with its closed forms."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from schemas.assumptions import DelayLaw

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Delay:
    """Delay of a tranche: nothing with probability 1 - `share_late`, otherwise lognormal. [month]

    Notes
    -----
    A tranche's normal score is sqrt(w) F + sqrt(1 - w) e with F shared by all tranches; U = Phi(score). The delay is 0
    for U <= 1 - p and median exp(sigma Phi^-1((U - 1 + p)/p)) above.
    """

    share_late: float
    median: float
    sigma: float
    shared_share: float

    @classmethod
    def of(cls, law: DelayLaw) -> Delay:
        """Return the law typed in a deal; who is late by nothing is not late."""
        share_late = float(law.share_late) if float(law.median) > 0 else 0.0
        return cls(share_late, float(law.median), float(law.sigma), float(law.shared_share))

    def of_scores(self, shared: FloatArray, own: FloatArray) -> FloatArray:
        """Return delays from standard normals, shapes (draws,) and (draws, tranches). [month]"""
        weight = self.shared_share
        score = np.sqrt(weight) * shared[:, None] + np.sqrt(1 - weight) * own
        if self.share_late == 0:
            return np.zeros_like(score)
        if self.share_late == 1:
            return np.asarray(self.median * np.exp(self.sigma * score))
        rank = (ndtr(score) - (1 - self.share_late)) / self.share_late
        late = rank > 0
        delay: FloatArray = np.zeros_like(score)
        # 1 - 2^-53 keeps the largest score finite
        delay[late] = self.median * np.exp(self.sigma * ndtri(np.clip(rank[late], 1e-300, 1 - 2.0**-53)))
        return delay

    def probability_over(self, months: float) -> float:
        """Return the probability of a delay longer than `months`. [1]"""
        if months < 0:
            return 1.0
        if self.share_late == 0:
            return 0.0
        if months == 0 or self.sigma == 0:
            return self.share_late * float(months == 0 or self.median > months)
        return self.share_late * float(ndtr(-np.log(months / self.median) / self.sigma))

    def quantile(self, probability: float) -> float:
        """Return the delay not exceeded with `probability`. [month]"""
        rank = (probability - (1 - self.share_late)) / self.share_late if self.share_late else -1.0
        return self.median * float(np.exp(self.sigma * ndtri(rank))) if rank > 0 else 0.0

    def limited_mean(self, months: float) -> float:
        """Return E[min(delay, months)], the limited expected value of the lognormal. [month]

        References
        ----------
        Klugman, Panjer and Willmot, Loss Models, 4th ed. 2012, appendix A, lognormal distribution.
        """
        if months <= 0 or self.share_late == 0:
            return 0.0
        if self.sigma == 0:
            return self.share_late * min(self.median, months)
        z = np.log(months / self.median) / self.sigma
        mean_below = self.median * np.exp(self.sigma**2 / 2) * ndtr(z - self.sigma)
        return self.share_late * float(mean_below + months * ndtr(-z))

    def quadrature(self, breaks: tuple[float, ...], points: int = 48) -> tuple[FloatArray, FloatArray]:
        """Return delays and weights that integrate a function smooth between `breaks`. [month], [1]

        Gauss-Legendre in the normal score on each piece, so a kink or a jump at a break costs nothing. The piece of
        no delay is one node.

        Parameters
        ----------
        breaks : delays at which the integrand bends or jumps. [month]
        points : nodes of one piece. [1]
        """
        edges = sorted({b for b in breaks if b > 0})
        scores = np.array([-9.0, *(np.log(b / self.median) / self.sigma for b in edges), 9.0])
        scores = np.unique(np.clip(scores, -9.0, 9.0))
        x, w = np.polynomial.legendre.leggauss(points)
        nodes, weights = [], []
        for low, high in pairwise(scores):
            middle, half = (low + high) / 2, (high - low) / 2
            z = middle + half * x
            nodes.append(z)
            weights.append(half * w * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi))
        delay = self.median * np.exp(self.sigma * np.concatenate(nodes))
        weight = np.concatenate(weights)
        weight *= self.share_late / weight.sum()
        if self.share_late < 1:
            return np.append(delay, 0.0), np.append(weight, 1 - self.share_late)
        return delay, weight
