"""Worked cases on how clauses interact: facts in, minutes, fractions and money out, each worked by hand.

Parties and incidents are invented. Timestamps are UTC and half-open.
"""

from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from risk.contract_rules.statement import Line, Records, Statement, statement
from schemas.deal import Deal
from schemas.incidents import Incident, Notice, UnitService, Window
from schemas.money import Money
from schemas.periods import Month

STANDARD = ((".995", ".10"), (".99", ".25"), (".95", ".50"))


def usd(amount: str) -> Money:
    return Money(Decimal(amount), "USD")


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def months(*names: str) -> list[Month]:
    return [Month.parse(name) for name in names]


def bands(*rows: tuple[str, str]) -> dict[str, Any]:
    return {"shape": "bands", "bands": [{"below": below, "credit_fraction": share} for below, share in rows]}


def node_level(*rows: tuple[str, str], **more: Any) -> dict[str, Any]:
    rows = rows or STANDARD
    return {"level": "node", "target": rows[0][0], "credit": bands(*rows), **more}


def cluster_level(*rows: tuple[str, str], **more: Any) -> dict[str, Any]:
    rows = rows or STANDARD
    return {
        "level": "cluster",
        "target": rows[0][0],
        "nodes_needed_share": ".95",
        "credit": bands(*rows),
        **more,
    }


def deal(levels: dict[str, Any], **sections: Any) -> Deal:
    commercial = {"currency": "USD", "charges": {}, "term": {"months": 36}}
    return Deal.model_validate({"schema_version": 1, "service_levels": levels, "commercial": commercial, **sections})


def unit(name: str, fee: str, level: str = "node", since: str | None = None, **more: Any) -> UnitService:
    start = at(since) if since else None
    return UnitService(
        unit_id=name, level=level, service="compute", monthly_fee=Decimal(fee), in_service_from=start, **more
    )


def down(unit_id: str, start: str, end: str, level: str = "node", **more: Any) -> Incident:
    return Incident(
        id=f"{unit_id} {start}", level=level, unit_id=unit_id, started_at=at(start), ended_at=at(end), **more
    )


def minutes(line: Line) -> tuple[object, ...]:
    return line.window_minutes, line.down_minutes, line.excluded_minutes, line.counted_minutes


# C01: ten of 100 nodes down nine hours


def ten_of_100_nodes(between_levels: str) -> Statement:
    levels = {
        "nodes": node_level((".99", ".10"), (".97", ".25"), (".95", ".50")),
        "cluster": cluster_level((".995", ".05"), (".99", ".10"), (".98", ".20")),
    }
    nodes = [unit(f"node-{i:03}", "20000", parent_id="cluster-1") for i in range(1, 101)]
    records = Records(
        incidents=[down(f"node-{i:03}", "2026-11-05T09:00", "2026-11-05T18:00") for i in range(1, 11)],
        units=[*nodes, unit("cluster-1", "2000000", "cluster")],
    )
    return statement(deal(levels, credits={"between_levels": between_levels}), records, months("2026-11"))


def test_the_level_that_pays_most_pays_alone():
    result = ten_of_100_nodes("highest_level")
    node, cluster = result.lines[0], result.lines[-1]
    assert (node.unit, cluster.unit, len(result.lines)) == ("node-001", "cluster-1", 101)
    for line in (node, cluster):
        assert minutes(line) == (43_200, 540, 0, 540)
        assert line.availability == Fraction(79, 80)
        assert line.credit_fraction == Decimal("0.10")
    assert (node.credit, cluster.credit) == (usd("2000.00"), usd("200000.00"))
    assert sum(line.credit.amount for line in result.lines[:-1]) == Decimal("20000.00")
    assert result.total == usd("200000.00")
    assert result.lost == {"other_level": usd("20000.00")}


def test_all_levels_pay_where_the_contract_adds_them():
    assert ten_of_100_nodes("cumulative").total == usd("220000.00")


# C02: eight nodes in the worst band, and the cap of the month


