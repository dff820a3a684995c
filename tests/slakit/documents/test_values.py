"""What a clause text may see of a deal, how it prints it, and what it can never do."""

from decimal import Decimal

import pytest

from schemas.deal import Deal
from schemas.errors import DealError
from slakit.documents.html import to_html
from slakit.documents.lint import lint
from slakit.documents.markdown import to_markdown
from slakit.documents.nodes import Text, plain
from slakit.documents.tree import assemble
from slakit.documents.values import CONTRACT

NBSP = "\u00a0"


def first_words(document):
    (block,) = next(document.walk()).blocks
    assert isinstance(block, Text)
    return plain(block.runs)


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ('term("service_levels.nodes.target") | percent', "99.5%"),
        ('term("credits.caps.unit") | percent', "100%"),
        ('term("commercial.charges.compute.price.amount") | money', f"USD{NBSP}2.50"),
        ('term("cancellation.convenience.fee") | money', f"USD{NBSP}1,000,000.00"),
        ('term("commercial.term.months") | months', f"60{NBSP}months"),
        ('term("acceptance.burn_in.hours") | hours', f"48{NBSP}hours"),
        ('term("measurement.minimum_outage_minutes") | minutes', f"1{NBSP}minute"),
        ('term("credits.process.statement_business_days") | business_days', f"10{NBSP}Business{NBSP}Days"),
        ('term("credits.process.statement_business_days") | days("business")', f"10{NBSP}Business{NBSP}Days"),
        ('term("cancellation.convenience.notice") | duration', f"90{NBSP}days"),
        ('term("delivery.tranches.first.ready_for_service_date") | date', f"1{NBSP}March{NBSP}2027"),
        ('term("cancellation.chronic_failure.limbs[0].k") | words', "three"),
        ('term("clusters.east.units.gpu") | count', "1,152"),
        ('term("credits.between_levels") | choice({"highest_level": "the highest"})', "the highest"),
        ('value("service_levels.nodes.credit.bands") | edge(0)', "below 99.5% and not below 99.0%"),
        ('party("customer").name', "Halden Models Inc."),
        ('value("service_levels").cluster.target | percent', "99.5%"),
        ('keys("sites") | join(", ")', "campus"),
        ("effective_firm_term()", f"11{NBSP}months and 29{NBSP}days"),
    ],
)
def test_a_value_is_printed_in_contract_words(templates, deal, expression, words):
    root = templates({"one": f"[a] {{{{ {expression} }}}}\n"})
    assert first_words(assemble(deal, root=root)) == words.replace(f"Business{NBSP}Days", "Business Days")


def test_a_printed_value_keeps_its_path(templates, deal):
    text = '[a] {% for id, level in value("service_levels").items() %}{{ level.target | percent }} {% endfor %}\n'
    (block,) = next(assemble(deal, root=templates({"one": text})).walk()).blocks
    paths = [run.path for run in block.runs if run.kind == "term"]
    assert paths == [f"service_levels.{name}.target" for name in ("nodes", "domains", "cluster")]


def test_a_missing_value_prints_a_blank_and_is_listed(templates):
    deal = Deal(schema_version=1)
    root = templates(
        {"one": '[a] {{ term("commercial.term.months") | months }} and {{ term("credits.caps.month") }}\n'}
    )
    document = assemble(deal, root=root)
    assert first_words(document) == "[●] and [●]"
    assert [(blank.section, blank.path) for blank in document.blanks][:2] == [
        ("one", "commercial.term.months"),
        ("one", "credits.caps.month"),
    ]
    assert [finding.path for finding in lint(document, root=root) if finding.id == "blank"][:2] == [
        "commercial.term.months",
        "credits.caps.month",
    ]


def test_a_missing_value_is_false_empty_and_none(templates):
    text = (
        '[a] {% if value("commercial") %}x{% endif %}{% if value("credits.caps.month") is none %}none{% endif %}'
        '{% if value("credits.caps.month") != none %}x{% endif %}{% for id in keys("sites") %}x{% endfor %}\n'
    )
    assert first_words(assemble(Deal(schema_version=1), root=templates({"one": text}))) == "none"


HOSTILE = (
    "**x** | [b] {{ 7*7 }} {% raw %} <script>alert(1)</script> & \ue0000\ue001 `code` = 1\n\n[forged] Nothing is owed."
)


def test_words_of_a_party_are_never_markup(templates, data):
    data["parties"]["seller"]["name"] = HOSTILE.partition("\n")[0]
    data["exclusions"]["scheduled"]["windows"] = HOSTILE
    text = (
        '[a] {{ party("provider").name }} said {{ value("exclusions.scheduled.windows") }} and '
        '{{ value("exclusions.scheduled.windows") | upper }} and {{ "x " ~ value("exclusions.scheduled.windows") }}\n\n'
        '| {{ party("provider").name }} | y |\n|---|---|\n| 1 | 2 |\n'
    )
    root = templates({"one": text})
    document = assemble(Deal.model_validate(data), root=root)
    node = next(document.walk())
    assert document.numbering.keys() == {"one", "one.a", "execution", "execution.testimonium"}
    assert all(run.kind != "defined" for run in node.blocks[0].runs)
    assert "49" not in plain(node.blocks[0].runs)
    assert len(node.blocks[1].head) == 2
    html = to_html(document, root=root, standalone=False)
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "\\<script\\>" in to_markdown(document)
    assert "\ue000" not in html


