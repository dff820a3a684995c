"""How and when the contract ends early."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from slakit.reports import figures
from slakit.reports.causes import cause, ending_shares
from slakit.reports.charts.bars import ROW, Bar, bar_chart
from slakit.reports.charts.lines import Line, line_chart
from slakit.reports.exhibits.exhibit import Exhibit, Score, half_by, whole_percent
from slakit.reports.theme import SERIES, Palette

OTHERS = "others"
DASHES = (None, "7 2.5", "2 2.5")
"""Strokes of the lines of one chart, for a printer without colour."""


def endings(score: Score, palette: Palette, width: float = 300, row: float = ROW) -> Exhibit | None:
    """Return how the contract ends early, by cause; None where it never does."""
    found = score["cancellation"]
    if not found["probability"]:
        return None
    note = "Share of futures by the first ending"
    bars = [Bar(cause(code).name, value, figures.percent(value)) for code, value in ending_shares(score).items()]
    spoken = ", ".join(f"{bar.label} {bar.written}" for bar in bars)
    title = f"{figures.percent_in_words(found['probability'])} of contracts end early"
    return Exhibit(title, note, bar_chart(bars, palette=palette, alt=f"{note}: {spoken}.", width=width, row=row))


def endings_by_month(score: Score, palette: Palette, width: float = 380, height: float = 236) -> Exhibit | None:
    """Return early endings by cause and month, added up; None where none is drawn or no cause has its months."""
    found = score["cancellation"]
    by_cause = found.get("by_cause_and_month")
    if not by_cause or not found["probability"]:
        return None
    parts = {code: one["probability"] for code, one in by_cause.items()}
    last = {code: months[-1] for code, months in parts.items()}
    greatest = max(last, key=lambda code: last[code])
    share = figures.share_in_words(last[greatest] / found["probability"])
    title = f"{cause(greatest).name} is {share} of early endings; half of all have come by month "
    title += f"{half_by(found['by_month'])}"
    note = "Share of futures ended early by month, added up, by the first ending"
    return Exhibit(title, note, causes_chart(parts, note, palette, width, height))


def by_month(score: Score, palette: Palette, width: float = 380, height: float = 236) -> Exhibit | None:
    """Return cancellation and default by month, added up; None where neither ever happens."""
    ended = score["cancellation"]["by_month"]
    defaulted = score["default"]["by_month"] if "default" in score else []
    lines = []
    if ended and ended[-1]:
        lines.append(Line(f"ended early {figures.percent(ended[-1])}", ended, palette.adverse))
    if defaulted and defaulted[-1]:
        lines.append(Line(f"default {figures.percent(defaulted[-1])}", defaulted, palette.total))
    if not lines:
        return None
    main = max(lines, key=lambda line: line.values[-1] or 0.0)
    last = main.values[-1] or 0.0
    what = "defaults" if main.label.startswith("default") else "early endings"
    note = "Share of futures by month, added up"
    svg = line_chart(
        list(range(1, len(main.values) + 1)),
        palette=palette,
        alt=f"{note}: {', '.join(line.label for line in lines)} by the last month.",
        write_value=whole_percent(last),
        lines=lines,
        from_zero=True,
        width=width,
        height=height,
    )
    half = half_by([value or 0.0 for value in main.values])
    return Exhibit(f"Half of the {what} come by month {half}", note, svg)


def causes_chart(parts: Mapping[str, Sequence[float]], note: str, palette: Palette, width: float, height: float) -> str:
    """Return a line for each cause, the share of futures it has come to by each month; at most three lines.

    Causes that never come have no line; where more than three come, the least of them are added up in one.
    """
    ordered = sorted((code for code in parts if parts[code][-1]), key=lambda code: -parts[code][-1])
    named = [(cause(code).name, list(parts[code])) for code in ordered]
    if len(named) > SERIES:
        rest = [values for _, values in named[SERIES - 1 :]]
        named = [*named[: SERIES - 1], (f"{len(rest)} {OTHERS}", [sum(column) for column in zip(*rest, strict=True)])]
    lines = [
        Line(f"{name} {figures.percent(values[-1])}", values, colour, dash=dash)
        for (name, values), colour, dash in zip(named, palette.series, DASHES, strict=False)
    ]
    return line_chart(
        list(range(1, len(named[0][1]) + 1)),
        palette=palette,
        alt=f"{note}: {', '.join(line.label for line in lines)} by the last month.",
        write_value=whole_percent(max(values[-1] for _, values in named)),
        lines=lines,
        from_zero=True,
        width=width,
        height=height,
    )
