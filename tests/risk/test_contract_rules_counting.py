"""From records to counted minutes and availability: clocks, flaps, minimum, rounding, months, roll-up, monitors."""

from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from risk.contract_rules.statement import Line, Records, statement
from schemas.deal import Deal
from schemas.errors import DealError, MissingTermError, NotComputedError
from schemas.incidents import Incident, Notice, UnitService, Window
from schemas.periods import Month

NOVEMBER = Month(2026, 11)
BANDS = {"bands": [{"below": "0.999", "credit_fraction": "0.1"}]}
NODES = {"level": "node", "target": "0.999", "credit": BANDS}


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def day(clock: str) -> datetime:
    return at(f"2026-11-05T{clock}")


def deal(measurement: dict[str, Any] | None = None, levels: dict[str, Any] | None = None, **sections: Any) -> Deal:
    return Deal.model_validate(
        {
            "schema_version": 1,
            "measurement": measurement or {},
            "service_levels": levels or {"nodes": NODES},
            "commercial": {"currency": "USD", "charges": {}, "term": {"months": 12}},
            **sections,
        }
    )


def node(name: str = "n1", **more: Any) -> UnitService:
    return UnitService(unit_id=name, level="node", service="compute", monthly_fee=Decimal(3000), **more)


def down(start: datetime, end: datetime | None, unit: str = "n1", **more: Any) -> Incident:
    more = {"level": "node", "id": f"{unit} {start}", **more}
    return Incident(unit_id=unit, started_at=start, ended_at=end, **more)


def line(measurement: dict[str, Any] | None, *incidents: Incident, **sections: Any) -> Line:
    terms = deal(measurement, **sections)
    (only,) = statement(terms, Records(incidents=incidents, units=[node()]), [NOVEMBER]).lines
    return only


def rule(found: Line, paragraph: str) -> str:
    return next(step.rule for step in found.steps if step.paragraph == paragraph)


# when an outage starts and ends


CLOCKED = {
    "detected_at": day("10:07"),
    "notice_at": day("10:12"),
    "ticket_at": day("10:20"),
    "readmitted_at": day("11:30"),
}


@pytest.mark.parametrize(
    ("starts_at", "ends_at", "counted"),
    [
        ("first_failed_reading", "readmission", 90),
        ("first_failed_reading", "first_good", 60),
        ("detection", "first_good", 53),
        ("customer_notice", "first_good", 48),
        ("ticket_confirmed", "first_good", 40),
    ],
)
def test_the_clock_looks_at_the_record_that_the_contract_names(starts_at, ends_at, counted):
    found = line({"starts_at": starts_at, "ends_at": ends_at}, down(day("10:00"), day("11:00"), **CLOCKED))
    assert found.counted_minutes == counted


def test_a_notice_before_detection_starts_the_clock_of_detection():
    incident = down(day("10:00"), day("11:00"), detected_at=day("10:30"), notice_at=day("10:10"))
    assert line({"starts_at": "detection"}, incident).counted_minutes == 50


def test_what_is_missing_from_a_record_is_said():
    bare = down(day("10:00"), day("11:00"))
    found = line({"starts_at": "detection"}, bare)
    assert found.counted_minutes == 60
    assert "the first failed reading stands for it" in rule(found, "outage-clock.start")
    assert "no re-admission is on record" in rule(found, "outage-clock.end")
    for clock in ("customer_notice", "ticket_confirmed"):
        found = line({"starts_at": clock}, bare)
        assert found.down_minutes == 0
        assert "the clock does not start" in rule(found, "outage-clock.start")


def test_a_notice_after_the_end_leaves_nothing_to_count():
    incident = down(day("10:00"), day("11:00"), notice_at=day("12:00"))
    assert line({"starts_at": "customer_notice"}, incident).down_minutes == 0


def test_an_open_outage_counts_up_to_the_statement():
    terms, records = deal(), Records(incidents=[down(at("2026-11-30T22:00"), None)], units=[node()])
    (found,) = statement(terms, records, [NOVEMBER]).lines
    assert found.counted_minutes == 120
    (found,) = statement(terms, records, [NOVEMBER], as_of=at("2026-11-30T22:30")).lines
    assert found.counted_minutes == 30
    later = statement(terms, records, [NOVEMBER, NOVEMBER.plus(1)], as_of=at("2026-12-01T01:00"))
    assert [one.counted_minutes for one in later.lines] == [120, 60]
    assert any("not over" in note for note in later.notes)
    assert any("no end on record" in note for note in later.notes)


