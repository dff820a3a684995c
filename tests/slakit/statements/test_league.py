"""Published schedules on the same log: the right cents, a row for each, and a reason where nothing is paid."""

import json
import re
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from schemas.errors import DealError
from schemas.money import Money
from slakit.statements.importers.form import Options
from slakit.statements.league import compared, schedules

ROOT = Path(__file__).resolve().parents[3]
HEAD = "unit_id,started_at,ended_at,cause\n"
COOLING = HEAD + "n01,2025-11-28T02:40Z,2025-11-28T13:30Z,cooling\n"
REGION = HEAD + "r01,2025-10-20T06:48Z,2025-10-20T21:20Z,name service\n"


@pytest.fixture(scope="module")
def all_schedules():
    return schedules()


@pytest.fixture(scope="module")
def league(files, all_schedules):
    """Return a function that gives the league table of a log."""

    def of(log, fee=1_000_000, **more):
        written = files(log_csv=log)
        return compared(all_schedules, (written["log_csv"],), Options(), Money(Decimal(fee), "USD"), **more)

    return of


@pytest.fixture(scope="module")
def cooling(league):
    return league(COOLING)


def row_of(document, schedule, level=None):
    return next(r for r in document["rows"] if r["schedule"] == schedule and level in (None, r["service_level"]))


@pytest.mark.parametrize(
    ("schedule", "level", "credit"),
    [
        # a cooling failure of 650 minutes in November 2025, a fee of 1,000,000: 98.49537 %
        ("coreweave-tos-single", "unit", "100000.00"),
        ("aws-ec2-instance", "instance", "300000.00"),
        ("google-gce-single", "unit", "100000.00"),
        ("cloudpe-gpu", "service", "100000.00"),
    ],
)
def test_the_cooling_failure_pays_what_each_schedule_says(cooling, schedule, level, credit):
    row = row_of(cooling, schedule, level)
    assert Fraction(row["availability"]) == Fraction(21275, 21600)
    assert row["counted_minutes"] == 650
    assert row["credit"] == {"amount": credit, "currency": "USD"}


def test_a_regional_outage_pays_the_second_band(league):
    row = row_of(league(REGION), "aws-ec2-region")
    assert Fraction(row["availability"]) == Fraction(27355, 27900)
    assert (row["counted_minutes"], row["window_minutes"]) == (872, 44640)
    assert row["credit"]["amount"] == "300000.00"


def test_every_schedule_has_a_row_and_each_without_a_credit_says_why(cooling, all_schedules):
    assert {row["schedule"] for row in cooling["rows"]} == {one.id for one in all_schedules}
    assert len(all_schedules) >= 34
    for row in cooling["rows"]:
        pays = row["credit"] is not None and Decimal(row["credit"]["amount"])
        assert row["reason"] if not pays else row["reason"] is None
        assert row["claim"]
        assert row["claim_window"]
        assert len(row["claim_window"]) <= 20


def test_what_a_schedule_leaves_blank_is_never_computed(cooling):
    unread = [row for row in cooling["rows"] if row["credit"] is None]
    assert unread
    assert all(len(row["reason"]) > 20 for row in unread)


def test_what_pays_most_stands_first_and_what_is_not_computed_last(cooling):
    credits = [None if row["credit"] is None else Decimal(row["credit"]["amount"]) for row in cooling["rows"]]
    known = [credit for credit in credits if credit is not None]
    assert known == sorted(known, reverse=True)
    assert credits[len(known) :] == [None] * (len(credits) - len(known))


def test_a_late_claim_is_lost_and_said(league):
    row = row_of(league(COOLING, as_of=datetime(2026, 3, 1, tzinfo=UTC)), "aws-ec2-instance", "instance")
    assert row["credit"]["amount"] == "0.00"
    assert row["reason"] == "it was not claimed in time"


def test_a_year_later_no_schedule_that_forfeits_late_claims_pays_although_it_leaves_the_start_open(league):
    rows = league(COOLING, as_of=datetime(2026, 12, 1, tzinfo=UTC))
    for schedule in ("coreweave-tos-single", "google-gce-single"):
        row = row_of(rows, schedule)
        assert (row["credit"]["amount"], row["reason"]) == ("0.00", "it was not claimed in time")
    for schedule in ("vultr", "oci-generic"):
        row = row_of(rows, schedule)
        assert row["credit"] is None
        assert row["reason"] == "the claim is late, and what becomes of a late claim was not found"


