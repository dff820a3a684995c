"""Outages too short to count."""

from __future__ import annotations

from risk.contract_rules.counting_rules import CountingRules
from risk.contract_rules.flaps import Outage
from risk.contract_rules.intervals import exact_minutes
from risk.core.computed import Computed, Step

PARAGRAPH = "outage-clock.minimum"
EDGES_PARAGRAPH = "time-money-rules.edges"


def exact(outage: Outage, rules: CountingRules, level: str | None = None) -> Computed[bool]:
    """Return whether one outage counts, tested on the whole of it before anything is divided or taken out."""
    at_least = rules.minimum_test == "at_least"
    counts = outage.length >= rules.minimum_outage if at_least else outage.length > rules.minimum_outage
    words = "at least" if at_least else "more than"
    minutes = exact_minutes(outage.length)
    return Computed(
        counts,
        (
            Step(
                EDGES_PARAGRAPH,
                "a period includes the moment at which it starts and not the moment at which it ends; the outage lasts",
                minutes,
                {"from": outage.start, "to": outage.end},
            ),
            Step(
                PARAGRAPH,
                f"an outage counts if the whole of it lasts {words} {rules.minimum_outage_minutes} minutes; "
                "a shorter one is disregarded",
                counts,
                {"minutes": minutes},
                rules.path("minimum_outage_minutes", level),
            ),
        ),
    )