def test_nothing_after_the_statement_is_known():
    records = Records(incidents=[down(at("2026-11-10T00:00"), at("2026-11-11T00:00"))], units=[node()])
    (found,) = statement(deal(), records, [NOVEMBER], as_of=at("2026-11-10T01:00")).lines
    assert found.counted_minutes == 60


def test_a_slow_unit_is_up_and_the_statement_says_so():
    records = Records(incidents=[down(day("10:00"), day("11:00"), state="degraded")], units=[node()])
    result = statement(deal(), records, [NOVEMBER])
    assert result.lines[0].down_minutes == 0
    assert any("slow, not down" in note for note in result.notes)


# flaps and the minimum outage


def test_outages_join_when_the_gap_is_shorter_and_stay_apart_when_it_is_as_long():
    first = down(day("10:00"), day("10:03"))
    near, far = down(day("10:07:59"), day("10:11")), down(day("10:08"), day("10:11"))
    rules = {"minimum_outage_minutes": 5}
    assert line(rules, first, near).counted_minutes == 6  # one outage of 6 min 1 s in two pieces
    assert line(rules, first, far).counted_minutes == 0
    assert line({**rules, "gap_counts": True}, first, near).counted_minutes == 11
    assert line({**rules, "merge_gap_minutes": 0}, first, near).counted_minutes == 0


def test_the_minimum_is_tested_on_the_whole_outage_before_anything_is_taken_out():
    # six minutes over the month end, with a hold in the middle: two pieces of two minutes are left, and count
    incident = down(at("2026-11-30T23:57"), at("2026-12-01T00:03"))
    hold = Window(id="h", kind="customer_hold", starts_at=at("2026-11-30T23:59"), ends_at=at("2026-12-01T00:01"))
    records = Records(incidents=[incident], windows=[hold], units=[node()])
    terms = deal({"minimum_outage_minutes": 6})
    lines = statement(terms, records, [NOVEMBER, NOVEMBER.plus(1)]).lines
    assert [(one.excluded_minutes, one.counted_minutes) for one in lines] == [(1, 2), (1, 2)]


@pytest.mark.parametrize(("test", "counted"), [("at_least", 5), ("more_than", 0)])
def test_an_outage_of_exactly_the_minimum(test, counted):
    found = line({"minimum_outage_minutes": 5, "minimum_test": test}, down(day("10:00"), day("10:05")))
    assert (found.down_minutes, found.disregarded_minutes, found.counted_minutes) == (5, 5 - counted, counted)


def test_a_service_level_can_have_counting_rules_of_its_own():
    level = {**NODES, "measurement": {"minimum_outage_minutes": 10}}
    found = line(None, down(day("10:00"), day("10:05")), levels={"nodes": level})
    assert found.counted_minutes == 0
    (step,) = [s for s in found.steps if s.paragraph == "outage-clock.minimum"]
    assert step.term == "service_levels.nodes.measurement.minimum_outage_minutes"
    assert rule(found, "service-levels.own-rules")


# parts of minutes


@pytest.mark.parametrize(
    ("minute_rule", "counted"),
    [
        ("floor_piece", 2),  # 1 min 50 s and 1 min 40 s
        ("floor_outage", 3),  # 3 min 30 s
        ("ceil_outage", 4),
        ("exact_seconds", Fraction(7, 2)),
    ],
)
def test_each_way_to_count_parts_of_minutes(minute_rule, counted):
    pieces = down(day("10:00:00"), day("10:01:50")), down(day("10:02:10"), day("10:03:50"))
    found = line({"minute_rule": minute_rule}, *pieces)
    assert found.counted_minutes == counted
    assert found.availability == 1 - Fraction(counted) / 43_200


@pytest.mark.parametrize(
    ("minute_rule", "november", "december"),
    [
        ("floor_piece", 1, 1),  # 1 min 30 s and 1 min 40 s
        ("floor_outage", 2, 1),  # minutes start at 23:58:30, 23:59:30, 00:00:30
        ("ceil_outage", 2, 2),  # and 00:01:30
        ("exact_seconds", Fraction(3, 2), Fraction(5, 3)),
    ],
)
def test_a_minute_belongs_to_the_month_in_which_it_starts(minute_rule, november, december):
    incident = down(at("2026-11-30T23:58:30"), at("2026-12-01T00:01:40"))
    terms = deal({"minute_rule": minute_rule})
    lines = statement(terms, Records(incidents=[incident], units=[node()]), [NOVEMBER, NOVEMBER.plus(1)]).lines
    assert [one.counted_minutes for one in lines] == [november, december]


