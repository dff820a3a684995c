"""Sheets with one row a month, whose formulas speak of columns by name.

In a formula `[cfads]` is the cell of that column in the same month, `[reserve@-1]` the month before, `[fees@to]` from
the first month to this one, `[fees@all]` all months, `[flow@run]` all months and close, `[debt@close]` the row of
close, `[fee_1..fee_4]` neighbours in the same month; `[loan:interest]` is a column of another sheet.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from openpyxl.utils import get_column_letter
from openpyxl.worksheet.worksheet import Worksheet

from slakit.reports.workbook import look
from slakit.reports.workbook.book import Book, heading, quoted, write, write_text

GROUP_ROW, TITLE_ROW, UNIT_ROW, TOTAL_ROW, CLOSE_ROW = 4, 5, 6, 7, 8
MONTH_COLUMN, LABEL_COLUMN, FIRST_COLUMN = 1, 2, 3
LETTERS_A_PAGE, MONTHS_A_PAGE = 255, 75
"""Width of the columns, and number of the months, that are still read on one printed page."""
_REFERENCE = re.compile(r"\[(?:(\w+):)?(\w+)(?:\.\.(\w+))?(?:@(all|run|to|close|[+-]\d+))?\]")


@dataclass(frozen=True, slots=True)
class Column:
    """One line of figures by month."""

    key: str
    title: str
    content: str | Sequence[float | None]
    """A formula, or what the model computed for each month."""
    format: str = look.MONEY
    unit: str = ""
    close: str | None = None
    """Formula in the row of close."""
    total: bool = False
    bold: bool = False
    width: float | None = None
    """[letters]; that of the sheet's amounts when not given."""
    why: str = ""
    """Why the model's figures stand here and no formula."""


@dataclass(frozen=True, slots=True)
class Group:
    """Neighbouring columns under one head."""

    title: str
    columns: tuple[Column, ...]


@dataclass(slots=True)
class Grid:
    """A sheet with one row a month."""

    alias: str
    name: str
    title: str
    about: str
    months: int
    width: float
    """Of a column of amounts. [letters]"""
    groups: list[Group] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)
    """Letter of each column by its key, once all are there."""

    def add(self, title: str, columns: Iterable[Column | None]) -> None:
        """Add a group of columns; an empty one is left out."""
        there = tuple(column for column in columns if column is not None)
        if there:
            self.groups.append(Group(title, there))

    @property
    def columns(self) -> list[Column]:
        """Return all columns from left to right."""
        return [column for group in self.groups for column in group.columns]

    def __contains__(self, key: str) -> bool:
        return any(column.key == key for column in self.columns)

    def settle(self) -> None:
        """Give every column its place; none is added after it."""
        self.places = {"month": get_column_letter(MONTH_COLUMN), "label": get_column_letter(LABEL_COLUMN)}
        for i, column in enumerate(self.columns, FIRST_COLUMN):
            if column.key in self.places:
                raise ValueError(f"two columns {column.key} on sheet {self.name}")
            self.places[column.key] = get_column_letter(i)

    def row(self, month: int) -> int:
        """Return the row of a month, 0 for close."""
        return CLOSE_ROW + month

    def cells(self, key: str, when: str | None, month: int, to: str | None = None) -> str:
        """Return the address of a column's cells as seen from a month."""
        letter = self.places[key]
        first, last = self.row(1), self.row(self.months)
        match when:
            case None:
                here = f"{letter}{self.row(month)}"
                return here if to is None else f"{here}:{self.places[to]}{self.row(month)}"
            case "all":
                return f"${letter}${first}:${letter}${last}"
            case "run":
                return f"${letter}${CLOSE_ROW}:${letter}${last}"
            case "to":
                return f"${letter}${first}:{letter}{self.row(month)}"
            case "close":
                return f"${letter}${CLOSE_ROW}"
        return f"{letter}{self.row(month + int(when))}"


