"""Ranges along one scale, each named at its side, with the zones of the scale named above them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from slakit.reports.charts.canvas import LINE_HEIGHT, Scale, Sheet, text_width, ticks, wrapped
from slakit.reports.theme import Palette

ROW = 40.0
"""Height of a row. [px]"""
ABOVE, BELOW = 20.0, 38.0
"""Room for the names of zones and for the axis. [px]"""
THICK = 14.0
GAP = 7.0
NAME_SHARE = 0.3
"""Share of the sheet in which a name is broken into lines. [1]"""
TICKS = 5


@dataclass(frozen=True, slots=True)
class Range:
    """From where to where, the mark inside it, and the words at its end."""

    label: str
    low: float
    mark: float
    high: float
    written: str


@dataclass(frozen=True, slots=True)
class Zone:
    """A named stretch of the scale."""

    name: str
    low: float
    high: float


def range_chart(
    ranges: Sequence[Range],
    *,
    palette: Palette,
    alt: str,
    write_value: Callable[[float], str],
    zones: Sequence[Zone] = (),
    x_title: str = "",
    width: float = 380,
) -> str:
    """Return ranges below each other on one scale from zero."""
    height = ABOVE + len(ranges) * ROW + BELOW
    sheet = Sheet(width, height, palette, alt)
    names = [wrapped(one.label, NAME_SHARE * width) for one in ranges]
    left = max(text_width(line, bold=True) for lines in names for line in lines) + GAP
    right = width - max(text_width(one.written, bold=True) for one in ranges) - GAP
    highest = max(one.high for one in ranges) or 1.0
    marks = ticks(0.0, 1.06 * highest, TICKS)
    x = Scale(0.0, max(1.02 * highest, marks[-1]), left, right)
    base = height - BELOW
    _zones(sheet, zones, x, base)
    for i, (one, lines) in enumerate(zip(ranges, names, strict=True)):
        middle = ABOVE + (i + 0.5) * ROW
        for k, words in enumerate(lines):
            first = middle + 4 - (len(lines) - 1) * LINE_HEIGHT / 2
            sheet.text(left - GAP, first + k * LINE_HEIGHT, words, anchor="end", colour=palette.text)
        start, end = x(one.low), x(one.high)
        top, bottom = middle - THICK / 2, middle + THICK / 2
        sheet.area([(start, top), (end, top)], [(start, bottom), (end, bottom)], palette.inner_band)
        sheet.line(x(one.mark), top - 2, x(one.mark), bottom + 2, palette.focus, 2.5)
        sheet.text(end + GAP - 2, middle + 4, one.written, colour=palette.text)
    sheet.line(left, base, right, base, palette.axis)
    for mark in marks:
        sheet.line(x(mark), base, x(mark), base + 4, palette.axis)
        sheet.text(x(mark), base + 16, write_value(mark), anchor="middle")
    sheet.text((left + right) / 2, base + 31, x_title, anchor="middle")
    return sheet.svg()


def _zones(sheet: Sheet, zones: Sequence[Zone], x: Scale, base: float) -> None:
    """Draw the edges of the zones, and the names of those that are wide enough to carry one."""
    for zone in zones:
        if zone.low >= x.high:
            continue
        start, end = x(zone.low), x(min(zone.high, x.high))
        if zone.low > x.low:
            sheet.line(start, ABOVE - 4, start, base, sheet.palette.grid)
        if end - start >= text_width(zone.name) + 4:
            sheet.text((start + end) / 2, ABOVE - 8, zone.name, anchor="middle")
