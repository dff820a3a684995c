"""A file that anyone may have made to what it carries: its manifest and the files beside it. Nothing in it is run."""

from __future__ import annotations

import base64
import json
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from slakit.documents.attach import MANIFEST
from slakit.documents.bounded import NotReadable, ask
from slakit.documents.commented import carried_in
from slakit.json_text import json_text
from slakit.loading.source import shown_name
from slakit.manifest import FORMAT, FORMAT_VERSION
from slakit.reports.lender_document import DEAL, SCORE
from slakit.verify.found import refused

LARGEST_FILE = 64 * 1024 * 1024
"""[byte]"""
PDF_PROCESS, WORKBOOK_PROCESS = "slakit.verify.pdf_parts", "slakit.verify.workbook_parts"
Form = Literal["pdf", "xlsx", "json", "text"]
_ZIP = b"PK\x03\x04"
_NAME_OF_OURS = "name a PDF, workbook, JSON, HTML or Markdown file that slakit wrote"


@dataclass(frozen=True, slots=True)
class Carried:
    """A document and what it carries."""

    name: str
    """The file's name, as it may be printed."""
    content: bytes
    form: Form
    manifest: Mapping[str, Any]
    files: Mapping[str, bytes]
    """Files that travel with it, the manifest left out."""
    counted: Mapping[str, int] = field(default_factory=dict)
    """Its `pages` or `cells`. [1]"""

    @property
    def kind(self) -> str:
        """Return the kind of document that its manifest names."""
        return str(self.manifest["kind"])

    def place(self, name: str, path: str) -> str:
        """Return where a value of one of its files stands, as a reader of the document finds it."""
        if self.form != "json":
            return f"{name}: {path}"
        return path if name == SCORE else f"{name.removesuffix('.json')}.{path}"

    def file(self, name: str) -> bytes:
        """Return one of its files.

        Raises
        ------
        DealError
            When it does not carry it.
        """
        if name not in self.files:
            raise refused(self.name, f"no {name} in it", "ask for the file again")
        return self.files[name]

    def data(self, name: str) -> dict[str, Any]:
        """Return the mapping in one of its files.

        Raises
        ------
        DealError
            When it does not carry it, or it holds something else.
        """
        return mapping_in(self.file(name), self.name, name)


def carried_by(path: Path) -> Carried:
    """Return what a file carries.

    Raises
    ------
    DealError
        When it is no document of ours, is broken, or cannot be read within bounds of memory and time.
    """
    name = shown_name(str(path))
    content = _bytes_of(path, name)
    try:
        if b"%PDF-" in content[:1024]:
            return _from_process(PDF_PROCESS, "pdf", name, content)
        if content.startswith(_ZIP):
            return _from_process(WORKBOOK_PROCESS, "xlsx", name, content)
    except NotReadable as error:
        raise refused(name, error.found, error.remedy) from None
    try:
        text = content.decode().replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise refused(name, "neither a PDF, a workbook nor text", _NAME_OF_OURS) from None
    return _json(name, content) if text.lstrip()[:1] == "{" else _text(name, content, text)


def mapping_in(content: bytes, name: str, part: str) -> dict[str, Any]:
    """Return the mapping in a JSON text; keys that stand twice and numbers without an end are refused."""
    try:
        found = json.loads(content, object_pairs_hook=_each_once, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        said = f"{part} that is not JSON as slakit writes it"
        detail = f" ({error})" if isinstance(error, _Refused) else ""
        raise refused(name, said + detail, "ask for the file again") from None
    if not isinstance(found, dict):
        raise refused(name, f"{part} that holds no mapping", "ask for the file again")
    return found


def _bytes_of(path: Path, name: str) -> bytes:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise refused(name, "a folder or a device", "name a file")
        if status.st_size > LARGEST_FILE:
            raise refused(name, f"a file of {status.st_size:,} bytes", f"ours have at most {LARGEST_FILE:,}")
        with path.open("rb") as file:
            return file.read(LARGEST_FILE)
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or "a name that cannot be a file's"
        raise refused(name, said, "check the path") from None


def _from_process(process: str, form: Form, name: str, content: bytes) -> Carried:
    """Return what a process of its own finds in a PDF or workbook."""
    found = ask(process, content, asked={"what": "carried"})
    files = {key: base64.b64decode(value) for key, value in found["files"].items()}
    manifest = _checked(mapping_in(files.pop(MANIFEST), name, MANIFEST), name)
    return Carried(name, content, form, manifest, files, found["counted"])


def _json(name: str, content: bytes) -> Carried:
    """Return what the JSON file of a score carries."""
    whole = mapping_in(content, name, "a file")
    manifest, deal = whole.pop("manifest", None), whole.pop("deal", None)
    if not isinstance(manifest, dict) or not isinstance(deal, dict):
        raise refused(name, "JSON without a manifest and its deal", "name a file that slakit score --save-json wrote")
    try:
        files = {
            DEAL: json.dumps(deal, ensure_ascii=True, separators=(",", ":")).encode(),
            SCORE: json_text(whole).encode(),
        }
    except (ValueError, RecursionError):
        raise refused(name, "JSON that slakit did not write", _NAME_OF_OURS) from None
    return Carried(name, content, "json", _checked(manifest, name), files)


def _text(name: str, content: bytes, text: str) -> Carried:
    """Return what a contract as HTML or Markdown carries."""
    comment = carried_in(text)
    if comment is None:
        raise refused(name, "text without a manifest", _NAME_OF_OURS)
    whole = mapping_in(comment.encode(), name, "a manifest")
    manifest = whole.pop(MANIFEST, None)
    if not isinstance(manifest, dict) or not all(isinstance(data, dict) for data in whole.values()):
        raise refused(name, "text without a manifest", _NAME_OF_OURS)
    from slakit.documents.embed import terms_file

    files = {part: terms_file(data) for part, data in whole.items()}
    return Carried(name, content, "text", _checked(manifest, name), files)


def _checked(manifest: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a manifest that can be followed."""
    if manifest.get("format") != FORMAT or not isinstance(manifest.get("kind"), str):
        raise refused(name, "a manifest that slakit did not write", _NAME_OF_OURS)
    if manifest.get("format_version") != FORMAT_VERSION:
        found = f"a manifest of format version {manifest.get('format_version')!r}"
        raise refused(name, found, "use the version of slakit that made the document")
    if not isinstance(manifest.get("attached"), dict) or not isinstance(manifest.get("versions"), dict):
        raise refused(name, "a manifest without versions or digests", _NAME_OF_OURS)
    return manifest


class _Refused(ValueError):
    """JSON that a parser takes and we do not."""


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _Refused(f"the key {twice[:80]!r} a second time")
    return found


def _no_constant(word: str) -> Any:
    raise _Refused(f"the number {word}")
