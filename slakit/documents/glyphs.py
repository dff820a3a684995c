"""Which signs the document fonts can print. A sign they lack is refused, never replaced by another font."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from schemas.errors import DealError, Problem
from slakit.documents.nodes import Document, Run, blocks_of, runs_of
from slakit.paths import templates_dir

FACES = ("IBMPlexSerif-Regular.ttf", "IBMPlexSans-Regular.ttf")


def refuse_missing_glyphs(document: Document, root: Path | None = None) -> None:
    """Raise when the document holds a sign that its fonts cannot print; all such places at once.

    Raises
    ------
    DealError
        Naming the term or paragraph and the signs.
    """
    known = frozenset.intersection(*(_signs((root or templates_dir()) / "fonts" / face) for face in FACES))
    problems = {}
    for place, run in _runs(document):
        missing = sorted(set(run.text) - known - {"\n"})
        if missing and run.kind != "blank":
            where = run.path or place
            signs = ", ".join(f"{sign!r} (U+{ord(sign):04X})" for sign in missing[:8])
            problems[where] = Problem(
                where, signs, "signs that IBM Plex can print", "write it in Latin or Cyrillic letters"
            )
    if problems:
        raise DealError(problems.values())


def _runs(document: Document) -> Iterator[tuple[str, Run]]:
    for signatory in document.signatories:
        yield "parties", signatory.name
        if signatory.entity:
            yield "parties", signatory.entity
    for section in document.sections:
        yield section.id, Run("text", section.title)
    for node in document.walk():
        for block in blocks_of(node):
            for runs in runs_of(block):
                for run in runs:
                    yield node.id, run


@lru_cache(maxsize=8)
def _signs(path: Path) -> frozenset[str]:
    from fontTools.ttLib import TTFont  # type: ignore[import-untyped]

    with TTFont(path, lazy=True) as font:
        return frozenset(map(chr, font.getBestCmap()))
