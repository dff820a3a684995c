"""Every shape of credit on facts worked by hand, and the arrays of the simulation against the exact rules."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from risk.contract_rules import credit_shape, hour_waiver
from risk.contract_rules.credit_facts import CountedOutage, ShapeFacts
from risk.contract_rules.lines import Line, Statement
from risk.contract_rules.statement import Records, statement
from schemas.credit_shapes import CreditShape
from schemas.deal import Deal
from schemas.errors import NotComputedError
from schemas.incidents import Incident, UnitService, Window
from schemas.money import Money
from schemas.periods import Month
from schemas.service_levels import ServiceLevel

NOVEMBER = Month(2026, 11)
SHAPES: dict[str, dict[str, Any]] = {
    "linear": {"shape": "linear", "slope": 2},
    "steps": {"shape": "steps", "step": "0.01", "credit_fraction": "0.02"},
    "duration_table": {
        "shape": "duration_table",
        "rows": [{"from_minutes": 0, "credit_hours": 12}, {"from_minutes": 60, "credit_hours": 48}],
    },
    "multiple_of_price": {"shape": "multiple_of_price", "multiple": 10},
    "per_breach": {"shape": "per_breach", "credit_fraction": "0.1"},
    "hour_waiver": {"shape": "hour_waiver", "minutes_in_clock_hour": 6},
    "onset_plus_hourly": {"shape": "onset_plus_hourly", "onset": "0.03", "hourly": "0.03"},
    "term_extension": {"shape": "term_extension", "rows": [{"below": "0.99", "days": 1}]},
    "unstated": {"shape": "unstated", "reason": "the table is missing"},
}


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def usd(amount: str) -> Money:
    return Money(Decimal(amount), "USD")


def deal(credit: dict[str, Any], target: str | None = "0.999", **more: Any) -> Deal:
    """Return a deal with one service level on nodes; `zone` and `level` go where they belong, the rest to the deal."""
    measurement = {"merge_gap_minutes": 0, **more.pop("measurement", {})}
    level = {"level": "node", "credit": credit, **({"target": target} if target else {}), **more.pop("level", {})}
    return Deal.model_validate(
        {
            "schema_version": 1,
            "measurement": measurement,
            "service_levels": {"unit": level},
            "commercial": {"currency": "USD", "charges": {}, "term": {"months": 12}},
            **more,
        }
    )


def stated(
    terms: Deal, *outages: tuple[str, int], month: Month = NOVEMBER, fee: str = "100000", **unit: Any
) -> Statement:
    """Return the statement of one month with outages of so many minutes from each start."""
    incidents = [
        Incident(id=f"i{i}", level="node", unit_id="u", started_at=at(start), ended_at=at(start) + timedelta(minutes=n))
        for i, (start, n) in enumerate(outages)
    ]
    node = UnitService(unit_id="u", level="node", service="compute", monthly_fee=Decimal(fee), **unit)
    return statement(terms, Records(incidents=incidents, units=[node]), [month])


def line(terms: Deal, *outages: tuple[str, int], **more: Any) -> Line:
    (one,) = stated(terms, *outages, **more).lines
    return one


# Element Critical, power: 3% at the onset and 3% for each 60 minutes; both feeds down for 650 minutes, 100,000 a month.
# 650 = 10 x 60 + 50: 3% + 10 x 3% = 33% with completed hours, 3% + 11 x 3% = 36% with started ones.
@pytest.mark.parametrize(("counted", "credit"), [("completed", "33000.00"), ("started", "36000.00")])
def test_onset_and_hours_of_a_power_loss(counted, credit):  # W16
    terms = deal({**SHAPES["onset_plus_hourly"], "counted": counted}, None)
    assert line(terms, ("2026-11-03T00:00", 650)).payable == usd(credit)


def test_an_outage_of_exactly_an_hour_is_one_hour_started_or_completed():
    for counted in ("completed", "started"):
        terms = deal({**SHAPES["onset_plus_hourly"], "counted": counted}, None)
        assert line(terms, ("2026-11-03T00:00", 60)).credit_fraction == Fraction(6, 100)


def test_an_outage_over_the_end_of_a_month_has_one_onset_and_keeps_its_hours():
    # 50 minutes in November and 50 in December: the onset is November's, the hour completed at 00:10 December's
    terms = deal(SHAPES["onset_plus_hourly"], None)
    outage, since = ("2026-11-30T23:10", 100), at("2026-01-01T00:00")
    assert line(terms, outage).credit_fraction == Fraction(3, 100)
    december = line(terms, outage, month=Month(2026, 12), in_service_from=since)
    assert december.credit_fraction == Fraction(3, 100)
    (step,) = (step for step in december.steps if step.paragraph == "credit-schedule.onset-plus-hourly")
    assert (step.inputs["onsets"], step.inputs["hours"]) == (0, 1)


@pytest.mark.parametrize(
    ("minutes", "fraction"),
    [(14, 0), (15, 0), (74, 0), (75, 1), (134, 1), (135, 2), (6100, 100)],
)
def test_one_percent_an_hour_after_a_quarter_of_an_hour(minutes, fraction):  # GameGridServers, at most the month
    terms = deal({"shape": "onset_plus_hourly", "hourly": "0.01", "free_minutes": 15}, None)
    assert line(terms, ("2026-11-03T00:00", minutes)).credit_fraction == Fraction(fraction, 100)


def test_no_onset_is_due_for_less_than_the_free_minutes_and_one_at_exactly_those():
    terms = deal({"shape": "onset_plus_hourly", "onset": "0.05", "hourly": 0, "free_minutes": 15}, None)
    assert line(terms, ("2026-11-03T00:00", 14)).credit_fraction == 0
    assert line(terms, ("2026-11-03T00:00", 15)).credit_fraction == Fraction(5, 100)


@pytest.mark.parametrize(
    ("outages", "percent"),
    [
        ([60], 0),  # the first hour is free
        ([30, 89], 0),  # 119 minutes together: no further hour is complete
        ([30, 90], 5),  # 120 minutes together
        ([661], 50),  # ten further hours, the cap
        ([900], 50),
    ],
)
def test_five_percent_for_each_further_hour_of_the_month_after_the_first(outages, percent):  # GPUYard
    credit = {
        "shape": "onset_plus_hourly",
        "hourly": "0.05",
        "free_minutes": 60,
        "per": "period",
        "cap": "0.5",
    }
    starts = [f"2026-11-{3 + i:02}T00:00" for i in range(len(outages))]
    found = line(deal(credit, "1"), *zip(starts, outages, strict=True))
    assert found.credit_fraction == Fraction(percent, 100)
    assert found.target_met is False


VULTR = {
    "shape": "duration_table",
    "rows": [
        {"from_minutes": 0, "credit_hours": 12},
        {"from_minutes": 9, "unstated": "no row of the printed table covers 9 minutes"},
        {"from_minutes": 10, "credit_hours": 24},
        {"from_minutes": 60, "credit_hours": 48},
        {"from_minutes": 120, "credit_hours": 120},
        {"from_minutes": 240, "credit_hours": 240},
        {"from_minutes": 420, "credit_hours": 672},
    ],
    "cap_hours": 672,
}


@pytest.mark.parametrize(
    ("minutes", "hours"),
    list({8: 12, 10: 24, 59: 24, 60: 48, 119: 48, 120: 120, 239: 120, 412: 240, 419: 240, 420: 672, 872: 672}.items()),
)
def test_a_table_of_durations_pays_hours_of_price(minutes, hours):  # W18: 412 pays 4,800, 872 pays 13,440
    found = line(deal(VULTR, "1"), ("2025-10-20T06:48", minutes), month=Month(2025, 10), fee="14880", hourly_price=20)
    assert found.payable == usd(f"{hours * 20}.00")
    assert found.not_computed is None
    assert found.credit_fraction is None


def test_nine_minutes_match_no_row_of_the_table_and_are_not_computed():  # W18
    found = line(deal(VULTR, "1"), ("2025-10-20T06:48", 9), month=Month(2025, 10), fee="14880", hourly_price=20)
    assert found.not_computed == "no row of the printed table covers 9 minutes"
    assert found.credit == usd("0.00")


def test_a_row_without_an_answer_does_not_matter_once_the_other_outages_reach_the_cap():
    outages = [("2025-10-20T06:48", 872), ("2025-10-21T00:00", 9)]
    found = line(deal(VULTR, "1"), *outages, month=Month(2025, 10), fee="14880", hourly_price=20)
    assert (found.not_computed, found.payable) == (None, usd("13440.00"))
    # without a cap of hours the unit's fee is the bound: 672 h x 20 = 13,440 is above a fee of 10,000
    without = {name: value for name, value in VULTR.items() if name != "cap_hours"}
    found = line(deal(without, "1"), *outages, month=Month(2025, 10), fee="10000", hourly_price=20)
    assert (found.not_computed, found.payable) == (None, usd("10000.00"))


def test_a_table_is_read_for_each_outage_or_once_for_the_month():
    # 40 minutes twice: 12 h each by outage, 48 h for 80 minutes together; the price is 720 over 720 hours
    outages = [("2026-11-03T00:00", 40), ("2026-11-05T00:00", 40)]
    table = SHAPES["duration_table"]
    assert line(deal({**table, "per": "outage"}, None), *outages, fee="720").payable == usd("24.00")
    assert line(deal({**table, "per": "period"}, None), *outages, fee="720").payable == usd("48.00")
    assert line(deal({**table, "per": "period"}, None), fee="720").payable == usd("0.00")


@pytest.mark.parametrize(
    ("start", "month", "credit"),
    [("2025-10-20T06:48", Month(2025, 10), "18534.05"), ("2025-11-20T06:48", Month(2025, 11), "19185.19")],
)
def test_a_linear_credit_is_the_shortfall_itself(start, month, credit):  # W21
    # 872 of 44,640 minutes: 1.953405% - 0.1% = 1.853405%; of 43,200: 2.018519% - 0.1% = 1.918519%
    terms = deal({"shape": "linear", "slope": 1})
    assert line(terms, (start, 872), month=month, fee="1000000").payable == usd(credit)


def test_a_linear_credit_starts_below_the_target_and_stops_at_its_cap():
    # 99.9% of 43,200 leaves 43.2 minutes; 432 minutes are 1%, 0.9 points short; slope 2 gives 1.8%, cap 1%
    terms = deal({"shape": "linear", "slope": 2})
    assert line(terms, ("2026-11-03T00:00", 43)).credit_fraction == 0
    assert line(terms, ("2026-11-03T00:00", 432)).credit_fraction == Fraction(18, 1000)
    capped = deal({"shape": "linear", "slope": 2, "cap": "0.01"})
    assert line(capped, ("2026-11-03T00:00", 432)).credit_fraction == Fraction(1, 100)


@pytest.mark.parametrize(
    ("minutes", "started", "completed"),
    [
        (216, 0, 0),  # exactly 99.5%, the target
        (217, 1, 0),
        (648, 1, 1),  # exactly 98.5%: one point short, read either way
        (649, 2, 1),
        (1080, 2, 2),
        (43_200, 100, 99),
    ],
)
def test_two_percent_for_each_point_short(minutes, started, completed):  # SAP; whether started counts is a choice
    for counted, steps in (("started", started), ("completed", completed)):
        found = line(deal({**SHAPES["steps"], "counted": counted}, "0.995"), ("2026-11-01T00:00", minutes))
        assert found.credit_fraction == min(Fraction(2 * steps, 100), 1)
        edges = {step.paragraph for step in found.steps}
        assert ("credit-schedule.step-edge" in edges) == (minutes in (216, 648, 1080))


def test_lost_time_at_the_hourly_rate_for_outages_over_five_minutes():  # DigitalOcean's old terms, W25
    terms = deal(
        {"shape": "multiple_of_price", "multiple": 1},
        None,
        measurement={"minimum_outage_minutes": 5, "minimum_test": "more_than"},
    )
    # 5 minutes do not count; 90 minutes at 0.50 an hour are 0.75; ten blips of 4 minutes are nothing
    outages = [("2026-11-03T00:00", 5), ("2026-11-04T00:00", 90)]
    assert line(terms, *outages, fee="360").payable == usd("0.75")
    blips = [(f"2026-11-{day:02}T01:00", 4) for day in range(1, 11)]
    assert line(terms, *blips, fee="360").payable == usd("0.00")


@pytest.mark.parametrize(
    ("multiple", "minutes", "credit"),
    [
        (10, 30, "10.00"),  # 2 an hour: 10 x 2 x 0.5
        (5, 30, "5.00"),  # exactly the least
        (5, 6, "5.00"),  # 5 x 2 x 0.1 = 1, lifted to the least
        (10, 61, "20.33"),  # 20.333...
        (10, 0, "0.00"),  # nothing counted, nothing least
    ],
)
def test_a_multiple_of_the_price_with_a_least_credit(multiple, minutes, credit):  # TensorDock
    terms = deal({"shape": "multiple_of_price", "multiple": multiple, "least": 5}, None)
    outages = [("2026-11-03T00:00", minutes)] if minutes else []
    assert line(terms, *outages, fee="1500", hourly_price=2).payable == usd(credit)


def test_fifty_times_the_price_up_to_the_fee_of_thirty_days():  # UpCloud
    terms = deal({"shape": "multiple_of_price", "multiple": 50}, "1", measurement={"minimum_test": "more_than"})
    # 720 in a month of 720 hours: 1 an hour. 14 h x 50 = 700; 14.4 h are the whole fee; 20 h are no more
    for minutes, credit in ((840, "700.00"), (864, "720.00"), (1200, "720.00")):
        assert line(terms, ("2026-11-03T00:00", minutes), fee="720").payable == usd(credit)


def test_a_price_that_changes_in_the_month_is_the_mean_over_time():
    # 10 of 30 days at 720 a month (1 an hour), 20 days at 1,440 (2 an hour): 5/3 an hour; one hour down
    terms = deal({"shape": "multiple_of_price", "multiple": 1}, None)
    units = [
        UnitService(
            unit_id="u", level="node", service="compute", monthly_fee=fee, in_service_from=start, in_service_to=end
        )
        for fee, start, end in (
            (720, at("2026-11-01T00:00"), at("2026-11-11T00:00")),
            (1440, at("2026-11-11T00:00"), None),
        )
    ]
    down = Incident(
        id="i", level="node", unit_id="u", started_at=at("2026-11-03T00:00"), ended_at=at("2026-11-03T01:00")
    )
    found = statement(terms, Records(incidents=[down], units=units), [NOVEMBER])
    assert found.total == usd("1.67")


@pytest.mark.parametrize(
    ("start", "minutes", "waived"),
    [
        ("2026-11-03T10:50", 14, 1),  # W24: 10 minutes of hour 10, 4 of hour 11
        ("2026-11-03T10:54", 6, 0),  # exactly 6
        ("2026-11-03T10:53", 7, 1),
        ("2026-11-03T10:53", 14, 2),  # 7 and 7
        ("2026-11-03T10:00", 180, 3),
    ],
)
def test_a_clock_hour_with_more_than_six_minutes_down_is_not_charged(
    start, minutes, waived
):  # EC2 instance, 40 an hour
    found = line(deal(SHAPES["hour_waiver"], None), (start, minutes), fee="28800", hourly_price=40)
    assert found.payable == usd(f"{40 * waived}.00")


def test_two_outages_in_one_clock_hour_are_added_up():
    outages = [("2026-11-03T10:00", 4), ("2026-11-03T10:30", 3)]
    assert line(deal(SHAPES["hour_waiver"], None), *outages, fee="28800").payable == usd("40.00")


def test_clock_hours_begin_at_half_past_where_the_zone_does():
    # 10:20 to 10:34 UTC is 15:50 to 16:04 in Kolkata: 10 and 4 minutes; by UTC it would be 14 in one hour as well
    # 10:25 to 10:37 is 5 and 7 minutes there, and 12 minutes of one hour by UTC
    kolkata = deal(SHAPES["hour_waiver"], None, measurement={"zone": "Asia/Kolkata"})
    assert line(kolkata, ("2026-11-03T10:20", 14), fee="28800").payable == usd("40.00")
    down = ((at("2026-11-03T10:25"), at("2026-11-03T10:37")),)
    assert sorted(hour_waiver.down_by_clock_hour(down, "Asia/Kolkata").values()) == [
        timedelta(minutes=5),
        timedelta(minutes=7),
    ]
    assert list(hour_waiver.down_by_clock_hour(down, "UTC").values()) == [timedelta(minutes=12)]


def test_an_hour_that_comes_twice_in_autumn_is_two_hours():
    # 01:55 summer time to 01:05 winter time in New York: 5 minutes of each of two hours called 1
    down = ((at("2026-11-01T05:55"), at("2026-11-01T06:05")),)
    found = hour_waiver.down_by_clock_hour(down, "America/New_York")
    assert [(hour, time) for (_, hour, _), time in found.items()] == [(1, timedelta(minutes=5))] * 2


@pytest.mark.parametrize(
    ("minutes", "days"),
    # CloudCheckr's days 1, 2, 5 at thresholds of our own: 432 minutes are exactly 99%, 2,160 exactly 95%
    [(432, 0), (433, 1), (1296, 1), (1297, 2), (2160, 2), (2161, 5)],
)
def test_days_are_added_to_the_term_and_no_money_is_due(minutes, days):
    rows = [{"below": "0.99", "days": 1}, {"below": "0.97", "days": 2}, {"below": "0.95", "days": 5}]
    found = line(deal({"shape": "term_extension", "rows": rows}, "0.99"), ("2026-11-03T00:00", minutes))
    assert (found.days_added, found.payable, found.credit_fraction) == (days, usd("0.00"), None)


def test_each_breach_pays_its_share_up_to_what_is_at_risk():  # Instaclustr: 10% each, 30% at risk
    terms = deal({"shape": "per_breach", "credit_fraction": "0.1", "at_risk": "0.3"}, None)
    outages = [(f"2026-11-{day:02}T00:00", 60) for day in (3, 9, 15, 21)]
    for n, credit in ((0, "0.00"), (1, "10000.00"), (3, "30000.00"), (4, "30000.00")):
        assert line(terms, *outages[:n]).payable == usd(credit)


def test_a_breach_belongs_to_the_month_in_which_it_starts():
    terms = deal(SHAPES["per_breach"], None)
    outage = ("2026-11-30T23:59", 120)
    assert line(terms, outage).payable == usd("10000.00")
    since = at("2026-01-01T00:00")
    assert line(terms, outage, month=Month(2026, 12), in_service_from=since).payable == usd("0.00")


def test_outages_that_one_clock_joins_are_one_breach():
    terms = deal(SHAPES["per_breach"], None, measurement={"merge_gap_minutes": 5})
    outages = [("2026-11-03T00:00", 10), ("2026-11-03T00:14", 10)]
    assert line(terms, *outages).payable == usd("10000.00")


def test_where_only_the_longest_outage_is_looked_at_it_alone_is_priced():
    outages = [("2026-11-03T00:00", 40), ("2026-11-05T00:00", 80)]
    terms = deal(SHAPES["duration_table"], None, credits={"within_level": "worst_outage"})
    assert line(terms, *outages, fee="720").payable == usd("48.00")
    assert line(deal(SHAPES["duration_table"], None), *outages, fee="720").payable == usd("60.00")


def test_excluded_downtime_splits_no_outage_and_earns_no_hours():
    # 00:00 to 03:00, of which the middle hour is the customer's: 120 minutes of one outage, two hours and one onset
    terms = deal(SHAPES["onset_plus_hourly"], None)
    hold = Window(
        id="w", kind="customer_hold", starts_at=at("2026-11-03T01:00"), ends_at=at("2026-11-03T02:00"), unit_ids=("u",)
    )
    down = Incident(
        id="i", level="node", unit_id="u", started_at=at("2026-11-03T00:00"), ended_at=at("2026-11-03T03:00")
    )
    node = UnitService(unit_id="u", level="node", service="compute", monthly_fee=Decimal(100))
    found = statement(terms, Records(incidents=[down], windows=[hold], units=[node]), [NOVEMBER])
    assert found.lines[0].credit_fraction == Fraction(9, 100)


def test_a_level_without_a_target_is_neither_met_nor_missed():
    found = line(deal(SHAPES["per_breach"], None), ("2026-11-03T00:00", 600))
    assert found.target_met is None


def test_an_unstated_credit_is_computed_only_where_nothing_was_missed():
    missed = line(deal(SHAPES["unstated"], "0.99"), ("2026-11-03T00:00", 433))
    assert (missed.not_computed, missed.credit) == ("the table is missing", usd("0.00"))
    assert line(deal(SHAPES["unstated"], "0.99"), ("2026-11-03T00:00", 432)).not_computed is None
    assert line(deal(SHAPES["unstated"], None), ("2026-11-03T00:00", 1)).not_computed == "the table is missing"
    assert line(deal(SHAPES["unstated"], None)).not_computed is None


# A term that the contract leaves blank


def blank(path: str, credit: dict[str, Any], target: str | None = "0.995") -> Deal:
    return deal(credit, target, unknown={path: "the page is cut off"})


def test_a_blank_choice_stands_in_the_way_only_where_the_readings_differ():
    terms = blank("service_levels.unit.credit.counted", SHAPES["steps"])
    same = line(terms, ("2026-11-03T00:00", 648))  # exactly one step
    assert (same.not_computed, same.payable) == (None, usd("2000.00"))
    differs = line(terms, ("2026-11-03T00:00", 649))
    assert differs.credit == usd("0.00")
    assert differs.not_computed == (
        "service_levels.unit.credit.counted is not stated: the page is cut off; the credit is 2,000.00 USD or "
        "4,000.00 USD"
    )


def test_a_blank_number_gives_the_least_and_the_most():
    terms = blank("service_levels.unit.credit.cap", {"shape": "linear", "slope": 1})
    assert line(terms, ("2026-11-03T00:00", 216)).not_computed is None  # the target is met
    found = line(terms, ("2026-11-03T00:00", 648))
    assert found.not_computed is not None
    assert found.not_computed.endswith("the credit lies between 0.00 USD and 1,000.00 USD")


def test_a_blank_table_per_outage_or_month_is_both_where_there_is_one_outage():
    terms = blank("service_levels.unit.credit.per", SHAPES["duration_table"], None)
    assert line(terms, ("2026-11-03T00:00", 40), fee="720").payable == usd("12.00")
    two = line(terms, ("2026-11-03T00:00", 40), ("2026-11-05T00:00", 40), fee="720")
    assert two.not_computed is not None
    assert two.not_computed.endswith("the credit is 24.00 USD or 48.00 USD")


def test_a_blank_base_makes_no_difference_for_a_single_unit():
    terms = blank("credits.base", SHAPES["steps"])
    assert line(terms, ("2026-11-03T00:00", 648)).payable == usd("2000.00")
    down = Incident(
        id="i", level="node", unit_id="u", started_at=at("2026-11-03T00:00"), ended_at=at("2026-11-03T10:48")
    )
    units = [UnitService(unit_id=u, level="node", service="compute", monthly_fee=Decimal(100_000)) for u in "uv"]
    first, second = statement(terms, Records(incidents=[down], units=units), [NOVEMBER]).lines
    assert first.not_computed == (
        "credits.base is not stated: the page is cut off; the credit is 2,000.00 USD or 4,000.00 USD"
    )
    assert (second.not_computed, second.credit) == (None, usd("0.00"))


def test_a_blank_cap_of_the_unit_leaves_any_credit_open():
    terms = blank("credits.caps.unit", SHAPES["steps"])
    assert line(terms, ("2026-11-03T00:00", 216)).not_computed is None
    assert "between 0.00 USD and 2,000.00 USD" in (line(terms, ("2026-11-03T00:00", 648)).not_computed or "")


def test_a_blank_least_credit_makes_no_difference_once_the_fee_is_reached():
    terms = blank("service_levels.unit.credit.least", {"shape": "multiple_of_price", "multiple": 50}, None)
    assert line(terms, ("2026-11-03T00:00", 1200), fee="720").payable == usd("720.00")
    assert line(terms, ("2026-11-03T00:00", 60), fee="720").not_computed is not None


# Arrays of the simulation

thousandths = st.integers(0, 1000).map(lambda n: Decimal(n) / 1000)
SIMULATED = {
    "bands": st.builds(
        lambda edges, shares: {
            "shape": "bands",
            "bands": [
                {"below": e, "credit_fraction": s}
                for e, s in zip(sorted(edges, reverse=True), sorted(shares), strict=True)
            ],
        },
        st.sets(st.integers(1, 990).map(lambda n: Decimal(n) / 1000), min_size=3, max_size=3),
        st.sets(thousandths, min_size=3, max_size=3),
    ),
    "linear": st.fixed_dictionaries(
        {"shape": st.just("linear"), "slope": st.integers(0, 200).map(lambda n: Decimal(n) / 10), "cap": thousandths}
    ),
    "steps": st.fixed_dictionaries(
        {
            "shape": st.just("steps"),
            "step": st.sampled_from(["0.01", "0.001", "0.005", "0.0333", "0.000000000000000001"]),
            "credit_fraction": thousandths,
            "counted": st.sampled_from(["started", "completed"]),
            "cap": thousandths,
        }
    ),
    "multiple_of_price": st.fixed_dictionaries(
        {
            "shape": st.just("multiple_of_price"),
            "multiple": st.integers(0, 500).map(lambda n: Decimal(n) / 10),
            "least": st.integers(0, 20),
        }
    ),
    "duration_table": st.builds(
        lambda starts, hours: {
            "shape": "duration_table",
            "per": "period",
            "rows": [
                {"from_minutes": start, "credit_hours": h} for start, h in zip([1, *sorted(starts)], hours, strict=True)
            ],
            "cap_hours": 500,
        },
        st.sets(st.integers(2, 50_000), min_size=3, max_size=3),
        st.lists(st.integers(0, 700), min_size=4, max_size=4),
    ),
    "onset_plus_hourly": st.fixed_dictionaries(
        {
            "shape": st.just("onset_plus_hourly"),
            "onset": thousandths,
            "hourly": thousandths,
            "hour_minutes": st.sampled_from([1, 15, 60, 720]),
            "free_minutes": st.integers(0, 200),
            "counted": st.sampled_from(["started", "completed"]),
            "per": st.just("period"),
            "cap": thousandths,
        }
    ),
}


@pytest.mark.parametrize("shape", list(SIMULATED))
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_the_arrays_are_the_exact_rules(shape, data):
    credit = data.draw(SIMULATED[shape])
    target = data.draw(st.sampled_from(["0.995", "0.999", "0.99", "1", "0.99999"]))
    level = ServiceLevel.model_validate(
        {"level": "site", "target": target, "credit": TypeAdapter(CreditShape).validate_python(credit)}
    )
    windows = st.sampled_from([0, 1, 40_320, 43_200, 44_640])
    pairs = data.draw(st.lists(st.tuples(st.integers(0, 46_000), windows), min_size=1, max_size=12))
    counted, window = np.array(pairs, dtype=np.int64).T
    base, price = np.full(len(pairs), 100_000.0), np.full(len(pairs), 137.5)
    many = credit_shape.simulated(counted, window, level, "unit", base, price)
    in_seconds = credit_shape.simulated(counted * 60, window * 60, level, "unit", base, price, minute=60)
    for i, (minutes, period) in enumerate(pairs):
        facts = ShapeFacts(
            availability=max(1 - Fraction(minutes, period), Fraction(0)) if period else None,
            counted=minutes,
            window=period,
            find_outages=lambda: (),
            base=Fraction(100_000),
            hourly_price=Fraction("137.5"),
            zone="UTC",
            span=(at("2026-11-01T00:00"), at("2026-12-01T00:00")),
        )
        one = float(credit_shape.exact(facts, level, "unit", deal(credit, target)).value.credit)
        assert many[i] == pytest.approx(one, rel=1e-12, abs=1e-8)
        assert in_seconds[i] == pytest.approx(one, rel=1e-12, abs=1e-8)


@settings(max_examples=30, deadline=None)
@given(data=st.data(), shape=st.sampled_from(["linear", "steps", "multiple_of_price", "onset_plus_hourly"]))
def test_more_downtime_never_earns_less(data, shape):
    credit = data.draw(SIMULATED[shape])
    level = ServiceLevel.model_validate({"level": "site", "target": "0.995", "credit": credit})
    counted = np.arange(0, 44_640, 7, dtype=np.int64)
    many = credit_shape.simulated(
        counted, np.full_like(counted, 44_640), level, "unit", np.ones(len(counted)), np.ones(len(counted))
    )
    assert np.all(np.diff(many) >= -1e-12)


@pytest.mark.parametrize("shape", list(SHAPES))
def test_the_simulation_refuses_by_name_what_single_outages_decide(shape):
    credit = SHAPES[shape]
    level = ServiceLevel.model_validate({"level": "site", "target": "0.99", "credit": credit})
    if shape in ("linear", "steps", "multiple_of_price"):
        credit_shape.refuse(level, "unit")
        return
    with pytest.raises(NotComputedError, match=f"service_levels.unit.credit.*{shape}"):
        credit_shape.refuse(level, "unit")
    if shape in ("duration_table", "onset_plus_hourly"):
        credit_shape.refuse(level.revise({"credit": {**credit, "per": "period"}}), "unit")


@pytest.mark.parametrize(
    ("shape", "share"),
    [
        ("linear", Fraction(1)),  # slope 2 reaches the whole base at half the target
        ("steps", Fraction(1)),
        ("duration_table", Fraction(1)),
        ("multiple_of_price", Fraction(10)),
        ("per_breach", Fraction(1)),
        ("hour_waiver", Fraction(1)),
        ("onset_plus_hourly", Fraction(1)),
        ("term_extension", Fraction(0)),
        ("unstated", None),
    ],
)
def test_the_greatest_share_of_each_shape(shape, share):
    level = ServiceLevel.model_validate({"level": "site", "target": "0.99", "credit": SHAPES[shape]})
    assert credit_shape.greatest_share(level) == share


@pytest.mark.parametrize(
    ("shape", "share"),
    [
        # 600 of 43,200 minutes at a target of 99%: 1.3889% down, 0.3889 points short
        ("linear", Fraction(7, 900)),
        ("steps", Fraction(2, 100)),
        ("duration_table", Fraction(48, 720)),
        ("multiple_of_price", Fraction(100, 720)),
        ("per_breach", Fraction(1, 10)),
        ("hour_waiver", Fraction(10, 720)),
        ("onset_plus_hourly", Fraction(33, 100)),
        ("term_extension", Fraction(0)),
        ("unstated", None),
    ],
)
def test_what_one_outage_of_ten_hours_pays_under_each_shape(shape, share):
    level = ServiceLevel.model_validate({"level": "node", "target": "0.99", "credit": SHAPES[shape]})
    assert credit_shape.of_one_outage(600, 43_200, level, "unit") == share


def test_an_outage_in_the_month_has_no_minutes_elsewhere():
    one = CountedOutage(10, ())
    assert (one.earlier_minutes, one.later_minutes, one.starts) == (0, 0, True)
