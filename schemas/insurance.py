"""Insurance that pays by index rather than by loss."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from schemas.base import Terms
from schemas.periods import DatePoint
from schemas.units import Amount, AmountAboveZero, Hours, Identifier


class ParametricLayer(Terms):
    """A sum for each hour of an outage of the whole cluster, beyond a wait. Paid to the borrower."""

    kind: Literal["parametric_outage"] = "parametric_outage"
    insurer: Identifier | None = None
    """Party of `parties` that pays."""
    trigger: Literal["deductible", "qualifying", "completed_hours"] = "deductible"
    """`deductible`: hours beyond the wait; `qualifying`: all hours once the wait is passed; `completed_hours`: whole
    hours beyond the wait."""
    rate_per_hour: AmountAboveZero
    """[currency/h]"""
    wait_hours: Hours
    """[h]"""
    event_cap_hours: Hours | None = None
    """Greatest number of hours paid for one outage; no limit when not given. [h]"""
    year_cap: Amount | None = None
    """Greatest sum paid in twelve months counted from close; no limit when not given. [currency]"""
    premium_per_month: Amount
    """[currency/month]"""
    premium_from: DatePoint | None = None
    """Month from which premium is paid; that of the first debt payment when not given."""


class Insurance(Terms):
    """Cover bought on the operation of the clusters."""

    layers: dict[Identifier, ParametricLayer] = Field(min_length=1, max_length=20)
