"""What a run leaves behind: columns by draw, and arrays by draw and month."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from risk.core.protocol import State

MONTHLY = ("cfads", "debt_service", "look_back_cover", "gpu_value_total")
"""Kept for every draw. [currency], [1]"""
LEDGER = ("fees", "credits", "damages", "operating_costs", "tax", "unpaid", "reserve", "distribution")
"""Kept month by month up to `LEDGER_LIMIT` draws, the base case above all. [currency]"""
SUMMED = ("fees", "credits", "damages")
"""Added up over the months of each draw. [currency]"""
LEDGER_LIMIT = 64
"""Draws up to which the whole ledger is kept by month."""
COLUMNS = (
    "default_month",
    "default_cause",
    "exposure",
    "loss",
    "loss_sale_only",
    "trapped",
    "losses_carried",
    "repriced",
)


@dataclass(slots=True)
class Result:
    """Outcome of a run; the first axis of every array is the draw."""

    draws: int
    months: int
    monthly: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    """Shape (draws, months)."""
    total: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    """Sums over the months, shape (draws,). [currency]"""
    worst: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    """Greatest month, shape (draws,). [currency]"""
    column: dict[str, NDArray[np.generic]] = field(default_factory=dict)
    """One value of each draw: default month, cause, exposure, loss ..."""

    @classmethod
    def empty(cls, draws: int, months: int) -> Result:
        """Return a result with nothing observed yet."""
        return cls(draws, months)

    def finish(self, state: State) -> None:
        """Take what the state holds at the end of the last month."""
        for name in COLUMNS:
            if name in state.now:
                self.column[name] = state.now[name]
        self.column["first_cause"] = state.first_cause
        self.column["first_month"] = state.first_month
        self.column["ready"] = state.path["ready"]

    @classmethod
    def join(cls, parts: Sequence[Result]) -> Result:
        """Return the draws of all parts, in their order."""
        joined = {
            name: {key: np.concatenate([getattr(part, name)[key] for part in parts]) for key in getattr(parts[0], name)}
            for name in ("monthly", "total", "worst", "column")
        }
        return cls(sum(part.draws for part in parts), parts[0].months, **joined)


def observe(result: Result, month: int, state: State) -> None:
    """Take the figures of one month out of the state."""
    if "gpu_value" in state.now:
        state.now["gpu_value_total"] = state.now["gpu_value"].sum(axis=1)
    kept = MONTHLY + LEDGER if result.draws <= LEDGER_LIMIT else MONTHLY
    for name in kept:
        if name in state.now:
            series = result.monthly.get(name)
            if series is None:
                series = result.monthly[name] = np.full((result.draws, result.months), np.nan)
            series[:, month - 1] = state.now[name]
    credit_levels = [name for name in state.now if name.startswith("credit:")]
    for name in (*SUMMED, *credit_levels):
        if name in state.now:
            value = np.broadcast_to(state.now[name], (result.draws,))
            result.total[name] = result.total.get(name, 0.0) + value
            if name == "credits":
                result.worst[name] = np.maximum(result.worst.get(name, 0.0), value)
