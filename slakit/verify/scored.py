"""Documents that show a score: the simulation is run again on the deal that they carry."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from schemas.deal import Deal
from slakit.load import LoadedDeal, deal_in
from slakit.loading.source import source_of
from slakit.manifest import manifest
from slakit.reports.lender_document import DEAL, SCORE, carried_files, lender_manifest, printed_manifest
from slakit.scoring import full_score
from slakit.verify.carriers import Carried
from slakit.verify.figures import ROUNDING, agreed, figures
from slakit.verify.found import Findings, refused
from slakit.verify.remade import Remade, Work, check_manifest, is_untouched, look_for_reasons

Score = Mapping[str, Any]
Make = Callable[[Deal, Score, Mapping[str, Any]], bytes]
"""Makes the whole file from the deal, its score and the manifest of the first copy."""
BESIDE = ("outer", "stress_draws", "lever_draws")
"""What a manifest says was asked beside the score itself."""
MOST_DRAWS, LARGEST_SEED = 10_000_000, 2**63 - 1


def remake(carried: Carried, work: Work, found: Findings, make: Make) -> Remade:
    """Return the document made again; every figure is computed again and held against the one it carries.

    Raises
    ------
    DealError
        When the document lacks its deal or its score, or the deal cannot be loaded.
    SlakitError
        When the deal cannot be computed by this version.
    """
    draws, seed = _count(carried, "draws", 2, MOST_DRAWS), _count(carried, "seed", 0, LARGEST_SEED)
    asked = {name: _count(carried, name, 0, MOST_DRAWS) for name in BESIDE}
    stored = carried.data(SCORE)
    loaded = deal_in(source_of(f"{carried.name}/{DEAL}", carried.file(DEAL)))
    files = carried_files(loaded.deal, stored)
    origin = {"manifest": manifest(loaded, seed, draws, **asked)}
    manifest_now = printed_manifest if carried.form == "pdf" else lender_manifest
    here = manifest_now(carried.kind, files, origin)
    look_for_reasons(carried, here, found)
    check_manifest(carried, here, found)
    made_from = stored.pop("manifest", None)
    if made_from is not None:
        _same_manifest(carried, made_from, found)
    again = _again(loaded, draws, seed, asked, work)
    whole = _compare(carried, stored, again, found)
    shown = agreed(stored, again)
    if made_from is not None:
        shown["manifest"] = made_from
    return Remade(make(loaded.deal, shown, carried.manifest), carried_files(loaded.deal, shown), whole)


def _again(loaded: LoadedDeal, draws: int, seed: int, asked: Mapping[str, int], work: Work) -> dict[str, Any]:
    """Return the figures of the score, and of what was asked beside it, computed again, as plain data."""
    from slakit.json_text import plain

    score = full_score(loaded, draws, seed, workers=work.workers, progress=work.progress, **asked)
    return {name: plain(value, name) for name, value in score.items() if name != "manifest"}


def _compare(carried: Carried, stored: Score, again: Score, found: Findings) -> int:
    """Hold every figure against the one computed again and return how many they are. [1]

    Where the score is the one that the manifest names, a last digit that another processor rounds otherwise is no
    difference.
    """
    rounding = ROUNDING if is_untouched(carried, SCORE) else 0.0
    count, rounded, largest, differing = 0, 0, 0.0, 0
    for figure in figures(stored, again):
        count += figure.is_number
        if figure.same:
            continue
        if figure.is_number and math.isfinite(figure.moved) and figure.moved <= rounding:
            rounded, largest = rounded + 1, max(largest, figure.moved)
        else:
            differing += 1
            found.differ(carried.place(SCORE, figure.path), figure.stored, figure.recomputed)
    if rounded:
        found.notes.append(
            f"{rounded:,} of {count:,} figures differ by {largest:.0e} of themselves or less, which is rounding of "
            "another processor or library."
        )
    return count


def _same_manifest(carried: Carried, made_from: Any, found: Findings) -> None:
    """Find where the score states another origin than the document."""
    document = dict(carried.manifest)
    if not isinstance(made_from, Mapping):
        raise refused(carried.name, f"{SCORE} without a manifest", "ask for the file again")
    document["versions"] = {name: document["versions"].get(name) for name in made_from.get("versions", {})}
    for figure in figures(made_from, {name: document.get(name) for name in made_from}):
        if not figure.same:
            found.differ(f"{figure.path}: manifest.json against {SCORE}", figure.recomputed, figure.stored)


def _count(carried: Carried, name: str, least: int, most: int) -> int:
    """Return a whole number of the manifest."""
    value = carried.manifest.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        said = f"{value!r}"[:40]
        raise refused(carried.name, f"{name} of {said} in the manifest", f"{name} is {least:,} to {most:,}")
    return value
