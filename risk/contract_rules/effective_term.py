"""How firm the term is: the firm term, or the first day on which someone may leave without cause."""

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
    """Return the months for which every tranche is bound: min(firm term, time to the end of the first notice). [month]

    Raises
    ------
    MissingTermError
        When the deal has no term, or no date from which its term runs.
    """
    if deal.commercial is None:
        raise MissingTermError("commercial.term", "the effective firm term", "add commercial")
    firm = Fraction(deal.commercial.term.months)
    convenience = deal.cancellation.convenience
    if convenience is None:
        rule = "no one may leave without cause: the whole firm term is firm"
        return Computed(firm, (Step(PARAGRAPH, rule, firm, {"firm_months": firm}, "commercial.term.months"),))
    if deal.delivery is None:
        raise MissingTermError("delivery.tranches", "the effective firm term", "give a Ready-for-Service Date")
    term = deal.commercial.term.months
    ready = {name: tranche.ready_for_service_date for name, tranche in deal.delivery.tranches.items()}
    if firm_time(term, convenience, ready.values()) is None:  # dates of two kinds: the calendar decides
        convenience = convenience.revise({"first_exercise": _on_calendar(convenience.first_exercise, deal)})
        ready = {name: _on_calendar(point, deal) for name, point in ready.items()}
    lengths = {
        name: firm_time(term, convenience, [point]) or FirmTime(Decimal(term), 0) for name, point in ready.items()
    }
    shortest = min(lengths, key=lambda name: lengths[name].in_months)
    bound = lengths[shortest]
    rule = "the lesser of the firm term and the time from readiness to the end of a notice given on the first day"
    facts = {
        "firm_months": firm,
        "tranche": shortest,
        "months": bound.months,
        "days": bound.days,
        "first_exercise": convenience.first_exercise,
        "notice": convenience.notice,
        "party": convenience.party,
        "fee": convenience.fee,
    }
    return Computed(bound.in_months, (Step(PARAGRAPH, rule, bound, facts, "cancellation.convenience"),))


def firm_time(firm_months: int, convenience: Convenience | None, ready: Iterable[DatePoint]) -> FirmTime | None:
    """Return how long every tranche is bound, at most the firm term.

    It is the time from the tranche's Ready-for-Service Date to the end of the notice period of a notice given on the
    first day it may be given, for the tranche for which that is shortest.

    Returns
    -------
    FirmTime or None
        None when one date is on the calendar and the other counted from close, so that they cannot be compared.

    Examples
    --------
    >>> leave = Convenience(first_exercise=date(2028, 1, 1), notice=Duration(days=90))
    >>> firm_time(60, leave, [date(2027, 1, 15)])
    FirmTime(months=Decimal('14'), days=16)
    """
    bound = FirmTime(Decimal(firm_months), 0)
    if convenience is None:
        return bound
    for start in ready:
        length = _from(start, convenience.first_exercise, convenience.notice)
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
