"""What happens to the contract: delivery, early ends, credits, letting again."""

from __future__ import annotations

from typing import Any

import numpy as np

from risk.contract_rules import effective_term
from risk.core.statistics import estimate, mean, probability, quantile, ratio_of_means
from risk.delay import DeliveryRisk
from risk.engine import Model
from risk.result import ENDINGS, Result
from risk.score.incidence import incidence


def delivery(model: Model, result: Result) -> dict[str, Any]:
    """Return how late each tranche is, beside the closed form of its law, and the damages of all."""
    setting = model.setting
    assert setting.deal.delivery is not None
    risk = model.risks["delay"]
    law = risk.law if isinstance(risk, DeliveryRisk) else None
    delay = result.column["ready"].astype(np.float64) - setting.planned_ready
    if law is None:
        return {"tranches": [], "tranches_reason": "assumptions.delay is not given, so no tranche is ever late"}
    tranches = []
    for j, name in enumerate(setting.tranches):
        terms = setting.deal.delivery.tranches[name]
        entry: dict[str, Any] = {"id": name, "planned_month": float(setting.planned_ready[j])}
        entry |= probability("probability_late", delay[:, j] > 1e-9)
        entry["probability_late_exact"] = law.share_late
        if terms.delay_damages:
            grace = setting.timeline.length(terms.delay_damages.grace)
            entry |= probability("probability_after_grace", delay[:, j] > grace)
            entry["probability_after_grace_exact"] = law.probability_over(grace)
        if terms.long_stop:
            after = setting.timeline.length(terms.long_stop.after)
            entry["long_stop_month"] = float(setting.planned_ready[j] + after)
            entry |= probability("probability_past_long_stop", delay[:, j] > after)
            entry["probability_past_long_stop_exact"] = law.probability_over(after)
            entry |= estimate("mean_delay_up_to_long_stop_months", np.minimum(delay[:, j], after))
        found: dict[str, Any] = {name: quantile(delay[:, j], level) for name, level in (("p50", 0.5), ("p90", 0.9))}
        if None in found.values():
            found["reason"] = "too_few_draws"
        entry["delay_quantiles_months"] = found
        tranches.append(entry)
    out: dict[str, Any] = {"tranches": tranches}
    if "damages" in result.total:
        out |= estimate("expected_damages", result.total["damages"])
        for name, sums in (
            ("expected_net_damages", result.total),
            ("net_damages_while_the_loan_lives", result.living),
        ):
            out |= estimate(name, sums["damages"] - sums.get("damages_recovered", 0.0))
    return out


def cancellation(model: Model, result: Result) -> dict[str, Any]:
    """Return the probability that the contract ends early, by cause and by month, and how firm its term is."""
    cause, month = result.column["first_cause_code"], result.column["first_month"].astype(np.int64)
    months = model.setting.months
    out = probability("probability", cause > 0)
    by_cause: dict[str, Any] = {}
    by_cause_and_month: dict[str, Any] = {}
    for code, name in enumerate(ENDINGS, start=1):
        here = cause == code
        by_cause |= probability(name, here)
        by_cause_and_month[name] = incidence("probability", month * here, months)
    out["by_cause"] = by_cause
    out |= incidence("by_month", month, months)
    out["by_cause_and_month"] = by_cause_and_month
    firm = effective_term.exact(model.setting.deal)
    out["firm_months"] = model.setting.term_months
    out["effective_firm_months"] = float(firm.value)
    out["rights"] = {
        name: probability("probability_arises", result.column[f"arose:{name}"])
        for name in ENDINGS
        if f"arose:{name}" in result.column
    }
    bad = [name for name in result.total if name.startswith("bad_month:")]
    if bad:
        out["bad_months"] = [
            {
                "limb": int(name.removeprefix("bad_month:")),
                **estimate("expected_total", result.total[name]),
                **estimate("while_the_loan_lives", result.living[name]),
            }
            for name in bad
        ]
    return out


def credits(model: Model, result: Result) -> dict[str, Any]:
    """Return the credits expected over the term, their share of fees, and by level before stacking and caps."""
    credits, fees = result.total["credits"], result.total["fees"]
    out = estimate("expected_total", credits)
    out |= estimate("while_the_loan_lives", result.living["credits"])
    share, error = ratio_of_means(credits, fees) if fees.any() else (None, None)
    out |= {"expected_share_of_fees": share, "expected_share_of_fees_standard_error": error}
    if share is None:
        out |= dict.fromkeys(
            ("expected_share_of_fees_reason", "expected_share_of_fees_standard_error_reason"), "no fees"
        )
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


def reletting(model: Model, result: Result) -> dict[str, Any] | None:
    """Return what capacity under no contract earns, None where the deal says nothing of letting again."""
    if model.setting.deal.assumptions.reletting is None or "relet_income" not in result.total:
        return None
    income = result.total["relet_income"]
    out = probability("probability", income > 0)
    out |= estimate("expected_income", income)
    out |= estimate("while_the_loan_lives", result.living["relet_income"])
    found = result.mean_of_month("relet_income")
    if found is not None:
        out["by_month"] = {"expected_income": found[0].tolist(), "standard_error": found[1].tolist()}
    return out


def repriced(result: Result) -> dict[str, Any] | None:
    """Return how often the rent is set anew instead of an exit, None where no model says."""
    if "repriced" not in result.column:
        return None
    return probability("probability", result.column["repriced"])
