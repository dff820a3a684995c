"""Downtime that adds up within a rolling window becomes a right to leave."""

from __future__ import annotations

from datetime import datetime, timedelta

from risk.contract_rules import rolling_window
from risk.contract_rules.intervals import Spans, exact_minutes, hours, length
from risk.core.computed import Computed, Step
from schemas.cancellation import CumulativeHours

PARAGRAPH = "chronic-failure.cumulative-hours"


def exact(counted: Spans, limb: CumulativeHours, path: str) -> Computed[tuple[datetime, ...]]:
    """Return each moment at which the counted time of one unit in the window comes to be more than the limb's hours.

    Parameters
    ----------
    counted : downtime of the unit, exclusions taken out, over all periods.
    limb : the terms.
    path : path of the limb.

    Notes
    -----
    A day of the window has 24 hours, also where clocks change.
    """
    moments = rolling_window.passes(counted, hours(limb.hours), timedelta(days=limb.window_days))
    rule = (
        f"counted downtime of one unit in any {limb.window_days} days is more than {limb.hours} hours; the right "
        "arises when it comes to be more"
    )
    facts = {"counted_minutes": exact_minutes(length(counted)), "outages": counted}
    return Computed(moments, (Step(PARAGRAPH, rule, moments, facts, path),))
