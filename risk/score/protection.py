"""Who pays when something fails: the backstop's ledger and the insurance layers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from risk.core.statistics import estimate, probability
from risk.engine import Model
from risk.result import Result
from risk.score.counterparties import provider_at_claim

FloatArray = NDArray[np.float64]
NOTHING_LEFT = 0.005
"""What is left of a limit up to this is nothing. [currency]"""
NOT_PAID = ("not_started", "provider_failed", "beyond_limit")
"""Why a sum that the formula gives is not paid."""
FOR_THE_LENDER = ("first_loss", "payment_guarantee")
"""Shapes that may give the lender something towards its loss."""
NO_LIMIT = "the cover has no limit in all"


def backstop(model: Model, result: Result) -> dict[str, Any] | None:
    """Return the ledger of the cover over the draws, None where the deal has none.

    Notes
    -----
    `expected_paid` is what is paid month by month; for a first loss it is the payment at default.
    `expected_for_the_lender_at_default` is what the lender is given towards its loss; an assignable guarantee gives it
    beside what was paid before, a first loss gives it as its payment.
    """
    terms = model.setting.deal.backstop
    if terms is None or "cover_paid" not in result.total:
        return None
    paid, column = result.total["cover_paid"], result.column
    out: dict[str, Any] = {
        "shape": terms.shape,
        "provider": terms.provider,
        "amount": float(terms.amount) if terms.amount is not None else None,
    }
    if out["amount"] is None:
        out["amount_reason"] = NO_LIMIT
    out |= estimate("expected_paid", paid)
    out |= probability("probability_pays", paid > 0)
    used = used_up(model, result)
    if used is None:
        out |= {"probability_used_up": None, "probability_used_up_reason": NO_LIMIT}
    else:
        out |= probability("probability_used_up", used)
    out["expected_not_paid"] = {}
    for name in NOT_PAID:
        out["expected_not_paid"] |= estimate(name, _total(result, f"cover_{name}"))
    out |= estimate("expected_fee", _total(result, "backstop_fee"))
    if terms.revenue_share:
        out |= estimate("expected_revenue_share", _total(result, "backstop_revenue_share"))
    if terms.shape == "leaseback":
        out |= estimate("expected_market_revenue_of_the_lessee", _total(result, "cover_market_revenue"))
    if terms.shape in FOR_THE_LENDER and "loss_cover" in column:
        out |= estimate("expected_for_the_lender_at_default", column["loss_cover"])
    out["by_month"] = _ledger(result)
    failed = provider_at_claim(model, result)
    out |= {f"probability_{name}": value for name, value in failed.items()}
    return out


def used_up(model: Model, result: Result) -> NDArray[np.bool_] | None:
    """Return whether nothing is left of the cover's amount in each draw, (draws,); None where none is agreed.

    A limit that falls by agreement is used up when it cuts a claim.
    """
    terms = model.setting.deal.backstop
    if terms is None or terms.amount is None:
        return None
    paid = _total(result, "cover_paid") > 0
    if terms.amortisation_months is not None:
        return np.asarray(paid & (_total(result, "cover_beyond_limit") > NOTHING_LEFT))
    left = result.column.get("cover_left")
    if left is None:
        return np.zeros(result.draws, dtype=bool)
    return np.asarray(paid & (left <= NOTHING_LEFT))


def _total(result: Result, name: str) -> FloatArray:
    return result.total.get(name, np.zeros(result.draws))


def _ledger(result: Result) -> dict[str, Any]:
    """Return what is paid and left on average in each month, with standard errors."""
    out: dict[str, Any] = {"months": list(range(1, result.months + 1))}
    for name, array in (("expected_paid", "cover_paid"), ("expected_left", "cover_left")):
        found = result.mean_of_month(array)
        if found is None:
            out |= {name: None, f"{name}_reason": NO_LIMIT}
        else:
            out |= {name: found[0].tolist(), f"{name}_standard_errors": found[1].tolist()}
    return out


def insurance(model: Model, result: Result) -> dict[str, Any] | None:
    """Return what each layer pays, None where the deal has no insurance."""
    terms = model.setting.deal.insurance
    if terms is None or "insurance_recovery" not in result.total:
        return None
    out = estimate("expected_paid", result.total["insurance_recovery"])
    out |= estimate("paid_while_the_loan_lives", result.living["insurance_recovery"])
    out |= estimate("expected_premium", _total(result, "insurance_premium"))
    layers: dict[str, Any] = {}
    for name, layer in terms.layers.items():
        paid = _total(result, f"insurance_recovery:{name}")
        entry: dict[str, Any] = {"trigger": layer.trigger, "premium_per_month": float(layer.premium_per_month)}
        entry |= estimate("expected_paid", paid)
        entry |= probability("probability_pays", paid > 0)
        greatest = result.worst.get(f"insured_this_year:{name}")
        if layer.year_cap is None or greatest is None:
            entry |= {"probability_year_cap": None, "probability_year_cap_reason": "the layer has no cap a year"}
        else:
            entry |= probability("probability_year_cap", greatest >= float(layer.year_cap) - NOTHING_LEFT)
        layers[name] = entry
    return out | {"layers": layers}
