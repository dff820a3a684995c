"""The terms inside a drafted PDF: what is attached, and how it is read back."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from schemas.errors import DealError, Problem
from slakit.documents.bounded import own_path
from slakit.documents.extract import FORMAT, digest
from slakit.documents.nodes import Document
from slakit.documents.reading import ATTACHMENT
from slakit.loading.source import shown_name

FORMAT_VERSION = 1
LARGEST_FILE = 64 * 1024 * 1024
"""[byte]"""
WAIT = 60
"""Longest wait for the reading process. [s]"""


def attached_terms(document: Document) -> bytes:
    """Return the file that travels inside the PDF: the terms the document read, and how its paragraphs are numbered."""
    data = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "schema_version": document.schema_version,
        "document": {
            "id": document.id,
            "title": document.title,
            "position": document.position,
            "language": document.language,
            "status": document.status,
        },
        "numbering": dict(document.numbering),
        "templates_sha256": document.templates_sha256,
        "terms": document.terms,
        "terms_sha256": document.terms_sha256,
    }
    return terms_file(data)


def terms_file(data: Mapping[str, Any]) -> bytes:
    """Return the bytes of the attached file for what it holds."""
    return (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode()


def read_bytes(path: Path | str) -> bytes:
    """Return the attached terms of a PDF we made, byte for byte.

    Raises
    ------
    DealError
        When the file is no PDF, is not one of ours, or cannot be read within bounds of memory and time.
    """
    return _look(Path(path))[0]


def read(path: Path | str) -> dict[str, Any]:
    """Return the terms of a PDF we made.

    Returns
    -------
    dict
        `terms` as in a deal file; `sha256`, the digest of those terms that the foot of each page begins; `intact`,
        whether terms and pages are as they were drafted; `document`, `numbering`, `schema_version` and
        `templates_sha256` of the draft.

    Raises
    ------
    DealError
        As `read_bytes`.
    """
    content, sealed = _look(Path(path))
    try:
        data = json.loads(content)
        terms, stated = data["terms"], data["terms_sha256"]
        version = data["format_version"]
        if data["format"] != FORMAT or not isinstance(terms, dict):
            raise KeyError("format")
        details = {key: data[key] for key in ("document", "numbering", "schema_version", "templates_sha256")}
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _refused(
            Path(path), f"a {ATTACHMENT} that slakit did not write", "read a PDF that slakit drafted"
        ) from None
    if version != FORMAT_VERSION:
        raise _refused(
            Path(path), f"terms of format version {version}", "use the version of slakit that drafted the file"
        )
    found = digest(terms)
    return {"terms": terms, "sha256": found, "intact": sealed and found == stated, **details}


def _look(path: Path) -> tuple[bytes, bool]:
    """Return the attachment, and whether the file's seal fits its content."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            start = file.read(1024)
    except OSError as error:
        raise _refused(path, error.strerror or "no file", "check the path") from None
    if b"%PDF-" not in start:
        raise _refused(path, "no PDF", "read a PDF that slakit drafted")
    if size > LARGEST_FILE:
        raise _refused(path, f"a file of {size:,} bytes", f"a document of ours has at most {LARGEST_FILE:,}")
    try:
        process = subprocess.run(
            # -P: import nothing from the folder we stand in, where a foreign file may have brought company
            [sys.executable, "-P", "-m", "slakit.documents.reading", str(path.resolve())],
            env=own_path(),
            capture_output=True,
            timeout=WAIT,
            check=False,
        )
        answer = json.loads(process.stdout)
    except (subprocess.TimeoutExpired, ValueError):
        raise _refused(path, "a PDF that cannot be read within bounds of memory and time", "do not trust it") from None
    if "found" in answer:
        raise _refused(path, answer["found"], answer["remedy"])
    return base64.b64decode(answer["attachment"]), answer["seal"] == answer["seal_now"]


def _refused(path: Path, found: str, remedy: str) -> DealError:
    problem = Problem("document", found, "a PDF that slakit drafted", remedy, file=shown_name(str(path)))
    return DealError([problem])
