"""The terminal: the answer first, no number cut off, nothing typed read as markup."""

import io
from typing import Any

import pytest
from rich.console import Console

from schemas.deal import Deal
from slakit.reports import score_terminal, site_terminal
from slakit.reports.rounding import NBSP
from slakit.reports.tables import Table
from slakit.reports.terminal import fitted, print_table


def printed(show: Any, *arguments: Any, width: int = 110) -> str:
    """Return what is printed on a terminal of a width."""
    console = Console(file=io.StringIO(), width=width, color_system=None)
    show(console, *arguments)
    return console.file.getvalue().replace(NBSP, " ")  # type: ignore[attr-defined, no-any-return]


def site(name: str, **changes: Any) -> dict[str, Any]:
    """Return a site as `slakit site` reports it."""
    return {
        "id": name,
        "name": f"Hall {name}",
        "rows": 22,
        "rows_needed": 21,
        "availability": 0.9999176766,
        "service_availability": 0.9997532196,
        "outages_per_year": 0.18,
        "mean_outage_hours": 4.0036,
        "restart_hours": 8.0,
        "probability_of_outage_in_a_year": 0.165,
        "minimal_cut_sets": [
            {
                "blocks": ["utility", "generators"],
                "row_blocks": [],
                "order": 4,
                "alike": 1,
                "share": 0.94,
                "outages_per_year": 0.17,
                "mean_hours": 4.0,
            },
            {
                "blocks": [],
                "row_blocks": [["pdu-a", "pdu-b"]],
                "order": 2,
                "alike": 22,
                "share": 0.05,
                "outages_per_year": 0.009,
                "mean_hours": 24.0,
            },
        ],
        "minimal_cut_sets_highest_order": 6,
        "minimal_cut_sets_left_out": {"forms": 3, "share": 0.01},
        "importance": [{"block": "utility", "component": "Two circuits together"}],
        "monthly_downtime_hours": {"mean": 0.18, "exceeded": [{"hours": 0.0, "probability": 0.015}], "quantiles": []},
        "ignores": ["Switching is perfect."],
    } | changes


def test_the_answer_comes_first_then_figures_then_tables(deal: Deal, score: dict[str, Any]):
    text = printed(score_terminal.show, score, deal)
    order = [
        "Northfield A",
        "The lender loses 211 bp of the loan over the term, half of it because capacity arrives late.",
        "Loss given default",
        "Default by cause",
        "Delivery",
        "Outage credits by level",
        "Base case by year from close",
        "Not modelled",
        "Deal 3f9c21ab, seed 1, 10,000 futures, slakit 0.1.0.",
    ]
    places = [text.index(words) for words in order]
    assert places == sorted(places)


@pytest.mark.parametrize("width", [64, 80, 96, 140])
def test_no_number_is_cut_off_and_no_line_runs_over(deal: Deal, score: dict[str, Any], width: int):
    text = printed(score_terminal.show, score, deal, width=width)
    assert max(len(line) for line in text.splitlines()) <= width
    assert "…" not in text
    for figure in ("211 bp", "± 0.3 pp", "160.4", "1.73x", "1,870,000 ± 20,000"):
        assert figure in text


def test_columns_that_do_not_fit_are_named(deal: Deal, score: dict[str, Any]):
    assert "Not shown at this width: Ends, Tax" in printed(score_terminal.show, score, deal, width=80)
    assert "Not shown" not in printed(score_terminal.show, score, deal, width=140)


def test_a_table_that_fits_keeps_its_columns():
    table = Table("t", "", ("Name", "A", "B"), (("x", "1", "2"),), ("Any", "1", "2"), may_drop=("A",))
    assert fitted(table, 60) == (table, [])
    narrow, left_out = fitted(table, 10)
    assert left_out == ["A"]
    assert (narrow.head, narrow.rows, narrow.total) == (("Name", "B"), (("x", "2"),), ("Any", "2"))


def test_names_in_brackets_are_printed_and_not_obeyed(terms: dict[str, Any], score: dict[str, Any]):
    terms["delivery"]["tranches"]["hall-1"]["name"] = "[bold red]Hall[/] [link=x]"
    score["title"] = "[reverse]Deal"
    text = printed(score_terminal.show, score, Deal.model_validate(terms))
    assert "[bold red]Hall[/]" in text
    assert "[link=x]" in text
    assert "[reverse]Deal" in text


def test_a_score_is_printed_without_its_deal_too(score: dict[str, Any]):
    text = printed(score_terminal.show, score)
    assert "hall-1" in text
    assert "month 4.0" in text


def test_a_score_without_a_loan_says_what_to_add(score: dict[str, Any]):
    del score["default"], score["dscr"], score["base_case"]
    text = printed(score_terminal.show, score)
    assert "Default and loss and cover: not computed: add finance.loan." in text
    assert "None" not in text


def test_a_site_is_answered_with_what_its_users_see():
    text = printed(site_terminal.show, {"sites": [site("1")]}, width=200)
    assert (
        "Hall 1 is available 99.9753% of the time: down once in 5.6 years, 4 h on average and 8 h more to restart. "
        "The weak point is utility (two circuits together) with generators: 94% of outages." in text
    )
    assert "pdu-a and pdu-b of one row, any of 22 alike" in text
    assert "3 others, together 1.0% of outages" in text


def test_an_abbreviation_keeps_its_capitals_and_what_is_rare_is_not_counted_in_trillions():
    rare = site("1", importance=[{"block": "utility", "component": "UPS module"}])
    rare["minimal_cut_sets"][0]["outages_per_year"] = rare["outages_per_year"] = 1e-9
    text = printed(site_terminal.show, {"sites": [rare]}, width=200)
    assert "down less than once in a million years" in text
    assert "utility (UPS module) with generators" in text


def test_what_is_left_out_of_one_site_only_is_said_of_that_site():
    other = site("2", outages_per_year=0.5, ignores=["Switching is perfect.", "No restart time is given."])
    text = printed(site_terminal.show, {"sites": [site("1"), other]}, width=200)
    assert "Hall 2: No restart time is given." in text
    assert "  Switching is perfect." in text


def test_sites_that_are_alike_are_said_once():
    text = printed(site_terminal.show, {"sites": [site("1"), site("2"), site("3", outages_per_year=0.5)]}, width=200)
    assert "1 and 2 are each available" in text
    assert "Hall 3 is available 99.9753% of the time: down 0.5 times a year, 4 h on average" in text
    assert text.count("Switching is perfect.") == 1


def test_a_site_without_a_graph_gives_its_reason():
    bare = {"id": "1", "name": "Hall 1", "availability": None, "availability_reason": "the site has no topology"}
    assert "Hall 1 is not computed: the site has no topology." in printed(site_terminal.show, {"sites": [bare]})


def test_a_site_that_is_never_down_is_said_to_be_so_in_this_model_only():
    safe = site("1", mean_outage_hours=None, outages_per_year=0.0, minimal_cut_sets=[], monthly_downtime_hours=None)
    safe["minimal_cut_sets_left_out"] = {"forms": 0, "share": 0.0}
    text = printed(site_terminal.show, {"sites": [safe]})
    assert "Hall 1 is never down in this model." in text
    assert "never" in text


def test_a_table_without_rows_has_its_head():
    assert "Name" in printed(print_table, Table("t", "note", ("Name", "A"), ()))
