"""What fails above a unit and brings it down: incidents of units that contain it, copied to it."""

from __future__ import annotations

from collections.abc import Mapping

from risk.contract_rules.records import Unit, UnitTree
from risk.core.computed import Computed, Step
from schemas.incidents import Incident
from schemas.service_levels import DownTest, ServiceLevel

PARAGRAPH = "service-levels.from-above"

FACILITY = ("rack", "hall", "site")
"""Levels whose loss of power or cooling reaches the units within."""
_CAUSES: Mapping[DownTest, str] = {"power_lost": "power", "cooling_lost": "cooling"}
"""Test to the word with which the cause of an incident must start."""


ABOVE = (*FACILITY, "fabric")
"""Levels whose incidents may reach other units."""


def looks_above(level: ServiceLevel) -> bool:
    """Return whether a test of a service level names something that fails above its units."""
    return any(test in level.down_tests for test in (*_CAUSES, "fabric_down"))


def exact(
    incident: Incident, unit: Unit, tree: UnitTree, level: ServiceLevel, level_id: str
) -> Computed[Incident | None]:
    """Return an incident of a unit above as one of `unit`, None where it does not bring that down.

    Parameters
    ----------
    incident : an incident of another unit.
    unit : a unit that the service level measures.

    Notes
    -----
    A test of the service level must name what failed. `power_lost` and `cooling_lost`: the incident is one of a rack,
    hall or site that contains the unit, with a cause that starts with `power` or `cooling`. `fabric_down`: it is one of
    a fabric that contains the unit or stands in a unit that does. Only downtime and planned work reach down. The copy
    keeps everything else that is on record; its `parent_id` names the incident it comes from.
    """
    test = _test(incident, unit, tree, level)
    if test is None or incident.state not in ("down", "planned"):
        return Computed(None, ())
    copy = incident.revise(
        {"id": f"{incident.id}/{unit.id}"[:200], "level": unit.level, "unit_id": unit.id, "parent_id": incident.id}
    )
    rule = "what a test of the row names brings down the units within, each under its own row"
    facts = {"incident": incident.id, "of": incident.unit_id, "unit": unit.id, "test": test}
    return Computed(copy, (Step(PARAGRAPH, rule, copy.id, facts, f"service_levels.{level_id}.down_tests"),))


def _test(incident: Incident, unit: Unit, tree: UnitTree, level: ServiceLevel) -> DownTest | None:
    """Return the test of a service level that an incident above a unit meets."""
    above = tree.names(unit.id) - {unit.id}
    cause = (incident.cause or "").lower()
    for test, word in _CAUSES.items():
        reaches = incident.level in FACILITY and incident.unit_id in above and cause.startswith(word)
        if test in level.down_tests and reaches:
            return test
    if "fabric_down" in level.down_tests and incident.level == "fabric" and incident.unit_id != unit.id:
        fabric = tree.units.get(incident.unit_id)
        holder = fabric.parent_id if fabric is not None else None
        if incident.unit_id in above or (holder is not None and holder in above | {unit.id}):
            return "fabric_down"
    return None
