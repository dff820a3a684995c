"""Why it happened: reports in time, a check that moves no money by itself, and the exclusion that hangs on one."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from risk.contract_rules import deadlines
from risk.contract_rules.flaps import Outage
from risk.contract_rules.intervals import MINUTE, Span
from risk.contract_rules.judged_window import Case
from risk.contract_rules.scheduled_maintenance import is_named
from risk.core.computed import Computed, Step
from schemas.incidents import Notice
from schemas.operations import RootCauseReport

PRELIMINARY_PARAGRAPH = "root-cause-reports.preliminary"
FINAL_PARAGRAPH = "root-cause-reports.final"
NO_REPORT_PARAGRAPH = "excluded-downtime.no-report"

FINAL = "root_cause_report"
"""Kind of the notice that carries the report on an outage."""
PRELIMINARY = "preliminary_report"
"""Kind of the notice that carries the first report on it."""


def exact(outage: Outage, case: Case, terms: RootCauseReport, zone: str) -> Computed[bool | None]:
    """Return whether both reports on one outage came in time; None where none is due, or the time is not over.

    Parameters
    ----------
    case : the unit, the notices on record and what is known when the statement is made.
    zone : days after the end of the outage are counted there.
    """
    if outage.length <= terms.minutes * MINUTE:
        return Computed(None, ())
    both: list[bool | None] = []
    steps: list[Step] = []
    for name, kinds, days, paragraph in (
        ("preliminary", (PRELIMINARY, FINAL), terms.preliminary_days, PRELIMINARY_PARAGRAPH),
        ("final", (FINAL,), terms.final_days, FINAL_PARAGRAPH),
    ):
        value, facts = _in_time(outage.span, case, days, zone, kinds)
        rule = f"the {name} report on an outage of more than {terms.minutes} minutes must come within {days} days"
        steps.append(Step(paragraph, rule, value, facts, f"operations.reports.{name}_days"))
        both.append(value)
    return Computed(False if False in both else None if None in both else True, tuple(steps))


def received(piece: Span, case: Case, days: int, zone: str) -> Computed[bool | None]:
    """Return whether the report on an excluded outage was received in time, None while it can still come."""
    value, facts = _in_time(piece, case, days, zone, (FINAL,))
    rule = f"an outage is excluded only if its root-cause report is received within {days} days of its end"
    return Computed(value, (Step(NO_REPORT_PARAGRAPH, rule, value, facts, "exclusions.report_days"),))


def _in_time(
    outage: Span, case: Case, days: int, zone: str, kinds: tuple[str, ...]
) -> tuple[bool | None, dict[str, object]]:
    """Return whether a report on `outage` came within `days` of its end, with the facts."""
    start, end = outage
    late_from = deadlines.exact(deadlines.local_day(end, zone), days, zone).value
    on_it = [
        (_received(notice), notice.id)
        for notice in _known(case.notices.values(), case.known_until)
        if notice.kind in kinds and is_named(case.names, notice.unit_ids) and _covers(notice, outage)
    ]
    first, name = min(on_it, default=(None, None))
    facts: dict[str, object] = {
        "outage": (start, end),
        "report": name,
        "received": first,
        "late_from": late_from,
    }
    if first is not None:
        return first < late_from, facts
    return (False if case.known_until >= late_from else None), facts


def _received(notice: Notice) -> datetime:
    return notice.received_at or notice.sent_at


def _known(notices: Iterable[Notice], until: datetime) -> Iterable[Notice]:
    return (notice for notice in notices if _received(notice) <= until)


def _covers(notice: Notice, outage: Span) -> bool:
    """Return whether a report is on an outage: it names a time that holds it, or none, and came after its start."""
    starts = notice.covers_from is None or notice.covers_from <= outage[0]
    ends = notice.covers_to is None or outage[1] <= notice.covers_to
    return starts and ends and _received(notice) > outage[0]
