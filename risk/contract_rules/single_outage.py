"""One outage that lasts too long becomes a right to leave."""

from __future__ import annotations

from datetime import datetime

from risk.contract_rules.flaps import Outage
from risk.contract_rules.intervals import Spans, difference, exact_minutes, hours, length
from risk.core.computed import Computed, Step
from schemas.cancellation import SingleOutage

PARAGRAPH = "chronic-failure.single-outage"


def exact(outage: Outage, excluded: Spans, limb: SingleOutage, path: str) -> Computed[datetime | None]:
    """Return the moment at which one outage has lasted longer than the limb's hours, None when it has not.

    Parameters
    ----------
    excluded : excluded downtime, which does not count.
    limb : the terms.
    path : path of the limb.
    """
    counted = difference(outage.pieces, excluded)
    limit = hours(limb.hours)
    arises: datetime | None = None
    left = limit
    for start, end in counted:
        if end - start > left:
            arises = start + left
            break
        left -= end - start
    rule = f"the counted time of one outage is more than {limb.hours} hours; the right arises when they have passed"
    facts = {"outage": outage.span, "counted_minutes": exact_minutes(length(counted))}
    return Computed(arises, (Step(PARAGRAPH, rule, arises, facts, path),))
