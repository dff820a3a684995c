"""What would move the deal by one credit step: for each lever, the value at which it would, on the same futures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from risk.core.parameters import with_values
from risk.core.processes import in_processes
from risk.engine import Model
from risk.score.grade import boundaries, loss_at_boundaries, loss_route, steps
from risk.score.mitigations import (
    NO_LOAN,
    NO_RECOVERY,
    Outcome,
    at_close,
    difference,
    outcome,
    simulate_short,
)
from risk.score.movable_terms import Direction, Lever, Value, levers_of
from schemas.deal import Deal
from schemas.errors import SlakitError, TermsError, TermsErrors

MOST_RUNS = 6
"""Runs of one search after its range is known to hold the value."""
DRAWS = 4_096
"""Futures of each run, unless asked otherwise: differences on the same futures are known well enough."""
CLOSE = 0.01
"""A search ends within this share of the boundary. [1]"""
DIGITS = 3
"""Significant digits of the values tried: more would say more than the draws know."""


@dataclass(frozen=True, slots=True)
class _Search:
    """One lever to move in one direction: all that a worker process needs."""

    deal: Deal
    lever: Lever
    direction: Direction
    before: Outcome
    headline: float
    """Loss a year of the deal as it is. [bp/year]"""
    target: float
    """Loss a year at the boundary. [bp/year]"""
    draws: int
    seed: int
    least_loss: float


@dataclass(frozen=True, slots=True)
class _Tried:
    """What one value of the lever gives."""

    value: Value
    loss: float
    """Headline and the paired difference on the draws. [bp/year]"""
    found: dict[str, Any]


def levers(
    deal: Deal,
    draws: int = DRAWS,
    seed: int = 20261130,
    workers: int = 1,
    el_bp: float | None = None,
    el_bp_per_year: float | None = None,
    least_loss: float = 0.0,
) -> dict[str, Any]:
    """Return what would move the credit step of the loss by one, for each lever of the deal alone.

    Parameters
    ----------
    draws : futures of each run. [1]
    workers : processes; figures do not depend on it.
    el_bp, el_bp_per_year : expected loss of the score, from which differences are counted; that of these draws when not
        given. [bp of the commitment], [bp/year]
    least_loss : share of the exposure that a default loses at least, where a grade counts it so. [1]

    Returns
    -------
    dict
        `draws`, `seed`, `step` and `el_bp` of the deal as it is, before caps; `better` and `worse`, each with the
        `step` reached, `el_bp` at the boundary and `levers`, or None beside `<name>_reason`; `pair`, the two levers
        that help most without reaching it alone, moved together.
        A lever: `lever`, `direction`, `path`, `paths`, `from`, `to`, `unit`, `reaches` (False is "not alone": `to` is
        then the best value tried), `el_bp`, `d_el_bp`, `d_pd` with paired standard errors, `runs`. A lever of which no
        value tried helps, or none can be computed, has `to` and `d_el_bp` None, and `to_reason`.

    Notes
    -----
    One-dimensional root search on the same random streams: the end of the range, its middle if the end does not reach
    the boundary, then regula falsi between a value that reaches it and one that does not (bisection for whole numbers),
    a constant number of runs at most. `to` is the value nearest to today's that was run and reaches the boundary. Of a
    lever that works both ways, both sides are tried and the smaller move is given.
    """
    deal = at_close(deal)
    model = Model.of(deal)
    before = outcome(model, simulate_short(model, draws, seed), least_loss)
    out: dict[str, Any] = {"draws": draws, "seed": seed}
    if before is None or before.el_bp_per_year is None or before.el_bp is None or before.dollar_years is None:
        reason = "the simulated months end before the loan"
        if before is None or before.loss is None:
            reason = NO_LOAN if before is None else NO_RECOVERY
        undefined = {key: value for name in _PARTS for key, value in ((name, None), (f"{name}_reason", reason))}
        return out | undefined
    el_bp = before.el_bp if el_bp is None else el_bp
    yearly = before.el_bp_per_year if el_bp_per_year is None else el_bp_per_year
    place = steps().index(loss_route(yearly).step)
    out |= {"step": steps()[place], "el_bp": el_bp}
    years = before.dollar_years / before.commitment
    targets: dict[Direction, int] = {"better": place - 1, "worse": place}
    searches = []
    for direction, boundary in targets.items():
        if not 0 <= boundary < len(boundaries()):
            out |= {direction: None, f"{direction}_reason": f"no step is {direction} than {steps()[place]}"}
            continue
        at_boundary = list(loss_at_boundaries(years).values())[boundary]
        name = steps()[boundary if direction == "better" else boundary + 1]
        out[direction] = {"step": name, "el_bp": at_boundary, "levers": []}
        searches += [
            _Search(deal, one, direction, before, yearly, at_boundary / years, draws, seed, least_loss)
            for one in levers_of(deal)
            if one.choices or one.ends(direction)
        ]
    for search, found in zip(searches, in_processes(_moved, searches, workers), strict=True):
        if found["d_el_bp"] is not None:
            found["el_bp"] = el_bp + found["d_el_bp"]
        out[search.direction]["levers"].append(found)
    for direction in targets:
        if out[direction]:
            out[direction]["levers"].sort(key=lambda one: _order(one, direction))
    return out | _pair(searches, out, el_bp)


_PARTS = ("step", "better", "worse", "pair")


def _order(found: dict[str, Any], direction: Direction) -> tuple[bool, float]:
    """Return where a lever stands: those that reach the step first, then by what they do to the loss."""
    moved = found["d_el_bp"] if found["d_el_bp"] is not None else 0.0
    return not found["reaches"], moved if direction == "better" else -moved


def _pair(searches: list[_Search], out: dict[str, Any], el_bp: float) -> dict[str, Any]:
    """Return the two most helpful levers that do not reach the better step alone, moved together."""
    better = out["better"]["levers"] if out["better"] else []
    alone = [one for one in better if not one["reaches"] and (one["d_el_bp"] or 0.0) < 0]
    if len(alone) < 2:
        return {"pair": None, "pair_reason": "fewer than two levers help without reaching the step alone"}
    by_name = {(s.lever.name, s.lever.paths): s for s in searches if s.direction == "better"}
    two = [by_name[one["lever"], tuple(one["paths"])] for one in alone[:2]]
    changes = {
        path: value
        for search, one in zip(two, alone, strict=False)
        for path, value in search.lever.changes(one["to"]).items()
    }
    tried = _try(two[0], alone[0]["to"], changes)
    if isinstance(tried, str):
        return {"pair": None, "pair_reason": tried}
    named = [{name: one[name] for name in ("lever", "path", "from", "to", "unit")} for one in alone[:2]]
    reaches = _reaches(two[0], tried)
    return {"pair": {"levers": named, "reaches": reaches, **tried.found, "el_bp": el_bp + tried.found["d_el_bp"]}}


def _moved(search: _Search) -> dict[str, Any]:
    """Return what one lever does in one direction."""
    lever = search.lever
    tried: list[_Tried] = []
    problems: list[str] = []
    if lever.choices:
        for choice in lever.choices:
            _note(_try(search, choice), tried, problems)
    for end in lever.ends(search.direction):
        _along(search, end, tried, problems)
    best = _chosen(search, tried)
    out: dict[str, Any] = {
        "lever": lever.name,
        "direction": search.direction,
        "path": lever.paths[0],
        "paths": list(lever.paths),
        "from": lever.value,
        "to": None,
        "unit": lever.unit,
        "reaches": best is not None and _reaches(search, best),
        "runs": len(tried) + len(problems),
    }
    if best is None:
        return out | {"to": None, "to_reason": problems[0] if problems else "nothing to try", "d_el_bp": None}
    sign = 1.0 if search.direction == "better" else -1.0
    if sign * (best.loss - search.headline) >= 0:
        return out | {"to": None, "to_reason": f"no value tried makes it {search.direction}", "d_el_bp": None}
    return out | {"to": best.value} | best.found


def _chosen(search: _Search, tried: list[_Tried]) -> _Tried | None:
    """Return the smallest move that reaches the boundary, or else the one that goes furthest."""
    sign = 1.0 if search.direction == "better" else -1.0
    there = [one for one in tried if _reaches(search, one)]
    if there:
        return min(there, key=lambda one: _move(search.lever, one.value))
    return min(tried, key=lambda one: sign * one.loss, default=None)


def _move(lever: Lever, value: Value) -> float:
    """Return how far a value lies from today's, as a share of the range. [1]"""
    if isinstance(value, str) or isinstance(lever.value, str):
        return 0.0
    return abs(float(value) - float(lever.value)) / max(lever.highest - lever.lowest, 1e-300)


