"""Operating costs of a month: power by what runs, the rest by what stands there."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.random import Generator

from risk.core.protocol import Paths, Phase, State, StepFunction
from risk.core.running_cost import running_cost
from risk.core.setting import Setting


class OperatingCosts:
    """Writes `operating_costs` of the month, shape (draws,), positive [currency], and posts them.

    Notes
    -----
    Power at full load on the part of the month under contract; on ready capacity out of contract, on the hours let and
    `idle_share` of the rest. Other cost per GPU-hour on everything ready. Fixed cost from each Ready-for-Service Date,
    delivered or not.
    """

    streams: tuple[str, ...] = ()

    def __init__(self, setting: Setting) -> None:
        cost = running_cost(setting)
        hours = setting.gpus[:, None] * setting.timeline.hours
        self.power = cost.power[:, None] * hours
        self.other = cost.other[:, None] * hours
        self.idle_share = cost.idle_share
        self.fixed = cost.fixed.sum(axis=0) + cost.shared

    def sample(self, rng: Mapping[str, Generator], draws: int) -> Paths:
        """Return nothing: costs follow from delivery, the contract and letting again."""
        return {}

    def base(self) -> Paths:
        """Return nothing."""
        return {}

    def steps(self) -> Mapping[Phase, StepFunction]:
        """Return the costs of each month."""
        return {Phase.COSTS: self._costs}

    def ignores(self) -> tuple[str, ...]:
        """Return what this model leaves out."""
        return (
            "Operating costs: capacity under contract draws full power whatever the customer uses and also while it is "
            "down; the price of power has no growth, hours, seasons or demand charge; spare units draw nothing.",
        )

    def _costs(self, month: int, state: State) -> None:
        cost = np.full(state.draws, self.fixed[month - 1])
        power, other = self.power[:, month - 1], self.other[:, month - 1]
        if power.any():
            cost += state.now["share_in_term"] @ power
            out = state.now.get("out_share")
            if out is not None and out.any():
                let = state.now["relet_utilisation"]
                cost += (out * (let + self.idle_share * (1.0 - let))) @ power
        if other.any():
            cost += np.clip(month - state.path["ready"], 0.0, 1.0) @ other
        state.now["operating_costs"] = cost
        state.post("operating_costs", -cost)
