"""The credit summary: two pages, our fonts, the same bytes, nothing blank and nothing that a deal could slip in."""

import io
import re
from pathlib import Path
from typing import Any

import pikepdf
import pytest
from pypdf import PdfReader

from schemas.deal import Deal
from schemas.errors import DealError
from slakit.load import load_deal
from slakit.paths import examples_dir
from slakit.reports import credit_summary
from slakit.reports.credit_summary import html, print_summary, write
from slakit.scoring import score_deal

EXAMPLES = sorted(path.stem for path in examples_dir().glob("*.yaml"))
LETTER, A4 = (612, 792), (595, 842)


def text_of(content: bytes) -> str:
    """Return the words of a PDF on one line."""
    pages = PdfReader(io.BytesIO(content)).pages
    return " ".join(" ".join(page.extract_text() for page in pages).split())


def fonts_of(content: bytes) -> set[str]:
    names = set()
    for page in PdfReader(io.BytesIO(content)).pages:
        names |= {str(font.get_object()["/BaseFont"]) for font in page["/Resources"]["/Font"].values()}  # type: ignore[index]
    return names


@pytest.fixture(scope="module")
def printed(request: pytest.FixtureRequest) -> bytes:
    """The summary of the small deal."""
    return print_summary(request.getfixturevalue("deal"), request.getfixturevalue("sample_score")).content


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_summary_of_every_example_has_two_pages_and_no_blank(name: str, tmp_path: Path):
    loaded = load_deal(examples_dir() / f"{name}.yaml")
    score = score_deal(loaded, draws=1000)
    path = tmp_path / "out" / "summary.pdf"
    assert write(loaded, score, path) == 2
    words = text_of(path.read_bytes())
    assert loaded.deal.title in words
    assert score["manifest"]["deal_sha256"] in words
    assert "Not a credit rating" in words
    assert not re.search(r"\b(None|nan|inf)\b|\{\{|\}\}", words)


def test_it_answers_and_says_what_it_rests_on(printed: bytes):
    words = text_of(printed)
    for part in (
        "The lender loses 211 bp of the loan over the term, half of it because capacity arrives late.",
        "USD 182,000,000 annuity loan to Northfield Compute LLC at 9%, 56 monthly payments from month 5",
        "let to Aurelia Labs, Inc.",
        "The contract in six lines",
        "Base case by year from close",
        "5 of 6 numbers about the world in the deal file rest on judgement",
        "slakit score DEAL --draws 10000 --seed 1",
        "Delivery: one number for each tranche, not a network of activities.",
        "Not investment, legal or insurance advice.",
        "Page 2 of 2",
    ):
        assert part in words


def test_it_names_no_grade(printed: bytes):
    words = text_of(printed)
    assert "Grade" not in words
    assert "credit_step" not in words


def test_it_embeds_no_font_but_plex(printed: bytes):
    fonts = fonts_of(printed)
    assert len(fonts) >= 4
    assert all("IBM-Plex" in name for name in fonts), fonts


def test_its_charts_have_words_for_those_who_do_not_see_them(printed: bytes):
    with pikepdf.open(io.BytesIO(printed)) as pdf:
        alts = [str(one["/Alt"]) for one in pdf.objects if isinstance(one, pikepdf.Dictionary) and "/Alt" in one]
    assert len(alts) == 5
    assert any("Lowest P5 1.18x" in alt for alt in alts)


def test_the_same_deal_and_score_give_the_same_bytes(deal: Deal, sample_score: dict[str, Any], printed: bytes):
    assert print_summary(deal, sample_score).content == printed


def test_paper_follows_the_governing_law(terms: dict[str, Any], score: dict[str, Any], printed: bytes):
    terms["commercial"]["governing_law"] = "england_wales"
    european = print_summary(Deal.model_validate(terms), score).content
    for content, size in ((printed, LETTER), (european, A4)):
        pages = PdfReader(io.BytesIO(content)).pages
        assert len(pages) == 2
        for page in pages:
            assert (round(float(page.mediabox.width)), round(float(page.mediabox.height))) == size


def test_what_a_deal_types_is_printed_and_never_read_as_markup(terms: dict[str, Any], score: dict[str, Any]):
    hostile = 'A "b" \'}</style><script>x()</script> <img src=http://x.example/y> {{ 7 * 7 }}'
    terms["title"] = terms["parties"]["customer"]["name"] = hostile
    deal = Deal.model_validate(terms)
    page = html(deal, score)
    assert "<script" not in page
    assert "<img" not in page
    words = text_of(print_summary(deal, score).content)
    assert "</style><script>x()</script>" in words
    assert "{{ 7 * 7 }}" in words


def test_a_sign_that_the_fonts_do_not_have_is_refused(terms: dict[str, Any], score: dict[str, Any]):
    terms["parties"]["customer"]["name"] = "北方公司"
    with pytest.raises(DealError, match="signs that IBM Plex can print"):
        print_summary(Deal.model_validate(terms), score)


def test_a_deal_without_a_loan_prints_what_there_is(terms: dict[str, Any], score: dict[str, Any]):
    for name in ("loan", "reserve", "covenants", "lock_up", "recovery"):
        del terms["finance"][name]
    for name in ("default", "dscr"):
        del score[name]
    score["residual_value"].pop("balance")
    for row in score["base_case"]["rows"]:
        row["dscr"], row["debt_service"] = None, 0.0
        del row["balance"], row["interest"], row["principal"]
    printed = print_summary(Deal.model_validate(terms), score)
    words = text_of(printed.content)
    assert printed.pages == 2
    assert "no loan in the deal file" in words
    assert "not computed: add finance.loan" in words
    assert "None" not in words


def test_many_tranches_and_notes_still_fit_and_are_counted(terms: dict[str, Any], score: dict[str, Any]):
    first = terms["delivery"]["tranches"]["hall-1"]
    names = [f"hall-{i}" for i in range(1, 41)]
    terms["delivery"]["tranches"] = {name: first | {"cluster": "hall-1", "share_of_service": 0.025} for name in names}
    terms["services"]["compute"]["tranches"] = names
    score["delivery"]["tranches"] = [score["delivery"]["tranches"][0] | {"id": name} for name in names]
    score["ignored"] = [f"Subject {i}: " + "left out in this version. " * 6 for i in range(60)]
    printed = print_summary(Deal.model_validate(terms), score)
    words = text_of(printed.content)
    assert printed.pages == 2
    assert "others, each late in at most 21.0% of futures" in words
    assert "further notes stand in the output of slakit score" in words


def test_a_long_title_is_shortened_in_the_running_head_only(terms: dict[str, Any], score: dict[str, Any]):
    terms["title"] = "A deal with a very long title " * 5
    deal = Deal.model_validate(terms)
    words = text_of(print_summary(deal, score).content)
    assert "…" in words
    assert deal.title in words


def test_nothing_outside_is_fetched(monkeypatch: pytest.MonkeyPatch, deal: Deal, score: dict[str, Any]):
    page = html(deal, score)
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "src=" not in page


def test_sheets_are_tried_from_roomy_to_tight():
    heights = [room.chart_height for room in credit_summary.FIRST_SHEETS]
    assert heights == sorted(heights, reverse=True)
    assert [room.notes for room in credit_summary.SECOND_SHEETS] == sorted(
        (room.notes for room in credit_summary.SECOND_SHEETS), reverse=True
    )
