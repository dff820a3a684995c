"""What a PDF says of itself: its title, its maker, its seal, as the file and as its XMP state them."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from typing import Any

from slakit.documents.bounded import NotReadable

OF_SAVING = frozenset(
    {"/ModDate", "/Producer", "xmp:ModifyDate", "xmp:MetadataDate", "pdf:Producer", "xmpMM:DocumentID",
     "xmpMM:InstanceID", "xmpMM:RenditionClass", "xmpMM:VersionID", "x:xmptk"}
)  # fmt: skip
"""Properties that a program writes when it saves a file of another."""
_PREFIXES = {
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#": "rdf",
    "http://www.w3.org/XML/1998/namespace": "xml",
    "adobe:ns:meta/": "x",
    "http://purl.org/dc/elements/1.1/": "dc",
    "http://ns.adobe.com/pdf/1.3/": "pdf",
    "http://ns.adobe.com/xap/1.0/": "xmp",
    "http://ns.adobe.com/xap/1.0/mm/": "xmpMM",
    "urn:slakit:document:1#": "slakit",
}
"""Names of properties as they are said."""


def info(pdf: Any) -> dict[str, str]:
    """Return the properties of the file as it states them itself."""
    return {key: str(value) for key, value in dict(pdf.docinfo).items()}


def properties(pdf: Any) -> dict[str, str]:
    """Return the XMP properties by name, those of lists joined."""
    metadata = pdf.Root.get("/Metadata")
    if metadata is None:
        return {}
    xmp = metadata.read_bytes()
    if re.search(rb"<!(DOCTYPE|ENTITY)", xmp) or b"\0" in xmp:
        raise NotReadable("a PDF whose properties define words of their own", "do not trust it")
    found: dict[str, list[str]] = {}
    for name, value in _leaves(ElementTree.fromstring(xmp), ""):
        found.setdefault(name, []).append(value)
    return {name: "; ".join(values) for name, values in found.items()}


def _leaves(element: ElementTree.Element, holder: str) -> Iterator[tuple[str, str]]:
    """Yield every property with its value, whether it is written as an element or an attribute."""
    name = _qualified(element.tag)
    mine = holder if name.startswith(("rdf:", "x:")) else name
    for key, value in element.attrib.items():
        if not _qualified(key).startswith(("rdf:", "xml:")):
            yield _qualified(key), value
    if element.text and element.text.strip() and len(element) == 0:
        yield mine, element.text.strip()
    for child in element:
        yield from _leaves(child, mine)


def _qualified(tag: str) -> str:
    space, _, name = tag[1:].rpartition("}") if tag.startswith("{") else ("", "", tag)
    prefix = _PREFIXES.get(space, space)
    return f"{prefix}:{name}" if prefix else name


def plain(text: str) -> str:
    """Return words on one line, at most a few, that a terminal may show."""
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return line if len(line) <= 200 else f"{line[:200]}…"
