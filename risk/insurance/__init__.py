"""Insurance of the operation: sums paid by the hour of an outage, and their premium."""

from __future__ import annotations

from risk.core.setting import Setting
from risk.insurance.parametric import ParametricCover
from schemas.deal import Deal
from schemas.errors import NotComputedError

__all__ = ["from_deal"]


def from_deal(deal: Deal, setting: Setting) -> ParametricCover | None:
    """Return the insurance bought, or None where there is none.

    Raises
    ------
    NotComputedError
        When the simulation has no outages for the layers to look at.
    MissingTermError
        When nothing says from when premium is paid.
    """
    if deal.insurance is None:
        return None
    path = f"insurance.layers.{next(iter(deal.insurance.layers))}"
    if deal.assumptions.prescribed.bad_month is not None:
        raise NotComputedError(
            path,
            "a payment by the hour where bad months are drawn instead of outages",
            "prescribe assumptions.prescribed.outages instead of bad_month, or remove insurance",
        )
    if not deal.service_levels:
        raise NotComputedError(
            path,
            "a payment by the hour where no service level makes the simulation draw outages",
            "add a service level, or remove insurance",
        )
    return ParametricCover(setting, deal.insurance.layers)
