"""Debt that is still to be paid when the fees have ended."""

from __future__ import annotations

from collections.abc import Iterator

from schemas.deal import Deal
from schemas.errors import SlakitError
from slakit.checks.debt import balances, debt_months
from slakit.checks.finding import Concern, Raised
from slakit.reports.figures import money_in_words, month_short

ID = "debt-beyond-term"
CONCERN = Concern(provider="note", customer=None, lender="error", insurer="warning")
PARAGRAPH = "term-renewal-notice.firm-term"
PATH = "finance.loan.payments"


def find(deal: Deal) -> Iterator[Raised]:
    """Yield a loan with payments after the last month in which a fee is due, tranches on their dates."""
    finance = deal.finance
    if finance is None or finance.loan is None or not deal.services:
        return
    try:
        months = list(debt_months(deal))
    except SlakitError:  # `trap-14-credit-headroom` says why
        return
    paid = [i for i, month in enumerate(months) if month.fees > 0]
    if not paid or paid[-1] == len(months) - 1:
        return
    loan, last = finance.loan, months[paid[-1]]
    owed = money_in_words(balances(deal)[loan.first_payment_month + paid[-1]], finance.currency)
    said = (
        f"The last fee is that of {month_short(last.label)}; {loan.payments - 1 - paid[-1]} of {loan.payments} "
        f"payments fall due after it, with {owed} of the loan still owed. "
    )
    if deal.assumptions.reletting is None:
        said += (
            "Nothing is assumed to be let again (assumptions.reletting): the score pays them from the reserve and what "
            "is kept back, or the loan defaults."
        )
    else:
        said += "They are paid from letting again at the market's rent, from the reserve and from what is kept back."
    yield Raised(CONCERN, PARAGRAPH, PATH, said)
