"""When an outage starts: the record that the contract's clock looks at."""

from __future__ import annotations

from datetime import UTC, datetime

from risk.core.computed import Computed, Step
from schemas.incidents import Incident
from schemas.service_levels import Measurement

PARAGRAPH = "outage-clock.start"
_TERM = "measurement.starts_at"


def exact(incident: Incident, measurement: Measurement) -> Computed[datetime | None]:
    """Return when the outage of one record starts under the contract, None when its clock never starts.

    Notes
    -----
    `detection` is the earlier of detection and the customer's notice, and the first failed reading where the record
    has neither. A clock that a notice or a ticket starts does not start without one.
    """
    if measurement.starts_at == "first_failed_reading":
        return _at(incident, incident.started_at, "the outage starts with the first failed reading")
    if measurement.starts_at == "detection":
        known = [moment for moment in (incident.detected_at, incident.notice_at) if moment is not None]
        if known:
            rule = "the outage starts when the provider detects it, at the latest with the customer's notice"
            return _at(incident, min(known), rule)
        rule = "no detection or notice is on record: the first failed reading stands for it"
        return _at(incident, incident.started_at, rule)
    if measurement.starts_at == "customer_notice":
        return _at(
            incident,
            incident.notice_at,
            "the outage starts with the customer's notice; without one the clock does not start",
        )
    return _at(
        incident,
        incident.ticket_at,
        "the outage starts when a ticket is opened; without one the clock does not start",
    )


def _at(incident: Incident, moment: datetime | None, rule: str) -> Computed[datetime | None]:
    """Return the moment with its step."""
    start = moment.astimezone(UTC) if moment is not None else None
    inputs = {"incident": incident.id, "first_failed_reading": incident.started_at}
    return Computed(start, (Step(PARAGRAPH, rule, start, inputs, _TERM),))
