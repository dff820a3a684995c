"""How long a right to leave stays open."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from risk.contract_rules import deadlines
from risk.contract_rules.deadlines import DayCount, day_after, days_later, midnight
from risk.core.computed import Computed, Step
from schemas.periods import Duration

PARAGRAPH = "chronic-failure.exercise"
CURE_PARAGRAPH = "chronic-failure.cure"


@dataclass(frozen=True, slots=True)
class Window:
    """When a right can be exercised: from its first moment up to, not including, its second."""

    opens: datetime
    closes: datetime


def exact(
    arises: datetime,
    event_day: date,
    exercise: Duration,
    cure_days: int,
    zone: str,
    *,
    paragraph: str = PARAGRAPH,
    term: str = "cancellation.chronic_failure",
    day_count: DayCount = "exclude_event_day",
) -> Computed[Window]:
    """Return the exercise window of a right.

    Parameters
    ----------
    arises : the moment at which it arises.
    event_day : the day of the event that gives rise to it.
    exercise : how long it stays open; a duration of nothing is the moment itself.
    cure_days : days from that moment in which the failure may still be cured, before the window opens.
    zone : the contract's zone.
    day_count : whether the day after the event is day 1, or its own day.
    """
    steps: list[Step] = []
    opens = days_later(arises, cure_days, zone) if cure_days else arises
    if cure_days:
        rule = f"the right can be exercised after {cure_days} days in which the failure has not been cured"
        steps.append(Step(CURE_PARAGRAPH, rule, opens, {"arises": arises}, f"{term}.cure_days"))
        event_day += timedelta(days=cure_days)
    if not (exercise.months or exercise.days):
        closes = opens
    elif exercise.days is not None:
        deadline = deadlines.exact(event_day, exercise.days, zone, term=f"{term}.exercise", day_count=day_count)
        closes = deadline.value
        steps += deadline.steps
    else:
        last_day = day_after(event_day, exercise, f"{term}.exercise")
        closes = midnight(last_day + timedelta(days=day_count == "exclude_event_day"), zone)
    rule = f"the right stays open for {exercise}; unused it lapses, and may arise anew"
    steps.append(Step(paragraph, rule, (opens, closes), {"event_day": event_day}, f"{term}.exercise"))
    return Computed(Window(opens, closes), tuple(steps))
