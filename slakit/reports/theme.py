"""The tokens of `templates/styles/theme.json` as style sheets and as the colours of charts.

A screen follows its system between light and dark without asking the program, so the colours of a page are
never numbers here but names of CSS properties that hold both.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from slakit.paths import templates_dir

SCREEN_FONTS = (
    ("IBM Plex Sans", 400, "IBMPlexSans-Regular"),
    ("IBM Plex Sans", 600, "IBMPlexSans-SemiBold"),
    ("IBM Plex Mono", 400, "IBMPlexMono-Regular"),
)
SERIES = 3
"""Colours of one chart at most."""


@cache
def tokens() -> dict[str, Any]:
    """Return all tokens, as they stand in the file."""
    tokens: dict[str, Any] = json.loads((templates_dir() / "styles" / "theme.json").read_text("utf-8"))
    return tokens


@dataclass(frozen=True, slots=True)
class Fill:
    """A colour and how much of it covers what lies under it."""

    colour: str
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours by meaning, each a CSS value."""

    on_paper: bool
    """Paper takes attributes; only a style sheet knows the names of a screen's colours."""
    text: str
    muted: str
    axis: str
    grid: str
    page: str
    focus: str
    """The thing itself, and relief."""
    adverse: str
    total: str
    context: str
    threshold: str
    outer_band: Fill
    """P5 to P95."""
    inner_band: Fill
    """P25 to P75."""
    series: tuple[str, str, str]
    """For lines of one kind, in this order; told apart by their lightness too."""


def print_palette() -> Palette:
    """Return the colours of paper: solid, and told apart by a printer without colour."""
    colours = tokens()["print"]
    return Palette(
        on_paper=True,
        text=colours["text"],
        muted=colours["muted"],
        axis=colours["axis"],
        grid=colours["grid"],
        page=colours["page"],
        focus=colours["series"][0],
        adverse=colours["series"][1],
        total=colours["text"],
        context=colours["axis"],
        threshold=colours["bad"],
        outer_band=Fill(colours["band_p5_p95"]),
        inner_band=Fill(colours["band_p25_p75"]),
        series=tuple(colours["series"][:SERIES]),
    )


def screen_palette() -> Palette:
    """Return the colours of the app as names that `screen_properties` defines."""
    light = tokens()["light"]["roles"]
    return Palette(
        on_paper=False,
        text="var(--text)",
        muted="var(--muted)",
        axis="var(--axis)",
        grid="var(--grid)",
        page="var(--bg)",
        focus="var(--focus)",
        adverse="var(--adverse)",
        total="var(--total)",
        context="var(--context)",
        threshold="var(--threshold)",
        outer_band=Fill("var(--focus)", light["band_p5_p95_alpha"]),
        inner_band=Fill("var(--focus)", light["band_p25_p75_alpha"]),
        series=("var(--series-1)", "var(--series-2)", "var(--series-3)"),
    )


def print_properties() -> str:
    """Return the tokens of paper as CSS properties of the page."""
    colours = tokens()["print"]
    plain = {name: value for name, value in colours.items() if isinstance(value, str)}
    sizes = {f"size-{name}": f"{value}pt" for name, value in tokens()["font"]["doc_pt"].items()}
    return _rule(":root", plain | sizes)


def screen_properties() -> str:
    """Return the tokens of the app as CSS properties that hold the light and the dark value at once."""
    light, dark = tokens()["light"], tokens()["dark"]
    both = {name: f"light-dark({value},{dark[name]})" for name, value in light.items() if isinstance(value, str)}
    roles = {
        name: f"light-dark({value},{dark['roles'][name]})"
        for name, value in light["roles"].items()
        if isinstance(value, str)
    }
    pairs = zip(light["series"][:SERIES], dark["series"][:SERIES], strict=True)
    series = {f"series-{i}": f"light-dark({day},{night})" for i, (day, night) in enumerate(pairs, start=1)}
    sizes = {f"size-{name}": f"{value}rem" for name, value in tokens()["font"]["app_rem"].items()}
    return _rule(".stApp", {"paper": tokens()["print"]["page"]} | both | roles | series | sizes)


@cache
def screen_fonts() -> str:
    """Return the font faces of the app, each with its file inside, so that no address is asked for one."""
    faces = []
    for family, weight, stem in SCREEN_FONTS:
        content = base64.b64encode((templates_dir() / "fonts" / f"{stem}.woff2").read_bytes()).decode()
        faces.append(
            f"@font-face{{font-family:'{family}';font-weight:{weight};font-display:swap;"
            f"src:url(data:font/woff2;base64,{content}) format('woff2')}}"
        )
    return "".join(faces)


def _rule(selector: str, properties: dict[str, str]) -> str:
    return selector + "{" + "".join(f"--{name}:{value};" for name, value in properties.items()) + "}"
