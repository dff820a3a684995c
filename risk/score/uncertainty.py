"""The outer loop: how default and loss move with what we do not know, and how much of that is judgement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from risk.core.parameters import Parameter, latin_hypercube, parameters, values_at
from risk.core.processes import in_processes
from risk.core.statistics import mean, quantile
from risk.engine import Model, Progress
from risk.score.grade import loss_route
from risk.score.mitigations import (
    BASIS_POINTS,
    NO_LOAN,
    NO_RECOVERY,
    Outcome,
    at_close,
    changed_model,
    has_loan,
    outcome,
    simulate_short,
)
from risk.score.variance import Table, variance_shares
from schemas.deal import Deal
from schemas.errors import SlakitError, TermsError, TermsErrors

FloatArray = NDArray[np.float64]
OUTER, INNER = 200, 2_000
"""Sets of parameters and futures of each, unless asked otherwise."""
FEWEST_OUTER = 2
LISTED = 10
"""Inputs listed by their share of the variance."""
QUANTILES = (("p5", 0.05), ("p50", 0.5), ("p95", 0.95))
JUDGEMENT = "judgement"
FIGURES = ("el_bp", "el_bp_per_year", "pd_term")
IN_GRADE = "el_bp_per_year_in_grade"


def parameter_uncertainty(
    deal: Deal,
    outer: int = OUTER,
    inner: int = INNER,
    seed: int = 20261130,
    workers: int = 1,
    progress: Progress | None = None,
    least_loss: float = 0.0,
) -> dict[str, Any]:
    """Return the predictive loss and default, their spread over the uncertain numbers, and what that spread rests on.

    Parameters
    ----------
    outer, inner : sets of parameters, and futures simulated for each. [1]
    workers : processes; figures do not depend on it.
    progress : told the sets done and the sets asked for.
    least_loss : share of the exposure that a default loses at least in the `steps`, where a grade counts it so. [1]

    Returns
    -------
    dict
        `outer_draws`, `inner_draws`, `inputs` (their number), `computed`, `not_computed` (sets whose deal cannot be
        computed) with `not_computed_because` {reason: number}.
        For `el_bp` [bp of the commitment], `el_bp_per_year` [bp/year] and `pd_term` [1], each under its name: `mean`,
        the predictive figure, with `mean_standard_error` and its parts `mean_error_from_parameters` and
        `mean_error_from_sampling`; `at_own_values`, the same futures with every number at its value, and
        `mean_less_own`, what not knowing them adds, with `mean_less_own_standard_error`, in which most of the sampling
        error goes, so that it may be added to a figure from more futures; `quantiles` over the sets of parameters (p5,
        p50, p95); `sd_from_parameters`, the sampling variance taken off; `sampling_share`, the share of the variance
        between sets that is sampling [1].
        `steps`: credit step at p5, mean and p95 of the loss a year, before caps.
        `judgement_share` of the explained variance of `el_bp` that is of kind judgement [1]; `r_squared`,
        `r_squared_adjusted`, `terms` of the regression; `shares`, the ten inputs that explain most, each {paths, value,
        unit, kind, law, share}, and `share_of_others`. What is undefined is None beside `<name>_reason`.

    Notes
    -----
    Latin hypercube over independent inputs; every set runs the same futures, so that differences between sets are those
    of their parameters. The mean over sets is the predictive figure: deals of one lender share the parameters, so that
    their defaults are correlated through them.

    Raises
    ------
    DealError, MissingTermError, NotComputedError
        When the deal itself, at its own values, cannot be simulated.
    """
    deal = at_close(deal)
    model, inputs = Model.of(deal), parameters(deal)
    out: dict[str, Any] = {"outer_draws": outer, "inner_draws": inner, "inputs": len(inputs)}
    if not has_loan(model):
        return out | _nothing(NO_LOAN)
    if not inputs:
        return out | _nothing("no number of the deal carries a range")
    if outer < FEWEST_OUTER or inner < FEWEST_OUTER:
        return out | _nothing("too_few_draws")
    scores = latin_hypercube(inputs, outer, seed)
    jobs = [(deal, changes, inner, seed) for changes in values_at(inputs, scores)]
    tables = {name: Table(inner) for name in (*FIGURES, IN_GRADE)}
    kept, failures = _fill(tables, in_processes(_one_set, jobs, workers), least_loss, outer, progress)
    out |= {"computed": len(kept), "not_computed": failures.total(), "not_computed_because": dict(failures)}
    if len(kept) < FEWEST_OUTER:
        return out | _nothing("too few sets of parameters can be computed")
    own = _run(model, inner, seed)
    at_own = _rows(own, least_loss)
    reason = NO_RECOVERY if own.loss is None else "the simulated months end before the loan"
    for name in FIGURES:
        if tables[name].rows:
            out[name] = _figures(tables[name], at_own[name])
        else:
            out |= {name: None, f"{name}_reason": reason}
    if not tables[IN_GRADE].rows:
        out |= {"steps": None, "steps_reason": reason}
    else:
        out["steps"] = _steps(_figures(tables[IN_GRADE], at_own[IN_GRADE]))
    if own.loss is None:
        return out | _no_shares(NO_RECOVERY)
    return out | _attribution(inputs, scores[kept], np.array(tables["el_bp"].rows))


def _fill(
    tables: Mapping[str, Table],
    found: Iterable[Outcome | str],
    least_loss: float,
    outer: int,
    progress: Progress | None,
) -> tuple[list[int], Counter[str]]:
    """Put each set of parameters into the tables; return the sets that could be computed, and why others could not."""
    kept: list[int] = []
    failures: Counter[str] = Counter()
    for j, one in enumerate(found):
        if isinstance(one, str):
            failures[one] += 1
        else:
            kept.append(j)
            for name, row in _rows(one, least_loss).items():
                tables[name].add(row)
        if progress:
            progress(j + 1, outer)
    return kept, failures


def _one_set(job: tuple[Deal, Mapping[str, float], int, int]) -> Outcome | str:
    """Return what becomes of the loan at one set of parameters, or why its deal cannot be computed."""
    deal, changes, inner, seed = job
    try:
        return _run(changed_model(deal, changes), inner, seed)
    except (SlakitError, TermsError, TermsErrors) as error:
        return str(error).splitlines()[0]


def _run(model: Model, inner: int, seed: int) -> Outcome:
    """Return what becomes of the loan in the futures that all sets share."""
    found = outcome(model, simulate_short(model, inner, seed))
    assert found is not None
    return found


def _rows(found: Outcome, least_loss: float) -> dict[str, NDArray[Any]]:
    """Return what is known of the figures in each future, each shape (draws,)."""
    rows: dict[str, NDArray[Any]] = {"pd_term": found.defaulted}
    if found.loss is not None and found.loss_bp is not None:
        rows["el_bp"] = found.loss_bp
        if found.dollar_years is not None:
            to_a_year = BASIS_POINTS / found.dollar_years
            rows["el_bp_per_year"] = found.loss * to_a_year
            rows[IN_GRADE] = np.maximum(found.loss, least_loss * found.exposure) * to_a_year
    return rows


def _figures(table: Table, at_own_values: NDArray[Any]) -> dict[str, Any]:
    """Return the mean, its errors, quantiles and the spread of one quantity."""
    found = table.components()
    added, error = mean(found.of_columns - at_own_values)
    variance = found.from_parameters + found.sampling
    out: dict[str, Any] = {
        "mean": found.mean,
        "mean_standard_error": float(np.hypot(found.error_from_parameters, found.error_from_sampling)),
        "mean_error_from_parameters": found.error_from_parameters,
        "mean_error_from_sampling": found.error_from_sampling,
        "at_own_values": float(at_own_values.mean()),
        "mean_less_own": added,
        "mean_less_own_standard_error": float(np.hypot(found.error_from_parameters, error)),
        "sd_from_parameters": float(np.sqrt(found.from_parameters)),
        "sampling_share": found.sampling / variance if variance > 0 else 0.0,
        "quantiles": {name: quantile(found.of_rows, level) for name, level in QUANTILES},
    }
    if None in out["quantiles"].values():
        out["quantiles_reason"] = "too_few_draws"
    return out


def _steps(yearly: Mapping[str, Any]) -> dict[str, Any]:
    """Return the credit step at the low end, the mean and the high end of the loss a year."""
    figures = {"p5": yearly["quantiles"]["p5"], "mean": yearly["mean"], "p95": yearly["quantiles"]["p95"]}
    out: dict[str, Any] = {name: None if x is None else loss_route(x).step for name, x in figures.items()}
    return out | ({"p5_reason": "too_few_draws", "p95_reason": "too_few_draws"} if out["p5"] is None else {})


def _attribution(inputs: Sequence[Parameter], scores: FloatArray, values: FloatArray) -> dict[str, Any]:
    """Return the shares of the inputs, and of judgement, in the variance of the expected loss."""
    if float(values.var()) == 0:
        return _no_shares("the expected loss does not vary")
    found = variance_shares(scores, values)
    if found is None:
        return _no_shares("too_few_outer_draws")
    order = np.argsort(-found.of_inputs, kind="stable")
    judged = sum(share for one, share in zip(inputs, found.of_inputs, strict=True) if one.kind == JUDGEMENT)
    return {
        "judgement_share": float(judged),
        "r_squared": found.r_squared,
        "r_squared_adjusted": found.r_squared_adjusted,
        "terms": found.terms,
        "shares": [
            {
                "paths": list(inputs[i].paths),
                "value": inputs[i].value,
                "unit": inputs[i].unit,
                "kind": inputs[i].kind,
                "law": inputs[i].law,
                "share": float(found.of_inputs[i]),
            }
            for i in order[:LISTED]
        ],
        "share_of_others": float(found.of_inputs[order[LISTED:]].sum()),
    }


def _no_shares(reason: str) -> dict[str, Any]:
    return {"judgement_share": None, "judgement_share_reason": reason, "shares": []}


def _nothing(reason: str) -> dict[str, Any]:
    """Return every figure as undefined for one reason."""
    out: dict[str, Any] = {}
    for name in (*FIGURES, "steps"):
        out |= {name: None, f"{name}_reason": reason}
    return out | _no_shares(reason)
