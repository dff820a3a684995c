"""What each command of the command line does with a deal."""

import json
import os
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml
from rich.console import Console
from typer.testing import CliRunner

from schemas.deal import Deal
from slakit import scoring
from slakit.cli import outcome
from slakit.cli import score as score_command
from slakit.cli import serve as serve_command
from slakit.cli.main import app
from slakit.cli.new import starters
from slakit.documents.commented import without_comment
from slakit.load import load_deal
from slakit.paths import examples_dir, templates_dir
from slakit.reports import credit_memo

STARTERS = templates_dir() / "starters"
SMALL = STARTERS / "small-cluster.yaml"


def slakit(*arguments: object, exit_code: int = 0) -> str:
    """Run a command in this process and return its standard output."""
    ended = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert ended.exit_code == exit_code, ended.output
    return ended.stdout


def slakit_error(*arguments: object) -> str:
    """Run a command that is used wrongly and return what it says."""
    ended = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert ended.exit_code == 2, ended.output
    return ended.output


def document(*arguments: object, exit_code: int = 0) -> dict[str, Any]:
    """Run a command and return its JSON."""
    found = json.loads(slakit(*arguments, "--json", exit_code=exit_code))
    assert isinstance(found, dict)
    return found


# --- new ------------------------------------------------------------------------------------------------------------


def test_new_lists_starters_and_examples_with_one_line_each():
    listed = document("new")["starters"]
    ids = [starter["id"] for starter in listed]
    assert {"terms-only", "site-only", "small-cluster"} <= set(ids)
    assert all(starter["title"] and starter["about"] for starter in listed)
    page = slakit("new")
    assert all(id_ in page for id_ in ids)


