"""The underwriting score of a deal: the joint simulation summed up, each figure beside its standard error.

Definitions are those of `docs/method.md`. A figure whose model the deal gives no inputs for is absent; one that is
undefined is None beside `<name>_reason`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from risk.cancellation.exits import CAUSES
from risk.contract_rules import effective_term
from risk.core.statistics import FEW_DEFAULTS, estimate, mean, probability, quantile, ratio_of_means
from risk.delay import DeliveryRisk
from risk.engine import Model, Progress
from risk.finance.ratios import annual_return, dscr, life_cover_ratio
from risk.finance.tail import tail_cash
from risk.finance.waterfall import ROUNDING, Finances
from risk.result import Result
from schemas.deal import Deal
from schemas.errors import NotComputedError

FloatArray = NDArray[np.float64]
FAN = (("p5", 0.05), ("p25", 0.25), ("p50", 0.5), ("p75", 0.75), ("p95", 0.95))
FEWEST_DRAWS = 2
"""One future has no standard error."""
LABELS = (*CAUSES, "repricing", "late_delivery", "credits_and_market")
"""Causes of default, one to a draw; their probabilities add up."""


def score(
    deal: Deal, draws: int = 10_000, seed: int = 20261130, workers: int = 1, progress: Progress | None = None
) -> dict[str, Any]:
    """Return the score as plain data, the same for any number of workers.

    Raises
    ------
    DealError, MissingTermError, NotComputedError
        When the deal lacks what the simulation needs, or says what this version cannot compute.
    """
    if draws < FEWEST_DRAWS:
        raise NotComputedError("draws", f"a score of {draws} futures", f"ask for at least {FEWEST_DRAWS}")
    later = deal.amendments
    if deal.finance is not None:
        later = tuple(change for change in later if change.effective_from > deal.finance.close)
        deal = deal.at(deal.finance.close)
    model = Model.of(deal)
    base = model.base()
    result = model.simulate(draws, seed, workers, progress)
    finances = model.risks.get("finance")
    out: dict[str, Any] = {
        "title": deal.title,
        "currency": deal.finance.currency if deal.finance else None,
        "close": deal.finance.close.isoformat() if deal.finance else None,
        "months": model.setting.months,
        "draws": draws,
        "seed": seed,
        "delivery": _delivery(model, result),
        "cancellation": _cancellation(model, result),
        "credits": _credits(model, result),
    }
    if isinstance(finances, Finances):
        out |= _finance(model, finances, base, result)
    value = _residual_value(model, finances, base, result)
    if value:
        out["residual_value"] = value
    out["settings"] = _settings(model, len(later))
    out["prescribed"] = sorted(deal.assumptions.prescribed.model_dump(exclude_none=True))
    out["ignored"] = _ignored(model)
    out["standard_errors"] = _errors(out)
    return out


def _delivery(model: Model, result: Result) -> dict[str, Any]:
    setting = model.setting
    assert setting.deal.delivery is not None
    risk = model.risks["delay"]
    law = risk.law if isinstance(risk, DeliveryRisk) else None
    delay = result.column["ready"].astype(np.float64) - setting.planned_ready
    tranches = []
    for j, name in enumerate(setting.tranches):
        terms = setting.deal.delivery.tranches[name]
        entry: dict[str, Any] = {"id": name, "planned_month": float(setting.planned_ready[j])}
        entry |= probability("probability_late", delay[:, j] > 1e-9)
        if law is not None:
            entry["probability_late_exact"] = law.share_late
        if terms.delay_damages:
            grace = setting.timeline.length(terms.delay_damages.grace)
            entry |= probability("probability_after_grace", delay[:, j] > grace)
            if law is not None:
                entry["probability_after_grace_exact"] = law.probability_over(grace)
        if terms.long_stop:
            after = setting.timeline.length(terms.long_stop.after)
            entry["long_stop_month"] = float(setting.planned_ready[j] + after)
            entry |= probability("probability_past_long_stop", delay[:, j] > after)
            if law is not None:
                entry["probability_past_long_stop_exact"] = law.probability_over(after)
            entry |= estimate("mean_delay_up_to_long_stop_months", np.minimum(delay[:, j], after))
        entry["delay_quantiles_months"] = {
            name: quantile(delay[:, j], level) for name, level in (("p50", 0.5), ("p90", 0.9))
        }
        tranches.append(entry)
    out: dict[str, Any] = {"tranches": tranches}
    if "damages" in result.total:
        out |= estimate("expected_damages", result.total["damages"])
    return out


def _cancellation(model: Model, result: Result) -> dict[str, Any]:
    cause, month = result.column["first_cause"], result.column["first_month"].astype(np.int64)
    out = probability("probability", cause != "")
    by_cause: dict[str, Any] = {}
    for name in CAUSES:
        by_cause |= probability(name, cause == name)
    out["by_cause"] = by_cause
    months = model.setting.months
    counts = np.bincount(month[month > 0], minlength=months + 1)[1 : months + 1]
    out["by_month"] = (np.cumsum(counts) / result.draws).tolist()
    out["by_cause_and_month"] = {
        name: (
            np.cumsum(np.bincount(month[cause == name], minlength=months + 1)[1 : months + 1]) / result.draws
        ).tolist()
        for name in CAUSES
        if (cause == name).any()
    }
    firm = effective_term.exact(model.setting.deal)
    out["firm_months"] = model.setting.term_months
    out["effective_firm_months"] = float(firm.value)
    return out


def _credits(model: Model, result: Result) -> dict[str, Any]:
    credits, fees = result.total["credits"], result.total["fees"]
    out = estimate("expected_total", credits)
    share, error = ratio_of_means(credits, fees) if fees.any() else (None, None)
    out |= {"expected_share_of_fees": share, "expected_share_of_fees_standard_error": error}
    if share is None:
        out["expected_share_of_fees_reason"] = "no fees"
    out["by_level_before_stacking_and_caps"] = {
        name.removeprefix("credit:"): mean(values)[0]
        for name, values in sorted(result.total.items())
        if name.startswith("credit:")
    }
    worst = quantile(result.worst["credits"], 0.99)
    out["worst_month_p99"] = worst
    if worst is None:
        out["worst_month_p99_reason"] = "too_few_draws"
    return out


def _finance(model: Model, finances: Finances, base: Result, result: Result) -> dict[str, Any]:
    out: dict[str, Any] = {"sources_and_uses": _sources(finances)}
    if finances.plan is not None:
        out["default"] = _default(finances, result)
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


def _default(finances: Finances, result: Result) -> dict[str, Any]:
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
    cause = result.column["default_cause"]
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


def _residual_value(model: Model, finances: object, base: Result, result: Result) -> dict[str, Any] | None:
    if "gpu_value_total" not in result.monthly:
        return None
    values = result.monthly["gpu_value_total"]
    by_month: dict[str, list[Any]] = {"months": list(range(1, result.months + 1))}
    for name, level in (("p5", 0.05), ("p50", 0.5), ("p95", 0.95)):
        by_month[name] = [quantile(values[:, m], level) for m in range(result.months)]
    base_value = base.monthly["gpu_value_total"][0]
    out: dict[str, Any] = {"value_by_month": by_month, "base": base_value.tolist()}
    if isinstance(finances, Finances) and finances.plan is not None:
        balance = finances.plan.closing
        out["balance"] = balance.tolist()
        out["loan_to_value"] = {
            "base": [float(b / v) if v > 0 else None for b, v in zip(balance, base_value, strict=True)],
            "reason": "none where the value is 0",
        }
    return out


def _ignored(model: Model) -> list[str]:
    """Return what no risk of this version simulates, then what each leaves out, in words."""
    words = []
    if model.setting.deal.backstop is not None:
        words.append("Backstop: its terms are checked, not simulated, because the customer's own default is not.")
    words.append("Default of the customer, insurance, re-letting, change of law: not simulated by this version.")
    return words + list(model.ignores())


def _settings(model: Model, later_amendments: int) -> list[str]:
    """Return the conventions that only the simulation uses, in words."""
    line = model.setting.timeline
    calendar = (
        f"Calendar months from {line.first} in {model.setting.deal.measurement.zone}; close is the start of the month."
        if line.first
        else "Months of 730 hours (equal_730)."
    )
    return [
        calendar,
        "Durations in days are turned into months at 365.25/12 days; a notice period ends at the first month end on "
        "or after it.",
        "Base case: no default, outage, delay or exit; market without noise, regimes at their expected level, the next "
        "generation in the middle of its range.",
        f"Terms in force at close; amendments that take effect later and are not simulated: {later_amendments}.",
        "Cause of a default: the first contract ending, else re-pricing, else late delivery, else credits and market.",
    ]


def _errors(out: dict[str, Any], path: str = "") -> dict[str, float]:
    """Return every standard error of the score by the path of its figure."""
    found: dict[str, float] = {}
    for key, value in out.items():
        here = f"{path}.{key}" if path else key
        if key.endswith("_standard_error") and isinstance(value, float):
            found[here.removesuffix("_standard_error")] = value
        elif isinstance(value, dict):
            found |= _errors(value, here)
        elif isinstance(value, list):
            for i, item in enumerate(value):
                if isinstance(item, dict):
                    found |= _errors(item, f"{here}[{i}]")
    return found
