"""What equity gets back: distributions, and at the end reserve, trapped cash and the value left in the GPUs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from risk.finance.ratios import annual_return
from risk.finance.waterfall import Finances
from risk.result import Result
from risk.score.cover import survives

FloatArray = NDArray[np.float64]


def equity_return(finances: Finances, base: Result, result: Result) -> dict[str, Any]:
    """Return the return on equity of the base case, and of the flows expected over all draws.

    Notes
    -----
    The return of expected flows is not the mean of returns. A draw that has defaulted leaves nothing at the end.
    """
    equity = finances.sources.equity
    distributions = base.monthly["distribution"][0]
    residual = float(_value_left(finances, base)[0])
    accounts = float(_accounts(base)[0])
    flows = np.concatenate([[-equity], distributions])
    out: dict[str, Any] = {}
    out |= _return("base", flows, accounts + residual)
    out |= _return("base_without_terminal_value", flows, accounts)
    expected = result.mean_of_month("distribution")
    if expected is not None:
        at_end = float(((_accounts(result) + _value_left(finances, result)) * survives(result)).mean())
        out |= _return("of_expected_flows", np.concatenate([[-equity], expected[0]]), at_end)
        out["expected_distributions"] = float(expected[0].sum())
        out["expected_at_the_end"] = at_end
    out["distributions"] = float(distributions.sum())
    out["value_left_to_equity_at_the_end"] = residual
    return out


def _return(name: str, flows: FloatArray, at_end: float) -> dict[str, Any]:
    """Return one rate, or None with its reason."""
    whole = flows.copy()
    whole[-1] += at_end
    rate, reason = annual_return(whole)
    return {name: rate} | ({f"{name}_reason": reason} if reason else {})


def _accounts(result: Result) -> FloatArray:
    """Return what the reserve and the trapped account hold after the last month, shape (draws,). [currency]"""
    return np.asarray(result.column["reserve"] + result.column["trapped"], dtype=np.float64)


def _value_left(finances: Finances, result: Result) -> FloatArray:
    """Return the value of the GPUs above the debt at the end, 0 where it is prescribed, shape (draws,). [currency]"""
    values = result.monthly.get("gpu_value_total")
    if finances.residual is not None or values is None:
        return np.zeros(result.draws)
    balance = result.by_month("balance")
    if balance is not None:
        owed = balance[:, -1]
    else:
        owed = np.full(result.draws, float(finances.plan.closing[-1]) if finances.plan else 0.0)
    return np.asarray(np.maximum(values[:, -1] - owed, 0.0))
