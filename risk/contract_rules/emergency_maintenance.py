"""Urgent work: short notice, and an allowance for each quarter of the contract year."""

from __future__ import annotations

from risk.contract_rules.deadlines import days_later
from risk.contract_rules.intervals import Spans, hours
from risk.contract_rules.scheduled_maintenance import announced, is_named
from risk.core.computed import Computed, Step
from schemas.errors import MissingTermError
from schemas.exclusions import EmergencyMaintenance
from schemas.incidents import Notice, Window

PARAGRAPH = "emergency-maintenance.notice"
STALE_PARAGRAPH = "emergency-maintenance.stale"


def exact(
    window: Window, notice: Notice | None, names: frozenset[str], terms: EmergencyMaintenance | None, zone: str
) -> Computed[Spans]:
    """Return the part of a window of urgent work that is emergency maintenance for one unit.

    Parameters
    ----------
    notice : the notice on record for the window.
    names : the unit and the units that contain it.
    zone : the age of a fix is counted in days at the same time of day there.

    Raises
    ------
    MissingTermError
        When the contract lists emergency maintenance and says nothing on its notice.
    """
    if terms is None:
        raise MissingTermError(
            "exclusions.emergency",
            f"window {window.id!r} of emergency maintenance",
            "give its notice and allowance, or take 'emergency' out of exclusions.heads",
        )
    stale = _stale(window, terms, zone)
    if stale and stale[0].result is True:
        return Computed((), stale)
    rule = (
        f"a notice at least {terms.min_notice_hours} hours before the work must name the units, the start and the end"
    )
    facts: dict[str, object] = {"window": window.id, "notice": notice.id if notice else None}
    term = "exclusions.emergency.min_notice_hours"
    if notice is None or not is_named(names, notice.unit_ids):
        facts["found"] = "no notice on record" if notice is None else "the notice does not name the unit"
        return Computed((), (*stale, Step(PARAGRAPH, rule, False, facts, term)))
    start, end, _ = announced(window, notice, None)
    on_time = notice.sent_at + hours(terms.min_notice_hours) <= start
    facts |= {"sent_at": notice.sent_at, "work_starts": start, "announced_end": end}
    valid = ((start, end),) if on_time and start < end else ()
    return Computed(valid, (*stale, Step(PARAGRAPH, rule, on_time, facts, term)))


def _stale(window: Window, terms: EmergencyMaintenance, zone: str) -> tuple[Step, ...]:
    """Return the step on the age of the fix: True where it was public for too long, None where no fix is on record."""
    if terms.stale_patch_days is None:
        return ()
    published = window.fix_published_at
    is_stale = None if published is None else days_later(published, terms.stale_patch_days, zone) < window.starts_at
    rule = f"work on a fix that was public for more than {terms.stale_patch_days} days before it is no emergency"
    facts = {"window": window.id, "fix_published_at": published, "work_starts": window.starts_at}
    return (Step(STALE_PARAGRAPH, rule, is_stale, facts, "exclusions.emergency.stale_patch_days"),)
