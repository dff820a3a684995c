"""Events that excuse: the list, what never counts as one, and how far relief reaches back before the notice."""

from __future__ import annotations

from risk.contract_rules.deadlines import days_later
from risk.contract_rules.intervals import Spans
from risk.contract_rules.scheduled_maintenance import is_named
from risk.core.computed import Computed, Step
from schemas.exclusions import ForceMajeure
from schemas.incidents import Notice, Window

PARAGRAPH = "force-majeure.events"
NEVER_PARAGRAPH = "force-majeure.never"
NOTICE_PARAGRAPH = "force-majeure.notice"
_TERM = "exclusions.force_majeure"


def exact(
    window: Window, notice: Notice | None, names: frozenset[str], terms: ForceMajeure, zone: str
) -> Computed[Spans]:
    """Return the part of a window in which force majeure gives relief for one unit.

    Parameters
    ----------
    notice : the notice on record for the window.
    names : the unit and the units that contain it.
    zone : days before the notice are counted at the same time of day there.
    """
    facts: dict[str, object] = {"window": window.id, "event": window.event}
    if window.event in terms.never:
        rule = "this is never force majeure"
        return Computed((), (Step(NEVER_PARAGRAPH, rule, False, facts, f"{_TERM}.never"),))
    is_listed = window.event in terms.events
    steps = (
        Step(PARAGRAPH, "force majeure is an event on the list, and no other", is_listed, facts, f"{_TERM}.events"),
    )
    if not is_listed:
        return Computed((), steps)
    rule = f"a notice is needed, and relief reaches back {terms.notice_days} days before it at most"
    term = f"{_TERM}.notice_days"
    if notice is None or not is_named(names, notice.unit_ids):
        found = "no notice on record" if notice is None else "the notice does not name the unit"
        facts = {"window": window.id, "found": found}
        return Computed((), (*steps, Step(NOTICE_PARAGRAPH, rule, False, facts, term)))
    start = max(window.starts_at, days_later(notice.sent_at, -terms.notice_days, zone))
    valid = ((start, window.ends_at),) if start < window.ends_at else ()
    facts = {"window": window.id, "notice": notice.id, "sent_at": notice.sent_at}
    rule += "; relief" if valid else ""
    return Computed(valid, (*steps, Step(NOTICE_PARAGRAPH, rule, valid, facts, term)))
