"""The price of a service for one whole month with all of its units in service."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from risk.core.computed import Computed, Step
from schemas.commercial import Price

PARAGRAPH = "partial-billing.price"


def exact(price: Price, count: Decimal | int | None, hours: Fraction | int, path: str) -> Computed[Fraction]:
    """Return the price of a month, not rounded. [currency/month]

    Parameters
    ----------
    price : the terms.
    count : GPUs, nodes or contracted kW of the service, whichever `price.counted` names; not read for a lump sum.
    hours : length of the month, read for a price per hour. [h]
    path : path of the terms, for example `commercial.charges.compute.price`.
    """
    amount = Fraction(price.amount)
    facts: dict[str, object] = {"amount": price.amount}
    if price.counted is not None:
        assert count is not None
        amount *= Fraction(count)
        facts[price.counted] = count
    if price.per == "gpu_hour":
        amount *= hours
        facts["hours"] = hours
    rule = {
        "lump_month": "one sum for the whole service and month",
        "gpu_hour": "an amount for each GPU and each hour of the month",
        "node_month": "an amount for each slot and month",
        "kw_month": "an amount for each kW of contracted power and month, drawn or not",
    }[price.per]
    return Computed(amount, (Step(PARAGRAPH, rule, amount, facts, path),))
