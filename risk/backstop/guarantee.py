"""What a guarantee of the customer's payments owes: rent of contracts that ended in a way it answers for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from risk.backstop import formulas
from risk.backstop.limit import Limit
from risk.core.protocol import CAUSES, State
from risk.core.setting import Setting, share_in_term
from schemas.backstop import PaymentGuarantee, WayOfEnding

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
CAUSES_OF: dict[WayOfEnding, str] = {
    "payment_default": "customer_default",
    "insolvency": "customer_default",
    "chronic_failure": "chronic_failure",
    "long_stop": "long_stop",
    "convenience": "convenience",
}
"""Way of ending to the cause for which a contract ends in the simulation."""


class Guarantee:
    """Claims under a payment guarantee.

    Notes
    -----
    It answers for a contract that was in force when it started: a tranche whose last billed month ended before the
    start for that tranche is never paid for. After the end it owes contract rent for the share of each month in which
    the tranche is ready and its term would still run, less what the tranche earns by being let again, if agreed, and
    not below 0 for any tranche. A notice that the provider gave is no way of ending that it answers for.
    """

    def __init__(self, setting: Setting, terms: PaymentGuarantee) -> None:
        self.setting, self.terms = setting, terms
        answered = {CAUSES_OF[trigger] for trigger in terms.triggers}
        self.answers = np.array([cause in answered for cause in CAUSES])
        self.of_default = "customer_default" in answered
        self.convenience = CAUSES.index("convenience")
        credit = setting.deal.assumptions.counterparties.cover_provider
        self.provider_rate = float(credit.default_rate) if credit is not None else 0.0

    def claims(self, month: int, state: State, starts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what a month's formula gives where cover started in time, and where it did not, each (draws,).

        Parameters
        ----------
        starts : when cover starts for each tranche, shape (draws, tranches). [month]
        """
        claim, late = np.zeros(state.draws), np.zeros(state.draws)
        ended = self._ended(state)
        if ended.any():
            let_again = state.now.get("relet_income_by_tranche")
            paid = let_again if self.terms.net_of_reletting and let_again is not None else 0.0
            each = formulas.payment_guarantee(self._rent(month, state), paid) * ended
            in_time = starts <= state.last_billed
            claim, late = (each * in_time).sum(axis=1), (each * ~in_time).sum(axis=1)
        unpaid = state.now.get("unpaid_fees")
        if self.of_default and unpaid is not None and unpaid.any():
            started = (state.now["fees_by_tranche"] * (starts <= month - 1)).sum(axis=1)
            fees = state.now["fees"]
            share = np.divide(started, fees, out=np.zeros(state.draws), where=fees > 0)
            claim, late = claim + unpaid * share, late + unpaid * (1.0 - share)
        return claim, late

    def value_after_default(
        self,
        month: int,
        state: State,
        *,
        starts: FloatArray,
        rows: BoolArray,
        last_month: int,
        monthly_rate: float,
        limit: Limit,
        limit_starts: FloatArray,
        paid: FloatArray,
        paid_this_year: FloatArray,
    ) -> FloatArray:
        """Return the value to the lender of the claims of the months after `month`, shape (marked draws,). [currency]

        Parameters
        ----------
        rows : draws asked for, shape (draws,).
        last_month : last month of the cover. [month]
        monthly_rate : discount rate. [1/month]
        limit_starts, paid, paid_this_year : of all draws, as the limit takes them, shape (draws,).

        Notes
        -----
        Sum over months k of min(rent_k, what the limit leaves) x (1+i)^-(k-m) x exp(-h (k-m)/12), for tranches whose
        contract has already ended, with nothing let again and h the provider's constant hazard.
        """
        months = np.arange(month + 1, last_month + 1)
        claimed = (self._ended(state) & (starts <= state.last_billed))[rows]
        value = np.zeros(len(claimed))
        if not claimed.any() or not len(months):
            return value
        rents = self._rents_ahead(months, state, rows) * claimed[:, :, None]
        factor = state.now.get("rent_factor")
        due = (rents if factor is None else rents * factor[rows][:, :, None]).sum(axis=1)
        weight = (1.0 + monthly_rate) ** -(months - month) * np.exp(-self.provider_rate / 12 * (months - month))
        if limit.is_none:
            return np.asarray(due @ weight)
        begun, so_far, this_year = limit_starts[rows], paid[rows], paid_this_year[rows]
        for k, later in enumerate(months):
            if limit.begins_year(int(later)):
                this_year = np.zeros(len(value))
            allowed = np.minimum(due[:, k], limit.room(int(later), begun, so_far, this_year))
            so_far, this_year = so_far + allowed, this_year + allowed
            value = value + allowed * weight[k]
        return value

    def _ended(self, state: State) -> BoolArray:
        """Return whether each tranche's contract ended in a way that is answered for, shape (draws, tranches)."""
        ended = self.answers[state.ended_by]
        by_provider = state.now.get("notice_by_provider")
        if self.answers[self.convenience] and by_provider is not None:
            ended &= (state.ended_by != self.convenience) | ~by_provider[:, None]
        return np.asarray(ended)

    def _rent(self, month: int, state: State) -> FloatArray:
        """Return the month's contract rent had the contract gone on, shape (draws, tranches). [currency]"""
        ready = state.path["ready"]
        share = share_in_term(ready, month, self.setting.term_ends(ready))
        return np.asarray(share * self.setting.fees[:, month - 1] * state.now.get("rent_factor", 1.0))

    def _rents_ahead(self, months: NDArray[np.int64], state: State, rows: BoolArray) -> FloatArray:
        """Return rent at the contract price of later months, (marked draws, tranches, months). [currency]

        Beyond the months simulated a month's fee is that of the last.
        """
        ready = state.path["ready"][rows][:, :, None]
        ends = np.maximum(self.setting.term_ends(ready), ready)
        share = np.clip(months - ready, 0.0, 1.0) - np.clip(months - ends, 0.0, 1.0)
        fees = self.setting.fees[:, np.minimum(months, self.setting.months) - 1]
        return np.asarray(np.maximum(share, 0.0) * fees)
