"""One reason of a grade, and what reasons are computed from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from risk.engine import Model
from risk.finance.loan import Schedule
from risk.result import Result
from risk.score.weak_points import SitePower
from schemas.deal import Deal

NONE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason that holds, with its figures."""

    code: str
    words: str
    figures: dict[str, Any]
    path: str
    """Term of the deal file that it points at."""
    loss_share: float | None = None
    """Share of the expected loss in the draws it speaks of; None for a fact about the deal. [1]"""
    draws: NDArray[Any] = field(default_factory=lambda: NONE)
    """For a condition, the draws in which it holds."""

    def as_json(self) -> dict[str, Any]:
        """Return the reason as it is printed."""
        out: dict[str, Any] = {"code": self.code, "words": self.words, "loss_share": self.loss_share}
        if self.loss_share is None:
            out["loss_share_reason"] = "a fact about the deal, counted in no draw"
        return out | {"figures": self.figures, "path": self.path}


@dataclass(frozen=True, slots=True)
class Facts:
    """What reasons read."""

    model: Model
    plan: Schedule
    base: Result
    result: Result
    power: tuple[SitePower, ...]
    out: Mapping[str, Any]
    """The score so far."""
    uncertainty: Mapping[str, Any] | None

    @property
    def deal(self) -> Deal:
        """Return the deal."""
        return self.model.setting.deal

    @property
    def loss(self) -> NDArray[np.float64]:
        """Return the loss of each draw, 0 where none is modelled, shape (draws,). [currency]"""
        found = self.result.column.get("loss")
        return np.zeros(self.result.draws) if found is None else found.astype(np.float64)

    @property
    def default_month(self) -> NDArray[np.int64]:
        """Return the month of default, 0 for none, shape (draws,). [month]"""
        return self.result.column["default_month"].astype(np.int64)

    def share_of(self, *causes: str) -> float:
        """Return the share of the expected loss that these causes of default carry, 0 without a loss. [1]"""
        default = self.out["default"]
        whole = default.get("expected_loss_bp")
        if not whole:
            return 0.0
        return float(sum(default["by_cause"][cause]["expected_loss_bp"] for cause in causes)) / float(whole)

    def share_in(self, draws: NDArray[np.bool_]) -> float:
        """Return the share of the expected loss that falls in some draws, 0 without a loss. [1]"""
        whole = float(self.loss.sum())
        return float(self.loss[draws].sum()) / whole if whole > 0 else 0.0


def percent(share: float) -> str:
    """Return a share in words.

    >>> percent(0.5146), percent(0.0312), percent(0.0004), percent(0.0)
    ('51%', '3.1%', 'less than 0.1%', '0%')
    """
    if share == 0:
        return "0%"
    if share < 0.001:
        return "less than 0.1%"
    return f"{share:.0%}" if share >= 0.0995 else f"{share:.1%}"
