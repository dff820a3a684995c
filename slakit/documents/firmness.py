"""How long the customer is really bound: the firm term, cut short by the right to leave on notice."""

from __future__ import annotations

import calendar
from collections.abc import Iterable
from datetime import date, timedelta
from decimal import Decimal

from schemas.cancellation import Convenience
from schemas.periods import DatePoint, Duration, MonthsAfterClose

DAYS_A_MONTH = Decimal("365.25") / 12
"""Only to compare months with days; what is printed keeps its own units."""


def effective_firm_term(
    firm_months: int, convenience: Convenience | None, ready: Iterable[DatePoint]
) -> tuple[Decimal, int] | None:
    """Return the months and days for which every tranche is bound, at most the firm term. [month, day]

    It is the time from the tranche's Ready-for-Service Date to the end of the notice period of a notice given on the
    first day it may be given, for the tranche for which that is shortest.

    Returns
    -------
    tuple or None
        None when one date is on the calendar and the other counted from close, so that they cannot be compared.

    Examples
    --------
    >>> leave = Convenience(first_exercise=date(2028, 1, 1), notice=Duration(days=90))
    >>> effective_firm_term(60, leave, [date(2027, 1, 15)])
    (Decimal('14'), 16)
    """
    bound = (Decimal(firm_months), 0)
    if convenience is None:
        return bound
    for start in ready:
        length = _from(start, convenience.first_exercise, convenience.notice)
        if length is None:
            return None
        bound = min(bound, length, key=lambda part: part[0] * DAYS_A_MONTH + part[1])
    return bound


def _from(start: DatePoint, first: DatePoint, notice: Duration) -> tuple[Decimal, int] | None:
    if isinstance(start, MonthsAfterClose) and isinstance(first, MonthsAfterClose):
        months = first.close_plus_months - start.close_plus_months + (notice.months or 0)
        return (max(months, Decimal(0)), (notice.days or 0) if months >= 0 else 0)
    if isinstance(start, MonthsAfterClose) or isinstance(first, MonthsAfterClose):
        return None
    end = later(first, notice)
    if end <= start:
        return (Decimal(0), 0)
    whole = (end.year - start.year) * 12 + end.month - start.month
    if plus_months(start, whole) > end:
        whole -= 1
    return (Decimal(whole), (end - plus_months(start, whole)).days)


def later(day: date, length: Duration) -> date:
    """Return the day that lies `length` after `day`; a fraction of a month counts as days."""
    if length.days is not None:
        return day + timedelta(days=length.days)
    whole, part = divmod(length.months or Decimal(0), 1)
    return plus_months(day, int(whole)) + timedelta(days=int(part * DAYS_A_MONTH))


def plus_months(day: date, months: int) -> date:
    """Return the same day some months later, or the last day of a shorter month.

    >>> plus_months(date(2027, 1, 31), 1)
    datetime.date(2027, 2, 28)
    """
    index = day.year * 12 + day.month - 1 + months
    year, month = divmod(index, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))
