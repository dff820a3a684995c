"""Periods of every kind, slow units, codes of faults, monitors that differ, and what brings down the units within."""

from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from risk.contract_rules.exclusion_ledger import exclusion_ledger
from risk.contract_rules.measurement_period import period_calendar
from risk.contract_rules.register import Register
from risk.contract_rules.statement import Line, Records, Statement, statement
from risk.core.setting import setting
from schemas.deal import Deal
from schemas.errors import DealError, MissingTermError, NotComputedError
from schemas.incidents import Incident, Notice, UnitService, Window
from schemas.periods import Cycle, Month

BANDS = {"bands": [{"below": "0.995", "credit_fraction": "0.1"}, {"below": "0.99", "credit_fraction": "0.25"}]}
NODES = {"level": "node", "target": "0.995", "credit": BANDS}
NOVEMBER = Month(2026, 11)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def day(clock: str, number: int = 10) -> datetime:
    return at(f"2026-11-{number:02}T{clock}")


def deal(measurement: dict[str, Any] | None = None, levels: dict[str, Any] | None = None, **sections: Any) -> Deal:
    return Deal.model_validate(
        {
            "schema_version": 1,
            "measurement": measurement or {},
            "service_levels": levels or {"nodes": NODES},
            "commercial": {"currency": "USD", "charges": {}, "term": {"months": 36}},
            **sections,
        }
    )


def unit(name: str = "n1", level: str = "node", fee: str = "20000", **more: Any) -> UnitService:
    return UnitService(unit_id=name, level=level, service="compute", monthly_fee=Decimal(fee), **more)


def down(start: datetime, end: datetime | None, name: str = "n1", level: str = "node", **more: Any) -> Incident:
    more = {"id": f"{name} {start} {more.get('monitor_id', '')}", **more}
    return Incident(unit_id=name, level=level, started_at=start, ended_at=end, **more)


def slow(start: datetime, end: datetime, measured: str | None, metric: str = "busbw", **more: Any) -> Incident:
    value = Decimal(measured) if measured is not None else None
    return down(start, end, state="degraded", metric=metric, measured=value, **more)


def stated(terms: Deal, *incidents: Incident, units: list[UnitService] | None = None, **more: Any) -> Statement:
    units = units or [unit(in_service_from=at("2026-01-01T00:00"))]
    texts = more.pop("periods", None)
    periods = [period_calendar(terms, units).parse(text) for text in texts] if texts else [NOVEMBER]
    return statement(terms, Records(incidents=incidents, units=units, **more), periods)


def line(terms: Deal, *incidents: Incident, **more: Any) -> Line:
    return stated(terms, *incidents, **more).lines[0]


# periods


@pytest.mark.parametrize(
    ("measurement", "text", "window", "base"),
    [
        # 16 of November's 30 days and 14 of December's 31
        ({"period": "billing_month", "billing_day": 15}, "2026-11-15", 43_200, Fraction(16, 30) + Fraction(14, 31)),
        ({"period": "quarter"}, "2026-Q4", 132_480, Fraction(3)),
        ({"period": "quarter", "zone": "America/New_York"}, "2026-Q4", 132_540, Fraction(3)),  # an hour more
        ({"period": "quarter", "month_length": "fixed_30"}, "2026-Q4", 129_600, Fraction(3)),
        ({"period": "year"}, "2026", 525_600, Fraction(12)),
        ({"period": "rolling_days", "rolling_days": 30}, "2026-10-28", 43_200, Fraction(4, 31) + Fraction(26, 30)),
    ],
)
def test_a_period_of_any_kind_has_its_minutes_and_the_fees_of_the_months_it_covers(measurement, text, window, base):
    start = at("2026-01-01T05:00" if "zone" in measurement else "2026-01-01T00:00")
    terms = deal(measurement)
    found = line(terms, down(day("00:00", 20), day("05:00", 20)), units=[unit(in_service_from=start)], periods=[text])
    assert (str(found.period), found.window_minutes, found.base) == (text, window, base * 20_000)
    assert (found.counted_minutes, found.availability) == (300, 1 - Fraction(300, window))


