"""Credits of a month over all service levels: choice between levels, claims, caps, and what reaches a cap."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from risk.contract_rules import caps, stacking
from risk.core.protocol import State
from risk.core.setting import Setting
from risk.revenue.service import COUNTED_LEVELS
from schemas.cancellation import CapReached

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
HALF_A_CENT = 0.005
"""Credits that are nearer to a cap than this have reached it. [currency]"""
_RANK = {**dict.fromkeys(COUNTED_LEVELS, 0), "cluster": 1, "hall": 2, "site": 3}
"""Levels from the unit that is inside to the one that contains it."""


class Settling:
    """Writes `credits` (draws,) [currency], and `cap_reached:<cap>` (draws, tranches) where a right looks at it."""

    def __init__(self, setting: Setting, member: FloatArray) -> None:
        """Take `member`, whether each tranche belongs to each service, shape (tranches, services)."""
        deal = setting.deal
        self.setting, self.member = setting, member
        self.terms = deal.credits
        self.of_services = np.ones(member.shape[1])
        claimed = deal.assumptions.claimed_share
        self.claimed = float(claimed) if claimed is not None and deal.credits.process.mode == "claimed" else 1.0
        self.rank = {name: _RANK.get(level.level, 0) for name, level in deal.service_levels.items()}
        chronic = deal.cancellation.chronic_failure
        self.watched = {limb.cap for limb in chronic.limbs if isinstance(limb, CapReached)} if chronic else set()

    def ignores(self) -> tuple[str, ...]:
        """Return what this model leaves out."""
        deal, terms, words = self.setting.deal, self.terms, []
        if terms.between_levels == "choose_one":
            words.append("Credits: the customer is taken to choose the service level that pays most.")
        many = [name for name, level in deal.service_levels.items() if level.level in COUNTED_LEVELS]
        if terms.between_levels == "parent_absorbs_children" and len(many) > 1:
            words.append(
                f"Credits: which units of {' and '.join(many)} stand inside each other is not simulated; those inside "
                "a credited one are paid too."
            )
        if terms.within_level == "worst_outage":
            words.append("Credits: the downtime of a month is added up, although only its longest outage counts.")
        slow = [name for name, level in deal.service_levels.items() if level.degraded]
        if slow:
            words.append(f"Credits: units of {' and '.join(slow)} that answer and are too slow count as up.")
        beside = [name for name, level in deal.service_levels.items() if level.requires]
        if beside:
            words.append(f"Credits: what {' and '.join(beside)} requires beside its own units is taken as up.")
        if terms.minimum_payable:
            words.append(f"Credits: lines of up to {terms.minimum_payable} are paid too (credits.minimum_payable).")
        if terms.form.form in ("spread_over_term", "added_days"):
            form = terms.form.form.replace("_", " ")
            words.append(f"Credits: by the contract {form}; taken off the fee at once here.")
        if deal.operations.replacement is not None or deal.operations.support is not None:
            words.append("Credits: those for late replacement and late response are not simulated.")
        return tuple(words)

    def base(self, fees: FloatArray, prepaid_used: FloatArray) -> FloatArray:
        """Return the fee that credits on each tranche are taken of, shape (draws, tranches). [currency]

        Parameters
        ----------
        fees, prepaid_used : fees of the month and the prepayment credited against them, same shape. [currency]
        """
        is_paid_now = self.terms.base == "invoiced" or not self.terms.includes_prepaid
        base = fees - prepaid_used if is_paid_now else fees
        if self.terms.base in ("service_fee_accrued", "invoiced"):
            return np.asarray(base @ self.member @ self.member.T)
        if self.terms.base == "order_fee_accrued":
            return np.broadcast_to(base.sum(axis=1, keepdims=True), base.shape)
        return base

    def step(self, month: int, state: State, by_level: Mapping[str, FloatArray], fees: FloatArray) -> None:
        """Settle the credits of a month.

        Parameters
        ----------
        by_level : credits of each level before the choice between levels, shape (draws, tranches). [currency]
        fees : fees of the month, same shape. [currency]
        """
        terms = self.terms.caps
        of_service = fees @ self.member
        capped_by = of_service
        if terms.month_of == "previous_period":
            capped_by = state.now.get("fees_of_last_month", np.zeros_like(of_service))
            state.now["fees_of_last_month"] = of_service
        carried = state.now.get("credits_carried")
        for name in self.watched:
            state.now[f"cap_reached:{name}"] = np.zeros(fees.shape, dtype=bool)
        if not any(amounts.any() for amounts in by_level.values()) and (carried is None or not carried.any()):
            state.now["credits"] = np.zeros(state.draws)
            return
        due = self._due(by_level)
        if carried is not None:
            due = due + carried
        nothing = np.zeros(1)
        allowed = caps.bounded(due, terms.month, capped_by, nothing)
        self._watch("month", state, terms.month, capped_by, nothing, allowed)
        if terms.carry_forward:
            state.now["credits_carried"] = due - allowed
        if terms.year is not None:
            year, paid, planned = self._contract_year(month, state)
            allowed = caps.bounded(allowed, terms.year, planned, paid)
        if terms.term is not None:
            given = state.now.get("credits_paid_in_term", np.zeros_like(allowed))
            allowed = caps.bounded(allowed, terms.term, self._planned_term(), given)
            state.now["credits_paid_in_term"] = given + allowed
        if terms.year is not None:
            self._watch("year", state, terms.year, planned, paid, allowed)
            state.now["credits_paid_this_year"] = paid + allowed
            state.now["contract_year"] = year
        state.now["credits"] = allowed @ self.of_services
        state.post("credits", -state.now["credits"])

    def _due(self, by_level: Mapping[str, FloatArray]) -> FloatArray:
        """Return the credits that are claimed of the levels that are paid, shape (draws, services). [currency]"""
        if self.terms.between_levels == "parent_absorbs_children":
            return stacking.absorbed_arrays(by_level, self.rank) @ self.member * self.claimed
        rule: stacking.Rule = "cumulative" if self.terms.between_levels == "cumulative" else "highest_level"
        due, _ = stacking.arrays({name: amounts @ self.member for name, amounts in by_level.items()}, rule)
        return due * self.claimed

    def _watch(
        self,
        cap: Literal["month", "year"],
        state: State,
        share: Decimal | None,
        base: FloatArray,
        before: FloatArray,
        allowed: FloatArray,
    ) -> None:
        """Note the tranches of services whose credits come to reach a cap that a right looks at."""
        if cap not in self.watched or share is None:
            return
        whole = float(share) * base
        reached = (before < whole - HALF_A_CENT) & (before + allowed >= whole - HALF_A_CENT)
        state.now[f"cap_reached:{cap}"] = np.asarray(reached @ self.member.T > 0)

    def _planned_term(self) -> FloatArray:
        """Return the fees of each service planned for the whole term, shape (services,). [currency]"""
        months = min(self.setting.term_months, self.setting.months)
        return np.asarray(self.setting.fees[:, :months].mean(axis=1) * self.setting.term_months @ self.member)

    def _contract_year(self, month: int, state: State) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return the contract year of each service, what its credits came to so far, and its planned fees.

        Each of shape (draws, services). A year starts with the calendar month in which the service's first tranche is
        ready; planned are twelve months' fees of the tranches ready before it ends, as if ready throughout.
        """
        ready = state.path["ready"]
        first = np.stack(
            [np.where(self.member[:, s] > 0, ready, np.inf).min(axis=1) for s in range(self.member.shape[1])],
            axis=1,
        )
        first = np.floor(first)
        year = np.floor(np.maximum(month - 1 - first, 0) / 12).astype(np.int64)
        there = ready < (first + 12.0 * (year + 1)) @ self.member.T
        planned = there * self.setting.fees[:, max(0, month - 12) : month].mean(axis=1) * 12 @ self.member
        before = state.now.get("contract_year")
        paid = state.now.get("credits_paid_this_year")
        if before is None or paid is None:
            return year, np.zeros(year.shape), planned
        return year, np.where(year == before, paid, 0.0), planned
