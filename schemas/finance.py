"""Whose money it is: uses, loan, reserve, tax, covenants and recovery. Never part of the customer's contract."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, model_validator

from schemas.base import Terms
from schemas.errors import TermsError
from schemas.money import Currency
from schemas.periods import DatePoint
from schemas.sources import SourcedMonths, SourcedShare
from schemas.units import (
    Amount,
    AmountAboveZero,
    AnnualRate,
    Day,
    Identifier,
    MonthNumber,
    Multiple,
    Share,
    WholeMonths,
)

LATER_PROFILES = ("straight", "sculpted", "bullet", "balloon")


def _known_profile(value: Any) -> Any:
    if value in LATER_PROFILES:
        raise TermsError(
            f"profile {value!r}",
            "'annuity'",
            f"the profile {value!r} is not computed by this version, so it is refused",
        )
    return value


class Loan(Terms):
    """Senior debt, fully drawn at close."""

    amount: AmountAboveZero
    """[currency]"""
    annual_rate: AnnualRate
    """Nominal, a twelfth of it a month on the opening balance. [1/year]"""
    first_payment_month: MonthNumber
    """Months after close of the first payment; interest before it is paid from uses. [month]"""
    payments: MonthNumber
    """Number of monthly payments. [1]"""
    profile: Annotated[Literal["annuity"], BeforeValidator(_known_profile)] = "annuity"


class Reserve(Terms):
    """Debt service reserve account, funded at close."""

    months: WholeMonths
    """Payments held in reserve. [month]"""


class LockUp(Terms):
    """Distributions stop while cover is below a level."""

    dscr: Multiple
    """[1]"""
    look_back_months: MonthNumber
    """[month]"""


class Covenants(Terms):
    """Levels reported, not simulated as defaults."""

    minimum_dscr: Multiple | None = None
    """[1]"""


class Cost(Terms):
    """A monthly cost of the project from a date on, delivered or not."""

    amount: Amount
    """[currency/month]"""
    starts: DatePoint


class CostPerGpuHour(Terms):
    """A cost for each hour of each GPU that is ready for service."""

    amount: Amount
    """[currency/GPU-hour]"""


class OperatingCosts(Terms):
    """What it costs to run."""

    fixed: Cost | None = None
    power: CostPerGpuHour | None = None
    other: CostPerGpuHour | None = None
    """Site rent, staff and insurance, where they are known per GPU-hour."""


class Tax(Terms):
    """Income tax on cash-basis profit; losses are carried forward without limit and never paid out."""

    rate: Share
    """[1]"""
    depreciation_months: MonthNumber
    """Straight line on capital expenditure, from the first payment month. [month]"""


class Recovery(Terms):
    """What the lender gets back after a default."""

    sale_stress: SourcedShare
    """Share of modelled GPU value realised in a sale. [1]"""
    sale_cost_share: SourcedShare | None = None
    """Share of the proceeds spent on selling; none when not given. [1]"""
    lag_months: SourcedMonths
    """Default to proceeds. [month]"""
    novation_share: SourcedShare | None = None
    """Share of the contract's remaining margin that a substitute operator would pay for; not an option when not
    given. [1]"""
    undelivered_share: SourcedShare | None = None
    """Share of GPU value realised for units not yet ready for service; all of it when not given. [1]"""


class CoverTest(Terms):
    """A cover ratio reported for one date."""

    kind: Literal["dscr_look_back"] = "dscr_look_back"
    months: MonthNumber
    """Months that are added up. [month]"""
    at_month: MonthNumber
    """Last of them, counted from close. [month]"""


class Finance(Terms):
    """The money behind the deal."""

    close: Day
    """Financial close."""
    currency: Currency
    horizon_months: MonthNumber | None = None
    """Months simulated; to the loan's maturity when not given. [month]"""
    capital_expenditure: Amount = Decimal(0)
    """[currency]"""
    other_uses: Amount = Decimal(0)
    """Fees and other costs paid at close. [currency]"""
    loan: Loan | None = None
    reserve: Reserve | None = None
    lock_up: LockUp | None = None
    covenants: Covenants = Covenants()
    operating_costs: OperatingCosts = OperatingCosts()
    tax: Tax | None = None
    recovery: Recovery | None = None
    tests: dict[Identifier, CoverTest] = {}

    @model_validator(mode="after")
    def _depends_on_a_loan(self) -> Self:
        if self.loan is None and self.reserve is not None and self.reserve.months:
            raise TermsError("a reserve without a loan", "a loan", "add finance.loan or remove finance.reserve")
        return self
