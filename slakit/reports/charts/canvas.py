"""What all charts share: a sheet of SVG, scales, ticks, the width of words, labels that stay apart."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Literal

from slakit.reports.theme import Fill, Palette

FONT = "IBM Plex Sans"
TEXT_SIZE = 11.5
LINE_HEIGHT = 13.0

# Advance widths of IBM Plex Sans in thousandths of the size, rounded up; a test compares them with the font.
_WIDTHS = {
    **dict.fromkeys(" \u00a0", 240),
    **dict.fromkeys("ijl.,:;'!", 295),
    **dict.fromkeys("ft()[]|{}", 355),
    **dict.fromkeys('Ir/-"\\', 445),
    **dict.fromkeys("mwMW@%—→…", 960),
    **dict.fromkeys("#&", 720),
}
_CAPITAL = 715
_OTHER = 605


def text_width(text: str, size: float = TEXT_SIZE, *, bold: bool = False) -> float:
    """Return a width that `text` does not exceed. [px]"""
    thousandths = sum(_WIDTHS.get(letter) or (_CAPITAL if letter.isupper() else _OTHER) for letter in text)
    return thousandths / 1000 * size * (1.08 if bold else 1.0)


def wrapped(text: str, width: float, size: float = TEXT_SIZE) -> list[str]:
    """Return the words of `text` in lines no wider than `width`, where a single word allows it."""
    lines: list[str] = []
    for word in text.split(" "):
        if lines and text_width(f"{lines[-1]} {word}", size) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def ticks(low: float, high: float, about: int) -> list[float]:
    """Return round values inside `low` to `high`, about so many."""
    if high <= low:
        return [low]
    raw = (high - low) / max(about, 1)
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(k * step, 12) for k in range(first, last + 1)]


def apart(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Return places near the `wanted` ones, in their order, at least `gap` apart and within `low` to `high`.

    Labels that would touch are pooled around their common middle; when they cannot all fit, the gap shrinks.
    """
    if not wanted:
        return []
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    if len(order) > 1:
        gap = min(gap, (high - low) / (len(order) - 1))
    pools: list[tuple[float, int]] = []  # (first place of the pool, labels in it)
    for i in order:
        first, size = wanted[i], 1
        while pools and pools[-1][0] + pools[-1][1] * gap > first:
            before, count = pools.pop()
            first = (before * count + (first - count * gap) * size) / (count + size)
            size += count
        pools.append((min(max(first, low), high - (size - 1) * gap), size))
        while len(pools) > 1 and pools[-2][0] + pools[-2][1] * gap > pools[-1][0] + 1e-9:
            later, count = pools.pop()
            before, size = pools.pop()
            first = (before * size + (later - size * gap) * count) / (size + count)
            size += count
            pools.append((min(max(first, low), high - (size - 1) * gap), size))
    places = [first + k * gap for first, size in pools for k in range(size)]
    result = [0.0] * len(wanted)
    for i, place in zip(order, places, strict=True):
        result[i] = place
    return result


@dataclass(frozen=True, slots=True)
class Scale:
    """A straight line from values to places on the sheet."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return where `value` lies. [px]"""
        if self.high == self.low:
            return (self.start + self.end) / 2
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


@dataclass(slots=True)
class Sheet:
    """An SVG being drawn."""

    width: float
    height: float
    palette: Palette
    alt: str
    parts: list[str] = field(default_factory=list)

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        anchor: Literal["start", "middle", "end"] = "start",
        colour: str | None = None,
        bold: bool = False,
        size: float = TEXT_SIZE,
    ) -> None:
        """Write words with their baseline at `y`."""
        paint = self._paint(
            fill=colour or self.palette.muted,
            font_family=FONT,
            font_size=f"{size:g}px",
            font_weight="600" if bold else "400",
        )
        self.parts.append(f'<text x="{_px(x)}" y="{_px(y)}" text-anchor="{anchor}"{paint}>{escape(words)}</text>')

    def line(
        self, x1: float, y1: float, x2: float, y2: float, colour: str, width: float = 1, dash: str | None = None
    ) -> None:
        """Draw one straight line."""
        paint = self._paint(stroke=colour, stroke_width=f"{width:g}", stroke_dasharray=dash)
        self.parts.append(f'<line x1="{_px(x1)}" y1="{_px(y1)}" x2="{_px(x2)}" y2="{_px(y2)}"{paint}/>')

    def path(self, points: Iterable[tuple[float, float]], colour: str, width: float, dash: str | None = None) -> None:
        """Draw a line through points."""
        paint = self._paint(
            fill="none",
            stroke=colour,
            stroke_width=f"{width:g}",
            stroke_dasharray=dash,
            stroke_linejoin="round",
            stroke_linecap="butt" if dash else "round",
        )
        self.parts.append(f'<path d="{_d(points)}"{paint}/>')

    def area(self, upper: list[tuple[float, float]], lower: list[tuple[float, float]], fill: Fill) -> None:
        """Fill between two lines."""
        paint = self._paint(fill=fill.colour, fill_opacity=None if fill.opacity == 1 else f"{fill.opacity:g}")
        self.parts.append(f'<path d="{_d([*upper, *reversed(lower)])}Z"{paint}/>')

    def bar(self, x: float, y: float, width: float, height: float, colour: str, *, outlined: bool = False) -> None:
        """Draw a bar, at least a pixel wide, filled or as an outline."""
        inset = 0.75 if outlined else 0.0
        wide = max(max(width, 1.0) - 2 * inset, 0.5)
        paint = self._paint(fill="none", stroke=colour, stroke_width="1.5") if outlined else self._paint(fill=colour)
        self.parts.append(
            f'<rect x="{_px(x + inset)}" y="{_px(y + inset)}" width="{_px(wide)}" '
            f'height="{_px(height - 2 * inset)}"{paint}/>'
        )

    def _paint(self, **values: str | None) -> str:
        """Return how a shape is drawn: attributes on paper, a style where colours are names."""
        given = [(name.replace("_", "-"), value) for name, value in values.items() if value is not None]
        if self.palette.on_paper:
            return "".join(f' {name}="{escape(value)}"' for name, value in given)
        return f' style="{";".join(f"{name}:{escape(value)}" for name, value in given)}"'

    def svg(self) -> str:
        """Return the drawing, with the same numbers in words for those who do not see it."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:g} {self.height:g}" '
            f'role="img" class="chart"><title>{escape(self.alt)}</title>{"".join(self.parts)}</svg>'
        )


def _px(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _d(points: Iterable[tuple[float, float]]) -> str:
    """Return the path data of a line through points."""
    return "M" + "L".join(f"{_px(x)},{_px(y)}" for x, y in points)
