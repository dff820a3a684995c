"""The sheet of sources and uses at close."""

from __future__ import annotations

from slakit.reports.workbook import look
from slakit.reports.workbook.basis import Basis
from slakit.reports.workbook.book import Book, heading, widths, write, write_text
from slakit.reports.workbook.grid import Grids
from slakit.reports.workbook.inputs import Inputs

SHEET = "Sources and uses"


def write_sources(book: Book, basis: Basis, inputs: Inputs, grids: Grids) -> None:
    """Write uses, sources, the share of each, and the model's own figure beside it."""
    sheet = book.sheet(SHEET)
    heading(sheet, "Sources and uses", "What is paid with the money raised, and where it comes from.")
    model = basis.finances.sources
    reserve = "=[loan:reserve_target@close]" if inputs.has("reserve_months") else "=0"
    has_loan, has_drawings = basis.loan is not None, inputs.has("drawn_at_close")
    uses = [
        ("Capital expenditure", "=capital_expenditure", model.capital_expenditure),
        (
            "Interest before the first payment",
            "=SUM([loan:interest_in_uses@all])" if has_loan else "=0",
            model.interest_during_construction,
        ),
        ("Commitment fee", "=SUM([loan:commitment_fee@all])" if has_drawings else "=0", model.commitment_fee),
        ("Debt service reserve", reserve, model.reserve),
        ("Other uses", "=other_uses", model.other_uses),
    ]
    ahead = inputs.has("prepayment_share")
    sources = [
        ("Loan", "=loan_amount" if has_loan else "=0", model.loan),
        ("Prepaid fees", "=prepaid_all" if ahead else "=0", model.prepayment),
    ]
    row = 4
    for place, title in enumerate(("", basis.finance.currency, "Share", "Model", "Difference"), start=1):
        align = look.HEAD_LEFT if place == 1 else look.HEAD_RIGHT
        write_text(sheet.cell(row, place), title, font=look.HEAD, fill=look.HEAD_FILL, align=align)

    def line(row: int, label: str, formula: str, figure: float, total: str, *, bold: bool = False) -> None:
        face, border = (look.BOLD, look.ABOVE_TOTAL) if bold else (look.PLAIN, look.UNDER)
        write_text(sheet.cell(row, 1), label, font=face, border=border)
        write(sheet.cell(row, 2), grids.formula(formula), font=face, format=look.MONEY, border=border)
        write(sheet.cell(row, 3), f"=IF({total}=0,0,B{row}/{total})", font=face, format=look.PERCENT, border=border)
        write(sheet.cell(row, 4), figure, font=look.MODEL_FONT, fill=look.MODEL_FILL, format=look.MONEY, border=border)
        write(sheet.cell(row, 5), f"=B{row}-D{row}", font=look.SMALL, format=look.MONEY, border=border)

    first, all_uses = row + 2, row + 2 + len(uses)
    write_text(sheet.cell(row + 1, 1), "Uses", font=look.SECTION)
    for k, (label, formula, figure) in enumerate(uses):
        line(first + k, label, formula, figure, f"$B${all_uses}")
    line(all_uses, "Uses", f"=SUM(B{first}:B{all_uses - 1})", model.uses, f"$B${all_uses}", bold=True)
    begin = all_uses + 2
    equity, all_sources = begin + 1 + len(sources), begin + 2 + len(sources)
    write_text(sheet.cell(begin, 1), "Sources", font=look.SECTION)
    for k, (label, formula, figure) in enumerate(sources, start=1):
        line(begin + k, label, formula, figure, f"$B${all_uses}")
    left = f"=B{all_uses}-SUM(B{begin + 1}:B{equity - 1})"
    line(equity, "Equity: what they leave open", left, model.equity, f"$B${all_uses}")
    whole = model.loan + model.prepayment + model.equity
    line(all_sources, "Sources", f"=SUM(B{begin + 1}:B{equity})", whole, f"$B${all_uses}", bold=True)
    book.define("equity_at_close", SHEET, f"B{equity}")
    book.define("uses_all", SHEET, f"B{all_uses}")
    book.define("sources_all", SHEET, f"B{all_sources}")
    widths(sheet, 36, 20, 10, 20, 14)
    sheet.print_area = f"A1:E{all_sources}"
