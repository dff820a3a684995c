"""The pieces of a document: runs of text, blocks, numbered nodes, sections and the whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

RunKind = Literal["text", "defined", "term", "typed", "reference", "blank"]
"""`text`: our words; `defined`: a defined term where it is defined; `term`: a value of the deal, formatted; `typed`:
words a party typed; `reference`: the printed number of another paragraph; `blank`: a value the deal does not give."""

BLANK = "[●]"
"""What a missing value prints as."""
UNRESOLVED = "[unresolved]"
"""What a reference to nothing prints; the lint refuses it."""


@dataclass(frozen=True, slots=True)
class Run:
    """Words of one kind, with the path of the term or the id of the paragraph behind them."""

    kind: RunKind
    text: str
    path: str | None = None
    """Path in the deal of the value printed, for `term`, `typed` and `blank`."""
    target: str | None = None
    """Id of the paragraph or section referred to, for `reference`."""


Runs = tuple[Run, ...]


def plain(runs: Runs) -> str:
    """Return the words of `runs`, one after the other."""
    return "".join(run.text for run in runs)


@dataclass(frozen=True, slots=True)
class Text:
    """A block of running text."""

    runs: Runs


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula set off on its own line."""

    runs: Runs


@dataclass(frozen=True, slots=True)
class Table:
    """A table with one head row."""

    head: tuple[Runs, ...]
    align: tuple[Literal["left", "right"], ...]
    rows: tuple[tuple[Runs, ...], ...]


@dataclass(frozen=True, slots=True)
class Definition:
    """One defined term and its meaning."""

    id: str
    term: str
    runs: Runs


@dataclass(frozen=True, slots=True)
class DefinitionList:
    """Defined terms in alphabetical order."""

    entries: tuple[Definition, ...]


Block = Text | Formula | Table | DefinitionList


@dataclass(frozen=True, slots=True)
class Node:
    """One numbered paragraph with what stands under it."""

    id: str
    """For example `credit-caps.unit`."""
    level: int
    """1 for a paragraph such as 9.1, 2 for (a), 3 for (i)."""
    label: str
    """Number printed beside it, empty in sections without numbers."""
    number: str
    """Number in full, for example `9.1(a)`."""
    blocks: tuple[Block, ...]
    children: tuple[Node, ...] = ()
    tail: tuple[Block, ...] = ()
    """Text that closes the paragraph after its children."""

    def walk(self) -> Iterator[Node]:
        """Yield this node and all nodes under it, in the order they are printed."""
        yield self
        for child in self.children:
            yield from child.walk()


SectionKind = Literal["front", "clause", "execution", "annex"]


@dataclass(frozen=True, slots=True)
class Section:
    """A clause, or a page before or after the clauses."""

    kind: SectionKind
    id: str
    label: str
    """`9` for a clause, `Annex 1` for an annex, empty for front matter."""
    title: str
    nodes: tuple[Node, ...]
    part: str | None = None
    """Title of the part that starts with this section."""

    def walk(self) -> Iterator[Node]:
        """Yield every node of the section, in the order they are printed."""
        for node in self.nodes:
            yield from node.walk()


@dataclass(frozen=True, slots=True)
class Signatory:
    """A party as its signature block names it."""

    role: str
    name: Run
    entity: Run | None


@dataclass(frozen=True, slots=True)
class BlankPlace:
    """A value that the deal does not give and the text prints as a blank."""

    path: str
    section: str


@dataclass(frozen=True, slots=True)
class Document:
    """A document in its printed order, numbered, with every reference resolved."""

    id: str
    title: str
    status: str
    """For example `Draft for review by counsel`."""
    position: str
    language: str
    paper: Literal["letter", "a4"]
    signatories: tuple[Signatory, ...]
    sections: tuple[Section, ...]
    numbering: Mapping[str, str]
    """Id of each section and paragraph to its printed number."""
    schema_version: int
    terms: Mapping[str, Any]
    """The extract: the terms this document read, and nothing else, as plain JSON data."""
    terms_sha256: str
    templates_sha256: str
    blanks: tuple[BlankPlace, ...] = ()
    amendments: int = 0
    """Amendments of the deal, which this text does not hold. [1]"""
    reads: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Section id to the paths of the deal its text read."""

    def clauses(self) -> tuple[Section, ...]:
        """Return the clauses in order."""
        return tuple(section for section in self.sections if section.kind == "clause")

    def walk(self) -> Iterator[Node]:
        """Yield every node of the document, in the order they are printed."""
        for section in self.sections:
            yield from section.walk()


def blocks_of(node: Node) -> tuple[Block, ...]:
    """Return the node's own blocks, those after its children last."""
    return (*node.blocks, *node.tail)


def runs_of(block: Block) -> Iterator[Runs]:
    """Yield each stretch of runs of a block: its text, its cells, its definitions."""
    match block:
        case Text() | Formula():
            yield block.runs
        case Table():
            yield from block.head
            for row in block.rows:
                yield from row
        case DefinitionList():
            for entry in block.entries:
                yield (Run("defined", entry.term),)
                yield entry.runs
