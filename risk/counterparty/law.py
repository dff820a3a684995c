"""Closed forms of default: one party by its hazard, two parties through a Gaussian copula."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr, ndtri, owens_t

FloatArray = NDArray[np.float64]


def default_probability(cumulated_hazard: ArrayLike) -> FloatArray:
    """Return the probability of default by the time the hazard has cumulated: 1 - exp(-H), any shape. [1]"""
    return np.asarray(-np.expm1(-np.asarray(cumulated_hazard, dtype=float)))


def hazard_at_default(score: ArrayLike) -> FloatArray:
    """Return the cumulated hazard at which a party of a normal score defaults, any shape. [1]

    Notes
    -----
    The party has defaulted when Phi(score) <= 1 - exp(-H), so when H >= -ln(1 - Phi(score)); written with the
    logarithm of the other tail, which keeps its digits. A score of infinity never defaults.
    """
    return np.asarray(-log_ndtr(-np.asarray(score, dtype=float)))


def joint_default_probability(first: ArrayLike, second: ArrayLike, correlation: float) -> FloatArray:
    """Return the probability that two parties have both defaulted, shapes broadcast. [1]

    Parameters
    ----------
    first, second : probability that each has defaulted. [1]
    correlation : of their normal scores, -1 to 1. [1]

    Notes
    -----
    The bivariate normal distribution Phi2(h, k; rho) with h = Phi^-1(first) and k = Phi^-1(second), by Owen's
    function: (first + second)/2 - T(h, (k - rho h)/(h s)) - T(k, (h - rho k)/(k s)) - d, where s = sqrt(1 - rho^2) and
    d is 1/2 if h k < 0, or h k = 0 and h + k < 0, and 0 otherwise. Absolute error about 1e-16.

    References
    ----------
    D. B. Owen, Tables for computing bivariate normal probabilities, Annals of Mathematical Statistics 27 (1956).

    Examples
    --------
    >>> float(joint_default_probability(0.5, 0.5, 0.5).round(12))
    0.333333333333
    >>> float(joint_default_probability(0.2, 0.3, 0.0).round(12))
    0.06
    """
    p, q = np.broadcast_arrays(np.asarray(first, dtype=float), np.asarray(second, dtype=float))
    low, high = np.maximum(p + q - 1.0, 0.0), np.minimum(p, q)
    if correlation >= 1.0:
        return np.asarray(high)
    if correlation <= -1.0:
        return np.asarray(low)
    joint = np.where(p >= 1.0, q, np.where(q >= 1.0, p, 0.0))
    inside = (p > 0.0) & (p < 1.0) & (q > 0.0) & (q < 1.0)
    joint[inside] = _bivariate_normal(p[inside], q[inside], correlation)
    return np.asarray(np.clip(joint, low, high))


def joint_default_law(
    first_rate: float, second_rate: float, correlation: float, months: int
) -> tuple[NDArray[np.int64], FloatArray]:
    """Return the months in which two parties of constant hazards may default, and the joint law of them.

    The months are 1..M and then 0 for a default later or never, shape (months + 1,). The law has a row for the first
    party's month and a column for the second's, shape (months + 1, months + 1). [1]

    Parameters
    ----------
    first_rate, second_rate : constant hazards. [1/year]
    """
    month = np.arange(months + 1)
    by = [np.append(default_probability(rate / 12 * month), 1.0) for rate in (first_rate, second_rate)]
    cumulated = joint_default_probability(by[0][:, None], by[1], correlation)
    law = np.maximum(np.diff(np.diff(cumulated, axis=0), axis=1), 0.0)
    return np.append(month[1:], 0), law


def _bivariate_normal(p: FloatArray, q: FloatArray, correlation: float) -> FloatArray:
    """Return Phi2(Phi^-1(p), Phi^-1(q); correlation) for probabilities and a correlation inside their ranges."""
    h, k = ndtri(p), ndtri(q)
    s = np.sqrt((1.0 - correlation) * (1.0 + correlation))
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = (k - correlation * h) / (h * s), (h - correlation * k) / (k * s)
    apart = np.where((h * k < 0.0) | ((h * k == 0.0) & (h + k < 0.0)), 0.5, 0.0)
    middle = (h == 0.0) & (k == 0.0)
    general = (p + q) / 2 - owens_t(h, np.where(middle, 0.0, a)) - owens_t(k, np.where(middle, 0.0, b)) - apart
    return np.asarray(np.where(middle, 0.25 + np.arcsin(correlation) / (2 * np.pi), general))
