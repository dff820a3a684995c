"""Reasons that are facts about the deal as typed, in its base case: rent, cover, credits, value, recovery, the site."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from risk.contract_rules import credit_shape
from risk.score.reason import Facts, Reason, percent

DEAR_RENT = 1.15
"""Multiple of market rent above which the contract rent leaves a gap. [1]"""
LEAST_COVER, LEAST_COVER_OF_A_MONTH = 1.20, 1.10
"""Base-case cover over twelve months, and of one month, below which it is a reason. [1]"""
FULL_VALUE = 1.0
"""Loan to value above which the GPUs are worth less than the debt. [1]"""
MUCH_BY_NOVATION = 0.15
"""Difference of the loss given default without novation, above which it is a reason. [1]"""
MUCH_JUDGEMENT = 0.50
"""Share of the variance of the expected loss from judgement, above which it is a reason. [1]"""
LARGE_CUT_SET = 0.30
"""Share of a site's downtime from one cut set, from which on it is a reason. [1]"""
WHOLE_LEVELS = ("cluster", "hall", "site")
"""Levels whose bad month takes the fee of a whole tranche."""


def found(facts: Facts) -> Iterator[Reason]:
    """Yield the facts that hold, by their code."""
    for rule in (_rent_gap, _thin_cover, _one_credit, _value, _novation, _judgement, _site):
        reason = rule(facts)
        if reason is not None:
            yield reason


def _rent_gap(facts: Facts) -> Reason | None:
    """R05: contract rent far above the market's when half of the loan is repaid."""
    spot, setting, plan = facts.base.monthly.get("spot_rent"), facts.model.setting, facts.plan
    hours = setting.gpus.sum() * setting.timeline.hours
    repaid = np.flatnonzero(plan.closing <= plan.commitment / 2)
    if spot is None or not hours.all() or not len(repaid):
        return None
    month = int(repaid[0])
    rent = float(setting.fees[:, month].sum() / hours[month])
    market = float(spot[0, month])
    if rent <= DEAR_RENT * market:
        return None
    figures = {"month": month + 1, "contract_rent": rent, "market_rent": market, "gap_per_gpu_hour": rent - market}
    words = (
        f"In month {month + 1}, when half of the loan is repaid, the contract rent of {rent:.2f} per GPU-hour is "
        f"{rent - market:.2f} above the market rent of the base case."
    )
    return Reason("R05", words, figures, "commercial.charges")


def _thin_cover(facts: Facts) -> Reason | None:
    """R09: thin cover with nothing going wrong."""
    dscr = facts.out.get("dscr", {})
    month, year = dscr.get("base_minimum"), dscr.get("dscr_12", {}).get("base_minimum")
    thin_month = month is not None and month < LEAST_COVER_OF_A_MONTH
    thin_year = year is not None and year < LEAST_COVER
    if not thin_month and not thin_year:
        return None
    at = dscr["base_minimum_month"] if thin_month else dscr["dscr_12"]["base_minimum_month"]
    rows = facts.out["base_case"]["rows"]
    most = max(row.get("fees", 0.0) for row in rows)
    part = rows[at - 1].get("fees", 0.0) / most if most else 0.0
    figures: dict[str, Any] = {"base_minimum": month, "base_minimum_12": year, "month": at, "share_of_full_fees": part}
    for name, value, of in (("base_minimum", month, dscr), ("base_minimum_12", year, dscr.get("dscr_12", {}))):
        if value is None:
            figures[f"{name}_reason"] = of.get("base_minimum_reason", "no debt service in the base case")
    cash, lowest = ("cash", month) if thin_month else ("cash of twelve months", year)
    words = (
        f"Base-case {cash} is only {lowest:.2f} times debt service in month {at}, at {percent(part)} of the highest "
        "monthly fees."
    )
    return Reason("R09", words, figures, "finance.loan")


