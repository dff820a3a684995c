"""The underwriting score of a deal: the joint simulation summed up, each figure beside its standard error.

Definitions are those of `docs/method.md`. A figure whose model the deal gives no inputs for is absent; one that is
undefined is None beside `<name>_reason`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from risk.cost import cost_of_ownership
from risk.engine import Model, Progress
from risk.finance.waterfall import Finances
from risk.power_density import choices
from risk.result import Result
from risk.score import debt
from risk.score.contract import cancellation, credits, delivery, reletting, repriced
from risk.score.counterparties import counterparties
from risk.score.cover import covenants, cover
from risk.score.credit_step import credit_step
from risk.score.equity import equity_return
from risk.score.left_out import ignored
from risk.score.protection import backstop, insurance
from risk.score.reason import Facts
from risk.score.reasons import reasons
from risk.score.value import residual_value
from risk.score.weak_points import site_power
from schemas.deal import Deal
from schemas.errors import MissingTermError, NotComputedError

FEWEST_DRAWS = 2
"""One future has no standard error."""
MOST_DRAW_MONTHS = 100_000_000
"""Futures times months of the largest score; the figures kept of more do not fit into memory. [month]"""
NOT_ASKED = "not asked"


def score(
    deal: Deal,
    draws: int = 10_000,
    seed: int = 20261130,
    workers: int = 1,
    progress: Progress | None = None,
    uncertainty: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the score as plain data, the same for any number of workers.

    Parameters
    ----------
    uncertainty
        What `parameter_uncertainty` found for the same deal, from which the grade's band and the share of judgement
        are taken; they are undefined when not given.

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
    months = model.setting.months
    if draws * months > MOST_DRAW_MONTHS:
        raise NotComputedError(
            "draws",
            f"a score of {draws:,} futures of {months:,} months, more than {MOST_DRAW_MONTHS:,} months in all,",
            f"ask for at most {MOST_DRAW_MONTHS // months:,}",
        )
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
        "delivery": delivery(model, result),
        "cancellation": cancellation(model, result),
        "credits": credits(model, result),
    }
    out |= _given(
        repriced=repriced(result),
        counterparties=counterparties(model, result),
        reletting=reletting(model, result),
        backstop=backstop(model, result),
        insurance=insurance(model, result),
    )
    if isinstance(finances, Finances):
        out |= _finance(model, finances, base, result)
    out |= _given(residual_value=residual_value(finances, base, result))
    out |= _tables(model, base)
    out |= _judgement(uncertainty)
    if isinstance(finances, Finances) and finances.plan is not None:
        power = site_power(model.setting)
        out |= credit_step(model, finances.plan, power, base, result, out["default"], uncertainty)
        out |= reasons(Facts(model, finances.plan, base, result, power, out, uncertainty))
    out["settings"] = _settings(model, len(later))
    out["prescribed"] = sorted(deal.assumptions.prescribed.model_dump(exclude_none=True))
    out["ignored"] = ignored(model)
    out["standard_errors"] = _errors(out)
    return out


def _given(**figures: dict[str, Any] | None) -> dict[str, Any]:
    """Return the figures whose model the deal gives inputs for."""
    return {name: figure for name, figure in figures.items() if figure is not None}


def _finance(model: Model, finances: Finances, base: Result, result: Result) -> dict[str, Any]:
    """Return sources and uses, default and loss, cover, returns and the base case, as far as the deal has debt."""
    out: dict[str, Any] = {"sources_and_uses": debt.sources(finances)}
    if finances.plan is not None:
        out["default"] = debt.default(finances, base, result)
        out["llcr"] = debt.life_cover(model, finances, base)
        out["equity_irr"] = equity_return(finances, base, result)
    if finances.service.any():
        out["dscr"] = cover(finances, base, result)
    out |= _given(covenants=covenants(result))
    out["base_case"] = {"rows": debt.base_rows(model, finances, base)}
    return out


def _tables(model: Model, base: Result) -> dict[str, Any]:
    """Return what stands beside the cash flow: the cost of ownership, and what a hall can become."""
    out: dict[str, Any] = {}
    monthly = {
        name: None if found is None else found[0]
        for name, found in (
            (name, base.monthly.get(name)) for name in ("gpu_value_total", "insurance_premium", "backstop_fee")
        )
    }
    try:
        out["cost"] = cost_of_ownership(
            model.setting,
            gpu_value=monthly["gpu_value_total"],
            insurance_premium=monthly["insurance_premium"],
            cover_fee=monthly["backstop_fee"],
        )
    except MissingTermError as error:
        out |= {"cost": None, "cost_reason": str(error)}
    deal = model.setting.deal
    if deal.power is not None and deal.power.density_choice is not None:
        out["power_density"] = choices(deal)
    return out


def _judgement(uncertainty: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the share of the variance of the expected loss that rests on judgement, or why there is none."""
    share = None if uncertainty is None else uncertainty.get("judgement_share")
    if share is not None:
        return {"judgement_share": share}
    reason = NOT_ASKED if uncertainty is None else uncertainty.get("judgement_share_reason", "not computed")
    return {"judgement_share": None, "judgement_share_reason": reason}


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
        "Base case: no default, outage, delay or exit; market on its median path without regimes or noise, the next "
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
