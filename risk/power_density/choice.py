"""Keep, repurpose, retrofit or sell: cash by year, the best year to stop, and the rent that makes a retrofit equal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from risk.power_density.fit import equipment_kw, racks_that_fit, units_that_fit
from schemas.deal import Deal
from schemas.errors import MissingTermError, NotComputedError
from schemas.power import DensityChoice, Power, RentPath, Retrofit

FloatArray = NDArray[np.float64]
HOURS_PER_YEAR = 8760
KW_PER_MW = 1000
HIGHEST_RENT = 1e9
"""No contract rent is looked for above this. [currency/GPU-hour]"""
LARGEST_GROWTH = 100.0
"""Logarithm of the greatest growth of a rent over the horizon; a path that goes beyond is no market. [1]"""
PATH = "power.density_choice"
IGNORES = (
    "Power density: cash at year ends before tax and debt; staff, property insurance and idle power are not counted; "
    "an option may stop at any year end at no cost and leaves nothing behind; the old hardware sold in a retrofit has "
    "no cost of sale; rents fall at a typed rate and are not simulated; floor area, weight and cooling of the single "
    "rack are not looked at."
)


@dataclass(frozen=True, slots=True)
class Option:
    """What one option earns if it runs to the end of the horizon."""

    units: int
    """Servers or racks. [1]"""
    gpus: int
    """[1]"""
    cash: FloatArray
    """At the start and at each year end, shape (years + 1,). [currency]"""


def choices(deal: Deal) -> dict[str, Any]:
    """Return what each option for the hall is worth, the best of them, and the rent at which a retrofit equals it.

    Returns
    -------
    dict
        `options` by name, each with `units`, `gpus` [1], `cash_by_year` from the start on if it never stopped, `npv`
        [currency], and `stop_after_years` (0 where no year is worth its site rent); `best`; `equal_contract_rent`, at
        which the retrofit is worth what the best other option is [currency/GPU-hour], or None with its reason;
        `equipment_kw`; `site_rent_per_year` [currency]; `racks_that_fit`; `ignores`.

    Notes
    -----
    Year t earns GPUs x 8,760 x share sold x (rent - power) - site rent on the whole equipment power of the hall; rent
    is that at the start of the year and power is paid on hours sold. By backward choice the worth of going on at the
    end of year t is max(0, (cash of t + 1 + worth at t + 1) / (1 + rate)), and the option stops where it is 0.

    Raises
    ------
    MissingTermError
        When the deal has no such choice.
    NotComputedError
        When not one server or rack fits into the hall.

    References
    ----------
    Dixit and Pindyck, Investment under Uncertainty, 1994, chapter 4 (backward choice of stopping).
    """
    power = deal.power
    if power is None or power.density_choice is None:
        raise MissingTermError(PATH, "a comparison of what the hall can become", "describe the hall and its options")
    terms = power.density_choice
    hall = _Hall(power, terms, float(deal.operations.cost_growth))
    options = _options(hall, terms)
    rate = float(terms.discount_rate)
    npv = {name: _npv(option.cash, rate) for name, option in options.items()}
    out: dict[str, Any] = {
        "options": {
            name: {
                "units": option.units,
                "gpus": option.gpus,
                "cash_by_year": option.cash.tolist(),
                "npv": npv[name][0],
                "stop_after_years": npv[name][1],
            }
            for name, option in options.items()
        },
        "best": max(npv, key=lambda name: npv[name][0]),
        "equipment_kw": float(hall.kw),
        "site_rent_per_year": hall.rent_per_year,
        "racks_that_fit": racks_that_fit(terms.facility_mw, power.pue),
        "ignores": IGNORES,
    }
    equal, reason = _equal_rent(hall, terms, {name: worth for name, (worth, _) in npv.items()})
    out["equal_contract_rent"] = equal
    if reason is not None:
        out["equal_contract_rent_reason"] = reason
    return out


class _Hall:
    """The hall, its prices and the hardware that stands in it."""

    def __init__(self, power: Power, terms: DensityChoice, growth: float) -> None:
        self.kw = equipment_kw(terms.facility_mw, power.pue)
        self.years = np.arange(1, terms.horizon_years + 1, dtype=float)
        _refuse_growth(float(np.log1p(growth)), self.years[-1], "operations.cost_growth", "site rent")
        self.per_kwh = float(power.pue) * float(power.price_per_mwh) / KW_PER_MW
        self.rent_per_year = 12 * float(power.site_rent_per_kw_month or 0) * float(self.kw)
        self.site_rent = self.rent_per_year * (1 + growth) ** (self.years - 1)
        self.servers = units_that_fit(self.kw, terms.old.server_kw)
        self.old_gpus = self.servers * terms.old.gpus_per_server
        self.old_kw = float(terms.old.server_kw) / terms.old.gpus_per_server
        self.proceeds = self.old_gpus * float(terms.old.gpu_cost) * float(terms.old.sale_share)
        if self.servers == 0:
            raise NotComputedError(
                f"{PATH}.old.server_kw",
                f"a hall of {float(self.kw):g} kW for equipment, in which not one server fits",
                "correct facility_mw, power.pue or server_kw",
            )

    def market(self, path: RentPath) -> FloatArray:
        """Return the rent of each year, at its start, shape (years,). [currency/GPU-hour]"""
        decay = float(path.decay_per_year) if path.decay_per_year is not None else 0.0
        _refuse_growth(-decay, self.years[-1], PATH, "a rent")
        return np.asarray(float(path.rent) * np.exp(-decay * (self.years - 1)))

    def cash(
        self, at_start: float, gpus: int, kw_per_gpu: float, rent: FloatArray, sold: FloatArray, first: float
    ) -> FloatArray:
        """Return cash at the start and at each year end, shape (years + 1,). [currency]

        Parameters
        ----------
        kw_per_gpu : equipment power of one GPU. [kW/GPU]
        rent : of each year. [currency/GPU-hour]
        sold : share of open hours sold in each year. [1]
        first : share of the first year in which it is open. [1]
        """
        hours = HOURS_PER_YEAR * sold
        hours[0] *= first
        earned = gpus * hours * (rent - kw_per_gpu * self.per_kwh) - self.site_rent
        return np.concatenate([[at_start], earned])


def _refuse_growth(rate: float, years: float, path: str, what: str) -> None:
    """Refuse a rate under which what is paid grows beyond any sum within the horizon. [1/year]"""
    if rate * (years - 1) > LARGEST_GROWTH:
        raise NotComputedError(
            path,
            f"{what} that grows by e^{LARGEST_GROWTH:.0f} or more within the {years:.0f} years of {PATH}.horizon_years",
            "correct the rate, or look at fewer years",
        )


def _options(hall: _Hall, terms: DensityChoice) -> dict[str, Option]:
    """Return the options that are given, by name."""
    found: dict[str, Option] = {}
    if terms.keep is not None:
        found["keep"] = _same_hardware(hall, terms.keep.market)
    if (plan := terms.repurpose) is not None:
        found["repurpose"] = _same_hardware(hall, plan.market, float(plan.cost), float(plan.first_year_open))
    if terms.retrofit is not None:
        rent = float(terms.retrofit.contract_rent) if terms.retrofit.contract_rent is not None else None
        found["retrofit"] = _retrofit(hall, terms, terms.retrofit, rent)
    if terms.sell is not None:
        found["sell"] = Option(0, 0, np.array([hall.proceeds * (1 - float(terms.sell.cost_share))]))
    return found


def _same_hardware(hall: _Hall, market: RentPath, cost: float = 0.0, first: float = 1.0) -> Option:
    """Return what the hardware that stands there earns in a market."""
    sold = np.full(len(hall.years), float(market.utilisation))
    cash = hall.cash(0.0 - cost, hall.old_gpus, hall.old_kw, hall.market(market), sold, first)
    return Option(hall.servers, hall.old_gpus, cash)


def _retrofit(hall: _Hall, terms: DensityChoice, plan: Retrofit, contract_rent: float | None) -> Option:
    """Return the retrofit at a contract rent, or at the market's rent from the start."""
    racks = units_that_fit(hall.kw, plan.rack_kw)
    if racks == 0:
        raise NotComputedError(
            f"{PATH}.retrofit.rack_kw",
            f"a hall of {float(hall.kw):g} kW for equipment, in which not one rack fits",
            "correct facility_mw, power.pue or rack_kw, or remove the option",
        )
    gpus = racks * plan.gpus_per_rack
    rent, sold = hall.market(plan.market), np.full(len(hall.years), float(plan.market.utilisation))
    if contract_rent is not None and plan.contract_years is not None:
        rent[: plan.contract_years] = contract_rent
        sold[: plan.contract_years] = float(plan.contract_utilisation)
    start = hall.proceeds - float(plan.cost_per_mw * terms.facility_mw) - gpus * float(plan.gpu_price)
    kw_per_gpu = float(plan.rack_kw) / plan.gpus_per_rack
    return Option(racks, gpus, hall.cash(start, gpus, kw_per_gpu, rent, sold, float(plan.first_year_open)))


