"""Time of which logs say nothing: after a snapshot, and outside the stretch that readings cover."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from risk.contract_rules.intervals import Span, difference, union
from schemas.deal import Deal
from schemas.incidents import Evidence, Incident, UnitService
from schemas.periods import Period
from slakit.statements.importers.imported import Imported
from slakit.statements.units import UnitNames

AFTER = "not known: the snapshot was taken before"
NO_READINGS = "no readings"


def known_up_to(log: Imported, captured: datetime | None) -> Imported:
    """Return a snapshot whose open incidents are known up to its capture and unknown after it.

    Parameters
    ----------
    captured : when it was taken; None where nobody says it, so that what it shows counts on, with a warning.
    """
    still = [incident for incident in log.incidents if incident.ended_at is None and incident.state != "unknown"]
    if not still:
        return log
    if captured is None:
        words = (
            f"{log.file} is a snapshot, and nothing says when it was taken: what it shows counts up to the end of what "
            "is stated, though it proves nothing after it was taken; say when with --captured-at"
        )
        return replace(log, notes=(words, *log.notes), warnings=(*log.warnings, words))
    words = (
        f"{log.file} was taken at {captured:%Y-%m-%d %H:%M:%S} UTC: what it shows is known up to then, and the time "
        "after it is unknown, not downtime"
    )
    found = [
        part
        for incident in log.incidents
        for part in (_parts(incident, captured) if incident.ended_at is None else (incident,))
    ]
    return replace(log, incidents=tuple(found), notes=(words, *log.notes), warnings=(*log.warnings, words))


def _parts(incident: Incident, captured: datetime) -> Iterator[Incident]:
    if incident.state == "unknown":
        yield incident
        return
    if captured <= incident.started_at:
        yield incident.model_copy(update={"state": "unknown"})
        return
    yield incident.model_copy(update={"ended_at": captured})
    yield Incident(
        id=f"{incident.id[:190]}:after",
        level=incident.level,
        unit_id=incident.unit_id,
        state="unknown",
        started_at=captured,
        monitor_id=incident.monitor_id,
        cause=AFTER,
        evidence=incident.evidence,
    )


def outside_readings(
    deal: Deal, logs: Sequence[Imported], names: UnitNames, units: Iterable[UnitService], periods: Sequence[Period]
) -> Iterator[Incident]:
    """Yield the time in some periods that readings do not cover, as unknown.

    A file of readings knows its units only while it lasts. Where all logs are files of readings, a unit of a level
    that they read which none of them names is unknown throughout.
    """
    reading = [log for log in logs if log.covers is not None]
    if not reading:
        return
    zone = deal.measurement.zone
    whole = union((period.start(zone), period.end(zone)) for period in periods)
    known: dict[str, list[Imported]] = {}
    for log in reading:
        for name in log.named_units:
            unit = names.of(name)
            if unit is not None:
                known.setdefault(unit, []).append(log)
    levels = {unit.unit_id: unit.level for unit in units}
    read_levels = {levels[unit] for unit in known}
    for unit, level in levels.items():
        own = known.get(unit, [])
        if not own and (len(reading) < len(logs) or level not in read_levels):
            continue
        cited = own or reading
        spans: list[Span] = [log.covers for log in own if log.covers is not None]
        for start, end in difference(whole, union(spans)):
            yield Incident(
                id=f"{cited[0].file}:{start:%Y%m%dT%H%M%SZ}:outside:{unit}"[:200],
                level=level,
                unit_id=unit,
                state="unknown",
                started_at=start,
                ended_at=end,
                cause=NO_READINGS,
                evidence=tuple(
                    Evidence(file=log.file, text="no reading of this unit at any time before this one or after it")
                    for log in cited
                ),
            )
