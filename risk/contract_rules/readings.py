"""Readings of the monitor of record, of another while it is silent, and what is in dispute between them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import Literal

from risk.contract_rules.intervals import Span, Spans, clipped, difference, exact_minutes, intersection, length, union
from risk.core.computed import Computed, Step
from schemas.errors import NotComputedError
from schemas.incidents import Incident
from schemas.service_levels import Measurement

PARAGRAPH = "monitor-evidence.silent"
CONFLICT_PARAGRAPH = "monitor-evidence.conflict"
RECORD_PARAGRAPH = "monitor-evidence.record"

Whose = Literal["provider", "customer", "third_party"]
DOWN = ("down", "planned")
_RULES = {
    "provider": "two monitors differ: the provider's decides",
    "customer": "two monitors differ: the customer's decides",
    "longer": "two monitors differ: the one that shows the longer outage decides",
    "shorter": "two monitors differ: the one that shows the shorter outage decides",
    "expert": "two monitors differ and no expert has decided: only what all of them show counts meanwhile",
}


@dataclass(frozen=True, slots=True)
class Read:
    """What the readings of one unit say."""

    down: Spans
    unknown: Spans
    """Time for which there is no reading."""
    disputed: Spans = ()
    """Time that some monitors show as down and others do not, and on which no one has decided."""
    shown: Mapping[Whose, Spans] = field(default_factory=dict)
    """Downtime that each party's monitors show, where they differ."""


def exact(
    unit: str,
    spells: Sequence[tuple[Incident, Spans]],
    measurement: Measurement,
    watching: frozenset[str] = frozenset(),
) -> Computed[Read]:
    """Return when one unit was down, when that is not known, and when that is in dispute.

    Parameters
    ----------
    spells : the unit's records with the time each covers under the contract's clock.
    watching : monitors that watch units of this level: one that shows nothing of this unit shows that it was up.

    Raises
    ------
    NotComputedError
        When two monitors differ about the unit and `measurement.monitors` does not say whose each of them is.

    Notes
    -----
    Records that name no monitor are no reading of one, and stand. A party whose monitors are several shows as down what
    any of them shows, and is silent while all are. The monitor of record comes first: the others are heard while it is
    silent, and where they differ from it, as `measurement.conflict` says. Where the contract's rule names a monitor
    that is silent, the first of the others decides.
    """
    seen = {record.monitor_id for record, _ in spells if record.monitor_id is not None}
    whose = measurement.monitors
    if not seen or not whose or not seen <= set(whose):
        return _one_voice(unit, spells, measurement)
    heard = _voices(spells, whose, seen | (watching & set(whose)), measurement)
    plain = [(record, spans) for record, spans in spells if record.monitor_id is None]
    stands = union(span for record, spans in plain if record.state in DOWN for span in spans)
    found = _decided(heard, measurement)
    down = union((*found.down, *stands))
    silent = union((*found.unknown, *(s for record, spans in plain if record.state == "unknown" for s in spans)))
    read = Read(down, difference(silent, down), difference(found.disputed, stands), found.shown)
    steps = [Step(RECORD_PARAGRAPH, _first_voice(heard, measurement), tuple(heard), {}, "measurement.monitor")]
    if read.unknown:
        steps.append(_silence(read.unknown))
    if found.shown:
        facts: dict[str, object] = {name: _minutes(spans) for name, spans in found.shown.items()}
        result = {"counted_minutes": _minutes(read.down), "disputed_minutes": _minutes(read.disputed)}
        steps.append(Step(CONFLICT_PARAGRAPH, _RULES[measurement.conflict], result, facts, "measurement.conflict"))
    return Computed(read, tuple(steps))


@dataclass(frozen=True, slots=True)
class _Voice:
    """What the monitors of one party show."""

    down: Spans
    silent: Spans


def _voices(
    spells: Sequence[tuple[Incident, Spans]],
    whose: Mapping[str, Whose],
    monitors: frozenset[str] | set[str],
    measurement: Measurement,
) -> dict[Whose, _Voice]:
    """Return what each party's monitors show, that of record first."""
    of_record: Whose = "provider"
    if measurement.monitor == "customer" or measurement.monitor == "third_party":
        of_record = measurement.monitor
    order: list[Whose] = ["provider", "customer", "third_party"]
    order.sort(key=lambda party: party != of_record)
    found: dict[Whose, _Voice] = {}
    for party in order:
        own = [name for name in sorted(monitors) if whose[name] == party]
        if not own:
            continue
        down = union(s for r, spans in spells if r.state in DOWN and r.monitor_id in own for s in spans)
        silences = [
            union(s for r, spans in spells if r.state == "unknown" and r.monitor_id == name for s in spans)
            for name in own
        ]
        silent = silences[0]
        for other in silences[1:]:
            silent = intersection(silent, other)
        found[party] = _Voice(difference(down, silent), silent)
    return found


