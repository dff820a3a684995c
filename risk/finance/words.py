"""What the model of the debt leaves out, in words."""

from __future__ import annotations

from risk.finance.loan import last_payment_month
from schemas.finance import Finance


def what_is_left_out(terms: Finance, *, prescribed_loss: bool) -> tuple[str, ...]:
    """Return what is left out of the finances of a deal."""
    words = [
        "Finance: no cash moves inside a month; one loan at a fixed rate; no currency, inflation or rate risk; no "
        "equity cure, and equity never walks away.",
    ]
    if terms.tax is not None:
        words.append(
            "Tax: income tax alone, on cash; interest is deducted as scheduled, not interest on arrears, nor what is "
            "paid at close."
        )
    loan = terms.loan
    if loan is None:
        return tuple(words)
    if loan.sweep or (terms.horizon_months or 0) > last_payment_month(loan):
        words.append(
            "Loan: once it is repaid, running costs that no cash pays stay unpaid; equity is not asked for them."
        )
    if loan.drawings:
        words.append("Drawings: all are made on their dates, whatever has happened by then; equity goes in at close.")
    if loan.refinancing_ltv is not None:
        words.append(
            "Refinancing: a balloon within the limit is refinanced once the last payment is made; the new loan, its "
            "price and its own default are not simulated."
        )
    if loan.grace_months:
        words.append("Grace: it is for debt service alone; running costs that cannot be paid are a default at once.")
    if terms.covenants.minimum_llcr is not None:
        words.append(
            "Covenant minimum_llcr: the cash to come is that of the base case in every draw; no draw's own outlook is "
            "estimated."
        )
    if terms.recovery is not None and not prescribed_loss:
        words.append(
            "Recovery: the haircut of many clusters sold at once, disputes and enforcement cost beyond the typed "
            "figures."
        )
    return tuple(words)
