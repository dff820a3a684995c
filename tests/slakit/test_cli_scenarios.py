"""`slakit scenarios`: stresses side by side, those of a file beside the built-in ones."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from slakit.cli.main import app

TERMS = """
schema_version: 1
title: A small deal
clusters: {c: {units: {gpu: 100}}}
services: {compute: {tranches: [all]}}
service_levels:
  cluster:
    level: cluster
    target: 0.99
    nodes_needed_share: 1
    credit: {bands: [{below: 0.99, credit_fraction: 0.10}]}
commercial: {currency: USD, charges: {compute: {price: {per: gpu_hour, amount: 10}}}, term: {months: 24}}
delivery:
  tranches:
    all: {cluster: c, ready_for_service_date: {close_plus_months: 0}, long_stop: {after: {months: 2}}}
finance:
  close: 2026-01-01
  currency: USD
  loan: {amount: 6000000, annual_rate: 0.1, first_payment_month: 1, payments: 20}
  reserve: {months: 2}
assumptions:
  calendar: equal_730
  delay:
    share_late: {value: 0.3, unit: "1", kind: judgement, as_of: 2026-11-30, rationale: a test}
    median: {value: 2, unit: month, kind: judgement, as_of: 2026-11-30, rationale: a test}
    sigma: {value: 1, unit: "1", kind: judgement, as_of: 2026-11-30, rationale: a test}
    shared_share: {value: 0, unit: "1", kind: judgement, as_of: 2026-11-30, rationale: a test}
  market:
    spot_rent: {value: 9, low: 8, high: 12, unit: USD/GPU-hour, kind: judgement, as_of: 2026-11-30, rationale: a test}
    decay_per_year: {value: 0.2, unit: 1/year, kind: judgement, as_of: 2026-11-30, rationale: a test}
    persistence: {value: 0.9, unit: "1", kind: judgement, as_of: 2026-11-30, rationale: a test}
    monthly_noise: {value: 0.05, unit: "1", kind: judgement, as_of: 2026-11-30, rationale: a test}
  prescribed: {lgd: {loss_share: 0.4}}
