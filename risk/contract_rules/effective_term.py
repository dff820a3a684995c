"""How firm the term is: the firm term, the day by which all terms end, or the first exit without cause."""

from __future__ import annotations

import calendar
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

from risk.core.computed import Computed, Step
from schemas.cancellation import Convenience
from schemas.deal import Deal
from schemas.errors import MissingTermError
from schemas.periods import DatePoint, Duration, MonthsAfterClose

PARAGRAPH = "term-renewal-notice.effective-term"

DAYS_PER_MEAN_MONTH = Fraction(36525, 1200)
"""Mean length of a calendar month, used to turn a duration in days into months. [day]"""


@dataclass(frozen=True, slots=True)
class FirmTime:
    """A length of time in whole months and the days beyond them, as it is printed."""

    months: Decimal
    days: int

    @property
    def in_months(self) -> Fraction:
        """Return the length in months; days are turned at the mean calendar month. [month]"""
        return Fraction(self.months) + Fraction(self.days) / DAYS_PER_MEAN_MONTH


def exact(deal: Deal) -> Computed[Fraction]:
    """Return the months for which every tranche is bound. [month]

    The least of its firm term, the time to the day by which all terms end, and the time to the end of the first notice.

    Raises
    ------
    MissingTermError
        When the deal has no term, or no date from which its term runs.
    """
    if deal.commercial is None:
        raise MissingTermError("commercial.term", "the effective firm term", "add commercial")
    term, convenience = deal.commercial.term, deal.cancellation.convenience
    firm = Fraction(term.months)
    if convenience is None and term.ends_by is None:
        rule = "no one may leave without cause: the whole firm term is firm"
        return Computed(firm, (Step(PARAGRAPH, rule, firm, {"firm_months": firm}, "commercial.term.months"),))
    if deal.delivery is None:
        raise MissingTermError("delivery.tranches", "the effective firm term", "give a Ready-for-Service Date")
    ready = {name: tranche.ready_for_service_date for name, tranche in deal.delivery.tranches.items()}
    ends_by, first = term.ends_by, convenience.first_exercise if convenience is not None else None
    if firm_time(term.months, convenience, ready.values(), ends_by) is None:  # dates of two kinds: the calendar decides
        first = _on_calendar(first, deal) if first is not None else None
        ready = {name: _on_calendar(point, deal) for name, point in ready.items()}
        ends_by = _on_calendar(ends_by, deal) if ends_by is not None else None
    lengths = {
        name: firm_time(term.months, convenience, [point], ends_by, first=first) or FirmTime(Decimal(term.months), 0)
        for name, point in ready.items()
    }
    shortest = min(lengths, key=lambda name: lengths[name].in_months)
    facts = {"tranche": shortest, "months": lengths[shortest].months, "days": lengths[shortest].days}
    step = _step(term.months, convenience, ends_by, first, ready[shortest], lengths[shortest], facts)
    return Computed(lengths[shortest].in_months, (step,))


def _step(
    firm_months: int,
    convenience: Convenience | None,
    ends_by: DatePoint | None,
    first: DatePoint | None,
    ready: DatePoint,
    bound: FirmTime,
    facts: dict[str, object],
) -> Step:
    """Return the step that says what limits the time for which all tranches are bound."""
    limits, term = ["the firm term"], "cancellation.convenience"
    facts = {"firm_months": Fraction(firm_months), **facts}
    if ends_by is not None:
        limits.append("the time from readiness to the day by which all terms end")
        facts["ends_by"] = ends_by
        if convenience is None or firm_time(firm_months, None, [ready], ends_by) == bound:
            term = "commercial.term.ends_by"
    if convenience is not None:
        limits.append("the time from readiness to the end of a notice given on the first day")
        facts |= {"first_exercise": first} | {name: getattr(convenience, name) for name in ("notice", "party", "fee")}
    few = len(limits) == 2
    rule = f"the {'lesser' if few else 'least'} of {', '.join(limits[:-1])}{'' if few else ','} and {limits[-1]}"
    if convenience is None:
        rule += "; no one may leave without cause"
    return Step(PARAGRAPH, rule, bound, facts, term)


