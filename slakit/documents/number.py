"""Numbers of clauses and paragraphs: 1, 1.1, (a), (i)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from slakit.documents.text import Paragraph

Scheme = Literal["none", "parties", "recitals", "clauses"]
NBSP = "\u00a0"


@dataclass(frozen=True, slots=True)
class Number:
    """The number of one paragraph or section."""

    label: str
    """What stands beside the paragraph: `9.1`, `(a)`."""
    full: str
    """What a reference prints: `9.1(a)`."""
    kind: Literal["clause", "page"] = "clause"

    def reference(self, *, bare: bool, first: bool) -> str:
        """Return the words of a reference, capitalised as the first word of a sentence."""
        if bare or self.kind == "page":
            return self.full
        return f"{'Clause' if first else 'clause'}{NBSP}{self.full}"


def letters(index: int) -> str:
    """Return the letters of an index from 0.

    >>> letters(0), letters(25), letters(26)
    ('a', 'z', 'aa')
    """
    text = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        text = chr(ord("a") + rest) + text
    return text


def roman(index: int) -> str:
    """Return the small Roman numeral of an index from 0.

    >>> roman(0), roman(3), roman(8), roman(13)
    ('i', 'iv', 'ix', 'xiv')
    """
    text, rest = "", index + 1
    for value, sign in ((50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")):
        while rest >= value:
            text, rest = text + sign, rest - value
    return text


def numbers_under(section_number: str, scheme: Scheme, found: Iterable[Paragraph]) -> Iterator[tuple[str, Number]]:
    """Yield the id and number of every paragraph of a section."""
    for index, paragraph in enumerate(found):
        match scheme:
            case "clauses":
                label = f"{section_number}.{index + 1}" if section_number else str(index + 1)
            case "parties":
                label = f"({index + 1})"
            case "recitals":
                label = f"({letters(index).upper()})"
            case "none":
                label = ""
        yield paragraph.id, Number(label, label or section_number)
        yield from _nested(label, paragraph.children)


def _nested(above: str, children: list[Paragraph]) -> Iterator[tuple[str, Number]]:
    for index, child in enumerate(children):
        label = f"({letters(index) if child.depth == 1 else roman(index)})"
        yield child.id, Number(label, above + label)
        yield from _nested(above + label, child.children)
