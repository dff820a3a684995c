"""Credits that reach a cap become a right to leave."""

from __future__ import annotations

from risk.contract_rules.lines import Limit
from risk.core.computed import Computed, Step
from schemas.cancellation import CapReached

PARAGRAPH = "chronic-failure.cap-reached"


def exact(limit: Limit | None, limb: CapReached, path: str) -> Computed[bool]:
    """Return whether the credits of a service reach a cap in a period.

    Parameters
    ----------
    limit : the cap and how far it is used up before and after the period; None where the contract has no such cap.
    limb : the terms.
    path : path of the limb.
    """
    if limit is None:
        return Computed(False, ())
    reached = limit.before < limit.cap and limit.cap <= limit.after
    rule = f"the credits of a service reach the cap of the {limb.cap}; the right arises when that period ends"
    facts = {"cap": limit.cap, "given_before": limit.before, "given_after": limit.after}
    return Computed(reached, (Step(PARAGRAPH, rule, reached, facts, path),))
