"""A deal and a document's description to one tree of numbered paragraphs, references resolved."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from schemas.deal import SCHEMA_VERSION, Deal
from schemas.errors import DealError, Problem, TermsError
from slakit.documents.clauses import (
    ClauseFile,
    DocumentFile,
    Page,
    clause_file,
    clause_text,
    document_file,
    page_text,
    positions,
    templates_digest,
)
from slakit.documents.environment import Templates
from slakit.documents.extract import digest, extract, in_order_of
from slakit.documents.nodes import (
    BLANK,
    UNRESOLVED,
    BlankPlace,
    Block,
    Definition,
    DefinitionList,
    Document,
    Formula,
    Node,
    Run,
    Runs,
    Section,
    SectionKind,
    Signatory,
    Table,
    Text,
)
from slakit.documents.number import Number, numbers_under
from slakit.documents.text import Paragraph, inline, paragraphs, typeset
from slakit.documents.values import Nothing, Reader, TypedText, clean
from slakit.paths import templates_dir

LETTER_LAWS = ("new_york", "delaware", "texas")
"""Laws under which documents are printed on Letter; under all others on A4."""
_SENTENCE_END = re.compile(r"[.!?]\s+$")


@dataclass(slots=True)
class _Drafted:
    """A section as rendered, before it has a number."""

    kind: SectionKind
    id: str
    title: str
    label: str
    numbers: Literal["none", "parties", "recitals", "clauses"]
    part: str | None
    found: list[Paragraph] = field(default_factory=list)


def assemble(deal: Deal, document: str = "sla", position: str = "balanced", *, root: Path | None = None) -> Document:
    """Return the document of a deal, assembled and numbered once.

    Parameters
    ----------
    deal
        Terms as they stand on one day; `deal.amendments` are not applied.
    document
        Name of a description in `templates/documents`.
    position
        Alternative of each clause; a clause without a text of its own for it uses the standard one.
    root
        Folder to read templates from instead of the project's own.

    Raises
    ------
    DealError
        When the document or position is unknown, or a template is at fault; all faults at once.
    """
    spec = document_file(document, root)
    known = positions(spec, root)
    if position not in known:
        raise DealError(
            [
                Problem(
                    path="position",
                    found=repr(position),
                    expected=f"one of {', '.join(known)}",
                    remedy="name a position that this document has texts for",
                )
            ]
        )
    return _Assembly(deal, spec, position, root).document()


def trace(document: Document) -> dict[str, str]:
    """Return the printed number of each paragraph id, for ledgers of steps."""
    return dict(document.numbering)


class _Assembly:
    def __init__(self, deal: Deal, spec: DocumentFile, position: str, root: Path | None) -> None:
        self.deal, self.spec, self.position, self.root = deal, spec, position, root
        self.base = root or templates_dir()
        self.reader = Reader(deal)
        self.templates = Templates(self.reader)
        self.files = [self.base / "documents" / f"{spec.id}.yaml"]
        self.problems: list[Problem] = []
        self.numbers: dict[str, Number] = {}

    def document(self) -> Document:
        """Render, number and resolve."""
        drafted = [item for item in self._rendered() if item.found]
        signatories = self._signatories()
        paper: Literal["letter", "a4"] = "letter" if self._law() in LETTER_LAWS else "a4"
        if self.problems:
            raise DealError(self.problems)
        self._number(drafted)
        sections = tuple(self._section(item) for item in drafted)
        terms = in_order_of(self.deal, extract(self.reader.leaves))
        return Document(
            id=self.spec.id,
            title=self.spec.title,
            status=self.spec.status,
            position=self.position,
            language=self.spec.language,
            paper=paper,
            signatories=signatories,
            sections=sections,
            numbering={name: number.full for name, number in self.numbers.items()},
            schema_version=SCHEMA_VERSION,
            terms=terms,
            terms_sha256=digest(terms),
            templates_sha256=templates_digest(self.files, self.base),
            blanks=tuple(BlankPlace(path, section) for path, section in self.reader.blanks),
            amendments=len(self.deal.amendments),
            reads={section: frozenset(paths) for section, paths in self.reader.reads.items()},
        )

    def _rendered(self) -> list[_Drafted]:
        found = [self._page(page, "front") for page in self.spec.front]
        for part in self.spec.parts:
            heading: str | None = part.title
            for slug in part.clauses:
                clause = self._clause(slug, heading)
                found.append(clause)
                heading = None if clause.found else heading
        found.append(self._page(self.spec.execution, "execution"))
        found += [self._page(page, "annex") for page in self.spec.annexes]
        return found

    def _page(self, page: Page, kind: SectionKind) -> _Drafted:
        drafted = _Drafted(kind, page.id, page.title, page.label, page.numbers, None)
        self._read(drafted, page_text(self.spec.id, page.id, self.root, self.spec.language))
        return drafted

    def _clause(self, slug: str, part: str | None) -> _Drafted:
        drafted = _Drafted("clause", slug, slug, "", "clauses", part)
        try:
            clause = clause_file(slug, self.root)
        except DealError as error:
            self.problems += error.problems
            return drafted
        self.files.append(self.base / "clauses" / slug / "clause.yaml")
        drafted.title = clause.title
        text = clause_text(slug, self.position, self.root, self.spec.language)
        if text is None:
            self.problems.append(
                Problem(
                    "text", "no text", f"text/balanced.{self.spec.language}.md.j2", "write it", file=f"clauses/{slug}"
                )
            )
            return drafted
        self._read(drafted, text)
        if clause.definitions and drafted.found:
            self._define(drafted, clause)
        return drafted

    def _read(self, drafted: _Drafted, path: Path) -> None:
        """Render one text and read its paragraphs; a fault becomes a problem with its place."""
        file = path.relative_to(self.base).as_posix()
        if not path.is_file():
            self.problems.append(Problem("text", "no file", "the text of the page", "write it", file=file))
            return
        self.files.append(path)
        self.reader.section = drafted.id
        try:
            rendered = self.templates.render(path.read_text(encoding="utf-8"), file)
            drafted.found = paragraphs(rendered, drafted.id, self.reader.runs)
        except DealError as error:
            self.problems += error.problems
        except TermsError as error:
            self.problems.append(Problem("text", error.found, error.expected, error.remedy, file=file))

    def _define(self, drafted: _Drafted, clause: ClauseFile) -> None:
        """Put the list of definitions under the clause's first paragraph."""
        entries = []
        for meaning in sorted(clause.definitions, key=lambda meaning: meaning.term.casefold()):
            try:
                rendered = self.templates.render(meaning.text, f"clauses/{clause.slug}/clause.yaml")
            except DealError as error:
                self.problems += error.problems
                continue
            runs = inline(typeset(" ".join(rendered.split())), self.reader.runs)
            if runs:
                entries.append(Definition(f"{clause.slug}.{meaning.paragraph}", meaning.term, runs))
        drafted.found[0].blocks.append(DefinitionList(tuple(entries)))

    def _signatories(self) -> tuple[Signatory, ...]:
        self.reader.section = self.spec.execution.id
        found = []
        for role in ("provider", "customer"):
            party = self.reader.party(role)
            name, entity = getattr(party, "name", None), getattr(party, "entity", None)
            found.append(
                Signatory(
                    role=role,
                    name=_typed(name) or self._blank_run(f"parties.{role}.name"),
                    entity=_typed(entity),
                )
            )
        return tuple(found)

    def _blank_run(self, path: str) -> Run:
        self.reader.blank(path)
        return Run("blank", BLANK, path)

    def _law(self) -> str:
        self.reader.section = self.spec.id
        law = self.reader.value("commercial.governing_law")
        return str(law) if isinstance(law, TypedText) else ""

    def _number(self, drafted: list[_Drafted]) -> None:
        clause = 0
        for item in drafted:
            if item.kind == "clause":
                clause += 1
                item.label = str(clause)
                self.numbers[item.id] = Number(item.label, item.label)
                self.numbers |= numbers_under(item.label, "clauses", item.found)
            else:
                name = item.label or item.title
                self.numbers[item.id] = Number(item.label, name, "page")
                for key, number in numbers_under("", item.numbers, item.found):
                    full = f"{name}, paragraph {number.full}" if number.full else name
                    self.numbers[key] = Number(number.label, full, "page")
            for paragraph in item.found:
                for block in paragraph.blocks:
                    if isinstance(block, DefinitionList):
                        above = self.numbers[paragraph.id]
                        self.numbers |= {entry.id: above for entry in block.entries}

    def _section(self, item: _Drafted) -> Section:
        nodes = tuple(self._node(paragraph) for paragraph in item.found)
        return Section(item.kind, item.id, item.label, item.title, nodes, item.part)

    def _node(self, paragraph: Paragraph) -> Node:
        number = self.numbers[paragraph.id]
        return Node(
            id=paragraph.id,
            level=paragraph.depth + 1,
            label=number.label,
            number=number.full,
            blocks=tuple(self._block(block) for block in paragraph.blocks),
            children=tuple(self._node(child) for child in paragraph.children),
            tail=tuple(self._block(block) for block in paragraph.tail),
        )

    def _block(self, block: Block) -> Block:
        match block:
            case Text():
                return Text(self._resolved(block.runs))
            case Formula():
                return Formula(self._resolved(block.runs))
            case Table():
                rows = tuple(tuple(self._resolved(cell) for cell in row) for row in block.rows)
                return Table(tuple(self._resolved(cell) for cell in block.head), block.align, rows)
            case DefinitionList():
                return DefinitionList(tuple(Definition(e.id, e.term, self._resolved(e.runs)) for e in block.entries))

    def _resolved(self, runs: Runs) -> Runs:
        """Return runs with the number of what each reference points to."""
        found: list[Run] = []
        for run in runs:
            if run.kind == "reference":
                number = self.numbers.get(run.target or "")
                first = not found or bool(_SENTENCE_END.search(found[-1].text))
                text = number.reference(bare=run.text == "number", first=first) if number else UNRESOLVED
                found.append(Run("reference", text, target=run.target))
            else:
                found.append(run)
        return tuple(found)


def _typed(value: object) -> Run | None:
    if value is None or isinstance(value, Nothing) or not isinstance(value, TypedText):
        return None
    return Run("typed", clean(value), value.path)
