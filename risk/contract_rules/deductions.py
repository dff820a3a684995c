"""What a customer may take off an invoice for credits: no more than the headroom, the rest later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from schemas.money import Money, rounded_to_minor_unit, zero

Excess = Literal["carried", "cash_when_lockup_passes", "lost"]
"""What becomes of credits beyond the headroom."""


@dataclass(frozen=True, slots=True)
class Deduction:
    """Credits and their use in one month."""

    due: Money
    """Credits of the month."""
    brought: Money
    """Credits of earlier months not used yet, with interest."""
    deducted: Money
    """Taken off the invoice."""
    paid: Money
    """Paid in cash."""
    lost: Money
    carried: Money
    """Left for later months."""


def exact(
    due: Sequence[Money],
    fees: Sequence[Money],
    headroom: Sequence[Fraction],
    excess: Excess = "carried",
    *,
    passes: Sequence[bool] = (),
    annual_rate: Fraction = Fraction(0),
) -> tuple[Deduction, ...]:
    """Return what is deducted in each month: the least of what is due or carried, and headroom times the fee.

    Parameters
    ----------
    due, fees : credits and fees of each month.
    headroom : greatest share of the fee that may be deducted in each month; nothing where it is negative. [1]
    excess : what becomes of the rest.
    passes : with `cash_when_lockup_passes`, whether the tests of each month allow payment.
    annual_rate : interest on what is carried, a twelfth a month. [1/year]

    Notes
    -----
    The limit is cut down to the smallest unit of the currency, so that a deduction never passes the headroom.

    Raises
    ------
    ValueError
        When the months of the arguments differ in number.
    """
    wanted = {len(due), len(fees), len(headroom)} | ({len(passes)} if excess == "cash_when_lockup_passes" else set())
    if len(wanted) > 1:
        raise ValueError(f"months of due, fees, headroom and tests differ: {sorted(wanted)}")
    found: list[Deduction] = []
    left: Money | None = None
    for month, credit in enumerate(due):
        nothing = zero(credit.currency)
        interest = Fraction(0) if left is None else Fraction(left.amount) * annual_rate / 12
        added = Money(rounded_to_minor_unit(interest, credit.currency), credit.currency)
        brought = nothing if left is None else left + added
        limit = max(headroom[month], Fraction(0)) * Fraction(fees[month].amount)
        allowed = Money(rounded_to_minor_unit(limit, credit.currency, "down"), credit.currency)
        deducted = min(credit + brought, allowed, key=lambda money: money.amount)
        rest = credit + brought - deducted
        paid = rest if excess == "cash_when_lockup_passes" and passes[month] else nothing
        lost = rest if excess == "lost" else nothing
        left = rest - paid - lost
        found.append(Deduction(credit, brought, deducted, paid, lost, left))
    return tuple(found)
