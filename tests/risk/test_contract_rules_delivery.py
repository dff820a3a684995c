"""Delivery and term: damages for delay, the long stop, prepayment, how firm the term is."""

from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from risk.contract_rules import adjusted_date, delay_damages, effective_term, long_stop, prepayment
from risk.contract_rules.effective_term import in_months
from schemas.commercial import Prepayment
from schemas.deal import Deal
from schemas.delivery import DelayDamages, Delivery, LongStop
from schemas.errors import DealError, MissingTermError, NotComputedError
from schemas.exclusions import ForceMajeure
from schemas.incidents import DelayEvent
from schemas.money import Money
from schemas.periods import Duration

PATH = "delivery.tranches.a.delay_damages"


def usd(amount: str) -> Money:
    return Money(Decimal(amount), "USD")


def months(duration: Duration) -> float:
    return float(in_months(duration))


def damages(**changes: Any) -> DelayDamages:
    terms = {
        "grace": {"months": 1},
        "steps": [{"until": {"months": 2}, "fee_fraction": "0.25"}, {"fee_fraction": "1"}],
        "cap": {"months": 4},
    }
    return DelayDamages.model_validate({**terms, **changes})


def accrued(delay: float, terms: DelayDamages, planned: float = 4.0, last: int = 20) -> list[float]:
    ready = np.array([[planned + delay]])
    return [
        float(delay_damages.arrays(ready, np.array([planned]), month, terms, months)[0, 0])
        for month in range(1, last + 1)
    ]


# delay damages


def test_damages_accrue_month_by_month_after_the_grace_and_up_to_the_cap():
    # planned 4, grace to 5, a quarter to 7, whole fees to 9, the cap
    assert accrued(30, damages())[:10] == [0, 0, 0, 0, 0, 0.25, 0.25, 1, 1, 0]
    assert accrued(2.5, damages())[:8] == pytest.approx([0, 0, 0, 0, 0, 0.25, 0.125, 0])
    assert sum(accrued(1.0, damages())) == 0


def test_a_date_within_a_month_shifts_the_accrual():
    assert accrued(30, damages(), planned=4.5)[5:11] == pytest.approx([0.125, 0.25, 0.125 + 0.5, 1, 0.5, 0])


def test_a_franchise_is_charged_as_a_whole_once_it_has_passed():
    terms = damages(grace_kind="franchise")
    assert sum(accrued(1.0, terms)) == 0
    # a delay of three months: nothing until the grace has passed at 5, then months one and two of delay together
    assert accrued(3.0, terms)[:8] == pytest.approx([0, 0, 0, 0, 0, 0.5, 1, 0])
    assert sum(accrued(30, terms)) == pytest.approx(2 * 0.25 + 2)


def test_the_total_of_golden_deal_four_is_a_quarter_fee_for_each_chargeable_month():
    terms = damages(steps=[{"until": {"months": 6}, "fee_fraction": "0.25"}], cap={"months": 6})
    for delay in (0.3, 1.0, 1.7, 4.25, 7.0, 11.0):
        chargeable = min(delay, 7.0) - min(delay, 1.0)
        assert sum(accrued(delay, terms)) == pytest.approx(0.25 * chargeable)


def test_a_cap_of_fees_stops_what_accrues_when_the_sum_is_reached():
    # planned 4, grace to 5: a quarter to 7, then whole fees until four are reached at 10.5
    terms = damages(cap_of="fees")
    assert accrued(30, terms)[:11] == pytest.approx([0, 0, 0, 0, 0, 0.25, 0.25, 1, 1, 1, 0.5])
    assert sum(accrued(30, terms)) == pytest.approx(4)


def test_nothing_accrues_beyond_the_last_step():
    terms = damages(steps=[{"until": {"months": 1}, "fee_fraction": "1"}])
    assert sum(accrued(30, terms)) == pytest.approx(1)
    late = delay_damages.exact(date(2026, 1, 1), date(2026, 12, 1), usd("3100"), terms, PATH)
    assert late.value == usd("3100.00")


