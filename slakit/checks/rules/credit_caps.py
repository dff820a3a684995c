"""Caps that leave credits without a bound, or bands without effect."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

from risk.contract_rules import credit_shape
from schemas.credit_shapes import CreditBands, LinearCredit, MultipleOfPrice, OnsetPlusHourly, PerBreach, StepCredit
from schemas.deal import Deal
from schemas.money import Money
from schemas.service_levels import ServiceLevel
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
            else "every month may cost the most that its levels pay"
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
    """Yield what a level whose unit is the whole service promises and the month's cap cuts."""
    of_unit = Fraction(deal.credits.caps.unit)
    for view in services(deal):
        fee = view.fee()
        for name, level in view.levels.items():
            if level.level not in _WHOLE_SERVICE:
                continue
            for field, promise, share in _promises(level, of_unit):
                if share > cap:
                    lost = view.money((share - cap) * fee) if fee is not None else None
                    yield Raised(
                        UNREACHABLE,
                        "credit-caps.month",
                        f"service_levels.{name}.credit.{field}",
                        f"{promise}, but the month's cap stops at {agreed_percent(deal.credits.caps.month or 0)}.",
                        lost,
                    )


def _promises(level: ServiceLevel, of_unit: Fraction) -> Iterator[tuple[str, str, Fraction]]:
    """Yield what a credit promises at its most: the field, words, and the share of the fee. [1]"""
    match level.credit:
        case CreditBands(bands=bands):
            for i, band in enumerate(bands):
                words = f"The band below {agreed_percent(band.below)} pays {agreed_percent(band.credit_fraction)}"
                yield f"bands[{i}].credit_fraction", words, Fraction(band.credit_fraction)
        case LinearCredit() | StepCredit() | OnsetPlusHourly() | PerBreach() | MultipleOfPrice():
            field = {"per_breach": "at_risk", "multiple_of_price": "multiple"}.get(level.credit.shape, "cap")
            most = credit_shape.greatest_share(level)
            assert most is not None
            share = min(most, of_unit)
            yield (
                field,
                f"The credit goes up to {agreed_percent(Decimal(share.numerator) / share.denominator)} of the fee",
                share,
            )
