"""What it costs to run, month by month, and what a GPU-hour costs over the term."""

from __future__ import annotations

from risk.core.setting import Setting
from risk.cost.monthly import OperatingCosts
from risk.cost.ownership import cost_of_ownership
from schemas.deal import Deal

__all__ = ["cost_of_ownership", "from_deal"]


def from_deal(deal: Deal, setting: Setting) -> OperatingCosts | None:
    """Return the costs of running the deal, or None where it has no finances.

    Raises
    ------
    MissingTermError
        When a cost is given for each GPU and a tranche does not say what its GPUs are.
    """
    return OperatingCosts(setting) if deal.finance else None