def test_the_last_day_of_a_claim_is_the_earliest_where_the_start_is_open_and_says_so(cooling):
    row = row_of(cooling, "coreweave-tos-single")  # ten days from 28 November
    assert row["claimable_until"] == "2025-12-09T00:00:00Z"
    assert "earliest" in row["claimable_until_is"]
    stated = row_of(cooling, "nebius-mk8s")
    assert (stated["claimable_until"], stated["claimable_until_is"]) == ("2025-12-15T00:00:00Z", None)


def test_no_reason_names_a_path_of_a_deal_or_tells_to_edit_a_schedule(league, cooling):
    late = league(COOLING, as_of=datetime(2026, 12, 1, tzinfo=UTC))
    for row in (*cooling["rows"], *late["rows"]):
        assert not re.search(r"[a-z]_[a-z]|credits\.|measurement\.", row["reason"] or "")


def test_where_the_clock_starts_with_a_notice_that_is_not_there_no_availability_is_shown(cooling):
    row = row_of(cooling, "nebius-vm")
    assert "notice" in row["reason"]
    assert (row["availability"], row["availability_percent"], row["counted_minutes"]) == (None, None, None)


PUBLIC = ROOT / "examples" / "incidents" / "public-outages.csv"
TWO_CLOCKS = "us-east-1-2021-12-07"


@pytest.mark.parametrize(
    ("monitor", "minutes", "credit"), [("provider-clock", 412, "100000.00"), ("outside-clock", 549, "300000.00")]
)
def test_each_of_two_clocks_is_a_log_of_its_own(all_schedules, monitor, minutes, credit):
    options, fee = Options(unit_id=TWO_CLOCKS), Money(Decimal(1_000_000), "USD")
    row = row_of(compared(all_schedules, (PUBLIC,), options, fee, monitor=monitor), "aws-ec2-region")
    assert (row["counted_minutes"], row["credit"]["amount"]) == (minutes, credit)


@pytest.mark.parametrize("unit", [TWO_CLOCKS, None])
def test_two_monitors_of_one_unit_are_refused_by_name(all_schedules, unit):
    found = rf"'{TWO_CLOCKS}' by 2 monitors: provider-clock, outside-clock; .*--monitor provider-clock"
    with pytest.raises(DealError, match=found):
        compared(all_schedules, (PUBLIC,), Options(unit_id=unit), Money(Decimal(1), "USD"))


def test_a_monitor_that_no_record_names_is_refused(all_schedules):
    with pytest.raises(DealError, match="--monitor: found 'clock'; expected one of provider-clock, outside-clock"):
        compared(all_schedules, (PUBLIC,), Options(unit_id=TWO_CLOCKS), Money(Decimal(1), "USD"), monitor="clock")


def test_a_single_monitor_need_not_be_chosen(league):
    log = COOLING.replace("cause\n", "cause,monitor_id\n").replace("cooling\n", "cooling,ours\n")
    assert row_of(league(log), "aws-ec2-region")["credit"]["amount"] == "300000.00"


def test_the_table_is_json(cooling):
    assert json.loads(json.dumps(cooling))["rows"][0]["schedule"]


def test_a_log_without_an_outage_is_refused(files, all_schedules):
    written = files(log_csv=HEAD + "n01,soon,later,x\n")
    with pytest.raises(DealError, match="found"):
        compared(all_schedules, (written["log_csv"],), Options(), Money(Decimal(1), "USD"))


def test_the_published_schedules_are_those_of_the_right_answers():
    answers = ROOT.parent / "shared" / "cases" / "credits.json"
    if not answers.is_file():
        pytest.skip("the papers from which these figures were copied do not lie beside the checkout")
    named = {case.get("sla") for case in json.loads(answers.read_text())["cases"]} - {None}
    assert {name for name in named if (ROOT / "examples" / "schedules" / f"{name}.yaml").is_file()}
