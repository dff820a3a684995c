"""What pydantic found wrong with one value, in words: found, expected, what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
from typing import Any

_LONGEST_SHOWN = 60
_MOST_KEYS = 6

_PATTERNS = {
    "^[a-z][a-z0-9_-]{0,62}$": (
        "a key of at most 63 lower-case letters, digits, hyphens and underscores that starts with a letter",
        "rename it",
    ),
    "^[A-Z]{3}$": ("the three capital letters of a currency", "write one such as USD"),
}
_WHOLE = ("a whole number", "write digits only")
_NUMBER = ("a number", "write digits with a point, without separators or units")
_DATE = ("a date written yyyy-mm-dd", "write one such as 2026-11-30")
_CALENDAR = ("a day of the calendar", "correct the month or the day")
_TEXT = ("text", "put it in quotes")
_MAPPING = ("a mapping of keys to values", "write `key: value` lines below it, or delete it")
_LIST = ("a list", "write one item a line, each after a hyphen")
_KINDS: dict[str, tuple[str, str]] = {
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_from_float": _WHOLE,
    "int_parsing_size": ("a number within the bounds of any deal", "correct the number"),
    "decimal_type": _NUMBER,
    "decimal_parsing": _NUMBER,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "finite_number": ("a finite number", "write the number, or leave the key out where there is none"),
    "date_type": _DATE,
    "date_parsing": _DATE,
    "date_from_datetime_parsing": _CALENDAR,  # its form is right: schemas refuses every other form first
    "date_from_datetime_inexact": _DATE,
    "datetime_type": ("a time with its offset from UTC", "write one such as 2026-11-30T14:05:00Z"),
    "datetime_parsing": ("a time with its offset from UTC", "write one such as 2026-11-30T14:05:00Z"),
    "datetime_from_date_parsing": ("a time with its offset from UTC", "write one such as 2026-11-30T14:05:00Z"),
    "timezone_aware": ("a time with its offset from UTC", "add Z or the offset, for example +01:00"),
    "string_type": _TEXT,
    "bool_type": ("true or false", "write true or false"),
    "bool_parsing": ("true or false", "write true or false"),
    "dict_type": _MAPPING,
    "mapping_type": _MAPPING,
    "model_type": _MAPPING,
    "model_attributes_type": _MAPPING,
    "invalid_key": ("keys that are text", "correct the path"),
    "tuple_type": _LIST,
    "list_type": _LIST,
}
_PERCENT = re.compile(r"\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*%\s*$")
_FORMS = {
    "Sourced": "write {value: ..., unit: ..., as_of: ..., kind: ..., and source or rationale}",
    "Duration": "write {months: ...} or {days: ...}",
    "FirmTerm": "write {months: ...}",
}
"""How a mapping is written that people often give as one value."""
_BOUNDS = {
    "greater_than": ("gt", "more than {}", "write a greater number"),
    "greater_than_equal": ("ge", "at least {}", "write a greater number"),
    "less_than": ("lt", "less than {}", "write a smaller number"),
    "less_than_equal": ("le", "at most {}", "write a smaller number; check the unit"),
    "decimal_max_places": ("decimal_places", "at most {} decimal places", "round it"),
    "decimal_max_digits": ("max_digits", "at most {} digits", "round it"),
    "decimal_whole_digits": ("whole_digits", "at most {} digits before the point", "correct the number"),
    "string_too_short": ("min_length", "at least {} characters", "write more, or delete the key"),
    "string_too_long": ("max_length", "at most {} characters", "shorten it"),
    "too_short": ("min_length", "at least {} entries", "add entries, or delete the key"),
    "too_long": ("max_length", "at most {} entries", "remove entries"),
}


def described(value: object) -> str:
    """Return a value in words, short enough for one line."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        text = value if len(value) <= _LONGEST_SHOWN else f"{value[:_LONGEST_SHOWN]}..."
        return f"the text {text!r}"
    if isinstance(value, Mapping):
        keys = [str(key)[:30] for key in list(value)[:_MOST_KEYS]]
        rest = ", ..." if len(value) > _MOST_KEYS else ""
        return f"a mapping with {', '.join(keys)}{rest}" if keys else "an empty mapping"
    if isinstance(value, Sequence):
        return f"a list of {len(value)}" if value else "an empty list"
    if isinstance(value, Decimal):
        return str(value)
    return str(value)[:_LONGEST_SHOWN]


def explained(error: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return what was found, what was expected and what to do for one error of pydantic."""
    kind, value, context = error["type"], error.get("input"), error.get("ctx", {})
    found = described(value)
    if kind in _KINDS:
        expected, remedy = _KINDS[kind]
        percent = _PERCENT.match(value) if isinstance(value, str) else None
        if value is None:
            remedy = "write it, or delete the key"
        elif percent and expected == _NUMBER[0]:
            remedy = f"write the fraction of 1: {(Decimal(percent[1]) / 100).normalize():f}"
        elif context.get("class_name") in _FORMS:
            remedy = _FORMS[context["class_name"]]
        return found, expected, remedy
    if kind in _BOUNDS:
        name, expected, remedy = _BOUNDS[kind]
        bound = _number_in(str(context[name]))
        phrase = expected.format(f"{bound:,f}")
        if kind == "less_than_equal" and bound == 1:
            remedy = "write a fraction of 1, for example 0.995 for 99.5%"
        elif bound == 1:
            phrase = phrase.replace("entries", "entry").replace("characters", "character")
        return found, phrase, remedy
    match kind:
        case "literal_error":
            return _not_among(value, [word.strip("'") for word in _words(context["expected"])])
        case "union_tag_invalid":
            tags = [word.strip("'") for word in context["expected_tags"].split(", ")]
            key = str(context["discriminator"]).strip("'")
            _, expected, remedy = _not_among(context["tag"], tags)
            return f"`{key}` {context['tag']!r}", expected, remedy
        case "string_pattern_mismatch":
            expected, remedy = _PATTERNS.get(
                context["pattern"], (f"text of the pattern {context['pattern']}", "correct it")
            )
            return found, expected, remedy
    return found, str(error["msg"]), "correct it"


def _number_in(text: str) -> Decimal:
    """Return a bound as pydantic gives it: plain, or as the text of the expression that made it."""
    return Decimal(text.removeprefix("Decimal('").removesuffix("')"))


def _words(listed: str) -> list[str]:
    """Return the words of a list such as `'a', 'b' or 'c'`."""
    *head, last = listed.split(", ")
    return [*head, *last.split(" or ")]


def _not_among(value: object, allowed: list[str]) -> tuple[str, str, str]:
    """Return the message for a word that is none of a closed list."""
    expected = allowed[0] if len(allowed) == 1 else f"one of {', '.join(allowed)}"
    if isinstance(value, str) and value in allowed:
        return described(value), f"the number {value}", f"write {value} without quotes"
    close = get_close_matches(str(value), allowed, 1)
    if close:
        return described(value), expected, f"did you mean {close[0]}?"
    return described(value), expected, f"write {allowed[0]}" if len(allowed) == 1 else "write one of them"
