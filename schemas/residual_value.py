"""Bases on which the GPUs are valued against the debt."""

from __future__ import annotations

from schemas.base import Terms
from schemas.sources import SourcedShare
from schemas.units import MonthNumber


class ResidualValue(Terms):
    """Book and floor value beside the market value that `assumptions.value` gives."""

    book_life_months: MonthNumber
    """Straight-line life of capital expenditure in the books, from each Ready-for-Service Date. [month]"""
    floor_rent_share: SourcedShare
    """Share of market rent at which the floor value is taken. [1]"""
