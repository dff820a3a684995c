"""Fees of a month, and prepayment credited back in it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from risk.contract_rules import prepayment
from risk.core.setting import Setting

FloatArray = NDArray[np.float64]


class PrepaymentSchedule:
    """How much of the prepayment has been credited back by each moment of a tranche's term."""

    def __init__(self, setting: Setting) -> None:
        self.amounts = setting.prepaid
        self.cumulative: FloatArray | None = None
        terms = setting.deal.commercial.prepayment if setting.deal.commercial else None
        if terms is not None:
            shares = prepayment.arrays(setting.term_months, terms)
            self.cumulative = np.concatenate([[0.0], np.cumsum(shares)])

    def credited(self, ready: FloatArray, month: int) -> FloatArray:
        """Return the prepayment credited against fees of month `month`, shape as `ready`. [currency]"""
        if self.cumulative is None:
            return np.zeros_like(ready)
        positions = np.arange(len(self.cumulative), dtype=float)
        now = np.interp(month - ready, positions, self.cumulative)
        before = np.interp(month - 1 - ready, positions, self.cumulative)
        return (now - before) * self.amounts

    def left(self, ready: FloatArray, month: int) -> FloatArray:
        """Return the prepayment still to be credited at the end of month `month`, shape as `ready`. [currency]"""
        if self.cumulative is None:
            return np.zeros_like(ready)
        so_far = np.interp(month - ready, np.arange(len(self.cumulative), dtype=float), self.cumulative)
        return (1.0 - so_far) * self.amounts
