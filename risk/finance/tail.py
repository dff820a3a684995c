"""Cash after the loan, for the project life cover ratio."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from risk.core.calendar import HOURS_PER_EQUAL_MONTH
from risk.core.setting import Setting
from risk.finance.waterfall import Finances


def tail_cash(setting: Setting, finances: Finances, losses: float) -> NDArray[np.float64] | None:
    """Return after-tax cash of the prescribed months after maturity, shape (months,), or None. [currency]

    The typed rent on all GPUs, the same running cost, depreciation going on, no interest.

    Parameters
    ----------
    losses : tax losses carried forward at maturity. [currency]
    """
    law = setting.deal.assumptions.prescribed.project_tail
    if law is None:
        return None
    gpus = float(setting.gpus.sum())
    hours = gpus * HOURS_PER_EQUAL_MONTH
    costs = finances.terms.operating_costs
    running = sum(float(cost.amount) for cost in (costs.power, costs.other) if cost) * hours + finances.fixed
    cash = float(law.rent_per_gpu_hour) * hours - running
    flows = np.full(law.months, cash)
    tax = finances.terms.tax
    if tax is None:
        return flows
    first = finances.plan.first_payment_month if finances.plan else 1
    monthly = float(finances.terms.capital_expenditure) / tax.depreciation_months
    for k in range(law.months):
        month = setting.months + k + 1
        income = cash - (monthly if month < first + tax.depreciation_months else 0.0)
        flows[k] = cash - float(tax.rate) * max(0.0, income - losses)
        losses = max(0.0, losses - income)
    return flows
