"""Cover of debt service: the fan over draws, the look-back over twelve months, covenants and tests of one date."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from risk.core.statistics import DRAWS_PAST_A_QUANTILE, estimate, mean, probability
from risk.finance.covenants import ROUNDING
from risk.finance.ratios import dscr
from risk.finance.waterfall import Finances
from risk.result import Result
from risk.score.incidence import incidence

FloatArray = NDArray[np.float64]
FAN = (("p5", 0.05), ("p25", 0.25), ("p50", 0.5), ("p75", 0.75), ("p95", 0.95))
YEAR = 12
"""[month]"""
POPULATION = "draws without a default before the month"
TOO_FEW = "too_few_draws"
REPAID_SOONER = "the base case repays the loan sooner, so fewer than twelve months of debt service lie behind"


def cover(finances: Finances, base: Result, result: Result) -> dict[str, Any]:
    """Return cover by month, over draws with no default before the month, and in the base case."""
    service = _service(finances, result)
    due = np.flatnonzero(finances.service > 0)
    base_cover = dscr(base.monthly["cfads"][0], _service(finances, base)[0])
    counted = due[~np.isnan(base_cover[due])]
    out: dict[str, Any] = {}
    if len(counted):
        lowest = int(counted[np.argmin(base_cover[counted])])
        out |= {
            "base_minimum": float(base_cover[lowest]),
            "base_minimum_month": lowest + 1,
            "base_average": float(base_cover[counted].mean()),
        }
    covenant = finances.terms.covenants.minimum_dscr
    out["covenant"] = float(covenant) if covenant is not None else None
    if covenant is None:
        out["covenant_reason"] = "finance.covenants.minimum_dscr is not given"
    alive = alive_before(result)
    drawn = dscr(result.monthly["cfads"], service)
    out["fan"] = {"months": [int(m) + 1 for m in due]} | _fan(drawn, alive, due)
    out["fan_population"] = POPULATION
    anniversaries = [int(m) for m in due if m > due[0] and (m - due[0]) % YEAR == 0]
    out["monthly"] = [_month(drawn[:, m], alive[:, m], m + 1) for m in anniversaries]
    out["dscr_12"] = _look_back(finances, base, result, alive, due)
    if covenant is not None and "look_back_cover" in result.monthly:
        months = finances.terms.lock_up.look_back_months if finances.terms.lock_up else 1
        back = result.monthly["look_back_cover"]
        below = ((back < float(covenant) - ROUNDING) & alive & (service > 0)).any(axis=1) | ~survives(result)
        out |= probability("probability_below_covenant", below)
        out["covenant_look_back_months"] = months
    out["tests"] = {
        name: _cover_test(finances, test.months, test.at_month, base, result)
        for name, test in finances.terms.tests.items()
    }
    return out


def covenants(result: Result) -> dict[str, Any] | None:
    """Return how often each covenant is first breached by each month, None where finance looks at none."""
    start = "breach_month:"
    months = {name.removeprefix(start): column for name, column in result.column.items() if name.startswith(start)}
    if not months:
        return None
    return {
        name: probability("probability", month > 0) | incidence("by_month", month.astype(np.int64), result.months)
        for name, month in months.items()
    }


def alive_before(result: Result) -> NDArray[np.bool_]:
    """Return whether each draw has no default before each month, shape (draws, months)."""
    defaulted = _default_month(result)[:, None]
    return np.asarray((defaulted == 0) | (np.arange(1, result.months + 1) <= defaulted))


def survives(result: Result) -> NDArray[np.bool_]:
    """Return whether each draw never defaults, shape (draws,)."""
    return np.asarray(_default_month(result) == 0)


def _default_month(result: Result) -> NDArray[np.int64]:
    return result.column.get("default_month", np.zeros(result.draws, dtype=np.int64)).astype(np.int64)


def _service(finances: Finances, result: Result) -> FloatArray:
    """Return scheduled debt service, shape (draws, months), or (1, months) where all draws agree. [currency]"""
    if "debt_service" in result.monthly:
        return result.monthly["debt_service"]
    return np.asarray(result.shared.get("debt_service", finances.service))[None, :]


def quantiles(values: FloatArray, levels: Sequence[float]) -> list[float | None]:
    """Return quantiles in one pass, each None where too few draws lie beyond it."""
    defined = [level for level in levels if len(values) * min(level, 1 - level) >= DRAWS_PAST_A_QUANTILE]
    found = dict(zip(defined, np.quantile(values, defined), strict=True)) if defined else {}
    return [float(found[level]) if level in found else None for level in levels]


def _fan(drawn: FloatArray, alive: NDArray[np.bool_], months: Sequence[int] | NDArray[np.int64]) -> dict[str, Any]:
    """Return quantiles by month over the draws that are counted, and their number."""
    fan: dict[str, Any] = {"draws": []} | {name: [] for name, _ in FAN}
    for m in months:
        values = drawn[alive[:, m], m]
        values = values[~np.isnan(values)]
        fan["draws"].append(len(values))
        for (name, _), value in zip(FAN, quantiles(values, [level for _, level in FAN]), strict=True):
            fan[name].append(value)
    if any(None in fan[name] for name, _ in FAN):
        fan["reason"] = TOO_FEW
    return fan


def _month(drawn: FloatArray, alive: NDArray[np.bool_], month: int) -> dict[str, Any]:
    """Return cover of one month given no earlier default."""
    values = drawn[alive]
    values = values[~np.isnan(values)]
    out: dict[str, Any] = {"month": month, "draws": len(values)}
    out["mean"], out["mean_standard_error"] = mean(values) if len(values) > 1 else (None, None)
    out["p5"], out["p50"] = quantiles(values, (0.05, 0.5))
    if out["mean"] is None or out["p5"] is None or out["p50"] is None:
        out["reason"] = TOO_FEW
    return out


def _look_back(
    finances: Finances, base: Result, result: Result, alive: NDArray[np.bool_], due: NDArray[np.int64]
) -> dict[str, Any]:
    """Return cover over the last twelve months, in months with twelve months of debt service behind them."""
    service = np.asarray(finances.service)
    months = [int(m) for m in due if m >= YEAR - 1 and (service[m - YEAR + 1 : m + 1] > 0).all()]
    if not months:
        reason = "fewer than twelve months of debt service"
        return {"base_minimum": None, "base_minimum_reason": reason, "months": []}
    of_base = _over_a_year(base.monthly["cfads"], _service(finances, base))[0]
    known = [None if np.isnan(of_base[m]) else float(of_base[m]) for m in months]
    out: dict[str, Any] = {"months": [m + 1 for m in months], "base": known}
    out["base_by_loan_year"] = [one for one, m in zip(known, months, strict=True) if (m - months[0]) % YEAR == 0]
    counted = [(one, m + 1) for one, m in zip(known, months, strict=True) if one is not None]
    if counted:
        out["base_minimum"], out["base_minimum_month"] = min(counted)
    else:
        out |= {"base_minimum": None, "base_minimum_reason": REPAID_SOONER}
    if None in known:
        out |= {"base_reason": REPAID_SOONER, "base_by_loan_year_reason": REPAID_SOONER}
    drawn = _over_a_year(result.monthly["cfads"], _service(finances, result))
    return out | _fan(drawn, alive, months)


def _over_a_year(cash: FloatArray, service: FloatArray) -> FloatArray:
    """Return cash over debt service of each month and the eleven before it, same shape. [1]

    It is nan where no debt service is due in one of the twelve, as in a draw whose loan is repaid sooner than planned.
    """

    def sums(series: FloatArray) -> FloatArray:
        total = np.cumsum(series.T, axis=0, out=np.empty(series.shape[::-1])).T  # months lie first in memory
        total[:, YEAR:] -= total[:, :-YEAR].copy()
        return total

    whole = sums((np.asarray(service) > 0).astype(float)) == YEAR
    return dscr(sums(cash), sums(np.asarray(service, dtype=float)) * whole)


def _cover_test(finances: Finances, months: int, at: int, base: Result, result: Result) -> dict[str, Any]:
    window = slice(at - months, at)
    due = float(finances.service[window].sum())
    if due == 0:
        return {"base": None, "base_reason": "no debt service in the months of the test"}
    ratios = result.monthly["cfads"][:, window].sum(axis=1) / due
    return {
        "months": months,
        "at_month": at,
        "base": float(base.monthly["cfads"][0, window].sum()) / due,
        **estimate("mean", ratios),
        **probability("probability_below_1", ratios < 1),
        **probability("probability_below_1_15", ratios < 1.15),
    }
