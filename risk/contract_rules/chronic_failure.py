"""Bad months: when k months of any m with availability below a threshold become a right to leave."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from risk.core.computed import Computed, Step
from schemas.cancellation import BadMonths
from schemas.periods import Period

PARAGRAPH = "chronic-failure.bad-months"


def exact(
    history: Sequence[tuple[Period, Fraction | None]], limb: BadMonths, path: str
) -> Computed[tuple[Period, ...]]:
    """Return the bad months relied on if the right arises at the end of the last month, nothing otherwise.

    Parameters
    ----------
    history : months with the measured availability of the unit, oldest first; a month in which it was not measured
        is not bad.
    limb : the terms.
    path : path of the limb.

    Notes
    -----
    The right arises only at the end of a month that is itself bad.
    """
    window = history[-limb.m :]
    bad = tuple(month for month, value in window if value is not None and value < Fraction(limb.below))
    arises = bool(bad) and bad[-1] == history[-1][0] and len(bad) >= limb.k
    rule = (
        f"{limb.k} months of any {limb.m} with availability below {limb.below}, the last of them bad itself; "
        "the right arises when that month ends"
    )
    facts = {"months": tuple(month for month, _ in window), "bad": bad}
    return Computed(bad if arises else (), (Step(PARAGRAPH, rule, arises, facts, path),))


def arrays(bad_window: NDArray[np.bool_], k: int) -> NDArray[np.bool_]:
    """Return whether the right arises at the end of the newest month, shape (draws, tranches).

    Parameters
    ----------
    bad_window : whether each of the last m months was bad, oldest first, shape (draws, tranches, m).
    k : bad months needed. [1]
    """
    bad = np.asarray(bad_window, dtype=bool)
    return np.asarray(bad[..., -1] & (bad.sum(axis=-1) >= k))
