"""Whether a service level is measured in a month: from the readiness of each tranche, or once all are ready."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from risk.contract_rules.intervals import Span
from risk.contract_rules.records import Unit
from risk.core.computed import Computed, Step
from schemas.service_levels import ServiceLevel

PARAGRAPH = "measurement-period.all-ready"


def exact(units: Iterable[Unit], month: Span, level: ServiceLevel, level_id: str) -> Computed[bool]:
    """Return whether a level is measured in `month`.

    Parameters
    ----------
    units : all units of the service on record; one whose service has ended is out of it.
    month : start and end of the month.

    Notes
    -----
    A tranche is ready when its last unit is in service, so that all are ready when no unit is still to start.
    """
    if level.measured_from == "each_tranche":  # each tranche is measured from its own readiness: nothing to wait for
        return Computed(True, ())
    late: dict[str, datetime] = {}
    for unit in units:
        served = unit.in_service
        if served[-1][1] > month[0] and served[0][0] > month[0]:
            late[unit.id] = served[0][0]
    facts, path = {"month": month, "not_ready": late}, f"service_levels.{level_id}.measured_from"
    rule = "a month is measured only if every tranche of the service that has not ended was ready before it began"
    return Computed(not late, (Step(PARAGRAPH, rule, not late, facts, path),))


def arrays(ready: NDArray[np.float64], is_bound: NDArray[np.bool_], month: int) -> NDArray[np.bool_]:
    """Return whether a level that waits for all tranches is measured in month `month`, shape (draws,).

    Parameters
    ----------
    ready : when each tranche is ready, shape (draws, tranches). [month after close]
    is_bound : whether each tranche belongs to the level's service and is under contract as the month begins, same
        shape.
    month : month counted from close, from 1.
    """
    return np.asarray(~(is_bound & (ready > month - 1)).any(axis=-1))
