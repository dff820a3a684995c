"""Lines of other heads than availability: late replacement and late response."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction

from risk.contract_rules import caps, credit_base, replacement_times, rounding, support_response
from risk.contract_rules.credit_base import Fees
from risk.contract_rules.intervals import Minutes, exact_minutes
from risk.contract_rules.lines import Head, Line
from risk.contract_rules.measurement_period import month_span
from risk.contract_rules.records import Unit
from risk.contract_rules.register import Register
from risk.contract_rules.replacement_times import Replaced
from risk.core.computed import Computed, Step
from schemas.errors import DealError, Problem
from schemas.incidents import Ticket
from schemas.money import Money, as_decimal, minor_unit_places
from schemas.operations import Replacement
from schemas.periods import Month, Period

SERVICE_LEVELS: Mapping[Head, str] = {"replacement": "replacement", "response": "response"}
"""What stands in the place of the name of a service level in lines of these heads."""


@dataclass(frozen=True, slots=True)
class MissedReplacement:
    """A replacement that was late."""

    service: str
    unit: str
    incidents: tuple[str, ...]
    late_from: datetime
    """When it became late."""


def head_lines(register: Register, month: Period, fees: Mapping[str, Fees]) -> tuple[Line, ...]:
    """Return the lines of one period for replacement and response, up to the rounded credit of each.

    A replacement belongs to the period in which its clock starts, a ticket to the one in which it was opened. Units
    that did not fail and services without tickets have no line.

    Raises
    ------
    DealError
        When a ticket names no service and the records leave open which one it is about.
    """
    return (*_replacements(register, month), *_responses(register, month, fees))


def missed_replacements(register: Register, month: Period | None = None) -> tuple[MissedReplacement, ...]:
    """Return every replacement on record that was late, in the order in which they became late.

    Parameters
    ----------
    month : period whose terms apply; the last of the statement when not given.
    """
    terms = register.terms(month or register.periods[-1]).operations.replacement
    if terms is None:
        return ()
    found = [
        MissedReplacement(unit.service, unit.id, tuple(i.id for i in one.value.failure.incidents), one.value.late_from)
        for unit in register.tree.units.values()
        for one in _replaced(register, unit, terms)
        if one.value is not None and one.value.late_from is not None
    ]
    return tuple(sorted(found, key=lambda missed: (missed.late_from, missed.unit)))


def _replaced(register: Register, unit: Unit, terms: Replacement) -> Iterator[Computed[Replaced | None]]:
    """Yield the replacement of each failure of a unit."""
    incidents = register.incidents.get(unit.id)
    if not incidents or unit.level not in terms.target_hours:
        return
    names, windows = register.tree.names(unit.id), register.records.windows
    for failure in replacement_times.failures(unit, incidents, register.known_until):
        yield replacement_times.exact(failure, windows, names, terms, register.open_until)


def _replacements(register: Register, month: Period) -> Iterator[Line]:
    terms = register.terms(month)
    promised = terms.operations.replacement
    if promised is None:
        return
    span = month_span(month, terms.measurement.zone)
    for unit in register.tree.units.values():
        found = [
            (one.value, one.steps)
            for one in _replaced(register, unit, promised)
            if one.value is not None and span[0] <= one.value.from_ < span[1]
        ]
        if not found:
            continue
        fees = [_fee_of_a_month(unit, one.from_, terms.measurement.zone, register.currency) for one, _ in found]
        fee = fees[0].value
        amount = sum((one.share * due.value for (one, _), due in zip(found, fees, strict=True)), Fraction(0))
        steps: tuple[Step, ...] = tuple(
            step
            for (one, some), due in zip(found, fees, strict=True)
            for step in (*some, *(due.steps if one.share else ()))
        )
        share = sum((one.share for one, _ in found), Fraction(0))
        taken = sum((one.taken for one, _ in found), timedelta())
        held = sum((one.held for one, _ in found), timedelta())
        if amount:
            accrued = credit_base.accrued_fee(unit, span, (), terms.exclusions.force_majeure, terms.measurement.zone)
            capped = caps.of_unit(amount, accrued, terms.credits.caps)
            amount, steps = capped.value, (*steps, *capped.steps)
        is_kept = not any(one.late for one, _ in found)
        key = (unit.service, unit.id)
        yield _line(register, month, "replacement", key, (taken, held), share, fee, amount, steps, is_kept=is_kept)


def _responses(register: Register, month: Period, fees: Mapping[str, Fees]) -> Iterator[Line]:
    terms = register.terms(month)
    promised = terms.operations.support
    if promised is None:
        return
    span = month_span(month, terms.measurement.zone)
    for service, tickets in _by_service(register).items():
        opened = [t for t in tickets if span[0] <= t.opened_at < min(span[1], register.known_until)]
        if not opened:
            continue
        found = support_response.exact(opened, promised, register.open_until)
        base = fees[service].accrued
        value = found.value
        key, clock, amount = (service, service), (value.waited, timedelta()), value.share * base
        is_kept = not value.missed
        yield _line(register, month, "response", key, clock, value.share, base, amount, found.steps, is_kept=is_kept)


def _by_service(register: Register) -> dict[str, list[Ticket]]:
    """Return the tickets on record by the service that they are about."""
    services = list(register.first_months)
    found: dict[str, list[Ticket]] = {}
    for ticket in register.records.tickets:
        named = [register.tree.units[u].service for u in ticket.unit_ids if u in register.tree.units]
        of = list(dict.fromkeys([ticket.service] if ticket.service else named or services))
        if len(of) != 1 or of[0] not in services:
            raise DealError(
                [
                    Problem(
                        f"tickets[{ticket.id}].service",
                        repr(ticket.service) if ticket.service else f"none, and units of {', '.join(of)}",
                        f"one of {', '.join(services)}",
                        "name the service that the ticket is about",
                    )
                ]
            )
        found.setdefault(of[0], []).append(ticket)
    return found


def _line(
    register: Register,
    month: Period,
    head: Head,
    key: tuple[str, str],
    clock: tuple[timedelta, timedelta],
    share: Fraction,
    base: Fraction,
    amount: Fraction,
    steps: Sequence[Step],
    *,
    is_kept: bool,
) -> Line:
    """Return one line; its minutes are those on the clock, with holds as excluded minutes."""
    taken, held = (exact_minutes(part) for part in clock)
    down: Minutes = taken + held
    rounded = rounding.exact(amount, register.currency, register.terms(month).credits.rounding)
    return Line(
        period=month,
        service_level=SERVICE_LEVELS[head],
        service=key[0],
        unit=key[1],
        window_minutes=0,
        down_minutes=down,
        excluded_minutes=held,
        disregarded_minutes=0,
        counted_minutes=taken,
        unknown_minutes=0,
        availability=None,
        target_met=is_kept,
        credit_fraction=share,
        base=base,
        credit=rounded.value,
        payable=rounded.value,
        head=head,
        steps=(*steps, *(rounded.steps if amount else ())),
    )


def _fee_of_a_month(unit: Unit, moment: datetime, zone: str, currency: str) -> Computed[Fraction]:
    """Return the fee of a unit for the whole calendar month of a moment, at the price of that moment. [currency]"""
    spells = [spell for spell in unit.spells if spell.span[0] <= moment < spell.span[1]]
    spell = (spells or [*unit.spells])[-1]
    facts: dict[str, object] = {"clock_from": moment}
    if spell.by_hour:
        hours = Fraction(Month.of(moment, zone).minutes(zone), 60)
        fee = Fraction(spell.hourly_price or 0) * hours
        facts |= {"hourly_price": spell.hourly_price, "hours": hours}
        rule = (
            "the fee of the unit for a whole month is its price for an hour, for each hour of the calendar month in "
            "which the clock starts"
        )
    else:
        fee, rule = Fraction(spell.monthly_fee), "the fee of the unit for a whole month, at the start of the clock"
    step = Step(replacement_times.CREDIT_PARAGRAPH, rule, _as_money(fee, currency), facts)
    return Computed(fee, (step,))


def _as_money(amount: Fraction, currency: str) -> Money:
    """Return an amount with all its digits, and with those of the smallest unit at least."""
    exact = as_decimal(amount)
    in_units = round(exact, minor_unit_places(currency))
    return Money(in_units if in_units == exact else exact, currency)
