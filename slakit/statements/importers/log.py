"""A file of untrusted text: bounded, decoded line by line, never executed or expanded."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from pathlib import Path
from typing import Any

from schemas.errors import DealError, Problem
from schemas.incidents import Evidence

MOST_BYTES = 512 * 1024 * 1024
"""Largest file that is read into memory; readings of any size go through `slakit.statements.telemetry`. [byte]"""
HEAD_BYTES = 64 * 1024
"""How much of a file its format is told from. [byte]"""
LONGEST_LINE = 1_000_000
"""[character]"""
DEEPEST = 64
"""How deep JSON may be nested. [1]"""
SHOWN = 400
"""Characters of a line kept as evidence."""
WITHHELD = "[name withheld]"

_UNPRINTABLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\U000e0000-\U000e007f\ud800-\udfff]"
)


@dataclass(frozen=True)
class Log:
    """One file as it lies there."""

    name: str
    """Its name without folders, as it is cited."""
    data: bytes

    @classmethod
    def open(cls, path: Path) -> Log:
        """Read a file.

        Raises
        ------
        DealError
            When it cannot be read, is empty or is larger than `MOST_BYTES`.
        """
        try:
            status = path.stat()
            if not stat.S_ISREG(status.st_mode):
                raise _refused(printable(path.name), "no regular file", "a file with a log in it", "name a file")
            size = status.st_size
            if size > MOST_BYTES:
                raise _refused(path.name, f"{size:,} bytes", f"at most {MOST_BYTES:,}", "split it, or give readings")
            data = path.read_bytes()
        except OSError as error:
            raise _refused(path.name, error.strerror or "an error", "a file", "check its path and rights") from error
        if not data.strip():
            raise _refused(path.name, "an empty file", "a log", "export it again")
        return cls(re.sub(r"[\t\n]", " ", printable(path.name)), data)

    @property
    def head(self) -> str:
        """Return the first bytes as text, for recognition."""
        return self.data[:HEAD_BYTES].decode("utf-8-sig", errors="replace")

    @cached_property
    def text(self) -> str:
        """Return the whole as text; bytes that are not UTF-8 become U+FFFD."""
        return self.data.decode("utf-8-sig", errors="replace")

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield each line that is not blank with its number from 1, without its end."""
        for number, line in enumerate(re.split(r"\r\n|\n|\r", self.text), start=1):
            if line.strip():
                yield number, line[:LONGEST_LINE]

    def json(self) -> Any:
        """Return the file as JSON.

        Raises
        ------
        DealError
            When it is not JSON, is nested too deeply, or holds a key twice in one object.
        """
        try:
            return json.loads(self.text, object_pairs_hook=_no_key_twice, parse_constant=_no_constant)
        except json.JSONDecodeError as error:
            place = f"{self.name}:{error.lineno}:{error.colno}"
            raise _refused(place, error.msg, "JSON", "export the file again; it may have been cut off") from error
        except (ValueError, RecursionError) as error:
            raise _refused(self.name, str(error)[:200], "plain JSON", "export the file again") from error

    def evidence(self, line: int | None, raw: str, private: tuple[str, ...] = ()) -> Evidence:
        """Return a line as evidence: printable, at most `SHOWN` characters, without the `private` names."""
        for name in sorted((n for n in private if n and n in raw), key=len, reverse=True):
            raw = re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", WITHHELD, raw)
        shown = " ".join(printable(raw).split()) or "(blank)"
        return Evidence(file=self.name, line=line, text=shown if len(shown) <= SHOWN else shown[: SHOWN - 1] + "…")


def parsed(text: str) -> Any:
    """Return one JSON text such as a line of JSON lines, its decimals exact.

    Raises
    ------
    ValueError, RecursionError
        When it is not JSON, holds a key twice in one object, or is nested too deeply.
    """
    found = json.loads(text, object_pairs_hook=_no_key_twice, parse_constant=_no_constant, parse_float=exact)
    check_depth(found)
    return found


def check_depth(value: Any) -> None:
    """Raise `ValueError` where a JSON value is nested more than `DEEPEST` deep, so that no walk through it can fail."""
    layer = [value]
    for _ in range(DEEPEST):
        layer = [one for each in layer if isinstance(each, dict | list) for one in _inside(each) if _is_nested(one)]
        if not layer:
            return
    raise ValueError(f"values nested more than {DEEPEST} deep")


def _inside(value: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


def _is_nested(value: Any) -> bool:
    return isinstance(value, dict | list)


def exact(text: str) -> Decimal:
    """Return a number of JSON as its decimal, or raise `ValueError` where it is beyond all bounds."""
    try:
        return Decimal(text)
    except InvalidOperation as error:
        raise ValueError(f"the number {text[:40]}") from error


def printable(text: str) -> str:
    """Return text with every character that cannot be seen written as its number."""
    return _UNPRINTABLE.sub(lambda found: f"<U+{ord(found[0]):04X}>", text)


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(n for n in names if names.count(n) > 1)!r} twice in one object")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"the number {name}")


def _refused(where: str, found: str, expected: str, remedy: str) -> DealError:
    return DealError([Problem(where, found, expected, remedy)])
