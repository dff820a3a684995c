"""A unit that answers but does not work is never down.

Not expressible in this version, so taken as absent: performance metrics with a floor and a weight.
"""

from __future__ import annotations

from collections.abc import Iterator

from schemas.deal import Deal
from slakit.checks.finding import Concern, Raised

ID = "trap-03-slow-is-up"
CONCERN = Concern(provider="note", customer="error", lender="note", insurer="warning")

_MEASURED = ("node", "fabric", "storage")


def find(deal: Deal) -> Iterator[Raised]:
    """Yield levels whose only test of being down is that nothing answers."""
    for name, level in deal.service_levels.items():
        if level.level not in _MEASURED or set(level.down_tests) - {"unreachable"}:
            continue
        if level.down_tests:
            said = (
                f"A {level.level} that answers but is slow or faulty is never down, and nothing promises performance."
            )
        else:
            said = f"No test makes a {level.level} down, so this level can never be missed."
        yield Raised(CONCERN, "service-levels.down-tests", f"service_levels.{name}.down_tests", said)
