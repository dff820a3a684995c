"""What the lender gets back in the month of default: the better of a sale and a novation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from risk.core.protocol import State
from risk.core.setting import Setting
from schemas.finance import Recovery

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RecoveryLaw:
    """Sale of the GPUs, or a substitute operator that runs the contract to its end.

    Notes
    -----
    Sale: max(0, stress x sum of value x (1 - cost)) / (1+i)^lag, undelivered tranches times their own factor.
    Novation: share x sum over tranches still under contract of max(monthly margin, 0) x annuity(i, months left of the
    term) less the prepayment still to be credited, which a substitute must honour, not discounted; 0 without a
    contract. The recovery is never above the exposure.
    """

    setting: Setting
    sale_stress: float
    sale_cost_share: float
    lag_months: float
    novation_share: float
    undelivered_share: float
    monthly_rate: float
    margin: FloatArray
    """Fee less running cost of each tranche and month at the contract price, shape (tranches, months). [currency]"""

    @classmethod
    def of(cls, terms: Recovery, setting: Setting, monthly_rate: float, margin: FloatArray) -> RecoveryLaw:
        """Return the law typed in `finance.recovery`."""
        return cls(
            setting=setting,
            sale_stress=float(terms.sale_stress),
            sale_cost_share=float(terms.sale_cost_share) if terms.sale_cost_share else 0.0,
            lag_months=float(terms.lag_months),
            novation_share=float(terms.novation_share) if terms.novation_share else 0.0,
            undelivered_share=float(terms.undelivered_share) if terms.undelivered_share else 1.0,
            monthly_rate=monthly_rate,
            margin=margin,
        )

    def sale(self, month: int, state: State, rows: NDArray[np.bool_]) -> FloatArray:
        """Return the discounted proceeds of a sale for the marked draws, shape (marked,). [currency]"""
        value = state.now["gpu_value"][rows]
        delivered = state.path["ready"][rows] <= month
        factor = np.where(delivered, 1.0, self.undelivered_share)
        proceeds = self.sale_stress * (value * factor).sum(axis=1) * (1 - self.sale_cost_share)
        return np.asarray(np.maximum(proceeds, 0.0) / (1 + self.monthly_rate) ** self.lag_months)

    def novation(self, month: int, state: State, rows: NDArray[np.bool_]) -> FloatArray:
        """Return the worth of the remaining contract to a substitute, shape (marked,). [currency]"""
        if self.novation_share == 0:
            return np.zeros(int(rows.sum()))
        left = self.setting.term_ends(state.path["ready"][rows]) - month
        left = np.clip(left, 0.0, self.setting.term_months)
        if self.monthly_rate:
            annuity = -np.expm1(-left * np.log1p(self.monthly_rate)) / self.monthly_rate
        else:
            annuity = left
        factor = state.now.get("rent_factor")
        fees = self.setting.fees[:, month - 1] * (factor[rows] if factor is not None else 1.0)
        margin = np.maximum(fees - (self.setting.fees - self.margin)[:, month - 1], 0.0)
        each = np.maximum(margin * annuity - state.now["prepaid_left"][rows], 0.0)
        worth = (each * state.under_contract[rows]).sum(axis=1)
        return np.asarray(self.novation_share * worth)
