"""The loan as scheduled: drawings, payments and balances by profile. Exact where nothing is random."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from risk.core.setting import Setting
from schemas.finance import Loan

FloatArray = NDArray[np.float64]


def level_payment(amount: float, monthly_rate: float, payments: int, balloon: float = 0.0) -> float:
    """Return the level payment that leaves `balloon` after the last: (D - R (1+i)^-n) i / (1 - (1+i)^-n). [currency]"""
    if monthly_rate == 0:
        return (amount - balloon) / payments
    discount = float(np.exp(-payments * np.log1p(monthly_rate)))
    return (amount - balloon * discount) * monthly_rate / -float(np.expm1(-payments * np.log1p(monthly_rate)))


def sculpt(
    cash: FloatArray, rate: float, target_dscr: float, limit: float = np.inf
) -> tuple[float, FloatArray, FloatArray]:
    """Return the debt that a cash flow carries at a cover, and the interest and principal of each payment. [currency]

    Parameters
    ----------
    cash : cash flow available for debt service of each period of the loan. [currency]
    rate : of the loan for one period. [1]
    target_dscr : cover of each payment. [1]
    limit : greatest debt. [currency]

    Notes
    -----
    D = sum CFADS_k / DSCR (1+i)^-k; principal_k = CFADS_k / DSCR - interest_k. Under a limit all payments fall alike,
    so that cover stays level and is higher. A period without cash carries no debt and still pays its interest, so that
    principal is never negative: cover is then below the target in that period, and the loan is repaid sooner.
    """
    due = np.maximum(cash, 0.0) / target_dscr
    debt = float(due @ (1 + rate) ** -np.arange(1.0, len(due) + 1))
    if debt > limit:
        due, debt = due * (limit / debt), limit
    interest, principal = np.zeros(len(due)), np.zeros(len(due))
    balance = debt
    for k, payment in enumerate(due):
        interest[k] = rate * balance
        principal[k] = min(max(payment - interest[k], 0.0), balance)
        balance -= principal[k]
    return debt, interest, principal


@dataclass(frozen=True, slots=True)
class Schedule:
    """Scheduled debt service of months 1..M. [currency]"""

    monthly_rate: float
    """[1/month]"""
    interest: FloatArray
    """From the first payment month; interest before it is paid from uses, shape (months,)."""
    principal: FloatArray
    """Shape (months,)."""
    opening: FloatArray
    """Balance before the month's payment, shape (months,)."""
    closing: FloatArray
    """Balance after the month's payment or drawing, shape (months,)."""
    first_payment_month: int
    last_payment_month: int
    commitment: float
    """Amount of the loan; with the profile `sculpted` what the base case carries."""
    interest_during_construction: float
    """Interest on what is drawn before the first payment month, paid from uses."""
    commitment_fee: float
    """Fee on what is not yet drawn, paid from uses."""
    balloon: float
    """Principal that falls due with the last payment beside it."""
    refinances: bool
    """Whether the balloon is to be refinanced rather than paid from cash."""

    @property
    def service(self) -> FloatArray:
        """Return interest and principal due in cash, without a balloon to be refinanced, shape (months,)."""
        due = self.interest + self.principal
        if self.refinances and len(due) >= self.last_payment_month:
            due[self.last_payment_month - 1] -= self.balloon
        return due

    @property
    def dollar_years(self) -> float:
        """Return the balance outstanding added up over the loan's life. [currency-year]"""
        return float(self.opening.sum()) / 12


@dataclass(frozen=True, slots=True)
class MonthDue:
    """What falls due in one month, each of shape (draws,) or one figure for all draws. [currency]"""

    opening: float | FloatArray
    """Balance before the payment."""
    interest: float | FloatArray
    service: float | FloatArray
    """Interest and principal due in cash."""
    balloon: float | FloatArray
    """Principal to be refinanced."""
    closing: float | FloatArray
    """Balance once all of it is paid."""


