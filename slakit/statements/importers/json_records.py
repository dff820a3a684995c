"""Records inside JSON, each with the line on which it begins."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from slakit.statements.importers.imported import Collector
from slakit.statements.importers.log import Log, check_depth, exact, parsed
from slakit.statements.importers.refusal import refused

LONGEST_RAW = 20_000
"""Characters of a record that may become evidence, before it is cut to what is shown. [character]"""

_DECODER = json.JSONDecoder(parse_float=exact)
_SPACE = re.compile(r"[ \t\r\n]*")
_BREAK = re.compile(r"\r\n|\n|\r")
_KEY = re.compile(r'"((?:[^"\\]|\\.){1,80})"\s*:')


@dataclass(frozen=True, slots=True)
class Element:
    """One record."""

    line: int
    raw: str
    value: Any
    reason: str | None = None
    """Why it could not be read, for a line that is no JSON."""


def keys(log: Log) -> frozenset[str]:
    """Return the keys that occur in the first bytes of what looks like JSON; empty otherwise."""
    return frozenset(_KEY.findall(log.head)) if log.head.lstrip()[:1] in ("{", "[") else frozenset()


def elements(log: Log, *path: str) -> list[Element]:
    """Return the records of the list at `path` in a JSON file; a single object counts as a list of one.

    Raises
    ------
    DealError
        When the file is not plain JSON.
    """
    value = log.json()
    try:
        return _elements(log.text, value, path)
    except ValueError as error:
        raise refused(log.name, str(error)[:200], "plain JSON", "export the file again") from error


def _elements(text: str, value: Any, path: tuple[str, ...]) -> list[Element]:
    """Return the records at `path` in a text known to be JSON."""
    check_depth(value)
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    at = _SPACE.match(text).end()  # type: ignore[union-attr]  # matches nothing at least
    for key in path:
        at = _value_of(text, at, key)
    if isinstance(value, Mapping):
        return [_element(text, at, 1 + len(_BREAK.findall(text, 0, at)))[0]]
    if not isinstance(value, list):
        return []
    found: list[Element] = []
    line, counted = 1, 0
    at = _skip(text, at + 1)
    while text[at] != "]":
        line += len(_BREAK.findall(text, counted, at))
        counted = at
        element, at = _element(text, at, line)
        found.append(element)
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found


def once_each(records: Iterable[Element], found: Collector) -> Iterator[Element]:
    """Yield the incidents of a list once each, by their id; account for what is none and for what repeats another."""
    seen: set[str] = set()
    for record in records:
        if not isinstance(record.value, Mapping):
            found.skip(record.line, record.raw, "no incident")
            continue
        key = str(record.value.get("id") or record.raw)
        if key in seen:
            found.duplicate()
            continue
        seen.add(key)
        yield record


def lines(log: Log) -> Iterator[Element]:
    """Yield each line of a file of JSON lines; a broken one with its reason."""
    for number, line in log.lines():
        try:
            yield Element(number, line[:LONGEST_RAW], parsed(line))
        except (ValueError, RecursionError) as error:
            yield Element(number, line[:LONGEST_RAW], None, f"no JSON: {str(error)[:150]}")


def is_json_lines(log: Log) -> bool:
    """Return whether each line is an object; a single line is one JSON text."""
    first_two = [line.strip() for _, line in islice(log.lines(), 2)]
    return len(first_two) == 2 and all(line.startswith("{") for line in first_two) and first_two[0].endswith("}")


def both_spellings(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return names as they read and as JSON may spell them."""
    return tuple(dict.fromkeys((*names, *(json.dumps(name)[1:-1] for name in names))))


def _element(text: str, at: int, line: int) -> tuple[Element, int]:
    value, end = _DECODER.raw_decode(text, at)
    return Element(line, text[at : min(end, at + LONGEST_RAW)], value), end


def _value_of(text: str, at: int, key: str) -> int:
    """Return where the value of a key begins in the object that begins at `at`; `at` when there is none."""
    if text[at] != "{":
        return at
    start, at = at, _skip(text, at + 1)
    while text[at] != "}":
        name, at = _DECODER.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        if name == key:
            return at
        _, at = _DECODER.raw_decode(text, at)
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return start


def _skip(text: str, at: int) -> int:
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]  # matches nothing at least
