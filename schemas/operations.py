"""Who runs it and at what cost: staff, insurance of the property, what suppliers pay back."""

from __future__ import annotations

from decimal import Decimal

from schemas.base import Terms
from schemas.units import Amount, AnnualRate, Share


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
