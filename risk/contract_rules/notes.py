"""What a statement read and left out, and what its reader must know."""

from __future__ import annotations

from collections.abc import Iterator

from risk.contract_rules import credit_base, deadlines, measured_from, planned_work, root_cause_reports
from risk.contract_rules.intervals import Spans, clipped
from risk.contract_rules.judged_window import Case
from risk.contract_rules.measurement_period import month_span
from risk.contract_rules.reading_notes import concerned_elsewhere, reading_notes, some
from risk.contract_rules.register import Register
from risk.contract_rules.roll_up import is_rolled_up
from risk.core.computed import Step
from schemas.money import Money, as_decimal, minor_unit_places
from schemas.service_levels import ServiceLevel


def notes(register: Register) -> tuple[str, ...]:
    """Return sentences to be printed with a statement."""
    return tuple(
        dict.fromkeys(
            (
                *_periods(register),
                *_incidents(register),
                *reading_notes(register),
                *_windows(register),
                *_units(register),
                *_holidays(register),
                *_without_fee(register),
            )
        )
    )


def checks(register: Register) -> tuple[Step, ...]:
    """Return steps of the checks that move no money."""
    return (*_planned_at_once(register), *reports(register))


def reports(register: Register) -> tuple[Step, ...]:
    """Return whether reports on outages that ended in the periods came in time."""
    steps: list[Step] = []
    for month in register.periods:
        terms = register.terms(month)
        promised, zone = terms.operations.reports, terms.measurement.zone
        if promised is None:
            continue
        span = month_span(month, zone)
        for unit in register.tree.units.values():
            history = register.history(unit, register.usual_level(unit, month), month)
            case = Case(register.tree.names(unit.id), (), (), register.notices, register.known_until)
            for outage in history.outages:
                if span[0] <= outage.end < span[1] and outage.end < register.open_until:
                    steps += root_cause_reports.exact(outage, case, promised, zone).steps
    return tuple(steps)


def _planned_at_once(register: Register) -> tuple[Step, ...]:
    """Return the check of how many nodes were under planned work at once."""
    month = register.periods[-1]
    terms = register.terms(month)
    limit = terms.exclusions.scheduled.max_concurrent_fraction
    if limit is None or not any(window.kind == "scheduled" for window in register.records.windows):
        return ()
    start = month_span(register.periods[0], terms.measurement.zone)[0]
    end = month_span(month, terms.measurement.zone)[1]
    levels = {level_id: level for level_id, level in terms.service_levels.items() if level.level == "node"}
    clusters: dict[str, list[tuple[Spans, Spans]]] = {}
    for level_id, level in levels.items():
        for unit in register.units_of(level):
            above = register.tree.names(unit.id)
            where = next(
                (n for n in sorted(above) if n in register.tree.units and register.tree.units[n].level == "cluster"),
                unit.service,
            )
            work = register.history(unit, level_id, month).excluded.by_head.get("scheduled", ())
            clusters.setdefault(where, []).append((clipped(unit.in_service, start, end), clipped(work, start, end)))
    return tuple(step for where, nodes in clusters.items() for step in planned_work.exact(nodes, limit, where).steps)


def _periods(register: Register) -> Iterator[str]:
    for month in register.periods:
        end = month_span(month, register.terms(month).measurement.zone)[1]
        if register.as_of is not None and register.as_of < end:
            yield f"{month} is not over: its figures are what was known at {register.as_of:%Y-%m-%d %H:%M} UTC."


def _incidents(register: Register) -> Iterator[str]:
    units = register.tree.units
    unnamed = sorted({i.unit_id for i in register.records.incidents if i.unit_id not in units})
    if unnamed:
        yield f"Incidents of {some(unnamed)} are left out: no such unit is on record."
    terms = register.terms(register.periods[-1])
    measured = {unit.id for level in terms.service_levels.values() for unit in register.units_of(level)}
    idle = sorted(
        {i.unit_id for i in register.records.incidents if i.unit_id in units}
        - measured
        - concerned_elsewhere(register, terms)
    )
    if idle:
        yield (
            f"Incidents of {some(idle)} count for no line: no service level measures that unit. What they brought "
            "about elsewhere counts where it is on record."
        )
    open_ones = [
        i for i in register.records.incidents if i.ended_at is None and i.readmitted_at is None and i.state != "unknown"
    ]
    until = f"{register.open_until:%Y-%m-%d %H:%M} UTC"
    begun = [i.id for i in open_ones if i.started_at < register.open_until]
    later = [i.id for i in open_ones if i.started_at >= register.open_until]
    if begun:
        yield f"Incidents {some(begun)} have no end on record and count up to {until}."
    if later:
        yield f"Incidents {some(later)} have no end on record and start at or after {until}: they count nothing here."


