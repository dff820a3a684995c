"""Planned work: notice, announced times, and hours that are used up in order of time."""

from __future__ import annotations

from datetime import datetime

from risk.contract_rules.deadlines import days_later
from risk.contract_rules.intervals import Spans
from risk.core.computed import Computed, Step
from schemas.exclusions import ScheduledMaintenance
from schemas.incidents import Notice, Window

PARAGRAPH = "scheduled-maintenance.notice"
LATE_PARAGRAPH = "scheduled-maintenance.late"
OVERRUN_PARAGRAPH = "scheduled-maintenance.overrun"
_TERM = "exclusions.scheduled"


def exact(
    window: Window, notice: Notice | None, names: frozenset[str], terms: ScheduledMaintenance, zone: str
) -> Computed[Spans]:
    """Return the part of a window of planned work that is scheduled maintenance for one unit.

    Parameters
    ----------
    notice : the notice on record for the window.
    names : the unit and the units that contain it.
    zone : days of notice are counted at the same time of day there.
    """
    rule = f"a notice at least {terms.notice_days} days before the work must name the units, the start and the end"
    facts: dict[str, object] = {"window": window.id, "notice": notice.id if notice else None}
    if notice is None or not is_named(names, notice.unit_ids):
        facts["found"] = "no notice on record" if notice is None else "the notice does not name the unit"
        return Computed((), (Step(PARAGRAPH, rule, False, facts, f"{_TERM}.notice_days"),))
    start, end, steps = announced(window, notice, OVERRUN_PARAGRAPH)
    if start >= end:
        return Computed((), steps)
    earliest = days_later(notice.sent_at, terms.notice_days, zone)
    facts |= {"sent_at": notice.sent_at, "work_starts": start, "notice_has_run": earliest}
    on_time = earliest <= start
    steps += (Step(PARAGRAPH, rule, on_time, facts, f"{_TERM}.notice_days"),)
    if on_time:
        return Computed(((start, end),), steps)
    if terms.partial_notice == "void":
        valid: Spans = ()
        rule = "the notice was late: none of the work is scheduled maintenance"
    else:
        valid = ((earliest, end),) if earliest < end else ()
        rule = "the notice was late: only work after the full time of notice is scheduled maintenance"
    return Computed(
        valid, (*steps, Step(LATE_PARAGRAPH, rule, valid, {"window": window.id}, f"{_TERM}.partial_notice"))
    )


def is_named(names: frozenset[str], unit_ids: tuple[str, ...]) -> bool:
    """Return whether a list of units, all of them when empty, holds the unit or one that contains it."""
    return not unit_ids or not names.isdisjoint(unit_ids)


def announced(
    window: Window, notice: Notice, overrun_paragraph: str | None
) -> tuple[datetime, datetime, tuple[Step, ...]]:
    """Return the start and end of a window cut to the announced times, with a step where that cuts it."""
    start = max(window.starts_at, notice.covers_from or window.starts_at)
    end = min(window.ends_at, notice.covers_to or window.ends_at)
    if overrun_paragraph is None or (start == window.starts_at and end == window.ends_at):
        return start, end, ()
    rule = "only work between the announced start and the announced end is scheduled maintenance"
    facts = {"window": window.id, "announced": (notice.covers_from, notice.covers_to)}
    return start, end, (Step(overrun_paragraph, rule, (start, end), facts),)
