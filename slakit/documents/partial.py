"""The terms attached to a contract as a deal again, as far as they go: what no text read is not there."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from schemas.base import Terms
from schemas.deal import Deal
from schemas.errors import DealError, Problem, TermsError

DEEPEST = 40
"""Levels of an extract. [1]"""


def deal_of(terms: Mapping[str, Any]) -> Deal:
    """Return a deal that holds the terms of an extract and nothing else.

    Each value is checked by the type of its term; that terms are missing, or contradict each other, is not. Only the
    texts that the extract was made for may read it.

    Raises
    ------
    DealError
        With every value that is no value of its term.
    """
    problems: list[Problem] = []
    made = _terms(Deal, terms, "", problems)
    if problems:
        raise DealError(problems)
    assert isinstance(made, Deal)
    return made


def _terms(kind: type[Terms], data: Mapping[str, Any], path: str, problems: list[Problem]) -> Terms:
    """Return terms of one kind with the fields that are given; the others keep their defaults or are not there."""
    found: dict[str, Any] = {}
    for name, value in data.items():
        below = f"{path}.{name}" if path else name
        field = kind.model_fields.get(name)
        if field is None:
            problems.append(Problem(below, "a key", "a term of the deal file", "do not trust the document"))
        else:
            found[name] = _value(_whole(field), value, below, problems)
    return kind.model_construct(**found)


def _value(kind: Any, value: Any, path: str, problems: list[Problem]) -> Any:
    """Return one value as its term holds it."""
    if value is None:
        return None
    holders = [member for member in _members(kind) if _holds(member, value)]
    if not holders:
        return _leaf(kind, value, path, problems)
    member = holders[0]
    if isinstance(value, Mapping):
        origin = typing.get_origin(member)
        if origin is dict:
            inner = typing.get_args(member)[1]
            return {key: _value(inner, item, f"{path}.{key}", problems) for key, item in value.items()}
        return _terms(member, value, path, problems)
    inner = typing.get_args(member)[0]
    return tuple(_value(inner, item, f"{path}[{i}]", problems) for i, item in enumerate(value))


def _leaf(kind: Any, value: Any, path: str, problems: list[Problem]) -> Any:
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        problems.append(Problem(path, repr(value)[:80], error.errors()[0]["msg"], "do not trust the document"))
    except TermsError as error:
        problems.append(Problem(path, error.found, error.expected, "do not trust the document"))
    return None


def _whole(field: FieldInfo) -> Any:
    """Return the type of a field with its bounds."""
    return typing.Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation


def _members(kind: Any) -> Iterator[Any]:
    """Yield the types that a value of `kind` may have."""
    origin = typing.get_origin(kind)
    if origin is typing.Annotated:
        yield from _members(typing.get_args(kind)[0])
    elif origin in (typing.Union, types.UnionType):
        for member in typing.get_args(kind):
            yield from _members(member)
    else:
        yield kind


def _holds(member: Any, value: Any) -> bool:
    """Tell whether a value of a composite type may be read as this member."""
    origin = typing.get_origin(member)
    if isinstance(value, Mapping):
        if origin is dict:
            return True
        if not (isinstance(member, type) and issubclass(member, Terms)) or not set(value) <= set(member.model_fields):
            return False
        return all(
            item is None or item in _choices(member.model_fields[name].annotation, item) for name, item in value.items()
        )
    return isinstance(value, list) and origin is tuple


def _choices(kind: Any, item: Any) -> tuple[Any, ...]:
    """Return the words that a field may hold, or `item` itself where any value may stand."""
    return typing.get_args(kind) if typing.get_origin(kind) is typing.Literal else (item,)
