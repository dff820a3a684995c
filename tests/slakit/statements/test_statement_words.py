"""What a statement says of claims, objections, the other side and its own numbers, on paper and in the terminal."""

import io
import re
from dataclasses import replace
from datetime import datetime

import pytest
from rich.console import Console

from slakit.reports import credits_terminal
from slakit.reports.credit_statement import ledger
from slakit.reports.credit_statement.claims import maker, objection_words, open_claim_words
from slakit.reports.credit_statement.facts import Facts, printable
from slakit.reports.credit_statement.first_page import FirstPage, first_page
from slakit.reports.credit_statement.letter import letter
from slakit.reports.credit_statement.steps import told
from slakit.reports.rounding import NBSP
from slakit.statements.claim_pack import CLAIM

LATE = datetime.fromisoformat("2027-01-05T12:00Z")
CLAIM_OF = "id,kind,sent_at,unit_ids\nm1,maintenance,2026-10-01T00:00Z,n05\nc1,claim,{},\n"


def facts_of(found, **changed) -> Facts:
    return Facts(found.deal, printable({**found.document, **changed}))


def page_of(found, **changed) -> FirstPage:
    return first_page(facts_of(found, **changed))


def spaced(words: str) -> str:
    return words.replace(NBSP, " ")


def printed(document) -> str:
    console = Console(file=io.StringIO(), width=140)
    credits_terminal.show(console, document)
    return re.sub(r"\s+", " ", console.file.getvalue())


def row_of(found, unit, head="availability"):
    """Return the row of a unit in the table of all lines, by the head of its column."""
    facts = facts_of(found)
    table = next(table for table in ledger.tables(facts) if table.title.startswith("Credit by"))
    word = "nodes" if head == "availability" else head
    rows = [row for row in table.rows if row[0] == unit and (len(set(table.head) & {"Level"}) == 0 or word in row[1])]
    return dict(zip(table.head, rows[0], strict=True))


# 30 days after October end with 30 November, 24:00 in Chicago; what is owed is worked by hand in conftest.py


def test_what_was_not_claimed_in_time_is_in_the_answer_with_its_last_day_and_clauses(claimed_late):
    found = claimed_late(as_of=LATE)
    page = page_of(found)
    clauses = [found.clauses.numbers[f"credit-process.{one}"] for one in ("claim", "late")]
    assert spaced(page.headline) == "No credit is owed for October 2026: USD 11,000.00 was not claimed in time."
    assert (
        "it had to be claimed by 30 November 2026, 24:00 America/Chicago, and no claim is on record "
        f"(clauses {clauses[0]} and {clauses[1]})"
    ) in spaced(page.detail)
    assert "must be received" not in page.detail
    assert page.worked[-1].clause == clauses[1]
    assert row_of(found, "n02")["Clause"] == clauses[1]


def test_a_late_claim_is_named_with_the_day_of_its_receipt(claimed_late):
    found = claimed_late(CLAIM_OF.format("2026-12-05T09:00Z"))
    said = "had to be claimed by 30 November 2026, 24:00 America/Chicago, and the claim was received on 5 December 2026"
    assert said in spaced(page_of(found).detail)
    assert said in spaced(letter(facts_of(found)).deadline)
    assert said in spaced(printed(found.document))


def test_a_letter_after_the_last_day_says_that_the_time_is_over(claimed_late):
    words = spaced(letter(facts_of(claimed_late(as_of=LATE))).deadline)
    assert "had to be claimed by 30 November 2026" in words
    assert "send it at once" not in words


def test_a_claim_on_record_makes_the_credit_owed_without_an_if(claimed_late):
    found = claimed_late(CLAIM_OF.format("2026-11-10T09:00Z"), as_of=LATE)
    page = page_of(found)
    assert spaced(page.headline) == "USD 11,000.00 is owed for October 2026, claimed on 10 November 2026."
    assert "must be received" not in page.detail
    assert "USD 11,000.00 is owed for 2026-10, claimed on 10 November 2026." in spaced(printed(found.document))
    assert found.document["claim_by"] is None
    assert letter(facts_of(found)).deadline == "A claim is on record already; this notice repeats it."


