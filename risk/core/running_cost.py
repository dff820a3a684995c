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
    site_rent: FloatArray
    """Of one GPU at the prices of close, shape (tranches,). [currency/GPU-month]"""
    staff: FloatArray
    """Of one GPU at the prices of close, shape (tranches,). [currency/GPU-month]"""
    property_insurance: FloatArray
    """Of one GPU, shape (tranches,). [currency/GPU-month]"""
    growth: FloatArray
    """Site rent, staff and the project's fixed cost over those at close, shape (months,). [1]"""
    fixed: FloatArray
    """Site rent, staff and property insurance from the Ready-for-Service Date, delivered or not, shape (tranches,
    months). [currency]"""
    shared: FloatArray
    """Fixed cost of the whole project, shape (months,). [currency]"""

    @property
    def fixed_per_gpu_month(self) -> FloatArray:
        """Return `fixed` of a whole month at the prices of close for one GPU, shape (tranches,)."""
        return self.site_rent + self.staff + self.property_insurance

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

    Notes
    -----
    Power of a GPU-hour is kW x PUE x price / 1000. A GPU's month costs kW x site rent + staff + capital expenditure x
    property insurance rate / 12; with `contracted_kw` the site rent is that of the contracted power, spread over all
    GPUs. Site rent, staff and the project's fixed cost grow; property insurance follows capital expenditure and does
    not.

    Raises
    ------
    MissingTermError
        When a cost is given for each GPU and a tranche names no cluster, or neither the deal nor a hardware file says
        how much power one GPU draws.
    """
    deal, line, power = setting.deal, setting.timeline, setting.deal.power
    assert deal.finance is not None
    costs = deal.finance.operating_costs
    _counts_its_gpus(setting)
    number = np.arange(1, setting.months + 1, dtype=float)
    growth = (1 + float(deal.operations.cost_growth)) ** np.floor((number - 1) / 12)
    since = np.clip(number - setting.planned_ready[:, None], 0.0, 1.0)
    kilowatts, gpus = _kilowatts_per_gpu(setting), max(float(setting.gpus.sum()), 1.0)
    each = np.ones(len(setting.tranches))
    power_cost, site_rent = each * (float(costs.power.amount) if costs.power else 0.0), 0.0 * each
    if power is not None:
        power_cost = kilowatts * float(power.pue) * float(power.price_per_mwh) / HOURS_PER_MWH
        rented = kilowatts if power.contracted_kw is None else each * float(power.contracted_kw) / gpus
        site_rent = rented * float(power.site_rent_per_kw_month or 0)
    staff = each * float(deal.operations.staff_per_gpu_month)
    capital = float(deal.finance.capital_expenditure) / gpus
    insurance = each * capital * float(deal.operations.property_insurance_rate) / 12
    shared = np.zeros(setting.months)
    if costs.fixed is not None:
        begun = np.clip(number - line.at(costs.fixed.starts), 0.0, 1.0)
        shared = float(costs.fixed.amount) * begun * growth
    return RunningCost(
        power=power_cost,
        other=each * (float(costs.other.amount) if costs.other else 0.0),
        idle_share=float(power.idle_share) if power is not None else 0.0,
        site_rent=site_rent,
        staff=staff,
        property_insurance=insurance,
        growth=growth,
        fixed=setting.gpus[:, None] * ((site_rent + staff)[:, None] * growth + insurance[:, None]) * since,
        shared=shared,
    )


def _counts_its_gpus(setting: Setting) -> None:
    """Refuse costs for each GPU where a tranche does not say what its GPUs are."""
    deal = setting.deal
    assert deal.finance is not None
    costs, operations = deal.finance.operating_costs, deal.operations
    given = {
        "power": deal.power is not None and bool(deal.power.price_per_mwh or deal.power.site_rent_per_kw_month),
        "operations.staff_per_gpu_month": bool(operations.staff_per_gpu_month),
        "operations.property_insurance_rate": bool(operations.property_insurance_rate),
        "finance.operating_costs.power": costs.power is not None and bool(costs.power.amount),
        "finance.operating_costs.other": costs.other is not None and bool(costs.other.amount),
    }
    for name, there in given.items():
        if there and not setting.gpus.all():
            tranche = setting.tranches[int(np.argmin(setting.gpus))]
            raise MissingTermError(f"delivery.tranches.{tranche}.cluster", name, "name the cluster, whose GPUs cost it")


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
