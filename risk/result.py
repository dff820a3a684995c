"""What a run leaves behind: columns by draw, sums, and the few arrays by draw and month whose quantiles are printed.

A result stays small, because it travels between processes: most figures of a month are kept as sums over the draws with
sums of squares for their standard errors, and causes as codes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from risk.core.protocol import CAUSES as CONTRACT_CAUSES
from risk.core.protocol import State

FloatArray = NDArray[np.float64]

ENDINGS = CONTRACT_CAUSES[1:]
"""Causes of the first contract ending."""
DEFAULT_CAUSES = (*ENDINGS, "repricing", "late_delivery", "credits_and_market")
"""Causes of a default, as the loan's default writes them."""
CAUSES = ("", *DEFAULT_CAUSES)
"""Names of the codes in the columns `first_cause_code` and `default_cause_code`; 0 is no cause."""

MONTHLY = ("cfads", "look_back_cover", "gpu_value_total", "gpu_floor_value_total")
"""Kept for every draw and month. [currency], [1]"""
SHARED = ("debt_service", "balance", "gpu_book_value_total")
"""Kept once for all draws as long as they agree, and for every draw from the moment they do not. [currency]"""
LEDGER = (
    "fees",
    "credits",
    "damages",
    "damages_recovered",
    "relet_income",
    "insurance_recovery",
    "insurance_premium",
    "cover_paid",
    "cover_left",
    "backstop_fee",
    "operating_costs",
    "tax",
    "interest",
    "principal",
    "unpaid",
    "reserve",
    "trapped",
    "distribution",
    "spot_rent",
)
"""Kept month by month up to `LEDGER_LIMIT` draws, the base case above all. [currency], [currency/GPU-hour]"""
LEDGER_LIMIT = 64
"""Draws up to which the whole ledger is kept by month."""
TOTALS = (
    "fees",
    "credits",
    "damages",
    "damages_recovered",
    "relet_income",
    "insurance_recovery",
    "insurance_premium",
    "cover_paid",
    "cover_not_started",
    "cover_provider_failed",
    "cover_beyond_limit",
    "cover_market_revenue",
    "backstop_fee",
    "backstop_revenue_share",
)
"""Added up over the months of each draw. [currency]"""
TOTALS_OF_EACH = ("credit:", "insurance_recovery:")
"""Beginnings of names added up in the same way. [currency]"""
LIVING = ("credits", "damages", "damages_recovered", "relet_income", "insurance_recovery")
"""Added up too while the loan lives, the month of its default included. [currency]"""
SUMS = ("cover_paid", "cover_left", "relet_income", "insurance_recovery", "distribution")
"""Added up over the draws of each month. [currency]"""
BAD_MONTHS = ("bad_month:",)
"""Beginnings of names whose months are counted for each draw, to the horizon and while the loan lives. [1]"""
GREATEST = ("credits", "cover_paid")
"""Greatest month of each draw. [currency]"""
GREATEST_OF_EACH = ("insured_this_year:",)
"""Beginnings of names whose greatest month is kept in the same way. [currency]"""
COLUMNS = (
    "default_month",
    "exposure",
    "recovery",
    "recovery_sale",
    "loss_cover",
    "loss",
    "loss_sale_only",
    "reserve",
    "trapped",
    "cover_left",
    "losses_carried",
    "repriced",
    "customer_default_month",
    "cover_provider_default_time",
)
"""Taken at the end of the last month."""
COLUMNS_OF_EACH = ("breach_month:",)
"""Beginnings of names taken in the same way."""


class Columns(dict[str, NDArray[Any]]):
    """Arrays by draw. A cause is kept as a code and read as its name: `columns["first_cause"]`."""

    def __missing__(self, name: str) -> NDArray[Any]:
        """Return the names of a cause whose codes are kept."""
        if not name.endswith("_cause"):
            raise KeyError(name)
        names: NDArray[np.str_] = np.array(CAUSES)[self[f"{name}_code"]]
        return names


