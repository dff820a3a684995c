"""The agreement as it is printed from the project's own clauses."""

import io
import re
from datetime import date

import pypdf
import pytest

from schemas.deal import Deal
from schemas.incidents import Incident
from slakit.documents.clauses import clauses_without_document, document_file
from slakit.documents.draft import to_pdf
from slakit.documents.lint import lint
from slakit.documents.markdown import to_markdown
from slakit.documents.nodes import Table, plain
from slakit.documents.tree import assemble
from slakit.load import load_deal
from slakit.paths import examples_dir

EXAMPLES = sorted(examples_dir().glob("*.yaml"))


@pytest.fixture(scope="module")
def pages(deal):
    """The text of each page of the agreement of the whole deal."""
    content = to_pdf(assemble(deal)).content
    return [page.extract_text().replace("\u00a0", " ") for page in pypdf.PdfReader(io.BytesIO(content)).pages]


def tables_of(document, section_id):
    (section,) = (section for section in document.sections if section.id == section_id)
    return [block for node in section.walk() for block in node.blocks if isinstance(block, Table)]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_agreement_of_an_example_is_without_faults_or_blanks(path):
    document = assemble(load_deal(path).deal)
    assert [finding for finding in lint(document) if finding.severity != "note"] == []
    assert not re.search(r"\{\{|\bNone\b|\bnan\b|\[●\]|unresolved", to_markdown(document))


def test_the_agreement_of_the_whole_deal_is_without_faults_or_blanks(deal):
    assert [finding for finding in lint(assemble(deal)) if finding.severity != "note"] == []


def test_an_empty_deal_prints_blanks_and_no_faults():
    document = assemble(Deal(schema_version=1))
    assert {finding.severity for finding in lint(document)} == {"warning", "note"}
    assert len(document.blanks) > 5


def test_no_clause_folder_is_left_out_of_every_document():
    assert clauses_without_document() == ()


def test_the_clauses_of_the_document_stand_once_in_their_parts():
    slugs = document_file("sla").clauses()
    assert len(slugs) == len(set(slugs)) >= 25


def test_the_annex_lists_the_fields_of_an_incident_record(deal):
    (table,) = tables_of(assemble(deal), "incident-fields")
    assert [plain(row[0]) for row in table.rows] == list(Incident.model_fields)
    described = {plain(row[0]): plain(row[1]) for row in table.rows}
    for name in ("level", "state", "cause_party"):
        words = Incident.model_json_schema()["properties"][name]["enum"]
        assert set(words) <= set(re.findall(r"[a-z_]+", described[name]))


def test_the_key_terms_stand_on_one_page(pages):
    held = [i for i, page in enumerate(pages) if "\nKey terms\n" in f"\n{page}\n" and "What is agreed" in page]
    assert len(held) == 1
    page = pages[held[0]]
    assert "below 99.5% and not below 99.0%" in page
    assert "Effective firm term" in page
    assert "11 months and 29 days" in page


def test_the_key_terms_of_a_large_order_stand_on_one_page(data):
    tranche = data["delivery"]["tranches"]["first"]
    level = data["service_levels"]["nodes"]
    data["delivery"]["tranches"] = {f"t{i}": {**tranche, "share_of_service": 0.125} for i in range(8)}
    data["services"]["compute"]["tranches"] = list(data["delivery"]["tranches"])
    data["clusters"] = {**data["clusters"], **{f"c{i}": data["clusters"]["east"] for i in range(5)}}
    data["service_levels"] |= {f"level-{i}": level for i in range(6)}
    content = to_pdf(assemble(Deal.model_validate(data))).content
    texts = [page.extract_text().replace("\u00a0", " ") for page in pypdf.PdfReader(io.BytesIO(content)).pages]
    (at,) = (i for i, page in enumerate(texts) if "What is agreed" in page)
    assert "Level 5" in texts[at]
    assert "Parties" in texts[at + 1]


def test_the_figures_of_the_key_terms_are_those_of_the_clauses(deal):
    document = assemble(deal)
    shown = {
        (run.path, run.text)
        for node in document.walk()
        for block in node.blocks
        for cells in (block.rows if isinstance(block, Table) else ())
        for cell in cells
        for run in cell
        if run.kind == "term" and run.path
    }
    by_path = {}
    for path, text in shown:
        by_path.setdefault(path, set()).add(re.sub(r"^below |,? and not.*$", "", text))
    assert by_path["credits.caps.month"] == {"30%"}
    assert by_path["service_levels.nodes.credit.bands[2].credit_fraction"] == {"50%"}
    for path in ("service_levels.nodes.target", "cancellation.chronic_failure.limbs[1].hours"):
        assert len(by_path[path]) == 1


