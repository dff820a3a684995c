"""What we assume about the world, and laws that a user prescribes instead of a model."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from schemas.base import Terms
from schemas.errors import TermsError
from schemas.sources import (
    SourcedAnnualRate,
    SourcedCorrelation,
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
from schemas.units import Amount, Flag, MonthNumber, Multiple, Number, Share, Text


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
    mean_preserving: Flag | None = None
    """Whether the noise leaves the mean rent where it is, half its variance being taken off each month; when not given,
    only for a random walk. Without it the typed rent is the start of a median path."""
    regimes: Regimes | None = None
    next_generation: NextGeneration | None = None


class ValueLaw(Terms):
    """Value of one GPU: rent less cash cost for the rest of its life, with the right to switch off."""

    life: SourcedYears
    """Working life of a GPU. [year]"""
    discount_rate: SourcedAnnualRate
    """Continuous, a year. [1/year]"""
    cash_cost: SourcedRent | None = None
    """Cost of running one GPU for an hour, power included; from `power` and `operations` when not given.
    [currency/GPU-hour]"""
    utilisation: SourcedShare
    """Share of hours rented. [1]"""
    haircut: SourcedShare
    """Share of spot rent lost when letting again. [1]"""
    age_at_close: SourcedYears
    """Age of the GPUs when it starts to be counted. [year]"""
    ages_from: Literal["close", "ready_for_service"] = "close"
    """Age is counted from close, or from each tranche's Ready-for-Service Date."""


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
    provider: Literal["never", "rational"] = "never"
    """Whether the provider gives a notice that either side may give: never, or when letting again would earn more than
    the contract and the cost of moving."""


class CustomerCredit(Terms):
    """How the customer may fail to pay."""

    default_rate: SourcedPerYear
    """Hazard of default while rent is at its expected level. [1/year]"""
    market_link: SourcedSigned | None = None
    """The hazard is multiplied by exp(-link x log deviation of rent): a cheap market is a weak customer; none when not
    given. [1]"""
    assumed_share: SourcedShare | None = None
    """Probability that the estate keeps the contract and pays again from the next month; none when not given. [1]"""


class CoverProviderCredit(Terms):
    """How the provider of the backstop may fail."""

    default_rate: SourcedPerYear
    """Constant hazard of default. [1/year]"""


class Counterparties(Terms):
    """Who may fail, and together."""

    customer: CustomerCredit | None = None
    cover_provider: CoverProviderCredit | None = None
    """The provider of the backstop never fails when not given."""
    correlation: SourcedCorrelation | None = None
    """Of the normal scores of the times of default of customer and provider; none when not given. [1]"""

    @model_validator(mode="after")
    def _correlation_of_two(self) -> Self:
        if self.correlation is not None and (self.customer is None or self.cover_provider is None):
            raise TermsError(
                "a correlation without two counterparties",
                "customer and cover_provider",
                "add the other, or remove correlation",
            )
        return self


class Reletting(Terms):
    """How capacity under no contract is let again."""

    empty: SourcedMonths
    """Months from the end of the contract, or from readiness if that is later, in which nothing is let. [month]"""
    haircut: SourcedShare
    """Share of market rent lost. [1]"""
    first_utilisation: SourcedShare
    """Share of hours let in the first month. [1]"""
    utilisation_step: SourcedShare
    """Added in each month after it. [1]"""
    highest_utilisation: SourcedShare
    """[1]"""
    rent_fixed_months: MonthNumber | None = None
    """Months for which the rent of a new letting holds; it floats with the market when not given. [month]"""

    @model_validator(mode="after")
    def _utilisation_rises(self) -> Self:
        first, highest = self.first_utilisation.value, self.highest_utilisation.value
        if highest < first:
            raise TermsError(
                f"highest_utilisation.value {highest} below first_utilisation {first}",
                "first_utilisation <= highest_utilisation",
                "correct one of them",
            )
        return self


class OutageLaw(Terms):
    """Outages of a whole cluster by an alternating renewal law, instead of the site's graph."""

    outages_per_year: SourcedPerYear | None = None
    """[1/year]"""
    mean_up_hours: SourcedHours | None = None
    """Mean time up before an outage that is no repeat, instead of `outages_per_year`. [h]"""
    median_hours: SourcedHours
    """Median length. [h]"""
    sigma: SourcedLogDeviation
    """Standard deviation of the logarithm of the length. [1]"""
    repeat_share: SourcedShare | None = None
    """Probability that an outage is followed by a repeat. [1]"""
    repeat_mean_hours: SourcedHours | None = None
    """Mean time to a repeat. [h]"""

    @model_validator(mode="after")
    def _one_rate(self) -> Self:
        if (self.outages_per_year is None) == (self.mean_up_hours is None):
            raise TermsError(
                "both or neither of outages_per_year and mean_up_hours", "one of them", "say how often in one way"
            )
        return self


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


class LgdLaw(Terms):
    """Loss before any cover as a share of exposure."""

    loss_share: Share
    """[1]"""


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
    lgd: LgdLaw | None = None
    residual_to_equity: ResidualToEquity | None = None
    project_tail: ProjectTail | None = None


GradeCap = Literal[
    "no_firm_term", "uncovered_tail", "single_site", "recovery_without_sales", "judgement_band", "cover_provider"
]
"""Rules that hold the credit step down; `docs/method.md` says what each does."""


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
    counterparties: Counterparties = Counterparties()
    reletting: Reletting | None = None
    """Capacity under no contract earns nothing when not given."""
    usage: SourcedShare | None = None
    """Share of reserved capacity that the customer uses, where the contract pays for less than all of it. [1]"""
    grade_caps_off: dict[GradeCap, Text] = {}
    """Cap on the credit step that is switched off, and why."""
    prescribed: Prescribed = Prescribed()
