"""What the shapes of credits read of one unit in one period, and what they answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from risk.contract_rules.intervals import Minutes, Span, Spans


@dataclass(frozen=True, slots=True)
class CountedOutage:
    """The counted downtime of one outage, exclusions taken out."""

    minutes: Minutes
    """In the period. [min]"""
    spans: Spans
    """The same downtime as time."""
    earlier_minutes: Minutes = 0
    """In the periods before. [min]"""
    later_minutes: Minutes = 0
    """In the periods after. [min]"""
    starts: bool = True
    """Whether its first counted downtime lies in the period."""


@dataclass(frozen=True, slots=True)
class ShapeFacts:
    """One unit in one period, as measured."""

    availability: Fraction | None
    """None when the unit was in service for no minute. [1]"""
    counted: Minutes
    """Counted downtime of the period. [min]"""
    window: Minutes
    """Minutes of the period. [min]"""
    find_outages: Callable[[], tuple[CountedOutage, ...]]
    """Returns the outages with counted downtime in the period; called by the shapes that look at single outages."""
    base: Fraction
    """Fee that a share is taken of, not rounded. [currency]"""
    hourly_price: Fraction
    """Price of the unit for an hour, not rounded. [currency/h]"""
    zone: str
    """Zone of the contract."""
    span: Span
    """The period."""
    most: Fraction | None = None
    """Cap of the unit: what exceeds it changes nothing. [currency]"""
    bases: Mapping[str, Fraction] = field(default_factory=dict)
    """Where the contract leaves the base blank: what each reading of it makes the base. [currency]"""


@dataclass(frozen=True, slots=True)
class ShapeCredit:
    """What one unit earns in one period, before the cap of the unit."""

    credit: Fraction = Fraction(0)
    """Not rounded; where `not_computed` says why there is no figure, no less than this is due. [currency]"""
    credit_fraction: Decimal | Fraction | None = None
    """Share of the base; None where the shape is no share of a base. [1]"""
    days_added: int = 0
    """Days added to the term. [day]"""
    not_computed: str | None = None
    """Why the contract gives no figure."""


def share_of(base: Fraction, fraction: Decimal | Fraction) -> ShapeCredit:
    """Return the credit that is a share of the base."""
    return ShapeCredit(Fraction(fraction) * base, fraction)
