"""One event, several levels and heads: which credits are paid and which are not."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from risk.core.computed import Computed, Step
from schemas.money import Money

PARAGRAPH = "stacking.between-levels"
HEADS_PARAGRAPH = "stacking.between-heads"

Rule = Literal["highest_level", "cumulative"]
ALL_LEVELS = -1
"""Mark of a choice that pays all levels."""
_TERM = "credits.between_levels"


def exact(sums: Mapping[str, Money], rule: Rule, named: str | None = None) -> Computed[frozenset[str]]:
    """Return the service levels of one service that are paid for one month.

    Parameters
    ----------
    sums : credits of each level, in the order of the table of service levels; of equal sums the first is paid.
    named : the level that the customer has chosen, where it may choose.
    """
    if named is not None:
        chosen = frozenset({named})
        words = "only the service level that the customer's claim names is paid"
    elif rule == "cumulative" or len(sums) < 2:
        chosen = frozenset(sums)
        words = "the credits of all service levels are paid"
    else:
        chosen = frozenset({_greatest(sums)})
        words = "only the service level with the greatest sum is paid; of equal sums the first in the table"
    step = Step(PARAGRAPH, words, tuple(sorted(chosen)), dict(sums), _TERM)
    return Computed(chosen, (step,))


def between_heads(sums: Mapping[str, Money], rule: Literal["cumulative", "highest"]) -> Computed[frozenset[str]]:
    """Return the heads of one service that are paid for one month: availability, late replacement, late response.

    Parameters
    ----------
    sums : credits of each head that are left after the choice between levels; of equal sums the first is paid.
    """
    if rule == "cumulative":
        chosen = frozenset(sums)
        words = "credits for availability, late replacement and late response are paid beside each other"
    else:
        chosen = frozenset({_greatest(sums)})
        words = "only the credits of the head with the greatest sum are paid"
    step = Step(HEADS_PARAGRAPH, words, tuple(sorted(chosen)), dict(sums), "credits.between_heads")
    return Computed(chosen, (step,))


def absorbed(credited: Collection[str], within: Mapping[str, frozenset[str]]) -> Computed[frozenset[str]]:
    """Return the units that are not paid because a unit that contains them is credited itself.

    Parameters
    ----------
    credited : units of one service with a credit in one month.
    within : each of these units to those that contain it, at any depth, without itself.
    """
    found = frozenset(unit for unit in credited if within[unit] & set(credited))
    words = "units inside a unit that is credited itself are not paid; all others are"
    facts = {"credited": tuple(sorted(credited))}
    return Computed(found, (Step(PARAGRAPH, words, tuple(sorted(found)), facts, _TERM),))


def _greatest(sums: Mapping[str, Money]) -> str:
    """Return the name of the greatest sum, of equal ones the first."""
    best = next(iter(sums))
    for name, amount in sums.items():
        if sums[best] < amount:
            best = name
    return best


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


def absorbed_arrays(amounts: Mapping[str, NDArray[np.float64]], rank: Mapping[str, int]) -> NDArray[np.float64]:
    """Return what is paid where a credited unit takes the place of the units inside it, shape (draws, tranches).

    Parameters
    ----------
    amounts : credits of each level, each of shape (draws, tranches). [currency]
    rank : level to its place from the inside out; a unit of a greater rank contains those of smaller ones.
    """
    if not amounts:
        raise ValueError("stacking needs the amounts of at least one level")
    paid = np.zeros_like(next(iter(amounts.values())))
    for name, amount in amounts.items():
        kept = amount
        for other, its_amount in amounts.items():
            if rank[other] > rank[name]:
                kept = np.where(its_amount > 0, 0.0, kept)
        paid = paid + kept
    return paid
