"""The grade of a deal: two routes to the scale, the caps, the sampling error, and how far the routes lie apart."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, log10
from typing import Any

import numpy as np

from risk.core.statistics import mean
from risk.engine import Model
from risk.finance.loan import Schedule
from risk.result import Result
from risk.score.caps import Cap, capped, caps, least_loss
from risk.score.debt import BASIS_POINTS
from risk.score.grade import (
    DEFAULT,
    Route,
    default_route,
    loss_at_boundaries,
    loss_route,
    step_of_hazard,
    steps_between,
)
from risk.score.weak_points import SitePower

WIDE_GAP = 3
"""Steps between the two routes from which on the gap is explained. [1]"""
WIDTH = 2.0
"""Standard errors on either side of the loss within which a boundary makes the step uncertain. [1]"""
MOST_DRAWS = 10_000_000
"""More draws than this are not asked for."""
NOTE = (
    "Arithmetic on expected loss and default probability with printed caps; not a credit rating. Read it with the "
    "expected loss, the loss given default and the inputs of recovery."
)
WITHIN_ONE = "the loss stays within one step, two standard errors up and down"


def credit_step(
    model: Model,
    plan: Schedule,
    power: tuple[SitePower, ...],
    base: Result,
    result: Result,
    default: Mapping[str, Any],
    uncertainty: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return `credit_step` and `grade`; the step is None where no loss a year is defined.

    Parameters
    ----------
    power : weak points of the deal's sites.
    default : the score's figures of default and loss.
    uncertainty : what `parameter_uncertainty` found, None where it was not asked.

    Notes
    -----
    The headline is the route through expected loss, after the caps. A loan that the base case does not pay is D on
    both routes, whatever it recovers: nothing has to go wrong for it to default.
    """
    rules = caps(model, plan, power, uncertainty)
    anyway = int(base.column["default_month"][0]) > 0

    def final(step: str) -> str:
        return DEFAULT if anyway else capped(step, rules)

    months = min(result.months, plan.last_payment_month)
    by_default = default_route(default["pd_term"], months)
    grade: dict[str, Any] = {"note": NOTE, "base_case_defaults": anyway}
    pd_route = {"pd_term": default["pd_term"], "months": months, **by_default.as_json()}
    grade["pd_route"] = pd_route | {"step_after_caps": final(by_default.step)}
    yearly = default["expected_loss_bp_per_year"]
    if yearly is None or not plan.dollar_years:
        reason = default.get("expected_loss_bp_per_year_reason", "no loan is outstanding")
        grade |= {"el_route": None, "el_route_reason": reason, "caps": [rule.as_json() for rule in rules]}
        return {"credit_step": None, "credit_step_reason": reason, "grade": grade}
    by_loss = loss_route(yearly)
    counted, error = _loss(result, plan, least_loss(model.setting.deal))
    in_grade = loss_route(counted)
    grade["el_route"] = {
        "expected_loss_bp_per_year": yearly,
        **by_loss.as_json(),
        "expected_loss_bp_per_year_in_grade": counted,
        "expected_loss_bp_per_year_in_grade_standard_error": error,
        "step_after_caps": final(in_grade.step),
    }
    grade["step_before_caps"] = by_loss.step
    grade["step_after_caps"] = grade["el_route"]["step_after_caps"]
    grade |= _sampling(result, plan, counted, error, rules, anyway)
    grade |= _apart(by_loss, by_default, plan, default)
    grade |= _band(rules, uncertainty, anyway)
    grade["loss_bp_at_boundaries"] = loss_at_boundaries(plan.dollar_years / plan.commitment)
    grade["caps"] = [_with_effect(rule, by_loss, in_grade) for rule in rules]
    return {"credit_step": grade["step_after_caps"], "grade": grade}


def _loss(result: Result, plan: Schedule, least: float) -> tuple[float, float]:
    """Return the loss that the grade counts and its standard error, a default losing at least a share. [bp/year]"""
    exposure = result.column["exposure"].astype(np.float64)
    loss = np.maximum(result.column["loss"].astype(np.float64), least * exposure)
    return mean(loss * (BASIS_POINTS / plan.dollar_years))


