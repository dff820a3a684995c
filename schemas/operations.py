"""Who runs it and at what cost: units by name, repair, support, staff, insurance of the property."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from schemas.base import Terms
from schemas.service_levels import Level
from schemas.units import Amount, AnnualRate, Day, Days, Flag, Hours, Identifier, Minutes, Name, Share, Text


class ContractedUnits(Terms):
    """Units of the order and the names by which logs know them."""

    names: Text
    """Ids of the units, a list such as `gpu[001-064], login-1`."""
    level: Level = "node"
    service: Identifier | None = None
    """Service that they belong to; may be left out when the deal has one service."""
    parent: Name | None = None
    """Unit that contains them."""
    log_names: tuple[Name, ...] = ()
    """Further names in logs: `{}` stands for the id, `*` for anything else, such as `{}.cluster.example`; the id itself
    always counts, in any case of letters."""
    monthly_fee: Amount | None = None
    """Fee of one unit for a full month; an equal share of the fee of the service when absent. [currency]"""
    spare: Flag = False
    """Whether they stand ready beside the contracted units."""
    in_service_from: Day | None = None
    """The Ready-for-Service Date of the service when absent."""
    in_service_to: Day | None = None
    """First day on which they are out of service."""


class Replacement(Terms):
    """How fast a failed unit is back, and what being late costs."""

    clock_from: Literal["detection", "notice", "identification", "confirmation"] = "detection"
    """`detection`: the earlier of detection and the customer's notice; `identification`, `confirmation`: the ticket."""
    target_hours: dict[Level, Hours] = Field(min_length=1)
    """Time to re-admission by level; exactly that long is in time. [h]"""
    late_credit: Share = Decimal("0.10")
    """Share of the unit's monthly fee for each started `late_hours` beyond the target. [1]"""
    late_hours: Annotated[Hours, Field(gt=0)] = Decimal(12)
    """[h]"""
    cap: Share = Decimal("0.50")
    """Greatest share of the unit's monthly fee for one replacement. [1]"""
    holds_stop: Flag = True
    """Whether time in which the customer withholds the unit stops the clock."""


class Severity(Terms):
    """How fast one grade of ticket is answered."""

    response_minutes: Minutes
    """Ticket opened to first response by an engineer. [min]"""
    update_minutes: Minutes | None = None
    """Longest time between updates. [min]"""


class Support(Terms):
    """Response to tickets, by grade."""

    severities: dict[Identifier, Severity] = Field(min_length=1, max_length=10)
    credit_per_miss: Share = Decimal("0.005")
    """Share of the monthly fee of the service for each late first response. [1]"""
    cap: Share = Decimal("0.02")
    """Greatest share in one period. [1]"""


class RootCauseReport(Terms):
    """Reports on what went wrong."""

    preliminary_days: Days = 3
    """[day]"""
    final_days: Days = 10
    """[day]"""
    minutes: Minutes = 60
    """Outages longer than this are reported on. [min]"""


class Operations(Terms):
    """Costs of running that are known for each unit, paid from each Ready-for-Service Date, delivered or not."""

    staff_per_gpu_month: Amount = Decimal(0)
    """[currency/GPU-month]"""
    property_insurance_rate: AnnualRate = Decimal(0)
    """Yearly premium of property insurance as a share of capital expenditure. [1/year]"""
    cost_growth: AnnualRate = Decimal(0)
    """Yearly growth of staff cost, site rent and other fixed cost, from close, in steps of a year. [1/year]"""
    damages_recovered: Share = Decimal(0)
    """Share of delay damages that suppliers pay back in the month they accrue. [1]"""
    units: tuple[ContractedUnits, ...] = Field(default=(), max_length=2000)
    """Units by name; spares included."""
    replacement: Replacement | None = None
    """Absent: no time to repair or replace is promised."""
    support: Support | None = None
    """Absent: no time of response is promised."""
    reports: RootCauseReport | None = None
    """Absent: no reports are promised."""