def test_the_cap_of_the_month_bites_and_says_what_is_lost():
    records = Records(
        incidents=[down(f"node-{i:03}", "2026-11-10T00:00", "2026-11-11T12:40") for i in range(1, 9)],
        units=[unit(f"node-{i:03}", "20000") for i in range(1, 65)],
    )
    result = statement(deal({"nodes": node_level()}, credits={"caps": {"month": "0.05"}}), records, months("2026-11"))
    for line in result.lines[:8]:
        assert minutes(line) == (43_200, 2_200, 0, 2_200)
        assert line.availability == Fraction(205, 216)
        assert (line.credit, line.payable) == (usd("10000.00"), usd("8000.00"))
    assert result.settlements[0].credit == usd("80000.00")
    assert result.settlements[0].fee == 1_280_000
    assert result.total == usd("64000.00")
    assert result.lost == {"month_cap": usd("16000.00")}
    assert statement(deal({"nodes": node_level()}), records, months("2026-11")).total == usd("80000.00")


# C04: twelve hours of notified maintenance against a cap of eight


def maintenance_over_its_cap(cap: str | None) -> Line:
    windows = [
        Window(
            id=f"m{day}",
            kind="scheduled",
            starts_at=at(f"2026-09-{day}T02:00"),
            ends_at=at(f"2026-09-{day}T06:00"),
            unit_ids=("node-001",),
            notice_id="n1",
        )
        for day in ("09", "16", "23")
    ]
    planned = [
        down("node-001", f"2026-09-{day}T02:00", f"2026-09-{day}T06:00", state="planned") for day in ("09", "16", "23")
    ]
    records = Records(
        incidents=[*planned, down("node-001", "2026-09-27T10:00", "2026-09-27T11:40")],
        windows=windows,
        notices=[Notice(id="n1", kind="maintenance", sent_at=at("2026-09-01T00:00"), unit_ids=("node-001",))],
        units=[unit("node-001", "20000")],
    )
    exclusions = {"scheduled": {"notice_days": 5, "cap_unit_month_hours": cap}}
    (line,) = statement(deal({"nodes": node_level()}, exclusions=exclusions), records, months("2026-09")).lines
    return line


def test_maintenance_beyond_its_hours_counts_in_order_of_time():
    line = maintenance_over_its_cap("8")
    assert minutes(line) == (43_200, 820, 480, 340)
    assert line.availability == Fraction(2143, 2160)
    assert line.credit == usd("2000.00")
    (cap,) = [step for step in line.steps if step.paragraph == "scheduled-maintenance.cap"]
    assert (cap.inputs["asked"], cap.inputs["allowed"], cap.result) == (720, 480, 480)
    assert cap.term == "exclusions.scheduled.cap_unit_month_hours"


def test_maintenance_without_a_cap_is_excluded_in_full():
    line = maintenance_over_its_cap(None)
    assert line.counted_minutes == 100
    assert line.availability == 1 - Fraction(100, 43_200)
    assert line.credit == usd("0.00")


# C05: eight hours across midnight at month end


def across_the_month_end(straddle: str) -> Statement:
    level = node_level((".9945", ".10"), (".99", ".25"))
    records = Records(
        incidents=[down("node-001", "2026-11-30T20:00", "2026-12-01T04:00")], units=[unit("node-001", "20000")]
    )
    return statement(deal({"nodes": level}, measurement={"straddle": straddle}), records, months("2026-11", "2026-12"))


def test_an_outage_over_a_month_end_is_divided_at_midnight():
    november, december = across_the_month_end("split").lines
    assert minutes(november) == (43_200, 240, 0, 240)
    assert minutes(december) == (44_640, 240, 0, 240)
    assert (november.availability, december.availability) == (Fraction(179, 180), Fraction(185, 186))
    assert (november.credit, december.credit) == (usd("2000.00"), usd("0.00"))


def test_an_outage_can_count_as_a_whole_in_the_month_of_its_start_or_of_its_end():
    november, december = across_the_month_end("start_month").lines
    assert (november.counted_minutes, december.counted_minutes) == (480, 0)
    assert (november.availability, november.credit) == (Fraction(89, 90), usd("5000.00"))
    november, december = across_the_month_end("end_month").lines
    assert (november.counted_minutes, december.counted_minutes) == (0, 480)