def test_the_terminal_says_that_a_credit_must_be_claimed_and_that_a_late_claim_loses_it(claimed_late):
    words = spaced(printed(claimed_late().document))
    assert "USD 11,000.00 is owed for 2026-10 if it is claimed in time." in words
    assert "A claim must be received by 30 November 2026, 24:00 America/Chicago; later ones are lost." in words


def test_of_a_claim_for_some_units_the_rest_must_still_be_claimed(claimed_late):
    found = claimed_late(CLAIM_OF.format("2026-11-10T09:00Z").replace("10T09:00Z,\n", "10T09:00Z,n02\n"))
    page = page_of(found)
    # n02 has 5,000 of it, n07 to n09 2,000 each
    assert "all but USD 6,000.00 was claimed on 10 November 2026" in spaced(page.headline)
    assert "A claim must be received by 30 November 2026" in spaced(page.detail)


@pytest.mark.parametrize(
    ("late", "words"),
    [
        ("forfeit", "later ones are lost"),
        ("reduced, late_share: 0.4", "of later ones 40% is left"),
        ("none", "later ones are still good"),
    ],
)
def test_what_becomes_of_a_late_claim_is_what_the_contract_says(state, ridge, late, words):
    process = f"{{mode: claimed, window_days: 30, window_from: period_end, late: {late}}}"
    found = state(deal=ridge.replace("credits: {caps:", f"credits: {{process: {process}, caps:"))
    assert words in (open_claim_words(facts_of(found)) or "")


def test_the_last_day_to_object_follows_the_day_on_which_the_statement_is_due(october):
    (settled,) = october.document["settlements"]
    # 10 Business Days after October: 16 November is the tenth without 11 November, a holiday; then 20 more
    due, until = settled["due_by"], settled["object_by_if_stated_when_due"]
    assert due
    assert until
    words = spaced(objection_words(facts_of(october)) or "")
    assert re.search(
        r"within 20 Business Days after this statement is received; if it is received on \d+ November 2026, "
        r"when it is due, by \d+ December 2026, 24:00 America/Chicago",
        words,
    )
    number = october.clauses.numbers["monitor-evidence.objection"]
    assert words.endswith(f"(clause {number}).")


def test_the_last_day_to_object_is_a_day_once_the_receipt_is_on_record(claimed_late):
    received = "id,kind,sent_at,received_at\ns1,credit_statement,2026-11-04T15:00Z,2026-11-04T15:00Z\n"
    words = spaced(objection_words(facts_of(claimed_late(received))) or "")
    assert re.match(r"An objection must be made by \d+ December 2026, 24:00 America/Chicago \(clause [\d.]+\)\.", words)


def test_without_a_day_the_number_of_business_days_is_given(october):
    bare = [{**one, "due_by": None, "object_by_if_stated_when_due": None} for one in october.document["settlements"]]
    words = objection_words(facts_of(october, settlements=bare)) or ""
    assert words.startswith(
        "An objection must be made within 20 Business Days after this statement is received (clause"
    )


def test_a_statement_made_for_a_claim_is_the_customers_own(october, claimed_late):
    assert spaced(maker(facts_of(october))) == "Ridge Compute LLC to Tarn Research, Inc."
    may_state = october.clauses.numbers["credit-process.no-statement"]
    assert (
        spaced(maker(facts_of(october, made_for=CLAIM)))
        == f"Computed by Tarn Research, Inc. from its own records, under clause {may_state}."
    )
    late = claimed_late()
    assert maker(facts_of(late, made_for=CLAIM)).endswith(
        f"clause{NBSP}{late.clauses.numbers['credit-process.claim']}."
    )
    page = page_of(october, made_for=CLAIM)
    assert "Ridge Compute LLC to" not in page.under
    assert "when it is due" not in page.detail  # the provider's day is over when the customer states


