"""What the lender gets back in the month of default: the better of a sale and a novation, or a typed share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from risk.core.protocol import State
from risk.core.running_cost import running_cost
from risk.core.setting import Setting
from schemas.finance import Recovery

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class PrescribedLoss:
    """The loss before any cover as a typed share of exposure."""

    def __init__(self, loss_share: float) -> None:
        self.kept = 1.0 - loss_share

    def back(self, month: int, state: State, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return what comes back, with a novation as an option and from a sale alone, (rows,) each. [currency]"""
        recovered = self.kept * state.now["exposure"][rows]
        return recovered, recovered


class RecoveryLaw:
    """Sale of the GPUs, or a substitute operator that runs the contract to its end; and the cash that is held.

    Notes
    -----
    Sale: max(0, stress x sum of value x (1 - cost share) - cost) / (1+i)^lag, undelivered tranches times their own
    factor. Novation: share x sum over tranches under contract of max(fee at the rent now agreed - running cost at full
    load, 0) x annuity(i, months left of the term, or of the loan if the terms say so) less the prepayment still to be
    credited, which a substitute must honour, not discounted; nothing without a contract or once the customer has
    defaulted. Cash in the reserve and trapped cash, which only a default with debt service paid leaves, go to the
    lender at once.
    """

    def __init__(self, terms: Recovery, setting: Setting, monthly_rate: float, maturity: int) -> None:
        self.setting = setting
        self.counted_until = float(maturity) if terms.novation_until == "loan_maturity" else np.inf
        self.stress, self.lag = float(terms.sale_stress), float(terms.lag_months)
        self.cost_share = float(terms.sale_cost_share) if terms.sale_cost_share else 0.0
        self.cost = float(terms.sale_cost) if terms.sale_cost else 0.0
        self.novation_share = float(terms.novation_share) if terms.novation_share else 0.0
        self.undelivered_share = float(terms.undelivered_share) if terms.undelivered_share else 1.0
        self.monthly_rate = monthly_rate
        self.cost_of_running = _cost_of_running(setting)

    def back(self, month: int, state: State, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return what comes back, with a novation as an option and from a sale alone, (rows,) each. [currency]"""
        held = state.now["reserve"][rows] + state.now["trapped"][rows]
        sale = self.sale(month, state, rows)
        return np.maximum(sale, self.novation(month, state, rows)) + held, sale + held

    def sale(self, month: int, state: State, rows: IntArray) -> FloatArray:
        """Return the discounted proceeds of a sale in some draws, shape (rows,). [currency]"""
        delivered = state.path["ready"][rows] <= month
        value = state.now["gpu_value"][rows] * np.where(delivered, 1.0, self.undelivered_share)
        proceeds = self.stress * value.sum(axis=1) * (1 - self.cost_share) - self.cost
        return np.asarray(np.maximum(proceeds, 0.0) / (1 + self.monthly_rate) ** self.lag)

    def novation(self, month: int, state: State, rows: IntArray) -> FloatArray:
        """Return the worth of the remaining contract to a substitute, shape (rows,). [currency]"""
        if self.novation_share == 0:
            return np.zeros(len(rows))
        ready = state.path["ready"][rows]
        ends = np.minimum(self.setting.term_ends(ready), self.counted_until)
        left = np.clip(ends - month, 0.0, self.setting.term_months)
        if self.monthly_rate:
            annuity = -np.expm1(-left * np.log1p(self.monthly_rate)) / self.monthly_rate
        else:
            annuity = left
        factor = state.now.get("rent_factor")
        fees = self.setting.fees[:, month - 1] * (factor[rows] if factor is not None else 1.0)
        margin = np.maximum(fees - self.cost_of_running[:, month - 1], 0.0)
        each = np.maximum(margin * annuity - state.now["prepaid_left"][rows], 0.0) * state.under_contract[rows]
        worth = self.novation_share * each.sum(axis=1)
        failed = state.now.get("customer_default_month")
        if failed is not None:
            worth = np.where((failed[rows] > 0) & (failed[rows] <= month), 0.0, worth)
        return np.asarray(worth)


def _cost_of_running(setting: Setting) -> FloatArray:
    """Return the cost of each tranche in each month if all of it runs, shape (tranches, months). [currency]

    Delivered or not; what the project pays as a whole falls on tranches by their fees.
    """
    cost, gpus = running_cost(setting), setting.gpus[:, None]
    each = (cost.site_rent + cost.staff)[:, None] * cost.growth + cost.property_insurance[:, None]
    assert setting.deal.finance is not None
    whole = setting.deal.finance.operating_costs.fixed
    shared = float(whole.amount) * cost.growth if whole else np.zeros(setting.months)
    share = setting.fees / np.maximum(setting.fees.sum(axis=0), 1e-12)
    hourly = (cost.power + cost.other)[:, None] * setting.timeline.hours
    return np.asarray(gpus * (hourly + each) + share * shared)
