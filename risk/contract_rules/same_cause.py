"""Outages that come back for the same cause become a right to leave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from risk.core.computed import Computed, Step
from schemas.cancellation import SameCause

PARAGRAPH = "chronic-failure.same-cause"


def exact(starts: Mapping[str, Sequence[datetime]], limb: SameCause, path: str) -> Computed[tuple[datetime, ...]]:
    """Return each moment at which an outage makes the limb's number for one cause within the window.

    Parameters
    ----------
    starts : cause on record to the starts of the counted outages of one unit with that cause, in order of time.
    limb : the terms.
    path : path of the limb.

    Notes
    -----
    The window starts with the first of these outages and does not include its end, the same time of day
    `window_days` days of 24 hours later. An outage without a cause on record counts for none.
    """
    window = timedelta(days=limb.window_days)
    found: dict[datetime, str] = {}
    for cause, moments in starts.items():
        for first, last in zip(moments, moments[limb.count - 1 :], strict=False):
            if last - first < window:
                found[last] = cause
    rule = (
        f"{limb.count} counted outages of one unit with the same cause on record start within {limb.window_days} "
        "days; the right arises when the last of them starts"
    )
    facts = {"causes": {cause: tuple(moments) for cause, moments in starts.items()}}
    return Computed(tuple(sorted(found)), (Step(PARAGRAPH, rule, tuple(sorted(found)), facts, path),))
