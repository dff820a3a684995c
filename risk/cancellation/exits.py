"""Long stop, chronic failure and notice: rights raised from the terms, then exercised, in that order.

Only this risk ends contracts for a right; the customer's default ends them elsewhere, and a tranche under no contract
gives no right. An exit decided at the end of a month takes effect the month after.
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
from schemas.cancellation import (
    BadMonths,
    CapReached,
    CumulativeHours,
    ReplacementMissed,
    SameCause,
    SingleOutage,
)
from schemas.delivery import LongStop

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]
Reach = Callable[[BoolArray], BoolArray]
"""Tranches that end when the marked rights are used, both shape (draws, tranches)."""
WHOLE_LEVELS = ("cluster", "hall", "site")
"""Levels whose unit is a whole tranche, as outages are simulated."""


def marked_draws(marks: BoolArray) -> IntArray:
    """Return the draws in which any tranche of `marks`, shape (draws, tranches), is marked, in order."""
    draws = np.flatnonzero(marks) // marks.shape[1]
    return np.asarray(draws[np.diff(draws, prepend=-1) > 0])


class Exits:
    """Writes `rent_factor` (draws, tranches) [1] and ends contracts."""

    streams = ("exercise",)

    def __init__(self, setting: Setting) -> None:
        deal = setting.deal
        assert deal.delivery is not None
        self.setting = setting
        self.mode = deal.assumptions.exercise
        self.choice = Choice.of(self.mode, setting)
        self.chronic = deal.cancellation.chronic_failure
        self.convenience = deal.cancellation.convenience
        length = setting.timeline.length
        stops = [deal.delivery.tranches[tranche].long_stop for tranche in setting.tranches]
        self.long_stops = tuple((j, terms, self._open(j, terms)) for j, terms in enumerate(stops) if terms is not None)
        self.chronic_open = length(self.chronic.exercise) if self.chronic else 0.0
        self.notice_months = int(np.ceil(length(self.convenience.notice) - 1e-9)) if self.convenience else 0
        self.first_notice = setting.timeline.at(self.convenience.first_exercise) if self.convenience else np.inf
        self.provider_may = self.convenience is not None and self.convenience.party == "either"

    def sample(self, rng: Mapping[str, Generator], draws: int) -> Paths:
        """Return `exercise_score` (draws, 2): uniforms that decide waiver and re-pricing; `may_leave` (draws,).

        Raises
        ------
        MissingTermError
            When draws may have to compare rents that the deal does not give, whether these do or not.
        """
        if self._compares_rents():
            self.choice.refuse_without_rents(self.setting.deal.assumptions.market)
        return {"exercise_score": rng["exercise"].random((draws, 2)), "may_leave": np.ones(draws, dtype=bool)}

    def base(self) -> Paths:
        """Return parties that never leave."""
        return {"exercise_score": np.ones((1, 2)), "may_leave": np.zeros(1, dtype=bool)}

    def steps(self) -> Mapping[Phase, StepFunction]:
        """Return the fee for leaving, the rights and their exercise."""
        return {Phase.FEES: self._leaving_fee, Phase.RIGHTS: self._rights, Phase.EXERCISE: self._exercise}

    def ignores(self) -> tuple[str, ...]:
        """Return what this model leaves out."""
        words = ["Exits: rights are looked at when a month ends; a customer that waives once always waives."]
        if self.provider_may and self.mode.provider == "never":
            words.append("Notice: either party may give it; the provider never does (assumptions.exercise.provider).")
        elif self.provider_may:
            words.append(
                "Notice: a provider that gives it compares rents alone, without the months empty and the utilisation "
                "of a new letting."
            )
        if self.chronic and self.chronic.cure_days:
            words.append("Chronic failure: the cure period before exercise is not simulated.")
        levels = self.setting.deal.service_levels
        for limb in self.chronic.limbs if self.chronic else ():
            if isinstance(limb, (CumulativeHours, SameCause, ReplacementMissed)):
                words.append(f"Chronic failure: no right of form {limb.form!r} is simulated.")
                continue
            if isinstance(limb, CapReached):
                continue
            level = levels[limb.service_level].level
            if level not in WHOLE_LEVELS:
                words.append(
                    f"Chronic failure on service level {limb.service_level!r} ({level}): only outages of the whole "
                    f"site count towards it, not failures of one {level.replace('_', ' ')}."
                )
        return tuple(words)

    def _compares_rents(self) -> bool:
        """Return whether in some draw a party may ask if it gains by leaving."""
        assumed, mode = self.setting.deal.assumptions, self.mode
        by_choice = ("rational", "rational_or_reprice")
        if self.convenience is not None and (
            mode.convenience == "rational" or (self.provider_may and mode.provider == "rational")
        ):
            return True
        late = assumed.delay is not None and float(assumed.delay.share_late) * float(assumed.delay.median) > 0
        if self.long_stops and late and mode.long_stop in by_choice:
            return True
        return self.chronic is not None and mode.chronic_failure in by_choice and self._may_go_out()

    def _may_go_out(self) -> bool:
        """Return whether the deal has any law of outages or bad months."""
        prescribed = self.setting.deal.assumptions.prescribed
        if prescribed.bad_month is not None:
            return prescribed.bad_month.probability > 0
        if prescribed.outages is not None:
            return prescribed.outages.outages_per_year is None or prescribed.outages.outages_per_year.value > 0
        return any(site.topology is not None for site in self.setting.deal.sites.values())

    # --- rights ------------------------------------------------------------------------------------------------------

    def _open(self, tranche: int, terms: LongStop) -> frozenset[int]:
        """Return the months at whose end a long-stop right can be used while the tranche is not ready."""
        never = np.full((1, 1), np.inf)
        return frozenset(
            month for month in range(1, self.setting.months + 1) if self._is_past(tranche, terms, never, month).any()
        )

    def _is_past(self, tranche: int, terms: LongStop, ready: FloatArray, month: int) -> BoolArray:
        """Return whether one tranche, ready at `ready` of shape (draws, 1), can be left at a month end, same shape."""
        planned = self.setting.planned_ready[tranche : tranche + 1]
        return long_stop.arrays(ready, planned, month, terms, self.setting.timeline.length)

    def _rights(self, month: int, state: State) -> None:
        state.rights["long_stop"] = self._long_stop(month, state)
        state.rights["chronic_failure"] = self._chronic(month, state)

    def _long_stop(self, month: int, state: State) -> BoolArray:
        right = np.zeros(state.under_contract.shape, dtype=bool)
        for j, terms, months in self.long_stops:
            if month in months:
                right[:, j] = self._is_past(j, terms, state.path["ready"][:, j : j + 1], month)[:, 0]
        if right.any():
            right &= state.under_contract
            if "long_stop_spent" in state.now:
                right &= ~state.now["long_stop_spent"]
        return right

    def _chronic(self, month: int, state: State) -> BoolArray:
        arises = np.zeros(state.under_contract.shape, dtype=bool)
        if self.chronic is None:
            return arises
        for i, limb in enumerate(self.chronic.limbs):
            if isinstance(limb, BadMonths):
                self._bad_months(i, limb, month, state, arises)
            elif isinstance(limb, SingleOutage):
                arises |= self._long_outages(i, limb, state)[:, :, month - 1]
            elif isinstance(limb, CapReached):
                arises |= state.now[f"cap_reached:{limb.cap}"]
        # an unused right stays open for the exercise window, at month ends
        open_until = state.now.get("chronic_open_until")
        if open_until is None:
            open_until = state.now["chronic_open_until"] = np.full(arises.shape, -1.0)
        open_until[arises] = month + self.chronic_open
        return np.asarray((open_until >= month) & state.under_contract & state.now["in_term"])

    def _bad_months(self, i: int, limb: BadMonths, month: int, state: State, arises: BoolArray) -> None:
        """Note whether the month was bad, and mark in `arises` where it makes `k` of the last `m`."""
        kept = min(limb.m, self.setting.months)  # months before the first are not bad
        history = state.now.get(f"bad_months:{i}")
        if history is None:  # one place for each of the last m months, used in turn
            history = state.now[f"bad_months:{i}"] = np.zeros((kept, *arises.shape), dtype=bool)
        bad = state.now[f"bad_month:{i}"]
        history[month % kept] = bad
        cells = np.flatnonzero(bad)
        if len(cells):
            oldest_first = (month + 1 + np.arange(kept)) % kept
            window = history.reshape(kept, -1)[:, cells][oldest_first].T
            arises.reshape(-1)[cells] |= chronic_failure.arrays(window, limb.k)

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

    # --- exercise ----------------------------------------------------------------------------------------------------

    def _exercise(self, month: int, state: State) -> None:
        if "rent_factor" not in state.now:
            state.now["rent_factor"] = np.ones(state.under_contract.shape)
            state.now["repriced"] = np.zeros(state.draws, dtype=bool)
            state.now["long_stop_spent"] = np.zeros(state.under_contract.shape, dtype=bool)
        self._use("long_stop", self.mode.long_stop, self._reach_of_long_stop, month, state)
        self._use("chronic_failure", self.mode.chronic_failure, self._reach_of_chronic, month, state)
        self._notice(month, state)

    def _use(self, cause: str, mode: str, reach: Reach, month: int, state: State) -> None:
        """Use the rights of one cause as its mode says; only draws with such a right are looked at."""
        if mode == "never":
            return
        draws = marked_draws(state.rights[cause])
        draws = draws[state.path["may_leave"][draws]]
        wants = state.rights[cause][draws] & state.under_contract[draws]
        if not wants.any():
            return
        if mode != "always":
            wants &= self.choice.gains(month, self._spot(month, state, draws), state.now["rent_factor"][draws])
            wants &= self._does_not_waive(state, draws)[:, None]
            if mode == "rational_or_reprice":
                wants &= ~self._reprice(wants, reach, cause, month, state, draws)[:, None]
        if wants.any():
            ends = np.zeros(state.under_contract.shape, dtype=bool)
            ends[draws] = reach(wants)
            state.end_contract(ends, cause, month, month)

    def _spot(self, month: int, state: State, draws: IntArray) -> FloatArray | None:
        """Return the market rent of a month in some draws, None where the deal assumes no market."""
        return state.path["spot_rent"][draws, month - 1] if "spot_rent" in state.path else None

    def _does_not_waive(self, state: State, draws: IntArray) -> BoolArray:
        return np.asarray(state.path["exercise_score"][draws, 0] >= self.choice.waiver)

    def _reprice(
        self, wants: BoolArray, reach: Reach, cause: str, month: int, state: State, draws: IntArray
    ) -> BoolArray:
        """Set the rent anew, once, for those who take that instead of leaving; return who of `draws` does."""
        takes = state.path["exercise_score"][draws, 1] < self.choice.reprice_probability
        stays = np.asarray(wants.any(axis=1) & ~state.now["repriced"][draws] & takes)
        draws, wants = draws[stays], wants[stays]
        if not len(draws):
            return stays
        anew, factor = reach(wants), state.now["rent_factor"][draws]
        lower = self.choice.repriced(month, self._spot(month, state, draws), factor)
        state.now["rent_factor"][draws] = np.where(anew, lower, factor)
        state.now["repriced"][draws] = True
        if cause == "long_stop":
            state.now["long_stop_spent"][draws] |= anew
        if self.chronic is not None:
            state.now["chronic_open_until"][draws] = np.where(anew, -1.0, state.now["chronic_open_until"][draws])
            for i, limb in enumerate(self.chronic.limbs):
                if isinstance(limb, BadMonths):
                    state.now[f"bad_months:{i}"][:, draws] &= ~anew  # the count starts again
        return stays

    def _reach_of_long_stop(self, used: BoolArray) -> BoolArray:
        """Return the tranches that end when the marked rights are used."""
        ends = used.copy()
        first = int(np.argmin(self.setting.planned_ready))
        for j, terms, _ in self.long_stops:
            if terms.scope == "order" or (terms.scope == "order_if_first" and j == first):
                ends |= used[:, j : j + 1]
        return ends

    def _reach_of_chronic(self, used: BoolArray) -> BoolArray:
        if self.chronic is not None and self.chronic.scope == "order":
            return np.broadcast_to(used.any(axis=1, keepdims=True), used.shape).copy()
        return used

    # --- notice ------------------------------------------------------------------------------------------------------

    def _notice(self, month: int, state: State) -> None:
        """Notice for the whole order at the first month end with gain; the end comes after the notice months."""
        customer, provider = self.mode.convenience == "rational", self.provider_may and self.mode.provider == "rational"
        if self.convenience is None or month < self.first_notice or not (customer or provider):
            return
        if "notice_given" not in state.now:
            state.now["notice_given"] = np.zeros(state.draws, dtype=np.int64)
            state.now["notice_by_provider"] = np.zeros(state.draws, dtype=bool)
        given, by_provider = state.now["notice_given"], state.now["notice_by_provider"]
        bound = state.under_contract & state.now["in_term"]
        free = (given == 0) & state.path["may_leave"] & bound.any(axis=1)
        if free.any():
            draws = np.flatnonzero(free)
            bound_now, factor = bound[draws], state.now["rent_factor"][draws]
            spot = self._spot(month, state, draws)
            if customer:
                wants = self.choice.customer_gains_by_notice(month, spot, factor, bound_now)
                wants &= self._does_not_waive(state, draws)
                given[draws[wants]] = month
            if provider:
                wants = self.choice.provider_gains_by_notice(month, spot, factor, bound_now)
                wants &= given[draws] == 0
                given[draws[wants]], by_provider[draws[wants]] = month, True
        ends = (given > 0) & (given + self.notice_months == month)
        state.now["left_by_notice"] = ends[:, None] & bound
        if ends.any():
            state.end_contract(state.now["left_by_notice"], "convenience", month, month)

    def _leaving_fee(self, month: int, state: State) -> None:
        """Fee for leaving on the day the notice takes effect, owed by the party that gave it.

        Notice of less than a month takes effect at a month end whose cash has moved, and is paid a month later.
        """
        terms, given = self.convenience, state.now.get("notice_given")
        if terms is None or not terms.fee or given is None:
            return
        leaving = (given > 0) & (given + max(self.notice_months, 1) == month)
        if not leaving.any():
            return
        if self.notice_months:
            left = state.under_contract & (self.setting.term_ends(state.path["ready"]) > month)
        else:
            left = state.now["left_by_notice"]
        share = self.setting.fees[:, month - 1] / max(self.setting.fees[:, month - 1].sum(), 1e-12)
        owed = (leaving[:, None] & left) @ share * float(terms.fee)
        state.post("fee_for_leaving", np.where(state.now["notice_by_provider"], -owed, owed))
