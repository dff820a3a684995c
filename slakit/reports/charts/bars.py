"""Horizontal bars, named at their side and valued at their end; a waterfall when they add up to a total."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from slakit.reports.charts.canvas import LINE_HEIGHT, Scale, Sheet, text_width, wrapped
from slakit.reports.theme import Palette

ROW = 28.0
"""Height of a row unless the page asks for another. [px]"""
BAR_SHARE = 0.64
"""Share of a row that its bar fills. [1]"""
GAP = 7.0
NAME_SHARE = 0.4
"""Share of the sheet in which a name is broken into lines. [1]"""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: its name, its length and the value as it is written."""

    label: str
    value: float
    written: str


def bar_chart(
    bars: Sequence[Bar],
    *,
    palette: Palette,
    alt: str,
    width: float = 300,
    row: float = ROW,
    colour: str | None = None,
) -> str:
    """Return bars from zero, in the order given, in the adverse colour unless another is given."""
    rows = _Rows(bars, Sheet(width, len(bars) * row + 2, palette, alt), row)
    x = Scale(0.0, max((bar.value for bar in bars), default=0.0) or 1.0, rows.left, rows.right)
    rows.sheet.line(rows.left, 0, rows.left, rows.sheet.height, palette.axis)
    for i, bar in enumerate(bars):
        rows.draw(i, bar, x(0.0), x(bar.value), colour or palette.adverse)
    return rows.sheet.svg()


def waterfall(
    bars: Sequence[Bar], total: Bar, *, palette: Palette, alt: str, width: float = 300, row: float = ROW
) -> str:
    """Return bars that each start where the one before ended, then the total.

    Increases are filled in the adverse colour, decreases are outlined in the colour of relief.
    """
    rows = _Rows([*bars, total], Sheet(width, (len(bars) + 1) * row + 2, palette, alt), row)
    reached = [0.0]
    for bar in bars:
        reached.append(reached[-1] + bar.value)
    x = Scale(min(0.0, *reached), max(*reached, total.value, 0.0) or 1.0, rows.left, rows.right)
    for i, bar in enumerate(bars):
        start, end = sorted(reached[i : i + 2])
        decrease = bar.value < 0
        colour = palette.focus if decrease else palette.adverse
        rows.draw(i, bar, x(start), x(end), colour, outlined=decrease)
        below = (i + 0.5 + BAR_SHARE / 2) * row
        at = x(reached[i + 1])
        rows.sheet.line(at, below, at, below + (1 - BAR_SHARE) * row, palette.axis)
    rows.draw(len(bars), total, x(min(0.0, total.value)), x(max(0.0, total.value)), palette.total, bold=True)
    return rows.sheet.svg()


class _Rows:
    """The rows of a sheet, with room at the left for the longest name and at the right for the longest value."""

    def __init__(self, bars: Sequence[Bar], sheet: Sheet, height: float) -> None:
        self.sheet, self.height = sheet, height
        names = [text_width(line, bold=True) for bar in bars for line in self._lines(bar.label)]
        values = [text_width(bar.written, bold=True) for bar in bars]
        self.left = max(names, default=0.0) + GAP
        self.right = sheet.width - max(values, default=0.0) - GAP

    def draw(
        self, index: int, bar: Bar, start: float, end: float, colour: str, *, outlined: bool = False, bold: bool = False
    ) -> None:
        """Draw one bar from `start` to `end` with its name and its value."""
        middle, thick = (index + 0.5) * self.height, BAR_SHARE * self.height
        text = self.sheet.palette.text
        lines = self._lines(bar.label)
        first = middle + 4 - (len(lines) - 1) * LINE_HEIGHT / 2
        for k, words in enumerate(lines):
            self.sheet.text(self.left - GAP, first + k * LINE_HEIGHT, words, anchor="end", colour=text, bold=bold)
        if bar.value:
            self.sheet.bar(start, middle - thick / 2, end - start, thick, colour, outlined=outlined)
        self.sheet.text(max(end, start + 1) + GAP - 2, middle + 4, bar.written, colour=text, bold=bold)

    def _lines(self, label: str) -> list[str]:
        """Return a name in at most two lines."""
        lines = wrapped(label, NAME_SHARE * self.sheet.width)
        return lines if len(lines) <= 2 else [lines[0], " ".join(lines[1:])]
