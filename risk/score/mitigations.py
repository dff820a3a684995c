"""What a change is worth to the lender: the same futures with it and without it.

Both runs have the same random streams, so that most of their sampling error is the same and goes in the difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from risk.core.parameters import with_values
from risk.core.protocol import Paths
from risk.core.rng import BLOCK
from risk.core.statistics import mean
from risk.engine import Model, first_draws
from risk.finance.waterfall import Finances
from risk.result import Result
from schemas.deal import Deal

FloatArray = NDArray[np.float64]
ChangeOfPaths = Callable[[Model, Paths], Paths]
"""Sampled paths of one block to those that are run."""
Job = TypeVar("Job")
Done = TypeVar("Done")

BASIS_POINTS = 10_000
NO_LOAN = "finance.loan is not given"
NO_RECOVERY = "finance.recovery is not given"
GROUPS = {
    "delay": "late_delivery",
    "availability": "outages_of_sites",
    "cluster": "failures_of_nodes",
    "market": "market",
    "counterparty": "counterparty_default",
    "cancellation": "exits",
}
"""Risk to its name in a removal attribution; one that is not named here keeps its own."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of the loan in each draw."""

    defaulted: NDArray[np.bool_]
    """Shape (draws,)."""
    exposure: FloatArray
    """What was owed at default, 0 without one, shape (draws,). [currency]"""
    loss: FloatArray | None
    """Loss at the month of default, shape (draws,); None where the deal says nothing of recovery. [currency]"""
    commitment: float
    """[currency]"""
    dollar_years: float | None
    """Scheduled balance added up over the loan's life; None where the simulation ends before it. [currency-year]"""

    @property
    def draws(self) -> int:
        """Return how many draws there are."""
        return len(self.defaulted)

    @property
    def loss_bp(self) -> FloatArray | None:
        """Return the loss of each draw, shape (draws,). [bp of the commitment]"""
        return None if self.loss is None else self.loss / self.commitment * BASIS_POINTS

    @property
    def el_bp(self) -> float | None:
        """Return the expected loss. [bp of the commitment]"""
        return None if self.loss_bp is None else float(self.loss_bp.mean())

    @property
    def el_bp_per_year(self) -> float | None:
        """Return the expected loss for each year and unit of scheduled balance. [bp/year]"""
        if self.loss is None or self.dollar_years is None:
            return None
        return float(self.loss.mean()) / self.dollar_years * BASIS_POINTS


def has_loan(model: Model) -> bool:
    """Tell whether the deal has a loan that may default."""
    finances = model.risks.get("finance")
    return isinstance(finances, Finances) and finances.plan is not None


def outcome(model: Model, result: Result, least_loss: float = 0.0) -> Outcome | None:
    """Return the outcome of a run, None where the deal has no loan.

    Parameters
    ----------
    least_loss : share of the exposure that a default loses at least, where a grade counts it so. [1]
    """
    finances = model.risks.get("finance")
    plan = finances.plan if isinstance(finances, Finances) else None
    if not isinstance(finances, Finances) or plan is None:
        return None
    exposure = result.column["exposure"].astype(np.float64)
    loss = None
    if finances.recovery is not None:
        loss = np.maximum(result.column["loss"].astype(np.float64), least_loss * exposure)
    return Outcome(
        defaulted=result.column["default_month"] > 0,
        exposure=exposure,
        loss=loss,
        commitment=plan.commitment,
        dollar_years=plan.dollar_years if result.months >= plan.last_payment_month else None,
    )


def simulate(model: Model, draws: int, seed: int, change: ChangeOfPaths | None = None) -> Result:
    """Return the first `draws` futures of a score of the same seed, with their paths changed where asked."""
    parts = []
    for block, start in enumerate(range(0, draws, BLOCK)):
        count = min(BLOCK, draws - start)
        paths = first_draws(model.sample(seed, block), count)
        parts.append(model.run(change(model, paths) if change else paths, count))
    return Result.join(parts)


def simulate_short(model: Model, draws: int, seed: int) -> Result:
    """Return futures of a block no longer than asked: fewer to draw, the same in every run, not those of a score."""
    return simulate(model, draws, seed) if draws > BLOCK else model.run(model.sample(seed, 0, draws), draws)


def paired(model_a: Model, model_b: Model, draws: int, seed: int) -> dict[str, Any]:
    """Return how default and loss of model B differ from those of model A on the same draws.

    Returns
    -------
    dict
        As `difference`.
    """
    return difference(
        outcome(model_a, simulate(model_a, draws, seed)), outcome(model_b, simulate(model_b, draws, seed))
    )


def difference(before: Outcome | None, after: Outcome | None) -> dict[str, Any]:
    """Return default and loss after a change and what the change made of them, on the same draws.

    Returns
    -------
    dict
        `pd_term` [1] and `el_bp` [bp of the commitment] after it; `d_pd`, `d_el_bp` and `d_expected_loss` [currency],
        after less before, each with its paired `_standard_error`; `el_bp_per_year` [bp/year] and its change
        `d_el_bp_per_year`. What is undefined is None, with `<name>_reason`.

    Notes
    -----
    The standard error is that of the mean of the differences draw by draw.
    """
    if before is None or after is None:
        return _undefined(("pd_term", "d_pd", *_LOSS), NO_LOAN)
    out: dict[str, Any] = {"pd_term": float(after.defaulted.mean())}
    out["d_pd"], out["d_pd_standard_error"] = mean(after.defaulted.astype(float) - before.defaulted)
    if before.loss_bp is None or after.loss_bp is None or before.loss is None or after.loss is None:
        return out | _undefined(_LOSS, NO_RECOVERY)
    out["el_bp"] = after.el_bp
    out["d_el_bp"], out["d_el_bp_standard_error"] = mean(after.loss_bp - before.loss_bp)
    out["d_expected_loss"], out["d_expected_loss_standard_error"] = mean(after.loss - before.loss)
    if before.el_bp_per_year is None or after.el_bp_per_year is None:
        reason = "the simulated months end before the loan"
        return out | _undefined(("el_bp_per_year", "d_el_bp_per_year"), reason)
    out["el_bp_per_year"] = after.el_bp_per_year
    out["d_el_bp_per_year"] = after.el_bp_per_year - before.el_bp_per_year
    return out


