"""Our own telemetry: readings of a monitor, one a row, as comma-separated values, JSON lines or Parquet.

A row has `time`, `unit_id` and `state` (up, down, degraded, planned, unknown; 1 and 0 stand for up and down). A reading
holds until the next of the same unit, at most `MOST_INTERVALS` intervals of the monitor; then the time is unknown. An
incident is a run of readings that say the same. Rows of `unit_id`, `started_at`, `ended_at` and `state` may be up, too.
"""

from __future__ import annotations

import io
from collections import Counter

import numpy as np

from schemas.incidents import Evidence, Incident
from slakit.statements.importers.form import Form, Options
from slakit.statements.importers.imported import Imported
from slakit.statements.importers.log import Log
from slakit.statements.importers.refusal import refused
from slakit.statements.telemetry import states
from slakit.statements.telemetry.rows import OPEN_END
from slakit.statements.telemetry.source import READINGS, SPELLS, columns_of
from slakit.statements.telemetry.spells import MOST_INTERVALS, Spells, Telemetry, telemetry
from slakit.statements.telemetry.times import at

ID = "telemetry"
MOST_SPELLS = 50_000
"""Spells that one statement works out step by step; a file with more goes through the table of nodes. [1]"""


def _sniff(log: Log) -> int:
    """Return whether the header, the first object or the schema names the columns of telemetry."""
    if log.data[:4] == b"PAR1":
        schema = log.data[-64 * 1024 :]
        return 60 if all(name.encode() in schema for name in READINGS) else 0
    found = set(columns_of(log.head.split("\n", 1)[0]))
    if set(READINGS) <= found:
        return 95 if "started_at" not in found else 20
    return 20 if set(SPELLS) <= found else 0  # as many incident files have them


def _read(log: Log, options: Options) -> Imported:
    """Return the spells of a file that are not up.

    Raises
    ------
    DealError
        When the interval of the monitor is not known, the file as a whole cannot be read, its readings stand so far
        apart that much of the time would be unknown, or it holds more spells than a statement can work out.
    """
    if options.monitor_interval_seconds is None:
        raise refused(
            log.name,
            "readings, and no interval of the monitor",
            "the interval, which says how long a reading holds",
            "give a deal with measurement.monitor_interval_seconds",
        )
    read = telemetry(log.name, log.data, options.monitor_interval_seconds, options.zone)
    if read.spacing is not None:
        read.spacing.check(log.name, options.monitor_interval_seconds)
    spells = _within_the_file(read)
    if len(spells) > MOST_SPELLS:
        raise refused(
            log.name,
            f"{len(spells):,} spells in which a unit was not up",
            f"at most {MOST_SPELLS:,} in a statement, which shows each with its steps",
            "make the table of nodes with --nodes, or give a shorter time or fewer units",
        )
    account, covered = read.account, _covered(read)
    warnings = () if read.spacing is None else (read.spacing.words(options.monitor_interval_seconds),)
    left_out = Counter(account.left_out)
    if account.skipped > len(account.listed):
        left_out["skipped, not listed"] = account.skipped - len(account.listed)
    return Imported(
        file=log.name,
        form=ID,
        records=account.rows,
        used=account.used,
        incidents=_incidents(log, read, spells, options),
        skipped=tuple(account.listed),
        left_out=dict(sorted(left_out.items())),
        duplicates=account.duplicates,
        unknown_states=dict(sorted(account.unknown_states.items())),
        notes=(*warnings, *_notes(read, options.monitor_interval_seconds)),
        named_units=frozenset(read.units),
        covers=None if covered is None else (at(covered[0]), at(covered[1])),
        warnings=warnings,
    )


def _covered(read: Telemetry) -> tuple[int, int] | None:
    """Return the stretch of which a file of readings speaks, None for rows of spells. [us]"""
    if read.first is None or read.until is None or not len(read.units):
        return None
    return int(read.first.min()), int(read.until.max())


def _within_the_file(read: Telemetry) -> Spells:
    """Return the spells with the silence of units that begin later, or end earlier, than the file does."""
    covered = _covered(read)
    return read.spells if covered is None else Spells.together(read.spells, read.unknown_outside(*covered))


def _incidents(log: Log, read: Telemetry, spells: Spells, options: Options) -> tuple[Incident, ...]:
    wide = (spells.unit, spells.state, spells.start, spells.end, spells.line)
    rows = list(zip(*(values.tolist() for values in wide), strict=True))
    texts = _texts(log, read, spells)
    return tuple(
        Incident(
            id=f"{log.name}:{at(start):%Y%m%dT%H%M%S.%f}:{read.units[unit]}"[:200],
            level=options.unit_level or "node",
            unit_id=read.units[unit],
            state=states.NAMES[state],
            started_at=at(start),
            ended_at=at(end) if end < OPEN_END else None,
            evidence=(texts[line] if line in texts else _no_row(log),),
        )
        for unit, state, start, end, line in rows
    )


def _texts(log: Log, read: Telemetry, spells: Spells) -> dict[int, Evidence]:
    """Return the evidence of each row on which a spell rests."""
    asked = set(np.unique(spells.line).tolist()) - {0}
    if read.source.form == "parquet":
        return {row: log.evidence(row, text) for row, text in read.source.stored_rows(sorted(asked))}
    found: dict[int, Evidence] = {}
    with io.BytesIO(log.data) as file:
        for number, raw in enumerate(file, start=1):
            if number in asked:
                found[number] = log.evidence(number, raw[:4096].decode("utf-8", errors="replace"))
    return found


def _no_row(log: Log) -> Evidence:
    return Evidence(file=log.name, text="no reading of this unit from here on, or none up to here")


def _notes(read: Telemetry, interval_seconds: int) -> tuple[str, ...]:
    notes = []
    if read.first is not None:
        holds = f"{interval_seconds * MOST_INTERVALS:,} seconds ({MOST_INTERVALS} intervals of the monitor)"
        notes.append(f"a reading holds until the next of its unit, at most {holds}; after that the time is unknown")
    if read.account.contradictions:
        times = f"{read.account.contradictions:,} times at which rows of one unit differ"
        notes.append(f"{times}: the worst state counts, in the order {', '.join(reversed(states.NAMES))}")
    if read.account.reasons and read.account.skipped > len(read.account.listed):
        each = ", ".join(f"{reason} {count:,}" for reason, count in sorted(read.account.reasons.items()))
        notes.append(
            f"{read.account.skipped:,} rows skipped ({each}); the first {len(read.account.listed):,} are listed"
        )
    return tuple(notes)


FORMS = (Form(ID, "Telemetry readings", _sniff, _read),)
