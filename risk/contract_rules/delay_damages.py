"""The price of late: grace, steps counted from the first chargeable day, cap."""

from __future__ import annotations

import calendar
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from risk.contract_rules.deadlines import day_after
from risk.core.computed import Computed, Step
from schemas.delivery import DelayDamages
from schemas.errors import DealError, Problem
from schemas.money import Money, Rounding, rounded_to_minor_unit
from schemas.periods import Duration

PARAGRAPH = "delay-damages.rate"
GRACE_PARAGRAPH = "delay-damages.grace"
CAP_PARAGRAPH = "delay-damages.cap"

FloatArray = NDArray[np.float64]


def exact(
    planned: date,
    ended: date,
    monthly_fee: Money,
    terms: DelayDamages,
    path: str,
    *,
    daily_fee: Money | None = None,
    rounding: Rounding = "half_up",
) -> Computed[Money]:
    """Return the damages of one tranche for the days from its date up to readiness, rounded once.

    Parameters
    ----------
    planned : the Ready-for-Service Date, extensions included. It is the first day late when the tranche is not ready.
    ended : the day of readiness, or of the end of the contract if that comes first; it is not late itself.
    monthly_fee : fee of the tranche for a whole month.
    path : path of the terms, for example `delivery.tranches.a.delay_damages`.
    daily_fee : an agreed fee of one day; the monthly fee divided by the days of the calendar month when not given.
    rounding : of the sum.
    """
    grace_ends = day_after(planned, terms.grace, f"{path}.grace")
    is_late = ended > grace_ends
    is_franchise = terms.grace_kind == "franchise"
    first = planned if is_franchise else grace_ends
    rule = (
        "the grace falls away once it has passed: damages then run from the date itself"
        if is_franchise
        else "no damages are due for the days of grace"
    )
    facts: dict[str, object] = {"date": planned, "ended": ended, "grace_ends": grace_ends}
    steps = [Step(GRACE_PARAGRAPH, rule, first if is_late else None, facts, f"{path}.grace_kind")]
    limit = day_after(first, terms.cap, f"{path}.cap")
    last = min(ended, limit) if terms.cap_of == "time" else ended
    total = Fraction(0)
    if is_late:
        if terms.cap_of == "time":
            rule = f"delay is charged for {terms.cap} at most, counted from the first day charged"
            facts = {"first": first, "ended": ended, "days": (last - first).days}
            steps.append(Step(CAP_PARAGRAPH, rule, last, facts, f"{path}.cap"))
        start = first
        for i, step in enumerate(terms.steps):
            until = day_after(first, step.until, f"{path}.steps[{i}].until") if step.until else last
            _check_rises(i, start, until, is_first=i == 0, path=path, open_ended=step.until is None)
            stop = min(until, last)
            fees = sum(_daily_fees(start, stop, monthly_fee, daily_fee), Fraction(0))
            due = fees * Fraction(step.fee_fraction)
            total += due
            if stop > start:
                rule = f"{step.fee_fraction} times the tranche's fee for each day late, pro rata"
                facts = {"from": start, "up_to": stop, "days": (stop - start).days, "fees": fees}
                steps.append(Step(PARAGRAPH, rule, due, facts, f"{path}.steps[{i}]"))
            start = max(start, until)
        if terms.cap_of == "fees":
            most = sum(_daily_fees(first, limit, monthly_fee, daily_fee), Fraction(0))
            rule = f"the sum is at most the fee of {terms.cap}, counted from the first day charged"
            facts = {"first": first, "sum": total, "cap": most}
            total = min(total, most)
            steps.append(Step(CAP_PARAGRAPH, rule, total, facts, f"{path}.cap_of"))
    money = Money(rounded_to_minor_unit(total, monthly_fee.currency, rounding), monthly_fee.currency)
    words = "paid in the month it accrues" if terms.form == "cash" else "set off against the first fees"
    steps.append(Step(PARAGRAPH, f"the sum is rounded once and {words}", money, {"sum": total}, f"{path}.form"))
    return Computed(money, tuple(steps))


def _check_rises(i: int, start: date, until: date, *, is_first: bool, path: str, open_ended: bool) -> None:
    if open_ended or until > start or (is_first and until == start):
        return
    raise DealError([_falling(i, path)])


def _falling(i: int, path: str) -> Problem:
    return Problem(
        f"{path}.steps[{i}].until",
        "a length of delay not longer than that of the step before",
        "steps in order of length",
        "list the steps from the shortest delay to the longest",
    )


def _daily_fees(start: date, stop: date, monthly_fee: Money, daily_fee: Money | None) -> Iterator[Fraction]:
    """Yield the fee of each day from `start` up to `stop`. [currency]"""
    for offset in range(max((stop - start).days, 0)):
        day = start + timedelta(days=offset)
        if daily_fee is not None:
            yield Fraction(daily_fee.amount)
        else:
            yield Fraction(monthly_fee.amount) / calendar.monthrange(day.year, day.month)[1]


def arrays(
    ready: FloatArray,
    planned: FloatArray,
    month: int,
    terms: DelayDamages,
    length: Callable[[Duration], float],
) -> FloatArray:
    """Return what accrues in engine month `month`, in monthly fees, shape (draws, tranches). [1]

    Parameters
    ----------
    ready : when each tranche is ready, shape (draws, tranches). [month]
    planned : its Ready-for-Service Date, shape (tranches,). [month]
    month : the interval (month - 1, month]. [month]
    terms : the terms of the tranches, steps rising as `refuse_falling_steps` wants them.
    length : duration to months.

    Notes
    -----
    Accrual is pro rata in continuous time. With a franchise the grace is charged as a whole at the moment it has
    passed: nobody knows earlier that it will.
    """
    now = _accrued(ready, planned, float(month), terms, length)
    return now - _accrued(ready, planned, float(month - 1), terms, length)


def refuse_falling_steps(terms: DelayDamages, length: Callable[[Duration], float], path: str) -> None:
    """Refuse steps that do not rise where months and days are turned into one another.

    Parameters
    ----------
    path : path of the terms, for example `delivery.tranches.a.delay_damages`.

    Raises
    ------
    DealError
        With the first of them.
    """
    reached = 0.0
    for i, step in enumerate(terms.steps):
        until = length(step.until) if step.until is not None else np.inf
        if until < reached:
            raise DealError([_falling(i, path)])
        reached = until


def _accrued(
    ready: FloatArray, planned: FloatArray, time: float, terms: DelayDamages, length: Callable[[Duration], float]
) -> FloatArray:
    """Return what has accrued from the date up to `time`, in monthly fees, shape (draws, tranches). [1]"""
    late = np.minimum(ready, time) - planned
    grace = length(terms.grace)
    if terms.grace_kind == "franchise":
        charged = np.where(late > grace, late, 0.0)
    else:
        charged = late - grace
    most = length(terms.cap)
    charged = np.clip(charged, 0.0, most if terms.cap_of == "time" else np.inf)
    fees = np.zeros(np.shape(charged))
    reached = 0.0
    for step in terms.steps:
        until = length(step.until) if step.until is not None else np.inf
        fees += float(step.fee_fraction) * np.clip(charged - reached, 0.0, until - reached)
        reached = until
    return fees if terms.cap_of == "time" else np.minimum(fees, most)
