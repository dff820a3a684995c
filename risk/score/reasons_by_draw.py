"""Reasons that hold in some draws: cover used up or not started, a failed provider, a default close to maturity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from risk.counterparty import default_probability
from risk.score.protection import used_up
from risk.score.reason import Facts, Reason, percent

OFTEN_USED_UP = 0.25
"""Probability that cover which pays is used up, above which it is a reason. [1]"""
WRONG_WAY = 2.0
"""Multiple of its own default probability at which the provider has failed when it is claimed on. [1]"""
LATE_MONTHS = 12
"""Months before the last payment in which a default is late. [month]"""
MUCH_LATE = 0.40
"""Share of defaults that are late, from which on they are a reason. [1]"""
YEAR = 12
"""[month]"""


def found(facts: Facts, causes: Sequence[Reason]) -> Iterator[Reason]:
    """Yield the conditions that hold often enough.

    Parameters
    ----------
    causes : reasons by cause that hold; cover that starts late matters where delivery does.
    """
    for reason in (_used_up(facts), _not_started(facts, causes), _wrong_way(facts), _late(facts)):
        if reason is not None:
            yield reason


def _used_up(facts: Facts) -> Reason | None:
    """R06: the cover is spent before the loan is repaid."""
    gone, paid = used_up(facts.model, facts.result), facts.result.total.get("cover_paid")
    if gone is None or paid is None or not (paid > 0).any():
        return None
    given = float(gone.mean()) / float((paid > 0).mean())
    if given <= OFTEN_USED_UP:
        return None
    terms = facts.deal.backstop
    assert terms is not None
    assert terms.amount is not None
    greatest = facts.result.worst["cover_paid"]
    stressed = float(np.quantile(greatest[paid > 0], 0.5))
    figures: dict[str, Any] = {
        "probability_used_up_where_it_pays": given,
        "months_at_the_greatest_payment": float(terms.amount) / stressed,
    }
    share = facts.share_in(gone)
    words = (
        f"The cover is used up in {percent(given)} of the futures in which it pays; at the greatest payment of such a "
        f"future it lasts {figures['months_at_the_greatest_payment']:.1f} months."
    )
    return Reason("R06", words, figures, "backstop.amount", share, gone)


def _not_started(facts: Facts, causes: Sequence[Reason]) -> Reason | None:
    """R07: the cover does not start before all tranches are ready, and delivery is a reason."""
    terms, setting = facts.deal.backstop, facts.model.setting
    if terms is None or not any(reason.code == "R01" for reason in causes):
        return None
    if terms.starts == "rfs_all":
        first = np.ceil(facts.result.column["ready"].max(axis=1)) + 1
    elif terms.start_date is not None and setting.timeline.at(terms.start_date) >= setting.planned_ready.max():
        first = np.full(facts.result.draws, np.floor(setting.timeline.at(terms.start_date)) + 1)
    else:
        return None
    uncovered = np.clip(first - facts.plan.first_payment_month, 0, None)
    month = facts.default_month
    before: NDArray[np.bool_] = (month > 0) & (month < first)
    figures = {
        "mean_payments_without_cover": float(uncovered.mean()),
        "probability_of_default_before_it_starts": float(before.mean()),
    }
    words = (
        f"The cover starts when every tranche is ready: {figures['mean_payments_without_cover']:.1f} payments fall due "
        f"before it on average, and {percent(figures['probability_of_default_before_it_starts'])} of futures default "
        "before it."
    )
    return Reason("R07", words, figures, "backstop.starts", facts.share_in(before), before)


def _wrong_way(facts: Facts) -> Reason | None:
    """R08: the provider fails when it is needed."""
    terms = facts.deal.assumptions.counterparties
    claim = facts.result.column.get("first_claim_month")
    if claim is None or terms.cover_provider is None or not (claim > 0).any():
        return None
    failed = facts.result.column["provider_failed_at_claim"]
    given = float(failed[claim > 0].mean())
    alone = float(default_probability(float(terms.cover_provider.default_rate) * claim[claim > 0] / YEAR).mean())
    if alone == 0 or given <= WRONG_WAY * alone:
        return None
    default = facts.out["default"]
    share = facts.share_in(failed)
    figures = {
        "provider_failed_given_claim": given,
        "provider_failed_by_the_same_months": alone,
        "correlation": float(terms.correlation) if terms.correlation else 0.0,
        "wrong_way_expected_loss_bp": share * (default.get("expected_loss_bp") or 0.0),
    }
    words = (
        f"The provider of the cover has failed in {percent(given)} of the futures in which it is first claimed on, "
        f"{given / alone:.1f} times what its own hazard gives, at a correlation of {figures['correlation']:g}."
    )
    return Reason("R08", words, figures, "assumptions.counterparties.correlation", share, failed)


def _late(facts: Facts) -> Reason | None:
    """R15: defaults close to maturity, because cover or reserve runs out."""
    month = facts.default_month
    late = month > facts.plan.last_payment_month - LATE_MONTHS
    if facts.plan.last_payment_month <= LATE_MONTHS:  # all of a loan this short is its last year
        return None
    if not (month > 0).any() or late.sum() < MUCH_LATE * (month > 0).sum():
        return None
    share = float(late.sum()) / float((month > 0).sum())
    figures = {
        "share_of_defaults": share,
        "from_month": facts.plan.last_payment_month - LATE_MONTHS + 1,
        "hazard_by_year": _hazards(month, facts.result.months),
    }
    words = (
        f"{percent(share)} of the defaults come in the last {LATE_MONTHS} months of the loan, when cover or reserve "
        "runs out."
    )
    return Reason("R15", words, figures, "finance.reserve.months", facts.share_in(late), late)


def _hazards(month: NDArray[np.int64], months: int) -> list[float]:
    """Return the share of draws that default in each year from close among those that have not before. [1]"""
    hazards = []
    for start in range(0, months, YEAR):
        open_ = (month == 0) | (month > start)
        now = (month > start) & (month <= start + YEAR)
        hazards.append(float(now.sum() / open_.sum()) if open_.any() else 0.0)
    return hazards
