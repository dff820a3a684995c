"""How a credit becomes money."""

from __future__ import annotations

from datetime import date

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
}


def exact(amount: Money, stated_on: date | None, form: CreditForm) -> Computed[Money]:
    """Return the amount with the steps that say how and by when it becomes money.

    Parameters
    ----------
    amount : credits of one month after all caps.
    stated_on : day on which the credit statement was received; dates that run from it are left out without it.

    Notes
    -----
    Invoices are not on record, so what has been set off is not followed.
    """
    facts: dict[str, object] = {"pay_days": form.pay_days, "cash_at_end": form.cash_at_end}
    steps = [Step(PARAGRAPH, _WORDS[form.form], amount, facts, f"{_TERM}.form")]
    if form.form != "cash":
        due = months_later(stated_on, form.cash_after_months) if stated_on else None
        rule = f"what has not been set off {form.cash_after_months} months after its statement is paid in money"
        steps.append(Step(UNUSED_PARAGRAPH, rule, due, {"stated_on": stated_on}, f"{_TERM}.cash_after_months"))
    if form.expiry_months is not None:
        due = months_later(stated_on, form.expiry_months) if stated_on else None
        rule = f"what has been neither set off nor paid {form.expiry_months} months after its statement expires"
        steps.append(Step(EXPIRY_PARAGRAPH, rule, due, {"stated_on": stated_on}, f"{_TERM}.expiry_months"))
    return Computed(amount, tuple(steps))
