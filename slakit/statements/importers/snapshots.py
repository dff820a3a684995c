"""When a snapshot was taken: as the user says, else as its name or its text says."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from slakit.statements.importers.clock import Clock, Reading
from slakit.statements.importers.form import Options
from slakit.statements.importers.log import Log
from slakit.statements.importers.refusal import refused
from slakit.statements.importers.times import TimeError

_IN_NAME = re.compile(r"(?<!\d)(20\d\d)-?([01]\d)-?([0-3]\d)[T_.-]?([0-2]\d)[-_:.]?([0-5]\d)[-_:.]?([0-5]\d)(Z?)(?!\d)")


def time_of(log: Log, clock: Clock, options: Options) -> Reading:
    """Return when a snapshot without times was taken: the time of capture, else the time in the name of its file.

    Raises
    ------
    DealError
        When neither says it, or the time in the name has no zone.
    """
    if options.captured_at is not None:
        return Reading(options.captured_at.astimezone(UTC))
    found = _IN_NAME.search(log.name)
    if found is None:
        raise refused(
            log.name,
            "a snapshot without a time in it or in its name",
            "when it was taken",
            "say it with --captured-at, for example --captured-at 2026-11-30T14:05:00Z",
        )
    year, month, day, hour, minute, second, zulu = found.groups()
    try:
        if zulu:
            return Reading(datetime(int(year), int(month), int(day), int(hour), int(minute), int(second), tzinfo=UTC))
        naive = datetime(  # noqa: DTZ001 - its zone follows
            int(year), int(month), int(day), int(hour), int(minute), int(second)
        )
        return clock.local(naive)
    except (ValueError, TimeError) as error:
        raise refused(
            log.name,
            f"the time {found[0]} in its name, which {error}"
            if options.zone
            else f"the local time {found[0]} in its name",
            "a time that can be placed",
            "name the zone with --zone, or the time with --captured-at",
        ) from error


def needs_unit(log: Log) -> Exception:
    """Return the error that refuses a file with findings and no unit, to be raised."""
    return refused(log.name, "findings that name no host", "the unit that the file is about", "name it with --unit")
