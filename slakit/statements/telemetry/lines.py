"""The table of lines: one for each node, month and service level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import polars as pl

COLUMNS = (
    "period",
    "service_level",
    "service",
    "unit",
    "window_minutes",
    "down_minutes",
    "excluded_minutes",
    "disregarded_minutes",
    "counted_minutes",
    "unknown_minutes",
    "availability_numerator",
    "availability_denominator",
    "credit_fraction",
    "credit",
    "currency",
)
NUMBERS = COLUMNS[4:12]


def table(parts: list[dict[str, Any]], levels: list[str], nodes: Sequence[str]) -> pl.DataFrame:
    """Return all lines by period, level and node."""
    import polars as pl

    numbers = dict.fromkeys(NUMBERS, pl.Int64())
    schema = {name: numbers.get(name, pl.String()) for name in COLUMNS}
    if not parts:
        return pl.DataFrame(schema=schema)
    columns: dict[str, Any] = {}
    for name in COLUMNS:
        lengths = [len(part["unit"]) for part in parts]
        if name in NUMBERS:
            columns[name] = np.concatenate([np.asarray(part[name], dtype=np.int64) for part in parts])
            continue
        columns[name] = [
            text
            for part, length in zip(parts, lengths, strict=True)
            for text in (part[name] if isinstance(part[name], list) else [part[name]] * length)
        ]
    place = {name: i for i, name in enumerate(nodes)}
    order = {name: i for i, name in enumerate(dict.fromkeys((*levels, *columns["service_level"])))}
    table = pl.DataFrame(columns, schema=schema)
    keys = [
        pl.col("period"),
        pl.col("service_level").replace_strict(order, return_dtype=pl.Int64),
        pl.col("unit").replace_strict(place, return_dtype=pl.Int64),
    ]
    return table.sort(keys)
