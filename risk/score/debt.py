"""What happens to the loan: default, loss, cover, returns, and the base case by month."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from risk.cancellation.exits import CAUSES
from risk.core.statistics import FEW_DEFAULTS, estimate, probability, quantile, ratio_of_means
from risk.engine import Model
from risk.finance.ratios import annual_return, dscr, life_cover_ratio
from risk.finance.tail import tail_cash
from risk.finance.waterfall import ROUNDING, Finances
from risk.result import Result

FAN = (("p5", 0.05), ("p25", 0.25), ("p50", 0.5), ("p75", 0.75), ("p95", 0.95))
LABELS = (*CAUSES, "repricing", "base_case", "late_delivery", "credits_and_market")
"""Causes of default, one to a draw; their probabilities add up."""


def finance(model: Model, finances: Finances, base: Result, result: Result) -> dict[str, Any]:
    """Return sources and uses, default and loss, cover, returns and the base case, as far as the deal has debt."""
    out: dict[str, Any] = {"sources_and_uses": _sources(finances)}
    if finances.plan is not None:
        out["default"] = _default(finances, base, result)
        out["llcr"] = _life_cover(model, finances, base)
        out["equity_irr"] = _equity_return(finances, base)
    if finances.service.any():
        out["dscr"] = _cover(model, finances, base, result)
    out["base_case"] = {"rows": _base_rows(model, finances, base)}
    return out


def _sources(finances: Finances) -> dict[str, float]:
    money = finances.sources
    return {
        "capital_expenditure": money.capital_expenditure,
        "interest_during_construction": money.interest_during_construction,
        "reserve": money.reserve,
        "other_uses": money.other_uses,
        "uses": money.uses,
        "loan": money.loan,
        "prepayment": money.prepayment,
        "equity": money.equity,
    }


def _causes(base: Result, result: Result) -> NDArray[np.str_]:
    """Return the one cause of each draw's default; where the base case defaults too, that is the cause of the rest."""
    cause = result.column["default_cause"].astype(np.str_)
    if int(base.column["default_month"][0]) == 0:
        return cause
    return np.where(np.isin(cause, ("late_delivery", "credits_and_market")), "base_case", cause)


def _default(finances: Finances, base: Result, result: Result) -> dict[str, Any]:
    plan = finances.plan
    assert plan is not None
    month = result.column["default_month"].astype(np.int64)
    exposure = result.column["exposure"].astype(np.float64)
    defaulted = month > 0
    out = probability("pd_12_months", defaulted & (month <= 12))
    out |= probability("pd_term", defaulted)
    counts = np.bincount(month[defaulted], minlength=result.months + 1)[1 : result.months + 1]
    out["by_month"] = (np.cumsum(counts) / result.draws).tolist()
    out["defaults_drawn"] = int(defaulted.sum())
    cause = _causes(base, result)
    if finances.recovery is None:
        out |= dict.fromkeys(("lgd", "expected_loss_bp"))
        out |= {f"{name}_reason": "finance.recovery is not given" for name in ("lgd", "expected_loss_bp")}
        out["by_cause"] = {label: probability("pd", cause == label) for label in LABELS}
        return out
    loss = result.column["loss"].astype(np.float64)
    bp = 10_000 / plan.commitment
    out |= estimate("expected_loss", loss)
    out |= estimate("expected_loss_bp", loss * bp)
    out |= estimate("el_pv_bp", loss * bp * (1 + plan.monthly_rate) ** -month.astype(float))
    if result.months >= plan.last_payment_month:
        out["expected_loss_bp_per_year"] = float(loss.mean()) / plan.dollar_years * 10_000
    else:
        out["expected_loss_bp_per_year"] = None
        out["expected_loss_bp_per_year_reason"] = "the simulated months end before the loan"
    if not defaulted.any():
        out |= {"lgd": None, "lgd_reason": "no default drawn"}
    else:
        out["lgd"], out["lgd_standard_error"] = ratio_of_means(loss, exposure)
        out["lgd_unweighted"] = float((loss[defaulted] / exposure[defaulted]).mean())
        out["lgd_sale_only"] = ratio_of_means(result.column["loss_sale_only"].astype(np.float64), exposure)[0]
        out["mean_exposure_at_default"] = float(exposure[defaulted].mean())
        if out["defaults_drawn"] < FEW_DEFAULTS:
            out["lgd_flag"] = "few_defaults"
    out["by_cause"] = {
        label: probability("pd", cause == label) | {"expected_loss_bp": float((loss * (cause == label)).mean()) * bp}
        for label in LABELS
    }
    return out


