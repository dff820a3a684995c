"""The measurement period of one unit: a whole period in the contract's zone, or the part in service."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from functools import lru_cache

from risk.contract_rules.counting_rules import CountingRules
from risk.contract_rules.deadlines import days_later, local_day
from risk.contract_rules.intervals import Minutes, Span, Spans, clipped, exact_minutes, length, whole_minutes
from risk.core.computed import Computed, Step
from schemas.deal import Deal
from schemas.incidents import UnitService
from schemas.periods import MONTHS_OF, Part, Period, PeriodCalendar
from schemas.service_levels import Measurement

PARAGRAPH = "measurement-period.month"
IN_SERVICE_PARAGRAPH = "measurement-period.in-service"
FIRST_PARTIAL_PARAGRAPH = "measurement-period.first-partial"
ZONE_PARAGRAPH = "time-money-rules.zone"

FIXED_MONTH_MINUTES = 43_200
"""Minutes of every month where the contract fixes it at 30 days. [min]"""
KIND_WORDS = {
    "calendar_month": "the period is a calendar month",
    "billing_month": "the period is a month of billing",
    "rolling_days": "the period is a number of days",
    "quarter": "the period is a quarter of the calendar",
    "year": "the period is a year of the calendar",
}


@lru_cache(maxsize=4096)
def month_span(month: Period, zone: str) -> Span:
    """Return the time of a period in `zone`."""
    return month.start(zone), month.end(zone)


def period_calendar(deal: Deal, units: Sequence[UnitService] = (), first_service: date | None = None) -> PeriodCalendar:
    """Return the row of measurement periods of a deal.

    Parameters
    ----------
    units : units on record; the first day on which one of them is in service starts periods of a number of days.
    first_service : that day where no unit says it; the earliest Ready-for-Service Date of the deal when not given.
    """
    measurement = deal.measurement
    starts = [unit.in_service_from for unit in units if unit.in_service_from is not None]
    known: date | None = local_day(min(starts), measurement.zone) if starts else None
    if known is None and deal.delivery is not None:
        dates = [tranche.ready_for_service_date for tranche in deal.delivery.tranches.values()]
        known = min((day for day in dates if isinstance(day, date)), default=None)
    divided = measurement.amendment_applies == "at_date_split"
    return PeriodCalendar(
        measurement.period,
        measurement.zone,
        measurement.billing_day,
        measurement.rolling_days,
        known or first_service,
        tuple(sorted({a.effective_from for a in deal.amendments})) if divided else (),
    )


def joins_next(in_service: Spans, period: Span, measurement: Measurement) -> bool:
    """Return whether the part of a period in which service starts is measured together with the next period."""
    start, end = period
    first = in_service[0][0]
    if not start < first < end or in_service[-1][1] <= end:
        return False
    if measurement.first_partial == "own_period":
        return days_later(first, measurement.min_window_days, measurement.zone) > end
    return measurement.first_partial == "merge_next"


def exact(
    in_service: Spans,
    month: Period,
    measurement: Measurement,
    rules: CountingRules,
    level: str | None = None,
    since: datetime | None = None,
) -> Computed[Minutes | None]:
    """Return the minutes of one unit's period, None when the unit is not measured in this one. [min]

    Parameters
    ----------
    in_service : when the unit is in service, over all periods.
    since : start of its service where that lies in the period before, with which this one is measured together.

    Notes
    -----
    A part of a period keeps its real minutes also where every month counts 43,200, and so do periods of a number of
    days.
    """
    start, end = month_span(month, measurement.zone)
    steps = [
        Step(
            ZONE_PARAGRAPH,
            "the period runs from midnight to midnight in the contract's zone, changes of clocks included",
            (start, end),
            {"period": month, "zone": measurement.zone},
            "measurement.zone",
        )
    ]
    served = clipped(in_service, start, end)
    if not served:
        return Computed(None, tuple(steps))
    joins = joins_next(in_service, (start, end), measurement)
    if in_service[0][0] > start or since is not None:
        is_measured = measurement.first_partial != "none" and not joins
        steps.append(_first_part(in_service[0][0], measurement, is_measured=is_measured, joins=joins, since=since))
        if not is_measured:
            return Computed(None, tuple(steps))
    fixed = _fixed(month, measurement) if served == ((start, end),) and rules.month_length == "fixed_30" else None
    counted = served if since is None else clipped(in_service, since, end)
    window: Minutes
    if fixed is not None:
        window, rule = fixed, "every month counts 43,200 minutes"
        if since is not None:
            window += whole_minutes(length(clipped(in_service, since, start)))
    else:
        time = length(counted)
        window = exact_minutes(time) if rules.minute_rule == "exact_seconds" else whole_minutes(time)
        rule = "it has the minutes it has, changes of clocks included"
    facts = {"period": month, "kind": measurement.period}
    rule = f"{KIND_WORDS[measurement.period]}; {rule}"
    steps.append(Step(PARAGRAPH, rule, window, facts, rules.path("month_length", level)))
    if counted != ((start, end),):
        rule = "for a unit in service for part of the period, or for more than it, the period is its time in service"
        steps.append(Step(IN_SERVICE_PARAGRAPH, rule, window, {"in_service": counted}))
    return Computed(window, tuple(steps))


def _first_part(
    service_start: datetime, measurement: Measurement, *, is_measured: bool, joins: bool, since: datetime | None
) -> Step:
    """Return the step for the part of a period in which service starts."""
    term = "measurement.first_partial"
    if joins or since is not None:
        rule = "the part of a period in which service starts is measured together with the next period"
        if measurement.first_partial == "own_period":
            rule += f", for it is shorter than {measurement.min_window_days} days"
            term = "measurement.min_window_days"
    elif is_measured:
        rule = "the part of a period in which service starts is a period of its own"
    else:
        rule = "the part of a period in which service starts is not measured"
    return Step(FIRST_PARTIAL_PARAGRAPH, rule, is_measured, {"service_start": service_start}, term)


def _fixed(month: Period, measurement: Measurement) -> int | None:
    """Return the minutes of a whole period where each of its months counts 43,200; None where it has no months."""
    months = MONTHS_OF.get(measurement.period)
    is_whole = not isinstance(month, Part) or (month.first, month.after) == (
        month.whole.first_day(),
        month.whole.day_after(),
    )
    return FIXED_MONTH_MINUTES * months if months is not None and is_whole else None
