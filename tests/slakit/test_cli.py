"""The command line as a whole: help, versions, exit codes, JSON and nothing else, and what is imported when."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from slakit.cli.main import LARGEST_SEED, app
from slakit.paths import templates_dir

STARTER = templates_dir() / "starters" / "small-cluster.yaml"
COMMANDS = ("new", "check", "draft", "read", "site", "score", "schema", "serve")
HEAVY = ("pandas", "scipy", "statsmodels", "weasyprint", "streamlit", "numba", "jinja2")


def slakit(*arguments: object):
    """Run a command in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def imported_by(*arguments: str) -> tuple[int, set[str]]:
    """Return the exit code of a command in a fresh process, and the names of packages it imported."""
    script = (
        "import sys\nfrom slakit.cli.main import main\n"
        f"sys.argv = ['slakit', *{list(arguments)!r}]\n"
        "try: main()\nexcept SystemExit as end: code = end.code or 0\n"
        "print('\\nimported:', code, *sorted({name.split('.')[0] for name in sys.modules}))\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    code, *names = run.stdout.splitlines()[-1].split()[1:]
    return int(code), set(names)


def test_help_names_every_command_and_what_it_does():
    page = slakit("--help").output
    for command in COMMANDS:
        assert any(line.strip().startswith(f"{command} ") and len(line.split()) > 3 for line in page.splitlines())


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help_and_takes_json(command: str):
    page = slakit(command, "--help")
    assert page.exit_code == 0
    assert "--json" in page.output


def test_the_version_is_that_of_the_distribution():
    from importlib.metadata import version

    assert slakit("--version").output == f"slakit {version('slakit')}\n"


def test_help_imports_neither_pydantic_nor_yaml_nor_rich():
    code, names = imported_by("--help")
    assert code == 0
    assert names.isdisjoint({*HEAVY, "numpy", "pydantic", "yaml", "rich", "schemas", "risk"})


def test_check_imports_no_tables_pages_or_compiler():
    code, names = imported_by("check", str(STARTER))
    assert code == 0
    assert names.isdisjoint(HEAVY)
    assert {"pydantic", "yaml"} <= names


def test_a_schema_needs_no_arrays():
    _, names = imported_by("schema")
    assert names.isdisjoint({*HEAVY, "numpy"})


@pytest.mark.parametrize(
    "arguments",
    [
        ("frobnicate",),
        ("check",),
        ("check", "deal.yaml", "--for", "nobody"),
        ("score", "deal.yaml", "--draws", "0"),
        ("score", "deal.yaml", "--draws", "1"),
        ("score", "deal.yaml", "--draws", "10000001"),
        ("score", "deal.yaml", "--workers", "65"),
        ("score", "deal.yaml", "--seed", "-1"),
        ("score", "deal.yaml", "--seed", str(LARGEST_SEED + 1)),
        ("score", "deal.yaml", "-o", "memo.txt"),
        ("draft", "deal.yaml"),
        ("draft", "deal.yaml", "-o", "out", "--format", "rtf"),
        ("draft", "deal.yaml", "-o", "out", "--format", ","),
        ("serve", "--port", "0"),
        ("new", "no-such-starter"),
    ],
)
def test_wrong_use_ends_with_2(arguments: tuple[str, ...]):
    assert slakit(*arguments).exit_code == 2


@pytest.mark.parametrize("command", ["check", "site", "score", "draft"])
def test_a_deal_with_errors_ends_with_1_and_says_all_on_standard_error(command: str, tmp_path: Path):
    path = tmp_path / "deal.yaml"
    path.write_text("schema_version: 1\ntitel: x\nfinance: {close: soon, currency: USD}\n")
    more = ("-o", tmp_path / "out") if command == "draft" else ()
    ended = slakit(command, path, *more)
    assert (ended.exit_code, ended.stdout) == (1, "")
    lines = ended.stderr.splitlines()
    assert lines[0].startswith(f"{path}:2:1 titel: found the unknown key 'titel'; expected ")
    assert lines[1].startswith(f"{path}:3:18 finance.close: found the text 'soon'; expected a date")
    assert lines[2] == "2 errors."


@pytest.mark.parametrize("command", ["check", "site", "score", "draft"])
def test_errors_are_one_json_document_and_nothing_else(command: str, tmp_path: Path):
    path = tmp_path / "deal.yaml"
    path.write_text("schema_version: 1\nfinance: {close: soon, currency: USD}\n")
    more = ("-o", tmp_path / "out") if command == "draft" else ()
    ended = slakit(command, path, *more, "--json")
    assert (ended.exit_code, ended.stderr) == (1, "")
    (error,) = json.loads(ended.stdout)["errors"]
    assert error == {
        "file": str(path),
        "path": "finance.close",
        "line": 2,
        "column": 18,
        "found": "the text 'soon'",
        "expected": "a date written yyyy-mm-dd",
        "remedy": "write one such as 2026-11-30",
    }


def test_a_term_that_a_command_needs_is_named():
    ended = slakit("site", templates_dir() / "starters" / "terms-only.yaml", "--json")
    assert ended.exit_code == 1
    (error,) = json.loads(ended.stdout)["errors"]
    assert (error["found"], error["expected"]) == ("nothing", "a term that slakit site needs")


def test_a_place_that_cannot_be_written_is_an_error_and_no_traceback(tmp_path: Path):
    (tmp_path / "file").write_text("")
    ended = slakit("schema", "-o", tmp_path / "file" / "schema.json")
    assert ended.exit_code == 1
    assert "Not a directory" in ended.stderr


@pytest.mark.parametrize(
    ("command", "more"), [("draft", ("--format", "docx", "-o", "out")), ("score", ("-o", "book.docx"))]
)
def test_what_a_later_version_makes_is_refused_by_name(
    command: str, more: tuple[str, ...], tmp_path: Path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    ended = slakit(command, STARTER, *more, "--json")
    assert ended.exit_code == 1
    (error,) = json.loads(ended.stdout)["errors"]
    assert more[-1].split(".")[-1] in error["found"] or "docx" in error["found"]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", ["new", "schema", "check", "site"])
def test_with_json_standard_output_holds_one_document(command: str):
    more = (STARTER,) if command in ("check", "site") else ()
    ended = slakit(command, *more, "--json")
    assert ended.exit_code == 0
    assert isinstance(json.loads(ended.stdout), dict)
    assert ended.stderr == ""


def test_a_terminal_without_unicode_gets_escapes_and_no_traceback(tmp_path: Path):
    path = tmp_path / "deal.yaml"
    path.write_text("schema_version: 1\nparties: {p: {name: Zürich – 東京, role: nobody}}\n", encoding="utf-8")
    environment = {"PYTHONIOENCODING": "ascii", "PATH": ""}
    script = "import sys; from slakit.cli.main import main; sys.argv = ['slakit', *sys.argv[1:]]; main()"
    for arguments in (["check", str(path)], ["new"], ["site", str(STARTER)]):
        run = subprocess.run(
            [sys.executable, "-c", script, *arguments], env=environment, capture_output=True, text=True, check=False
        )
        assert "Traceback" not in run.stderr
        assert run.returncode == (1 if arguments[0] == "check" else 0)
