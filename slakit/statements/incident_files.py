"""Incidents as a file of their own: what one writes, `incidents-csv` and `incidents-jsonl` read back unchanged."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from schemas.incidents import Incident

COLUMNS = tuple(Incident.model_fields)
"""Fields of `schemas.incidents.Incident`, in their order."""
TIMES = ("started_at", "ended_at", "detected_at", "notice_at", "ticket_at", "readmitted_at")
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "＝", "＋", "－", "＠")
"""First characters that make a spreadsheet run a cell as a formula."""
GUARD = "'"
"""Put before such a cell, and before one that begins with itself; readers take one away."""


def write_csv(incidents: Iterable[Incident]) -> str:
    """Return incidents as CSV: times in UTC, an open end blank, evidence as JSON, no cell that runs as a formula.

    Notes
    -----
    A cell that a spreadsheet would run as a formula begins with `'`; `incidents-csv` takes it away again.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for incident in incidents:
        fields = _fields(incident)
        writer.writerow(
            str(value)
            if name == "measured" and value is not None
            else json.dumps(value, ensure_ascii=False)
            if isinstance(value, list)
            else guarded(value or "")
            for name, value in fields.items()
        )
    return text.getvalue()


def write_jsonl(incidents: Iterable[Incident]) -> str:
    """Return incidents as JSON lines: times in UTC, fields without a value left away, numbers as exact text."""
    return "".join(
        json.dumps({name: value for name, value in _fields(incident).items() if value is not None}, ensure_ascii=False)
        + "\n"
        for incident in incidents
    )


def guarded(cell: str) -> str:
    """Return a cell that no spreadsheet runs as a formula."""
    return GUARD + cell if cell.lstrip().startswith((*FORMULA_STARTS, GUARD)) else cell


def unguarded(cell: str) -> str:
    """Return a cell as it was before `guarded`."""
    bare = cell.removeprefix(GUARD)
    return bare if bare != cell and bare.lstrip().startswith((*FORMULA_STARTS, GUARD)) else cell


def _fields(incident: Incident) -> dict[str, Any]:
    """Return each field as text, None where it has no value, evidence as a list."""
    found: dict[str, Any] = {}
    for name in COLUMNS:
        value = getattr(incident, name)
        if name == "evidence":
            value = [evidence.model_dump(mode="json", exclude_none=True) for evidence in value] or None
        elif isinstance(value, datetime):
            value = value.astimezone(UTC).isoformat().replace("+00:00", "Z")
        elif value is not None:
            value = str(value)
        found[name] = value
    return found
