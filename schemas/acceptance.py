"""Tests before billing, and what silence means."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from schemas.base import Terms
from schemas.units import BusinessDays, Count, Days, Hours, Share


class BurnIn(Terms):
    """Hours under load before acceptance."""

    hours: Hours = Decimal(48)
    """[h]"""
    diagnostic_level: Literal[2, 3, 4] = 4
    """Level of the vendor's diagnostic that must pass."""
    max_replaced_fraction: Share = Decimal("0.10")
    """Share of units that may be replaced before the whole rack starts again. [1]"""


class Acceptance(Terms):
    """The path from ready to accepted."""

    runner: Literal["provider", "customer", "joint", "third_party"] = "joint"
    unit: Literal["node", "rack", "cluster", "tranche"] = "cluster"
    burn_in: BurnIn = BurnIn()
    answer_business_days: BusinessDays = 5
    """[business day]"""
    retests: Count = 2
    """[1]"""
    retest_days: Days = 10
    """[day]"""
    deemed: Literal["never", "after_reminder", "on_silence", "on_use"] = "after_reminder"
    silence_business_days: BusinessDays = 5
    """[business day]"""
    reminder_business_days: BusinessDays = 3
    """[business day]"""
    exceptions_max_fraction: Share = Decimal("0.02")
    """Share of units that may be accepted with exceptions. [1]"""
    billing_starts: Literal["delivery", "readiness_notice", "acceptance"] = "acceptance"
