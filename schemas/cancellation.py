"""When bad service, or notice, becomes a right to leave."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from schemas.base import Terms
from schemas.errors import TermsError
from schemas.periods import DatePoint, Duration
from schemas.units import Amount, Days, Flag, Hours, Identifier, MonthNumber, Positive, Share


class BadMonths(Terms):
    """`k` months of any `m` with availability below a threshold."""

    form: Literal["bad_months"] = "bad_months"
    service_level: Identifier
    below: Share
    """A month is bad when measured availability is strictly below this. [1]"""
    k: MonthNumber
    m: MonthNumber

    @model_validator(mode="after")
    def _k_within_m(self) -> Self:
        if self.k > self.m:
            raise TermsError(f"k {self.k} of {self.m} months", "k <= m", "lower k or raise m")
        return self


class SingleOutage(Terms):
    """One outage longer than a number of hours."""

    form: Literal["single_outage"] = "single_outage"
    service_level: Identifier
    hours: Hours
    """The right arises when one outage's counted time is more than this. [h]"""


class CumulativeHours(Terms):
    """Counted downtime of one unit in a rolling window."""

    form: Literal["cumulative_hours"]
    service_level: Identifier
    hours: Hours
    """The right arises when counted time in the window is more than this. [h]"""
    window_days: Annotated[Days, Field(ge=1, le=731)]
    """[day]"""


class SameCause(Terms):
    """Several counted outages of one unit with the same cause on record."""

    form: Literal["same_cause"]
    service_level: Identifier
    count: Positive
    """The right arises when the last of this many outages starts. [1]"""
    window_days: Annotated[Days, Field(ge=1, le=731)]
    """[day]"""


class CapReached(Terms):
    """Credits of a service that reach a cap."""

    form: Literal["cap_reached"]
    cap: Literal["month", "year"] = "year"


class ReplacementMissed(Terms):
    """Late replacements of one service."""

    form: Literal["replacement_missed"]
    count: Positive
    """[1]"""
    window_days: Annotated[Days, Field(ge=1, le=731)]
    """[day]"""


Limb = Annotated[
    BadMonths | SingleOutage | CumulativeHours | SameCause | CapReached | ReplacementMissed,
    Field(discriminator="form"),
]


class ChronicFailure(Terms):
    """The measurable trigger of termination for bad service."""

    limbs: tuple[Limb, ...] = Field(min_length=1, max_length=10)
    scope: Literal["tranche", "order"] = "order"
    exercise: Duration = Duration(days=60)
    """How long the right stays open once it arises; unused it lapses and may arise anew."""
    cure_days: Days = 0
    """[day]"""


class Convenience(Terms):
    """Ending without cause, on notice."""

    party: Literal["either", "customer"] = "either"
    first_exercise: DatePoint
    """First day on which notice may be given."""
    notice: Duration
    fee: Amount | None = None
    """Sum payable on leaving, in the deal's currency. [currency]"""


class Cancellation(Terms):
    """Every way the contract can end early, except insolvency."""

    chronic_failure: ChronicFailure | None = None
    convenience: Convenience | None = None
    """Absent: no one may end the contract without cause."""
    cure_days: Days = 30
    """Days to cure another material breach. [day]"""
    refund_days: Days = 30
    """Days in which prepayment and unused credits are paid back. [day]"""
    ramp_down_days: Days = 90
    """Days of service at the contract price after notice, if the customer wants them. [day]"""
    sole_remedy: Flag = True
    """Whether credits are the only money remedy for a missed level."""
    sole_remedy_carve_outs: tuple[
        Literal[
            "chronic_failure",
            "refund",
            "delay_damages",
            "wilful_breach",
            "data",
            "confidentiality",
            "indemnities",
            "fraud",
            "law",
        ],
        ...,
    ] = (
        "chronic_failure",
        "refund",
        "delay_damages",
        "wilful_breach",
        "data",
        "confidentiality",
        "indemnities",
        "fraud",
        "law",
    )