def test_an_outage_over_the_end_of_a_period_is_divided_there():
    terms = deal({"period": "billing_month", "billing_day": 15})
    result = stated(terms, down(day("20:00", 14), day("04:00", 15)), periods=["2026-10-15", "2026-11-15"])
    assert [found.counted_minutes for found in result.lines] == [240, 240]


def test_periods_of_the_contract_are_the_only_ones_that_can_be_asked_for():
    with pytest.raises(DealError, match=r"expected a quarter such as 2026-Q4"):
        statement(deal({"period": "quarter"}), Records(units=[unit()]), [NOVEMBER])
    with pytest.raises(DealError, match=r"expected the first day of a period such as 2026-10-15"):
        statement(deal({"period": "billing_month", "billing_day": 15}), Records(units=[unit()]), [NOVEMBER])
    with pytest.raises(MissingTermError, match=r"in_service_from"):
        period_calendar(deal({"period": "rolling_days"})).containing(date(2026, 11, 1))


def test_days_without_a_known_start_run_from_the_period_that_is_asked_for():
    terms = deal({"period": "rolling_days", "rolling_days": 7})
    found = line(terms, down(day("00:00"), day("05:00")), units=[unit()], periods=["2026-11-09"])
    assert (found.period, found.window_minutes, found.counted_minutes) == (
        Cycle(date(2026, 11, 9), days=7),
        10_080,
        300,
    )


def test_periods_cannot_change_their_kind():
    terms = deal(amendments=[{"effective_from": "2026-06-01", "set": {"measurement.period": "quarter"}}])
    with pytest.raises(NotComputedError, match=r"amendments\[0\]\.set\.measurement\.period"):
        stated(terms)


def test_bad_periods_of_any_kind_become_a_right():
    limb = {"form": "bad_months", "service_level": "racks", "below": "0.99", "k": 2, "m": 4}
    terms = deal(
        {"period": "quarter"},
        {"racks": {**NODES, "level": "rack"}},
        cancellation={"chronic_failure": {"limbs": [limb]}},
    )
    rack = unit("r", "rack", in_service_from=at("2026-01-01T00:00"))
    spells = [down(at(f"2026-{m}-10T00:00"), at(f"2026-{m}-12T00:00"), "r", "rack") for m in ("02", "11")]
    result = stated(terms, *spells, units=[rack], periods=["2026-Q4"])
    (right,) = result.rights
    assert [str(period) for period in right.periods] == ["2026-Q1", "2026-Q4"]
    assert right.arises == at("2027-01-01T00:00")


def test_a_contract_year_holds_the_periods_that_start_in_it():
    terms = deal({"period": "billing_month", "billing_day": 15}, credits={"caps": {"year": "0.01"}})
    spells = [down(at(f"2026-{m:02}-20T00:00"), at(f"2026-{m:02}-20T12:00")) for m in (10, 11, 12)]
    started = unit(in_service_from=at("2025-12-01T00:00"))
    result = stated(terms, *spells, units=[started], periods=["2026-10-15", "2026-11-15", "2026-12-15"])
    assert [found.credit.amount > 4_000 for found in result.lines] == [True, True, True]
    # 1% of twelve fees is 2,400; the period from 15 November starts before the second contract year, 1 December
    assert [str(one.payable.amount) for one in result.settlements] == ["2400.00", "0.00", "2400.00"]
    assert [one.contract_year for one in result.settlements] == [1, 1, 2]


def test_parts_of_a_divided_month_come_one_after_the_other():
    change = {"effective_from": "2026-11-11", "set": {"credits.minimum_payable": "1"}}
    terms = deal({"amendment_applies": "at_date_split"}, amendments=[change])
    calendar = period_calendar(terms)
    first, second = calendar.parts(NOVEMBER)
    assert (first.first_day(), first.day_after(), second.day_after()) == (
        date(2026, 11, 1),
        date(2026, 11, 11),
        date(2026, 12, 1),
    )
    assert calendar.plus(first, 1) == second
    assert calendar.plus(second, 1) == Month(2026, 12)
    assert calendar.plus(Month(2026, 12), -2) == first
    assert calendar.plus(first, -1) == Month(2026, 10)


