"""Hour waivers: a clock hour in which the unit was down for too long is not charged."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from zoneinfo import ZoneInfo

from risk.contract_rules.credit_facts import ShapeCredit, ShapeFacts
from risk.contract_rules.intervals import MINUTE, Spans, union
from risk.core.computed import Computed, Step
from schemas.credit_shapes import HourWaiver

PARAGRAPH = "credit-schedule.hour-waiver"

ClockHour = tuple[date, int, timedelta]
"""Date and hour of the clock, with its distance from UTC: an hour that comes twice is two hours."""


def exact(facts: ShapeFacts, terms: HourWaiver, level_id: str) -> Computed[ShapeCredit]:
    """Return the price of the clock hours that are waived.

    Notes
    -----
    Clock hours are those of the contract's zone, where they may begin at half past an hour of UTC. Downtime within an
    hour is compared to the second; exactly the minutes of the term waive nothing.
    """
    down = down_by_clock_hour(union(s for o in facts.find_outages() for s in o.spans), facts.zone)
    waived = [hour for hour, time in down.items() if time > terms.minutes_in_clock_hour * MINUTE]
    rule = (
        "hours are those of the contract's zone, and one with more than "
        f"{terms.minutes_in_clock_hour} minutes of counted downtime is not charged"
    )
    inputs = {"hours_with_downtime": len(down), "hourly_price": facts.hourly_price}
    step = Step(PARAGRAPH, rule, len(waived), inputs, f"service_levels.{level_id}.credit.minutes_in_clock_hour")
    return Computed(ShapeCredit(len(waived) * facts.hourly_price), (step,))


def down_by_clock_hour(down: Spans, zone: str) -> dict[ClockHour, timedelta]:
    """Return the downtime within each clock hour of `zone` that has any."""
    found: dict[ClockHour, timedelta] = {}
    for hour, time in _pieces(down, ZoneInfo(zone)):
        found[hour] = found.get(hour, timedelta()) + time
    return found


def _pieces(down: Spans, zone: ZoneInfo) -> Iterator[tuple[ClockHour, timedelta]]:
    """Yield the pieces of downtime cut at the hours of a clock."""
    for start, end in down:
        moment = start
        while moment < end:
            local = moment.astimezone(zone)
            past = timedelta(minutes=local.minute, seconds=local.second, microseconds=local.microsecond)
            until = min(moment + timedelta(hours=1) - past, end)
            yield (local.date(), local.hour, local.utcoffset() or timedelta()), until - moment
            moment = until
