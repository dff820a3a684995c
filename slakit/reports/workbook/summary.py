"""The first sheet: what the workbook is, the base case's figures by formula, those of the simulation as values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from slakit.reports.workbook import look
from slakit.reports.workbook.basis import Basis
from slakit.reports.workbook.book import Book, heading, mark, widths, write, write_text
from slakit.reports.workbook.grid import Grids

SHEET = "Summary"
WHAT = (
    "The base case of the deal, month by month, in formulas: on time, no outage, no exit, the quoted market.",
    "Change an input on the sheet Inputs and every figure here follows. Figures of the simulation below do not.",
)
DISCLAIMER = "Not a credit rating. Not investment, legal or insurance advice."
SAME = 1e-9
"""Covers this close are one cover. [1]"""
LEGEND = (
    ("Input, may be changed", look.INPUT_FONT, look.INPUT_FILL),
    ("Formula", look.PLAIN, None),
    ("From the model, does not recalculate", look.MODEL_FONT, look.MODEL_FILL),
)


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of the base case: by formula, and as the model gave it."""

    label: str
    formula: str
    model: float | None
    format: str
    reason: str = ""
    """Why the model gives none."""


def write_summary(book: Book, basis: Basis, grids: Grids) -> None:
    """Write the sheet."""
    sheet = book.workbook[SHEET]
    heading(
        sheet,
        basis.deal.title,
        f"Base case and score; amounts in {basis.finance.currency}; close {basis.finance.close}.",
    )
    row = 4
    for sentence in WHAT:
        write_text(sheet.cell(row, 1), sentence)
        row += 1
    for place, (words, face, ground) in enumerate(LEGEND, start=1):
        write_text(sheet.cell(row + 1, place), words, font=face, fill=ground, align=look.WRAPPED)
    sheet.row_dimensions[row + 1].height = 28
    row = _base_case(book, basis, grids, row + 3)
    row = _states(book, row + 1)
    row = _simulated(book, basis, row + 1)
    write_text(sheet.cell(row + 1, 1), DISCLAIMER, font=look.BOLD)
    widths(sheet, 58, 24, 26, 20)
    sheet.print_area = f"A1:D{row + 1}"
    sheet.page_setup.fitToHeight = 1


def _heads(book: Book, row: int, titles: tuple[str, ...]) -> None:
    sheet = book.workbook[SHEET]
    for place, title in enumerate(titles, start=1):
        align = look.HEAD_LEFT if place == 1 else look.HEAD_RIGHT
        write_text(
            sheet.cell(row, place), title, font=look.HEAD, fill=look.HEAD_FILL, align=align, border=look.UNDER_HEAD
        )


def _base_case(book: Book, basis: Basis, grids: Grids, row: int) -> int:
    """Write the figures of the base case; return the row after them."""
    sheet = book.workbook[SHEET]
    _heads(book, row, ("Base case", "By formula", "Model's own figure", "Difference"))
    for figure in _figures(basis, grids):
        row += 1
        write_text(sheet.cell(row, 1), figure.label, border=look.UNDER)
        if figure.reason:
            write(sheet.cell(row, 2), None, border=look.UNDER)
            write_text(sheet.cell(row, 3), figure.reason, font=look.MODEL_FONT, align=look.RIGHT, border=look.UNDER)
            write(sheet.cell(row, 4), None, border=look.UNDER)
            continue
        write(
            sheet.cell(row, 2),
            grids.formula(figure.formula),
            font=look.BOLD,
            format=figure.format,
            align=look.RIGHT,
            border=look.UNDER,
        )
        write(
            sheet.cell(row, 3),
            figure.model,
            font=look.MODEL_FONT,
            fill=look.MODEL_FILL,
            format=figure.format,
            align=look.RIGHT,
            border=look.UNDER,
        )
        write(
            sheet.cell(row, 4),
            f'=IF(AND(ISNUMBER(B{row}),ISNUMBER(C{row})),B{row}-C{row},"")',
            font=look.SMALL,
            format=look.TINY,
            align=look.RIGHT,
            border=look.UNDER,
        )
    return row + 1


