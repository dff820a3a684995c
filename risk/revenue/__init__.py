"""Fees, prepayment, service credits and bad months."""

from __future__ import annotations

from risk.core.setting import Setting
from risk.revenue.revenue import Revenue
from schemas.deal import Deal


def from_deal(deal: Deal, setting: Setting) -> Revenue:
    """Return the revenue of the deal."""
    return Revenue(setting)
