"""How the minutes of one service level are counted: the general rules with those of the level in their place."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from risk.core.computed import Step
from schemas.service_levels import Measurement, MeasurementOverride

OWN_RULES_PARAGRAPH = "service-levels.own-rules"


@dataclass(frozen=True, slots=True)
class CountingRules:
    """What turns outages into minutes."""

    minimum_outage_minutes: int
    """[min]"""
    minimum_test: Literal["at_least", "more_than"]
    merge_gap_minutes: int
    """[min]"""
    gap_counts: bool
    minute_rule: Literal["floor_piece", "floor_outage", "ceil_outage", "exact_seconds"]
    straddle: Literal["split", "start_month", "end_month"]
    month_length: Literal["actual", "fixed_30"]
    own: frozenset[str] = frozenset()
    """Fields that the service level states itself."""

    @property
    def minimum_outage(self) -> timedelta:
        """Return the shortest outage that counts, or the longest that does not."""
        return timedelta(minutes=self.minimum_outage_minutes)

    @property
    def merge_gap(self) -> timedelta:
        """Return the gap from which on outages stay apart."""
        return timedelta(minutes=self.merge_gap_minutes)

    def path(self, field: str, level: str | None = None) -> str:
        """Return the path of the term that gives `field` for service level `level`."""
        if field in self.own and level is not None:
            return f"service_levels.{level}.measurement.{field}"
        return f"measurement.{field}"


def counting_rules(measurement: Measurement, override: MeasurementOverride | None) -> CountingRules:
    """Return the rules of a service level: its own where it has any, else the general ones."""
    own = override.model_dump(exclude_none=True) if override else {}
    general = {name: getattr(measurement, name) for name in CountingRules.__dataclass_fields__ if name != "own"}
    return CountingRules(**{**general, **own}, own=frozenset(own))


def own_rules_step(rules: CountingRules, level: str) -> tuple[Step, ...]:
    """Return the step that names the rules a level has of its own, when it has any."""
    if not rules.own:
        return ()
    own = {name: getattr(rules, name) for name in sorted(rules.own)}
    rule = "these rules of the service level take the place of the general ones"
    return (Step(OWN_RULES_PARAGRAPH, rule, own, {}, f"service_levels.{level}.measurement"),)
