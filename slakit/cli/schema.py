"""`slakit schema`: the JSON Schema of the deal file, units set apart."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schemas.deal import SCHEMA_VERSION, Deal
from slakit.cli.outcome import Outcome
from slakit.files import write_whole
from slakit.json_text import json_text

if TYPE_CHECKING:
    from rich.console import Console

_BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
_CHECKED_BY_LOADING = ("max_digits", "decimal_places")
_NUMBER = r"^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$"
_UNIT = re.compile(r"\s*\[([^\[\]]+)\]\.?\s*$")


def deal_schema() -> dict[str, Any]:
    """Return the JSON Schema of a deal file.

    A description that ends in a unit, such as `[MW]`, also gives it as `x-unit`.
    """
    schema: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Deal.model_json_schema(),
        "title": f"Deal file of slakit, version {SCHEMA_VERSION}",
    }
    _for_editors(schema)
    return schema


def run(out: Path | None) -> Outcome:
    """Return the schema, written to a file where one is named."""
    schema = deal_schema()
    if out is not None:
        write_whole(out, json_text(schema).encode())
    return Outcome(schema, lambda console: _show(console, schema, out))


def _show(console: Console, schema: dict[str, Any], out: Path | None) -> None:
    if out is None:
        console.file.write(json_text(schema))
    else:
        console.print(f"Wrote {out}")


def _number(bound: int | float | str) -> int | float:
    """Return a bound as a number; pydantic writes a decimal one as text."""
    return int(bound) if Decimal(str(bound)) == int(float(bound)) else float(bound)


def _for_editors(part: Any) -> None:
    """Say units, bounds, closed lists of keys and quoted numbers as editors read them."""
    if isinstance(part, dict):
        description = part.get("description")
        if isinstance(description, str) and (unit := _UNIT.search(description)):
            part["x-unit"] = unit[1]
        if part.get("anyOf", [])[:2] == [{"type": "number"}, {"type": "string"}]:
            part["anyOf"][1] = {"type": "string", "pattern": _NUMBER}
        if "patternProperties" in part:
            part["additionalProperties"] = False
        for ours, theirs in _BOUNDS.items():
            if isinstance(part.get(ours), int | float | str) and "properties" not in part:
                part[theirs] = _number(part.pop(ours))
        for ours in _CHECKED_BY_LOADING:
            if isinstance(part.get(ours), int):
                del part[ours]
        for inner in list(part.values()):
            _for_editors(inner)
    elif isinstance(part, list):
        for inner in part:
            _for_editors(inner)
