"""An outage clock that starts later than the failure.

Not expressible in this version, so not looked at: replacement clocks that start at identification; limits to dating
back.
"""

from __future__ import annotations

from collections.abc import Iterator

from schemas.deal import Deal
from slakit.checks.finding import Concern, Raised

ID = "trap-05-clock-start"
CONCERN = Concern(provider="note", customer="warning", lender="note", insurer="warning")

_LATE = {
    "customer_notice": "when the customer gives notice",
    "ticket_confirmed": "when the provider confirms a ticket",
}


def find(deal: Deal) -> Iterator[Raised]:
    """Yield a clock that waits for a notice or a ticket."""
    starts = deal.measurement.starts_at
    if starts in _LATE and deal.service_levels:
        yield Raised(
            CONCERN,
            "outage-clock.start",
            "measurement.starts_at",
            f"The clock starts {_LATE[starts]}, not when the unit fails: the minutes until then never count, and an "
            "outage at night is shorter on paper than by day.",
        )
