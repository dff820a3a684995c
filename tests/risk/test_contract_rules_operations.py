"""Replacement times, response to tickets, root-cause reports, and the lender's side; worked by hand."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risk.contract_rules import (
    backstop_gap,
    contagion,
    deductions,
    default_sum,
    earliest_end,
    headroom,
    patch_age,
    unit_days,
)
from risk.contract_rules.contagion import Link
from risk.contract_rules.earliest_end import LenderTime
from risk.contract_rules.head_lines import head_lines, missed_replacements
from risk.contract_rules.lines import Line
from risk.contract_rules.notes import reports
from risk.contract_rules.patch_age import MissingFix
from risk.contract_rules.records import Records
from risk.contract_rules.register import Register
from risk.contract_rules.service_fees import fees_of_services
from risk.contract_rules.statement import statement
from risk.contract_rules.unit_days import BilledUnit
from schemas.deal import Deal
from schemas.errors import DealError
from schemas.incidents import Incident, Notice, Ticket, UnitService, Window
from schemas.money import Money
from schemas.periods import Month

NOVEMBER = Month(2026, 11)
STANDARD = {
    "bands": [
        {"below": "0.995", "credit_fraction": "0.10"},
        {"below": "0.99", "credit_fraction": "0.25"},
        {"below": "0.95", "credit_fraction": "0.50"},
    ]
}
FOUR_HOURS = {"replacement": {"target_hours": {"node": "4"}}}


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def usd(amount: str) -> Money:
    return Money(Decimal(amount), "USD")


def deal(operations: dict[str, Any], **sections: Any) -> Deal:
    return Deal.model_validate(
        {
            "schema_version": 1,
            "service_levels": {"nodes": {"level": "node", "target": "0.995", "credit": STANDARD}},
            "operations": operations,
            "commercial": {"currency": "USD", "charges": {}, "term": {"months": 12}},
            **sections,
        }
    )


def node(name: str = "slot-17", **more: Any) -> UnitService:
    return UnitService(**{"unit_id": name, "level": "node", "service": "compute", "monthly_fee": "20000", **more})


def down(start: str, end: str | None, unit: str = "slot-17", **more: Any) -> Incident:
    ended = at(end) if end else None
    return Incident(
        **{
            "id": f"{unit} {start}",
            "level": "node",
            "unit_id": unit,
            "started_at": at(start),
            "ended_at": ended,
            **more,
        }
    )


def hold(start: str, end: str, **more: Any) -> Window:
    return Window(id=f"hold {start}", kind="customer_hold", starts_at=at(start), ends_at=at(end), **more)


def lines(terms: Deal, records: Records, month: Month = NOVEMBER, as_of: str | None = None) -> tuple[Line, ...]:
    register = Register(terms, records, [month], at(as_of) if as_of else None)
    return head_lines(register, month, fees_of_services(register, month))


def replaced(
    terms: Deal, incidents: list[Incident], windows: tuple[Window, ...] = (), **more: Any
) -> list[tuple[object, ...]]:
    records = Records(incidents, windows, (), more.pop("units", [node()]))
    return [(line.counted_minutes, line.target_met, str(line.credit.amount)) for line in lines(terms, records, **more)]


# replacement times


def test_a_spare_in_the_slot_after_exactly_four_hours_is_in_time():
    # C06: powered at 03:00, passed its checks at 04:00; 240 of 43,200 minutes are 99.444... %, which pays 2,000
    swap = down(
        "2026-11-02T00:00", "2026-11-02T03:00", detected_at=at("2026-11-02T00:00"), readmitted_at=at("2026-11-02T04:00")
    )
    records = Records([swap], (), (), [node()])
    availability = statement(deal({}, measurement={"ends_at": "readmission"}), records, [NOVEMBER]).lines[0]
    assert (availability.counted_minutes, availability.availability) == (240, Fraction(179, 180))
    assert availability.credit == usd("2000.00")
    assert replaced(deal(FOUR_HOURS), [swap]) == [(240, True, "0.00")]
    # the outage measured up to power: 180 minutes, nothing owed
    at_power_on = statement(deal({}, measurement={"ends_at": "first_good"}), records, [NOVEMBER]).lines[0]
    assert (at_power_on.counted_minutes, at_power_on.credit) == (180, usd("0.00"))
    # measured by serial number: repaired on the fifth, 4,320 minutes, 90 %, half of the fee
    serial = Records([down("2026-11-02T00:00", "2026-11-05T00:00")], (), (), [node()])
    assert statement(deal({}), serial, [NOVEMBER]).lines[0].credit == usd("10000.00")


def test_a_customer_that_withholds_the_node_stops_both_clocks():
    # C17: 390 minutes less a hold of 180 are 210: 99.513... %, and within four hours
    failed = down("2026-11-18T08:00", "2026-11-18T14:30", detected_at=at("2026-11-18T08:00"))
    held = hold("2026-11-18T08:00", "2026-11-18T11:00")
    records = Records([failed], [held], (), [node()])
    line = statement(deal(FOUR_HOURS), records, [NOVEMBER]).lines[0]
    assert (line.counted_minutes, line.availability, line.credit) == (210, Fraction(1433, 1440), usd("0.00"))
    assert replaced(deal(FOUR_HOURS), [failed], (held,)) == [(210, True, "0.00")]
    # the hold not recognised: 99.097... % pays 2,000, and two and a half hours late pay one period, 2,000
    assert statement(deal({}), Records([failed], (), (), [node()]), [NOVEMBER]).lines[0].credit == usd("2000.00")
    assert replaced(deal(FOUR_HOURS), [failed]) == [(390, False, "2000.00")]
    ignored = deal({"replacement": {"target_hours": {"node": "4"}, "holds_stop": False}})
    assert replaced(ignored, [failed], (held,)) == [(390, False, "2000.00")]


@pytest.mark.parametrize(
    ("ended", "credit"),
    [
        ("2026-11-02T04:00", "0.00"),
        ("2026-11-02T04:01", "2000.00"),  # the first started twelve hours
        ("2026-11-02T16:00", "2000.00"),  # exactly twelve hours late
        ("2026-11-02T16:01", "4000.00"),
        ("2026-11-04T16:01", "10000.00"),  # sixty hours late and a minute: six periods, the cap of a half
        ("2026-11-20T00:00", "10000.00"),
    ],
)
def test_each_started_twelve_hours_cost_a_tenth_up_to_a_half(ended, credit):
    ((_, met, owed),) = replaced(deal(FOUR_HOURS), [down("2026-11-02T00:00", ended)])
    assert (owed, met) == (credit, credit == "0.00")


@pytest.mark.parametrize(
    ("clock_from", "minutes"),
    [("detection", 360), ("notice", 300), ("identification", 240), ("confirmation", 240)],
)
def test_the_clock_starts_where_the_contract_says(clock_from, minutes):
    terms = deal({"replacement": {"target_hours": {"node": "4"}, "clock_from": clock_from}})
    known = {
        name: at(f"2026-11-02T0{hour}:00") for name, hour in (("notice_at", 1), ("detected_at", 2), ("ticket_at", 2))
    }
    failed = down("2026-11-02T00:00", "2026-11-02T06:00", **known)
    earlier = down(
        "2026-11-02T00:00", "2026-11-02T06:00", notice_at=at("2026-11-02T00:00"), detected_at=at("2026-11-02T03:00")
    )
    assert replaced(terms, [earlier if clock_from == "detection" else failed])[0][0] == minutes


def test_detection_is_the_earlier_of_detection_and_notice_and_no_notice_starts_no_clock():
    failed = down(
        "2026-11-02T00:00", "2026-11-02T09:00", detected_at=at("2026-11-02T03:00"), notice_at=at("2026-11-02T02:00")
    )
    assert replaced(deal(FOUR_HOURS), [failed])[0][0] == 420
    by_notice = deal({"replacement": {"target_hours": {"node": "4"}, "clock_from": "notice"}})
    assert replaced(by_notice, [down("2026-11-02T00:00", "2026-11-02T09:00")]) == []


def test_the_spare_that_fails_is_a_new_clock_and_records_that_overlap_are_one():
    twice = [down("2026-11-02T00:00", "2026-11-02T04:00"), down("2026-11-02T04:00", "2026-11-02T08:00")]
    assert replaced(deal(FOUR_HOURS), twice) == [(480, True, "0.00")]
    two_logs = [down("2026-11-02T00:00", "2026-11-02T05:00"), down("2026-11-02T00:02", "2026-11-02T05:00")]
    assert replaced(deal(FOUR_HOURS), two_logs) == [(300, False, "2000.00")]


def test_a_node_that_its_rack_took_down_planned_work_and_other_levels_are_no_failures_of_it():
    others = [
        down("2026-11-02T00:00", "2026-11-04T00:00", parent_id="rack-1"),
        down("2026-11-05T00:00", "2026-11-06T00:00", state="planned"),
        down("2026-11-07T00:00", "2026-11-08T00:00", state="unknown"),
    ]
    assert replaced(deal(FOUR_HOURS), others) == []
    assert (
        replaced(deal({"replacement": {"target_hours": {"rack": "4"}}}), [down("2026-11-02T00:00", "2026-11-04T00:00")])
        == []
    )
    assert replaced(deal({}), [down("2026-11-02T00:00", "2026-11-04T00:00")]) == []


def test_a_unit_that_is_not_back_is_late_up_to_the_statement():
    broken = [down("2026-11-02T00:00", "2026-11-09T00:00")]
    for as_of, owed in (("2026-11-02T03:00", "0.00"), ("2026-11-02T05:00", "2000.00"), ("2026-11-03T12:00", "6000.00")):
        assert replaced(deal(FOUR_HOURS), broken, as_of=as_of)[0][2] == owed


def test_a_replacement_belongs_to_the_period_in_which_its_clock_starts():
    late = [down("2026-11-30T20:00", "2026-12-01T09:00")]
    assert replaced(deal(FOUR_HOURS), late) == [(780, False, "2000.00")]
    assert replaced(deal(FOUR_HOURS), late, month=Month(2026, 12)) == []


def test_the_clock_runs_only_while_the_unit_is_in_service_and_its_fee_of_the_month_is_the_most():
    broken = [down("2026-11-02T00:00", "2026-11-05T00:00")]
    units = [node(in_service_to=at("2026-11-02T05:00"))]
    # 29 of 720 hours of 20,000 are 805.555..., less than a tenth of the whole fee
    assert replaced(deal(FOUR_HOURS), broken, units=units) == [(300, False, "805.56")]
    units = [node(in_service_from=at("2026-11-02T00:00"), in_service_to=at("2026-11-10T05:00"))]
    assert replaced(deal(FOUR_HOURS), [down("2026-11-01T20:00", "2026-11-02T04:00")], units=units)[0][2] == "0.00"


def test_a_late_replacement_of_a_unit_by_the_hour_is_taken_of_the_hours_of_its_month():
    # November has 721 hours in Chicago: 19.20 for each are 13,843.20, of which three started periods are 30%
    by_hour = node(monthly_fee="14016", hourly_price="19.20", accrues_by_hour=True)
    terms = deal(FOUR_HOURS, measurement={"zone": "America/Chicago"})
    broken = [down("2026-11-10T00:00", "2026-11-11T06:00")]
    (line,) = lines(terms, Records(broken, (), (), [by_hour]))
    assert (line.base, line.credit) == (Fraction("13843.20"), usd("4152.96"))
    (base,) = [step for step in line.steps if "hour of the calendar month" in step.rule]
    assert (base.paragraph, base.result) == ("replacement-times.credit", usd("13843.20"))
    assert (base.inputs["hourly_price"], base.inputs["hours"]) == (Decimal("19.20"), 721)
    # one whose fee is by the month keeps it, and says so
    (line,) = lines(terms, Records(broken, (), (), [node()]))
    assert line.credit == usd("6000.00")
    assert usd("20000.00") in [step.result for step in line.steps]


def test_late_replacements_are_told_with_the_moment_at_which_they_became_late():
    incidents = [
        down("2026-11-02T00:00", "2026-11-02T09:00"),
        down("2026-11-01T00:00", "2026-11-01T05:00", "slot-2"),
        down("2026-11-05T00:00", "2026-11-05T01:00"),
    ]
    windows = [hold("2026-11-02T01:00", "2026-11-02T03:00", unit_ids=("slot-17",))]
    register = Register(deal(FOUR_HOURS), Records(incidents, windows, (), [node(), node("slot-2")]), [NOVEMBER])
    assert [(m.service, m.unit, m.late_from) for m in missed_replacements(register)] == [
        ("compute", "slot-2", at("2026-11-01T04:00")),
        ("compute", "slot-17", at("2026-11-02T06:00")),  # four hours on the clock, two of hold
    ]


@given(minutes=st.integers(1, 20_000), more=st.integers(0, 5_000))
def test_a_longer_replacement_never_costs_less_and_never_more_than_the_cap(minutes, more):
    def owed(length: int) -> Decimal:
        end = (at("2026-11-02T00:00") + timedelta(minutes=length)).isoformat()[:16]
        return Decimal(str(replaced(deal(FOUR_HOURS), [down("2026-11-02T00:00", end)])[0][2]))

    assert owed(minutes) <= owed(minutes + more) <= 10_000


# support


SUPPORT = {"support": {"severities": {"p1": {"response_minutes": 15}, "p3": {"response_minutes": 240}}}}


def ticket(name: str, opened: str, answered: str | None, severity: str = "p1", **more: Any) -> Ticket:
    return Ticket(
        **{
            "id": name,
            "severity": severity,
            "opened_at": at(opened),
            "first_response_at": at(answered) if answered else None,
            **more,
        }
    )


def answers(tickets: list[Ticket], units: list[UnitService] | None = None, **more: Any) -> list[tuple[object, ...]]:
    found = lines(deal(SUPPORT), Records((), (), (), units or [node()], tickets), **more)
    return [(line.unit, line.credit_fraction, str(line.credit.amount), line.target_met) for line in found]


def test_each_late_answer_costs_half_a_percent_of_the_fee_of_the_service_up_to_two():
    in_time = ticket("a", "2026-11-02T10:00", "2026-11-02T10:15")
    late = ticket("b", "2026-11-02T10:00", "2026-11-02T10:16")
    assert answers([in_time]) == [("compute", 0, "0.00", True)]
    assert answers([in_time, late]) == [("compute", Fraction(1, 200), "100.00", False)]
    five = [ticket(f"t{i}", "2026-11-02T10:00", "2026-11-02T11:00") for i in range(5)]
    assert answers(five) == [("compute", Fraction(1, 50), "400.00", False)]
    assert answers([ticket("c", "2026-11-02T10:00", "2026-11-02T14:00", "p3")]) == [("compute", 0, "0.00", True)]


def test_a_ticket_without_an_answer_waits_up_to_the_statement_and_belongs_to_the_period_of_opening():
    silent = [ticket("a", "2026-11-30T23:50", None)]
    assert answers(silent, as_of="2026-12-01T00:05")[0][1] == 0
    assert answers(silent, as_of="2026-12-01T00:06")[0][1] == Fraction(1, 200)
    assert answers(silent, month=Month(2026, 12), as_of="2026-12-10T00:00") == []
    answered = [ticket("a", "2026-11-30T23:50", "2026-12-02T00:00")]
    assert answers(answered, as_of="2026-12-01T00:05")[0][1] == 0  # the answer is not known yet


def test_a_grade_without_a_promised_time_is_no_miss_and_is_said():
    records = Records((), (), (), [node()], [ticket("a", "2026-11-02T10:00", None, "p9")])
    (line,) = lines(deal(SUPPORT), records)
    assert line.credit == usd("0.00")
    assert [(s.result, s.inputs["ticket"]) for s in line.steps] == [(None, "a")]


def test_a_ticket_names_its_service_by_itself_or_by_its_units():
    units = [node(), node("s1", service="storage", monthly_fee="1000")]
    late = ticket("a", "2026-11-02T10:00", "2026-11-02T11:00", unit_ids=("s1",))
    assert answers([late], units)[0][0] == "storage"
    assert answers([ticket("a", "2026-11-02T10:00", "2026-11-02T11:00", service="compute")], units)[0][2] == "100.00"
    with pytest.raises(DealError, match=r"tickets\[a\]\.service: found none, and units of compute, storage"):
        answers([ticket("a", "2026-11-02T10:00", None)], units)
    with pytest.raises(DealError, match=r"found 'mail'"):
        answers([ticket("a", "2026-11-02T10:00", None, service="mail")], units)


# root-cause reports


@pytest.mark.parametrize(
    ("sent", "results"),
    [
        ((), [False, False]),
        ((("preliminary_report", "2026-11-13T12:00"),), [True, False]),
        ((("preliminary_report", "2026-11-13T12:00"), ("root_cause_report", "2026-11-20T12:00")), [True, True]),
        ((("root_cause_report", "2026-11-13T12:00"),), [True, True]),
        ((("root_cause_report", "2026-11-21T00:00"),), [False, False]),
    ],
)
def test_reports_are_in_time_up_to_the_end_of_the_third_and_the_tenth_day(sent, results):
    notices = [Notice(id=kind, kind=kind, sent_at=at(when), unit_ids=("slot-17",)) for kind, when in sent]
    outages = [down("2026-11-10T00:00", "2026-11-10T02:00"), down("2026-11-11T00:00", "2026-11-11T01:00")]
    records = Records(outages, (), notices, [node()])
    found = statement(deal({"reports": {}}), records, [NOVEMBER]).checks
    assert [step.result for step in found] == results  # sixty minutes are not more than sixty
    assert statement(deal({}), records, [NOVEMBER]).checks == ()


def test_a_report_that_is_not_due_yet_is_neither_kept_nor_missed():
    records = Records([down("2026-11-10T00:00", "2026-11-10T02:00")], (), (), [node()])
    register = Register(deal({"reports": {}}), records, [NOVEMBER], at("2026-11-15T00:00"))
    assert [step.result for step in reports(register)] == [False, None]


# the lender's side


def test_cover_of_the_debt_with_credits_and_the_headroom_of_one_facility():
    # W27: revenue 10, costs 2, debt service 7 a month, covenant 1.05
    month = Fraction(10), Fraction(2), Fraction(7)
    assert headroom.exact(*month, Fraction("1.05")) == Fraction("0.065")
    covers = [headroom.dscr(*month, Fraction(credit)) for credit in ("0", "0.1", "0.3")]
    assert [round(float(cover), 6) for cover in covers if cover] == [1.142857, 1.0, 0.714286]
    assert headroom.dscr(*month, Fraction("0.065")) == Fraction("1.05")
    assert headroom.exact(*month, Fraction("1.2")) < 0
    assert headroom.dscr(Fraction(10), Fraction(2), Fraction(0), Fraction(0)) is None


def test_credits_beyond_the_headroom_are_carried_to_months_that_can_bear_them():
    due, fees = [usd("100.00"), usd("0.00"), usd("10.00")], [usd("1000.00")] * 3
    found = deductions.exact(due, fees, [Fraction("0.065")] * 3)
    assert [str(one.deducted.amount) for one in found] == ["65.00", "35.00", "10.00"]
    assert [str(one.carried.amount) for one in found] == ["35.00", "0.00", "0.00"]
    with_interest = deductions.exact(due, fees, [Fraction("0.065")] * 3, annual_rate=Fraction("0.12"))
    assert str(with_interest[1].deducted.amount) == "35.35"  # one percent of 35 for a month
    lost = deductions.exact(due, fees, [Fraction("0.065")] * 3, "lost")
    assert [str(one.lost.amount) for one in lost] == ["35.00", "0.00", "0.00"]
    paid = deductions.exact(
        due, fees, [Fraction("0.065"), Fraction(0), Fraction(1)], "cash_when_lockup_passes", passes=[False, True, True]
    )
    assert [str(one.paid.amount) for one in paid] == ["0.00", "35.00", "0.00"]
    with pytest.raises(ValueError, match="differ"):
        deductions.exact(due, fees[:2], [Fraction(1)] * 3)


@given(
    months=st.lists(
        st.tuples(st.integers(0, 10_000_00), st.integers(0, 10_000_00), st.fractions(-1, 1)), min_size=1, max_size=12
    )
)
def test_a_deduction_never_passes_the_headroom_and_nothing_is_lost_on_the_way(months):
    due = [Money(Decimal(d) / 100, "USD") for d, _, _ in months]
    fees = [Money(Decimal(f) / 100, "USD") for _, f, _ in months]
    found = deductions.exact(due, fees, [h for _, _, h in months])
    for one, fee, (_, _, share) in zip(found, fees, months, strict=True):
        assert Fraction(one.deducted.amount) <= max(share, Fraction(0)) * Fraction(fee.amount)
    assert sum(one.deducted.amount for one in found) + found[-1].carried.amount == sum(d.amount for d in due)


def test_the_sum_on_default_is_what_is_left_less_letting_again_at_todays_value():
    # 12 % a year is 1 % a month: 100 / 1.01 + 60 / 1.01^2 = 157.827...
    fees, again = [usd("100.00"), usd("100.00")], [usd("0.00"), usd("40.00")]
    assert default_sum.exact(fees, again, Fraction("0.12"), "USD") == usd("157.83")
    assert default_sum.exact(fees, [], Fraction(0), "USD") == usd("200.00")
    assert default_sum.exact(fees, [usd("150.00")] * 2, Fraction(0), "USD") == usd("0.00")
    assert default_sum.exact(fees, [usd("150.00")], Fraction(0), "USD") == usd("50.00")


def test_a_backstop_that_starts_late_and_falls_leaves_gaps():
    debt = [Fraction(100), Fraction(90), Fraction(80), Fraction(70), Fraction(60)]
    covered = [backstop_gap.cover(m, Fraction(90), Fraction(1), 3) for m in range(5)]
    assert covered == [0, 90, 60, 30, 0]
    assert backstop_gap.exact(debt, covered) == {0: 100, 2: 20, 3: 40, 4: 60}
    assert backstop_gap.cover(9, Fraction(90), Fraction(1), None, ends=Fraction(9)) == 0
    assert backstop_gap.unanswered(("payment_default", "long_stop"), {"payment_default"}) == ("long_stop",)


def test_a_failure_spreads_along_its_links_also_in_circles():
    links = [Link("a", "b"), Link("b", "c", frozenset({"insolvency"})), Link("c", "a"), Link("x", "d")]
    revenue = {name: Fraction(25) for name in "abcd"}
    assert contagion.exact(["a"], "insolvency", links, revenue) == (frozenset("abc"), Fraction(3, 4))
    assert contagion.exact(["a"], "delay", links, revenue) == (frozenset("ab"), Fraction(1, 2))
    assert contagion.exact(["d"], "delay", [], revenue) == (frozenset("d"), Fraction(1, 4))
    assert contagion.exact([], "delay", links, {}) == (frozenset(), 0)


def test_the_contract_ends_only_after_the_lenders_time():
    notice = date(2026, 1, 1)
    assert earliest_end.exact(notice, None, 30, LenderTime()) is None
    # 30 days of the provider and 30 of the lender, as long as the standstill: 2 March is the last day
    assert earliest_end.exact(notice, notice, 30, LenderTime()) == date(2026, 3, 3)
    assert earliest_end.exact(notice, date(2026, 1, 11), 30, LenderTime()) == date(2026, 3, 13)
    assert earliest_end.exact(notice, notice, 30, LenderTime(), step_in_days=500) == date(2026, 3, 2) + timedelta(181)
    short = LenderTime(hard_stop_days=120)
    assert earliest_end.exact(notice, notice, 30, short, step_in_days=500) == date(2026, 5, 2)
    assert earliest_end.exact(notice, notice, 200, short) == date(2026, 7, 21)  # the provider keeps its own time


def test_an_invoice_bills_each_accepted_unit_by_its_days():
    units = [
        BilledUnit("n1", Decimal(3000), date(2026, 11, 1)),
        BilledUnit("n2", Decimal(3000), date(2026, 11, 21)),
        BilledUnit("n3", Decimal(3000), date(2026, 12, 1)),
        BilledUnit(
            "n4", Decimal(100), date(2026, 1, 1), ends=date(2026, 11, 2), unavailable=frozenset({date(2026, 11, 9)})
        ),
    ]
    billed, sum_ = unit_days.exact(units, NOVEMBER, "USD")
    assert billed == (("n1", 30, usd("3000.00")), ("n2", 10, usd("1000.00")), ("n4", 1, usd("3.33")))
    assert sum_ == usd("4003.33")
    assert unit_days.exact(units[:2], NOVEMBER, "USD", "none")[1] == usd("6000.00")
    december = Month(2026, 12)
    assert unit_days.exact(units[2:3], december, "USD", "thirty_days")[1] == usd("3000.00")
    away = BilledUnit("n1", Decimal(3100), date(2026, 1, 1), unavailable=frozenset({date(2026, 12, 24)}))
    assert unit_days.exact([away], december, "USD")[1] == usd("3000.00")
    assert unit_days.exact([away], december, "USD", basis="contracted_units")[1] == usd("3100.00")


def test_a_fix_is_late_when_it_is_older_than_its_severity_allows():
    limits = {"critical": 14, "high": 30, "other": 90}
    found = [
        MissingFix("h1", "critical", date(2026, 11, 1), date(2026, 11, 15)),
        MissingFix("h2", "critical", date(2026, 11, 1), date(2026, 11, 16)),
        MissingFix("h2", "low", date(2026, 8, 1), date(2026, 11, 1)),
    ]
    ages = patch_age.exact(found, limits)
    assert [(age.age_days, age.is_kept) for age in ages] == [(14, True), (15, False), (92, False)]
    assert patch_age.hosts_failed(ages) == ("h2",)
    with pytest.raises(KeyError, match="other"):
        patch_age.exact(found, {"critical": 14})
