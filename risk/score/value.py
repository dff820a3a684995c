"""What the GPUs are worth, against the debt, on each basis of value."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from risk.core.statistics import probability
from risk.finance.waterfall import Finances
from risk.result import Result
from risk.score.cover import TOO_FEW, alive_before, quantiles

FloatArray = NDArray[np.float64]
BASES = (("market", "gpu_value_total"), ("floor", "gpu_floor_value_total"), ("book", "gpu_book_value_total"))
QUANTILES = (("p5", 0.05), ("p50", 0.5), ("p95", 0.95))
REPAID = 0.005
"""A balance up to this is none. [currency]"""
WORTHLESS = "the value is 0 while a loan is outstanding"
NO_RATIO = f"none where {WORTHLESS} or no loan is outstanding"


def residual_value(finances: object, base: Result, result: Result) -> dict[str, Any] | None:
    """Return the value of all GPUs by month and the loan against it, None where the deal has no law of value."""
    if "gpu_value_total" not in result.monthly:
        return None
    values = result.monthly["gpu_value_total"]
    of_month = [quantiles(values[:, m], [level for _, level in QUANTILES]) for m in range(result.months)]
    by_month: dict[str, Any] = {"months": list(range(1, result.months + 1))}
    by_month |= {name: [found[i] for found in of_month] for i, (name, _) in enumerate(QUANTILES)}
    if any(None in found for found in of_month):
        by_month["reason"] = TOO_FEW
    base_value = base.monthly["gpu_value_total"][0]
    out: dict[str, Any] = {"value_by_month": by_month, "base": base_value.tolist()}
    if isinstance(finances, Finances) and finances.plan is not None:
        balance = _balance(finances, base)[0]
        out["balance"] = balance.tolist()
        found = {}
        for name, array in BASES:
            of_base, drawn = base.by_month(array), result.by_month(array)
            if of_base is not None and drawn is not None:
                found[name] = _loan_to_value(balance, of_base[0], _balance(finances, result), drawn, result)
        out["loan_to_value"] = {
            "base": found["market"]["base"],
            "base_reason": NO_RATIO,
            **found,
        }
    return out


def _balance(finances: Finances, result: Result) -> FloatArray:
    """Return the loan outstanding after each month, shape (draws, months). [currency]"""
    found = result.by_month("balance")
    if found is not None:
        return found
    assert finances.plan is not None
    return np.broadcast_to(finances.plan.closing, (result.draws, result.months))


def _loan_to_value(
    balance: FloatArray, value: FloatArray, balances: FloatArray, values: FloatArray, result: Result
) -> dict[str, Any]:
    """Return loan to value on one basis: of the base case by month, and its peak over draws.

    The peak of a draw is over the months up to its default in which a loan is outstanding. It is found as the least
    value over loan, which is 0 where the value is, and never infinite.
    """
    ratios = [_ratio(owed, worth) for owed, worth in zip(balance, value, strict=True)]
    out: dict[str, Any] = {"base": ratios, "base_reason": NO_RATIO}
    owes = np.flatnonzero(balance > REPAID)
    if not len(owes):
        return out | {"base_peak": None, "base_peak_reason": "no loan is outstanding"}
    peak = int(owes[np.argmin(value[owes] / balance[owes])])
    out |= {"base_peak": ratios[peak], "base_peak_month": peak + 1}
    if ratios[peak] is None:
        out["base_peak_reason"] = WORTHLESS
    counted = (balances > REPAID) & alive_before(result)
    cover = np.divide(values, balances, out=np.full(values.shape, np.inf), where=counted).min(axis=1)
    out |= probability("probability_above_1", cover < 1)
    for name, least in zip(("peak_p50", "peak_p95"), quantiles(cover, (0.5, 0.05)), strict=True):
        out[name] = 1 / least if least is not None and 0 < least < np.inf else None
        if out[name] is None:
            out[f"{name}_reason"] = TOO_FEW if least is None else WORTHLESS if least == 0 else "no loan is outstanding"
    return out


def _ratio(balance: float, value: float) -> float | None:
    return float(balance / value) if value > 0 and balance > REPAID else None
