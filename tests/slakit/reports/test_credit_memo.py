"""The credit memo: its first page, every section with the figures of its score, our fonts, the same bytes."""

import io
import re
from html import unescape
from pathlib import Path
from typing import Any

import pikepdf
import pytest
from pypdf import PdfReader

from schemas.deal import Deal
from schemas.errors import DealError
from slakit.load import load_deal
from slakit.paths import examples_dir, templates_dir
from slakit.reports import figures
from slakit.reports.clauses import Clauses, clauses_of
from slakit.reports.credit_memo import html, print_memo
from slakit.reports.credit_memo.levers import lever_words, section_of
from slakit.reports.credit_memo.memo import SECTIONS, sections
from slakit.reports.credit_memo.parts import Facts
from slakit.reports.credit_memo.stresses import worst
from slakit.reports.credit_memo.summary import ROOMS, summary
from slakit.reports.rounding import NBSP
from slakit.scoring import full_score, score_deal

EXAMPLES = sorted(path.stem for path in examples_dir().glob("*.yaml"))
LETTER, A4 = (612, 792), (595, 842)
TITLES = [
    "Sources and uses",
    "The contract",
    "Delivery and cancellation",
    "Cash flow and cover",
    "Default, loss and the credit step",
    "GPU value against debt",
    "Backstop, insurance and letting again",
    "Stresses and levers",
    "What we do not know",
    "What is not modelled, and how this was computed",
]
NOT_WORDS = re.compile(r"\b(None|nan|inf|True|False|Undefined)\b|\{\{|\}\}")
FEW = 200


def text_of(content: bytes, first: int | None = None) -> str:
    """Return the words of a PDF, or of its first pages, on one line."""
    pages = PdfReader(io.BytesIO(content)).pages[:first]
    return " ".join(" ".join(page.extract_text() for page in pages).split())


def words_of(page: str) -> str:
    """Return the words of an HTML page on one line."""
    body = re.sub(r"<(style|title).*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", body)).replace(NBSP, " ").split())


def cells_of(section: Any) -> str:
    """Return all words of a section's tables and sentences."""
    said = [section.finding]
    for block in section.blocks.values():
        if hasattr(block, "rows"):
            said += [block.title, block.note, block.rest or "", *block.head, *(block.total or ())]
            said += [cell for row in block.rows for cell in row]
        elif block is not None:
            said += [block.title, *getattr(block, "sentences", ()), getattr(block, "note", "")]
    return " | ".join(said).replace(NBSP, " ")


def section(deal: Deal, score: dict[str, Any], number: int) -> str:
    """Return the words of one section."""
    numbers = Clauses({"long-stop.right": "30.1", "term-renewal-notice": "31"})
    found = next(one for one, _ in sections(Facts(deal, score, numbers)) if one.number == number)
    return cells_of(found)


@pytest.fixture(scope="module")
def printed(request: pytest.FixtureRequest) -> bytes:
    """The memo of the small deal."""
    return print_memo(request.getfixturevalue("deal"), request.getfixturevalue("sample_memo")).content


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_memo_of_every_example_has_every_section_and_no_blank(name: str):
    loaded = load_deal(examples_dir() / f"{name}.yaml")
    score = score_deal(loaded, draws=FEW)
    content = print_memo(loaded.deal, score).content
    words = text_of(content)
    assert loaded.deal.title in words
    assert score["manifest"]["deal_sha256"] in words
    assert "Not a credit rating. Not legal, investment or insurance advice." in words
    for number, title in enumerate(TITLES, start=2):
        assert f"{number} {title}" in words or f"{number}{title}" in words
    assert not NOT_WORDS.search(words)
    assert "Recompute with the deal file attached to this PDF" in text_of(content, first=1)
    default = score["default"]
    for value in (
        figures.estimate_percent(default["pd_term"], default["pd_term_standard_error"]).value,
        figures.ratio(score["dscr"]["base_minimum"], score["dscr"]["covenant"]),
        figures.money_in_words(score["sources_and_uses"]["uses"], score["currency"]),
    ):
        assert value.replace(NBSP, " ") in words.replace(NBSP, " ")