def test_each_day_late_costs_its_share_of_the_fee_of_its_calendar_month():
    terms = damages(grace={"days": 0}, steps=[{"fee_fraction": "1"}], cap={"days": 60})
    late = delay_damages.exact(date(2026, 1, 31), date(2026, 2, 2), usd("868"), terms, PATH)
    assert late.value == usd("59.00")  # 868 / 31 + 868 / 28
    assert [step.paragraph for step in late.steps] == [
        "delay-damages.grace",
        "delay-damages.cap",
        "delay-damages.rate",
        "delay-damages.rate",
    ]
    assert late.steps[2].term == f"{PATH}.steps[0]"


def test_a_tranche_ready_within_the_grace_costs_nothing():
    for kind in ("deductible", "franchise"):
        terms = damages(grace={"days": 14}, grace_kind=kind, steps=[{"fee_fraction": "1"}])
        ready = date(2026, 2, 14)
        assert delay_damages.exact(date(2026, 1, 31), ready, usd("868"), terms, PATH).value == usd("0.00")
        later = delay_damages.exact(date(2026, 1, 31), date(2026, 2, 15), usd("868"), terms, PATH).value
        assert later == (usd("31.00") if kind == "deductible" else usd("462.00"))


@pytest.mark.parametrize("second", [{"months": 2}, {"months": 3}, {"days": 84}])
def test_steps_that_do_not_rise_are_refused_where_they_stand(second: dict):
    steps = [{"until": {"months": 3}, "fee_fraction": "1"}, {"until": second, "fee_fraction": "2"}]
    with pytest.raises(ValidationError, match=r"found steps\[1\]\.until .* after 3 months"):
        damages(steps=steps)


def test_steps_that_fall_only_in_some_months_are_refused_by_the_rule_that_needs_them():
    steps = [{"until": {"months": 1}, "fee_fraction": "1"}, {"until": {"days": 30}, "fee_fraction": "2"}]
    terms = damages(steps=steps)
    with pytest.raises(DealError, match=r"steps\[1\]\.until"):
        delay_damages.exact(date(2026, 6, 1), date(2026, 12, 1), usd("1"), terms, PATH)
    with pytest.raises(DealError, match=rf"{PATH}\.steps\[1\]\.until"):
        delay_damages.refuse_falling_steps(terms, months, PATH)


def test_a_part_of_a_month_is_no_calendar_date():
    terms = damages(grace={"months": "0.5"})
    with pytest.raises(NotComputedError, match=r"delay_damages\.grace"):
        delay_damages.exact(date(2026, 1, 1), date(2026, 6, 1), usd("1"), terms, PATH)


# extension of time


def moved(
    *events: DelayEvent, heads: tuple[str, ...] = ("force_majeure", "customer_delay", "weather"), **more: Any
) -> date:
    tranches = {"a": {"ready_for_service_date": "2026-09-30"}}
    terms = Delivery.model_validate({"tranches": tranches, "extension_heads": heads, **more})
    zone, calendars = "America/New_York", ()
    return adjusted_date.exact("a", date(2026, 9, 30), events, terms, ForceMajeure(), zone, calendars).value


def event(head: str, start: str, end: str, noticed: str | None, **more: Any) -> DelayEvent:
    return DelayEvent.model_validate(
        {"id": f"{head} {start}", "head": head, "from_day": start, "to_day": end, "notice_at": noticed, **more}
    )


STORM = ("weather", "2026-08-03", "2026-08-13")


def cost_of_delay(planned: date, **changes: Any) -> Money:
    terms = damages(
        **{
            "grace": {"days": 14},
            "steps": [{"until": {"days": 30}, "fee_fraction": "1"}, {"fee_fraction": "2"}],
            "cap": {"days": 60},
            **changes,
        }
    )
    ready = date(2026, 11, 25)
    return delay_damages.exact(planned, ready, usd("900000"), terms, PATH, daily_fee=usd("30000")).value


