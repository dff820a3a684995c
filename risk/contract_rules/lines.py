"""What a statement says: lines, the settlement of each service, rights, totals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from risk.contract_rules.intervals import Minutes, Span, plain
from risk.core.computed import Step
from schemas.money import Money
from schemas.periods import Period

Loss = Literal[
    "other_level",
    "parent_level",
    "other_head",
    "below_minimum",
    "late_claim",
    "month_cap",
    "year_cap",
    "term_cap",
    "carried_forward",
]
"""Why a credit is not owed."""
Head = Literal["availability", "replacement", "response"]
"""What a credit is for."""


@dataclass(frozen=True, slots=True)
class Line:
    """One unit of one service level in one period."""

    period: Period
    service_level: str
    service: str
    unit: str
    window_minutes: Minutes
    """Minutes of the period. [min]"""
    down_minutes: Minutes
    """Downtime, excluded, disregarded and degraded minutes included. [min]"""
    excluded_minutes: Minutes
    """[min]"""
    disregarded_minutes: Minutes
    """Outages too short to count, and parts of minutes. [min]"""
    counted_minutes: Minutes
    """Downtime that counts, degraded minutes at their weight. [min]"""
    unknown_minutes: Minutes
    """Minutes without a reading; they are not downtime. [min]"""
    availability: Fraction | None
    """Exact; None when the unit was in service for no minute. [1]"""
    target_met: bool | None
    """None where the level promises no availability."""
    credit_fraction: Decimal | Fraction | None
    """None where the shape of the credit is no share of a base. [1]"""
    base: Fraction
    """Fee that the share is taken of, not rounded. [currency]"""
    credit: Money
    """Share of the base, at most the cap of the unit, rounded."""
    payable: Money
    """What is owed of it after the choice between levels and heads, claims and the caps of month, year and term."""
    lost: Mapping[Loss, Money] = field(default_factory=dict)
    """The rest of the credit, by reason."""
    head: Head = "availability"
    degraded_minutes: Minutes = 0
    """Minutes in which the unit answered and was too slow, before they are weighted. [min]"""
    weighted_minutes: Minutes = 0
    """What those minutes count, a part of the counted minutes. [min]"""
    disputed_minutes: Minutes = 0
    """Minutes on which two monitors differ and no one has decided; they do not count yet. [min]"""
    days_added: int = 0
    """Days added to the term instead of money. [day]"""
    not_computed: str | None = None
    """Why the credit is not computed although the facts are known; `credit` is then zero and means nothing."""
    claim_by: datetime | None = None
    """A claim from this moment on is late; None where none is needed, or the time has not begun to run or is open."""
    claim_by_readings: tuple[datetime, ...] = ()
    """Where the contract leaves blank from what the time for a claim runs: the same by each reading, earliest first."""
    span: Span | None = None
    """Time that the line covers: its period, and a first part of the one before where both are measured together; None
    for heads other than availability."""
    steps: tuple[Step, ...] = ()

    @property
    def up_minutes(self) -> Minutes:
        """Return the minutes of the period in which the unit was known to be up. [min]

        Notes
        -----
        `window = up + down + unknown + disputed` and `down = excluded + disregarded + (counted - weighted) + degraded`.
        Less than nothing only where the contract moves minutes: a fixed length of month, outages counted as a whole in
        one period, or each rounded up.
        """
        return plain(self.window_minutes - self.down_minutes - self.unknown_minutes - self.disputed_minutes)


def reduced_to(line: Line, owed: Money, reason: Loss, steps: tuple[Step, ...]) -> Line:
    """Return a line of which only `owed` is left."""
    lost = line.payable - owed
    losses = {**line.lost, reason: line.lost[reason] + lost if reason in line.lost else lost}
    return replace(line, payable=owed, lost=losses if lost.amount else line.lost, steps=(*line.steps, *steps))


@dataclass(frozen=True, slots=True)
class Limit:
    """How far a cap is used up by a period."""

    cap: Money
    before: Money
    """Credits that it had gone to before the period."""
    after: Money
    """Those, and what is owed in the period."""


@dataclass(frozen=True, slots=True)
class Settlement:
    """Credits of one service in one period, from line credits to what is owed."""

    period: Period
    service: str
    fee: Fraction
    """Fee of the service accrued in the period, not rounded. [currency]"""
    planned_year_fee: Fraction
    """Fee planned for the contract year, as if every unit were in service throughout. [currency]"""
    contract_year: int
    """Contract year of the period, from 1. [1]"""
    given_before: Money
    """Credits owed in earlier periods of the contract year."""
    credit: Money
    """Sum of the line credits."""
    payable: Money
    """What is owed: of the lines, and of the credits brought forward."""
    lost: Mapping[Loss, Money]
    """What is not owed of the lines, by reason."""
    steps: tuple[Step, ...]
    brought_forward: Money
    """What is owed now of the credits of earlier periods that exceeded the caps of these."""
    carried_forward: Money
    """Credits of this and earlier periods that exceeded a cap and can still be owed later."""
    limits: Mapping[Literal["month", "year", "term"], Limit] = field(default_factory=dict)
    """How far each cap is used up."""
    stated_on: date | None = None
    """Day on which the statement of the period was received, None where none is on record."""
    object_by: datetime | None = None
    """An objection to a reading from this moment on is late; None while no statement is received."""
    object_by_if_stated_when_due: datetime | None = None
    """The same, if the statement is received on the last day on which it is due; None once one is received."""


@dataclass(frozen=True, slots=True)
class Right:
    """A right to leave that arose."""

    kind: Literal["chronic_failure", "prolonged_force_majeure"]
    form: Literal[
        "bad_months",
        "single_outage",
        "cumulative_hours",
        "same_cause",
        "cap_reached",
        "replacement_missed",
        "consecutive_days",
        "days_in_180",
    ]
    term: str
    """Path of the limb or term met."""
    service_level: str | None
    unit: str
    """The unit, or the service where the right looks at a whole service."""
    period: Period
    """Period in which, or at the end of which, the right arose."""
    periods: tuple[Period, ...]
    """Periods relied on, for bad months."""
    arises: datetime
    exercise_from: datetime
    """After the time for a cure; the right falls away if the failure is cured before, which no record says."""
    exercise_by: datetime | None
    """The right has lapsed at this moment; None while the outage behind it goes on."""
    scope: Literal["tranche", "order", "unit"]
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """Credits and rights of the periods asked for."""

    currency: str
    lines: tuple[Line, ...]
    """By period, then in the order of the service levels and of the units on record."""
    settlements: tuple[Settlement, ...]
    rights: tuple[Right, ...]
    total: Money
    """Credits owed for all periods."""
    lost: Mapping[Loss, Money]
    """Credits of the lines that are not owed, by reason."""
    checks: tuple[Step, ...]
    """Checks that move no money."""
    notes: tuple[str, ...]
    """What was read and left out, and what a reader must know."""
