"""Steps 5 to 13: the lines of one period, one for each unit of each service level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
from risk.contract_rules.intervals import Minutes, Span, clipped, exact_minutes, length, plain, whole_minutes
from risk.contract_rules.lines import Line
from risk.contract_rules.measurement_period import month_span
from risk.contract_rules.minutes import Counted
from risk.contract_rules.records import Unit
from risk.contract_rules.register import Register
from risk.contract_rules.service_fees import fees_of_services
from risk.contract_rules.unit_history import UnitHistory
from risk.core.computed import Computed, Step
from schemas.money import total, zero
from schemas.periods import Period
from schemas.service_levels import ServiceLevel

AMENDED_PARAGRAPH = "measurement-period.amended"


@dataclass(frozen=True, slots=True)
class Measured:
    """One unit of one service level in one period, measured but not yet credited."""

    unit: Unit
    history: UnitHistory
    span: Span
    """Time that the line covers."""
    window: Minutes
    minutes: Counted
    unknown: Minutes
    disputed: Minutes
    availability: Fraction | None
    steps: tuple[Step, ...]


def level_lines(register: Register, month: Period, fees: Mapping[str, Fees]) -> tuple[Line, ...]:
    """Return the lines of one period up to the rounded credit of each; settlement comes after.

    Parameters
    ----------
    fees : fees of each service in the period.

    Notes
    -----
    Where the terms in force when an outage starts decide about it, the outages of each set of terms are measured over
    the whole period on these terms, and what they earn is added up, at most to the cap of the unit.
    """
    views = register.at_incident(month)
    if not views:
        return _lines(register, month, fees, None)
    found: dict[tuple[str, str], list[Line]] = {}
    usual: dict[tuple[str, str], Line] = {}
    for view, since in views:
        for line in _lines(register, view, fees, since):
            key = (line.service_level, line.unit)
            line = replace(line, period=month)
            found.setdefault(key, []).append(line)
            if register.amendments(view) == register.amendments(month):
                usual[key] = line
    return tuple(
        joined
        for key, lines in found.items()
        if (joined := _joined(register, month, usual.get(key), lines)) is not None
    )


def _lines(register: Register, month: Period, fees: Mapping[str, Fees], since: Span | None) -> tuple[Line, ...]:
    """Return the lines of one period on its terms, of the outages that started in `since` where that is given."""
    terms = register.terms(month)
    lines: list[Line] = []
    for level_id, level in terms.service_levels.items():
        units = register.units_of(level)
        looked_at = {service: _looked_at(register, month, level_id, service) for service in {u.service for u in units}}
        measured = [
            m
            for unit in units
            if looked_at[unit.service].value
            and (m := _measured(register, month, level_id, level, unit, looked_at[unit.service].steps, since))
        ]
        mean = availability.of_fleet([m.availability for m in measured], level, level_id)
        for one in measured:
            if level.aggregation == "fleet_mean":
                value, steps = mean.value, mean.steps
            else:
                value = one.availability
                steps = (availability.per_unit(value, level_id),)
            of_service = fees[one.unit.service]
            if register.measured_since(one.unit, month) is not None:
                before = fees_of_services(register, register.calendar.plus(month, -1))
                of_service = _together(of_service, before[one.unit.service])
            lines.append(_credited(register, month, level_id, one, value, steps, of_service))
    return tuple(lines)


def _together(fees: Fees, before: Fees) -> Fees:
    """Return fees of a period with those of the part before it that is measured with it."""
    invoiced = None
    if fees.invoiced is not None and before.invoiced is not None:
        invoiced = fees.invoiced + before.invoiced
    return replace(
        fees, base=fees.base + before.base, order_base=fees.order_base + before.order_base, invoiced=invoiced
    )


def _joined(register: Register, month: Period, usual: Line | None, lines: Sequence[Line]) -> Line | None:
    """Return one line of the lines of one unit on several sets of terms."""
    told = [line for line in lines if line.down_minutes or line.credit.amount or line.not_computed]
    if len(told) < 2:
        return told[0] if told else usual
    last = told[-1]
    terms = register.terms(month)
    level = terms.service_levels.get(last.service_level)
    counted = plain(sum((line.counted_minutes for line in told), Fraction(0)))
    excluded = plain(sum((line.excluded_minutes for line in told), Fraction(0)))
    value = last.availability
    if level is not None:
        value = availability.exact(last.window_minutes, counted, excluded, level, last.service_level).value
    credit = total((line.credit for line in told), register.currency)
    unit = register.tree.units[last.unit]
    if level is not None and last.span is not None:
        unit = credit_base.priced(unit, register.tree.units, level, last.service_level).value
        relief, zone = terms.exclusions.force_majeure, terms.measurement.zone
        fee = credit_base.accrued_fee(unit, last.span, (), relief, zone)
        capped = caps.of_unit(Fraction(credit.amount), fee, terms.credits.caps)
        credit = rounding.exact(capped.value, register.currency, terms.credits.rounding).value
    rule = "outages that started under different terms are measured apart on these, and what they earn is added up"
    facts = {"credits": tuple(line.credit for line in told)}
    step = Step(AMENDED_PARAGRAPH, rule, credit, facts, "measurement.amendment_applies")
    missed = [line.target_met for line in told if line.target_met is not None]
    shares = {line.credit_fraction for line in told if line.credit.amount}
    return replace(
        last,
        down_minutes=plain(sum((line.down_minutes for line in told), Fraction(0))),
        excluded_minutes=excluded,
        disregarded_minutes=plain(sum((line.disregarded_minutes for line in told), Fraction(0))),
        counted_minutes=counted,
        degraded_minutes=plain(sum((line.degraded_minutes for line in told), Fraction(0))),
        weighted_minutes=plain(sum((line.weighted_minutes for line in told), Fraction(0))),
        availability=value,
        target_met=all(missed) if missed else None,
        credit_fraction=shares.pop() if len(shares) == 1 else None,
        credit=credit,
        payable=credit,
        days_added=sum(line.days_added for line in told),
        not_computed=next((line.not_computed for line in told if line.not_computed), None),
        steps=(*(step for line in told for step in line.steps), step),
    )


def _looked_at(register: Register, month: Period, level_id: str, service: str) -> Computed[bool]:
    """Return whether a service level is measured on the units of a service in a period."""
    terms = register.terms(month)
    units = (unit for unit in register.tree.units.values() if unit.service == service)
    span = month_span(month, terms.measurement.zone)
    return measured_from.exact(units, span, terms.service_levels[level_id], level_id)


def _measured(
    register: Register,
    month: Period,
    level_id: str,
    level: ServiceLevel,
    unit: Unit,
    looked_at: tuple[Step, ...],
    since: Span | None,
) -> Measured | None:
    """Return one unit's period up to its availability, None when the unit is not measured in it."""
    terms = register.terms(month)
    rules = counting_rules(terms.measurement, level.measurement)
    start = register.measured_since(unit, month)
    window = measurement_period.exact(unit.in_service, month, terms.measurement, rules, level_id, start)
    if window.value is None:
        return None
    span = register.span_of(unit, month) or month_span(month, terms.measurement.zone)
    history = register.history(unit, level_id, month)
    if since is not None:
        history = history.started(*since)
    counted = minutes.exact(
        history.outages,
        history.disregarded,
        history.excluded.spans,
        span,
        rules,
        level_id,
        longest_only=terms.credits.within_level == "worst_outage",
        weighted=history.weighted,
    )
    unknown, disputed = (
        exact_minutes(length(spans)) if rules.minute_rule == "exact_seconds" else whole_minutes(length(spans))
        for spans in (clipped(history.unknown, *span), clipped(history.disputed, *span))
    )
    value = availability.exact(window.value, counted.value.counted, counted.value.excluded, level, level_id)
    steps = (
        *_amended(register, month),
        *window.steps,
        *looked_at,
        *own_rules_step(rules, level_id),
        *history.steps(*_concerned(history, span)),
        *_rolled(register, month, level_id, level, unit, span),
        *counted.steps,
        *value.steps,
    )
    return Measured(unit, history, span, window.value, counted.value, unknown, disputed, value.value, steps)


