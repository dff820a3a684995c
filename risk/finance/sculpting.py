"""The debt that cash carries, where the tax on that cash depends on the interest of the debt."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from risk.finance.loan import schedule
from risk.finance.tax import IncomeTax
from schemas.errors import NotComputedError
from schemas.finance import Loan

FloatArray = NDArray[np.float64]
SETTLED = 1e-12
"""Cash after tax is found when a round moves it by no more than this share of its greatest month. [1]"""
ROUNDS = 60
"""Rounds after which a debt that still moves is refused."""
MUCH_THE_SAME, ROUNDS_IN_VAIN = 0.99, 4
"""Share of the move of the round before, and rounds of more than it, after which a debt will not settle. [1]"""
NEVER_SETTLES = (
    "finance.loan.target_dscr",
    "a debt that moves its own cash and never settles",
    "choose another profile",
)


def cash_after_tax(loan: Loan, tax: IncomeTax, before_tax: FloatArray, income: FloatArray) -> FloatArray:
    """Return cash after the tax that is due with the debt sculpted to it, shape (months,). [currency]

    Parameters
    ----------
    before_tax : cash flow before tax, shape (months,). [currency]
    income : taxable income before interest, shape (months,). [currency]

    Notes
    -----
    More debt is more interest and less tax, which carries more debt: the fixed point of both, found by going round. A
    round moves it by about the tax rate times the share of interest in debt service of the one before.

    Raises
    ------
    NotComputedError
        When it still moves after `ROUNDS` rounds.
    """
    cash, close = before_tax, SETTLED * float(np.abs(before_tax).max())
    for _ in range(ROUNDS):
        interest = schedule(loan, len(before_tax), cash).interest
        after = before_tax - tax.of_months(income - interest)
        moved, cash = float(np.abs(after - cash).max()), after
        if moved <= close:
            return cash
    raise NotComputedError(*NEVER_SETTLES)
