"""The glossary: one line for each word, the same words as in the contract and the schema."""

import re
from pathlib import Path
from typing import get_args

from schemas.service_levels import Level
from slakit.documents.clauses import clause_file, document_file

ROOT = Path(__file__).resolve().parents[2]
SPEC = document_file("sla")
CLAUSES = {slug: clause_file(slug) for slug in SPEC.clauses()}
GLOSSARY = re.findall(r"^- \*\*(.+?)\*\*", (ROOT / "docs/glossary.md").read_text(), re.MULTILINE)


def defined_terms() -> set[str]:
    """Return every word that a clause or a page of the contract defines."""
    clauses = {word for clause in CLAUSES.values() for word in clause.defines}
    return clauses | {word for page in SPEC.pages() for word in page.defines}


def test_the_glossary_holds_every_defined_term_once_and_no_other_capitalised_word():
    assert len(GLOSSARY) == len(set(GLOSSARY))
    assert {word for word in GLOSSARY if word[0].isupper()} == defined_terms()


def test_the_glossary_names_every_level_of_the_schema():
    text = (ROOT / "docs/glossary.md").read_text()
    named = re.findall(r"^- \*\*.+?\*\* \(`(\w+)`\)", text, re.MULTILINE)
    assert sorted(named) == sorted(get_args(Level))


def test_the_glossary_names_the_clause_that_defines_each_word():
    text = (ROOT / "docs/glossary.md").read_text()
    for slug, clause in CLAUSES.items():
        for word in clause.defines:
            (line,) = re.findall(rf"^- \*\*{re.escape(word)}\*\*.*$", text, re.MULTILINE)
            assert line.endswith(f"(`{slug}`)."), line


def test_the_glossary_holds_the_words_of_the_design():
    """The words on which papers, deal file and contract must agree."""
    words = {word.casefold() for word in GLOSSARY}
    agreed = (
        "GPU, node, rack, scale-up domain, cluster, hall, site, downtime, excluded downtime, availability, "
        "measurement period, service credit, claim window, chronic failure, force majeure, acceptance, "
        "ready-for-service date, long-stop date, backstop, take-or-pay, draws, credit step, technical grade, band"
    )
    assert {word.strip().casefold() for word in agreed.split(",")} - words == set()
