"""The loan as scheduled: payments, balances, sources and uses. Exact where nothing is random."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from risk.core.setting import Setting
from schemas.finance import Finance, Loan

FloatArray = NDArray[np.float64]


def level_payment(amount: float, monthly_rate: float, payments: int) -> float:
    """Return the level annuity payment: D i / (1 - (1+i)^-n). [currency]"""
    if monthly_rate == 0:
        return amount / payments
    return amount * monthly_rate / -float(np.expm1(-payments * np.log1p(monthly_rate)))


@dataclass(frozen=True, slots=True)
class Schedule:
    """Scheduled debt service of months 1..M. [currency]"""

    monthly_rate: float
    """[1/month]"""
    interest: FloatArray
    principal: FloatArray
    opening: FloatArray
    """Balance before the month's payment, shape (months,)."""
    closing: FloatArray
    first_payment_month: int
    last_payment_month: int
    commitment: float
    interest_during_construction: float
    """Interest before the first payment month, paid from uses."""

    @property
    def service(self) -> FloatArray:
        """Return interest and principal of each month, shape (months,)."""
        return self.interest + self.principal

    @property
    def dollar_years(self) -> float:
        """Return the balance outstanding added up over the loan's life. [currency-year]"""
        return float(self.opening.sum()) / 12


def schedule(loan: Loan, months: int) -> Schedule:
    """Return the annuity of `loan` over `months` simulated months."""
    rate = float(loan.annual_rate) / 12
    amount, first = float(loan.amount), loan.first_payment_month
    payment = level_payment(amount, rate, loan.payments)
    interest, principal, opening, closing = (np.zeros(months) for _ in range(4))
    balance = amount
    for m in range(1, months + 1):
        opening[m - 1] = balance
        if first <= m < first + loan.payments:
            interest[m - 1] = rate * balance
            principal[m - 1] = payment - interest[m - 1]
            balance -= principal[m - 1]
        closing[m - 1] = balance
    return Schedule(
        monthly_rate=rate,
        interest=interest,
        principal=principal,
        opening=opening,
        closing=closing,
        first_payment_month=first,
        last_payment_month=first + loan.payments - 1,
        commitment=amount,
        interest_during_construction=rate * amount * (first - 1),
    )


@dataclass(frozen=True, slots=True)
class SourcesAndUses:
    """What is paid at close and with what. [currency]"""

    capital_expenditure: float
    interest_during_construction: float
    reserve: float
    other_uses: float
    loan: float
    prepayment: float
    equity: float

    @property
    def uses(self) -> float:
        """Return the total of uses, which equals the total of sources."""
        return self.capital_expenditure + self.interest_during_construction + self.reserve + self.other_uses


def sources_and_uses(terms: Finance, plan: Schedule | None, reserve: float, prepayment: float) -> SourcesAndUses:
    """Return sources and uses: equity is what loan and prepayment leave open."""
    interest = plan.interest_during_construction if plan else 0.0
    loan = plan.commitment if plan else 0.0
    uses = float(terms.capital_expenditure) + interest + reserve + float(terms.other_uses)
    return SourcesAndUses(
        capital_expenditure=float(terms.capital_expenditure),
        interest_during_construction=interest,
        reserve=reserve,
        other_uses=float(terms.other_uses),
        loan=loan,
        prepayment=prepayment,
        equity=uses - loan - prepayment,
    )


def reserve_targets(loan: Loan, months_held: int, months: int) -> FloatArray:
    """Return the reserve's target at close and after each month: min(k payments, all service left). [currency]

    Shape (months + 1,); entry 0 is funded at close. Service left counts to maturity, also past the last month.
    """
    payment = level_payment(float(loan.amount), float(loan.annual_rate) / 12, loan.payments)
    left = loan.first_payment_month + loan.payments - 1 - np.arange(months + 1)
    return np.asarray(payment * np.clip(left, 0, min(months_held, loan.payments)))


def prescribed_service(setting: Setting) -> FloatArray | None:
    """Return debt service typed without a loan, shape (months,), or None. [currency]"""
    law = setting.deal.assumptions.prescribed.scheduled_debt_service
    if law is None:
        return None
    months = np.arange(1, setting.months + 1)
    return np.where((months >= law.from_month) & (months <= law.to_month), float(law.amount), 0.0)