def test_a_storm_notified_too_late_leaves_the_date_and_56_days_cost_54_daily_fees():
    # C19: 56 days less 14 of grace are 42: thirty at once the fee and twelve at twice
    late = moved(event(*STORM, "2026-09-01T09:00:00Z"))
    assert late == date(2026, 9, 30)
    assert (date(2026, 11, 25) - late).days == 56
    assert cost_of_delay(late) == usd("1620000.00")
    # notified in time, the date moves by ten days: 46 less 14 are 32, thirty and two
    granted = moved(event(*STORM, "2026-08-10T23:00:00-04:00"))
    assert granted == date(2026, 10, 10)
    assert cost_of_delay(granted) == usd("1020000.00")
    # the whole 56 days at thirty and 52 fees are cut to sixty where the cap is a sum of fees
    franchise = {"grace_kind": "franchise", "cap_of": "fees"}
    assert cost_of_delay(late, **franchise) == usd("1800000.00")
    assert cost_of_delay(late, grace_kind="franchise") == usd("2460000.00")
    assert cost_of_delay(late, cap_of="fees") == usd("1620000.00")
    assert cost_of_delay(late, steps=[{"fee_fraction": "1"}]) == usd("1260000.00")
    stop = LongStop.model_validate({"after": {"days": 120}})
    assert long_stop.exact(late, date(2026, 11, 25), stop, "UTC", "p", is_first_tranche=True).value is None


@pytest.mark.parametrize(
    ("noticed", "days"),
    [
        ("2026-08-11T03:59:00Z", 10),  # still Monday 10 August in New York, the fifth Business Day
        ("2026-08-11T04:00:00Z", 0),
        (None, 0),
    ],
)
def test_notice_is_in_time_to_the_end_of_the_last_business_day_in_the_contracts_zone(noticed, days):
    assert (moved(event(*STORM, noticed)) - date(2026, 9, 30)).days == days


def test_only_listed_causes_of_the_tranche_move_its_date_by_days_that_hold_it_up():
    at_once = "2026-08-03T12:00:00Z"
    assert moved(event(*STORM, at_once), heads=("force_majeure",)) == date(2026, 9, 30)
    assert moved(event(*STORM, at_once, tranches=["b"])) == date(2026, 9, 30)
    assert moved(event(*STORM, at_once, critical_days=4)) == date(2026, 10, 4)
    war = ("force_majeure", "2026-08-03", "2026-08-13", at_once)
    assert moved(event(*war, event="war")) == date(2026, 10, 10)
    assert moved(event(*war, event="supplier_delay")) == date(2026, 9, 30)
    assert moved(event(*war)) == date(2026, 9, 30)


def test_days_with_two_causes_move_the_date_once():
    first = event("weather", "2026-08-03", "2026-08-08", "2026-08-03T12:00:00Z")
    second = event("customer_delay", "2026-08-06", "2026-08-11", "2026-08-06T12:00:00Z")
    assert moved(first, second) == moved(second, first) == date(2026, 10, 8)


# long stop


def is_open(ready: float, planned: float, terms: LongStop) -> list[int]:
    return [
        month
        for month in range(1, 20)
        if long_stop.arrays(np.array([[ready]]), np.array([planned]), month, terms, months)[0, 0]
    ]


def test_the_long_stop_of_golden_deal_four_is_looked_at_once():
    terms = LongStop.model_validate({"after": {"months": 9}, "exercise": {"months": 0}})
    assert is_open(13.0, 4.0, terms) == []
    assert is_open(13.1, 4.0, terms) == [13]
    assert is_open(30.0, 4.0, terms) == [13]


def test_a_right_between_two_month_ends_is_looked_at_when_the_month_ends():
    terms = LongStop.model_validate({"after": {"days": 120}, "exercise": {"days": 60}})
    # 4.3 + 120 days = 8.24 months; 60 days more = 10.21
    assert is_open(30.0, 4.3, terms) == [9, 10]
    assert is_open(9.5, 4.3, terms) == [9]
    assert is_open(8.9, 4.3, terms) == []


