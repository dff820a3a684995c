"""Means with their standard errors, and what to say where a quantity is undefined."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
FEW_DEFAULTS = 30
"""Below this many defaults a loss given default is flagged."""
DRAWS_PAST_A_QUANTILE = 10
"""A quantile with fewer draws beyond it is undefined."""


def mean(values: NDArray[Any]) -> tuple[float, float]:
    """Return the mean over at least two draws and its standard error, sd/sqrt(N)."""
    numbers = np.asarray(values, dtype=np.float64)
    return float(numbers.mean()), float(numbers.std(ddof=1) / np.sqrt(len(numbers)))


def probability(name: str, happens: NDArray[np.bool_]) -> dict[str, Any]:
    """Return `name` and its standard error; with no event 0, no error, and the 95% upper bound 3/N, at most 1."""
    share, error = mean(happens)
    if share == 0:
        return {
            name: 0.0,
            f"{name}_standard_error": None,
            f"{name}_standard_error_reason": "no_event",
            f"{name}_upper_95": min(3.0 / len(happens), 1.0),
        }
    return {name: share, f"{name}_standard_error": error}


def estimate(name: str, values: NDArray[Any]) -> dict[str, Any]:
    """Return `name` and its standard error."""
    value, error = mean(values)
    return {name: value, f"{name}_standard_error": error}


def ratio_of_means(top: FloatArray, bottom: FloatArray) -> tuple[float, float]:
    """Return mean(top)/mean(bottom) and its standard error by the delta method."""
    whole = float(bottom.mean())
    ratio = float(top.mean()) / whole
    error = float((top - ratio * bottom).std(ddof=1) / (np.sqrt(len(top)) * whole))
    return ratio, error


def quantile(values: FloatArray, level: float) -> float | None:
    """Return the quantile, or None where fewer than ten draws lie beyond it."""
    count = len(values)
    if count * min(level, 1 - level) < DRAWS_PAST_A_QUANTILE:
        return None
    return float(np.quantile(values, level))
