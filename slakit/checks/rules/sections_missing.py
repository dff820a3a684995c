"""What cannot be done with this deal yet, and what it lacks for it."""

from __future__ import annotations

from collections.abc import Iterator

from schemas.deal import Deal
from slakit.checks.finding import Raised, everybody

ID = "section-missing"
CONCERN = everybody("note")


def find(deal: Deal) -> Iterator[Raised]:
    """Yield a finding for each command that this deal is too short for."""
    finance = deal.finance
    lasts = finance is None or finance.loan is not None or finance.horizon_months is not None
    has_graph = any(site.topology is not None for site in deal.sites.values())
    needs = (
        ("draft", "parties", "a provider", deal.party("provider") is not None),
        ("draft", "parties", "a customer", deal.party("customer") is not None),
        ("draft", "service_levels", "service levels", bool(deal.service_levels)),
        ("site", "sites", "a site with a topology", has_graph),
        ("score", "services", "services", bool(deal.services)),
        ("score", "delivery", "delivery", deal.delivery is not None),
        ("score", "commercial", "commercial terms", deal.commercial is not None),
        ("score", "finance", "finance", finance is not None),
        ("score", "finance.horizon_months", "a loan or the months to simulate", lasts),
    )
    for command in dict.fromkeys(need[0] for need in needs):
        missing = [(path, words) for name, path, words, there in needs if name == command and not there]
        if missing:
            listed = ", ".join(words for _, words in missing)
            yield Raised(CONCERN, None, missing[0][0], f"`slakit {command}` cannot run yet: it needs {listed}.")
