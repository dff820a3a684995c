"""How a missed level turns into money: one module for each shape of credit, chosen by the term."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from risk.contract_rules import (
    bands,
    caps,
    credit_base,
    duration_table,
    hour_waiver,
    linear,
    multiple_of_price,
    onset_plus_hourly,
    per_breach,
    steps,
    term_extension,
    unstated,
)
from risk.contract_rules.credit_facts import CountedOutage, ShapeCredit, ShapeFacts, share_of
from risk.core.computed import Computed, Step
from schemas.credit_shapes import (
    CreditBands,
    CreditShape,
    DurationTable,
    HourWaiver,
    LinearCredit,
    MultipleOfPrice,
    OnsetPlusHourly,
    PerBreach,
    StepCredit,
    TermExtension,
    UnstatedCredit,
)
from schemas.deal import Deal
from schemas.errors import MissingTermError, NotComputedError
from schemas.money import rounded_to_minor_unit
from schemas.service_levels import ServiceLevel
from schemas.units import LARGEST_AMOUNT

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

PRICED_BY_HOUR = ("duration_table", "multiple_of_price", "hour_waiver")
"""Shapes that are counted in hours of price, whatever the base."""
_LONGEST = 60_000_000
"""Longer than any outage. [min]"""
_READINGS: Mapping[str, tuple[Any, ...]] = {
    "counted": ("started", "completed"),
    "per": ("outage", "period"),
    "cap": (Decimal(0), Decimal(1)),
    "at_risk": (Decimal(0), Decimal(1)),
    "cap_hours": (Decimal(0), None),
    "least": (Decimal(0), LARGEST_AMOUNT),
    "onset": (Decimal(0), Decimal(1)),
    "hour_minutes": (_LONGEST, 1),
    "free_minutes": (_LONGEST, 0),
}
"""What a term of a shape that is left blank could be: each choice, or the two ends of a number. Credits grow or fall
with each of them, so no value between gives more or less than both ends."""


def exact(facts: ShapeFacts, level: ServiceLevel, level_id: str, terms: Deal) -> Computed[ShapeCredit]:
    """Return what one unit earns in one period, before the cap of the unit.

    Notes
    -----
    A term that the contract leaves blank (`unknown` of the deal) is read in every way it could be. Where all readings
    come to the same, that is the credit; where they do not, there is none, and the reason names the least and the most.
    """
    found = of_shape(facts, level.credit, level, level_id)
    blanks = tuple(_blanks(level, level_id, terms))
    if not blanks:
        return found
    credits = sorted({_bounded(one, facts.most) for one in _every_reading(facts, level, level_id, blanks)})
    reasons = "; ".join(dict.fromkeys(reason for _, reason, _ in blanks))
    paragraph = _paragraph(level.credit) if blanks[0][2] is None else blanks[0][2]
    inputs = {"least": credits[0], "most": credits[-1]}
    if len(credits) == 1 and found.value.not_computed is None:
        step = Step(paragraph, f"{reasons}; every reading comes to the same credit", credits[0], inputs)
        return Computed(found.value, (*found.steps, step))
    if found.value.not_computed is not None:
        reasons = f"{found.value.not_computed}; {reasons}"
    least, most = (_figure(amount, terms) for amount in (credits[0], credits[-1]))
    two = all(name in ("counted", "per", "base") for name, _, _ in blanks)
    between = f"the credit is {least} or {most}" if two else f"the credit lies between {least} and {most}"
    reason = f"{reasons}; {between}"
    step = Step(paragraph, "what turns on a term that is not stated is not computed", reason, inputs)
    return Computed(ShapeCredit(credits[0], not_computed=reason), (*found.steps, step))


def of_shape(facts: ShapeFacts, credit: CreditShape, level: ServiceLevel, level_id: str) -> Computed[ShapeCredit]:
    """Return what one unit earns under one shape as typed, before the cap of the unit."""
    match credit:
        case CreditBands():
            fraction = bands.exact(facts.availability, credit, level_id)
            return Computed(share_of(facts.base, fraction.value), fraction.steps)
        case LinearCredit():
            return linear.exact(facts, credit, _target(level, level_id), level_id)
        case StepCredit():
            return steps.exact(facts, credit, _target(level, level_id), level_id)
        case DurationTable():
            found = duration_table.exact(facts, credit, level_id)
            reached = facts.most is not None and found.value.credit >= facts.most
            if found.value.not_computed is not None and reached:  # no row could add to the cap of the unit
                return Computed(replace(found.value, not_computed=None), found.steps)
            return found
        case MultipleOfPrice():
            return multiple_of_price.exact(facts, credit, level_id)
        case PerBreach():
            return per_breach.exact(facts, credit, level_id)
        case HourWaiver():
            return hour_waiver.exact(facts, credit, level_id)
        case OnsetPlusHourly():
            return onset_plus_hourly.exact(facts, credit, level_id)
        case TermExtension():
            return term_extension.exact(facts, credit, level_id)
        case UnstatedCredit():
            return unstated.exact(facts, credit, level.target, level_id)
        case _:
            assert_never(credit)


def _target(level: ServiceLevel, level_id: str) -> Decimal:
    """Return the target, which levels with such a shape must have."""
    if level.target is None:
        raise MissingTermError(f"service_levels.{level_id}.target", "a credit for the shortfall", "give the target")
    return level.target


def _blanks(level: ServiceLevel, level_id: str, terms: Deal) -> Iterator[tuple[str, str, str | None]]:
    """Yield each blank term that the credit reads, why it is blank, and a paragraph where the shape's is not meant."""
    if not terms.unknown:
        return
    for name in type(level.credit).model_fields:
        if name in _READINGS and (reason := terms.blank(f"service_levels.{level_id}.credit.{name}")):
            yield name, reason, None
    if level.credit.shape in ("term_extension", "unstated"):
        return
    if level.credit.shape not in PRICED_BY_HOUR and (reason := terms.blank("credits.base")):
        yield "base", reason, credit_base.PARAGRAPH
    if reason := terms.blank("credits.caps.unit"):
        yield "unit_cap", reason, caps.UNIT_PARAGRAPH