_LOSS = ("el_bp", "d_el_bp", "d_expected_loss", "el_bp_per_year", "d_el_bp_per_year")


def _undefined(names: Sequence[str], reason: str) -> dict[str, Any]:
    return {key: value for name in names for key, value in ((name, None), (f"{name}_reason", reason))}


def backstop_value(deal: Deal, draws: int, seed: int) -> dict[str, Any]:
    """Return what the backstop is worth to the lender on the same draws.

    Returns
    -------
    dict
        `el_without_bp`; `value_to_lender_bp`, expected loss without the backstop less that with it and its fee (net);
        `value_before_fee_bp`, the same if the fee and the share of revenue cost nothing (gross); `value_to_lender`, the
        net value [currency]; `d_pd`, the fall of the probability of default; each with its paired standard error. None
        with `value_to_lender_bp_reason` where the deal has no backstop or no loss is defined.
    """
    deal = at_close(deal)
    if deal.backstop is None:
        return _undefined(("value_to_lender_bp",), "the deal has no backstop")
    free = {f"backstop.{name}": 0 for name in ("fee_rate", "revenue_share", "revenue_share_above")}

    def of(changed: Deal) -> Outcome | None:
        model = Model.of(changed)
        return outcome(model, simulate(model, draws, seed))

    kept, costless, without = of(deal), of(with_values(deal, free)), of(with_values(deal, {"backstop": None}))
    if kept is None or kept.loss is None:
        return _undefined(("value_to_lender_bp",), NO_LOAN if kept is None else NO_RECOVERY)
    net, gross = difference(kept, without), difference(costless, without)
    return {
        "el_without_bp": net["el_bp"],
        "value_to_lender_bp": net["d_el_bp"],
        "value_to_lender_bp_standard_error": net["d_el_bp_standard_error"],
        "value_before_fee_bp": gross["d_el_bp"],
        "value_before_fee_bp_standard_error": gross["d_el_bp_standard_error"],
        "value_to_lender": net["d_expected_loss"],
        "value_to_lender_standard_error": net["d_expected_loss_standard_error"],
        "d_pd": net["d_pd"],
        "d_pd_standard_error": net["d_pd_standard_error"],
    }


def removals(model: Model, draws: int, seed: int) -> dict[str, Any]:
    """Return the loss and default without each risk in turn, on the same draws.

    A risk is switched off by running its base path, in which it does nothing, in place of its sampled ones.

    Returns
    -------
    dict
        `risks`, by name, each as `difference`; `all`, the same with every risk off; `joint_effect_bp`, what the sum of
        the single effects leaves of the effect of all together, because removals do not add up. [bp of the commitment]
    """
    whole = outcome(model, simulate(model, draws, seed))
    base = model.base_paths()
    risks: dict[str, Any] = {}
    moved: set[str] = set()
    for name, one in model.risks.items():
        written = set(one.base())
        if not written:
            continue
        moved |= written
        off = outcome(model, simulate(model, draws, seed, _switched_off(base, written)))
        risks[GROUPS.get(name, name)] = difference(whole, off)
    out: dict[str, Any] = {"risks": risks}
    out["all"] = difference(whole, outcome(model, simulate(model, draws, seed, _switched_off(base, moved))))
    if out["all"]["d_el_bp"] is None:
        return out | _undefined(("joint_effect_bp",), out["all"]["d_el_bp_reason"])
    out["joint_effect_bp"] = out["all"]["d_el_bp"] - sum(one["d_el_bp"] for one in risks.values())
    return out


def _switched_off(base: Paths, names: Iterable[str]) -> ChangeOfPaths:
    """Return the change that puts the base path in the place of the named ones."""
    chosen = set(names)

    def change(model: Model, paths: Paths) -> Paths:
        return {name: spread(base[name], name, paths) if name in chosen else array for name, array in paths.items()}

    return change


def spread(one: NDArray[Any], name: str, paths: Paths) -> NDArray[Any]:
    """Return the path of one draw for all draws of `paths`; arrays of one row an outage stay as they are."""
    if name.startswith("outage_"):
        return one
    return np.repeat(one, draws_of(paths), axis=0)


def draws_of(paths: Paths) -> int:
    """Return how many draws the paths of a block hold."""
    return len(paths["ready"])


def at_close(deal: Deal) -> Deal:
    """Return the terms in force at close, which are those that are simulated."""
    return deal.at(deal.finance.close) if deal.finance is not None and deal.amendments else deal


def changed_model(deal: Deal, changes: Mapping[str, Any]) -> Model:
    """Return the model of the deal with other values at some paths.

    Raises
    ------
    DealError, MissingTermError, NotComputedError
        When those terms contradict each other or cannot be simulated.
    """
    return Model.of(with_values(deal, changes) if changes else deal)
