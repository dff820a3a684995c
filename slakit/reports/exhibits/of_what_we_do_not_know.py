"""How far the expected loss moves with the inputs, and which of them move it."""

from __future__ import annotations

from collections.abc import Callable

from slakit.reports import figures
from slakit.reports.charts.bars import ROW, Bar, bar_chart
from slakit.reports.charts.ranges import Range, Zone, range_chart
from slakit.reports.exhibits.exhibit import Exhibit, Score
from slakit.reports.rounding import NBSP
from slakit.reports.theme import Palette

LISTED = 6
"""Inputs named; the others are added up. [1]"""
SIGMAS = 1.645
"""Standard errors on each side of a figure that hold it with 90%. [1]"""


def loss_range(score: Score, palette: Palette, width: float = 380) -> Exhibit | None:
    """Return the range of the expected loss from futures alone and from inputs too; None where it was not asked."""
    found = score.get("parameters", {}).get("el_bp")
    default = score.get("default")
    if found is None or default is None or default.get("expected_loss_bp") is None:
        return None
    low, high = found["quantiles"]["p5"], found["quantiles"]["p95"]
    if low is None or high is None:
        return None
    own, error = default["expected_loss_bp"], default.get("expected_loss_bp_standard_error") or 0.0
    predictive = own + found["mean_less_own"]
    sampling = (max(own - SIGMAS * error, 0.0), own + SIGMAS * error)
    title = f"Doubt in the inputs puts the loss between {_points(low)} and {_points(high)}{NBSP}bp"
    note = "Expected loss, bp of the loan over the term; the bar holds 90%, the stroke is the mean"
    ranges = [
        Range("Inputs as typed", sampling[0], own, sampling[1], _points(own)),
        Range("Inputs in doubt", low, predictive, high, _points(predictive)),
    ]
    alt = (
        f"{note}. Inputs as typed: {_points(own)}, {figures.interval(*map(_points, sampling))} from the number of "
        f"futures. Inputs in doubt: {_points(predictive)}, {figures.interval(_points(low), _points(high))}."
    )
    svg = range_chart(
        ranges,
        palette=palette,
        alt=alt,
        write_value=lambda value: f"{value:,.0f}",
        zones=_zones(score),
        x_title="bp; above, the credit step of the loss before caps" if "grade" in score else "bp",
        width=width,
    )
    return Exhibit(title, note, svg)


def inputs_by_share(
    score: Score,
    palette: Palette,
    name_of: Callable[[str], str],
    width: float = 330,
    row: float = ROW,
) -> Exhibit | None:
    """Return the inputs that explain most of the spread of the expected loss; None where none is known.

    Parameters
    ----------
    name_of : words for the path of an input.
    """
    found = score.get("parameters", {})
    shares = [one for one in found.get("shares", ()) if one["share"] > 0]
    if not shares:
        return None
    shown = shares[:LISTED]
    named = [(_marked(name_of(one["paths"][0]), one["kind"]), one["share"]) for one in shown]
    others = 1.0 - sum(share for _, share in named)
    count = found["inputs"] - len(shown)
    if count > 0 and others > 0:
        named.append((f"{count} others", others))
    bars = [Bar(name, share, figures.percent_in_words(share)) for name, share in named]
    note = f"Share of the spread of the expected loss; {figures.JUDGEMENT} rests on judgement"
    spoken = ", ".join(f"{bar.label} {bar.written}" for bar in bars)
    title = f"{named[0][0]} explains {figures.share_in_words(named[0][1])} of the spread"
    svg = bar_chart(bars, palette=palette, alt=f"{note}: {spoken}.", width=width, row=row, colour=palette.focus)
    return Exhibit(title, note, svg)


def _marked(name: str, kind: str) -> str:
    name = name[:1].upper() + name[1:]
    return figures.judged(name) if kind == "judgement" else name


def _zones(score: Score) -> list[Zone]:
    """Return the stretches of the loss that are one credit step each."""
    edges = score.get("grade", {}).get("loss_bp_at_boundaries", {})
    zones, low = [], 0.0
    for name, edge in edges.items():
        better, worse = name.split("|")
        zones.append(Zone(better, low, edge))
        low, last = edge, worse
    return [*zones, Zone(last, low, float("inf"))] if zones else []


def _points(value: float) -> str:
    return figures.estimate_basis_points(value).value.removesuffix(f"{NBSP}bp")
