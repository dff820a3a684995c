"""What is wrong with the text of a document: words, references, marks, and terms read without being declared."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from schemas.deal import Deal
from schemas.errors import TermsError
from slakit.documents.clauses import ClauseFile, DocumentFile, clause_file, document_file
from slakit.documents.nodes import DefinitionList, Document, Run, Runs, blocks_of, runs_of
from slakit.documents.values import is_of_contract, schema_has
from slakit.documents.words import avoided, capitalised, uses

Severity = Literal["error", "warning", "note"]
_LEFTOVER = re.compile(
    r"\{\{|\}\}|\{%|%\}|\*\*|\bNone\b|\bnan\b|\bNaN\b|\[unresolved\]|[\ue000\ue001]|\bTODO\b|\bTBD\b"
)
_CODE_WORD = re.compile(r"\b[a-z0-9]+_[a-z0-9_]+\b")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found in a text."""

    id: str
    severity: Severity
    paragraph: str
    """Id of the paragraph or section, for example `credit-caps.unit`."""
    message: str
    number: str = ""
    """Number printed in this document."""
    path: str = ""
    """Path in the deal, where the finding is about a term."""


def lint(document: Document, *, root: Path | None = None) -> tuple[Finding, ...]:
    """Return what is wrong with a document's text, errors first.

    Errors must not be printed. A warning is a blank that the parties have to fill; a note says what a reader may miss.
    """
    spec = document_file(document.id, root)
    clauses = {section.id: clause_file(section.id, root) for section in document.clauses()}
    found = [
        *_references(document),
        *_leftovers(document),
        *_defined_terms(document, spec, clauses),
        *_marks(document, clauses),
        *_declared(document, spec, clauses),
        *_blanks(document),
        *_amendments(document),
    ]
    order = {"error": 0, "warning": 1, "note": 2}
    numbered = (
        Finding(f.id, f.severity, f.paragraph, f.message, document.numbering.get(f.paragraph, ""), f.path)
        for f in found
    )
    return tuple(sorted(numbered, key=lambda finding: order[finding.severity]))


def _stretches(document: Document) -> Iterator[tuple[str, Runs]]:
    """Yield every stretch of runs with the id of its paragraph; definitions under their own ids."""
    for node in document.walk():
        for block in blocks_of(node):
            if isinstance(block, DefinitionList):
                for entry in block.entries:
                    yield entry.id, (Run("defined", entry.term), Run("text", " "), *entry.runs)
            else:
                for runs in runs_of(block):
                    yield node.id, runs


def _references(document: Document) -> Iterator[Finding]:
    for place, runs in _stretches(document):
        for run in runs:
            if run.kind == "reference" and run.target not in document.numbering:
                yield Finding(
                    "dangling-reference", "error", place, f"refers to {run.target!r}, which is not in this document"
                )


def _leftovers(document: Document) -> Iterator[Finding]:
    for place, runs in _stretches(document):
        for run in runs:
            if run.kind in ("typed", "blank"):
                continue
            left = _LEFTOVER.search(run.text)
            if left and run.text != "[unresolved]":
                yield Finding("leftover", "error", place, f"{left[0]!r} is left in the text")
            code = _CODE_WORD.search(run.text) if run.kind in ("term", "text") else None
            if code and not place.startswith("incident-fields"):
                yield Finding("code-word", "error", place, f"{code[0]!r} is a word of the deal file, not of a contract")


def _defined_terms(document: Document, spec: DocumentFile, clauses: dict[str, ClauseFile]) -> Iterator[Finding]:
    defined: dict[str, list[str]] = defaultdict(list)
    used: set[str] = set()
    stretches = list(_stretches(document))
    for place, runs in stretches:
        for run in runs:
            if run.kind == "defined":
                defined[run.text].append(place)
    for term, where in defined.items():
        if len(where) > 1:
            yield Finding("defined-twice", "error", where[1], f"{term!r} is defined here and in {where[0]}")
    known = frozenset(defined)
    nouns = frozenset(spec.proper_nouns)
    for place, runs in stretches:
        used |= uses(_words(runs, ("text", "term")), known)
        words = _words(runs, ("text",))
        for phrase in capitalised(words, known, nouns):
            yield Finding("undefined-term", "error", place, f"{phrase!r} is written like a defined term and is not one")
        for word in avoided(words, spec.words_to_avoid):
            yield Finding("word-to-avoid", "error", place, f"the standard does not use {word!r}")
    for section in document.sections:
        used |= uses(section.title, known)
    for term in sorted(known - used):
        yield Finding("unused-term", "error", defined[term][0], f"{term!r} is defined and never used")
    yield from _declared_definitions(defined, spec, clauses)