def test_parts_of_minutes_that_are_cut_off_are_shown_as_disregarded():
    found = line(None, down(day("10:00:00"), day("10:10:30")), down(day("11:00:00"), day("11:00:40")))
    assert (found.down_minutes, found.disregarded_minutes, found.counted_minutes) == (10, 0, 10)
    found = line({"minute_rule": "exact_seconds"}, down(day("11:00:00"), day("11:00:40")))
    assert (found.down_minutes, found.disregarded_minutes) == (Fraction(2, 3), Fraction(2, 3))


# months and zones


def test_the_month_ends_at_local_midnight():
    incident = down(at("2026-11-01T03:00"), at("2026-11-01T05:00"))  # New York is four hours behind until 06:00
    records = Records(incidents=[incident], units=[node()])
    lines = statement(deal({"zone": "America/New_York"}), records, [NOVEMBER.plus(-1), NOVEMBER]).lines
    assert [(one.window_minutes, one.counted_minutes) for one in lines] == [(44_640, 60), (43_260, 60)]


def test_a_unit_is_measured_for_its_time_in_service_only():
    first = node(in_service_from=at("2026-11-03T00:00"), in_service_to=at("2026-11-10T00:00"))
    again = node(in_service_from=at("2026-11-20T00:00"), in_service_to=at("2026-11-21T12:00"))
    incident = down(at("2026-11-09T23:00"), at("2026-11-20T01:00"))
    result = statement(deal(), Records(incidents=[incident], units=[first, again]), [NOVEMBER])
    (found,) = result.lines
    assert found.window_minutes == 8 * 1440 + 720
    assert found.counted_minutes == 120
    assert found.base == 3000 * Fraction(17, 60)
    empty = statement(deal(), Records(units=[first, again]), [NOVEMBER.plus(1)])
    assert empty.lines == ()


def test_a_change_of_fee_does_not_cut_an_outage_in_two():
    before = node(in_service_from=at("2026-10-01T00:00"), in_service_to=at("2026-11-16T00:00"))
    after = node(in_service_from=at("2026-11-16T00:00")).revise({"monthly_fee": 6000})
    incident = down(at("2026-11-15T23:58"), at("2026-11-16T00:02"))
    terms = deal({"minimum_outage_minutes": 4})
    (found,) = statement(terms, Records(incidents=[incident], units=[before, after]), [NOVEMBER]).lines
    assert (found.window_minutes, found.counted_minutes, found.base) == (43_200, 4, 4500)


def test_a_gap_in_service_is_not_down_where_gaps_between_outages_count():
    units = [node(in_service_to=day("12:00")), node(in_service_from=day("12:03"))]
    records = Records(incidents=[down(day("11:00"), day("13:00"))], units=units)
    (found,) = statement(deal({"gap_counts": True}), records, [NOVEMBER]).lines
    assert found.counted_minutes == 117


def test_a_month_fixed_at_30_days_holds_for_whole_months_and_never_gives_less_than_zero():
    terms = deal({"month_length": "fixed_30"})
    october = NOVEMBER.plus(-1)
    whole = Records(incidents=[down(at("2026-10-01T00:00"), at("2026-11-01T00:00"))], units=[node()])
    (found,) = statement(terms, whole, [october]).lines
    assert (found.window_minutes, found.counted_minutes, found.availability) == (43_200, 44_640, 0)
    part = Records(units=[node(in_service_from=at("2026-10-30T00:00"))])
    assert statement(terms, part, [october]).lines[0].window_minutes == 2880


def test_a_unit_all_of_whose_minutes_are_excluded_from_both_is_fully_available():
    hold = Window(id="h", kind="customer_hold", starts_at=at("2026-11-01T00:00"), ends_at=at("2026-12-01T00:00"))
    incident = down(at("2026-11-01T00:00"), at("2026-12-01T00:00"))
    level = {**NODES, "excluded_leave": "both"}
    records = Records(incidents=[incident], windows=[hold], units=[node()])
    (found,) = statement(deal(levels={"nodes": level}), records, [NOVEMBER]).lines
    assert (found.excluded_minutes, found.availability, found.credit.amount) == (43_200, 1, 0)


def test_a_unit_in_service_for_seconds_has_no_availability():
    records = Records(units=[node(in_service_from=at("2026-11-30T23:59:30"))])
    (found,) = statement(deal(), records, [NOVEMBER]).lines
    assert (found.window_minutes, found.availability, found.credit_fraction) == (0, None, 0)


# racks and clusters


def rolled(level: dict[str, Any], *incidents: Incident, units: list[UnitService], **sections: Any) -> Line:
    levels = {"rolled": level, **sections.pop("levels", {})}
    result = statement(deal(levels=levels, **sections), Records(incidents=incidents, units=units), [NOVEMBER])
    return next(one for one in result.lines if one.service_level == "rolled")