def test_an_outage_that_decides_its_own_terms_keeps_their_counting_rules():
    change = {"effective_from": "2026-11-11", "set": {"measurement.minimum_outage_minutes": 600}}
    terms = deal({"amendment_applies": "at_incident"}, amendments=[change])
    before, after = down(day("00:00", 9), day("05:00", 9)), down(day("00:00", 12), day("05:00", 12))
    found = line(terms, before, after)
    assert (found.down_minutes, found.disregarded_minutes, found.counted_minutes) == (600, 300, 300)
    december = stated(terms, before, after, periods=["2026-12"]).lines[0]
    assert (december.down_minutes, december.credit.amount) == (0, 0)


# when an outage starts


def test_a_report_limits_how_far_back_an_outage_goes():
    limit = {"backdate_limit_hours": "2"}
    late = down(day("00:00"), day("10:00"), notice_at=day("06:00"), ticket_at=day("05:00"))
    assert line(deal(limit), late).counted_minutes == 420  # from 03:00, two hours before the ticket
    assert line(deal(limit), down(day("00:00"), day("10:00"))).counted_minutes == 600
    assert line(deal(limit), down(day("00:00"), day("10:00"), notice_at=day("01:00"))).counted_minutes == 600


# slow units

SLOW = {"busbw": {"floor": "0.9", "minimum_minutes": 30}}


def slow_line(*incidents: Incident, degraded: dict[str, Any] | None = None, **more: Any) -> Line:
    return line(
        deal(more.pop("measurement", None), {"nodes": {**NODES, "degraded": degraded or SLOW}}), *incidents, **more
    )


def test_the_floor_itself_is_good_enough_and_the_shortest_spell_counts():
    assert slow_line(slow(day("00:00"), day("05:00"), "0.9")).degraded_minutes == 0
    assert slow_line(slow(day("00:00"), day("05:00"), "1.1")).degraded_minutes == 0
    assert slow_line(slow(day("00:00"), day("00:29"), "0.1")).degraded_minutes == 0
    found = slow_line(slow(day("00:00"), day("00:30"), "0.1"))
    assert (found.degraded_minutes, found.counted_minutes) == (30, 27)


def test_a_value_is_measured_against_the_baseline_of_its_metric():
    terms = {"busbw": {"baseline": "300", "floor": "0.9"}}
    found = slow_line(slow(day("00:00"), day("01:00"), "200"), degraded=terms)
    assert (found.counted_minutes, found.weighted_minutes) == (20, 20)
    found = slow_line(slow(day("00:00"), day("00:31"), "200"), degraded=terms)
    assert found.counted_minutes == Fraction(31, 3)  # never rounded
    assert found.availability == 1 - Fraction(31, 3) / 43_200


def test_a_spell_in_two_records_is_one_spell_and_is_tested_before_the_month_divides_it():
    november = slow_line(
        slow(at("2026-11-30T23:40"), at("2026-12-01T00:00"), "0.5"),
        slow(at("2026-12-01T00:00"), at("2026-12-01T00:20"), "0.6", id="second"),
    )
    assert (november.degraded_minutes, november.counted_minutes) == (20, 10)


def test_the_metric_that_counts_most_applies_once():
    terms = {**SLOW, "clock": {"floor": "0.9", "weight": "full"}, "flops": {"weight": "none"}}
    found = slow_line(
        slow(day("00:00"), day("10:00"), "0.5"),
        slow(day("02:00"), day("03:00"), "0.8", "clock"),
        slow(day("08:00"), day("12:00"), "0.8", "flops"),
        degraded=terms,
    )
    assert (found.degraded_minutes, found.counted_minutes) == (720, 270 + 60)