def test_the_first_page_answers_and_says_what_it_rests_on(printed: bytes):
    words = text_of(printed, first=1)
    for part in (
        "Credit memo: Northfield A",
        "USD 182,000,000 annuity loan to Northfield Compute LLC at 9%, 56 monthly payments from month 5",
        "Credit step S13. The lender loses 211 bp of the loan over the term, half of it because capacity arrives late.",
        "would be S11 with a debt service reserve of 6 months, not 3 (−41 bp)",
        "; the rules of section 6 make it S13.",
        "What would move the step",
        "A debt service reserve of 6 months, not 3 −41 bp ± 3",
        "The contract in six lines",
        "What happens in delivery slip",
        "34% of the spread in expected loss comes from inputs without a public source (section 10).",
        "Deal 3f9c21ab, seed 1, 10,000 futures, 200 sets of inputs, slakit 0.1.0.",
        "slakit verify",
    ):
        assert part.replace(NBSP, " ") in words.replace(NBSP, " "), part
    assert "2 Sources and uses" not in words


def test_the_first_page_stays_one_page_whatever_the_deal_is_called(terms: dict[str, Any], memo: dict[str, Any]):
    terms["title"] = "A deal with a long title " * 6
    terms["parties"]["customer"]["name"] = "A customer with a very long name " * 3
    deal = Deal.model_validate(terms)
    words = text_of(print_memo(deal, memo).content, first=1)
    assert "Recompute with the deal file attached" in words
    assert "…" in words
    assert deal.title in words


def test_no_recommendation_and_no_agency_letters(printed: bytes):
    words = text_of(printed)
    assert not re.search(r"\b(recommend|should lend|lend with|approve|decline|AAA|BBB|BB\+?|Baa\d|Ba\d)\b", words, re.I)
    assert "Not a credit rating" in words


@pytest.mark.parametrize(
    ("number", "parts"),
    [
        (
            2,
            [
                "the loan pays 71% and equity 29%",
                "Interest before the first payment",
                "5.5",
                "256.8",
                "9% a year",
                "17.1% a year",
            ],
        ),
        (2, ["not defined: no sign", "0.75†", "0.4 to 0.95"]),
        (
            3,
            [
                "All 60 months of the term are firm.",
                "USD 9,000,000 a month",
                "15% of the month's fee",
                "cl. ",
                "1,310,000",
            ],
        ),
        (4, ["passes its long stop in 7.4%", "7.4% ± 0.3 pp", "14.2% ± 0.3 pp", "14% of futures"]),
        (5, ["1.55x on average", "month 9, at 1.34x", "12.0% ± 0.3 pp", "1.61x"]),
        (
            6,
            [
                "104 bp",
                "31% ± 1 pp",
                "S12 to S13",
                "77 bp ± 3",
                "680 defaults drawn",
                "R01",
                "49%",
                "52% ± 1 pp",
                "S11 to S15",
            ],
        ),
        (7, ["141%", "in month 40", "62.0% ± 0.5 pp", "– not defined: the value is 0 while a loan is outstanding"]),
        (8, ["The deal has no backstop", "no outage insurance"]),
        (9, ["survives 2 of 4 stresses", "+164 bp ± 5", "Long stop, month 13", "not alone", "nothing is left"]),
        (
            10,
            [
                "226 bp",
                "between 150 and 410 with 90%",
                "34% of that spread",
                "+15 bp ± 6",
                "explain 93%",
                "delay: median",
            ],
        ),
        (11, ["Market: one channel of rent.", "3f9c21ab" * 8, "200, of 2,000 futures each", "4,096"]),
    ],
)
def test_sections_hold_the_figures_of_the_score(deal: Deal, sample_memo: dict[str, Any], number: int, parts: list[str]):
    words = section(deal, sample_memo, number)
    for part in parts:
        assert part in words, part
    assert not NOT_WORDS.search(words)


