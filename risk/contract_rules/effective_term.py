"""How firm the term is: the firm term, or the first day on which someone may leave without cause."""

from __future__ import annotations

import calendar
from datetime import date
from fractions import Fraction

from risk.core.computed import Computed, Step
from schemas.deal import Deal
from schemas.errors import MissingTermError
from schemas.periods import DatePoint, Duration, MonthsAfterClose

PARAGRAPH = "term-renewal-notice.effective-term"

DAYS_PER_MEAN_MONTH = Fraction(36525, 1200)
"""Mean length of a calendar month, used to turn a duration in days into months. [day]"""


def exact(deal: Deal) -> Computed[Fraction]:
    """Return the months for which every tranche is bound: min(firm term, time to the end of the first notice). [month]

    Notes
    -----
    The time runs from the Ready-for-Service Date of a tranche to the end of a notice given on the first day on which
    it may be given; the tranche for which it is shortest decides.

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
    ready = {name: _months(tranche.ready_for_service_date, deal) for name, tranche in deal.delivery.tranches.items()}
    last = max(ready, key=lambda name: ready[name])
    first = _months(convenience.first_exercise, deal) - ready[last]
    notice = in_months(convenience.notice)
    effective = min(firm, max(first + notice, Fraction(0)))
    rule = "the lesser of the firm term and the months to the first day of notice plus the notice"
    facts = {
        "firm_months": firm,
        "tranche": last,
        "months_to_first_notice": first,
        "notice_months": notice,
        "party": convenience.party,
        "fee": convenience.fee,
    }
    return Computed(effective, (Step(PARAGRAPH, rule, effective, facts, "cancellation.convenience"),))


def in_months(duration: Duration) -> Fraction:
    """Return a duration in months; days are turned at the mean calendar month. [month]"""
    if duration.months is not None:
        return Fraction(duration.months)
    assert duration.days is not None
    return Fraction(duration.days) / DAYS_PER_MEAN_MONTH


def _months(point: DatePoint, deal: Deal) -> Fraction:
    """Return whole calendar months since the year 0, or since close, plus the share of the running one. [month]"""
    if isinstance(point, MonthsAfterClose):
        if deal.finance is None:
            raise MissingTermError(
                "finance.close", "a date in months after close", "give the date of close, or calendar dates"
            )
        close = deal.finance.close
        return _month_number(close.replace(day=1)) + Fraction(point.close_plus_months)
    return _month_number(point)


def _month_number(day: date) -> Fraction:
    days = calendar.monthrange(day.year, day.month)[1]
    return day.year * 12 + day.month - 1 + Fraction(day.day - 1, days)
