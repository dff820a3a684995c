"""`slakit credits` and `slakit league` as they are typed: what goes where, and how mistakes are met."""

import json
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from slakit.cli.main import app
from slakit.reports.clauses import Clauses
from slakit.reports.terminal import MARGIN

HEAD = "unit_id,started_at,ended_at,cause,cause_party\n"
LOG = HEAD + (
    "n02.ridge.example,2026-10-03T07:14Z,2026-10-03T14:41Z,xid 79,provider\n"
    "n07,2026-10-20T01:00Z,2026-10-20T07:45Z,power shelf,provider\n"
    "login1,2026-10-30T01:00Z,2026-10-30T02:00Z,reboot,provider\n"
    "n11,2026-13-30T01:00Z,2026-10-30T02:00Z,reboot,provider\n"
)


@pytest.fixture(scope="module")
def paths(files, ridge) -> dict[str, str]:
    other = LOG.replace("14:41", "13:41")
    return {name: str(path) for name, path in files(deal_yaml=ridge, log_csv=LOG, other_csv=other).items()}


@pytest.fixture(autouse=True)
def without_drafting(monkeypatch) -> None:
    """Leave clause numbers away: drafting the agreement for them takes most of the time of a command."""
    monkeypatch.setattr("slakit.statements.numbers.clauses_of", lambda deal: Clauses({}))


def run(*arguments: str, width: int = 80):
    return CliRunner(env={"COLUMNS": str(width)}).invoke(app, [str(one) for one in arguments])


def problems(done) -> list[dict[str, str]]:
    assert done.exit_code == 1, done.output
    found: list[dict[str, str]] = json.loads(done.stdout)["errors"]
    return found


def test_json_stands_alone_on_standard_output(paths):
    done = run("credits", paths["deal_yaml"], paths["log_csv"], "--json")
    assert done.exit_code == 0
    assert done.stderr == ""
    document = json.loads(done.stdout)
    assert document["total"] == {"amount": "7000.00", "currency": "USD"}
    assert document["asked"] == ["2026-10"]


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("command", ["credits", "against", "league"])
def test_the_terminal_keeps_its_width_and_says_who_owes_what(paths, width, command):
    arguments = {
        "credits": ("credits", paths["deal_yaml"], paths["log_csv"]),
        "against": ("credits", paths["deal_yaml"], paths["log_csv"], "--against", paths["other_csv"]),
        "league": ("league", paths["log_csv"], "--fee", "20,000"),
    }[command]
    done = run(*arguments, width=width)
    assert done.exit_code == 0, done.output
    assert max(len(line.rstrip()) for line in done.output.splitlines()) <= width
    assert all(line.startswith(" " * MARGIN) for line in done.output.splitlines() if line.strip())
    for broken in ("None", "nan", "True", "False", "Fraction", "datetime"):
        assert broken not in done.output.split()


def test_the_terminal_says_what_was_not_used(paths):
    words = " ".join(run("credits", paths["deal_yaml"], paths["log_csv"], width=120).output.split())
    assert "USD 7,000.00 is owed for 2026-10." in words
    assert "log.csv, line 5 was skipped" in words
    assert "No unit of the contract: login1 (1)." in words


def test_the_differing_minutes_are_in_the_zone_of_the_contract(paths):
    words = run("credits", paths["deal_yaml"], paths["log_csv"], "--against", paths["other_csv"], width=120).output
    assert "3\u00a0Oct\u00a02026, 08:41" in words
    assert "times in America/Chicago" in words


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--zone", "Mars/Olympus"), "an IANA time zone"),
        (("--period", "2026-13"), "a period such as 2026-10"),
        (("--period", "2026-10..2026-09"), "a first and a last period in order"),
        (("--period", "2026-01..2026-02..2026-03"), "a first and a last period in order"),
        (("--period", "1026-01..2026-02"), "at most 240"),
        (("--as-of", "yesterday"), "a time with its offset"),
        (("--as-of", "2026-12-01T09:00"), "a time with its offset"),
        (("--captured-at", "now"), "a time with its offset"),
        (("--format", "a-format-nobody-has"), "format"),
        (("--windows", "nowhere.csv"), "found"),
        (("--units", "nowhere.csv"), "found"),
    ],
)
def test_a_wrong_option_is_named_with_what_was_expected(paths, options, said):
    done = run("credits", paths["deal_yaml"], paths["log_csv"], *options, "--json")
    text = json.dumps(problems(done))
    assert said in text or said in done.stdout


