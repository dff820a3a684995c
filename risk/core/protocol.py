"""How a risk takes part in the joint simulation: sampled paths, and steps keyed by phases of a month.

A draw is one future of the deal. The engine runs the steps of all risks month by month over one block of draws, in
the order of `Phase`. Within a phase a step posts cash, raises rights or writes its own arrays, and never reads another
risk's write of that phase, so the order in which risks are found changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum, auto
from typing import Any, Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Paths = dict[str, NDArray[Any]]
"""Arrays by name; the first axis is the draw unless the name says otherwise."""
CAUSES = ("", "long_stop", "chronic_failure", "convenience", "customer_default")
"""Causes for which a contract ends before its term, the first standing for none; a code is a position here."""


class Phase(IntEnum):
    """Parts of one month, in the order they happen."""

    MARKET = auto()
    COUNTERPARTY = auto()
    DELIVERY = auto()
    FEES = auto()
    OUTAGE = auto()
    NODES = auto()
    SERVICE = auto()
    SET_OFF = auto()
    RELETTING = auto()
    COSTS = auto()
    BACKSTOP = auto()
    CFADS = auto()
    WATERFALL = auto()
    DEFAULT = auto()
    LOSS_COVER = auto()
    LOSS = auto()
    RIGHTS = auto()
    EXERCISE = auto()


@dataclass(frozen=True, slots=True)
class Line:
    """One signed cash line of a month. [currency], positive = cash in, shape (draws,)"""

    amount: NDArray[np.float64]
    taxable: bool = True


@dataclass(slots=True)
class State:
    """One block of draws; the first axis of every array is the draw."""

    path: Paths
    """Sampled before the months run; read-only; each array has one writer."""
    under_contract: NDArray[np.bool_]
    """Shape (draws, tranches); changed by `end_contract` alone."""
    last_billed: NDArray[np.int64]
    """Last month whose fee is due, 0 while the contract runs, shape (draws, tranches). [month]"""
    first_cause: NDArray[np.str_]
    """Cause of the first contract ending, empty while none, shape (draws,)."""
    first_month: NDArray[np.int64]
    """Month of the first contract ending, 0 while none, shape (draws,). [month]"""
    now: Paths = field(default_factory=dict)
    """Carried from month to month; only the risk that made an array writes it."""
    cash: dict[str, Line] = field(default_factory=dict)
    """Lines posted this month; cash flow available for debt service is their sum."""
    rights: Paths = field(default_factory=dict)
    """Rights raised this month, shape (draws, tranches); exercised in EXERCISE."""
    ended_by: NDArray[np.int8] = field(init=False)
    """Code of the cause, by `CAUSES`, for which each tranche's contract ended, shape (draws, tranches)."""

    def __post_init__(self) -> None:
        """Start with no contract ended."""
        self.ended_by = np.zeros(self.under_contract.shape, dtype=np.int8)

    @property
    def draws(self) -> int:
        """Return how many draws the block holds."""
        return len(self.first_cause)

    def end_contract(self, ends: NDArray[np.bool_], cause: str, month: int, last_billed: int) -> None:
        """End the contract of the tranches marked in `ends`, shape (draws, tranches), in `month`.

        Raises
        ------
        ValueError
            When `cause` is not in `CAUSES`.
        """
        if cause not in CAUSES[1:]:
            raise ValueError(f"cause {cause!r} is not one of {', '.join(CAUSES[1:])}")
        ends = ends & self.under_contract
        rows = np.flatnonzero(ends.any(axis=1))
        if not len(rows):
            return
        self.ended_by[ends] = CAUSES.index(cause)
        first = rows[self.first_month[rows] == 0]
        self.first_cause[first] = cause
        self.first_month[first] = month
        self.last_billed[ends] = last_billed
        self.under_contract &= ~ends

    def post(self, name: str, amount: NDArray[np.float64], *, taxable: bool = True) -> None:
        """Post one signed line of this month's cash; a name is posted once a month."""
        if name in self.cash:
            raise ValueError(f"cash line {name!r} is posted twice in one month")
        self.cash[name] = Line(amount, taxable)


StepFunction = Callable[[int, State], None]
"""(month 1..M, state); writes into the state."""


class Risk(Protocol):
    """One thing that may happen."""

    streams: tuple[str, ...]
    """Names of its random streams."""

    def sample(self, rng: Mapping[str, Generator], draws: int) -> Paths:
        """Return sampled paths; a fixed count of numbers is drawn from each stream, needed or not."""
        ...

    def base(self) -> Paths:
        """Return the same arrays for one draw in which this risk does nothing."""
        ...

    def steps(self) -> Mapping[Phase, StepFunction]:
        """Return its steps by phase."""
        ...

    def ignores(self) -> tuple[str, ...]:
        """Return what its model leaves out, in words, to be printed with the result."""
        ...
