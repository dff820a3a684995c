"""A workbook being written: its sheets, its defined names, and text that stays text."""

from __future__ import annotations

import re
from copy import copy
from datetime import date
from typing import Any
from weakref import WeakKeyDictionary

from openpyxl import Workbook
from openpyxl.cell.cell import Cell, MergedCell
from openpyxl.formatting.rule import FormulaRule
from openpyxl.styles import Alignment, Border, Font, PatternFill
from openpyxl.utils import get_column_letter
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.header_footer import HeaderFooterItem, _HeaderFooterPart
from openpyxl.worksheet.properties import PageSetupProperties
from openpyxl.worksheet.worksheet import Worksheet

from slakit.reports.workbook import look

MOST_LETTERS = 32_000
"""A cell holds 32,767 letters at most. [letters]"""
_FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")
"""Signs with which a text begins that a spreadsheet would take for a formula."""
_ESCAPE = re.compile(r"_x(?=[0-9A-Fa-f]{4}_)")
"""What a spreadsheet reads as one letter written by its number."""


_KNOWN_LOOKS: WeakKeyDictionary[Workbook, dict[tuple[int, ...], tuple[tuple[object, ...], Any]]] = WeakKeyDictionary()
"""Styles that a workbook already has, by the identity of their parts, which are kept beside them."""


class Book:
    """A workbook and the names that its formulas use."""

    def __init__(self, title: str) -> None:
        self.workbook = Workbook()
        self.workbook.remove(self.workbook.worksheets[0])
        self.workbook._named_styles["Normal"].font = look.PLAIN  # type: ignore[attr-defined]
        self.workbook.properties.title = title
        self.workbook.properties.creator = "slakit"
        self.workbook.calculation.fullCalcOnLoad = True

    def sheet(self, name: str) -> Worksheet:
        """Return a new sheet without gridlines that prints on landscape pages as wide as the paper."""
        sheet: Worksheet = self.workbook.create_sheet(name)
        sheet.sheet_view.showGridLines = False
        sheet.sheet_view.zoomScale = 90
        sheet.page_setup.orientation = "landscape"
        sheet.page_setup.paperSize = sheet.PAPERSIZE_A4
        sheet.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
        sheet.page_setup.fitToWidth, sheet.page_setup.fitToHeight = 1, 0
        sheet.page_margins.left = sheet.page_margins.right = 0.4
        sheet.page_margins.top = sheet.page_margins.bottom = 0.5
        sheet.oddFooter = HeaderFooterItem(
            left=_HeaderFooterPart("&A", size=8), right=_HeaderFooterPart("&P / &N", size=8)
        )
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
    cell: Cell | MergedCell,
    value: str | float | date | None,
    *,
    font: Font = look.PLAIN,
    fill: PatternFill | None = None,
    format: str | None = None,
    align: Alignment | None = None,
    border: Border | None = None,
) -> None:
    """Write a number, a date or a formula of ours; text from outside goes through `write_text`."""
    assert isinstance(cell, Cell)
    cell.value = value
    looks = (font, fill, format, look.LEFT if align is None else align, border)
    workbook = cell.parent.parent
    assert workbook is not None
    known = _KNOWN_LOOKS.setdefault(workbook, {})
    key = tuple(map(id, looks))
    if key not in known:  # a workbook compares every style with all it has: once is enough
        _set_looks(cell, *looks)
        known[key] = (looks, cell._style)  # type: ignore[attr-defined]
    cell._style = copy(known[key][1])  # type: ignore[attr-defined]


def _set_looks(
    cell: Cell, font: Font, fill: PatternFill | None, format: str | None, align: Alignment, border: Border | None
) -> None:
    """Set how a cell looks, part by part."""
    cell.font, cell.alignment = font, align
    if fill is not None:
        cell.fill = fill
    if format is not None:
        cell.number_format = format
    if border is not None:
        cell.border = border


def write_text(
    cell: Cell | MergedCell,
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


def mark(sheet: Worksheet, cells: str, condition: str, font: Font, fill: PatternFill | None = None) -> None:
    """Let cells look otherwise where a formula holds, written for the first of them."""
    rule = FormulaRule(formula=[condition], font=font, fill=fill)  # type: ignore[no-untyped-call]
    sheet.conditional_formatting.add(cells, rule)


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
