"""Would a party gain by leaving, and does it leave?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from risk.core.setting import Setting
from schemas.assumptions import Exercise
from schemas.errors import MissingTermError

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
NO_RENTS = (
    "assumptions.market and delivery.tranches.*.cluster",
    "rational exercise of a right to leave",
    "give the market and the clusters, or set assumptions.exercise to always or never",
)


@dataclass(frozen=True, slots=True)
class Choice:
    """Behaviour of the parties: leave when the market, less the cost of moving, is better than the contract."""

    switching_cost: float
    waiver: float
    reprice_probability: float
    reprice_floor: float
    haircut: float
    """Share of market rent the provider loses by letting again. [1]"""
    gpus: FloatArray
    """Shape (tranches,). [1]"""
    contract_rent: FloatArray
    """Rent of each tranche and month at the contract price, shape (tranches, months). [currency/GPU-hour]"""

    @classmethod
    def of(cls, terms: Exercise, setting: Setting) -> Choice:
        """Return the choice typed in the assumptions."""

        def number(value: object) -> float:
            return float(value) if value is not None else 0.0  # type: ignore[arg-type]

        hours = setting.timeline.hours
        gpus = setting.gpus.astype(float)
        rent = np.full_like(setting.fees, np.nan)
        np.divide(setting.fees, gpus[:, None] * hours, out=rent, where=gpus[:, None] > 0)
        reletting = setting.deal.assumptions.reletting
        return cls(
            switching_cost=number(terms.switching_cost),
            waiver=number(terms.waiver),
            reprice_probability=number(terms.reprice_probability),
            reprice_floor=number(terms.reprice_floor),
            haircut=float(reletting.haircut) if reletting is not None else 0.0,
            gpus=gpus,
            contract_rent=rent,
        )

    def refuse_without_rents(self, market: object) -> None:
        """Refuse a choice that compares rents where the deal has no market, or no GPUs to which fees are divided.

        Raises
        ------
        MissingTermError
            Before anything is simulated, because whether it is compared in a draw is chance.
        """
        if market is None or np.isnan(self.contract_rent).any():
            raise MissingTermError(*NO_RENTS)

    def gains(self, month: int, spot_rent: FloatArray | None, rent_factor: FloatArray) -> BoolArray:
        """Return whether the customer gains by leaving each tranche at the end of `month`, shape (draws, tranches).

        Parameters
        ----------
        spot_rent : market rent of the month, shape (draws,); None where the deal assumes no market.
            [currency/GPU-hour]
        rent_factor : rent as a share of the contract price, shape (draws, tranches). [1]

        Notes
        -----
        S_m < (1 - switching cost) K_m, with S the market rent and K the contract rent.
        """
        spot, rent = self._rents(month, spot_rent, rent_factor)
        return spot < (1 - self.switching_cost) * rent

    def customer_gains_by_notice(
        self, month: int, spot_rent: FloatArray | None, rent_factor: FloatArray, bound: BoolArray
    ) -> BoolArray:
        """Return whether the customer gains by leaving all `bound` tranches together, shape (draws,)."""
        spot, rent = self._rents(month, spot_rent, rent_factor)
        return (bound * ((1 - self.switching_cost) * rent - spot)) @ self.gpus > 0

    def provider_gains_by_notice(
        self, month: int, spot_rent: FloatArray | None, rent_factor: FloatArray, bound: BoolArray
    ) -> BoolArray:
        """Return whether the provider gains by letting all `bound` tranches again, shape (draws,).

        Notes
        -----
        S_m (1 - haircut) > K_m (1 + switching cost), all GPUs of the bound tranches taken together.
        """
        spot, rent = self._rents(month, spot_rent, rent_factor)
        return (bound * (spot * (1 - self.haircut) - (1 + self.switching_cost) * rent)) @ self.gpus > 0

    def repriced(self, month: int, spot_rent: FloatArray | None, rent_factor: FloatArray) -> FloatArray:
        """Return the new rent as a share of the contract price, not above the old, shape (draws, tranches). [1]"""
        spot, _ = self._rents(month, spot_rent, rent_factor)
        rent = self.contract_rent[:, month - 1]
        market = spot / np.where(rent > 0, rent, 1.0)  # who pays nothing never gains
        return np.minimum(rent_factor, np.maximum(market, self.reprice_floor * rent_factor))

    def _rents(
        self, month: int, spot_rent: FloatArray | None, rent_factor: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return market rent (draws, 1) and contract rent (draws, tranches) of a month. [currency/GPU-hour]"""
        rent = self.contract_rent[:, month - 1]
        if spot_rent is None or np.isnan(rent).any():
            raise MissingTermError(*NO_RENTS)
        return spot_rent[:, None], rent * rent_factor
