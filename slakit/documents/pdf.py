"""HTML to PDF: own fonts only, tagged, the same bytes for the same input; declares PDF/A-3a and PDF/UA-1."""

from __future__ import annotations

import io
import logging
import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from schemas.errors import DealError, Problem
from slakit.documents.reading import seal
from slakit.documents.tags import mark_running_matter
from slakit.paths import templates_dir

NO_DATE = 946684800
"""2000-01-01T00:00:00Z, the date of an attachment unless SOURCE_DATE_EPOCH gives one: equal input, equal bytes."""
_FONT_URL = re.compile(r"slakit:fonts/([A-Za-z-]+\.ttf)")
_PDFUA = ("http://www.aiim.org/pdfua/ns/id/", "pdfuaid", "PDF/UA identification", "part", "Integer")
_OURS = ("urn:slakit:document:1#", "slakit", "slakit document seal", "seal", "Text")


@dataclass(frozen=True, slots=True)
class Attached:
    """A file that travels inside a PDF."""

    name: str
    content: bytes
    description: str
    relationship: str = "Source"
    """What it is to the document, in the words of PDF/A-3: `Source`, `Data`, `Supplement`."""


@dataclass(frozen=True, slots=True)
class PrintedPdf:
    """A PDF and the number of its pages."""

    content: bytes
    pages: int


def print_pdf(
    html: str, attached: Attached | None = None, *, root: Path | None = None, moment: datetime | None = None
) -> PrintedPdf:
    """Return an HTML page printed as PDF.

    Fonts are fetched from `templates/fonts` by the name `slakit:fonts/<file>.ttf`; every other address is refused.

    Parameters
    ----------
    html
        The page, with its styles inside.
    attached
        File to embed once, as the source of the document.
    root
        Folder of the templates instead of the project's own.
    moment
        Time of the attachment; `document_time()` unless given.

    Raises
    ------
    DealError
        When the page names something that is not there, or styles that cannot be printed.
    """
    import weasyprint

    files = []
    if attached:
        moment = moment or document_time()
        files.append(
            weasyprint.Attachment(
                string=attached.content,
                name=attached.name,
                description=attached.description,
                created=moment,
                modified=moment,
                relationship=attached.relationship,
            )
        )
    with _complaints() as found, warnings.catch_warnings():
        # WeasyPrint leaves its colour profile open for the garbage collector to close.
        warnings.simplefilter("ignore", ResourceWarning)
        page = weasyprint.HTML(string=html, url_fetcher=_fetcher(root or templates_dir()))
        rendered = page.render()
        content = rendered.write_pdf(pdf_variant="pdf/a-3a", attachments=files)
    if found:
        raise DealError(
            Problem("styles", line, "a page that prints without warnings", "correct the templates") for line in found
        )
    return PrintedPdf(_finished(content, attached), len(rendered.pages))


def count_pages(html: str, *, root: Path | None = None) -> int:
    """Return how many pages an HTML page takes; it is laid out and not written."""
    import weasyprint

    return len(weasyprint.HTML(string=html, url_fetcher=_fetcher(root or templates_dir())).render().pages)


def document_time() -> datetime:
    """Return the time written into documents: SOURCE_DATE_EPOCH, or a fixed one that says nothing."""
    text = os.environ.get("SOURCE_DATE_EPOCH", "")
    return datetime.fromtimestamp(int(text) if text.isdecimal() else NO_DATE, tz=UTC)


def _finished(content: bytes, attached: Attached | None) -> bytes:
    """Return the PDF with its UA identifier and seal, saved with an id that follows from its content."""
    import pikepdf

    with pikepdf.open(io.BytesIO(content)) as pdf:
        if attached:  # WeasyPrint lists the file twice: once by name, once by kind
            pdf.Root.AF = pikepdf.Array([pdf.Root.AF[0]])
        mark_running_matter(pdf)
        mark = seal(pdf, attached.content if attached else b"")
        xmp = pdf.Root.Metadata.read_bytes()
        added = _properties(mark).encode()
        pdf.Root.Metadata = pdf.make_stream(
            xmp.replace(b"</rdf:RDF>", added + b"</rdf:RDF>"), Type=pikepdf.Name.Metadata, Subtype=pikepdf.Name.XML
        )
        return saved(pdf)


