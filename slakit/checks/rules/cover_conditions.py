"""What a backstop of this shape never pays for, and a floor under which the debt is not paid.

The contract with the customer does not print the cover, so these findings name no paragraph.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from risk.core.running_cost import running_cost
from risk.core.setting import setting
from schemas.backstop import (
    Backstop,
    FirstLoss,
    FloorCover,
    IndexPriceFloor,
    Leaseback,
    PaymentGuarantee,
    ResidualGuarantee,
    RevenueFloor,
    UnsoldHoursPut,
    UtilisationFloor,
)
from schemas.deal import Deal
from schemas.errors import SlakitError
from schemas.money import Money
from slakit.checks.cover import cover_in_words, months_after_close
from slakit.checks.debt import balances, debt_months
from slakit.checks.fees import HOURS_OF_A_MEAN_MONTH
from slakit.checks.finding import Concern, Raised
from slakit.reports.figures import agreed_percent, money_in_words, months

ID = "cover-conditions"
CONCERN = Concern(provider="note", customer=None, lender="warning", insurer="note")
TOO_LOW = Concern(provider="warning", customer=None, lender="error", insurer="warning")


def find(deal: Deal) -> Iterator[Raised]:
    """Yield what the shape leaves uncovered by its nature, and a floor or a limit that the debt outgrows."""
    finance, backstop = deal.finance, deal.backstop
    if finance is None or finance.loan is None or backstop is None:
        return
    said = [*_never_pays(deal, backstop), *_after_default(backstop)]
    if said:
        yield Raised(CONCERN, None, "backstop.shape", " ".join(said))
    if isinstance(backstop, ResidualGuarantee):
        yield from _after_the_loan(deal, backstop)
    if isinstance(backstop, (UnsoldHoursPut, RevenueFloor, Leaseback)):
        yield from _floor(deal, backstop)


def _never_pays(deal: Deal, backstop: Backstop) -> Iterator[str]:
    """Yield sentences on what a cover of this shape does not pay for."""
    if isinstance(backstop, FloorCover) and backstop.covers == "out_of_contract":
        yield (
            f"The {cover_in_words(backstop)} looks at capacity under no contract: it pays nothing while the contract "
            "is in force, even if the customer does not pay or credits take the fee."
        )
    elif isinstance(backstop, (UnsoldHoursPut, UtilisationFloor)):
        yield f"For the {cover_in_words(backstop)} hours under contract are sold, whether or not they are paid for."
    match backstop:
        case UnsoldHoursPut():
            yield "It pays for hours that nobody takes, not for hours that are let cheaply."
        case UtilisationFloor():
            yield "It pays at the rent of the market, so that of a market that has fallen it makes up nothing."
        case IndexPriceFloor():
            yield (
                "It follows the index: while that holds it pays nothing, though this deal lets at less or stands empty."
            )
        case Leaseback():
            name = deal.parties[backstop.provider].name
            yield f"Under the leaseback all income is the rent of {name}: nothing stands behind that name."
        case ResidualGuarantee():
            yield "The residual value guarantee looks once, and pays nothing if a contract is then in force."
        case FirstLoss():
            kept = 1 - backstop.share
            rest = f"{agreed_percent(kept)} of the loss" if kept else ""
            beyond = "all beyond its amount" if backstop.amount is not None else ""
            left = " and ".join(words for words in (rest, beyond) if words)
            yield "The first loss cover pays once the loan has defaulted and not before: it keeps no payment in time."
            if left:
                yield f"{left[0].upper()}{left[1:]} stays with the lender."
        case _:
            return


def _after_default(backstop: Backstop) -> Iterator[str]:
    """Yield a sentence where the lender cannot claim once the loan has defaulted."""
    if isinstance(backstop, FirstLoss):
        return
    if backstop.assignable is False or (backstop.assignable is None and not isinstance(backstop, PaymentGuarantee)):
        yield "It ends when the loan defaults: what the lender then loses is not covered."


def _after_the_loan(deal: Deal, backstop: ResidualGuarantee) -> Iterator[Raised]:
    """Yield a value that is measured when the loan has been due."""
    try:
        last = len(balances(deal)) - 1
    except SlakitError:
        return
    measured = months_after_close(deal, backstop.at)
    if measured > last:
        yield Raised(
            CONCERN,
            None,
            "backstop.at",
            f"Value is measured {months(measured)} after close; the last payment of the loan falls due in month "
            f"{last}, before the guarantee pays.",
        )


def _floor(deal: Deal, backstop: UnsoldHoursPut | RevenueFloor | Leaseback) -> Iterator[Raised]:
    """Yield a floor under which running cost and debt service are not paid, and a limit that runs out before the loan.

    At the floor all capacity earns the floor rent on the covered share of 730 hours a month, and none of it is let; it
    costs what idle capacity costs, and a leaseback what running capacity costs.
    """
    assert deal.finance is not None
    try:
        plan, due = setting(deal), [month.debt_service for month in debt_months(deal)]
        cost = running_cost(plan)
    except SlakitError:  # `trap-14-credit-headroom` says why
        return
    gpus, hours = float(plan.gpus.sum()), float(HOURS_OF_A_MEAN_MONTH)
    if not gpus or not due:
        return
    currency, share = deal.finance.currency, 1.0 if isinstance(backstop, Leaseback) else float(backstop.floor_fraction)
    income = gpus * hours * share * float(backstop.floor_rent)
    load = 1.0 if isinstance(backstop, Leaseback) else cost.idle_share
    spent = float((cost.fixed + cost.shared / len(plan.gpus)).sum(axis=0).max())
    spent += float(((cost.power * load + cost.other) * plan.gpus).sum()) * hours
    short = max(due) + spent - income
    earns = f"At its floor all capacity earns {money_in_words(income, currency)} a month"
    if round(short) > 0:
        yield Raised(
            TOO_LOW,
            None,
            "backstop.floor_rent",
            f"{earns}; running it costs up to {money_in_words(spent, currency)} and debt service is up to "
            f"{money_in_words(max(due), currency)}, {money_in_words(short, currency)} more.",
            Money(Decimal(round(short)), currency),
        )
    if backstop.amount is not None and float(backstop.amount) < income * len(due):
        yield Raised(
            CONCERN,
            None,
            "backstop.amount",
            f"{earns}, so that the limit of {money_in_words(backstop.amount, currency)} is used up after "
            f"{months(float(backstop.amount) / income)}; the loan has {len(due)} payments.",
        )
