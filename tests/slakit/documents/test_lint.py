"""What the lint finds in a text, and what it leaves alone."""

import pytest

from schemas.deal import Deal
from slakit.documents.lint import lint
from slakit.documents.tree import assemble

DEAL = Deal(schema_version=1)


def found(templates, texts, *, deal=DEAL, **options):
    root = templates(texts, **options)
    return {
        (finding.severity, finding.id, finding.paragraph, finding.message)
        for finding in lint(assemble(deal, root=root), root=root)
        if finding.id not in ("blank", "not-printed", "not-read")
    }


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        (
            '[a] As {{ ref("nowhere.a") }} says.',
            ("dangling-reference", "refers to 'nowhere.a', which is not in this document"),
        ),
        (
            "[a] The Wrong Term applies.",
            ("undefined-term", "'Wrong Term' is written like a defined term and is not one"),
        ),
        ("[a] A **Node** fails.", ("unused-term", "'Node' is defined and never used")),
        ("[a] None of it.", ("leftover", "'None' is left in the text")),
        ('[a] {{ "{{ x }}" }} left.', ("leftover", "'{{' is left in the text")),
        ("[a] It is highest_level.", ("code-word", "'highest_level' is a word of the deal file, not of a contract")),
        ("[z] It has no mark.", ("no-mark", "says neither computed, checked nor text")),
        ("[a] As said above it ends.", ("word-to-avoid", "the standard does not use 'above'")),
        (
            '[a] {{ term("credits.caps.unit") | percent }}',
            ("undeclared-read", "reads credits.caps.unit without declaring it"),
        ),
    ],
)
def test_a_fault_is_an_error(templates, text, finding):
    name, message = finding
    errors = found(
        templates, {"one": text + "\n"}, defines={"one": ["Node"]} if "Node" in text else None, words_to_avoid=["above"]
    )
    place = "one" if name == "undeclared-read" else "one.z" if name == "no-mark" else "one.a"
    assert ("error", name, place, message) in errors
    assert len(errors) == 1


def test_a_clean_text_has_no_findings(templates):
    texts = {
        "one": "[a] A **Node** is a server. Nodes stand in New York.\n\n[b] Each Node’s Credit Shares are "
        '{{ term("credits.caps.unit") | percent }}; see {{ ref("two.a") }}.\n',
        "two": "[a] A **Credit Share** is a share.\n",
    }
    options = {"terms": {"one": ["credits.caps"]}, "defines": {"one": ["Node"], "two": ["Credit Share"]}}
    assert found(templates, texts, proper_nouns=["New York"], **options) == set()


def test_a_term_defined_twice_is_an_error(templates):
    texts = {"one": "[a] A **Node** is a server. Node here.\n", "two": "[a] A **Node** is a tray.\n"}
    errors = found(templates, texts, defines={"one": ["Node"], "two": ["Node"]})
    assert errors == {("error", "defined-twice", "two.a", "'Node' is defined here and in one.a")}


def test_a_bold_term_must_be_declared_and_a_declared_one_printed(templates):
    errors = found(templates, {"one": "[a] A **Node** is a Node.\n"}, defines={"one": ["Slot"]})
    assert errors == {
        ("error", "undeclared-definition", "one.a", "'Node' is in bold and not under `defines`"),
        ("note", "definition-not-printed", "one", "'Slot' is not defined on these terms"),
    }


def test_the_longest_defined_term_is_read_first(templates):
    texts = {"one": "[a] A **Service** has a **Service Level** and **Excluded Downtime**.\n\n[b] Service Levels of a "
             "Service leave Excluded Downtime out.\n"}  # fmt: skip
    names = ["Service", "Service Level", "Excluded Downtime"]
    assert found(templates, texts, defines={"one": names}) == set()


def test_a_path_that_no_deal_can_have_is_an_error(templates):
    errors = found(templates, {"one": "[a] Text.\n"}, terms={"one": ["credits.cap", "finance.loan"]})
    assert {(name, message) for _, name, _, message in errors} == {("unknown-path", "declares a path no deal can have")}
    assert len(errors) == 1


def test_a_declared_path_may_stand_for_any_key(templates, deal):
    text = '[a] {% for level in value("service_levels").values() %}{{ level.target | percent }} {% endfor %}\n'
    assert found(templates, {"one": text}, deal=deal, terms={"one": ["service_levels.*.target"]}) == set()


def test_amendments_left_out_of_the_text_are_told(templates, data):
    data["amendments"] = [{"effective_from": "2027-01-01", "set": {"credits.caps.month": 0.2}}]
    notes = found(templates, {"one": "[a] Text.\n"}, deal=Deal.model_validate(data))
    assert [note[:2] for note in notes] == [("note", "amendments-not-printed")]


def test_errors_come_before_warnings_and_notes(templates):
    root = templates({"one": '[a] {{ term("commercial.currency") }} and a Wrong Term.\n'}, marks={"one": ["a", "b"]})
    severities = [finding.severity for finding in lint(assemble(DEAL, root=root), root=root)]
    assert severities == sorted(severities, key=["error", "warning", "note"].index)
    assert {"error", "warning", "note"} == set(severities)
