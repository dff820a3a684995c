"""The sheet that follows each tranche month by month: what is ready, what it earns, what it costs."""

from __future__ import annotations

from slakit.reports.workbook import look
from slakit.reports.workbook.basis import Basis
from slakit.reports.workbook.grid import Column, Grid
from slakit.reports.workbook.inputs import Inputs
from slakit.reports.workbook.tranches import Tranches

ALIAS = "tranche"
ABOUT = "Each tranche on its planned date, under its contract to the end of its term: the base case knows no exit."


def by_tranche(basis: Basis, inputs: Inputs, tranches: Tranches) -> Grid:
    """Return the sheet's columns, a group for each kind of figure and a column for each tranche."""
    grid = Grid(ALIAS, "By tranche", "By tranche", ABOUT, basis.months, basis.money_width)
    currency = basis.finance.currency
    sheet = _Blocks(grid, tranches)
    sheet.block("ready", "Share of month ready", "=MAX(0,MIN(1,[month]-{ready}))", "1", look.SHARE)
    over = "MAX(0,MIN(1,[month]-MAX({end},{ready})))"
    sheet.block("term", "Share of month under contract", f"=MAX(0,[ready_#]-{over})", "1", look.SHARE)
    sheet.block("fee", "Fees", "=[term_#]*{fee}{by_the_hour}", currency, total=True)
    if tranches.has("prepaid"):
        _prepayment(sheet, currency)
    sheet.block("out", "Share of month ready and under no contract", "=[ready_#]-[term_#]", "1", look.SHARE)
    if tranches.has("relet_from"):
        _reletting(sheet, currency, fixed=inputs.has("relet_fixed_months"))
    _costs(sheet, inputs, currency)
    return grid


def _prepayment(sheet: _Blocks, currency: str) -> None:
    """Add what is credited of the prepayment, what waits for a larger fee, and what is paid back."""

    def share(month: str) -> str:
        since = f"MIN({month},{{end}})-{{ready}}-(prepayment_from-1)"
        return f"MAX(0,MIN(1,({since})/(term_months-prepayment_from+1)))"

    due = f"[prepaid_waiting_#@-1]+{{prepaid}}*({share('[month]')}-{share('([month]-1)')})"
    sheet.block("prepaid_due", "Prepayment due to be credited", f"={due}", currency)
    sheet.block("prepaid_used", "Prepayment credited", "=MIN([prepaid_due_#],[fee_#])", currency, total=True)
    sheet.block("prepaid_waiting", "Prepayment that waits", "=[prepaid_due_#]-[prepaid_used_#]", currency)
    left = "[prepaid_left_#@-1]-[prepaid_used_#]"
    sheet.block(
        "prepaid_refunded",
        "Prepayment paid back",
        f"=IF(AND([month]>={{refund}},{left}>0.005),{left},0)",
        currency,
        total=True,
    )
    sheet.block("prepaid_left", "Prepayment left", f"={left}-[prepaid_refunded_#]", currency, close="={prepaid}")


def _reletting(sheet: _Blocks, currency: str, *, fixed: bool) -> None:
    """Add what is let of capacity under no contract, and at what rent."""
    on = "AND([out_#]<>0,[month]>={relet_from})"
    spot = "[base:spot_rent]*(1-relet_haircut)"
    rent = spot
    if fixed:
        begins = f"AND({on},[month]>[rent_until_#@-1],{spot}>{{power}})"
        held = f"=IF({on},IF([month]>[rent_until_#@-1],IF({spot}>{{power}},{spot},0),[rent_#@-1]),[rent_#@-1])"
        sheet.block("rent", "Rent of the letting", held, f"{currency}/GPU-hour", look.RENT)
        until = f"=IF({begins},[month]+relet_fixed_months-1,[rent_until_#@-1])"
        sheet.block("rent_until", "Rent holds until", until, "month", look.WHOLE)
        rent = "[rent_#]"
    ramp = "MIN(relet_highest_utilisation,relet_first_utilisation+([month]-{relet_from})*relet_utilisation_step)"
    let = f"=IF({on},IF({rent}>{{power}},{ramp},0),0)"
    sheet.block("let", "Share of hours let again", let, "1", look.SHARE)
    income = f"=[let_#]*{rent}*{{gpus}}*[base:hours]"
    sheet.block("relet", "Income of letting again", income, currency, total=True)


def _costs(sheet: _Blocks, inputs: Inputs, currency: str) -> None:
    """Add the cost of running each tranche; each kind that the deal prices."""
    tranches = sheet.tranches
    idle = "idle_share" if inputs.has("idle_share") else "0"
    let = "[let_#]" if tranches.has("relet_from") else "0"
    running = f"[term_#]+[out_#]*({let}+{idle}*(1-{let}))"
    sheet.block("power", "Power", f"={{power}}*{{gpus}}*[base:hours]*({running})", currency, total=True)
    sheet.block("other", "Other cost", "={other}*{gpus}*[base:hours]*[ready_#]", currency, total=True)
    each = "({rent}+{staff})*[base:growth]+{insurance}"
    words = "Site rent, staff, property insurance"
    sheet.block("fixed", words, f"={{gpus}}*({each})*[ready_#]", currency, total=True)


class _Blocks:
    """Groups of columns, one for each tranche."""

    def __init__(self, grid: Grid, tranches: Tranches) -> None:
        self.grid, self.tranches = grid, tranches

    def block(
        self,
        key: str,
        title: str,
        formula: str,
        unit: str,
        format: str = look.MONEY,
        *,
        total: bool = False,
        close: str | None = None,
    ) -> None:
        """Add a group; in its formula `#` is the tranche's number and `{ready}` a property of the tranche."""
        columns = []
        for j, name in enumerate(self.tranches.ids):
            columns.append(
                Column(
                    f"{key}_{j + 1}",
                    name,
                    self._of(formula, j),
                    format,
                    unit,
                    total=total,
                    width=10 if format == look.SHARE else None,
                    close=None if close is None else self._of(close, j),
                )
            )
        self.grid.add(title, columns)

    def _of(self, formula: str, tranche: int) -> str:
        formula = formula.replace("{by_the_hour}", "*[base:hours]" if self.tranches.per_hour(tranche) else "")
        for one in self.tranches.properties:
            mark = f"{{{one.key}}}"
            if mark in formula:
                formula = formula.replace(mark, self.tranches.at(one.key, tranche))
        return formula.replace("#", str(tranche + 1))
