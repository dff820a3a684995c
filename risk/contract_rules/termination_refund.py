"""What is paid back when the contract ends early: prepayment, fees paid for later, delay damages, unused credits."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from risk.contract_rules import deadlines, prepayment
from risk.core.computed import Computed, Step
from schemas.deal import Deal
from schemas.errors import MissingTermError
from schemas.money import Money, total, zero

PARAGRAPH = "termination-refund.refund"
CREDITS_PARAGRAPH = "credit-form.at-end"


@dataclass(frozen=True, slots=True)
class Account:
    """What stands open between the parties on the day on which the contract ends."""

    prepaid: Money
    """What was paid ahead in the beginning."""
    months_served: int
    """Months of the term that have passed. [month]"""
    unused_credits: Money
    delay_damages: Money
    """Delay damages that are due."""
    fees_for_later: Money
    """Fees that were paid for time after the end."""


@dataclass(frozen=True, slots=True)
class Refund:
    """What the provider pays back."""

    prepayment: Money
    credits: Money
    delay_damages: Money
    fees_for_later: Money
    late_from: datetime
    """A payment from this moment on is late."""

    @property
    def total(self) -> Money:
        """Return the sum."""
        parts = (self.prepayment, self.credits, self.delay_damages, self.fees_for_later)
        return total(parts, self.prepayment.currency)


def exact(account: Account, ended_on: date, terms: Deal) -> Computed[Refund]:
    """Return what is paid back in money after the end.

    Parameters
    ----------
    ended_on : last day of service.

    Raises
    ------
    MissingTermError
        When something was paid ahead and the deal has no terms for it.
    DealError
        When the term is shorter than the time served, or a calendar is not known.
    """
    currency, measurement = account.prepaid.currency, terms.measurement
    balance = zero(currency)
    steps: tuple[Step, ...] = ()
    if account.prepaid.amount:
        if terms.commercial is None or terms.commercial.prepayment is None:
            raise MissingTermError("commercial.prepayment", "the refund of a prepayment", "add its terms")
        balances = prepayment.exact(account.prepaid, terms.commercial.term.months, terms.commercial.prepayment)
        served = min(account.months_served, len(balances.value))
        balance = balances.value[served - 1] if served else account.prepaid
        steps = balances.steps
    form = terms.credits.form
    credits = account.unused_credits if form.cash_at_end else zero(currency)
    rule = "unused credits are paid in money" if form.cash_at_end else "unused credits are lost"
    of_credits = Step(CREDITS_PARAGRAPH, rule, credits, {"unused": account.unused_credits}, "credits.form.cash_at_end")
    deadline = deadlines.exact(
        ended_on,
        terms.cancellation.refund_days,
        measurement.zone,
        term="cancellation.refund_days",
        day_count=measurement.day_count,
    )
    refund = Refund(balance, credits, account.delay_damages, account.fees_for_later, deadline.value)
    rule = (
        "the balance of the prepayment, delay damages that are due, fees paid for time after the end, and unused "
        f"credits are paid in money within {terms.cancellation.refund_days} days after the end"
    )
    facts = {
        "prepayment": balance,
        "delay_damages": account.delay_damages,
        "fees_for_later": account.fees_for_later,
        "credits": credits,
        "late_from": deadline.value,
    }
    step = Step(PARAGRAPH, rule, refund.total, facts, "cancellation.refund_days")
    return Computed(refund, (*steps, of_credits, *deadline.steps, step))
