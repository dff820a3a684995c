"""The sheet of inputs: every number that the formulas use, with its unit, its path in the deal file and its source."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from openpyxl.worksheet.datavalidation import DataValidation

from schemas.base import Terms
from schemas.deal import Deal, steps_of, value_at
from schemas.periods import MonthsAfterClose
from schemas.sources import Source, Sourced
from slakit.checks.sourcing import source_of
from slakit.reports.workbook import look
from slakit.reports.workbook.book import Book, heading, mark, widths, write, write_text

SHEET = "Inputs"
FIRST_ROW = 6
DEFAULT, FORMULA, MODEL = "default", "formula", "model"
TITLES = (
    *("Input", "Value", "Unit", "Months after close", "Name in formulas"),
    *("Path in the deal file", "Kind", "Source", "As delivered", "Changed"),
)
ABOUT = (
    "Change a value in the yellow column and every sheet follows. Violet values come from the model and do not "
    "recalculate; black ones are formulas."
)


@dataclass(frozen=True, slots=True)
class Row:
    """One input, or the head of a section where only the label is given."""

    label: str
    value: float | date | str | None = None
    """A formula begins with `=`."""
    name: str = ""
    unit: str = ""
    path: str = ""
    kind: str = ""
    source: str = ""
    format: str = look.GENERAL

    @property
    def is_date(self) -> bool:
        """Return whether it is a calendar date, which formulas read in months after close."""
        return isinstance(self.value, date)

    @property
    def is_input(self) -> bool:
        """Return whether a reader may change it."""
        return self.value is not None and self.kind not in (FORMULA, MODEL)


class Inputs:
    """Inputs in the order in which they are printed."""

    def __init__(self, deal: Deal) -> None:
        self.deal = deal
        self.rows: list[Row] = []
        self._ranges: dict[str, tuple[int, int]] = {}

    def section(self, title: str) -> None:
        """Begin a section."""
        self.rows.append(Row(title))

    def term(self, name: str, label: str, path: str, unit: str, format: str = look.GENERAL) -> str:
        """Add a term of the deal file by its path, and return the name that formulas use.

        A calendar date is read by formulas as months after close.
        """
        value = value_at(self.deal, path)
        kind, source = self._source(path, value)
        if isinstance(value, MonthsAfterClose):
            value, unit, format = value.close_plus_months, "months after close", look.GENERAL
        elif isinstance(value, date):
            unit, format = "date", look.DATE
        self.rows.append(Row(label, _number(value), name, unit, path, kind, source, format))
        return name

    def data(self, name: str, label: str, number: Sourced, path: str, format: str = look.GENERAL) -> str:
        """Add a number of the project's own data files, and return its name."""
        self.rows.append(
            Row(label, float(number), name, number.unit, path, number.kind, _words(number), format),
        )
        return name

    def setting(self, name: str, label: str, value: float, unit: str, path: str, source: str) -> str:
        """Add a convention of the simulation, and return its name."""
        self.rows.append(Row(label, value, name, unit, path, "setting", source, look.WHOLE))
        return name

    def formula(self, name: str, label: str, formula: str, unit: str, format: str = look.GENERAL) -> str:
        """Add a figure that follows from inputs, and return its name."""
        self.rows.append(Row(label, formula, name, unit, "", FORMULA, "", format))
        return name

    def model(self, name: str, label: str, value: float, unit: str, why: str, format: str = look.GENERAL) -> str:
        """Add a figure that only the model can compute, and return its name."""
        self.rows.append(Row(label, value, name, unit, "", MODEL, why, format))
        return name

    def range(self, name: str, first: int) -> str:
        """Give all inputs from position `first` on one name, and return it."""
        self._ranges[name] = (first, len(self.rows) - 1)
        return name

    def has(self, name: str) -> bool:
        """Return whether an input of that name is there."""
        return any(row.name == name for row in self.rows)

    def _source(self, path: str, value: Any) -> tuple[str, str]:
        if isinstance(value, Sourced):
            return value.kind, _words(value)
        if not _is_typed(self.deal, path):
            return DEFAULT, "not typed in the deal file; the default of its terms"
        found = source_of(self.deal, path)
        return ("", "no source given") if found is None else (found.kind, _words(found))

    # --- the sheet ---------------------------------------------------------------------------------------------------

    def write(self, book: Book) -> None:
        """Write the sheet and define all names."""
        sheet = book.sheet(SHEET)
        heading(sheet, "Inputs", ABOUT)
        for place, title in enumerate(TITLES, start=1):
            align = look.HEAD_LEFT if place == 1 else look.HEAD_RIGHT if place in (2, 4, 9) else look.HEAD_BESIDE
            write_text(
                sheet.cell(FIRST_ROW - 1, place),
                title,
                font=look.HEAD,
                fill=look.HEAD_FILL,
                align=align,
                border=look.UNDER_HEAD,
            )
        for row, one in enumerate(self.rows, start=FIRST_ROW):
            if one.value is None:
                write_text(sheet.cell(row, 1), one.label, font=look.SECTION)
                sheet.row_dimensions[row].height = 24
                continue
            self._row(book, row, one)
        for name, (first, last) in self._ranges.items():
            book.define(name, SHEET, f"B{FIRST_ROW + first}", f"B{FIRST_ROW + last}")
        last_row = FIRST_ROW + len(self.rows) - 1
        write_text(sheet["I3"], "Inputs changed", font=look.SMALL, align=look.RIGHT)
        write(sheet["J3"], f'=COUNTIF(J{FIRST_ROW}:J{last_row},"changed")', font=look.BOLD, format=look.WHOLE)
        book.define("inputs_changed", SHEET, "J3")
        changed = f'$J{FIRST_ROW}="changed"'
        mark(sheet, f"B{FIRST_ROW}:B{last_row}", changed, look.font(bold=True), look.CHANGED_FILL)
        widths(sheet, 44, 18, 18, 13, 26, 46, 11, 70, 16, 10)
        sheet.freeze_panes = f"C{FIRST_ROW}"
        sheet.print_title_rows = f"{FIRST_ROW - 1}:{FIRST_ROW - 1}"
        sheet.print_area = f"A1:J{last_row}"
        sheet.page_setup.paperSize = sheet.PAPERSIZE_A3
        guard = DataValidation(type="decimal", operator="between", formula1="-1E+15", formula2="1E+15")
        guard.error, guard.errorTitle, guard.showErrorMessage = "Write a number or a date.", "Not a number", True
        guard.sqref = f"B{FIRST_ROW}:B{last_row}"
        sheet.add_data_validation(guard)

    def _row(self, book: Book, row: int, one: Row) -> None:
        sheet = book.workbook[SHEET]
        fonts = {FORMULA: (look.PLAIN, None), MODEL: (look.MODEL_FONT, look.MODEL_FILL)}
        face, ground = fonts.get(one.kind, (look.INPUT_FONT, look.INPUT_FILL))
        write_text(sheet.cell(row, 1), one.label, border=look.UNDER)
        write(
            sheet.cell(row, 2),
            one.value,
            font=face,
            fill=ground,
            format=one.format,
            align=look.RIGHT,
            border=look.UNDER,
        )
        unit = "" if one.unit == "1" else one.unit
        write_text(sheet.cell(row, 3), unit, align=look.BESIDE, font=look.SMALL, border=look.UNDER)
        write(sheet.cell(row, 4), None, format=look.GENERAL, align=look.RIGHT, border=look.UNDER)
        for place, text in ((5, one.name), (6, one.path), (7, one.kind), (8, one.source)):
            write_text(sheet.cell(row, place), text, font=look.SMALL, align=look.BESIDE, border=look.UNDER)
        if one.name == "close":
            book.define("close", SHEET, f"B{row}")
        elif one.is_date:
            whole = f"(YEAR(B{row})-YEAR(close))*12+MONTH(B{row})-MONTH(close)"
            sheet.cell(row, 4).value = f"={whole}+(DAY(B{row})-1)/DAY(EOMONTH(B{row},0))"
            sheet.cell(row, 4).number_format = "0.000"
            book.define(one.name, SHEET, f"D{row}")
        elif one.name:
            book.define(one.name, SHEET, f"B{row}")
        if not one.is_input:
            write_text(sheet.cell(row, 9), "–", font=look.SMALL, align=look.RIGHT, border=look.UNDER)
        else:
            write(
                sheet.cell(row, 9),
                one.value,
                font=look.SMALL,
                format=one.format,
                align=look.RIGHT,
                border=look.UNDER,
            )
            write(
                sheet.cell(row, 10),
                f'=IF(B{row}=I{row},"","changed")',
                font=look.BOLD,
                align=look.BESIDE,
                border=look.UNDER,
            )


def _number(value: Any) -> float | int | date:
    """Return a term as a cell holds it."""
    if isinstance(value, int | date):
        return value
    if isinstance(value, Decimal | Sourced):
        number = float(value)
        return int(number) if number.is_integer() and abs(number) < 1e15 else number
    raise TypeError(f"{type(value).__name__} is no input")


def _is_typed(deal: Deal, path: str) -> bool:
    """Return whether the deal file gives the value itself, and not its default."""
    value: Any = deal
    for step in steps_of(path):
        if isinstance(value, Terms):
            if step not in value.model_fields_set:
                return False
            value = getattr(value, str(step))
        else:
            value = value[step]
    return True


def _words(source: Source) -> str:
    """Return where a number comes from, in words."""
    said = source.source or source.rationale or ""
    return f"{said} ({source.as_of.isoformat()})"
