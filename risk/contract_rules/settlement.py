"""Steps 14 to 17 and 19 for one service in one month: what is owed of its line credits."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction

from risk.contract_rules import caps, claims, credit_form, deadlines, stacking
from risk.contract_rules.level_lines import Fees
from risk.contract_rules.lines import Line, Loss, Settlement
from risk.contract_rules.measurement_period import month_span
from risk.contract_rules.register import Register
from risk.core.computed import Step
from schemas.money import Money, total, zero
from schemas.periods import Month


def settled(
    register: Register, service: str, month: Month, lines: tuple[Line, ...], fees: Fees, given_before: Money
) -> tuple[tuple[Line, ...], Settlement]:
    """Return the lines of one service in one month with what is owed of each, and the sums.

    Parameters
    ----------
    lines : lines of the service in the order of the statement.
    given_before : credits owed in earlier periods of the contract year.
    """
    terms = register.terms(month).credits
    currency = register.currency
    lines, steps = _one_level_or_all(lines, terms.between_levels, currency)
    lines = tuple(_claimed(register, month, line) for line in lines)
    cap = Fraction(terms.caps.month) * fees.accrued if terms.caps.month is not None else None
    owed = [line.payable for line in lines]
    of_month = caps.exact(owed, cap, zero(currency), terms.rounding, share=terms.caps.month)
    lines = _reduced(lines, of_month.value, "month_cap", of_month.steps)
    cap = Fraction(terms.caps.year) * fees.planned_year if terms.caps.year is not None else None
    owed = [line.payable for line in lines]
    of_year = caps.exact(owed, cap, given_before, terms.rounding, year=True, share=terms.caps.year)
    lines = _reduced(lines, of_year.value, "year_cap", of_year.steps)
    payable = total((line.payable for line in lines), currency)
    form = credit_form.exact(payable, _stated_on(register, month), terms.form)
    year, _ = register.contract_year(service, month)
    settlement = Settlement(
        period=month,
        service=service,
        fee=fees.accrued,
        planned_year_fee=fees.planned_year,
        contract_year=year + 1,
        given_before=given_before,
        credit=total((line.credit for line in lines), currency),
        payable=payable,
        lost=sum_of_losses(lines, currency),
        steps=(*steps, caps.order_step(), *of_month.steps, *of_year.steps, *form.steps),
    )
    return lines, settlement


def sum_of_losses(lines: tuple[Line, ...], currency: str) -> dict[Loss, Money]:
    """Return what is not owed of the credits of `lines`, by reason."""
    found: dict[Loss, Money] = {}
    for line in lines:
        for reason, amount in line.lost.items():
            found[reason] = found.get(reason, zero(currency)) + amount
    return found


def _one_level_or_all(
    lines: tuple[Line, ...], rule: stacking.Rule, currency: str
) -> tuple[tuple[Line, ...], tuple[Step, ...]]:
    """Return the lines with those of levels that are not paid set to nothing."""
    sums: dict[str, Money] = {}
    for line in lines:
        sums[line.service_level] = sums.get(line.service_level, zero(currency)) + line.credit
    chosen = stacking.exact(sums, rule)
    kept = tuple(
        line
        if line.service_level in chosen.value or not line.credit.amount
        else _lose(line, zero(currency), "other_level", chosen.steps)
        for line in lines
    )
    return kept, chosen.steps


def _claimed(register: Register, month: Month, line: Line) -> Line:
    """Return a line after the claim filter."""
    if not line.credit.amount:
        return line
    terms = register.terms(month)
    zone = terms.measurement.zone
    span = month_span(month, zone)
    found = claims.exact(
        span,
        _last_outage_end(register, line, month),
        register.tree.names(line.unit),
        register.records.notices,
        terms.credits.process,
        zone,
        register.as_of,
    )
    is_owed, late_from = found.value
    line = replace(line, claim_by=late_from, steps=(*line.steps, *found.steps))
    return line if is_owed else _lose(line, zero(line.credit.currency), "late_claim", ())


def _last_outage_end(register: Register, line: Line, month: Month) -> datetime | None:
    """Return the end of the last outage of a line's unit that reaches into the month."""
    start, end = month_span(month, register.terms(month).measurement.zone)
    history = register.history(register.tree.units[line.unit], line.service_level, month)
    return max((o.end for o in history.outages if o.start < end and start < o.end), default=None)


def _reduced(
    lines: tuple[Line, ...], owed: tuple[Money, ...], reason: Loss, steps: tuple[Step, ...]
) -> tuple[Line, ...]:
    """Return the lines with what a cap leaves of each."""
    return tuple(
        line if amount == line.payable else _lose(line, amount, reason, steps)
        for line, amount in zip(lines, owed, strict=True)
    )


def _lose(line: Line, owed: Money, reason: Loss, steps: tuple[Step, ...]) -> Line:
    """Return a line of which only `owed` is left."""
    lost = line.payable - owed
    losses = {**line.lost, reason: lost} if lost.amount else dict(line.lost)
    return replace(line, payable=owed, lost=losses, steps=(*line.steps, *steps))


def _stated_on(register: Register, month: Month) -> date | None:
    """Return the day on which the statement of a month was received, None where none is on record."""
    zone = register.terms(month).measurement.zone
    span = month_span(month, zone)
    received = claims.statement_received(span, register.records.notices, register.as_of)
    return deadlines.local_day(received, zone) if received else None