def saved(pdf: Any) -> bytes:
    """Return an opened PDF as bytes that follow from what it holds alone."""
    import pikepdf

    out = io.BytesIO()
    pdf.save(
        out,
        deterministic_id=True,
        object_stream_mode=pikepdf.ObjectStreamMode.generate,
        compress_streams=True,
        fix_metadata_version=False,
    )
    return out.getvalue()


def typesetter() -> dict[str, str]:
    """Return the system libraries that lay out and embed letters, by name: other versions may print other bytes."""
    from weasyprint.text import ffi

    major, minor, micro = (ffi.pango.pango_version() // step % 100 for step in (10_000, 100, 1))
    return {"pango": f"{major}.{minor}.{micro}", "harfbuzz-subset": "used" if ffi.harfbuzz_subset else "not there"}


def _properties(mark: str) -> str:
    """Return the XMP of the UA identifier and the seal, with the schemas that PDF/A asks for."""
    schemas = "".join(
        '<rdf:li rdf:parseType="Resource">'
        f"<pdfaSchema:namespaceURI>{uri}</pdfaSchema:namespaceURI><pdfaSchema:prefix>{prefix}</pdfaSchema:prefix>"
        f"<pdfaSchema:schema>{title}</pdfaSchema:schema><pdfaSchema:property><rdf:Seq>"
        '<rdf:li rdf:parseType="Resource"><pdfaProperty:category>internal</pdfaProperty:category>'
        f"<pdfaProperty:description>{title}</pdfaProperty:description><pdfaProperty:name>{name}</pdfaProperty:name>"
        f"<pdfaProperty:valueType>{kind}</pdfaProperty:valueType></rdf:li></rdf:Seq></pdfaSchema:property></rdf:li>"
        for uri, prefix, title, name, kind in (_PDFUA, _OURS)
    )
    return (
        f'<rdf:Description xmlns:pdfuaid="{_PDFUA[0]}" rdf:about="" pdfuaid:part="1"/>'
        f'<rdf:Description xmlns:slakit="{_OURS[0]}" rdf:about="" slakit:seal="{mark}"/>'
        '<rdf:Description xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/" '
        'xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#" '
        'xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#" rdf:about="">'
        f"<pdfaExtension:schemas><rdf:Bag>{schemas}</rdf:Bag></pdfaExtension:schemas></rdf:Description>"
    )


def _fetcher(base: Path) -> Any:
    """Return a fetcher that gives the project's own fonts and refuses everything else."""
    from weasyprint.urls import URLFetcher, URLFetcherResponse

    class OwnFonts(URLFetcher):  # type: ignore[misc]
        """Reads files of `templates/fonts` by name."""

        def fetch(self, url: str, headers: Any = None) -> Any:
            match = _FONT_URL.fullmatch(url)
            if match is None:
                raise ValueError(f"{url[:80]} is not one of the document's own fonts")
            return URLFetcherResponse(url, (base / "fonts" / match[1]).read_bytes(), {"Content-Type": "font/ttf"})

    return OwnFonts(allowed_protocols=("slakit",))


@contextmanager
def _complaints() -> Iterator[list[str]]:
    """Collect what WeasyPrint would only log."""
    found: list[str] = []

    class Collector(logging.Handler):
        """Keeps each message."""

        def emit(self, record: logging.LogRecord) -> None:
            found.append(record.getMessage())

    logger, collector = logging.getLogger("weasyprint"), Collector(logging.WARNING)
    logger.addHandler(collector)
    try:
        yield found
    finally:
        logger.removeHandler(collector)
