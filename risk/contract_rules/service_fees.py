"""Fees of each service in one period, added up from its units: bases of credits and of caps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from risk.contract_rules import credit_base
from risk.contract_rules.credit_base import Fees
from risk.contract_rules.intervals import Span, Spans
from risk.contract_rules.measurement_period import month_span
from risk.contract_rules.records import Unit
from risk.contract_rules.register import MONTHS_PER_YEAR, Register
from schemas.errors import DealError, MissingTermError, NotComputedError, Problem
from schemas.periods import Month, Part, Period

__all__ = ["Fees", "fees_of_services"]

_NO_MONTHS = ("billing_month", "rolling_days")
"""Periods that are not made of calendar months."""


def fees_of_services(register: Register, month: Period) -> Mapping[str, Fees]:
    """Return the fees of every service in a period.

    Raises
    ------
    DealError
        When the ledger shows a month of a service twice.
    MissingTermError
        When a cap is a share of the fees of a term that the deal does not give.
    NotComputedError
        When the base is an invoice and the period is not made of calendar months.
    """
    found = {service: _of_service(register, service, month) for service in register.first_months}
    whole = sum((fees.base for fees in found.values()), Fraction(0))
    return {service: replace(fees, order_base=whole) for service, fees in found.items()}


def _of_service(register: Register, service: str, month: Period) -> Fees:
    terms = register.terms(month)
    caps = terms.credits.caps
    units = [unit for unit in register.tree.units.values() if unit.service == service]
    accrued = _accrued(register, units, month, with_prepaid=True)
    base = accrued if terms.credits.includes_prepaid else _accrued(register, units, month, with_prepaid=False)
    _, first = register.contract_year(service, month)
    invoiced = _invoiced(register, service, month) if terms.credits.base == "invoiced" else None
    previous = planned_term = None
    if caps.month is not None and caps.month_of == "previous_period":
        previous = _accrued(register, units, register.calendar.plus(month, -1), with_prepaid=True)
    if caps.term is not None:
        if terms.commercial is None:
            raise MissingTermError("commercial.term", "the cap of the term", "add commercial with its term")
        months = terms.commercial.term.months
        planned_term = _planned(register, units, register.first_months[service], months, month)
    planned_year = _planned(register, units, first, MONTHS_PER_YEAR, month)
    return Fees(accrued, base, planned_year, invoiced=invoiced, previous=previous, planned_term=planned_term)


def _accrued(register: Register, units: list[Unit], month: Period, *, with_prepaid: bool) -> Fraction:
    """Return the fee of some units of one service accrued in a period. [currency]"""
    terms = register.terms(month)
    span, relief = month_span(month, terms.measurement.zone), terms.exclusions.force_majeure
    return credit_base.fee_of_service(
        (
            unit.level,
            credit_base.accrued_fee(
                unit,
                span,
                _force_majeure(register, unit, month),
                relief,
                terms.measurement.zone,
                with_prepaid=with_prepaid,
            ),
        )
        for unit in units
    )


def _planned(register: Register, units: list[Unit], first: Month, months: int, month: Period) -> Fraction:
    """Return the fee planned for some months from `first` on, on the terms of `month`. [currency]"""
    zone = register.terms(month).measurement.zone
    span = (month_span(first, zone)[0], month_span(first.plus(months - 1), zone)[1])
    return credit_base.fee_of_service((unit.level, Fraction(_fee_at_start(unit, span)) * months) for unit in units)


def _fee_at_start(unit: Unit, stretch: Span) -> Fraction:
    """Return the monthly fee of a unit at its first service in a stretch, 0 when it has none. [currency]"""
    for spell in unit.spells:
        if spell.span[0] < stretch[1] and stretch[0] < spell.span[1]:
            return Fraction(spell.monthly_fee)
    return Fraction(0)


def _force_majeure(register: Register, unit: Unit, month: Period) -> Spans:
    """Return downtime of a unit that force majeure excused; nothing is worked out where none is on record."""
    if unit.id not in register.incidents or not any(w.kind == "force_majeure" for w in register.records.windows):
        return ()
    return register.history(unit, None, month).down_by_force_majeure


def _invoiced(register: Register, service: str, period: Period) -> Fraction | None:
    """Return what the ledger shows as invoiced for a service in a period, None where a month is missing. [currency]"""
    measurement = register.terms(period).measurement
    if measurement.period in _NO_MONTHS or isinstance(period, Part):
        raise NotComputedError(
            "credits.base",
            f"the invoice of the period {period} of kind {measurement.period!r}, which is not made of whole months",
            "set credits.base to a fee that accrues, or measurement.period to calendar_month",
        )
    start, end = month_span(period, measurement.zone)
    month = Month.of(start, measurement.zone)
    amount = Fraction(0)
    while month.start(measurement.zone) < end:
        entries = [e for e in register.records.ledger if e.service == service and e.month == str(month)]
        if len(entries) > 1:
            problem = Problem(
                f"ledger[{service}, {month}]", f"{len(entries)} entries", "one", "add up the invoices of a month"
            )
            raise DealError([problem])
        if not entries:
            return None
        amount += Fraction(entries[0].invoiced)
        month = month.plus(1)
    return amount
