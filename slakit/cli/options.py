"""Options that several commands read the same way."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import typer

from schemas.errors import DealError, Problem

if TYPE_CHECKING:
    from schemas.service_levels import Level


def moment_of(text: str | None, option: str) -> datetime | None:
    """Return the time of a text such as 2026-12-01T09:00Z, None for none."""
    if text is None:
        return None
    from slakit.statements.importers.times import TimeError, moment

    try:
        return moment(text, None)
    except TimeError as error:
        remedy = f"write one such as 2026-12-01T09:00Z ({error})"
        raise DealError([Problem(option, repr(text), "a time with its offset", remedy)]) from None


def level_of(text: str | None) -> Level | None:
    """Return a level of units by its name, None for none."""
    from typing import get_args

    from schemas.service_levels import Level

    for level in get_args(Level):
        if text == level:
            found: Level = level
            return found
    if text is not None:
        raise typer.BadParameter(f"{text!r} is none of {', '.join(get_args(Level))}", param_hint="--level")
    return None


def known_zone(zone: str | None) -> str | None:
    """Return a zone that the time zone database knows, None for none."""
    from zoneinfo import available_timezones

    if zone is not None and zone not in available_timezones():
        raise DealError([Problem("--zone", repr(zone), "an IANA time zone", "write one such as America/Chicago")])
    return zone
