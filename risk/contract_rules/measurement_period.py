"""The measurement period of one unit: a calendar month in the contract's zone, or the part in service."""

from __future__ import annotations

from functools import lru_cache

from risk.contract_rules.counting_rules import CountingRules
from risk.contract_rules.intervals import Minutes, Span, Spans, clipped, exact_minutes, length, whole_minutes
from risk.core.computed import Computed, Step
from schemas.periods import Month
from schemas.service_levels import Measurement

PARAGRAPH = "measurement-period.month"
IN_SERVICE_PARAGRAPH = "measurement-period.in-service"
FIRST_PARTIAL_PARAGRAPH = "measurement-period.first-partial"
ZONE_PARAGRAPH = "time-money-rules.zone"

FIXED_MONTH_MINUTES = 43_200
"""Minutes of every month where the contract fixes it at 30 days. [min]"""


@lru_cache(maxsize=4096)
def month_span(month: Month, zone: str) -> Span:
    """Return a calendar month in `zone`."""
    return month.start(zone), month.end(zone)


def exact(
    in_service: Spans, month: Month, measurement: Measurement, rules: CountingRules, level: str | None = None
) -> Computed[Minutes | None]:
    """Return the minutes of one unit's period, None when the unit is not measured in this month. [min]

    Parameters
    ----------
    in_service : when the unit is in service, over all months.

    Notes
    -----
    A part of a month keeps its real minutes also where every month counts 43,200.
    """
    start, end = month_span(month, measurement.zone)
    served = clipped(in_service, start, end)
    steps = [
        Step(
            ZONE_PARAGRAPH,
            "the month runs from midnight to midnight in the contract's zone, changes of clocks included",
            (start, end),
            {"month": month, "zone": measurement.zone},
            "measurement.zone",
        )
    ]
    if not served:
        return Computed(None, tuple(steps))
    whole = served == ((start, end),)
    partial_start = in_service[0][0] > start
    if partial_start:
        is_measured = measurement.first_partial == "own_period"
        steps.append(
            Step(
                FIRST_PARTIAL_PARAGRAPH,
                "the part of a month in which service starts is a period of its own"
                if is_measured
                else "the part of a month in which service starts is not measured",
                is_measured,
                {"service_start": in_service[0][0]},
                "measurement.first_partial",
            )
        )
        if not is_measured:
            return Computed(None, tuple(steps))
    window: Minutes
    if whole and rules.month_length == "fixed_30":
        window, rule = FIXED_MONTH_MINUTES, "every month counts 43,200 minutes"
    else:
        time = length(served)
        window = exact_minutes(time) if rules.minute_rule == "exact_seconds" else whole_minutes(time)
        rule = "the period has the minutes of the month"
    steps.append(Step(PARAGRAPH, rule, window, {"month": month}, rules.path("month_length", level)))
    if not whole:
        rule = "for a unit in service for part of the month the period is that part"
        steps.append(Step(IN_SERVICE_PARAGRAPH, rule, window, {"in_service": served}))
    return Computed(window, tuple(steps))
