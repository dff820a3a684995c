"""Monthly cash: costs, tax, debt service, reserve, lock-up, default and loss, in the order of the loan agreement."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from risk.core.protocol import Paths, Phase, State, StepFunction
from risk.core.setting import Setting, share_in_term
from risk.finance.loan import prescribed_service, reserve_targets, schedule, sources_and_uses
from risk.finance.recovery import RecoveryLaw
from schemas.errors import MissingTermError

FloatArray = NDArray[np.float64]
ROUNDING = 1e-9
"""Cover this close to a level has reached it. [1]"""
HALF_A_CENT = 0.005
"""Debt service unpaid by more than this is a default. [currency]"""


class Finances:
    """Writes the month's cash figures and each draw's default.

    Arrays (draws,): `cfads`, `tax`, `operating_costs`, `debt_service`, `unpaid`, `distribution` [currency] and
    `look_back_cover` [1] of the month; `reserve`, `trapped`, `losses_carried` [currency] at its end; `default_month`
    [month, 0 while none], `default_cause`, `exposure`, `loss`, `loss_sale_only` [currency] of the draw.
    """

    streams: tuple[str, ...] = ()

    def __init__(self, setting: Setting) -> None:
        finance = setting.deal.finance
        assert finance is not None
        self.setting, self.terms = setting, finance
        prescribed = setting.deal.assumptions.prescribed
        self.cfads_law, self.residual = prescribed.cfads, prescribed.residual_to_equity
        self.plan = schedule(finance.loan, setting.months) if finance.loan else None
        typed = prescribed_service(setting)
        self.service = self.plan.service if self.plan else typed if typed is not None else np.zeros(setting.months)
        held = finance.reserve.months if finance.reserve else 0
        self.targets = (
            reserve_targets(finance.loan, held, setting.months) if finance.loan else np.zeros(setting.months + 1)
        )
        self.sources = sources_and_uses(finance, self.plan, float(self.targets[0]), float(setting.prepaid.sum()))
        costs = finance.operating_costs
        self.fixed = float(costs.fixed.amount) if costs.fixed else 0.0
        self.fixed_from = setting.timeline.at(costs.fixed.starts) if costs.fixed else 0.0
        hours = setting.gpus.astype(float)[:, None] * setting.timeline.hours
        self.power = (float(costs.power.amount) if costs.power else 0.0) * hours
        self.other = (float(costs.other.amount) if costs.other else 0.0) * hours
        fixed_share = np.divide(setting.fees, np.maximum(setting.fees.sum(axis=0), 1e-12)) * self.fixed
        margin = setting.fees - self.power - self.other - fixed_share
        self._needs_a_value_to_recover()
        self.recovery = (
            RecoveryLaw.of(finance.recovery, setting, self.plan.monthly_rate, margin)
            if finance.recovery and self.plan
            else None
        )

    def _needs_a_value_to_recover(self) -> None:
        """Refuse a recovery from the sale of GPUs that nothing gives a value."""
        assumed = self.setting.deal.assumptions
        if self.terms.recovery is None or self.plan is None or assumed.prescribed.gpu_value is not None:
            return
        for name, given in (("market", assumed.market), ("value", assumed.value)):
            if given is None:
                raise MissingTermError(f"assumptions.{name}", "finance.recovery", "give it, or remove finance.recovery")

    def sample(self, rng: Mapping[str, Generator], draws: int) -> Paths:
        """Return nothing: finances follow from everything else."""
        return {}

    def base(self) -> Paths:
        """Return nothing."""
        return {}

    def steps(self) -> Mapping[Phase, StepFunction]:
        """Return costs, tax and the sum of cash, the waterfall, default and loss."""
        return {
            Phase.FEES: self._costs,
            Phase.CFADS: self._cfads,
            Phase.WATERFALL: self._waterfall,
            Phase.DEFAULT: self._default,
            Phase.LOSS: self._loss,
        }

    def ignores(self) -> tuple[str, ...]:
        """Return what this model leaves out."""
        return (
            "Finance: no cash moves inside a month; one fixed-rate annuity loan, fully drawn at close; no refinancing, "
            "currency, inflation or rate risk; covenants are reported and do not cause default; no equity cure.",
            "Recovery: the haircut of many clusters sold at once, disputes and enforcement cost beyond the typed "
            "figures.",
        )

    def _overlap(self, begins: float, month: int) -> float:
        """Return the share of month `month` after the moment `begins`. [1]"""
        return float(np.clip(month - begins, 0.0, 1.0))

    def _costs(self, month: int, state: State) -> None:
        ready = np.clip(month - state.path["ready"], 0.0, 1.0)
        running = (
            share_in_term(state.path["ready"], month, self.setting.term_ends(state.path["ready"]))
            * state.under_contract
        )
        cost = self.fixed * self._overlap(self.fixed_from, month)
        cost = cost + running @ self.power[:, month - 1] + ready @ self.other[:, month - 1]
        state.now["operating_costs"] = cost
        state.post("operating_costs", -cost)

    def _cfads(self, month: int, state: State) -> None:
        draws = state.draws
        service = self.service[month - 1]
        if self.cfads_law is not None:
            contracted = state.under_contract.any(axis=1)
            multiple = np.where(contracted, float(self.cfads_law.while_contracted), float(self.cfads_law.after))
            state.now["cfads"], state.now["tax"] = multiple * service, np.zeros(draws)
            return
        before_tax = np.zeros(draws)
        taxable = np.zeros(draws)
        for line in state.cash.values():
            before_tax = before_tax + line.amount
            if line.taxable:
                taxable = taxable + line.amount
        state.now["tax"] = self._tax(month, state, taxable)
        state.now["cfads"] = before_tax - state.now["tax"]

    def _tax(self, month: int, state: State, taxable: FloatArray) -> FloatArray:
        """Return the month's tax; losses are carried forward and never paid out. [currency]"""
        tax = self.terms.tax
        if tax is None:
            return np.zeros(state.draws)
        first = self.plan.first_payment_month if self.plan else 1
        depreciation = (
            float(self.terms.capital_expenditure) / tax.depreciation_months
            if first <= month < first + tax.depreciation_months
            else 0.0
        )
        interest = self.plan.interest[month - 1] if self.plan else 0.0
        income = taxable - depreciation - interest
        losses = state.now.get("losses_carried", np.zeros(state.draws))
        state.now["losses_carried"] = np.maximum(0.0, losses - income)
        return np.asarray(float(tax.rate) * np.maximum(0.0, income - losses))

    def _waterfall(self, month: int, state: State) -> None:
        draws = state.draws
        if month == 1:
            state.now["reserve"] = np.full(draws, self.targets[0])
            state.now["trapped"] = np.zeros(draws)
            state.now["default_month"] = np.zeros(draws, dtype=np.int64)
        alive = state.now["default_month"] == 0
        cfads, service = state.now["cfads"], float(self.service[month - 1])
        reserve, trapped = state.now["reserve"], state.now["trapped"]
        need = np.maximum(service - cfads, 0.0)
        surplus = np.maximum(cfads - service, 0.0)
        from_reserve = np.minimum(need, reserve)
        from_trapped = np.minimum(need - from_reserve, trapped)
        unpaid = need - from_reserve - from_trapped
        if self.plan is None:
            unpaid, from_reserve, from_trapped = np.zeros(draws), np.zeros(draws), np.zeros(draws)
        reserve = reserve - from_reserve
        trapped = trapped - from_trapped
        target = self.targets[month]
        top_up = np.minimum(surplus, np.maximum(target - reserve, 0.0))
        released = np.maximum(reserve - target, 0.0) * (unpaid <= HALF_A_CENT)
        trapped = trapped + surplus - top_up + released
        distributed = np.where(alive & (unpaid <= HALF_A_CENT) & self._may_distribute(month, state), trapped, 0.0)
        state.now["reserve"] = np.where(alive, reserve + top_up - released, state.now["reserve"])
        state.now["trapped"] = np.where(alive, trapped - distributed, state.now["trapped"])
        if self.residual is not None and month == self.residual.month:
            distributed = distributed + np.where(alive, float(self.residual.amount), 0.0)
        if self.plan is None:
            distributed = np.where(alive, cfads - service, 0.0)
        state.now["distribution"] = distributed
        state.now["unpaid"] = np.where(alive, unpaid, 0.0)
        state.now["debt_service"] = np.full(draws, service)

    def _may_distribute(self, month: int, state: State) -> NDArray[np.bool_]:
        """Return whether the lock-up test passes: cover over the look-back, and all tranches ready."""
        lock = self.terms.lock_up
        history = state.now.get("cover_history")
        months = lock.look_back_months if lock else 1
        if history is None:
            history = np.zeros((state.draws, 2, months))
        history[:, :, :-1] = history[:, :, 1:]
        service = float(self.service[month - 1])
        history[:, 0, -1] = state.now["cfads"] if service > 0 else 0.0
        history[:, 1, -1] = service
        state.now["cover_history"] = history
        cash, due = history[:, 0].sum(axis=1), history[:, 1].sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            state.now["look_back_cover"] = np.where(due > 0, cash / due, np.nan)
        if lock is None or (self.plan is not None and month > self.plan.last_payment_month):
            return np.ones(state.draws, dtype=bool)
        ready = (state.path["ready"] <= month).all(axis=1)
        return np.asarray((due > 0) & (cash >= (float(lock.dscr) - ROUNDING) * due) & ready)

    def _default(self, month: int, state: State) -> None:
        if month == 1:
            state.now["default_cause"] = np.full(state.draws, "", dtype="U24")
            state.now["exposure"] = np.zeros(state.draws)
        if self.plan is None:
            return
        fails = (state.now["default_month"] == 0) & (state.now["unpaid"] > HALF_A_CENT)
        state.now["fails_now"] = fails
        if not fails.any():
            return
        opening, interest = self.plan.opening[month - 1], self.plan.interest[month - 1]
        applied = np.clip(self.service[month - 1] - state.now["unpaid"], 0.0, None)
        state.now["default_month"] = np.where(fails, month, state.now["default_month"])
        state.now["exposure"] = np.where(fails, opening + interest - applied, state.now["exposure"])
        state.now["default_cause"] = np.where(fails, self._cause(state), state.now["default_cause"])

    def _cause(self, state: State) -> NDArray[np.str_]:
        """Return the one label of each draw: the first contract ending, else re-pricing, late delivery, the rest."""
        late = (state.path["ready"] > self.setting.planned_ready + 1e-9).any(axis=1)
        repriced = state.now.get("repriced", np.zeros(state.draws, dtype=bool))
        otherwise = np.where(repriced, "repricing", np.where(late, "late_delivery", "credits_and_market"))
        return np.where(state.first_cause == "", otherwise, state.first_cause)

    def _loss(self, month: int, state: State) -> None:
        if month == 1:
            for name in ("loss", "loss_sale_only"):
                state.now[name] = np.zeros(state.draws)
        fails = state.now.get("fails_now")
        if self.recovery is None or fails is None or not fails.any():
            return
        exposure = state.now["exposure"][fails]
        sale = self.recovery.sale(month, state, fails)
        best = np.maximum(sale, self.recovery.novation(month, state, fails))
        for name, back in (("loss", best), ("loss_sale_only", sale)):
            losses = state.now[name].copy()
            losses[fails] = np.clip(exposure - back, 0.0, exposure)
            state.now[name] = losses
