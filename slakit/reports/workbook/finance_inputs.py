"""Inputs of the money behind the deal: uses, tax, reserve, tests, and laws typed instead of modelled."""

from __future__ import annotations

from schemas.finance import Covenants
from slakit.reports.workbook import look
from slakit.reports.workbook.basis import Basis
from slakit.reports.workbook.inputs import Inputs

LEVELS = {"minimum_dscr": look.COVER, "minimum_llcr": look.COVER, "maximum_ltv": look.PERCENT}
"""Covenants with a level, in the order in which they are looked at, and how the level is written."""


def levels(covenants: Covenants) -> list[str]:
    """Return the covenants that have a level, in the order in which they are looked at."""
    return [name for name in LEVELS if getattr(covenants, name) is not None]


def finance_inputs(basis: Basis, inputs: Inputs) -> None:
    """Add what is paid at close, tax, reserve, tests and laws typed instead of modelled."""
    finance, add, currency = basis.finance, inputs.term, basis.finance.currency
    inputs.section("Uses and tax")
    add("capital_expenditure", "Capital expenditure", "finance.capital_expenditure", currency, look.MONEY)
    add("other_uses", "Other uses at close", "finance.other_uses", currency, look.MONEY)
    if finance.tax is not None and basis.deal.assumptions.prescribed.cfads is None:
        add(
            "tax_rate",
            f"Tax rate, losses {finance.tax.losses.replace('_', ' ')}",
            "finance.tax.rate",
            "1",
            look.PERCENT,
        )
        add("depreciation_months", "Depreciation", "finance.tax.depreciation_months", "month")
        add("at_once", "Deducted in the first month", "finance.tax.first_month_share", "1", look.PERCENT)
    if finance.loan is not None:
        inputs.section("Reserve and tests")
        if finance.reserve is not None:
            add("reserve_months", "Payments held in reserve", "finance.reserve.months", "1")
        if finance.lock_up is not None:
            add("lock_up_dscr", "Lock-up below a cover of", "finance.lock_up.dscr", "1", look.COVER)
            add("look_back_months", "Look-back", "finance.lock_up.look_back_months", "month")
        for name in levels(finance.covenants):
            words = name.replace("_", " ").replace("dscr", "DSCR").replace("llcr", "LLCR").replace("ltv", "LTV")
            add(name, f"Covenant, {words}", f"finance.covenants.{name}", "1", LEVELS[name])
        if finance.covenants.on_breach == "default":
            add("cure_months", "Months to cure", "finance.covenants.cure_months", "month")
    _prescribed(basis, inputs)


def _prescribed(basis: Basis, inputs: Inputs) -> None:
    """Add laws that the deal file types instead of a model."""
    law, add, currency = basis.deal.assumptions.prescribed, inputs.term, basis.finance.currency
    path = "assumptions.prescribed"
    inputs.section("Prescribed")
    if law.cfads is not None:
        add("cfads_multiple", "Cash over debt service", f"{path}.cfads.while_contracted", "1", look.COVER)
    if basis.loan is None and law.scheduled_debt_service is not None:
        path = f"{path}.scheduled_debt_service"
        add("debt_service_from", "Debt service from", f"{path}.from_month", "month after close")
        add("debt_service_to", "Debt service to", f"{path}.to_month", "month after close")
        add("debt_service", "Debt service", f"{path}.amount", f"{currency}/month", look.MONEY)
    if law.residual_to_equity is not None:
        path = "assumptions.prescribed.residual_to_equity"
        add("residual_month", "Value to equity in", f"{path}.month", "month after close")
        add("residual_amount", "Value to equity", f"{path}.amount", currency, look.MONEY)
    if inputs.rows[-1].value is None:
        inputs.rows.pop()
