"""Tables as Slurm's commands print them: with bars, with widths that a line of dashes shows, or padded with blanks.

One column, the reason, is free text: bars and line breaks in it are put back where the other columns leave no doubt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from slakit.statements.importers.delimited import BadRow, Row
from slakit.statements.importers.log import Log

MOST_LINES = 20
"""Lines that one row may span. [1]"""

MAY_BE_BLANK = frozenset({"user", "reason", "reasonuid", "timeend", "comment"})
"""Columns that may be blank in a good row, so that a bar at its end may stand before one of them."""

_DASHES = re.compile(r"\s*-+(?:\s+-+)*\s*")


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a table."""

    line: int
    names: tuple[str, ...]
    """In lower case, without blanks around them."""
    spans: tuple[tuple[int, int], ...] = ()
    """Where each column begins and ends, for fixed widths."""
    delimiter: str | None = None
    is_closed: bool = False
    """Whether a bar stands after the last column too."""


def first_lines(log: Log, most: int = 2) -> list[tuple[int, str]]:
    """Return the first lines that are not blank, with their numbers."""
    found = []
    for number, line in enumerate(re.split(r"\r\n|\n|\r", log.head), start=1):
        if line.strip():
            found.append((number, line))
        if len(found) == most:
            break
    return found


def header_of(log: Log, delimiter: str = "|") -> Header | None:
    """Return the header of a table with bars, or of one with a line of dashes under its names; None for other files."""
    lines = first_lines(log)
    if not lines:
        return None
    number, first = lines[0]
    if delimiter in first:
        cells = first.split(delimiter)
        is_closed = not cells[-1].strip()
        names = cells[:-1] if is_closed else cells
        return Header(
            number, tuple(name.strip().casefold() for name in names), delimiter=delimiter, is_closed=is_closed
        )
    if len(lines) > 1 and _DASHES.fullmatch(lines[1][1]):
        spans = tuple(found.span() for found in re.finditer("-+", lines[1][1]))
        names = [first[start:end].strip().casefold() for start, end in spans]
        return Header(lines[1][0], tuple(names), spans)
    return None


def rows(log: Log, header: Header, free: int | None) -> Iterator[Row | BadRow]:
    """Yield each record under a header.

    Parameters
    ----------
    free : place of the column of free text, into which surplus bars and line breaks belong.
    """
    lines = [(number, line) for number, line in log.lines() if number > header.line]
    if header.delimiter is None:
        yield from (_sliced(number, line, header) for number, line in lines)
        return
    at = 0
    while at < len(lines):
        number, line = lines[at]
        raw, cells, spanned = line, _cells(line, header), 1
        while free is not None and free < len(cells) < len(header.names) and spanned < MOST_LINES:
            following = lines[at + spanned][1] if at + spanned < len(lines) else None
            if following is None or len(_cells(following, header)) > free:
                break  # a row of its own, good or bad
            raw = f"{raw}\n{following}"
            cells, spanned = _cells(raw, header), spanned + 1
        cells = _merged(cells, len(header.names), free, header.delimiter)
        if len(cells) == len(header.names):
            yield Row(number, raw, tuple(cell.strip() for cell in cells))
            at += spanned
        else:
            count = len(_cells(line, header))
            yield BadRow(number, line, f"{count} fields under a header of {len(header.names)}")
            at += 1


def _cells(raw: str, header: Header) -> list[str]:
    """Return the fields of a row, without the blank one after a closing bar."""
    cells = raw.split(header.delimiter)
    may_close = header.is_closed or (len(cells) > len(header.names) and header.names[-1] not in MAY_BE_BLANK)
    return cells[:-1] if may_close and not cells[-1].strip() else cells


def _merged(cells: Sequence[str], width: int, free: int | None, delimiter: str) -> list[str]:
    """Return fields with the surplus put back into the column of free text."""
    surplus = len(cells) - width
    if free is None or surplus <= 0:
        return list(cells)
    text = delimiter.join(cells[free : free + surplus + 1])
    return [*cells[:free], text, *cells[free + surplus + 1 :]]


def _sliced(number: int, line: str, header: Header) -> Row | BadRow:
    """Return a row of fixed widths; what stands outside the columns shows that it does not fit."""
    outside = "".join(
        line[end:start]
        for (_, end), (start, _) in zip(((0, 0), *header.spans), (*header.spans, (None, 0)), strict=True)
    )
    if outside.strip():
        return BadRow(number, line, "does not fit the widths of the dashes under the header")
    return Row(number, line, tuple(line[start:end].strip() for start, end in header.spans))


def padded(log: Log, header: Header, free: int | None) -> Iterator[Row | BadRow]:
    """Yield each record of a table whose columns are padded with blanks; blanks may stand in the free column alone."""
    width = len(header.names)
    for number, line in log.lines():
        if number <= header.line:
            continue
        cells = line.split()
        if free is not None and len(cells) >= width:
            before = line.split(None, free)
            rest = before[free] if len(before) > free else ""
            after = rest.rsplit(None, width - free - 1) if width - free > 1 else [rest]
            cells = [*before[:free], *after]
        if len(cells) == width:
            yield Row(number, line, tuple(cell.strip() for cell in cells))
        else:
            yield BadRow(number, line, f"{len(cells)} fields under a header of {width}")