def schedule(loan: Loan, months: int, cash: FloatArray | None = None) -> Schedule:
    """Return the schedule of `loan` over `months` simulated months.

    Parameters
    ----------
    cash
        With the profile `sculpted`, after-tax cash flow available for debt service of the base case, months 1 to at
        least the last payment, shape (months,). [currency]
    """
    rate, first, last = float(loan.annual_rate) / 12, loan.first_payment_month, last_payment_month(loan)
    amount, balloon = float(loan.amount), 0.0
    if loan.profile == "sculpted":
        assert loan.target_dscr is not None
        assert cash is not None
        amount, paid, repaid = sculpt(cash[first - 1 : last], rate, float(loan.target_dscr), amount)
    else:
        balloon = {"bullet": amount, "balloon": float(loan.balloon or 0)}.get(loan.profile, 0.0)
        paid, repaid = _payments(loan, rate, balloon)
    drawn = _drawn(loan, amount)
    interest, principal, opening, closing = (np.zeros(last) for _ in range(4))
    interest[first - 1 :], principal[first - 1 :] = paid, repaid
    opening[: first - 1] = drawn
    opening[first - 1 :] = amount - np.cumsum(repaid) + repaid
    closing[:-1], closing[-1] = opening[1:], amount - repaid.sum()

    def fitted(life: FloatArray) -> FloatArray:
        return np.concatenate([life[:months], np.zeros(max(months - last, 0))])

    return Schedule(
        monthly_rate=rate,
        interest=fitted(interest),
        principal=fitted(principal),
        opening=fitted(opening),
        closing=fitted(closing),
        first_payment_month=first,
        last_payment_month=last,
        commitment=amount,
        interest_during_construction=float(rate * drawn.sum()),
        commitment_fee=float(loan.commitment_fee) / 12 * float((amount - drawn).sum()),
        balloon=balloon,
        refinances=loan.refinancing_ltv is not None,
    )


def last_payment_month(loan: Loan) -> int:
    """Return the month of the last payment. [month]"""
    return loan.first_payment_month + loan.payments - 1


def _payments(loan: Loan, rate: float, balloon: float) -> tuple[FloatArray, FloatArray]:
    """Return interest and principal of each payment of a loan that is not sculpted, the balloon in the last.

    Principal of level payments is (D - R) i (1+i)^-(n-k+1) / (1 - (1+i)^-n) in payment k: a level payment less interest
    on a balance carried forward would let roundings grow with interest, and a long dear loan would never be repaid.
    """
    amount, count = float(loan.amount), loan.payments
    if loan.profile == "straight" or rate == 0:
        principal = np.full(count, (amount - balloon) / count)
    else:
        grown = np.exp(-np.arange(count, 0.0, -1.0) * np.log1p(rate))
        principal = (amount - balloon) * rate * grown / -np.expm1(-count * np.log1p(rate))
    interest = rate * (amount - np.cumsum(principal) + principal)
    principal[-1] += balloon
    return interest, principal


def _drawn(loan: Loan, amount: float) -> FloatArray:
    """Return what is drawn at the start of each month before the first payment, shape (months before it,). [currency]

    Drawings come in their order; where a sculpted loan carries less than they add up to, the last are smaller.
    """
    later = np.zeros(loan.first_payment_month)
    for drawing in loan.drawings:
        later[drawing.month] += float(drawing.amount)
    at_close = max(amount - float(later.sum()), 0.0)
    return np.minimum(at_close + np.cumsum(later), amount)[:-1]


def reserve_targets(loan: Loan, months_held: int, months: int, cash: FloatArray | None = None) -> FloatArray:
    """Return the reserve's target at close and after each month: the next k payments, or all that are left. [currency]

    Shape (months + 1,); entry 0 is funded at close. Payments count to maturity, also past the last month; a balloon is
    not held in reserve.
    """
    first, last = loan.first_payment_month, last_payment_month(loan)
    plan = schedule(loan, last, cash)
    due = (plan.interest + plan.principal)[first - 1 :]
    due[-1] -= plan.balloon
    so_far = np.concatenate([[0.0], np.cumsum(due)])
    made = np.clip(np.arange(months + 1) - first + 1, 0, loan.payments)
    return np.asarray(so_far[np.minimum(made + months_held, loan.payments)] - so_far[made])


def prescribed_service(setting: Setting) -> FloatArray | None:
    """Return debt service typed without a loan, shape (months,), or None. [currency]"""
    law = setting.deal.assumptions.prescribed.scheduled_debt_service
    if law is None:
        return None
    months = np.arange(1, setting.months + 1)
    return np.where((months >= law.from_month) & (months <= law.to_month), float(law.amount), 0.0)
