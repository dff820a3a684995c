"""The backstop of a deal in the simulation: what it owes each month, what it pays and what it costs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from risk.backstop import formulas
from risk.backstop.capacity import Capacity, all_that_is_ready, out_of_contract
from risk.backstop.guarantee import Guarantee
from risk.backstop.limit import Limit
from risk.core.protocol import Paths, Phase, State, StepFunction
from risk.core.setting import Setting
from schemas.backstop import (
    Backstop,
    FirstLoss,
    FloorCover,
    IndexPriceFloor,
    Leaseback,
    PaymentGuarantee,
    ResidualGuarantee,
    RevenueFloor,
    UnsoldHoursPut,
    UtilisationFloor,
)
from schemas.errors import MissingTermError, NotComputedError

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
ROUNDING = 1e-9
"""Dates this close to a month's end are that month's end. [month]"""


class BackstopCover:
    """Writes the ledger of the cover, each array of shape (draws,) [currency].

    Of the month: `cover_formula`, what the shape's formula gives; `cover_paid`; `cover_not_started`,
    `cover_provider_failed` and `cover_beyond_limit`, what of it is not paid and why; `backstop_fee`,
    `backstop_revenue_share`. A leaseback's formula is its rent; `cover_market_revenue` is what its lessee keeps against
    it, and the line `backstop` is what is left. Carried on: `cover_paid_so_far`,
    `cover_paid_this_year`, `cover_starts` [month], and `cover_left` where the amount is limited. Of the draw:
    `loss_cover`, what a first loss or an assignable guarantee gives the lender in the month of default, and of a first
    loss `loss_cover_sale_only`, what it would give if the GPUs could only be sold.

    Notes
    -----
    A month belongs to the cover when it lies whole between start and expiry and the loan has not defaulted before it.
    It is paid min(formula, what the limit leaves) if the provider's default comes later than the month.
    """

    streams: tuple[str, ...] = ()

    def __init__(self, setting: Setting, terms: Backstop) -> None:
        self.setting, self.terms = setting, terms
        finance = setting.deal.finance
        assert finance is not None
        self.loan, at = finance.loan, setting.timeline.at
        loan_ends = self.loan.first_payment_month + self.loan.payments - 1 if self.loan else setting.months
        self.measured_in = 0
        if isinstance(terms, ResidualGuarantee):
            self.measured_in = max(1, int(np.ceil(at(terms.at) - ROUNDING)))
        ends = max(loan_ends, self.measured_in) if terms.expires is None else at(terms.expires)
        self.last_month = int(np.floor(ends + ROUNDING))
        self.start_date = at(terms.start_date) if terms.start_date is not None else 0.0  # 0 is signing
        self.limit = Limit.of(terms)
        self.fee = float(terms.fee_rate) * float(terms.amount or 0) / 12
        self.fee_from = self.loan.first_payment_month if self.loan else 1
        self.revenue_share, self.share_above = float(terms.revenue_share), float(terms.revenue_share_above)
        self.guarantee = Guarantee(setting, terms) if isinstance(terms, PaymentGuarantee) else None
        self.assignable = terms.assignable if terms.assignable is not None else self.guarantee is not None
        self._refuse_what_has_no_model()
        self._needs_what_the_shape_reads()

    def sample(self, rng: Mapping[str, Generator], draws: int) -> Paths:
        """Return nothing: cover follows from delivery, contracts, the market and the provider's credit."""
        return {}

    def base(self) -> Paths:
        """Return nothing."""
        return {}

    def steps(self) -> Mapping[Phase, StepFunction]:
        """Return the month's payment and price, and what the lender gets after a default of the loan."""
        if isinstance(self.terms, FirstLoss) or (self.guarantee is not None and self.assignable):
            return {Phase.BACKSTOP: self._month, Phase.LOSS_COVER: self._loss_cover}
        return {Phase.BACKSTOP: self._month}

    def ignores(self) -> tuple[str, ...]:
        """Return what this model leaves out."""
        terms, counterparties = self.terms, self.setting.deal.assumptions.counterparties
        words = [
            "Backstop: a month is covered when it lies whole between start and expiry; claims are paid in the month "
            "they arise, without dispute, and never recovered from the customer."
        ]
        if counterparties.cover_provider is None:
            words.append(
                "Backstop: assumptions.counterparties.cover_provider is not given, so its provider never fails."
            )
        if self.fee or self.revenue_share:
            words.append(
                "Backstop: its price is paid until the cover expires or the loan defaults, also when the cover is used "
                "up or its provider has failed; the fee is a share of the amount first agreed."
            )
        if self.guarantee is not None:
            words.extend(self._guarantee_ignores(counterparties.customer is None))
        if isinstance(terms, ResidualGuarantee) and self.measured_in > self.setting.months:
            words.append("Backstop: the value is measured after the last month simulated, so nothing is paid.")
        if self.loan is not None and not self.assignable and not isinstance(terms, FirstLoss):
            words.append("Backstop: it ends when the loan defaults; the lender has no claim under it.")
        return tuple(words)

    def _guarantee_ignores(self, customer_never_fails: bool) -> list[str]:
        words = [
            "Guarantee: it answers for contracts that were in force when it started, not for those that ended before.",
        ]
        if customer_never_fails and self.guarantee is not None and self.guarantee.of_default:
            words.append(
                "Guarantee: assumptions.counterparties.customer is not given, so nothing is claimed for default."
            )
        if self.loan is not None and self.assignable:
            words.append(
                "Guarantee: a lender that goes on claiming is given the value of the rent still guaranteed on "
                "contracts already ended, discounted at the loan's rate and by the provider's hazard, with nothing let "
                "again; contracts that end after the default of the loan are not claimed for."
            )
        return words

    def _refuse_what_has_no_model(self) -> None:
        terms = self.terms
        if self.assignable and not isinstance(terms, (PaymentGuarantee, FirstLoss)):
            raise NotComputedError(
                "backstop.assignable",
                f"the worth to the lender of a {terms.shape.replace('_', ' ')} after a default of the loan",
                "remove it, or say false: cover then ends with the default",
            )
        if isinstance(terms, Leaseback) and self.revenue_share:
            raise NotComputedError(
                "backstop.revenue_share",
                "a share of revenue beside a leaseback, whose lessee keeps all of it",
                "remove it",
            )

    def _needs_what_the_shape_reads(self) -> None:
        deal, terms = self.setting.deal, self.terms
        needed = []
        if isinstance(terms, (FloorCover, Leaseback)) and not self.setting.gpus.sum():
            needed.append(("delivery.tranches.*.cluster", "name the clusters, whose GPUs are counted"))
        if isinstance(terms, (UtilisationFloor, IndexPriceFloor)) and deal.assumptions.market is None:
            needed.append(("assumptions.market", "give the market, whose rent is paid"))
        if isinstance(terms, FirstLoss):
            assert deal.finance is not None
            if deal.finance.loan is None:
                needed.append(("finance.loan", "give the loan whose loss is borne"))
            elif deal.finance.recovery is None and deal.assumptions.prescribed.lgd is None:
                needed.append(("finance.recovery", "give it, or prescribe the loss given default"))
        for path, remedy in needed:
            raise MissingTermError(path, f"a backstop of shape {terms.shape}", remedy)

    # --- the month ---------------------------------------------------------------------------------------------------

    def _month(self, month: int, state: State) -> None:
        if month == 1:
            self._begin(state)
        if self.terms.starts == "rent_commenced":
            first = np.isinf(state.now["cover_starts"]) & (state.now["fees"] > 0)
            state.now["cover_starts"] = np.where(first, month - 1.0, state.now["cover_starts"])
        state.now["cover_market_revenue"] = np.zeros(state.draws)
        lives = self._lives(month, state)
        started = state.now["cover_starts"] <= month - 1
        if lives is None:
            self._book(month, state, np.zeros(state.draws), np.zeros(state.draws))
        else:
            claim, late = self._claims(month, state, started)
            self._book(month, state, claim * lives, late * lives)
            self._post(month, state, claim)
        self._price(month, state, started, lives)

    def _begin(self, state: State) -> None:
        """Set when the cover starts in each draw, and open its ledger."""
        ready, starts = state.path["ready"], np.full(state.draws, self.start_date)
        if self.terms.starts == "rfs_all":
            starts = ready.max(axis=1)
        elif self.terms.starts == "rfs_each_tranche":
            starts = np.floor(ready.min(axis=1))  # in its first month what is ready is counted for its share of it
        elif self.terms.starts == "rent_commenced":
            starts = np.full(state.draws, np.inf)
        state.now["cover_starts"] = starts
        state.now["cover_paid_so_far"] = np.zeros(state.draws)
        state.now["cover_paid_this_year"] = np.zeros(state.draws)
        state.now["loss_cover"] = np.zeros(state.draws)
        if isinstance(self.terms, FirstLoss):
            state.now["loss_cover_sale_only"] = np.zeros(state.draws)

    def _lives(self, month: int, state: State) -> BoolArray | None:
        """Return whether the cover has neither expired nor ended with the loan, (draws,); None where it has expired."""
        if month > self.last_month:
            return None
        failed = state.now.get("default_month")
        return np.ones(state.draws, dtype=bool) if failed is None else np.asarray(failed == 0)

    def _claims(self, month: int, state: State, started: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Return what the formula gives where cover has started, and where it has not, each of shape (draws,)."""
        if self.guarantee is not None:
            return self.guarantee.claims(month, state, self._starts_by_tranche(state))
        due = self._formula(month, state)
        return np.where(started, due, 0.0), np.where(started, 0.0, due)

    def _starts_by_tranche(self, state: State) -> FloatArray:
        """Return when cover starts for each tranche, shape (draws, tranches) or (draws, 1). [month]"""
        if self.terms.starts == "rfs_each_tranche":
            return np.asarray(state.path["ready"])
        return np.asarray(state.now["cover_starts"])[:, None]

    def _formula(self, month: int, state: State) -> FloatArray:
        """Return what the shape's formula gives for the month, shape (draws,). [currency]"""
        terms = self.terms
        if isinstance(terms, ResidualGuarantee):
            if month != self.measured_in:
                return np.zeros(state.draws)
            in_force = state.under_contract & (self.setting.term_ends(state.path["ready"]) > month)
            value = state.now["gpu_value"].sum(axis=1)
            return formulas.residual_guarantee(value, float(terms.threshold), np.asarray(in_force.any(axis=1)))
        if isinstance(terms, FloorCover):
            return self._floor(month, state, terms)
        if isinstance(terms, Leaseback):
            return formulas.leaseback(self._capacity(month, state).hours, 0.0, float(terms.floor_rent))
        return np.zeros(state.draws)  # a first loss is claimed when the loan has defaulted

    def _floor(self, month: int, state: State, terms: FloorCover) -> FloatArray:
        covered, fraction = self._capacity(month, state), float(terms.floor_fraction)
        if isinstance(terms, RevenueFloor):
            return formulas.revenue_floor(covered.hours, covered.revenue, fraction, float(terms.floor_rent))
        if isinstance(terms, UnsoldHoursPut):
            return formulas.unsold_hours_put(covered.hours, covered.sold_hours, fraction, float(terms.floor_rent))
        rent = state.path["spot_rent"][:, month - 1]
        if isinstance(terms, IndexPriceFloor):
            return formulas.index_price_floor(covered.hours, rent, fraction, float(terms.floor_rent))
        return formulas.utilisation_floor(covered.hours, covered.sold_hours, fraction, rent)

    def _capacity(self, month: int, state: State) -> Capacity:
        if isinstance(self.terms, FloorCover) and self.terms.covers == "out_of_contract":
            return out_of_contract(self.setting, month, state)
        return all_that_is_ready(self.setting, month, state)

    # --- the ledger --------------------------------------------------------------------------------------------------

    def _book(self, month: int, state: State, claim: FloatArray, late: FloatArray) -> None:
        """Pay what limit and provider allow of the month's claims, and say why the rest is not paid."""
        if self.limit.begins_year(month) and month > 1:
            state.now["cover_paid_this_year"] = np.zeros(state.draws)
        so_far, this_year = state.now["cover_paid_so_far"], state.now["cover_paid_this_year"]
        starts, within, paid = state.now["cover_starts"], claim, claim
        if claim.any():
            within, paid = self._payable(month, state, claim)
            so_far, this_year = so_far + paid, this_year + paid
            state.now["cover_paid_so_far"], state.now["cover_paid_this_year"] = so_far, this_year
        state.now["cover_formula"], state.now["cover_paid"] = claim + late, paid
        state.now["cover_not_started"] = late
        state.now["cover_provider_failed"], state.now["cover_beyond_limit"] = within - paid, claim - within
        if np.isfinite(self.limit.amount):
            state.now["cover_left"] = self.limit.left(month, starts, so_far)

    def _payable(self, month: int, state: State, claim: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what the limit leaves of a claim, and what of it a provider that lives pays, each (draws,)."""
        within = claim
        if not self.limit.is_none:
            so_far, this_year = state.now["cover_paid_so_far"], state.now["cover_paid_this_year"]
            within = np.minimum(claim, self.limit.room(month, state.now["cover_starts"], so_far, this_year))
        alive = state.now.get("provider_alive")
        return within, within if alive is None else np.where(alive, within, 0.0)

    def _post(self, month: int, state: State, due: FloatArray) -> None:
        """Post what was paid; a leaseback's lessee keeps market revenue for the part of its rent that it pays."""
        paid = state.now["cover_paid"]
        if isinstance(self.terms, Leaseback) and paid.any():
            part = np.divide(paid, due, out=np.zeros(state.draws), where=due > 0)
            kept = part * self._capacity(month, state).revenue
            state.now["cover_market_revenue"] = kept
            paid = paid - kept
        if paid.any():
            state.post("backstop", paid)

    def _price(self, month: int, state: State, started: BoolArray, lives: BoolArray | None) -> None:
        """Post the fee, and the provider's share of market revenue once cover has started."""
        fee = share = np.zeros(state.draws)
        if lives is not None:
            if self.fee and month >= self.fee_from:
                fee = np.where(lives, self.fee, 0.0)
                state.post("backstop_fee", -fee)
            if self.revenue_share:
                above = np.maximum(self._capacity(month, state).revenue - self.share_above, 0.0)
                share = np.where(lives & started, self.revenue_share * above, 0.0)
                if share.any():
                    state.post("backstop_revenue_share", -share)
        state.now["backstop_fee"], state.now["backstop_revenue_share"] = fee, share

    # --- after a default of the loan ---------------------------------------------------------------------------------

    def _loss_cover(self, month: int, state: State) -> None:
        fails = state.now.get("fails_now")
        if fails is None or not fails.any() or month > self.last_month:
            return
        if isinstance(self.terms, FirstLoss):
            started = state.now["cover_starts"] <= month - 1
            claim, of_a_sale = (
                formulas.first_loss(
                    np.where(fails, state.now["exposure"] - state.now[back], 0.0), float(self.terms.share)
                )
                for back in ("recovery", "recovery_sale")
            )
            _, alone = self._payable(month, state, np.where(started, of_a_sale, 0.0))
            self._book(month, state, np.where(started, claim, 0.0), np.where(started, 0.0, claim))
            for name, given in (("loss_cover", state.now["cover_paid"]), ("loss_cover_sale_only", alone)):
                state.now[name] = np.where(fails, given, state.now[name])
            return
        assert self.guarantee is not None
        assert self.loan is not None
        alive = state.now.get("provider_alive")
        rows = fails if alive is None else fails & alive
        if not rows.any():
            return
        value = self.guarantee.value_after_default(
            month,
            state,
            starts=self._starts_by_tranche(state),
            rows=rows,
            last_month=self.last_month,
            monthly_rate=float(self.loan.annual_rate) / 12,
            limit=self.limit,
            limit_starts=state.now["cover_starts"],
            paid=state.now["cover_paid_so_far"],
            paid_this_year=state.now["cover_paid_this_year"],
        )
        covered = state.now["loss_cover"].copy()
        covered[rows] = value
        state.now["loss_cover"] = covered