def _cover(model: Model, finances: Finances, base: Result, result: Result) -> dict[str, Any]:
    service = finances.service
    due = np.flatnonzero(service > 0)
    cover = dscr(base.monthly["cfads"][0], service)
    lowest = int(due[np.argmin(cover[due])])
    out: dict[str, Any] = {
        "base_minimum": float(cover[lowest]),
        "base_minimum_month": lowest + 1,
        "base_average": float(cover[due].mean()),
    }
    covenant = finances.terms.covenants.minimum_dscr
    out["covenant"] = float(covenant) if covenant is not None else None
    defaulted = result.column.get("default_month", np.zeros(result.draws, dtype=np.int64)).astype(np.int64)
    alive = (defaulted[:, None] == 0) | (np.arange(1, result.months + 1) <= defaulted[:, None])
    drawn = dscr(result.monthly["cfads"], np.broadcast_to(service, result.monthly["cfads"].shape))
    fan: dict[str, list[Any]] = {"months": [int(m) + 1 for m in due], "draws": []} | {name: [] for name, _ in FAN}
    for m in due:
        values = drawn[alive[:, m], m]
        fan["draws"].append(len(values))
        for name, level in FAN:
            fan[name].append(quantile(values, level))
    out["fan"] = fan
    out["fan_population"] = "draws without a default before the month"
    if covenant is not None:
        months = finances.terms.lock_up.look_back_months if finances.terms.lock_up else 1
        back = result.monthly["look_back_cover"]
        below = ((back < float(covenant) - ROUNDING) & alive & (service > 0)).any(axis=1) | (defaulted > 0)
        out |= probability("probability_below_covenant", below)
        out["covenant_look_back_months"] = months
    out["tests"] = {
        name: _cover_test(finances, test.months, test.at_month, base, result)
        for name, test in finances.terms.tests.items()
    }
    return out


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


def _life_cover(model: Model, finances: Finances, base: Result) -> dict[str, Any]:
    plan = finances.plan
    assert plan is not None
    cash = base.monthly["cfads"][0]
    first = plan.first_payment_month
    before = plan.opening[first - 1]
    last = plan.last_payment_month
    if base.months < last:
        return {"at_first_payment": None, "at_first_payment_reason": "the simulated months end before the loan"}
    out: dict[str, Any] = {
        "at_first_payment": life_cover_ratio(cash[first - 1 : last], plan.monthly_rate, float(before)),
        "by_month": [
            life_cover_ratio(cash[m:last], plan.monthly_rate, float(plan.closing[m - 1])) if m < last else None
            for m in range(1, last + 1)
        ],
    }
    carried = base.column.get("losses_carried")
    tail = tail_cash(model.setting, finances, float(carried[0]) if carried is not None else 0.0)
    if tail is not None:
        whole = np.concatenate([cash[first - 1 : last], tail])
        out["project_life_at_first_payment"] = life_cover_ratio(whole, plan.monthly_rate, float(before))
    return out


def _equity_return(finances: Finances, base: Result) -> dict[str, Any]:
    flows = np.concatenate([[-finances.sources.equity], base.monthly["distribution"][0]])
    residual = 0.0
    if finances.residual is None and "gpu_value_total" in base.monthly:
        owed = float(finances.plan.closing[-1]) if finances.plan else 0.0
        residual = max(0.0, float(base.monthly["gpu_value_total"][0, -1]) - owed)
    flows[-1] += float(base.column["trapped"][0]) + float(base.monthly["reserve"][0, -1]) + residual
    rate, reason = annual_return(flows)
    out: dict[str, Any] = {
        "base": rate,
        "distributions": float(base.monthly["distribution"][0].sum()),
        "value_left_to_equity_at_the_end": residual,
    }
    if reason:
        out["base_reason"] = reason
    return out


def _base_rows(model: Model, finances: Finances, base: Result) -> list[dict[str, Any]]:
    plan, rows = finances.plan, []
    cover = dscr(base.monthly["cfads"][0], finances.service)
    for m in range(base.months):
        row: dict[str, Any] = {"month": m + 1, "label": model.setting.timeline.label(m + 1)}
        for name in ("fees", "credits", "operating_costs", "tax", "cfads", "reserve", "distribution"):
            if name in base.monthly:
                row[name] = float(base.monthly[name][0, m])
        row["debt_service"] = float(finances.service[m])
        if plan is not None:
            row |= {
                "interest": float(plan.interest[m]),
                "principal": float(plan.principal[m]),
                "balance": float(plan.closing[m]),
            }
        row["dscr"] = None if np.isnan(cover[m]) else float(cover[m])
        if row["dscr"] is None:
            row["dscr_reason"] = "no debt service in the month"
        rows.append(row)
    return rows
