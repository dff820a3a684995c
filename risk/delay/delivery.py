"""Sampled readiness, and delay damages month by month."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.random import Generator

from risk.contract_rules import delay_damages
from risk.core.protocol import Paths, Phase, State, StepFunction
from risk.core.setting import Setting
from risk.delay.law import Delay


class DeliveryRisk:
    """Writes the path `ready` (draws, tranches) [month], and `damages` and `damages_recovered` (draws,) [currency].

    `damages` is what the customer is owed for the month, before what suppliers pay back of it in the same month.
    """

    streams = ("delivery",)

    def __init__(self, setting: Setting, law: Delay | None) -> None:
        assert setting.deal.delivery is not None
        self.setting = setting
        self.law = law
        terms = [setting.deal.delivery.tranches[tranche].delay_damages for tranche in setting.tranches]
        self.priced = tuple((j, terms_of) for j, terms_of in enumerate(terms) if terms_of is not None)
        for j, terms_of in self.priced:
            path = f"delivery.tranches.{setting.tranches[j]}.delay_damages"
            delay_damages.refuse_falling_steps(terms_of, setting.timeline.length, path)
        self.recovered = float(setting.deal.operations.damages_recovered)

    def sample(self, rng: Mapping[str, Generator], draws: int) -> Paths:
        """Return `ready`, the time each tranche is ready for service, shape (draws, tranches). [month]"""
        tranches = len(self.setting.tranches)
        scores = rng["delivery"].standard_normal((1 + tranches, draws)).T  # a further tranche moves no other
        delay = self.law.of_scores(scores[:, 0], scores[:, 1:]) if self.law else np.zeros((draws, tranches))
        return {"ready": self.setting.planned_ready + delay}

    def base(self) -> Paths:
        """Return every tranche on its date."""
        return {"ready": self.setting.planned_ready[None, :].copy()}

    def steps(self) -> Mapping[Phase, StepFunction]:
        """Return the accrual of damages, and their set-off against fees where the contract says so."""
        return {Phase.DELIVERY: self._accrue, Phase.SET_OFF: self._set_off}

    def ignores(self) -> tuple[str, ...]:
        """Return what this model leaves out."""
        if self.law is None:
            return (
                "Delivery: assumptions.delay is not given, so every tranche is on time; lateness is not simulated.",
            )
        words = [
            "Delivery: one number for each tranche, not a network of activities; no extension of time, no early "
            "delivery; a tranche that is late is late as a whole."
        ]
        if self.priced and not self.recovered:
            words.append("Delivery: suppliers pay nothing back of the damages (operations.damages_recovered is 0).")
        if any(terms.form == "fee_credit" for _, terms in self.priced):
            words.append("Delivery: damages kept for set-off and not used when the contract ends are not paid out.")
        return tuple(words)

    def _accrue(self, month: int, state: State) -> None:
        """Damages of the month, while the tranche is late and under contract; what suppliers pay back of them."""
        cash, carried = np.zeros(state.draws), np.zeros(state.draws)
        for j, terms in self.priced:
            late = np.flatnonzero((state.path["ready"][:, j] > month - 1) & state.under_contract[:, j])
            if month <= self.setting.planned_ready[j] or not len(late):
                continue
            fees = delay_damages.arrays(
                state.path["ready"][late, j : j + 1],
                self.setting.planned_ready[j : j + 1],
                month,
                terms,
                self.setting.timeline.length,
            )[:, 0]
            (cash if terms.form == "cash" else carried)[late] += fees * self.setting.fees[j, month - 1]
        state.now["damages"] = cash + carried
        state.now["damages_recovered"] = self.recovered * state.now["damages"]
        state.now["damages_carried"] = state.now.get("damages_carried", 0.0) + carried
        if cash.any():
            state.post("delay_damages", -cash)
        if state.now["damages_recovered"].any():
            state.post("damages_recovered", state.now["damages_recovered"])

    def _set_off(self, month: int, state: State) -> None:
        """Damages given as a fee credit reduce what is left to pay of the first fees; carried without interest."""
        carried = state.now["damages_carried"]
        if not np.any(carried):
            return
        used = np.minimum(carried, np.maximum(state.now["fees_payable"], 0.0))
        state.now["damages_carried"] = carried - used
        state.post("delay_damages_set_off", -used)
