"""Named stresses: one thing goes wrong, and the deal is run beside itself as it is.

A stress changes terms, or sampled paths, or both. It is run on the base path, where nothing else happens, and, where
asked, on the same draws as the deal as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from risk.core.parameters import with_values
from risk.engine import Model
from risk.finance.ratios import dscr
from risk.finance.waterfall import Finances
from risk.result import Result
from risk.score.mitigations import (
    BASIS_POINTS,
    NO_LOAN,
    NO_RECOVERY,
    ChangeOfPaths,
    Outcome,
    at_close,
    difference,
    outcome,
    simulate,
)
from schemas.deal import Deal
from schemas.errors import SlakitError, TermsError, TermsErrors

UNPAID = 0.005
"""Debt service unpaid by more than this is unpaid. [currency]"""


@dataclass(frozen=True, slots=True)
class Stress:
    """One thing that goes wrong."""

    id: str
    name: str
    """What it is called in a table."""
    says: str = ""
    """What happens, in a sentence without its stop."""
    terms: Mapping[str, Any] = field(default_factory=dict)
    """Path of a term to its value under the stress."""
    on_base: Mapping[str, Any] = field(default_factory=dict)
    """More terms that hold on the base path alone."""
    paths: ChangeOfPaths | None = None
    """What happens to the sampled paths."""
    may_leave: bool = False
    """Whether the customer may use its rights on the base path, where it never leaves otherwise."""
    reason: str | None = None
    """Why the deal has nothing for it to work on."""


def run_stresses(
    deal: Deal, chosen: Sequence[Stress], draws: int = 0, seed: int = 20261130, least_loss: float = 0.0
) -> list[dict[str, Any]]:
    """Return the deal as it is and under each stress.

    Parameters
    ----------
    draws : futures simulated; 0 for the base path alone. [1]
    least_loss : share of the exposure that a default loses at least, where a grade counts it so. [1]

    Returns
    -------
    list of dict
        The first has id `as_is`. Each: `id`, `name`, `says`, `set` {path: value} of changed terms, `computed` (False
        with `reason`); `base_case`: `minimum_dscr` and its `minimum_dscr_month`, `first_unpaid_month`, `default_month`,
        `exposure`, `loss` [currency], `loss_bp`, `cover_paid` [currency], `contract_ends` {cause, month} or None, each
        None beside `<name>_reason` where undefined; `draws`, None where not asked: as `difference` of
        `risk.score.mitigations`, against the deal as it is on the same draws.

    Raises
    ------
    DealError, MissingTermError, NotComputedError
        When the deal as it is cannot be simulated.
    """
    deal = at_close(deal)
    model = Model.of(deal)
    before = outcome(model, simulate(model, draws, seed), least_loss) if draws else None
    whole = difference(before, before) if draws else None
    rows = [
        _row(
            Stress("as_is", "The deal as it is", "Nothing is late, down or ended early"),
            _of_base(model, model.base()),
            whole,
        )
    ]
    for stress in chosen:
        if stress.reason is not None:
            rows.append(_not_computed(stress, stress.reason))
            continue
        try:
            rows.append(_stressed(deal, stress, before, draws, seed, least_loss))
        except (SlakitError, TermsError, TermsErrors) as error:
            rows.append(_not_computed(stress, str(error).splitlines()[0]))
    return rows


def _stressed(
    deal: Deal, stress: Stress, before: Outcome | None, draws: int, seed: int, least_loss: float
) -> dict[str, Any]:
    """Return one stress on the base path and, where asked, on draws."""
    model = Model.of(with_values(deal, {**stress.terms, **stress.on_base}))
    paths = model.base_paths()
    if stress.may_leave:
        paths["may_leave"] = np.ones(1, dtype=bool)
    base = model.run(stress.paths(model, paths) if stress.paths else paths, 1)
    drawn = None
    if draws:
        model_of_draws = Model.of(with_values(deal, stress.terms)) if stress.on_base else model
        drawn = difference(
            before, outcome(model_of_draws, simulate(model_of_draws, draws, seed, stress.paths), least_loss)
        )
    return _row(stress, _of_base(model, base), drawn)


def _row(stress: Stress, base: dict[str, Any], drawn: dict[str, Any] | None) -> dict[str, Any]:
    return {
        "id": stress.id,
        "name": stress.name,
        "says": stress.says,
        "set": dict(stress.terms),
        "computed": True,
        "base_case": base,
        "draws": drawn,
        **({} if drawn is not None else {"draws_reason": "not asked"}),
    }


def _not_computed(stress: Stress, reason: str) -> dict[str, Any]:
    return {
        "id": stress.id,
        "name": stress.name,
        "says": stress.says,
        "set": dict(stress.terms),
        "computed": False,
        "reason": reason,
        "base_case": None,
        "draws": None,
    }


def _of_base(model: Model, base: Result) -> dict[str, Any]:
    """Return what the base path shows of the loan."""
    out: dict[str, Any] = {"contract_ends": None, "contract_ends_reason": "the contract runs on"}
    cause = str(base.column["first_cause"][0])
    if cause:
        del out["contract_ends_reason"]
        out["contract_ends"] = {"cause": cause, "month": int(base.column["first_month"][0])}
    paid = base.total.get("cover_paid")
    out["cover_paid"] = float(paid[0]) if paid is not None else None
    if paid is None:
        out["cover_paid_reason"] = "the deal has no backstop"
    return out | _cover_ratio(model, base) | _loss(model, base)


def _cover_ratio(model: Model, base: Result) -> dict[str, Any]:
    """Return the lowest cover of a month with debt service, to the month of default."""
    finances = model.risks.get("finance")
    service = base.by_month("debt_service")
    names = ("minimum_dscr", "minimum_dscr_month")
    if not isinstance(finances, Finances) or service is None or not np.any(service > 0):
        return dict.fromkeys(names) | {f"{name}_reason": "no debt service" for name in names}
    default = int(base.column["default_month"][0]) if "default_month" in base.column else 0
    last = default or base.months
    ratios = dscr(base.monthly["cfads"][0], service[0])[:last]
    if np.isnan(ratios).all():
        reason = "default before the first debt service"
        return dict.fromkeys(names) | {f"{name}_reason": reason for name in names}
    lowest = int(np.nanargmin(ratios))
    return {"minimum_dscr": float(ratios[lowest]), "minimum_dscr_month": lowest + 1}


def _loss(model: Model, base: Result) -> dict[str, Any]:
    """Return the first unpaid month, default and loss."""
    found = outcome(model, base)
    if found is None:
        names = ("first_unpaid_month", "default_month", "exposure", "loss", "loss_bp")
        return {key: value for name in names for key, value in ((name, None), (f"{name}_reason", NO_LOAN))}
    finances = model.risks["finance"]
    assert isinstance(finances, Finances)
    assert finances.plan is not None
    last = finances.plan.last_payment_month  # what is unpaid after it is no debt service
    unpaid = np.flatnonzero(base.monthly["unpaid"][0, :last] > UNPAID)
    default = int(base.column["default_month"][0])
    out: dict[str, Any] = {
        "first_unpaid_month": int(unpaid[0]) + 1 if len(unpaid) else None,
        "default_month": default or None,
        "exposure": float(found.exposure[0]),
    }
    if not len(unpaid):
        out["first_unpaid_month_reason"] = "all debt service is paid"
    if not default:
        out["default_month_reason"] = "no default"
    if found.loss is None:
        return out | {"loss": None, "loss_reason": NO_RECOVERY, "loss_bp": None, "loss_bp_reason": NO_RECOVERY}
    return out | {"loss": float(found.loss[0]), "loss_bp": float(found.loss[0]) / found.commitment * BASIS_POINTS}
