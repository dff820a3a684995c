"""Credits of one service level in one month, from minutes or from counts of nodes."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from risk.contract_rules import bands, credit_shape
from risk.contract_rules.counting_rules import CountingRules, counting_rules
from risk.contract_rules.measurement_period import FIXED_MONTH_MINUTES
from risk.core.protocol import State
from risk.core.setting import Setting
from schemas.credit_shapes import CreditBands
from schemas.deal import Deal
from schemas.errors import NotComputedError
from schemas.service_levels import ServiceLevel

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
WHOLE_UNIT_LEVELS = ("cluster", "site", "hall")
"""Levels whose unit is the whole tranche."""
COUNTED_LEVELS = ("node", "rack", "scale_up_domain")
"""Levels of which a tranche holds many like units, counted by credit band."""


@dataclass(frozen=True, slots=True)
class MeasuredMonth:
    """What one service level measures in one month of all draws."""

    window: IntArray
    """Time in which each tranche is measured, shape (draws, tranches). [min, or s as counted]"""
    down: IntArray
    """Where in the flattened window there is downtime that counts, shape (down,)."""
    counted: IntArray
    """That downtime, same shape. [min, or s as counted]"""
    hours: float
    """Length of the month. [h]"""

    @property
    def window_of_down(self) -> IntArray:
        """Return the measured time at `down`, same shape. [min, or s as counted]"""
        return self.window.ravel()[self.down]

    def is_below(self, below: Decimal) -> BoolArray:
        """Return whether availability of the month lies strictly below a threshold, shape (draws, tranches)."""
        is_below = np.zeros(self.window.size, dtype=bool)
        is_below[self.down] = bands.is_below(self.counted, self.window_of_down, below)
        return is_below.reshape(self.window.shape)


@dataclass(frozen=True, slots=True)
class SimulatedLevel:
    """A service level with the tranches it is measured on."""

    id: str
    terms: ServiceLevel
    rules: CountingRules
    measures_first_part: bool
    """Whether a tranche's first part-month is a short period of its own, or not measured."""
    tranches: NDArray[np.bool_]
    """Whether each tranche belongs to the level's service, shape (tranches,)."""
    nodes: NDArray[np.float64]
    """Contracted nodes of each tranche, shape (tranches,). [1]"""
    unit_cap: float
    """Greatest credit of one unit as a share of its fee. [1]"""
    of_service_fee: bool
    """Whether a credit is a share of the fee of a service or of all, or of that of the unit."""

    @property
    def clock(self) -> tuple[str, int]:
        """Return the unit in which downtime is counted, and how many of it make a minute."""
        return ("seconds", 60) if self.rules.minute_rule == "exact_seconds" else ("minutes", 1)

    def window(self, share: FloatArray, month_minutes: int, begins: BoolArray) -> IntArray:
        """Return the time of the month in which each tranche is measured, shape as `share`. [min, or s as counted]

        Tranches of other services are not measured.

        Parameters
        ----------
        share : share of the month in which the tranche is ready and under contract. [1]
        month_minutes : length of the month. [min]
        begins : whether the tranche is not ready when the month starts.
        """
        _, ticks = self.clock
        whole = (FIXED_MONTH_MINUTES if self.rules.month_length == "fixed_30" else month_minutes) * ticks
        part = np.floor(share * (month_minutes * ticks) + 1e-6)
        if not self.measures_first_part:
            part = np.where(begins, 0.0, part)
        part = np.where(share > 1 - 1e-9, whole, part)
        return np.asarray(np.where(self.tranches, part, 0.0), dtype=np.int64)

    def measured(self, state: State, month: int, window: IntArray, hours: float) -> MeasuredMonth:
        """Return the downtime that counts in the month, within the time in which each tranche is measured.

        Parameters
        ----------
        window : time in which each tranche is measured, shape (draws, tranches). [min, or s as counted]
        hours : length of the month. [h]
        """
        nowhere = np.zeros(0, dtype=np.int64)
        by_month = state.now.get(f"counted_{self.clock[0]}:{self.id}")
        if by_month is None:
            return MeasuredMonth(window, nowhere, nowhere, hours)
        counted = by_month[:, :, month - 1].ravel()
        down = np.flatnonzero((counted > 0) & (window.ravel() > 0))
        return MeasuredMonth(window, down, counted[down], hours)

    def credit(self, state: State, month: MeasuredMonth, fees: FloatArray, base: FloatArray) -> FloatArray:
        """Return the credit of each tranche before month and year caps, shape (draws, tranches). [currency]

        Parameters
        ----------
        month : downtime of the month.
        fees : fees accrued this month, shape (draws, tranches). [currency]
        base : what credits are taken of: those fees or a part of them, or of each tranche's whole service, same shape.
            [currency]
        """
        if self.terms.level in COUNTED_LEVELS:
            return self._credit_of_many(state, month.window, fees, base)
        credit = np.zeros(fees.size)
        fee = fees.ravel()[month.down]
        served_hours = month.hours * state.now["share_in_term"].ravel()[month.down]
        price = np.divide(fee, served_hours, out=np.zeros_like(fee), where=served_hours > 0)
        line = credit_shape.simulated(
            month.counted,
            month.window_of_down,
            self.terms,
            self.id,
            base.ravel()[month.down],
            price,
            minute=self.clock[1],
        )
        line = np.minimum(line, self.unit_cap * fee)
        credit[month.down] = np.round(line, 2)
        return credit.reshape(fees.shape)

    def _credit_of_many(self, state: State, window: IntArray, fees: FloatArray, base: FloatArray) -> FloatArray:
        """Return the credit of each tranche for its many like units, counted by band."""
        credit = np.zeros_like(fees)
        counts = state.now.get(f"nodes_in_band:{self.id}")
        if counts is None:
            return credit
        nodes_each = self.terms.n or 1
        part = np.divide(float(nodes_each), self.nodes, out=np.zeros_like(self.nodes), where=self.nodes > 0)
        unit_base = base if self.of_service_fee else base * part
        table = self.terms.credit
        assert isinstance(table, CreditBands)  # other shapes of such levels are refused
        for b, band in enumerate(table.bands):
            line = np.minimum(unit_base * float(band.credit_fraction), self.unit_cap * fees * part)
            credit += counts[:, :, b] / nodes_each * np.round(line, 2)  # each unit's line is rounded to the cent
        return np.asarray(credit * (window > 0))


