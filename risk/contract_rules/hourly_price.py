"""The price of a unit for an hour, where a credit is counted in hours of price."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction

from risk.contract_rules.credit_base import accrued_fee
from risk.contract_rules.intervals import MICROSECOND, Span, clipped, length
from risk.contract_rules.records import Unit
from risk.core.computed import Computed, Step
from schemas.exclusions import ForceMajeure

PARAGRAPH = "credit-schedule.hourly-price"

_HOUR = timedelta(hours=1) // MICROSECOND


def exact(unit: Unit, span: Span, zone: str) -> Computed[Fraction]:
    """Return the hourly price of a unit in the period of `span`, not rounded. [currency/h]

    Notes
    -----
    The price on record, else the fee of the period over its hours in the contract's zone. A unit whose price changed
    within the period has the mean of its prices, each for the time that it applied.
    """
    time, cost, stated = 0, Fraction(0), True
    for spell in unit.spells:
        served = length(clipped((spell.span,), *span)) // MICROSECOND
        if not served:
            continue
        time += served
        if spell.hourly_price is not None:
            cost += Fraction(spell.hourly_price) * Fraction(served, _HOUR)
        else:
            stated = False
            cost += accrued_fee(replace(unit, spells=(spell,)), span, (), ForceMajeure(), zone)
    price = cost / Fraction(time, _HOUR) if time else Fraction(0)
    rule = (
        "the price of the unit for an hour, as on record"
        if stated
        else "the price of an hour is the fee that accrued for the unit in the period over its hours in service"
    )
    return Computed(price, (Step(PARAGRAPH, rule, price, {"unit": unit.id}),))