def _windows(register: Register) -> Iterator[str]:
    windows = register.records.windows
    if not windows:
        return
    yield (
        "Windows on record are taken as proved and their times as true; whoever bears the burden of proof "
        f"(exclusions.burden: {register.deal.exclusions.burden}) answers for them."
    )
    missing = sorted({w.notice_id for w in windows if w.notice_id and w.notice_id not in register.notices})
    if missing:
        yield f"Notices {some(missing)} that windows name are not on record."
    unnamed = sorted({u for w in windows for u in w.unit_ids if u not in register.tree.units})
    if unnamed:
        yield f"Windows name {some(unnamed)}, which is on record as no unit."
    scheduled = register.deal.exclusions.scheduled
    if scheduled.windows and any(window.kind == "scheduled" for window in windows):
        yield f"Whether planned work lay inside the agreed times ({scheduled.windows}) was not checked: they are words."
    for step in _planned_at_once(register):
        if not step.result:
            share, allowed = (100 * as_decimal(step.inputs[n]) for n in ("greatest_share", "allowed"))  # type: ignore[arg-type]
            yield (
                f"Planned work took {share:.1f}% of the slots of {step.inputs['where']} at once, and not more than "
                f"{allowed:.1f}% are allowed ({step.paragraph}): the promise was not kept; the contract names no "
                "amount for that."
            )


def _units(register: Register) -> Iterator[str]:
    terms = register.terms(register.periods[-1])
    for level_id, level in terms.service_levels.items():
        units = register.units_of(level)
        if not units:
            yield f"Service level {level_id!r} has no line: no unit of level {level.level!r} is on record for it."
        yield from _not_measured(register, level_id, level)
        bare = [unit.id for unit in units if is_rolled_up(level) and not register.tree.nodes_within(unit.id)]
        if bare:
            yield f"Service level {level_id!r}: no nodes of {some(bare)} are on record; only its own incidents count."
    for service, first in register.first_months.items():
        if not any(u.starts_known for u in register.tree.units.values() if u.service == service):
            yield (
                f"Contract years of {service!r} are counted from {first}: no unit on record says when its service "
                "started."
            )
    yield from _fees(register)


def _not_measured(register: Register, level_id: str, level: ServiceLevel) -> Iterator[str]:
    """Yield sentences on months in which a level that waits for all tranches is not measured."""
    if level.measured_from == "each_tranche":
        return
    yield (
        f"Service level {level_id!r} is measured only once every tranche of its service is ready; units that are not "
        "on record are taken as not ordered."
    )
    for month in register.periods:
        span = month_span(month, register.terms(month).measurement.zone)
        for service in dict.fromkeys(unit.service for unit in register.units_of(level)):
            units = [unit for unit in register.tree.units.values() if unit.service == service]
            if not measured_from.exact(units, span, level, level_id).value:
                yield f"Service level {level_id!r} is not measured in {month}: units of {service!r} had still to start."


def _fees(register: Register) -> Iterator[str]:
    """Yield a sentence where the units on record do not add up to the price of their service."""
    commercial = register.deal.commercial
    for service in register.first_months:
        charge = commercial.charges.get(service) if commercial else None
        if charge is None or charge.price.per != "lump_month":
            continue
        sums: dict[str, object] = {}
        for unit in register.tree.units.values():
            if unit.service == service:
                sums[unit.level] = sums.get(unit.level, 0) + unit.spells[-1].monthly_fee  # type: ignore[operator]
        if charge.price.amount not in sums.values():
            currency = register.currency
            found = ", ".join(f"{level} {amount}" for level, amount in sums.items())
            price = Money(round(charge.price.amount, minor_unit_places(currency)), currency)
            yield (
                f"Units of {service!r} on record add up to another monthly fee ({found}) than its price ({price}); the "
                "caps of month and year follow the units."
            )


def _holidays(register: Register) -> Iterator[str]:
    """Yield a sentence where nothing says which holidays are no Business Days."""
    terms = register.terms(register.periods[-1])
    if not deadlines.business_calendars(terms):
        yield "No holidays are named (measurement.business_calendars): every Monday to Friday is a Business Day."


def _without_fee(register: Register) -> Iterator[str]:
    """Yield sentences on units whose credits are nothing because no fee stands behind them."""
    for level_id, level in register.terms(register.periods[-1]).service_levels.items():
        bare = [
            unit.id
            for unit in register.units_of(level)
            if level.base_share is not None
            and not any(spell.monthly_fee for spell in unit.spells)
            and credit_base.priced(unit, register.tree.units, level, level_id).value is unit
        ]
        if bare:
            yield (
                f"Service level {level_id!r}: {some(bare)} and the units that contain them have no fee on record; "
                "their credits are nothing."
            )
