"""Probabilities that add up over the months, with their standard errors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def by_month(month: NDArray[np.int64], months: int) -> list[float]:
    """Return the share of draws in which something has happened by each month, shape (months,). [1]

    Parameters
    ----------
    month : month in which it happens, 0 for never, shape (draws,). [month]
    """
    counts = np.bincount(month, minlength=months + 1)[1 : months + 1]
    shares: list[float] = (np.cumsum(counts) / len(month)).tolist()
    return shares


def standard_errors(shares: list[float], draws: int) -> list[float | None]:
    """Return the standard error of each share of draws, None where it is 0 and nothing was seen. [1]"""
    return [float(np.sqrt(share * (1 - share) / (draws - 1))) if share > 0 else None for share in shares]


def incidence(name: str, month: NDArray[np.int64], months: int) -> dict[str, Any]:
    """Return cumulative probabilities by month under `name`, with their standard errors."""
    shares = by_month(month, months)
    errors = standard_errors(shares, len(month))
    out: dict[str, Any] = {name: shares, f"{name}_standard_errors": errors}
    return out | ({f"{name}_standard_errors_reason": "no_event"} if None in errors else {})
