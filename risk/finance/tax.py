"""Income tax of a month on cash-basis profit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from risk.core.protocol import State
from risk.core.setting import Setting
from schemas.finance import Tax

FloatArray = NDArray[np.float64]


class IncomeTax:
    """Writes `losses_carried` (draws,): losses not yet set against income. [currency]

    Notes
    -----
    Income is taxable cash less depreciation less interest. tax = rate x max(0, income - losses carried), losses carried
    = max(0, losses carried - income); refunded losses instead: tax = rate x income, paid out where it is negative.
    Depreciation from the first payment month, or from month 1 without a loan: `first_month_share` of capital
    expenditure at once, the rest in equal parts. Interest before the first payment is part of what was bought, and not
    deducted. Prepaid fees are income as they are earned, or all in month 1, less what is credited or paid
    back of them later.
    """

    def __init__(self, terms: Tax, setting: Setting) -> None:
        finance = setting.deal.finance
        assert finance is not None
        self.rate, self.refunds = float(terms.rate), terms.losses == "refunded"
        self.on_receipt = terms.prepayment == "on_receipt"
        self.received = float(setting.prepaid.sum())
        self.capital, self.at_once = float(finance.capital_expenditure), float(terms.first_month_share)
        self.begins = finance.loan.first_payment_month if finance.loan else 1
        self.months = terms.depreciation_months

    def depreciation(self, month: int) -> float:
        """Return the depreciation of a month, also past the last one simulated. [currency]"""
        since = month - self.begins
        level = (1 - self.at_once) * self.capital / self.months if 0 <= since < self.months else 0.0
        return level + (self.at_once * self.capital if since == 0 else 0.0)

    def income(self, month: int, state: State, taxable: FloatArray) -> FloatArray:
        """Return taxable income of the month before interest, shape (draws,). [currency]"""
        income = taxable - self.depreciation(month)
        if self.on_receipt:
            returned = state.now["prepaid_used"] + state.now["prepaid_refunded"]
            income += (self.received if month == 1 else 0.0) - returned.sum(axis=1)
        return income

    def of(self, state: State, income: FloatArray) -> FloatArray:
        """Return the tax on the month's income, negative where it is paid out, shape (draws,). [currency]"""
        losses = state.now.get("losses_carried")
        due, state.now["losses_carried"] = self.due(income, np.zeros(state.draws) if losses is None else losses)
        return due

    def of_months(self, income: FloatArray) -> FloatArray:
        """Return the tax on the income of successive months from close, shape (months,). [currency]"""
        losses, tax = np.zeros(1), np.zeros(len(income))
        for month in range(len(income)):
            due, losses = self.due(income[month : month + 1], losses)
            tax[month] = due[0]
        return tax

    def due(self, income: FloatArray, losses: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the tax on income and the losses carried after it. [currency]"""
        if self.refunds:
            return self.rate * income, losses
        return self.rate * np.maximum(0.0, income - losses), np.maximum(0.0, losses - income)
