"""Dates per tranche, the price of late, and when late means over."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal, Self

from pydantic import Field, model_validator

from schemas.base import Terms
from schemas.errors import TermsError, TermsErrors
from schemas.periods import DatePoint, Duration
from schemas.units import BusinessDays, Identifier, Multiple, Name, Share

ExtensionHead = Literal[
    "force_majeure",
    "customer_delay",
    "agreed_change",
    "supplier_delay",
    "permit",
    "utility_interconnection",
    "weather",
]
"""Cause that may move a date."""


class DelayStep(Terms):
    """Damages up to a length of delay."""

    until: Duration | None = None
    """Length of chargeable delay up to which this step applies; the last step may leave it out."""
    fee_fraction: Multiple
    """Multiple of the tranche's fee for the time late: a monthly fee per month, a daily fee per day. [1]"""


class DelayDamages(Terms):
    """The price of late: grace, rate in steps, cap."""

    grace: Duration
    grace_kind: Literal["deductible", "franchise"] = "deductible"
    """`deductible`: grace is never charged; `franchise`: it falls away once passed."""
    steps: tuple[DelayStep, ...] = Field(min_length=1, max_length=10)
    cap: Duration
    """Greatest length of delay that is charged, or whose fee is the most that is owed."""
    cap_of: Literal["time", "fees"] = "time"
    """`time`: no longer delay than `cap` is charged; `fees`: the sum is at most the fee of a delay of `cap`."""
    accrual: Literal["pro_rata"] = "pro_rata"
    form: Literal["cash", "fee_credit"] = "fee_credit"
    """Paid in the month it accrues, or set off against the first fees."""

    @model_validator(mode="after")
    def _steps_rise(self) -> Self:
        wrong, before = [], None
        for i, step in enumerate(self.steps):
            if step.until is None and i < len(self.steps) - 1:
                wrong.append(TermsError(f"steps[{i}] without `until`", "`until` on every step but the last", "add it"))
            if step.until is not None and before is not None and not step.until.may_exceed(before):
                wrong.append(
                    TermsError(
                        f"steps[{i}].until {step.until}, after {before}",
                        "a length of delay longer than that of the step before",
                        "list the steps from the shortest delay to the longest",
                    )
                )
            before = step.until or before
        if wrong:
            raise TermsErrors(wrong)
        return self


class LongStop(Terms):
    """A date after which the customer may leave."""

    after: Duration
    """Counted from the tranche's Ready-for-Service Date."""
    scope: Literal["tranche", "order", "order_if_first"] = "order_if_first"
    """What may be left; `order_if_first`: the first tranche reaches the whole order."""
    exercise: Duration = Duration(days=30)
    """How long the right stays open; `{months: 0}` is at the instant it arises, or never."""

    @model_validator(mode="after")
    def _leaves_time_to_be_late(self) -> Self:
        if not (self.after.months or self.after.days):
            raise TermsError(
                "after of no length", "a length of time after the date", "write one such as {months: 6}, or delete it"
            )
        return self


class Tranche(Terms):
    """Part of the order with its own date."""

    name: Name | None = None
    cluster: Identifier | None = None
    ready_for_service_date: DatePoint
    share_of_service: Share = Decimal(1)
    """Share of the service's fee that this tranche carries. [1]"""
    delay_damages: DelayDamages | None = None
    long_stop: LongStop | None = None

    @model_validator(mode="after")
    def _grace_ends_before_the_long_stop(self) -> Self:
        if self.delay_damages is None or self.long_stop is None:
            return self
        grace, stop = self.delay_damages.grace, self.long_stop.after
        if stop.days_at_most < grace.days_at_least:
            raise TermsError(
                f"long_stop.after {stop}, within the grace of {grace}",
                "a long stop after the grace",
                "lengthen long_stop.after or shorten delay_damages.grace",
            )
        return self


class Delivery(Terms):
    """Milestones and the only ways they move."""

    tranches: dict[Identifier, Tranche] = Field(min_length=1, max_length=64)
    extension_heads: tuple[ExtensionHead, ...] = ("force_majeure", "customer_delay", "agreed_change")
    """`weather`: weather that comes less than once in ten years."""
    notice_business_days: BusinessDays = 5
    """Days in which an extension must be asked for. [business day]"""
