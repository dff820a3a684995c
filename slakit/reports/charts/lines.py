"""Lines over months, with bands between quantiles, and their names where they end instead of a legend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from slakit.reports.charts.canvas import LINE_HEIGHT, Scale, Sheet, apart, text_width, ticks
from slakit.reports.theme import Fill, Palette

Values = Sequence[float | None]
"""One value for each month, nothing where it is undefined."""

TOP, BOTTOM = 10.0, 36.0
TICKS = 5
SHORT_AXES = ((18, 3), (36, 6))
"""Length of an axis and the step between its months; longer ones count whole years. [month]"""
GAP = 7.0
"""Between the end of a line and its name. [px]"""


@dataclass(frozen=True, slots=True)
class Line:
    """A line with its name at its right end."""

    label: str
    values: Values
    colour: str
    width: float = 2.5
    bold: bool = False
    dash: str | None = None
    """Lengths of strokes and gaps, solid without; for a line that a printer without colour must tell apart."""


@dataclass(frozen=True, slots=True)
class EdgeLabel:
    """The name of a band's edge, written at its right end."""

    label: str
    values: Values


@dataclass(frozen=True, slots=True)
class Band:
    """The area between two quantiles."""

    lower: Values
    upper: Values
    fill: Fill


@dataclass(frozen=True, slots=True)
class Threshold:
    """A level the contract sets."""

    label: str
    value: float


def line_chart(
    months: Sequence[int],
    *,
    palette: Palette,
    alt: str,
    write_value: Callable[[float], str],
    lines: Sequence[Line],
    bands: Sequence[Band] = (),
    edges: Sequence[EdgeLabel] = (),
    thresholds: Sequence[Threshold] = (),
    from_zero: bool = False,
    ceiling: float | None = None,
    x_title: str = "months after financial close",
    width: float = 380,
    height: float = 236,
) -> str:
    """Return the chart: one value of each line for each month; values above `ceiling` are cut there."""
    sheet = Sheet(width, height, palette, alt)
    drawn = [*(line.values for line in lines), *(edge.values for edge in edges)]
    drawn += [values for band in bands for values in (band.lower, band.upper)]
    known = [value for values in drawn for value in values if value is not None]
    known += [threshold.value for threshold in thresholds]
    low, high = (
        (0.0 if from_zero else min(known)),
        min(max(known), ceiling if ceiling is not None else max(known)),
    )
    if high <= low:
        high = low + (abs(low) * 0.1 or 0.01)
    elif not from_zero:
        low -= 0.06 * (high - low)
    y_ticks = ticks(low, high + 0.04 * (high - low), TICKS)
    high = max(high, y_ticks[-1])
    tick_words = [write_value(tick) for tick in y_ticks]
    left = max(text_width(words) for words in tick_words) + 6
    names = [(line.label, line.values, line.colour, line.bold) for line in lines]
    names += [(edge.label, edge.values, palette.muted, False) for edge in edges]
    ends = [name for name in names if _last(name[1]) is not None]
    words = [*(name[0] for name in ends), *(threshold.label for threshold in thresholds)]
    right = width - max((text_width(label, bold=True) for label in words), default=0) - GAP - 2
    y = Scale(low, high, height - BOTTOM, TOP)
    x = Scale(months[0], max(months[-1], months[0] + 1), left, right)

    for tick, text in zip(y_ticks, tick_words, strict=True):
        sheet.line(left, y(tick), right, y(tick), palette.grid)
        sheet.text(left - 6, y(tick) + 4, text, anchor="end")
    for band in bands:
        for piece in _pieces(months, band.lower, band.upper):
            upper = [(x(month), y(min(top, high))) for month, _, top in piece]
            lower = [(x(month), y(min(bottom, high))) for month, bottom, _ in piece]
            sheet.area(upper, lower, band.fill)
    _months_axis(sheet, months, x, left, right, height - BOTTOM, x_title)
    for threshold in thresholds:
        sheet.line(left, y(threshold.value), right, y(threshold.value), palette.threshold, 1.5, "5 3")
    for line in lines:
        for piece in _pieces(months, line.values, line.values):
            points = [(x(month), y(min(value, high))) for month, value, _ in piece]
            sheet.path(points if len(points) > 1 else points * 2, line.colour, line.width, line.dash)

    wanted = [y(min(_last(values) or 0.0, high)) for _, values, _, _ in ends]
    for threshold in thresholds:
        wanted.append(y(threshold.value))
        ends = [*ends, (threshold.label, (), palette.threshold, False)]
    places = apart(wanted, LINE_HEIGHT, TOP, height - BOTTOM + LINE_HEIGHT / 2)
    for (label, _, colour, bold), at, place in zip(ends, wanted, places, strict=True):
        if abs(at - place) > LINE_HEIGHT / 2:
            sheet.line(right + 1, at, right + GAP - 1, place, palette.axis, 0.75)
        sheet.text(right + GAP, place + 4, label, colour=colour, bold=bold)
    return sheet.svg()


def _months_axis(
    sheet: Sheet, months: Sequence[int], x: Scale, left: float, right: float, base: float, title: str
) -> None:
    """Draw the axis: the first month, then every third, sixth or twelfth, as many as there is room for."""
    sheet.line(left, base, right, base, sheet.palette.axis)
    first, last = months[0], months[-1]
    step = next((step for longest, step in SHORT_AXES if last - first <= longest), 12)
    room = max(int((right - left) / 34), 1)
    steps = [month for month in range(step, last + 1, step) if month > first]
    every = -(-len(steps) // room) if steps else 1
    shown = [month for month in steps if (month // step) % every == 0]
    near = text_width(str(first)) / 2 + 10
    marks = [first, *(month for month in shown if x(month) - x(first) > near)]
    if len(marks) == 1 and last > first:
        marks.append(last)
    for month in marks:
        sheet.line(x(month), base, x(month), base + 4, sheet.palette.axis)
        sheet.text(x(month), base + 16, str(month), anchor="middle")
    sheet.text((left + right) / 2, base + 31, title, anchor="middle")


def _pieces(months: Sequence[int], lower: Values, upper: Values) -> list[list[tuple[int, float, float]]]:
    """Return the runs of months in which both lines are defined."""
    pieces: list[list[tuple[int, float, float]]] = [[]]
    for month, bottom, top in zip(months, lower, upper, strict=True):
        if bottom is None or top is None:
            pieces.append([])
        else:
            pieces[-1].append((month, bottom, top))
    return [piece for piece in pieces if piece]


def _last(values: Values) -> float | None:
    """Return the last value that is defined."""
    return next((value for value in reversed(values) if value is not None), None)
