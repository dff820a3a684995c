"""The model's own figures month by month, and the sheet of checks: arithmetic that always holds, and agreement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slakit.reports.workbook import look
from slakit.reports.workbook.basis import Basis
from slakit.reports.workbook.book import Book, heading, mark, widths, write, write_text
from slakit.reports.workbook.grid import Column, Grid, Grids
from slakit.reports.workbook.inputs import Inputs

SHEET, ALIAS = "Checks", "model"
TOLERANCE = "1E-9"
"""Greatest difference from the model, as a share of the column's greatest figure. [1]"""
LINES = {
    "fees": ("Fees", "fees"),
    "prepaid_used": ("Prepayment credited", "prepayment_credited"),
    "prepaid_refunded": ("Prepayment paid back", "prepayment_refunded"),
    "reletting": ("Letting again", "reletting"),
    "premium": ("Insurance premium", "insurance_premium"),
    "cover": ("Paid by the cover", "backstop"),
    "cover_fee": ("Fee of the cover", "backstop_fee"),
    "cover_share": ("Revenue shared", "backstop_revenue_share"),
}
"""Columns of the base case by the cash line of the model."""
FIGURES = {
    "tax": ("Tax", "tax"),
    "losses": ("Losses carried forward", "losses_carried"),
    "cfads": ("CFADS", "cfads"),
    "interest": ("Interest", "interest"),
    "service": ("Debt service", "debt_service"),
    "owed": ("Owed", "balance"),
    "reserve": ("Reserve", "reserve"),
    "trapped": ("Trapped cash", "trapped"),
    "unpaid": ("Unpaid", "unpaid"),
    "distribution": ("Distribution", "distribution"),
}
"""Columns of the base case by the figure of the model."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One figure by month that the sheets compute and the model gave."""

    key: str
    title: str
    formula: str
    figures: NDArray[np.float64]
    """nan where it is not defined, shape (months,)."""
    format: str = look.MONEY


def compared(grid: Grid, basis: Basis) -> Iterator[Compared]:
    """Yield every figure by month that is compared with the model.

    Parameters
    ----------
    grid : the base case.
    """
    for key, (title, name) in LINES.items():
        if key in grid:
            yield Compared(key, title, f"[base:{key}]", basis.line(name))
    costs = "+".join(f"[base:{key}]" for key in ("power", "other", "fixed", "shared") if key in grid)
    yield Compared("costs", "Operating costs", f"-({costs})", basis.figure("operating_costs"))
    for key, (title, name) in FIGURES.items():
        if key in grid and basis.has(name):
            yield Compared(key, title, f"[base:{key}]", basis.figure(name))
    yield Compared("dscr", "DSCR", "[base:dscr]", basis.cover_of_debt, look.COVER)
    if "look_back" in grid:
        yield Compared("look_back", "Look-back cover", "[base:look_back]", basis.figure("look_back_cover"), look.COVER)
    if "spot_rent" in grid:
        yield Compared("spot_rent", "Spot rent", "[base:spot_rent]", basis.base.monthly["spot_rent"][0], look.CENTS)


def model_sheet(grid: Grid, basis: Basis) -> Grid:
    """Return the model's own figures, and by how much the formulas of the base case differ from them."""
    about = "What the engine computed for the deal as delivered, and the formulas of the base case less that."
    sheet = Grid(ALIAS, "Model", "The model's own figures", about, basis.months, basis.money_width)
    for one in compared(grid, basis):
        typed = tuple(None if np.isnan(x) else float(x) for x in one.figures)
        less = f"=IF(ISNUMBER({one.formula}),{one.formula}-[{one.key}],0)"
        sheet.add(
            one.title,
            [
                Column(one.key, "Model", typed, one.format, why="what the formulas are compared with"),
                Column(f"less_{one.key}", "Formula less model", less, look.TINY, width=11),
            ],
        )
    return sheet