def firm_time(
    firm_months: int,
    convenience: Convenience | None,
    ready: Iterable[DatePoint],
    ends_by: DatePoint | None = None,
    *,
    first: DatePoint | None = None,
) -> FirmTime | None:
    """Return how long every tranche is bound, at most the firm term.

    It is the time from the tranche's Ready-for-Service Date to the end of the notice period of a notice given on the
    first day it may be given, or to the day by which all terms end if that is earlier, for the tranche for which that
    is shortest.

    Parameters
    ----------
    ends_by : day on which the term of every tranche ends at the latest.
    first : first day of notice where it is put another way than in `convenience`.

    Returns
    -------
    FirmTime or None
        None when one date is on the calendar and another counted from close, so that they cannot be compared.

    Examples
    --------
    >>> leave = Convenience(first_exercise=date(2028, 1, 1), notice=Duration(days=90))
    >>> firm_time(60, leave, [date(2027, 1, 15)])
    FirmTime(months=Decimal('14'), days=16)
    >>> firm_time(60, leave, [date(2027, 1, 15)], date(2027, 12, 31))
    FirmTime(months=Decimal('11'), days=16)
    """
    bound = FirmTime(Decimal(firm_months), 0)
    limits: list[tuple[DatePoint, Duration]] = []
    if convenience is not None:
        limits.append((first if first is not None else convenience.first_exercise, convenience.notice))
    if ends_by is not None:
        limits.append((ends_by, Duration(months=Decimal(0))))
    for start in ready if limits else ():
        for point, notice in limits:
            length = _from(start, point, notice)
            if length is None:
                return None
            bound = min(bound, length, key=lambda part: part.in_months)
    return bound


def later(day: date, length: Duration) -> date:
    """Return the day that lies `length` after `day`; a fraction of a month counts as days."""
    if length.days is not None:
        return day + timedelta(days=length.days)
    whole, part = divmod(length.months or Decimal(0), 1)
    return plus_months(day, int(whole)) + timedelta(days=int(Fraction(part) * DAYS_PER_MEAN_MONTH))


def plus_months(day: date, months: int) -> date:
    """Return the same day some months later, or the last day of a shorter month.

    >>> plus_months(date(2027, 1, 31), 1)
    datetime.date(2027, 2, 28)
    """
    index = day.year * 12 + day.month - 1 + months
    year, month = divmod(index, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def in_months(duration: Duration) -> Fraction:
    """Return a duration in months; days are turned at the mean calendar month. [month]"""
    if duration.months is not None:
        return Fraction(duration.months)
    assert duration.days is not None
    return Fraction(duration.days) / DAYS_PER_MEAN_MONTH


def _from(start: DatePoint, first: DatePoint, notice: Duration) -> FirmTime | None:
    """Return the time from `start` to `notice` after `first`, None where their kinds of dates differ."""
    if isinstance(start, MonthsAfterClose) and isinstance(first, MonthsAfterClose):
        months = first.close_plus_months - start.close_plus_months + (notice.months or 0)
        return FirmTime(max(months, Decimal(0)), (notice.days or 0) if months >= 0 else 0)
    if isinstance(start, MonthsAfterClose) or isinstance(first, MonthsAfterClose):
        return None
    end = later(first, notice)
    if end <= start:
        return FirmTime(Decimal(0), 0)
    whole = (end.year - start.year) * 12 + end.month - start.month
    if plus_months(start, whole) > end:
        whole -= 1
    return FirmTime(Decimal(whole), (end - plus_months(start, whole)).days)


def _on_calendar(point: DatePoint, deal: Deal) -> date:
    """Return the calendar day of a date that may be counted from close; close counts as the first of its month."""
    if not isinstance(point, MonthsAfterClose):
        return point
    if deal.finance is None:
        raise MissingTermError(
            "finance.close", "a date in months after close", "give the date of close, or calendar dates"
        )
    return later(deal.finance.close.replace(day=1), Duration(months=point.close_plus_months))