"""


def slakit(*arguments: object, exit_code: int = 0) -> str:
    """Run a command in this process and return its standard output."""
    ended = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert ended.exit_code == exit_code, ended.output
    return ended.stdout


@pytest.fixture
def deal(tmp_path: Path) -> Path:
    """Return the deal as a file."""
    path = tmp_path / "deal.yaml"
    path.write_text(TERMS, encoding="utf-8")
    return path


@pytest.fixture
def document(deal: Path):
    """Return a function that runs the command on the deal and gives its JSON."""

    def of(*arguments: object, exit_code: int = 0) -> dict[str, Any]:
        found = json.loads(slakit("scenarios", deal, *arguments, "--json", exit_code=exit_code))
        assert isinstance(found, dict)
        return found

    return of


@pytest.fixture
def scenario_file(tmp_path: Path):
    """Return a function that writes a file of scenarios."""

    def of(text: str) -> Path:
        path = tmp_path / "scenarios.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return of


def test_scenarios_are_one_list_that_starts_with_the_deal_as_it_is(document):
    found = document()
    assert set(found) >= {"title", "currency", "draws", "seed", "scenarios", "manifest"}
    assert [row["id"] for row in found["scenarios"]][:3] == ["as_is", "delivery_slip", "long_stop"]
    assert found["draws"] == 0
    for row in found["scenarios"]:
        assert set(row) >= {"id", "name", "says", "set", "computed", "base_case", "draws"}
        assert row["computed"] or row["reason"]


def test_draws_give_the_paired_difference_to_the_deal_as_it_is(document):
    found = document("--draws", 40, "--seed", 5)
    rows = {row["id"]: row["draws"] for row in found["scenarios"] if row["computed"]}
    assert rows["as_is"]["d_pd"] == 0
    assert rows["customer_default"]["pd_term"] == 1
    assert rows["customer_default"]["d_pd"] == pytest.approx(1 - rows["as_is"]["pd_term"])
    assert found == document("--draws", 40, "--seed", 5)
    assert found["manifest"]["draws"] == 40


def test_scenarios_of_a_file_come_after_the_built_in_ones(document, scenario_file):
    path = scenario_file(
        "- name: Cheap market\n  set:\n    assumptions.market.spot_rent: 1.20\n"
        "- name: No reserve, dearer loan\n  set: {finance.reserve.months: 0, finance.loan.annual_rate: 0.2}\n"
    )
    *_, market, loan = document(path)["scenarios"]
    assert (market["id"], market["name"], market["computed"]) == ("scenario-1", "Cheap market", True)
    assert loan["set"] == {"finance.reserve.months": 0, "finance.loan.annual_rate": "0.2"}
    assert loan["base_case"]["minimum_dscr"] < market["base_case"]["minimum_dscr"]


def test_all_problems_of_a_file_are_said_at_once_with_their_lines(document, scenario_file):
    path = scenario_file(
        "- name: Misspelt\n"
        "  set:\n"
        "    assumptions.market.spot_rnt: 1.2\n"
        "    finance.reserve.months: -1\n"
        "- name: Without terms\n"
        "- name: Nowhere\n"
        "  set: {'delivery.tranches.all.steps[7]': 1}\n"
        "- name: Contradicts\n"
        "  sets: {}\n"
        "  set:\n"
        "    finance.loan.target_dscr: 1.2\n"
        "- name: Contradicts\n"
        "  set:\n"
        "    finance.loan.target_dscr: 1.2\n"
    )
    errors = document(path, exit_code=1)["errors"]
    assert [(error["line"], error["path"]) for error in errors] == [
        (3, "[0].set['assumptions.market.spot_rnt']"),
        (4, "[0].set['finance.reserve.months']"),
        (5, "[1].set"),
        (7, "[2].set['delivery.tranches.all.steps[7]']"),
        (9, "[3].sets"),
        (14, "[4].set['finance.loan.target_dscr']"),
    ]
    assert errors[0]["remedy"] == "did you mean `spot_rent`?"
    assert all(error["file"] == str(path) for error in errors)


@pytest.mark.parametrize(
    ("text", "found"), [("name: One\nset: {}\n", "a mapping with name, set"), ("[]\n", "a list of 0"), ("3\n", "3")]
)
def test_a_file_that_is_no_list_of_scenarios_is_refused(document, scenario_file, text: str, found: str):
    (error,) = document(scenario_file(text), exit_code=1)["errors"]
    assert error["found"] == found
    assert error["expected"] == "a list of 1 to 100 scenarios"


def test_a_scenario_that_cannot_be_computed_says_why_and_the_others_go_on(document, scenario_file):
    path = scenario_file("- name: No price\n  set: {commercial.charges: {}}\n")
    *_, row = document(path)["scenarios"]
    assert row["computed"] is False
    assert row["reason"].startswith("commercial.charges.compute: missing")


def test_the_page_starts_with_the_answer_and_says_what_is_not_computed(deal: Path):
    page = " ".join(slakit("scenarios", deal, "--draws", 20).split())
    # the slip, the long stop and the customer's default leave no income; outages, rent and rate leave enough
    assert "The loan survives 4 of 7 stresses with nothing else going wrong." in page
    assert "Long-stop hit" in page
    assert "Not computed" in page
    assert "Refinancing shut: the payments of a loan of profile annuity leave nothing." in page
    assert "20 futures" in page
    assert "None" not in page


def test_a_deal_without_finance_is_refused_with_what_it_lacks(tmp_path: Path):
    path = tmp_path / "deal.yaml"
    path.write_text("schema_version: 1\n")
    errors = json.loads(slakit("scenarios", path, "--json", exit_code=1))["errors"]
    assert "finance" in {error["path"] for error in errors}
