"""What a workbook is written from: the deal at close, and the model's own base case month by month."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from risk.core.protocol import Paths, Phase, State, StepFunction
from risk.core.running_cost import RunningCost, running_cost
from risk.core.setting import Setting
from risk.engine import Model
from risk.finance.ratios import dscr
from risk.finance.waterfall import Finances
from risk.result import Result
from schemas.deal import Deal
from schemas.errors import MissingTermError
from schemas.finance import Finance, Loan

FloatArray = NDArray[np.float64]


@dataclass(slots=True)
class Ledger:
    """Keeps the cash lines and figures of the base case as the engine leaves them at the end of each month.

    It takes part in the simulation as a risk that changes nothing.
    """

    months: int
    streams: tuple[str, ...] = ()
    lines: dict[str, FloatArray] = field(default_factory=dict)
    """Signed cash by line, shape (months,). [currency]"""
    figures: dict[str, FloatArray] = field(default_factory=dict)
    """Other figures by name, those of tranches added up, shape (months,)."""

    def sample(self, rng: Mapping[str, Generator], draws: int) -> Paths:
        """Return nothing."""
        return {}

    def base(self) -> Paths:
        """Return nothing."""
        return {}

    def steps(self) -> Mapping[Phase, StepFunction]:
        """Return a look at the last phase of each month."""
        return {Phase.EXERCISE: self._note}

    def ignores(self) -> tuple[str, ...]:
        """Return nothing."""
        return ()

    def _note(self, month: int, state: State) -> None:
        for name, line in state.cash.items():
            self._of(self.lines, name)[month - 1] = line.amount[0]
        for name, value in state.now.items():
            if (
                isinstance(value, np.ndarray)
                and value.ndim in (1, 2)
                and value.shape[0] == 1
                and value.dtype.kind in "fib"
            ):
                self._of(self.figures, name)[month - 1] = np.sum(value[0])

    def _of(self, kept: dict[str, FloatArray], name: str) -> FloatArray:
        return kept.setdefault(name, np.zeros(self.months))


@dataclass(frozen=True, slots=True)
class Basis:
    """What the sheets are written from."""

    deal: Deal
    """Terms in force at close."""
    model: Model
    finances: Finances
    base: Result
    ledger: Ledger
    score: Mapping[str, Any]
    """Of the same deal, with its manifest."""
    cost: RunningCost

    @classmethod
    def of(cls, deal: Deal, score: Mapping[str, Any]) -> Basis:
        """Return the basis for a deal as loaded and its score.

        Raises
        ------
        MissingTermError
            When the deal has no finances, so that there is no base case.
        """
        if deal.finance is None:
            raise MissingTermError("finance", "a workbook of the base case", "add the section")
        deal = deal.at(deal.finance.close)
        model = Model.of(deal)
        ledger = Ledger(model.setting.months)
        watched = Model(model.setting, {**model.risks, "ledger": ledger})
        base = watched.run(model.base_paths(), 1)
        finances = model.risks["finance"]
        assert isinstance(finances, Finances)
        return cls(deal, model, finances, base, ledger, score, running_cost(model.setting))

    @property
    def setting(self) -> Setting:
        """Return the months and tranches."""
        return self.model.setting

    @property
    def finance(self) -> Finance:
        """Return the money behind the deal."""
        assert self.deal.finance is not None
        return self.deal.finance

    @property
    def loan(self) -> Loan | None:
        """Return the loan, None where there is none."""
        return self.finance.loan

    @property
    def months(self) -> int:
        """Return how many months are simulated."""
        return self.setting.months

    @property
    def loan_months(self) -> int:
        """Return the rows of the loan's sheet: to the last payment, and at least all that are simulated. [month]"""
        plan = self.finances.plan
        return max(self.months, plan.last_payment_month) if plan is not None else self.months

    @property
    def default_month(self) -> int:
        """Return the month in which the loan defaults in the base case, 0 for none. [month]"""
        return int(self.base.column["default_month"][0]) if "default_month" in self.base.column else 0

    @property
    def money_width(self) -> float:
        """Return the width of a column that holds the greatest amount of the deal. [letters]"""
        greatest = max(float(self.figure("fees").sum()), self.finances.sources.uses)
        return max(12.5, len(f"{greatest:,.0f}") * 1.15 + 2.5)

    @property
    def cover_of_debt(self) -> FloatArray:
        """Return cash over debt service of each month, nan where none is due, shape (months,). [1]"""
        return dscr(self.ledger.figures["cfads"], self.ledger.figures["debt_service"])

    def line(self, name: str) -> FloatArray:
        """Return one cash line of the model by month, nothing where it is never posted, shape (months,). [currency]"""
        return self.ledger.lines.get(name, np.zeros(self.months))

    def figure(self, name: str) -> FloatArray:
        """Return one figure of the model by month, shape (months,)."""
        return self.ledger.figures[name]

    def has(self, name: str) -> bool:
        """Return whether the model writes a figure."""
        return name in self.ledger.figures
