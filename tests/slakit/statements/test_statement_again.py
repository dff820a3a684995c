"""Every kind of statement, made again from what it carries, is the same."""

from dataclasses import replace
from subprocess import run

import pytest

from slakit.cli.verify import origin
from slakit.json_text import plain, typed_text
from slakit.reports.clauses import Clauses
from slakit.statements.carried import records_file
from slakit.statements.claim_pack import CLAIM
from slakit.statements.compared import compared
from slakit.statements.credits import Stated, periods_of
from slakit.statements.files import statement_pdf
from slakit.statements.terms import contract_terms
from slakit.verify.credited import restated
from slakit.verify.verification import verify

COPY = "5eal" * 16


def with_other_side(found: Stated, other: Stated) -> Stated:
    asked = found.document["asked"]
    periods = periods_of(found.deal, f"{asked[0]}..{asked[-1]}", (), None, found.gathered.records.units)
    return replace(found, document={**found.document, "against": compared(found, other, periods, None)})


def with_copy(found: Stated) -> Stated:
    manifest = {**found.document["manifest"], "contract_sha256": COPY, "deal_sha256": "d" * 64}
    document = {**found.document, "manifest": manifest}
    return replace(found, document=document, clauses=Clauses(found.clauses.numbers, COPY))


def for_a_claim(found: Stated) -> Stated:
    return replace(found, document={**found.document, "made_for": CLAIM})


@pytest.fixture(scope="module")
def kinds(much, october, claimed_late, state):
    late = claimed_late()
    return {
        "windows": october,
        "windows beyond what is allowed at once, disputed minutes, rights, late replacements and answers": much,
        "without numbers": state(),
        "several periods": state(periods="2026-09..2026-11"),
        "credits to be claimed": late,
        "the other side's log": with_other_side(october, state()),
        "the numbers of a signed copy": with_copy(much),
        "a claim": for_a_claim(late),
    }


@pytest.mark.parametrize(
    "kind",
    [
        "windows",
        "windows beyond what is allowed at once, disputed minutes, rights, late replacements and answers",
        "without numbers",
        "several periods",
        "credits to be claimed",
        "the other side's log",
        "the numbers of a signed copy",
        "a claim",
    ],
)
def test_a_statement_with_this_is_the_same_when_made_again(kinds, kind):
    found = kinds[kind]
    records = records_file(found.gathered.records, found.asked)
    _, document, records_again = restated("a.pdf", typed_text(contract_terms(found.deal)).encode(), records)
    assert plain(document) == plain(found.document)
    assert records_again == records


def test_much_holds_what_its_name_says(much):
    document = much.document
    assert document["checks"]
    assert document["disputed"]
    assert document["rights"]
    assert {line["head"] for line in document["periods"]} == {"availability", "replacement", "response"}
    assert {row["reason"] for row in document["exclusions"]} == {None, "late notice"}


@pytest.fixture(scope="module")
def everything(much, october, tmp_path_factory):
    """Return the PDF of a statement with everything at once."""
    path = tmp_path_factory.mktemp("again") / "statement.pdf"
    found = for_a_claim(with_copy(with_other_side(much, october)))
    path.write_bytes(statement_pdf(found))
    return path, verify(path), found


def test_the_pages_of_a_statement_with_everything_are_the_same_too(everything):
    _, checked, _ = everything
    assert not checked.differences
    assert checked.to_the_byte


def test_the_foot_of_each_page_names_the_digest_that_verify_prints(everything):
    path, checked, found = everything
    digest = found.document["manifest"]["terms_sha256"][:8]
    pages = run(["pdftotext", "-layout", str(path), "-"], capture_output=True, text=True, check=True).stdout
    assert pages.count(f"terms {digest} ·") == pages.count("\f")
    assert f"terms {digest}" in origin(checked)
    assert f"copy with terms {COPY[:8]}" in origin(checked)
    assert found.document["manifest"]["deal_sha256"][:8] != digest
