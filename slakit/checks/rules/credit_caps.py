"""Caps that leave credits without a bound, or bands without effect."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from schemas.deal import Deal
from schemas.money import Money
from slakit.checks.fees import services
from slakit.checks.finding import Concern, Raised
from slakit.checks.standards import standards
from slakit.reports.figures import agreed_percent, money_in_words

ID = "trap-13-credit-caps"
NO_CAP = Concern(provider="warning", customer=None, lender="error", insurer="warning")
LOW_CAP = Concern(provider=None, customer="error", lender=None, insurer=None)
UNREACHABLE = Concern(provider=None, customer="warning", lender=None, insurer=None)

_WHOLE_SERVICE = ("cluster", "fabric", "storage", "control_plane", "hall", "site")


def find(deal: Deal) -> Iterator[Raised]:
    """Yield credits without a cap, caps below any in the field, and bands that a cap keeps from being paid."""
    caps = deal.credits.caps
    if not deal.service_levels:
        return
    if caps.month is None and caps.year is None:
        money = _worst_month(deal)
        worst = (
            f"the worst month costs {money_in_words(money.amount, money.currency)}"
            if money
            else "every month may cost its last band"
        )
        yield Raised(
            NO_CAP, "credit-caps.month", "credits.caps", f"Credits have no cap over a month or a year: {worst}.", money
        )
    for name, value, standard in (
        ("month", caps.month, standards().low_month_cap),
        ("year", caps.year, standards().low_year_cap),
    ):
        if value is not None and value < standard.value:
            yield Raised(
                LOW_CAP,
                f"credit-caps.{name}",
                f"credits.caps.{name}",
                f"Credits stop at {agreed_percent(value)} of the fees of a {name}, below the lowest usual cap of "
                f"{agreed_percent(standard.value)}: the table promises more than can be paid.",
            )
    if caps.month is not None:
        yield from _unreachable(deal, Fraction(caps.month))


def _worst_month(deal: Deal) -> Money | None:
    views = list(services(deal))
    worst = [view.worst_month() for view in views]
    amounts = [amount for amount in worst if amount is not None]
    return views[0].money(sum(amounts, Fraction(0))) if views and len(amounts) == len(worst) else None


def _unreachable(deal: Deal, cap: Fraction) -> Iterator[Raised]:
    """Yield bands of a level whose unit is the whole service that the month's cap cuts."""
    for view in services(deal):
        fee = view.fee()
        for name, level in view.levels.items():
            if level.level not in _WHOLE_SERVICE:
                continue
            for i, band in enumerate(level.credit.bands):
                if band.credit_fraction > cap:
                    lost = view.money((Fraction(band.credit_fraction) - cap) * fee) if fee is not None else None
                    yield Raised(
                        UNREACHABLE,
                        "credit-caps.month",
                        f"service_levels.{name}.credit.bands[{i}].credit_fraction",
                        f"The band below {agreed_percent(band.below)} pays {agreed_percent(band.credit_fraction)}, but "
                        f"the month's cap stops at {agreed_percent(deal.credits.caps.month or 0)}.",
                        lost,
                    )