def write_checks(book: Book, basis: Basis, inputs: Inputs, grids: Grids) -> None:
    """Write the sheet of checks."""
    sheet = book.sheet(SHEET)
    about = "Arithmetic holds whatever the inputs. Agreement with the model holds until an input is changed."
    heading(sheet, "Checks", about)
    row = 4
    for name, title, checks in (
        ("checks_arithmetic", "Arithmetic", [*_arithmetic(basis, inputs, grids)]),
        ("checks_model", "Agreement with the model, every month", [*_agreement(basis, grids)]),
    ):
        write_text(sheet.cell(row, 1), title, font=look.SECTION)
        for place, head in ((2, "Holds"), (3, "Measured"), (4, "Limit")):
            write_text(sheet.cell(row, place), head, font=look.HEAD, align=look.HEAD_RIGHT)
        first = row + 1
        for label, measured, limit in checks:
            row += 1
            write_text(sheet.cell(row, 1), label, border=look.UNDER)
            write(sheet.cell(row, 2), f"=C{row}<=D{row}", font=look.BOLD, align=look.RIGHT, border=look.UNDER)
            write(
                sheet.cell(row, 3), f"={grids.formula(measured)}", format=look.TINY, align=look.RIGHT, border=look.UNDER
            )
            write(sheet.cell(row, 4), f"={grids.formula(limit)}", format=look.TINY, align=look.RIGHT, border=look.UNDER)
        row += 1
        write_text(sheet.cell(row, 1), "All of them", font=look.BOLD, border=look.ABOVE_TOTAL)
        write(
            sheet.cell(row, 2),
            f"=AND(B{first}:B{row - 1})",
            font=look.BOLD,
            align=look.RIGHT,
            border=look.ABOVE_TOTAL,
        )
        book.define(name, SHEET, f"B{row}")
        row += 2
    mark(sheet, f"B5:B{row}", "AND(ISLOGICAL(B5),NOT(B5))", look.font(colour=look.BAD, bold=True), look.BAD_FILL)
    mark(sheet, f"B5:B{row}", "AND(ISLOGICAL(B5),B5)", look.font(colour=look.GOOD, bold=True))
    widths(sheet, 62, 10, 14, 14)
    sheet.freeze_panes = "A4"
    sheet.print_area = f"A1:D{row}"
    sheet.page_setup.fitToHeight = 1


def _arithmetic(basis: Basis, inputs: Inputs, grids: Grids) -> Iterator[tuple[str, str, str]]:
    """Yield the label, what is measured and its limit of each check that always holds."""
    grid = grids.by_alias["base"]
    cent, large = "0.01", "MAX(0.01,1E-10*uses_all)"
    yield "Sources equal uses", "ABS(sources_all-uses_all)", large
    if basis.loan is not None:
        yield (
            "The loan is drawn by the first payment",
            "ABS(INDEX([loan:opening@all],first_payment_month)-loan_amount)",
            "MAX(0.01,1E-10*loan_amount)",
        )
        yield (
            "Nothing is left of the loan as scheduled after the last payment",
            "ABS(INDEX([loan:closing@all],last_payment_month))",
            "MAX(0.01,1E-10*loan_amount)",
        )
    yield "Cash in equals cash out over all months", _cash(grid, inputs), "MAX(0.01,1E-10*SUM([base:fees@all]))"
    if inputs.has("prepayment_share"):
        left = "+".join(
            f"INDEX([tranche:prepaid_left_{j}@all],{basis.months})" for j in range(1, len(basis.setting.tranches) + 1)
        )
        used = "SUM([base:prepaid_used@all])+SUM([base:prepaid_refunded@all])"
        yield "Prepayment is credited, paid back or still there", f"ABS(prepaid_all+{used}-({left}))", large
    if "depreciation" in grid:
        yield "No more is depreciated than was spent", "SUM([base:depreciation@all])-capital_expenditure", cent
    for key, words in (("reserve", "The reserve is never negative"), ("trapped", "Trapped cash is never negative")):
        if key in grid:
            yield words, f"-MIN([base:{key}@all])", cent


def _cash(grid: Grid, inputs: Inputs) -> str:
    """Return by how much cash in and cash out differ while the loan lives."""
    paid = "-SUM([base:distribution@all])"
    if inputs.has("residual_month"):
        alive = "INDEX([base:alive@all],residual_month)" if "alive" in grid else "1"
        paid += f"+residual_amount*{alive}"
    if "alive" not in grid:
        return f"ABS(SUM([base:cfads@all])-SUM([base:service@all]){paid})"
    claim = "claim" if "claim" in grid else "service"
    moved = "SUMPRODUCT([base:alive@all],[base:cfads@all])+SUM([base:unpaid@all])"
    moved += f"-SUMPRODUCT([base:alive@all],[base:{claim}@all]){paid}-SUM([base:taken@all])"
    if "swept" in grid:
        moved += "-SUM([base:swept@all])"
    moved += f"-INDEX([base:trapped@all],{grid.months})"
    if "reserve" in grid:
        moved += f"+[base:reserve@close]-INDEX([base:reserve@all],{grid.months})"
    return f"ABS({moved})"


def _agreement(basis: Basis, grids: Grids) -> Iterator[tuple[str, str, str]]:
    """Yield the greatest difference from the model of each figure, as a share of its greatest figure."""
    for one in compared(grids.by_alias["base"], basis):
        less, own = f"[model:less_{one.key}@all]", f"[model:{one.key}@all]"
        measured = f"MAX(MAX({less}),-MIN({less}))/MAX(1,MAX({own}),-MIN({own}))"
        yield f"{one.title}: greatest difference over its greatest figure", measured, TOLERANCE
    money = basis.finances.sources
    for label, name, figure in (("Uses", "uses_all", money.uses), ("Equity", "equity_at_close", money.equity)):
        yield (
            f"{label} at close: difference over the figure",
            f"ABS({name}-{figure!r})/MAX(1,ABS({figure!r}))",
            TOLERANCE,
        )
