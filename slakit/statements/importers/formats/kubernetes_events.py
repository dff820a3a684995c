"""Events of Kubernetes about nodes, `kubectl get events -o json`: from NodeNotReady to NodeReady.

An event that repeats is one object with a count, its first time and its last; the times between are lost. So it gives
two readings, and the time between them that no other reading shows is unknown, not one outage.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from schemas.incidents import Evidence
from slakit.statements.importers import json_records
from slakit.statements.importers.form import Form, Options
from slakit.statements.importers.imported import Bound, Collector, Imported, State
from slakit.statements.importers.json_records import Element
from slakit.statements.importers.kubernetes_words import kubernetes_words
from slakit.statements.importers.log import Log
from slakit.statements.importers.refusal import refused
from slakit.statements.importers.times import TimeError, moment

OTHER: Mapping[str, str] = {"not ready": "ready", "cordoned": "uncordoned"}
"""What ends a spell, by what begins it."""
STATES: Mapping[str, State] = {"not ready": "down", "cordoned": "degraded"}

_TABLE = re.compile(r"\s*(?:NAMESPACE\s+)?LAST SEEN\s+(?:FIRST SEEN\s+)?(?:COUNT\s+)?(?:NAME\s+)?\S*TYPE\s+REASON")


@dataclass(frozen=True, slots=True)
class _Reading:
    """One time at which an event was seen."""

    at: datetime
    node: str
    says: str
    part: Literal["only", "first", "last"]
    repeats: int
    record: Element
    words: str


@dataclass(slots=True)
class _Spell:
    """A node not ready, or cordoned, and not yet good again."""

    since: _Reading
    also: list[Evidence] = field(default_factory=list)


def read(log: Log, options: Options) -> Imported:
    """Read events.

    Raises
    ------
    DealError
        When the file is a table of ages or no plain JSON.
    """
    if _TABLE.match(log.head):
        raise refused(
            log.name,
            "the table of kubectl, which shows ages such as 23m and no times",
            "the events with their times",
            "export them with kubectl get events -A -o json before they expire",
        )
    found = Collector(log, "kubernetes-events")
    if json_records.is_json_lines(log):
        records = list(json_records.lines(log))
    else:
        root = log.json()
        inside = isinstance(root, Mapping) and isinstance(root.get("items"), list)
        records = json_records.elements(log, "items") if inside else json_records.elements(log)
    readings: list[_Reading] = []
    seen: set[str] = set()
    for record in records:
        readings += _readings(found, record, seen)
    _spells(found, sorted(readings, key=lambda one: (one.at, one.record.line)), options)
    found.note("Kubernetes deletes events after an hour unless told otherwise: what came before is not in the file")
    return found.finish()


def _readings(found: Collector, record: Element, seen: set[str]) -> list[_Reading]:
    """Return the times of one event that bears on a node; account for any other."""
    event = record.value
    if record.reason is not None or not isinstance(event, Mapping):
        found.skip(record.line, record.raw, record.reason or "no event")
        return []
    if isinstance(event.get("object"), Mapping) and "involvedObject" not in event:  # kubectl get --watch, audit sinks
        event = event["object"]
    about = event.get("involvedObject", event.get("regarding"))
    if not isinstance(about, Mapping):
        found.skip(record.line, record.raw, "names no object")
        return []
    if about.get("kind") != "Node":
        found.leave_out(f"an event about a {str(about.get('kind'))[:40]}, not a node")
        return []
    reason, words = str(event.get("reason") or ""), kubernetes_words()
    if reason in words.no_outage_events:
        found.leave_out(f"{reason}: no outage by itself")
        return []
    says = words.events.get(reason)
    if says is None:
        found.unknown_state(f"event {reason or '(no reason)'}")
        found.leave_out("an event whose reason no table knows")
        return []
    node = about.get("name")
    if not isinstance(node, str) or not node.strip():
        found.skip(record.line, record.raw, "names no node")
        return []
    try:
        first, last, count = _times(event)
    except TimeError as error:
        found.skip(record.line, record.raw, str(error))
        return []
    metadata = event.get("metadata")
    uid = metadata.get("uid") if isinstance(metadata, Mapping) else None
    key = f"{uid}|{first}|{last}|{count}" if uid else f"{node}|{reason}|{first}|{last}|{count}"
    if key in seen:
        found.duplicate()
        return []
    seen.add(key)
    text = f"{reason}: {event.get('message', event.get('note')) or ''}".rstrip(": ")
    if count < 2 or last == first:
        return [_Reading(first, node, says, "only", 0, record, text)]
    return [
        _Reading(first, node, says, "first", count - 2, record, text),
        _Reading(last, node, says, "last", count - 2, record, text),
    ]


def _times(event: Mapping[str, Any]) -> tuple[datetime, datetime, int]:
    """Return the first and the last time of an event, and how often it was seen.

    Raises
    ------
    TimeError
        When it has no time, or its last lies before its first.
    """
    series = event.get("series")
    series = series if isinstance(series, Mapping) else {}
    count = event.get("count") or event.get("deprecatedCount") or series.get("count") or 1
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count < 10**9:
        raise TimeError(f"count {str(count)[:40]} is no number of times")
    started = event.get("firstTimestamp") or event.get("deprecatedFirstTimestamp") or event.get("eventTime")
    ended = event.get("lastTimestamp") or event.get("deprecatedLastTimestamp") or series.get("lastObservedTime")
    if not started and not ended:
        raise TimeError("has no time")
    first, last = moment(str(started or ended), None), moment(str(ended or started), None)
    if last < first:
        raise TimeError("its last time lies before its first")
    if count > 1 and not (started and ended):
        raise TimeError(f"was seen {count} times, but holds one time")
    return first, last, count


def _spells(found: Collector, readings: list[_Reading], options: Options) -> None:
    """Pair readings of each node; each event is accounted for at its first reading."""
    open_spells: dict[tuple[str, str], _Spell] = {}
    good_at: dict[tuple[str, str], datetime] = {}
    for reading in readings:
        is_first = reading.part != "last"
        starts = reading.says in OTHER
        kind = reading.says if starts else next(bad for bad, good in OTHER.items() if good == reading.says)
        key = (reading.node, kind)
        spell = open_spells.get(key)
        if starts and spell is None:
            if reading.part == "last" and reading.repeats:
                _unknown(found, reading, good_at.get(key), options)
            open_spells[key] = _Spell(reading)
        elif starts and spell is not None:
            if reading.part == "last" and spell.since.record is reading.record:
                # It began again, so it was good between: when, the file does not hold.
                open_spells.pop(key)
                _add(found, spell, reading.at, kind, options, state="unknown")
                open_spells[key] = _Spell(reading)
            else:
                spell.also.append(found.log.evidence(reading.record.line, reading.record.raw))
                if is_first:
                    found.use()
        elif spell is not None:
            open_spells.pop(key)
            spell.also.append(found.log.evidence(reading.record.line, reading.record.raw))
            good_at[key] = reading.at
            _add(found, spell, reading.at, kind, options)
            if is_first:
                found.use()
        else:
            good_at[key] = reading.at
            if is_first:
                found.leave_out(f"{reading.says}, and nothing before it in the file")
    for (_, kind), spell in open_spells.items():
        _add(found, spell, None, kind, options)


def _unknown(found: Collector, reading: _Reading, since: datetime | None, options: Options) -> None:
    """Say that repeats of an event lie at times that it does not hold."""
    if since is None or since >= reading.at:
        return
    found.incident(
        line=reading.record.line,
        raw=reading.record.raw,
        counts=False,
        id=f"{found.log.name}:{reading.record.line}:{reading.node}:repeats:{since:%Y%m%dT%H%M%SZ}"[:200],
        unit_id=reading.node,
        level=options.unit_level or "node",
        state="unknown",
        started_at=since,
        ended_at=reading.at,
        cause=f"{reading.repeats} more of {reading.words}, at times that the event does not hold",
    )
    found.note("an event that repeats holds its first and its last time: what lies between is unknown")


def _add(
    found: Collector, spell: _Spell, until: datetime | None, kind: str, options: Options, state: State | None = None
) -> None:
    reading = spell.since
    made = found.incident(
        line=reading.record.line,
        raw=reading.record.raw,
        counts=reading.part != "last",
        id=f"{found.log.name}:{reading.record.line}:{reading.node}:{reading.at:%Y%m%dT%H%M%SZ}:{kind}"[:200],
        unit_id=reading.node,
        level=options.unit_level or "node",
        state=state or STATES[kind],
        started_at=reading.at,
        ended_at=until,
        detected_at=reading.at,
        cause=reading.words,
        also=spell.also,
    )
    if made is not None and state == "unknown":
        found.note("an event that repeats holds its first and its last time: what lies between is unknown")
        found.bound(Bound(made.id, "ended_at", reading.at, until))


def _sniff(log: Log) -> int:
    if _TABLE.match(log.head):
        return 90
    keys = json_records.keys(log)
    return 92 if keys & {"involvedObject", "regarding"} and "reason" in keys else 0


FORMS = (Form("kubernetes-events", "Events of Kubernetes, JSON", _sniff, read),)
