"""The months of the debt as planned: what comes in, what it costs, what is due; before tax, tranches on their dates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from risk.core.running_cost import running_cost
from risk.core.setting import Setting, setting, share_in_term
from risk.finance.loan import Schedule, last_payment_month, schedule
from risk.revenue.fees import PrepaymentSchedule
from schemas.deal import Deal

FloatArray = NDArray[np.float64]
HALF_A_CENT = 0.005
"""A balance below this is none. [currency]"""


@dataclass(frozen=True, slots=True)
class DebtMonth:
    """One month in which debt service is due."""

    label: str
    fees: float
    """Fees accrued, prepaid ones included. [currency]"""
    cash: float
    """Fees less prepayment credited, less costs. [currency]"""
    debt_service: float
    """[currency]"""
    in_full_service: bool
    """Whether every tranche is ready and in its term all month."""


def debt_months(deal: Deal) -> Iterator[DebtMonth]:
    """Yield the months with debt service, in order.

    Raises
    ------
    DealError
        When the deal lacks a section that fees and costs are read from.
    MissingTermError
        When it lacks a term of them.
    NotComputedError
        When the loan follows cash that the simulation cannot compute.
    """
    plan = setting(deal)
    assert deal.finance is not None
    if deal.finance.loan is None:
        return
    fees, cash = _fees_and_cash(plan)
    due = _schedule(plan).service
    for month in range(1, plan.months + 1):
        if due[month - 1] <= 0:
            continue
        in_term = share_in_term(plan.planned_ready, month, plan.term_ends(plan.planned_ready))
        yield DebtMonth(
            label=plan.timeline.label(month),
            fees=float(fees[month - 1]),
            cash=float(cash[month - 1]),
            debt_service=float(due[month - 1]),
            in_full_service=bool((in_term == 1).all()),
        )


def balances(deal: Deal) -> tuple[float, ...]:
    """Return the loan's balance at close and after each month to its maturity. [currency]

    Raises
    ------
    DealError, MissingTermError, NotComputedError
        As `debt_months`, for a loan that follows cash.
    """
    assert deal.finance is not None
    loan = deal.finance.loan
    if loan is None:
        return ()
    if loan.profile == "sculpted":
        found = _schedule(setting(deal))
    else:
        found = schedule(loan, last_payment_month(loan))
    owed = np.concatenate([found.opening[:1], found.closing])
    return tuple(float(balance) for balance in np.where(owed < HALF_A_CENT, 0.0, owed))


def _schedule(plan: Setting) -> Schedule:
    """Return the loan's schedule over the months simulated; a sculpted one as the simulation sizes it."""
    assert plan.deal.finance is not None
    loan = plan.deal.finance.loan
    assert loan is not None
    if loan.profile != "sculpted":
        return schedule(loan, plan.months)
    from risk.engine import Model
    from risk.finance.waterfall import Finances

    finances = Model.of(plan.deal).risks["finance"]
    assert isinstance(finances, Finances)
    assert finances.plan is not None
    return finances.plan


def _fees_and_cash(plan: Setting) -> tuple[FloatArray, FloatArray]:
    """Return fees, and fees less prepayment credited, less costs and the price of covers, each (months,). [currency]"""
    cost, prepayment, ready = running_cost(plan), PrepaymentSchedule(plan), plan.planned_ready
    hourly, ends = (cost.power + cost.other) * plan.gpus, plan.term_ends(ready)
    fees, cash = np.zeros(plan.months), np.zeros(plan.months)
    for month in range(1, plan.months + 1):
        m = month - 1
        fees[m] = share_in_term(ready, month, ends) @ plan.fees[:, m]
        running = hourly @ np.clip(month - ready, 0.0, 1.0) * plan.timeline.hours[m]
        cash[m] = fees[m] - prepayment.credited(ready, month).sum() - running - cost.fixed[:, m].sum() - cost.shared[m]
    return fees, cash - _price_of_covers(plan)


def _price_of_covers(plan: Setting) -> FloatArray:
    """Return premiums of insurance and the fee of the backstop, shape (months,). [currency]"""
    finance, insurance, backstop = plan.deal.finance, plan.deal.insurance, plan.deal.backstop
    assert finance is not None
    first = finance.loan.first_payment_month - 1 if finance.loan else 0
    number, price = np.arange(1, plan.months + 1, dtype=float), np.zeros(plan.months)
    for layer in insurance.layers.values() if insurance else ():
        start = first if layer.premium_from is None else plan.timeline.at(layer.premium_from)
        price += float(layer.premium_per_month) * np.clip(number - start, 0.0, 1.0)
    if backstop is not None and backstop.amount is not None:
        price += float(backstop.fee_rate * backstop.amount) / 12 * (number > first)
    return price
