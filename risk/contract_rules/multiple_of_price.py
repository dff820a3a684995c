"""Credits that are a multiple of what the unit would have cost while it was down."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from risk.contract_rules.credit_facts import ShapeCredit, ShapeFacts
from risk.core.computed import Computed, Step
from schemas.credit_shapes import MultipleOfPrice

PARAGRAPH = "credit-schedule.multiple-of-price"
MINUTES_PER_HOUR = 60

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


def exact(facts: ShapeFacts, terms: MultipleOfPrice, level_id: str) -> Computed[ShapeCredit]:
    """Return multiple x hourly price x counted minutes / 60, at least the least credit where anything is counted."""
    path = f"service_levels.{level_id}.credit"
    credit = Fraction(terms.multiple) * facts.hourly_price * Fraction(facts.counted) / MINUTES_PER_HOUR
    rule = f"{terms.multiple} times the price of the counted downtime"
    inputs = {"counted": facts.counted, "hourly_price": facts.hourly_price}
    steps = [Step(PARAGRAPH, rule, credit, inputs, f"{path}.multiple")]
    if facts.counted and credit < Fraction(terms.least):
        credit = Fraction(terms.least)
        rule = f"at least {terms.least} for a unit with counted downtime"
        steps.append(Step(PARAGRAPH, rule, credit, {"counted": facts.counted}, f"{path}.least"))
    return Computed(ShapeCredit(credit), tuple(steps))


def arrays(counted: IntArray, minute: int, hourly_price: FloatArray, terms: MultipleOfPrice) -> FloatArray:
    """Return the credit. [currency]

    Parameters
    ----------
    counted : counted downtime, any shape. [min, or s]
    minute : how many of its unit make a minute. [1]
    hourly_price : price of the unit for an hour, broadcast against it. [currency/h]
    """
    lost = np.asarray(counted, dtype=np.int64)
    credit = float(terms.multiple) * hourly_price * lost / (MINUTES_PER_HOUR * minute)
    return np.asarray(np.where(lost > 0, np.maximum(credit, float(terms.least)), 0.0))
