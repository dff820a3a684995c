"""The line format of clause texts, and the numbers it is printed with."""

import pytest

from schemas.deal import Deal
from schemas.errors import DealError
from slakit.documents.nodes import Formula, Table, Text, plain
from slakit.documents.tree import assemble, trace

DEAL = Deal(schema_version=1)


def nodes(root):
    return {node.id: node for node in assemble(DEAL, root=root).walk()}


def test_paragraphs_are_numbered_by_clause_letter_and_small_roman(templates):
    root = templates(
        {"one": "[a] First.\n", "two": "[a] Head:\n  [.x] one;\n    [..p] deep;\n    [..q] deeper;\n  [.y] two.\n"}
    )
    assert trace(assemble(DEAL, root=root)) == {
        "one": "1",
        "one.a": "1.1",
        "two": "2",
        "two.a": "2.1",
        "two.a.x": "2.1(a)",
        "two.a.x.p": "2.1(a)(i)",
        "two.a.x.q": "2.1(a)(ii)",
        "two.a.y": "2.1(b)",
        "execution": "Signatures",
        "execution.testimonium": "Signatures",
    }


def test_lines_of_a_paragraph_are_joined_until_an_empty_line(templates):
    root = templates({"one": "[a] First line\nsecond line\n\n[b] Next.\n"})
    (text,) = nodes(root)["one.a"].blocks
    assert isinstance(text, Text)
    assert plain(text.runs) == "First line second line"


def test_a_table_and_a_formula_belong_to_the_paragraph_over_them(templates):
    root = templates({"one": "[a] Shares:\n| Level | Share |\n|---|---:|\n| x | 5% |\n\n[b] It is:\n= a = 1 − b\n"})
    found = nodes(root)
    table = found["one.a"].blocks[1]
    formula = found["one.b"].blocks[1]
    assert isinstance(table, Table)
    assert table.align == ("left", "right")
    assert plain(table.rows[0][1]) == "5%"
    assert isinstance(formula, Formula)
    assert plain(formula.runs) == "a = 1 − b"


def test_words_after_the_items_close_the_paragraph_that_holds_them(templates):
    root = templates({"one": "[a] If:\n  [.x] this; or\n  [.y] that,\n\nthe fee stops.\n"})
    node = nodes(root)["one.a"]
    assert [child.label for child in node.children] == ["(a)", "(b)"]
    assert [plain(block.runs) for block in node.tail if isinstance(block, Text)] == ["the fee stops."]


def test_a_clause_without_paragraphs_takes_no_number(templates):
    root = templates({"one": "[a] First.\n", "none": "{% if false %}[a] Never.{% endif %}", "two": "[a] Second.\n"})
    assert trace(assemble(DEAL, root=root))["two"] == "2"


def test_a_reference_prints_the_number_and_starts_a_sentence_with_a_capital(templates):
    text = '[a] See {{ ref("two.a") }}. {{ ref("two") }} too, and {{ ref("two.a", "number") }}.\n'
    root = templates({"one": text, "two": "[a] Here.\n"})
    (block,) = nodes(root)["one.a"].blocks
    assert isinstance(block, Text)
    assert plain(block.runs) == "See clause\u00a02.1. Clause\u00a02 too, and 2.1."
    assert {run.target for run in block.runs if run.kind == "reference"} == {"two", "two.a"}


def test_quotes_dashes_and_units_are_set_as_a_printer_would(templates):
    root = templates({"one": '[a] The "unit" - the customer\'s - waits 30 days.\n'})
    (block,) = nodes(root)["one.a"].blocks
    assert isinstance(block, Text)
    assert plain(block.runs) == "The “unit” – the customer’s – waits 30\u00a0days."


def test_definitions_stand_in_alphabetical_order_under_the_first_paragraph(templates):
    root = templates({"definitions": "[list] These words mean:\n", "one": "[a] Text.\n"})
    clause = root / "clauses/definitions/clause.yaml"
    clause.write_text(
        clause.read_text() + "definitions:\n- {term: Slot, text: a place, paragraph: slot}\n"
        "- {term: Node, text: \"see {{ ref('one') }}\", paragraph: node}\n"
    )
    node = nodes(root)["definitions.list"]
    entries = node.blocks[1].entries
    assert [entry.term for entry in entries] == ["Node", "Slot"]
    assert plain(entries[0].runs) == "see clause\u00a02"


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("Words first.\n", "before the first paragraph"),
        ("[a] x\n    [..y] deep\n", r"\[\.\.y\] without a paragraph above it"),
        ("[a] x\n\n[a] y\n", "two paragraphs one.a"),
        ("[a] x\n| p | q |\n|---|---|\n| 1 |\n", "expected 2 cells"),
        ("[a] x\n| p | q |\n", "table .* expected a head"),
        ("[a] {{ nothing }}\n", "'nothing' is undefined"),
        ("[a] fine\n{% if %}\n", "Expected an expression"),
    ],
)
def test_a_fault_in_a_text_names_its_file(templates, text, match):
    root = templates({"one": text})
    with pytest.raises(DealError, match=match) as caught:
        assemble(DEAL, root=root)
    assert caught.value.problems[0].file == "clauses/one/text/balanced.en.md.j2"


def test_faults_of_all_clauses_are_told_at_once(templates):
    root = templates({"one": "Stray.\n", "two": "Stray too.\n", "three": "[a] Good.\n"})
    with pytest.raises(DealError, match="Stray too") as caught:
        assemble(DEAL, root=root)
    assert len(caught.value.problems) == 2


def test_a_position_uses_its_own_text_where_there_is_one(templates):
    root = templates({"one": "[a] Standard.\n", "two": "[a] Standard too.\n"})
    (root / "clauses/one/text/customer.en.md.j2").write_text("[a] For the customer.\n")
    document = assemble(DEAL, position="customer", root=root)
    words = [plain(block.runs) for node in document.walk() for block in node.blocks if isinstance(block, Text)]
    assert words[:2] == ["For the customer.", "Standard too."]


def test_an_unknown_position_or_document_is_refused(templates):
    root = templates({"one": "[a] Standard.\n"})
    with pytest.raises(DealError, match="position: found 'lender'; expected one of balanced"):
        assemble(DEAL, position="lender", root=root)
    with pytest.raises(DealError, match="document: found 'order'; expected one of sla"):
        assemble(DEAL, "order", root=root)


def test_a_clause_file_with_an_unknown_key_is_refused(templates):
    root = templates({"one": "[a] Standard.\n"})
    clause = root / "clauses/one/clause.yaml"
    clause.write_text(clause.read_text() + "colour: red\n")
    with pytest.raises(DealError, match="colour: found 'red'; expected Extra inputs are not permitted"):
        assemble(DEAL, root=root)
