"""One party's log decides, or nothing replaces it when it is silent."""

from __future__ import annotations

from collections.abc import Iterator

from schemas.deal import Deal
from slakit.checks.finding import Concern, Raised, everybody

ID = "trap-06-monitor-of-record"
CONCERN = Concern(provider="note", customer="error", lender="warning", insurer="error")
NO_APPOINTER = everybody("note")


def find(deal: Deal) -> Iterator[Raised]:
    """Yield what makes the record of outages one-sided."""
    measurement = deal.measurement
    if not deal.service_levels:
        return
    if measurement.conflict == "provider":
        yield Raised(
            CONCERN,
            "monitor-evidence.conflict",
            "measurement.conflict",
            "Only the provider's log decides when two monitors differ; an outage that pays the first band by one clock "
            "may pay the second by the other.",
        )
    if not measurement.monitor_fallback:
        yield Raised(
            CONCERN,
            "monitor-evidence.silent",
            "measurement.monitor_fallback",
            "Nothing replaces the monitor of record while it is silent, and what takes down a cluster often takes down "
            "its monitor.",
        )
    if measurement.monitor == "provider":
        yield Raised(
            CONCERN,
            "monitor-evidence.access",
            "measurement.monitor",
            "The provider's monitor is the record and the customer cannot read it.",
        )
    if measurement.conflict == "expert" and deal.commercial is not None and deal.commercial.expert_body is None:
        yield Raised(
            NO_APPOINTER,
            "governing-law-disputes.expert",
            "commercial.expert_body",
            "An expert decides when two monitors differ, and no body is named to appoint one, so that a court has to.",
        )
