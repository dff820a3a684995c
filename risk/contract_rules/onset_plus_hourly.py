"""Credits that begin with an outage and grow with each period that it lasts."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from risk.contract_rules.credit_facts import CountedOutage, ShapeCredit, ShapeFacts, share_of
from risk.contract_rules.intervals import Minutes
from risk.contract_rules.steps import counted_units
from risk.core.computed import Computed, Step
from schemas.credit_shapes import OnsetPlusHourly

PARAGRAPH = "credit-schedule.onset-plus-hourly"

IntArray = NDArray[np.int64]


def exact(facts: ShapeFacts, terms: OnsetPlusHourly, level_id: str) -> Computed[ShapeCredit]:
    """Return the share of the base for the onset and the hours of each outage, or of the downtime of the period.

    Notes
    -----
    fraction = min(cap, sum of (onset + n x hourly)); n counts the periods of `hour_minutes` in what exceeds the free
    minutes, started or completed. Downtime before the period belongs to the outage: the onset and the free minutes come
    once, and each hour falls into the period in which it starts, or is completed, so that an outage over the end of a
    period earns what it would earn within one.
    """
    outages = (CountedOutage(facts.counted, ()),) if terms.per == "period" else facts.find_outages()
    onsets = hours = 0
    for outage in outages:
        before, after = outage.earlier_minutes, outage.earlier_minutes + outage.minutes
        onsets += _has_begun(after, terms) - _has_begun(before, terms)
        hours += _hours(after, terms) - _hours(before, terms)
    fraction = min(Fraction(terms.cap), onsets * Fraction(terms.onset) + hours * Fraction(terms.hourly))
    each = "the downtime of the period" if terms.per == "period" else "each outage"
    rule = (
        f"for {each}, {terms.onset} at its onset and {terms.hourly} for each {terms.counted} {terms.hour_minutes} "
        f"minutes after the first {terms.free_minutes}, at most {terms.cap}"
    )
    inputs = {"counted": facts.counted, "onsets": onsets, "hours": hours}
    step = Step(PARAGRAPH, rule, fraction, inputs, f"service_levels.{level_id}.credit.hourly")
    return Computed(share_of(facts.base, fraction), (step,))


def _has_begun(minutes: Minutes, terms: OnsetPlusHourly) -> int:
    """Return 1 once the onset is due, else 0. [1]"""
    return int(minutes > 0 and minutes >= terms.free_minutes)


def _hours(minutes: Minutes, terms: OnsetPlusHourly) -> int:
    """Return the hours that a downtime starts or completes after the free minutes. [1]"""
    return counted_units(Fraction(minutes) - terms.free_minutes, Fraction(terms.hour_minutes), terms.counted)


def arrays(counted: IntArray, minute: int, terms: OnsetPlusHourly) -> NDArray[np.float64]:
    """Return the share credited for the downtime of the period. [1]

    Parameters
    ----------
    counted : counted downtime of the period, any shape. [min, or s]
    minute : how many of its unit make a minute. [1]
    terms : a shape that looks at the downtime of the period.
    """
    lost = np.asarray(counted, dtype=np.int64)
    over, hour = lost - terms.free_minutes * minute, terms.hour_minutes * minute
    hours = np.maximum(-(-over // hour) if terms.counted == "started" else over // hour, 0)
    onset = (lost > 0) & (over >= 0)
    return np.minimum(onset * float(terms.onset) + hours * float(terms.hourly), float(terms.cap))
