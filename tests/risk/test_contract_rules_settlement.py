"""What is owed of credits once they are earned: choices, claims, caps, carrying forward, forms, rights and refunds."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from risk.contract_rules import allocation, deadlines, objection, termination_refund
from risk.contract_rules.allocation import Given, allocated, present_value
from risk.contract_rules.statement import Records, Statement, statement
from schemas.credits import CreditForm
from schemas.deal import Deal
from schemas.errors import DealError, MissingTermError, NotComputedError
from schemas.incidents import Incident, LedgerEntry, Notice, Ticket, UnitService, Window
from schemas.money import Money, rounded_to_minor_unit
from schemas.periods import Cycle, Month

FEW = settings(deadline=None, max_examples=25)
NOVEMBER, DECEMBER = Month(2026, 11), Month(2026, 12)
ROWS = [
    {"below": "0.995", "credit_fraction": "0.10"},
    {"below": "0.99", "credit_fraction": "0.25"},
    {"below": "0.95", "credit_fraction": "0.50"},
]
NODES = {"level": "node", "target": "0.995", "credit": {"bands": ROWS}}
CLUSTER = {"level": "cluster", "target": "0.995", "nodes_needed_share": "0.95", "credit": {"bands": ROWS}}


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def usd(amount: str) -> Money:
    return Money(Decimal(amount), "USD")


def deal(levels: dict[str, Any] | None = None, *, months: int = 36, **sections: Any) -> Deal:
    commercial = {"currency": "USD", "charges": {}, "term": {"months": months}, **sections.pop("commercial", {})}
    return Deal.model_validate(
        {"schema_version": 1, "service_levels": levels or {"nodes": NODES}, "commercial": commercial, **sections}
    )


def unit(name: str = "node-001", fee: str = "20000", level: str = "node", **more: Any) -> UnitService:
    more = {"service": "compute", "in_service_from": at("2026-01-01T00:00"), **more}
    return UnitService(unit_id=name, level=level, monthly_fee=Decimal(fee), **more)


def down(start: str, hours: float, name: str = "node-001", level: str = "node", **more: Any) -> Incident:
    end = at(start) + timedelta(hours=hours)
    return Incident(id=f"{name} {start}", level=level, unit_id=name, started_at=at(start), ended_at=end, **more)


def claim(sent: str, **more: Any) -> Notice:
    return Notice(id=f"claim {sent}", kind="claim", sent_at=at(sent), **more)


def stated(sent: str, **more: Any) -> Notice:
    return Notice(id=f"statement {sent}", kind="credit_statement", sent_at=at(sent), **more)


def result(terms: Deal, incidents: Sequence[Incident], units: Sequence[UnitService] = (), **more: Any) -> Statement:
    periods = more.pop("periods", [NOVEMBER])
    as_of = more.pop("as_of", None)
    return statement(terms, Records(incidents=incidents, units=units or [unit()], **more), periods, as_of)


FIVE_HOURS = [down("2026-11-10T00:00", 5)]
"""One outage that earns 10% of 20,000."""


# caps, case C02 and its alternatives

NODES_64 = [unit(f"node-{i:03}") for i in range(1, 65)]
EIGHT_NODES = [down("2026-11-10T00:00", 36 + 40 / 60, f"node-{i:03}") for i in range(1, 9)]


def test_what_exceeds_the_cap_of_the_month_is_owed_in_december_under_the_cap_of_december():
    caps = {"month": "0.05", "carry_forward": True}
    found = result(deal(credits={"caps": caps}), EIGHT_NODES, NODES_64, periods=[NOVEMBER, DECEMBER])
    november, december = found.settlements
    assert (november.credit, november.payable) == (usd("80000.00"), usd("64000.00"))
    assert november.lost == {"carried_forward": usd("16000.00")}
    assert november.carried_forward == usd("16000.00")
    assert (december.brought_forward, december.payable) == (usd("16000.00"), usd("16000.00"))
    assert december.carried_forward == usd("0.00")
    assert found.total == usd("80000.00")


def test_what_is_carried_is_owed_in_a_statement_of_december_alone():
    caps = {"month": "0.05", "carry_forward": True}
    found = result(deal(credits={"caps": caps}), EIGHT_NODES, NODES_64, periods=[DECEMBER])
    assert [(s.period, s.payable) for s in found.settlements] == [(DECEMBER, usd("16000.00"))]
    assert found.total == usd("16000.00")


def test_the_oldest_of_what_is_carried_comes_before_what_the_month_earns():
    # November 80,000 against 64,000; December earns 80,000 too: 16,000 carried first, 48,000 of its own, 32,000 left
    again = [down("2026-12-10T00:00", 38, f"node-{i:03}") for i in range(1, 9)]
    caps = {"month": "0.05", "carry_forward": True}
    found = result(deal(credits={"caps": caps}), EIGHT_NODES + again, NODES_64, periods=[NOVEMBER, DECEMBER])
    december = found.settlements[1]
    assert (december.brought_forward, december.payable) == (usd("16000.00"), usd("64000.00"))
    assert sum(line.payable.amount for line in found.lines if line.period == DECEMBER) == Decimal("48000.00")
    assert december.carried_forward == usd("32000.00")


def test_without_a_cap_of_the_month_eight_nodes_are_paid_in_full():
    assert result(deal(), EIGHT_NODES, NODES_64).total == usd("80000.00")


def test_a_cap_of_the_fee_of_the_month_before_is_nothing_in_the_first_month():
    caps = {"month": "0.10", "month_of": "previous_period"}
    units = [unit(in_service_from=at("2026-11-01T00:00"))]
    incidents = [down("2026-11-10T00:00", 8), down("2026-12-10T00:00", 8)]
    found = result(deal(credits={"caps": caps}), incidents, units, periods=[NOVEMBER, DECEMBER])
    assert [s.payable for s in found.settlements] == [usd("0.00"), usd("2000.00")]  # 25% of 20,000 against 0 and 2,000


def test_a_cap_of_the_month_before_follows_the_fee_of_that_month():
    # half of November's fee accrues: 10,000, so December's credits of 5,000 are at most 1,000
    units = [unit(in_service_from=at("2026-11-16T00:00"))]
    caps = {"month": "0.10", "month_of": "previous_period"}
    found = result(deal(credits={"caps": caps}), [down("2026-12-10T00:00", 8)], units, periods=[DECEMBER])
    assert found.total == usd("1000.00")
    assert found.lost == {"month_cap": usd("4000.00")}


def test_the_cap_of_the_term_counts_all_years():
    # 10% of 20,000 a month in January of three years; 1% of 36 months is 7,200, of which 6,000 is gone
    caps = {"term": "0.01"}
    incidents = [down(f"{year}-01-10T00:00", 5) for year in (2026, 2027, 2028)] + [down("2028-02-10T00:00", 5)]
    last = [Month(2028, 2)]
    found = result(deal(credits={"caps": caps}), incidents, [unit()], periods=last)
    assert found.total == usd("1200.00")
    assert found.lost == {"term_cap": usd("800.00")}
    assert found.settlements[0].limits["term"].cap == usd("7200.00")


def test_the_cap_of_the_term_needs_a_term():
    terms = Deal.model_validate(
        {
            "schema_version": 1,
            "service_levels": {"nodes": NODES},
            "credits": {"caps": {"term": "0.01"}},
            "finance": {"close": "2026-01-01", "currency": "USD", "horizon_months": 1},
        }
    )
    with pytest.raises(MissingTermError, match=r"commercial\.term"):
        result(terms, [])


@pytest.mark.parametrize(("fee", "paid"), [("250", "0.00"), ("250.10", "25.01")])
def test_a_line_of_exactly_the_least_amount_is_not_paid(fee, paid):
    found = result(deal(credits={"minimum_payable": "25"}), FIVE_HOURS, [unit(fee=fee)])
    assert found.total == usd(paid)
    assert found.lost == ({"below_minimum": usd("25.00")} if paid == "0.00" else {})


# claims, case C09 and its alternatives

SEPTEMBER = Month(2026, 9)
LATE = {"incidents": [down("2026-09-20T00:00", 5)], "periods": [SEPTEMBER], "notices": [claim("2026-10-31T00:01")]}
FORFEIT = {"mode": "claimed", "window_days": 30, "window_from": "period_end", "late": "forfeit"}


@pytest.mark.parametrize(
    ("process", "total", "claim_by"),
    [
        (FORFEIT, "0.00", "2026-10-31T00:00"),
        ({"mode": "automatic"}, "2000.00", None),
        ({**FORFEIT, "window_from": "incident_end"}, "0.00", "2026-10-21T00:00"),
        ({**FORFEIT, "window_from": "incident_start"}, "0.00", "2026-10-21T00:00"),
        ({**FORFEIT, "window_from": "statement"}, "2000.00", None),
        ({**FORFEIT, "window_from": "next_period_end"}, "2000.00", "2026-12-01T00:00"),
        ({**FORFEIT, "late": "none"}, "2000.00", "2026-10-31T00:00"),
        ({**FORFEIT, "late": "reduced"}, "1000.00", "2026-10-31T00:00"),
        ({**FORFEIT, "late": "reduced", "late_share": "0.25"}, "500.00", "2026-10-31T00:00"),
    ],
)
def test_a_claim_a_minute_into_day_31_under_other_terms(process, total, claim_by):
    found = result(deal(credits={"process": process}), **LATE)
    assert found.total == usd(total)
    assert found.lines[0].claim_by == (at(claim_by) if claim_by else None)


def test_half_of_a_late_claim_is_lost_and_uses_up_no_cap():
    # two nodes with 2,000 each, one claimed late: 2,000 + 1,000 against a cap of 3,000
    process = {**FORFEIT, "late": "reduced"}
    terms = deal(credits={"process": process, "caps": {"month": "0.075"}})
    incidents = [down("2026-09-20T00:00", 5, name) for name in ("node-001", "node-002")]
    notices = [claim("2026-10-05T00:00", unit_ids=("node-002",)), claim("2026-11-05T00:00", unit_ids=("node-001",))]
    found = result(terms, incidents, [unit(), unit("node-002")], periods=[SEPTEMBER], notices=notices)
    assert [line.payable for line in found.lines] == [usd("1000.00"), usd("2000.00")]
    assert found.lost == {"late_claim": usd("1000.00")}


@pytest.mark.parametrize(
    ("calendars", "claim_by"),
    [
        (["US-NY"], "2026-12-01T00:00"),  # Wednesday, Friday, Monday: Thanksgiving is Thursday, 26 November
        (["GB-ENG"], "2026-11-28T00:00"),  # Wednesday, Thursday, Friday
        (["US-NY", "GB-ENG"], "2026-12-01T00:00"),
        (["NYSE"], "2026-12-01T00:00"),
        ([], "2026-12-01T00:00"),  # the law of New York goes with the holidays there
    ],
)
def test_three_business_days_over_thanksgiving(calendars, claim_by):
    process = {"mode": "claimed", "window_business_days": 3, "window_from": "incident_end", "late": "forfeit"}
    terms = deal(credits={"process": process}, measurement={"business_calendars": calendars})
    found = result(terms, [down("2026-11-24T00:00", 5)])
    assert found.lines[0].claim_by == at(claim_by)


def test_a_calendar_that_is_not_known_is_refused_by_its_name():
    process = {"mode": "claimed", "window_business_days": 3, "window_from": "incident_end"}
    terms = deal(credits={"process": process}, measurement={"business_calendars": ["US-QQ"]})
    with pytest.raises(DealError, match=r"business_calendars: found 'US-QQ'"):
        result(terms, FIVE_HOURS)


@pytest.mark.parametrize(
    ("process", "claim_by"),
    [
        ({"window_days": 30}, "2026-12-30T00:00"),
        ({"window_business_days": 3}, "2026-12-03T00:00"),  # Monday 30 November, Tuesday, Wednesday
        ({"window_months": 2}, "2027-01-30T00:00"),
    ],
)
def test_the_day_of_the_event_may_be_day_one(process, claim_by):
    process = {"mode": "claimed", "window_from": "period_end", "late": "forfeit", **process}
    terms = deal(credits={"process": process}, measurement={"day_count": "include_event_day"})
    assert result(terms, FIVE_HOURS).lines[0].claim_by == at(claim_by)


def test_days_of_a_claim_are_those_of_the_zone():
    process = {"mode": "claimed", "window_days": 1, "window_from": "incident_end", "late": "forfeit"}
    terms = deal(credits={"process": process}, measurement={"zone": "America/New_York"})
    # 3 November 03:00 UTC is still 2 November in New York; day 1 ends there at midnight of 4 November, 05:00 UTC
    assert result(terms, [down("2026-11-02T22:00", 5)]).lines[0].claim_by == at("2026-11-04T05:00")


def test_a_window_that_is_not_stated_leaves_the_credit_and_names_no_day():
    process = {"mode": "claimed", "window_from": "period_end", "late": "forfeit"}
    unknown = {"credits.process.window_days": "no time to claim was found"}
    terms = deal(credits={"process": process}, unknown=unknown)
    found = result(terms, FIVE_HOURS, as_of=at("2030-01-01T00:00"))
    (line,) = found.lines
    assert (line.payable, line.claim_by) == (usd("2000.00"), None)
    assert any("no time to claim was found" in str(step.result) for step in line.steps)


def test_what_a_late_claim_loses_is_not_computed_where_it_is_not_stated():
    process = {"mode": "claimed", "window_days": 10, "window_from": "period_end"}
    unknown = {"credits.process.late": "what becomes of a late claim was not found"}
    terms = deal(credits={"process": process}, unknown=unknown)
    late = result(terms, FIVE_HOURS, notices=[claim("2027-01-10T00:00")]).lines[0]
    assert late.not_computed is not None
    assert "what becomes of a late claim was not found" in late.not_computed
    assert result(terms, FIVE_HOURS, notices=[claim("2026-12-05T00:00")]).total == usd("2000.00")


OPEN_FROM = {"credits.process.window_from": "from what it runs is not said"}
TEN_DAYS = {"mode": "claimed", "window_days": 10, "late": "forfeit"}


@pytest.mark.parametrize(
    ("asked_on", "owed"),
    [
        ("2026-11-20T23:59", "2000.00"),  # ten days from 10 November, start and end of the outage
        ("2026-11-21T00:00", None),  # late from the outage on, not from the end of the month on
        ("2026-12-10T23:59", None),
        ("2026-12-11T00:00", "0.00"),  # late by each reading
    ],
)
@pytest.mark.parametrize("is_claimed", [True, False])
def test_a_claim_is_late_where_it_is_late_by_each_reading_of_a_blank_start(asked_on, owed, is_claimed):
    terms = deal(credits={"process": TEN_DAYS}, unknown=OPEN_FROM)
    covers = {"covers_from": at("2026-11-01T00:00"), "covers_to": at("2026-12-01T00:00")}
    more = {"notices": [claim(asked_on, **covers)]} if is_claimed else {"as_of": at(asked_on)}
    (line,) = result(terms, FIVE_HOURS, **more).lines
    assert line.claim_by is None
    assert line.claim_by_readings == (at("2026-11-21T00:00"), at("2026-12-11T00:00"))
    if owed is None:
        assert line.not_computed == (
            "a claim is late from 2026-11-21 by one reading and from 2026-12-11 by another, and "
            "credits.process.window_from is not stated: from what it runs is not said"
        )
    else:
        assert (line.not_computed, line.payable) == (None, usd(owed))


def test_a_blank_start_makes_no_difference_where_a_late_claim_is_good_or_all_readings_agree():
    good = deal(credits={"process": {**TEN_DAYS, "late": "none"}}, unknown=OPEN_FROM)
    assert result(good, FIVE_HOURS, as_of=at("2026-11-25T00:00")).total == usd("2000.00")
    months = {"mode": "claimed", "window_months": 3, "late": "forfeit"}
    agree = deal(credits={"process": months}, unknown=OPEN_FROM)
    last_day = [down("2026-11-30T01:00", 5)]  # start, end and month end on one day
    assert result(agree, last_day).lines[0].claim_by == at("2027-03-01T00:00")
    assert result(agree, last_day, as_of=at("2027-03-01T00:00")).total == usd("0.00")


def test_what_a_claim_late_by_each_reading_loses_is_not_computed_where_it_is_not_stated():
    unknown = {**OPEN_FROM, "credits.process.late": "what becomes of a late claim was not found"}
    terms = deal(credits={"process": {"mode": "claimed", "window_days": 10}}, unknown=unknown)
    late = result(terms, FIVE_HOURS, as_of=at("2027-01-10T00:00")).lines[0]
    assert late.not_computed is not None
    assert late.not_computed.startswith("the claim is late, and credits.process.late is not stated")
    either = result(terms, FIVE_HOURS, as_of=at("2026-11-25T00:00")).lines[0]
    assert either.not_computed is not None
    assert "by one reading" in either.not_computed


def rules_of(found: Statement, paragraph: str) -> list[tuple[str, object]]:
    return [(step.rule, step.result) for step in found.lines[0].steps if step.paragraph == paragraph]


def test_the_step_of_a_claim_says_what_is_on_record():
    terms = deal(credits={"process": FORFEIT})
    (found,) = rules_of(result(terms, FIVE_HOURS, notices=[claim("2026-12-05T00:00")]), "credit-process.claim")
    assert found[0].endswith("the claim on record is")
    assert found[1] is True
    (found,) = rules_of(result(terms, FIVE_HOURS, as_of=at("2027-03-01T00:00")), "credit-process.claim")
    assert found[0].endswith("no claim is on record; one made when this is stated is")
    assert found[1] is False


def test_the_steps_of_a_line_speak_of_it_alone_and_of_no_row_where_none_applies():
    missed, met = result(deal(), FIVE_HOURS), result(deal(), [])
    assert rules_of(missed, "service-levels.table") == [
        ("the target of the row is an availability of at least 0.995 in the period", False)
    ]
    assert "the one that credits most applies" in rules_of(missed, "credit-schedule.bands")[0][0]
    assert rules_of(met, "credit-schedule.bands") == [
        ("no row of the table has an upper edge above the availability; credited", Decimal(0))
    ]


def test_an_open_incident_counts_up_to_the_cut_off_only_if_it_starts_before_it():
    open_ones = [
        Incident(id=f"node-001 {start}", level="node", unit_id="node-001", started_at=at(start))
        for start in ("2026-11-10T00:00", "2026-11-29T00:00")
    ]
    notes = result(deal(), open_ones, as_of=at("2026-11-14T00:00")).notes
    assert "Incidents node-001 2026-11-10T00:00 have no end on record and count up to 2026-11-14 00:00 UTC." in notes
    assert any("node-001 2026-11-29T00:00" in note and "they count nothing here" in note for note in notes)


# statements and objections


def test_a_statement_over_christmas_can_be_disputed_for_twenty_business_days():
    terms = deal(measurement={"business_calendars": ["US-NY"]})
    found = result(terms, FIVE_HOURS, notices=[stated("2026-12-10T12:00")]).settlements[0]
    assert (found.stated_on, found.object_by) == (date(2026, 12, 10), at("2027-01-12T00:00"))
    assert found.object_by_if_stated_when_due is None
    assert result(terms, FIVE_HOURS).settlements[0].object_by is None


def test_a_statement_not_received_yet_can_be_disputed_from_the_day_on_which_it_is_due():
    terms = deal(measurement={"business_calendars": ["US-NY"], "zone": "America/New_York"})
    found = result(terms, FIVE_HOURS).settlements[0]
    assert objection.statement_due((at("2026-11-01T04:00"), at("2026-12-01T05:00")), terms).value == at(
        "2026-12-15T05:00"
    )
    # received on Monday, 14 December: twenty Business Days without Christmas, New Year and 18 January end on 13 January
    assert found.object_by_if_stated_when_due == at("2027-01-14T05:00")


def test_the_statement_of_a_month_is_due_on_its_tenth_business_day():
    # December 2026: 1 to 4, 7 to 11, 14 are ten days from Monday to Friday
    due = objection.statement_due((at("2026-11-01T00:00"), at("2026-12-01T00:00")), deal())
    assert due.value == at("2026-12-15T00:00")


def test_no_business_day_later_is_the_day_itself_and_holidays_are_skipped():
    assert deadlines.business_days_after(date(2026, 12, 24), 0, ["US"]) == date(2026, 12, 24)
    assert deadlines.business_days_after(date(2026, 12, 24), 1, ["US"]) == date(2026, 12, 28)


# stacking


def two_levels(**credits: Any) -> Deal:
    credit = {"bands": [{"below": "0.995", "credit_fraction": "0.05"}]}
    return deal({"nodes": NODES, "cluster": {**CLUSTER, "credit": credit}}, credits=credits)


INSIDE = [unit("c", "200000", "cluster"), *(unit(f"node-{i:03}", parent_id="c") for i in range(1, 11))]
OUTSIDE = [unit("node-011")]
NINE_HOURS = [down("2026-11-05T09:00", 9), down("2026-11-05T09:00", 9, "node-011")]
"""One node inside the cluster, which needs all ten, and one outside: 5,000 each, and 10,000 for the cluster."""


@pytest.mark.parametrize(
    ("rule", "total", "lost"),
    [
        ("highest_level", "10000.00", {"other_level": usd("10000.00")}),
        ("cumulative", "20000.00", {}),
        ("parent_absorbs_children", "15000.00", {"parent_level": usd("5000.00")}),
        ("choose_one", "10000.00", {"other_level": usd("10000.00")}),
    ],
)
def test_a_node_inside_a_credited_cluster_and_one_outside_it(rule, total, lost):
    found = result(two_levels(between_levels=rule), NINE_HOURS, INSIDE + OUTSIDE)
    assert (found.total, found.lost) == (usd(total), lost)


def test_a_cluster_without_a_credit_absorbs_nothing():
    terms = two_levels(between_levels="parent_absorbs_children")
    assert result(terms, [down("2026-11-05T09:00", 9, "node-011")], INSIDE + OUTSIDE).total == usd("5000.00")


def test_the_first_claim_that_names_a_level_chooses_it_for_good():
    first = claim("2026-12-05T00:00", service_level="nodes")
    second = claim("2026-12-06T00:00", service_level="cluster")
    terms = two_levels(between_levels="choose_one")
    found = result(terms, NINE_HOURS[:1], INSIDE + OUTSIDE, notices=[second, first])
    assert (found.total, found.lost) == (usd("5000.00"), {"other_level": usd("10000.00")})
    assert {line.service_level for line in found.lines if line.payable.amount} == {"nodes"}
    unnamed = result(terms, NINE_HOURS[:1], INSIDE + OUTSIDE, notices=[claim("2026-12-04T00:00")])
    assert {line.service_level for line in unnamed.lines if line.payable.amount} == {"cluster"}


def test_a_choice_of_a_level_that_is_not_there_is_none():
    notices = [claim("2026-12-05T00:00", service_level="racks")]
    found = result(two_levels(between_levels="choose_one"), NINE_HOURS[:1], INSIDE + OUTSIDE, notices=notices)
    assert {line.service_level for line in found.lines if line.payable.amount} == {"cluster"}


@pytest.mark.parametrize(("rule", "total"), [("cumulative", "2100.00"), ("highest", "2000.00")])
def test_heads_are_added_or_the_greatest_is_paid(rule, total):
    support = {"severities": {"urgent": {"response_minutes": 15}}}
    terms = deal(credits={"between_heads": rule}, operations={"support": support})
    opened, answered = at("2026-11-05T10:00"), at("2026-11-05T10:16")
    tickets = [Ticket(id="t", severity="urgent", opened_at=opened, first_response_at=answered)]
    found = result(terms, FIVE_HOURS, tickets=tickets)
    assert found.total == usd(total)  # 10% of 20,000, and 0.5% for one late answer
    assert found.lost == ({} if rule == "cumulative" else {"other_head": usd("100.00")})


@pytest.mark.parametrize(
    ("rule", "total", "counted"), [("sum_minutes", "5000.00", 450), ("worst_outage", "2000.00", 300)]
)
def test_the_downtime_of_a_month_is_added_up_or_the_longest_outage_is_taken(rule, total, counted):
    incidents = [down("2026-11-10T00:00", 5), down("2026-11-20T00:00", 2.5)]
    found = result(deal(credits={"within_level": rule}), incidents)
    (line,) = found.lines
    assert (found.total, line.counted_minutes, line.down_minutes) == (usd(total), counted, 450)
    assert line.down_minutes == line.excluded_minutes + line.disregarded_minutes + line.counted_minutes


# base, case C14 and its alternatives


def invoice(amount: str, month: str = "2026-11", **more: Any) -> LedgerEntry:
    return LedgerEntry(month=month, service="compute", invoiced=Decimal(amount), **more)


@pytest.mark.parametrize(
    ("base", "ledger", "total"),
    [
        ("unit_fee_accrued", [], "100000.00"),
        ("invoiced", [invoice("800000.00", prepayment_applied=Decimal(200_000))], "80000.00"),
        ("invoiced", [invoice("0.00", prepayment_applied=Decimal(1_000_000))], "0.00"),
    ],
)
def test_a_fifth_of_the_fee_was_paid_ahead(base, ledger, total):
    units = [unit("cluster-1", "1000000", "cluster", prepaid_fraction=Decimal("0.20"))]
    terms = deal({"cluster": CLUSTER}, credits={"base": base})
    found = result(terms, [down("2026-11-08T00:00", 5, "cluster-1", "cluster")], units, ledger=ledger)
    assert found.total == usd(total)


def test_a_credit_of_an_invoice_that_is_not_on_record_is_not_computed():
    found = result(deal(credits={"base": "invoiced"}), FIVE_HOURS, ledger=[invoice("1.00", "2026-10")])
    (line,) = found.lines
    assert line.not_computed == "no invoice of compute for 2026-11 is on record, of which the credit is a share"
    assert result(deal(credits={"base": "invoiced"}), []).lines[0].not_computed is None


def test_two_invoices_of_one_month_contradict_each_other():
    with pytest.raises(DealError, match=r"ledger\[compute, 2026-11\]"):
        result(deal(credits={"base": "invoiced"}), [], ledger=[invoice("1.00"), invoice("2.00")])


def test_an_invoice_does_not_fit_a_period_that_is_no_month():
    terms = deal(credits={"base": "invoiced"}, measurement={"period": "billing_month", "billing_day": 15})
    with pytest.raises(NotComputedError, match=r"credits\.base"):
        result(terms, [], periods=[Cycle(date(2026, 11, 15), months=1)])


def test_the_base_can_be_the_fees_of_all_services():
    units = [unit(), unit("volume", "5000", "storage", service="files")]
    found = result(deal(credits={"base": "order_fee_accrued"}), FIVE_HOURS, units)
    assert (found.lines[0].base, found.total) == (25_000, usd("2500.00"))


def fabric(**more: Any) -> Deal:
    level = {"level": "fabric", "target": "0.999", "credit": {"bands": [{"below": "0.999", "credit_fraction": "0.1"}]}}
    return deal({"fabric": {**level, **more}})


def test_a_fabric_without_a_fee_stands_for_a_share_of_its_cluster():
    units = [unit("cluster-1", "2000000", "cluster"), unit("f", "0", "fabric", parent_id="cluster-1")]
    outage = [down("2026-11-08T00:00", 1, "f", "fabric")]
    found = result(fabric(base_share="0.15"), outage, units)
    assert (found.lines[0].base, found.total) == (300_000, usd("30000.00"))
    assert found.settlements[0].fee == 2_000_000  # the share is no fee of its own
    assert result(fabric(), outage, units).total == usd("0.00")


def test_a_fabric_with_a_fee_keeps_it_and_one_without_a_cluster_has_none():
    units = [unit("cluster-1", "2000000", "cluster"), unit("f", "1000", "fabric", parent_id="cluster-1")]
    outage = [down("2026-11-08T00:00", 1, "f", "fabric")]
    assert result(fabric(base_share="0.15"), outage, units).lines[0].base == 1000
    alone = result(fabric(base_share="0.15"), outage, [unit("f", "0", "fabric")])
    assert alone.total == usd("0.00")
    assert any("have no fee on record" in note for note in alone.notes)


def test_a_free_month_earns_nothing():
    units = [
        unit(fee="0", in_service_to=at("2026-11-01T00:00")),
        unit(in_service_from=at("2026-11-01T00:00")),
    ]
    found = result(deal(), [down("2026-10-10T00:00", 5), *FIVE_HOURS], units, periods=[Month(2026, 10), NOVEMBER])
    assert [s.payable for s in found.settlements] == [usd("0.00"), usd("2000.00")]


# rights, cases C10 and C15

CLUSTER_1 = [unit("cluster-1", "1000000", "cluster")]
SIX_MONTHS = [Month(2026, month) for month in range(1, 7)]
BAD = [
    down(f"2026-{month:02}-06T00:00", minutes / 60, "cluster-1", "cluster")
    for month, minutes in ((1, 700), (2, 900), (3, 880), (4, 870), (5, 100), (6, 950))
]


@pytest.mark.parametrize(
    ("limb", "first", "months"),
    [
        ({"below": "0.98", "k": 3, "m": 6}, "2026-07-01T00:00", (2, 4, 6)),
        ({"below": "0.98", "k": 2, "m": 3}, "2026-05-01T00:00", (2, 4)),
        ({"below": "0.995", "k": 3, "m": 6}, "2026-04-01T00:00", (1, 2, 3)),
    ],
)
def test_chronic_failure_under_three_readings(limb, first, months):
    limb = {"form": "bad_months", "service_level": "cluster", **limb}
    terms = deal({"cluster": CLUSTER}, cancellation={"chronic_failure": {"limbs": [limb]}})
    found = result(terms, BAD, CLUSTER_1, periods=SIX_MONTHS)
    assert found.total == usd("1250000.00")
    assert found.rights[0].arises == at(first)
    assert found.rights[0].periods == tuple(Month(2026, month) for month in months)


YEAR = [
    down(f"2026-{month:02}-10T00:00", minutes / 60, "cluster-1", "cluster")
    for month, minutes in ((1, 500), (2, 500), (3, 500), (4, 500), (5, 300), (6, 500), (7, 500))
]


def test_the_cap_of_the_year_is_used_up_in_june_line_by_line():
    limbs = [{"form": "cap_reached"}, {"form": "cap_reached", "cap": "month"}]
    terms = deal(
        {"cluster": CLUSTER},
        credits={"caps": {"month": "0.25", "year": "0.10"}},
        cancellation={"chronic_failure": {"limbs": limbs}},
    )
    found = result(terms, YEAR[:6], CLUSTER_1, periods=SIX_MONTHS)
    paid = ["250000.00"] * 4 + ["100000.00", "100000.00"]
    to_date = ["0.00", "250000.00", "500000.00", "750000.00", "1000000.00", "1100000.00"]
    assert [line.credit for line in found.lines] == [usd("250000.00")] * 4 + [usd("100000.00"), usd("250000.00")]
    assert [line.payable for line in found.lines] == [usd(amount) for amount in paid]
    assert [settlement.given_before for settlement in found.settlements] == [usd(amount) for amount in to_date]
    assert (found.total, found.lost) == (usd("1200000.00"), {"year_cap": usd("150000.00")})
    year = [right for right in found.rights if right.term.endswith("limbs[0]")]
    assert [(r.form, r.period, r.arises, r.unit) for r in year] == [
        ("cap_reached", Month(2026, 6), at("2026-07-01T00:00"), "compute")
    ]
    months = [right.period.month for right in found.rights if right.term.endswith("limbs[1]")]
    assert months == [1, 2, 3, 4, 6]  # the cap of June is reached before that of the year cuts its credit


def test_a_used_up_year_gives_its_right_once_and_without_the_cap_all_is_paid():
    limbs = [{"form": "cap_reached"}]
    sections = {"cancellation": {"chronic_failure": {"limbs": limbs}}}
    terms = deal({"cluster": CLUSTER}, credits={"caps": {"month": "0.25", "year": "0.10"}}, **sections)
    found = result(terms, YEAR, CLUSTER_1, periods=[Month(2026, 7)])
    assert (found.total, [right.period.month for right in found.rights]) == (usd("0.00"), [6])  # still open
    free = deal({"cluster": CLUSTER}, **sections)
    assert result(free, YEAR[:6], CLUSTER_1, periods=SIX_MONTHS).total == usd("1350000.00")


def test_a_cap_is_not_known_to_be_reached_before_its_period_is_over():
    limbs = [{"form": "cap_reached", "cap": "month"}]
    terms = deal(credits={"caps": {"month": "0.05"}}, cancellation={"chronic_failure": {"limbs": limbs}})
    assert result(terms, FIVE_HOURS, as_of=at("2026-11-30T00:00")).rights == ()
    assert len(result(terms, FIVE_HOURS, as_of=at("2026-12-01T00:00")).rights) == 1


def chronic(limb: dict[str, Any], **sections: Any) -> Deal:
    return deal(cancellation={"chronic_failure": {"limbs": [limb]}}, **sections)


def test_hours_add_up_in_a_rolling_window_and_leave_it_again():
    limb = {"form": "cumulative_hours", "service_level": "nodes", "hours": "24", "window_days": 10}
    twelve = [down(f"2026-11-{day:02}T00:00", 12) for day in (1, 10, 13)]
    # 1 and 10 November make exactly 24 hours; when the 11th comes, those of the 1st have begun to leave
    assert result(chronic(limb), twelve[:2]).rights == ()
    # the 13th brings 12 + 12 again, exactly; one hour more passes 24 at noon of the 13th
    assert result(chronic(limb), twelve).rights == ()
    (right,) = result(chronic(limb), [*twelve[:2], down("2026-11-13T00:00", 13)]).rights
    assert (right.form, right.arises, right.exercise_by) == (
        "cumulative_hours",
        at("2026-11-13T12:00"),
        at("2027-01-13T00:00"),
    )


def test_hours_that_are_excluded_do_not_add_up():
    limb = {"form": "cumulative_hours", "service_level": "nodes", "hours": "9", "window_days": 10}
    incidents = [down("2026-11-01T00:00", 5), down("2026-11-03T00:00", 5, cause_party="customer")]
    assert len(result(chronic(limb), incidents).rights) == 1
    act = Window(
        id="w",
        kind="customer_act",
        starts_at=at("2026-11-03T00:00"),
        ends_at=at("2026-11-03T05:00"),
        unit_ids=("node-001",),
    )
    assert result(chronic(limb), incidents, windows=[act]).rights == ()


def test_the_third_outage_of_one_cause_gives_a_right_and_the_fourth_another():
    limb = {"form": "same_cause", "service_level": "nodes", "count": 3, "window_days": 10}
    days = ((1, "pump"), (4, "fan"), (5, "pump"), (8, "pump"), (12, "pump"), (15, "pump"))
    found = result(chronic(limb), [down(f"2026-11-{day:02}T00:00", 1, cause=cause) for day, cause in days])
    # 1, 5, 8 within ten days; 5, 8, 12; 8, 12, 15
    assert [right.arises for right in found.rights] == [at(f"2026-11-{day:02}T00:00") for day in (8, 12, 15)]


def test_outages_of_one_cause_that_are_just_the_window_apart_give_no_right():
    limb = {"form": "same_cause", "service_level": "nodes", "count": 2, "window_days": 10}
    first = down("2026-11-01T00:00", 1, cause="pump")
    assert result(chronic(limb), [first, down("2026-11-11T00:00", 1, cause="pump")]).rights == ()
    assert len(result(chronic(limb), [first, down("2026-11-10T23:59", 1, cause="pump")]).rights) == 1
    assert result(chronic(limb), [down(f"2026-11-0{d}T00:00", 1) for d in (1, 3)]).rights == ()  # no cause on record


def test_the_second_late_replacement_gives_a_right_when_it_becomes_late():
    limb = {"form": "replacement_missed", "count": 2, "window_days": 30}
    terms = chronic(limb, operations={"replacement": {"target_hours": {"node": "4"}}})
    units = [unit(), unit("node-002")]
    incidents = [down("2026-11-03T00:00", 5), down("2026-11-20T00:00", 5, "node-002"), down("2026-11-25T00:00", 4)]
    (right,) = result(terms, incidents, units).rights
    assert (right.form, right.arises, right.unit, right.service_level) == (
        "replacement_missed",
        at("2026-11-20T04:00"),
        "compute",
        None,
    )


# form


def given_in(month: Month, amount: str, stated_on: date) -> Given:
    return Given(month, usd(amount), stated_on)


def invoices(*amounts: str) -> dict[Month, Money]:
    return {NOVEMBER.plus(i): usd(amount) for i, amount in enumerate(amounts)}


OCTOBER_CREDIT = given_in(Month(2026, 10), "1000.00", date(2026, 11, 12))


def test_a_credit_waits_for_the_next_invoice_where_the_first_is_too_small():
    (row,) = allocated([OCTOBER_CREDIT], invoices("600.00", "5000.00"), CreditForm())
    assert row.set_off == {NOVEMBER: usd("600.00"), DECEMBER: usd("400.00")}
    assert row.unused is None


def test_the_oldest_credit_comes_first_and_none_is_set_off_in_its_own_month():
    november = given_in(NOVEMBER, "300.00", date(2026, 11, 20))
    old, new = allocated([november, OCTOBER_CREDIT], invoices("900.00", "250.00"), CreditForm())
    assert old.set_off == {NOVEMBER: usd("900.00"), DECEMBER: usd("100.00")}
    assert (new.set_off, new.unused) == ({DECEMBER: usd("150.00")}, usd("150.00"))


def test_what_finds_no_invoice_in_three_months_is_paid_in_money():
    (row,) = allocated([OCTOBER_CREDIT], invoices("100.00", "0", "0", "0"), CreditForm())
    # three months after 12 November is 12 February; thirty days later is 14 March
    assert (row.set_off, row.cash) == ({NOVEMBER: usd("100.00")}, {date(2027, 3, 14): usd("900.00")})
    (never,) = allocated([OCTOBER_CREDIT], invoices("100.00", "0", "0", "0"), CreditForm(cash_after_months=None))
    assert (never.cash, never.unused) == ({}, usd("900.00"))


def test_a_credit_expires_before_it_turns_into_money():
    form = CreditForm(cash_after_months=3, expiry_months=2)
    (row,) = allocated([OCTOBER_CREDIT], invoices("100.00", "0", "5000.00"), form)
    assert (row.set_off, row.cash, row.expired) == ({NOVEMBER: usd("100.00")}, {}, usd("900.00"))


@pytest.mark.parametrize("cash_at_end", [True, False])
def test_what_is_left_at_the_end_is_paid_or_lost(cash_at_end):
    form = CreditForm(cash_at_end=cash_at_end, cash_after_months=None)
    (row,) = allocated([OCTOBER_CREDIT], invoices("100.00", "0"), form, ends=date(2026, 12, 31))
    assert row.cash == ({date(2027, 1, 30): usd("900.00")} if cash_at_end else {})
    assert row.lost_at_end == (None if cash_at_end else usd("900.00"))


def test_a_credit_is_spread_in_equal_parts_to_the_cent():
    form = CreditForm(form="spread_over_term", cash_after_months=None)
    (row,) = allocated([OCTOBER_CREDIT], invoices("9000", "9000", "9000"), form, ends=date(2027, 1, 31))
    assert list(row.set_off.values()) == [usd("333.33"), usd("333.33"), usd("333.34")]
    with pytest.raises(MissingTermError, match=r"commercial\.term"):
        allocated([OCTOBER_CREDIT], invoices("9000"), form)


def test_days_are_added_in_place_of_money():
    terms = deal(credits={"form": {"form": "added_days"}})
    settlement = result(terms, FIVE_HOURS).settlements[0]
    (step,) = [step for step in settlement.steps if step.paragraph == "credit-form.form"]
    assert step.result == 3  # 2,000 over 20,000 / 30 a day


def test_credits_in_money_are_worth_more_than_those_that_wait():
    ends, rate = date(2027, 11, 30), 0.10
    months = {NOVEMBER.plus(i): usd("9000.00") for i in range(13)}
    worth = {
        form: present_value(
            allocated([OCTOBER_CREDIT], months, CreditForm(form=form, cash_after_months=None), ends=ends), rate, ends
        )
        for form in ("next_invoice", "cash", "spread_over_term", "added_days")
    }
    assert worth["next_invoice"] == pytest.approx(1000 / 1.1 ** (18 / 365))  # 12 to 30 November
    assert worth["cash"] == pytest.approx(1000 / 1.1 ** (30 / 365))
    assert worth["added_days"] == pytest.approx(1000 / 1.1 ** (383 / 365))
    assert worth["added_days"] < worth["spread_over_term"] < worth["cash"] < worth["next_invoice"]


@FEW
@given(
    credits=st.lists(st.tuples(st.integers(0, 11), st.integers(1, 10**6)), max_size=6),
    amounts=st.lists(st.integers(0, 10**6), min_size=1, max_size=14),
    form=st.sampled_from(["next_invoice", "cash", "future_credit", "spread_over_term", "added_days"]),
    cash_after=st.none() | st.integers(0, 6),
    expiry=st.none() | st.integers(0, 6),
    cash_at_end=st.booleans(),
)
def test_every_cent_of_a_credit_goes_somewhere_and_no_invoice_below_nothing(
    credits, amounts, form, cash_after, expiry, cash_at_end
):
    first = Month(2026, 1)
    given_ = [
        Given(first.plus(m), Money(Decimal(cents) / 100, "USD"), first.plus(m + 1).first_day() + timedelta(days=10))
        for m, cents in credits
    ]
    ledger = {first.plus(i): Money(Decimal(cents) / 100, "USD") for i, cents in enumerate(amounts)}
    terms = CreditForm(form=form, cash_after_months=cash_after, expiry_months=expiry, cash_at_end=cash_at_end)
    rows = allocated(given_, ledger, terms, ends=allocation.last_day(first.plus(len(amounts) - 1)))
    for row in rows:
        rest = [row.added_days, row.expired, row.lost_at_end, row.unused]
        parts = [*row.set_off.values(), *row.cash.values(), *(part for part in rest if part is not None)]
        assert sum(part.amount for part in parts) == row.credit.amount.amount
        assert all(part.amount > 0 for part in parts)
    for month, amount in ledger.items():
        assert sum(row.set_off.get(month, usd("0")).amount for row in rows) <= amount.amount


# refund, case C25


def refund(terms: Deal, **more: Any) -> termination_refund.Refund:
    nothing = usd("0.00")
    account = {
        "prepaid": usd("7200000.00"),
        "months_served": 28,
        "unused_credits": usd("100000.00"),
        "delay_damages": nothing,
        "fees_for_later": nothing,
        **more,
    }
    return termination_refund.exact(termination_refund.Account(**account), date(2028, 4, 30), terms).value


def prepaid_from(month: int, **sections: Any) -> Deal:
    return deal(commercial={"prepayment": {"fraction": "0.20", "credited_from_month": month}}, **sections)


def test_the_balance_of_the_prepayment_and_unused_credits_are_paid_back():
    found = refund(prepaid_from(25))
    assert (found.prepayment, found.credits) == (usd("4800000.00"), usd("100000.00"))
    assert (found.total, found.late_from) == (usd("4900000.00"), at("2028-05-31T00:00"))


def test_a_prepayment_credited_over_the_whole_term_leaves_less():
    assert refund(prepaid_from(1)).prepayment == usd("1600000.00")  # 7,200,000 x 8/36


def test_unused_credits_are_lost_where_the_contract_says_so():
    terms = prepaid_from(25, credits={"form": {"cash_at_end": False}})
    assert refund(terms).total == usd("4800000.00")


def test_all_of_it_comes_back_before_the_term_starts_and_none_after_it_ends():
    assert refund(prepaid_from(25), months_served=0).prepayment == usd("7200000.00")
    assert refund(prepaid_from(25), months_served=40).prepayment == usd("0.00")


def test_a_refund_of_a_prepayment_without_terms_is_refused():
    with pytest.raises(MissingTermError, match=r"commercial\.prepayment"):
        refund(deal())


def test_damages_and_fees_for_later_are_paid_back_too():
    found = refund(prepaid_from(25), delay_damages=usd("10.00"), fees_for_later=usd("5.50"))
    assert found.total == usd("4900015.50")


# what must hold for every history


MONTHS = [Month(2026, 1).plus(i) for i in range(14)]
outages = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 14 * 30 * 24), st.integers(1, 200)), min_size=1, max_size=14
)
shares = st.none() | st.decimals("0.01", "0.60", places=2)
claims_late = st.sampled_from(["forfeit", "reduced", "none"])


@st.composite
def histories(draw: st.DrawFn) -> tuple[Deal, Records]:
    caps = {
        "unit": draw(st.decimals("0.05", 1, places=2)),
        "month": draw(shares),
        "year": draw(shares),
        "term": draw(shares.map(lambda share: share and share / 4)),
        "month_of": draw(st.sampled_from(["this_period", "previous_period"])),
        "carry_forward": draw(st.booleans()),
    }
    process = draw(
        st.fixed_dictionaries(
            {
                "mode": st.sampled_from(["automatic", "claimed"]),
                "window_days": st.integers(0, 60),
                "window_from": st.sampled_from(["period_end", "incident_end", "incident_start", "next_period_end"]),
                "late": claims_late,
            }
        )
    )
    rule = draw(st.sampled_from(["highest_level", "cumulative", "parent_absorbs_children", "choose_one"]))
    minimum = draw(st.sampled_from(["0", "400"]))
    terms = deal(
        {"nodes": NODES, "cluster": CLUSTER},
        months=14,
        credits={"caps": caps, "process": process, "between_levels": rule, "minimum_payable": minimum},
    )
    units = [unit("c", "9876.54", "cluster"), *(unit(f"n{i}", "3333.33", parent_id="c") for i in range(3))]
    start = MONTHS[0].start("UTC")
    incidents = [
        Incident(
            id=f"{i}",
            level="node",
            unit_id=f"n{u}",
            started_at=start + timedelta(hours=begins),
            ended_at=start + timedelta(hours=begins + lasts),
        )
        for i, (u, begins, lasts) in enumerate(draw(outages))
    ]
    notices = [claim(f"2026-{month:02}-20T00:00") for month in draw(st.sets(st.integers(1, 12), max_size=4))]
    return terms, Records(incidents=incidents, units=units, notices=notices)


@FEW
@given(case=histories())
def test_credits_respect_every_cap_and_their_sums_are_exact(case):
    terms, records = case
    found = statement(terms, records, MONTHS, at("2027-06-01T00:00"))
    caps, cent = terms.credits.caps, Decimal("0.01")
    for line in found.lines:
        assert line.credit.amount == line.payable.amount + sum(lost.amount for lost in line.lost.values())
        assert all(lost.amount > 0 for lost in line.lost.values())
        assert line.payable.amount >= 0
        assert line.credit.amount <= rounded_to_minor_unit(Fraction(caps.unit) * line.base, "USD")
        assert line.payable.amount == line.payable.amount.quantize(cent)
    years: dict[int, Decimal] = {}
    given_so_far = earned = Decimal(0)
    previous = Fraction(0)
    for settlement in found.settlements:
        mine = [line for line in found.lines if line.period == settlement.period]
        assert settlement.payable.amount == settlement.brought_forward.amount + sum(x.payable.amount for x in mine)
        assert settlement.credit.amount == sum(line.credit.amount for line in mine)
        fee = previous if caps.month_of == "previous_period" else settlement.fee
        if caps.month is not None:
            assert settlement.payable.amount <= rounded_to_minor_unit(Fraction(caps.month) * fee, "USD")
        previous = settlement.fee
        years[settlement.contract_year] = years.get(settlement.contract_year, Decimal(0)) + settlement.payable.amount
        if caps.year is not None:
            most = rounded_to_minor_unit(Fraction(caps.year) * settlement.planned_year_fee, "USD")
            assert years[settlement.contract_year] <= most
        given_so_far += settlement.payable.amount
        earned += sum(line.payable.amount + _carried(line.lost) for line in mine)
        assert given_so_far <= earned  # carrying forward never pays more than was earned
        assert given_so_far + settlement.carried_forward.amount <= earned
    if caps.term is not None:
        assert given_so_far <= rounded_to_minor_unit(Fraction(caps.term) * 14 * Fraction("9999.99"), "USD")
    assert found.total.amount == given_so_far


def _carried(lost: Any) -> Decimal:
    return lost["carried_forward"].amount if "carried_forward" in lost else Decimal(0)


@FEW
@given(case=histories())
def test_a_statement_of_the_last_month_alone_owes_what_the_whole_statement_owes_in_it(case):
    terms, records = case
    whole = statement(terms, records, MONTHS, at("2027-06-01T00:00"))
    alone = statement(terms, records, MONTHS[-1:], at("2027-06-01T00:00"))
    assert alone.settlements == whole.settlements[-1:]


@FEW
@given(case=histories(), late=st.integers(0, 2))
def test_a_forfeited_credit_uses_up_no_cap(case, late):
    terms, records = case
    process = {"mode": "claimed", "window_from": "period_end", "window_days": 20, "late": "forfeit"}
    credits = {**terms.credits.model_dump(exclude_unset=True), "process": process, "between_levels": "cumulative"}
    terms = terms.revise({"service_levels": {"nodes": NODES}, "credits": credits})
    notices = [
        Notice(
            id=f"{name} {month}",
            kind="claim",
            sent_at=month.end("UTC") + timedelta(days=3),
            unit_ids=(name,),
            covers_from=month.start("UTC"),
            covers_to=month.end("UTC"),
        )
        for month in MONTHS
        for name in {"n0", "n1", "n2"} - {f"n{late}"}
    ]
    sound = [incident for incident in records.incidents if incident.unit_id != f"n{late}"]

    def owed(incidents: Sequence[Incident]) -> list[tuple[str, Month, Money]]:
        asked = Records(incidents=incidents, units=records.units, notices=notices)
        lines = statement(terms, asked, MONTHS, at("2027-06-01T00:00")).lines
        return [(line.unit, line.period, line.payable) for line in lines if line.payable.amount]

    assert owed(records.incidents) == owed(sound)