def _reaches(search: _Search, one: _Tried) -> bool:
    """Tell whether a loss lies on the other side of the boundary, which itself belongs to the worse step."""
    return one.loss < search.target if search.direction == "better" else one.loss >= search.target


def _along(search: _Search, end: float, tried: list[_Tried], problems: list[str]) -> None:
    """Try values between today's and one end of the range."""
    start = _Tried(search.lever.value, search.headline, {})
    far = _note(_try(search, _rounded(search.lever, end)), tried, problems)
    if far is None or not _reaches(search, far):
        middle = _rounded(search.lever, (float(search.lever.value) + end) / 2)
        if middle in (search.lever.value, far.value if far else None):
            return
        far = _note(_try(search, middle), tried, problems)
        if far is None or not _reaches(search, far):
            return
    _between(search, start, far, tried, problems)


def _between(search: _Search, near: _Tried, far: _Tried, tried: list[_Tried], problems: list[str]) -> None:
    """Close in on the boundary between a value that does not reach it and one that does."""
    kept = 0  # the side that stayed last time; its distance is halved when it stays again (Illinois)
    gap_near, gap_far = near.loss - search.target, far.loss - search.target
    for _ in range(MOST_RUNS):
        a, b = float(near.value), float(far.value)
        share = 0.5 if search.lever.whole or gap_near == gap_far else gap_near / (gap_near - gap_far)
        value = _rounded(search.lever, a + (b - a) * min(max(share, 0.02), 0.98))
        if value in (near.value, far.value):
            return
        found = _note(_try(search, value), tried, problems)
        if found is None:
            return
        if _reaches(search, found):
            gap_near = gap_near / 2 if kept == 1 else gap_near
            far, gap_far, kept = found, found.loss - search.target, 1
            if abs(gap_far) <= CLOSE * search.target and not search.lever.whole:
                return
        else:
            gap_far = gap_far / 2 if kept == 2 else gap_far
            near, gap_near, kept = found, found.loss - search.target, 2