def test_an_outage_that_ends_at_midnight_ends_in_the_month_that_is_over():
    records = Records(
        incidents=[down("node-001", "2026-10-31T22:00", "2026-12-01T00:00")], units=[unit("node-001", "20000")]
    )
    terms = deal({"nodes": node_level()}, measurement={"straddle": "end_month"})
    lines = statement(terms, records, months("2026-10", "2026-11", "2026-12")).lines
    assert [line.counted_minutes for line in lines] == [0, 43_320, 0]
    assert lines[1].availability == 0


# C06: a spare takes the slot in mid-outage (its replacement in time is in test_contract_rules_operations.py)


def test_a_slot_is_down_until_the_spare_in_it_is_readmitted():
    incident = down("slot-17", "2026-11-02T00:00", "2026-11-02T03:00", readmitted_at=at("2026-11-02T04:00"))
    records = Records(incidents=[incident], units=[unit("slot-17", "20000")])
    terms = {"nodes": node_level()}
    (line,) = statement(deal(terms), records, months("2026-11")).lines
    assert minutes(line) == (43_200, 240, 0, 240)
    assert (line.availability, line.credit) == (Fraction(179, 180), usd("2000.00"))
    (line,) = statement(deal(terms, measurement={"ends_at": "first_good"}), records, months("2026-11")).lines
    assert (line.counted_minutes, line.credit) == (180, usd("0.00"))


def test_a_node_measured_by_its_serial_number_would_be_down_until_it_is_repaired():
    incident = down("SN-1177", "2026-11-02T00:00", "2026-11-05T00:00")
    (line,) = statement(
        deal({"nodes": node_level()}),
        Records(incidents=[incident], units=[unit("SN-1177", "20000")]),
        months("2026-11"),
    ).lines
    assert (line.counted_minutes, line.availability, line.credit) == (4_320, Fraction(9, 10), usd("10000.00"))


# C08: three of 18 trays overlap for two hours


def three_of_18_trays(k: int) -> Line:
    level = {
        "level": "rack",
        "target": ".999",
        "k": k,
        "n": 18,
        "credit": bands((".999", ".10"), (".99", ".25"), (".95", ".50")),
    }
    records = Records(
        incidents=[
            down("tray-01", "2026-11-03T10:00", "2026-11-03T20:00"),
            down("tray-02", "2026-11-03T12:00", "2026-11-03T18:00"),
            down("tray-03", "2026-11-03T14:00", "2026-11-03T16:00"),
        ],
        units=[
            unit("rack-1", "360000", "rack"),
            *(unit(f"tray-{i:02}", "20000", parent_id="rack-1") for i in range(1, 19)),
        ],
    )
    (line,) = statement(deal({"racks": level}), records, months("2026-11")).lines
    return line


def test_a_rack_is_down_while_fewer_than_k_of_its_trays_are_up():
    line = three_of_18_trays(16)
    assert minutes(line) == (43_200, 120, 0, 120)
    assert (line.availability, line.credit) == (Fraction(359, 360), usd("36000.00"))


@pytest.mark.parametrize(("k", "counted", "credit"), [(18, 600, "90000.00"), (15, 0, "0.00")])
def test_the_number_of_trays_that_must_be_up_decides(k, counted, credit):
    line = three_of_18_trays(k)
    assert (line.counted_minutes, line.credit) == (counted, usd(credit))


def test_the_trays_by_themselves_would_earn_less():
    records = Records(
        incidents=[
            down("tray-01", "2026-11-03T10:00", "2026-11-03T20:00"),
            down("tray-02", "2026-11-03T12:00", "2026-11-03T18:00"),
            down("tray-03", "2026-11-03T14:00", "2026-11-03T16:00"),
        ],
        units=[unit(f"tray-{i:02}", "20000") for i in range(1, 19)],
    )
    level = node_level((".999", ".10"), (".99", ".25"), (".95", ".50"))
    result = statement(deal({"trays": level}), records, months("2026-11"))
    assert [line.credit.amount for line in result.lines[:4]] == [5_000, 2_000, 2_000, 0]
    assert result.total == usd("9000.00")


# C09: a claim one minute into day 31