def _npv(cash: FloatArray, rate: float) -> tuple[float, int]:
    """Return present value under the best year to stop, and that year. [currency, year]"""
    worth, stop = 0.0, len(cash) - 1
    for year in range(len(cash) - 1, 0, -1):
        worth = (float(cash[year]) + worth) / (1 + rate)
        if worth <= 0:
            worth, stop = 0.0, year - 1
    return float(cash[0]) + worth, stop


def _equal_rent(hall: _Hall, terms: DensityChoice, npv: dict[str, float]) -> tuple[float | None, str | None]:
    """Return the contract rent at which the retrofit is worth what the best other option is, or why there is none."""
    from scipy.optimize import brentq

    plan = terms.retrofit
    if plan is None:
        return None, "no retrofit is given"
    if plan.contract_rent is None:
        return None, "the retrofit has no contract"
    goal = max(worth for name, worth in npv.items() if name != "retrofit")
    rate = float(terms.discount_rate)

    def ahead(rent: float) -> float:
        return _npv(_retrofit(hall, terms, plan, rent).cash, rate)[0] - goal

    if ahead(0.0) >= 0:
        return None, "the retrofit is worth more at any contract rent"
    high = float(plan.contract_rent)
    while ahead(high) < 0:
        high *= 2
        if high > HIGHEST_RENT:
            return None, "no contract rent makes up for the cost of the retrofit"
    return float(brentq(ahead, 0.0, high, xtol=1e-13, rtol=1e-14)), None
