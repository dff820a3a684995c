"""Hours, sales and revenue that a floor looks at in one month."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from risk.core.protocol import State
from risk.core.setting import Setting

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Capacity:
    """Capacity under cover in one month, each of shape (draws,)."""

    hours: FloatArray
    """GPU-hours of the GPUs counted, for the share of the month in which they are ready. [h]"""
    sold_hours: FloatArray
    """Of them, hours under contract or let again. [h]"""
    revenue: FloatArray
    """Market revenue of them, gross of power. [currency]"""


def out_of_contract(setting: Setting, month: int, state: State) -> Capacity:
    """Return the capacity that is ready and under no contract."""
    hours = setting.gpus * float(setting.timeline.hours[month - 1])
    out = _out_share(month, state)
    return Capacity(out @ hours, (out * _let_again(state)) @ hours, _reletting(state))


def all_that_is_ready(setting: Setting, month: int, state: State) -> Capacity:
    """Return all ready capacity; hours under contract are sold, whatever is paid for them."""
    hours = setting.gpus * float(setting.timeline.hours[month - 1])
    sold = _contracted_share(state) + _out_share(month, state) * _let_again(state)
    return Capacity(_ready_share(month, state) @ hours, sold @ hours, contract_revenue(state) + _reletting(state))


def contract_revenue(state: State) -> FloatArray:
    """Return what the contracts earn in the month: fees less credits and what is not paid, shape (draws,). [currency]

    Prepayment counts as revenue of the month in which it is credited.
    """
    revenue = np.asarray(state.now["fees_payable"] - state.now.get("unpaid_fees", 0.0))
    used = state.now.get("prepaid_used")
    return revenue if used is None else revenue + used.sum(axis=1)


def _reletting(state: State) -> FloatArray:
    income = state.now.get("relet_income")
    return np.zeros(state.draws) if income is None else np.asarray(income)


def _ready_share(month: int, state: State) -> FloatArray:
    return np.asarray(np.clip(month - state.path["ready"], 0.0, 1.0))


def _contracted_share(state: State) -> FloatArray:
    return np.asarray(state.now["share_in_term"])


def _out_share(month: int, state: State) -> FloatArray:
    """Return the share of the month in which each tranche is ready and under no contract, shape (draws, tranches)."""
    share = state.now.get("out_share")
    return np.asarray(_ready_share(month, state) - _contracted_share(state)) if share is None else share


def _let_again(state: State) -> FloatArray | float:
    used = state.now.get("relet_utilisation")
    return 0.0 if used is None else used
