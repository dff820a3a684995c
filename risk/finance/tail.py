"""Cash after the loan, for the project life cover ratio."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from risk.core.calendar import HOURS_PER_EQUAL_MONTH
from risk.core.running_cost import running_cost
from risk.core.setting import Setting
from risk.finance.waterfall import Finances


def tail_cash(setting: Setting, finances: Finances, losses: float) -> NDArray[np.float64] | None:
    """Return after-tax cash of the prescribed months after maturity, shape (months,), or None. [currency]

    The typed rent on all GPUs, running cost at full load and at the prices of the last month simulated, depreciation
    going on, no interest.

    Parameters
    ----------
    losses : tax losses carried forward at maturity. [currency]
    """
    law = setting.deal.assumptions.prescribed.project_tail
    if law is None:
        return None
    cost = running_cost(setting)
    hours = setting.gpus * HOURS_PER_EQUAL_MONTH
    fixed = setting.gpus @ ((cost.site_rent + cost.staff) * cost.growth[-1] + cost.property_insurance)
    cash = float(law.rent_per_gpu_hour) * hours.sum() - (cost.power + cost.other) @ hours - fixed - cost.shared[-1]
    flows = np.full(law.months, cash)
    tax = finances.tax
    if tax is None:
        return flows
    carried = np.array([losses])
    for k in range(law.months):
        income = np.array([cash - tax.depreciation(setting.months + k + 1)])
        due, carried = tax.due(income, carried)
        flows[k] = cash - due[0]
    return flows