def test_the_long_stop_date_gives_a_right_with_its_days_and_its_reach():
    terms = LongStop.model_validate({"after": {"days": 120}})
    for first, reaches in ((True, True), (False, False)):
        found = long_stop.exact(date(2026, 9, 30), None, terms, "America/New_York", "p", is_first_tranche=first).value
        assert found is not None
        assert found.long_stop_date == date(2027, 1, 28)
        assert found.arises == datetime(2027, 1, 29, 5, tzinfo=UTC)
        assert found.exercise_by == datetime(2027, 2, 28, 5, tzinfo=UTC)  # day 30 is 27 February
        assert found.reaches_order is reaches
    on_the_day = long_stop.exact(date(2026, 9, 30), date(2027, 1, 28), terms, "UTC", "p", is_first_tranche=True)
    assert on_the_day.value is None


# prepayment


def test_a_prepayment_is_credited_in_equal_monthly_parts_to_the_last_month():
    terms = Prepayment.model_validate({"fraction": "0.2", "credited_from_month": 3})
    np.testing.assert_allclose(prepayment.arrays(5, terms), [0, 0, 1 / 3, 1 / 3, 1 / 3])
    assert prepayment.exact(usd("100.00"), 5, terms).value == tuple(
        usd(left) for left in ("100.00", "100.00", "66.67", "33.34", "0.00")
    )


def test_a_prepayment_is_credited_evenly_within_a_month_and_no_more_than_once():
    terms = Prepayment.model_validate({"fraction": "0.2", "credited_from_month": 3})
    elapsed = np.array([-4.0, 0.0, 2.0, 2.75, 3.0, 4.5, 5.0, 9.0])
    found = prepayment.credited_share(elapsed, 5, terms)
    np.testing.assert_allclose(found, [0, 0, 0, 0.25, 1 / 3, 2.5 / 3, 1, 1], atol=1e-15)


def test_a_prepayment_that_is_never_credited_is_refused():
    terms = Prepayment.model_validate({"fraction": "0.2", "credited_from_month": 37})
    with pytest.raises(DealError, match=r"commercial\.prepayment\.credited_from_month: found 37"):
        prepayment.arrays(36, terms)


# effective firm term


def deal(convenience: dict[str, Any] | None, ready: Any = "2026-06-01", **sections: Any) -> Deal:
    return Deal.model_validate(
        {
            "schema_version": 1,
            "commercial": {"currency": "USD", "charges": {}, "term": {"months": 36}},
            "delivery": {"tranches": {"a": {"ready_for_service_date": ready}}},
            "cancellation": {"convenience": convenience},
            **sections,
        }
    )


@pytest.mark.parametrize(
    ("first", "notice", "months_firm"),
    [
        ("2027-06-01", {"months": 3}, Fraction(15)),
        ("2027-06-16", {"months": 3}, 15 + 15 * Fraction(1200, 36525)),  # to 16 September
        ("2026-04-01", {"months": 3}, Fraction(1)),  # notice may be given before service starts
        ("2026-01-01", {"months": 3}, Fraction(0)),
        ("2031-06-01", {"months": 3}, Fraction(36)),
        ("2027-06-01", {"days": 90}, 14 + 29 * Fraction(1200, 36525)),  # to 30 August
    ],
)
def test_the_term_is_firm_to_the_first_exit_by_notice(first, notice, months_firm):
    found = effective_term.exact(deal({"first_exercise": first, "notice": notice}))
    assert found.value == months_firm
    assert found.steps[0].paragraph == "term-renewal-notice.effective-term"


def test_the_tranche_that_is_bound_for_the_shortest_time_decides():
    tranches = {"a": {"ready_for_service_date": "2026-06-01"}, "b": {"ready_for_service_date": "2026-12-01"}}
    terms = {"first_exercise": "2027-06-01", "notice": {"months": 3}}
    found = effective_term.exact(deal(terms, delivery={"tranches": tranches}))
    assert found.value == 9
    assert found.steps[0].inputs["tranche"] == "b"


