"""What a clause text may see of a deal, and the memory of what it saw.

A template never prints a value itself. It prints a token that stands for one `Run`, so nothing a party typed can become
markup, and every printed value keeps its path.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from markupsafe import Markup

from schemas.base import Terms
from schemas.deal import Deal, path_of, steps_of
from schemas.errors import TermsError
from slakit.documents.nodes import BLANK, Run

TOKEN_START, TOKEN_END = "\ue000", "\ue001"
"""Private-use characters around the index of a run in a rendered text."""
CONTRACT = frozenset(
    {
        "acceptance", "cancellation", "clusters", "commercial", "credits", "delivery", "exclusions", "measurement",
        "parties", "service_levels", "services", "sites",
    }
)  # fmt: skip
"""Sections of the deal file that a contract may print; all others, known or to come, stay out of every document."""
PROMISES = {"operations": frozenset({"replacement", "support", "reports"})}
"""Parts of other sections that are promises to the customer; the rest of the section stays out."""


def is_of_contract(steps: Sequence[str | int]) -> bool:
    """Return whether a contract may print what stands under a path of the deal file."""
    section = steps[0] if steps else None
    return section in CONTRACT or (len(steps) > 1 and steps[1] in PROMISES.get(str(section), ()))


class TypedText(str):
    """Words from the deal file; printed as they are, whatever they contain."""

    path: str
    reader: Reader

    def __html__(self) -> Markup:
        return self.reader.token(Run("typed", clean(self), self.path))


class TypedNumber(Decimal):
    """A decimal from the deal file that remembers its path."""

    path: str


class TypedWhole(int):
    """A whole number from the deal file that remembers its path."""

    path: str


class TypedDay(date):
    """A date from the deal file that remembers its path."""

    path: str


class Printed:
    """A formatted value, ready to print."""

    __slots__ = ("reader", "run")

    def __init__(self, reader: Reader, run: Run) -> None:
        self.reader, self.run = reader, run

    def __html__(self) -> Markup:
        return self.reader.token(self.run)

    def __str__(self) -> str:
        return self.run.text


class Nothing:
    """A value the deal does not give: false, empty, equal to none, and printed as a blank."""

    __slots__ = ("path", "reader")

    def __init__(self, reader: Reader, path: str) -> None:
        self.reader, self.path = reader, path

    def __bool__(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return other is None or isinstance(other, Nothing)

    def __hash__(self) -> int:
        return hash(None)

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __contains__(self, item: object) -> bool:
        return False

    def __getattr__(self, name: str) -> Nothing:
        if name.startswith("_"):
            raise AttributeError(name)
        return Nothing(self.reader, f"{self.path}.{name}")

    def __getitem__(self, name: object) -> Nothing:
        return Nothing(self.reader, f"{self.path}.{name}")

    def items(self) -> tuple[()]:
        """Return no entries."""
        return ()

    def values(self) -> tuple[()]:
        """Return no values."""
        return ()

    def keys(self) -> tuple[()]:
        """Return no keys."""
        return ()

    def get(self, key: str, default: Any = None) -> Any:
        """Return the default."""
        return default

    def __html__(self) -> Markup:
        return self.reader.blank(self.path)


class View:
    """Part of the deal as a template sees it: fields, keys and items, each read recorded."""

    __slots__ = ("_path", "_reader", "_target")

    def __init__(self, reader: Reader, target: Any, path: str) -> None:
        self._reader, self._target, self._path = reader, target, path

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if not isinstance(self._target, (Terms, Mapping)):
            raise AttributeError(f"{self._path} is a list")
        return self._reader.child(self._target, self._path, name)

    def __getitem__(self, key: str | int) -> Any:
        return self._reader.child(self._target, self._path, key)

    def __iter__(self) -> Iterator[Any]:
        if isinstance(self._target, Mapping):
            return iter(self._target)
        return iter([self[i] for i in range(len(self))])

    def __len__(self) -> int:
        return len(self._target) if isinstance(self._target, (Mapping, tuple)) else 1

    def __bool__(self) -> bool:
        return len(self) > 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, View) and self._reader.whole(self) == self._reader.whole(other)

    __hash__ = None  # type: ignore[assignment]

    def __contains__(self, item: object) -> bool:
        if isinstance(self._target, Mapping):
            return item in self._target
        return any(item == child for child in self)

    def items(self) -> list[tuple[str, Any]]:
        """Return keys with what stands under them."""
        return [(key, self[key]) for key in self]

    def values(self) -> list[Any]:
        """Return what stands under each key."""
        return [self[key] for key in self]

    def keys(self) -> list[str]:
        """Return the keys."""
        return list(self)

    def get(self, key: str, default: Any = None) -> Any:
        """Return what stands under `key`, or the default."""
        known: bool = key in self
        return self[key] if known else default


Seen = View | Nothing | TypedText | TypedNumber | TypedWhole | TypedDay | bool


class Reader:
    """Reads one deal for the templates of one document."""

    def __init__(self, deal: Deal) -> None:
        self.deal = deal
        self.section = ""
        """Section whose text is being rendered."""
        self.runs: list[Run] = []
        self.reads: dict[str, set[str]] = {}
        self.leaves: dict[str, Any] = {}
        """Path of each value read to the value."""
        self.blanks: list[tuple[str, str]] = []
        """Path and section of each blank printed."""

    def term(self, path: str) -> Seen:
        """Return the value at `path` to be printed."""
        return self.value(path)

    def value(self, path: str) -> Seen:
        """Return the value at `path` for decisions and loops."""
        steps = steps_of(path)
        if not is_of_contract(steps):
            raise TermsError(path, "a term of the contract", f"{steps[0]} never enters a document; do not read it")
        if not schema_has(Deal, steps):
            raise TermsError(path, "a path of the deal file", "correct the path in the text")
        target: Any = self.deal
        for i, step in enumerate(steps):
            if target is None:
                self._record(path_of(steps[:i]), None)
                return Nothing(self, path)
            try:
                target = _step(target, step)
            except (KeyError, IndexError):
                return self._absent(path)
        return self._wrap(target, path)

    def party(self, role: str) -> Seen:
        """Return the first party that holds `role`."""
        for name, party in self.deal.parties.items():
            if party.role == role:
                self._record(f"parties.{name}.role", party.role)
                return View(self, party, f"parties.{name}")
        return self._absent(f"parties.{role}")

    def child(self, target: Any, path: str, step: str | int) -> Seen:
        """Return what stands under one field, key or index of `target`."""
        if isinstance(target, Terms) and step not in type(target).model_fields:
            raise TermsError(f"{path}.{step}", "a field of the deal file", "correct the text")
        below = f"{path}[{step}]" if isinstance(step, int) else (f"{path}.{step}" if path else step)
        try:
            return self._wrap(_step(target, step), below)
        except (KeyError, IndexError):
            return self._absent(below)

    def token(self, run: Run) -> Markup:
        """Return the token that stands for `run` in the rendered text."""
        self.runs.append(run)
        return Markup(f"{TOKEN_START}{len(self.runs) - 1}{TOKEN_END}")

    def blank(self, path: str) -> Markup:
        """Return the token of a blank, and remember that it was printed."""
        if (path, self.section) not in self.blanks:
            self.blanks.append((path, self.section))
        return self.token(Run("blank", BLANK, path))

    def whole(self, view: View) -> Any:
        """Return the terms behind a view, with all its values recorded as read."""
        self._record_all(view._target, view._path)
        return view._target

    def path_behind(self, value: object) -> str | None:
        """Return the path a value came from, when it is known."""
        return value._path if isinstance(value, View) else getattr(value, "path", None)

    def _wrap(self, value: Any, path: str) -> Seen:
        if isinstance(value, (Terms, Mapping, tuple)):
            if not isinstance(value, Terms) and not value:
                self._record(path, value)
            else:
                self._touch(path)
            return View(self, value, path)
        self._record(path, value)
        typed: TypedText | TypedWhole | TypedNumber | TypedDay
        match value:
            case None:
                return Nothing(self, path)
            case bool():
                return value
            case str():
                typed = TypedText(value)
                typed.reader = self
            case int():
                typed = TypedWhole(value)
            case Decimal():
                typed = TypedNumber(value)
            case date():
                typed = TypedDay(value.year, value.month, value.day)
            case _:
                raise TermsError(f"a {type(value).__name__} at {path}", "a printable value", "read one of its fields")
        typed.path = path
        return typed

    def _absent(self, path: str) -> Nothing:
        self._touch(path)
        return Nothing(self, path)

    def _record(self, path: str, value: Any) -> None:
        self._touch(path)
        self.leaves[path] = value

    def _touch(self, path: str) -> None:
        self.reads.setdefault(self.section, set()).add(path)

    def _record_all(self, value: Any, path: str) -> None:
        if isinstance(value, Terms):
            for name in type(value).model_fields:
                self._record_all(getattr(value, name), f"{path}.{name}")
        else:
            self._record(path, value)


def clean(text: str) -> str:
    """Return typed words on one line, without the characters that mark tokens."""
    return " ".join(text.replace(TOKEN_START, "").replace(TOKEN_END, "").split())


def schema_has(kind: Any, steps: tuple[str | int, ...]) -> bool:
    """Say whether a deal file can have a value under these keys and indexes."""
    if not steps:
        return True
    origin = typing.get_origin(kind)
    if origin is typing.Annotated:
        return schema_has(typing.get_args(kind)[0], steps)
    if origin in (typing.Union, types.UnionType):
        return any(schema_has(member, steps) for member in typing.get_args(kind))
    step, rest = steps[0], steps[1:]
    if origin is tuple:
        return (isinstance(step, int) or step == "*") and schema_has(typing.get_args(kind)[0], rest)
    if origin is dict:
        return isinstance(step, str) and schema_has(typing.get_args(kind)[1], rest)
    if isinstance(kind, type) and issubclass(kind, Terms):
        field = kind.model_fields.get(step) if isinstance(step, str) else None
        return field is not None and schema_has(field.annotation, rest)
    return False


def _step(target: Any, step: str | int) -> Any:
    if isinstance(target, Terms):
        if step not in type(target).model_fields:
            raise KeyError(step)
        return getattr(target, str(step))
    if isinstance(target, Mapping) or isinstance(step, int):
        return target[step]
    raise KeyError(step)
