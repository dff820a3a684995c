"""How a Ready-for-Service Date moves: days of a cause on the list, asked for in time, each day once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

from risk.contract_rules import deadlines
from risk.core.computed import Computed, Step
from schemas.delivery import Delivery
from schemas.exclusions import ForceMajeure
from schemas.incidents import DelayEvent

PARAGRAPH = "delivery-milestones.extension"
NOTICE_PARAGRAPH = "delivery-milestones.notice"


def exact(
    tranche: str,
    planned: date,
    events: Sequence[DelayEvent],
    terms: Delivery,
    relief: ForceMajeure,
    zone: str,
    calendars: Sequence[str],
) -> Computed[date]:
    """Return the Ready-for-Service Date of one tranche with its extensions.

    Parameters
    ----------
    planned : the date as agreed.
    events : causes of delay on record; those of other tranches are left out.
    relief : what force majeure is.
    zone : the day of a notice is its day there.
    calendars : holidays that are no Business Days.

    Notes
    -----
    The date moves by the number of different days on which a cause that is allowed held the tranche up. Whether a
    cause lay on the critical path is a fact that the record gives (`critical_days`), not one that the rule finds.
    """
    steps: list[Step] = []
    days: set[date] = set()
    for event in sorted(events, key=lambda e: (e.from_day, e.to_day, e.id)):
        if event.tranches and tranche not in event.tranches:
            continue
        is_listed = event.head in terms.extension_heads
        if is_listed and event.head == "force_majeure":
            is_listed = event.event in relief.events and event.event not in relief.never
        length = (event.to_day - event.from_day).days
        length = length if event.critical_days is None else min(length, event.critical_days)
        rule = "a date moves only for a cause on the list, by the days by which it in fact delays the tranche"
        facts: dict[str, object] = {"event": event.id, "head": event.head, "from": event.from_day, "days": length}
        steps.append(Step(PARAGRAPH, rule, is_listed, facts, "delivery.extension_heads"))
        if is_listed and _in_time(event, terms, zone, calendars, steps):
            days |= {event.from_day + timedelta(days=i) for i in range(length)}
    moved = planned + timedelta(days=len(days))
    facts = {"tranche": tranche, "date": planned, "days": len(days)}
    steps.append(Step(PARAGRAPH, "days with more than one cause count once", moved, facts))
    return Computed(moved, tuple(steps))


def _in_time(event: DelayEvent, terms: Delivery, zone: str, calendars: Sequence[str], steps: list[Step]) -> bool:
    """Return whether an extension was asked for in time, and add the step."""
    last = deadlines.business_days_after(event.from_day, terms.notice_business_days, calendars)
    given = None if event.notice_at is None else deadlines.local_day(event.notice_at, zone)
    in_time = given is not None and given <= last
    rule = (
        f"notice is given within {terms.notice_business_days} business days after the cause begins, or the date stays"
    )
    facts = {"event": event.id, "from": event.from_day, "notice": given, "last_day": last}
    steps.append(Step(NOTICE_PARAGRAPH, rule, in_time, facts, "delivery.notice_business_days"))
    return in_time