def _every_reading(
    facts: ShapeFacts, level: ServiceLevel, level_id: str, blanks: tuple[tuple[str, str, str | None], ...]
) -> Iterator[Fraction]:
    """Yield the credit under every reading of the blank terms."""
    names = [name for name, _, _ in blanks if name in _READINGS]
    bases = tuple(facts.bases.values()) if any(name == "base" for name, _, _ in blanks) else ()
    for values in product(*(_READINGS[name] for name in names)):
        credit = level.credit.revise(dict(zip(names, values, strict=True))) if names else level.credit
        for base in (facts.base, *bases):
            found = of_shape(replace(facts, base=base), credit, level, level_id).value
            yield found.credit
    if any(name == "unit_cap" for name, _, _ in blanks):
        yield Fraction(0)


def _bounded(credit: Fraction, most: Fraction | None) -> Fraction:
    return credit if most is None else min(credit, most)


def _figure(amount: Fraction, terms: Deal) -> str:
    """Return an amount in words of a reason."""
    currency = terms.commercial.currency if terms.commercial else "USD"
    unit = f" {terms.commercial.currency}" if terms.commercial else ""
    return f"{rounded_to_minor_unit(amount, currency):,f}{unit}"


def _paragraph(credit: CreditShape) -> str:
    """Return the paragraph that orders a shape."""
    module = {
        "bands": bands,
        "linear": linear,
        "steps": steps,
        "duration_table": duration_table,
        "multiple_of_price": multiple_of_price,
        "per_breach": per_breach,
        "hour_waiver": hour_waiver,
        "onset_plus_hourly": onset_plus_hourly,
        "term_extension": term_extension,
        "unstated": unstated,
    }[credit.shape]
    return str(module.PARAGRAPH)


def of_one_outage(
    minutes: int, window: int, level: ServiceLevel, level_id: str, availability: Fraction | None = None
) -> Fraction | None:
    """Return the credit of one outage in an otherwise good period as a share of the unit's fee, before its cap. [1]

    None where the contract does not say.

    Parameters
    ----------
    minutes : counted downtime, from the start of a clock hour. [min]
    window : minutes of the period. [min]
    availability : read in place of that of the unit, for a mean of many. [1]
    """
    start = datetime(2026, 1, 1, tzinfo=UTC)
    down = ((start, start + timedelta(minutes=minutes)),)
    facts = ShapeFacts(
        availability=1 - Fraction(minutes, window) if availability is None else availability,
        counted=minutes,
        window=window,
        find_outages=lambda: (CountedOutage(minutes, down),) if minutes else (),
        base=Fraction(1),
        hourly_price=Fraction(60, window),
        zone="UTC",
        span=(start, start + timedelta(minutes=window)),
    )
    found = of_shape(facts, level.credit, level, level_id).value
    return None if found.not_computed is not None else found.credit


