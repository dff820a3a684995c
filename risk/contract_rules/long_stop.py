"""When late means over: the customer may leave a tranche that is not ready by its Long-Stop Date."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime

import numpy as np
from numpy.typing import NDArray

from risk.contract_rules import exercise_window
from risk.contract_rules.deadlines import day_after, midnight
from risk.core.computed import Computed, Step
from schemas.delivery import LongStop
from schemas.periods import Duration

PARAGRAPH = "long-stop.right"
EXERCISE_PARAGRAPH = "long-stop.exercise"
SCOPE_PARAGRAPH = "long-stop.scope"

_TOLERANCE_MONTHS = 1e-9
"""Dates in months are sums of decimals; this is far less than a second. [month]"""


@dataclass(frozen=True, slots=True)
class LongStopRight:
    """A right to leave because a tranche is late."""

    long_stop_date: date
    arises: datetime
    exercise_by: datetime
    """The right has lapsed at this moment, or at readiness if that comes first."""
    reaches_order: bool
    """Whether it reaches the whole order, not the tranche alone."""


def exact(
    planned: date, ready: date | None, terms: LongStop, zone: str, path: str, *, is_first_tranche: bool
) -> Computed[LongStopRight | None]:
    """Return the right of one tranche, None when it is ready by its Long-Stop Date.

    Parameters
    ----------
    planned : the Ready-for-Service Date, extensions included.
    ready : the day of readiness, None while it is not ready.
    zone : the contract's zone.
    path : path of the terms, for example `delivery.tranches.a.long_stop`.
    is_first_tranche : whether the tranche has the earliest date of the order.
    """
    last = day_after(planned, terms.after, f"{path}.after")
    late = ready is None or ready > last
    rule = f"the customer may leave when the tranche is not ready {terms.after} after its date"
    facts = {"date": planned, "ready": ready, "long_stop_date": last}
    steps = [Step(PARAGRAPH, rule, late, facts, f"{path}.after")]
    if not late:
        return Computed(None, tuple(steps))
    arises = midnight(day_after(last, Duration(days=1), path), zone)
    window = exercise_window.exact(arises, last, terms.exercise, 0, zone, paragraph=EXERCISE_PARAGRAPH, term=path)
    reaches = terms.scope == "order" or (terms.scope == "order_if_first" and is_first_tranche)
    rule = "the right reaches the whole order" if reaches else "the right reaches this tranche alone"
    scope = Step(SCOPE_PARAGRAPH, rule, reaches, {"first_tranche": is_first_tranche}, f"{path}.scope")
    right = LongStopRight(last, arises, window.value.closes, reaches)
    return Computed(right, (*steps, *window.steps, scope))


def arrays(
    ready: NDArray[np.float64],
    planned: NDArray[np.float64],
    month: int,
    terms: LongStop,
    length: Callable[[Duration], float],
) -> NDArray[np.bool_]:
    """Return whether the right can be exercised at the end of engine month `month`, shape (draws, tranches).

    Parameters
    ----------
    ready : when each tranche is ready, shape (draws, tranches). [month]
    planned : its Ready-for-Service Date, shape (tranches,). [month]
    month : the month that ends. [month]
    terms : the terms of the tranches.
    length : duration to months.

    Notes
    -----
    The right is first looked at when the month ends in which it arises, then at each month end within the exercise
    window, as long as the tranche is not ready.
    """
    limit = np.asarray(planned, dtype=float) + length(terms.after)
    first = np.ceil(limit - _TOLERANCE_MONTHS)
    is_open = (month == first) | ((month > first) & (month <= limit + length(terms.exercise) + _TOLERANCE_MONTHS))
    late = np.asarray(ready) > np.maximum(limit, month)
    return np.asarray(is_open & late)
