"""Whose money it is: uses, loan, reserve, tax, covenants and recovery. Never part of the customer's contract."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Literal, Self

from pydantic import Field, model_validator

from schemas.base import Terms
from schemas.errors import TermsError, TermsErrors
from schemas.money import Currency
from schemas.periods import DatePoint
from schemas.sources import SourcedMoney, SourcedMonths, SourcedShare
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


class Drawing(Terms):
    """Part of the loan drawn after close."""

    month: MonthNumber
    """Month at whose end it is drawn, before the first payment. [month]"""
    amount: AmountAboveZero
    """[currency]"""


class Loan(Terms):
    """Senior debt."""

    amount: AmountAboveZero
    """Commitment. With the profile `sculpted` it is the greatest amount; what the cash flow carries may be less.
    [currency]"""
    annual_rate: AnnualRate
    """Nominal, a twelfth of it a month on the opening balance. [1/year]"""
    first_payment_month: MonthNumber
    """Months after close of the first payment; interest before it is paid from uses. [month]"""
    payments: MonthNumber
    """Number of monthly payments. [1]"""
    profile: Literal["annuity", "straight", "sculpted", "bullet", "balloon"] = "annuity"
    """`annuity`: level payments; `straight`: level principal; `sculpted`: base-case cash over `target_dscr`; `bullet`:
    all principal with the last payment; `balloon`: level payments that leave `balloon` for the last."""
    target_dscr: Multiple | None = None
    """With `sculpted`, the cover that each payment leaves in the base case. [1]"""
    balloon: AmountAboveZero | None = None
    """With `balloon`, principal due with the last payment beside it. [currency]"""
    refinancing_ltv: Multiple | None = None
    """With `bullet` or `balloon`: principal due with the last payment is refinanced if it is at most this multiple of
    the market value of the GPUs, and not paid otherwise; paid from cash when not given. [1]"""
    sweep: Share = Decimal(0)
    """Share of each month's surplus, after the reserve, that repays principal early. [1]"""
    sweep_effect: Literal["shortens", "re_levels"] = "shortens"
    """Early repayment takes the last payments away, or lowers all that are left."""
    drawings: tuple[Drawing, ...] = Field(default=(), max_length=120)
    """Parts drawn after close; what is left of the amount is drawn at close."""
    commitment_fee: AnnualRate = Decimal(0)
    """On what is not yet drawn, paid from uses. [1/year]"""
    grace_months: WholeMonths = 0
    """Months for which debt service may stay unpaid before it is a default. [month]"""

    @model_validator(mode="after")
    def _profile_has_what_it_needs(self) -> Self:
        wrong = []
        for name, profile in (("target_dscr", "sculpted"), ("balloon", "balloon")):
            given = getattr(self, name) is not None
            if self.profile == profile and not given:
                wrong.append(TermsError(f"profile {profile!r} without {name}", name, f"add {name}"))
            if self.profile != profile and given:
                wrong.append(
                    TermsError(
                        f"{name} with profile {self.profile!r}",
                        f"{name} with the profile {profile!r} alone",
                        f"remove {name} or change the profile",
                    )
                )
        if self.target_dscr is not None and self.target_dscr < 1:
            wrong.append(
                TermsError(f"target_dscr {self.target_dscr}", "at least 1", "raise it: below 1 the loan cannot be paid")
            )
        if self.balloon is not None and self.balloon >= self.amount:
            wrong.append(
                TermsError(f"balloon {self.balloon} of a loan of {self.amount}", "less than the loan", "lower it")
            )
        if self.refinancing_ltv is not None and self.profile not in ("bullet", "balloon"):
            wrong.append(
                TermsError(
                    f"refinancing_ltv with profile {self.profile!r}",
                    "profile 'bullet' or 'balloon', which leave something to refinance",
                    "remove refinancing_ltv or change the profile",
                )
            )
        wrong += [
            TermsError(
                f"drawings[{i}].month {drawing.month}, first payment in month {self.first_payment_month}",
                "drawings before the first payment",
                "move the drawing or the first payment",
            )
            for i, drawing in enumerate(self.drawings)
            if drawing.month >= self.first_payment_month
        ]
        drawn = sum((drawing.amount for drawing in self.drawings), Decimal(0))
        if drawn > self.amount:
            wrong.append(
                TermsError(
                    f"drawings of {drawn} from a loan of {self.amount}", "at most the loan", "lower the drawings"
                )
            )
        if wrong:
            raise TermsErrors(wrong)
        return self


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
    """Levels the loan must keep, looked at each month with debt service, and what a breach does."""

    minimum_dscr: Multiple | None = None
    """Over the look-back of the lock-up, or one month without one. [1]"""
    minimum_llcr: Multiple | None = None
    """Of the base case from the date on. [1]"""
    maximum_ltv: Multiple | None = None
    """Loan over the value of the GPUs. [1]"""
    ltv_basis: Literal["market", "book", "floor"] = "market"
    on_breach: Literal["report", "lock_up", "default"] = "report"
    """A breach is reported only, stops distributions, or is a default of the loan once it is not cured."""
    cure_months: WholeMonths = 0
    """Months a breach may last before it is a default. [month]"""

    @model_validator(mode="after")
    def _has_something_to_breach(self) -> Self:
        wrong = []
        if self.on_breach != "report" and not (self.minimum_dscr or self.minimum_llcr or self.maximum_ltv):
            wrong.append(
                TermsError(
                    f"on_breach {self.on_breach!r} without a level to breach",
                    "minimum_dscr, minimum_llcr or maximum_ltv",
                    "give a level, or remove on_breach",
                )
            )
        if self.cure_months and self.on_breach != "default":
            wrong.append(
                TermsError(
                    f"cure_months with on_breach {self.on_breach!r}",
                    "cure_months with `on_breach: default` alone",
                    "remove cure_months, or write on_breach: default",
                )
            )
        if wrong:
            raise TermsErrors(wrong)
        return self


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
    """Income tax on cash-basis profit."""

    rate: Share
    """[1]"""
    depreciation_months: MonthNumber
    """Straight line on capital expenditure, from the first payment month. [month]"""
    first_month_share: Share = Decimal(0)
    """Share of capital expenditure deducted at once in the first payment month, the rest by the straight line. [1]"""
    losses: Literal["carried_forward", "refunded"] = "carried_forward"
    """Without limit and expiry, or tax on them paid out at once."""
    prepayment: Literal["as_earned", "on_receipt"] = "as_earned"
    """Fees paid ahead are income when they are credited, or in the first month."""


