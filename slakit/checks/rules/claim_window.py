"""A credit that is lost when it is not claimed in time."""

from __future__ import annotations

from collections.abc import Iterator

from schemas.credits import CreditProcess
from schemas.deal import Deal
from slakit.checks.fees import worst_month_paid
from slakit.checks.finding import Concern, Raised
from slakit.checks.standards import standards
from slakit.reports.figures import agreed_percent, money_in_words

ID = "trap-07-claim-window"
VERY_SHORT = Concern(provider="note", customer="error", lender="note", insurer="note")
SHORT = Concern(provider="note", customer="warning", lender="note", insurer="note")

DAYS_OF_A_WEEK, BUSINESS_DAYS_OF_A_WEEK, DAYS_OF_A_SHORT_MONTH = 7, 5, 28
"""[day]"""
_FROM = {
    "period_end": "the end of the month",
    "next_period_end": "the end of the month after it",
    "incident_end": "the end of the outage",
    "incident_start": "the start of the outage",
    "statement": "the provider's statement",
}


def find(deal: Deal) -> Iterator[Raised]:
    """Yield a claim window that is short, runs from the outage, or forfeits before a statement is due."""
    process = deal.credits.process
    if process.mode != "claimed" or not deal.service_levels:
        return
    before_statement = process.window_from != "statement"
    days, words = _window(process)
    short = days < standards().claim_window.value
    forfeits_blind = process.late == "forfeit" and before_statement
    if not (short or process.window_from in ("incident_start", "incident_end") or forfeits_blind):
        return
    said = f"A claim must arrive within {words} of {_FROM[process.window_from]}"
    if process.late == "reduced":
        said += f"; a late one is worth {agreed_percent(process.late_share)} of the credit."
    else:
        said += " or the credit is lost." if process.late == "forfeit" else "; nothing says what a late claim is worth."
    if before_statement:
        said += (
            f" The provider's statement, which holds the data, is due only {process.statement_business_days} business "
            "days after the month."
        )
    money = worst_month_paid(deal)
    if money is not None:
        said += f" One month can earn up to {money_in_words(money.amount, money.currency)}."
    concern = VERY_SHORT if days < standards().short_claim_window.value else SHORT
    yield Raised(concern, "credit-process.late", "credits.process.window_days", said, money)


def _window(process: CreditProcess) -> tuple[int, str]:
    """Return the shortest length that the claim window can have, in days, and the window in words."""
    if process.window_business_days is not None:
        weeks, rest = divmod(process.window_business_days, BUSINESS_DAYS_OF_A_WEEK)
        return weeks * DAYS_OF_A_WEEK + rest, f"{process.window_business_days} business days"
    if process.window_months is not None:
        return process.window_months * DAYS_OF_A_SHORT_MONTH, f"{process.window_months} months"
    return process.window_days, f"{process.window_days} days"
