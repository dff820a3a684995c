"""The document of a statement: its keys, its figures, and what never travels with it."""

import csv
import io
import json
from decimal import Decimal
from fractions import Fraction

import pytest

from slakit.json_text import json_text
from slakit.reports.credit_statement import lines_csv
from slakit.reports.credit_statement.statement import html
from slakit.reports.credits_terminal import right_words

WINDOWS = "id,kind,starts_at,ends_at,unit_ids,notice_id\nw1,scheduled,2026-10-12T05:00Z,2026-10-12T07:00Z,n05,m1\n"
NOTICES = "id,kind,sent_at,unit_ids\nm1,maintenance,2026-10-01T00:00Z,n05\n"
LINE_KEYS = {
    "period", "service_level", "unit", "window_minutes", "down_minutes", "excluded_minutes", "disregarded_minutes",
    "counted_minutes", "unknown_minutes", "availability", "credit_fraction", "credit", "steps", "claim_by",
}  # fmt: skip


def line_of(stated, unit):
    return next(line for line in stated.document["periods"] if line["unit"] == unit)


def test_the_document_holds_what_the_design_promises(october):
    assert {"periods", "rights", "total"} <= october.document.keys()
    assert all(line.keys() >= LINE_KEYS for line in october.document["periods"])
    assert {"deal_sha256", "file_sha256", "data_sha256", "logs", "records", "versions"} <= october.document[
        "manifest"
    ].keys()


@pytest.mark.parametrize(
    ("unit", "down", "excluded", "counted", "availability", "share", "credit"),
    [
        ("n01", 0, 0, 0, Fraction(1), 0, "0.00"),
        ("n02", 447, 0, 447, 1 - Fraction(447, 44640), "0.25", "5000.00"),
        ("n05", 195, 120, 75, 1 - Fraction(75, 44640), 0, "0.00"),
        ("n07", 405, 0, 405, 1 - Fraction(405, 44640), "0.1", "2000.00"),
        ("n10", 0, 0, 0, Fraction(1), 0, "0.00"),
    ],
)
def test_each_line_is_what_was_worked_by_hand(october, unit, down, excluded, counted, availability, share, credit):
    line = line_of(october, unit)
    assert (line["down_minutes"], line["excluded_minutes"], line["counted_minutes"]) == (down, excluded, counted)
    assert Fraction(line["availability"]) == availability
    assert Decimal(line["credit_fraction"]) == Decimal(share)
    assert line["credit"] == line["payable"] == {"amount": credit, "currency": "USD"}


def test_the_total_is_the_sum_of_what_is_owed_on_the_lines(october):
    owed = sum(Decimal(line["payable"]["amount"]) for line in october.document["periods"])
    assert (
        october.document["total"]
        == {"amount": str(owed), "currency": "USD"}
        == {"amount": "11000.00", "currency": "USD"}
    )


def test_what_is_lost_and_what_is_owed_add_up_to_the_credits(state):
    rows = "".join(f"n{i:02d},2026-10-05T00:00Z,2026-10-25T00:00Z,power,provider\n" for i in range(1, 13))
    found = state("unit_id,started_at,ended_at,cause,cause_party\n" + rows).document
    credits, owed = (sum(Decimal(line[name]["amount"]) for line in found["periods"]) for name in ("credit", "payable"))
    # twelve nodes at half their fee against a cap of 30 %
    assert (credits, owed) == (Decimal("120000.00"), Decimal("72000.00"))
    assert found["lost"] == {"month_cap": {"amount": "48000.00", "currency": "USD"}}


def test_the_document_is_json_and_money_is_text(october):
    text = json_text(october.document)
    assert json.loads(text)["total"]["amount"] == "11000.00"
    assert "NaN" not in text


def test_steps_that_repeat_those_of_another_unit_are_given_once(october):
    untouched = [line for line in october.document["periods"] if not line["incidents"]]
    assert untouched[0]["steps"]
    assert all(line["steps_of"] == untouched[0]["unit"] for line in untouched[1:])
    assert not any(line["steps"] for line in untouched[1:])