def _first_voice(heard: Mapping[Whose, _Voice], measurement: Measurement) -> str:
    first = next(iter(heard))
    of_record = "provider" if measurement.monitor == "provider_with_customer_access" else measurement.monitor
    if first == of_record:
        return f"the monitor of record is the {first.replace('_', ' ')}'s"
    return f"no reading of the monitor of record is on record: the {first.replace('_', ' ')}'s stands"


def _decided(heard: Mapping[Whose, _Voice], measurement: Measurement) -> Read:
    """Return what the readings of several parties come to."""
    first = next(iter(heard))
    edges = sorted({moment for voice in heard.values() for span in (*voice.down, *voice.silent) for moment in span})
    down: list[Span] = []
    unknown: list[Span] = []
    disputed: list[Span] = []
    differ = False
    together = union(span for voice in heard.values() for span in voice.down)
    for start, end in pairwise(edges):
        audible = [party for party, voice in heard.items() if not _holds(voice.silent, start)]
        if not audible or (first not in audible and not measurement.monitor_fallback):
            unknown.append((start, end))
            continue
        says = {party: _holds(heard[party].down, start) for party in audible}
        if len(set(says.values())) == 1:
            if says[audible[0]]:
                down.append((start, end))
            continue
        differ = True
        decides = _decider(audible, heard, measurement, together, start)
        if decides is None:
            disputed.append((start, end))
        elif says[decides]:
            down.append((start, end))
    shown = {party: voice.down for party, voice in heard.items()} if differ else {}
    return Read(union(down), union(unknown), union(disputed), shown)


def _decider(
    audible: Sequence[Whose],
    heard: Mapping[Whose, _Voice],
    measurement: Measurement,
    together: Spans,
    moment: datetime,
) -> Whose | None:
    """Return the party whose reading decides at a moment, None while no one has decided."""
    match measurement.conflict:
        case "expert":
            return None
        case "provider" | "customer":
            return measurement.conflict if measurement.conflict in audible else audible[0]
    outage = together[_place(together, moment)]
    lengths = {party: length(clipped(heard[party].down, *outage)) for party in audible}
    wanted = max(lengths.values()) if measurement.conflict == "longer" else min(lengths.values())
    return next(party for party in audible if lengths[party] == wanted)


def _place(spans: Spans, moment: datetime) -> int:
    """Return the place of the last span that has started at a moment, -1 where none has."""
    return bisect_right(spans, moment, key=lambda span: span[0]) - 1


def _holds(spans: Spans, moment: datetime) -> bool:
    place = _place(spans, moment)
    return place >= 0 and moment < spans[place][1]


def _minutes(spans: Spans) -> object:
    return exact_minutes(length(spans))


def _silence(left: Spans) -> Step:
    rule = "time without a valid reading is not downtime; it is shown as not measured"
    return Step(PARAGRAPH, rule, left, {}, "measurement.monitor_fallback")


def _one_voice(unit: str, spells: Sequence[tuple[Incident, Spans]], measurement: Measurement) -> Computed[Read]:
    """Return what records say that must agree, since nothing says whose monitor each comes from."""
    down = union(span for record, spans in spells if record.state in DOWN for span in spans)
    unknown = union(span for record, spans in spells if record.state == "unknown" for span in spans)
    monitors = sorted({record.monitor_id for record, _ in spells if record.monitor_id is not None})
    silent = {
        name: union(s for r, spans in spells if r.state == "unknown" and r.monitor_id == name for s in spans)
        for name in monitors
    }
    shown = {
        name: union(s for r, spans in spells if r.state in DOWN and r.monitor_id == name for s in spans)
        for name in monitors
    }
    for name, other in pairwise(monitors):
        if difference(shown[name], silent[other]) != difference(shown[other], silent[name]):
            raise NotComputedError(
                "measurement.conflict",
                f"which of the monitors {name!r} and {other!r} decides about unit {unit!r}",
                "say in measurement.monitors whose each of them is, or keep the records of the one that decides",
            )
        if not measurement.monitor_fallback and shown[name] != shown[other]:
            raise NotComputedError(
                "measurement.monitor_fallback",
                f"unit {unit!r} shown as down by one of {name!r} and {other!r} while the other was silent",
                "say in measurement.monitors whose each of them is, or keep the records of the monitor of record",
            )
    left = difference(unknown, down)
    return Computed(Read(down, left), (_silence(left),) if left else ())
