"""A deal to the files of its contract."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from schemas.deal import Deal
from schemas.errors import DealError, Problem
from slakit.documents.embed import attached_terms
from slakit.documents.glyphs import refuse_missing_glyphs
from slakit.documents.html import to_html
from slakit.documents.lint import lint
from slakit.documents.markdown import to_markdown
from slakit.documents.nodes import Document
from slakit.documents.pdf import Attached, PrintedPdf, print_pdf
from slakit.documents.reading import ATTACHMENT
from slakit.documents.tree import assemble
from slakit.files import write_whole

FORMATS = ("pdf", "html", "md")


class HasDeal(Protocol):
    """A loaded deal file."""

    @property
    def deal(self) -> Deal:
        """The deal in it."""
        ...


@dataclass(frozen=True, slots=True)
class DraftedFile:
    """A file of the contract set."""

    path: Path
    kind: str
    """`pdf`, `html` or `md`."""
    pages: int | None
    """Pages of a PDF; other kinds have none. [1]"""
    sha256: str


def draft(
    loaded: Deal | HasDeal,
    out_dir: Path | str,
    formats: tuple[str, ...] = ("pdf",),
    position: str = "balanced",
    *,
    document: str = "sla",
    root: Path | None = None,
) -> list[DraftedFile]:
    """Return the files of the contract set, written to a folder.

    All files are made before the first is written, and each is written beside its place and then moved there, so that
    no reader finds half a contract.

    Parameters
    ----------
    loaded
        A deal, or what was loaded from a deal file.
    out_dir
        Folder to write to; made when it is not there.
    formats
        Any of `pdf`, `html`, `md`.
    position
        Alternative of each clause.
    document
        Name of a description in `templates/documents`.
    root
        Folder to read templates from instead of the project's own.

    Raises
    ------
    DealError
        When a format or position is unknown, a sign cannot be printed, or the lint finds an error in the text.
    """
    unknown = [kind for kind in formats if kind not in FORMATS]
    if unknown:
        raise DealError(
            [Problem("formats", ", ".join(unknown), f"any of {', '.join(FORMATS)}", "name a format that is written")]
        )
    deal = loaded if isinstance(loaded, Deal) else loaded.deal
    tree = assemble(deal, document, position, root=root)
    errors = [finding for finding in lint(tree, root=root) if finding.severity == "error"]
    if errors:
        raise DealError(
            Problem(finding.paragraph, finding.message, "a text without faults", "correct the clause")
            for finding in errors
        )
    made = [(kind, *_made(tree, kind, root)) for kind in dict.fromkeys(formats)]
    folder = Path(out_dir)
    return [
        DraftedFile(
            path=write_whole(folder / f"{tree.id}.{kind}", content),
            kind=kind,
            pages=pages,
            sha256=hashlib.sha256(content).hexdigest(),
        )
        for kind, content, pages in made
    ]


def to_pdf(document: Document, *, root: Path | None = None) -> PrintedPdf:
    """Return a document printed as PDF with its terms attached.

    Raises
    ------
    DealError
        When the document holds a sign that its fonts cannot print.
    """
    refuse_missing_glyphs(document, root)
    attached = Attached(
        ATTACHMENT,
        attached_terms(document),
        f"Terms that this document prints, as data. sha256 of the terms: {document.terms_sha256}",
    )
    return print_pdf(to_html(document, root=root, standalone=False), attached, root=root)


def _made(tree: Document, kind: str, root: Path | None) -> tuple[bytes, int | None]:
    match kind:
        case "pdf":
            printed = to_pdf(tree, root=root)
            return printed.content, printed.pages
        case "html":
            return to_html(tree, root=root).encode(), None
        case _:
            return to_markdown(tree).encode(), None
