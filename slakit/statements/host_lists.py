"""Lists of unit names as schedulers write them: `gpu[001-064,070],login-1`."""

from __future__ import annotations

import re
from itertools import product

from schemas.errors import TermsError

MOST_NAMES = 200_000
"""Names that one list may stand for. [1]"""
_PART = re.compile(r"\[([^\[\]]*)\]|([^\[\],\s]+)")
_RANGE = re.compile(r"(\d{1,12})(?:-(\d{1,12}))?")


def expanded(text: str) -> tuple[str, ...]:
    """Return every name of a list, in its order, each once.

    Raises
    ------
    TermsError
        When brackets do not close, a range runs backwards, or the list stands for more than `MOST_NAMES`.

    Examples
    --------
    >>> expanded("gpu[08-10,12], login-1")
    ('gpu08', 'gpu09', 'gpu10', 'gpu12', 'login-1')
    """
    names: dict[str, None] = {}
    for entry in _entries(text):
        parts: list[list[str]] = []
        size = 1
        for is_range, inner, plain in _parts(entry):
            parts.append(_values(inner, entry) if is_range else [plain])
            size *= len(parts[-1])
            if len(names) + size > MOST_NAMES:
                raise _wrong(f"{entry[:60]!r}, a list of more than {MOST_NAMES:,} names", "a shorter list")
        names |= dict.fromkeys("".join(chosen) for chosen in product(*parts))
    return tuple(names)


def _entries(text: str) -> list[str]:
    """Return the entries between commas and blanks that stand outside brackets."""
    found, depth, current = [], 0, ""
    for sign in text:
        depth += (sign == "[") - (sign == "]")
        if depth < 0 or depth > 1:
            raise _wrong(f"{text[:60]!r}", "brackets that open and close once")
        if depth == 0 and (sign == "," or sign.isspace()):
            found.append(current)
            current = ""
        else:
            current += sign
    if depth:
        raise _wrong(f"{text[:60]!r}, in which a bracket does not close", "closed brackets")
    return [entry for entry in (*found, current) if entry]


def _parts(entry: str) -> list[tuple[bool, str, str]]:
    return [(match[2] is None, match[1] or "", match[2] or "") for match in _PART.finditer(entry)]


def _values(inner: str, entry: str) -> list[str]:
    """Return the numbers of one pair of brackets, with their leading zeros."""
    found: list[str] = []
    for piece in inner.split(","):
        match = _RANGE.fullmatch(piece.strip())
        if match is None:
            raise _wrong(f"{piece[:40]!r} in {entry[:60]!r}", "numbers and ranges such as 001-064")
        first, last = match[1], match[2] or match[1]
        if int(last) < int(first):
            raise _wrong(f"the range {piece[:40]!r} in {entry[:60]!r}", "a range that runs upwards")
        if len(found) + int(last) - int(first) >= MOST_NAMES:
            raise _wrong(f"the range {piece[:40]!r} in {entry[:60]!r}", f"at most {MOST_NAMES:,} names")
        found += [f"{number:0{len(first)}d}" for number in range(int(first), int(last) + 1)]
    return found


def _wrong(found: str, expected: str) -> TermsError:
    return TermsError(found, expected, "correct the list of names")