def test_the_page_says_of_which_agreement_its_numbers_are(october, state):
    assert "Clause numbers of the agreement as it would be drafted from this deal." in page_of(october).under
    manifest = {**october.document["manifest"], "contract_sha256": "a8712d67" + "0" * 56}
    assert "Clause numbers of the signed copy, terms a8712d67." in spaced(page_of(october, manifest=manifest).under)
    assert "numbers" not in page_of(state()).under


def test_the_first_page_names_the_other_side_and_its_total(october):
    against = {
        "total": {"amount": "11000.00", "currency": "USD"},
        "other_total": {"amount": "9000.00", "currency": "USD"},
        "difference": {"amount": "2000.00", "currency": "USD"},
        "logs": [{"file": "theirs.csv"}],
        "lines": [],
        "minutes": [],
    }
    said = "By the other side's log (theirs.csv), on the same terms, it is USD 9,000.00, USD 2,000.00 less."
    assert said in spaced(page_of(october, against=against).detail)


def test_late_replacements_and_answers_are_no_missed_availability(much):
    # n02, n07 and n08 are below 99.5 % and took more than six hours; of two tickets the first waited 79 minutes
    said = "Three nodes missed 99.5%; three replacements were late; one first response was late."
    assert said in page_of(much).detail
    assert "Three units missed a target; three replacements were late; one first response was late." in printed(
        much.document
    )


def test_time_to_replace_and_to_answer_stands_in_no_column_of_downtime(much):
    minutes = ("Down", "Excluded", "Counted", "Disputed", "Unknown")
    row = row_of(much, "compute", "response")
    assert spaced(row["Level"]) == "response, 84 min"
    assert {row[name] for name in minutes} == {"–"}
    assert spaced(row_of(much, "n07", "replacement")["Level"]) == "replacement, 405 min"
    assert "replacement, replacement" not in str(list(ledger.tables(facts_of(much)))).lower()


def test_unknown_and_disputed_minutes_have_a_column_where_there_are_some(much, october):
    assert row_of(much, "n11")["Unknown"] == "180"
    assert row_of(much, "n02")["Disputed"] == "60"
    assert not {"Unknown", "Disputed", "Disregarded"} & set(page_of(october).lines.head)


def test_the_columns_of_minutes_add_up(state, ridge):
    log = "unit_id,started_at,ended_at\nn05,2026-10-12T05:00Z,2026-10-12T08:15Z\n"
    log += "n05,2026-10-13T05:00Z,2026-10-13T05:04Z\n"
    deal = ridge.replace("measurement: {", "measurement: {minimum_outage_minutes: 10, ")
    windows = "id,kind,starts_at,ends_at,unit_ids,notice_id\nw1,scheduled,2026-10-12T05:00Z,2026-10-12T07:00Z,n05,m1\n"
    found = state(log, deal, windows=windows, notices=CLAIM_OF.format("2026-11-10T09:00Z"))
    table = page_of(found).lines
    row = dict(zip(table.head, table.rows[0], strict=True))
    down, excluded, disregarded, counted = (int(row[n]) for n in ("Down", "Excluded", "Disregarded", "Counted"))
    assert (down, excluded, disregarded, counted) == (199, 120, 4, 75)
    assert down - excluded - disregarded == counted
    assert "counted is down less excluded and disregarded" in table.note


@pytest.mark.parametrize(
    ("unit", "head", "paragraph"),
    [
        ("n02", "availability", "credit-schedule.bands"),
        ("n05", "availability", "excluded-downtime.closed-list"),
        ("n10", "availability", "outage-clock.minimum"),
        ("n11", "availability", "monitor-evidence.silent"),
        ("n07", "replacement", "stacking.between-heads"),
        ("n05", "replacement", "replacement-times.target"),
        ("compute", "response", "stacking.between-heads"),
    ],
)
def test_the_clause_of_a_line_is_the_one_that_decides_it(much, unit, head, paragraph):
    assert row_of(much, unit, head)["Clause"] == much.clauses.numbers[paragraph]