def _one_credit(facts: Facts) -> Reason | None:
    """R10: one month at the greatest credit takes more than debt service leaves."""
    deal = facts.deal
    most = [credit_shape.greatest_share(level) for level in deal.service_levels.values() if level.level in WHOLE_LEVELS]
    deepest = [float(share) for share in most if share is not None]
    if not deepest:
        return None
    fraction = min(max(deepest), float(deal.credits.caps.unit))
    if deal.credits.caps.month is not None:
        fraction = min(fraction, float(deal.credits.caps.month))
    rows = [row for row in facts.out["base_case"]["rows"] if row["debt_service"] > 0 and "fees" in row]
    left = [(row["cfads"] - row["debt_service"], row) for row in rows]
    multiples = [(fraction * row["fees"] / room, row["month"]) for room, row in left if room > 0]
    multiple, month = max(multiples, default=(0.0, 0))
    if multiple <= 1:
        return None
    figures = {"credit_fraction": fraction, "multiple_of_cash_after_debt_service": multiple, "month": month}
    words = (
        f"One month at a credit of {percent(fraction)} of fees takes {multiple:.1f} times the cash that debt service "
        f"leaves in month {month} of the base case."
    )
    return Reason("R10", words, figures, "service_levels")


def _value(facts: Facts) -> Reason | None:
    """R11: the GPUs are worth less than the debt."""
    found = facts.out.get("residual_value", {}).get("loan_to_value", {}).get("market")
    if found is None or "base_peak_month" not in found:
        return None
    peak = found["base_peak"]
    if peak is not None and peak <= FULL_VALUE:
        return None
    month = found["base_peak_month"]
    figures = {"peak": peak, "month": month, "probability_above_1": found["probability_above_1"]}
    if peak is None:
        figures["peak_reason"] = found["base_peak_reason"]
    words = (
        f"The loan is {percent(peak)} of the market value of the GPUs in month {month} of the base case."
        if peak is not None
        else f"The GPUs are worth nothing in month {month} of the base case, with the loan outstanding."
    )
    return Reason("R11", words, figures, "assumptions.value")


def _novation(facts: Facts) -> Reason | None:
    """R12: recovery hangs on a substitute operator."""
    default = facts.out["default"]
    by_sale, lgd = default.get("lgd_sale_only"), default.get("lgd")
    if by_sale is None or lgd is None or by_sale - lgd <= MUCH_BY_NOVATION:
        return None
    figures = {"lgd_sale_only": by_sale, "lgd": lgd}
    words = (
        f"A default loses {percent(lgd)} of the exposure; without novation or cover, by sale alone, {percent(by_sale)}."
    )
    return Reason("R12", words, figures, "finance.recovery.novation_share")


def _judgement(facts: Facts) -> Reason | None:
    """R13: most of what moves the loss is judgement."""
    share = None if facts.uncertainty is None else facts.uncertainty.get("judgement_share")
    if facts.uncertainty is None or share is None or share <= MUCH_JUDGEMENT:
        return None
    top = [entry["paths"][0] for entry in facts.uncertainty["shares"] if entry["kind"] == "judgement"][:3]
    words = f"{percent(share)} of the variance of the expected loss rests on judgement, most of all {', '.join(top)}."
    return Reason("R13", words, {"judgement_share": share, "inputs": top}, top[0])


def _site(facts: Facts) -> Reason | None:
    """R14: a site with a single feed, or most of whose downtime comes from one cut set."""
    for power in facts.power:
        path = f"sites.{power.site}.topology"
        if power.single_feed:
            words = (
                f"Site {power.site}: {power.single_feed}, on the way of its power from the grid, alone takes it down."
            )
            return Reason("R14", words, {"site": power.site, "block": power.single_feed}, path)
        if power.greatest_cut_set is not None and power.greatest_share >= LARGE_CUT_SET:
            figures = {"site": power.site, "cut_set": power.greatest_cut_set, "share": power.greatest_share}
            share = percent(power.greatest_share)
            words = f"Site {power.site}: {share} of its downtime comes from {power.greatest_cut_set}."
            return Reason("R14", words, figures, path)
    return None
