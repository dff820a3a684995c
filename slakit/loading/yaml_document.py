"""YAML 1.2 to plain data with places, read event by event so that no file can exhaust time, memory or the stack."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NoReturn

import yaml

from schemas.errors import DealError, Problem, TermsError
from slakit.loading.positions import Node, Place, written
from slakit.loading.scalars import plain_scalar
from slakit.loading.source import WHOLE_FILE, SourceText

DEEPEST = 40
"""Containers inside each other. A deal has about ten. [1]"""
MOST_VALUES = 200_000
"""Values in a file, with every alias written out. [1]"""
MOST_ALIASES = 50
"""[1]"""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]+")
_TEXT_TAGS = ("!", "tag:yaml.org,2002:str")
_CONTAINER_TAGS = {"!", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"}
_SYNTAX = {
    "found character that cannot start any token": (
        "a character that cannot start a value",
        "a value that starts as a plain word or number",
        "put the value in quotes",
    ),
    "mapping values are not allowed in this context": (
        "a second `: ` or a line that is indented too far",
        "one `key: value` on a line",
        "put a text that holds `: ` in quotes, or correct the indentation",
    ),
    "did not find expected alphabetic or numeric character": (
        "a bare * or &",
        "a value that starts as a plain word or number",
        'put the value in quotes, for example "*"',
    ),
    "did not find expected key": (
        "text where a key should be",
        "the next key of this mapping",
        "correct the indentation or the quotes",
    ),
    "did not find expected '-' indicator": (
        "text where an item should be",
        "the next item of this list",
        "correct the indentation",
    ),
    "could not find expected ':'": ("a key without a colon", "a colon after the key", "add it"),
    "did not find expected ',' or '}'": ("an open {", "a comma or }", "close the { opened before"),
    "did not find expected ',' or ']'": ("an open [", "a comma or ]", "close the [ opened before"),
    "found unexpected end of stream": ("an open quote", "the closing quote", "close the quote opened here"),
    "exceeded maximum nesting depth": (
        f"more than {DEEPEST} levels",
        f"at most {DEEPEST}",
        "remove the nesting",
    ),
}


@dataclass(slots=True)
class _Open:
    """A container whose end has not been read."""

    node: Node
    anchor: str | None
    key: tuple[str, Place] | None = None
    """Key that waits for its value."""
    drop: bool = False
    """Whether the value to come belongs to a key that was refused."""


class _Document:
    """One pass over the events of a file."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.problems: list[Problem] = []
        self.open: list[_Open] = []
        self.anchors: dict[str, Node | None] = {}
        self.root: Node | None = None
        self.values = 0
        self.aliases = 0
        self.documents = 0
        self.warnings: list[Problem] = []

    def read(self, text: str) -> None:
        """Take every event of `text`."""
        for event in yaml.parse(text, Loader=_LOADER):
            mark = event.start_mark
            place = (mark.line + 1, mark.column + 1) if mark else (1, 1)
            match event:
                case yaml.ScalarEvent():
                    self._scalar(event, place)
                case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                    self._start(event, place)
                case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                    closed = self.open.pop()
                    if closed.anchor:
                        self.anchors[closed.anchor] = closed.node
                    self._add(closed.node)
                case yaml.AliasEvent():
                    self._alias(str(event.anchor), place)
                case yaml.DocumentStartEvent():
                    self._document(event, place)

    def _document(self, event: Any, place: Place) -> None:
        self.documents += 1
        if self.documents > 1:
            self._stop(place, "a second document", "one deal in a file", "move it to its own file")
        if event.version and tuple(event.version) < (1, 2):
            self._note(
                place,
                "a %YAML 1.1 line",
                "YAML 1.2, where no, on and 12:30 are text",
                "delete the line and check such values",
            )

    def _start(self, event: Any, place: Place) -> None:
        if len(self.open) >= DEEPEST:
            self._stop(place, f"more than {DEEPEST} levels", f"at most {DEEPEST}", "remove the nesting")
        if event.tag not in _CONTAINER_TAGS and event.tag is not None:
            self._tag(event.tag, place)
        self._count(1, place)
        value: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
        if event.anchor:
            self.anchors[event.anchor] = None
        self.open.append(_Open(Node(value, place), event.anchor))

    def _scalar(self, event: Any, place: Place) -> None:
        self._count(1, place)
        value: Any = event.value
        if event.tag is None and event.implicit[0]:
            try:
                value = plain_scalar(event.value)
            except TermsError as error:
                self._note(place, error.found, error.expected, error.remedy)
                value = None
            if _LEADING_ZERO.fullmatch(event.value) and isinstance(value, int):
                self._leading_zero(event.value, value, place)
        elif event.tag is not None and event.tag not in _TEXT_TAGS:
            self._tag(event.tag, place)
        node = Node(value, place)
        if event.anchor:
            self.anchors[event.anchor] = node
        self._add(node, plain=not event.style)

    def _alias(self, anchor: str, place: Place) -> None:
        self.aliases += 1
        if self.aliases > MOST_ALIASES:
            self._stop(place, f"more than {MOST_ALIASES} aliases", f"at most {MOST_ALIASES}", "write the values out")
        if anchor not in self.anchors:
            self._note(place, f"the alias *{anchor}", "an anchor of that name before it", "correct the name")
            self._add(Node(None, place))
            return
        target = self.anchors[anchor]
        if target is None:
            self._stop(place, f"the alias *{anchor} inside itself", "values that end", "write the value out")
            return
        self._count(target.size, place)
        if len(self.open) + target.height > DEEPEST:
            self._stop(place, f"more than {DEEPEST} levels", f"at most {DEEPEST}", "remove the nesting")
        self._add(target)

    def _add(self, node: Node, *, plain: bool = False) -> None:
        """Put a finished value into the container that waits for it."""
        if not self.open:
            self.root = node
            return
        holder = self.open[-1]
        if isinstance(holder.node.value, list):
            holder.node.items.append(node)
            holder.node.value.append(node.value)
            self._grow(holder.node, node)
        elif holder.key is None and not holder.drop:
            self._key(holder, node, plain)
        else:
            if holder.key is not None:
                key, place = holder.key
                holder.node.entries[key] = (place, node)
                holder.node.value[key] = node.value
                self._grow(holder.node, node)
            holder.key, holder.drop = None, False

    def _key(self, holder: _Open, node: Node, plain: bool) -> None:
        """Take `node` as the next key of a mapping, or refuse it and its value."""
        key = node.value
        if not isinstance(key, str):
            found = "a mapping or list" if node.is_container() else f"the key {_typed(key)}"
            self._note(node.place, found, "keys that are text", "put the key in quotes")
            holder.drop = True
        elif key == "<<" and plain:
            self._note(node.place, "the merge key <<", "keys written out", "YAML 1.2 has no merge; repeat the entries")
            holder.drop = True
        elif key in holder.node.entries:
            first = holder.node.entries[key][0][0]
            self._note(
                node.place,
                f"the key {key[:80]!r} a second time (first on line {first})",
                "each key once",
                "delete one of the two or rename it",
            )
            holder.drop = True
        else:
            holder.key = (key, node.place)

    @staticmethod
    def _grow(holder: Node, node: Node) -> None:
        holder.size += node.size
        holder.height = max(holder.height, node.height + 1)

    def _count(self, values: int, place: Place) -> None:
        self.values += values
        if self.values > MOST_VALUES:
            self._stop(
                place,
                f"more than {MOST_VALUES:,} values, aliases written out",
                f"at most {MOST_VALUES:,}",
                "name a deal file; remove aliases that multiply each other",
            )

    def _tag(self, tag: str, place: Place) -> None:
        shown = tag.replace("tag:yaml.org,2002:", "!!")
        self._note(place, f"the tag {shown[:80]}", "a value without a tag", "delete the tag")

    def _leading_zero(self, text: str, value: int, place: Place) -> None:
        remedy = f"it is read as {value}; put it in quotes if it is a code"
        self.warnings.append(Problem(self._path(), text, "a number without leading zeros", remedy, *place, self.name))

    def _path(self) -> str:
        """Return the path of the value being read."""
        steps: list[str | int] = []
        for holder in self.open:
            if isinstance(holder.node.value, list):
                steps.append(len(holder.node.items))
            elif holder.key is not None:
                steps.append(holder.key[0])
        return written(steps) or WHOLE_FILE

    def _note(self, place: Place, found: str, expected: str, remedy: str) -> None:
        self.problems.append(Problem(self._path(), found, expected, remedy, *place, self.name))

    def _stop(self, place: Place, found: str, expected: str, remedy: str) -> NoReturn:
        self._note(place, found, expected, remedy)
        raise DealError(self.problems)


