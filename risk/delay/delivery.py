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
    """Writes the path `ready` (draws, tranches) [month] and the array `damages` (draws,) [currency]."""

    streams = ("delivery",)

    def __init__(self, setting: Setting, law: Delay | None) -> None:
        self.setting = setting
        self.law = law

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
        return (
            "Delivery: one number for each tranche, not a network of activities; no extension of time, no early "
            "delivery, no recovery of damages from suppliers; a tranche that is late is late as a whole.",
        )

    def _accrue(self, month: int, state: State) -> None:
        setting = self.setting
        assert setting.deal.delivery is not None
        cash = np.zeros(state.draws)
        carried = np.zeros(state.draws)
        ready = state.path["ready"]
        for j, tranche in enumerate(setting.tranches):
            terms = setting.deal.delivery.tranches[tranche].delay_damages
            if terms is None:
                continue
            fees = delay_damages.arrays(
                ready[:, j : j + 1], setting.planned_ready[j : j + 1], month, terms, setting.timeline.length
            )[:, 0]
            due = fees * setting.fees[j, month - 1] * state.under_contract[:, j]
            if terms.form == "cash":
                cash += due
            else:
                carried += due
        state.now["damages"] = cash + carried
        state.now["damages_carried"] = state.now.get("damages_carried", 0.0) + carried
        if cash.any():
            state.post("delay_damages", -cash)

    def _set_off(self, month: int, state: State) -> None:
        """Damages given as a fee credit reduce what is left to pay of the first fees; carried without interest."""
        carried = state.now["damages_carried"]
        if not np.any(carried):
            return
        used = np.minimum(carried, np.maximum(state.now["fees_payable"], 0.0))
        state.now["damages_carried"] = carried - used
        state.post("delay_damages_set_off", -used)
