"""The customer's money of a month: fees, prepayment, credits; and which months were bad."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from risk.contract_rules import bands, caps, stacking
from risk.core.protocol import Paths, Phase, State, StepFunction
from risk.core.setting import Setting, share_in_term
from risk.revenue.fees import PrepaymentSchedule
from risk.revenue.service import simulated_levels
from schemas.cancellation import BadMonths

FloatArray = NDArray[np.float64]


class Revenue:
    """Writes fees, credits and bad months of the month.

    Arrays (draws, tranches): `fees_by_tranche`, `prepaid_used`, `prepaid_left` [currency], `share_in_term` [1],
    `in_term`, `bad_month:<limb>`; (draws,): `fees`, `credits`, `fees_payable` after prepayment and credits, and
    `credit:<level>` before stacking and caps [currency].
    """

    streams: tuple[str, ...] = ()

    def __init__(self, setting: Setting) -> None:
        deal = setting.deal
        self.setting = setting
        self.prepayment = PrepaymentSchedule(setting)
        self.levels, self.left_out = simulated_levels(setting)
        self.services = tuple(deal.services)
        self.member = np.array([[of == name for name in self.services] for of in setting.service_of], dtype=float)
        claimed = deal.assumptions.claimed_share
        self.claimed = float(claimed) if claimed is not None and deal.credits.process.mode == "claimed" else 1.0
        chronic = deal.cancellation.chronic_failure
        self.limbs = tuple(
            (i, limb) for i, limb in enumerate(chronic.limbs if chronic else ()) if isinstance(limb, BadMonths)
        )

    def sample(self, rng: Mapping[str, Generator], draws: int) -> Paths:
        """Return nothing: revenue follows from delivery, outages and rights."""
        return {}

    def base(self) -> Paths:
        """Return nothing."""
        return {}

    def steps(self) -> Mapping[Phase, StepFunction]:
        """Return fees, then service."""
        return {Phase.FEES: self._fees, Phase.SERVICE: self._service}

    def ignores(self) -> tuple[str, ...]:
        """Return what this model leaves out."""
        words = [
            "Revenue: fees are paid in the month they accrue; a credit is taken off the fee of its own month; nothing "
            "is let again after the contract ends or expires.",
            "Exclusions: every simulated outage counts; planned work, force majeure and outages caused by the customer "
            "are not simulated.",
        ]
        if np.any(self.prepayment.amounts):
            words.append("Prepayment: the refund of the unused part on early exit is not paid out in the simulation.")
            if self.setting.deal.finance and self.setting.deal.finance.tax:
                words.append("Prepayment: fees paid ahead are not taxed, neither at close nor as they are credited.")
        return (*words, *self.left_out)

    def _fees(self, month: int, state: State) -> None:
        ready = state.path["ready"]
        share = share_in_term(ready, month, self.setting.term_ends(ready)) * state.under_contract
        factor = state.now.get("rent_factor", 1.0)
        fees = share * self.setting.fees[:, month - 1] * factor
        state.now["share_in_term"] = share
        state.now["fees_by_tranche"] = fees
        state.now["fees"] = fees.sum(axis=1)
        state.now["in_term"] = self.setting.term_ends(ready) > month
        state.post("fees", state.now["fees"])
        self._prepayment(month, state, fees)

    def _prepayment(self, month: int, state: State, fees: FloatArray) -> None:
        """Credit the prepayment back; what exceeds the month's fee waits for the next."""
        ready = state.path["ready"]
        waiting = state.now.get("prepaid_waiting", 0.0)
        due = waiting + self.prepayment.credited(ready, month) * state.under_contract
        used = np.minimum(due, fees)
        state.now["prepaid_used"], state.now["prepaid_waiting"] = used, due - used
        state.now["prepaid_left"] = self.prepayment.left(ready, month) + state.now["prepaid_waiting"]
        if self.prepayment.cumulative is not None:
            state.post("prepayment_credited", -used.sum(axis=1))

    def _service(self, month: int, state: State) -> None:
        minutes = int(self.setting.timeline.window_minutes[month - 1])
        share, begins = state.now["share_in_term"], state.path["ready"] > month - 1
        windows = {level.id: level.window(share, minutes, begins) for level in self.levels}
        self._bad_months(month, state, windows)
        self._credits(month, state, windows)
        state.now["fees_payable"] = state.now["fees"] - state.now["prepaid_used"].sum(axis=1) - state.now["credits"]

    def _bad_months(self, month: int, state: State, windows: dict[str, NDArray[np.int64]]) -> None:
        for i, limb in self.limbs:
            window = windows.get(limb.service_level, np.zeros(state.under_contract.shape, dtype=np.int64))
            prescribed = state.path.get("bad_month")
            if prescribed is not None:
                bad = prescribed[:, :, month - 1] & (window > 0)
            else:
                minutes = state.now.get(f"counted_minutes:{limb.service_level}")
                if minutes is None:
                    bad = np.zeros(window.shape, dtype=bool)
                else:
                    counted = minutes[:, :, month - 1]
                    bad = (window > 0) & bands.is_below(counted, np.maximum(window, 1), limb.below)
            state.now[f"bad_month:{i}"] = bad

    def _credits(self, month: int, state: State, windows: dict[str, NDArray[np.int64]]) -> None:
        terms = self.setting.deal.credits
        fees = state.now["fees_by_tranche"]
        base = fees if terms.includes_prepaid else fees - state.now["prepaid_used"]
        if terms.base == "service_fee_accrued":
            base = base @ self.member @ self.member.T
        by_level: dict[str, FloatArray] = {}
        for level in self.levels:
            by_level[level.id] = level.credit(state, month, windows[level.id], fees, base) @ self.member
            state.now[f"credit:{level.id}"] = by_level[level.id].sum(axis=1)
        if not by_level:
            state.now["credits"] = np.zeros(state.draws)
            return
        due, _ = stacking.arrays(by_level, terms.between_levels)
        year, paid, planned = self._contract_year(month, state)
        allowed = caps.arrays(
            due * self.claimed,
            fees @ self.member,
            planned,
            paid,
            terms.caps,
        )
        state.now["credits_paid_this_year"] = paid + allowed
        state.now["contract_year"] = year
        state.now["credits"] = allowed.sum(axis=1)
        state.post("credits", -state.now["credits"])

    def _contract_year(self, month: int, state: State) -> tuple[NDArray[np.int64], FloatArray, FloatArray]:
        """Return the contract year of each service, what its credits came to so far, and its planned fees.

        Each of shape (draws, services). A year starts with the calendar month in which the service's first tranche is
        ready; planned are twelve months' fees of the tranches ready before it ends, as if ready throughout.
        """
        ready = state.path["ready"]
        first = np.stack(
            [np.where(self.member[:, s] > 0, ready, np.inf).min(axis=1) for s in range(len(self.services))],
            axis=1,
        )
        first = np.floor(first)
        year = np.floor(np.maximum(month - 1 - first, 0) / 12).astype(np.int64)
        there = ready < (first + 12.0 * (year + 1)) @ self.member.T
        planned = there * self.setting.fees[:, max(0, month - 12) : month].mean(axis=1) * 12 @ self.member
        before = state.now.get("contract_year")
        paid = state.now.get("credits_paid_this_year")
        if before is None or paid is None:
            return year, np.zeros(year.shape), planned
        return year, np.where(year == before, paid, 0.0), planned
