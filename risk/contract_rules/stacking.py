"""One event, several levels: the level that pays most, or all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from risk.core.computed import Computed, Step
from schemas.money import Money

PARAGRAPH = "stacking.between-levels"

Rule = Literal["highest_level", "cumulative"]
ALL_LEVELS = -1
"""Mark of a choice that pays all levels."""


def exact(sums: Mapping[str, Money], rule: Rule) -> Computed[frozenset[str]]:
    """Return the service levels of one service that are paid for one month.

    Parameters
    ----------
    sums : credits of each level, in the order of the table of service levels; of equal sums the first is paid.
    """
    if rule == "cumulative" or len(sums) < 2:
        chosen = frozenset(sums)
        words = "the credits of all service levels are paid"
    else:
        best = next(iter(sums))
        for level, amount in sums.items():
            if sums[best] < amount:
                best = level
        chosen = frozenset({best})
        words = "only the service level with the greatest sum is paid; of equal sums the first in the table"
    step = Step(PARAGRAPH, words, tuple(sorted(chosen)), dict(sums), "credits.between_levels")
    return Computed(chosen, (step,))


def arrays(amounts: Mapping[str, NDArray[np.float64]], rule: Rule) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return what is paid and which level pays it.

    Parameters
    ----------
    amounts : credits of each level in the order of the table of service levels, each of shape (draws, tranches), or
        any other that all share. [currency]
    rule : as in the terms.

    Returns
    -------
    Amounts of that shape, and the position of the level in `amounts`, `ALL_LEVELS` where all are paid.
    """
    if not amounts:
        raise ValueError("stacking needs the amounts of at least one level")
    stacked = np.stack(list(amounts.values()))
    if rule == "cumulative":
        return stacked.sum(axis=0), np.full(stacked.shape[1:], ALL_LEVELS, dtype=np.int64)
    chosen = stacked.argmax(axis=0)
    return stacked.max(axis=0), chosen.astype(np.int64)
