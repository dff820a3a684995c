"""A contract assembled from its own extract: the same words, the same numbers, the same terms."""

import copy
import json

import pytest

from schemas.deal import Deal
from schemas.errors import DealError
from slakit.documents.markdown import to_markdown
from slakit.documents.partial import deal_of
from slakit.documents.tree import assemble
from slakit.load import load_deal
from slakit.paths import examples_dir, templates_dir

DEALS = [*sorted(examples_dir().glob("*.yaml")), *sorted((templates_dir() / "starters").glob("*.yaml"))]


def assert_made_again_from_its_terms(deal: Deal) -> None:
    first = assemble(deal)
    again = assemble(deal_of(json.loads(json.dumps(first.terms))))
    assert to_markdown(again) == to_markdown(first)
    assert again.numbering == first.numbering
    assert again.terms_sha256 == first.terms_sha256


@pytest.mark.parametrize("path", DEALS, ids=lambda path: path.stem)
def test_a_contract_is_the_same_from_its_extract(path):
    assert_made_again_from_its_terms(load_deal(path).deal)


def test_the_contract_of_an_empty_deal_is_the_same_from_its_extract():
    assert_made_again_from_its_terms(Deal(schema_version=1))


def test_the_contract_of_the_whole_deal_is_the_same_from_its_extract(deal):
    assert_made_again_from_its_terms(deal)


def test_entries_keep_the_order_of_the_deal_whatever_text_reads_them_first(data):
    site = data["sites"]["campus"]
    data["sites"] = {"annex": {**site, "name": "Annex"}, "campus": site}
    terms = assemble(Deal.model_validate(data)).terms
    assert list(terms["sites"]) == ["annex", "campus"]
    assert_made_again_from_its_terms(Deal.model_validate(data))


@pytest.mark.parametrize(
    "left_out",
    [
        ("commercial",),
        ("commercial", "prepayment"),
        ("cancellation",),
        ("cancellation", "convenience"),
        ("cancellation", "chronic_failure", "limbs", 0),
        ("exclusions", "scheduled"),
        ("delivery", "tranches", "first", "delay_damages"),
        ("service_levels", "nodes"),
    ],
    ids=str,
)
def test_what_a_deal_leaves_out_is_left_out_again(left_out, data):
    terms = copy.deepcopy(data)
    holder = terms
    for step in left_out[:-1]:
        holder = holder[step]
    del holder[left_out[-1]]
    assert_made_again_from_its_terms(Deal.model_validate(terms))


@pytest.mark.parametrize(
    ("terms", "path"),
    [
        ({"credits": {"caps": {"month": "much"}}}, "credits.caps.month"),
        ({"credits": {"caps": {"monthly": "0.3"}}}, "credits.caps"),
        ({"credits": ["0.3"]}, "credits"),
        ({"nothing": 1}, "nothing"),
        ({"delivery": {"tranches": {"a": {"ready_for_service_date": {"days": []}}}}}, "delivery.tranches.a"),
        ({"service_levels": {"a": {"credit": {"bands": [{"below": {"x": 1}}]}}}}, "service_levels.a.credit"),
    ],
)
def test_what_is_no_term_is_refused_by_its_path(terms, path):
    with pytest.raises(DealError, match="do not trust the document") as caught:
        deal_of(terms)
    assert all(problem.path.startswith(path) for problem in caught.value.problems)
