"""When a snapshot was taken, as the user or the name of its file says; and what two of them show together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from schemas.incidents import Incident
from slakit.statements.importers.clock import Clock, Reading
from slakit.statements.importers.form import Options
from slakit.statements.importers.imported import Bound, Imported
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


LISTS_OF_THE_UNWELL = frozenset({"slurm-sinfo-reason"})
"""Formats that list every unit that is not well, so that a unit they do not name is well."""


def paired(older: Imported, newer: Imported, older_at: datetime, newer_at: datetime) -> Imported:
    """Return what two snapshots of one system show together: ends, within bounds, of what the newer shows no more.

    Parameters
    ----------
    older_at, newer_at : when each was taken.

    Raises
    ------
    DealError
        When the two are of different formats, or were not taken one after the other.

    Notes
    -----
    An incident ends at the first good reading, which is the newer snapshot; it may have ended at any time since the
    older one. It stays open where the newer snapshot has records that could not be read or does not show the unit at
    all. What happened and ended between the two is in neither.
    """
    if older.form != newer.form:
        raise refused(
            f"{older.file}, {newer.file}", f"{older.form} and {newer.form}", "two snapshots of one format", "ask twice"
        )
    if newer_at <= older_at:
        raise refused(
            f"{older.file}, {newer.file}",
            f"{newer_at.isoformat()} after {older_at.isoformat()}",
            "the newer snapshot taken after the older",
            "correct the times or the order",
        )
    notes = dict.fromkeys((*older.notes, *newer.notes))
    bounds = list(older.bounds)
    incidents: list[Incident] = []
    later: dict[str, list[Incident]] = {}
    for one in newer.incidents:
        later.setdefault(one.unit_id, []).append(one)
    goes_on: set[str] = set()
    changed: dict[str, datetime] = {}
    for one in older.incidents:
        now = later.get(one.unit_id, [])
        same = next((n for n in now if n.state == one.state and _is_one_start(one, n, older_at, newer_at)), None)
        if same is not None:
            goes_on.add(same.id)
            incidents.append(_with(one, evidence=(*one.evidence, *same.evidence)))
            continue
        end, words = _end_of(one, now, newer, older_at, newer_at)
        if words is not None:
            notes[words] = None
        if end is None:
            incidents.append(one)
            continue
        incidents.append(_with(one, ended_at=end, evidence=(*one.evidence, *(e for n in now for e in n.evidence))))
        bounds.append(Bound(one.id, "ended_at", max(older_at, one.started_at), end))
        changed |= {n.id: newer_at for n in now if n.started_at <= older_at}
    for one in newer.incidents:
        if one.id in goes_on:
            continue
        name = one.id if all(one.id != other.id for other in incidents) else f"{one.id}:newer"[:200]
        if one.id in changed:  # another state with the time of the same reason: it began between the two
            incidents.append(_with(one, id=name, started_at=newer_at, detected_at=newer_at))
            bounds.append(Bound(name, "started_at", older_at, newer_at))
            continue
        incidents.append(_with(one, id=name))
        was_well = one.unit_id in older.healthy_units and one.started_at > older_at
        for bound in newer.bounds:
            if bound.incident == one.id:
                is_known = bound.earliest is not None and bound.earliest >= older_at
                bounds.append(
                    replace(bound, incident=name, earliest=bound.earliest if is_known or not was_well else older_at)
                )
    left_out, unknown = Counter(older.left_out), Counter(older.unknown_states)
    left_out.update(newer.left_out)
    unknown.update(newer.unknown_states)
    return Imported(
        file=f"{older.file}, {newer.file}",
        form=older.form,
        records=older.records + newer.records,
        used=older.used + newer.used,
        incidents=tuple(incidents),
        windows=(*older.windows, *newer.windows),
        skipped=(*older.skipped, *newer.skipped),
        left_out=dict(sorted(left_out.items())),
        duplicates=older.duplicates + newer.duplicates,
        unknown_states=dict(sorted(unknown.items())),
        bounds=tuple(bounds),
        notes=tuple(notes),
        healthy_units=newer.healthy_units,
        captured_at=newer_at,
    )


def _is_one_start(one: Incident, other: Incident, older_at: datetime, newer_at: datetime) -> bool:
    """Return whether two incidents began together; one without a time of its own begins with its snapshot."""
    return other.started_at == one.started_at or (one.started_at == older_at and other.started_at == newer_at)


def _end_of(
    one: Incident, now: Sequence[Incident], newer: Imported, older_at: datetime, newer_at: datetime
) -> tuple[datetime | None, str | None]:
    """Return when an incident of the older snapshot had ended at the latest, and what there is to say of it."""
    if now:
        follows = min(other.started_at for other in now)
        return (min(follows, newer_at) if follows > older_at else newer_at), (
            f"{one.unit_id}: its state or reason changed between the two snapshots; whether it was well for a time "
            "between is not known"
        )
    if one.unit_id in newer.healthy_units or (newer.form in LISTS_OF_THE_UNWELL and not newer.skipped):
        return newer_at, "ends are those of the newer snapshot; each came at some time since the older one"
    if newer.skipped:
        return None, f"{newer.file} has records that cannot be read: what it does not show stays open"
    return None, f"{one.unit_id} is not in {newer.file}: it stays open"


def _with(incident: Incident, **changes: Any) -> Incident:
    """Return an incident with some fields changed, checked again."""
    return Incident(**{**{name: getattr(incident, name) for name in Incident.model_fields}, **changes})
