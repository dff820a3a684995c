"""Reasons that are causes of default: delivery, service, the customer, notice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from risk.score.firmness import firmness
from risk.score.reason import Facts, Reason, percent
from schemas.cancellation import BadMonths

MUCH = 0.15
"""Share of the expected loss from which on delivery, service or the customer is a reason. [1]"""
SOME = 0.05
"""The same for notice. [1]"""


def found(facts: Facts) -> Iterator[Reason]:
    """Yield the causes that carry enough of the expected loss."""
    for rule in (_delivery, _service, _customer, _notice):
        reason = rule(facts)
        if reason is not None:
            yield reason


def _delivery(facts: Facts) -> Reason | None:
    """R01: late delivery and the long stop."""
    share = facts.share_of("late_delivery", "long_stop")
    if share < MUCH:
        return None
    setting, deal = facts.model.setting, facts.deal
    assert deal.finance is not None
    assert deal.delivery is not None
    delay = facts.result.column["ready"] - setting.planned_ready
    held = deal.finance.reserve.months if deal.finance.reserve else 0
    figures: dict[str, Any] = {
        "late_delivery_share": facts.share_of("late_delivery"),
        "long_stop_share": facts.share_of("long_stop"),
        "reserve_months": held,
        "probability_of_delay_beyond_the_reserve": float((delay > held).any(axis=1).mean()),
    }
    words = (
        f"Late delivery and the long stop carry {percent(share)} of the expected loss; a tranche is later than the "
        f"reserve of {held} months in {percent(figures['probability_of_delay_beyond_the_reserve'])} of futures"
    )
    after = [
        setting.timeline.length(stop.after) if (stop := deal.delivery.tranches[name].long_stop) else np.inf
        for name in setting.tranches
    ]
    if np.isfinite(after).any():
        figures["probability_past_a_long_stop"] = float((delay > np.array(after)).any(axis=1).mean())
        words += f", past its long stop in {percent(figures['probability_past_a_long_stop'])}"
    return Reason("R01", f"{words}.", figures, "assumptions.delay", share)


def _service(facts: Facts) -> Reason | None:
    """R02: exits for chronic failure."""
    share = facts.share_of("chronic_failure")
    terms = facts.deal.cancellation.chronic_failure
    if share < MUCH or terms is None:
        return None
    column, months = facts.result.column, facts.result.months
    arises = column.get("arose:chronic_failure", np.zeros(facts.result.draws, dtype=bool))
    used = facts.out["cancellation"]["by_cause"]["chronic_failure"]
    figures: dict[str, Any] = {
        "share": share,
        "probability_a_right_arises": float(arises.mean()),
        "probability_of_exit": used,
    }
    words = (
        f"Exits for chronic failure carry {percent(share)} of the expected loss; a right arises in "
        f"{percent(figures['probability_a_right_arises'])} of futures and ends the contract in {percent(used)}"
    )
    path = "cancellation.chronic_failure"
    for i, limb in enumerate(terms.limbs):
        bad = facts.result.total.get(f"bad_month:{i}")
        if isinstance(limb, BadMonths) and bad is not None:
            yearly = float(bad.mean()) * 12 / months
            figures |= {"bad_months_a_year": yearly, "below": float(limb.below), "k": limb.k, "m": limb.m}
            words += f"; {yearly:.2g} months a year are below {100 * limb.below:g}%, {limb.k} in {limb.m} give it"
            path = f"cancellation.chronic_failure.limbs[{i}]"
            break
    return Reason("R02", f"{words}.", figures, path, share)


def _customer(facts: Facts) -> Reason | None:
    """R03: the customer's own default."""
    share = facts.share_of("customer_default")
    customer = facts.deal.assumptions.counterparties.customer
    if share < MUCH or customer is None:
        return None
    pd = facts.out["counterparties"]["customer"]["pd_term"]
    figures = {
        "share": share,
        "pd_of_the_customer": pd,
        "market_link": float(customer.market_link) if customer.market_link else 0.0,
        "months": facts.result.months,
    }
    words = (
        f"Default of the customer carries {percent(share)} of the expected loss; it fails within {facts.result.months} "
        f"months in {percent(pd)} of futures"
    )
    if figures["market_link"]:
        words += f", more often in a cheap market (link {figures['market_link']:g})"
    return Reason("R03", f"{words}.", figures, "assumptions.counterparties.customer.default_rate", share)


def _notice(facts: Facts) -> Reason | None:
    """R04: notice, or a term that ends before the loan."""
    share = facts.share_of("convenience")
    term = firmness(facts.model.setting, facts.plan)
    if share < SOME and term.tail == 0:
        return None
    figures: dict[str, Any] = {
        "share": share,
        "firm_to_month": term.firm_end,
        "last_payment_month": term.last_payment,
        "tail_balance": 0.0,
    }
    words = f"Exits on notice carry {percent(share)} of the expected loss"
    if term.tail > 0:
        end = min(int(term.firm_end), len(facts.plan.closing))
        balance = float(facts.plan.closing[end - 1]) if end > 0 else facts.plan.commitment
        figures["tail_balance"] = balance
        words += (
            f"; fees are firm to month {term.firm_end:.0f} of {term.last_payment}, when "
            f"{percent(balance / facts.plan.commitment)} of the loan is still owed"
        )
    path = "cancellation.convenience" if facts.deal.cancellation.convenience else "commercial.term"
    return Reason("R04", f"{words}.", figures, path, share if share >= SOME else None)
