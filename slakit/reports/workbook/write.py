"""The workbook of a deal and its score, sheet by sheet."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from schemas.deal import Deal
from slakit.files import write_whole
from slakit.load import LoadedDeal
from slakit.reports.lender_document import carried_files, lender_manifest
from slakit.reports.workbook import look
from slakit.reports.workbook.basis import Basis
from slakit.reports.workbook.book import Book
from slakit.reports.workbook.by_tranche import by_tranche
from slakit.reports.workbook.checks import model_sheet, write_checks
from slakit.reports.workbook.cover import cover_inputs
from slakit.reports.workbook.finance_inputs import finance_inputs
from slakit.reports.workbook.grid import Grid, Grids
from slakit.reports.workbook.inputs import Inputs
from slakit.reports.workbook.loan import loan_inputs, loan_sheet
from slakit.reports.workbook.look_ahead import look_ahead
from slakit.reports.workbook.notes import write_notes
from slakit.reports.workbook.operations import insurance_inputs, market_inputs, operations
from slakit.reports.workbook.package import as_bytes
from slakit.reports.workbook.sources import write_sources
from slakit.reports.workbook.summary import SHEET as SUMMARY
from slakit.reports.workbook.summary import write_summary
from slakit.reports.workbook.tranches import Tranches
from slakit.reports.workbook.waterfall import waterfall
from slakit.reports.workbook_manifest import SHEET as MANIFEST
from slakit.reports.workbook_manifest import put_manifest

ORDER = (
    *("Summary", "Inputs", "Tranches", "By tranche", "Base case", "Loan", "Payments ahead", "Sources and uses"),
    *("Checks", "Model", "Notes", MANIFEST),
)
"""Sheets from left to right."""
KIND = "workbook"
"""Name of this kind of document."""
ABOUT = "One row a month. Cash in is positive; violet columns come from the model and do not recalculate."


def write(loaded: LoadedDeal, score: Mapping[str, Any], path: Path) -> None:
    """Write the workbook of a deal and its score to a file.

    Raises
    ------
    MissingTermError
        When the deal has no finances, so that there is no base case.
    """
    write_whole(path, workbook(loaded.deal, score))


def workbook(deal: Deal, score: Mapping[str, Any], manifest: Mapping[str, Any] | None = None) -> bytes:
    """Return the workbook of a deal and its score; the same deal and score give the same bytes.

    Parameters
    ----------
    deal : as loaded, its amendments included.
    manifest : that of the first copy, where a workbook is made again; else a new one.

    Raises
    ------
    MissingTermError
        When the deal has no finances, so that there is no base case.
    """
    basis = Basis.of(deal, score)
    book = Book(basis.deal.title)
    inputs = Inputs(basis.deal)
    tranches = _inputs(basis, inputs)
    base = Grid("base", "Base case", "Base case", ABOUT, basis.months, basis.money_width)
    operations(base, basis, inputs, tranches)
    waterfall(base, basis, inputs)
    grids = [by_tranche(basis, inputs, tranches), base, loan_sheet(basis, inputs), look_ahead(basis, inputs)]
    sheets = Grids([*(grid for grid in grids if grid is not None), model_sheet(base, basis)])
    book.sheet(SUMMARY)
    inputs.write(book)
    tranches.write(book, sheets)
    sheets.write(book, _labels(basis))
    write_sources(book, basis, inputs, sheets)
    write_checks(book, basis, inputs, sheets)
    write_notes(book, basis, inputs, sheets)
    write_summary(book, basis, sheets)
    files = carried_files(deal, score)
    put_manifest(book.workbook, manifest or lender_manifest(KIND, files, score), files)
    book.workbook._sheets.sort(key=lambda sheet: ORDER.index(sheet.title))  # type: ignore[attr-defined]
    return as_bytes(book.workbook)


def _inputs(basis: Basis, inputs: Inputs) -> Tranches:
    """Add all inputs in the order in which they are printed, and return the tranches, which add their own."""
    inputs.section("Dates")
    inputs.term("close", "Financial close", "finance.close", "date", look.DATE)
    if basis.setting.timeline.first is None:
        hours = float(basis.setting.timeline.hours[0])
        path, why = "assumptions.calendar", "equal months, a convention of the simulation"
        inputs.setting("hours_per_month", "Hours of every month", hours, "h", path, why)
    tranches = Tranches(basis, inputs)
    market_inputs(basis, inputs)
    finance_inputs(basis, inputs)
    loan_inputs(basis, inputs)
    insurance_inputs(basis, inputs)
    cover_inputs(basis, inputs)
    return tranches


def _labels(basis: Basis) -> dict[int, str | date]:
    """Return the name of each month: a formula for its first day, or its number where all months are equal."""
    line = basis.setting.timeline
    months = range(1, max(basis.months, basis.loan_months) + 1)
    if line.first is None:
        return {month: line.label(month) for month in months}
    return {month: f"=EDATE(DATE(YEAR(close),MONTH(close),1),{month - 1})" for month in months}