class Recovery(Terms):
    """What the lender gets back after a default."""

    sale_stress: SourcedShare
    """Share of modelled GPU value realised in a sale. [1]"""
    sale_cost_share: SourcedShare | None = None
    """Share of the proceeds spent on selling; none when not given. [1]"""
    sale_cost: SourcedMoney | None = None
    """Cost of selling whatever the proceeds; none when not given. [currency]"""
    lag_months: SourcedMonths
    """Default to proceeds. [month]"""
    novation_share: SourcedShare | None = None
    """Share of the contract's remaining margin that a substitute operator would pay for; not an option when not
    given. [1]"""
    novation_until: Literal["term_end", "loan_maturity"] = "term_end"
    """Margin counted to the end of each tranche's term, or no further than the loan's last payment."""
    undelivered_share: SourcedShare | None = None
    """Share of GPU value realised for units not yet ready for service; all of it when not given. [1]"""


class CoverTest(Terms):
    """A cover ratio reported for one date."""

    kind: Literal["dscr_look_back"] = "dscr_look_back"
    months: MonthNumber
    """Months that are added up. [month]"""
    at_month: MonthNumber
    """Last of them, counted from close. [month]"""

    @model_validator(mode="after")
    def _looks_back_no_further_than_close(self) -> Self:
        if self.months > self.at_month:
            raise TermsError(
                f"months {self.months} up to month {self.at_month}", "months after close alone", "lower months"
            )
        return self


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
    def _sections_agree(self) -> Self:
        wrong = [*self._without_a_loan(), *self._tests_past_the_end()]
        if wrong:
            raise TermsErrors(wrong)
        return self

    def _without_a_loan(self) -> Iterator[TermsError]:
        if self.loan is not None:
            return
        given = {
            "reserve": self.reserve is not None and self.reserve.months > 0,
            "lock_up": self.lock_up is not None,
            "covenants": self.covenants != Covenants(),
            "recovery": self.recovery is not None,
        }
        for name, there in given.items():
            if there:
                yield TermsError(f"{name} without a loan", "a loan", f"add finance.loan or remove finance.{name}")

    def _tests_past_the_end(self) -> Iterator[TermsError]:
        last = self.horizon_months
        if last is None and self.loan is not None:
            last = self.loan.first_payment_month + self.loan.payments - 1
        for name, test in self.tests.items():
            if last is not None and test.at_month > last:
                yield TermsError(
                    f"tests.{name}.at_month {test.at_month}",
                    f"a month that is simulated, at most {last}",
                    "lower it, or give a longer finance.horizon_months",
                )
