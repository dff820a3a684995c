"""Words and tables on a terminal, as they are: nothing typed in a deal is read as markup, no number is cut off."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from slakit.reports.tables import Table

if TYPE_CHECKING:
    from rich.console import Console

MARGIN = 2
BETWEEN_COLUMNS = 3
WORDS_AT_LEAST = 14
"""Width below which a column of words is not squeezed. [letters]"""


def print_line(console: Console, words: str, style: str = "") -> None:
    """Print words, wrapped within the margin."""
    from rich.padding import Padding
    from rich.text import Text

    console.print(Padding(Text(words, style=style), (0, 0, 0, MARGIN), expand=False))


def print_list(console: Console, title: str, sentences: Iterable[str]) -> None:
    """Print sentences under a title; nothing where there are none."""
    found = list(sentences)
    if not found:
        return
    console.print()
    print_line(console, title, style="bold")
    for sentence in found:
        print_line(console, sentence, style="dim")


def print_table(console: Console, table: Table) -> None:
    """Print a table; where the terminal is too narrow, columns are left out and named."""
    from rich.box import Box
    from rich.padding import Padding
    from rich.table import Table as RichTable
    from rich.text import Text

    table, left_out = fitted(table, console.width - MARGIN)
    rules = Box("    \n    \n ── \n    \n    \n ── \n    \n    \n")
    printed = RichTable(
        box=rules, show_edge=False, pad_edge=False, header_style="", show_footer=table.total is not None
    )
    for i, name in enumerate(table.head):
        printed.add_column(
            Text(name, style="dim"),
            footer=Text(table.total[i] if table.total else "", style="bold"),
            justify=table.align(i),
            overflow="fold",
            no_wrap=i >= table.text_columns,
        )
    for row in table.rows:
        printed.add_row(*(Text(words) for words in row))
    console.print()
    print_line(console, table.title, style="bold")
    if table.note:
        print_line(console, table.note, style="dim")
    console.print(Padding(printed, (0, 0, 0, MARGIN), expand=False))
    for words in (table.rest, f"Not shown at this width: {', '.join(left_out)}" if left_out else None):
        if words:
            print_line(console, words, style="dim")


def fitted(table: Table, width: int) -> tuple[Table, list[str]]:
    """Return the table without the columns that may be left out, one by one until it fits, and their names."""
    left_out: list[str] = []
    for name in table.may_drop:
        if _width(table) <= width:
            break
        i = table.head.index(name)
        left_out.append(name)
        table = replace(
            table,
            head=table.head[:i] + table.head[i + 1 :],
            rows=tuple(row[:i] + row[i + 1 :] for row in table.rows),
            total=table.total[:i] + table.total[i + 1 :] if table.total else None,
            text_columns=table.text_columns - (1 if i < table.text_columns else 0),
        )
    return table, left_out


def _width(table: Table) -> int:
    """Return how wide the table is when its words are squeezed and its numbers are not. [letters]"""
    rows = [table.head, *table.rows, *([table.total] if table.total else [])]
    widths = [max(len(row[i]) for row in rows) for i in range(len(table.head))]
    squeezed = [
        min(width, max(WORDS_AT_LEAST, len(table.head[i]))) if i < table.text_columns else width
        for i, width in enumerate(widths)
    ]
    return sum(squeezed) + BETWEEN_COLUMNS * (len(widths) - 1)
