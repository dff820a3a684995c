"""Cover by a backstop, in eight shapes, with its limit, its price and its provider's credit."""

from __future__ import annotations

from risk.backstop.cover import BackstopCover
from risk.backstop.limit import Limit
from risk.backstop.price_floor import price_floor_value, put_on_forward
from risk.core.setting import Setting
from schemas.deal import Deal

__all__ = ["BackstopCover", "Limit", "from_deal", "price_floor_value", "put_on_forward"]


def from_deal(deal: Deal, setting: Setting) -> BackstopCover | None:
    """Return the backstop of the deal, or None where there is none.

    Raises
    ------
    MissingTermError
        When the deal lacks what the shape is computed from.
    NotComputedError
        When the cover is said to do what its shape has no model for.
    """
    return BackstopCover(setting, deal.backstop) if deal.backstop is not None else None
