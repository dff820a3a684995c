"""A cover that does not answer for the way the contract ends, or not yet, or not for long enough, or not for enough.

The contract with the customer does not print the cover, so these findings name no paragraph. What each shape of cover
never pays for is said by `cover-conditions`.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

from risk.contract_rules import backstop_gap
from schemas.backstop import Backstop, PaymentGuarantee, ResidualGuarantee, WayOfEnding
from schemas.deal import Deal
from schemas.errors import SlakitError
from schemas.money import Money
from slakit.checks.cover import cover_in_words, cover_starts, months_after_close
from slakit.checks.debt import balances
from slakit.checks.finding import Concern, Raised
from slakit.reports.figures import money_in_words, months

ID = "trap-19-backstop-gaps"
CONCERN = Concern(provider="warning", customer=None, lender="error", insurer="warning")

_WORDS: dict[WayOfEnding, str] = {
    "payment_default": "the customer's failure to pay",
    "insolvency": "the customer's insolvency",
    "chronic_failure": "bad service",
    "long_stop": "late delivery",
    "convenience": "notice without cause",
}


def find(deal: Deal) -> Iterator[Raised]:
    """Yield the ways of ending, the months and the sums of debt that the cover does not reach."""
    finance, backstop = deal.finance, deal.backstop
    if finance is None or finance.loan is None or backstop is None:
        return
    try:
        debt = balances(deal)
    except SlakitError:  # `trap-14-credit-headroom` says why
        return
    if isinstance(backstop, PaymentGuarantee):
        yield from _triggers(deal, backstop, debt)
    starts = cover_starts(deal)
    if starts is not None and starts > 0 and not isinstance(backstop, ResidualGuarantee):
        later = ", or later if a tranche is late" if backstop.starts.startswith("rfs") else ""
        yield Raised(
            CONCERN,
            None,
            "backstop.starts",
            f"The {cover_in_words(backstop)} covers nothing before {months(starts)} after close{later}, while the debt "
            f"is {money_in_words(debt[0], finance.currency)} from the first day.",
            _money(debt[0], finance.currency),
        )
    yield from _over_too_soon(deal, backstop, debt)
    if isinstance(backstop, PaymentGuarantee) and starts is not None:
        yield from _too_small(deal, backstop, debt, starts)


def _triggers(deal: Deal, backstop: PaymentGuarantee, debt: tuple[float, ...]) -> Iterator[Raised]:
    """Yield the ways of ending that a guarantee does not answer for."""
    assert deal.finance is not None
    uncovered = backstop_gap.unanswered(_ways_of_ending(deal), backstop.triggers)
    if uncovered:
        greatest = max(debt)
        yield Raised(
            CONCERN,
            None,
            "backstop.triggers",
            f"Nothing pays if the contract ends by {_listed([_WORDS[way] for way in uncovered])}: the debt is up to "
            f"{money_in_words(greatest, deal.finance.currency)}, the guarantee answers only for "
            f"{_listed([_WORDS[way] for way in backstop.triggers])}.",
            _money(greatest, deal.finance.currency),
        )


def _over_too_soon(deal: Deal, backstop: Backstop, debt: tuple[float, ...]) -> Iterator[Raised]:
    """Yield the debt that is left when the cover expires."""
    assert deal.finance is not None
    if backstop.expires is None:
        return
    end = months_after_close(deal, backstop.expires)
    month = int(end)
    if month < len(debt) and debt[month] > 0.5:
        currency = deal.finance.currency
        yield Raised(
            CONCERN,
            None,
            "backstop.expires",
            f"The {cover_in_words(backstop)} ends {months(end)} after close, with "
            f"{money_in_words(debt[month], currency)} of the debt still owed; the loan runs to month {len(debt) - 1}.",
            _money(debt[month], currency),
        )


def _too_small(deal: Deal, backstop: PaymentGuarantee, debt: tuple[float, ...], starts: float) -> Iterator[Raised]:
    """Yield the month, once the guarantee has started, in which it falls furthest short of the debt."""
    assert deal.finance is not None
    if backstop.amount is None:
        return
    amount, first = Fraction(backstop.amount), Fraction(starts)
    cover = [float(backstop_gap.cover(m, amount, first, backstop.amortisation_months)) for m in range(len(debt))]
    gaps = {month: owed - cover[month] for month, owed in enumerate(debt) if month >= starts and owed > 0}
    if not gaps:
        return
    month = max(gaps, key=lambda m: gaps[m])
    if round(gaps[month]) > 0:
        currency = deal.finance.currency
        yield Raised(
            CONCERN,
            None,
            "backstop.amount",
            f"In month {month} after close the debt is {money_in_words(debt[month], currency)} and the guarantee "
            f"{money_in_words(cover[month], currency)}.",
            _money(gaps[month], currency),
        )


def _ways_of_ending(deal: Deal) -> tuple[WayOfEnding, ...]:
    """Return the ways in which this contract can end early."""
    ways: list[WayOfEnding] = ["payment_default", "insolvency"]
    if deal.cancellation.chronic_failure is not None:
        ways.append("chronic_failure")
    if deal.delivery is not None and any(tranche.long_stop for tranche in deal.delivery.tranches.values()):
        ways.append("long_stop")
    if deal.cancellation.convenience is not None:
        ways.append("convenience")
    return tuple(ways)


def _money(amount: float, currency: str) -> Money:
    return Money(Decimal(round(amount)), currency)


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