@dataclass(slots=True)
class Result:
    """Outcome of a run; the first axis of an array is the draw unless it says otherwise."""

    draws: int
    months: int
    monthly: dict[str, FloatArray] = field(default_factory=dict)
    """Shape (draws, months)."""
    shared: dict[str, FloatArray] = field(default_factory=dict)
    """The same in all draws, shape (months,); a name is here or in `monthly`."""
    total: dict[str, FloatArray] = field(default_factory=dict)
    """Sums over the months, shape (draws,). [currency]"""
    living: dict[str, FloatArray] = field(default_factory=dict)
    """Sums of `LIVING` and of bad months up to the month of the loan's default, included, shape (draws,). [currency]"""
    worst: dict[str, FloatArray] = field(default_factory=dict)
    """Greatest month, shape (draws,). [currency]"""
    sums: dict[str, FloatArray] = field(default_factory=dict)
    """Sum over the draws and sum of squares of each month, shape (2, months). [currency, currency^2]"""
    column: Columns = field(default_factory=Columns)
    """One value of each draw: default month, cause, exposure, loss ..."""

    @classmethod
    def empty(cls, draws: int, months: int) -> Result:
        """Return a result with nothing observed yet."""
        return cls(draws, months)

    def finish(self, state: State) -> None:
        """Take what the state holds at the end of the last month.

        Raises
        ------
        ValueError
            When a contract or a loan ended by a cause that is not in `CAUSES`.
        """
        for name in (*COLUMNS, *_beginning_with(COLUMNS_OF_EACH, state.now)):
            if name in state.now:
                self.column[name] = np.broadcast_to(state.now[name], (self.draws,))
        self.column["first_cause_code"] = _codes(state.first_cause)
        if "default_cause" in state.now:
            self.column["default_cause_code"] = _codes(state.now["default_cause"])
        self.column["first_month"] = state.first_month
        self.column["ready"] = state.path["ready"]

    def by_month(self, name: str) -> FloatArray | None:
        """Return an array of `monthly` or `shared` by draw and month, None where it was not observed."""
        if name in self.monthly:
            return self.monthly[name]
        same = self.shared.get(name)
        return None if same is None else np.broadcast_to(same, (self.draws, self.months))

    def mean_of_month(self, name: str) -> tuple[FloatArray, FloatArray] | None:
        """Return the mean over the draws of each month and its standard error, shapes (months,). [currency]"""
        if name not in self.sums:
            return None
        total, squares = self.sums[name]
        mean = total / self.draws
        variance = np.maximum(squares - total * mean, 0.0) / max(self.draws - 1, 1)
        return mean, np.sqrt(variance / self.draws)

    @classmethod
    def join(cls, parts: Sequence[Result]) -> Result:
        """Return the draws of all parts, in their order."""
        first = parts[0]
        joined = cls(sum(part.draws for part in parts), first.months)
        for name in first.shared:
            if all(name in part.shared and np.array_equal(part.shared[name], first.shared[name]) for part in parts):
                joined.shared[name] = first.shared[name]
        for name in (*first.monthly, *first.shared):
            if name not in joined.shared:
                joined.monthly[name] = np.concatenate([_whole(part, name) for part in parts])
        for kind in ("total", "living", "worst"):
            names = dict.fromkeys(name for part in parts for name in getattr(part, kind))
            setattr(joined, kind, {name: _joined([(p, getattr(p, kind).get(name)) for p in parts]) for name in names})
        for name in dict.fromkeys(name for part in parts for name in part.sums):
            whole = np.zeros((2, first.months))
            for part in parts:
                whole += part.sums.get(name, 0.0)
            joined.sums[name] = whole
        joined.column = Columns({name: np.concatenate([p.column[name] for p in parts]) for name in first.column})
        return joined


def observe(result: Result, month: int, state: State) -> None:
    """Take the figures of one month out of the state.

    Arrays that are added up must be written anew in every month.
    """
    seen = _figures(month, state)
    of_each = [name for name in seen if ":" in name]
    for name in MONTHLY:
        if name in seen:
            _keep(result, name, month, seen[name])
    for name in SHARED:
        if name in seen:
            _keep_once(result, name, month, seen[name])
    if result.draws <= LEDGER_LIMIT:
        for name in LEDGER:
            if name in seen:
                _keep(result, name, month, seen[name])
    dead = _dead(month, state)
    for name in (*TOTALS, *_beginning_with(TOTALS_OF_EACH, of_each)):
        if name in seen:
            _add(result.total, name, seen[name], result.draws)
    for name in LIVING:
        if name in seen:
            _add_living(result, name, seen[name], dead)
    for name in (*GREATEST, *_beginning_with(GREATEST_OF_EACH, of_each)):
        if name in seen:
            worst = result.worst.get(name)
            result.worst[name] = np.maximum(np.zeros(result.draws) if worst is None else worst, seen[name])
    for name in SUMS:
        if name in seen:
            value = np.broadcast_to(seen[name], (result.draws,))
            whole = value.sum()
            if np.isfinite(whole):  # what is left of a cover without limit has no mean
                result.sums.setdefault(name, np.zeros((2, result.months)))[:, month - 1] = whole, value @ value
    _bad_months_and_rights(result, state, _beginning_with(BAD_MONTHS, of_each), dead)
    _claims(result, month, state, dead)


