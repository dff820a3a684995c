"""What does not count: notice, announced times, allowances, causes, force majeure, overlaps."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from risk.contract_rules.exclusion_ledger import ExclusionRow, exclusion_ledger
from risk.contract_rules.register import Register
from risk.contract_rules.statement import Line, Records, Statement, statement
from schemas.deal import Deal
from schemas.errors import MissingTermError, NotComputedError
from schemas.incidents import Evidence, Incident, Notice, UnitService, Window
from schemas.periods import Month

NOVEMBER = Month(2026, 11)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def deal(exclusions: dict[str, Any] | None = None, **sections: Any) -> Deal:
    bands = {"bands": [{"below": "0.999", "credit_fraction": "0.1"}]}
    return Deal.model_validate(
        {
            "schema_version": 1,
            "service_levels": {"nodes": {"level": "node", "target": "0.999", "credit": bands}},
            "exclusions": exclusions or {},
            "commercial": {"currency": "USD", "charges": {}, "term": {"months": 12}},
            **sections,
        }
    )


def node(name: str = "n1", **more: Any) -> UnitService:
    return UnitService(unit_id=name, level="node", service="compute", monthly_fee=Decimal(43_200), **more)


def down(start: str, end: str, unit: str = "n1", **more: Any) -> Incident:
    more = {"id": f"{unit} {start}", **more}
    return Incident(level="node", unit_id=unit, started_at=at(start), ended_at=at(end), **more)


def window(kind: str, start: str, end: str, **more: Any) -> Window:
    more = {"id": f"{kind} {start}", "notice_id": "n", **more}
    return Window(kind=kind, starts_at=at(start), ends_at=at(end), **more)


def notice(sent: str, **more: Any) -> Notice:
    return Notice(id="n", kind="maintenance", sent_at=at(sent), **more)


def result(
    terms: Deal,
    incidents: list[Incident],
    windows: list[Window],
    notices: list[Notice] | None = None,
    units: list[UnitService] | None = None,
    periods: list[Month] | None = None,
) -> Statement:
    records = Records(incidents, windows, notices or [], units or [node()])
    return statement(terms, records, periods or [NOVEMBER])


def excluded(*arguments: Any, **more: Any) -> object:
    return result(*arguments, **more).lines[0].excluded_minutes


def steps(line: Line, paragraph: str) -> list[Any]:
    return [step for step in line.steps if step.paragraph == paragraph]


OUTAGE = [down("2026-11-10T02:00", "2026-11-10T06:00")]
WORK = [window("scheduled", "2026-11-10T02:00", "2026-11-10T06:00")]


# scheduled maintenance


@pytest.mark.parametrize(
    ("sent", "partial_notice", "minutes"),
    [
        ("2026-11-03T02:00", "void", 240),  # seven days to the minute
        ("2026-11-03T02:01", "void", 0),
        ("2026-11-03T03:00", "late_part_counts", 180),
        ("2026-11-04T02:00", "late_part_counts", 0),
    ],
)
def test_late_notice_makes_the_work_count(sent, partial_notice, minutes):
    terms = deal({"scheduled": {"notice_days": 7, "partial_notice": partial_notice}})
    assert excluded(terms, OUTAGE, WORK, [notice(sent)]) == minutes


def test_days_of_notice_are_counted_at_the_same_time_of_day_where_clocks_change():
    # New York puts clocks back on 1 November: seven days before 02:00 there on the 5th are 169 hours
    terms = deal(measurement={"zone": "America/New_York"})
    outage = [down("2026-11-05T07:00", "2026-11-05T09:00")]
    work = [window("scheduled", "2026-11-05T07:00", "2026-11-05T09:00")]
    assert excluded(terms, outage, work, [notice("2026-10-29T06:00")]) == 120
    assert excluded(terms, outage, work, [notice("2026-10-29T06:30")]) == 0


def test_work_without_a_notice_or_for_a_unit_that_the_notice_does_not_name_counts():
    line = result(deal(), OUTAGE, WORK).lines[0]
    assert line.excluded_minutes == 0
    assert steps(line, "scheduled-maintenance.notice")[0].inputs["found"] == "no notice on record"
    other = notice("2026-11-01T00:00", unit_ids=("n2",))
    assert excluded(deal(), OUTAGE, WORK, [other]) == 0
    assert (
        excluded(deal(), OUTAGE, [window("scheduled", "2026-11-10T02:00", "2026-11-10T06:00", unit_ids=("n2",))]) == 0
    )


def test_a_window_that_names_a_rack_covers_its_nodes():
    units = [node(parent_id="rack-1"), node("n2", parent_id="rack-2")]
    outages = [*OUTAGE, down("2026-11-10T02:00", "2026-11-10T06:00", "n2")]
    work = [window("scheduled", "2026-11-10T02:00", "2026-11-10T06:00", unit_ids=("rack-1",))]
    sent = notice("2026-11-01T00:00", unit_ids=("rack-1",))
    lines = result(deal(), outages, work, [sent], units).lines
    assert [line.excluded_minutes for line in lines] == [240, 0]


def test_work_outside_the_announced_times_and_repair_after_them_count():
    sent = notice("2026-11-01T00:00", covers_from=at("2026-11-10T03:00"), covers_to=at("2026-11-10T05:30"))
    line = result(deal(), OUTAGE, WORK, [sent]).lines[0]
    assert line.excluded_minutes == 150
    assert steps(line, "scheduled-maintenance.overrun")
    assert steps(line, "excluded-downtime.while-it-lasts")


def test_the_step_of_an_allowance_says_that_its_minutes_are_those_excluded():
    terms = deal({"scheduled": {"cap_unit_month_hours": "1"}})
    (step,) = steps(result(terms, OUTAGE, WORK, [notice("2026-11-01T00:00")]).lines[0], "scheduled-maintenance.cap")
    assert step.result == 60  # of 240; the other 180 count
    assert step.rule.startswith("at most 1 hours of one unit in the month from 2026-11-01 on may be excluded")
    assert step.rule.endswith("; excluded")


def test_the_allowance_of_a_month_starts_anew_at_local_midnight():
    terms = deal({"scheduled": {"cap_unit_month_hours": "1"}}, measurement={"zone": "America/New_York"})
    outage = [down("2026-12-01T02:00", "2026-12-01T08:00")]  # 21:00 to 03:00 in New York
    work = [window("scheduled", "2026-12-01T02:00", "2026-12-01T08:00")]
    lines = result(terms, outage, work, [notice("2026-11-01T00:00")], periods=[NOVEMBER, NOVEMBER.plus(1)]).lines
    assert [(one.excluded_minutes, one.counted_minutes) for one in lines] == [(60, 120), (60, 120)]


def test_too_many_slots_under_work_at_once_is_said():
    terms = deal({"scheduled": {"max_concurrent_fraction": "0.5"}})
    units = [node(f"n{i}") for i in (1, 2, 3)]
    outages = [down("2026-11-10T02:00", "2026-11-10T06:00", f"n{i}") for i in (1, 2)]
    sent = notice("2026-11-01T00:00")
    found = result(terms, outages, WORK, [sent], units)
    (check,) = found.checks
    assert (check.result, check.inputs["greatest_share"]) == (False, Fraction(2, 3))
    (note,) = [note for note in found.notes if "66.7% of the slots" in note]
    assert "not more than 50.0% are allowed (scheduled-maintenance.at-once): the promise was not kept" in note
    assert check.paragraph == "scheduled-maintenance.at-once"
    assert result(terms, outages[:1], WORK, [sent], units).checks[0].result


# emergency maintenance


def test_emergency_work_needs_its_hours_of_notice():
    terms = deal({"emergency": {"min_notice_hours": "2"}})
    work = [window("emergency", "2026-11-10T02:00", "2026-11-10T06:00")]
    assert excluded(terms, OUTAGE, work, [notice("2026-11-10T00:00")]) == 240
    assert excluded(terms, OUTAGE, work, [notice("2026-11-10T00:01")]) == 0


def test_emergency_work_without_terms_is_refused():
    work = [window("emergency", "2026-11-10T02:00", "2026-11-10T06:00")]
    with pytest.raises(MissingTermError, match=r"exclusions\.emergency: missing"):
        result(deal(), OUTAGE, work, [notice("2026-11-01T00:00")])


# the list, causes, overlaps


def test_a_head_that_is_not_on_the_list_counts_and_an_open_list_is_refused():
    hold = [window("customer_hold", "2026-11-10T02:00", "2026-11-10T06:00")]
    assert excluded(deal({"heads": ["scheduled"]}), OUTAGE, hold) == 0
    with pytest.raises(NotComputedError, match=r"exclusions\.open_ended"):
        result(deal({"heads": ["scheduled"], "open_ended": True}), OUTAGE, hold)


@pytest.mark.parametrize("head", ["customer_hold", "suspension", "test_at_customer_request"])
def test_heads_that_excuse_a_time_do_not_ask_for_its_cause(head):
    outage = [down("2026-11-10T02:00", "2026-11-10T06:00", cause_party="provider")]
    assert excluded(deal(), outage, [window(head, "2026-11-10T02:00", "2026-11-10T04:00")]) == 120


@pytest.mark.parametrize(
    ("party", "concurrent", "minutes"),
    [
        ("customer", "excluded_only_if_sole", 240),
        ("unknown", "excluded_only_if_sole", 240),  # the window itself is the proof
        ("provider", "excluded_only_if_sole", 0),
        ("third_party", "excluded_only_if_sole", 0),
        ("provider", "excluded_if_any", 240),
    ],
)
def test_another_cause_takes_the_excuse_away_where_only_a_sole_cause_excuses(party, concurrent, minutes):
    outage = [down("2026-11-10T02:00", "2026-11-10T06:00", cause_party=party)]
    act = [window("customer_act", "2026-11-10T02:00", "2026-11-10T06:00")]
    line = result(deal({"concurrent": concurrent}), outage, act).lines[0]
    assert line.excluded_minutes == minutes
    assert bool(steps(line, "excluded-downtime.concurrent")) == (party in ("provider", "third_party"))


def test_only_the_stretch_with_another_cause_counts():
    outages = [
        down("2026-11-10T02:00", "2026-11-10T06:00", cause_party="customer"),
        down("2026-11-10T05:00", "2026-11-10T07:00", cause_party="provider", id="p"),
    ]
    act = [window("customer_act", "2026-11-10T02:00", "2026-11-10T07:00")]
    assert excluded(deal(), outages, act) == 180


def test_a_minute_under_two_heads_uses_up_no_allowance_that_it_does_not_need():
    exclusions = {
        "scheduled": {"cap_unit_month_hours": "1"},
        "emergency": {"min_notice_hours": "0", "cap_quarter_hours": "1"},
    }
    sent = [notice("2026-11-01T00:00")]
    urgent = window("emergency", "2026-11-10T02:00", "2026-11-10T06:00")
    hold = window("customer_hold", "2026-11-10T02:00", "2026-11-10T03:00")
    # the hold takes the first hour, scheduled work the second, emergency work the third
    line = result(deal(exclusions), OUTAGE, [urgent, *WORK, hold], sent).lines[0]
    assert (line.excluded_minutes, line.counted_minutes) == (180, 60)
    assert len(steps(line, "excluded-downtime.overlaps")) == 3
    assert result(deal(exclusions), OUTAGE, [urgent, *WORK], sent).lines[0].excluded_minutes == 120


# force majeure


def storm(start: str = "2026-11-10T00:00", end: str = "2026-11-12T00:00", **more: Any) -> list[Window]:
    return [window("force_majeure", start, end, event="natural_disaster_beyond_design_basis", **more)]


TWO_DAYS = [down("2026-11-10T00:00", "2026-11-12T00:00", cause_party="third_party")]


def test_relief_reaches_back_three_days_before_the_notice_at_most():
    assert excluded(deal(), TWO_DAYS, storm(), [notice("2026-11-12T00:00")]) == 2880
    assert excluded(deal(), TWO_DAYS, storm(), [notice("2026-11-14T00:00")]) == 1440
    assert excluded(deal(), TWO_DAYS, storm(), [notice("2026-11-20T00:00")]) == 0
    assert excluded(deal(), TWO_DAYS, storm()) == 0


def test_a_notice_sent_after_the_statement_is_not_known():
    records = Records(TWO_DAYS, storm(), [notice("2026-11-12T00:00")], [node()])
    for as_of, minutes in (("2026-11-11T00:00", 0), ("2026-11-12T00:00", 2880)):
        (line,) = statement(deal(), records, [NOVEMBER], as_of=at(as_of)).lines
        assert line.excluded_minutes == minutes


def test_an_event_must_be_on_the_list_and_not_on_that_of_what_never_counts():
    sent = [notice("2026-11-10T00:00")]
    attack = [window("force_majeure", "2026-11-10T00:00", "2026-11-12T00:00", event="cyber_attack")]
    assert excluded(deal(), TWO_DAYS, attack, sent) == 0
    listed = {"force_majeure": {"events": ["cyber_attack"]}}
    assert excluded(deal(listed), TWO_DAYS, attack, sent) == 0
    listed["force_majeure"]["never"] = []
    assert excluded(deal(listed), TWO_DAYS, attack, sent) == 2880


def test_a_cause_that_is_never_force_majeure_is_not_excused_by_a_storm():
    sent = [notice("2026-11-10T00:00")]
    own = [down("2026-11-10T00:00", "2026-11-12T00:00", cause="own_operating_error", cause_party="third_party")]
    for concurrent in ("excluded_only_if_sole", "excluded_if_any"):
        assert excluded(deal({"concurrent": concurrent}), own, storm(), sent) == 0


@pytest.mark.parametrize(("fee_during", "base"), [("abates", 43_200 - 2880), ("continues", 43_200)])
def test_fees_stop_while_force_majeure_keeps_a_unit_down_or_do_not(fee_during, base):
    outages = [*TWO_DAYS, down("2026-11-20T00:00", "2026-11-20T10:00")]
    terms = deal({"force_majeure": {"fee_during": fee_during}})
    line = result(terms, outages, storm(), [notice("2026-11-10T00:00")]).lines[0]
    assert (line.excluded_minutes, line.counted_minutes, line.base) == (2880, 600, base)
    assert line.credit.amount == Decimal(base) / 10


def test_prolonged_force_majeure_gives_a_right_while_the_unit_is_down():
    terms = deal({"force_majeure": {"max_consecutive_days": 10, "max_days_in_180": 15}})
    outages = [
        down("2026-07-01T00:00", "2026-07-08T00:00", cause_party="third_party"),
        down("2026-10-01T00:00", "2026-10-12T12:00", cause_party="third_party"),
    ]
    windows = [*storm("2026-07-01T00:00", "2026-07-08T00:00"), *storm("2026-10-01T00:00", "2026-10-12T12:00")]
    sent = [notice("2026-07-01T00:00")]
    found = result(terms, outages, windows, sent, [node(in_service_from=at("2026-01-01T00:00"))], [Month(2026, 10)])
    by_form = {right.form: right for right in found.rights}
    assert by_form["consecutive_days"].arises == at("2026-10-11T00:00")
    assert by_form["days_in_180"].arises == at("2026-10-09T00:00")  # seven days and eight
    assert by_form["consecutive_days"].exercise_by == at("2026-10-12T12:00")
    assert {right.unit for right in found.rights} == {"n1"}


def test_force_majeure_of_exactly_the_days_gives_no_right():
    outages = [down("2026-07-01T00:00", "2026-07-11T00:00", cause_party="third_party")]
    windows, sent = storm("2026-07-01T00:00", "2026-07-11T00:00"), [notice("2026-07-01T00:00")]
    for days, rights in ((10, 0), (9, 2)):
        terms = deal({"force_majeure": {"max_consecutive_days": days, "max_days_in_180": days}})
        assert len(result(terms, outages, windows, sent, periods=[Month(2026, 7)]).rights) == rights


def test_days_of_force_majeure_leave_the_count_after_180_days():
    terms = deal({"force_majeure": {"max_consecutive_days": 100, "max_days_in_180": 15}})
    outages = [
        down("2026-01-01T00:00", "2026-01-08T00:00", cause_party="third_party"),
        down("2026-07-04T00:00", "2026-07-20T12:00", cause_party="third_party"),
    ]
    windows = [*storm("2026-01-01T00:00", "2026-01-08T00:00"), *storm("2026-07-04T00:00", "2026-07-20T12:00")]
    units = [node(in_service_from=at("2026-01-01T00:00"))]
    found = result(terms, outages, windows, [notice("2026-01-01T00:00")], units, [Month(2026, 7)])
    (right,) = found.rights
    # on 7 July the last of January has left the 180 days, so fifteen days are full on 19 July
    assert right.arises == at("2026-07-19T00:00")


def test_windows_on_record_are_taken_as_proved_and_what_they_name_is_checked():
    terms = deal({"scheduled": {"windows": "Tuesdays"}})
    work = [window("scheduled", "2026-11-10T02:00", "2026-11-10T06:00", notice_id="gone", unit_ids=("ghost",))]
    notes = result(terms, OUTAGE, work).notes
    assert any("taken as proved" in note for note in notes)
    assert any("Notices gone" in note for note in notes)
    assert any("Windows name ghost" in note for note in notes)
    assert any("(Tuesdays) was not checked" in note for note in notes)


# recovery after a window


@pytest.mark.parametrize(
    ("grace", "until", "minutes"),
    [
        ("0", "2026-11-10T09:00", 240),
        ("2", "2026-11-10T09:00", 360),  # four hours and two of the three that follow
        ("2", "2026-11-10T07:00", 300),  # the unit is back after one
        ("2", "2026-11-10T06:00", 240),  # back with the end of the window: nothing to recover
    ],
)
def test_time_to_bring_the_unit_back_is_excluded_up_to_the_grace(grace, until, minutes):
    terms = deal({"recovery_grace_hours": grace})
    hold = [window("customer_hold", "2026-11-10T02:00", "2026-11-10T06:00")]
    assert excluded(terms, [down("2026-11-10T02:00", until)], hold) == minutes


def test_an_outage_that_starts_after_the_window_has_no_grace():
    terms = deal({"recovery_grace_hours": "4"})
    hold = [window("customer_hold", "2026-11-10T02:00", "2026-11-10T06:00")]
    for start in ("2026-11-10T06:00", "2026-11-10T06:30"):
        assert excluded(terms, [down(start, "2026-11-10T08:00")], hold) == 0


def test_work_that_overran_its_announced_end_has_no_grace_and_grace_uses_up_the_allowance():
    terms = deal({"recovery_grace_hours": "4", "scheduled": {"cap_unit_month_hours": "5"}})
    outage = [down("2026-11-10T02:00", "2026-11-10T09:00")]
    over = notice("2026-11-01T00:00", covers_to=at("2026-11-10T04:00"))
    assert excluded(terms, outage, WORK, [over]) == 120
    assert excluded(terms, outage, WORK, [notice("2026-11-01T00:00")]) == 300  # four of work, one of three to recover


# allowances of the year and of the cluster


def test_the_hours_of_the_year_run_over_all_heads_and_start_anew_with_the_contract_year():
    terms = deal({"year_cap_hours": "6"})
    outages = [
        down("2026-11-10T02:00", "2026-11-10T06:00"),
        down("2026-11-20T02:00", "2026-11-20T06:00"),
        down("2026-12-05T02:00", "2026-12-05T03:00"),
        down("2027-03-05T02:00", "2027-03-05T03:00"),
    ]
    windows = [
        window("scheduled", "2026-11-10T02:00", "2026-11-10T06:00"),
        window("customer_hold", "2026-11-20T02:00", "2026-11-20T06:00"),
        window("customer_hold", "2026-12-05T02:00", "2026-12-05T03:00"),
        window("customer_hold", "2027-03-05T02:00", "2027-03-05T03:00"),
    ]
    units = [node(in_service_from=at("2026-03-01T00:00"))]
    periods = [NOVEMBER, Month(2026, 12), Month(2027, 3)]
    lines = result(terms, outages, windows, [notice("2026-11-01T00:00")], units, periods).lines
    assert [line.excluded_minutes for line in lines] == [360, 0, 60]
    (step,) = {step.result for step in steps(lines[0], "excluded-downtime.year-cap")}
    assert step == 360


def test_the_hours_of_a_cluster_are_those_in_which_any_of_its_units_is_taken():
    # rolling work: each node has two hours of its own, six hours in all, four may be excluded in the quarter
    units = [
        UnitService(unit_id="c", level="cluster", service="compute", monthly_fee=Decimal(0)),
        *(node(f"n{i}", parent_id="c") for i in (1, 2, 3)),
        node("n9", parent_id="elsewhere"),
    ]
    hours = {"n1": (2, 4), "n2": (3, 5), "n3": (5, 7), "n9": (6, 8)}
    outages = [down(f"2026-11-10T0{a}:00", f"2026-11-10T0{b}:00", name) for name, (a, b) in hours.items()]
    windows = [
        window("scheduled", f"2026-11-10T0{a}:00", f"2026-11-10T0{b}:00", id=name, unit_ids=(name,))
        for name, (a, b) in hours.items()
    ]
    sent = [notice("2026-11-01T00:00")]

    def minutes(cap: str | None) -> list[object]:
        terms = deal({"scheduled": {"cap_cluster_quarter_hours": cap}})
        return [line.excluded_minutes for line in result(terms, outages, windows, sent, units).lines]

    assert minutes(None) == [120, 120, 120, 120]
    assert minutes("4") == [120, 120, 60, 120]  # 02:00 to 06:00; n9 stands in no cluster of these
    assert minutes("2") == [120, 60, 0, 120]


def test_the_hours_of_a_cluster_are_renewed_with_the_quarter():
    terms = deal({"scheduled": {"cap_cluster_quarter_hours": "1"}})
    days = ("2026-09-30T02:00", "2026-09-30T04:00"), ("2026-10-02T02:00", "2026-10-02T04:00")
    outages = [down(*day) for day in days]
    windows = [window("scheduled", *day) for day in days]
    units = [node(in_service_from=at("2026-01-01T00:00"))]
    sent = [notice("2026-09-01T00:00")]
    lines = result(terms, outages, windows, sent, units, [Month(2026, 9), Month(2026, 10)]).lines
    assert [line.excluded_minutes for line in lines] == [60, 60]


def test_work_on_a_cluster_whose_nodes_are_rolled_up_is_held_against_its_hours():
    levels = {
        "nodes": {
            "level": "node",
            "target": "0.999",
            "credit": {"bands": [{"below": "0.999", "credit_fraction": "1"}]},
        },
        "cluster": {
            "level": "cluster",
            "target": "0.999",
            "nodes_needed_share": "1",
            "credit": {"bands": [{"below": "0.999", "credit_fraction": "1"}]},
        },
    }
    terms = deal({"scheduled": {"cap_cluster_quarter_hours": "3"}}, service_levels=levels)
    units = [UnitService(unit_id="c", level="cluster", service="compute", monthly_fee=Decimal(9)), node(parent_id="c")]
    outages = [
        *OUTAGE,
        Incident(
            id="c", level="cluster", unit_id="c", started_at=at("2026-11-10T02:00"), ended_at=at("2026-11-10T06:00")
        ),
    ]
    lines = result(terms, outages, WORK, [notice("2026-11-01T00:00")], units).lines
    # the node's last hour counts, and with it the cluster is down for that hour
    assert [(line.unit, line.excluded_minutes, line.counted_minutes) for line in lines] == [
        ("n1", 180, 60),
        ("c", 180, 60),
    ]


# stale fixes and reports


@pytest.mark.parametrize(
    ("published", "minutes"),
    [
        (None, 60),  # danger of damage, no fix
        ("2026-10-11T02:00", 60),  # thirty days to the minute
        ("2026-10-11T01:59", 0),
    ],
)
def test_a_fix_that_was_public_for_too_long_is_no_emergency(published, minutes):
    terms = deal({"emergency": {"min_notice_hours": "2", "stale_patch_days": 30}})
    work = window(
        "emergency",
        "2026-11-10T02:00",
        "2026-11-10T03:00",
        fix_published_at=at(published) if published else None,
    )
    assert (
        excluded(terms, [down("2026-11-10T02:00", "2026-11-10T03:00")], [work], [notice("2026-11-09T12:00")]) == minutes
    )


def report(received: str, **more: Any) -> Notice:
    more = {"kind": "root_cause_report", "unit_ids": ("n1",), **more}
    return Notice(id="report", sent_at=at(received), received_at=at(received), **more)


@pytest.mark.parametrize(
    ("sent", "minutes"),
    [
        ([], 0),
        ([report("2026-11-20T23:59")], 240),  # ten days after the tenth end with the twentieth
        ([report("2026-11-21T00:00")], 0),
        ([report("2026-11-12T00:00", unit_ids=("n2",))], 0),
        ([report("2026-11-12T00:00", kind="maintenance")], 0),
        ([report("2026-11-12T00:00", covers_from=at("2026-11-10T03:00"))], 0),  # not on all of it
        ([report("2026-11-12T00:00", covers_from=at("2026-11-10T02:00"), covers_to=at("2026-11-10T06:00"))], 240),
        ([report("2026-11-10T01:00")], 0),  # before it happened
    ],
)
def test_an_excluded_outage_without_a_report_in_time_counts(sent, minutes):
    hold = [window("customer_hold", "2026-11-10T02:00", "2026-11-10T06:00")]
    assert excluded(deal({"report_days": 10}), OUTAGE, hold, sent) == minutes
    assert excluded(deal(), OUTAGE, hold, sent) == 240


def test_a_report_that_can_still_come_is_not_missing():
    terms, hold = deal({"report_days": 10}), [window("customer_hold", "2026-11-10T02:00", "2026-11-10T06:00")]
    records = Records(OUTAGE, hold, [], [node()])
    for as_of, minutes in (("2026-11-20T23:00", 240), ("2026-11-21T00:00", 0)):
        assert statement(terms, records, [NOVEMBER], at(as_of)).lines[0].excluded_minutes == minutes


# the ledger


def ledger(
    terms: Deal, incidents: list[Incident], windows: list[Window], notices: list[Notice] | None = None, unit: str = "n1"
) -> tuple[ExclusionRow, ...]:
    register = Register(terms, Records(incidents, windows, notices or [], [node()]), [NOVEMBER])
    return exclusion_ledger(register, register.tree.units[unit], "nodes", NOVEMBER)


def told(rows: tuple[ExclusionRow, ...]) -> list[tuple[object, ...]]:
    return [(row.start.hour, row.minutes, row.window, row.reason or "excluded", row.paragraph) for row in rows]


def test_each_refused_minute_has_its_reason():
    outage = [down("2026-11-10T00:00", "2026-11-10T12:00", cause_party="provider")]
    windows = [
        window("scheduled", "2026-11-10T00:00", "2026-11-10T03:00", id="a"),
        window("scheduled", "2026-11-10T03:00", "2026-11-10T04:00", id="b", notice_id="gone"),
        window("scheduled", "2026-11-10T04:00", "2026-11-10T05:00", id="c", notice_id="late"),
        window("customer_act", "2026-11-10T05:00", "2026-11-10T06:00", id="d"),
        window("suspension", "2026-11-10T06:00", "2026-11-10T07:00", id="e"),
        window("customer_hold", "2026-11-10T07:00", "2026-11-10T08:00", id="f"),
        window("force_majeure", "2026-11-10T08:00", "2026-11-10T09:00", id="g", event="cyber_attack"),
        window("emergency", "2026-11-10T09:00", "2026-11-10T10:00", id="h", fix_published_at=at("2026-01-01T00:00")),
        window("emergency", "2026-11-10T10:00", "2026-11-10T11:00", id="i"),
    ]
    sent = [
        notice("2026-11-01T00:00", covers_to=at("2026-11-10T02:00")),
        Notice(id="late", kind="maintenance", sent_at=at("2026-11-09T00:00")),
    ]
    terms = deal(
        {
            "heads": ["scheduled", "emergency", "force_majeure", "customer_act", "customer_hold"],
            "scheduled": {"cap_unit_month_hours": "1"},
            "emergency": {"min_notice_hours": "2", "stale_patch_days": 30},
        }
    )
    rows = ledger(terms, outage, windows, sent)
    assert told(rows) == [
        (0, 60, "a", "excluded", "scheduled-maintenance.notice"),
        (1, 60, "a", "over the allowance", "scheduled-maintenance.cap"),
        (2, 60, "a", "outside the announced time", "scheduled-maintenance.overrun"),
        (3, 60, "b", "no notice", "scheduled-maintenance.notice"),
        (4, 60, "c", "late notice", "scheduled-maintenance.late"),
        (5, 60, "d", "other cause", "excluded-downtime.concurrent"),
        (6, 60, "e", "not on the list", "excluded-downtime.closed-list"),
        (7, 60, "f", "excluded", "customer-responsibilities.hold"),
        (8, 60, "g", "no listed event", "force-majeure.never"),
        (9, 60, "h", "stale fix", "emergency-maintenance.stale"),
        (10, 60, "i", "outside the announced time", "emergency-maintenance.notice"),
    ]
    assert [row.notice for row in rows[:5]] == ["n", "n", "n", "gone", "late"]


def test_a_row_shows_the_lines_of_the_log_behind_its_window():
    line = Evidence(file="tickets.csv", line=7, text="hold from 02:00 to 06:00")
    hold = [window("customer_hold", "2026-11-10T02:00", "2026-11-10T06:00", evidence=(line,))]
    assert [str(e) for row in ledger(deal(), OUTAGE, hold) for e in row.evidence] == ["tickets.csv:7"]


def test_rows_of_one_piece_share_its_whole_minutes():
    # the hour that changes hands at 03:00:30 is not cut down twice: 60 and 180, not 60 and 179
    half = timedelta(seconds=30)
    windows = [
        Window(id="a", kind="customer_hold", starts_at=at("2026-11-10T02:00"), ends_at=at("2026-11-10T03:00") + half),
        Window(id="b", kind="suspension", starts_at=at("2026-11-10T03:00") + half, ends_at=at("2026-11-10T06:00")),
    ]
    rows = ledger(deal(), OUTAGE, windows)
    assert [(row.window, row.minutes) for row in rows] == [("a", 60), ("b", 180)]
    assert excluded(deal(), OUTAGE, windows) == 240


moments = st.sampled_from([at("2026-10-30T00:00") + timedelta(seconds=1237 * i) for i in range(350)])  # five days
lengths = st.sampled_from([timedelta(seconds=2203 * i + 1) for i in range(45)])  # up to a day
KINDS = ("scheduled", "emergency", "customer_hold", "customer_act", "suspension", "force_majeure")


@st.composite
def spans(draw: st.DrawFn) -> tuple[datetime, datetime]:
    start = draw(moments)
    return start, start + draw(lengths)


@settings(deadline=None, max_examples=100)
@given(
    outages=st.lists(
        st.tuples(spans(), st.sampled_from(["provider", "unknown", "third_party"])), min_size=2, max_size=5
    ),
    windows=st.lists(
        st.tuples(spans(), st.sampled_from(KINDS), st.sampled_from(["early", "late", None])), min_size=2, max_size=8
    ),
    rule=st.sampled_from(["floor_piece", "floor_outage", "ceil_outage", "exact_seconds"]),
    caps=st.fixed_dictionaries(
        {
            "recovery_grace_hours": st.sampled_from(["0", "1.51"]),
            "year_cap_hours": st.sampled_from([None, "9.3"]),
            "report_days": st.sampled_from([None, 11]),
        }
    ),
)
def test_rows_add_up_to_the_minutes_of_the_line(outages, windows, rule, caps):
    terms = deal(
        {
            **caps,
            "heads": ["scheduled", "emergency", "customer_hold", "customer_act", "force_majeure"],
            "scheduled": {"cap_unit_month_hours": "5.07", "cap_cluster_quarter_hours": "8"},
            "emergency": {"min_notice_hours": "2", "cap_quarter_hours": "3"},
        },
        measurement={"minute_rule": rule, "merge_gap_minutes": 3, "minimum_outage_minutes": 5},
    )
    incidents = [
        Incident(id=f"i{i}", level="node", unit_id="n1", started_at=a, ended_at=b, cause_party=party)
        for i, ((a, b), party) in enumerate(outages)
    ]
    work = [
        Window(id=f"w{i}", kind=kind, starts_at=a, ends_at=b, notice_id=notice_id, event="war")
        for i, ((a, b), kind, notice_id) in enumerate(windows)
    ]
    sent = [
        Notice(id="early", kind="maintenance", sent_at=at("2026-10-01T00:00"), covers_to=at("2026-12-01T00:00")),
        Notice(id="late", kind="maintenance", sent_at=at("2026-10-31T00:00")),
        Notice(id="report", kind="root_cause_report", sent_at=at("2026-11-14T00:00")),
    ]
    records = Records(incidents, work, sent, [node()])
    line = statement(terms, records, [NOVEMBER]).lines[0]
    register = Register(terms, records, [NOVEMBER])
    rows = exclusion_ledger(register, register.tree.units["n1"], "nodes", NOVEMBER)
    refused = [row for row in rows if not row.is_excluded]
    assert sum(row.minutes for row in rows if row.is_excluded) == line.excluded_minutes
    assert sum(row.minutes for row in refused) <= line.counted_minutes
    # every moment of counted downtime inside a window has one row, and no row lies outside
    history = register.history(register.tree.units["n1"], "nodes", NOVEMBER)
    ours = [(row.start, row.end) for row in refused]
    november = at("2026-11-01T00:00"), at("2026-12-01T00:00")
    for start, end in history.counted:
        for inside in work:
            a, b = max(start, inside.starts_at, november[0]), min(end, inside.ends_at, november[1])
            while a < b:
                assert sum(x <= a < y for x, y in ours) == 1
                a += timedelta(minutes=37)
    assert all(any(x < y and a <= x and y <= b for a, b in history.counted) for x, y in ours)
