"""A stretch of availability that misses the target and pays nothing.

Bands are typed strictly below their edge and in order, so that two answers for one edge, an overlap, a gap between rows
and words that differ from the test cannot be written down here; a gap above the first row can.
"""

from __future__ import annotations

from collections.abc import Iterator

from schemas.deal import Deal
from slakit.checks.finding import Raised, everybody
from slakit.reports.figures import agreed_percent

ID = "trap-08-table-gap"
CONCERN = everybody("error")


def find(deal: Deal) -> Iterator[Raised]:
    """Yield levels whose first band starts below the target."""
    for name, level in deal.service_levels.items():
        first = level.credit.bands[0]
        if first.below < level.target:
            yield Raised(
                CONCERN,
                "credit-schedule.bands",
                f"service_levels.{name}.credit.bands[0].below",
                f"From {agreed_percent(first.below)} up to the target of {agreed_percent(level.target)} the promise is "
                "broken and the table pays nothing: start the first band at the target, or lower the target.",
            )
