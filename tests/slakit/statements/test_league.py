"""Published schedules on the same log: the right cents, a row for each, and a reason where nothing is paid."""

import json
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
    from datetime import UTC, datetime

    row = row_of(league(COOLING, as_of=datetime(2026, 3, 1, tzinfo=UTC)), "aws-ec2-instance", "instance")
    assert row["credit"]["amount"] == "0.00"
    assert row["reason"] == "it was not claimed in time"


def test_the_table_is_json(cooling):
    assert json.loads(json.dumps(cooling))["rows"][0]["schedule"]


def test_a_log_without_an_outage_is_refused(files, all_schedules):
    written = files(log_csv=HEAD + "n01,soon,later,x\n")
    with pytest.raises(DealError, match="found"):
        compared(all_schedules, (written["log_csv"],), Options(), Money(Decimal(1), "USD"))


def test_the_published_schedules_are_those_of_the_right_answers():
    answers = ROOT.parent / "shared" / "cases" / "credits.json"
    if not answers.is_file():
        pytest.skip("the right answers are not here")
    named = {case.get("sla") for case in json.loads(answers.read_text())["cases"]} - {None}
    assert {name for name in named if (ROOT / "examples" / "schedules" / f"{name}.yaml").is_file()}
