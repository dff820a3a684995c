"""Linear credits: in proportion to what availability falls short of the target."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from risk.contract_rules.bands import COMPARISON_PARAGRAPH
from risk.contract_rules.credit_facts import ShapeCredit, ShapeFacts, share_of
from risk.core.computed import Computed, Step
from schemas.credit_shapes import LinearCredit

PARAGRAPH = "credit-schedule.linear"

IntArray = NDArray[np.int64]


def exact(facts: ShapeFacts, terms: LinearCredit, target: Decimal, level_id: str) -> Computed[ShapeCredit]:
    """Return the share of the base that the shortfall earns, 0 without availability.

    Notes
    -----
    fraction = min(cap, slope x max(0, target - availability)), in exact fractions.
    """
    if facts.availability is None:
        return Computed(share_of(facts.base, Fraction(0)), ())
    shortfall = max(Fraction(target) - facts.availability, Fraction(0))
    fraction = min(Fraction(terms.cap), Fraction(terms.slope) * shortfall)
    path = f"service_levels.{level_id}.credit"
    rule = f"{terms.slope} times what the availability falls short of the target, at most {terms.cap}"
    inputs = {"availability": facts.availability, "target": target, "shortfall": shortfall}
    compared = "availability is compared as an exact fraction, never rounded first"
    steps = (
        Step(COMPARISON_PARAGRAPH, compared, facts.availability),
        Step(PARAGRAPH, rule, fraction, inputs, f"{path}.slope"),
    )
    return Computed(share_of(facts.base, fraction), steps)


def arrays(counted: IntArray, window: IntArray | int, terms: LinearCredit, target: Decimal) -> NDArray[np.float64]:
    """Return the share credited. [1]

    Parameters
    ----------
    counted : counted downtime, any shape. [min, or s]
    window : time of the period in the same unit, broadcast against it; 0 credits nothing. [min, or s]
    """
    lost, window = np.broadcast_arrays(np.asarray(counted, dtype=np.int64), np.asarray(window, dtype=np.int64))
    allowed, whole = (1 - target).as_integer_ratio()
    # availability never falls under 0, however much is counted
    short = np.minimum(lost, window) - allowed * (window / whole)
    fraction = np.divide(short, window, out=np.zeros(window.shape), where=window > 0)
    return np.asarray(np.clip(float(terms.slope) * fraction, 0.0, float(terms.cap)))
