"""Payments for outages of whole clusters, in the month they start, and the premium for them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from risk.contract_rules import measured_from
from risk.core.protocol import Paths, Phase, State, StepFunction
from risk.core.setting import Setting
from risk.insurance.payment import payment
from schemas.errors import MissingTermError
from schemas.insurance import ParametricLayer

FloatArray = NDArray[np.float64]
YEAR = 12
"""Months of a year of cover, counted from close. [month]"""


class ParametricCover:
    """Writes and posts `insurance_premium` and `insurance_recovery` of the month, each (draws,), positive [currency].

    Also `insurance_recovery:<layer>` of the month and `insured_this_year:<layer>`, what it has paid in its year.

    Notes
    -----
    An outage pays if it starts in a month in which a tranche that it takes down is measured: under contract, in its
    term and ready for the whole month. Where a level of its service measures nothing before all are ready, every
    tranche of the service that is under contract must be. Tranches down over exactly the same interval are down by one
    outage, which pays once. Each layer pays up to what is left of its year cap, in the order of months.
    """

    streams: tuple[str, ...] = ()

    def __init__(self, setting: Setting, layers: Mapping[str, ParametricLayer]) -> None:
        self.setting, self.layers = setting, dict(layers)
        self.waiting = [
            setting.of_service(level.service)
            for level in setting.deal.service_levels.values()
            if level.measured_from == "all_ready"
        ]
        self.least_wait = 3600.0 * min(float(layer.wait_hours) for layer in layers.values())
        number = np.arange(1, setting.months + 1, dtype=float)
        self.premium = np.zeros(setting.months)
        for name, layer in layers.items():
            self.premium += float(layer.premium_per_month) * np.clip(number - self._premium_from(name), 0.0, 1.0)

    def sample(self, rng: Mapping[str, Generator], draws: int) -> Paths:
        """Return nothing: payments follow from the outages."""
        return {}

    def base(self) -> Paths:
        """Return nothing."""
        return {}

    def steps(self) -> Mapping[Phase, StepFunction]:
        """Return payments and premium of each month."""
        return {Phase.COSTS: self._month}

    def ignores(self) -> tuple[str, ...]:
        """Return what this model leaves out."""
        return (
            "Insurance: an insurer always pays, in the month the outage starts, for every outage of a whole cluster "
            "that is simulated, whatever its cause; failures of single nodes and racks pay nothing; capacity let again "
            "is not insured.",
            "Insurance: premium does not move with claims and is paid to the end of the simulation; overlapping "
            "outages of two clusters are two events unless they start and end together.",
        )

    def _premium_from(self, name: str) -> float:
        """Return when premium begins: as typed, or with the month of the first debt payment. [month]"""
        deal = self.setting.deal
        assert deal.finance is not None
        start = self.layers[name].premium_from
        if start is not None:
            return self.setting.timeline.at(start)
        if deal.finance.loan is not None:
            return deal.finance.loan.first_payment_month - 1.0
        if deal.assumptions.prescribed.scheduled_debt_service is not None:
            return deal.assumptions.prescribed.scheduled_debt_service.from_month - 1.0
        raise MissingTermError(f"insurance.layers.{name}.premium_from", "a premium without a loan", "give the month")

    def _month(self, month: int, state: State) -> None:
        if month == 1:
            self._events(state)
        if (month - 1) % YEAR == 0:
            for name in self.layers:
                state.now[f"insured_this_year:{name}"] = np.zeros(state.draws)
        draw, length = self._insured(month, state)
        recovery = np.zeros(state.draws)
        for name, layer in self.layers.items():
            paid = np.bincount(draw, payment(layer, length / 3600.0), state.draws)
            so_far = state.now[f"insured_this_year:{name}"]
            if layer.year_cap is not None:
                paid = np.minimum(paid, float(layer.year_cap) - so_far)
            state.now[f"insured_this_year:{name}"] = so_far + paid
            state.now[f"insurance_recovery:{name}"] = paid
            recovery += paid
        state.now["insurance_recovery"] = recovery
        state.now["insurance_premium"] = np.full(state.draws, self.premium[month - 1])
        state.post("insurance_recovery", recovery)
        state.post("insurance_premium", -state.now["insurance_premium"])

    def _events(self, state: State) -> None:
        """Keep the outages that may pay, by month of start and event: `insured:draw`, `:tranche`, `:start`, `:end`.

        `insured:first` holds the first row of each month.
        """
        start, end = state.path["outage_start_s"], state.path["outage_end_s"]
        edges = self.setting.timeline.edges_seconds
        rows = np.flatnonzero((end - start > self.least_wait) & (start < edges[-1]))
        draw, start, end = state.path["outage_draw"][rows], start[rows], end[rows]
        started = np.searchsorted(edges, start, side="right")
        order = np.lexsort((end, start, draw, started))
        state.now["insured:draw"], state.now["insured:tranche"] = draw[order], state.path["outage_tranche"][rows][order]
        state.now["insured:start"], state.now["insured:end"] = start[order], end[order]
        state.now["insured:first"] = np.searchsorted(started[order], np.arange(1, self.setting.months + 2))

    def _insured(self, month: int, state: State) -> tuple[NDArray[np.int64], FloatArray]:
        """Return the draw and length [s] of each insured outage that starts in `month`, once however many it hits."""
        first, end_row = state.now["insured:first"][month - 1 : month + 1]
        columns = (state.now[f"insured:{name}"][first:end_row] for name in ("draw", "tranche", "start", "end"))
        draw, tranche, start, end = columns
        if first < end_row:
            kept = self._measured(month, state, draw)[np.arange(len(draw)), tranche]
            draw, start, end = draw[kept], start[kept], end[kept]
        again = np.zeros(len(draw), dtype=np.bool_)
        again[1:] = (draw[1:] == draw[:-1]) & (start[1:] == start[:-1]) & (end[1:] == end[:-1])
        return draw[~again], (end - start)[~again].astype(np.float64)

    def _measured(self, month: int, state: State, draw: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether each tranche of the draws in `draw` is measured this month, shape (rows, tranches)."""
        ready = state.path["ready"][draw]
        contracted = state.under_contract[draw] & (self.setting.term_ends(ready) > month - 1)
        measured = contracted & (ready <= month - 1)
        for service in self.waiting:
            measured &= ~service | measured_from.arrays(ready, contracted & service, month)[:, None]
        return np.asarray(measured)
