"""A credit that takes the cash which the debt needs.

Not expressible in this version, so not looked at: the lender's time to cure before a customer ends the contract.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

from risk.contract_rules import headroom
from schemas.deal import Deal
from schemas.errors import SlakitError
from schemas.money import Money, rounded_to_minor_unit
from slakit.checks.debt import DebtMonth, debt_months
from slakit.checks.fees import services
from slakit.checks.finding import Concern, Raised, everybody
from slakit.reports.figures import money_in_words, month_short, percent, ratio

ID = "trap-14-credit-headroom"
CONCERN = Concern(provider="warning", customer="note", lender="error", insurer="warning")
PARAGRAPH = "credit-caps.month"
PATH = "credits.caps.month"
ROUNDING = 1e-9
"""Of shares computed in floating point. [1]"""


def find(deal: Deal) -> Iterator[Raised]:
    """Yield the month in which a credit that the draft allows leaves least of the covenant.

    Headroom is what is left of fees, less prepayment credited, after costs and the covenant's multiple of debt service,
    as a share of the month's fees. Before tax; tranches on their dates; months in full service where there are any.
    """
    finance = deal.finance
    if finance is None or finance.loan is None or not deal.service_levels or not deal.services:
        return
    floor = finance.covenants.minimum_dscr
    if floor is None:
        return
    try:
        months = [month for month in debt_months(deal) if month.fees > 0]
    except SlakitError as error:
        said = " ".join(str(error).split())
        yield Raised(everybody("note"), None, "finance", f"Credits were not held against the debt: {said}")
        return
    allowed = _allowed(deal)
    months = [month for month in months if month.in_full_service] or months
    if allowed is None or not months:
        return
    tightest = min(months, key=lambda month: _headroom(month, floor))
    left = _headroom(tightest, floor)
    if left >= allowed - ROUNDING:
        return
    over = (allowed - max(left, 0.0)) * tightest.fees
    money = Money(rounded_to_minor_unit(Fraction(over), finance.currency), finance.currency)
    shown = money_in_words(over, finance.currency)
    reserve = finance.reserve.months * tightest.debt_service if finance.reserve else 0.0
    concern = CONCERN
    if left < 0:
        said = (
            f"The covenant of {ratio(floor)} is missed in {month_short(tightest.label)} without any credit; the draft "
            f"allows credits of {percent(allowed)} of a month's fees on top."
        )
    else:
        said = (
            f"A credit above {percent(left)} of a month's fees breaks the covenant of {ratio(floor)} in "
            f"{month_short(tightest.label)}; the draft allows {percent(allowed)}. Choices: a cap of "
            f"{percent(left)}, {shown} set aside for credits, or credits carried to later months."
        )
        if reserve >= over:
            concern = everybody("note")
            said += (
                f" The reserve of {money_in_words(reserve, finance.currency)} covers the cash of such a month; the "
                "covenant is missed all the same."
            )
    yield Raised(concern, PARAGRAPH, PATH, said, money)


def _headroom(month: DebtMonth, floor: Decimal) -> float:
    """Return the share of the month's fees that can be credited before cover falls to the floor. [1]"""
    fees, cash = Fraction(month.fees), Fraction(month.cash)
    return float(headroom.exact(fees, fees - cash, Fraction(month.debt_service), Fraction(floor)))


def _allowed(deal: Deal) -> float | None:
    """Return the greatest share of a month's fees that the draft can credit. [1]"""
    views = list(services(deal))
    worst = [view.worst_month_paid() for view in views if view.levels]
    fees = [view.fee() for view in views]
    if any(amount is None for amount in (*worst, *fees)):
        return None
    total = sum((fee for fee in fees if fee is not None), Fraction(0))
    return float(sum((amount for amount in worst if amount is not None), Fraction(0)) / total) if total else None