def test_a_title_cannot_leave_the_style_sheet(templates, data):
    data["parties"]["seller"]["name"] = '"; } </style><script>x</script> @import url(http://example.invalid)'
    root = templates({"one": "[a] x\n"}, title='"; } </style><b>')
    html = to_html(assemble(Deal.model_validate(data), root=root), root=root, standalone=False)
    assert html.count("</style>") == 1
    assert "<script>" not in html
    assert "<b>" not in html


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ('{{ term("credits.cap.month") }}', "found credits.cap.month; expected a path of the deal file"),
        ('{{ term("finance.loan.amount") }}', "finance never enters a document"),
        ('{{ value("provenance") }}', "provenance never enters a document"),
        ('{{ value("backstop.amount") }}', "backstop never enters a document"),
        ('{{ term("title") }}', "title never enters a document"),
        ('{{ value("cancellation.convenience.notice") }}', "printed as it is"),
        ('{{ term("credits.caps.unit") | money }}{{ term("services") | percent }}', "with the filter percent"),
        ('{{ term("credits.base") | choice({"x": "y"}) }}', "'unit_fee_accrued'"),
        ('{{ value("measurement.gap_counts") }}', "a yes or no"),
        ('{{ value("credits").nonsense }}', "credits.nonsense; expected a field of the deal file"),
        ('{{ value("credits.base").__class__.__mro__ }}', "unsafe"),
        ("{{ term.__globals__ }}", "unsafe"),
        ('{% include "/etc/passwd" %}', "no loader"),
        ('{{ value("credits.base") | safe }}', "No filter named 'safe'"),
    ],
)
def test_a_text_cannot_reach_beyond_the_terms(templates, deal, text, match):
    with pytest.raises(DealError, match=match):
        assemble(deal, root=templates({"one": f"[a] {text}\n"}))


@pytest.mark.parametrize("section", sorted(set(Deal.model_fields) - CONTRACT))
def test_no_text_reads_a_section_that_is_not_between_the_parties(templates, deal, section):
    with pytest.raises(DealError, match=f"{section} never enters a document"):
        assemble(deal, root=templates({"one": f'[a] {{{{ value("{section}") }}}}\n'}))


def test_the_lenders_side_is_not_between_the_parties():
    lenders = {"operations", "power", "insurance", "residual_value", "backstop", "finance", "assumptions"}
    assert lenders <= set(Deal.model_fields) - CONTRACT


def test_a_view_shows_no_method_of_the_terms_behind_it(templates, deal):
    with pytest.raises(DealError, match=r"credits\.model_dump; expected a field"):
        assemble(deal, root=templates({"one": '[a] {{ value("credits").model_dump() }}\n'}))


def test_only_what_is_read_is_in_the_extract(templates, deal):
    text = (
        '[a] {{ party("provider").name }} {{ value("service_levels.nodes.credit.bands[1].below") | percent }} '
        '{{ term("cancellation.convenience.notice") | duration }} {{ value("credits.caps.month") }}\n'
    )
    document = assemble(deal, root=templates({"one": text}))
    terms = dict(document.terms)
    parties = terms.pop("parties")
    assert parties["seller"]["name"] == "Northfield Compute LLC"
    assert "bank" not in parties
    assert terms == {
        "cancellation": {"convenience": {"notice": {"days": 90, "months": None}}},
        "commercial": {"governing_law": "new_york"},
        "credits": {"caps": {"month": "0.3"}},
        "service_levels": {"nodes": {"credit": {"bands": [None, {"below": "0.99"}]}}},
    }


def test_equal_terms_have_equal_digests_however_they_are_typed(templates, data):
    root = templates({"one": '[a] {{ term("credits.caps.month") | percent }}\n'})
    first = assemble(Deal.model_validate(data), root=root)
    data["credits"]["caps"]["month"] = Decimal("0.300")
    assert assemble(Deal.model_validate(data), root=root).terms_sha256 == first.terms_sha256
    data["credits"]["caps"]["month"] = Decimal("0.31")
    assert assemble(Deal.model_validate(data), root=root).terms_sha256 != first.terms_sha256


def test_the_digest_of_the_templates_moves_with_any_text(templates, deal):
    root = templates({"one": "[a] x\n"})
    before = assemble(deal, root=root).templates_sha256
    (root / "clauses/one/text/balanced.en.md.j2").write_text("[a] y\n")
    assert assemble(deal, root=root).templates_sha256 != before


@pytest.mark.parametrize(("law", "paper"), [("texas", "letter"), ("ireland", "a4"), ("singapore", "a4")])
def test_the_law_chooses_the_paper(templates, data, law, paper):
    data["commercial"]["governing_law"] = law
    assert assemble(Deal.model_validate(data), root=templates({"one": "[a] x\n"})).paper == paper
