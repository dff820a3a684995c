"""The fee that a credit is a share of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from risk.contract_rules.intervals import MICROSECOND, Span, Spans, clipped, intersection, length
from risk.contract_rules.records import Spell, Unit
from risk.core.computed import Computed, Step
from schemas.credits import Credits
from schemas.errors import NotComputedError
from schemas.exclusions import ForceMajeure
from schemas.periods import Month
from schemas.service_levels import ServiceLevel
from schemas.units import Identifier

PARAGRAPH = "credit-base.fee"
PREPAID_PARAGRAPH = "credit-base.prepaid"
PARTIAL_PARAGRAPH = "credit-base.partial"
SHARE_PARAGRAPH = "credit-base.share"
ABATES_PARAGRAPH = "force-majeure.fees"

_RULES = {
    "unit_fee_accrued": "the fee accrued in the month for the unit, however and whenever paid",
    "service_fee_accrued": "the fee accrued in the month for the whole service, however and whenever paid",
    "order_fee_accrued": "the fee accrued in the month for all services, however and whenever paid",
    "invoiced": "the amount invoiced for the service in the month; what is paid ahead is not invoiced again",
}


@dataclass(frozen=True, slots=True)
class Fees:
    """Fees of one service in one period, not rounded. [currency]"""

    accrued: Fraction
    base: Fraction
    """What credits are taken of where the base is the fee of the service."""
    planned_year: Fraction
    """Fee planned for the contract year, as if every unit were in service throughout."""
    order_base: Fraction = Fraction(0)
    """What credits are taken of where the base is the fee of all services."""
    invoiced: Fraction | None = None
    """Amount invoiced for the period; None where the ledger does not show it, or is not read."""
    previous: Fraction | None = None
    """Fee accrued in the period before, where the cap of the period is a share of that."""
    planned_term: Fraction | None = None
    """Fee planned for the whole term, where a cap is a share of that."""


def exact(
    unit: Unit, month: Span, force_majeure: Spans, fees: Fees, credits: Credits, relief: ForceMajeure, zone: str
) -> Computed[Fraction | None]:
    """Return the base of the credit of one unit in `month`, not rounded; None where no record shows it. [currency]

    Parameters
    ----------
    force_majeure : downtime of the unit that force majeure excused.
    fees : fees of its service, read when the contract says so.
    zone : zone whose months fees accrue by.

    Raises
    ------
    NotComputedError
        When the base holds taxes, one-off charges or power at cost, which no record gives.
    """
    for item in ("tax", "one_off", "pass_through_power"):
        if item not in credits.excludes:
            raise NotComputedError(
                "credits.excludes", f"a credit base that includes {item}", f"add {item!r} to credits.excludes"
            )
    accrued = accrued_fee(unit, month, force_majeure, relief, zone)
    without_prepaid = accrued_fee(unit, month, force_majeure, relief, zone, with_prepaid=False)
    base: Fraction | None
    match credits.base:
        case "unit_fee_accrued":
            base = accrued if credits.includes_prepaid else without_prepaid
        case "service_fee_accrued":
            base = fees.base
        case "order_fee_accrued":
            base = fees.order_base
        case "invoiced":
            base = fees.invoiced
    steps = [Step(PARAGRAPH, _RULES[credits.base], base, {"unit_fee": accrued}, "credits.base")]
    if clipped(unit.in_service, *month) != (month,):
        rule = "for part of a month, the part of the fee that accrued for that time"
        steps.append(Step(PARTIAL_PARAGRAPH, rule, accrued, {"in_service": clipped(unit.in_service, *month)}))
    abated = clipped(force_majeure, *month)
    if abated:
        rule = (
            "no fee is due for the time in which force majeure keeps a unit down; fee of the unit"
            if relief.fee_during == "abates"
            else "fees remain due for the time of force majeure; fee of the unit"
        )
        term = "exclusions.force_majeure.fee_during"
        steps.append(Step(ABATES_PARAGRAPH, rule, accrued, {"time": abated}, term))
    if without_prepaid != accrued and credits.base != "invoiced":
        rule = f"the part paid ahead is {'included' if credits.includes_prepaid else 'left out'}; fee"
        facts = {"fee": accrued, "without_prepaid": without_prepaid}
        steps.append(Step(PREPAID_PARAGRAPH, rule, base, facts, "credits.includes_prepaid"))
    return Computed(base, tuple(steps))


def priced(unit: Unit, units: Mapping[str, Unit], level: ServiceLevel, level_id: str) -> Computed[Unit]:
    """Return a unit with the fee that credits on it are taken of.

    A unit that never has a fee of its own has a share of that of the nearest unit that contains it and has one, for the
    time in which both are in service; nothing where there is none.

    Parameters
    ----------
    units : all units on record, by id.
    """
    if level.base_share is None or any(spell.monthly_fee for spell in unit.spells):
        return Computed(unit, ())
    holder = unit
    while not any(spell.monthly_fee for spell in holder.spells):
        if holder.parent_id is None or holder.parent_id not in units:
            break
        holder = units[holder.parent_id]
    spells = tuple(
        replace(spell, span=span, monthly_fee=spell.monthly_fee * level.base_share, hourly_price=None)
        for spell in holder.spells
        for span in clipped(unit.in_service, *spell.span)
    )
    has_fee = any(spell.monthly_fee for spell in spells)
    rule = f"a unit without a fee of its own stands for {level.base_share} of the fee of the unit that contains it"
    result = max((spell.monthly_fee for spell in spells), default=Decimal(0))
    facts = {"unit": unit.id, "fee_of": holder.id if has_fee else None}
    step = Step(SHARE_PARAGRAPH, rule, result, facts, f"service_levels.{level_id}.base_share")
    return Computed(replace(unit, spells=spells) if has_fee else unit, (step,))


def accrued_fee(
    unit: Unit, period: Span, force_majeure: Spans, relief: ForceMajeure, zone: str, *, with_prepaid: bool = True
) -> Fraction:
    """Return the fee of one unit accrued in `period` for its time in service, not rounded. [currency]

    Notes
    -----
    The monthly fee accrues evenly over each calendar month of `zone`: a period that is no calendar month earns the part
    of the fee of each month that it covers.
    """
    fee = Fraction(0)
    for month in _months(period, zone):
        whole = month[1] - month[0]
        for spell in unit.spells:
            paid = Fraction(1) if with_prepaid else 1 - Fraction(spell.prepaid_fraction)
            if spell.by_hour:
                part = (max(month[0], period[0]), min(month[1], period[1]))
                fee += paid * _by_hour(spell, part, force_majeure, relief)
                continue
            share = Fraction(1)
            served = clipped(clipped((spell.span,), *month), *period)
            if force_majeure or served != (month,):
                time = length(served)
                if relief.fee_during == "abates":
                    time -= length(intersection(served, force_majeure))
                share = Fraction(time // MICROSECOND, whole // MICROSECOND)
            fee += Fraction(spell.monthly_fee) * paid * share
    return fee


def _by_hour(spell: Spell, month: Span, force_majeure: Spans, relief: ForceMajeure) -> Fraction:
    """Return what accrues of a fee by the hour. [currency]"""
    served = clipped((spell.span,), *month)
    time = length(served)
    if relief.fee_during == "abates":
        time -= length(intersection(served, force_majeure))
    return Fraction(spell.hourly_price or 0) * Fraction(time // MICROSECOND, timedelta(hours=1) // MICROSECOND)


@lru_cache(maxsize=4096)
def _months(period: Span, zone: str) -> Spans:
    """Return the calendar months that a period reaches into, whole."""
    month = Month.of(period[0], zone)
    found = [(month.start(zone), month.end(zone))]
    while found[-1][1] < period[1]:
        month = month.plus(1)
        found.append((month.start(zone), month.end(zone)))
    return tuple(found)


def fee_of_service(fees: Iterable[tuple[Identifier, Fraction]]) -> Fraction:
    """Return the fee of a service from the fees of its units, each with the level of the unit. [currency]

    Units of two levels, such as a cluster and its nodes, stand for the same money, so levels are not added: the level
    with the greatest sum is the fee.
    """
    sums: dict[str, Fraction] = {}
    for level, fee in fees:
        sums[level] = sums.get(level, Fraction(0)) + fee
    return max(sums.values(), default=Fraction(0))
