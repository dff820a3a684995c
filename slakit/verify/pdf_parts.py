"""Looks into a PDF that anyone may have made, and holds it against the same document made again.

Run as a process of its own, `python -m slakit.verify.pdf_parts`, by `slakit.documents.bounded.ask`.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from functools import partial
from itertools import islice, zip_longest
from typing import Any

import pikepdf

from slakit.documents.attach import MANIFEST
from slakit.documents.bounded import NotReadable, answer
from slakit.documents.reading import LARGEST_ATTACHMENT, attachment, named_files, unpacked
from slakit.verify.lines import changed_lines
from slakit.verify.pdf_objects import Differ
from slakit.verify.pdf_properties import OF_SAVING, info, plain, properties

OURS = ("deal.json", "records.json", "score.json", "statement.json", "terms.json")
"""Files that documents of ours carry beside their manifest."""
NOTES = frozenset(
    f"/{name}"
    for name in (
        "Text", "FreeText", "Highlight", "Underline", "StrikeOut", "Squiggly", "Ink", "Stamp", "Caret", "Line",
        "Square", "Circle", "Polygon", "PolyLine", "Popup",
    )
)  # fmt: skip
"""Annotations by which a reader remarks on a page."""
COVERING = frozenset(f"/{name}" for name in ("FreeText", "Stamp", "Ink", "Line", "Square", "Circle", "Polygon"))
"""Those of them that may hide what is printed."""
OF_SIGNING = frozenset({"/AcroForm", "/DSS", "/Perms", "/Extensions"})
"""Entries of the catalog that a signature adds."""
WORDS = {
    "/OpenAction": "what is done when the file is opened",
    "/AA": "what is done when the file is opened or printed",
    "/AcroForm": "form fields",
    "/StructTreeRoot": "tags, which tell a screen reader what it reads",
    "/Outlines": "bookmarks",
    "/OCProperties": "layers that can be hidden",
    "/Names": "named places and scripts",
    "/Lang": "language",
}
OF_ATTACHING = {
    "/EF/F/Params/CheckSum": "its checksum in the file",
    "/EF/F/Params/Size": "its size in the file",
    "/EF/F/Params/ModDate": "its date in the file",
    "/Desc": "its description",
    "/AFRelationship": "what it is to the document",
}
MOST = 20
"""Differences listed below one entry of the file. [1]"""
_COVERED = frozenset({"/Pages", "/Metadata", "/AF", "/Names", "/Type", "/Version", "/PieceInfo", "/LastModified"})
_OF_PAGE = frozenset({"/Contents", "/Annots", "/Parent", "/Type", "/PieceInfo", "/LastModified", "/Metadata"})
_INHERITED = ("/Resources", "/MediaBox", "/CropBox", "/Rotate")


def look(*files: bytes, what: str) -> dict[str, Any]:
    """Return what one PDF carries (`carried`), or what differs between one and the same made again (`compared`)."""
    if what == "carried":
        return carried(files[0])
    return compared(files[0], files[1])


def carried(content: bytes) -> dict[str, Any]:
    """Return the manifest of a PDF and its files of ours, base64 by name, and how many pages it has."""
    with _opened(content) as pdf:
        files = {MANIFEST: attachment(pdf, MANIFEST)}
        for name in OURS:
            if name in _attachments(pdf):
                files[name] = attachment(pdf, name)
        return {
            "files": {name: base64.b64encode(file).decode() for name, file in files.items()},
            "counted": {"pages": len(pdf.pages)},
        }


def compared(content: bytes, again: bytes) -> dict[str, Any]:
    """Return `differences` and `notes` between a PDF and the same document made again."""
    found = _Comparison()
    with _opened(content) as pdf, _opened(again) as remade:
        found.differ = Differ(pdf, remade)
        found.pages(pdf, remade, content, again)
        found.attachments(pdf, remade)
        found.metadata(pdf, remade)
        found.catalog(pdf, remade)
    found.fonts()
    return {"differences": found.differences, "notes": found.notes}


class _Comparison:
    """What differs between two PDFs."""

    def __init__(self) -> None:
        self.differences: list[dict[str, Any]] = []
        self.notes: list[str] = []
        self.letters: list[dict[str, Any]] = []
        """Fonts that differ: they hold the letters of a text, so another text has others."""
        self.other_words = False
        self.signatures = 0
        self.differ: Differ

    def add(self, where: str, stored: object, recomputed: object) -> None:
        """Add a difference."""
        self.differences.append({"where": where, "stored": stored, "recomputed": recomputed})

    # --- pages ------------------------------------------------------------------------------------------------------

    def pages(self, pdf: Any, remade: Any, content: bytes, again: bytes) -> None:
        """Hold every page against its copy."""
        if len(pdf.pages) != len(remade.pages):
            self.add("pages", len(pdf.pages), len(remade.pages))
        texts = _Texts(content), _Texts(again)
        for i, (page, copy) in enumerate(zip(pdf.pages, remade.pages, strict=False)):
            name = f"page {i + 1}"
            drawn, drawn_again = _drawing(page), _drawing(copy)
            if drawn != drawn_again:
                self._words(name, texts[0].of(i), texts[1].of(i), (drawn, drawn_again))
            for key in sorted((set(page.obj.keys()) | set(copy.obj.keys()) | set(_INHERITED)) - _OF_PAGE):
                self._objects(_of_page(page, key), _of_page(copy, key), key, partial(_part_of_page, name))
            self._annotations(name, page, copy)
        for i in range(len(remade.pages), len(pdf.pages)):
            self.add(f"page {i + 1}", " ".join(texts[0].of(i)), "no such page")
        for i in range(len(pdf.pages), len(remade.pages)):
            self.add(f"page {i + 1}", "no such page", " ".join(texts[1].of(i)))

    def _words(self, name: str, printed: list[str], again: list[str], drawn: tuple[bytes, bytes]) -> None:
        """Add the lines of text that differ, or where the drawing does if the text is the same."""
        before = len(self.differences)
        for line, stored, recomputed in changed_lines(printed, again):
            self.add(f"{name}, line {line}", stored, recomputed)
        if len(self.differences) > before:
            self.other_words = True
        else:
            operators = (part.decode("latin-1").splitlines() for part in drawn)
            for i, (stored, recomputed) in enumerate(zip_longest(*operators, fillvalue="")):
                if stored != recomputed:
                    where = f"{name}, drawing (its words are the same), line {i + 1} of its operators"
                    self.add(where, plain(stored), plain(recomputed))
                    break

    def _annotations(self, name: str, page: Any, copy: Any) -> None:
        """Sort what lies over a page: our own links, notes of a reader, signatures, and what is none of these."""
        theirs, ours = list(page.obj.get("/Annots", ())), list(copy.obj.get("/Annots", ()))
        for link in ours:
            same = next((i for i, one in enumerate(theirs) if self.differ.same_alone(one, link)), None)
            if same is None:
                self.add(f"{name}, link", "changed or removed", str(link.get("/Contents", link.get("/Dest", "a link"))))
            else:
                del theirs[same]
        remarks: list[str] = []
        notes, covering = 0, False
        for one in theirs:
            kind = str(one.get("/Subtype", ""))
            acts = any(key in one for key in ("/A", "/AA", "/Dest"))
            if kind in NOTES and not acts:
                notes += kind != "/Popup"
                covering |= kind in COVERING
                words = plain(str(one.get("/Contents", "")))
                remarks += [f"“{words}”"] if words and kind != "/Popup" else []
            elif kind == "/Widget" and str(one.get("/FT", "")) == "/Sig" and not acts:
                self.signatures += 1
            else:
                self.add(f"{name}, laid over it", f"an annotation {kind.strip('/') or 'without a kind'}", "nothing")
        if notes:
            count = "1 note" if notes == 1 else f"{notes} notes"
            said = f": {', '.join(remarks)}" if remarks else ""
            hides = (
                " Such a note may hide what is printed below it: look at the page without notes." if covering else ""
            )
            self.notes.append(f"{name.capitalize()} carries {count} of a reader, no part of the document{said}.{hides}")

    def fonts(self) -> None:
        """Add the fonts that differ, unless other words are why."""
        if self.letters and self.other_words:
            self.notes.append("Fonts differ too: they hold the letters of the words that differ, and may say more.")
        else:
            self.differences += self.letters

    # --- what travels with it ---------------------------------------------------------------------------------------

    def attachments(self, pdf: Any, remade: Any) -> None:
        """Hold the attached files against those made again."""
        theirs, ours = _attachments(pdf), _attachments(remade)
        for name in sorted(set(theirs) - set(ours)):
            self.add(f"attachment {plain(name)}", "attached", "no such attachment")
        for name in sorted(ours):
            if name not in theirs:
                self.add(f"attachment {name}", "no such attachment", "attached")
            else:
                self._file(name, theirs[name], ours[name])
        self._objects(pdf.Root.get("/AF"), remade.Root.get("/AF"), "/AF", lambda path: f"attachments, {path}")

    def _file(self, name: str, stored: Any, recomputed: Any) -> None:
        """Hold how a file is attached; what it says is compared where its data are known."""
        found: list[tuple[str, str, str]] = []
        for place in self.differ.places(stored, recomputed, ""):
            found.append((place.path, place.stored, place.recomputed))
        if _content(stored) != _content(recomputed):
            found = [one for one in found if not one[0].startswith("/EF/")]
        for path, one, other in found[:MOST]:
            self.add(f"attachment {name}, {OF_ATTACHING.get(path, plain(path))}", one, other)

    def metadata(self, pdf: Any, remade: Any) -> None:
        """Hold title, maker, seal and the other properties against those made again."""
        stored = {**info(pdf), **properties(pdf)}
        recomputed = {**info(remade), **properties(remade)}
        saved = [key for key in stored if key in OF_SAVING and stored[key] != recomputed.get(key)]
        if saved:
            by = plain(stored.get("/Producer") or stored.get("pdf:Producer") or "")
            self.notes.append(f"Another program saved the file{f' ({by})' if by else ''}.")
        for key in sorted((set(stored) | set(recomputed)) - OF_SAVING):
            if stored.get(key) != recomputed.get(key):
                self.add(f"metadata {key.strip('/')}", stored.get(key, "nothing"), recomputed.get(key, "nothing"))

    def catalog(self, pdf: Any, remade: Any) -> None:
        """Hold the rest of the file against that made again: tags, bookmarks, fields, scripts."""
        fields = list(pdf.Root.get("/AcroForm", {}).get("/Fields", ()))
        signed = bool(fields) and all(str(field.get("/FT", "")) == "/Sig" for field in fields)
        if signed:
            count = "1 signature" if len(fields) == 1 else f"{len(fields)} signatures"
            self.notes.append(f"The file carries {count}, which this check does not verify.")
        elif self.signatures:
            self.add("fields", "a signature's field without a signature", "nothing")
        for key in sorted((set(pdf.Root.keys()) | set(remade.Root.keys())) - _COVERED):
            if not (signed and key in OF_SIGNING and key not in remade.Root):
                self._entry(key, pdf.Root.get(key), remade.Root.get(key))
        names, again = (dict(one.Root.get("/Names", {}).items()) for one in (pdf, remade))
        for key in sorted((set(names) | set(again)) - {"/EmbeddedFiles"}):
            self._entry(f"/Names{key}", names.get(key), again.get(key))

    def _entry(self, key: str, stored: Any, recomputed: Any) -> None:
        words = WORDS.get(f"/{key.split('/')[1]}", "an entry of the file")
        self._objects(stored, recomputed, key, lambda path: f"{words} ({plain(path)})")

    def _objects(self, stored: Any, recomputed: Any, path: str, where: Callable[[str], str]) -> None:
        """Add the places at which two objects differ; past a few, that there are more."""
        places = self.differ.places(stored, recomputed, path)
        for place in islice(places, MOST):
            one = {"where": where(place.path), "stored": place.stored, "recomputed": place.recomputed}
            (self.letters if place.path.startswith("/Resources/Font") else self.differences).append(one)
        if next(places, None) is not None:
            self.add(where(path), "further differences", "not listed")


class _Texts:
    """The lines of text on the pages of a PDF, read when they are wanted."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.reader: Any = None

    def of(self, page: int) -> list[str]:
        """Return the lines of one page."""
        if self.reader is None:
            from pypdf import PdfReader

            self.reader = PdfReader(io.BytesIO(self.content))
        lines = self.reader.pages[page].extract_text().splitlines()
        return [" ".join(line.split()) for line in lines if line.strip()]