def _concerned(history: UnitHistory, month: Span) -> Span:
    """Return the time whose steps a line shows: the period and the whole of each outage that reaches into it."""
    spans = [o.span for o in (*history.outages, *history.disregarded) if o.start < month[1] and month[0] < o.end]
    return min([month[0], *(s[0] for s in spans)]), max([month[1], *(s[1] for s in spans)])


def _rolled(
    register: Register, month: Period, level_id: str, level: ServiceLevel, unit: Unit, span: Span
) -> tuple[Step, ...]:
    """Return the steps of the nodes of a unit, and of the units it needs, in one period."""
    children, needed = register.children(unit, level, month), register.needed(unit, level, month)
    own = clipped(register.own_downtime(unit, month, level_id), *span)
    if not children and not needed and not (level.level == "cluster" and own):
        return ()
    within = clipped(unit.in_service, *span)
    return roll_up.exact(children, level, own, within, unit.id, level_id, needed).steps


def _amended(register: Register, month: Period) -> tuple[Step, ...]:
    """Return the step that names the amendments in force, and those that wait for the next period."""
    if not register.deal.amendments:
        return ()
    rule = {
        "next_period": "an amendment applies from the first period that starts on or after its date",
        "at_incident": "the terms in force when an outage starts decide about it",
        "at_date_split": "an amendment divides the period at its date; each part is a period of its own",
    }[register.deal.measurement.amendment_applies]
    dates = tuple(amendment.effective_from for amendment in register.deal.amendments)
    return (Step(AMENDED_PARAGRAPH, rule, register.amendments(month), {"period": month, "dates": dates}, "amendments"),)


def _credited(
    register: Register,
    month: Period,
    level_id: str,
    one: Measured,
    value: Fraction | None,
    steps: tuple[Step, ...],
    fees: Fees,
) -> Line:
    """Return one line with its credit, steps 10 to 13."""
    terms = register.terms(month)
    level = terms.service_levels[level_id]
    span, zone = one.span, terms.measurement.zone
    promised = availability.promised(value, level, level_id)
    excused = one.history.down_by_force_majeure
    relief = terms.exclusions.force_majeure
    unit = credit_base.priced(one.unit, register.tree.units, level, level_id)
    base = credit_base.exact(unit.value, span, excused, fees, terms.credits, relief, zone)
    unit_fee = credit_base.accrued_fee(unit.value, span, excused, relief, zone)
    price = hourly_price.exact(unit.value, span, zone)
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
        zone=zone,
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
        degraded_minutes=one.minutes.degraded,
        weighted_minutes=one.minutes.weighted,
        disputed_minutes=one.disputed,
        span=span,
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