def tree(level: str, count: int, **more: Any) -> list[UnitService]:
    top = UnitService(unit_id="top", level=level, service="compute", monthly_fee=Decimal(9000))
    return [top, *(node(f"n{i}", parent_id="top", **more) for i in range(1, count + 1))]


CLUSTER = {"level": "cluster", "target": "0.999", "nodes_needed_share": "0.5", "credit": BANDS}


def test_a_cluster_is_also_down_as_a_whole_and_a_minute_counts_once():
    own = down(day("12:00"), day("13:00"), "top", level="cluster")
    nodes = [down(day("11:30"), day("12:30"), f"n{i}") for i in (1, 2, 3)]
    found = rolled(CLUSTER, own, *nodes, units=tree("cluster", 4))
    assert found.counted_minutes == 90
    emitted = {step.paragraph for step in found.steps}
    assert {"cluster-availability.k-of-n", "cluster-availability.whole", "cluster-availability.overlap"} <= emitted


def test_nodes_that_join_change_the_number_needed_from_that_minute():
    units = [*tree("cluster", 2), node("n3", parent_id="top", in_service_from=day("12:00"))]
    found = rolled(CLUSTER, down(day("11:00"), day("13:00")), units=units)
    # one of two up is enough until 12:00; two of three are up after it
    assert found.counted_minutes == 0
    found = rolled({**CLUSTER, "nodes_needed_share": "0.6"}, down(day("11:00"), day("13:00")), units=units)
    assert found.counted_minutes == 60  # ceil(1.2) = 2 of 2, then ceil(1.8) = 2 of 3


def test_a_node_that_is_not_yet_in_service_lowers_n_and_not_k():
    level = {"level": "rack", "target": "0.999", "k": 2, "n": 3, "credit": BANDS}
    units = [*tree("rack", 2), node("n3", parent_id="top", in_service_from=day("12:00"))]
    found = rolled(level, down(day("11:00"), day("13:00")), units=units)
    assert found.counted_minutes == 60
    (step,) = [s for s in found.steps if s.paragraph == "domain-availability.not-in-service"]
    assert step.result == ((2, 2), (3, 2))


def test_excluded_downtime_of_a_node_leaves_the_rack_up():
    level = {"level": "rack", "target": "0.999", "k": 2, "n": 2, "credit": BANDS}
    hold = Window(id="h", kind="customer_hold", starts_at=day("11:00"), ends_at=day("11:40"), unit_ids=("n1",))
    records = Records(incidents=[down(day("11:00"), day("12:00"))], windows=[hold], units=tree("rack", 2))
    (found,) = statement(deal(levels={"rolled": level}), records, [NOVEMBER]).lines
    assert (found.down_minutes, found.excluded_minutes, found.counted_minutes) == (20, 0, 20)


def test_work_over_its_hours_at_the_nodes_is_not_excluded_again_for_their_cluster():
    work = Window(id="w", kind="scheduled", starts_at=day("00:00"), ends_at=day("12:00"), notice_id="n")
    records = Records(
        incidents=[down(day("00:00"), day("12:00"), f"n{i}", state="planned") for i in (1, 2, 3)],
        windows=[work],
        notices=[Notice(id="n", kind="maintenance", sent_at=at("2026-10-01T00:00"))],
        units=tree("cluster", 3),
    )
    exclusions = {"scheduled": {"cap_unit_month_hours": 8}}
    (found,) = statement(deal(levels={"rolled": CLUSTER}, exclusions=exclusions), records, [NOVEMBER]).lines
    assert (found.excluded_minutes, found.counted_minutes) == (0, 240)


def test_nodes_are_rolled_up_with_the_counting_rules_of_their_own_level():
    levels = {"nodes": {**NODES, "measurement": {"minimum_outage_minutes": 30}}}
    level = {**CLUSTER, "nodes_needed_share": "1"}
    found = rolled(level, down(day("11:00"), day("11:20")), units=tree("cluster", 2), levels=levels)
    assert found.counted_minutes == 0
    levels["others"] = NODES
    with pytest.raises(NotComputedError, match=r"which of the counting rules of nodes and others"):
        rolled(level, down(day("11:00"), day("11:20")), units=tree("cluster", 2), levels=levels)


def test_a_rack_must_list_every_node_it_holds():
    level = {"level": "rack", "target": "0.999", "k": 2, "n": 3, "credit": BANDS}
    with pytest.raises(DealError, match=r"2 nodes of 'top' on record; expected n = 3"):
        rolled(level, units=tree("rack", 2))


