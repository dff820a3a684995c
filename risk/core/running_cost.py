"""What it costs to run each tranche: power for each GPU-hour, and what is paid whether it is delivered or not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from risk.core.calendar import HOURS_PER_EQUAL_MONTH
from risk.core.data import hardware
from risk.core.setting import Setting
from schemas.errors import MissingTermError

FloatArray = NDArray[np.float64]
HOURS_PER_MWH = 1000.0
"""Kilowatt-hours of a megawatt-hour. [kWh/MWh]"""


@dataclass(frozen=True, slots=True)
class RunningCost:
    """Cost of running, by tranche."""

    power: FloatArray
    """Power of one GPU at full load for an hour, shape (tranches,). [currency/GPU-hour]"""
    other: FloatArray
    """Other cost of one ready GPU for an hour, shape (tranches,). [currency/GPU-hour]"""
    idle_share: float
    """Share of full power that a ready GPU not in use draws. [1]"""
    fixed: FloatArray
    """Site rent, staff and property insurance from the Ready-for-Service Date, delivered or not, shape (tranches,
    months). [currency/month]"""
    shared: FloatArray
    """Fixed cost of the whole project, shape (months,). [currency/month]"""
    fixed_per_gpu_month: FloatArray
    """`fixed` of a whole month at the prices of close for one GPU, shape (tranches,). [currency/GPU-month]"""

    @property
    def cash_cost(self) -> FloatArray:
        """Return the cost of running one GPU for an hour, fixed cost spread over 730 hours, shape (tranches,)."""
        return self.power + self.other + self.fixed_per_gpu_month / HOURS_PER_EQUAL_MONTH

    def at_full_load(self, setting: Setting) -> FloatArray:
        """Return the cost of each tranche in each month when all of it runs, shape (tranches, months). [currency]

        The shared cost falls on tranches by their fees.
        """
        hours = setting.gpus[:, None] * setting.timeline.hours
        total = np.maximum(setting.fees.sum(axis=0), 1e-12)
        return np.asarray((self.power + self.other)[:, None] * hours + self.fixed + setting.fees / total * self.shared)


def running_cost(setting: Setting) -> RunningCost:
    """Return the cost of running the deal's tranches, from `power`, `operations` and `finance.operating_costs`.

    Raises
    ------
    MissingTermError
        When power is paid for and neither the deal nor a hardware file says how much one GPU draws.
    """
    deal, months, line = setting.deal, setting.months, setting.timeline
    assert deal.finance is not None
    costs, operations, power = deal.finance.operating_costs, deal.operations, deal.power
    tranches = len(setting.tranches)
    number = np.arange(1, months + 1, dtype=float)
    growth = (1 + float(operations.cost_growth)) ** np.floor((number - 1) / 12)
    kilowatts = _kilowatts_per_gpu(setting)
    if power is not None:
        power_cost = kilowatts * float(power.pue) * float(power.price_per_mwh) / HOURS_PER_MWH
    else:
        power_cost = np.full(tranches, float(costs.power.amount) if costs.power else 0.0)
    rent = float(power.site_rent_per_kw_month) if power and power.site_rent_per_kw_month is not None else 0.0
    rented = kilowatts
    if power is not None and power.contracted_kw is not None and setting.gpus.sum() > 0:
        rented = np.full(tranches, float(power.contracted_kw) / float(setting.gpus.sum()))
    capital = float(deal.finance.capital_expenditure) / max(float(setting.gpus.sum()), 1.0)
    insurance = capital * float(operations.property_insurance_rate) / 12
    each = rented * rent + float(operations.staff_per_gpu_month) + insurance
    since = np.clip(number - setting.planned_ready[:, None], 0.0, 1.0)
    shared = np.zeros(months)
    if costs.fixed is not None:
        begun = np.clip(number - line.at(costs.fixed.starts), 0.0, 1.0)
        shared = float(costs.fixed.amount) * begun * growth
    return RunningCost(
        power=power_cost,
        other=np.full(tranches, float(costs.other.amount) if costs.other else 0.0),
        idle_share=float(power.idle_share) if power is not None else 0.0,
        fixed=(setting.gpus * each)[:, None] * since * growth,
        shared=shared,
        fixed_per_gpu_month=each,
    )


def _kilowatts_per_gpu(setting: Setting) -> FloatArray:
    """Return the equipment power of one GPU of each tranche, 0 where no power is priced, shape (tranches,). [kW]"""
    power = setting.deal.power
    if power is None:
        return np.zeros(len(setting.tranches))
    if power.kw_per_gpu is not None:
        return np.full(len(setting.tranches), float(power.kw_per_gpu))
    found = []
    for j, tranche in enumerate(setting.tranches):
        cluster = setting.cluster_of(j)
        if cluster is None or cluster.hardware is None:
            raise MissingTermError(
                "power.kw_per_gpu",
                f"the power of tranche {tranche!r}, whose hardware is not named",
                "give it, or name the hardware of the cluster",
            )
        found.append(float(hardware(cluster.hardware).kw_per_gpu))
    return np.array(found)
