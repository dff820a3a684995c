"""Why the grade is what it is: at most five reasons, each with its figures and the term it points at.

Three kinds, in this order. Causes of default divide the expected loss among themselves. Conditions of a draw (cover
used up, cover not started, provider failed, default close to maturity) overlap with causes and with each other: they
are ordered by the loss that no condition before them explains. Facts about the deal as typed carry no share of it.
"""

from __future__ import annotations

from typing import Any

from risk.score import reasons_by_cause, reasons_by_draw, reasons_by_fact
from risk.score.reason import Facts, Reason

MOST = 5
"""Reasons listed; the codes of others that hold are named beside them."""


def reasons(facts: Facts) -> dict[str, Any]:
    """Return `reasons`, and the codes of those that hold and are not listed."""
    causes = sorted(reasons_by_cause.found(facts), key=lambda reason: -(reason.loss_share or 0.0))
    carrying = [reason for reason in causes if reason.loss_share is not None]
    conditions = _by_what_is_left(list(reasons_by_draw.found(facts, causes)), facts)
    typed = [*(reason for reason in causes if reason.loss_share is None), *reasons_by_fact.found(facts)]
    ordered = [*carrying, *conditions, *typed]
    return {
        "reasons": [reason.as_json() for reason in ordered[:MOST]],
        "reasons_not_listed": [reason.code for reason in ordered[MOST:]],
    }


def _by_what_is_left(found: list[Reason], facts: Facts) -> list[Reason]:
    """Return conditions by the loss of their draws that no condition before them explains, the greatest first."""
    ordered: list[Reason] = []
    left = facts.loss.copy()
    while found:
        best = max(found, key=lambda reason: float(left[reason.draws].sum()))
        found.remove(best)
        left[best.draws] = 0.0
        ordered.append(best)
    return ordered
