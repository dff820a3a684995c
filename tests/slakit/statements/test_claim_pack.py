"""The claim pack: letter, computation, evidence and deadline in one archive."""

import csv
import io
import subprocess
import zipfile
from datetime import datetime
from pathlib import Path

import pytest

from slakit.reports.credit_statement import lines_csv
from slakit.reports.credit_statement.letter import letter_text
from slakit.statements.claim_pack import claim_pack, evidence_csv
from slakit.verify.verification import verify


@pytest.fixture(scope="module")
def claimed(state, ridge):
    """Return a statement of a deal whose credits must be claimed within 30 days of the end of the month."""
    terms = "credits: {process: {mode: claimed, window_days: 30, window_from: period_end}, caps:"
    return state(deal=ridge.replace("credits: {caps:", terms), numbered=True)


@pytest.fixture(scope="module")
def packed(claimed):
    return claim_pack(claimed)


@pytest.fixture(scope="module")
def pack(packed):
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def notice(pack, tmp_path_factory):
    path = tmp_path_factory.mktemp("pack") / "claim-notice.pdf"
    path.write_bytes(pack["claim-notice.pdf"])
    return path


def test_it_holds_letter_computation_and_evidence(pack):
    assert list(pack) == [
        "claim-notice.pdf", "claim-notice.txt", "credit-statement.pdf", "lines.csv", "evidence.csv", "statement.json"
    ]  # fmt: skip
    assert all(pack.values())


def test_the_same_statement_gives_the_same_bytes(claimed, packed):
    assert claim_pack(claimed) == packed


def test_the_letter_names_parties_sum_clause_and_deadline(claimed, pack):
    letter = pack["claim-notice.txt"].decode()
    assert "To: Ridge Compute LLC, 4 Mill Lane, Denver" in letter
    clause = next(
        step["clause"]
        for line in claimed.document["periods"]
        for step in line["steps"]
        if step["paragraph"] == "credit-process.claim"
    )
    assert f"Tarn Research, Inc. claims USD {claimed.document['total']['amount'][:2]}" in letter
    assert f"under clause {clause} of the Service Level Agreement" in letter


def test_the_deadline_of_the_letter_is_that_of_the_statement(claimed, pack):
    # late from 1 December, 00:00 in Chicago, which is 06:00 in UTC; the last day is 30 November
    assert claimed.document["claim_by"] == "2026-12-01T06:00:00Z"
    assert datetime.fromisoformat(claimed.document["claim_by"]).day == 1
    assert "must be received by 30 November 2026, 24:00 America/Chicago" in pack["claim-notice.txt"].decode()


def test_the_letter_on_paper_says_the_same_and_fits_its_page(notice, pack):
    done = subprocess.run(["pdftotext", "-layout", str(notice), "-"], capture_output=True, text=True, check=True)
    words = done.stdout.replace("\u00a0", " ")
    assert words.count("\f") == 1
    assert "must be received by 30 November 2026, 24:00 America/Chicago" in words
    for row in csv.DictReader(io.StringIO(pack["lines.csv"].decode())):
        if float(row["payable"]):
            assert f"{float(row['payable']):,.2f}" in words
    assert "None" not in words
    assert "Signature" in words


def test_the_computation_inside_can_be_made_again(pack, tmp_path):
    path = tmp_path / "statement.pdf"
    path.write_bytes(pack["credit-statement.pdf"])
    assert verify(path).same


def test_the_evidence_holds_every_log_line_of_every_record(claimed, pack):
    rows = list(csv.DictReader(io.StringIO(pack["evidence.csv"].decode())))
    kept = {(row["file"], row["line"]) for row in rows}
    assert kept == {
        (line["file"], str(line["line"])) for incident in claimed.document["incidents"] for line in incident["evidence"]
    }
    assert all(row["text"] for row in rows)


FORMULAS = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "=HYPERLINK(0)", "\uff1d1+1", " =1+1", "'=1+1"]


@pytest.mark.parametrize("formula", FORMULAS)
def test_no_cell_of_the_pack_runs_as_a_formula(state, formula):
    log = f'unit_id,started_at,ended_at,cause\nn02,2026-10-03T07:14Z,2026-10-03T14:41Z,"{formula}"\n'
    log += f'"{formula}",2026-10-03T07:14Z,2026-10-03T14:41Z,x\n'
    document = state(log).document
    for text in (evidence_csv(document), lines_csv(document)):
        cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
        assert not [cell for cell in cells if cell.lstrip().startswith(("=", "+", "-", "@", "\t", "\uff1d", "\uff0b"))]


def test_a_unit_that_is_named_like_a_formula_is_written_as_text(state, ridge):
    deal = ridge.replace('names: "n[01-12]"', 'names: "n[01-12],=cmd"')
    log = "unit_id,started_at,ended_at,cause\n=cmd,2026-10-03T07:14Z,2026-10-03T14:41Z,x\n"
    document = state(log, deal).document
    assert "'=cmd" in lines_csv(document)
    assert "'=cmd" in evidence_csv(document)


def test_a_letter_without_a_credit_claims_nothing(state, ridge):
    found = state(periods="2026-11")
    letter = letter_text(found.deal, found.document)
    assert "Nothing is claimed for November 2026." in letter
    assert "What is claimed" not in letter


def test_a_deadline_whose_first_day_is_not_on_record_is_not_made_up(state, ridge):
    terms = "credits: {process: {mode: claimed, window_days: 30, window_from: statement}, caps:"
    found = state(deal=ridge.replace("credits: {caps:", terms))
    assert found.document["claim_by"] is None
    words = "within 30 days after the Credit Statement is received, of which nothing is on record; send it at once"
    assert f"This notice must be received {words}." in letter_text(found.deal, found.document)


def test_every_file_name_in_the_pack_is_plain(pack):
    assert all(Path(name).name == name for name in pack)