def _refuse(name: str, terms: ServiceLevel, deal: Deal) -> None:
    """Refuse a credit that the simulation cannot read from the downtime of a month, or that is not stated."""
    if terms.level in COUNTED_LEVELS and not isinstance(terms.credit, CreditBands):
        raise NotComputedError(
            f"service_levels.{name}.credit",
            f"a credit of shape {terms.credit.shape!r} on single units of level {terms.level!r} in the simulation",
            "use bands there, or leave the level out",
        )
    credit_shape.refuse(terms, name)
    credit_shape.refuse_blank(terms, name, deal)


def simulated_levels(setting: Setting) -> tuple[tuple[SimulatedLevel, ...], tuple[str, ...]]:
    """Return the levels that the simulation measures, and words on those it does not."""
    deal = setting.deal
    kept: list[SimulatedLevel] = []
    left: list[str] = []
    nodes = np.array(
        [
            float(cluster.units.node or 0) if (cluster := setting.cluster_of(j)) else 0.0
            for j in range(len(setting.tranches))
        ]
    )
    for name, terms in deal.service_levels.items():
        if terms.aggregation == "fleet_mean":
            raise NotComputedError(
                f"service_levels.{name}.aggregation", "a fleet mean", "use per_unit, or leave the level out"
            )
        if terms.level in COUNTED_LEVELS + WHOLE_UNIT_LEVELS:
            _refuse(name, terms, deal)
            kept.append(
                SimulatedLevel(
                    id=name,
                    terms=terms,
                    rules=counting_rules(deal.measurement, terms.measurement),
                    measures_first_part=deal.measurement.first_partial == "own_period",
                    tranches=setting.of_service(terms.service),
                    nodes=nodes,
                    unit_cap=float(deal.credits.caps.unit),
                    of_service_fee=deal.credits.base != "unit_fee_accrued",
                )
            )
        else:
            left.append(
                f"Service level {name!r} ({terms.level}): no outages are simulated at this level, so it pays nothing "
                "in the score; statements on a log do count it."
            )
    return tuple(kept), tuple(left)
