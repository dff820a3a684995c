"""Results and deals as JSON text: exact numbers as text, estimates as finite numbers, the same text every time."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256
from pathlib import PurePath
from typing import Any

from schemas.base import Terms
from schemas.deal import Deal
from schemas.errors import NotComputedError, Problem
from schemas.money import Money


def json_text(value: object) -> str:
    """Return `value` as one JSON document that ends with a line break.

    Exact numbers (`Decimal`, `Fraction`) become text, money an amount with its currency, dates ISO text. Keys keep
    their order. ASCII throughout, so that any terminal and any reader takes it.

    Raises
    ------
    NotComputedError
        At a float that is not finite; the message says where.
    TypeError
        At a value that has no form in JSON.
    """
    return json.dumps(plain(value), indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def plain(value: object, path: str = "") -> Any:
    """Return `value` as what JSON knows: mappings, lists, text, finite numbers, true, false and null."""
    match value:
        case None | bool() | str() | int():
            return value
        case float():
            return _finite(value, path)
        case Decimal():
            return f"{value:f}"
        case Fraction():
            return str(value)
        case date():
            return value.isoformat()
        case Money():
            return value.as_json()
        case PurePath():
            return str(value)
        case Terms():
            return {name: plain(getattr(value, name), _below(path, name)) for name in type(value).model_fields}
        case Mapping():
            return {_key(key, path): plain(inner, _below(path, str(key))) for key, inner in value.items()}
        case list() | tuple():
            return [plain(inner, f"{path}[{i}]") for i, inner in enumerate(value)]
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name), _below(path, f.name)) for f in fields(value)}
    if hasattr(value, "tolist"):  # an array or a number of numpy, which this module need not import
        return plain(value.tolist(), path)
    raise TypeError(f"{path or 'the result'}: {type(value).__name__} has no form in JSON")


def canonical_text(deal: Deal) -> str:
    """Return a deal as text that depends on its terms alone.

    Defaults are written out, numbers lose trailing zeros, entries keep the order of the file, because arrays follow it.
    Comments, layout and the choice of YAML or JSON leave no trace.
    """
    return json.dumps(plain(_shortest(deal)), ensure_ascii=True, separators=(",", ":"))


def canonical_sha256(deal: Deal) -> str:
    """Return the SHA-256 of the canonical text of a deal."""
    return sha256(canonical_text(deal).encode()).hexdigest()


def typed_text(deal: Deal) -> str:
    """Return a deal as canonical text without the defaults that nobody typed.

    Read back it is the same deal, with the same canonical digest, and still knows what was typed.
    """
    return json.dumps(plain(_shortest(deal, typed=True)), ensure_ascii=True, separators=(",", ":"))


def problem_json(problem: Problem) -> dict[str, str | int | None]:
    """Return a problem as every command prints it under `errors`."""
    return {
        "file": problem.file,
        "path": problem.path,
        "line": problem.line,
        "column": problem.column,
        "found": problem.found,
        "expected": problem.expected,
        "remedy": problem.remedy,
    }


def _shortest(value: object, *, typed: bool = False) -> object:
    """Return terms as mappings whose decimals carry no trailing zeros, with the typed fields alone where asked."""
    match value:
        case Decimal():
            shortest = f"{value:f}"
            return shortest.rstrip("0").rstrip(".") if "." in shortest else shortest
        case Terms():
            fields = [name for name in type(value).model_fields if not typed or name in value.model_fields_set]
            return {name: _shortest(getattr(value, name), typed=typed) for name in fields}
        case Mapping():
            return {key: _shortest(inner, typed=typed) for key, inner in value.items()}
        case list() | tuple():
            return [_shortest(inner, typed=typed) for inner in value]
    return value


def _finite(value: float, path: str) -> float:
    if not math.isfinite(value):
        raise NotComputedError(
            path or "the result", f"a figure that came out as {value}", "check the terms it rests on"
        )
    return value + 0.0  # no negative zero


def _key(key: object, path: str) -> str:
    if not isinstance(key, str):
        raise TypeError(f"{path or 'the result'}: the key {key!r} is not text")
    return key


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
