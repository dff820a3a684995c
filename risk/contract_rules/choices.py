"""Steps 13 to 15 for the lines of one service in one period: the least amount, levels, heads and claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from risk.contract_rules import caps, claims, stacking
from risk.contract_rules.claims import Claimable
from risk.contract_rules.intervals import Span
from risk.contract_rules.lines import Line, Loss, reduced_to
from risk.contract_rules.measurement_period import month_span
from risk.contract_rules.register import Register
from risk.core.computed import Step
from schemas.money import Money, zero
from schemas.periods import Period

Chosen = tuple[tuple[Line, ...], tuple[Step, ...]]
"""Lines with what is left of each, and the steps that concern them all."""


def large_enough(lines: Sequence[Line], register: Register, month: Period) -> tuple[Line, ...]:
    """Return the lines without the credits that are too small to be paid."""
    minimum = register.terms(month).credits.minimum_payable
    if not minimum:
        return tuple(lines)
    return tuple(
        line
        if not line.payable.amount or (found := caps.least(line.payable, minimum)).value
        else reduced_to(line, zero(register.currency), "below_minimum", found.steps)
        for line in lines
    )


def one_level_or_all(lines: Sequence[Line], register: Register, month: Period) -> Chosen:
    """Return the lines with the credits of levels, or of units inside credited units, that are not paid left out."""
    rule = register.terms(month).credits.between_levels
    ours = [line for line in lines if line.head == "availability"]
    if not ours:
        return tuple(lines), ()
    if rule == "parent_absorbs_children":
        return _absorbed(lines, ours, register)
    sums: dict[str, Money] = {}
    for line in ours:
        sums[line.service_level] = sums.get(line.service_level, zero(register.currency)) + line.payable
    named = _named(ours, register, month) if rule == "choose_one" else None
    found = stacking.exact(sums, "cumulative" if rule == "cumulative" else "highest_level", named)
    kept = [
        line.head != "availability" or line.service_level in found.value or not line.payable.amount for line in lines
    ]
    return _without(lines, kept, "other_level", found.steps, register), found.steps


def _absorbed(lines: Sequence[Line], ours: Sequence[Line], register: Register) -> Chosen:
    credited = {line.unit for line in ours if line.payable.amount}
    within = {unit: register.tree.names(unit) - {unit} for unit in credited}
    found = stacking.absorbed(credited, within)
    kept = [line.head != "availability" or line.unit not in found.value for line in lines]
    kept = [is_kept or not line.payable.amount for is_kept, line in zip(kept, lines, strict=True)]
    return _without(lines, kept, "parent_level", found.steps, register), found.steps


def _named(lines: Sequence[Line], register: Register, month: Period) -> str | None:
    """Return the service level that the first claim with a choice names; None until there is one."""
    span = month_span(month, register.terms(month).measurement.zone)
    levels = {line.service_level for line in lines}
    names = frozenset(name for line in lines for name in register.tree.names(line.unit))
    for claim in claims.claims_of(register.records.notices, span, register.as_of):
        if claim.service_level in levels and (not claim.unit_ids or names & set(claim.unit_ids)):
            return claim.service_level
    return None


def one_head_or_all(lines: Sequence[Line], register: Register, month: Period) -> Chosen:
    """Return the lines with the credits of heads that are not paid left out."""
    heads: dict[str, Money] = {}
    for head in ("availability", "replacement", "response"):
        amounts = [line.payable for line in lines if line.head == head]
        if amounts:
            heads[head] = sum(amounts, start=zero(register.currency))
    if len(heads) < 2:
        return tuple(lines), ()
    found = stacking.between_heads(heads, register.terms(month).credits.between_heads)
    kept = [line.head in found.value or not line.payable.amount for line in lines]
    return _without(lines, kept, "other_head", found.steps, register), found.steps


def claimed(line: Line, register: Register, month: Period) -> Line:
    """Return a line after the claim filter."""
    if not line.payable.amount:
        return line
    terms = register.terms(month)
    zone = terms.measurement.zone
    facts = Claimable(
        period=month_span(month, zone),
        next_period_end=month_span(register.calendar.plus(month, 1), zone)[1],
        last_outage=_last_outage(register, line, month),
        names=register.tree.names(line.unit),
    )
    found = claims.exact(facts, register.records.notices, terms, register.as_of)
    late_from, readings = found.value.late_from, found.value.readings
    line = replace(line, claim_by=late_from, claim_by_readings=readings, steps=(*line.steps, *found.steps))
    share = found.value.share
    if share is None:
        nothing = zero(register.currency)
        return replace(line, credit=nothing, payable=nothing, lost={}, not_computed=found.value.undecided)
    if share == 1:
        return line
    return reduced_to(line, line.payable.times(Fraction(share), terms.credits.rounding), "late_claim", ())


def _last_outage(register: Register, line: Line, month: Period) -> Span | None:
    """Return the last outage of a line's unit that reaches into the month; the month itself for tickets."""
    start, end = month_span(month, register.terms(month).measurement.zone)
    if line.span is not None:
        start, end = line.span
    unit = register.tree.units.get(line.unit)
    if unit is None or line.head == "response":
        return start, end
    level = line.service_level if line.head == "availability" else register.usual_level(unit, month)
    outages = register.history(unit, level, month).outages
    return max((o.span for o in outages if o.start < end and start < o.end), key=lambda span: span[1], default=None)


def _without(
    lines: Sequence[Line], kept: Sequence[bool], reason: Loss, steps: tuple[Step, ...], register: Register
) -> tuple[Line, ...]:
    nothing = zero(register.currency)
    return tuple(
        line if is_kept else reduced_to(line, nothing, reason, steps) for line, is_kept in zip(lines, kept, strict=True)
    )
