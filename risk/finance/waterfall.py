"""Monthly cash: tax, debt service, reserve, lock-up, default and loss, in the order of the loan agreement."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from risk.core.protocol import Paths, Phase, State, StepFunction
from risk.core.setting import Setting
from risk.finance.arrears import Arrears
from risk.finance.covenants import HALF_A_CENT, ROUNDING, CovenantTests
from risk.finance.loan import MonthDue, Schedule, last_payment_month, prescribed_service, reserve_targets, schedule
from risk.finance.recovery import PrescribedLoss, RecoveryLaw
from risk.finance.refusals import refuse_what_is_missing
from risk.finance.sculpting import MUCH_THE_SAME, NEVER_SETTLES, ROUNDS, ROUNDS_IN_VAIN, cash_after_tax
from risk.finance.sources import sources_and_uses
from risk.finance.sweep import Sweep
from risk.finance.tax import IncomeTax
from risk.finance.words import what_is_left_out
from schemas.errors import NotComputedError

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Base = Callable[[], Mapping[str, FloatArray]]
"""Runs the base case and returns its figures by month, each of shape (1, months)."""


class Finances:
    """Writes the month's cash figures and each draw's default.

    Arrays (draws,): `cfads`, `tax`, `debt_service` and `interest` as scheduled, `principal` with what is swept,
    `unpaid`, `debt_paid`, `distribution` [currency] and `look_back_cover` [1] of the month; `balance` as long as all
    is paid, a refinanced balloon included, `reserve`, `trapped`, `losses_carried` [currency] at its end; `fails_now`;
    `default_month` [month, 0 while none], `default_cause`, `exposure`, and, where a recovery is given, `recovery` and
    `recovery_sale` before any cover, `loss`, `loss_sale_only` [currency] of the draw; those of `CovenantTests` and
    `Arrears`.

    The loan is the same in all draws, and `plan` its schedule; with a sweep each draw has its own.
    """

    streams: tuple[str, ...] = ()

    def __init__(self, setting: Setting) -> None:
        finance = setting.deal.finance
        assert finance is not None
        self.setting, self.terms, self.loan = setting, finance, finance.loan
        prescribed = setting.deal.assumptions.prescribed
        self.cfads_law, self.residual = prescribed.cfads, prescribed.residual_to_equity
        self.tax = IncomeTax(finance.tax, setting) if finance.tax else None
        self.held = finance.reserve.months if finance.reserve else 0
        self.look_back = finance.lock_up.look_back_months if finance.lock_up else 1
        self.plan: Schedule | None = None
        self.sweep: Sweep | None = None
        self.covenants: CovenantTests | None = None
        self.recovery: RecoveryLaw | PrescribedLoss | None = None
        self.arrears = Arrears(self.loan) if self.loan and self.loan.grace_months else None
        self.heard: list[tuple[float, float]] | None = None
        """Cash before tax and income before interest of the base case, listened to while a loan is sculpted."""
        if self.loan is None:
            typed = prescribed_service(setting)
            self.service = typed if typed is not None else np.zeros(setting.months)
            self.targets = np.zeros(setting.months + 1)
            self.sources = sources_and_uses(finance, None, 0.0, float(setting.prepaid.sum()))
            return
        refuse_what_is_missing(finance, self.loan, setting)
        # a sculpted loan is none until `settle` has seen the base case
        self._take(np.zeros(last_payment_month(self.loan)) if self.loan.profile == "sculpted" else None)
        if prescribed.lgd is not None:
            self.recovery = PrescribedLoss(float(prescribed.lgd.loss_share))
        elif finance.recovery is not None:
            self.recovery = RecoveryLaw(
                finance.recovery,
                setting,
                float(self.loan.annual_rate) / 12,
                self.loan.first_payment_month + self.loan.payments - 1,
            )

    def _take(self, cash: FloatArray | None) -> None:
        """Schedule the loan, sculpted to `cash` where it is, and all that follows from the schedule."""
        assert self.loan is not None
        self.plan = schedule(self.loan, self.setting.months, cash)
        self.service = self.plan.service
        self.targets = reserve_targets(self.loan, self.held, self.setting.months, cash)
        prepaid = float(self.setting.prepaid.sum())
        self.sources = sources_and_uses(self.terms, self.plan, float(self.targets[0]), prepaid)
        self.sweep = Sweep(self.loan, self.held, self.targets, cash) if self.loan.sweep else None
        self.covenants = CovenantTests(self.terms.covenants, self.plan)

    def settle(self, base: Base) -> None:
        """Size a sculpted loan on the base case's cash, and note that cash for the covenant on cover over its life.

        Tax falls with interest and interest follows from the debt: a fixed point, found on the interest as scheduled,
        before any sweep. Called once, by `Model.of`.

        Raises
        ------
        NotComputedError
            When the base case carries no debt, or the debt does not settle.
        """
        if self.loan is None:
            return
        if self.loan.profile == "sculpted":
            self._sculpt(base)
        if self.terms.covenants.minimum_llcr is not None:
            assert self.covenants is not None
            self.covenants.take_base(base()["cfads"][0])

    def _sculpt(self, base: Base) -> None:
        """Run the base case until the debt that its cash carries is the debt it was run with."""
        assert self.loan is not None
        moved, in_vain = np.inf, 0
        for _ in range(ROUNDS):
            assert self.plan is not None
            before, self.heard = self.plan.opening, []
            base()
            before_tax, income = np.array(self.heard).T
            self.heard = None
            self._take(cash_after_tax(self.loan, self.tax, before_tax, income) if self.tax else before_tax)
            moved_before, moved = moved, float(np.abs(self.plan.opening - before).max())
            if moved <= HALF_A_CENT:
                break
            in_vain += moved > MUCH_THE_SAME * moved_before
            if in_vain == ROUNDS_IN_VAIN:
                raise NotComputedError(*NEVER_SETTLES)
        else:
            raise NotComputedError(*NEVER_SETTLES)
        if self.plan.commitment <= HALF_A_CENT:
            raise NotComputedError(
                "finance.loan.target_dscr",
                "a loan that the base case has no cash to pay",
                "correct fees and costs, or remove the loan",
            )

    def sample(self, rng: Mapping[str, Generator], draws: int) -> Paths:
        """Return nothing: finances follow from everything else."""
        return {}

    def base(self) -> Paths:
        """Return nothing."""
        return {}

    def steps(self) -> Mapping[Phase, StepFunction]:
        """Return tax and the sum of cash, the waterfall, default and loss."""
        return {
            Phase.CFADS: self._cfads,
            Phase.WATERFALL: self._waterfall,
            Phase.DEFAULT: self._default,
            Phase.LOSS: self._loss,
        }

    def ignores(self) -> tuple[str, ...]:
        """Return what this model leaves out."""
        return what_is_left_out(self.terms, prescribed_loss=isinstance(self.recovery, PrescribedLoss))

    def _due(self, month: int, state: State) -> MonthDue:
        """Return what falls due this month as scheduled."""
        if self.sweep is not None:
            return self.sweep.due(month, state)
        plan, service = self.plan, float(self.service[month - 1])
        if plan is None:
            return MonthDue(0.0, 0.0, service, 0.0, 0.0)
        balloon = plan.balloon if plan.refinances and month == plan.last_payment_month else 0.0
        opening, interest, closing = (
            float(column[month - 1]) for column in (plan.opening, plan.interest, plan.closing)
        )
        return MonthDue(opening, interest, service, balloon, closing)

    def _cfads(self, month: int, state: State) -> None:
        draws = state.draws
        if self.cfads_law is not None:
            contracted = state.under_contract.any(axis=1)
            multiple = np.where(contracted, float(self.cfads_law.while_contracted), float(self.cfads_law.after))
            state.now["cfads"], state.now["tax"] = multiple * self._due(month, state).service, np.zeros(draws)
            return
        before_tax, taxable = np.zeros(draws), np.zeros(draws)
        for line in state.cash.values():
            before_tax += line.amount
            if line.taxable:
                taxable += line.amount
        income = taxable if self.tax is None else self.tax.income(month, state, taxable)
        if self.heard is not None:
            self.heard.append((float(before_tax[0]), float(income[0])))
        if self.tax is None:
            state.now["tax"] = np.zeros(draws)
        else:
            state.now["tax"] = self.tax.of(state, income - self._due(month, state).interest)
        state.now["cfads"] = before_tax - state.now["tax"]

    def _waterfall(self, month: int, state: State) -> None:
        now, draws = state.now, state.draws
        if month == 1:
            now["reserve"], now["trapped"] = np.full(draws, self.targets[0]), np.zeros(draws)
            now["default_month"] = np.zeros(draws, dtype=np.int64)
        alive = now["default_month"] == 0
        due = self._due(month, state)
        for name, amount in (("debt_service", due.service), ("interest", due.interest)):
            now[name] = np.broadcast_to(amount, (draws,))
        cash, service = self._looked_back(month, state, due.service)
        residual = float(self.residual.amount) if self.residual and month == self.residual.month else 0.0
        if self.plan is None:
            now["unpaid"] = np.zeros(draws)
            now["distribution"] = np.where(alive, now["cfads"] - due.service + residual, 0.0)
            return
        brought = self.arrears.brought_forward(state) if self.arrears else 0.0
        called = self._balloon_called(state, due)
        claim = due.service + brought + called
        now["owed_before"] = np.broadcast_to(due.opening + due.interest + brought, (draws,))
        surplus = self._pay(state, claim, alive)
        paid_up = alive & (now["unpaid"] <= HALF_A_CENT)
        target = self.sweep.reserve_target(month, due.closing) if self.sweep else self.targets[month]
        surplus = self._fill_reserve(state, surplus, target, paid_up)
        swept: float | FloatArray = 0.0
        if self.sweep is not None:
            repaying = paid_up & (np.asarray(due.service) > 0)
            swept = np.where(repaying, np.minimum(self.sweep.share * surplus, due.closing), 0.0)
            surplus = surplus - swept
        owed = np.broadcast_to(due.closing - swept, (draws,))
        now["principal"] = np.broadcast_to(due.service + due.balloon - due.interest + swept, (draws,))
        now["balance"] = owed + self._refinanced(month, state, due.balloon - called)
        if self.arrears is not None:
            owed = owed + self.arrears.carry(month, state, due.service, claim, alive)
        free = paid_up & self._keeps_covenants(month, state, cash, service, owed, alive)
        free &= self._may_distribute(month, state, cash, service)
        now["trapped"] = np.where(alive, now["trapped"] + surplus, now["trapped"])
        now["distribution"] = np.where(free, now["trapped"], 0.0) + residual * alive
        now["trapped"] = np.where(free, 0.0, now["trapped"])

    def _looked_back(
        self, month: int, state: State, service: float | FloatArray
    ) -> tuple[FloatArray, float | FloatArray]:
        """Return cash and debt service of the look-back's months that have debt service. [currency]"""
        if month == 1:
            state.now["cash_looked_back"] = np.zeros((self.look_back, state.draws))
            state.now["service_looked_back"] = np.zeros((self.look_back, state.draws if self.sweep else 1))
        cash, services = state.now["cash_looked_back"], state.now["service_looked_back"]
        at = month % self.look_back
        cash[at] = state.now["cfads"] * (np.asarray(service) > 0)
        services[at] = service
        total = cash.sum(axis=0)
        due = np.broadcast_to(services.sum(axis=0), total.shape)
        state.now["look_back_cover"] = np.divide(total, due, out=np.full(state.draws, np.nan), where=due > 0)
        return total, due

    def _balloon_called(self, state: State, due: MonthDue) -> float | FloatArray:
        """Return the balloon where the value of the GPUs is too low to refinance it, so that it is due. [currency]"""
        assert self.loan is not None
        if self.loan.refinancing_ltv is None or not np.any(due.balloon):
            return 0.0
        value = state.now["gpu_value"].sum(axis=1)
        return np.where(due.balloon > float(self.loan.refinancing_ltv) * value, due.balloon, 0.0)

    def _refinanced(self, month: int, state: State, balloon: float | FloatArray) -> float | FloatArray:
        """Return what is owed to whoever refinanced the balloon, from the last payment on. [currency]"""
        assert self.plan is not None
        if not self.plan.refinances or month < self.plan.last_payment_month:
            return 0.0
        if month == self.plan.last_payment_month:
            state.now["refinanced"] = np.broadcast_to(balloon, (state.draws,))
        return state.now["refinanced"]

    def _pay(self, state: State, claim: float | FloatArray, alive: BoolArray) -> FloatArray:
        """Pay `claim` from cash, reserve, trapped cash; return the surplus, shape (draws,). [currency]"""
        now = state.now
        left = now["cfads"] - claim
        need = np.maximum(-left, 0.0) * alive
        if need.any():
            from_reserve = np.minimum(need, now["reserve"])
            from_trapped = np.minimum(need - from_reserve, now["trapped"])
            now["reserve"], now["trapped"] = now["reserve"] - from_reserve, now["trapped"] - from_trapped
            need = need - from_reserve - from_trapped
        now["unpaid"] = need
        now["debt_paid"] = np.maximum(claim - need, 0.0) * alive
        return np.asarray(np.maximum(left, 0.0))

    def _fill_reserve(
        self, state: State, surplus: FloatArray, target: float | FloatArray, paid_up: BoolArray
    ) -> FloatArray:
        """Top the reserve up to its target or release what is above it; return the surplus after it. [currency]"""
        reserve = state.now["reserve"]
        moved = np.minimum(surplus, target - reserve) * paid_up
        state.now["reserve"] = reserve + moved
        return np.asarray(surplus - moved)

    def _keeps_covenants(
        self, month: int, state: State, cash: FloatArray, due: float | FloatArray, owed: FloatArray, alive: BoolArray
    ) -> BoolArray:
        """Test the covenants; return which draws have no breach that stops distributions, shape (draws,)."""
        assert self.covenants is not None
        assert self.plan is not None
        keeps = np.ones(state.draws, dtype=bool)
        state.now["covenant_default"] = ~keeps
        if not self.covenants.level or not self.plan.first_payment_month <= month <= self.plan.last_payment_month:
            return keeps
        found = self.covenants.breaches(month, state, cash, due, owed)
        state.now["covenant_default"] = self.covenants.record(month, state, found, alive)
        if self.terms.covenants.on_breach != "report":
            for breach in found.values():
                keeps &= ~breach
        return keeps

    def _may_distribute(self, month: int, state: State, cash: FloatArray, due: float | FloatArray) -> BoolArray:
        """Return whether the lock-up test passes: cover over the look-back, and all tranches ready, shape (draws,)."""
        lock = self.terms.lock_up
        assert self.plan is not None
        if lock is None or month > self.plan.last_payment_month:
            return np.ones(state.draws, dtype=bool)
        ready = (state.path["ready"] <= month).all(axis=1)
        passes = (np.asarray(due) > 0) & (cash >= (float(lock.dscr) - ROUNDING) * due) & ready
        if month < self.plan.first_payment_month:
            return np.asarray(passes)
        return np.asarray(passes | ~self._owes(state))

    @staticmethod
    def _owes(state: State) -> BoolArray:
        """Return which draws owed something as the month began, shape (draws,)."""
        return np.asarray(state.now["owed_before"] > HALF_A_CENT)

    def _default(self, month: int, state: State) -> None:
        now, draws = state.now, state.draws
        if month == 1:
            now["default_cause"] = np.full(draws, "", dtype="U24")
            now["exposure"] = np.zeros(draws)
            if self.recovery is not None:
                now["recovery"], now["recovery_sale"] = np.zeros(draws), np.zeros(draws)
        now["fails_now"] = np.zeros(draws, dtype=bool)
        if self.plan is None:
            return
        late = now["unpaid"] > HALF_A_CENT
        if month >= self.plan.first_payment_month:
            late &= self._owes(state)  # costs that no cash pays are no default of a loan that is repaid
        if self.arrears is not None and month < self.plan.last_payment_month and late.any():
            late &= self.arrears.outlast_grace(month, state, HALF_A_CENT)
        fails = (now["default_month"] == 0) & (late | now["covenant_default"])
        if not fails.any():
            return
        now["fails_now"], rows = fails, np.flatnonzero(fails)
        now["default_month"] = np.where(fails, month, now["default_month"])
        now["exposure"][rows] = exposure = np.maximum(now["owed_before"][rows] - now["debt_paid"][rows], 0.0)
        now["default_cause"][rows] = self._cause(state, rows)
        if self.recovery is not None:
            best, sale = self.recovery.back(month, state, rows)
            now["recovery"][rows] = np.clip(best, 0.0, exposure)
            now["recovery_sale"][rows] = np.clip(sale, 0.0, exposure)
        for held in ("reserve", "trapped"):
            now[held] = np.where(fails, 0.0, now[held])

    def _cause(self, state: State, rows: NDArray[np.int64]) -> NDArray[np.str_]:
        """Return the label of some draws: the first contract ending, else re-pricing, late delivery, the rest."""
        late = np.any(state.path["ready"][rows] > self.setting.planned_ready + 1e-9, axis=1)
        repriced = state.now.get("repriced")
        again: BoolArray | bool = repriced[rows] if repriced is not None else False
        otherwise = np.where(again, "repricing", np.where(late, "late_delivery", "credits_and_market"))
        first = state.first_cause[rows]
        return np.where(first == "", otherwise, first)

    def _loss(self, month: int, state: State) -> None:
        now = state.now
        if self.recovery is None:
            return
        if month == 1:
            now["loss"], now["loss_sale_only"] = np.zeros(state.draws), np.zeros(state.draws)
        rows = np.flatnonzero(now["fails_now"])
        if not len(rows):
            return
        exposure, cover = now["exposure"][rows], now.get("loss_cover", np.zeros(state.draws))
        alone = now.get("loss_cover_sale_only", cover)
        for name, back, given in (("loss", "recovery", cover), ("loss_sale_only", "recovery_sale", alone)):
            now[name][rows] = np.clip(exposure - now[back][rows] - given[rows], 0.0, exposure)