def test_downtime_beats_slowness_unless_it_is_too_short_to_count():
    spell = slow(day("00:00"), day("10:00"), "0.5")
    found = slow_line(spell, down(day("02:00"), day("04:00")))
    assert (found.down_minutes, found.degraded_minutes, found.counted_minutes) == (600, 480, 120 + 240)
    measurement = {"minimum_outage_minutes": 180}
    found = slow_line(spell, down(day("02:00"), day("04:00")), measurement=measurement)
    assert (found.down_minutes, found.degraded_minutes, found.counted_minutes) == (600, 600, 300)
    assert found.disregarded_minutes == 0


def test_slow_time_is_excluded_like_downtime_before_it_is_weighted():
    terms = deal(levels={"nodes": {**NODES, "degraded": SLOW}})
    hold = Window(id="w", kind="customer_hold", starts_at=day("01:00"), ends_at=day("03:00"))
    records = Records(
        [slow(day("00:00"), day("04:00"), "0.5"), down(day("02:30"), day("02:40"))], [hold], units=[unit()]
    )
    (found,) = statement(terms, records, [NOVEMBER]).lines
    assert (found.down_minutes, found.excluded_minutes, found.degraded_minutes) == (240, 120, 120)
    assert found.counted_minutes == 60
    register = Register(terms, records, [NOVEMBER])
    rows = exclusion_ledger(register, register.tree.units["n1"], "nodes", NOVEMBER)
    assert sum(row.minutes for row in rows if row.is_excluded) == 120


def test_the_worst_outage_or_the_worst_slow_spell_is_looked_at_where_only_one_is():
    terms = deal(levels={"nodes": {**NODES, "degraded": SLOW}}, credits={"within_level": "worst_outage"})
    spell = slow(day("00:00", 12), day("10:00", 12), "0.5")
    found = line(terms, down(day("00:00"), day("02:00")), spell)
    assert (found.counted_minutes, found.weighted_minutes, found.disregarded_minutes) == (300, 300, 120)
    found = line(terms, down(day("00:00"), day("06:00")), spell)
    assert (found.counted_minutes, found.weighted_minutes, found.degraded_minutes) == (360, 0, 600)


def test_a_slow_unit_without_a_value_or_a_metric_is_left_out_and_named():
    terms = deal(levels={"nodes": {**NODES, "degraded": SLOW}})
    result = stated(
        terms,
        slow(day("00:00"), day("05:00"), None, id="no value"),
        slow(day("00:00", 11), day("05:00", 11), "0.1", "clock", id="other metric"),
    )
    assert result.lines[0].down_minutes == 0
    (note,) = [note for note in result.notes if "are left out" in note]
    assert note.startswith("Incidents no value, other metric show a unit that was slow and are left out")
    result = stated(deal(), slow(day("00:00"), day("05:00"), "0.1", id="s"))
    assert any("under these terms a slow unit is up" in note for note in result.notes)


# codes of faults


@pytest.mark.parametrize(
    ("meanings", "state", "counted"),
    [
        ({}, "down", 300),
        ({}, "degraded", 0),
        ({"xid-79": "down"}, "degraded", 300),
        ({"xid-79": "application"}, "down", 0),
        ({"xid-79": "no_event"}, "down", 0),
        ({"xid-79": "degraded"}, "down", 150),
        ({"xid-48": "down"}, "down", 0),  # not on the list: the application's
        ({"xid-48": "down"}, "planned", 300),  # planned work is no fault
    ],
)
def test_the_list_of_faults_decides_what_a_code_means(meanings, state, counted):
    terms = deal({"fault_list": meanings}, {"nodes": {**NODES, "degraded": SLOW}})
    record = down(day("00:00"), day("05:00"), state=state, fault_code="xid-79", metric="busbw", measured=Decimal("0.5"))
    expected = counted or (150 if (meanings, state) == ({}, "degraded") else 0)
    assert line(terms, record).counted_minutes == expected


