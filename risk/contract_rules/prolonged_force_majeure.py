"""Force majeure that lasts too long: either side may end the service of the unit while it is down."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise

from risk.contract_rules.deadlines import days_later
from risk.contract_rules.intervals import Spans
from risk.core.computed import Computed, Step
from schemas.exclusions import ForceMajeure

PARAGRAPH = "force-majeure.exit"
DAYS_LOOKED_BACK = 180
_TERM = "exclusions.force_majeure"


def exact(down: Spans, terms: ForceMajeure, zone: str) -> Computed[tuple[datetime, ...]]:
    """Return the moments at which force majeure has kept a unit down for more than the days in a row.

    Parameters
    ----------
    down : downtime of the unit that force majeure excused.
    zone : days are counted at the same time of day there.
    """
    moments = tuple(
        limit for start, end in down if (limit := days_later(start, terms.max_consecutive_days, zone)) < end
    )
    rule = f"force majeure keeps the unit down for more than {terms.max_consecutive_days} days in a row"
    step = Step(PARAGRAPH, rule, moments, {"down": down}, f"{_TERM}.max_consecutive_days")
    return Computed(moments, (step,))


def in_any_180_days(down: Spans, terms: ForceMajeure) -> Computed[datetime | None]:
    """Return the first moment at which force majeure has kept a unit down for more than its days in any 180 days."""
    limit = timedelta(days=terms.max_days_in_180)
    look_back = timedelta(days=DAYS_LOOKED_BACK)
    found: datetime | None = None
    for i, (start, end) in enumerate(down):
        found = _passes(start, end, down[: i + 1], limit, look_back)
        if found is not None:
            break
    rule = f"force majeure keeps the unit down for more than {terms.max_days_in_180} days in any 180 days"
    step = Step(PARAGRAPH, rule, found, {"down": down}, f"{_TERM}.max_days_in_180")
    return Computed(found, (step,))


def _passes(
    start: datetime, end: datetime, until_now: Spans, limit: timedelta, look_back: timedelta
) -> datetime | None:
    """Return when downtime of the last `look_back` passes `limit` between `start` and `end` of the last span.

    Between moments at which an earlier span starts or ends to leave the window, that downtime grows with time or stays.
    """
    leaving = {moment + look_back for span in until_now for moment in span}
    moments = sorted({start, end, *(m for m in leaving if start < m < end)})
    for moment, following in pairwise(moments):
        now, then = (_in_window(until_now, m, look_back) for m in (moment, following))
        if then > limit:
            return moment + (limit - now) if limit > now else moment
    return None


def _in_window(down: Spans, moment: datetime, look_back: timedelta) -> timedelta:
    start = moment - look_back
    return sum(
        (max(min(b, moment) - max(a, start), timedelta()) for a, b in down),
        timedelta(),
    )
