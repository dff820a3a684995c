"""The page on the deal file: its examples are of the schema, and it names every field of the money side."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
import yaml
from pydantic import TypeAdapter
from pydantic.fields import FieldInfo

from schemas.base import Terms
from schemas.deal import Deal
from schemas.sources import Sourced

PAGE = (Path(__file__).resolve().parents[2] / "docs/deal-file.md").read_text()
BLOCKS = [yaml.safe_load(text) for text in re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)]
MONEY = ("commercial", "operations", "power", "residual_value", "backstop", "insurance", "finance", "assumptions")


def models_in(kind: Any) -> Iterator[type[Terms]]:
    """Yield every model of terms that a type may hold, numbers about the world left out."""
    if isinstance(kind, type) and issubclass(kind, Terms) and not issubclass(kind, Sourced):
        yield kind
        for field in kind.model_fields.values():
            yield from models_in(field.annotation)
    else:
        for part in get_args(kind):
            yield from models_in(part)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: " ".join(block)[:40])
def test_every_example_is_of_the_schema(block: dict[str, Any]):
    for section, value in block.items():
        if section in Deal.model_fields:
            TypeAdapter(Deal.model_fields[section].annotation).validate_python(value)


def test_every_section_is_in_the_table():
    named = set(
        re.findall(r"`(\w+)`", "\n".join(line.split("|")[1] for line in PAGE.splitlines() if line[:3] == "| `"))
    )
    assert set(Deal.model_fields) - named == set()


def test_an_example_stands_for_every_section_of_the_money_side():
    assert set(MONEY) <= {section for block in BLOCKS for section in block}


def is_typed(field: FieldInfo) -> bool:
    """Return whether a field says something: one that can have only its default need not be written."""
    return field.is_required() or get_origin(field.annotation) is not Literal or len(get_args(field.annotation)) > 1


@pytest.mark.parametrize("section", MONEY)
def test_every_field_of_the_money_side_is_named(section: str):
    words = set(re.findall(r"[a-z][a-z0-9_]*", PAGE))
    models = list(dict.fromkeys(models_in(Deal.model_fields[section].annotation)))
    assert models
    fields = {
        f"{model.__name__}.{name}" for model in models for name, field in model.model_fields.items() if is_typed(field)
    }
    assert {field for field in fields if field.partition(".")[2] not in words} == set()


def test_every_shape_of_cover_has_a_row():
    models = models_in(Deal.model_fields["backstop"].annotation)
    shapes = [model.model_fields["shape"].annotation for model in models if "shape" in model.model_fields]
    assert len(shapes) == 8
    for shape in shapes:
        (word,) = get_args(shape)
        assert f"| `{word}` |" in PAGE
