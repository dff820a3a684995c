"""A loss excused though the provider said wrongly where the units stand.

The place of every site is a required term and is printed. Not expressible in this version, so not looked at: a
warranty of it, and what two sites must not share.
"""

from __future__ import annotations

from collections.abc import Iterator

from schemas.deal import Deal
from slakit.checks.finding import Concern, Raised

ID = "trap-21-location"
CONCERN = Concern(provider="warning", customer="error", lender="warning", insurer="error")


def find(deal: Deal) -> Iterator[Raised]:
    """Yield force majeure that does not shut out the provider's own misstatement."""
    exclusions = deal.exclusions
    if not deal.service_levels or "force_majeure" not in exclusions.heads:
        return
    if "own_misstatement" not in exclusions.force_majeure.never:
        yield Raised(
            CONCERN,
            "force-majeure.never",
            "exclusions.force_majeure.never",
            "A flood or a fire may be excused even where the units stood elsewhere than the provider had stated.",
        )