def _note(one: _Tried | str, tried: list[_Tried], problems: list[str]) -> _Tried | None:
    """Keep what a value gave, or why it could not be computed."""
    if isinstance(one, str):
        problems.append(one)
        return None
    tried.append(one)
    return one


def _try(search: _Search, value: Value, changes: dict[str, Any] | None = None) -> _Tried | str:
    """Run the deal with the lever at a value; why not, where that cannot be computed."""
    try:
        model = Model.of(with_values(search.deal, changes or search.lever.changes(value)))
        after = outcome(model, simulate_short(model, search.draws, search.seed), search.least_loss)
    except (SlakitError, TermsError, TermsErrors) as error:
        return str(error).splitlines()[0]
    found = difference(search.before, after)
    if found["d_el_bp_per_year"] is None:
        return str(found["d_el_bp_per_year_reason"])
    return _Tried(value, search.headline + float(found["d_el_bp_per_year"]), found)


def _rounded(lever: Lever, value: float) -> float | int:
    """Return a value as it is tried and printed, inside the range."""
    if lever.whole:
        return round(value)
    if value in (lever.lowest, lever.highest) or value == 0:
        return value
    place = DIGITS - 1 - int(np.floor(np.log10(abs(value))))
    if lever.unit == "1" and value > 0.9:  # availabilities are told apart by their distance from 1
        place = DIGITS - 1 - int(np.floor(np.log10(max(1 - value, 1e-9))))
    return float(min(max(round(value, place), lever.lowest), lever.highest))
