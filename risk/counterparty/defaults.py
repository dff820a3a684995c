"""When the customer and the provider of the backstop default, month by month."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from risk.core.protocol import Paths, Phase, State, StepFunction
from risk.core.setting import Setting
from risk.counterparty.law import hazard_at_default, joint_default_law
from schemas.assumptions import Counterparties as CounterpartyTerms
from schemas.errors import MissingTermError, NotComputedError

FloatArray = NDArray[np.float64]
LARGEST_EXPONENT = 500.0
"""Hazards beyond exp(500) are those of a certain default; the exponential stays finite. [1]"""


class Counterparties:
    """Writes the defaults of the customer and of the cover provider, and ends the contracts of the former.

    Paths (draws,): `customer_score` and `cover_provider_score`, standard normals; `assumed_score`, uniform. Arrays
    (draws,): `customer_default_month` [month, 0 none], `cover_provider_default_time` [month, infinite none],
    `customer_defaults_now`, `provider_alive`, `fees_withheld` whether the estate keeps the contract and leaves the
    month's fee unpaid, and `unpaid_fees` what is left unpaid [currency]. A path of the name of one of the first two is
    taken instead of what follows from the scores.

    Notes
    -----
    Hazard of the customer in month m: rate/12 x exp(-market link x X_m), X the log deviation of rent; of the provider:
    rate/12. Default by month m when Phi(Z) <= 1 - exp(-H_m), H the cumulated hazard, Z_P = rho Z_C + sqrt(1 - rho^2) e.
    """

    streams = ("counterparty",)

    def __init__(self, setting: Setting, terms: CounterpartyTerms) -> None:
        self.setting, self.terms = setting, terms
        customer, provider = terms.customer, terms.cover_provider
        self.customer_rate = float(customer.default_rate) if customer else 0.0
        self.market_link = float(customer.market_link) if customer and customer.market_link else 0.0
        self.assumed_share = float(customer.assumed_share) if customer and customer.assumed_share else 0.0
        self.provider_rate = float(provider.default_rate) if provider else 0.0
        self.correlation = float(terms.correlation) if terms.correlation else 0.0
        if self.market_link and setting.deal.assumptions.market is None:
            raise MissingTermError(
                "assumptions.market",
                "assumptions.counterparties.customer.market_link",
                "give the market, or remove market_link",
            )

    def sample(self, rng: Mapping[str, Generator], draws: int) -> Paths:
        """Return the scores, each of shape (draws,).

        All are drawn whoever may fail, and the provider's is made from the customer's, so that neither a provider nor a
        correlation moves the customer.
        """
        own = rng["counterparty"].standard_normal((2, draws))
        assumed = rng["counterparty"].random(draws)
        provider = self.correlation * own[0] + np.sqrt(1.0 - self.correlation**2) * own[1]
        return {"customer_score": own[0], "cover_provider_score": provider, "assumed_score": assumed}

    def base(self) -> Paths:
        """Return scores at which nobody fails."""
        never = np.full(1, np.inf)
        return {"customer_score": never, "cover_provider_score": never.copy(), "assumed_score": np.ones(1)}

    def steps(self) -> Mapping[Phase, StepFunction]:
        """Return the defaults of the month, and the fee that an estate leaves unpaid."""
        if self.assumed_share:
            return {Phase.COUNTERPARTY: self._defaults, Phase.RELETTING: self._leave_unpaid}
        return {Phase.COUNTERPARTY: self._defaults}

    def ignores(self) -> tuple[str, ...]:
        """Return what this model leaves out."""
        words = []
        if self.terms.customer is None:
            words.append("Customer: assumptions.counterparties.customer is not given, so the customer always pays.")
        else:
            words.append(
                "Customer: pays in full until it defaults and never late; a default is seen in the month it happens; "
                "nothing is paid later on what was owed, so claims against the estate have no value."
            )
            if self.assumed_share:
                words.append(
                    "Customer: an estate that keeps the contract leaves one month's fee unpaid and never fails again."
                )
        if self.terms.cover_provider is not None:
            words.append(
                "Cover provider: its hazard is constant; its default ends the cover, and nothing is recovered from it."
            )
        return tuple(words)

    def customer_default_months(self, score: FloatArray, deviation: FloatArray | None) -> NDArray[np.int64]:
        """Return the month of the customer's default, 0 for none in the months simulated, shape (draws,). [month]

        Parameters
        ----------
        score : standard normal, shape (draws,). [1]
        deviation : log deviation of rent, shape (draws, months); needed where the hazard follows the market. [1]
        """
        reached, before = hazard_at_default(score), np.zeros(len(score), dtype=np.int64)
        cumulated = np.zeros(len(score))
        for m in range(self.setting.months):
            hazard = np.full(len(score), self.customer_rate / 12)
            if self.market_link:
                assert deviation is not None
                hazard *= np.exp(np.minimum(-self.market_link * deviation[:, m], LARGEST_EXPONENT))
            cumulated += hazard
            before += cumulated < reached
        return np.where(before < self.setting.months, before + 1, 0)

    def cover_provider_default_times(self, score: FloatArray) -> FloatArray:
        """Return when the cover provider defaults, infinite if never, shape (draws,). [month]"""
        if not self.provider_rate:
            return np.full(len(score), np.inf)
        return np.asarray(hazard_at_default(score) / (self.provider_rate / 12))

    def enumerate_defaults(self) -> tuple[Paths, FloatArray]:
        """Return every pair of default months, one draw each, and their exact probabilities, shape (pairs,). [1]

        The paths `customer_default_month` and `cover_provider_default_time` replace the sampled ones in a weighted
        block. A provider that defaults in a month is given the end of it, which is all that a month's payment asks.

        Raises
        ------
        NotComputedError
            When the customer's hazard follows the market: months then have no law without a path of it.
        """
        if self.market_link:
            raise NotComputedError(
                "assumptions.counterparties.customer.market_link",
                "the joint law of default months with a hazard that follows the market",
                "leave it out, or simulate",
            )
        months, law = joint_default_law(self.customer_rate, self.provider_rate, self.correlation, self.setting.months)
        customer, provider = np.repeat(months, len(months)), np.tile(months, len(months))
        paths: Paths = {
            "customer_default_month": customer,
            "cover_provider_default_time": np.where(provider > 0, provider.astype(float), np.inf),
        }
        return paths, law.ravel()

    def _defaults(self, month: int, state: State) -> None:
        if month == 1:
            self._times(state)
        now = state.now["customer_default_month"] == month
        assumed = now & (state.path["assumed_score"] < self.assumed_share)
        state.now["customer_defaults_now"], state.now["fees_withheld"] = now, assumed
        state.now["provider_alive"] = state.now["cover_provider_default_time"] > month
        rows = np.flatnonzero(now & ~assumed)
        if len(rows):
            ends = np.zeros(state.under_contract.shape, dtype=bool)
            ends[rows] = self.setting.term_ends(state.path["ready"][rows]) > month - 1
            state.end_contract(ends, "customer_default", month, month - 1)

    def _times(self, state: State) -> None:
        """Set the two times of default of each draw."""
        month, time = (state.path.get(name) for name in ("customer_default_month", "cover_provider_default_time"))
        if month is None:
            month = self.customer_default_months(state.path["customer_score"], state.path.get("rent_deviation"))
        if time is None:
            time = self.cover_provider_default_times(state.path["cover_provider_score"])
        state.now["customer_default_month"], state.now["cover_provider_default_time"] = month, time

    def _leave_unpaid(self, month: int, state: State) -> None:
        """Take back what is due of the month's fee, net of prepayment, credits and set-off, where it is withheld."""
        withheld, unpaid = state.now["fees_withheld"], np.zeros(state.draws)
        if withheld.any():
            set_off = state.cash.get("delay_damages_set_off")
            due = state.now["fees_payable"] + (set_off.amount if set_off is not None else 0.0)
            unpaid = np.where(withheld, np.maximum(due, 0.0), 0.0)
            state.post("unpaid_fees", -unpaid)
        state.now["unpaid_fees"] = unpaid