def test_a_cluster_without_nodes_on_record_is_measured_by_its_own_incidents():
    units = tree("cluster", 0)
    result = statement(
        deal(levels={"c": CLUSTER}),
        Records(incidents=[down(day("11:00"), day("12:00"), "top", level="cluster")], units=units),
        [NOVEMBER],
    )
    assert result.lines[0].counted_minutes == 60
    assert any("no nodes of top are on record" in note for note in result.notes)


# monitors


def test_time_without_a_reading_is_shown_and_not_down():
    silent = down(day("09:00"), day("10:30"), state="unknown", id="s")
    found = line(None, silent, down(day("10:00"), day("11:00")))
    assert (found.unknown_minutes, found.counted_minutes) == (60, 60)


def test_a_second_monitor_may_speak_while_the_first_is_silent():
    silent = down(day("09:00"), day("12:00"), state="unknown", id="s", monitor_id="a")
    other = down(day("10:00"), day("11:00"), monitor_id="b")
    assert line(None, silent, other).counted_minutes == 60
    with pytest.raises(NotComputedError, match=r"measurement\.monitor_fallback"):
        line({"monitor_fallback": False}, silent, other)


def test_two_monitors_that_differ_are_refused_and_two_that_agree_are_not():
    first = down(day("10:00"), day("11:00"), monitor_id="a", id="1")
    same = down(day("10:00"), day("11:00"), monitor_id="b", id="2")
    longer = down(day("10:00"), day("11:30"), monitor_id="b", id="2")
    assert line(None, first, same).counted_minutes == 60
    with pytest.raises(NotComputedError, match=r"measurement\.conflict: which of the monitors 'a' and 'b'"):
        line(None, first, longer)


def test_time_without_a_reading_needs_no_notice_to_be_shown():
    silent = down(day("09:00"), day("10:30"), state="unknown")
    assert line({"starts_at": "customer_notice"}, silent).unknown_minutes == 90


# records that contradict each other


def test_records_that_contradict_each_other_are_refused_all_at_once():
    records = Records(
        incidents=[down(day("10:00"), day("11:00"), level="rack")],
        units=[node(in_service_from=at("2026-11-01T00:00")), node("n2")],
    )
    terms = deal(
        services={"other": {"tranches": ["t"]}}, delivery={"tranches": {"t": {"ready_for_service_date": "2026-01-01"}}}
    )
    with pytest.raises(DealError, match=r"'node', the level of that unit") as refused:
        statement(terms, records, [NOVEMBER])
    paths = [problem.path for problem in refused.value.problems]
    assert paths == ["incidents[n1 2026-11-05 10:00:00+00:00].level", "units[n1].service", "units[n2].service"]


def test_stretches_of_service_of_one_unit_do_not_overlap():
    units = [node(in_service_to=at("2026-11-10T00:00")), node(in_service_from=at("2026-11-09T00:00"))]
    with pytest.raises(DealError, match=r"units\[n1\]\.in_service_from"):
        statement(deal(), Records(units=units), [NOVEMBER])


def test_units_that_contain_each_other_in_a_circle_are_refused():
    units = [node("a", parent_id="b"), node("b", parent_id="a")]
    with pytest.raises(DealError, match=r"a in b in a"):
        statement(deal(), Records(units=units), [NOVEMBER])


def test_a_statement_needs_units_periods_and_a_currency():
    with pytest.raises(MissingTermError, match=r"^units: missing"):
        statement(deal(), Records(), [NOVEMBER])
    with pytest.raises(DealError, match=r"periods: found none; expected at least one"):
        statement(deal(), Records(units=[node()]), [])
    with pytest.raises(DealError, match=r"a time with its offset"):
        statement(deal(), Records(units=[node()]), [NOVEMBER], as_of=datetime(2026, 11, 1))  # noqa: DTZ001
    with pytest.raises(MissingTermError, match=r"commercial\.currency"):
        statement(deal(commercial=None), Records(units=[node()]), [NOVEMBER])


def test_incidents_that_count_nowhere_are_named():
    site = UnitService(unit_id="s", level="site", service="compute", monthly_fee=1)
    records = Records(
        incidents=[down(day("10:00"), day("11:00"), "ghost"), down(day("10:00"), day("11:00"), "s", level="site")],
        units=[node(), site],
    )
    result = statement(deal(), records, [NOVEMBER])
    assert result.lines[0].down_minutes == 0
    assert any("Incidents of ghost are left out" in note for note in result.notes)
    assert any("Incidents of s count for no line" in note for note in result.notes)
