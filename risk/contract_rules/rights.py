"""Step 18: rights to leave that the lines, settlements and histories of a statement give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import assert_never

from risk.contract_rules import (
    cap_reached,
    chronic_failure,
    cumulative_hours,
    exercise_window,
    prolonged_force_majeure,
    replacement_missed,
    same_cause,
    single_outage,
)
from risk.contract_rules.deadlines import day_that_ends, local_day
from risk.contract_rules.head_lines import missed_replacements
from risk.contract_rules.intervals import Span, Spans, difference, intersection
from risk.contract_rules.lines import Right, Settlement
from risk.contract_rules.measurement_period import month_span
from risk.contract_rules.records import Unit
from risk.contract_rules.register import Register
from risk.core.computed import Step
from schemas.cancellation import (
    BadMonths,
    CapReached,
    ChronicFailure,
    CumulativeHours,
    Limb,
    ReplacementMissed,
    SameCause,
    SingleOutage,
)
from schemas.periods import Period

Availabilities = Mapping[tuple[str, str], list[tuple[Period, Fraction | None]]]
"""Measured months of each service level and unit, oldest first."""


@dataclass(frozen=True, slots=True)
class _Arisen:
    """A right of chronic failure that arises in a period or at its end."""

    unit: str
    moment: datetime
    steps: tuple[Step, ...]
    periods: tuple[Period, ...] = ()


def rights(register: Register, availabilities: Availabilities, settlements: Sequence[Settlement]) -> tuple[Right, ...]:
    """Return the rights that arose in the periods asked for, or earlier and still open in them, by moment.

    Parameters
    ----------
    settlements : those of all periods that were computed, read where a right looks at the caps of credits.
    """
    found: list[Right] = []
    for month in register.months:
        chronic = register.terms(month).cancellation.chronic_failure
        if chronic is not None:
            of_month = [settlement for settlement in settlements if settlement.period == month]
            found += _chronic(register, month, chronic, availabilities, of_month)
        found += _prolonged(register, month)
    start = month_span(register.periods[0], register.deal.measurement.zone)[0]
    shown = [
        right
        for right in found
        if right.period in register.periods
        or (right.period < register.periods[0] and (right.exercise_by is None or right.exercise_by > start))
    ]
    return tuple(sorted(shown, key=lambda right: (right.arises, right.term, right.unit)))


def _chronic(
    register: Register,
    month: Period,
    chronic: ChronicFailure,
    availabilities: Availabilities,
    settlements: Sequence[Settlement],
) -> Iterator[Right]:
    """Yield rights of chronic failure that arise in a month or at its end."""
    for i, limb in enumerate(chronic.limbs):
        path = f"cancellation.chronic_failure.limbs[{i}]"
        if isinstance(limb, CapReached):
            found = _caps(register, month, limb, path, settlements)
        elif isinstance(limb, ReplacementMissed):
            found = _replacements(register, month, limb, path)
        else:
            level = register.terms(month).service_levels[limb.service_level]
            units = register.units_of(level)
            found = (one for unit in units for one in _of_unit(register, month, limb, path, unit, availabilities))
        yield from (_right(register, month, chronic, limb, path, one) for one in found)


def _of_unit(
    register: Register,
    month: Period,
    limb: BadMonths | SingleOutage | CumulativeHours | SameCause,
    path: str,
    unit: Unit,
    availabilities: Availabilities,
) -> Iterator[_Arisen]:
    """Yield what arises from one unit of a service level."""
    span = month_span(month, register.terms(month).measurement.zone)
    match limb:
        case BadMonths():
            yield from _bad_months(register, month, limb, path, unit, availabilities)
        case SingleOutage():
            history = register.history(unit, limb.service_level, month)
            for outage in history.outages:
                if outage.start < span[1] and span[0] < outage.end:
                    single = single_outage.exact(outage, history.excluded.spans, limb, path)
                    if single.value is not None and span[0] <= single.value < span[1]:
                        yield _Arisen(unit.id, single.value, single.steps)
        case CumulativeHours():
            counted = register.history(unit, limb.service_level, month).counted
            hours = cumulative_hours.exact(counted, limb, path)
            yield from _within(span, unit.id, hours.value, hours.steps)
        case SameCause():
            causes = same_cause.exact(_causes(register, month, limb.service_level, unit), limb, path)
            yield from _within(span, unit.id, causes.value, causes.steps)
        case _:
            assert_never(limb)


def _within(span: Span, unit: str, moments: Sequence[datetime], steps: tuple[Step, ...]) -> Iterator[_Arisen]:
    yield from (_Arisen(unit, moment, steps) for moment in moments if span[0] <= moment < span[1])


def _bad_months(
    register: Register, month: Period, limb: BadMonths, path: str, unit: Unit, availabilities: Availabilities
) -> Iterator[_Arisen]:
    measured = dict(availabilities.get((limb.service_level, unit.id), ()))
    looked_at = [register.calendar.plus(month, j) for j in range(1 - limb.m, 1)]
    found = chronic_failure.exact([(m, measured.get(m)) for m in looked_at], limb, path)
    arises = month_span(month, register.terms(month).measurement.zone)[1]
    if found.value and _is_over(register, arises):
        yield _Arisen(unit.id, arises, found.steps, found.value)


def _causes(register: Register, month: Period, level_id: str, unit: Unit) -> dict[str, list[datetime]]:
    """Return the starts of the counted outages of a unit by the causes on record of their incidents."""
    history = register.history(unit, level_id, month)
    by_cause: dict[str, Spans] = {}
    for record in register.clocked(unit, month):
        if record.incident.cause is not None and record.incident.state in ("down", "planned"):
            by_cause[record.incident.cause] = (*by_cause.get(record.incident.cause, ()), *record.spans)
    found: dict[str, list[datetime]] = {cause: [] for cause in by_cause}
    for outage in history.outages:
        counted = difference(outage.pieces, history.excluded.spans)
        for cause, spans in by_cause.items():
            if counted and any(intersection(counted, (span,)) for span in spans):
                found[cause].append(counted[0][0])
    return found


def _caps(
    register: Register, month: Period, limb: CapReached, path: str, settlements: Sequence[Settlement]
) -> Iterator[_Arisen]:
    arises = month_span(month, register.terms(month).measurement.zone)[1]
    for settlement in settlements:
        found = cap_reached.exact(settlement.limits.get(limb.cap), limb, path)
        if found.value and _is_over(register, arises):
            yield _Arisen(settlement.service, arises, found.steps)


def _replacements(register: Register, month: Period, limb: ReplacementMissed, path: str) -> Iterator[_Arisen]:
    span = month_span(month, register.terms(month).measurement.zone)
    missed = missed_replacements(register, month)
    for service in dict.fromkeys(one.service for one in missed):
        found = replacement_missed.exact([one.late_from for one in missed if one.service == service], limb, path)
        yield from _within(span, service, found.value, found.steps)


def _is_over(register: Register, end: datetime) -> bool:
    """Return whether a period that ends at `end` is over when the statement is made."""
    return register.as_of is None or end <= register.as_of


def _right(register: Register, month: Period, chronic: ChronicFailure, limb: Limb, path: str, found: _Arisen) -> Right:
    """Return a right of chronic failure with the time in which it can be used."""
    measurement = register.terms(month).measurement
    zone = measurement.zone
    at_end = isinstance(limb, (BadMonths, CapReached))
    event_day = day_that_ends(found.moment, zone) if at_end else local_day(found.moment, zone)
    window = exercise_window.exact(
        found.moment, event_day, chronic.exercise, chronic.cure_days, zone, day_count=measurement.day_count
    )
    return Right(
        kind="chronic_failure",
        form=limb.form,
        term=path,
        service_level=None if isinstance(limb, (CapReached, ReplacementMissed)) else limb.service_level,
        unit=found.unit,
        period=month,
        periods=found.periods,
        arises=found.moment,
        exercise_from=window.value.opens,
        exercise_by=window.value.closes,
        scope=chronic.scope,
        steps=(*found.steps, *window.steps),
    )


def _prolonged(register: Register, month: Period) -> Iterator[Right]:
    """Yield rights from prolonged force majeure that arise in a month, one for each unit and form."""
    terms = register.terms(month)
    zone = terms.measurement.zone
    start, end = month_span(month, zone)
    if not any(window.kind == "force_majeure" for window in register.records.windows):
        return
    relief = terms.exclusions.force_majeure
    for unit in register.tree.units.values():
        if unit.id not in register.incidents:
            continue
        history = register.history(unit, None, month)
        down = history.down_by_force_majeure
        in_row = prolonged_force_majeure.exact(down, relief, zone)
        in_180 = prolonged_force_majeure.in_any_180_days(down, relief)
        moments = [("consecutive_days", "max_consecutive_days", m, in_row.steps) for m in in_row.value]
        if in_180.value is not None:
            moments.append(("days_in_180", "max_days_in_180", in_180.value, in_180.steps))
        for form, term, arises, steps in moments:
            if start <= arises < end:
                closes = next((b for a, b in down if a <= arises < b), None)
                is_over = closes is not None and closes < register.open_until
                yield Right(
                    kind="prolonged_force_majeure",
                    form="consecutive_days" if form == "consecutive_days" else "days_in_180",
                    term=f"exclusions.force_majeure.{term}",
                    service_level=None,
                    unit=unit.id,
                    period=month,
                    periods=(),
                    arises=arises,
                    exercise_from=arises,
                    exercise_by=closes if is_over else None,
                    scope="unit",
                    steps=steps,
                )
