"""Fees paid ahead and credited back in equal monthly parts."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from risk.core.computed import Computed, Step
from schemas.commercial import Prepayment
from schemas.errors import DealError, Problem
from schemas.money import Money, rounded_to_minor_unit

PARAGRAPH = "prepayment.credited"
BALANCE_PARAGRAPH = "prepayment.balance"
_TERM = "commercial.prepayment"


def exact(amount: Money, term_months: int, terms: Prepayment) -> Computed[tuple[Money, ...]]:
    """Return the balance not yet credited at the end of each month of the term, shape (term_months,).

    Parameters
    ----------
    amount : what was paid ahead.
    term_months : firm term. [month]
    terms : from which month on it is credited.

    Notes
    -----
    The running sum of what is credited is cut down to the smallest unit of the currency, so that nothing is left
    after the last month.
    """
    parts = _parts(term_months, terms)
    balances: list[Money] = []
    for month in range(1, term_months + 1):
        done = max(month - terms.credited_from_month + 1, 0)
        credited = rounded_to_minor_unit(Fraction(amount.amount) * done / parts, amount.currency, "down")
        balances.append(amount - Money(credited, amount.currency))
    rule = f"credited in {parts} equal monthly parts, from month {terms.credited_from_month} to the end of the term"
    monthly = Fraction(amount.amount) / parts
    return Computed(
        tuple(balances),
        (
            Step(PARAGRAPH, rule, monthly, {"amount": amount}, f"{_TERM}.credited_from_month"),
            Step(BALANCE_PARAGRAPH, "what is not yet credited is the customer's", tuple(balances), {}, _TERM),
        ),
    )


def arrays(term_months: int, terms: Prepayment) -> NDArray[np.float64]:
    """Return the share of the prepayment credited in each month of the term, shape (term_months,). [1]

    Parameters
    ----------
    term_months : firm term. [month]
    terms : from which month on it is credited.
    """
    return np.diff(credited_share(np.arange(term_months + 1.0), term_months, terms))


def credited_share(elapsed: NDArray[np.float64], term_months: int, terms: Prepayment) -> NDArray[np.float64]:
    """Return the share of the prepayment that is credited by a moment of the term, even within each month. [1]

    Parameters
    ----------
    elapsed : time since the term began, any shape. [month]
    term_months : firm term. [month]
    terms : from which month on it is credited.
    """
    parts = _parts(term_months, terms)
    return np.clip((elapsed - (terms.credited_from_month - 1)) / parts, 0.0, 1.0)


def _parts(term_months: int, terms: Prepayment) -> int:
    """Return the number of months in which it is credited. [1]"""
    parts = term_months - terms.credited_from_month + 1
    if parts < 1:
        raise DealError(
            [
                Problem(
                    f"{_TERM}.credited_from_month",
                    str(terms.credited_from_month),
                    f"a month of the firm term of {term_months} months",
                    "lower it, or lengthen commercial.term.months",
                )
            ]
        )
    return parts
