"""The underwriting score of a deal: the joint simulation summed up, each figure beside its standard error.

Definitions are those of `docs/method.md`. A figure whose model the deal gives no inputs for is absent; one that is
undefined is None beside `<name>_reason`.
"""

from __future__ import annotations

from typing import Any

from risk.engine import Model, Progress
from risk.finance.waterfall import Finances
from risk.score.contract import cancellation, credits, delivery
from risk.score.debt import finance
from risk.score.value import residual_value
from schemas.deal import Deal
from schemas.errors import NotComputedError

FEWEST_DRAWS = 2
"""One future has no standard error."""


def score(
    deal: Deal, draws: int = 10_000, seed: int = 20261130, workers: int = 1, progress: Progress | None = None
) -> dict[str, Any]:
    """Return the score as plain data, the same for any number of workers.

    Raises
    ------
    DealError, MissingTermError, NotComputedError
        When the deal lacks what the simulation needs, or says what this version cannot compute.
    """
    if draws < FEWEST_DRAWS:
        raise NotComputedError("draws", f"a score of {draws} futures", f"ask for at least {FEWEST_DRAWS}")
    later = deal.amendments
    if deal.finance is not None:
        later = tuple(change for change in later if change.effective_from > deal.finance.close)
        deal = deal.at(deal.finance.close)
    model = Model.of(deal)
    base = model.base()
    result = model.simulate(draws, seed, workers, progress)
    finances = model.risks.get("finance")
    out: dict[str, Any] = {
        "title": deal.title,
        "currency": deal.finance.currency if deal.finance else None,
        "close": deal.finance.close.isoformat() if deal.finance else None,
        "months": model.setting.months,
        "draws": draws,
        "seed": seed,
        "delivery": delivery(model, result),
        "cancellation": cancellation(model, result),
        "credits": credits(model, result),
    }
    if isinstance(finances, Finances):
        out |= finance(model, finances, base, result)
    value = residual_value(finances, base, result)
    if value:
        out["residual_value"] = value
    out["settings"] = _settings(model, len(later))
    out["prescribed"] = sorted(deal.assumptions.prescribed.model_dump(exclude_none=True))
    out["ignored"] = _ignored(model)
    out["standard_errors"] = _errors(out)
    return out


def _ignored(model: Model) -> list[str]:
    """Return what no risk of this version simulates, then what each leaves out, in words."""
    words = []
    if model.setting.deal.backstop is not None:
        words.append("Backstop: its terms are checked, not simulated, because the customer's own default is not.")
    words.append("Default of the customer, insurance, re-letting, change of law: not simulated by this version.")
    return words + list(model.ignores())


def _settings(model: Model, later_amendments: int) -> list[str]:
    """Return the conventions that only the simulation uses, in words."""
    line = model.setting.timeline
    calendar = (
        f"Calendar months from {line.first} in {model.setting.deal.measurement.zone}; close is the start of the month."
        if line.first
        else "Months of 730 hours (equal_730)."
    )
    return [
        calendar,
        "Durations in days are turned into months at 365.25/12 days; a notice period ends at the first month end on "
        "or after it.",
        "Base case: no default, outage, delay or exit; market without noise, regimes at their expected level, the next "
        "generation in the middle of its range.",
        f"Terms in force at close; amendments that take effect later and are not simulated: {later_amendments}.",
        "Cause of a default: the first contract ending, else re-pricing, else late delivery, else credits and market.",
    ]


def _errors(out: dict[str, Any], path: str = "") -> dict[str, float]:
    """Return every standard error of the score by the path of its figure."""
    found: dict[str, float] = {}
    for key, value in out.items():
        here = f"{path}.{key}" if path else key
        if key.endswith("_standard_error") and isinstance(value, float):
            found[here.removesuffix("_standard_error")] = value
        elif isinstance(value, dict):
            found |= _errors(value, here)
        elif isinstance(value, list):
            for i, item in enumerate(value):
                if isinstance(item, dict):
                    found |= _errors(item, f"{here}[{i}]")
    return found
