"""The fee that a credit is a share of."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from risk.contract_rules.intervals import MICROSECOND, Span, Spans, clipped, intersection, length
from risk.contract_rules.records import Unit
from risk.core.computed import Computed, Step
from schemas.credits import Credits
from schemas.errors import NotComputedError
from schemas.exclusions import ForceMajeure
from schemas.units import Identifier

PARAGRAPH = "credit-base.fee"
PREPAID_PARAGRAPH = "credit-base.prepaid"
PARTIAL_PARAGRAPH = "credit-base.partial"
ABATES_PARAGRAPH = "force-majeure.fees"


def exact(
    unit: Unit,
    month: Span,
    force_majeure: Spans,
    service_base: Fraction,
    credits: Credits,
    relief: ForceMajeure,
) -> Computed[Fraction]:
    """Return the base of the credit of one unit in `month`, not rounded. [currency]

    Parameters
    ----------
    force_majeure : downtime of the unit that force majeure excused.
    service_base : the same base for the whole service, read when the contract says so. [currency]

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
    accrued = accrued_fee(unit, month, force_majeure, relief)
    without_prepaid = accrued_fee(unit, month, force_majeure, relief, with_prepaid=False)
    if credits.base == "service_fee_accrued":
        base, rule = service_base, "the fee accrued in the month for the whole service, however and whenever paid"
    else:
        base = accrued if credits.includes_prepaid else without_prepaid
        rule = "the fee accrued in the month for the unit, however and whenever paid"
    steps = [Step(PARAGRAPH, rule, base, {"unit_fee": accrued}, "credits.base")]
    if clipped(unit.in_service, *month) != (month,):
        rule = "for part of a month, the part of the fee that accrued for that time"
        steps.append(Step(PARTIAL_PARAGRAPH, rule, accrued, {"in_service": clipped(unit.in_service, *month)}))
    abated = clipped(force_majeure, *month)
    if abated:
        rule = (
            "no fee is due for the time in which force majeure keeps a unit down"
            if relief.fee_during == "abates"
            else "fees remain due for the time of force majeure"
        )
        term = "exclusions.force_majeure.fee_during"
        steps.append(Step(ABATES_PARAGRAPH, rule, accrued, {"time": abated}, term))
    if without_prepaid != accrued:
        rule = "the part paid ahead is included" if credits.includes_prepaid else "the part paid ahead is left out"
        facts = {"fee": accrued, "without_prepaid": without_prepaid}
        steps.append(Step(PREPAID_PARAGRAPH, rule, base, facts, "credits.includes_prepaid"))
    return Computed(base, tuple(steps))


def accrued_fee(
    unit: Unit, month: Span, force_majeure: Spans, relief: ForceMajeure, *, with_prepaid: bool = True
) -> Fraction:
    """Return the fee of one unit accrued in `month` for its time in service, not rounded. [currency]"""
    whole = month[1] - month[0]
    fee = Fraction(0)
    for spell in unit.spells:
        paid = Fraction(1) if with_prepaid else 1 - Fraction(spell.prepaid_fraction)
        share = Fraction(1)
        if force_majeure or spell.span[0] > month[0] or spell.span[1] < month[1]:
            served = clipped((spell.span,), *month)
            time = length(served)
            if relief.fee_during == "abates":
                time -= length(intersection(served, force_majeure))
            share = Fraction(time // MICROSECOND, whole // MICROSECOND)
        fee += Fraction(spell.monthly_fee) * paid * share
    return fee


def fee_of_service(fees: Iterable[tuple[Identifier, Fraction]]) -> Fraction:
    """Return the fee of a service from the fees of its units, each with the level of the unit. [currency]

    Units of two levels, such as a cluster and its nodes, stand for the same money, so levels are not added: the level
    with the greatest sum is the fee.
    """
    sums: dict[str, Fraction] = {}
    for level, fee in fees:
        sums[level] = sums.get(level, Fraction(0)) + fee
    return max(sums.values(), default=Fraction(0))
