"""A credit that is lost when it is not claimed in time."""

from __future__ import annotations

from collections.abc import Iterator

from schemas.deal import Deal
from slakit.checks.fees import worst_month_paid
from slakit.checks.finding import Concern, Raised
from slakit.checks.standards import standards
from slakit.reports.figures import money_in_words

ID = "trap-07-claim-window"
VERY_SHORT = Concern(provider="note", customer="error", lender="note", insurer="note")
SHORT = Concern(provider="note", customer="warning", lender="note", insurer="note")

_FROM = {
    "period_end": "the end of the month",
    "incident_end": "the end of the outage",
    "statement": "the provider's statement",
}


def find(deal: Deal) -> Iterator[Raised]:
    """Yield a claim window that is short, runs from the outage, or forfeits before a statement is due."""
    process = deal.credits.process
    if process.mode != "claimed" or not deal.service_levels:
        return
    before_statement = process.window_from != "statement"
    short = process.window_days < standards().claim_window.value
    forfeits_blind = process.late == "forfeit" and before_statement
    if not (short or process.window_from == "incident_end" or forfeits_blind):
        return
    said = f"A claim must arrive within {process.window_days} days of {_FROM[process.window_from]}"
    said += " or the credit is lost." if process.late == "forfeit" else "; nothing says what a late claim is worth."
    if before_statement:
        said += (
            f" The provider's statement, which holds the data, is due only {process.statement_business_days} business "
            "days after the month."
        )
    money = worst_month_paid(deal)
    if money is not None:
        said += f" One month can earn up to {money_in_words(money.amount, money.currency)}."
    concern = VERY_SHORT if process.window_days < standards().short_claim_window.value else SHORT
    yield Raised(concern, "credit-process.late", "credits.process.window_days", said, money)
