"""Market value of GPUs by spot rent and age."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from risk.core.protocol import Paths, Phase, State, StepFunction
from risk.core.running_cost import running_cost
from risk.core.setting import Setting
from schemas.assumptions import ValueLaw
from schemas.errors import NotComputedError

FloatArray = NDArray[np.float64]
HOURS_PER_YEAR = 8760
LARGEST_VALUE = 1e18
"""A typed value that grows beyond is none. [currency]"""
LARGEST_GROWTH = 30.0
"""Logarithm of the greatest weight that an hour of the future may have over one of today. [1]"""
SMALLEST_RATE = 1e-12
"""Rates closer to 0 than this are no rates: a century changes nothing in double precision. [1/year]"""


def value_per_gpu(
    rent: FloatArray,
    remaining_life_years: FloatArray | np.float64,
    *,
    cash_cost: float,
    decay: float,
    discount: float,
    utilisation: float,
) -> FloatArray:
    """Return the value of one GPU that earns `rent`, falling by age, until rent no longer covers its cost. [currency]

    Parameters
    ----------
    rent : rent after the haircut of letting again, any shape. [currency/GPU-hour]
    remaining_life_years : same shape or broadcastable. [year]
    cash_cost : cost of running, power included. [currency/GPU-hour]
    decay, discount : continuous rates. [1/year]
    utilisation : share of hours rented. [1]

    Notes
    -----
    T = min(life left, ln(max(r/c, 1))/decay); V = 8760 u [r (1 - e^(-(decay+k)T))/(decay+k) - c (1 - e^(-kT))/k]. It
    values the right to switch off, not the chance that rent recovers. Where rent does not fall, decay 0 or below, the
    whole life is used when r > c.
    """
    worth = rent > cash_cost
    ratio = np.maximum(rent / cash_cost, 1.0) if cash_cost > 0 else np.full(np.shape(rent), np.inf)
    stop = np.log(ratio) / decay if decay > SMALLEST_RATE else np.where(worth, np.inf, 0.0)
    years = np.minimum(remaining_life_years, stop)

    def annuity(rate: float) -> FloatArray:
        return -np.expm1(-rate * years) / rate if abs(rate) > SMALLEST_RATE else years

    value = HOURS_PER_YEAR * utilisation * (rent * annuity(decay + discount) - cash_cost * annuity(discount))
    return np.where(worth, np.maximum(value, 0.0), 0.0)


class GpuValue:
    """Writes `gpu_value`, and `gpu_floor_value` and `gpu_book_value` where their bases are agreed.

    Each (draws, tranches) [currency] of the month: the closed form on the sampled rent, the same at the stressed share
    of it, and capital expenditure less straight-line depreciation.
    """

    streams: tuple[str, ...] = ()

    def __init__(self, setting: Setting, law: ValueLaw, decay: float) -> None:
        self.setting, self.law, self.decay = setting, law, decay
        _refuse_value_without_bound(law, decay)
        tranches = len(setting.tranches)
        cost = running_cost(setting).cash_cost
        self.cash_cost = np.full(tranches, float(law.cash_cost)) if law.cash_cost is not None else cost
        born = setting.planned_ready if law.ages_from == "ready_for_service" else np.zeros(tranches)
        kinds, kind_of = np.unique(np.stack([born, self.cash_cost], axis=1), axis=0, return_inverse=True)
        self.born, self.cost_of_kind, self.kind_of = kinds[:, 0], kinds[:, 1], kind_of.ravel()
        self.bases = setting.deal.residual_value

    def sample(self, rng: Mapping[str, Generator], draws: int) -> Paths:
        """Return nothing: value follows from the rent of the market."""
        return {}

    def base(self) -> Paths:
        """Return nothing."""
        return {}

    def steps(self) -> Mapping[Phase, StepFunction]:
        """Return the valuation of each month."""
        return {Phase.MARKET: self._value}

    def ignores(self) -> tuple[str, ...]:
        """Return what this model leaves out."""
        return (
            "GPU value: the volatility of rent after the date of valuation has no value (no option tree), and one "
            "price is taken for any number of GPUs sold at once.",
        )

    def at(self, spot_rent: FloatArray, months_after_close: float) -> FloatArray:
        """Return the value of one GPU of each tranche at a spot rent and a date, shape (draws, tranches). [currency]

        Parameters
        ----------
        spot_rent : shape (draws,). [currency/GPU-hour]
        """
        life = float(self.law.life)
        rent = np.asarray(spot_rent) * (1 - float(self.law.haircut))
        each = np.empty((len(rent), len(self.born)))
        for k, (born, cost) in enumerate(zip(self.born, self.cost_of_kind, strict=True)):
            age = float(self.law.age_at_close) + max(months_after_close - born, 0.0) / 12
            each[:, k] = value_per_gpu(
                rent,
                np.float64(max(0.0, life - age)),
                cash_cost=float(cost),
                decay=self.decay,
                discount=float(self.law.discount_rate),
                utilisation=float(self.law.utilisation),
            )
        return np.asarray(each[:, self.kind_of])

    def book(self, month: int) -> FloatArray:
        """Return what the books say each tranche is worth at the end of a month, shape (tranches,). [currency]"""
        assert self.bases is not None
        assert self.setting.deal.finance is not None
        gpus = self.setting.gpus
        cost = float(self.setting.deal.finance.capital_expenditure) * gpus / max(float(gpus.sum()), 1.0)
        age = np.maximum(month - self.setting.planned_ready, 0.0)
        return np.asarray(cost * np.maximum(0.0, 1 - age / self.bases.book_life_months))

    def _value(self, month: int, state: State) -> None:
        spot = state.path["spot_rent"][:, month - 1]
        state.now["gpu_value"] = self.at(spot, float(month)) * self.setting.gpus
        if self.bases is not None:
            stressed = spot * float(self.bases.floor_rent_share)
            state.now["gpu_floor_value"] = self.at(stressed, float(month)) * self.setting.gpus
            state.now["gpu_book_value"] = np.broadcast_to(self.book(month), (state.draws, len(self.setting.tranches)))


def _refuse_value_without_bound(law: ValueLaw, decay: float) -> None:
    """Refuse rates under which the hours of the end of a GPU's life are worth more than any price."""
    discount = float(law.discount_rate)
    if -min(discount, decay + discount) * float(law.life) > LARGEST_GROWTH:
        raise NotComputedError(
            "assumptions.value.discount_rate",
            f"a value that grows by e^{LARGEST_GROWTH:.0f} or more over a life of {float(law.life):g} years, at a "
            f"discount rate of {discount:g} and rent falling by {decay:g} a year,",
            "correct discount_rate, or decay_per_year of the market: a rate of 12% is 0.12",
        )