def claimed_at(received: str | None, window_from: str = "period_end", **process: Any) -> Statement:
    notices = []
    if received:
        moment = at(received)
        notices.append(
            Notice(
                id="claim",
                kind="claim",
                sent_at=moment,
                received_at=moment,
                covers_from=at("2026-09-01T00:00"),
                covers_to=at("2026-10-01T00:00"),
            )
        )
    records = Records(
        incidents=[down("node-001", "2026-09-20T00:00", "2026-09-20T05:00")],
        notices=notices,
        units=[unit("node-001", "20000")],
    )
    terms = {"mode": "claimed", "window_days": 30, "window_from": window_from, "late": "forfeit", **process}
    return statement(deal({"nodes": node_level()}, credits={"process": terms}), records, months("2026-09"))


def test_a_claim_after_the_last_day_is_lost():
    result = claimed_at("2026-10-31T00:01")
    (line,) = result.lines
    assert line.credit == usd("2000.00")
    assert line.claim_by == at("2026-10-31T00:00")
    assert result.total == usd("0.00")
    assert result.lost == {"late_claim": usd("2000.00")}
    assert claimed_at("2026-10-31T00:00").total == usd("0.00")


def test_a_claim_on_the_last_day_is_in_time():
    assert claimed_at("2026-10-30T23:59").total == usd("2000.00")


def test_other_ways_to_claim_the_same_credit():
    assert claimed_at("2026-10-31T00:01", mode="automatic").total == usd("2000.00")
    assert claimed_at("2026-10-31T00:01", late="none").total == usd("2000.00")
    result = claimed_at("2026-10-21T00:00", "incident_end")
    assert (result.lines[0].claim_by, result.total) == (at("2026-10-21T00:00"), usd("0.00"))
    result = claimed_at("2026-10-31T00:01", "statement")
    assert (result.lines[0].claim_by, result.total) == (None, usd("2000.00"))  # no statement yet: no time runs


# C10: chronic failure in the sixth month


SIX_MONTHS = {1: 700, 2: 900, 3: 880, 4: 870, 5: 100, 6: 950}


def six_months(limb: dict[str, Any], **chronic: Any) -> Statement:
    incidents = [
        down(
            "cluster-1",
            f"2026-{month:02}-06T00:00",
            f"2026-{month:02}-06T{length // 60:02}:{length % 60:02}",
            "cluster",
        )
        for month, length in SIX_MONTHS.items()
    ]
    level = cluster_level((".995", ".10"), (".99", ".25"), (".95", ".50"))
    terms = {"chronic_failure": {"limbs": [{"service_level": "cluster", **limb}], **chronic}}
    records = Records(incidents=incidents, units=[unit("cluster-1", "1000000", "cluster", "2026-01-01T00:00")])
    return statement(
        deal({"cluster": level}, cancellation=terms), records, months(*(f"2026-{m:02}" for m in SIX_MONTHS))
    )


def test_the_third_bad_month_of_six_gives_the_right_to_leave():
    result = six_months({"form": "bad_months", "below": "0.98", "k": 3, "m": 6})
    expected = ["2197/2232", "219/224", "547/558", "1411/1440", "2227/2232", "845/864"]
    assert [line.availability for line in result.lines] == [Fraction(text) for text in expected]
    assert [line.credit.amount for line in result.lines] == [250_000] * 4 + [0, 250_000]
    assert result.total == usd("1250000.00")
    (right,) = result.rights
    assert right.periods == tuple(months("2026-02", "2026-04", "2026-06"))
    assert right.arises == right.exercise_from == at("2026-07-01T00:00")
    assert right.exercise_by == at("2026-08-30T00:00")  # day 60 is 29 August
    assert right.term == "cancellation.chronic_failure.limbs[0]"


def test_other_limbs_are_met_earlier():
    first = six_months({"form": "bad_months", "below": "0.98", "k": 2, "m": 3}).rights[0]
    assert first.periods == tuple(months("2026-02", "2026-04"))
    first = six_months({"form": "bad_months", "below": "0.995", "k": 3, "m": 6}).rights[0]
    assert first.periods == tuple(months("2026-01", "2026-02", "2026-03"))


# C11: a target raised by an amendment on 16 July


