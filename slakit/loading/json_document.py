"""JSON to plain data with places: decimals exact, duplicate keys and numbers without an end refused."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from typing import Any, NoReturn

from schemas.errors import DealError, Problem, TermsError
from slakit.loading.positions import Node, Place, written
from slakit.loading.scalars import decimal_number, whole_number
from slakit.loading.source import WHOLE_FILE, SourceText, line_starts
from slakit.loading.yaml_document import DEEPEST, MOST_VALUES

_SPACE = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORD = re.compile(r"[-+A-Za-z0-9_.]+")
_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None}
_DECODER = json.JSONDecoder()


class _Document:
    """One pass over the text of a file."""

    def __init__(self, source: SourceText) -> None:
        self.name, self.text = source.name, source.text
        self.starts = line_starts(source.text)
        self.problems: list[Problem] = []
        self.values = 0
        self.trail: list[str | int] = []
        """Steps to the value being read."""

    def whole(self) -> Node:
        """Return the one value of the document."""
        node, offset = self._value(self._skip(0), 0)
        offset = self._skip(offset)
        if offset < len(self.text):
            self._stop(offset, "more text after the end", "one value", "delete it")
        return node

    def _value(self, offset: int, depth: int) -> tuple[Node, int]:
        """Return the value at `offset` and where the text goes on."""
        self.values += 1
        if self.values > MOST_VALUES:
            self._stop(offset, f"more than {MOST_VALUES:,} values", f"at most {MOST_VALUES:,}", "name a deal file")
        if depth > DEEPEST:
            self._stop(offset, f"more than {DEEPEST} levels", f"at most {DEEPEST}", "remove the nesting")
        match self.text[offset : offset + 1]:
            case "{":
                return self._mapping(offset, depth)
            case "[":
                return self._list(offset, depth)
            case '"':
                text, end = self._string(offset)
                return Node(text, self._place(offset)), end
        return self._plain(offset)

    def _mapping(self, offset: int, depth: int) -> tuple[Node, int]:
        value: dict[str, Any] = {}
        node = Node(value, self._place(offset))
        offset = self._skip(offset + 1)
        while self.text[offset : offset + 1] != "}":
            if self.text[offset : offset + 1] != '"':
                self._stop(offset, self._shown(offset), "a key in double quotes, or }", "correct the text before it")
            key_offset = offset
            key, offset = self._string(offset)
            offset = self._skip(offset)
            if self.text[offset : offset + 1] != ":":
                self._stop(offset, self._shown(offset), "a colon after the key", "add it")
            self.trail.append(key)
            child, offset = self._value(self._skip(offset + 1), depth + 1)
            self.trail.pop()
            if key in node.entries:
                first = node.entries[key][0][0]
                self._note(
                    key_offset,
                    f"the key {key[:80]!r} a second time (first on line {first})",
                    "each key once",
                    "delete one of the two or rename it",
                )
            else:
                node.entries[key] = (self._place(key_offset), child)
                value[key] = child.value
            offset = self._next(offset, "}")
        return node, offset + 1

    def _list(self, offset: int, depth: int) -> tuple[Node, int]:
        value: list[Any] = []
        node = Node(value, self._place(offset))
        offset = self._skip(offset + 1)
        while self.text[offset : offset + 1] != "]":
            self.trail.append(len(value))
            child, offset = self._value(offset, depth + 1)
            self.trail.pop()
            node.items.append(child)
            value.append(child.value)
            offset = self._next(offset, "]")
        return node, offset + 1

    def _next(self, offset: int, end: str) -> int:
        """Return the offset of the next entry, or of the end of the container."""
        offset = self._skip(offset)
        following = self.text[offset : offset + 1]
        if following == end:
            return offset
        if following != ",":
            self._stop(offset, self._shown(offset), f"a comma or {end}", "correct the text before it")
        after = self._skip(offset + 1)
        if self.text[after : after + 1] == end:
            self._stop(offset, "a comma before the end", "a comma between entries only", "delete it")
        return after

    def _string(self, offset: int) -> tuple[str, int]:
        try:
            text, end = _DECODER.raw_decode(self.text, offset)
        except json.JSONDecodeError as error:
            said = error.msg[0].lower() + error.msg[1:].removesuffix(" at").removesuffix(" starting")
            self._stop(error.pos, f"a text with an {said}", "text in double quotes", "correct the text")
        if _LONE_SURROGATE.search(text):
            self._note(offset, "half of a surrogate pair", "whole characters", "correct the escape")
            text = _LONE_SURROGATE.sub("\ufffd", text)
        return str(text), end

    def _plain(self, offset: int) -> tuple[Node, int]:
        """Return a number or one of the three words."""
        match = _WORD.match(self.text, offset)
        word = match[0] if match else ""
        place = self._place(offset)
        if word in _WORDS:
            return Node(_WORDS[word], place), offset + len(word)
        number = _NUMBER.fullmatch(word)
        if number is None:
            if word.lstrip("+-") in ("NaN", "Infinity"):
                self._note(offset, word, "a finite number", "write the number, or leave the key out")
                return Node(None, place), offset + len(word)
            self._stop(offset, self._shown(offset), "a JSON value", "put text in double quotes")
        value: Any = None
        try:
            value = whole_number(word) if number[1] is number[2] is None else decimal_number(word)
        except TermsError as error:
            self._note(offset, error.found, error.expected, error.remedy)
        return Node(value, place), offset + len(word)

    def _skip(self, offset: int) -> int:
        match = _SPACE.match(self.text, offset)
        return match.end() if match else offset

    def _place(self, offset: int) -> Place:
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1

    def _shown(self, offset: int) -> str:
        match = _WORD.match(self.text, offset)
        rest = match[0][:40] if match else self.text[offset : offset + 1]
        return repr(rest) if rest else "the end of the file"

    def _note(self, offset: int, found: str, expected: str, remedy: str) -> None:
        path = written(self.trail) or WHOLE_FILE
        self.problems.append(Problem(path, found, expected, remedy, *self._place(offset), self.name))

    def _stop(self, offset: int, found: str, expected: str, remedy: str) -> NoReturn:
        self._note(offset, found, expected, remedy)
        raise DealError(self.problems)


def read_json(source: SourceText) -> tuple[Node, list[Problem]]:
    """Return the root of a JSON document and the problems found on the way.

    Raises
    ------
    DealError
        When the text is not JSON, or reading on would be useless.
    """
    document = _Document(source)
    return document.whole(), document.problems
