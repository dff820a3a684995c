"""Which keys the schemas know at a path: for suggestions, and for what a missing key is."""

from __future__ import annotations

import types
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Union, get_args, get_origin

from schemas.base import Terms


def one_step(annotations: Sequence[Any], step: str | int) -> tuple[Any, ...]:
    """Return the types that the value one step into a value of these types may have."""
    return tuple(inner for annotation in annotations for inner in _inside(annotation, step))


def models_of(annotations: Sequence[Any]) -> tuple[type[Terms], ...]:
    """Return the models among these types and their alternatives."""
    return tuple(model for annotation in annotations for model in _models(annotation))


def described_field(model: type[Terms], name: str) -> str:
    """Return the first sentence said about a field, without a full stop; empty when nothing is."""
    field = model.model_fields.get(name)
    text = " ".join((field.description or "").split()) if field else ""
    return text.split(". ")[0].rstrip(".")


def _inside(annotation: Any, step: str | int) -> Iterator[Any]:
    """Yield what one step into a value of this type may be."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        yield from _inside(arguments[0], step)
    elif origin in (Union, types.UnionType):
        for argument in arguments:
            yield from _inside(argument, step)
    elif origin is dict:
        yield arguments[1]
    elif origin is tuple:
        yield arguments[0]
    elif isinstance(annotation, type) and issubclass(annotation, Terms) and step in annotation.model_fields:
        yield annotation.model_fields[str(step)].annotation


def _models(annotation: Any) -> Iterator[type[Terms]]:
    """Yield the models among the alternatives of a type."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        yield from _models(arguments[0])
    elif origin in (Union, types.UnionType):
        for argument in arguments:
            yield from _models(argument)
    elif isinstance(annotation, type) and issubclass(annotation, Terms):
        yield annotation