def raised_on_16_july(applies: str, *more: Incident) -> Statement:
    rows = [{"below": below, "credit_fraction": share} for below, share in STANDARD]
    amendment = {
        "effective_from": "2026-07-16",
        "set": {"service_levels.nodes.target": "0.995", "service_levels.nodes.credit.bands": rows},
    }
    terms = deal(
        {"nodes": node_level((".99", ".10"), (".95", ".25"))},
        measurement={"amendment_applies": applies},
        amendments=[amendment],
    )
    records = Records(
        incidents=[
            down("node-001", "2026-07-20T00:00", "2026-07-20T05:00"),
            down("node-001", "2026-08-20T00:00", "2026-08-20T05:00"),
            *more,
        ],
        units=[unit("node-001", "20000")],
    )
    return statement(terms, records, months("2026-07", "2026-08"))


def test_an_amendment_applies_from_the_first_month_that_starts_on_or_after_it():
    result = raised_on_16_july("next_period")
    july, august = result.lines
    assert july.availability == august.availability == Fraction(739, 744)
    assert (july.credit, august.credit, result.total) == (usd("0.00"), usd("2000.00"), usd("2000.00"))
    (step,) = [s for s in july.steps if s.paragraph == "measurement-period.amended"]
    assert step.result == ()


def test_the_terms_in_force_when_an_outage_starts_can_decide_about_it():
    result = raised_on_16_july("at_incident")
    assert [(str(line.period), line.credit.amount) for line in result.lines] == [("2026-07", 2_000), ("2026-08", 2_000)]
    assert result.total == usd("4000.00")


def test_outages_under_two_sets_of_terms_are_measured_apart_and_added_up():
    # 1 July: 500 of 44,640 minutes are 98.880% and earn 10% on the old table; 20 July earns 10% on the new one
    result = raised_on_16_july("at_incident", down("node-001", "2026-07-01T00:00", "2026-07-01T08:20"))
    july = result.lines[0]
    assert (july.counted_minutes, july.credit) == (800, usd("4000.00"))
    assert july.availability == 1 - Fraction(800, 44_640)
    assert july.credit_fraction == Decimal("0.10")
    assert july.window_minutes == july.up_minutes + july.down_minutes == 44_640
    before = raised_on_16_july("at_incident", down("node-001", "2026-07-15T23:00", "2026-07-16T04:00")).lines[0]
    assert (before.counted_minutes, before.credit) == (
        600,
        usd("2000.00"),
    )  # five hours under the old table earn nothing


def test_an_amendment_can_divide_the_month():
    result = raised_on_16_july("at_date_split")
    first, second, august = result.lines
    assert [str(line.period) for line in result.lines] == ["2026-07-01", "2026-07-16", "2026-08"]
    assert (first.window_minutes, second.window_minutes) == (21_600, 23_040)
    assert second.availability == 1 - Fraction(300, 23_040)
    assert second.base == Fraction(16, 31) * 20_000
    assert [line.credit.amount for line in result.lines] == [0, Decimal("2580.65"), 2_000]
    assert (result.total, august.window_minutes) == (usd("4580.65"), 44_640)


# C12: service ready on 11 November


def test_a_part_of_a_month_is_a_period_of_its_own_with_its_part_of_the_fee():
    records = Records(
        incidents=[down("node-001", "2026-11-15T00:00", "2026-11-15T05:00")],
        units=[unit("node-001", "30000", since="2026-11-11T00:00")],
    )
    levels = {"nodes": node_level((".99", ".10"), (".95", ".25"))}
    (line,) = statement(deal(levels), records, months("2026-11")).lines
    assert minutes(line) == (28_800, 300, 0, 300)
    assert (line.availability, line.base, line.credit) == (Fraction(95, 96), 20_000, usd("2000.00"))
    result = statement(deal(levels, measurement={"first_partial": "none"}), records, months("2026-11", "2026-12"))
    assert [line.period for line in result.lines] == months("2026-12")
    whole = Records(units=[unit("node-001", "30000", since="2026-11-01T00:00")])
    (line,) = statement(deal(levels, measurement={"first_partial": "none"}), whole, months("2026-11")).lines
    assert line.window_minutes == 43_200


def from_11_november(**measurement: Any) -> Statement:
    records = Records(
        incidents=[down("node-001", "2026-11-15T00:00", "2026-11-15T05:00")],
        units=[unit("node-001", "30000", since="2026-11-11T00:00")],
    )
    levels = {"nodes": node_level((".99", ".10"), (".95", ".25"))}
    return statement(deal(levels, measurement=measurement), records, months("2026-11", "2026-12"))


