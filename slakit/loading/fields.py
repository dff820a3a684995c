"""Which keys the schemas know at a path: for suggestions, and for what a missing key is."""

from __future__ import annotations

import types
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from schemas.base import Terms


def one_step(annotations: Sequence[Any], step: str | int) -> tuple[Any, ...]:
    """Return the types that the value one step into a value of these types may have."""
    return tuple(inner for annotation in annotations for inner in _inside(annotation, step))


def models_of(annotations: Sequence[Any]) -> tuple[type[Terms], ...]:
    """Return the models among these types and their alternatives."""
    return tuple(model for annotation in annotations for model in _models(annotation))


def tags_of(models: Sequence[type[Terms]], key: str) -> dict[str, type[Terms]]:
    """Return the words that `key` may have, each with the model that it stands for."""
    fields = ((model.model_fields.get(key), model) for model in models)
    return {str(word): model for field, model in fields if field for word in get_args(field.annotation)}


def of_label(models: Sequence[type[Terms]], label: str) -> tuple[type[Terms], ...]:
    """Return the models that pydantic means by the label of an alternative: the name of a class, or a word of a key."""
    return tuple(
        model
        for model in models
        if model.__name__ == label
        or any(
            get_origin(field.annotation) is Literal and get_args(field.annotation) == (label,)
            for field in model.model_fields.values()
        )
    )


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