def test_a_code_that_is_not_on_the_list_is_named():
    result = stated(deal({"fault_list": {"xid-48": "down"}}), down(day("00:00"), day("05:00"), fault_code="xid-31"))
    assert any(note.startswith("Codes xid-31 are not on the list of faults") for note in result.notes)
    result = stated(deal({"fault_list": {"xid-31": "no_event"}}), down(day("00:00"), day("05:00"), fault_code="xid-31"))
    assert any("makes their codes the application's, or no event" in note for note in result.notes)


# monitors

WHOSE = {"p": "provider", "c": "customer", "t": "third_party"}
BY_PROVIDER = down(day("00:00"), day("04:00"), monitor_id="p")
BY_CUSTOMER = down(day("02:00"), day("08:00"), monitor_id="c")


@pytest.mark.parametrize(
    ("conflict", "counted", "disputed"),
    [("provider", 240, 0), ("customer", 360, 0), ("longer", 360, 0), ("shorter", 240, 0), ("expert", 120, 360)],
)
def test_the_contract_says_which_of_two_monitors_decides(conflict, counted, disputed):
    result = stated(deal({"monitors": WHOSE, "conflict": conflict}), BY_PROVIDER, BY_CUSTOMER)
    found = result.lines[0]
    assert (found.counted_minutes, found.disputed_minutes) == (counted, disputed)
    assert found.window_minutes == found.up_minutes + found.down_minutes + disputed
    (step,) = [step for step in found.steps if step.paragraph == "monitor-evidence.conflict"]
    assert step.inputs == {"provider": 240, "customer": 360}
    (note,) = [note for note in result.notes if "the monitors differ" in note]
    assert "the provider's 240, the customer's 360" in note


def test_each_outage_has_its_own_longer_monitor():
    later = [
        down(day("00:00", 12), day("05:00", 12), monitor_id="p"),
        down(day("01:00", 12), day("02:00", 12), monitor_id="c"),
    ]
    found = line(deal({"monitors": WHOSE, "conflict": "longer"}), BY_PROVIDER, BY_CUSTOMER, *later)
    assert found.counted_minutes == 360 + 300


def test_another_monitor_is_heard_while_that_of_record_is_silent():
    silent = down(day("00:00"), day("06:00"), state="unknown", monitor_id="p")
    found = line(deal({"monitors": WHOSE, "conflict": "provider"}), silent, BY_CUSTOMER)
    assert (found.counted_minutes, found.unknown_minutes) == (240, 0)  # 02:00 to 06:00; then the provider's says up
    found = line(deal({"monitors": WHOSE, "monitor_fallback": False, "conflict": "customer"}), silent, BY_CUSTOMER)
    assert (found.counted_minutes, found.unknown_minutes) == (120, 360)
    both = down(day("03:00"), day("04:00"), state="unknown", monitor_id="c", id="both silent")
    found = line(deal({"monitors": WHOSE}), silent, both)
    assert (found.counted_minutes, found.unknown_minutes) == (0, 60)


def test_the_monitor_of_record_is_the_one_the_contract_names():
    terms = {"monitors": WHOSE, "monitor": "customer", "conflict": "provider"}
    silent = down(day("00:00"), day("06:00"), state="unknown", monitor_id="c")
    found = line(deal(terms), silent, down(day("00:00"), day("01:00"), monitor_id="p"))
    assert (found.counted_minutes, found.unknown_minutes) == (60, 0)
    rules = [step.rule for step in found.steps if step.paragraph == "monitor-evidence.record"]
    assert rules == ["the monitor of record is the customer's"]


def test_a_monitor_that_watches_units_of_the_kind_and_shows_nothing_shows_that_they_are_up():
    units = [unit(), unit("n2")]
    other = down(day("00:00", 20), day("01:00", 20), "n2", monitor_id="p")
    found = line(deal({"monitors": WHOSE}), BY_CUSTOMER, other, units=units)
    assert (found.counted_minutes, found.disputed_minutes) == (0, 360)
    alone = line(deal({"monitors": WHOSE}), BY_CUSTOMER)
    assert (alone.counted_minutes, alone.disputed_minutes) == (360, 0)
    rules = [step.rule for step in alone.steps if step.paragraph == "monitor-evidence.record"]
    assert rules == ["no reading of the monitor of record is on record: the customer's stands"]