def test_the_first_part_of_a_month_can_be_measured_with_the_next_one():
    result = from_11_november(first_partial="merge_next")
    (line,) = result.lines
    assert (str(line.period), line.window_minutes, line.counted_minutes) == ("2026-12", 73_440, 300)
    assert line.availability == 1 - Fraction(300, 73_440)
    assert (line.base, line.credit) == (20_000 + 30_000, usd("0.00"))
    assert "The part of 2026-11 in which service of node-001 starts is measured together with 2026-12." in result.notes


@pytest.mark.parametrize(("days", "periods"), [(20, ["2026-11", "2026-12"]), (21, ["2026-12"])])
def test_a_first_part_that_is_too_short_is_measured_with_the_next_month(days, periods):
    result = from_11_november(min_window_days=days)  # 11 to 30 November are 20 days
    assert [str(line.period) for line in result.lines] == periods


def test_service_that_ends_before_the_next_month_leaves_a_period_of_its_own():
    records = Records(units=[unit("n", "30000", since="2026-11-11T00:00", in_service_to=at("2026-11-21T00:00"))])
    terms = deal({"nodes": node_level()}, measurement={"first_partial": "merge_next"})
    (line,) = statement(terms, records, months("2026-11", "2026-12")).lines
    assert (str(line.period), line.window_minutes, line.base) == ("2026-11", 14_400, 10_000)
    assert line.availability == 1  # ten clean days of a month are not a third of it


# C14: a fifth of the fee was prepaid


@pytest.mark.parametrize(("included", "base", "credit"), [(True, 1_000_000, "100000.00"), (False, 800_000, "80000.00")])
def test_prepaid_fees_are_in_the_base_or_the_credit_shrinks(included, base, credit):
    records = Records(
        incidents=[down("cluster-1", "2026-11-08T00:00", "2026-11-08T05:00", "cluster")],
        units=[unit("cluster-1", "1000000", "cluster", prepaid_fraction=Decimal("0.2"))],
    )
    terms = deal({"cluster": cluster_level()}, credits={"includes_prepaid": included})
    (line,) = statement(terms, records, months("2026-11")).lines
    assert (line.availability, line.base, line.credit) == (Fraction(143, 144), base, usd(credit))


# C15: the cap of the year is used up in June


def capped_year(asked: list[Month], year_cap: str | None = "0.10") -> Statement:
    lengths = {1: 500, 2: 500, 3: 500, 4: 500, 5: 300, 6: 500}
    incidents = [
        down("cluster-1", f"2026-{m:02}-10T00:00", f"2026-{m:02}-10T{n // 60:02}:{n % 60:02}", "cluster")
        for m, n in lengths.items()
    ]
    records = Records(incidents=incidents, units=[unit("cluster-1", "1000000", "cluster", "2026-01-01T00:00")])
    terms = deal({"cluster": cluster_level()}, credits={"caps": {"month": "0.25", "year": year_cap}})
    return statement(terms, records, asked)


def test_the_cap_of_the_contract_year_is_used_up_month_by_month():
    result = capped_year(months(*(f"2026-{m:02}" for m in range(1, 7))))
    assert [line.credit.amount for line in result.lines] == [250_000] * 4 + [100_000, 250_000]
    assert [line.payable.amount for line in result.lines] == [250_000] * 4 + [100_000, 100_000]
    assert [s.given_before.amount for s in result.settlements] == [0, 250_000, 500_000, 750_000, 1_000_000, 1_100_000]
    assert result.settlements[-1].planned_year_fee == 12_000_000
    assert (result.total, result.lost) == (usd("1200000.00"), {"year_cap": usd("150000.00")})


def test_one_month_alone_knows_what_the_year_has_paid():
    result = capped_year(months("2026-06"))
    assert result.settlements[0].given_before == usd("1100000.00")
    assert result.total == usd("100000.00")


def test_without_a_cap_of_the_year_all_is_owed():
    assert capped_year(months(*(f"2026-{m:02}" for m in range(1, 7))), None).total == usd("1350000.00")


# C17: the customer withholds consent for three hours (its replacement is in test_contract_rules_operations.py)


