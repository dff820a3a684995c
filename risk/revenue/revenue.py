"""What capacity earns in a month: fees, prepayment, credits, re-letting; and which months were bad."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from risk.contract_rules import measured_from
from risk.core.protocol import Paths, Phase, State, StepFunction
from risk.core.setting import Setting, share_in_term
from risk.revenue.fees import PrepaymentSchedule
from risk.revenue.reletting import Reletting
from risk.revenue.service import MeasuredMonth, SimulatedLevel, simulated_levels
from risk.revenue.settling import Settling
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
        self.settling = Settling(setting, self.member)
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
        return (*words, *self.settling.ignores(), *self.reletting.ignores(), *self.left_out)

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
        fees = state.now["fees_by_tranche"]
        base = self.settling.base(fees, state.now["prepaid_used"])
        by_level: dict[str, FloatArray] = {}
        for level in self.levels:
            by_level[level.id] = level.credit(state, measured[level.id], fees, base)
            state.now[f"credit:{level.id}"] = by_level[level.id] @ self.member @ self.of_services
        self.settling.step(month, state, by_level, fees)