def test_a_record_of_no_monitor_stands():
    agreed = down(day("05:00"), day("06:00"), id="agreed by both")
    found = line(deal({"monitors": WHOSE}), BY_PROVIDER, BY_CUSTOMER, agreed)
    assert (found.counted_minutes, found.disputed_minutes) == (120 + 60, 300)


def test_monitors_whose_owner_is_not_named_must_agree():
    stranger = down(day("00:00"), day("09:00"), monitor_id="x")
    with pytest.raises(NotComputedError, match=r"say in measurement\.monitors whose each of them is"):
        line(deal({"monitors": WHOSE}), BY_PROVIDER, stranger)


# units that contain others


def rack_of(level: dict[str, Any], *incidents: Incident, units: list[UnitService] | None = None) -> Line:
    terms = deal(levels={"racks": {"level": "rack", "target": "0.995", "credit": BANDS, **level}})
    nodes = units or [unit(f"n{i}", parent_id="r") for i in range(1, 5)]
    return line(terms, *incidents, units=[unit("r", "rack"), *nodes])


TWO_DOWN = (down(day("00:00"), day("04:00")), down(day("02:00"), day("06:00"), "n2"))


@pytest.mark.parametrize(
    ("level", "counted"),
    [
        ({"down_when": "any_down"}, 360),
        ({"down_when": "all_down"}, 0),
        ({"down_when": "capacity_share"}, 120),  # 240 minutes at a quarter, 120 at a half
        ({"k": 3, "n": 4}, 120),
        ({}, 0),  # no number: only the rack's own incidents count
    ],
)
def test_the_contract_says_when_the_nodes_bring_a_unit_down(level, counted):
    assert rack_of(level, *TWO_DOWN).counted_minutes == counted


def test_a_share_of_the_capacity_counts_in_part_and_own_downtime_in_full():
    found = rack_of({"down_when": "capacity_share"}, *TWO_DOWN, down(day("03:00"), day("05:00"), "r", "rack"))
    assert (found.down_minutes, found.degraded_minutes) == (360, 240)
    assert found.counted_minutes == 120 + 120 * Fraction(1, 4) + 60 * Fraction(1, 2) + 60 * Fraction(1, 4)


def test_a_node_out_of_service_leaves_the_number():
    nodes = [unit("n1", parent_id="r"), unit("n2", parent_id="r", in_service_to=day("00:00"))]
    found = rack_of({"down_when": "capacity_share"}, down(day("00:00"), day("01:00")), units=nodes)
    assert (found.degraded_minutes, found.counted_minutes) == (60, 60)
    assert rack_of({"down_when": "all_down"}, down(day("00:00"), day("01:00")), units=nodes).counted_minutes == 60


def test_spares_count_only_where_the_contract_says_so():
    nodes = [unit("n1", parent_id="r"), unit("s1", fee="0", parent_id="r", spare=True)]
    spell = down(day("00:00"), day("01:00"))
    assert rack_of({"down_when": "all_down"}, spell, units=nodes).counted_minutes == 60
    assert rack_of({"down_when": "all_down", "spares_count": True}, spell, units=nodes).counted_minutes == 0
    result = stated(deal(), spell, units=nodes)
    assert [found.unit for found in result.lines] == ["n1"]


def test_nodes_at_any_depth_decide_about_a_hall():
    units = [
        unit("h", "hall"),
        unit("r", "rack", parent_id="h"),
        unit("n1", parent_id="r"),
        unit("n2", parent_id="h"),
    ]
    terms = deal(levels={"halls": {"level": "hall", "target": "0.995", "down_when": "all_down", "credit": BANDS}})
    assert line(terms, *TWO_DOWN, units=units).counted_minutes == 120


CLUSTER = {"level": "cluster", "target": "0.995", "nodes_needed_share": "0.5", "requires": ["fabric"], "credit": BANDS}


