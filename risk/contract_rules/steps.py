"""Credits by steps: a share for each step by which availability falls short of the target."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from risk.contract_rules.bands import COMPARISON_PARAGRAPH
from risk.contract_rules.credit_facts import ShapeCredit, ShapeFacts, share_of
from risk.core.computed import Computed, Step
from schemas.credit_shapes import StepCredit

PARAGRAPH = "credit-schedule.steps"
EDGE_PARAGRAPH = "credit-schedule.step-edge"

IntArray = NDArray[np.int64]
_LARGEST = 2**62


def counted_units(amount: Fraction, unit: Fraction, counted: Literal["started", "completed"]) -> int:
    """Return how many units, such as steps or hours, `amount` starts or completes; 0 when it is not positive. [1]

    Examples
    --------
    >>> counted_units(Fraction(61), Fraction(60), "started"), counted_units(Fraction(60), Fraction(60), "started")
    (2, 1)
    """
    units = amount / unit
    return max(ceil(units) if counted == "started" else floor(units), 0)


def exact(facts: ShapeFacts, terms: StepCredit, target: Decimal, level_id: str) -> Computed[ShapeCredit]:
    """Return the share of the base that the steps of shortfall earn, 0 without availability.

    Notes
    -----
    fraction = min(cap, n x share); n is (target - availability) / step, rounded up where a step that has started
    counts, down where only a completed one does. An exact multiple is the same number either way; at the target it is
    0.
    """
    if facts.availability is None:
        return Computed(share_of(facts.base, Fraction(0)), ())
    path = f"service_levels.{level_id}.credit"
    shortfall = Fraction(target) - facts.availability
    number = counted_units(shortfall, Fraction(terms.step), terms.counted)
    fraction = min(Fraction(terms.cap), number * Fraction(terms.credit_fraction))
    compared = "availability is compared as an exact fraction, never rounded first"
    steps = [Step(COMPARISON_PARAGRAPH, compared, facts.availability)]
    if shortfall >= 0 and shortfall % Fraction(terms.step) == 0:
        rule = "a shortfall of exactly so many steps counts as that number, and none at the target"
        steps.append(Step(EDGE_PARAGRAPH, rule, number, {"shortfall": shortfall}, f"{path}.step"))
    rule = (
        f"{terms.credit_fraction} for each {terms.counted} step of {terms.step} by which the availability falls short "
        f"of the target, at most {terms.cap}"
    )
    inputs = {"availability": facts.availability, "target": target, "steps": number}
    steps.append(Step(PARAGRAPH, rule, fraction, inputs, f"{path}.credit_fraction"))
    return Computed(share_of(facts.base, fraction), tuple(steps))


def arrays(counted: IntArray, window: IntArray | int, terms: StepCredit, target: Decimal) -> NDArray[np.float64]:
    """Return the share credited; steps are counted in integers, so that they are those of the exact rule. [1]

    Parameters
    ----------
    counted : counted downtime, any shape. [min, or s]
    window : time of the period in the same unit, broadcast against it; 0 credits nothing. [min, or s]
    """
    lost, window = np.broadcast_arrays(np.asarray(counted, dtype=np.int64), np.asarray(window, dtype=np.int64))
    lost = np.minimum(lost, window)  # availability never falls under 0
    allowed, whole = (1 - target).as_integer_ratio()
    step, steps = terms.step.as_integer_ratio()
    top = int(window.max(initial=1))
    if whole * steps * top < _LARGEST and whole * step * top < _LARGEST:
        over = (lost * whole - allowed * window) * steps
        of = np.maximum(window * (whole * step), 1)
        number = -(-over // of) if terms.counted == "started" else over // of
    else:
        pairs, position = np.unique(np.stack([lost.ravel(), window.ravel()]), axis=1, return_inverse=True)
        found = [_number(int(minutes), int(period), terms, target) for minutes, period in pairs.T]
        number = np.array(found, dtype=np.float64)[position].reshape(window.shape)
    number = np.where(window > 0, np.maximum(number, 0), 0)
    return np.minimum(number * float(terms.credit_fraction), float(terms.cap))


def _number(lost: int, window: int, terms: StepCredit, target: Decimal) -> int:
    """Return the steps of one period. [1]"""
    if window <= 0:
        return 0
    shortfall = Fraction(target) - 1 + Fraction(lost, window)
    return counted_units(shortfall, Fraction(terms.step), terms.counted)
