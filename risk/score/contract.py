"""What happens to the contract: delivery, early ends, credits."""

from __future__ import annotations

from typing import Any

import numpy as np

from risk.cancellation.exits import CAUSES
from risk.contract_rules import effective_term
from risk.core.statistics import estimate, mean, probability, quantile, ratio_of_means
from risk.delay import DeliveryRisk
from risk.engine import Model
from risk.result import Result


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
        entry["delay_quantiles_months"] = {
            name: quantile(delay[:, j], level) for name, level in (("p50", 0.5), ("p90", 0.9))
        }
        tranches.append(entry)
    out: dict[str, Any] = {"tranches": tranches}
    if "damages" in result.total:
        out |= estimate("expected_damages", result.total["damages"])
    return out


def cancellation(model: Model, result: Result) -> dict[str, Any]:
    """Return the probability that the contract ends early, by cause and by month, and how firm its term is."""
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


def credits(model: Model, result: Result) -> dict[str, Any]:
    """Return the credits expected over the term, their share of fees, and by level before stacking and caps."""
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
