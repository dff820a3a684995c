"""Capacity under no contract: from when it is let again, how much of it, and at what rent."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from risk.core.protocol import State
from risk.core.running_cost import running_cost
from risk.core.setting import Setting
from schemas.errors import MissingTermError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
TOLERANCE_MONTHS = 1e-9
"""Dates in months are sums of decimals; this is far less than a second. [month]"""


class Reletting:
    """What ready capacity earns while it is under no contract.

    Arrays of the month, (draws, tranches): `out_share`, share of it in which a tranche is ready and under no contract
    [1]; `relet_utilisation`, share of hours let of that [1]; `relet_income_by_tranche` [currency]; and (draws,):
    `relet_income` [currency], before power.

    Notes
    -----
    The first month let is max(last month billed, month of readiness) + `empty` + 1; a term that is over was billed up
    to the month in which it ended. In the k-th month a share u = min(u_max, u_0 + (k - 1) step) of the hours is let at
    rent r = S (1 - haircut), and nothing while r does not exceed the power of a GPU-hour; k counts on through such
    months. S is spot rent of the month, or, where `rent_fixed_months` is given, of the month in which the letting
    began, held for so many months; one that would not pay its power does not begin.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.of_all = np.ones(len(setting.tranches))
        self.terms = setting.deal.assumptions.reletting
        if self.terms is None:
            return
        if setting.deal.assumptions.market is None:
            raise MissingTermError("assumptions.market", "assumptions.reletting", "give it, or remove reletting")
        for j, tranche in enumerate(setting.tranches):
            if setting.cluster_of(j) is None:
                raise MissingTermError(
                    f"delivery.tranches.{tranche}.cluster",
                    "assumptions.reletting",
                    "name the cluster, whose GPUs are let again",
                )
        self.empty = math.ceil(float(self.terms.empty) - TOLERANCE_MONTHS)
        self.kept = 1.0 - float(self.terms.haircut)
        self.first, self.step_up = float(self.terms.first_utilisation), float(self.terms.utilisation_step)
        self.highest = float(self.terms.highest_utilisation)
        self.power = running_cost(setting).power

    def ignores(self) -> tuple[str, ...]:
        """Return what this model leaves out."""
        if self.terms is None:
            return ("Revenue: nothing is let again after the contract ends or expires.",)
        return (
            "Re-letting: one rent and one utilisation for all capacity under no contract of a tranche, rising by month "
            "whatever the market does; no cost of finding tenants, and no credits to them or default of theirs.",
        )

    def step(self, month: int, state: State) -> None:
        """Write what is let in `month`, and post what it earns as `reletting`."""
        out = np.clip(month - state.path["ready"], 0.0, 1.0) - state.now["share_in_term"]
        used, income = np.zeros(out.size), np.zeros(out.size)
        if self.terms is not None:
            where = np.flatnonzero(out)  # positions in the flattened (draws, tranches), here and below
            number = month - self._first_month(where, state) + 1
            where, number = where[number >= 1], number[number >= 1]
            tranche = where % len(self.setting.tranches)
            rent = self._rent(month, state, where, self.power[tranche])
            ramp = np.minimum(self.highest, self.first + (number - 1) * self.step_up)
            used[where] = np.where(rent > self.power[tranche], ramp, 0.0)
            income[where] = used[where] * rent * self.setting.gpus[tranche] * self.setting.timeline.hours[month - 1]
        state.now["out_share"], state.now["relet_utilisation"] = out, used.reshape(out.shape)
        state.now["relet_income_by_tranche"] = income.reshape(out.shape)
        state.now["relet_income"] = state.now["relet_income_by_tranche"] @ self.of_all
        if income.any():
            state.post("reletting", state.now["relet_income"])

    def _first_month(self, where: IntArray, state: State) -> FloatArray:
        """Return the first month in which each tranche of `where` is let again, as things stand, same shape."""
        ready, billed = state.path["ready"].ravel()[where], state.last_billed.ravel()[where]
        over = np.ceil(self.setting.term_ends(ready) - TOLERANCE_MONTHS)
        last = np.where(state.under_contract.ravel()[where], over, np.minimum(billed, over))
        return np.asarray(np.maximum(last, np.ceil(ready - TOLERANCE_MONTHS)) + self.empty + 1)

    def _rent(self, month: int, state: State, where: IntArray, power: FloatArray) -> FloatArray:
        """Return the rent at which each tranche of `where` is let in `month`, same shape. [currency/GPU-hour]"""
        assert self.terms is not None
        spot = state.path["spot_rent"][:, month - 1][where // len(self.setting.tranches)] * self.kept
        if self.terms.rent_fixed_months is None:
            return np.asarray(spot)
        for name in ("relet_rent", "relet_rent_until"):
            state.now.setdefault(name, np.zeros(state.under_contract.size))
        held, until = state.now["relet_rent"][where], state.now["relet_rent_until"][where]
        begins = (month > until) & (spot > power)
        held = np.where(begins, spot, np.where(month > until, 0.0, held))
        state.now["relet_rent"][where] = held
        state.now["relet_rent_until"][where] = np.where(begins, month + self.terms.rent_fixed_months - 1, until)
        return np.asarray(held)
