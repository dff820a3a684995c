"""The counted minutes of one slot in one month, and the credit bands they reach."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from risk.contract_rules.counting_rules import CountingRules
from risk.contract_rules.measurement_period import FIXED_MONTH_MINUTES
from risk.core.downtime import DowntimeLaw, Lengths, whole_minutes
from schemas.credit_shapes import CreditBands
from schemas.errors import NotComputedError


def allowed_minutes(credit: CreditBands, rules: CountingRules, window: int) -> NDArray[np.int64]:
    """Return by band the most counted minutes that do not yet reach it, shape (bands,). [min]

    Notes
    -----
    Availability is below a threshold when the counted minutes are more than (1 - threshold) x window; exact.
    """
    measured = FIXED_MONTH_MINUTES if rules.month_length == "fixed_30" else window
    return np.array([int((1 - Fraction(band.below)) * measured) for band in credit.bands], dtype=np.int64)


def slot_law(
    per_minute: float,
    lengths: Lengths,
    credit: CreditBands,
    rules: CountingRules,
    longest_window: int,
    path: str = "outage law",
) -> DowntimeLaw:
    """Return the law of the counted minutes of one slot, as far as the deepest band needs it.

    Parameters
    ----------
    per_minute
        Interruptions while up. [1/min]
    lengths
        Law of the time down. [min]
    longest_window
        Longest month asked for. [min]
    path
        Where the rate of interruptions stands in the deal, for messages.

    Raises
    ------
    NotComputedError
        For minutes counted to the second, which have no lattice of whole minutes, and for too many outages.
    """
    if rules.minute_rule == "exact_seconds":
        raise NotComputedError(
            rules.path("minute_rule"), "downtime to the second in the simulation", "use floor_piece there"
        )
    # more_than excludes an outage of exactly the minimum, which an exponential length never is
    mass, mean = whole_minutes(
        lengths,
        int(allowed_minutes(credit, rules, longest_window)[-1]),
        rule="ceil" if rules.minute_rule == "ceil_outage" else "floor",
        minimum=rules.minimum_outage_minutes,
    )
    up_mean = 1.0 / per_minute if per_minute > 0 else math.inf
    return DowntimeLaw(up_mean, mass, mean, longest_window, by_start=rules.straddle != "split", path=path)


def band_probabilities(law: DowntimeLaw, credit: CreditBands, rules: CountingRules, window: int) -> tuple[float, ...]:
    """Return by band the probability that one slot falls into it or deeper in one month. [1]"""
    survival = law.survival(window)
    return tuple(float(survival[x]) for x in allowed_minutes(credit, rules, window))
