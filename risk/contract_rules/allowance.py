"""Hours that may be excluded in a month, a quarter or a contract year, used up in order of time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal

from risk.contract_rules.intervals import Span, Spans, exact_minutes, hours, union
from risk.contract_rules.measurement_period import month_span
from risk.core.computed import Computed, Step
from schemas.periods import Month

MONTH_PARAGRAPH = "scheduled-maintenance.cap"
QUARTER_PARAGRAPH = "emergency-maintenance.cap"
CLUSTER_PARAGRAPH = "scheduled-maintenance.cluster-cap"
YEAR_PARAGRAPH = "excluded-downtime.year-cap"

_PERIODS = {
    MONTH_PARAGRAPH: "month",
    QUARTER_PARAGRAPH: "quarter",
    CLUSTER_PARAGRAPH: "quarter",
    YEAR_PARAGRAPH: "contract year",
}
Periods = Callable[[datetime], Span]
"""Moment to the period of the allowance that holds it."""


def months(zone: str) -> Periods:
    """Return calendar months in `zone`."""
    return lambda moment: month_span(Month.of(moment, zone), zone)


def quarters(first_month: Month, zone: str) -> Periods:
    """Return quarters of the contract year: three calendar months each, counted from its first month."""
    return _months_together(3, first_month, zone)


def years(first_month: Month, zone: str) -> Periods:
    """Return contract years: twelve calendar months each, counted from the first month of one."""
    return _months_together(12, first_month, zone)


def _months_together(number: int, first_month: Month, zone: str) -> Periods:
    def period(moment: datetime) -> Span:
        now = Month.of(moment, zone)
        since = (now.year - first_month.year) * 12 + now.month - first_month.month
        start = first_month.plus(since - since % number)
        return month_span(start, zone)[0], month_span(start.plus(number - 1), zone)[1]

    return period


def exact(
    wanted: Spans, cap_hours: Decimal | None, periods: Periods, paragraph: str, term: str, *, of: str = "one unit"
) -> Computed[Spans]:
    """Return the part of `wanted` that the allowance covers, with one step for each period that it is used in.

    Parameters
    ----------
    wanted : downtime that the head covers, not excluded for another reason.
    cap_hours : greatest excluded time in one period; no limit when None. [h]
    of : whose time it is, in words.
    """
    if cap_hours is None or not wanted:
        return Computed(wanted, ())
    cap = hours(cap_hours)
    used: dict[Span, timedelta] = {}
    asked: dict[Span, timedelta] = {}
    granted: list[Span] = []
    for start, end in wanted:
        position = start
        while position < end:
            period = periods(position)
            stop = min(end, period[1])
            left = cap - used.get(period, timedelta())
            take = min(left, stop - position)
            granted.append((position, position + take))
            used[period] = used.get(period, timedelta()) + take
            asked[period] = asked.get(period, timedelta()) + (stop - position)
            position = stop
    steps = tuple(
        Step(
            paragraph,
            f"at most {cap_hours} hours of {of} in the {_PERIODS[paragraph]} from {period[0]:%Y-%m-%d} on may be "
            "excluded, used up in order of time, and what goes beyond counts; excluded",
            exact_minutes(used[period]),
            {"period": period, "asked": exact_minutes(asked[period]), "allowed": exact_minutes(cap)},
            term,
        )
        for period in sorted(used)
    )
    return Computed(union(granted), steps)
