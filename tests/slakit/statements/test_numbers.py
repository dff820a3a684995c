"""Clause numbers of a signed copy: taken only where the copy and the deal say the same."""

import pytest

from schemas.errors import DealError
from slakit.documents import embed
from slakit.documents.tree import assemble
from slakit.load import load_deal
from slakit.statements.numbers import clauses_for

AMENDED = """\
amendments:
  - effective_from: 2026-09-01
    set: {service_levels.nodes.target: "0.996", credits.caps.month: "0.40"}
"""


@pytest.fixture
def deal(files):
    return lambda text: load_deal(files(deal_yaml=text)["deal_yaml"]).deal


@pytest.fixture
def copy(monkeypatch, deal, tmp_path):
    """Return a function that makes the signed copy of a deal; what a PDF carries is given without drawing it."""

    def of(text):
        document = assemble(deal(text))
        said = {"terms": document.terms, "sha256": document.terms_sha256, "numbering": dict(document.numbering)}
        monkeypatch.setattr(embed, "read", lambda path: said)
        return tmp_path / "signed.pdf"

    return of


def test_the_copy_of_the_same_terms_gives_its_numbers_and_its_digest(deal, copy, ridge):
    found = clauses_for(deal(ridge), copy(ridge))
    document = assemble(deal(ridge))
    assert found.numbers == document.numbering
    assert found.copy == document.terms_sha256
    assert clauses_for(deal(ridge), None).copy is None


@pytest.mark.parametrize(
    ("typed", "other", "path"),
    [
        ("Ridge Compute LLC", "Crag Compute LLC", "parties.provider.name"),
        ('target: "0.995"', 'target: "0.999"', "service_levels.nodes.target"),
        (
            'credit_fraction: "0.25"',
            'credit_fraction: "0.30"',
            r"service_levels.nodes.credit.bands\[1\].credit_fraction",
        ),
        ('month: "0.30"', 'month: "0.35"', "credits.caps.month"),
        ("zone: America/Chicago", "zone: America/Denver", "measurement.zone"),
        ("notice_days: 7", "notice_days: 9", "exclusions.scheduled.notice_days"),
        ('amount: "20000"', 'amount: "21000"', "commercial.charges.compute.price.amount"),
    ],
)
def test_a_copy_of_other_terms_is_refused_with_the_term_and_both_values(deal, copy, ridge, typed, other, path):
    signed = copy(ridge)
    assert typed in ridge
    with pytest.raises(DealError, match=rf"{path}: found .* in the deal; expected .*, as in signed\.pdf"):
        clauses_for(deal(ridge.replace(typed, other)), signed)


def test_a_service_level_that_the_copy_lacks_is_a_difference(deal, copy, ridge):
    more = ridge.replace("exclusions:", "  racks: {level: rack, credit: {shape: unstated}}\nexclusions:", 1)
    with pytest.raises(DealError, match=r"service_levels\.racks"):
        clauses_for(deal(more), copy(ridge))


def test_of_many_differences_ten_are_named_and_the_rest_counted(deal, copy, ridge):
    other = ridge
    for typed, new in (
        ("Ridge Compute", "Crag Compute"), ("Tarn", "Fell"), ("0.995", "0.999"), ("0.10", "0.11"), ("0.25", "0.26"),
        ("0.50", "0.51"), ("0.30", "0.35"), ("0.99\"", "0.98\""), ("0.95", "0.94"), ("Chicago", "Denver"),
        ("notice_days: 7", "notice_days: 9"), ('"20000"', '"21000"'), ("months: 36", "months: 48"),
    ):  # fmt: skip
        other = other.replace(typed, new)
    with pytest.raises(DealError, match="more terms that differ") as caught:
        clauses_for(deal(other), copy(ridge))
    assert len(caught.value.problems) == 11


def test_an_amended_deal_fits_the_copy_as_signed_and_a_copy_of_the_amended_terms(deal, copy, ridge):
    amended = ridge + AMENDED
    assert clauses_for(deal(amended), copy(ridge)).copy
    restated = ridge.replace('target: "0.995"', 'target: "0.996"').replace('month: "0.30"', 'month: "0.40"')
    assert clauses_for(deal(amended), copy(restated)).copy
    with pytest.raises(DealError, match=r"measurement\.zone"):
        clauses_for(deal(amended.replace("Chicago", "Denver")), copy(ridge))


def test_a_new_address_for_notices_is_no_other_contract(deal, copy, ridge):
    assert clauses_for(deal(ridge.replace("4 Mill Lane", "9 Quarry Road")), copy(ridge)).copy
