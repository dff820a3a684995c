"""What a code of a fault means under the contract's own list."""

from __future__ import annotations

from risk.core.computed import Computed, Step
from schemas.incidents import Incident
from schemas.service_levels import Measurement

PARAGRAPH = "degraded-performance.fault-list"

FAULTS = ("down", "degraded")
"""States that a code can overrule; planned work and missing readings stay what they are."""
_RULES = {
    "down": "a fault with this code makes the unit down",
    "degraded": "a fault with this code makes the unit slow",
    "application": "a fault with this code lies in the customer's application: by itself it is no downtime",
    "no_event": "a code of this kind is no event",
}


def exact(incident: Incident, measurement: Measurement) -> Computed[Incident | None]:
    """Return a record in the state that the list of faults gives it, None where it is nothing to the contract.

    Notes
    -----
    The list overrules the state of records of units that were down or degraded. Without a list the state of the record
    stands. With one, a code that is not on it counts as the application's.
    """
    listed = measurement.fault_list
    if not listed or incident.fault_code is None or incident.state not in FAULTS:
        return Computed(incident, ())
    meaning = listed.get(incident.fault_code)
    rule = _RULES[meaning or "application"]
    if meaning is None:
        rule = f"a code that is not on the list of faults counts as the application's; {rule}"
    facts = {"incident": incident.id, "fault_code": incident.fault_code, "state": incident.state}
    step = Step(PARAGRAPH, rule, meaning, facts, "measurement.fault_list")
    if meaning == "down" or meaning == "degraded":
        changed = incident if incident.state == meaning else incident.revise({"state": meaning})
        return Computed(changed, (step,))
    return Computed(None, (step,))
