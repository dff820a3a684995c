"""Plain scalars by the core schema of YAML 1.2, with decimals kept exactly as typed.

Only what that schema calls null, a boolean or a number is one; `no`, `on` and `12:30` are text, `0123` is 123.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from schemas.errors import TermsError

LONGEST_NUMBER = 60
"""Characters of a number. No term needs more; more would only cost time. [1]"""
LARGEST_EXPONENT = 50
"""Greatest power of ten that a number may be written with, in size. [1]"""

_NULL: Final = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS: Final = {word: word[0] in "tT" for word in ("true", "True", "TRUE", "false", "False", "FALSE")}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
_DECIMAL = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE]([-+]?[0-9]+))?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")

Scalar = str | int | bool | Decimal | None


def plain_scalar(text: str) -> Scalar:
    """Return what an unquoted scalar of YAML 1.2 stands for.

    Examples
    --------
    >>> [plain_scalar(text) for text in ("no", "12:30", "0123", "0o17", "~")]
    ['no', '12:30', 123, 15, None]
    >>> plain_scalar("0.1"), plain_scalar("1e5"), plain_scalar("2026-11-30")
    (Decimal('0.1'), Decimal('1E+5'), '2026-11-30')
    """
    if text in _NULL:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _NOT_FINITE.fullmatch(text):
        raise TermsError(text, "a finite number", "write the number, or leave the key out where there is none")
    if _INTEGER.fullmatch(text):
        return int(_of_bearable_length(text))
    if _OCTAL.fullmatch(text):
        return int(_of_bearable_length(text)[2:], 8)
    if _HEXADECIMAL.fullmatch(text):
        return int(_of_bearable_length(text)[2:], 16)
    return decimal_number(text) if _DECIMAL.fullmatch(text) else text


def decimal_number(text: str) -> Decimal:
    """Return the decimal typed as `text`, which is known to be one."""
    _of_bearable_length(text)
    match = _DECIMAL.fullmatch(text)
    exponent = match[1] if match else None
    if exponent is not None and abs(int(exponent)) > LARGEST_EXPONENT:
        raise TermsError(text, "a number within the bounds of any deal", "correct the exponent")
    return Decimal(text)


def whole_number(text: str) -> int:
    """Return the whole number typed as `text`, which is known to be one."""
    return int(_of_bearable_length(text))


def _of_bearable_length(text: str) -> str:
    if len(text) > LONGEST_NUMBER:
        raise TermsError(
            f"a number of {len(text)} characters ({text[:12]}...)",
            "a number within the bounds of any deal",
            "correct it, or put it in quotes if it is text",
        )
    return text
