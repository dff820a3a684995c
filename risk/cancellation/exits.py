"""Long stop, chronic failure and notice: rights raised from the terms, then exercised, in that order.

Only this risk ends contracts for a right. An exit decided at the end of a month takes effect the month after.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from risk.cancellation.choice import Choice
from risk.contract_rules import chronic_failure, long_stop
from risk.core.protocol import Paths, Phase, State, StepFunction
from risk.core.setting import Setting
from schemas.cancellation import BadMonths, SingleOutage

BoolArray = NDArray[np.bool_]
Reach = Callable[[BoolArray], BoolArray]
"""Tranches that end when the marked rights are used, both shape (draws, tranches)."""
CAUSES = ("long_stop", "chronic_failure", "convenience")
WHOLE_LEVELS = ("cluster", "hall", "site")
"""Levels whose unit is a whole tranche, as outages are simulated."""


class Exits:
    """Writes `rent_factor` (draws, tranches) [1] and ends contracts."""

    streams = ("exercise",)

    def __init__(self, setting: Setting) -> None:
        deal = setting.deal
        self.setting = setting
        self.mode = deal.assumptions.exercise
        self.choice = Choice.of(self.mode, setting)
        self.chronic = deal.cancellation.chronic_failure
        self.convenience = deal.cancellation.convenience
        length = setting.timeline.length
        self.chronic_open = length(self.chronic.exercise) if self.chronic else 0.0
        self.notice_months = int(np.ceil(length(self.convenience.notice) - 1e-9)) if self.convenience else 0
        self.first_notice = setting.timeline.at(self.convenience.first_exercise) if self.convenience else np.inf

    def sample(self, rng: Mapping[str, Generator], draws: int) -> Paths:
        """Return `exercise_score` (draws, 2): uniforms that decide waiver and re-pricing; `may_leave` (draws,)."""
        return {"exercise_score": rng["exercise"].random((draws, 2)), "may_leave": np.ones(draws, dtype=bool)}

    def base(self) -> Paths:
        """Return a customer that never leaves."""
        return {"exercise_score": np.ones((1, 2)), "may_leave": np.zeros(1, dtype=bool)}

    def steps(self) -> Mapping[Phase, StepFunction]:
        """Return the fee for leaving, the rights and their exercise."""
        return {Phase.FEES: self._leaving_fee, Phase.RIGHTS: self._rights, Phase.EXERCISE: self._exercise}

    def ignores(self) -> tuple[str, ...]:
        """Return what this model leaves out."""
        words = [
            "Exits: rights are looked at when a month ends; a customer that waives once always waives; the provider "
            "never gives notice; the customer itself never defaults.",
        ]
        if self.chronic and self.chronic.cure_days:
            words.append("Chronic failure: the cure period before exercise is not simulated.")
        levels = self.setting.deal.service_levels
        for limb in self.chronic.limbs if self.chronic else ():
            level = levels[limb.service_level].level
            if level not in WHOLE_LEVELS:
                words.append(
                    f"Chronic failure on service level {limb.service_level!r} ({level}): only outages of the whole "
                    f"site count towards it, not failures of one {level.replace('_', ' ')}."
                )
        return tuple(words)

    def _leaving_fee(self, month: int, state: State) -> None:
        terms = self.convenience
        if terms is None or terms.fee is None:
            return
        leaving = self._notice_given(state) + self.notice_months == month
        share = self.setting.fees[:, month - 1] / max(self.setting.fees[:, month - 1].sum(), 1e-12)
        bound = state.under_contract & (self.setting.term_ends(state.path["ready"]) > month)
        state.post("fee_for_leaving", (leaving & bound) @ share * float(terms.fee))

    def _rights(self, month: int, state: State) -> None:
        state.rights["long_stop"] = self._long_stop(month, state)
        state.rights["chronic_failure"] = self._chronic(month, state)

    def _long_stop(self, month: int, state: State) -> BoolArray:
        setting = self.setting
        assert setting.deal.delivery is not None
        ready = state.path["ready"]
        right = np.zeros(ready.shape, dtype=bool)
        for j, tranche in enumerate(setting.tranches):
            terms = setting.deal.delivery.tranches[tranche].long_stop
            if terms is not None:
                right[:, j] = long_stop.arrays(
                    ready[:, j : j + 1],
                    setting.planned_ready[j : j + 1],
                    month,
                    terms,
                    setting.timeline.length,
                )[:, 0]
        spent = state.now.get("long_stop_spent", np.zeros(right.shape, dtype=bool))
        return right & state.under_contract & ~spent

    def _chronic(self, month: int, state: State) -> BoolArray:
        arises = np.zeros(state.under_contract.shape, dtype=bool)
        if self.chronic is None:
            return arises
        for i, limb in enumerate(self.chronic.limbs):
            if isinstance(limb, BadMonths):
                history = self._history(i, limb.m, state)
                history[:, :, :-1] = history[:, :, 1:]
                history[:, :, -1] = state.now[f"bad_month:{i}"]
                state.now[f"bad_months:{i}"] = history
                arises |= chronic_failure.arrays(history, limb.k)
            else:
                arises |= self._long_outages(i, limb, state)[:, :, month - 1]
        # an unused right stays open for the exercise window, at month ends
        open_until = state.now.get("chronic_open_until", np.full(arises.shape, -1.0))
        open_until = np.where(arises, month + self.chronic_open, open_until)
        state.now["chronic_open_until"] = open_until
        return (open_until >= month) & state.under_contract & state.now["in_term"]

    def _history(self, limb: int, months: int, state: State) -> BoolArray:
        history = state.now.get(f"bad_months:{limb}")
        if history is None:
            history = np.zeros((*state.under_contract.shape, months), dtype=bool)
        repriced = state.now.get("repriced_at_last_end")
        if repriced is not None:
            history[repriced] = False  # after a re-pricing the count starts again
        return history

    def _long_outages(self, limb: int, terms: SingleOutage, state: State) -> BoolArray:
        """Return the month in which one outage passes the hours of the limb, (draws, tranches, months)."""
        name = f"long_outage:{limb}"
        if name not in state.now:
            reached = np.zeros((*state.under_contract.shape, self.setting.months), dtype=bool)
            measured = self.setting.of_service(self.setting.deal.service_levels[terms.service_level].service)
            if "outage_start_s" in state.path:
                seconds = int(float(terms.hours) * 3600)
                start = state.path["outage_start_s"]
                long = state.path["outage_end_s"] - start > seconds
                draw, tranche = state.path["outage_draw"][long], state.path["outage_tranche"][long]
                instant = start[long] + seconds
                month = np.searchsorted(self.setting.timeline.edges_seconds, instant, side="right") - 1
                ready = self.setting.timeline.seconds(state.path["ready"])[draw, tranche]
                inside = (month < self.setting.months) & (start[long] >= ready) & measured[tranche]
                reached[draw[inside], tranche[inside], month[inside]] = True
            state.now[name] = reached
        return state.now[name]

    def _exercise(self, month: int, state: State) -> None:
        factor = state.now.get("rent_factor")
        if factor is None:
            factor = np.ones(state.under_contract.shape)
        state.now["repriced_at_last_end"] = np.zeros(state.under_contract.shape, dtype=bool)
        state.now.setdefault("repriced", np.zeros(state.draws, dtype=bool))
        self._use("long_stop", self.mode.long_stop, self._reach_of_long_stop, month, state, factor)
        self._use("chronic_failure", self.mode.chronic_failure, self._reach_of_chronic, month, state, factor)
        self._notice(month, state, factor)
        state.now["rent_factor"] = factor

    def _use(self, cause: str, mode: str, reach: Reach, month: int, state: State, factor: NDArray[np.float64]) -> None:
        right = state.rights[cause] & state.under_contract & state.path["may_leave"][:, None]
        if mode == "never" or not right.any():
            return
        if mode == "always":
            state.end_contract(reach(right), cause, month, month)
            return
        spot = state.path.get("spot_rent")
        wants = right & self.choice.gains(month, spot, factor)
        wants &= (state.path["exercise_score"][:, 0] >= self.choice.waiver)[:, None]
        if mode == "rational_or_reprice":
            assert spot is not None
            done = state.now["repriced"]
            stays = wants.any(axis=1) & ~done & (state.path["exercise_score"][:, 1] < self.choice.reprice_probability)
            anew = stays[:, None] & reach(wants)
            factor[anew] = self.choice.repriced(month, spot, factor)[anew]
            state.now["repriced"] = done | stays
            state.now["repriced_at_last_end"] |= anew
            if cause == "long_stop":
                state.now["long_stop_spent"] = anew | state.now.get("long_stop_spent", False)
            if "chronic_open_until" in state.now:
                state.now["chronic_open_until"] = np.where(anew, -1.0, state.now["chronic_open_until"])
            wants &= ~stays[:, None]
        state.end_contract(reach(wants), cause, month, month)

    def _reach_of_long_stop(self, used: BoolArray) -> BoolArray:
        """Return the tranches that end when the marked rights are used."""
        assert self.setting.deal.delivery is not None
        ends = used.copy()
        first = int(np.argmin(self.setting.planned_ready))
        for j, tranche in enumerate(self.setting.tranches):
            terms = self.setting.deal.delivery.tranches[tranche].long_stop
            if terms and (terms.scope == "order" or (terms.scope == "order_if_first" and j == first)):
                ends |= used[:, j : j + 1]
        return ends

    def _reach_of_chronic(self, used: BoolArray) -> BoolArray:
        if self.chronic is not None and self.chronic.scope == "order":
            return np.broadcast_to(used.any(axis=1, keepdims=True), used.shape).copy()
        return used

    def _notice_given(self, state: State) -> NDArray[np.int64]:
        given = state.now.get("notice_given")
        return given if given is not None else np.full(state.draws, -(10**6), dtype=np.int64)[:, None]

    def _notice(self, month: int, state: State, factor: NDArray[np.float64]) -> None:
        """Notice for the whole order at the first month end with gain; the end comes after the notice months."""
        if self.convenience is None or self.mode.convenience == "never":
            return
        given = self._notice_given(state)
        free = (given[:, 0] < 0) & state.path["may_leave"] & state.under_contract.any(axis=1)
        if month >= self.first_notice and free.any():
            gains = self.choice.gains(month, state.path.get("spot_rent"), factor)
            wants = (gains & state.under_contract & state.now["in_term"]).any(axis=1) & free
            wants &= state.path["exercise_score"][:, 0] >= self.choice.waiver
            given = np.where(wants[:, None], month, given)
        state.now["notice_given"] = given
        ends = given + self.notice_months == month
        state.end_contract(ends & state.now["in_term"], "convenience", month, month)
