"""The fan of debt service cover."""

from __future__ import annotations

from slakit.reports import figures
from slakit.reports.charts.lines import Band, EdgeLabel, Line, Threshold, line_chart
from slakit.reports.exhibits.exhibit import Exhibit, Score, ends_as_one, months_below, spoken, when
from slakit.reports.theme import Palette

ROOM_ABOVE = 2.5
"""The scale of cover ends at this multiple of the highest upper quartile, so that a rare high does not flatten it."""
APART = 0.005
"""Levels closer than this are one. [1]"""


def cover(
    score: Score, palette: Palette, width: float = 380, height: float = 236, lock_up: float | None = None
) -> Exhibit | None:
    """Return the fan of the debt service cover ratio, or None where there is no debt service.

    Parameters
    ----------
    lock_up : cover below which nothing is distributed, drawn beside the covenant. [1]
    """
    dscr = score.get("dscr")
    if dscr is None:
        return None
    fan, covenant = dscr["fan"], dscr.get("covenant")
    months, middle = fan["months"], fan["p50"]
    if not any(value is not None for value in middle):
        return None
    floor = 1.0 if covenant is None else covenant
    level = figures.ratio(floor)
    thresholds = [Threshold(f"covenant {level}" if covenant is not None else level, floor)]
    if lock_up is not None:
        same = covenant is not None and abs(lock_up - covenant) < APART
        name = f"lock-up {figures.ratio(lock_up)}"
        thresholds = [Threshold(f"covenant, {name}", lock_up)] if same else [*thresholds, Threshold(name, lock_up)]
    low, half = months_below(months, fan["p5"], floor), months_below(months, middle, floor)
    if half:
        title = f"Cover is below {level} in half of futures {when(half, months)}"
    elif low:
        title = f"Cover is thin {when(low, months)}: below {level} at\u00a0P5"
    else:
        title = f"Cover holds above {level}, even at\u00a0P5"
    draws = score.get("draws", fan["draws"][0])
    note = f"Debt service cover ratio; {figures.count(draws)} futures"
    first, last = fan["draws"][0], fan["draws"][-1]
    if first != draws:
        note += f", {figures.count(first)} at first and {figures.count(last)} at the end without default"
    elif last != draws:
        note += f", {figures.count(last)} of them without default"
    upper = [value for value in fan["p75"] if value is not None]
    same_end = ends_as_one(fan)
    edges = [] if same_end else [EdgeLabel(key.upper(), fan[key]) for key in ("p95", "p75", "p25", "p5")]
    named = ", ".join(threshold.label for threshold in thresholds)
    svg = line_chart(
        months,
        palette=palette,
        alt=f"{note}. {spoken(months, fan, figures.ratio)} Threshold {named}.",
        write_value=lambda value: figures.ratio(value),
        lines=[Line("P5 to P95" if same_end else "median", middle, palette.focus, bold=True)],
        bands=[
            Band(fan["p5"], fan["p95"], palette.outer_band),
            Band(fan["p25"], fan["p75"], palette.inner_band),
        ],
        edges=edges,
        thresholds=thresholds,
        ceiling=ROOM_ABOVE * max([*upper, *(threshold.value for threshold in thresholds)]),
        width=width,
        height=height,
    )
    return Exhibit(title, note, svg)
