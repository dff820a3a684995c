"""When an outage starts: the record that the contract's clock looks at."""

from __future__ import annotations

from datetime import UTC, datetime

from risk.contract_rules.intervals import hours
from risk.core.computed import Computed, Step
from schemas.incidents import Incident
from schemas.service_levels import Measurement

PARAGRAPH = "outage-clock.start"
LIMIT_PARAGRAPH = "outage-clock.backdate"
_TERM = "measurement.starts_at"


def exact(incident: Incident, measurement: Measurement) -> Computed[datetime | None]:
    """Return when the outage of one record starts under the contract, None when its clock never starts.

    Notes
    -----
    `detection` is the earlier of detection and the customer's notice, and the first failed reading where the record
    has neither. A clock that a notice or a ticket starts does not start without one. Where the contract limits how far
    back an outage may start, it starts at most so long before the earlier of the notice and the ticket on record.
    """
    found = _started(incident, measurement)
    limit = measurement.backdate_limit_hours
    reported = [moment for moment in (incident.notice_at, incident.ticket_at) if moment is not None]
    if limit is None or found.value is None or not reported:
        return found
    earliest = min(reported).astimezone(UTC) - hours(limit)
    start = max(found.value, earliest)
    rule = f"an outage starts at most {limit} hours before the customer's notice or the ticket, whichever is earlier"
    facts = {"incident": incident.id, "reported": min(reported), "without_limit": found.value}
    return Computed(
        start, (*found.steps, Step(LIMIT_PARAGRAPH, rule, start, facts, "measurement.backdate_limit_hours"))
    )


def _started(incident: Incident, measurement: Measurement) -> Computed[datetime | None]:
    """Return when the outage of one record starts under the clock that the contract names."""
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