def test_the_csv_has_every_line_and_the_same_figures(october):
    rows = list(csv.DictReader(io.StringIO(lines_csv(october.document))))
    assert len(rows) == len(october.document["periods"]) == 12
    assert sum(Decimal(row["payable"]) for row in rows) == Decimal("11000.00")
    assert {row["currency"] for row in rows} == {"USD"}


@pytest.mark.parametrize("unit", ["n02", "n05", "n07"])
def test_every_figure_of_a_line_stands_in_the_printed_table(october, unit):
    line = line_of(october, unit)
    page = html(october.deal, october.document)
    row = page[page.index(f'<th scope="row">{unit}</th>') :]
    row = row[: row.index("</tr>")]
    for name in ("down_minutes", "excluded_minutes", "counted_minutes"):
        assert f">{line[name]:,}<" in row or line[name] == 0
    assert f">{100 * float(Fraction(line['availability'])):.4f}%<" in row
    if Decimal(line["payable"]["amount"]):
        assert f">{Decimal(line['payable']['amount']):,}<" in row


def test_the_answer_of_the_page_is_the_total_of_its_table(october):
    page = html(october.deal, october.document).replace("\u00a0", " ")
    assert "USD 11,000.00 for October 2026 is credited to the next invoice." in page
    total = page[page.index('<tr class="total">') :]
    assert ">11,000.00<" in total[: total.index("</tr>")]


def test_numbers_of_clauses_stand_beside_every_step_of_a_paragraph_of_the_contract(october):
    steps = [step for line in october.document["periods"] for step in line["steps"]]
    assert all(step["clause"] for step in steps if step["paragraph"].startswith(("outage-clock", "service-levels")))


def test_times_in_words_are_in_the_zone_of_the_contract(october):
    page = html(october.deal, october.document).replace("\u00a0", " ")
    assert "Down from 3 Oct 2026, 02:14 to 09:41" in page  # 07:14 to 14:41 in UTC
    assert "07:14" not in page


def test_what_two_monitors_dispute_is_priced_under_each_reading(ridge, state):
    deal = ridge.replace("measurement: {", "measurement: {monitors: {m-1: provider, m-2: customer}, ", 1)
    assert "monitors" in deal
    rows = (
        "unit_id,started_at,ended_at,monitor_id\n"
        "n01,2026-10-03T07:00Z,2026-10-03T14:00Z,m-1\n"
        "n01,2026-10-03T06:00Z,2026-10-03T16:00Z,m-2\n"
    )
    document = state(rows, deal).document
    assert document["disputed"]["minutes"] == 180
    totals = {name: total["amount"] for name, total in document["disputed"]["totals"].items()}
    assert totals["provider"] == totals["shorter"] == document["total"]["amount"]
    assert totals["customer"] == totals["longer"] != totals["provider"]
    assert any("disputed minutes" in note for note in document["notes"])


def test_the_note_on_planned_work_at_once_cites_the_clause_of_its_check(state, ridge):
    deal = ridge.replace("{notice_days: 7, cap_unit", '{notice_days: 7, max_concurrent_fraction: "0.05", cap_unit')
    found = state(deal=deal, windows=WINDOWS, notices=NOTICES, numbered=True).document
    (check,) = found["checks"]
    assert (check["paragraph"], check["result"]) == ("scheduled-maintenance.at-once", False)
    assert check["clause"]
    (note,) = [note for note in found["notes"] if note.startswith("Planned work took")]
    assert f"(clause {check['clause']})" in note
    assert "scheduled-maintenance" not in note


def test_a_right_to_leave_is_told_in_the_words_of_the_clause():
    right = {
        "unit": "n01",
        "scope": "order",
        "form": "single_outage",
        "arises": "2026-10-05T00:00:00Z",
        "exercise_from": "2026-10-05T00:00:00Z",
        "exercise_by": None,
    }
    assert "a right to end this Agreement as a whole (single outage) arose" in right_words(right, "UTC")