def _sampling(
    result: Result, plan: Schedule, counted: float, error: float, rules: tuple[Cap, ...], anyway: bool
) -> dict[str, Any]:
    """Return both steps where the number of draws leaves the step open, and how many draws would settle it.

    Where no loss is drawn, up to three in N futures may still default and lose the whole commitment.
    """
    if anyway:
        return {"sampling_band": None, "sampling_band_reason": "the base case does not pay the loan"}
    low, high = counted - WIDTH * error, counted + WIDTH * error
    if counted == 0:
        low, high = 0.0, min(3 / result.draws, 1.0) * BASIS_POINTS * plan.commitment / plan.dollar_years
    best, worst = (capped(loss_route(max(bound, 0.0)).step, rules) for bound in (low, high))
    if best == worst:
        return {"sampling_band": None, "sampling_band_reason": WITHIN_ONE}
    band: dict[str, Any] = {"best": best, "worst": worst}
    draws = _draws_to_settle(result, plan, counted, error)
    if draws is None:
        band |= {"draws_to_settle": None, "draws_to_settle_reason": "the loss lies on a boundary, or none is drawn"}
        band["words"] = f"{best} to {worst}: more draws are needed"
    else:
        band |= {"draws_to_settle": draws, "words": f"{best} to {worst}: ask for about {draws:,} draws"}
    return {"sampling_band": band}


def _draws_to_settle(result: Result, plan: Schedule, counted: float, error: float) -> int | None:
    """Return the draws at which two standard errors reach no boundary, to two digits; None where they are too many."""
    to_a_year = plan.commitment / plan.dollar_years
    bounds = loss_at_boundaries(plan.dollar_years / plan.commitment).values()
    distance = min(abs(bound * to_a_year - counted) for bound in bounds)
    if counted == 0 or distance == 0:
        return None
    needed = result.draws * (WIDTH * error / distance) ** 2
    if needed > MOST_DRAWS:
        return None
    digits = 10 ** max(int(log10(max(needed, 1))) - 1, 0)
    return int(ceil(needed / digits) * digits)


def _apart(by_loss: Route, by_default: Route, plan: Schedule, default: Mapping[str, Any]) -> dict[str, Any]:
    """Return how many steps lie between the two routes, and why where they are many."""
    gap = steps_between(by_loss.step, by_default.step)
    out: dict[str, Any] = {"steps_between_routes": gap}
    lgd = default.get("lgd")
    if gap < WIDE_GAP or lgd is None:
        reason = f"fewer than {WIDE_GAP} steps lie between the routes" if gap < WIDE_GAP else default["lgd_reason"]
        return out | {"why_routes_differ": None, "why_routes_differ_reason": reason}
    share = default["mean_exposure_at_default"] / plan.commitment
    out["why_routes_differ"] = (
        f"a default finds {share:.0%} of the commitment outstanding on average and loses {lgd:.0%} of it"
    )
    return out | {"mean_exposure_share": share}


def _band(rules: tuple[Cap, ...], uncertainty: Mapping[str, Any] | None, anyway: bool) -> dict[str, Any]:
    """Return the steps at the low and the high end of the loss over what is not known, where that was asked."""
    steps = None if uncertainty is None else uncertainty.get("steps")
    if steps is None or steps.get("p5") is None or steps.get("p95") is None:
        reason = "not asked" if uncertainty is None else "too few sets of parameters"
        return {"parameter_band": None, "parameter_band_reason": reason}
    best, worst = (DEFAULT if anyway else capped(steps[name], rules) for name in ("p5", "p95"))
    printed = any(rule.id == "judgement_band" and rule.holds for rule in rules)
    return {"parameter_band": {"best": best, "worst": worst, "printed_as_band": printed}}


def _with_effect(rule: Cap, by_loss: Route, in_grade: Route) -> dict[str, Any]:
    """Return a rule with the step of the loss before it and after it alone."""
    out = rule.as_json()
    after = by_loss.step
    if rule.holds and rule.limit is not None:
        after = capped(after, (rule,))
    elif rule.holds and rule.id == "recovery_without_sales":
        after = step_of_hazard(in_grade.hazard_per_year)
    return out | {"step_before": by_loss.step, "step_after_it_alone": after}