@pytest.mark.parametrize("name", ["terms-only", "site-only", "small-cluster"])
def test_a_written_starter_passes_the_check(name: str, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written = document("new", name)["written"]
    assert written["path"] == f"{name}.yaml"
    assert (tmp_path / f"{name}.yaml").read_bytes() == (STARTERS / f"{name}.yaml").read_bytes()
    assert document("check", f"{name}.yaml")["errors"] == []


@pytest.mark.parametrize("starter", starters(), ids=lambda starter: starter.id)
def test_every_starter_and_example_loads_without_a_warning(starter):
    loaded = load_deal(starter.path)
    assert loaded.warnings == ()
    assert loaded.deal.title == starter.title


def test_new_writes_where_it_is_told_and_overwrites_nothing(tmp_path: Path):
    target = tmp_path / "mine.yaml"
    target.write_text("kept")
    (error,) = document("new", "terms-only", "-o", target, exit_code=1)["errors"]
    assert error["path"] == str(target)
    assert target.read_text() == "kept"
    slakit("new", "terms-only", "-o", tmp_path / "other.yaml")
    assert load_deal(tmp_path / "other.yaml").deal.title


def test_new_suggests_the_nearest_name():
    ended = CliRunner().invoke(app, ["new", "small-clutser"])
    assert (ended.exit_code, "did you mean small-cluster?" in ended.output) == (2, True)


# --- check ----------------------------------------------------------------------------------------------------------


def with_error(folder: Path) -> Path:
    """Return a valid deal that blocks signing for a lender: no cap on credits."""
    path = folder / "deal.yaml"
    path.write_text(SMALL.read_text().replace("caps: {unit: 1, month: 0.30, year: 0.10}", "base: unit_fee_accrued"))
    return path


def test_check_gives_findings_with_place_paragraph_and_money(tmp_path: Path):
    found = document("check", with_error(tmp_path), exit_code=1)
    assert found["errors"] == []
    finding = found["findings"][0]
    assert set(finding) >= {"id", "severity", "paragraph", "path", "message", "money"}
    assert (finding["id"], finding["severity"]) == ("trap-13-credit-caps", "error")
    assert finding["paragraph"] == "credit-caps.month"
    # 512 GPUs x USD 2.40 x 730 hours x the last band, 50%
    assert finding["money"] == {"amount": "448512.00", "currency": "USD"}


@pytest.mark.parametrize(("reader", "exit_code"), [("lender", 1), ("lawyer", 1), ("customer", 0), ("provider", 0)])
def test_check_ends_with_1_only_for_whom_a_finding_blocks_signing(reader: str, exit_code: int, tmp_path: Path):
    slakit("check", with_error(tmp_path), "--for", reader, exit_code=exit_code)


def test_check_starts_with_the_answer(tmp_path: Path):
    page = " ".join(slakit("check", with_error(tmp_path), exit_code=1).split())
    assert page.startswith("The deal is valid and not ready to sign: of")
    assert "blocks signing: trap-13-credit-caps" in page
    assert "credits.caps, line" in page
    assert "finds nothing to remark" in slakit("check", SMALL)


def test_check_says_what_is_read_rightly_but_may_surprise(tmp_path: Path):
    path = tmp_path / "deal.yaml"
    path.write_text("schema_version: 1\nclusters: {c: {units: {gpu: 010}}}\n")
    (warning,) = document("check", path)["warnings"]
    assert (warning["path"], warning["found"]) == ("clusters.c.units.gpu", "010")
    assert "it is read as 10" in " ".join(slakit("check", path).split())


def test_check_of_an_invalid_deal_holds_errors_and_no_findings(tmp_path: Path):
    path = tmp_path / "deal.yaml"
    path.write_text("schema_version: 1\nzzz: 1\n")
    found = document("check", path, exit_code=1)
    assert found["findings"] == []
    assert [error["path"] for error in found["errors"]] == ["zzz"]


# --- schema ---------------------------------------------------------------------------------------------------------


def test_the_schema_says_units_bounds_and_closed_keys():
    schema = document("schema")
    site = schema["$defs"]["Site"]["properties"]["it_capacity_mw"]
    assert site["x-unit"] == "MW"
    share = schema["$defs"]["CreditBand"]["properties"]["below"]
    assert (share["minimum"], share["maximum"]) == (0, 1)
    assert schema["additionalProperties"] is False
    assert schema["properties"]["sites"]["additionalProperties"] is False
    assert schema["$schema"].endswith("2020-12/schema")
    assert json.loads(slakit("schema")) == schema


def test_the_schema_is_written_to_a_file_when_told(tmp_path: Path):
    slakit("schema", "-o", tmp_path / "deal.schema.json")
    assert json.loads((tmp_path / "deal.schema.json").read_text())["title"].startswith("Deal file")


def test_every_key_of_the_schema_is_described_or_named_by_its_title():
    def undescribed(part: object, path: str = "") -> list[str]:
        if not isinstance(part, dict):
            return []
        found = [
            f"{path}.{name}"
            for name, inner in part.get("properties", {}).items()
            if not ({"description", "title", "$ref", "anyOf"} & set(inner))
        ]
        return found + [x for name, inner in part.get("$defs", {}).items() for x in undescribed(inner, name)]

    assert undescribed(document("schema")) == []


# --- draft and read -------------------------------------------------------------------------------------------------


def test_draft_names_what_it_wrote(tmp_path: Path):
    files = document("draft", SMALL, "-o", tmp_path / "out", "--format", "md,html,md")["files"]
    assert [file["kind"] for file in files] == ["md", "html"]
    for file in files:
        assert Path(file["path"]).is_file()
        assert len(file["sha256"]) == 64


def test_draft_prints_the_terms_of_a_day(tmp_path: Path):
    deal = examples_dir() / "gb300-prepaid-hyperscaler.yaml"  # the target of a node rises on 1 July 2027
    texts = {}
    for name, options in (("signed", ()), ("before", ("--as-of", "2027-06-30")), ("after", ("--as-of", "2027-07-01"))):
        slakit("draft", deal, "-o", tmp_path / name, "--format", "md", *options)
        texts[name] = without_comment((tmp_path / name / "sla.md").read_text())
    assert texts["before"] == texts["signed"]
    assert texts["after"] != texts["signed"]
    assert "no day such as" in slakit_error("draft", deal, "-o", tmp_path, "--as-of", "July")


def test_the_terms_read_back_are_a_deal_whose_levels_keep_their_order(tmp_path: Path):
    deal = examples_dir() / "gb300-prepaid-hyperscaler.yaml"
    slakit("draft", deal, "-o", tmp_path)
    slakit("read", tmp_path / "sla.pdf", "-o", tmp_path / "terms.json")
    assert list(load_deal(tmp_path / "terms.json").deal.service_levels) == list(load_deal(deal).deal.service_levels)
    slakit("draft", tmp_path / "terms.json", "-o", tmp_path / "again", "--format", "md")
    slakit("draft", deal, "-o", tmp_path / "first", "--format", "md")
    again, first = ((tmp_path / name / "sla.md").read_text() for name in ("again", "first"))
    assert again == first


def test_read_gives_back_what_draft_wrote(tmp_path: Path):
    (file,) = document("draft", SMALL, "-o", tmp_path)["files"]
    assert file["pages"] > 5
    found = document("read", file["path"])
    assert found["intact"] is True
    assert "service_levels" in found["terms"]
    assert "finance" not in found["terms"]
    page = slakit("read", file["path"])
    assert page.strip().startswith("The document is as it was drafted.")


def test_read_of_anything_else_is_an_error():
    assert document("read", SMALL, exit_code=1)["errors"]


# --- site -----------------------------------------------------------------------------------------------------------


def test_site_starts_with_the_answer_and_holds_it_as_json():
    (site,) = document("site", SMALL)["sites"]
    assert {"id", "availability", "outages_per_year", "minimal_cut_sets", "importance"} <= set(site)
    assert 0.99 < site["availability"] < 1
    assert "available" in slakit("site", SMALL).strip().splitlines()[0]


# --- score ----------------------------------------------------------------------------------------------------------


def test_score_is_the_same_twice_and_saved_as_printed(tmp_path: Path):
    saved = tmp_path / "deep" / "score.json"
    first = slakit("score", SMALL, "--draws", 200, "--seed", 3, "--json", "--save-json", saved)
    assert slakit("score", SMALL, "--draws", 200, "--seed", 3, "--json") == first
    found, kept = json.loads(first), json.loads(saved.read_text())
    assert Deal.model_validate(kept.pop("deal")) == load_deal(SMALL).deal
    assert found["manifest"].items() <= kept.pop("manifest").items()
    assert kept == {name: value for name, value in found.items() if name != "manifest"}
    assert {"delivery", "cancellation", "default", "dscr", "credits", "manifest", "standard_errors"} <= set(found)
    assert (found["manifest"]["seed"], found["manifest"]["draws"]) == (3, 200)
    assert found["manifest"]["deal_sha256"] == load_deal(SMALL).sha256
    assert slakit("score", SMALL, "--draws", 200, "--seed", 4, "--json") != first


def test_score_prints_words_and_writes_a_memo(tmp_path: Path):
    place = tmp_path / "memo.pdf"
    page = slakit("score", SMALL, "--draws", 100, "--outer", 2, "--no-levers", "-o", place)
    assert "64 servers of eight GPUs for two years" in page
    assert "{" not in page
    assert place.read_bytes().startswith(b"%PDF-")


def test_only_a_memo_asks_for_what_takes_longer(tmp_path: Path, monkeypatch):
    asked: list[dict[str, int]] = []
    plain = scoring.score_deal(load_deal(SMALL), 2)

    def full_score(loaded, draws, seed, **rest):
        asked.append({name: rest[name] for name in ("outer", "stress_draws", "lever_draws")})
        return plain

    monkeypatch.setattr(scoring, "full_score", full_score)
    monkeypatch.setattr(credit_memo, "write", lambda loaded, score, path: 1)
    memo = ("-o", tmp_path / "memo.pdf")
    for arguments in ((), ("--outer", 5), memo, (*memo, "--no-levers", "--outer", 0)):
        slakit("score", SMALL, *arguments)
    assert [tuple(one.values()) for one in asked] == [
        (0, 0, 0),
        (5, 0, 0),
        (scoring.MEMO_OUTER, scoring.STRESS_DRAWS, scoring.LEVER_DRAWS),
        (0, scoring.STRESS_DRAWS, 0),
    ]


def test_progress_is_drawn_on_standard_error_and_only_for_a_person(monkeypatch):
    with score_command.progress_bar(10) as progress:
        assert progress is None
    screen, asked = StringIO(), []

    def terminal(*, to_errors: bool) -> Console:
        asked.append(to_errors)
        return Console(file=screen, force_terminal=True, width=80)

    monkeypatch.setattr(score_command, "is_watched", lambda: True)
    monkeypatch.setattr(score_command, "console", terminal)
    with score_command.progress_bar(10) as progress:
        assert progress is not None
        progress(5, 10)
    assert asked == [True]
    assert "Scoring: 5 of 10 futures" in screen.getvalue()


# --- serve ----------------------------------------------------------------------------------------------------------


def test_serve_becomes_the_app_on_this_machine_only(monkeypatch):
    calls: list[Any] = []
    monkeypatch.setattr(serve_command, "find_spec", lambda name: name)
    monkeypatch.setattr(os, "dup2", lambda *streams: calls.append(streams))
    monkeypatch.setattr(os, "execv", lambda program, arguments: calls.append(arguments))
    assert document("serve", "--port", 8600) == {"address": "http://127.0.0.1:8600"}
    streams, arguments = calls
    assert streams == (2, 1)
    settings = dict(zip(arguments[5::2], arguments[6::2], strict=True))
    assert arguments[1:4] == ["-m", "streamlit", "run"]
    assert settings["--server.address"] == "127.0.0.1"
    assert settings["--server.port"] == "8600"
    assert settings["--browser.gatherUsageStats"] == "false"
    assert settings["--client.showErrorDetails"] == "none"


def test_serve_without_the_extra_says_what_to_install(monkeypatch):
    monkeypatch.setattr(serve_command, "find_spec", lambda name: None)
    (error,) = document("serve", exit_code=1)["errors"]
    assert "slakit[app]" in error["remedy"]


# --- how a command ends ---------------------------------------------------------------------------------------------


def test_a_pipe_that_closes_is_not_reported_as_a_problem():
    def broken() -> outcome.Outcome:
        raise BrokenPipeError(32, "Broken pipe")

    with pytest.raises(BrokenPipeError, match="Broken pipe"):
        outcome.finished(False, broken)


# --- hostile use ----------------------------------------------------------------------------------------------------


def changed(tmp_path: Path, **changes: object) -> Path:
    """Write the small starter with terms changed, by their paths with `__` for dots, and return the file."""
    data = json.loads(json.dumps(yaml.safe_load(SMALL.read_text(encoding="utf-8")), default=str))
    for path, value in changes.items():
        *trail, last = path.split("__")
        holder = data
        for step in trail:
            holder = holder[step]
        holder[last] = value
    file = tmp_path / "deal.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    return file


def test_the_score_is_never_written_over_its_deal(tmp_path: Path):
    deal = tmp_path / "deal.yaml"
    deal.write_bytes(SMALL.read_bytes())
    (error,) = document("score", deal, "--draws", 2, "--save-json", deal, exit_code=1)["errors"]
    assert "the deal file itself" in error["found"]
    assert deal.read_bytes() == SMALL.read_bytes()


def test_a_bound_on_a_probability_is_at_most_one():
    assert document("score", SMALL, "--draws", 2, "--seed", 5)["cancellation"]["probability_upper_95"] == 1.0


def test_a_term_that_only_the_simulation_misses_is_placed_in_the_file(tmp_path: Path):
    deal = changed(tmp_path)
    data = json.loads(deal.read_text())
    del data["clusters"][next(iter(data["clusters"]))]["units"]["node"]
    deal.write_text(json.dumps(data))
    (error,) = document("score", deal, "--draws", 2, exit_code=1)["errors"]
    assert (error["file"], error["line"]) == (str(deal), 1)
    assert error["path"].endswith("units.node")


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("finance__loan__amount", 0, "more than 0"),
        ("finance__loan__payments", 100_000_000, "at most 1,200"),
        ("finance__loan__first_payment_month", 100_000_000, "at most 1,200"),
        ("parties__provider__name", "One\nTwo", "one line"),
        ("parties__provider__name", "One\u200bTwo", "printable text"),
        ("measurement__minimum_outage_minutes", 60_000_000, "at most 44,640"),
    ],
)
def test_absurd_terms_are_errors_of_the_file(path: str, value: object, says: str, tmp_path: Path):
    (error,) = document("check", changed(tmp_path, **{path: value}), exit_code=1)["errors"]
    assert error["path"] == path.replace("__", ".")
    assert error["expected"] == says
