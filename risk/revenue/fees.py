"""The prepayment of a month: what is credited against fees, and what is paid back when a contract ends."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from risk.contract_rules import prepayment
from risk.core.protocol import State
from risk.core.setting import Setting
from schemas.periods import Duration

FloatArray = NDArray[np.float64]
HALF_A_CENT = 0.005
"""A balance up to this is a rounding of the sums, and not paid back. [currency]"""
TOLERANCE_MONTHS = 1e-9
"""Dates in months are sums of decimals; this is far less than a second. [month]"""


class PrepaymentSchedule:
    """How the prepayment of each tranche is credited, and when what is left of it is paid back.

    Arrays (draws, tranches), of the month: `prepaid_used`, what is credited, and `prepaid_refunded`; `prepaid_left`,
    the balance at its end, each [currency].

    Notes
    -----
    Equal monthly parts from a month of the term on, pro rata from the moment of readiness; a part above the month's
    fee waits for the next. When a tranche's contract ends for whatever reason (an exit, the customer's default, a term
    cut short by `commercial.term.ends_by`) the balance is due `cancellation.refund_days` later, and is cash of the
    month in which that day falls, at the earliest the month after the last that was billed.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.amounts = setting.prepaid
        commercial = setting.deal.commercial
        self.terms = commercial.prepayment if commercial else None
        if self.terms is not None:
            prepayment.credited_share(np.zeros(0), setting.term_months, self.terms)  # refuses one never credited
        self.refund_months = setting.timeline.length(Duration(days=setting.deal.cancellation.refund_days))

    def credited(self, ready: FloatArray, month: int) -> FloatArray:
        """Return the prepayment to be credited against fees of `month`, shape as `ready`. [currency]"""
        if self.terms is None:
            return np.zeros_like(ready)
        ends, months = self.setting.term_ends(ready), self.setting.term_months
        now = prepayment.credited_share(np.minimum(month, ends) - ready, months, self.terms)
        before = prepayment.credited_share(np.minimum(month - 1, ends) - ready, months, self.terms)
        return np.asarray((now - before) * self.amounts)

    def step(self, month: int, state: State, fees: FloatArray) -> None:
        """Credit what is due against the month's fees of each tranche, and pay back what an ended contract leaves."""
        nothing = np.zeros_like(fees)
        if self.terms is None:
            for name in ("prepaid_used", "prepaid_refunded", "prepaid_left"):
                state.now[name] = nothing
            return
        waiting = state.now.get("prepaid_waiting", nothing)
        left = state.now.get("prepaid_left", np.broadcast_to(self.amounts, fees.shape))
        due = waiting + self.credited(state.path["ready"], month) * state.under_contract
        used = np.minimum(due, fees)
        left = left - used
        back = np.where((left > HALF_A_CENT) & (month >= self._refund_month(state)), left, 0.0)
        state.now["prepaid_used"], state.now["prepaid_waiting"] = used, due - used
        state.now["prepaid_refunded"], state.now["prepaid_left"] = back, left - back
        if used.any():
            state.post("prepayment_credited", -used.sum(axis=1), taxable=False)
        if back.any():
            state.post("prepayment_refunded", -back.sum(axis=1), taxable=False)

    def _refund_month(self, state: State) -> FloatArray:
        """Return the month in which each tranche's balance is paid back, as things stand, shape (draws, tranches)."""
        term_ends, billed = self.setting.term_ends(state.path["ready"]), state.last_billed
        ends = np.where(state.under_contract, term_ends, np.minimum(billed, term_ends))
        month = np.ceil(ends + self.refund_months - TOLERANCE_MONTHS)
        return np.asarray(np.where(state.under_contract, month, np.maximum(month, billed + 1)))
