"""Rights to leave, and what the customer does with them."""

from __future__ import annotations

from risk.cancellation.exits import Exits
from risk.core.setting import Setting
from schemas.deal import Deal


def from_deal(deal: Deal, setting: Setting) -> Exits:
    """Return the exits of the deal."""
    return Exits(setting)