def _figures(basis: Basis, grids: Grids) -> Iterator[Figure]:
    score, finances = basis.score, basis.finances
    cover = basis.cover_of_debt
    if not np.all(np.isnan(cover)):
        lowest, average = float(np.nanmin(cover)), float(np.nanmean(cover))
        yield Figure("Lowest DSCR", "=MIN([base:dscr@all])", lowest, look.COVER)
        near = f"([base:dscr@all]<=MIN([base:dscr@all])+{SAME})"
        month = f"=1E6-SUMPRODUCT(MAX({near}*(1E6-[base:month@all])))"
        first = int(np.flatnonzero(cover <= lowest + SAME)[0]) + 1
        yield Figure("First month with the lowest DSCR", month, first, look.WHOLE)
        yield Figure("Average DSCR", "=AVERAGE([base:dscr@all])", average, look.COVER)
    if finances.plan is not None:
        yield _life_cover(score.get("llcr", {}), has_column="pv_cash" in grids.by_alias["base"])
        yield from _returns(score.get("equity_irr", {}))
    service = basis.figure("debt_service")
    yield Figure(
        "Cash available for debt service, in all",
        "=SUM([base:cfads@all])",
        float(basis.figure("cfads").sum()),
        look.MONEY,
    )
    yield Figure("Debt service, in all", "=SUM([base:service@all])", float(service.sum()), look.MONEY)
    paid = float(basis.figure("distribution").sum())
    yield Figure("Distributions, in all", "=SUM([base:distribution@all])", paid, look.MONEY)
    if finances.plan is not None:
        yield Figure("Loan", "=loan_amount", finances.plan.commitment, look.MONEY)
        fails = "[base:fails@all]"
        when = f"=IF(SUM({fails})>0,MATCH(1,{fails},0),0)"
        yield Figure("Month in which the loan defaults, – for never", when, basis.default_month, look.COUNT)
        yield Figure(
            "Debt service and costs unpaid", "=SUM([base:unpaid@all])", float(basis.figure("unpaid").sum()), look.MONEY
        )
    yield Figure("Equity at close", "=equity_at_close", finances.sources.equity, look.MONEY)


def _life_cover(score: Mapping[str, Any], *, has_column: bool) -> Figure:
    label, value = "LLCR at the first payment", score.get("at_first_payment")
    if value is None or not has_column:
        return Figure(label, "", None, look.COVER, str(score.get("at_first_payment_reason", "not defined")))
    formula = "=INDEX([base:pv_cash@run],first_payment_month)/INDEX([loan:opening@all],first_payment_month)"
    return Figure(label, formula, value, look.COVER)


def _returns(score: Mapping[str, Any]) -> Iterator[Figure]:
    """Yield the return on equity, with and without what the GPUs are worth at the end."""
    for key, label, flow in (
        ("base", "Equity IRR, annual effective", "equity"),
        ("base_without_terminal_value", "the same without the value of the GPUs at the end", "equity_bare"),
    ):
        value = score.get(key)
        if value is None:
            reason = str(score.get(f"{key}_reason", "not defined")).replace("_", " ")
            yield Figure(label, "", None, look.PERCENT, reason)
            continue
        guess = (1 + value) ** (1 / 12) - 1
        yield Figure(label, f'=IFERROR((1+IRR([base:{flow}@run],{guess:.3g}))^12-1,"not defined")', value, look.PERCENT)