class PrescribedValue:
    """The value of all GPUs as typed: amount x exp(-decay m), shared among tranches by their GPUs."""

    streams: tuple[str, ...] = ()

    def __init__(self, setting: Setting, amount: float, decay_per_month: float) -> None:
        gpus = setting.gpus.astype(float)
        self.shares = gpus / gpus.sum() if gpus.sum() else np.full(len(gpus), 1 / len(gpus))
        self.amount = amount
        self.decay_per_month = decay_per_month if amount > 0 else 0.0
        if amount > 0 and -decay_per_month * setting.months > math.log(LARGEST_VALUE / amount):
            raise NotComputedError(
                "assumptions.prescribed.gpu_value.decay_per_month",
                f"a value above {LARGEST_VALUE:.0e}, which it reaches within {setting.months} months",
                "correct its sign or size: a value that grows has a negative one",
            )

    def sample(self, rng: Mapping[str, Generator], draws: int) -> Paths:
        """Return nothing."""
        return {}

    def base(self) -> Paths:
        """Return nothing."""
        return {}

    def steps(self) -> Mapping[Phase, StepFunction]:
        """Return the typed value of each month."""
        return {Phase.MARKET: self._value}

    def ignores(self) -> tuple[str, ...]:
        """Return what this model leaves out."""
        return ()

    def _value(self, month: int, state: State) -> None:
        value = self.amount * np.exp(-self.decay_per_month * month)
        state.now["gpu_value"] = np.tile(value * self.shares, (state.draws, 1))
