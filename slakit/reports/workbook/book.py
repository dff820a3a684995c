"""A workbook being written: its sheets, its defined names, and text that stays text."""

from __future__ import annotations

import re
from datetime import date

from openpyxl import Workbook
from openpyxl.cell.cell import Cell
from openpyxl.styles import Alignment, Border, Font, PatternFill
from openpyxl.utils import get_column_letter
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.worksheet import Worksheet

from slakit.reports.workbook import look

MOST_LETTERS = 32_000
"""A cell holds 32,767 letters at most. [letters]"""
_FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")
"""Signs with which a text begins that a spreadsheet would take for a formula."""
_ESCAPE = re.compile(r"_x(?=[0-9A-Fa-f]{4}_)")
"""What a spreadsheet reads as one letter written by its number."""


class Book:
    """A workbook and the names that its formulas use."""

    def __init__(self, title: str) -> None:
        self.workbook = Workbook()
        self.workbook.remove(self.workbook.worksheets[0])
        normal = self.workbook._named_styles["Normal"]
        normal.font = look.PLAIN
        self.workbook.properties.title = title
        self.workbook.properties.creator = "slakit"
        self.workbook.calculation.fullCalcOnLoad = True

    def sheet(self, name: str, *, hidden: bool = False) -> Worksheet:
        """Return a new sheet without gridlines that prints on landscape pages as wide as the paper."""
        sheet = self.workbook.create_sheet(name)
        sheet.sheet_view.showGridLines = False
        sheet.sheet_view.zoomScale = 90
        sheet.page_setup.orientation = "landscape"
        sheet.page_setup.paperSize = sheet.PAPERSIZE_A4
        sheet.sheet_properties.pageSetUpPr.fitToPage = True
        sheet.page_setup.fitToWidth, sheet.page_setup.fitToHeight = 1, 0
        sheet.page_margins.left = sheet.page_margins.right = 0.4
        sheet.page_margins.top = sheet.page_margins.bottom = 0.5
        sheet.oddFooter.left.text, sheet.oddFooter.right.text = "&A", "&P / &N"
        sheet.oddFooter.left.size = sheet.oddFooter.right.size = 8
        if hidden:
            sheet.sheet_state = "hidden"
        return sheet

    def define(self, name: str, sheet: str, first: str, last: str | None = None) -> None:
        """Give a cell, or a range of cells, a name that formulas use.

        Raises
        ------
        ValueError
            When the name is taken.
        """
        if name in self.workbook.defined_names:
            raise ValueError(f"the name {name} stands for two cells")
        place = absolute(first) if last is None else f"{absolute(first)}:{absolute(last)}"
        self.workbook.defined_names[name] = DefinedName(name, attr_text=f"{quoted(sheet)}!{place}")


def write(
    cell: Cell,
    value: str | float | date | None,
    *,
    font: Font = look.PLAIN,
    fill: PatternFill | None = None,
    format: str | None = None,
    align: Alignment | None = None,
    border: Border | None = None,
) -> None:
    """Write a number, a date or a formula of ours; text from outside goes through `write_text`."""
    cell.value = value
    cell.font = font
    if fill is not None:
        cell.fill = fill
    if format is not None:
        cell.number_format = format
    if align is not None:
        cell.alignment = align
    if border is not None:
        cell.border = border


def write_text(
    cell: Cell,
    text: str,
    *,
    font: Font = look.PLAIN,
    fill: PatternFill | None = None,
    align: Alignment | None = None,
    border: Border | None = None,
) -> None:
    """Write text as text, whatever it begins with; it stays text when a reader edits the cell."""
    write(cell, None, font=font, fill=fill, align=align, border=border)
    cell.value = _ESCAPE.sub("_x005F_x", text[:MOST_LETTERS])
    cell.data_type = "s"
    if text.startswith(_FORMULA_SIGNS):
        cell.quotePrefix = True


def widths(sheet: Worksheet, *letters_wide: float) -> None:
    """Set the widths of the first columns. [letters]"""
    for i, wide in enumerate(letters_wide, start=1):
        sheet.column_dimensions[get_column_letter(i)].width = wide


def heading(sheet: Worksheet, title: str, about: str) -> None:
    """Write the head of a sheet: its title, and a line that says what it is."""
    write_text(sheet["A1"], title, font=look.TITLE)
    sheet.row_dimensions[1].height = 22
    write_text(sheet["A2"], about, font=look.SUBTITLE)


def absolute(cell: str) -> str:
    """Return a cell's address so that it stays when a formula is copied.

    >>> absolute("C7")
    '$C$7'
    """
    column, row = re.fullmatch(r"([A-Z]+)([0-9]+)", cell).groups()  # type: ignore[union-attr]
    return f"${column}${row}"


def quoted(sheet: str) -> str:
    """Return a sheet's name as formulas write it.

    >>> quoted("Base case"), quoted("Loan")
    ("'Base case'", 'Loan')
    """
    return sheet if sheet.isalpha() else f"'{sheet}'"
