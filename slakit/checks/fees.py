"""What a service costs a month and a node, exactly as the contract prices it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from risk.contract_rules import credit_shape, monthly_price
from schemas.capacity import Cluster
from schemas.commercial import Price
from schemas.deal import Deal
from schemas.money import Money, rounded_to_minor_unit
from schemas.service_levels import ServiceLevel

HOURS_OF_A_MEAN_MONTH = Fraction(8760, 12)
"""[h]"""


@dataclass(frozen=True, slots=True)
class ServiceView:
    """One service with what measures and prices it; without a name where the deal holds terms alone."""

    name: str | None
    clusters: tuple[Cluster, ...]
    levels: dict[str, ServiceLevel]
    deal: Deal

    @property
    def nodes(self) -> int | None:
        """Return the contracted nodes of its clusters, None where one does not count them. [1]"""
        counts = [cluster.units.node for cluster in self.clusters]
        return sum(count for count in counts if count) if counts and all(counts) else None

    def fee(self, hours: Fraction = HOURS_OF_A_MEAN_MONTH) -> Fraction | None:
        """Return the fee of a month of `hours` with all units in service, None where it is not priced. [currency]"""
        commercial = self.deal.commercial
        charge = commercial.charges.get(self.name) if commercial and self.name else None
        if charge is None:
            return None
        count = self._counted(charge.price)
        if charge.price.counted is not None and count is None:
            return None
        return monthly_price.exact(charge.price, count, hours, f"commercial.charges.{self.name}.price").value

    def _counted(self, price: Price) -> Decimal | None:
        """Return how many units the price counts, None where a cluster does not say."""
        if price.counted is None:
            return None
        counts = [getattr(cluster.units, price.counted) for cluster in self.clusters]
        return sum((Decimal(count) for count in counts if count), Decimal(0)) if counts and all(counts) else None

    def money(self, amount: Fraction | None) -> Money | None:
        """Return an amount in the deal's currency, rounded to its minor unit."""
        if amount is None or self.deal.commercial is None:
            return None
        currency = self.deal.commercial.currency
        return Money(rounded_to_minor_unit(amount, currency), currency)

    def worst_month(self) -> Fraction | None:
        """Return the credit of a month in which every level pays its most, before the month cap. [currency]

        None where the fee is not known, or a level does not say what it pays.
        """
        fee = self.fee()
        if fee is None or not self.levels:
            return None
        tops: list[Fraction] = []
        for level in self.levels.values():
            top = credit_shape.greatest_share(level)
            if top is None:
                return None
            tops.append(top)
        one_level = self.deal.credits.between_levels in ("highest_level", "choose_one")
        share = max(tops) if one_level else sum(tops, Fraction(0))
        return min(share, Fraction(self.deal.credits.caps.unit)) * fee

    def worst_month_paid(self) -> Fraction | None:
        """Return the same after the month cap. [currency]"""
        worst, fee, cap = self.worst_month(), self.fee(), self.deal.credits.caps.month
        if worst is None or fee is None or cap is None:
            return worst
        return min(worst, Fraction(cap) * fee)


def services(deal: Deal) -> Iterator[ServiceView]:
    """Yield each service; one without a name where the deal has service levels and no services."""
    if not deal.services:
        if deal.service_levels:
            yield ServiceView(None, (), dict(deal.service_levels), deal)
        return
    tranches = deal.delivery.tranches if deal.delivery else {}
    for name, service in deal.services.items():
        terms = [tranches[tranche] for tranche in service.tranches if tranche in tranches]
        clusters = tuple(deal.clusters[t.cluster] for t in terms if t.cluster is not None)
        levels = {
            key: level
            for key, level in deal.service_levels.items()
            if level.service == name or (level.service is None and len(deal.services) == 1)
        }
        yield ServiceView(name, clusters, levels, deal)


def worst_month_paid(deal: Deal) -> Money | None:
    """Return the greatest credit of one month over all services, None where one is not priced."""
    views = list(services(deal))
    paid = [view.worst_month_paid() for view in views]
    amounts = [amount for amount in paid if amount is not None]
    if not views or len(amounts) < len(paid):
        return None
    return views[0].money(sum(amounts, Fraction(0)))
