"""A statement on paper: what it says, what it carries, and that it can be made again from it."""

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pikepdf
import pytest

from slakit.load import load_deal
from slakit.reports.credit_statement.statement import html
from slakit.reports.paper import signs
from slakit.statements.files import statement_pdf
from slakit.statements.terms import contract_terms
from slakit.verify.verification import verify

ROOT = Path(__file__).resolve().parents[3]


def attachments(content: bytes) -> dict[str, bytes]:
    import io

    with pikepdf.open(io.BytesIO(content)) as pdf:
        return {name: pdf.attachments[name].get_file().read_bytes() for name in pdf.attachments}


def words(path: Path) -> str:
    done = subprocess.run(["pdftotext", "-layout", str(path), "-"], capture_output=True, text=True, check=True)
    return done.stdout.replace("\u00a0", " ")


@pytest.fixture(scope="module")
def pdf(october, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("pdf") / "statement.pdf"
    path.write_bytes(statement_pdf(october))
    return path


@pytest.fixture(scope="module")
def text(pdf) -> str:
    return words(pdf)


def test_the_first_page_answers_who_owes_what_and_how_to_object(text):
    first = text.partition("\f")[0]
    assert "Ridge Compute LLC to Tarn Research, Inc. Times in America/Chicago" in first
    assert "USD 11,000.00 for October 2026 is credited to the next invoice." in first
    assert "Four nodes missed 99.5%." in first
    assert "An objection must be made within 20 Business Days" in first
    assert "How n02 comes to USD 5,000.00 in October 2026" in first


def test_the_worked_line_reads_as_a_person_tells_it(text):
    told = " ".join(text.partition("How n02 comes to")[2].partition("Logs:")[0].split())
    for sentence in (
        "Down from 3 Oct 2026, 02:14 to 09:41 (record log.csv:2:n02.ridge.example).",
        "It lasted at least 1 minute, and counts.",
        "No maintenance, force majeure or act of the customer is on record for that time: nothing is excluded.",
        "Availability = (44,640 − 447) ÷ 44,640 = 98.998655913…%, not rounded before it is compared.",
        "Below 99%, by 0.6 minutes: 25%.",
        "25% of USD 20,000.00, the fee accrued in the month for the unit, however and whenever paid: USD 5,000.00.",
        "At most 100% of the fee accrued for the unit in the month: USD 5,000.00, not reached.",
    ):
        assert sentence in told


def test_units_with_the_same_steps_are_told_once(text):
    assert "n07 and two others, nodes, October 2026: USD 2,000.00 each" in text
    assert "n08, n09: as n07" in text
    assert len(re.findall(r"upper\s+edge", text)) == 4  # n02, n07 with two others, n05, n10


def test_what_was_not_used_is_on_the_page(text):
    assert "login1" in text
    assert "log.csv:9" in text
    assert "is no time" in text


@pytest.mark.parametrize("broken", ["None", "nan", "{{", "}}", "True", "False", "Decimal", "Fraction(", "undefined"])
def test_nothing_of_the_machine_is_printed(text, broken):
    assert not re.search(rf"(?<![\w]){re.escape(broken)}(?![\w])", text)


def test_only_our_own_fonts_are_embedded(pdf):
    listed = subprocess.run(["pdffonts", str(pdf)], capture_output=True, text=True, check=True).stdout.splitlines()[2:]
    assert listed
    assert all("Plex" in line and line.split()[-5] == "yes" for line in listed)


def test_the_same_statement_gives_the_same_bytes(october, pdf):
    assert statement_pdf(october) == pdf.read_bytes()


def test_it_carries_terms_records_and_every_figure(october, pdf):
    inside = attachments(pdf.read_bytes())
    assert json.loads(inside["statement.json"])["total"] == october.document["total"]
    assert len(json.loads(inside["records.json"])["incidents"]) == 6
    assert "Ridge order 3" in inside["terms.json"].decode()


def test_it_is_made_again_from_itself_the_same(pdf):
    found = verify(pdf)
    assert not found.differences
    assert found.same


def rewritten(pdf: Path, folder: Path, name: str, old: str, new: str) -> Path:
    """Return a copy of the document with one of its files changed."""
    path = folder / "changed.pdf"
    with pikepdf.open(pdf) as file:
        stream = file.attachments[name].get_file()
        content = stream.read_bytes().decode()
        assert old in content
        embedded = file.attachments[name].obj.EF.F
        embedded.write(content.replace(old, new, 1).encode())
        file.save(path)
    return path


@pytest.mark.parametrize(
    ("name", "old", "new", "where"),
    [
        ("statement.json", '"amount": "5000.00"', '"amount": "5000.01"', "statement.json: periods"),
        ("statement.json", '"counted_minutes": 447', '"counted_minutes": 448', "statement.json: periods"),
        ("records.json", "2026-10-03T14:41:00Z", "2026-10-03T14:42:00Z", "statement.json: "),
        ("terms.json", '"0.25"', '"0.35"', "statement.json: "),
    ],
)
def test_a_changed_digit_is_found_and_named(pdf, tmp_path, name, old, new, where):
    found = verify(rewritten(pdf, tmp_path, name, old, new))
    assert not found.same
    assert any(difference.where.startswith(where) for difference in found.differences)


def leaves(value: Any) -> Iterator[str]:
    """Yield every text and number below a value."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from leaves(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from leaves(inner)
    elif not isinstance(value, bool) and value is not None:
        yield f"{value:f}" if isinstance(value, Decimal) else str(value)


def test_nothing_of_lenders_and_insurers_travels(files):
    path = ROOT / "examples" / "startup-1024-h100.yaml"
    deal = load_deal(path).deal
    whole = deal.model_dump(mode="json")
    kept = contract_terms(deal).model_dump(mode="json", exclude_unset=True)
    private = ("sites", "power", "residual_value", "backstop", "insurance", "finance", "assumptions", "provenance")
    assert all(whole.get(section) for section in private)
    public = set(leaves(kept))
    secret = {word for section in private for word in leaves(whole[section]) if len(word) > 6} - public
    secret |= {party["name"] for party in whole["parties"].values() if party["role"] not in ("provider", "customer")}
    assert len(secret) > 100
    text = json.dumps(kept)
    assert not {word for word in secret if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text)}


def test_a_statement_of_a_deal_with_lenders_holds_none_of_their_values(state, ridge, tmp_path):
    lenders = """
finance:
  close: 2026-01-01
  currency: USD
  capital_expenditure: 7654321
  loan: {amount: 4321987, annual_rate: 0.1234567, first_payment_month: 2, payments: 24}
  operating_costs: {fixed: {amount: 98765, starts: 2026-02-01}}
"""
    bank = "\n  bank: {name: Firn Credit Fund, role: lender}\n  customer:"
    found = state(deal=ridge.replace("\n  customer:", bank) + lenders)
    content = statement_pdf(found)
    path = tmp_path / "statement.pdf"
    path.write_bytes(content)
    everything = words(path) + "".join(part.decode() for part in attachments(content).values())
    for value in ("7654321", "4321987", "1234567", "98765", "Firn"):
        assert value not in everything


def test_signs_that_the_fonts_lack_are_replaced_and_said(state):
    log = "unit_id,started_at,ended_at,cause\nn02,2026-10-03T07:14Z,2026-10-03T14:41Z,\u7535\u6e90 \u26a1 failed\n"
    found = state(log)
    page = html(found.deal, found.document)
    assert set(re.sub(r"<[^>]*>|<style>.*</style>", "", page, flags=re.DOTALL)) - signs() <= {"\n", "\t"}
    assert "?? ? failed" in page
    assert "Signs that the fonts of this page lack are printed as ?" in page
    assert found.document["incidents"][0]["cause"] == "\u7535\u6e90 \u26a1 failed"


def test_typed_text_is_never_markup(state):
    log = 'unit_id,started_at,ended_at,cause\nn02,2026-10-03T07:14Z,2026-10-03T14:41Z,"<script>x</script>{{ 7*7 }}"\n'
    page = html(*(lambda found: (found.deal, found.document))(state(log)))
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "{{ 7*7 }}" in page  # as typed, not computed


@pytest.mark.parametrize(("law", "paper"), [("new_york", "letter"), ("england_wales", "a4")])
def test_the_paper_follows_the_governing_law(state, ridge, law, paper):
    found = state(deal=ridge.replace("currency: USD\n", f"currency: USD\n  governing_law: {law}\n"))
    assert f"size:{paper};" in html(found.deal, found.document)


Change = Callable[[str], str]


def page_of(state: Callable[..., Any], **how: Any) -> str:
    found = state(**how)
    return html(found.deal, found.document).replace("\u00a0", " ")


def test_a_period_without_an_outage_says_so(state):
    page = page_of(state, periods="2026-11")
    assert "No credit is owed for November 2026." in page
    assert "None of the 12 lines has an outage on record." in page
    assert "Credit by" not in page


def test_several_periods_have_a_column_of_their_own(state):
    page = page_of(state, periods="2026-09..2026-11")
    assert "USD 11,000.00 for September 2026 to November 2026 is credited" in page
    assert ">Period</th>" in page


def test_a_claimed_credit_names_the_last_day_and_the_clause(state, ridge):
    claimed = ridge.replace(
        "credits: {caps:", "credits: {process: {mode: claimed, window_days: 30, window_from: period_end}, caps:"
    )
    page = page_of(state, deal=claimed, numbered=True)
    # 30 days after the end of October in the contract's zone
    assert "A claim must be received by 30 November 2026, 24:00 America/Chicago" in page
    assert "is owed for October 2026 once it is claimed" in page
    assert "24:00 America/Chicago; later ones are still good" in page


def test_a_long_statement_tells_the_steps_of_like_units_once(state, ridge):
    many = ridge.replace("n[01-12]", "n[001-300]").replace("node: 12", "node: 300").replace("gpu: 96", "gpu: 2400")
    days = [(i, f"2026-10-{2 + i % 27:02d}") for i in range(1, 301)]
    rows = "".join(f"n{i:03d},{day}T01:00Z,{day}T07:45Z,psu,provider\n" for i, day in days)
    found = state("unit_id,started_at,ended_at,cause,cause_party\n" + rows, many)
    page = html(found.deal, found.document)
    assert page.count("<h3>") == 1
    assert "and 299 others" in page
    assert page.count('<th scope="row">n300</th>') == 2  # its line and its record
    assert re.search(r"\d{3} more lines are in the ledger", page)
