"""Tables of text: records over several lines, each cited by its first; a broken record does not lose the next."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass

from slakit.statements.importers.log import Log
from slakit.statements.importers.refusal import refused

DELIMITERS = (",", "\t", ";", "|")
MOST_LINES = 500
"""Lines that one record may span; a quote open for longer was never closed."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")


@dataclass(frozen=True, slots=True)
class Row:
    """One record of a table."""

    line: int
    """Number of its first line."""
    raw: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BadRow:
    """A record that does not fit its header."""

    line: int
    raw: str
    reason: str


def columns(log: Log) -> tuple[str, ...]:
    """Return the names in the first line of a file, read as a table; empty when it is none."""
    first = next((line for line in _LINE.findall(log.head) if line.strip()), "")
    cells = _cells(first, _delimiter(first))
    return tuple(cell.strip() for cell in cells) if isinstance(cells, list) and len(cells) > 1 else ()


def rows(log: Log, width: int) -> Iterator[Row | BadRow]:
    """Yield each record after the header line."""
    lines = _LINE.findall(log.text)
    at = next((i for i, line in enumerate(lines) if line.strip()), len(lines))
    delimiter = _delimiter(lines[at]) if at < len(lines) else ","
    at += 1
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            at += 1
            continue
        cells: list[str] | str = _cells(line, delimiter)
        spanned = 1
        if isinstance(cells, str) and line.count('"') % 2:
            block = csv.reader(lines[at : at + MOST_LINES], delimiter=delimiter, strict=True)
            try:
                longer = next(block)
            except csv.Error:
                longer = []
            if len(longer) == width:  # else only the first line is at fault, and the next ones are read by themselves
                cells, spanned = longer, block.line_num
        raw = "".join(lines[at : at + spanned]).rstrip("\r\n")
        if isinstance(cells, str):
            yield BadRow(at + 1, raw, cells)
        elif len(cells) != width:
            yield BadRow(at + 1, raw, f"{len(cells)} fields under a header of {width}")
        else:
            yield Row(at + 1, raw, tuple(cells))
        at += spanned


def only_column(log: Log, header: tuple[str, ...], name: str) -> int:
    """Return the place of a column.

    Raises
    ------
    DealError
        When two columns have this name.
    """
    if header.count(name) > 1:
        raise refused(log.name, f"{header.count(name)} columns named {name!r}", "one", "rename or delete the others")
    return header.index(name)


def _delimiter(line: str) -> str:
    """Return the delimiter that a header uses most, outside quotes."""
    bare = re.sub(r'"[^"]*"', "", line)
    return max(DELIMITERS, key=bare.count)


def _cells(line: str, delimiter: str) -> list[str] | str:
    """Return the fields of one line, or why it has none."""
    if '"' not in line:
        return line.rstrip("\r\n").split(delimiter)
    try:
        return next(csv.reader([line.rstrip("\r\n")], delimiter=delimiter, strict=True))
    except csv.Error as error:
        return f"broken quotes: {error}"
