"""The line format of clause texts: rendered text to paragraphs of runs, tables and formulas."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from schemas.errors import TermsError
from slakit.documents.nodes import Block, Formula, Run, Runs, Table, Text
from slakit.documents.values import TOKEN_END, TOKEN_START

_PARAGRAPH = re.compile(r"^ *\[(\.{0,2})([a-z][a-z0-9_-]*)\] +(\S.*)$")
_INLINE = re.compile(rf"{TOKEN_START}(\d+){TOKEN_END}|\*\*(.+?)\*\*")
_ALIGNMENT = re.compile(r"^:?-+:?$")
_NUMBER_AND_UNIT = re.compile(
    r"(?<=\d) (?=(?:Business Day|second|minute|hour|day|month|year|GPU|node|rack|MW|kW|GB|TB)s?\b)|"
    r"(?<=\bAnnex) (?=\d)"
)
_ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&#34;": '"', "&#39;": "'"}
_ENTITY = re.compile("|".join(map(re.escape, _ENTITIES)))
NESTING = 3
"""Levels under a clause: 9.1, (a), (i)."""


@dataclass(slots=True)
class Paragraph:
    """A paragraph as written, before it has a number."""

    id: str
    depth: int
    blocks: list[Block] = field(default_factory=list)
    children: list[Paragraph] = field(default_factory=list)
    tail: list[Block] = field(default_factory=list)

    def add(self, block: Block) -> None:
        """Add a block after everything that stands in the paragraph so far."""
        (self.tail if self.children else self.blocks).append(block)


def paragraphs(text: str, section: str, runs: list[Run]) -> list[Paragraph]:
    """Return the paragraphs of a rendered clause text.

    Parameters
    ----------
    text
        Output of the template: a paragraph starts with `[name]`, a nested one with `[.name]` or `[..name]`.
    section
        Slug that the ids of its paragraphs start with.
    runs
        Runs that the tokens in `text` stand for.
    """
    return _Lines(section, runs).read(text)


class _Lines:
    """Reads lines one after the other; what is open is one text block or one table."""

    def __init__(self, section: str, runs: list[Run]) -> None:
        self.section, self.runs = section, runs
        self.roots: list[Paragraph] = []
        self.open: list[Paragraph] = []
        self.words: list[str] = []
        self.table: list[str] = []
        self.target: Paragraph | None = None

    def read(self, text: str) -> list[Paragraph]:
        for line in text.splitlines():
            stripped = line.strip()
            match = _PARAGRAPH.match(line)
            if not stripped:
                self._close()
            elif match:
                self._close()
                self._start(len(match[1]), match[2])
                self.words.append(match[3])
            elif stripped.startswith("|"):
                self._close_words()
                self.table.append(stripped)
            elif stripped.startswith("= "):
                self._close()
                self._place(line).add(Formula(inline(typeset(stripped[2:]), self.runs)))
            elif self.words:
                self.words.append(stripped)
            else:
                self._close()
                self.target = self._place(line)
                self.words.append(stripped)
        self._close()
        return self.roots

    def _start(self, depth: int, name: str) -> None:
        if depth > len(self.open):
            raise TermsError(f"[{'.' * depth}{name}] without a paragraph above it", "one dot a level", "remove a dot")
        del self.open[depth:]
        parent = self.open[-1] if self.open else None
        paragraph = Paragraph(f"{parent.id if parent else self.section}.{name}", depth)
        siblings = parent.children if parent else self.roots
        if any(paragraph.id == other.id for other in siblings):
            raise TermsError(f"two paragraphs {paragraph.id}", "one id for one paragraph", "rename one")
        siblings.append(paragraph)
        self.open.append(paragraph)
        self.target = paragraph

    def _place(self, line: str) -> Paragraph:
        """Return the open paragraph that a line without a mark belongs to, by its indentation."""
        if not self.open:
            raise TermsError(f"{line.strip()[:60]!r} before the first paragraph", "[name] first", "give it an id")
        depth = (len(line) - len(line.lstrip())) // 2
        return self.open[min(depth, len(self.open) - 1)]

    def _close_words(self) -> None:
        if self.words and self.target:
            self.target.add(Text(inline(typeset(" ".join(self.words)), self.runs)))
        self.words.clear()

    def _close(self) -> None:
        self._close_words()
        if self.table:
            target = self.target or self._place("")
            target.add(_table(self.table, self.runs))
            self.table = []


def inline(text: str, runs: list[Run]) -> Runs:
    """Return the runs of one line of text: words, definitions in bold, and what its tokens stand for."""
    found: list[Run] = []
    position = 0
    for match in _INLINE.finditer(text):
        _words(found, text[position : match.start()])
        if match[1] is not None:
            found.append(runs[int(match[1])])
        else:
            found.append(Run("defined", "".join(run.text for run in inline(match[2], runs))))
        position = match.end()
    _words(found, text[position:])
    return tuple(found)


def typeset(text: str) -> str:
    """Return text with true quotes and dashes, and with numbers held to their units.

    >>> typeset('a "Unit" - the customer\\'s - for 30 days')
    'a “Unit” – the customer’s – for 30\\xa0days'
    """
    text = _ENTITY.sub(lambda match: _ENTITIES[match[0]], text)
    text = re.sub(r"(?<![^\s(\[—–/“‘])\"", "“", text).replace('"', "”")
    text = re.sub(r"(?<![^\s(\[—–/“])'", "‘", text).replace("'", "’")
    text = text.replace(" - ", " – ")
    return _NUMBER_AND_UNIT.sub("\u00a0", text)


def _words(found: list[Run], text: str) -> None:
    if text:
        found.append(Run("text", text))


def _table(lines: list[str], runs: list[Run]) -> Table:
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    if len(cells) < 3 or not all(_ALIGNMENT.match(cell) for cell in cells[1]):
        raise TermsError(f"table {lines[0][:60]!r}", "a head, a line of |---|---:| and rows", "complete the table")
    uneven = next((row for row in cells if len(row) != len(cells[0])), None)
    if uneven:
        raise TermsError(f"row {' | '.join(uneven)[:60]!r}", f"{len(cells[0])} cells", "give every row its cells")
    align: list[Literal["left", "right"]] = ["right" if cell.endswith(":") else "left" for cell in cells[1]]
    made = [tuple(inline(typeset(cell), runs) for cell in row) for row in (cells[0], *cells[2:])]
    return Table(made[0], tuple(align), tuple(made[1:]))