def test_no_cell_of_any_table_is_empty(deal: Deal, sample_memo: dict[str, Any]):
    for one, _ in sections(Facts(deal, sample_memo, Clauses({}))):
        for block in one.blocks.values():
            for row in getattr(block, "rows", ()):
                assert all(cell.strip() for cell in row), (one.title, block)
                assert len(row) == len(block.head)


def test_every_block_of_a_section_is_printed_by_its_template(deal: Deal, sample_memo: dict[str, Any]):
    for one, partial in sections(Facts(deal, sample_memo, Clauses({}))):
        text = (templates_dir() / "documents" / partial).read_text("utf-8")
        asked = set(re.findall(r"blocks\.(\w+)", text))
        assert set(one.blocks) <= asked, partial
    assert len(SECTIONS) == len(TITLES)


def test_a_section_without_anything_says_so_in_a_sentence(terms: dict[str, Any], score: dict[str, Any]):
    for name in ("loan", "reserve", "covenants", "lock_up", "recovery"):
        del terms["finance"][name]
    for name in ("default", "dscr", "residual_value"):
        del score[name]
    for row in score["base_case"]["rows"]:
        row["dscr"], row["debt_service"] = None, 0.0
        del row["balance"], row["interest"], row["principal"]
    words = words_of(html(Deal.model_validate(terms), score))
    for part in (
        "no loan in the deal file",
        "Sources and uses: not computed: add finance.",
        "Cover is not computed: add finance.loan.",
        "Default and loss: not computed: add finance.loan.",
        "The value of the GPUs is not computed: add assumptions.market and assumptions.value.",
        "The deal has no backstop",
        "Stresses are not computed: make the memo with slakit score",
        "It is not computed: make the memo with slakit score, without --no-levers.",
        "It is not computed: make the memo with slakit score, --outer 200.",
    ):
        assert part in words, part
    assert not NOT_WORDS.search(words)


def test_a_backstop_has_its_ledger_its_reasons_and_its_worth(terms: dict[str, Any], memo: dict[str, Any]):
    terms["parties"]["backer"] = {"name": "Guarantor Inc.", "role": "guarantor"}
    terms["backstop"] = {"provider": "backer", "shape": "revenue_floor", "floor_rent": "1.70", "amount": 60_000_000}
    months = list(range(1, 61))
    memo["backstop"] = {
        "shape": "revenue_floor",
        "provider": "backer",
        "amount": 60e6,
        "expected_paid": 12e6,
        "expected_paid_standard_error": 3e5,
        "probability_pays": 0.21,
        "probability_pays_standard_error": 0.004,
        "probability_used_up": 0.05,
        "probability_used_up_standard_error": 0.002,
        "expected_not_paid": {"not_started": 1e5, "provider_failed": 2e5, "beyond_limit": 3e6},
        "expected_fee": 0.0,
        "by_month": {
            "months": months,
            "expected_paid": [2e5] * 60,
            "expected_left": [60e6 - 2e5 * m for m in months],
        },
        "value_to_lender_bp": 96.0,
        "value_to_lender_bp_standard_error": 5.0,
    }
    words = section(Deal.model_validate(terms), memo, 8)
    for part in (
        "pays in 21% of futures, USD 12 m on average over all, and is used up in 5.0%; it takes 96 bp off",
        "makes market revenue of capacity that is ready and under no contract up to USD 1.70 per GPU-hour",
        "Half of what the backstop pays is paid by month 30",
        "Not paid: beyond the limit | 3,000,000",
        "1 | 12 | 2.4 | 2.4 | 57.6",
        "−96 bp ± 5",
        "307 bp",
    ):
        assert part in words, part


def test_terms_stand_beside_the_clause_of_the_drafted_agreement(deal: Deal, sample_memo: dict[str, Any]):
    clauses = clauses_of(deal)
    assert clauses.where("delivery.tranches", "long-stop.right") == f"cl.{NBSP}{clauses.numbers['long-stop.right']}"
    assert clauses.where("commercial.prepayment", "prepayment.amount") == "commercial.prepayment"
    lines = {label: where for label, _, where in summary(Facts(deal, sample_memo, clauses)).contract}
    assert lines["Long stop"] == f"cl.{NBSP}{clauses.numbers['long-stop.right']}"
    assert lines["Covenant"] == "section 5"


