"""Steps 5 to 13: the lines of one month, one for each unit of each service level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from risk.contract_rules import (
    availability,
    caps,
    counted_outages,
    credit_base,
    credit_shape,
    hourly_price,
    measured_from,
    measurement_period,
    minutes,
    roll_up,
    rounding,
)
from risk.contract_rules.counting_rules import counting_rules, own_rules_step
from risk.contract_rules.credit_base import Fees
from risk.contract_rules.credit_facts import ShapeFacts
from risk.contract_rules.intervals import Minutes, Span, clipped, exact_minutes, length, whole_minutes
from risk.contract_rules.lines import Line
from risk.contract_rules.measurement_period import month_span
from risk.contract_rules.minutes import Counted
from risk.contract_rules.records import Unit
from risk.contract_rules.register import Register
from risk.contract_rules.unit_history import UnitHistory
from risk.core.computed import Computed, Step
from schemas.deal import Deal
from schemas.money import zero
from schemas.periods import Month
from schemas.service_levels import ServiceLevel

AMENDED_PARAGRAPH = "measurement-period.amended"


@dataclass(frozen=True, slots=True)
class Measured:
    """One unit of one service level in one month, measured but not yet credited."""

    unit: Unit
    history: UnitHistory
    window: Minutes
    minutes: Counted
    unknown: Minutes
    availability: Fraction | None
    steps: tuple[Step, ...]


def level_lines(register: Register, month: Month, fees: Mapping[str, Fees]) -> tuple[Line, ...]:
    """Return the lines of one month up to the rounded credit of each; settlement comes after.

    Parameters
    ----------
    fees : fees of each service in the month.
    """
    terms = register.terms(month)
    lines: list[Line] = []
    for level_id, level in terms.service_levels.items():
        units = register.units_of(level)
        looked_at = {service: _looked_at(register, month, level_id, service) for service in {u.service for u in units}}
        measured = [
            m
            for unit in units
            if looked_at[unit.service].value
            and (m := _measured(register, month, level_id, level, unit, looked_at[unit.service].steps))
        ]
        mean = availability.of_fleet([m.availability for m in measured], level, level_id)
        for one in measured:
            if level.aggregation == "fleet_mean":
                value, steps = mean.value, mean.steps
            else:
                value = one.availability
                steps = (availability.per_unit(value, level_id),)
            lines.append(_credited(register, month, level_id, one, value, steps, fees[one.unit.service]))
    return tuple(lines)


def _looked_at(register: Register, month: Month, level_id: str, service: str) -> Computed[bool]:
    """Return whether a service level is measured on the units of a service in a month."""
    terms = register.terms(month)
    units = (unit for unit in register.tree.units.values() if unit.service == service)
    span = month_span(month, terms.measurement.zone)
    return measured_from.exact(units, span, terms.service_levels[level_id], level_id)


def _measured(
    register: Register, month: Month, level_id: str, level: ServiceLevel, unit: Unit, looked_at: tuple[Step, ...]
) -> Measured | None:
    """Return one unit's month up to its availability, None when the unit is not measured in it."""
    terms = register.terms(month)
    rules = counting_rules(terms.measurement, level.measurement)
    window = measurement_period.exact(unit.in_service, month, terms.measurement, rules, level_id)
    if window.value is None:
        return None
    span = month_span(month, terms.measurement.zone)
    history = register.history(unit, level_id, month)
    counted = minutes.exact(
        history.outages,
        history.disregarded,
        history.excluded.spans,
        span,
        rules,
        level_id,
        longest_only=terms.credits.within_level == "worst_outage",
    )
    silent = length(clipped(history.unknown, *span))
    unknown = exact_minutes(silent) if rules.minute_rule == "exact_seconds" else whole_minutes(silent)
    value = availability.exact(window.value, counted.value.counted, counted.value.excluded, level, level_id)
    steps = (
        *_amended(register, month),
        *window.steps,
        *looked_at,
        *own_rules_step(rules, level_id),
        *history.steps(*_concerned(history, span)),
        *_rolled(register, month, level_id, level, unit, span, terms),
        *counted.steps,
        *value.steps,
    )
    return Measured(unit, history, window.value, counted.value, unknown, value.value, steps)


def _concerned(history: UnitHistory, month: Span) -> Span:
    """Return the time whose steps a line shows: the month and the whole of each outage that reaches into it."""
    spans = [o.span for o in (*history.outages, *history.disregarded) if o.start < month[1] and month[0] < o.end]
    return min([month[0], *(s[0] for s in spans)]), max([month[1], *(s[1] for s in spans)])


