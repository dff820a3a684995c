"""Debt service that is paid late, within the months of grace."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from risk.core.protocol import State
from schemas.finance import Loan

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


class Arrears:
    """Writes `arrears` (draws,), debt service not paid so far. [currency]

    Notes
    -----
    Arrears bear interest at the loan's rate and are paid before the service of later months, oldest first. They outlast
    the grace when they are more than the debt service of the last months of it. Grace is for debt service alone:
    running costs that cannot be paid are a default at once, and so is what is unpaid with the last payment.
    """

    def __init__(self, loan: Loan) -> None:
        self.grace = loan.grace_months
        self.growth = 1 + float(loan.annual_rate) / 12

    def brought_forward(self, state: State) -> FloatArray:
        """Return the arrears due this month with their interest, shape (draws,). [currency]"""
        arrears = state.now.get("arrears")
        return np.zeros(state.draws) if arrears is None else arrears * self.growth

    def carry(
        self, month: int, state: State, service: float | FloatArray, claim: float | FloatArray, alive: BoolArray
    ) -> FloatArray:
        """Return the arrears after this month's payment, shape (draws,). [currency]

        Parameters
        ----------
        service, claim : debt service of the month, and all that was due to the lender. [currency]
        """
        recent = state.now.setdefault("recent_service", np.zeros((self.grace, state.draws)))
        recent[month % self.grace] = service
        unpaid = state.now["unpaid"]
        state.now["arrears"] = np.where(alive, np.minimum(unpaid, claim), 0.0)
        state.now["costs_unpaid"] = np.maximum(unpaid - claim, 0.0)
        return state.now["arrears"]

    def outlast_grace(self, month: int, state: State, least: float) -> BoolArray:
        """Return in which draws debt service is unpaid for longer than the grace, by `least` or more, (draws,)."""
        due = np.zeros(state.draws)
        for back in range(self.grace):
            due += state.now["recent_service"][(month - back) % self.grace] * self.growth**back
        return np.asarray((state.now["arrears"] > due + least) | (state.now["costs_unpaid"] > least))