def _opened(content: bytes) -> Any:
    try:
        pdf = pikepdf.open(io.BytesIO(content))
    except pikepdf.PasswordError:
        raise NotReadable("an encrypted PDF", "ask for a copy without a password") from None
    except pikepdf.PdfError:
        raise NotReadable("a broken PDF", "ask for the file again") from None
    if pdf.is_encrypted:
        raise NotReadable("an encrypted PDF", "ask for a copy without encryption")
    return pdf


def _drawing(page: Any) -> bytes:
    """Return what draws a page, as one stream."""
    contents = page.obj.get("/Contents")
    if contents is None:
        return b""
    if isinstance(contents, pikepdf.Array):
        return b"\n".join(part.read_bytes() for part in contents)
    drawn: bytes = contents.read_bytes()
    return drawn


def _of_page(page: Any, key: str) -> Any:
    """Return an entry of a page, taken from above it where pages inherit it."""
    holder = page.obj
    for _ in range(32):
        if key in holder or key not in _INHERITED or "/Parent" not in holder:
            return holder.get(key)
        holder = holder.Parent
    return None


def _part_of_page(page: str, path: str) -> str:
    """Return in words which part of a page lies at a path of its objects."""
    words = {
        "/Resources/Font": "the shapes of its letters, or what they stand for",
        "/Resources/XObject": "a picture",
        "/MediaBox": "size of the paper",
        "/CropBox": "the part of the paper that is shown",
        "/Rotate": "which way up it is shown",
    }
    said = next((words[start] for start in words if path.startswith(start)), "how it is drawn")
    return f"{page}, {said} ({plain(path)})"


def _attachments(pdf: Any) -> dict[str, Any]:
    return dict(named_files(pdf))


def _content(file: Any) -> bytes:
    """Return the bytes of an attached file, as packed where it is packed in a way we never use."""
    try:
        return unpacked(file.EF.F, LARGEST_ATTACHMENT)
    except NotReadable:
        raw: bytes = file.EF.F.read_raw_bytes()
        return raw


if __name__ == "__main__":
    answer(look, "PDF")
