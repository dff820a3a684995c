"""What capacity earns in a month: fees, prepayment, credits, re-letting; and which months were bad."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from risk.contract_rules import caps, measured_from, stacking
from risk.core.protocol import Paths, Phase, State, StepFunction
from risk.core.setting import Setting, share_in_term
from risk.revenue.fees import PrepaymentSchedule
from risk.revenue.reletting import Reletting
from risk.revenue.service import MeasuredMonth, SimulatedLevel, simulated_levels
from schemas.cancellation import BadMonths

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class Revenue:
    """Writes fees, credits, bad months and the income of re-letting of the month.

    Arrays (draws, tranches): `fees_by_tranche` [currency], `share_in_term`, share of the month in which a tranche is
    ready and under contract [1], `in_term`, `bad_month:<limb>`; (draws,): `fees`, `credits`, `fees_payable` after
    prepayment and credits, and `credit:<level>` before stacking and caps [currency]; those of `PrepaymentSchedule` and
    `Reletting`. Nothing here depends on the loan.
    """

    streams: tuple[str, ...] = ()

    def __init__(self, setting: Setting) -> None:
        deal = setting.deal
        self.setting = setting
        self.prepayment = PrepaymentSchedule(setting)
        self.reletting = Reletting(setting)
        self.levels, self.left_out = simulated_levels(setting)
        self.services = tuple(deal.services)
        self.member = np.array([[of == name for name in self.services] for of in setting.service_of], dtype=float)
        self.of_all, self.of_services = np.ones(len(setting.tranches)), np.ones(len(self.services))
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
        """Return fees, then service, then what is let again."""
        return {Phase.FEES: self._fees, Phase.SERVICE: self._service, Phase.RELETTING: self.reletting.step}

    def ignores(self) -> tuple[str, ...]:
        """Return what this model leaves out."""
        words = [
            "Revenue: fees are paid in the month they accrue; a credit is taken off the fee of its own month.",
            "Exclusions: every simulated outage counts; planned work, force majeure and outages caused by the customer "
            "are not simulated.",
        ]
        commercial = self.setting.deal.commercial
        assert commercial is not None
        if commercial.renewal_months:
            words.append("Term: the option to renew is never used.")
        if commercial.prepayment is not None and np.any(self.prepayment.amounts):
            days = self.setting.deal.cancellation.refund_days
            words.append(
                "Prepayment: what is not credited when a contract ends, for whatever reason, is paid back in the month "
                f"in which the {days} days for it run out; no damages that the customer owes are taken off it."
            )
            if commercial.prepayment.security == "escrow":
                words.append("Prepayment: held in escrow by the contract, counted as paid to the project at close.")
        return (*words, *self.reletting.ignores(), *self.left_out)

    def _fees(self, month: int, state: State) -> None:
        ready = state.path["ready"]
        ends = self.setting.term_ends(ready)
        share = share_in_term(ready, month, ends) * state.under_contract
        fees = share * self.setting.fees[:, month - 1] * state.now.get("rent_factor", 1.0)
        state.now["share_in_term"] = share
        state.now["fees_by_tranche"] = fees
        state.now["fees"] = fees @ self.of_all
        state.now["in_term"] = ends > month
        state.post("fees", state.now["fees"])
        self.prepayment.step(month, state, fees)

    def _service(self, month: int, state: State) -> None:
        hours = float(self.setting.timeline.window_minutes[month - 1]) / 60
        measured = {
            level.id: level.measured(state, month, self._window(level, month, state), hours) for level in self.levels
        }
        self._bad_months(month, state, measured)
        self._credits(month, state, measured)
        state.now["fees_payable"] = state.now["fees"] - state.now["credits"]
        if self.prepayment.terms is not None:
            state.now["fees_payable"] -= state.now["prepaid_used"] @ self.of_all

    def _window(self, level: SimulatedLevel, month: int, state: State) -> IntArray:
        """Return the time of the month in which a level measures each tranche, shape (draws, tranches)."""
        ready = state.path["ready"]
        begins = ready > month - 1
        window = level.window(state.now["share_in_term"], int(self.setting.timeline.window_minutes[month - 1]), begins)
        if level.terms.measured_from == "all_ready":
            late = np.flatnonzero(begins) // begins.shape[1]  # draws in which some tranche is not ready all month
            bound = state.under_contract[late] & (self.setting.term_ends(ready[late]) > month - 1) & level.tranches
            window[late[~measured_from.arrays(ready[late], bound, month)]] = 0
        return window

    def _bad_months(self, month: int, state: State, measured: dict[str, MeasuredMonth]) -> None:
        prescribed = state.path.get("bad_month")
        for i, limb in self.limbs:
            level = measured.get(limb.service_level)
            if level is None:
                bad = np.zeros(state.under_contract.shape, dtype=bool)
            elif prescribed is not None:
                bad = prescribed[:, :, month - 1] & (level.window > 0)
            else:
                bad = level.is_below(limb.below)
            state.now[f"bad_month:{i}"] = bad

    def _credits(self, month: int, state: State, measured: dict[str, MeasuredMonth]) -> None:
        terms = self.setting.deal.credits
        fees = state.now["fees_by_tranche"]
        base = fees if terms.includes_prepaid else fees - state.now["prepaid_used"]
        if terms.base == "service_fee_accrued":
            base = base @ self.member @ self.member.T
        by_level: dict[str, FloatArray] = {}
        for level in self.levels:
            by_level[level.id] = level.credit(state, measured[level.id], fees, base) @ self.member
            state.now[f"credit:{level.id}"] = by_level[level.id] @ self.of_services
        if not any(amounts.any() for amounts in by_level.values()):
            state.now["credits"] = np.zeros(state.draws)
            return
        due, _ = stacking.arrays(by_level, terms.between_levels)
        due = due * self.claimed
        if terms.caps.year is None:
            allowed = caps.arrays(due, fees @ self.member, np.zeros(1), np.zeros(1), terms.caps)
        else:
            year, paid, planned = self._contract_year(month, state)
            allowed = caps.arrays(due, fees @ self.member, planned, paid, terms.caps)
            state.now["credits_paid_this_year"] = paid + allowed
            state.now["contract_year"] = year
        state.now["credits"] = allowed @ self.of_services
        state.post("credits", -state.now["credits"])

    def _contract_year(self, month: int, state: State) -> tuple[IntArray, FloatArray, FloatArray]:
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
