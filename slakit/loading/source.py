"""The bytes of a deal file as text: size, encoding and characters are settled here."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from schemas.errors import DealError, Problem

WHOLE_FILE = "(whole file)"
"""Path of a problem that belongs to no single value."""
LARGEST_FILE_BYTES = 5_000_000
"""A deal of the field is some tens of kilobytes; more is not a deal. [byte]"""
MOST_CHARACTERS_REPORTED = 20

_BYTE_ORDER_MARKS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
_NOT_TEXT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class SourceText:
    """A file that was read: its name as given, its text without byte order mark, its hash."""

    name: str
    text: str
    sha256: str
    """Of the bytes of the file."""


def read_source(path: str | os.PathLike[str]) -> SourceText:
    """Return the text of the file at `path`.

    Raises
    ------
    DealError
        When there is no such file, or it cannot be read, is too large or is not UTF-8 text.
    """
    name = os.fspath(path)
    return source_of(name, _bytes_of(name))


def source_of(name: str, content: bytes) -> SourceText:
    """Return the text in some bytes, under a name.

    Raises
    ------
    DealError
        When they are too many, or not UTF-8 text.
    """
    if len(content) > LARGEST_FILE_BYTES:
        raise DealError([_too_large(name, f"{len(content):,} bytes")])
    text = _decoded(name, content)
    odd = [
        _problem(
            name,
            f"the control character U+{ord(match[0]):04X}",
            "text that can be seen",
            "delete it",
            *_place(text, match.start()),
        )
        for _, match in zip(range(MOST_CHARACTERS_REPORTED), _NOT_TEXT.finditer(text), strict=False)
    ]
    if odd:
        raise DealError(odd)
    if not text.strip():
        raise DealError([_problem(name, "an empty file", "a deal", "start from one: slakit new")])
    return SourceText(shown_name(name), text, sha256(content).hexdigest())


def _bytes_of(name: str) -> bytes:
    """Return the bytes of a file, never more than one over the limit."""
    try:
        status = Path(name).stat()
        if stat.S_ISDIR(status.st_mode):
            raise DealError([_problem(name, "a folder", "a deal file", "name the file in it")])
        if status.st_size > LARGEST_FILE_BYTES:
            raise DealError([_too_large(name, f"{status.st_size:,} bytes")])
        with Path(name).open("rb") as file:
            content = file.read(LARGEST_FILE_BYTES + 1)
    except FileNotFoundError:
        raise DealError([_problem(name, "no file", "a deal file", "correct the name")]) from None
    except PermissionError:
        raise DealError(
            [_problem(name, "a file that may not be read", "a readable file", "change its permissions")]
        ) from None
    except OSError as error:
        said = f"a file that the system cannot read ({error.strerror})"
        raise DealError([_problem(name, said, "a deal file", "correct the name")]) from None
    except ValueError:
        raise DealError([_problem(name, "a name with a NUL byte", "a deal file", "correct the name")]) from None
    if len(content) > LARGEST_FILE_BYTES:
        raise DealError([_too_large(name, f"more than {LARGEST_FILE_BYTES:,} bytes")])
    return content


def _decoded(name: str, content: bytes) -> str:
    """Return the text of UTF-8 bytes."""
    as_utf8 = "save the file as UTF-8"
    for mark, encoding in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            raise DealError([_problem(name, f"{encoding} text", "UTF-8 text", as_utf8)])
    zero = content.find(b"\0")
    if zero >= 0:
        halves = (content[::2], content[1::2])
        if any(half.count(0) * 2 > len(half) for half in halves):
            raise DealError([_problem(name, "UTF-16 text", "UTF-8 text", as_utf8)])
        line = content.count(b"\n", 0, zero) + 1
        column = zero - (content.rfind(b"\n", 0, zero) + 1) + 1
        raise DealError([_problem(name, "a NUL byte", "text", "name a YAML or JSON file", line, column)])
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # Offsets of utf-8-sig errors do not count the byte order mark.
        body = content.removeprefix(b"\xef\xbb\xbf")
        before = body[: error.start].decode()
        byte = body[error.start]
        raise DealError(
            [
                _problem(
                    name,
                    f"the byte 0x{byte:02X}, which is not UTF-8",
                    "UTF-8 text",
                    f"{as_utf8}; it may be Latin-1 or Windows-1252",
                    *_place(before, len(before)),
                )
            ]
        ) from None


def shown_name(name: str) -> str:
    """Return the name of a file as it may be printed."""
    return name if name.isprintable() else ascii(name)


def line_starts(text: str) -> list[int]:
    """Return the offset at which each line of `text` starts."""
    return list(_line_starts(text))


def _line_starts(text: str) -> Iterator[int]:
    yield 0
    for match in re.finditer(r"\r\n|\r|\n", text):
        yield match.end()


def _place(text: str, offset: int) -> tuple[int, int]:
    """Return line and column of an offset, both from 1."""
    starts = [start for start in _line_starts(text[:offset]) if start <= offset]
    return len(starts), offset - starts[-1] + 1


def _too_large(name: str, size: str) -> Problem:
    return _problem(name, size, f"at most {LARGEST_FILE_BYTES:,} bytes", "name a deal file, not a log")


def _problem(
    name: str, found: str, expected: str, remedy: str, line: int | None = None, column: int | None = None
) -> Problem:
    return Problem(WHOLE_FILE, found, expected, remedy, line=line, column=column, file=shown_name(name))
