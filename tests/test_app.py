"""The app: it runs, answers first, says what is wrong, and shows what the command computes."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from schemas.errors import DealError, MissingTermError, Problem
from slakit.load import load_deal
from slakit.paths import app_file, examples_dir
from slakit.reports.answer import answer, headlines
from slakit.reports.theme import tokens
from slakit.scoring import score_deal
from slakit.ui import results

DEAL = "startup-1024-h100"
FEW = 1_000


@pytest.fixture(autouse=True)
def no_results_kept() -> Iterator[None]:
    results.kept.clear()
    yield
    results.kept.clear()


def app(**query: str) -> AppTest:
    """Return the app at its example deal with few futures, not yet run."""
    page = AppTest.from_file(str(app_file()), default_timeout=120)
    page.session_state["draws"] = FEW
    for name, value in ({"deal": DEAL} | query).items():
        page.query_params[name] = value
    return page


def words(page: AppTest) -> str:
    """Return the HTML and the charts of the page."""
    return "".join(block.proto.body for block in page.get("html")) + "".join(block.value for block in page.markdown)


def test_the_page_answers_with_the_figures_of_the_command():
    page = app().run()
    assert not page.exception
    score = score_deal(load_deal(examples_dir() / f"{DEAL}.yaml"), draws=FEW)
    shown = words(page)
    assert answer(score).headline in shown
    for figure in headlines(score):
        assert f'<span class="sk-value">{figure.value}</span>' in shown


def test_answer_stands_before_figures_charts_and_tables():
    shown = words(app().run())
    order = [shown.index(mark) for mark in ("<h1>", "sk-headline", "sk-figs", "<table", "sk-foot")]
    assert order == sorted(order)


def test_the_deal_of_the_address_is_shown_and_picked():
    page = app(deal="ninety-day-exit").run()
    assert page.selectbox(key="deal").value == "ninety-day-exit"
    assert "90-day exit" in words(page)


def test_every_example_can_be_picked():
    page = app().run()
    assert page.selectbox(key="deal").options == results.example_names()
    assert len(results.example_names()) == 4


def test_a_score_is_computed_once_for_the_same_deal(monkeypatch: pytest.MonkeyPatch):
    runs = []

    def counted(loaded, draws, progress):
        runs.append(loaded.sha256)
        return score_deal(loaded, draws, progress=progress)

    monkeypatch.setattr(results, "score_deal", counted)
    page = app().run()
    page.run()
    assert len(runs) == 1


def test_the_contract_is_the_drafted_agreement():
    page = app(view="Contract").run()
    assert not page.exception
    (frame,) = page.get("iframe")
    assert frame.proto.src.startswith("data:text/html")
    assert "Service%20Level%20Agreement" in frame.proto.src
    assert "review by counsel" in words(page)


def test_problems_of_a_deal_are_all_shown_without_a_trace(monkeypatch: pytest.MonkeyPatch):
    found = [
        Problem("credits.caps.month", "1.5", "at most 1", "correct the share", line=41, file="a.yaml"),
        Problem("title", "<b>", "a name", "write one"),
    ]

    def refuse(name):
        raise DealError(found)

    monkeypatch.setattr(results, "load", refuse)
    page = app().run()
    shown = words(page)
    assert not page.exception
    assert "a.yaml:41 credits.caps.month: found 1.5; expected at most 1; correct the share" in shown
    assert "title: found &lt;b&gt;" in shown


def test_a_missing_term_is_said_with_what_to_add(monkeypatch: pytest.MonkeyPatch):
    def refuse(loaded, draws, progress):
        raise MissingTermError("delivery", "slakit score", "add delivery")

    monkeypatch.setattr(results, "score_deal", refuse)
    page = app().run()
    assert not page.exception
    assert "delivery: missing, and needed by slakit score; add delivery" in words(page)


def test_both_documents_can_be_downloaded():
    loaded = load_deal(examples_dir() / f"{DEAL}.yaml")
    score = results.score(loaded, FEW, lambda done, asked: None)
    assert results.agreement_pdf(loaded.deal, loaded.sha256).startswith(b"%PDF")
    assert results.memo_pdf(loaded.deal, score, loaded.sha256).startswith(b"%PDF")
    page = app().run()
    assert [button.proto.label for button in page.get("download_button")] == [
        "Download credit memo",
        "Download agreement",
    ]


def test_results_are_made_once_and_the_oldest_go_first():
    store, made = results.Kept(), []
    for number in [*range(results.KEPT + 1), results.KEPT]:
        store.get((number,), lambda number=number: made.append(number))
    assert made == list(range(results.KEPT + 1))
    assert len(store.results) == results.KEPT
    assert (0,) not in store.results


def test_the_settings_of_the_app_are_the_tokens_of_the_theme():
    root = Path(__file__).resolve().parents[1]
    settings = tomllib.loads((root / ".streamlit" / "config.toml").read_text())
    assert settings["server"]["address"] == "127.0.0.1"
    assert settings["browser"]["gatherUsageStats"] is False
    assert settings["client"]["showErrorDetails"] == "none"
    assert settings["theme"]["baseFontSize"] == tokens()["font"]["app_base_px"]
    for mode in ("light", "dark"):
        colours, theme = tokens()[mode], settings["theme"][mode]
        assert theme["primaryColor"] == colours["accent"]
        assert theme["backgroundColor"] == colours["bg"]
        assert theme["secondaryBackgroundColor"] == colours["surface"]
        assert theme["textColor"] == colours["text"]
        assert theme["sidebar"]["backgroundColor"] == colours["surface"]


def test_the_style_sheet_asks_no_address_for_anything():
    sheet = results.style_sheet()
    assert "light-dark(#FFFFFF,#11171D)" in sheet
    assert "http" not in sheet
    assert "@import" not in sheet
