"""Files that travel inside a finished PDF: its manifest, and what it can be made again from."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from slakit.documents.pdf import Attached, document_time, saved

MANIFEST = "manifest.json"
"""Name of the manifest among the attachments."""


def attach_manifest(pdf_bytes: bytes, manifest: Mapping[str, Any], attachments: Iterable[Attached] = ()) -> bytes:
    """Return a PDF that carries its manifest, and other files beside it; the same input gives the same bytes.

    Parameters
    ----------
    manifest
        As `slakit.manifest.document_manifest` returns it; its `document_time` is the date of the files.
    attachments
        Files to attach beside those that the PDF has already.

    Raises
    ------
    ValueError
        When two files have one name.
    """
    import pikepdf

    stated = manifest.get("document_time")
    moment = datetime.fromisoformat(stated) if stated else document_time()
    about = Attached(
        MANIFEST,
        manifest_file(manifest),
        "What this document was made from; slakit verify makes it again.",
        "Supplement",
    )
    with pikepdf.open(io.BytesIO(pdf_bytes)) as pdf:
        if "/Names" not in pdf.Root:
            pdf.Root.Names = pdf.make_indirect(pikepdf.Dictionary())
        names = pdf.Root.Names
        held = names.EmbeddedFiles.Names if "/EmbeddedFiles" in names else ()
        files = {str(held[i]): held[i + 1] for i in range(0, len(held), 2)}
        listed = list(pdf.Root.get("/AF", ()))
        for file in (*attachments, about):
            if file.name in files:
                raise ValueError(f"two attachments named {file.name}")
            files[file.name] = _file(pdf, file, moment)
            listed.append(files[file.name])
        pairs = [part for name in sorted(files) for part in (pikepdf.String(name), files[name])]
        names.EmbeddedFiles = pikepdf.Dictionary(Names=pikepdf.Array(pairs))
        pdf.Root.AF = pikepdf.Array(listed)
        return saved(pdf)


def manifest_file(manifest: Mapping[str, Any]) -> bytes:
    """Return the bytes of an attached manifest."""
    return (json.dumps(manifest, indent=1, ensure_ascii=True) + "\n").encode()


def _file(pdf: Any, file: Attached, moment: datetime) -> Any:
    """Return one file as PDF/A-3 wants it embedded."""
    import pikepdf

    written = moment.strftime("D:%Y%m%d%H%M%SZ")
    stream = pdf.make_stream(
        file.content,
        Type=pikepdf.Name.EmbeddedFile,
        Subtype=pikepdf.Name("/application/json"),
        Params=pikepdf.Dictionary(
            Size=len(file.content),
            CheckSum=pikepdf.String(hashlib.md5(file.content, usedforsecurity=False).digest()),
            CreationDate=written,
            ModDate=written,
        ),
    )
    return pdf.make_indirect(
        pikepdf.Dictionary(
            Type=pikepdf.Name.Filespec,
            F=file.name,
            UF=file.name,
            Desc=file.description,
            AFRelationship=pikepdf.Name(f"/{file.relationship}"),
            EF=pikepdf.Dictionary(F=stream, UF=stream),
        )
    )
