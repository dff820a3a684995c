"""How long the customer is bound when someone may leave on notice."""

from datetime import date
from decimal import Decimal

import pytest

from risk.contract_rules.effective_term import FirmTime, firm_time, later, plus_months
from schemas.cancellation import Convenience
from schemas.periods import Duration, MonthsAfterClose


def leave(first, **notice):
    return Convenience(first_exercise=first, notice=Duration(**notice))


def after_close(months):
    return MonthsAfterClose(close_plus_months=months)


@pytest.mark.parametrize(
    ("convenience", "ready", "bound"),
    [
        (None, [date(2026, 10, 1)], (60, 0)),
        # notice from 1 January 2027 ends on 1 April 2027: six months of service from 1 October 2026
        (leave(date(2027, 1, 1), days=90), [date(2026, 10, 1)], (6, 0)),
        (leave(date(2027, 1, 1), days=90), [date(2026, 10, 1), date(2026, 12, 15)], (3, 17)),
        (leave(date(2027, 1, 31), months=1), [date(2027, 1, 1)], (1, 27)),
        (leave(date(2026, 1, 1), days=30), [date(2027, 1, 1)], (0, 0)),
        (leave(date(2040, 1, 1), days=30), [date(2027, 1, 1)], (60, 0)),
        (leave(after_close(24), days=90), [after_close(6), after_close(9)], (15, 90)),
        (leave(after_close(24), months=3), [after_close(6)], (21, 0)),
        (leave(after_close(70), months=3), [after_close(6)], (60, 0)),
    ],
)
def test_the_tranche_bound_for_the_shortest_time_decides(convenience, ready, bound):
    assert firm_time(60, convenience, ready) == FirmTime(Decimal(bound[0]), bound[1])


@pytest.mark.parametrize(
    ("convenience", "ready", "ends_by", "bound"),
    [
        # bound from 15 March 2027 to 31 December 2030: 45 whole months, to 15 December, and 16 days
        (None, [date(2027, 1, 1), date(2027, 3, 15)], date(2030, 12, 31), (45, 16)),
        (None, [date(2027, 1, 1)], date(2040, 1, 1), (60, 0)),
        (None, [date(2027, 6, 1)], date(2027, 6, 1), (0, 0)),
        (None, [date(2027, 6, 1)], date(2027, 1, 1), (0, 0)),
        (None, [after_close(4), after_close(7)], after_close(55), (48, 0)),
        (None, [after_close(Decimal("4.5"))], after_close(55), (Decimal("50.5"), 0)),
        # the day by which all terms end comes before a notice has run, and after it
        (leave(date(2030, 11, 1), months=3), [date(2027, 1, 1)], date(2030, 12, 31), (47, 30)),
        (leave(date(2029, 11, 1), months=3), [date(2027, 1, 1)], date(2030, 12, 31), (37, 0)),
    ],
)
def test_no_tranche_is_bound_beyond_the_day_by_which_all_terms_end(convenience, ready, ends_by, bound):
    assert firm_time(60, convenience, ready, ends_by) == FirmTime(Decimal(bound[0]), bound[1])


def test_dates_of_two_kinds_are_not_compared():
    assert firm_time(60, leave(date(2027, 1, 1), days=90), [after_close(6)]) is None
    assert firm_time(60, None, [after_close(6)], date(2027, 1, 1)) is None
    assert firm_time(60, leave(after_close(12), days=90), [after_close(6)], date(2027, 1, 1)) is None


def test_a_day_that_a_month_lacks_is_its_last():
    assert plus_months(date(2027, 10, 31), 4) == date(2028, 2, 29)
    assert later(date(2027, 1, 31), Duration(months=Decimal("1.5"))) == date(2027, 3, 15)