@pytest.mark.parametrize(("heads", "counted", "credit"), [(("customer_hold",), 210, "0.00"), ((), 390, "2000.00")])
def test_a_hold_by_the_customer_stops_the_clock(heads, counted, credit):
    hold = Window(
        id="h1",
        kind="customer_hold",
        starts_at=at("2026-11-18T08:00"),
        ends_at=at("2026-11-18T11:00"),
        unit_ids=("slot-09",),
    )
    incident = down("slot-09", "2026-11-18T08:00", "2026-11-18T14:30", cause_party="provider")
    records = Records(incidents=[incident], windows=[hold], units=[unit("slot-09", "20000")])
    terms = deal({"nodes": node_level()}, exclusions={"heads": heads})
    (line,) = statement(terms, records, months("2026-11")).lines
    assert minutes(line) == (43_200, 390, 390 - counted, counted)
    assert line.credit == usd(credit)


# C23: an emergency allowance of four hours a quarter


def emergency_work(since: str) -> Statement:
    spells = [("e1", "2026-01-22", "02:00", "05:00"), ("e2", "2026-02-12", "02:00", "07:00")]
    records = Records(
        incidents=[down("node-001", f"{day}T{a}", f"{day}T{b}", state="planned") for _, day, a, b in spells],
        windows=[
            Window(id=n, kind="emergency", starts_at=at(f"{day}T{a}"), ends_at=at(f"{day}T{b}"), notice_id=n)
            for n, day, a, b in spells
        ],
        notices=[
            Notice(id="e1", kind="emergency", sent_at=at("2026-01-21T22:00")),
            Notice(id="e2", kind="emergency", sent_at=at("2026-02-11T22:00")),
        ],
        units=[unit("node-001", "20000", since=since)],
    )
    exclusions = {"emergency": {"min_notice_hours": "2", "cap_quarter_hours": "4"}}
    return statement(deal({"nodes": node_level()}, exclusions=exclusions), records, months("2026-01", "2026-02"))


def test_the_emergency_allowance_of_a_quarter_is_used_over_its_months():
    result = emergency_work("2026-01-01T00:00")
    january, february = result.lines
    assert minutes(january) == (44_640, 180, 180, 0)
    assert minutes(february) == (40_320, 300, 60, 240)
    assert (january.availability, february.availability) == (1, Fraction(167, 168))
    assert result.total == usd("2000.00")


def test_quarters_are_counted_from_the_first_month_of_the_contract_year():
    # ready in November: a new quarter starts in February, with four hours of its own
    assert emergency_work("2025-11-01T00:00").lines[1].excluded_minutes == 240


# C21: one node is down while the whole fabric is slow


def slow_fabric(weight: str, nodes: int = 100) -> Statement:
    names = [f"node-{i:03}" for i in range(1, nodes + 1)]
    degraded = {"nccl_all_reduce_busbw": {"floor": "0.90", "weight": weight}}
    slow = {"state": "degraded", "metric": "nccl_all_reduce_busbw", "measured": Decimal("0.70")}
    records = Records(
        incidents=[
            *(down(name, "2026-11-06T00:00", "2026-11-06T10:00", **slow) for name in names),
            down("node-042", "2026-11-06T04:00", "2026-11-06T07:20"),
        ],
        units=[unit(name, "20000") for name in names],
    )
    return statement(deal({"nodes": node_level(degraded=degraded)}), records, months("2026-11"))


def test_a_slow_minute_counts_its_shortfall_and_a_minute_of_downtime_counts_once():
    result = slow_fabric("shortfall")
    lines = {line.unit: line for line in result.lines}
    node, other = lines["node-042"], lines["node-001"]
    assert minutes(node) == (43_200, 600, 0, 320)
    assert (node.availability, node.credit_fraction, node.credit) == (Fraction(134, 135), Decimal("0.10"), usd("2000"))
    assert (node.degraded_minutes, node.weighted_minutes, node.up_minutes) == (400, 120, 42_600)
    assert minutes(other) == (43_200, 600, 0, 180)
    assert (other.availability, other.credit) == (Fraction(239, 240), usd("0.00"))
    assert result.total == usd("2000.00")


def test_other_weights_of_a_slow_minute():
    assert slow_fabric("full").total == usd("500000.00")
    nothing = slow_fabric("none")
    assert nothing.total == usd("0.00")
    assert {line.unit: line.counted_minutes for line in nothing.lines}["node-042"] == 200
