"""Objects of one PDF against those of another, whatever their numbers, order and packing are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pikepdf

_OF_PACKING = frozenset({"/Length", "/Filter", "/DecodeParms", "/DL"})
_BACK = frozenset({"/P", "/Parent"})
"""Entries that lead back to the page or holder."""
LONGEST = 120
"""Bytes of an object that are shown. [byte]"""


@dataclass(frozen=True, slots=True)
class Place:
    """A place at which two objects differ."""

    path: str
    stored: str
    recomputed: str


class Differ:
    """Holds the objects of one file against those of another; a pair that was compared once is not looked at again."""

    def __init__(self, pdf: Any, remade: Any) -> None:
        self.seen: set[tuple[Any, Any]] = set()
        self.pages = tuple({page.obj.objgen: i for i, page in enumerate(one.pages)} for one in (pdf, remade))

    def places(self, stored: Any, recomputed: Any, path: str) -> Iterator[Place]:
        """Yield the places below `path` at which two objects differ; pairs that were compared before are left out."""
        return self._places(stored, recomputed, path, self.seen)

    def same_alone(self, stored: Any, recomputed: Any) -> bool:
        """Return whether two objects agree, their way back to the page left out; nothing is remembered."""
        return next(self._places(stored, recomputed, "", set(), skip=_BACK), None) is None

    def _places(
        self, stored: Any, recomputed: Any, path: str, seen: set[tuple[Any, Any]], skip: frozenset[str] = frozenset()
    ) -> Iterator[Place]:
        waiting = [(stored, recomputed, path)]
        while waiting:
            one, other, here = waiting.pop()
            if _has_number(one) and _has_number(other):
                pair = (one.objgen, other.objgen)
                if pair in seen:
                    continue
                seen.add(pair)
                pages = self.pages[0].get(pair[0]), self.pages[1].get(pair[1])
                if pages != (None, None):
                    if pages[0] != pages[1]:
                        yield Place(here, _page(pages[0]), _page(pages[1]))
                    continue
            if _kind(one) != _kind(other):
                yield Place(here, _shown(one), _shown(other))
            elif isinstance(one, (pikepdf.Stream, pikepdf.Dictionary)):
                packing: frozenset[str] = frozenset()
                if isinstance(one, pikepdf.Stream):
                    packing = _OF_PACKING
                    if _bytes(one) != _bytes(other):
                        yield Place(here, _shown(one), _shown(other))
                keys = (set(one.keys()) | set(other.keys())) - packing - skip
                waiting += [(one.get(key), other.get(key), f"{here}{key}") for key in sorted(keys, reverse=True)]
            elif isinstance(one, pikepdf.Array):
                if len(one) != len(other):
                    yield Place(here, f"{len(one)} entries", f"{len(other)} entries")
                else:
                    waiting += [(one[i], other[i], f"{here}[{i}]") for i in reversed(range(len(one)))]
            elif _value(one) != _value(other):
                yield Place(here, _shown(one), _shown(other))


def _has_number(value: Any) -> bool:
    return isinstance(value, pikepdf.Object) and bool(value.is_indirect)


def _kind(value: Any) -> str:
    """Return what an object is; a whole number and one with decimals are both numbers."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "yes or no"
        case int() | Decimal() | float():
            return "number"
    for kind in (pikepdf.Stream, pikepdf.Dictionary, pikepdf.Array, pikepdf.Name, pikepdf.String):
        if isinstance(value, kind):
            return str(kind.__name__)
    return type(value).__name__


def _value(value: Any) -> Any:
    match value:
        case bool() | None:
            return value
        case int() | Decimal() | float():
            return Decimal(value)
    return bytes(value) if isinstance(value, pikepdf.String) else str(value)


def _bytes(stream: Any) -> bytes:
    """Return what a stream holds, as packed where it cannot be unpacked."""
    try:
        content: bytes = stream.read_bytes()
    except pikepdf.PdfError:
        content = stream.read_raw_bytes()
    return content


def _page(number: int | None) -> str:
    return "no page" if number is None else f"page {number + 1}"


def _shown(value: Any) -> str:
    """Return an object in a few words."""
    kind = _kind(value)
    match kind:
        case "Stream":
            content = _bytes(value)
            start = "".join(chr(byte) if 32 <= byte < 127 else "·" for byte in content[:LONGEST])
            return f"{len(content):,} bytes: {start}"
        case "Dictionary":
            return f"entries {', '.join(sorted(map(str, value.keys())))}"[:LONGEST]
        case "Array":
            return f"a list of {len(value)}"
        case "nothing":
            return kind
    if kind == "String" and not str(value).isascii():
        return bytes(value).hex()[:LONGEST]
    return "".join(sign if sign.isprintable() else "·" for sign in str(value))[:LONGEST]