class Grids:
    """All sheets by month of one workbook."""

    def __init__(self, grids: Iterable[Grid]) -> None:
        self.by_alias = {grid.alias: grid for grid in grids}
        for grid in self.by_alias.values():
            grid.settle()

    def formula(self, text: str, inside: Grid | None = None, month: int = 0) -> str:
        """Return a formula with every column by its address.

        Parameters
        ----------
        inside : sheet that the formula stands on; None elsewhere.
        month : row that the formula stands on, 0 for close.

        Raises
        ------
        KeyError
            When it speaks of a sheet or column that is not there.
        """

        def address(found: re.Match[str]) -> str:
            alias, key, to, when = found.groups()
            grid = self.by_alias[alias] if alias else inside
            assert grid is not None
            cells = grid.cells(key, when, month, to)
            return cells if grid is inside else f"{quoted(grid.name)}!{cells}"

        return _REFERENCE.sub(address, text)

    def write(self, book: Book, labels: Mapping[int, str | date]) -> dict[str, Worksheet]:
        """Write all sheets in their order and return them by alias.

        Parameters
        ----------
        labels : name of each month, or a formula for its first day.
        """
        return {alias: self._write(book, grid, labels) for alias, grid in self.by_alias.items()}

    def _write(self, book: Book, grid: Grid, labels: Mapping[int, str | date]) -> Worksheet:
        sheet = book.sheet(grid.name)
        heading(sheet, grid.title, grid.about)
        _heads(sheet, grid)
        last = grid.row(grid.months)
        write_text(sheet.cell(TOTAL_ROW, MONTH_COLUMN), "Total", font=look.BOLD, border=look.ABOVE_TOTAL)
        write(sheet.cell(TOTAL_ROW, LABEL_COLUMN), None, border=look.ABOVE_TOTAL)
        write(sheet.cell(CLOSE_ROW, MONTH_COLUMN), 0, format=look.WHOLE, align=look.LEFT)
        write_text(sheet.cell(CLOSE_ROW, LABEL_COLUMN), "Close", border=look.UNDER)
        for month in range(1, grid.months + 1):
            row = grid.row(month)
            write(sheet.cell(row, MONTH_COLUMN), month, format=look.WHOLE, align=look.LEFT, border=look.UNDER)
            label = labels[month]
            if isinstance(label, str) and not label.startswith("="):
                write_text(sheet.cell(row, LABEL_COLUMN), label, border=look.UNDER)
            else:
                write(
                    sheet.cell(row, LABEL_COLUMN),
                    label,
                    format=look.MONTH_LABEL,
                    align=look.LEFT,
                    border=look.UNDER,
                )
        for i, column in enumerate(grid.columns, FIRST_COLUMN):
            self._column(sheet, grid, i, column)
        _paper(sheet, grid, last)
        return sheet

    def _column(self, sheet: Worksheet, grid: Grid, place: int, column: Column) -> None:
        typed = not isinstance(column.content, str)
        face = look.MODEL_FONT if typed else look.BOLD if column.bold else look.PLAIN
        ground = look.MODEL_FILL if typed else None
        total = f"=SUM([{column.key}@all])" if column.total else None
        write(
            sheet.cell(TOTAL_ROW, place),
            self.formula(total, grid) if total else None,
            font=look.BOLD,
            format=column.format,
            align=look.RIGHT,
            border=look.ABOVE_TOTAL,
        )
        write(
            sheet.cell(CLOSE_ROW, place),
            None if column.close is None else self.formula(column.close, grid),
            font=face,
            format=column.format,
            align=look.RIGHT,
            border=look.UNDER,
        )
        for month in range(1, grid.months + 1):
            value = column.content[month - 1] if typed else self.formula(str(column.content), grid, month)
            write(
                sheet.cell(grid.row(month), place),
                value,
                font=face,
                fill=ground,
                format=column.format,
                align=look.RIGHT,
                border=look.UNDER,
            )
        sheet.column_dimensions[get_column_letter(place)].width = column.width or grid.width


def _heads(sheet: Worksheet, grid: Grid) -> None:
    """Write the heads of the columns, group by group."""
    for row in (GROUP_ROW, TITLE_ROW, UNIT_ROW):
        for place in (MONTH_COLUMN, LABEL_COLUMN):
            write(sheet.cell(row, place), None, fill=look.HEAD_FILL)
    for place, words in ((MONTH_COLUMN, "No."), (LABEL_COLUMN, "Month")):
        cell = sheet.cell(TITLE_ROW, place)
        write_text(cell, words, font=look.HEAD, fill=look.HEAD_FILL, align=look.HEAD_LEFT)
    place = FIRST_COLUMN
    for group in grid.groups:
        for k, column in enumerate(group.columns):
            words = group.title if k == 0 else ""
            align = look.HEAD_LEFT if len(group.columns) == 1 else None
            write_text(sheet.cell(GROUP_ROW, place), words, font=look.HEAD, fill=look.HEAD_FILL, align=align)
            write_text(
                sheet.cell(TITLE_ROW, place), column.title, font=look.BOLD, fill=look.HEAD_FILL, align=look.HEAD_RIGHT
            )
            write_text(
                sheet.cell(UNIT_ROW, place),
                "" if column.unit == "1" else column.unit,
                font=look.SMALL,
                fill=look.HEAD_FILL,
                align=look.HEAD_RIGHT,
            )
            place += 1
    sheet.row_dimensions[TITLE_ROW].height = 42
    sheet.column_dimensions[get_column_letter(MONTH_COLUMN)].width = 6
    sheet.column_dimensions[get_column_letter(LABEL_COLUMN)].width = 10


def _paper(sheet: Worksheet, grid: Grid, last: int) -> None:
    """Freeze heads and months, and set how the sheet is printed."""
    sheet.freeze_panes = f"{get_column_letter(FIRST_COLUMN)}{CLOSE_ROW}"
    sheet.print_title_rows = f"{GROUP_ROW}:{TOTAL_ROW}"
    sheet.print_title_cols = f"{get_column_letter(MONTH_COLUMN)}:{get_column_letter(LABEL_COLUMN)}"
    sheet.print_area = f"A1:{get_column_letter(FIRST_COLUMN + len(grid.columns) - 1)}{last}"
    sheet.page_setup.paperSize = sheet.PAPERSIZE_A3
    letters = sum(column.width or grid.width for column in grid.columns)
    sheet.page_setup.fitToWidth = -(-int(letters) // LETTERS_A_PAGE)
    sheet.page_setup.fitToHeight = -(-grid.months // MONTHS_A_PAGE)
