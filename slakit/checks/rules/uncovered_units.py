"""Units that are paid for and have no service level.

Not expressible in this version, so not looked at: order lines that a contract lists as uncovered.
"""

from __future__ import annotations

from collections.abc import Iterator

from schemas.deal import Deal
from slakit.checks.fees import ServiceView, services
from slakit.checks.finding import Concern, Raised
from slakit.reports.figures import money_in_words

ID = "trap-04-uncovered-units"
CONCERN = Concern(provider="note", customer="error", lender="error", insurer="error")
PARAGRAPH = "scope-demarcation.coverage"


def find(deal: Deal) -> Iterator[Raised]:
    """Yield services without a service level, and levels that could be of several services."""
    for view in services(deal):
        if view.name is not None and not view.levels:
            money = view.money(view.fee())
            worth = f" worth {money_in_words(money.amount, money.currency)} a month" if money else ""
            yield Raised(
                CONCERN,
                PARAGRAPH,
                f"services.{view.name}",
                f"{_units(view)}{worth} have no service level at all.",
                money,
            )
    if len(deal.services) > 1:
        for name, level in deal.service_levels.items():
            if level.service is None:
                yield Raised(
                    CONCERN,
                    PARAGRAPH,
                    f"service_levels.{name}",
                    f"This level names no service and the deal has {len(deal.services)}, so it covers none of them.",
                )


def _units(view: ServiceView) -> str:
    gpus = sum(cluster.units.gpu for cluster in view.clusters)
    return f"{gpus:,} GPUs of the service {view.name!r}" if gpus else f"The units of the service {view.name!r}"