def _figures(month: int, state: State) -> dict[str, NDArray[Any]]:
    """Return the state's arrays of this month, with totals of tranches and the rent of the market."""
    seen = dict(state.now)
    tranches = np.ones(state.under_contract.shape[1])
    for name in ("gpu_value", "gpu_floor_value", "gpu_book_value"):
        if name in seen:
            seen[f"{name}_total"] = seen[name] @ tranches
    if "spot_rent" in state.path:
        seen["spot_rent"] = state.path["spot_rent"][:, month - 1]
    return seen


def _dead(month: int, state: State) -> NDArray[np.int64]:
    """Return the draws whose loan has defaulted before a month."""
    defaulted = state.now.get("default_month")
    if defaulted is None:
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero((defaulted > 0) & (defaulted < month))


def _keep(result: Result, name: str, month: int, value: NDArray[Any]) -> None:
    series = result.monthly.get(name)
    if series is None:
        series = result.monthly[name] = _by_draw_and_month(result.draws, result.months)
    series[:, month - 1] = value


def _by_draw_and_month(draws: int, months: int) -> FloatArray:
    """Return an empty array, shape (draws, months), in which the draws of a month lie side by side."""
    return np.full((months, draws), np.nan).T


def _keep_once(result: Result, name: str, month: int, value: NDArray[Any]) -> None:
    """Keep a figure once for all draws; when they differ for the first time, for every draw."""
    if name not in result.monthly:
        first = value if np.ndim(value) == 0 else value[0]
        if np.all(value == first):
            result.shared.setdefault(name, np.full(result.months, np.nan))[month - 1] = first
            return
        result.monthly[name] = _by_draw_and_month(result.draws, result.months)
        result.monthly[name][:] = result.shared.pop(name, np.full(result.months, np.nan))
    result.monthly[name][:, month - 1] = value


def _add(totals: dict[str, FloatArray], name: str, value: NDArray[Any], draws: int) -> None:
    if name in totals:
        totals[name] += value
    else:
        totals[name] = np.zeros(draws) + value


def _add_living(result: Result, name: str, value: NDArray[Any], dead: NDArray[np.int64]) -> None:
    """Add a month to the sums while the loan lives."""
    if len(dead):
        value = np.array(np.broadcast_to(value, (result.draws,)))
        value[dead] = 0
    _add(result.living, name, value, result.draws)


def _bad_months_and_rights(result: Result, state: State, limbs: list[str], dead: NDArray[np.int64]) -> None:
    """Count bad months of each limb, and keep whether each right ever arose."""
    for name in limbs:
        bad = _any_tranche(state.now[name])
        _add(result.total, name, bad, result.draws)
        _add_living(result, name, bad, dead)
    for name, right in state.rights.items():
        arose = result.column.setdefault(f"arose:{name}", np.zeros(result.draws, dtype=np.bool_))
        if right.any():
            arose |= _any_tranche(right)


def _any_tranche(marks: NDArray[Any]) -> NDArray[np.bool_]:
    """Return whether any tranche is marked, shape (draws,)."""
    if not marks.any():
        return np.zeros(len(marks), dtype=np.bool_)
    return np.asarray(marks.any(axis=1))


def _claims(result: Result, month: int, state: State, dead: NDArray[np.int64]) -> None:
    """Keep the month of each draw's first claim under the cover, 0 while none, and whether its provider had failed.

    A claim is a month in which the cover's formula gives a sum and the cover has started.
    """
    formula = state.now.get("cover_formula")
    if formula is None:
        return
    first_month = result.column.setdefault("first_claim_month", np.zeros(result.draws, dtype=np.int64))
    failed = result.column.setdefault("provider_failed_at_claim", np.zeros(result.draws, dtype=np.bool_))
    first = (formula > state.now["cover_not_started"]) & (first_month == 0)
    first[dead] = False
    if not first.any():
        return
    first_month[first] = month
    alive = state.now.get("provider_alive")
    if alive is not None:
        failed[first] = ~alive[first]


def _codes(causes: NDArray[Any]) -> NDArray[np.int8]:
    """Return the position of each cause in `CAUSES`."""
    codes = np.zeros(len(causes), dtype=np.int8)
    known = causes == ""
    for code, name in enumerate(CAUSES[1:], start=1):
        here = causes == name
        codes[here] = code
        known |= here
    if not known.all():
        raise ValueError(f"cause {str(causes[~known][0])!r} is not one of {', '.join(CAUSES[1:])}")
    return codes


def _beginning_with(starts: tuple[str, ...], names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(starts)]


def _whole(part: Result, name: str) -> FloatArray:
    """Return an array of a part by draw and month."""
    found = part.by_month(name)
    assert found is not None
    return found


def _joined(values: Iterable[tuple[Result, FloatArray | None]]) -> FloatArray:
    """Return one sum of every part, 0 where a part never saw it."""
    return np.concatenate([np.zeros(part.draws) if value is None else value for part, value in values])
