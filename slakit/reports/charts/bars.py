"""Horizontal bars, named at their side and valued at their end; a waterfall when they add up to a total."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from slakit.reports.charts.canvas import LINE_HEIGHT, Scale, Sheet, text_width, wrapped
from slakit.reports.theme import Palette

ROW = 28.0
BAR = 18.0
GAP = 7.0


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: its name, its length and the value as it is written."""

    label: str
    value: float
    written: str


def bar_chart(bars: Sequence[Bar], *, palette: Palette, alt: str, width: float = 300) -> str:
    """Return bars from zero, in the order given."""
    sheet, left, right = _prepared(bars, palette, alt, width)
    x = Scale(0.0, max((bar.value for bar in bars), default=0.0) or 1.0, left, right)
    sheet.line(left, 0, left, sheet.height, palette.axis)
    for i, bar in enumerate(bars):
        _row(sheet, i, bar, left, left, x(bar.value), palette.adverse)
    return sheet.svg()


def waterfall(bars: Sequence[Bar], total: Bar, *, palette: Palette, alt: str, width: float = 300) -> str:
    """Return bars that each start where the one before ended, then the total.

    Increases are filled in the adverse colour, decreases are outlined in the colour of relief.
    """
    rows = [*bars, total]
    sheet, left, right = _prepared(rows, palette, alt, width)
    reached = [0.0]
    for bar in bars:
        reached.append(reached[-1] + bar.value)
    x = Scale(min(0.0, *reached), max(*reached, total.value, 0.0) or 1.0, left, right)
    for i, bar in enumerate(bars):
        start, end = reached[i], reached[i + 1]
        decrease = bar.value < 0
        colour = palette.focus if decrease else palette.adverse
        _row(sheet, i, bar, left, x(min(start, end)), x(max(start, end)), colour, outlined=decrease)
        below = i * ROW + (ROW + BAR) / 2
        sheet.line(x(end), below, x(end), below + ROW - BAR, palette.axis)
    _row(
        sheet,
        len(bars),
        total,
        left,
        x(min(0.0, total.value)),
        x(max(0.0, total.value)),
        palette.total,
        bold=True,
    )
    return sheet.svg()


def _prepared(bars: Sequence[Bar], palette: Palette, alt: str, width: float) -> tuple[Sheet, float, float]:
    """Return the sheet and where bars may start and end, so that names and values stay inside."""
    names = max((text_width(line, bold=True) for bar in bars for line in _lines(bar.label, width)), default=0.0)
    values = max((text_width(bar.written, bold=True) for bar in bars), default=0.0)
    sheet = Sheet(width, len(bars) * ROW + 2, palette, alt)
    return sheet, names + GAP, width - values - GAP


def _row(
    sheet: Sheet,
    index: int,
    bar: Bar,
    left: float,
    start: float,
    end: float,
    colour: str,
    *,
    outlined: bool = False,
    bold: bool = False,
) -> None:
    """Draw one bar with its name and its value."""
    middle = index * ROW + ROW / 2
    lines = _lines(bar.label, sheet.width)
    first = middle + 4 - (len(lines) - 1) * LINE_HEIGHT / 2
    for k, words in enumerate(lines):
        at = first + k * LINE_HEIGHT
        sheet.text(left - GAP, at, words, anchor="end", colour=sheet.palette.text, bold=bold)
    if bar.value:
        sheet.bar(start, middle - BAR / 2, end - start, BAR, colour, outlined=outlined)
    sheet.text(max(end, start + 1) + GAP - 2, middle + 4, bar.written, colour=sheet.palette.text, bold=bold)


def _lines(label: str, width: float) -> list[str]:
    """Return a name in at most two lines of two fifths of the sheet."""
    lines = wrapped(label, 0.4 * width)
    return lines if len(lines) <= 2 else [lines[0], " ".join(lines[1:])]
