"""Would the customer gain by leaving, and does it leave?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from risk.core.setting import Setting
from schemas.assumptions import Exercise
from schemas.errors import MissingTermError

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Choice:
    """The customer's behaviour: leave when market rent is below contract rent less the cost of moving."""

    switching_cost: float
    waiver: float
    reprice_probability: float
    reprice_floor: float
    contract_rent: FloatArray
    """Rent of each tranche and month at the contract price, shape (tranches, months). [currency/GPU-hour]"""

    @classmethod
    def of(cls, terms: Exercise, setting: Setting) -> Choice:
        """Return the choice typed in the assumptions."""

        def number(value: object) -> float:
            return float(value) if value is not None else 0.0  # type: ignore[arg-type]

        hours = setting.timeline.hours
        gpus = setting.gpus.astype(float)[:, None]
        rent = np.divide(setting.fees, gpus * hours, out=np.full_like(setting.fees, np.nan), where=gpus > 0)
        return cls(
            switching_cost=number(terms.switching_cost),
            waiver=number(terms.waiver),
            reprice_probability=number(terms.reprice_probability),
            reprice_floor=number(terms.reprice_floor),
            contract_rent=rent,
        )

    def gains(self, month: int, spot_rent: FloatArray | None, rent_factor: FloatArray) -> BoolArray:
        """Return whether leaving pays at the end of `month`, shape (draws, tranches)."""
        rent = self.contract_rent[:, month - 1]
        if spot_rent is None or np.isnan(rent).any():
            raise MissingTermError(
                "assumptions.market and delivery.tranches.*.cluster",
                "rational exercise of a right to leave",
                "give the market and the clusters, or set assumptions.exercise to always or never",
            )
        return spot_rent[:, month - 1 : month] < (1 - self.switching_cost) * rent * rent_factor

    def repriced(self, month: int, spot_rent: FloatArray, rent_factor: FloatArray) -> FloatArray:
        """Return the new rent as a share of the contract price, not above the old, shape (draws, tranches). [1]"""
        rent = self.contract_rent[:, month - 1]
        return np.minimum(
            rent_factor, np.maximum(spot_rent[:, month - 1 : month] / rent, self.reprice_floor * rent_factor)
        )