def test_the_worst_stress_of_each_kind_is_named_once(sample_memo: dict[str, Any]):
    found = [(words, moved.replace(NBSP, " ")) for words, moved in worst(sample_memo, 3)]
    assert found == [
        ("What happens in delivery slip", "+164 bp ± 5"),
        ("What happens in fall of rent", "+122 bp ± 5"),
        ("What happens in dearer loan", "+31 bp ± 5"),
    ]


def test_without_draws_stresses_are_ranked_by_the_base_path(memo: dict[str, Any]):
    for row in memo["scenarios"]:
        row["draws"] = None
    assert [words for words, _ in worst(memo, 3)] == ["What happens in long stop"]


@pytest.mark.parametrize(
    ("lever", "said"),
    [
        ({"lever": "payments", "from": 48, "to": 42, "unit": "month"}, "42 monthly payments, not 48"),
        ({"lever": "loan", "from": 150e6, "to": 144e6, "unit": "USD"}, "A loan of USD 144 m, not 150 m"),
        (
            {"lever": "chronic_threshold", "from": 0.99, "to": 0.9876, "unit": "1"},
            "A month is bad below 98.76%, not 99%",
        ),
        (
            {"lever": "chronic_bad_months", "from": 3, "to": 1, "unit": "month"},
            "A right to leave after one bad month, not 3",
        ),
        ({"lever": "long_stop", "from": 120.0, "to": 60, "unit": "day"}, "A long stop 60 days after the date, not 120"),
        (
            {"lever": "backstop_starts", "from": "rfs_all", "to": "signing", "unit": ""},
            "A backstop from close, not once all tranches are ready",
        ),
        (
            {"lever": "mean_up_hours", "from": 3500.0, "to": 4310.0, "unit": "h"},
            "180 days between outages, not 146 days",
        ),
        (
            {"lever": "spot_rent", "from": 2.4, "to": 2.19, "unit": "USD/GPU-hour"},
            "A market rent today of USD 2.19 per GPU-hour, not 2.40",
        ),
        ({"lever": "something_new", "from": 1, "to": 2, "unit": "h"}, "Something new of 2 h, not 1"),
        (
            {"lever": "delay_median", "from": 2, "to": 1.4, "unit": "month", "path": "assumptions.delay.median"},
            "Late tranches 1.4 months late at the median, not 2†",
        ),
    ],
)
def test_a_lever_is_said_as_a_change_of_terms(deal: Deal, lever: dict[str, Any], said: str):
    assert lever_words(deal, {"path": "finance.loan.payments"} | lever).replace(NBSP, " ") == said


def test_every_lever_of_the_engine_has_words_of_its_own():
    from risk.score.movable_terms import levers_of
    from slakit.reports.credit_memo.levers import _WORDS

    for name in EXAMPLES:
        for lever in levers_of(load_deal(examples_dir() / f"{name}.yaml").deal):
            assert lever.name in _WORDS
            assert 2 <= section_of(lever.paths[0]) <= 11


def test_it_embeds_no_font_but_plex(printed: bytes):
    names: set[str] = set()
    for page in PdfReader(io.BytesIO(printed)).pages:
        names |= {str(font.get_object()["/BaseFont"]) for font in page["/Resources"]["/Font"].values()}  # type: ignore[index]
    assert len(names) >= 4
    assert all("IBM-Plex" in name for name in names), names


def test_its_charts_have_words_for_those_who_do_not_see_them(printed: bytes):
    with pikepdf.open(io.BytesIO(printed)) as pdf:
        alts = [str(one["/Alt"]) for one in pdf.objects if isinstance(one, pikepdf.Dictionary) and "/Alt" in one]
    for part in (
        "Lowest P5 1.18x",
        "Late delivery +104",
        "Long stop 7.4%",
        "Inputs in doubt: 226",
        "Delay: median† 50%",
    ):
        assert any(part in alt.replace(NBSP, " ") for alt in alts), part


