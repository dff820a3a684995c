"""The sheet of notes: what stands here as a value, by which conventions, and what the model leaves out."""

from __future__ import annotations

from collections.abc import Iterator

from slakit.reports.notes import for_lenders
from slakit.reports.workbook import look
from slakit.reports.workbook.basis import Basis
from slakit.reports.workbook.book import Book, heading, widths, write_text
from slakit.reports.workbook.checks import ALIAS as MODEL
from slakit.reports.workbook.grid import Grids
from slakit.reports.workbook.inputs import MODEL as FROM_MODEL
from slakit.reports.workbook.inputs import Inputs

LETTERS_A_LINE = 125
"""Letters of a note that fit one line, to make its row high enough."""
ROW_HEIGHT = 13.5
CONVENTIONS = (
    "Month m runs from m - 1 to m months after close; its cash moves at its end. Cash in is positive, cash out "
    "negative; tax, debt service and accounts are written as positive amounts.",
    "DSCR is cash after tax over scheduled debt service of the same month; draws on the reserve are not in it.",
    "IRR is solved on the flows of the months and quoted annual effective, (1 + y)^12 - 1.",
    "Rows end with the last month simulated. A loan made longer than its sheet fails the check on its last balance.",
)


def write_notes(book: Book, basis: Basis, inputs: Inputs, grids: Grids) -> None:
    """Write the sheet."""
    sheet = book.sheet("Notes")
    heading(sheet, "Notes", "What stands here as a value, by which conventions, and what the model leaves out.")
    row = 4
    for title, notes in (
        ("Values that do not recalculate", [*_values(basis, inputs, grids)]),
        ("Conventions", [*CONVENTIONS, *basis.score.get("settings", ())]),
        ("What the model leaves out", for_lenders(basis.score.get("ignored", ()))),
    ):
        write_text(sheet.cell(row, 1), title, font=look.SECTION)
        for note in notes:
            row += 1
            write_text(sheet.cell(row, 1), note, align=look.PARAGRAPH)
            sheet.row_dimensions[row].height = ROW_HEIGHT * (1 + len(note) // LETTERS_A_LINE)
        row += 2
    widths(sheet, 118)
    sheet.print_area = f"A1:A{row - 2}"


def _values(basis: Basis, inputs: Inputs, grids: Grids) -> Iterator[str]:
    """Yield every place where a figure of the model stands instead of a formula."""
    for row in inputs.rows:
        if row.kind == FROM_MODEL:
            yield f"Inputs, {row.label}: {row.source}"
    for grid in grids.by_alias.values():
        if grid.alias == MODEL:
            continue
        for column in grid.columns:
            if not isinstance(column.content, str):
                yield f"{grid.name}, {column.title}: {column.why}."
    yield "Model, and the columns of the model's own figures on Summary and Sources and uses: to compare with."
    yield "Summary, Simulation: estimates over many futures, which no cell can repeat."