def read_yaml(source: SourceText) -> tuple[Node, list[Problem], list[Problem]]:
    """Return the root of a YAML document, the problems found on the way and warnings.

    Raises
    ------
    DealError
        When the text is not YAML, or reading on would be useless or unsafe.
    """
    document = _Document(source.name)
    try:
        document.read(source.text)
    except yaml.MarkedYAMLError as error:
        raise DealError([*document.problems, _syntax(source, error)]) from None
    except yaml.YAMLError as error:
        raise DealError(
            [*document.problems, Problem(WHOLE_FILE, str(error), "YAML", "correct it", file=source.name)]
        ) from None
    if document.root is None:
        raise DealError(
            [Problem(WHOLE_FILE, "no value, only comments", "a deal", "start from one: slakit new", 1, 1, source.name)]
        )
    return document.root, document.problems, document.warnings


def _syntax(source: SourceText, error: yaml.MarkedYAMLError) -> Problem:
    """Return what libyaml says, in words of the file."""
    said = error.problem or "text that is not YAML"
    mark = error.problem_mark or error.context_mark
    if said == "found unexpected end of stream" and error.context_mark:
        mark = error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    lines = source.text.splitlines()
    shown = lines[line - 1] if line <= len(lines) else ""
    if "\t" in shown[: max(column, len(shown) - len(shown.lstrip()))]:
        found, expected, remedy = "a tab", "indentation by spaces", "replace tabs by spaces"
    else:
        found, expected, remedy = _SYNTAX.get(said, (f"text that is not YAML: {said}", "YAML", "correct the line"))
    return Problem(WHOLE_FILE, found, expected, remedy, line, column, source.name)


def _typed(value: object) -> str:
    """Return a key as YAML writes it."""
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
