"""Surplus that repays principal early: the loan becomes one of each draw."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from risk.core.protocol import State
from risk.finance.loan import MonthDue, last_payment_month, schedule
from schemas.finance import Loan

FloatArray = NDArray[np.float64]


class Sweep:
    """Balances and payments of a loan of which a share of surplus repays principal.

    Notes
    -----
    `shortens`: scheduled service of later months stays as it is until nothing is owed, so that what is saved in
    interest repays principal too. `re_levels`: all later payments fall with the balance, to the same end. Nothing is
    swept before the first payment month, so that uses pay the interest before it as planned.
    """

    def __init__(self, loan: Loan, months_held: int, targets: FloatArray, cash: FloatArray | None = None) -> None:
        self.share, self.re_levels = float(loan.sweep), loan.sweep_effect == "re_levels"
        self.life = schedule(loan, last_payment_month(loan), cash)
        self.regular = self.life.interest + self.life.principal
        self.regular[-1] -= self.life.balloon
        self.months_held, self.targets = months_held, targets

    def due(self, month: int, state: State) -> MonthDue:
        """Return what falls due in a month."""
        life = self.life
        if month > life.last_payment_month:
            return MonthDue(0.0, 0.0, 0.0, 0.0, 0.0)
        if month < life.first_payment_month:
            return MonthDue(float(life.opening[month - 1]), 0.0, 0.0, 0.0, float(life.closing[month - 1]))
        opening = life.opening[month - 1] if month == life.first_payment_month else state.now["balance"]
        interest = opening * life.monthly_rate
        regular = self.regular[month - 1]
        balloon = life.balloon if month == life.last_payment_month else 0.0
        if self.re_levels:
            part = self._part(opening, life.opening[month - 1])
            service, last = part * regular, part * balloon
        else:
            service = np.minimum(regular, opening + interest)
            last = np.minimum(balloon, opening + interest - service)
        closing = opening + interest - service - last
        if life.refinances:
            return MonthDue(opening, interest, service, last, closing)
        return MonthDue(opening, interest, service + last, 0.0, closing)

    def reserve_target(self, month: int, closing: float | FloatArray) -> float | FloatArray:
        """Return the next payments that the reserve is held for, shape as `closing`. [currency]"""
        life = self.life
        if month < life.first_payment_month or month >= life.last_payment_month:
            return float(self.targets[month])
        if self.re_levels:
            return np.asarray(self._part(closing, life.closing[month - 1]) * self.targets[month])
        total, balance = np.zeros(np.shape(closing)), np.asarray(closing)
        for later in range(month, min(month + self.months_held, life.last_payment_month)):
            owed = balance * (1 + life.monthly_rate)
            paid = np.minimum(self.regular[later], owed)
            total, balance = total + paid, owed - paid
        return total

    @staticmethod
    def _part(owed: float | FloatArray, planned: np.float64) -> FloatArray:
        """Return what is owed over what was planned, nothing where nothing was planned, shape as `owed`. [1]"""
        return np.asarray(owed / planned) if planned > 0 else np.zeros(np.shape(owed))
