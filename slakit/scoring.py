"""The score of a loaded deal as every command, page and document uses it: the simulation, with its manifest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from slakit.load import LoadedDeal

if TYPE_CHECKING:
    from schemas.deal import Deal

Progress = Callable[[int, int], None]
DEFAULT_DRAWS = 10_000
DEFAULT_SEED = 20261130
MEMO_OUTER = 200
"""Sets of uncertain inputs behind a memo, unless asked otherwise."""
STRESS_DRAWS, LEVER_DRAWS = 4_096, 2_048
"""Futures of each stress and of each value of a lever; their error is paired, so that fewer are enough."""
RUNS_OF_A_LEVER = 8
"""About how many values of a lever are tried, for the estimate of what is left to do."""


def score_deal(
    loaded: LoadedDeal,
    draws: int = DEFAULT_DRAWS,
    seed: int = DEFAULT_SEED,
    workers: int = 1,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Return the score of a deal and `manifest`, what it was computed from.

    Raises
    ------
    SlakitError
        When the deal lacks what the simulation needs, or says what this version cannot compute.
    """
    return full_score(loaded, draws, seed, workers=workers, progress=progress, stress_draws=0, lever_draws=0)


def full_score(
    loaded: LoadedDeal,
    draws: int = DEFAULT_DRAWS,
    seed: int = DEFAULT_SEED,
    outer: int = 0,
    workers: int = 1,
    progress: Progress | None = None,
    *,
    stress_draws: int = STRESS_DRAWS,
    lever_draws: int = LEVER_DRAWS,
) -> dict[str, Any]:
    """Return the score of a deal with what a memo shows beside it, and `manifest`, which says what was asked.

    Parameters
    ----------
    outer : sets of uncertain inputs; 0 for none. [1]
    stress_draws, lever_draws : futures of each stress and lever, at most `draws`; 0 for none of them. [1]
    progress : told the futures done and those asked for, of all runs together.

    Returns
    -------
    dict
        As `score_deal`, and where asked `parameters` (`risk.score.uncertainty`), `scenarios` (`risk.score.stresses`),
        `moves` (`risk.score.levers`), and in `backstop` what it is worth to the lender (`risk.score.mitigations`).

    Notes
    -----
    All parts run on the terms in force at close, as the score does. Levers count a default as losing at least what the
    rules of the grade say, because they look for the next step; stresses and the range of the loss do not.

    Raises
    ------
    SlakitError
        When the deal lacks what the simulation needs, or says what this version cannot compute.
    """
    from risk.score import score
    from risk.score.caps import least_loss
    from risk.score.levers import levers
    from risk.score.mitigations import backstop_value
    from risk.score.named_stresses import stresses
    from risk.score.stresses import run_stresses
    from risk.score.uncertainty import INNER, parameter_uncertainty
    from slakit.manifest import manifest

    stress_draws, lever_draws = min(stress_draws, draws), min(lever_draws, draws)
    deal = loaded.deal.at(loaded.deal.finance.close) if loaded.deal.finance else loaded.deal
    chosen = stresses(deal) if stress_draws else ()
    runs = _runs(deal) if lever_draws else 0
    count = _Count(draws, outer * INNER, stress_draws * (len(chosen) + 1), lever_draws * runs, report=progress)
    least = least_loss(deal)
    found: dict[str, Any] = {}
    uncertainty = None
    if outer:
        uncertainty = parameter_uncertainty(
            deal, outer, INNER, seed, workers, progress=lambda done, _: count.at(1, done * INNER), least_loss=least
        )
        found["parameters"] = uncertainty
    figures = score(
        loaded.deal,
        draws=draws,
        seed=seed,
        workers=workers,
        progress=lambda done, _: count.at(0, done),
        uncertainty=uncertainty,
    )
    if stress_draws:
        found["scenarios"] = run_stresses(deal, chosen, stress_draws, seed)
        if "backstop" in figures:
            figures["backstop"] |= backstop_value(deal, stress_draws, seed)
        count.at(2)
    if lever_draws:
        found["moves"] = levers(deal, lever_draws, seed, workers, **_from_the_score(figures), least_loss=least)
        count.at(3)
    about = manifest(loaded, seed, draws, outer, stress_draws=stress_draws, lever_draws=lever_draws)
    return {**figures, **found, "manifest": about}


def _from_the_score(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Return the loss from which levers count, that of the score's own futures as the grade counts it."""
    route = figures.get("grade", {}).get("el_route")
    if route is None or figures["default"].get("expected_loss_bp") is None:
        return {}
    yearly, plain = route["expected_loss_bp_per_year_in_grade"], route["expected_loss_bp_per_year"]
    loss = figures["default"]["expected_loss_bp"] * (yearly / plain if plain else 1.0)
    return {"el_bp": loss, "el_bp_per_year": yearly}


def _runs(deal: Deal) -> int:
    """Return about how often the levers of a deal are run."""
    from risk.score.movable_terms import levers_of

    return 2 * RUNS_OF_A_LEVER * len(levers_of(deal))


class _Count:
    """Futures done of all parts of the work together."""

    def __init__(self, *asked: int, report: Progress | None) -> None:
        self.asked, self.done, self.report = asked, [0] * len(asked), report

    def at(self, part: int, done: int | None = None) -> None:
        """Report how far one part is, the whole of it when not given."""
        self.done[part] = self.asked[part] if done is None else min(done, self.asked[part])
        if self.report is not None:
            self.report(sum(self.done), sum(self.asked))
