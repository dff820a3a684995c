"""Availability of one unit in one period, as an exact fraction."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from risk.contract_rules.intervals import Minutes
from risk.core.computed import Computed, Step
from schemas.service_levels import ServiceLevel

PARAGRAPH = "service-levels.formula"
TABLE_PARAGRAPH = "service-levels.table"
EXCLUDED_PARAGRAPH = "service-levels.excluded"
NO_WINDOW_PARAGRAPH = "service-levels.no-window"
PER_UNIT_PARAGRAPH = "service-levels.per-unit"


def exact(
    window: Minutes, counted: Minutes, excluded: Minutes, level: ServiceLevel, level_id: str
) -> Computed[Fraction | None]:
    """Return 1 - counted / window, None when the unit was in service for no minute. [1]

    Notes
    -----
    With `excluded_leave: both` excluded minutes leave the window too; a unit all of whose minutes were excluded has an
    availability of 1. Counted minutes beyond the window, which a fixed month length can bring, give 0 and not less.
    """
    path = f"service_levels.{level_id}"
    if window <= 0:
        rule = "a unit in service for no minute of the period has no availability"
        return Computed(None, (Step(NO_WINDOW_PARAGRAPH, rule, None, {"window": window}),))
    both = level.excluded_leave == "both"
    rule = (
        "excluded downtime leaves the downtime and the minutes of the period; minutes left"
        if both
        else "excluded downtime leaves the downtime, and the minutes of the period stay"
    )
    below = window - excluded if both else window
    steps = [Step(EXCLUDED_PARAGRAPH, rule, below, {"window": window, "excluded": excluded}, f"{path}.excluded_leave")]
    if below <= 0:
        rule = "where all minutes of the period were excluded, the availability is"
        steps.append(Step(NO_WINDOW_PARAGRAPH, rule, Fraction(1), {"window": window, "excluded": excluded}))
        return Computed(Fraction(1), tuple(steps))
    value = max(1 - Fraction(counted) / Fraction(below), Fraction(0))
    inputs = {"counted": counted, "minutes": below}
    steps.append(Step(PARAGRAPH, "availability = 1 - counted downtime / minutes of the period", value, inputs))
    return Computed(value, tuple(steps))


def promised(measured: Fraction | None, level: ServiceLevel, level_id: str) -> Computed[bool | None]:
    """Return whether the target was met, None without a target; a period without availability misses nothing."""
    if level.target is None:
        rule = "the row promises no availability, so none is met or missed"
        return Computed(None, (Step(TABLE_PARAGRAPH, rule, None, {"availability": measured}),))
    met = measured is None or measured >= Fraction(level.target)
    step = Step(
        TABLE_PARAGRAPH,
        f"the target of the row is an availability of at least {level.target} in the period",
        met,
        {"availability": measured},
        f"service_levels.{level_id}.target",
    )
    return Computed(met, (step,))


def of_fleet(units: Sequence[Fraction | None], level: ServiceLevel, level_id: str) -> Computed[Fraction | None]:
    """Return the mean availability of all units of a row, each with equal weight. [1]"""
    known = [value for value in units if value is not None]
    mean = sum(known, Fraction(0)) / len(known) if known else None
    step = Step(
        PER_UNIT_PARAGRAPH,
        "availability is the mean of all units of the row, each with equal weight",
        mean,
        {"units": len(known)},
        f"service_levels.{level_id}.aggregation",
    )
    return Computed(mean, (step,))


def per_unit(value: Fraction | None, level_id: str) -> Step:
    """Return the step that says a unit is measured by itself."""
    rule = "availability is worked out for each unit by itself"
    return Step(PER_UNIT_PARAGRAPH, rule, value, {}, f"service_levels.{level_id}.aggregation")