def _states(book: Book, row: int) -> int:
    """Write whether the workbook is as delivered and its checks hold; return the row after."""
    sheet = book.workbook[SHEET]
    changed = '=IF(inputs_changed=0,"as delivered",inputs_changed&" changed: differences are the effect of the change")'
    differs = 'IF(inputs_changed=0,"DIFFERS FROM THE MODEL","differs, as inputs are changed")'
    agrees = f'=IF(checks_model,"agrees with the model in every month",{differs})'
    arithmetic = '=IF(checks_arithmetic,"all checks hold","A CHECK FAILS: see the sheet Checks")'
    for label, formula, alarm in (
        ("Inputs", changed, ""),
        ("Arithmetic", arithmetic, "NOT(checks_arithmetic)"),
        ("Formulas against the model", agrees, "AND(NOT(checks_model),inputs_changed=0)"),
    ):
        write_text(sheet.cell(row, 1), label, border=look.UNDER)
        write(sheet.cell(row, 2), formula, font=look.BOLD, align=look.LEFT, border=look.UNDER)
        for place in (3, 4):
            sheet.cell(row, place).border = look.UNDER
        if alarm:
            mark(sheet, f"B{row}", alarm, look.font(colour=look.BAD, bold=True), look.BAD_FILL)
        row += 1
    return row


def _simulated(book: Book, basis: Basis, row: int) -> int:
    """Write the figures of the simulation as values; return the row after them."""
    sheet, score = book.workbook[SHEET], basis.score
    _heads(book, row, ("Simulation", "", "Figure", "± standard error"))
    for label, where, name, format in (
        ("Probability of default over the term", "default", "pd_term", look.PERCENT),
        ("Probability of default in 12 months", "default", "pd_12_months", look.PERCENT),
        ("Loss given default", "default", "lgd", look.PERCENT),
        ("Expected loss, basis points of the loan", "default", "expected_loss_bp", "0.0"),
        ("Expected loss a year, basis points", "default", "expected_loss_bp_per_year", "0.0"),
        ("Probability that the contract is cancelled", "cancellation", "probability", look.PERCENT),
    ):
        part = score.get(where)
        if not isinstance(part, Mapping) or name not in part:
            continue
        row += 1
        value, error = part[name], part.get(f"{name}_standard_error")
        reason = str(part.get(f"{name}_reason", "")).replace("_", " ")
        _value(book, row, label, value, error, format, reason)
        if error is None and value is not None:
            why = str(part.get(f"{name}_standard_error_reason", "")).replace("_", " ")
            write_text(sheet.cell(row, 4), why, font=look.MODEL_FONT, align=look.RIGHT, border=look.UNDER)
    if "credit_step" in score:
        row += 1
        step, band = score["credit_step"], score.get("grade", {}).get("sampling_band")
        _value(book, row, "Credit step", step, None, look.GENERAL, str(score.get("credit_step_reason", "")))
        if band:
            row += 1
            _value(book, row, "Steps that so many futures leave open", band["words"], None, look.GENERAL, "")
    manifest = score.get("manifest", {})
    draws, seed = manifest.get("draws", score.get("draws")), manifest.get("seed", score.get("seed"))
    said = f"From one joint simulation of {draws:,} futures, seed {seed}: values that do not recalculate."
    write_text(sheet.cell(row + 1, 1), said, font=look.SMALL)
    return row + 2


def _value(book: Book, row: int, label: str, value: object, error: float | None, format: str, reason: str) -> None:
    sheet = book.workbook[SHEET]
    write_text(sheet.cell(row, 1), label, border=look.UNDER)
    sheet.cell(row, 2).border = look.UNDER
    cell = sheet.cell(row, 3)
    if isinstance(value, int | float):
        write(
            cell, value, font=look.MODEL_FONT, fill=look.MODEL_FILL, format=format, align=look.RIGHT, border=look.UNDER
        )
    else:
        words = reason if value is None else str(value)
        write_text(cell, words, font=look.MODEL_FONT, fill=look.MODEL_FILL, align=look.RIGHT, border=look.UNDER)
    write(sheet.cell(row, 4), error, font=look.MODEL_FONT, format=format, align=look.RIGHT, border=look.UNDER)
