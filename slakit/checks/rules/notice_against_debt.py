"""A right to leave on notice that makes the term shorter than it is called.

Not expressible in this version, so not looked at: rights to switch that a law gives whatever the term.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from risk.contract_rules import effective_term
from risk.core.calendar import timeline
from schemas.cancellation import Convenience
from schemas.deal import Deal
from schemas.errors import MissingTermError
from slakit.checks.fees import services
from slakit.checks.finding import Concern, Raised
from slakit.reports.figures import money_in_words, months, percent

ID = "trap-18-notice-against-debt"
CONCERN = Concern(provider="warning", customer="note", lender="error", insurer="warning")
PARAGRAPH = "term-renewal-notice.convenience"
PATH = "cancellation.convenience"


def find(deal: Deal) -> Iterator[Raised]:
    """Yield a right to end without cause that is mutual, or that can take effect before the debt is repaid."""
    leaving = deal.cancellation.convenience
    if leaving is None:
        return
    exit_month, maturity = _against_debt(deal, leaving)
    unpaid = exit_month is not None and maturity is not None and exit_month < maturity
    if leaving.party != "either" and not unpaid:
        return
    who = "Either party" if leaving.party == "either" else "The customer"
    said = f"{who} may end the contract without cause on {leaving.notice} of notice."
    money = None
    effective, firm = _bound_months(deal), _bound_months(deal, with_notice=False)
    if deal.commercial is not None and effective is not None and firm is not None:
        said += f" Called {months(firm)}, it is firm for {months(effective)}."
        views = list(services(deal))
        fee = sum((view.fee() or Fraction(0) for view in views), Fraction(0))
        if effective < firm and fee and views:
            money = views[0].money(fee * (firm - effective))
            assert money is not None
            worth = money_in_words(money.amount, money.currency)
            said += f" {percent((firm - effective) / firm)} of its fees, {worth}, have no contract behind them."
    if unpaid:
        said += f" It can end in month {exit_month:.0f} after close; the loan runs to month {maturity}."
    if leaving.fee is not None and deal.commercial is not None:
        said += f" Leaving costs {money_in_words(leaving.fee, deal.commercial.currency)}."
    yield Raised(CONCERN, PARAGRAPH, PATH, said, money)


def _bound_months(deal: Deal, *, with_notice: bool = True) -> Fraction | None:
    """Return the months for which the parties are bound, None where the dates are not in the deal. [month]

    Without notice it is the term that the contract calls firm.
    """
    if deal.commercial is None or deal.delivery is None:
        return None
    if not with_notice:
        deal = deal.revise({"cancellation": deal.cancellation.revise({"convenience": None})})
    try:
        return effective_term.exact(deal).value
    except MissingTermError:
        return None


def _against_debt(deal: Deal, leaving: Convenience) -> tuple[float | None, int | None]:
    """Return when the contract can end and when the loan matures, in months after close. [month]"""
    finance = deal.finance
    if finance is None or finance.loan is None:
        return None, None
    months_of_deal = timeline(finance.close, 1, deal.assumptions.calendar, deal.measurement.zone)
    ends = months_of_deal.at(leaving.first_exercise) + months_of_deal.length(leaving.notice)
    return ends, finance.loan.first_payment_month + finance.loan.payments - 1
