"""Steps 14 to 17 and 19 for one service in one period: what is owed of its line credits."""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction

from risk.contract_rules import caps, claims, credit_form, deadlines, objection
from risk.contract_rules.account import Account, capped
from risk.contract_rules.choices import claimed, large_enough, one_head_or_all, one_level_or_all
from risk.contract_rules.credit_base import Fees
from risk.contract_rules.lines import Line, Loss, Settlement
from risk.contract_rules.measurement_period import month_span
from risk.contract_rules.register import Register
from schemas.money import Money, total, zero
from schemas.periods import Period


def settled(
    register: Register, service: str, month: Period, lines: tuple[Line, ...], fees: Fees, account: Account
) -> tuple[tuple[Line, ...], Settlement, Account]:
    """Return the lines of one service in one period with what is owed of each, the sums, and the account after it.

    Parameters
    ----------
    lines : lines of the service in the order of the statement, those of all heads.
    account : credits of the service before the period.
    """
    terms = register.terms(month).credits
    currency = register.currency
    year, _ = register.contract_year(service, month)
    account = account.in_year(year)
    lines = large_enough(lines, register, month)
    lines, of_levels = one_level_or_all(lines, register, month)
    lines, of_heads = one_head_or_all(lines, register, month)
    lines = tuple(claimed(line, register, month) for line in lines)
    fee = fees.previous if terms.caps.month_of == "previous_period" else fees.accrued
    amounts: dict[caps.CapOf, Money | None] = {
        "month": caps.amount_of(terms.caps.month, fee, currency, terms.rounding),
        "year": caps.amount_of(terms.caps.year, fees.planned_year, currency, terms.rounding),
        "term": caps.amount_of(terms.caps.term, fees.planned_term, currency, terms.rounding),
    }
    found = capped(lines, account, amounts, terms, month)
    payable = found.brought_forward + total((line.payable for line in found.lines), currency)
    stated_on = _stated_on(register, month)
    disputed = objection.exact(stated_on, register.terms(month)) if stated_on is not None else None
    form = credit_form.exact(payable, stated_on, terms.form, _fee_of_a_day(register, fees, month))
    settlement = Settlement(
        period=month,
        service=service,
        fee=fees.accrued,
        planned_year_fee=fees.planned_year,
        contract_year=year + 1,
        given_before=account.given_in_year,
        credit=total((line.credit for line in found.lines), currency),
        payable=payable,
        lost=sum_of_losses(found.lines, currency),
        steps=(
            *of_levels,
            *of_heads,
            caps.order_step(),
            *found.steps,
            *form.steps,
            *(disputed.steps if disputed is not None else ()),
        ),
        brought_forward=found.brought_forward,
        carried_forward=found.account.carried_sum,
        limits=found.limits,
        stated_on=stated_on,
        object_by=disputed.value if disputed is not None else None,
        object_by_if_stated_when_due=_object_by_if_due(register, month) if stated_on is None else None,
    )
    return found.lines, settlement, found.account


def sum_of_losses(lines: tuple[Line, ...], currency: str) -> dict[Loss, Money]:
    """Return what is not owed of the credits of `lines`, by reason."""
    found: dict[Loss, Money] = {}
    for line in lines:
        for reason, amount in line.lost.items():
            found[reason] = found.get(reason, zero(currency)) + amount
    return found


def _stated_on(register: Register, month: Period) -> date | None:
    """Return the day on which the statement of a period was received, None where none is on record."""
    zone = register.terms(month).measurement.zone
    span = month_span(month, zone)
    received = claims.statement_received(span, register.records.notices, register.as_of)
    return deadlines.local_day(received, zone) if received else None


def _object_by_if_due(register: Register, month: Period) -> datetime | None:
    """Return from when an objection is late if the statement of a period is received on the last day it is due.

    None for a period that is only looked back to.
    """
    if month not in register.periods:
        return None
    terms = register.terms(month)
    return objection.if_stated_when_due(month_span(month, terms.measurement.zone), terms)


def _fee_of_a_day(register: Register, fees: Fees, month: Period) -> Fraction:
    """Return the fee of a service for one day of the period. [currency/day]"""
    zone = register.terms(month).measurement.zone
    start, end = (deadlines.local_day(moment, zone) for moment in month_span(month, zone))
    return fees.accrued / (end - start).days
