"""The score of a loaded deal as every command, page and document uses it: the simulation, with its manifest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from slakit.load import LoadedDeal

DEFAULT_DRAWS = 10_000
DEFAULT_SEED = 20261130


def score_deal(
    loaded: LoadedDeal,
    draws: int = DEFAULT_DRAWS,
    seed: int = DEFAULT_SEED,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Return the score of a deal and `manifest`, what it was computed from.

    Raises
    ------
    SlakitError
        When the deal lacks what the simulation needs, or says what this version cannot compute.
    """
    from risk.score import score
    from slakit.manifest import manifest

    figures = score(loaded.deal, draws=draws, seed=seed, workers=workers, progress=progress)
    return {**figures, "manifest": manifest(loaded, seed, draws)}
