"""Tables, contract lines, judgements and notes: what they hold, and that nothing is left out unsaid."""

import copy
from typing import Any

import pytest

from schemas.deal import Deal
from slakit.reports import tables
from slakit.reports.contract_lines import contract_lines
from slakit.reports.judgements import inputs, judgements, latest_source
from slakit.reports.notes import condensed, for_lenders
from slakit.reports.rounding import NBSP


def plain(words: str) -> str:
    return words.replace(NBSP, " ")


def cells(table: tables.Table) -> list[tuple[str, ...]]:
    return [tuple(map(plain, row)) for row in (table.head, *table.rows, *([table.total] if table.total else []))]


def lines(deal: Deal, score: dict[str, Any]) -> dict[str, str]:
    return {label: plain(words) for label, words in contract_lines(deal, score)}


def test_delivery_shows_dates_of_the_deal_and_chances_of_the_score(deal: Deal, score: dict[str, Any]):
    assert cells(tables.delivery(deal, score)) == [
        ("Tranche", "Due", "Late", "Past long stop", "P50 delay", "P90 delay"),
        ("hall-1", "1 Jan 2027", "21.0% ± 0.4 pp", "3.4% ± 0.2 pp", "0", "3.4"),
        ("hall-2", "1 Apr 2027", "36.0% ± 0.5 pp", "7.4% ± 0.3 pp", "0", "4.4"),
    ]


def test_tranches_left_out_are_counted_with_their_worst_chance(deal: Deal, score: dict[str, Any]):
    first = score["delivery"]["tranches"][0]
    score["delivery"]["tranches"] += [
        copy.deepcopy(first) | {"id": f"hall-{i}", "probability_late": 0.2 - i / 100} for i in range(3, 8)
    ]
    table = tables.delivery(deal, score, limit=3)
    assert [row[0] for row in table.rows] == ["hall-1", "hall-2", "hall-3"]
    assert table.rest == "4 others, each late in at most 16.0% of futures"


def test_a_single_row_is_never_replaced_by_a_count(deal: Deal, score: dict[str, Any]):
    table = tables.delivery(deal, score, limit=1)
    assert len(table.rows) == 2
    assert table.rest is None


def test_the_base_case_adds_its_months_up_to_years(score: dict[str, Any]):
    table = tables.base_case(score)
    rows = score["base_case"]["rows"]
    assert len(table.rows) == 5
    assert table.rows[1][2] == f"{sum(row['fees'] for row in rows[12:24]) / 1e6:,.1f}"
    assert plain(table.rows[0][1]) == "Aug 2027"
    assert table.rows[0][7] == "0.60x"
    assert table.rows[-1][-1] == "0.0"


def test_later_years_are_put_together_and_lose_nothing(score: dict[str, Any]):
    table = tables.base_case(score, limit=3)
    assert [row[0] for row in table.rows] == ["1", "2", "3 to 5"]
    whole = sum(float(row[2].replace(",", "")) for row in table.rows)
    assert whole == pytest.approx(sum(row["fees"] for row in score["base_case"]["rows"]) / 1e6, abs=0.2)


def test_a_year_without_debt_service_has_a_dash_for_cover(score: dict[str, Any]):
    for row in score["base_case"]["rows"][:12]:
        row["dscr"] = None
    assert tables.base_case(score).rows[0][7] == "–"


def test_credits_by_level_end_with_what_is_paid(deal: Deal, score: dict[str, Any]):
    assert cells(tables.credits(deal, score)) == [
        ("Level", "Unit", "Target", "Expected"),
        ("nodes", "node", "99%", "1,310,000"),
        ("racks", "rack", "99.9%", "840,000"),
        ("After caps", "", "", "1,870,000 ± 20,000"),
    ]


def test_causes_without_an_event_are_kept_with_their_bound(score: dict[str, Any]):
    rows = {row[0]: row for row in cells(tables.endings(score))}
    assert rows["Notice"] == ("Notice", "0%, at most 0.03% (95%)")
    assert rows["Any"] == ("Any", "14.2% ± 0.3 pp")
    assert cells(tables.defaults(score))[-1] == ("Any", "6.8% ± 0.3 pp", "211 bp ± 7")


def test_the_contract_in_six_lines(deal: Deal, score: dict[str, Any]):
    assert lines(deal, score) == {
        "Firm term": "60 months, all of them firm, from each Ready-for-Service Date",
        "Long stop": "9 months after the date, ends the tranche; passed by the tranche most often late in "
        "7.4% of futures",
        "Credit caps": "15% of the month's fee, 10% of the year's fees",
        "Chronic failure": "3 months of 6 below 99% (racks); or one outage over 3 days (racks)",
        "Notice": "no one may leave without cause",
        "Covenant": "cover 1.20x, missed in 12% of futures; no distributions below 1.30x over 6 months",
    }


def test_a_right_to_leave_is_said_with_its_first_day(terms: dict[str, Any], score: dict[str, Any]):
    terms["cancellation"] = {"convenience": {"first_exercise": "2027-01-01", "notice": {"days": 90}, "fee": 5_000_000}}
    score["cancellation"] |= {"firm_months": 60, "effective_firm_months": 6.0}
    found = lines(Deal.model_validate(terms), score)
    assert found["Notice"] == "either party, 90 days' notice, first on 1 January 2027, for USD 5 m"
    assert found["Firm term"] == "6 months firm of 60 months from the first Ready-for-Service Date"
    assert found["Chronic failure"] == "no right to leave for bad service"


