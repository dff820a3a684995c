"""A guarantee that does not answer for the way the contract ends, or not yet, or not for enough.

The contract with the customer does not print the guarantee, so these findings name no paragraph.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from risk.core.calendar import timeline
from schemas.backstop import PaymentGuarantee, WayOfEnding
from schemas.deal import Deal
from schemas.money import Money
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
    """Yield the ways of ending, the months and the sums of debt that the guarantee does not reach."""
    finance, backstop = deal.finance, deal.backstop
    if finance is None or finance.loan is None or not isinstance(backstop, PaymentGuarantee):
        return
    debt = balances(deal)
    uncovered = [way for way in _ways_of_ending(deal) if way not in backstop.triggers]
    if uncovered:
        greatest = max(debt)
        yield Raised(
            CONCERN,
            None,
            "backstop.triggers",
            f"Nothing pays if the contract ends by {_listed([_WORDS[way] for way in uncovered])}: the debt is up to "
            f"{money_in_words(greatest, finance.currency)}, the guarantee answers only for "
            f"{_listed([_WORDS[way] for way in backstop.triggers])}.",
            _money(greatest, finance.currency),
        )
    starts = _starts(deal)
    if starts is None:
        return
    if starts > 0:
        yield Raised(
            CONCERN,
            None,
            "backstop.starts",
            f"The guarantee covers nothing before {months(starts)} after close, while the debt is "
            f"{money_in_words(debt[0], finance.currency)} from the first day.",
            _money(debt[0], finance.currency),
        )
    yield from _too_small(deal, debt, starts)


def _too_small(deal: Deal, debt: tuple[float, ...], starts: float) -> Iterator[Raised]:
    """Yield the month, once the guarantee has started, in which it falls furthest short of the debt."""
    assert deal.finance is not None
    assert deal.backstop is not None
    if deal.backstop.amount is None:
        return
    amount, over = float(deal.backstop.amount), deal.backstop.amortisation_months

    def cover(month: int) -> float:
        return amount * max(0.0, 1 - (month - starts) / over) if over else amount

    gaps = {month: owed - cover(month) for month, owed in enumerate(debt) if month >= starts and owed > 0}
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
            f"{money_in_words(cover(month), currency)}.",
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


def _starts(deal: Deal) -> float | None:
    """Return when the guarantee starts, None where the deal has no dates of delivery. [month after close]"""
    assert deal.finance is not None
    assert deal.backstop is not None
    if deal.backstop.starts == "signing":
        return 0.0
    if deal.delivery is None:
        return None
    line = timeline(deal.finance.close, 1, deal.assumptions.calendar, deal.measurement.zone)
    ready = [line.at(tranche.ready_for_service_date) for tranche in deal.delivery.tranches.values()]
    return max(ready) if deal.backstop.starts == "rfs_all" else min(ready)


def _money(amount: float, currency: str) -> Money:
    return Money(Decimal(round(amount)), currency)


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
