"""The sheet that looks ahead from each month to the payments a reserve is held for, where a sweep may end the loan."""

from __future__ import annotations

from slakit.reports.workbook.basis import Basis
from slakit.reports.workbook.grid import Column, Grid
from slakit.reports.workbook.inputs import Inputs

ALIAS = "ahead"
ABOUT = "The next payments from each month on: as scheduled until nothing is owed. The reserve is held for their sum."


def look_ahead(basis: Basis, inputs: Inputs) -> Grid | None:
    """Return the sheet, None where the reserve is that of the schedule."""
    loan = basis.loan
    if loan is None or not loan.sweep or loan.sweep_effect != "shortens" or not inputs.has("reserve_months"):
        return None
    grid = Grid(ALIAS, "Payments ahead", "Payments ahead", ABOUT, basis.months, basis.money_width)
    currency, months = basis.finance.currency, basis.finances.held
    owed, columns, paid = "[base:closing]", [], []
    for k in range(1, months + 1):
        due = f"IF(AND({k}<=reserve_months,[month]+{k}<=last_payment_month),[loan:regular@+{k}],0)"
        with_interest = f"{owed}*(1+loan_rate/12)"
        columns.append(Column(f"paid_{k}", f"Payment {k} ahead", f"=MIN({due},{with_interest})", unit=currency))
        columns.append(Column(f"left_{k}", "Owed after it", f"={with_interest}-[paid_{k}]", unit=currency))
        owed = f"[left_{k}]"
        paid.append(f"[paid_{k}]")
    grid.add("Ahead", columns)
    grid.add("Sum", [Column("held", "Held for them", f"={'+'.join(paid) or 0}", unit=currency, bold=True)])
    return grid
