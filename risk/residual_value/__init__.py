"""Value of the GPUs: what they can still earn, with the right to switch them off."""

from __future__ import annotations

from risk.core.setting import Setting
from risk.residual_value.value import GpuValue, PrescribedValue, value_per_gpu
from schemas.deal import Deal

__all__ = ["GpuValue", "PrescribedValue", "from_deal", "value_per_gpu"]


def from_deal(deal: Deal, setting: Setting) -> GpuValue | PrescribedValue | None:
    """Return the value model of the deal, its prescribed value, or None where it has neither."""
    prescribed = deal.assumptions.prescribed.gpu_value
    if prescribed:
        return PrescribedValue(setting, float(prescribed.amount), float(prescribed.decay_per_month))
    law = deal.assumptions.value
    if law is None or deal.assumptions.market is None:
        return None
    return GpuValue(setting, law, float(deal.assumptions.market.decay_per_year))
