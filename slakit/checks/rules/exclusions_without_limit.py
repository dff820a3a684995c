"""Exclusions that swallow the promise."""

from __future__ import annotations

from collections.abc import Iterator

from schemas.deal import Deal
from schemas.money import Money
from slakit.checks.fees import worst_month_paid
from slakit.checks.finding import Concern, Raised
from slakit.reports.figures import agreed_percent

ID = "trap-10-exclusions-without-limit"
CONCERN = Concern(provider="note", customer="error", lender="warning", insurer="error")

_FORESEEABLE = {
    "cyber_attack": "a cyber attack",
    "congestion": "congestion of a network",
    "utility_power": "loss of utility power, which the site's own plant is there to bridge",
    "supplier_delay": "delay of a supplier",
    "own_labour": "a dispute with the provider's own staff",
}


def find(deal: Deal) -> Iterator[Raised]:
    """Yield heads without a limit, an open list, foreseeable force majeure and a burden on the customer."""
    if not deal.service_levels:
        return
    exclusions, money = deal.exclusions, worst_month_paid(deal)
    if exclusions.open_ended:
        yield Raised(
            CONCERN,
            "excluded-downtime.closed-list",
            "exclusions.open_ended",
            "The list of exclusions is open, so any outage can be argued into it and the table need never pay.",
            money,
        )
    if "scheduled" in exclusions.heads and exclusions.scheduled.cap_unit_month_hours is None:
        yield _without_limit(
            deal, "Planned maintenance", "scheduled-maintenance.cap", "scheduled.cap_unit_month_hours", money
        )
    if "emergency" in exclusions.heads and exclusions.emergency is None:
        yield _without_limit(deal, "Emergency maintenance", "excluded-downtime.closed-list", "emergency", money)
    elif exclusions.emergency is not None and exclusions.emergency.cap_quarter_hours is None:
        yield _without_limit(
            deal, "Emergency maintenance", "emergency-maintenance.cap", "emergency.cap_quarter_hours", money
        )
    if exclusions.burden == "customer":
        yield Raised(
            CONCERN,
            "excluded-downtime.burden",
            "exclusions.burden",
            "The customer must prove that an exclusion does not apply, from facts that only the provider holds.",
        )
    if "force_majeure" in exclusions.heads:
        yield from _force_majeure(deal)


def _without_limit(deal: Deal, head: str, paragraph: str, path: str, money: Money | None) -> Raised:
    targets = [level.target for level in deal.service_levels.values() if level.target is not None]
    still = f"still meet {agreed_percent(max(targets))}" if targets else "owe nothing for it"
    return Raised(
        CONCERN,
        paragraph,
        f"exclusions.{path}",
        f"{head} has no limit of hours: a provider could exclude a whole month and {still}.",
        money,
    )


def _force_majeure(deal: Deal) -> Iterator[Raised]:
    terms = deal.exclusions.force_majeure
    for i, event in enumerate(terms.events):
        if event in _FORESEEABLE:
            against = event in terms.never
            yield Raised(
                CONCERN,
                "force-majeure.events",
                f"exclusions.force_majeure.events[{i}]",
                f"Force majeure excuses {_FORESEEABLE[event]}, though a provider is paid to withstand it"
                + (", and the list of what is never force majeure says the opposite." if against else "."),
            )
    if not terms.never:
        yield Raised(
            CONCERN,
            "force-majeure.never",
            "exclusions.force_majeure.never",
            "Nothing is named that is never force majeure, so failure of redundant plant and the provider's own errors "
            "can be argued into it.",
        )