def test_without_a_right_to_leave_the_whole_term_is_firm():
    assert effective_term.exact(deal(None)).value == 36


def test_the_day_by_which_all_terms_end_binds_each_tranche_less_and_the_step_says_so():
    def found(ends_by: Any, convenience: dict[str, Any] | None = None, **sections: Any) -> tuple[Fraction, Any]:
        commercial = {"currency": "USD", "charges": {}, "term": {"months": 36, "ends_by": ends_by}}
        value = effective_term.exact(deal(convenience, commercial=commercial, **sections))
        return value.value, value.steps[0]

    bound, step = found("2028-06-16")
    assert bound == 24 + 15 * Fraction(1200, 36525)
    assert step.paragraph == "term-renewal-notice.effective-term"
    assert step.term == "commercial.term.ends_by"
    assert step.rule == (
        "the lesser of the firm term and the time from readiness to the day by which all terms end; no one may leave "
        "without cause"
    )
    assert step.inputs["ends_by"] == date(2028, 6, 16)
    leave = {"first_exercise": "2027-06-01", "notice": {"months": 3}}
    bound, step = found("2028-06-16", leave)
    assert bound == 15
    assert step.term == "cancellation.convenience"
    assert step.rule == (
        "the least of the firm term, the time from readiness to the day by which all terms end, and the time from "
        "readiness to the end of a notice given on the first day"
    )
    bound, step = found("2027-08-01", leave)
    assert bound == 14
    assert step.term == "commercial.term.ends_by"
    finance = {"close": "2026-01-01", "currency": "USD"}
    assert found({"close_plus_months": 29}, finance=finance)[0] == 24  # 1 June 2028
    with pytest.raises(MissingTermError, match=r"finance\.close"):
        found({"close_plus_months": 29})


def test_dates_and_months_after_close_mix_when_close_is_known():
    terms = {"first_exercise": {"close_plus_months": 17}, "notice": {"months": 3}}
    finance = {"close": "2026-01-01", "currency": "USD"}
    assert effective_term.exact(deal(terms, finance=finance)).value == 15
    with pytest.raises(MissingTermError, match=r"finance\.close"):
        effective_term.exact(deal(terms))


# C19: 56 days late; neither kind of cap is reached


def late_tranche(**changes: Any) -> Money:
    terms = {
        "grace": {"days": 14},
        "steps": [{"until": {"days": 30}, "fee_fraction": "1"}, {"fee_fraction": "2"}],
        "cap": {"days": 60},
        **changes,
    }
    damages = delay_damages.exact(
        date(2026, 9, 30),
        date(2026, 11, 25),
        usd("900000"),
        DelayDamages.model_validate(terms),
        "delivery.tranches.a.delay_damages",
        daily_fee=usd("30000"),
    )
    return damages.value


def test_damages_step_up_from_the_first_chargeable_day():
    assert late_tranche() == usd("1620000.00")  # 30 x 1 + 12 x 2 = 54 daily fees
    assert late_tranche(steps=[{"fee_fraction": "1"}]) == usd("1260000.00")  # 42
    assert late_tranche(grace_kind="franchise") == usd("2460000.00")  # 30 x 1 + 26 x 2 = 82


def test_the_long_stop_of_120_days_is_not_reached():
    terms = LongStop.model_validate({"after": {"days": 120}})
    path = "delivery.tranches.a.long_stop"
    found = long_stop.exact(date(2026, 9, 30), date(2026, 11, 25), terms, "UTC", path, is_first_tranche=True)
    assert found.value is None
    assert found.steps[0].inputs["long_stop_date"] == date(2027, 1, 28)


# C25: what is left of a prepayment at the end of month 28


def test_a_prepayment_credited_from_month_25_on_leaves_its_balance_on_exit():
    terms = Prepayment.model_validate({"fraction": "0.2", "credited_from_month": 25})
    balance = prepayment.exact(usd("7200000"), 36, terms).value
    assert balance[23] == usd("7200000")
    assert balance[27] == usd("4800000.00")
    assert balance[35] == usd("0.00")
