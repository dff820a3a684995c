"""What reports on paper share: the paper of a deal, the style sheet with its running matter, and the printing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from html import unescape
from typing import TYPE_CHECKING

from schemas.deal import Deal
from schemas.errors import DealError, Problem
from slakit.documents.html import css_string
from slakit.documents.pdf import PrintedPdf, print_pdf
from slakit.documents.tree import LETTER_LAWS
from slakit.paths import templates_dir
from slakit.reports import theme

if TYPE_CHECKING:
    from jinja2 import Template

FACES = ("IBMPlexSans-Regular.ttf", "IBMPlexSerif-SemiBold.ttf")
_STYLE, _TAG = re.compile(r"<style>.*?</style>", re.DOTALL), re.compile(r"<[^>]*>")


def report_style(
    deal: Deal, head_left: str, head_right: str, foot_left: str, sheets: Sequence[str] = ("report.css",)
) -> str:
    """Return the style sheets of a report with what runs in its margins as literal words."""
    running = (("top-left", head_left), ("top-right", head_right), ("bottom-left", foot_left))
    boxes = "".join(f"@{place}{{content:{css_string(words)}}}" for place, words in running)
    law = deal.commercial.governing_law if deal.commercial else "new_york"
    paper = "letter" if law in LETTER_LAWS else "a4"
    page = f"@page{{size:{paper};{boxes}@bottom-right{{content:'Page ' counter(page) ' of ' counter(pages)}}}}"
    read = [(templates_dir() / "styles" / name).read_text("utf-8") for name in sheets]
    return "\n".join([theme.print_properties(), *read, page])


def report_template(name: str) -> Template:
    """Return a template of a report: nothing that was typed is read as markup, and nothing is reachable from it."""
    from jinja2 import FileSystemLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(templates_dir() / "documents"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


def print_report(html: str) -> PrintedPdf:
    """Return a report printed: our own fonts, nothing fetched, no clock read, so that bytes can be compared.

    Raises
    ------
    DealError
        When a name or title holds a sign that the fonts do not have; another font would slip in otherwise.
    """
    words = unescape(_TAG.sub("", _STYLE.sub("", html)))
    missing = sorted(set(words) - signs() - set("\n\t"))
    if missing:
        listed = ", ".join(f"{sign!r} (U+{ord(sign):04X})" for sign in missing[:8])
        raise DealError(
            [
                Problem(
                    "title, parties or names of tranches",
                    listed,
                    "signs that IBM Plex can print",
                    "write it in Latin or Cyrillic letters",
                )
            ]
        )
    return print_pdf(html)


@cache
def signs() -> frozenset[str]:
    """Return the signs that every face of a report has."""
    from fontTools.ttLib import TTFont  # type: ignore[import-untyped]

    signs = []
    for face in FACES:
        with TTFont(templates_dir() / "fonts" / face, lazy=True) as font:
            signs.append(frozenset(map(chr, font.getBestCmap())))
    return frozenset.intersection(*signs)