@pytest.mark.parametrize("options", [("--level", "planet"), ("-o", "statement.docx"), ("--perod", "2026-10")])
def test_wrong_use_ends_with_two(paths, options):
    done = run("credits", paths["deal_yaml"], paths["log_csv"], *options)
    assert done.exit_code == 2


def test_a_missing_log_and_a_missing_deal_are_named(paths):
    assert "nowhere.csv" in str(problems(run("credits", paths["deal_yaml"], "nowhere.csv", "--json")))
    assert "nowhere.yaml" in str(problems(run("credits", "nowhere.yaml", paths["log_csv"], "--json")))


def test_a_deal_is_never_written_over(paths):
    done = run("credits", paths["deal_yaml"], paths["log_csv"], "-o", paths["deal_yaml"])
    assert done.exit_code != 0
    assert Path(paths["deal_yaml"]).read_text().startswith("schema_version")


def test_nothing_after_the_time_of_the_statement_is_known(paths):
    early = run("credits", paths["deal_yaml"], paths["log_csv"], "--as-of", "2026-10-10T00:00Z", "--json")
    document = json.loads(early.stdout)
    assert document["as_of"] == "2026-10-10T00:00:00Z"
    assert document["total"]["amount"] == "5000.00"  # the second outage had not happened


@pytest.mark.parametrize("ending", ["csv", "json", "zip"])
def test_the_ending_chooses_the_file(paths, tmp_path, ending):
    path = tmp_path / f"statement.{ending}"
    done = run("credits", paths["deal_yaml"], paths["log_csv"], "-o", path)
    assert done.exit_code == 0, done.output
    content = path.read_bytes()
    if ending == "json":
        assert json.loads(content)["total"]["amount"] == "7000.00"
    elif ending == "csv":
        assert content.startswith(b"period,service_level")
    else:
        assert zipfile.is_zipfile(path)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--fee", "free"), "an amount of money above 0"),
        (("--fee", "-5"), "an amount"),
        (("--currency", "shells"), "USD"),
    ],
)
def test_a_wrong_fee_or_currency_of_the_league_is_named(paths, options, said):
    assert said in str(problems(run("league", paths["log_csv"], *options, "--json")))


def test_the_league_as_json_holds_what_the_design_promises(paths):
    document = json.loads(run("league", paths["log_csv"], "--json").stdout)
    assert all(
        row.keys() >= {"schedule", "availability", "credit", "claimable_until", "reason"} for row in document["rows"]
    )


SINFO = (
    "HOSTNAMES|STATE|REASON|USER|TIMESTAMP\n"
    "n02|down*|Not responding|slurm|2026-10-03T07:14:00\n"
    "n07|drained|reboot by mvoss for job 88213|mvoss|2026-10-20T01:00:00\n"
)


def test_names_of_users_stay_out_unless_they_are_asked_for(paths, files):
    path = files(sinfo_psv=SINFO)["sinfo_psv"]
    arguments = (
        "credits", paths["deal_yaml"], path, "--zone", "UTC", "--period", "2026-10",
        "--captured-at", "2026-10-25T00:00Z", "--json",
    )  # fmt: skip
    done = run(*arguments)
    assert done.exit_code == 0, done.output
    assert "mvoss" not in done.stdout
    assert "mvoss" in run(*arguments, "--with-names").stdout