@pytest.mark.parametrize(("parent", "counted"), [("c", 60), ("h", 60), ("elsewhere", 0), (None, 0)])
def test_a_unit_needs_what_is_inside_it_or_beside_it(parent, counted):
    units = [
        unit("c", "cluster", parent_id="h"),
        unit("n1", parent_id="c"),
        unit("f", "fabric", fee="0", parent_id=parent),
    ]
    result = stated(deal(levels={"c": CLUSTER}), down(day("00:00"), day("01:00"), "f", "fabric"), units=units)
    assert result.lines[0].counted_minutes == counted
    assert any("needs fabric to be up" in note for note in result.notes) == (counted == 0)
    assert any("count for no line" in note for note in result.notes) == (counted == 0)


def from_above(tests: list[str], *incidents: Incident, **more: Any) -> Statement:
    units = [
        unit("h", "hall", fee="0"),
        unit("c", "cluster", fee="0", parent_id="h"),
        unit("f", "fabric", fee="0", parent_id="c"),
        unit("n1", parent_id="c"),
        unit("n2"),
    ]
    return stated(deal(levels={"nodes": {**NODES, "down_tests": tests}}), *incidents, units=units, **more)


@pytest.mark.parametrize(
    ("tests", "name", "level", "cause", "counted"),
    [
        (["power_lost"], "h", "hall", "power_feed_b", 60),
        (["power_lost"], "h", "hall", "cooling_pump", 0),
        (["cooling_lost"], "h", "hall", "cooling_pump", 60),
        (["unreachable"], "h", "hall", "power_lost", 0),
        (["power_lost"], "h", "hall", None, 0),
        (["fabric_down"], "f", "fabric", None, 60),
        (["power_lost"], "c", "cluster", "power_lost", 0),  # a cluster's own incident reaches no one
    ],
)
def test_what_a_test_names_brings_down_the_units_within(tests, name, level, cause, counted):
    result = from_above(tests, down(day("00:00"), day("01:00"), name, level, cause=cause))
    inside, outside = result.lines
    assert (inside.unit, inside.counted_minutes, outside.counted_minutes) == ("n1", counted, 0)
    steps = [step for step in inside.steps if step.paragraph == "service-levels.from-above"]
    assert bool(steps) == bool(counted)


def test_downtime_from_above_joins_that_of_the_unit_and_is_excluded_with_it():
    hall = down(day("00:00"), day("02:00"), "h", "hall", cause="power")
    inside = from_above(["power_lost"], hall, down(day("01:00"), day("03:00"))).lines[0]
    assert inside.counted_minutes == 180
    work = Window(
        id="w", kind="scheduled", starts_at=day("00:00"), ends_at=day("01:00"), unit_ids=("h",), notice_id="n"
    )
    notice = Notice(id="n", kind="work", sent_at=at("2026-10-01T00:00"), unit_ids=("h",))
    inside = from_above(["power_lost"], hall, windows=[work], notices=[notice]).lines[0]
    assert (inside.excluded_minutes, inside.counted_minutes) == (60, 60)


# the simulation


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"measurement": {"period": "quarter"}}, r"measurement\.period"),
        ({"measurement": {"first_partial": "merge_next"}}, r"measurement\.first_partial"),
        ({"measurement": {"min_window_days": 5}}, r"measurement\.min_window_days"),
        ({"service_levels": {"c": {**CLUSTER, "down_when": "any_down"}}}, r"service_levels\.c\.down_when"),
    ],
)
def test_the_simulation_refuses_ways_of_measuring_that_it_does_not_follow(changes, path):
    terms = deal(
        services={"compute": {"name": "Compute", "tranches": ["a"]}},
        delivery={"tranches": {"a": {"ready_for_service_date": {"close_plus_months": 1}}}},
        finance={"currency": "USD", "close": "2026-10-01", "horizon_months": 12},
    ).revise(changes)
    with pytest.raises(NotComputedError, match=path):
        setting(terms)
