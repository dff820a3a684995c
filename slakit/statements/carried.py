"""The records of a statement as one file that travels with it, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import Field, TypeAdapter, ValidationError

from risk.contract_rules.records import Records
from schemas.base import Terms
from schemas.errors import DealError, Problem
from schemas.incidents import Incident, LedgerEntry, Notice, Ticket, UnitService, Window
from slakit.json_text import json_text

FORMAT = "slakit-records"
NAMES = ("incidents", "windows", "notices", "units", "ledger", "tickets")
MOST = 1_000_000


class CarriedRecords(Terms):
    """Records as they travel."""

    incidents: tuple[Incident, ...] = Field(default=(), max_length=MOST)
    windows: tuple[Window, ...] = Field(default=(), max_length=MOST)
    notices: tuple[Notice, ...] = Field(default=(), max_length=MOST)
    units: tuple[UnitService, ...] = Field(default=(), max_length=MOST)
    ledger: tuple[LedgerEntry, ...] = Field(default=(), max_length=MOST)
    tickets: tuple[Ticket, ...] = Field(default=(), max_length=MOST)


def records_file(records: Records, asked: Mapping[str, Any]) -> bytes:
    """Return the records of a statement, and what was asked of them, as JSON."""
    found = {
        name: [one.model_dump(mode="json", exclude_defaults=True) for one in getattr(records, name)] for name in NAMES
    }
    return json_text({"format": FORMAT, "asked": dict(asked), **found}).encode()


def records_of(content: bytes, where: str) -> tuple[Records, dict[str, Any]]:
    """Return the records in such a file, and what was asked of them.

    Raises
    ------
    DealError
        When it is no such file.
    """
    try:
        data = json.loads(content)
        if data.pop("format") != FORMAT:
            raise KeyError("format")
        asked = TypeAdapter(dict[str, Any]).validate_python(data.pop("asked"))
        found = CarriedRecords.model_validate(data)
    except (ValueError, KeyError, TypeError, AttributeError, ValidationError, RecursionError):
        problem = Problem(where, "records that slakit did not write", "the records of a statement", "ask for it again")
        raise DealError([problem]) from None
    return Records(**{name: getattr(found, name) for name in NAMES}), asked