def _words(runs: Runs, kinds: tuple[str, ...]) -> str:
    """Return the words of some kinds of runs; each other run stands as one neutral sign."""
    return "".join(run.text if run.kind in kinds else "\u0001" for run in runs)


def _declared_definitions(
    defined: dict[str, list[str]], spec: DocumentFile, clauses: dict[str, ClauseFile]
) -> Iterator[Finding]:
    declared = {name: (page.id, page.defines) for page in spec.pages() for name in page.defines}
    by_section = {page.id: set(page.defines) for page in spec.pages()}
    for slug, clause in clauses.items():
        by_section[slug] = {*clause.defines, *(meaning.term for meaning in clause.definitions)}
        declared |= dict.fromkeys(clause.defines, (slug, clause.defines))
    for term, places in defined.items():
        section = places[0].partition(".")[0]
        if term not in by_section.get(section, set()):
            yield Finding("undeclared-definition", "error", places[0], f"{term!r} is in bold and not under `defines`")
    for term, (section, _) in declared.items():
        if not any(place.partition(".")[0] == section for place in defined.get(term, [])):
            yield Finding("definition-not-printed", "note", section, f"{term!r} is not defined on these terms")


def _marks(document: Document, clauses: dict[str, ClauseFile]) -> Iterator[Finding]:
    for section in document.clauses():
        clause = clauses[section.id]
        printed = {node.id.removeprefix(f"{section.id}.") for node in section.walk()}
        for name in sorted(printed):
            if clause.mark_of(name) is None:
                yield Finding("no-mark", "error", f"{section.id}.{name}", "says neither computed, checked nor text")
        for mark in clause.paragraphs:
            if mark.mark != "computed" and not mark.why:
                yield Finding("mark-without-why", "error", f"{section.id}.{mark.id}", f"{mark.mark} without `why`")
            if mark.id not in printed:
                yield Finding("not-printed", "note", f"{section.id}.{mark.id}", "is not printed on these terms")


def _declared(document: Document, spec: DocumentFile, clauses: dict[str, ClauseFile]) -> Iterator[Finding]:
    declared: dict[str, tuple[str, ...]] = {page.id: page.terms for page in spec.pages()}
    declared |= {slug: clause.terms for slug, clause in clauses.items()}
    for section, prefixes in declared.items():
        for prefix in prefixes:
            if not _is_path(prefix):
                yield Finding("unknown-path", "error", section, "declares a path no deal can have", path=prefix)
        for path in _undeclared(document.reads.get(section, frozenset()), prefixes):
            yield Finding("undeclared-read", "error", section, f"reads {path} without declaring it", path=path)
        for prefix in prefixes:
            if not any(covers(prefix, path) for path in document.reads.get(section, frozenset())):
                yield Finding("not-read", "note", section, f"{prefix} is not read on these terms", path=prefix)


def _undeclared(reads: frozenset[str], prefixes: tuple[str, ...]) -> Iterator[str]:
    """Yield the shortest paths read that no declared path covers; what contains a declared path may be looked into."""
    shown: list[str] = []
    for path in sorted(reads):
        declared = any(covers(prefix, path) or covers(path, prefix) for prefix in prefixes)
        if not declared and not any(covers(other, path) for other in shown):
            shown.append(path)
            yield path


def covers(prefix: str, path: str) -> bool:
    """Say whether a declared path or prefix covers a path; `*` stands for one key or index.

    >>> covers("service_levels.*.target", "service_levels.nodes.target"), covers("credits.cap", "credits.caps.unit")
    (True, False)
    """
    wanted, found = _pattern(prefix), _pattern(path)
    return len(wanted) <= len(found) and all(
        want in ("*", have) or have == "*" for want, have in zip(wanted, found, strict=False)
    )


def _pattern(prefix: str) -> tuple[str, ...]:
    return tuple(step for step in re.split(r"[.\[\]]+", prefix) if step)


def _is_path(prefix: str) -> bool:
    steps: tuple[str | int, ...] = _pattern(prefix)
    if not is_of_contract(steps):
        return False
    try:
        return schema_has(Deal, tuple(int(step) if str(step).isdecimal() else step for step in steps))
    except TermsError:
        return False


def _blanks(document: Document) -> Iterator[Finding]:
    for blank in document.blanks:
        yield Finding("blank", "warning", blank.section, "a value is still to be agreed", path=blank.path)


def _amendments(document: Document) -> Iterator[Finding]:
    if document.amendments:
        yield Finding(
            "amendments-not-printed",
            "note",
            document.id,
            f"{document.amendments} amendments are not in this text; draft the terms of a day to print them",
        )
