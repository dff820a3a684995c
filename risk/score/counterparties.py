"""Whether those who owe money can pay: the customer, the provider of the backstop, and both together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from risk.core.statistics import probability
from risk.counterparty import default_probability, joint_default_probability
from risk.engine import Model
from risk.result import Result
from risk.score.grade import step_of_hazard
from risk.score.incidence import incidence
from schemas.assumptions import Counterparties

YEAR = 12
"""[month]"""


def counterparties(model: Model, result: Result) -> dict[str, Any] | None:
    """Return the defaults of customer and cover provider beside their closed forms, None where neither may fail.

    Notes
    -----
    Closed forms are those of a constant hazard; a customer whose hazard follows the market has none. `step` is the
    party's own place on the scale of the grade, by its hazard.
    """
    terms = model.setting.deal.assumptions.counterparties
    months = result.months
    out: dict[str, Any] = {}
    customer = provider = None
    if terms.customer is not None and "customer_default_month" in result.column:
        customer = result.column["customer_default_month"].astype(np.int64)
        link = terms.customer.market_link
        exact = link is None or float(link) == 0
        out["customer"] = _party(customer, months, float(terms.customer.default_rate), exact)
    if terms.cover_provider is not None and "cover_provider_default_time" in result.column:
        time = result.column["cover_provider_default_time"]
        provider = np.where(time <= months, np.ceil(np.minimum(time, months)), 0).astype(np.int64)
        out["cover_provider"] = _party(provider, months, float(terms.cover_provider.default_rate), True)
    if customer is not None and provider is not None:
        out["both"] = probability("pd_term", (customer > 0) & (provider > 0))
        exact_figure = _both(terms, months)
        out["both"]["pd_term_exact"] = exact_figure
        if exact_figure is None:
            out["both"]["pd_term_exact_reason"] = "the customer's hazard follows the market"
    if "first_claim_month" in result.column:
        out |= provider_at_claim(model, result)
    return out or None


def provider_at_claim(model: Model, result: Result) -> dict[str, Any]:
    """Return how often the provider has failed by a draw's first claim, beside what its hazard alone would give."""
    claim = result.column["first_claim_month"].astype(np.int64)
    claims = claim > 0
    names = ("provider_failed_given_claim", "provider_failed_by_the_same_months")
    terms = model.setting.deal.assumptions.counterparties.cover_provider
    if claims.sum() < 2 or terms is None:
        reason = "the provider never fails" if terms is None else "no claim drawn"
        return dict.fromkeys(names) | {f"{name}_reason": reason for name in names}
    failed = result.column["provider_failed_at_claim"][claims]
    alone = default_probability(float(terms.default_rate) * claim[claims] / YEAR)
    return probability(names[0], failed) | {names[1]: float(alone.mean())}


def _party(month: NDArray[np.int64], months: int, rate: float, exact: bool) -> dict[str, Any]:
    """Return one party's probability of default by month, with the closed form where there is one."""
    out = probability("pd_12_months", (month > 0) & (month <= YEAR))
    out |= probability("pd_term", month > 0)
    for name, by in (("pd_12_months", min(YEAR, months)), ("pd_term", months)):
        out[f"{name}_exact"] = float(default_probability(rate * by / YEAR)) if exact else None
        if not exact:
            out[f"{name}_exact_reason"] = "the hazard follows the market"
    out |= incidence("by_month", month, months)
    out["hazard_per_year"] = rate
    out["step"] = step_of_hazard(rate)
    return out


def _both(terms: Counterparties, months: int) -> float | None:
    """Return the exact probability that both default within the months, None without a constant hazard. [1]"""
    assert terms.customer is not None
    assert terms.cover_provider is not None
    if terms.customer.market_link is not None and float(terms.customer.market_link) != 0:
        return None
    first, second = (
        default_probability(float(party.default_rate) * months / YEAR)
        for party in (terms.customer, terms.cover_provider)
    )
    return float(joint_default_probability(first, second, float(terms.correlation) if terms.correlation else 0.0))