def test_work_announced_too_late_counts_under_the_clause_on_late_notice(much):
    table = next(table for table in ledger.tables(facts_of(much)) if table.title == "Downtime inside windows")
    rows = {row[0]: dict(zip(table.head, row, strict=True)) for row in table.rows}
    assert rows["n12"]["Clause"] == much.clauses.numbers["scheduled-maintenance.late"]
    assert rows["n05"]["Clause"] == much.clauses.numbers["scheduled-maintenance.notice"]


def test_an_answer_names_its_ticket_and_how_long_it_took(much):
    line = next(line for line in much.document["periods"] if line["head"] == "response")
    words = [one.words for one in told(facts_of(much), line)]
    assert any(one.endswith("ticket t1 waited 79 minutes: late.") for one in words)
    assert any(one.endswith("ticket t2 waited 5 minutes: in time.") for one in words)


def test_steps_that_every_line_has_are_told_once(much):
    found = ledger.worked(facts_of(much))
    general = [one for one in found if one.title == "Every line of nodes, October 2026"]
    assert len(general) == 1
    assert any("calendar month" in step.words for step in general[0].steps)
    others = [step for one in found if one is not general[0] for step in one.steps]
    assert not set(general[0].steps) & set(others)


def test_a_line_without_downtime_that_has_a_record_has_steps_of_its_own_all_the_same(state):
    log = "unit_id,started_at,ended_at,state\nn08,2026-10-20T01:00Z,2026-10-20T07:45Z,degraded\n"
    found = state(log)
    line = next(line for line in found.document["periods"] if line["unit"] == "n08")
    assert line["steps_of"] == "n01"
    assert told(facts_of(found), line)


def test_a_table_without_rows_is_not_printed(state):
    words = printed(state(periods="2026-11").document)
    assert "12 further lines are not shown" in words.replace("Twelve", "12").replace("twelve", "12")
    assert "Level" not in words


def test_notes_are_sentences_and_numbers_agree_with_their_words(october):
    log = {
        **october.document["logs"][0],
        "notes": ["a local time comes twice"],
        "left_out": {"unit healthy": 1, "no outage": 2},
        "unknown_states": {"odd": 1},
    }
    words = ledger.notes(facts_of(october, logs=[log]))
    assert "A local time comes twice." in words
    assert any(one.endswith("one record says unit healthy.") for one in words)
    assert any(one.endswith("two records say no outage.") for one in words)
    assert any("its time (one record) is unknown" in one for one in words)
    assert all(one[0].isupper() or re.match(r"\S+[._]\S+", one) for one in words)
    assert "state 'odd' is not known (one record)" in printed({**october.document, "logs": [log]})


@pytest.mark.parametrize(
    "row",
    [
        "n01,2026-10-30T03:00Z,2026-10-30T02:00Z,down\n",
        "n01,2026-10-30T01:00Z,2026-10-30T02:00Z,on fire\n",
        "n01,never,2026-10-30T02:00Z,down\n",
    ],
)
def test_the_reason_of_a_skipped_line_is_in_our_words(state, row):
    found = state("unit_id,started_at,ended_at,state\nn02,2026-10-03T07:14Z,2026-10-03T14:41Z,down\n" + row)
    reasons = [one["reason"] for log in found.document["logs"] for one in log["skipped"]]
    assert "Value error" not in str([reasons, found.document["logs"]])
    assert "Value error" not in printed(found.document)


def test_the_first_page_that_is_overfull_lets_the_ledger_follow(october):
    page = page_of(october)
    assert not page.is_overfull
    long = replace(october, document={**october.document, "against": None})
    losses = {
        name: {"amount": "1.00", "currency": "USD"} for name in ("month_cap", "year_cap", "other_level", "other_head")
    }
    assert page_of(long, lost=losses, made_for=CLAIM).is_overfull
