"""Looks into a PDF that anyone may have made: run as a process of its own, with bounds on memory and time.

`python -m slakit.documents.reading FILE` prints one JSON object: what was found, or what is wrong.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import resource
import sys
import zlib
from collections.abc import Iterator
from typing import Any

from slakit.documents.bounded import NotReadable

ATTACHMENT = "terms.json"
LARGEST_ATTACHMENT = 8 * 1024 * 1024
"""[byte]"""
MOST_BRANCHES = 1_000
"""Of the list of attachments. [1]"""
MEMORY = 1024 * 1024 * 1024
"""Address space of the reading process. [byte]"""
SECONDS = 20
"""Processor time of the reading process. [s]"""
_SEAL = re.compile(rb'slakit:seal="([0-9a-f]{64})"')


def seal(pdf: Any, attachment: bytes) -> str:
    """Return the sha256 over the attached terms and the drawing of every page: its content, letters and frame.

    Notes laid over a page are not part of it: counsel's remarks leave a draft as it was drafted. It finds pages or
    terms changed by a program that knows nothing of it. It is no signature: who knows this function can make a new
    seal. Signing adds to a file and leaves what the seal covers as it is.
    """
    digest = hashlib.sha256(attachment)
    for page in pdf.pages:
        page.contents_coalesce()
        digest.update(hashlib.sha256(page.obj.Contents.read_bytes()).digest())
        forms = page.resources.get("/XObject", {})
        for name in sorted(forms.keys()):
            digest.update(hashlib.sha256(forms[name].read_bytes()).digest())
        fonts = page.resources.get("/Font", {})
        for name in sorted(fonts.keys()):
            digest.update(_letters(fonts[name]))
        digest.update(_frame(page))
    return digest.hexdigest()


def _letters(font: Any) -> bytes:
    """Return the sha256 over the shapes of a font's letters and what each stands for."""
    import pikepdf

    digest = hashlib.sha256()
    for part in (font, *font.get("/DescendantFonts", ())):
        for value in (part.get("/Encoding"), part.get("/ToUnicode"), part.get("/CIDToGIDMap"), *_programs(part)):
            if value is not None:
                digest.update(value.read_bytes() if isinstance(value, pikepdf.Stream) else str(value).encode())
    return digest.digest()


def _programs(font: Any) -> tuple[Any, ...]:
    held = font.get("/FontDescriptor", {})
    return tuple(held.get(name) for name in ("/FontFile", "/FontFile2", "/FontFile3"))


def _frame(page: Any) -> bytes:
    """Return the part of a page that is shown, to a hundredth of a point, and which way up."""
    numbers = [*page.mediabox, *page.cropbox, page.obj.get("/Rotate", 0), page.obj.get("/UserUnit", 1)]
    return ",".join(f"{float(number):.2f}" for number in numbers).encode()


def look(path: str) -> dict[str, Any]:
    """Return the attached terms, the seal the file carries and the seal its content has."""
    import pikepdf

    try:
        pdf = pikepdf.open(path)
    except pikepdf.PasswordError:
        raise NotReadable("an encrypted PDF", "ask for a copy without a password") from None
    except pikepdf.PdfError:
        raise NotReadable("a broken PDF", "ask for the file again") from None
    with pdf:
        if pdf.is_encrypted:
            raise NotReadable("an encrypted PDF", "ask for a copy without encryption")
        content = attachment(pdf, ATTACHMENT)
        metadata = pdf.Root.get("/Metadata")
        found = _SEAL.search(unpacked(metadata, LARGEST_ATTACHMENT)) if metadata is not None else None
        return {
            "attachment": base64.b64encode(content).decode(),
            "seal": found[1].decode() if found else None,
            "seal_now": seal(pdf, content),
        }


def attachment(pdf: Any, name: str) -> bytes:
    """Return the one attachment of that name, refusing what slakit never writes."""
    ours = [file for found, file in named_files(pdf) if found == name]
    if len(ours) != 1:
        found = f"{len(ours)} attachments" if ours else "no attachment"
        raise NotReadable(f"{found} named {name}", "name a PDF that slakit made")
    return unpacked(ours[0].EF.F, LARGEST_ATTACHMENT)


def named_files(pdf: Any) -> Iterator[tuple[str, Any]]:
    """Yield the attached files with their names, however a program has cut the list into branches."""
    waiting = [pdf.Root.get("/Names", {}).get("/EmbeddedFiles", {})]
    for _ in range(MOST_BRANCHES):
        if not waiting:
            return
        branch = waiting.pop()
        names = list(branch.get("/Names", ()))
        yield from ((str(names[i]), names[i + 1]) for i in range(0, len(names) - 1, 2))
        waiting += list(branch.get("/Kids", ()))
    raise NotReadable("more attachments than any PDF of ours", "do not trust it")


def unpacked(stream: Any, most: int) -> bytes:
    """Return the content of a stream, refusing one that unpacks to more than `most` bytes."""
    packing = stream.get("/Filter")
    raw: bytes = stream.read_raw_bytes()
    if packing is None:
        content = raw
    elif str(packing) == "/FlateDecode" and stream.get("/DecodeParms") is None:
        content = zlib.decompressobj().decompress(raw, most + 1)
    else:
        raise NotReadable("an attachment packed in a way slakit never uses", "name a PDF that slakit made")
    if len(content) > most:
        raise NotReadable(f"an attachment of more than {most:,} bytes", "name a PDF that slakit made")
    return content


def main(path: str) -> dict[str, Any]:
    """Return what `look` finds, or what is wrong with the file, within the bounds."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    try:
        return look(path)
    except NotReadable as error:
        return {"found": error.found, "remedy": error.remedy}
    except MemoryError:
        return {"found": "a PDF that needs more memory than any document of ours", "remedy": "do not trust it"}
    except (RuntimeError, ValueError, TypeError, AttributeError, LookupError, zlib.error):
        return {"found": "a PDF with a broken structure", "remedy": "ask for the file again"}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(sys.argv[1])))
