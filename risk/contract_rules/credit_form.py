"""How a credit becomes money."""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction

from risk.contract_rules.deadlines import months_later
from risk.core.computed import Computed, Step
from schemas.credits import CreditForm
from schemas.money import Money

PARAGRAPH = "credit-form.form"
UNUSED_PARAGRAPH = "credit-form.unused"
EXPIRY_PARAGRAPH = "credit-form.expiry"
_TERM = "credits.form"

_WORDS = {
    "next_invoice": "the credit is set off against the next invoice",
    "cash": "the credit is paid in money",
    "future_credit": "the credit is set off against future invoices for the service",
    "spread_over_term": "the credit is set off in equal parts against the invoices left of the term",
    "added_days": "the credit is given as days at no charge at the end of the term, a part of a day as a whole one",
}
SET_OFF = ("next_invoice", "future_credit", "spread_over_term")
"""Forms that are set off against invoices."""


def exact(amount: Money, stated_on: date | None, form: CreditForm, fee_of_a_day: Fraction) -> Computed[int]:
    """Return the days that are given in place of money, with the steps that say how and by when it becomes money.

    Parameters
    ----------
    amount : credits of one month after all caps.
    stated_on : day on which the credit statement was received; dates that run from it are left out without it.
    fee_of_a_day : fee of the service for one day of the period. [currency/day]

    Notes
    -----
    What has been set off is followed over the invoices of the ledger by `allocation`.
    """
    facts: dict[str, object] = {"pay_days": form.pay_days, "cash_at_end": form.cash_at_end}
    days = 0
    if form.form == "added_days" and fee_of_a_day:
        days = -(-Fraction(amount.amount) // fee_of_a_day)
        facts |= {"fee_of_a_day": fee_of_a_day, "days": days}
    steps = [Step(PARAGRAPH, _WORDS[form.form], days if form.form == "added_days" else amount, facts, f"{_TERM}.form")]
    if form.form in SET_OFF and form.cash_after_months is not None:
        due = cash_from(stated_on, form) if stated_on is not None else None
        rule = f"what has not been set off {form.cash_after_months} months after its statement is paid in money"
        steps.append(Step(UNUSED_PARAGRAPH, rule, due, {"stated_on": stated_on}, f"{_TERM}.cash_after_months"))
    if form.form in SET_OFF and form.cash_after_months is None:
        rule = "what has not been set off stays a credit and is not paid in money before the end"
        steps.append(Step(UNUSED_PARAGRAPH, rule, None, {"stated_on": stated_on}, f"{_TERM}.cash_after_months"))
    if form.expiry_months is not None:
        due = expires_on(stated_on, form) if stated_on is not None else None
        rule = f"what has been neither set off nor paid {form.expiry_months} months after its statement expires"
        steps.append(Step(EXPIRY_PARAGRAPH, rule, due, {"stated_on": stated_on}, f"{_TERM}.expiry_months"))
    return Computed(days, tuple(steps))


def cash_from(stated_on: date, form: CreditForm) -> date | None:
    """Return the day after whose end what has not been set off turns into money; None where it does not."""
    if form.form == "cash":
        return stated_on
    if form.form not in SET_OFF or form.cash_after_months is None:
        return None
    return months_later(stated_on, form.cash_after_months)


def expires_on(stated_on: date, form: CreditForm) -> date | None:
    """Return the day after whose end what is left expires; None where it does not."""
    return None if form.expiry_months is None else months_later(stated_on, form.expiry_months)


def payable_by(day: date, form: CreditForm) -> date:
    """Return the last day on which money that is due since `day` is paid in time."""
    return day + timedelta(days=form.pay_days)