def test_the_cover_names_the_parties_and_the_status_and_no_date(pages):
    assert "Draft for review by counsel" in pages[0]
    assert "Northfield Compute LLC" in pages[0]
    assert "Halden Models Inc." in pages[0]
    assert not re.search(r"\b20\d\d\b", pages[0])


def test_the_contents_give_the_page_of_each_clause(pages, deal):
    contents = pages[1]
    for section in assemble(deal).clauses():
        match = re.search(rf"{re.escape(section.title)}[ .]*\s*(\d+)$", contents, re.MULTILINE)
        assert match, section.title
        assert f"{section.label}\n{section.title}" in pages[int(match[1]) - 1].replace(
            f"{section.label} ", f"{section.label}\n"
        )


def test_signatures_stand_whole_on_a_page_with_the_words_before_them(pages):
    (page,) = (page for page in pages if page.count("By") >= 2 and "Signatures" in page and "Date" in page)
    assert "signed by persons authorised" in page
    for name in ("Northfield Compute LLC", "Halden Models Inc."):
        assert name in page
    assert [page.count(word) for word in ("\nBy\n", "\nName\n", "\nTitle\n")] == [2, 2, 2]


def test_every_page_but_the_cover_has_head_and_foot(pages, deal):
    digest = assemble(deal).terms_sha256[:8]
    for number, page in enumerate(pages, start=1):
        assert f"Page {number} of {len(pages)}" in page
        assert f"terms {digest}" in page
        assert ("Service Level Agreement Draft for review by counsel" in page) == (number > 1)


def test_no_table_of_figures_goes_over_a_page(pages, deal):
    document = assemble(deal)
    for table in tables_of(document, "credit-schedule") + tables_of(document, "service-levels"):
        first, last = plain(table.rows[0][-1]), plain(table.rows[-1][-1])
        head = " ".join(plain(cell) for cell in table.head).split()
        assert any(all(word in page for word in (*head, *first.split(), *last.split())) for page in pages)


CLAIMED_IN_BUSINESS_DAYS = {
    "credits.base": "invoiced",
    "credits.caps": {"month": "0.20", "month_of": "previous_period", "term": "0.08", "carry_forward": True},
    "credits.between_levels": "choose_one",
    "credits.between_heads": "highest",
    "credits.within_level": "worst_outage",
    "credits.minimum_payable": "25.00",
    "credits.process": {
        "mode": "claimed",
        "window_business_days": 5,
        "window_from": "incident_start",
        "late": "reduced",
    },
    "credits.form": {"form": "spread_over_term", "cash_after_months": None},
    "measurement.business_calendars": ["US-NY", "NYSE"],
    "measurement.day_count": "include_event_day",
    "operations.replacement": {"target_hours": {"node": "4"}},
    "service_levels.cluster.base_share": "0.15",
    "cancellation.chronic_failure": {
        "limbs": [
            {"form": "cumulative_hours", "service_level": "cluster", "hours": "120", "window_days": 90},
            {"form": "same_cause", "service_level": "nodes", "count": 3, "window_days": 60},
            {"form": "cap_reached", "cap": "year"},
            {"form": "replacement_missed", "count": 4, "window_days": 90},
        ]
    },
}
CLAIMED_IN_MONTHS = {
    "credits.base": "order_fee_accrued",
    "credits.between_levels": "parent_absorbs_children",
    "credits.form": {"form": "added_days"},
    "credits.process": {"mode": "claimed", "window_months": 2, "window_from": "next_period_end"},
    "cancellation.chronic_failure": {"limbs": [{"form": "cap_reached", "cap": "month"}]},
}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            CLAIMED_IN_BUSINESS_DAYS,
            (
                "within 5 Business Days after the start of the last Outage",
                "only 50% is left",
                "in the month before it",
                "8% of the Fee planned for it",
                "no more than USD 25.00",
                "owed in the months that follow",
                "the longest Outage of a Unit",
                "the day of the event is day 1",
                "a holiday of US-NY or NYSE",
                "15% for Cluster",
                "set off in equal parts",
                "more than 120 hours",
                "reach the limit of the Contract Year",
                "4 replacements for one Service become late",
            ),
        ),
        (
            CLAIMED_IN_MONTHS,
            (
                "within 2 months after the end of the month after it",
                "for all Services",
                "the Units inside it are paid none",
                "days of service at no charge",
                "at the end of the month in which a limit is reached",
            ),
        ),
    ],
    ids=["business-days", "months"],
)
def test_terms_of_money_are_printed_in_words_without_faults(changes, words):
    agreed = load_deal(examples_dir() / "startup-1024-h100.yaml").deal
    amended = agreed.revise({"amendments": [{"effective_from": "2001-01-01", "set": changes}]}).at(date(2001, 1, 2))
    document = assemble(amended)
    assert [finding for finding in lint(document) if finding.severity != "note"] == []
    printed = to_markdown(document).replace("\u00a0", " ")
    assert [phrase for phrase in words if phrase not in printed] == []
