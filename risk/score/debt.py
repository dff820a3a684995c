"""What happens to the loan: default and loss by cause and by month, life cover, and the base case by month."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from risk.core.statistics import FEW_DEFAULTS, estimate, mean, probability, ratio_of_means
from risk.engine import Model
from risk.finance.ratios import dscr, life_cover_ratio
from risk.finance.tail import tail_cash
from risk.finance.waterfall import Finances
from risk.result import CAUSES, ENDINGS, Result
from risk.score.incidence import by_month, incidence

LABELS = (*ENDINGS, "repricing", "base_case", "late_delivery", "credits_and_market")
"""Causes of default, one to a draw; their probabilities add up."""
PERIODS = (("pd_12_months", 12), ("pd_24_months", 24))
"""Months from close by which a default is counted. [month]"""
BASIS_POINTS = 10_000
ROW = (
    "fees",
    "credits",
    "relet_income",
    "cover_paid",
    "insurance_recovery",
    "operating_costs",
    "insurance_premium",
    "backstop_fee",
    "tax",
    "cfads",
    "reserve",
    "distribution",
)
"""Figures of a month of the base case, as far as the deal has them. [currency]"""
SHORT = "the simulated months end before the loan"


def sources(finances: Finances) -> dict[str, float]:
    """Return what is paid at close and with what. [currency]"""
    money = finances.sources
    names = (
        "capital_expenditure",
        "interest_during_construction",
        "commitment_fee",
        "reserve",
        "other_uses",
        "uses",
        "loan",
        "prepayment",
        "equity",
    )
    return {name: getattr(money, name) for name in names if hasattr(money, name)}


def default(finances: Finances, base: Result, result: Result) -> dict[str, Any]:
    """Return default and loss, in all and by cause; causes exclude each other and add up, by month too."""
    plan = finances.plan
    assert plan is not None
    month = result.column["default_month"].astype(np.int64)
    exposure = result.column["exposure"].astype(np.float64)
    defaulted = month > 0
    out: dict[str, Any] = {}
    for name, by in PERIODS:
        if result.months >= by:
            out |= probability(name, defaulted & (month <= by))
        else:
            out |= {name: None, f"{name}_reason": f"fewer than {by} months are simulated"}
    out |= probability("pd_term", defaulted)
    out |= incidence("by_month", month, result.months)
    out["defaults_drawn"] = int(defaulted.sum())
    cause = causes(base, result)
    if finances.recovery is None:
        names = ("lgd", "expected_loss_bp", "el_pv_bp", "expected_loss_bp_per_year")
        out |= dict.fromkeys(names)
        out |= {f"{name}_reason": "finance.recovery is not given" for name in names}
        out["by_cause"] = {label: _cause(month, cause == label, result, None, plan.commitment) for label in LABELS}
        return out
    loss = result.column["loss"].astype(np.float64)
    bp = BASIS_POINTS / plan.commitment if plan.commitment else 0.0
    out |= estimate("expected_loss", loss)
    out |= estimate("expected_loss_bp", loss * bp)
    out |= estimate("el_pv_bp", loss * bp * (1 + plan.monthly_rate) ** -month.astype(float))
    if result.months >= plan.last_payment_month:
        per_year = BASIS_POINTS / plan.dollar_years if plan.dollar_years else 0.0
        out |= estimate("expected_loss_bp_per_year", loss * per_year)
        out["dollar_years"] = plan.dollar_years
    else:
        out |= {"expected_loss_bp_per_year": None, "expected_loss_bp_per_year_reason": SHORT}
    out |= _given_default(result, loss, exposure, defaulted)
    out["by_cause"] = {label: _cause(month, cause == label, result, loss, plan.commitment) for label in LABELS}
    return out


def causes(base: Result, result: Result) -> NDArray[np.str_]:
    """Return the one cause of each draw's default, empty without one, shape (draws,).

    Where the base case defaults too, that is the cause of what no event explains.
    """
    code = result.column["default_cause_code"]
    names = np.array(CAUSES)
    if int(base.column["default_month"][0]) > 0:
        names[[CAUSES.index("late_delivery"), CAUSES.index("credits_and_market")]] = "base_case"
    return np.asarray(names[code])


def _given_default(
    result: Result, loss: NDArray[np.float64], exposure: NDArray[np.float64], defaulted: NDArray[np.bool_]
) -> dict[str, Any]:
    """Return the loss given default and what it would be without novation and without cover."""
    names = ("lgd", "lgd_unweighted", "lgd_sale_only", "lgd_before_cover", "mean_exposure_at_default")
    if not defaulted.any():
        return dict.fromkeys(names) | {f"{name}_reason": "no default drawn" for name in names}
    if not exposure.any():
        return dict.fromkeys(names) | {f"{name}_reason": "nothing is owed at default" for name in names}
    out: dict[str, Any] = {}
    out["lgd"], out["lgd_standard_error"] = ratio_of_means(loss, exposure)
    owed = defaulted & (exposure > 0)
    out["lgd_unweighted"] = float((loss[owed] / exposure[owed]).mean())
    out["lgd_sale_only"], out["lgd_sale_only_standard_error"] = ratio_of_means(
        result.column["loss_sale_only"].astype(np.float64), exposure
    )
    recovery = result.column.get("recovery")
    if recovery is not None:
        before = np.where(defaulted, np.clip(exposure - recovery, 0.0, exposure), 0.0)
        out["lgd_before_cover"], out["lgd_before_cover_standard_error"] = ratio_of_means(before, exposure)
    out["mean_exposure_at_default"] = float(exposure[defaulted].mean())
    if int(defaulted.sum()) < FEW_DEFAULTS:
        out["lgd_flag"] = "few_defaults"
    return out


def _cause(
    month: NDArray[np.int64],
    here: NDArray[np.bool_],
    result: Result,
    loss: NDArray[np.float64] | None,
    commitment: float,
) -> dict[str, Any]:
    """Return one cause's default and loss, and its cumulative incidence by month."""
    out = probability("pd", here)
    if loss is not None:
        if here.any():
            value, error = mean(loss * here)
            bp = BASIS_POINTS / commitment if commitment else 0.0
            out |= {"expected_loss_bp": value * bp, "expected_loss_bp_standard_error": error * bp}
        else:
            out |= {"expected_loss_bp": 0.0, "expected_loss_bp_standard_error": None}
            out["expected_loss_bp_standard_error_reason"] = "no_event"
    out["by_month"] = by_month(month * here, result.months)
    return out


