"""Spot rent of the deal's GPU generation: age, market regimes, noise, the next generation."""

from __future__ import annotations

from risk.core.setting import Setting
from risk.market.rent import Rent
from schemas.deal import Deal


def from_deal(deal: Deal, setting: Setting) -> Rent | None:
    """Return the market of the deal, or None where it assumes none."""
    law = deal.assumptions.market
    return Rent.of(law, setting.months) if law else None
