"""Tables of durations: hours of price by how long the unit was down."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from risk.contract_rules.credit_facts import ShapeCredit, ShapeFacts
from risk.contract_rules.intervals import Minutes
from risk.core.computed import Computed, Step
from schemas.credit_shapes import DurationTable

PARAGRAPH = "credit-schedule.duration-table"

IntArray = NDArray[np.int64]


def exact(facts: ShapeFacts, terms: DurationTable, level_id: str) -> Computed[ShapeCredit]:
    """Return the hours of price that the rows give, for each outage or for the downtime of the period.

    Notes
    -----
    A row runs from its first minute to the start of the next, the last has no end. A row for which the contract gives
    no credit leaves the sum open, unless the hours of the others reach the cap without it.
    """
    path = f"service_levels.{level_id}.credit"
    lengths: list[Minutes] = [facts.counted] if facts.counted else []
    if terms.per == "outage":
        lengths = [outage.minutes for outage in facts.find_outages() if outage.minutes]
    hours, unstated = Fraction(0), None
    steps: list[Step] = []
    for minutes in lengths:
        row = row_of(minutes, terms)
        if row is None:
            continue
        given = terms.rows[row].credit_hours
        if given is None:
            unstated = terms.rows[row].unstated
        else:
            hours += Fraction(given)
        rule = (
            "the row of the table in which the downtime of the outage lies"
            if terms.per == "outage"
            else "the row of the table in which the downtime of the period lies"
        )
        result = given if given is not None else unstated
        steps.append(Step(PARAGRAPH, rule, result, {"minutes": minutes}, f"{path}.rows[{row}]"))
    cap = terms.cap_hours
    if cap is not None and hours >= Fraction(cap):
        hours, unstated = Fraction(cap), None
        steps.append(Step(PARAGRAPH, f"at most {cap} hours of price in the period", cap, {}, f"{path}.cap_hours"))
    if not steps:
        rule = "no downtime of the period lies in a row of the table"
        steps.append(Step(PARAGRAPH, rule, Fraction(0), {"counted": facts.counted}, f"{path}.rows"))
    return Computed(ShapeCredit(hours * facts.hourly_price, not_computed=unstated), tuple(steps))


def row_of(minutes: Minutes, terms: DurationTable) -> int | None:
    """Return the number of the row for a downtime from 0, None below the first. [1]"""
    reached = [i for i, row in enumerate(terms.rows) if row.from_minutes <= minutes]
    return reached[-1] if reached else None


def arrays(counted: IntArray, minute: int, terms: DurationTable) -> NDArray[np.float64]:
    """Return the hours of price for the downtime of the period. [h]

    Parameters
    ----------
    counted : counted downtime of the period, any shape; 0 earns nothing. [min, or s]
    minute : how many of its unit make a minute. [1]
    terms : a table that is read for the period and gives hours in every row.
    """
    lost = np.asarray(counted, dtype=np.int64)
    starts = np.array([row.from_minutes * minute for row in terms.rows], dtype=np.int64)
    hours = np.array([0.0, *(float(row.credit_hours or 0) for row in terms.rows)])
    if terms.cap_hours is not None:
        hours = np.minimum(hours, float(terms.cap_hours))
    row = np.where(lost > 0, np.searchsorted(starts, lost, side="right"), 0)
    return np.asarray(hours[row])
