"""What a reader must know about records that were read under a list, a metric or another monitor, or not at all."""

from __future__ import annotations

from collections.abc import Iterator

from risk.contract_rules import affected, fault_codes, roll_up
from risk.contract_rules.intervals import Spans, clipped, exact_minutes, length
from risk.contract_rules.measurement_period import joins_next, month_span
from risk.contract_rules.records import Unit
from risk.contract_rules.register import Register
from schemas.deal import Deal
from schemas.incidents import Incident
from schemas.money import as_decimal
from schemas.periods import Period

MOST_NAMED = 5
_WHOSE = {"provider": "the provider's", "customer": "the customer's", "third_party": "the third party's"}


def reading_notes(register: Register) -> tuple[str, ...]:
    """Return sentences on records of slow units, codes of faults, monitors that differ and parts of periods."""
    return (
        *_slow(register),
        *_codes(register),
        *_differing(register),
        *_joined(register),
        *_not_on_record(register),
    )


def concerned_elsewhere(register: Register, terms: Deal) -> set[str]:
    """Return the units whose incidents can count for another unit: nodes, needed units, and what fails above."""
    found: set[str] = set()
    for level_id, level in terms.service_levels.items():
        looks_above = affected.looks_above(level)
        above = [i for i in register.records.incidents if i.level in affected.ABOVE] if looks_above else []
        for unit in register.units_of(level):
            if roll_up.is_rolled_up(level):
                found |= {node.id for node in register.tree.nodes_within(unit.id, spares=level.spares_count)}
            found |= {other.id for other in register.tree.needed_by(unit, level.requires)}
            found |= {
                i.unit_id
                for i in above
                if i.unit_id not in found and affected.exact(i, unit, register.tree, level, level_id).value is not None
            }
    return found


def _slow(register: Register) -> Iterator[str]:
    """Yield sentences on records of units that were slow and count for nothing."""
    terms = register.terms(register.periods[-1])
    slow = [
        one for i in register.records.incidents if (one := fault_codes.exact(i, terms.measurement).value) is not None
    ]
    slow = [one for one in slow if one.state == "degraded"]
    if slow and not any(level.degraded for level in terms.service_levels.values()):
        names = some([one.id for one in slow])
        yield f"Incidents {names} show a unit that was slow, not down: under these terms a slow unit is up."
        return
    left = [one.id for one in slow if not _is_measured(one, register, terms)]
    if left:
        yield (
            f"Incidents {some(left)} show a unit that was slow and are left out: they give no value of a metric that a "
            "service level of the unit names (service_levels.*.degraded)."
        )


def _is_measured(incident: Incident, register: Register, terms: Deal) -> bool:
    unit = register.tree.units.get(incident.unit_id)
    if unit is None or incident.measured is None:
        return unit is None  # a unit that is not on record has a note of its own
    return any(
        incident.metric in level.degraded
        for level in terms.service_levels.values()
        if level.level == unit.level and level.service in (None, unit.service)
    )


def _codes(register: Register) -> Iterator[str]:
    """Yield sentences on faults that are no downtime under the contract's list."""
    listed = register.terms(register.periods[-1]).measurement.fault_list
    faults = [i for i in register.records.incidents if i.fault_code is not None and i.state in fault_codes.FAULTS]
    if not listed:
        return
    unlisted = sorted({i.fault_code for i in faults if i.fault_code is not None and i.fault_code not in listed})
    if unlisted:
        yield (
            f"Codes {some(unlisted)} are not on the list of faults (measurement.fault_list): they count as the "
            f"customer's application, and incidents {some([i.id for i in faults if i.fault_code in unlisted])} for "
            "nothing."
        )
    nothing = [
        i for i in faults if i.fault_code is not None and listed.get(i.fault_code) in ("application", "no_event")
    ]
    if nothing:
        names = some([i.id for i in nothing])
        yield (
            f"Incidents {names} count for nothing: the list of faults makes their codes the application's, or no event."
        )


def _differing(register: Register) -> Iterator[str]:
    """Yield what each party's monitors show of a unit on which they differ, and what counts of it."""
    for month in register.periods:
        terms = register.terms(month)
        if not terms.measurement.monitors:
            continue
        for unit in register.tree.units.values():
            if unit.id in register.incidents:
                yield from _of_unit(register, month, unit)


def _of_unit(register: Register, month: Period, unit: Unit) -> Iterator[str]:
    terms = register.terms(month)
    history = register.history(unit, register.usual_level(unit, month), month)
    span = register.span_of(unit, month) or month_span(month, terms.measurement.zone)
    shown = {party: _minutes(clipped(spans, *span)) for party, spans in history.shown.items()}
    if not any(clipped(spans, *span) for spans in history.shown.values()):
        return
    parts = ", ".join(f"{_WHOSE[party]} {minutes}" for party, minutes in shown.items())
    conflict = terms.measurement.conflict
    said = f"In {month} the monitors differ about {unit.id}. Minutes of downtime shown: {parts}."
    disputed = clipped(history.disputed, *span)
    if conflict == "expert":
        yield f"{said} {_minutes(disputed)} are disputed and do not count until the expert has decided."
    else:
        words = {"longer": "the longer outage", "shorter": "the shorter outage"}.get(conflict, f"the {conflict}'s")
        yield f"{said} Under the contract {words} decides (measurement.conflict)."


def _joined(register: Register) -> Iterator[str]:
    """Yield the units whose first part of a period is measured together with the next one."""
    for month in register.periods:
        measurement = register.terms(month).measurement
        span = month_span(month, measurement.zone)
        waits = [u.id for u in register.tree.units.values() if joins_next(u.in_service, span, measurement)]
        if waits:
            after = register.calendar.plus(month, 1)
            yield f"The part of {month} in which service of {some(waits)} starts is measured together with {after}."


def _not_on_record(register: Register) -> Iterator[str]:
    """Yield the levels that a unit needs and of which no unit is on record for it."""
    for level_id, level in register.terms(register.periods[-1]).service_levels.items():
        for unit in register.units_of(level):
            found = {other.level for other in register.tree.needed_by(unit, level.requires)}
            missing = [name for name in level.requires if name not in found]
            if missing:
                yield (
                    f"Service level {level_id!r} needs {' and '.join(missing)} to be up: none is on record within "
                    f"{unit.id!r} or beside it in the same parent, so only its own incidents show that."
                )


def _minutes(spans: Spans) -> str:
    minutes = exact_minutes(length(spans))
    return f"{minutes:,}" if isinstance(minutes, int) else f"{as_decimal(minutes):.2f}"


def some(names: list[str]) -> str:
    """Return up to five names and how many more there are."""
    shown = ", ".join(names[:MOST_NAMED])
    return shown if len(names) <= MOST_NAMED else f"{shown} and {len(names) - MOST_NAMED} more"
