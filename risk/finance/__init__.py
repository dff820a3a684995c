"""Costs, tax, debt, the waterfall, default and recovery."""

from __future__ import annotations

from risk.core.setting import Setting
from risk.finance.waterfall import Finances
from schemas.deal import Deal


def from_deal(deal: Deal, setting: Setting) -> Finances | None:
    """Return the finances of the deal, or None where it has none."""
    return Finances(setting) if deal.finance else None
