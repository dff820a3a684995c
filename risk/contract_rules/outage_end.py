"""When an outage ends: the first good reading, or re-admission; an open outage runs on."""

from __future__ import annotations

from datetime import UTC, datetime

from risk.core.computed import Computed, Step
from schemas.incidents import Incident
from schemas.service_levels import Measurement

PARAGRAPH = "outage-clock.end"
OPEN_PARAGRAPH = "outage-clock.open"
RESTART_PARAGRAPH = "node-availability.restart"
SWAP_PARAGRAPH = "node-availability.swap"
_TERM = "measurement.ends_at"


def exact(incident: Incident, measurement: Measurement, open_until: datetime) -> Computed[datetime]:
    """Return when the outage of one record ends under the contract, `open_until` where no end is on record."""
    steps: list[Step] = []
    good, admitted = incident.ended_at, incident.readmitted_at
    if measurement.ends_at == "readmission" and admitted is not None:
        end = admitted
        rule = "the outage ends when the unit has passed its checks and is ready for work"
        if incident.level == "node" and good is not None and good < admitted:
            steps += _until_ready(incident, good, admitted)
    elif good is not None:
        end = good
        rule = (
            "the outage ends with the first good reading"
            if measurement.ends_at == "first_good"
            else "no re-admission is on record: the first good reading ends the outage"
        )
    elif admitted is not None:
        end, rule = admitted, "no good reading is on record before re-admission, which ends the outage"
    else:
        rule = "the outage had not ended when the statement was made: it counts up to then"
        step = Step(OPEN_PARAGRAPH, rule, open_until, {"incident": incident.id})
        return Computed(open_until, (step,))
    end = end.astimezone(UTC)
    step = Step(PARAGRAPH, rule, end, {"incident": incident.id}, _TERM)
    return Computed(end, (step, *steps))


def _until_ready(incident: Incident, good: datetime, admitted: datetime) -> tuple[Step, ...]:
    """Return the steps for a node that answered before it had passed its checks."""
    inputs = {"incident": incident.id, "first_good_reading": good}
    return (
        Step(RESTART_PARAGRAPH, "a node that restarts or is tested after a repair is still down", admitted, inputs),
        Step(
            SWAP_PARAGRAPH,
            "whatever node fills the slot, the outage ends when that node is re-admitted, not when it is switched on",
            admitted,
            inputs,
        ),
    )