def test_the_same_deal_and_score_give_the_same_bytes(deal: Deal, sample_memo: dict[str, Any], printed: bytes):
    assert print_memo(deal, sample_memo).content == printed


def test_paper_follows_the_governing_law(terms: dict[str, Any], score: dict[str, Any], printed: bytes):
    terms["commercial"]["governing_law"] = "england_wales"
    european = print_memo(Deal.model_validate(terms), score).content
    for content, size in ((printed, LETTER), (european, A4)):
        for page in PdfReader(io.BytesIO(content)).pages:
            assert (round(float(page.mediabox.width)), round(float(page.mediabox.height))) == size


def test_what_a_deal_types_is_printed_and_never_read_as_markup(terms: dict[str, Any], memo: dict[str, Any]):
    hostile = 'A "b" \'}</style><script>x()</script> <img src=http://x.example/y> {{ 7 * 7 }}'
    terms["title"] = terms["parties"]["customer"]["name"] = hostile
    terms["delivery"]["tranches"]["hall-1"]["name"] = hostile
    page = html(Deal.model_validate(terms), memo)
    assert "<script" not in page
    assert "<img" not in page
    assert "{{ 7 * 7 }}" in unescape(page)


def test_a_sign_that_the_fonts_do_not_have_is_refused(terms: dict[str, Any], score: dict[str, Any]):
    terms["parties"]["customer"]["name"] = "北方公司"
    with pytest.raises(DealError, match="signs that IBM Plex can print"):
        print_memo(Deal.model_validate(terms), score)


def test_nothing_outside_is_fetched(deal: Deal, sample_memo: dict[str, Any]):
    page = html(deal, sample_memo)
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "src=" not in page


def test_the_first_page_is_tried_from_roomy_to_tight():
    heights = [room.chart_height for room in ROOMS]
    lines = [room.better + room.worse for room in ROOMS]
    assert heights == sorted(heights, reverse=True)
    assert lines == sorted(lines, reverse=True)


def test_what_was_asked_beside_the_score_stands_in_the_manifest():
    loaded = load_deal(templates_dir() / "starters" / "small-cluster.yaml")
    score = full_score(loaded, FEW, outer=2, stress_draws=50, lever_draws=0)
    asked = {name: score["manifest"][name] for name in ("draws", "outer", "stress_draws", "lever_draws")}
    assert asked == {"draws": FEW, "outer": 2, "stress_draws": 50, "lever_draws": 0}
    assert {"parameters", "scenarios"} <= set(score)
    assert "moves" not in score


def test_a_score_without_anything_beside_it_is_the_plain_score():
    loaded = load_deal(templates_dir() / "starters" / "small-cluster.yaml")
    plain = score_deal(loaded, FEW)
    assert full_score(loaded, FEW, stress_draws=0, lever_draws=0) == plain
    assert plain["manifest"]["lever_draws"] == plain["manifest"]["outer"] == 0


def test_futures_are_counted_over_all_parts_of_the_work(tmp_path: Path):
    loaded = load_deal(templates_dir() / "starters" / "small-cluster.yaml")
    seen: list[tuple[int, int]] = []
    full_score(loaded, FEW, outer=2, stress_draws=50, lever_draws=0, progress=lambda *at: seen.append(at))
    done = [at for at, _ in seen]
    assert done == sorted(done)
    assert seen[-1][0] == seen[-1][1]
    assert len({asked for _, asked in seen}) == 1


def test_a_memo_made_again_from_itself_is_the_same(tmp_path: Path):
    from slakit.reports.credit_memo import write
    from slakit.verify.verification import verify

    loaded = load_deal(templates_dir() / "starters" / "small-cluster.yaml")
    path = tmp_path / "memo.pdf"
    write(loaded, full_score(loaded, FEW, outer=2, stress_draws=50, lever_draws=0), path)
    found = verify(path, 1, None)
    assert found.same, found.differences[:3]
    assert found.kind == "credit_memo"
    assert found.to_the_byte
