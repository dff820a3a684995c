"""One party's log decides, or nothing replaces it when it is silent."""

from __future__ import annotations

from collections.abc import Iterator

from schemas.deal import Deal
from schemas.money import Money
from slakit.checks.finding import Concern, Raised, everybody
from slakit.checks.stored_set import of_two_clocks
from slakit.reports.figures import money_owed

ID = "trap-06-monitor-of-record"
CONCERN = Concern(provider="note", customer="error", lender="warning", insurer="error")
NO_APPOINTER = everybody("note")


def find(deal: Deal) -> Iterator[Raised]:
    """Yield what makes the record of outages one-sided."""
    measurement = deal.measurement
    if not deal.service_levels:
        return
    if measurement.conflict == "provider":
        words, money = _two_clocks(deal)
        yield Raised(
            CONCERN,
            "monitor-evidence.conflict",
            "measurement.conflict",
            "Only the provider's log decides when two monitors differ; an outage that pays the first band by one clock "
            f"may pay the second by the other.{words}",
            money,
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


def _two_clocks(deal: Deal) -> tuple[str, Money | None]:
    """Return what the choice of clock is worth on one outage of the public record."""
    found = of_two_clocks(deal)
    if found is None or found[0] == found[1]:
        return "", None
    provider, outside = found
    words = (
        f" On the stored outage of 7 December 2021 the provider's clock gives one unit of each level "
        f"{money_owed(provider)} and an outside clock {money_owed(outside)}."
    )
    return words, max(outside - provider, provider - outside, key=lambda one: one.amount)
