"""Step 18: rights to leave that the lines and histories of a statement give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from risk.contract_rules import chronic_failure, exercise_window, prolonged_force_majeure, single_outage
from risk.contract_rules.deadlines import day_that_ends, local_day
from risk.contract_rules.lines import Right
from risk.contract_rules.measurement_period import month_span
from risk.contract_rules.records import Unit
from risk.contract_rules.register import Register
from schemas.cancellation import BadMonths, ChronicFailure, SingleOutage
from schemas.periods import Month

Availabilities = Mapping[tuple[str, str], list[tuple[Month, Fraction | None]]]
"""Measured months of each service level and unit, oldest first."""


def rights(register: Register, availabilities: Availabilities) -> tuple[Right, ...]:
    """Return the rights that arose in the periods asked for, or earlier and still open in them, by moment."""
    found: list[Right] = []
    for month in register.months:
        chronic = register.terms(month).cancellation.chronic_failure
        if chronic is not None:
            found += _chronic(register, month, chronic, availabilities)
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
    register: Register, month: Month, chronic: ChronicFailure, availabilities: Availabilities
) -> Iterator[Right]:
    """Yield rights of chronic failure that arise in a month or at its end."""
    for i, limb in enumerate(chronic.limbs):
        path = f"cancellation.chronic_failure.limbs[{i}]"
        level = register.terms(month).service_levels[limb.service_level]
        for unit in register.units_of(level):
            if isinstance(limb, BadMonths):
                yield from _bad_months(register, month, chronic, limb, path, unit, availabilities)
            else:
                yield from _single_outage(register, month, chronic, limb, path, unit)


def _bad_months(
    register: Register,
    month: Month,
    chronic: ChronicFailure,
    limb: BadMonths,
    path: str,
    unit: Unit,
    availabilities: Availabilities,
) -> Iterator[Right]:
    measured = dict(availabilities.get((limb.service_level, unit.id), ()))
    looked_at = [month.plus(j) for j in range(1 - limb.m, 1)]
    found = chronic_failure.exact([(m, measured.get(m)) for m in looked_at], limb, path)
    zone = register.terms(month).measurement.zone
    arises = month_span(month, zone)[1]
    if not found.value or (register.as_of is not None and register.as_of < arises):
        return
    window = exercise_window.exact(arises, day_that_ends(arises, zone), chronic.exercise, chronic.cure_days, zone)
    yield Right(
        kind="chronic_failure",
        form=limb.form,
        term=path,
        service_level=limb.service_level,
        unit=unit.id,
        period=month,
        periods=found.value,
        arises=arises,
        exercise_from=window.value.opens,
        exercise_by=window.value.closes,
        scope=chronic.scope,
        steps=(*found.steps, *window.steps),
    )


def _single_outage(
    register: Register, month: Month, chronic: ChronicFailure, limb: SingleOutage, path: str, unit: Unit
) -> Iterator[Right]:
    zone = register.terms(month).measurement.zone
    start, end = month_span(month, zone)
    history = register.history(unit, limb.service_level, month)
    for outage in history.outages:
        if outage.start >= end or outage.end <= start:
            continue
        found = single_outage.exact(outage, history.excluded.spans, limb, path)
        arises = found.value
        if arises is None or not start <= arises < end:
            continue
        window = exercise_window.exact(arises, local_day(arises, zone), chronic.exercise, chronic.cure_days, zone)
        yield Right(
            kind="chronic_failure",
            form=limb.form,
            term=path,
            service_level=limb.service_level,
            unit=unit.id,
            period=month,
            periods=(),
            arises=arises,
            exercise_from=window.value.opens,
            exercise_by=window.value.closes,
            scope=chronic.scope,
            steps=(*found.steps, *window.steps),
        )


def _prolonged(register: Register, month: Month) -> Iterator[Right]:
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
        down = history.excluded.by_head.get("force_majeure", ())
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
