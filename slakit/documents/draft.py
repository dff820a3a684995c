"""A deal to the files of its contract."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, Protocol

from schemas.deal import Deal
from schemas.errors import DealError, Problem
from slakit.documents.attach import MANIFEST, attach_manifest
from slakit.documents.commented import with_comment
from slakit.documents.embed import attached_terms
from slakit.documents.glyphs import refuse_missing_glyphs
from slakit.documents.html import STYLES, to_html
from slakit.documents.lint import lint
from slakit.documents.markdown import to_markdown
from slakit.documents.nodes import Document
from slakit.documents.pdf import Attached, PrintedPdf, document_time, print_pdf, typesetter
from slakit.documents.reading import ATTACHMENT
from slakit.documents.tree import assemble
from slakit.files import write_whole
from slakit.manifest import document_manifest, print_sha256, versions

FORMATS = ("pdf", "html", "md")
LAID_OUT_BY = ("fonts", "styles/theme.json", *(f"styles/{name}" for name in STYLES))
"""Files and folders of the templates that a contract looks as it does by."""


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
    as_of: date | None = None,
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
    as_of
        Day whose terms `loaded` holds, for the manifest; none for the terms as signed.
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
    made = [(kind, *_made(tree, kind, root, as_of)) for kind in dict.fromkeys(formats)]
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


def to_pdf(
    document: Document,
    *,
    root: Path | None = None,
    as_of: date | None = None,
    manifest: Mapping[str, Any] | None = None,
) -> PrintedPdf:
    """Return a document printed as PDF with its terms and its manifest attached.

    Parameters
    ----------
    manifest
        That of the first copy, where a document is made again; else a new one, for the terms of `as_of`.

    Raises
    ------
    DealError
        When the document holds a sign that its fonts cannot print.
    """
    refuse_missing_glyphs(document, root)
    manifest = manifest or contract_manifest(document, "pdf", as_of, root=root)
    attached = Attached(
        ATTACHMENT,
        attached_terms(document),
        f"Terms that this document prints, as data. sha256 of the terms: {document.terms_sha256}",
    )
    moment = datetime.fromisoformat(manifest["document_time"])
    printed = print_pdf(to_html(document, root=root, standalone=False), attached, root=root, moment=moment)
    return PrintedPdf(attach_manifest(printed.content, manifest), printed.pages)


def contract_manifest(
    document: Document, form: str, as_of: date | None = None, *, root: Path | None = None
) -> dict[str, Any]:
    """Return what a contract was made from: its terms and texts, never the rest of the deal.

    Not even the digest of the deal is in it, by which a reader could try out what the deal may be.

    Returns
    -------
    dict
        As `document_manifest`, of kind `contract`, with `document`, `position`, `language`, `form` (one of `FORMATS`),
        `schema_version`, `as_of`, `terms_sha256`, `templates_sha256` of its texts, `styles_sha256`, `versions` and, for
        a PDF, `document_time`.
    """
    printed = form == "pdf"
    made_from: dict[str, Any] = {
        "document": document.id,
        "position": document.position,
        "language": document.language,
        "form": form,
        "schema_version": document.schema_version,
        "as_of": as_of.isoformat() if as_of else None,
        "terms_sha256": document.terms_sha256,
        "templates_sha256": document.templates_sha256,
        "styles_sha256": print_sha256(*LAID_OUT_BY, root=root),
        "versions": versions() | (typesetter() if printed else {}),
    }
    if printed:
        made_from["document_time"] = document_time().isoformat()
    return document_manifest("contract", made_from, {ATTACHMENT: attached_terms(document)})


def made_again(document: Document, form: str, manifest: Mapping[str, Any]) -> bytes:
    """Return the file of a contract with the manifest of its first copy."""
    if form == "pdf":
        return to_pdf(document, manifest=manifest).content
    return _text(document, form, manifest, None).encode()


def _text(document: Document, form: str, manifest: Mapping[str, Any], root: Path | None) -> str:
    """Return a contract as HTML or Markdown, with its manifest and terms in a comment at its end."""
    text = to_html(document, root=root) if form == "html" else to_markdown(document)
    return with_comment(text, {MANIFEST: manifest, ATTACHMENT: json.loads(attached_terms(document))})


def _made(tree: Document, kind: str, root: Path | None, as_of: date | None) -> tuple[bytes, int | None]:
    if kind == "pdf":
        printed = to_pdf(tree, root=root, as_of=as_of)
        return printed.content, printed.pages
    return _text(tree, kind, contract_manifest(tree, kind, as_of, root=root), root).encode(), None
