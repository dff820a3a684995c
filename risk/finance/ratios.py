"""Cover ratios and returns of a cash-flow path."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
LOWEST_RATE, HIGHEST_RATE = -0.99, 100.0
"""Annual rates between which a return is looked for. [1/year]"""
HALVINGS = 60
"""Of an interval that holds one root: what is left of it is below the precision of a double."""


def dscr(cfads: FloatArray, service: FloatArray) -> FloatArray:
    """Return after-tax cash flow over scheduled debt service, nan where none is due, shape as the inputs. [1]"""
    out = np.full_like(cfads, np.nan, dtype=np.float64)  # laid out in memory as the cash is
    return np.asarray(np.divide(cfads, service, out=out, where=np.asarray(service) > 0))


def life_cover_ratio(cfads: FloatArray, monthly_rate: float, balance: float) -> float | None:
    """Return the present value of the coming months' cash over the balance, None without a balance. [1]

    Parameters
    ----------
    cfads : cash flow available for debt service of the months after the date. [currency]
    monthly_rate : rate of the loan. [1/month]
    balance : loan outstanding at the date. [currency]
    """
    if balance <= 0:
        return None
    return float(cfads @ (1 + monthly_rate) ** -np.arange(1.0, len(cfads) + 1)) / balance


def annual_return(flows: FloatArray) -> tuple[float | None, str | None]:
    """Return the annual effective return of monthly flows, or None and why it is undefined. [1/year]

    All roots of the present value between -99% and 10,000% a year are looked for: none, or several, is undefined.
    """
    if np.all(flows >= 0) or np.all(flows <= 0):
        return None, "no_sign_change"
    months = np.arange(len(flows), dtype=float)
    scale = float(np.abs(flows).max())

    def present_value(rates: FloatArray) -> FloatArray:
        return np.asarray((1 + rates[:, None]) ** -months @ (flows / scale))

    low, high = (1 + LOWEST_RATE) ** (1 / 12) - 1, (1 + HIGHEST_RATE) ** (1 / 12) - 1
    grid = np.linspace(low, high, 4001)
    values = present_value(grid)
    turns = np.flatnonzero(np.sign(values[:-1]) * np.sign(values[1:]) < 0)
    if len(turns) != 1:
        return None, "several_roots" if len(turns) else "no_sign_change"
    low, high = grid[turns[0]], grid[turns[0] + 1]
    rises = values[turns[0]] < 0
    for _ in range(HALVINGS):  # a library's root finder takes longer to import than the whole search
        middle = (low + high) / 2
        below = (present_value(np.array([middle]))[0] < 0) == rises
        low, high = (middle, high) if below else (low, middle)
    return float((1 + (low + high) / 2) ** 12 - 1), None