def test_what_a_contract_does_not_limit_is_said(terms: dict[str, Any], score: dict[str, Any]):
    del terms["credits"]
    for tranche in terms["delivery"]["tranches"].values():
        del tranche["long_stop"]
    found = lines(Deal.model_validate(terms), score)
    assert found["Credit caps"] == "no cap below the unit's own monthly fee"
    assert found["Long stop"] == "none: however late, the customer is bound"


@pytest.mark.parametrize(
    ("backstop", "said"),
    [
        (
            {
                "shape": "payment_guarantee",
                "triggers": ["payment_default"],
                "amount": 1_800_000_000,
                "amortisation_months": 60,
            },
            "payment guarantee of Guarantor Inc., up to USD 1.8 bn, which falls to nothing over 60 months; for each "
            "tranche once it is ready",
        ),
        (
            {"shape": "revenue_floor", "floor_rent": "1.70", "amount": 60_000_000, "amount_per_year": 15_000_000},
            "revenue floor of Guarantor Inc., up to USD 60 m and USD 15 m a year; once all tranches are ready",
        ),
        ({"shape": "first_loss"}, "first loss of Guarantor Inc., without limit; from close"),
        (
            {"shape": "unsold_hours_put", "floor_rent": 1, "starts": "rent_commenced", "expires": "2030-01-01"},
            "unsold hours put of Guarantor Inc., without limit; once the first fee is due, to 1 January 2030",
        ),
        (
            {"shape": "leaseback", "floor_rent": 1, "starts": "date", "start_date": {"close_plus_months": 9}},
            "leaseback of Guarantor Inc., without limit; from 9 months after close",
        ),
    ],
)
def test_a_backstop_is_named_with_its_provider_its_limit_and_its_start(
    terms: dict[str, Any], score: dict[str, Any], backstop: dict[str, Any], said: str
):
    terms["parties"]["backer"] = {"name": "Guarantor Inc.", "role": "guarantor"}
    terms["backstop"] = {"provider": "backer", **backstop}
    assert lines(Deal.model_validate(terms), score)["Backstop"] == said


def test_without_a_loan_the_covenant_is_not_computed(terms: dict[str, Any], score: dict[str, Any]):
    for name in ("loan", "reserve", "covenants", "lock_up", "recovery"):
        del terms["finance"][name]
    del score["dscr"]
    assert lines(Deal.model_validate(terms), score)["Covenant"] == "not computed: add finance.loan"


def test_judgements_are_counted_and_recovery_comes_first(deal: Deal):
    found = judgements(deal)
    assert len(found.found) == 5
    assert found.numbers == 6
    assert [judgement.name for judgement in found.found[:2]] == ["recovery: lag months", "recovery: sale stress"]
    assert plain(found.found[0].value) == "9 months†"
    assert found.found[0].range == "4 to 18"
    assert "5 of 6 numbers about the world" in found.sentence
    assert latest_source(deal) == f"30{NBSP}November{NBSP}2026"


def test_the_same_number_in_many_places_counts_once(terms: dict[str, Any]):
    interrupts = terms["assumptions"]["delay"]["sigma"] | {"unit": "1/year", "value": 1.04}
    for cluster in terms["clusters"].values():
        cluster["nodes"] = {"interrupts_per_node_year": interrupts}
    found = judgements(Deal.model_validate(terms))
    assert len(found.found) == 6
    assert "interrupts per node year, 2 places" in [judgement.name for judgement in found.found]


def test_notes_that_differ_in_one_name_are_said_once_and_no_other_is_lost():
    notes = ["Site 'a': one.", "Site 'b': one.", "Tax: none.", "Level 'x', site 'a': p.", "Level 'y', site 'b': p."]
    assert condensed(notes) == [
        "Tax: none.",
        "Site 'a' and 'b': one.",
        "Level 'x', site 'a': p.",
        "Level 'y', site 'b': p.",
    ]


def test_a_lender_reads_finance_before_components():
    notes = ["Components fail alone.", "Site 'a': x.", "Finance: no refinancing.", "Default of the customer: none."]
    assert for_lenders(notes) == [
        "Default of the customer: none.",
        "Finance: no refinancing.",
        "Components fail alone.",
        "Site 'a': x.",
    ]


def test_a_law_stands_where_no_range_is_typed_and_a_source_reads_as_a_sentence(terms: dict[str, Any]):
    sigma = terms["assumptions"]["delay"]["sigma"]
    terms["assumptions"]["delay"]["sigma"] = sigma | {"spread": {"law": "normal", "size": "0.1"}, "source": "A survey"}
    found = {one.path: one for one in inputs(Deal.model_validate(terms))}
    assert found["assumptions.delay.sigma"].range == "normal, size 0.1"
    assert found["assumptions.delay.sigma"].reason == "A survey. made up."
    assert found["assumptions.delay.share_late"].value == "0.36"
    assert found["assumptions.delay.median"].value == f"2{NBSP}months†"


def test_columns_without_a_figure_are_left_out_and_words_keep_their_side():
    table = tables.Table(
        "t", "", ("Name", "A", "B", "Path"), (("x", "–", "1", "p"), ("y", "–", "–", "q")), words_last=True
    )
    found = tables.without_blank_columns(table)
    assert found.head == ("Name", "B", "Path")
    assert [found.align(i) for i in range(3)] == ["left", "right", "left"]