def greatest_share(level: ServiceLevel) -> Fraction | None:
    """Return the most that one unit can earn in one period as a share of its base, 1 where only its cap bounds it. [1]

    None where the contract does not say what a miss pays. Shapes that are counted in hours of price can earn any number
    of hours: they are taken at the whole fee, and a multiple at that multiple of it. A least credit is left out.
    """
    match level.credit:
        case CreditBands(bands=rows):
            return max(Fraction(row.credit_fraction) for row in rows)
        case LinearCredit(slope=slope, cap=cap):
            return min(Fraction(cap), Fraction(slope) * Fraction(level.target or 0))
        case StepCredit(step=step, credit_fraction=fraction, counted=counted, cap=cap):
            number = steps.counted_units(Fraction(level.target or 0), Fraction(step), counted)
            return min(Fraction(cap), number * Fraction(fraction))
        case MultipleOfPrice(multiple=multiple):
            return Fraction(multiple)
        case PerBreach(credit_fraction=fraction, at_risk=at_risk):
            return Fraction(at_risk) if fraction else Fraction(0)
        case OnsetPlusHourly(cap=cap):
            return Fraction(cap)
        case DurationTable() | HourWaiver():
            return Fraction(1)
        case TermExtension():
            return Fraction(0)
        case UnstatedCredit():
            return None
        case _:
            assert_never(level.credit)


def simulated(
    counted: IntArray,
    window: IntArray,
    level: ServiceLevel,
    level_id: str,
    base: FloatArray,
    hourly_price: FloatArray,
    minute: int = 1,
) -> FloatArray:
    """Return the credits of many unit-periods before the cap of the unit, all of shape (periods,). [currency]

    Parameters
    ----------
    counted : counted downtime. [min, or s]
    window : time of each period. [min, or s]
    base : fee that a share is taken of. [currency]
    hourly_price : price of the unit for an hour. [currency/h]
    minute : how many of the unit of time make a minute. [1]

    Raises
    ------
    NotComputedError
        For a shape that cannot be read from the downtime of a period alone, see `refuse`.
    """
    refuse(level, level_id)
    match level.credit:
        case CreditBands() as credit:
            return bands.arrays(counted, window, credit) * base
        case LinearCredit() as credit:
            return linear.arrays(counted, window, credit, _target(level, level_id)) * base
        case StepCredit() as credit:
            return steps.arrays(counted, window, credit, _target(level, level_id)) * base
        case MultipleOfPrice() as credit:
            return multiple_of_price.arrays(counted, minute, hourly_price, credit)
        case DurationTable() as credit:
            return duration_table.arrays(counted, minute, credit) * hourly_price
        case OnsetPlusHourly() as credit:
            return onset_plus_hourly.arrays(counted, minute, credit) * base
        case _:
            raise AssertionError(f"{level.credit.shape} was not refused")


def refuse(level: ServiceLevel, level_id: str) -> None:
    """Refuse a shape that the downtime of a period alone does not decide.

    Raises
    ------
    NotComputedError
        For credits by single outages or clock hours, for days added to the term, and where the contract is silent.
    """
    path, credit = f"service_levels.{level_id}.credit", level.credit
    if isinstance(credit, (DurationTable, OnsetPlusHourly)) and credit.per == "outage":
        raise NotComputedError(
            f"{path}.per",
            f"a credit of shape {credit.shape!r} by single outages in the simulation",
            "set per to 'period' if that is what is agreed, or leave the level out",
        )
    if isinstance(credit, DurationTable) and any(row.credit_hours is None for row in credit.rows):
        raise NotComputedError(f"{path}.rows", "a row without hours in the simulation", "give the hours")
    if isinstance(credit, (PerBreach, HourWaiver, TermExtension, UnstatedCredit)):
        what = {
            "per_breach": "a credit for each outage",
            "hour_waiver": "a waiver of clock hours",
            "term_extension": "days added to the term",
            "unstated": "a credit that the contract does not state",
        }[credit.shape]
        raise NotComputedError(
            path,
            f"{what} (shape {credit.shape!r}) in the simulation",
            "use another shape there, or leave the level out",
        )


def refuse_blank(level: ServiceLevel, level_id: str, terms: Deal) -> None:
    """Refuse a credit that reads a term which the contract leaves blank.

    Raises
    ------
    NotComputedError
        When there is one.
    """
    for name, reason, _ in _blanks(level, level_id, terms):
        places = {"base": "credits.base", "unit_cap": "credits.caps.unit"}
        where = places.get(name, f"service_levels.{level_id}.credit.{name}")
        raise NotComputedError(where, f"a term that is not stated ({reason}) in the simulation", "state the term")