def _rolled(
    register: Register, month: Month, level_id: str, level: ServiceLevel, unit: Unit, span: Span, terms: Deal
) -> tuple[Step, ...]:
    """Return the steps of the nodes of a rack or cluster in one month."""
    children = register.children(unit, level, month)
    own = clipped(register.own_downtime(unit, month), *span)
    if not children and not (level.level == "cluster" and own):
        return ()
    within = clipped(unit.in_service, *span)
    return roll_up.exact(children, level, own, within, unit.id, level_id).steps


def _amended(register: Register, month: Month) -> tuple[Step, ...]:
    """Return the step that names the amendments in force, and those that wait for the next month."""
    if not register.deal.amendments:
        return ()
    rule = "an amendment applies from the first period that starts on or after its date"
    dates = tuple(amendment.effective_from for amendment in register.deal.amendments)
    return (Step(AMENDED_PARAGRAPH, rule, register.amendments(month), {"period": month, "dates": dates}, "amendments"),)


def _credited(
    register: Register,
    month: Month,
    level_id: str,
    one: Measured,
    value: Fraction | None,
    steps: tuple[Step, ...],
    fees: Fees,
) -> Line:
    """Return one line with its credit, steps 10 to 13."""
    terms = register.terms(month)
    level = terms.service_levels[level_id]
    span = month_span(month, terms.measurement.zone)
    promised = availability.promised(value, level, level_id)
    excused = one.history.excluded.by_head.get("force_majeure", ())
    relief = terms.exclusions.force_majeure
    unit = credit_base.priced(one.unit, register.tree.units, level, level_id)
    base = credit_base.exact(unit.value, span, excused, fees, terms.credits, relief)
    unit_fee = credit_base.accrued_fee(unit.value, span, excused, relief)
    price = hourly_price.exact(unit.value, span)
    facts = ShapeFacts(
        availability=value,
        counted=one.minutes.counted,
        window=one.window,
        find_outages=lambda: counted_outages.within(
            one.history,
            span,
            counting_rules(terms.measurement, level.measurement),
            level_id,
            longest_only=terms.credits.within_level == "worst_outage",
        ),
        base=base.value or Fraction(0),
        hourly_price=price.value,
        zone=terms.measurement.zone,
        span=span,
        most=None if terms.blank("credits.caps.unit") else Fraction(terms.credits.caps.unit) * unit_fee,
        bases={"unit_fee_accrued": unit_fee, "service_fee_accrued": fees.base} if terms.blank("credits.base") else {},
    )
    earned = credit_shape.exact(facts, level, level_id, terms)
    credit, not_computed = zero(register.currency), earned.value.not_computed
    by_hour = level.credit.shape in credit_shape.PRICED_BY_HOUR
    tail = (*unit.steps, *(price.steps if by_hour else base.steps))
    if base.value is None and not by_hour and earned.value.credit_fraction and not_computed is None:
        not_computed = f"no invoice of {one.unit.service} for {month} is on record, of which the credit is a share"
    if earned.value.credit and not_computed is None:
        capped = caps.of_unit(earned.value.credit, unit_fee, terms.credits.caps)
        rounded = rounding.exact(capped.value, register.currency, terms.credits.rounding)
        credit, tail = rounded.value, (*tail, *capped.steps, *rounded.steps)
    return Line(
        period=month,
        service_level=level_id,
        service=one.unit.service,
        unit=one.unit.id,
        window_minutes=one.window,
        down_minutes=one.minutes.down,
        excluded_minutes=one.minutes.excluded,
        disregarded_minutes=one.minutes.disregarded,
        counted_minutes=one.minutes.counted,
        unknown_minutes=one.unknown,
        availability=value,
        target_met=promised.value,
        credit_fraction=earned.value.credit_fraction,
        base=base.value or Fraction(0),
        credit=credit,
        payable=credit,
        days_added=earned.value.days_added,
        not_computed=not_computed,
        steps=(*one.steps, *steps, *promised.steps, *earned.steps, *tail),
    )


def lines_by_service(lines: tuple[Line, ...]) -> Iterator[tuple[str, tuple[Line, ...]]]:
    """Yield the lines of each service, in the order of their first line."""
    for service in dict.fromkeys(line.service for line in lines):
        yield service, tuple(line for line in lines if line.service == service)
