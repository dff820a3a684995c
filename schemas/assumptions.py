"""What we assume about the world, and laws that a user prescribes instead of a model."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from schemas.base import Terms
from schemas.errors import TermsError
from schemas.sources import (
    SourcedAnnualRate,
    SourcedHours,
    SourcedLogDeviation,
    SourcedMonths,
    SourcedPerYear,
    SourcedPositive,
    SourcedRent,
    SourcedShare,
    SourcedSigned,
    SourcedYears,
)
from schemas.units import Amount, MonthNumber, Multiple, Number, Share


class DelayLaw(Terms):
    """Delay of each tranche: nothing with probability 1 - `share_late`, otherwise lognormal."""

    share_late: SourcedShare
    """Probability that a tranche is late at all. [1]"""
    median: SourcedMonths
    """Median delay of a late tranche. [month]"""
    sigma: SourcedLogDeviation
    """Standard deviation of the logarithm of a late tranche's delay. [1]"""
    shared_share: SourcedShare
    """Share of the variance of the normal score that all tranches have in common. [1]"""


class Regimes(Terms):
    """Two states of the rental market and how it moves between them."""

    start: Literal["tight", "loose"]
    tight_to_loose: SourcedShare
    """Probability a month. [1]"""
    loose_to_tight: SourcedShare
    """Probability a month. [1]"""
    tight_level: SourcedSigned
    """Long-run log deviation of rent in a tight market. [1]"""
    loose_level: SourcedSigned
    """Long-run log deviation of rent in a loose market. [1]"""


class NextGeneration(Terms):
    """Launch of the next generation and what it does to rent."""

    earliest: SourcedMonths
    """First month after close in which it may come; every month of the range is as likely. [month]"""
    latest: SourcedMonths
    """[month]"""
    log_drop: SourcedPositive
    """Fall of the logarithm of rent at the launch. [1]"""

    @model_validator(mode="after")
    def _months_in_order(self) -> Self:
        if self.latest.value < self.earliest.value:
            raise TermsError(
                f"latest.value {self.latest.value} before earliest {self.earliest.value}",
                "months in order",
                "swap them",
            )
        return self


class MarketLaw(Terms):
    """Spot rent of the deal's generation: loss by age, regimes, noise, the next generation."""

    spot_rent: SourcedRent
    """Rent today for one GPU-hour, of the channel and term the source says. [currency/GPU-hour]"""
    decay_per_year: SourcedAnnualRate
    """Loss of the logarithm of rent a year from age. [1/year]"""
    persistence: SourcedShare
    """Share of this month's deviation that is left next month; 1 is a random walk. [1]"""
    monthly_noise: SourcedLogDeviation
    """Standard deviation of the monthly shock to log rent. [1]"""
    regimes: Regimes | None = None
    next_generation: NextGeneration | None = None


class ValueLaw(Terms):
    """Value of one GPU: rent less cash cost for the rest of its life, with the right to switch off."""

    life: SourcedYears
    """Working life of a GPU. [year]"""
    discount_rate: SourcedAnnualRate
    """Continuous, a year. [1/year]"""
    cash_cost: SourcedRent
    """Cost of running one GPU for an hour, power included. [currency/GPU-hour]"""
    utilisation: SourcedShare
    """Share of hours rented. [1]"""
    haircut: SourcedShare
    """Share of spot rent lost when letting again. [1]"""
    age_at_close: SourcedYears
    """Age of the GPUs at financial close. [year]"""


class Exercise(Terms):
    """What the customer does with a right to leave."""

    long_stop: Literal["always", "rational", "rational_or_reprice", "never"] = "rational"
    chronic_failure: Literal["always", "rational", "rational_or_reprice", "never"] = "rational"
    convenience: Literal["rational", "never"] = "rational"
    switching_cost: SourcedShare | None = None
    """Cost of moving as a share of the contract rent; none when not given. [1]"""
    waiver: SourcedShare | None = None
    """Probability that a customer who would gain stays all the same; none when not given. [1]"""
    reprice_probability: SourcedShare | None = None
    """Probability that the rent is set anew instead, once. [1]"""
    reprice_floor: SourcedShare | None = None
    """The new rent is not below this share of the old one. [1]"""


class OutageLaw(Terms):
    """Outages of a whole cluster by an alternating renewal law, instead of the site's graph."""

    outages_per_year: SourcedPerYear
    """[1/year]"""
    median_hours: SourcedHours
    """Median length. [h]"""
    sigma: SourcedLogDeviation
    """Standard deviation of the logarithm of the length. [1]"""
    repeat_share: SourcedShare | None = None
    """Probability that an outage is followed by a repeat. [1]"""
    repeat_mean_hours: SourcedHours | None = None
    """Mean time to a repeat. [h]"""


class BadMonthLaw(Terms):
    """Every month is bad with the same probability, independently of the others."""

    probability: Share
    """[1]"""
    service: Literal["all"] = "all"


class CfadsLaw(Terms):
    """Cash flow available for debt service by the state of the contract."""

    while_contracted: Multiple
    """Multiple of the month's scheduled debt service. [1]"""
    after: Multiple
    """The same once no tranche is under contract. [1]"""


class DebtServiceLaw(Terms):
    """Debt service without a loan: cover is reported, default and loss are undefined."""

    from_month: MonthNumber
    to_month: MonthNumber
    amount: Amount
    """[currency/month]"""

    @model_validator(mode="after")
    def _months_in_order(self) -> Self:
        if self.to_month < self.from_month:
            raise TermsError(
                f"to_month {self.to_month} before from_month {self.from_month}",
                "months in order",
                "swap them",
            )
        return self


class GpuValueLaw(Terms):
    """Value of all GPUs: `amount` x exp(-`decay_per_month` m) at the end of month m."""

    amount: Amount
    """[currency]"""
    decay_per_month: Number
    """[1/month]"""


class ResidualToEquity(Terms):
    """Value that goes to equity at the end of one month."""

    month: MonthNumber
    amount: Amount
    """[currency]"""


class ProjectTail(Terms):
    """Months after the loan that the project life cover ratio counts."""

    months: MonthNumber
    rent_per_gpu_hour: Amount
    """[currency/GPU-hour]"""


class Prescribed(Terms):
    """Laws typed instead of modelled: each replaces the only writer of its array, and is printed."""

    bad_month: BadMonthLaw | None = None
    outages: OutageLaw | None = None
    cfads: CfadsLaw | None = None
    scheduled_debt_service: DebtServiceLaw | None = None
    gpu_value: GpuValueLaw | None = None
    residual_to_equity: ResidualToEquity | None = None
    project_tail: ProjectTail | None = None


class Assumptions(Terms):
    """Everything the simulation takes from the world rather than from the contract."""

    calendar: Literal["real", "equal_730"] = "real"
    """`real`: engine months are calendar months in the contract's zone from the month of close; `equal_730`: months
    of 730 hours."""
    delay: DelayLaw | None = None
    market: MarketLaw | None = None
    value: ValueLaw | None = None
    exercise: Exercise = Exercise()
    claimed_share: SourcedShare | None = None
    """Share of credits due that is claimed in time where credits must be claimed; all when not given. [1]"""
    prescribed: Prescribed = Prescribed()
