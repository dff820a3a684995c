"""Replacements that are late again and again become a right to leave."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from risk.core.computed import Computed, Step
from schemas.cancellation import ReplacementMissed

PARAGRAPH = "chronic-failure.replacement-missed"


def exact(late_from: Sequence[datetime], limb: ReplacementMissed, path: str) -> Computed[tuple[datetime, ...]]:
    """Return each moment at which a replacement that becomes late makes the limb's number within the window.

    Parameters
    ----------
    late_from : moments at which replacements of one service became late, in order of time.
    limb : the terms.
    path : path of the limb.
    """
    window = timedelta(days=limb.window_days)
    pairs = zip(late_from, late_from[limb.count - 1 :], strict=False)
    found = tuple(dict.fromkeys(last for first, last in pairs if last - first < window))
    rule = (
        f"{limb.count} replacements of one service become late within {limb.window_days} days; the right arises when "
        "the last of them becomes late"
    )
    return Computed(found, (Step(PARAGRAPH, rule, found, {"late_from": tuple(late_from)}, path),))