def life_cover(model: Model, finances: Finances, base: Result) -> dict[str, Any]:
    """Return the life cover ratios of the base case, from the first payment and after each month."""
    plan = finances.plan
    assert plan is not None
    cash = base.monthly["cfads"][0]
    first = plan.first_payment_month
    before = plan.opening[first - 1] if first <= base.months else 0.0
    last = plan.last_payment_month
    if base.months < last:
        return {"at_first_payment": None, "at_first_payment_reason": SHORT}
    out: dict[str, Any] = {
        "at_first_payment": life_cover_ratio(cash[first - 1 : last], plan.monthly_rate, float(before)),
        "by_month": [
            life_cover_ratio(cash[m:last], plan.monthly_rate, float(plan.closing[m - 1])) if m < last else None
            for m in range(1, last + 1)
        ],
        "by_month_reason": "none where no loan is outstanding",
    }
    if out["at_first_payment"] is None:
        out["at_first_payment_reason"] = "no loan is outstanding"
    carried = base.column.get("losses_carried")
    tail = tail_cash(model.setting, finances, float(carried[0]) if carried is not None else 0.0)
    if tail is not None:
        whole = np.concatenate([cash[first - 1 : last], tail])
        out["project_life_at_first_payment"] = life_cover_ratio(whole, plan.monthly_rate, float(before))
    return out


def base_rows(model: Model, finances: Finances, base: Result) -> list[dict[str, Any]]:
    """Return the base case, one row a month."""
    rows: list[dict[str, Any]] = []
    service = base.by_month("debt_service")
    due = finances.service if service is None else service[0]
    cover = dscr(base.monthly["cfads"][0], due)
    owed = {name: base.by_month(name) for name in ("interest", "principal", "balance")} if finances.plan else {}
    paid = {name: found[0] for name, found in owed.items() if found is not None}
    for m in range(base.months):
        row: dict[str, Any] = {"month": m + 1, "label": model.setting.timeline.label(m + 1)}
        for name in ROW:
            if name in base.monthly:
                row[name] = float(base.monthly[name][0, m])
        row["debt_service"] = float(due[m])
        row |= {name: float(series[m]) for name, series in paid.items()}
        row["dscr"] = None if np.isnan(cover[m]) else float(cover[m])
        if row["dscr"] is None:
            row["dscr_reason"] = "no debt service in the month"
        rows.append(row)
    return rows
