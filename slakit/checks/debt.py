"""The months of the debt as planned: what comes in, what it costs, what is due; before tax, tranches on their dates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from risk.core.setting import setting, share_in_term
from risk.finance.loan import schedule
from risk.revenue.fees import PrepaymentSchedule
from schemas.deal import Deal


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
    """
    plan = setting(deal)
    assert deal.finance is not None
    loan, costs = deal.finance.loan, deal.finance.operating_costs
    if loan is None:
        return
    due = schedule(loan, plan.months).service
    prepayment = PrepaymentSchedule(plan)
    ready = plan.planned_ready
    per_hour = sum(float(cost.amount) for cost in (costs.power, costs.other) if cost is not None)
    starts = plan.timeline.at(costs.fixed.starts) if costs.fixed else 0.0
    for month in range(1, plan.months + 1):
        if due[month - 1] <= 0:
            continue
        in_term = share_in_term(ready, month, plan.term_ends(ready))
        fees = float(in_term @ plan.fees[:, month - 1])
        running = np.clip(month - ready, 0.0, 1.0)
        cost = per_hour * float(running @ plan.gpus) * float(plan.timeline.hours[month - 1])
        if costs.fixed is not None:
            cost += float(costs.fixed.amount) * min(max(month - starts, 0.0), 1.0)
        credited = float(prepayment.credited(ready, month).sum())
        yield DebtMonth(
            label=plan.timeline.label(month),
            fees=fees,
            cash=fees - credited - cost,
            debt_service=float(due[month - 1]),
            in_full_service=bool((in_term == 1).all()),
        )


def balances(deal: Deal) -> tuple[float, ...]:
    """Return the loan's balance at close and after each month to its maturity. [currency]"""
    assert deal.finance is not None
    loan = deal.finance.loan
    if loan is None:
        return ()
    months = loan.first_payment_month + loan.payments - 1
    return float(loan.amount), *(float(balance) for balance in schedule(loan, months).closing)
