"""A document's tree as Markdown, for reading in plain text and for comparing versions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slakit.documents.html import colophon, places
from slakit.documents.nodes import (
    BLANK,
    Block,
    DefinitionList,
    Document,
    Formula,
    Node,
    Run,
    Runs,
    Section,
    Table,
    Text,
)

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")


def to_markdown(document: Document) -> str:
    """Return the document as Markdown, with the numbers printed in the PDF."""
    return "\n".join(_lines(document)).strip() + "\n"


def escaped(text: str) -> str:
    """Return words in which no sign is markup.

    >>> escaped("a *b* [c](d)")
    'a \\\\*b\\\\* \\\\[c\\\\](d)'
    """
    return _SPECIAL.sub(r"\\\1", text)


def _lines(document: Document) -> Iterator[str]:
    yield f"# {escaped(document.title)}\n"
    yield f"{escaped(document.status)}\n"
    for signatory in document.signatories:
        entity = f", {_runs((signatory.entity,))}" if signatory.entity else ""
        yield f"- {signatory.role.capitalize()}: {_runs((signatory.name,))}{entity}"
    yield ""
    for where, path in places(document):
        yield f"- {BLANK} {escaped(path)}: {escaped(where)}"
    for section in document.sections:
        yield from _section(section)
    text, digest = colophon(document)
    yield f"\n---\n\n{escaped(text)} `{digest}`"


def _section(section: Section) -> Iterator[str]:
    if section.part:
        yield f"\n## {escaped(section.part)}"
    mark = "###" if section.kind == "clause" else "##"
    label = f"{section.label} " if section.label else ""
    yield f"\n{mark} {label}{escaped(section.title)}\n"
    for node in section.nodes:
        yield from _node(node)


def _node(node: Node) -> Iterator[str]:
    label = f"{escaped(node.label)} " if node.label else ""
    indent = "  " * (node.level - 1)
    item = f"{'  ' * (node.level - 2)}- " if node.level > 1 else ""
    for index, block in enumerate(node.blocks):
        yield from _block(block, indent if index or not item else item, "" if index else label)
    for child in node.children:
        yield from _node(child)
    for block in node.tail:
        yield from _block(block, indent, "")


def _block(block: Block, start: str, label: str) -> Iterator[str]:
    match block:
        case Text():
            yield f"{start}{label}{_runs(block.runs)}\n"
        case Formula():
            yield f"{start}> {_runs(block.runs)}\n"
        case Table():
            yield start + _row(block.head)
            yield start + "|" + "|".join("---:" if side == "right" else "---" for side in block.align) + "|"
            for row in block.rows:
                yield start + _row(row)
            yield ""
        case DefinitionList():
            for entry in block.entries:
                yield f"{start}**{escaped(entry.term)}**: {_runs(entry.runs)}\n"


def _row(cells: tuple[Runs, ...]) -> str:
    return "| " + " | ".join(_runs(cell) for cell in cells) + " |"


def _runs(runs: Runs) -> str:
    return "".join(_run(run) for run in runs)


def _run(run: Run) -> str:
    match run.kind:
        case "defined":
            return f"**{escaped(run.text)}**"
        case "blank":
            return BLANK
        case _:
            return escaped(run.text)
