"""Credit bands: the greatest share whose threshold lies strictly above the availability, unrounded."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from risk.core.computed import Computed, Step
from schemas.credit_shapes import CreditBands

PARAGRAPH = "credit-schedule.bands"
EDGE_PARAGRAPH = "credit-schedule.edge"
COMPARISON_PARAGRAPH = "time-money-rules.comparison"

IntArray = NDArray[np.int64]
_LARGEST = 2**62


def exact(availability: Fraction | None, schedule: CreditBands, level_id: str) -> Computed[Decimal]:
    """Return the share of the base that is credited, 0 without availability. [1]"""
    path = f"service_levels.{level_id}.credit"
    fraction, term = Decimal(0), f"{path}.bands"
    steps: list[Step] = []
    if availability is not None:
        for i, band in enumerate(schedule.bands):
            if availability == Fraction(band.below):
                rule = "availability exactly at an edge belongs to the row with the higher availability"
                steps.append(Step(EDGE_PARAGRAPH, rule, False, {"below": band.below}, f"{path}.bands[{i}]"))
            if availability < Fraction(band.below) and band.credit_fraction > fraction:
                fraction, term = band.credit_fraction, f"{path}.bands[{i}]"
        rule = "availability is compared as an exact fraction, never rounded first"
        steps.insert(0, Step(COMPARISON_PARAGRAPH, rule, availability))
    if any(availability is not None and availability < Fraction(band.below) for band in schedule.bands):
        rule = "of the rows whose upper edge is above the availability, the one that credits most applies; credited"
    else:
        rule = "no row of the table has an upper edge above the availability; credited"
    steps.append(Step(PARAGRAPH, rule, fraction, {"availability": availability}, term))
    return Computed(fraction, tuple(steps))


def arrays(counted_minutes: IntArray, window_minutes: IntArray | int, schedule: CreditBands) -> NDArray[np.float64]:
    """Return the share credited, compared as integers so that it is that of the exact rule. [1]

    Parameters
    ----------
    counted_minutes : counted downtime, any shape. [min]
    window_minutes : minutes of the period, broadcast against it; 0 credits nothing. [min]
    schedule : the table of the service level.
    """
    counted = np.asarray(counted_minutes, dtype=np.int64)
    window = np.asarray(window_minutes, dtype=np.int64)
    fraction = np.zeros(np.broadcast_shapes(counted.shape, window.shape))
    for band in schedule.bands:
        credited = np.maximum(fraction, float(band.credit_fraction))
        fraction = np.where(is_below(counted, window, band.below), credited, fraction)
    return fraction


def is_below(counted_minutes: IntArray, window_minutes: IntArray | int, below: Decimal) -> NDArray[np.bool_]:
    """Return whether availability lies strictly below a threshold, in integers.

    Parameters
    ----------
    counted_minutes : counted downtime, any shape. [min]
    window_minutes : minutes of the period, broadcast against it; nothing is below in a period of 0. [min]
    below : the threshold. [1]
    """
    counted = np.asarray(counted_minutes, dtype=np.int64)
    window = np.asarray(window_minutes, dtype=np.int64)
    numerator, denominator = below.as_integer_ratio()
    top = int(window.max(initial=1))
    if denominator * top < _LARGEST:
        least = window * (denominator - numerator) // denominator + 1
    else:
        values, position = np.unique(window, return_inverse=True)
        least = np.array([threshold_minutes(int(value), below) for value in values], dtype=np.int64)[position]
        least = least.reshape(window.shape)
    return np.asarray(np.minimum(counted, window) >= least)


def threshold_minutes(window: int, below: Decimal) -> int:
    """Return the least whole counted minutes that put availability strictly below a threshold. [min]

    Above `window` when no downtime does.

    Examples
    --------
    >>> threshold_minutes(43_200, Decimal("0.99"))
    433
    """
    numerator, denominator = below.as_integer_ratio()
    return window * (denominator - numerator) // denominator + 1
