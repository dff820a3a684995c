"""Contracts as HTML or Markdown and scores as JSON: the text of the file against the text made again."""

from __future__ import annotations

import re
from html import unescape

from slakit.documents.commented import without_comment
from slakit.verify.carriers import Carried, mapping_in
from slakit.verify.figures import figures
from slakit.verify.found import Findings
from slakit.verify.lines import changed_lines
from slakit.verify.remade import Remade

_PIECE = re.compile(r"(?=<(?:p|h[1-6]|tr|li|div|section|nav|table|style|body)\b)")
_TAG_NAME = re.compile(r"</?([A-Za-z0-9]+)")
_TAG, _ID = re.compile(r"<[^>]*>"), re.compile(r'\bid="([^"]*)"')


def compare_texts(carried: Carried, remade: Remade, found: Findings) -> dict[str, int]:
    """Hold a contract as HTML or Markdown against the one made again, line by line; returns how many lines it has."""
    ours, theirs = (content.decode().replace("\r\n", "\n") for content in (carried.content, remade.content))
    stored, again = without_comment(ours), without_comment(theirs)
    if carried.manifest.get("form") == "html":
        return {"lines": _compare_html(stored, again, remade, found)}
    lines = stored.splitlines()
    for line, one, other in changed_lines(lines, again.splitlines()):
        found.differ(f"line {line}", one, other)
    return {"lines": len(lines)}


def compare_json(carried: Carried, remade: Remade, found: Findings) -> dict[str, int]:
    """Hold the JSON of a score against the one made again; what is known to differ is not said twice."""
    stored, again = (mapping_in(content, carried.name, "a file") for content in (carried.content, remade.content))
    known = {difference.where for difference in found.differences}
    for figure in figures(stored, again):
        if not figure.same and figure.path not in known:
            found.differ(figure.path, figure.stored, figure.recomputed)
    return {}


def _compare_html(stored: str, again: str, remade: Remade, found: Findings) -> int:
    """Hold two pages of HTML against each other, paragraph by paragraph, and return how many there are."""
    pieces, pieces_again = _PIECE.split(stored), _PIECE.split(again)
    for number, one, other in changed_lines(pieces, pieces_again):
        words = _words(one), _words(other)
        of_words = words[0] != words[1] and _TAG_NAME.findall(one) == _TAG_NAME.findall(other)
        shown = words if of_words else (_markup(one, other), _markup(other, one))
        found.differ(_place(pieces, number, remade), *shown)
    return len(pieces)


def _place(pieces: list[str], number: int, remade: Remade) -> str:
    """Return the paragraph in or after which a piece stands."""
    for piece in reversed(pieces[:number]):
        ids = [name for name in _ID.findall(piece) if name in remade.numbering]
        if ids:
            printed = remade.numbering[ids[-1]]
            return f"{'clause ' if printed[0].isdigit() else ''}{printed} (piece {number} of the page)"
    return f"piece {number} of the page"


def _words(piece: str) -> str:
    return " ".join(unescape(_TAG.sub(" ", piece)).split())


def _markup(piece: str, other: str) -> str:
    """Return the markup around the first sign at which two pieces differ."""
    at = next((i for i, (a, b) in enumerate(zip(piece, other, strict=False)) if a != b), min(len(piece), len(other)))
    return piece[max(at - 40, 0) : at + 80]
