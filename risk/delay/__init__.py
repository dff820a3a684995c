"""Late delivery: when each tranche is ready, and the damages that run until it is."""

from __future__ import annotations

from risk.core.setting import Setting
from risk.delay.delivery import DeliveryRisk
from risk.delay.law import Delay
from schemas.deal import Deal

__all__ = ["Delay", "DeliveryRisk", "from_deal"]


def from_deal(deal: Deal, setting: Setting) -> DeliveryRisk:
    """Return the delivery of the deal; without a delay law every tranche is on time."""
    law = deal.assumptions.delay
    return DeliveryRisk(setting, Delay.of(law) if law else None)
