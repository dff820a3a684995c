"""Levels that the loan must keep: cover looked back on, cover over the life of the loan, loan to value."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from risk.core.protocol import State
from risk.finance.loan import Schedule
from schemas.finance import Covenants

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
ROUNDING = 1e-9
"""Cover this close to a level has reached it. [1]"""
HALF_A_CENT = 0.005
"""A sum up to this is none. [currency]"""
VALUES = {"market": "gpu_value", "book": "gpu_book_value", "floor": "gpu_floor_value"}
"""Array of the value of the GPUs on each basis."""


class CovenantTests:
    """Writes `breach_month:<covenant>` (draws,), the first month in breach, 0 while none [month].

    Notes
    -----
    Tests are made at the end of each month in which debt service is due, before a default of the loan. `minimum_dscr`
    looks back over the months of the lock-up test, or over one. `minimum_llcr` is the present value, at the loan's
    rate, of base-case cash of the coming months over what the draw owes. `maximum_ltv` is what it owes over the value
    of the GPUs. A draw that owes nothing keeps all of them. What lasts longer than the cure is a default where the
    terms say so.
    """

    def __init__(self, terms: Covenants, plan: Schedule) -> None:
        self.terms, self.plan = terms, plan
        levels = {
            "minimum_dscr": terms.minimum_dscr,
            "minimum_llcr": terms.minimum_llcr,
            "maximum_ltv": terms.maximum_ltv,
        }
        self.level = {name: float(level) for name, level in levels.items() if level is not None}
        self.value = VALUES[terms.ltv_basis]
        self.cash_to_come: FloatArray | None = None

    def take_base(self, cash: FloatArray) -> None:
        """Take the base case's cash flow available for debt service, shape (months,). [currency]"""
        to_come, worth = np.zeros(len(cash) + 1), 0.0
        for month in range(self.plan.last_payment_month, 0, -1):
            worth = (worth + float(cash[month - 1])) / (1 + self.plan.monthly_rate)
            to_come[month - 1] = worth
        self.cash_to_come = to_come

    def breaches(
        self, month: int, state: State, cash: FloatArray, due: float | FloatArray, owed: float | FloatArray
    ) -> dict[str, BoolArray]:
        """Return which draws are in breach of each covenant at the end of the month, each of shape (draws,).

        Parameters
        ----------
        cash, due : cash flow and debt service of the months looked back on, shape (draws,) or one for all. [currency]
        owed : balance after the month's payment, arrears included. [currency]
        """
        found: dict[str, BoolArray] = {}
        owes = np.asarray(owed) > HALF_A_CENT
        if "minimum_dscr" in self.level:
            short = cash < (self.level["minimum_dscr"] - ROUNDING) * due
            found["minimum_dscr"] = np.asarray(short & (state.now["debt_service"] > 0))
        if "minimum_llcr" in self.level and self.cash_to_come is not None:
            enough = (self.level["minimum_llcr"] - ROUNDING) * np.asarray(owed)
            found["minimum_llcr"] = np.broadcast_to(owes & (self.cash_to_come[month] < enough), cash.shape)
        if "maximum_ltv" in self.level:
            value = state.now[self.value].sum(axis=1)
            found["maximum_ltv"] = owes & (owed > (self.level["maximum_ltv"] + ROUNDING) * value)
        return found

    def record(self, month: int, state: State, found: dict[str, BoolArray], alive: BoolArray) -> BoolArray:
        """Note first breaches; return which draws default because one has lasted too long, shape (draws,)."""
        defaults = np.zeros(state.draws, dtype=bool)
        for name in self.level:
            first = state.now.setdefault(f"breach_month:{name}", np.zeros(state.draws, dtype=np.int64))
            lasts = state.now.setdefault(f"breach_lasts:{name}", np.zeros(state.draws, dtype=np.int64))
            breach = found.get(name)
            if breach is None or not breach.any():
                lasts[:] = 0
                continue
            first[alive & breach & (first == 0)] = month
            lasts[:] = np.where(breach, lasts + 1, 0)
            if self.terms.on_breach == "default":
                defaults |= alive & (lasts > self.terms.cure_months)
        return defaults
