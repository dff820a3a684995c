"""Credits that come by themselves, and credits that must be claimed in time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime

from risk.contract_rules import deadlines
from risk.contract_rules.intervals import Span
from risk.contract_rules.scheduled_maintenance import is_named
from risk.core.computed import Computed, Step
from schemas.credits import CreditProcess
from schemas.incidents import Notice

PARAGRAPH = "credit-process.claim"
STATEMENT_PARAGRAPH = "credit-process.statement"
LATE_PARAGRAPH = "credit-process.late"

CLAIM = "claim"
"""Kind of a notice by which the customer claims credits."""
STATEMENT = "credit_statement"
"""Kind of a notice by which the provider states the credits of a month."""
_TERM = "credits.process"


def exact(
    month: Span,
    last_outage_end: datetime | None,
    names: frozenset[str],
    notices: Sequence[Notice],
    process: CreditProcess,
    zone: str,
    as_of: datetime | None,
) -> Computed[tuple[bool, datetime | None]]:
    """Return whether a credit of one line is owed, and from when on a claim is late (None: not yet or never).

    Parameters
    ----------
    month : the measurement period.
    last_outage_end : end of the last outage of the unit in the month.
    names : the unit and the units that contain it; a claim may name any of them.
    notices : claims (kind `claim`) and statements (kind `credit_statement`) among them are read; one that names no
        time covers every period that was over when it was received.
    as_of : when the statement is made; a claim that is missing is lost only if its time is known to be over.
    """
    if process.mode == "automatic":
        rule = "credits are given with the statement, without a claim"
        return Computed((True, None), (Step(STATEMENT_PARAGRAPH, rule, True, {}, f"{_TERM}.mode"),))
    stated = statement_received(month, notices, as_of)
    event = _event(month, last_outage_end, stated, process, zone)
    steps: tuple[Step, ...] = ()
    late_from: datetime | None = None
    if event is not None:
        deadline = deadlines.exact(event, process.window_days, zone, term=f"{_TERM}.window_days")
        late_from, steps = deadline.value, deadline.steps
    received = min(
        (
            _received(n)
            for n in _known(notices, as_of)
            if n.kind == CLAIM and is_named(names, n.unit_ids) and _covers(n, month)
        ),
        default=None,
    )
    facts = {"claim_received": received, "late_from": late_from, "window_from": process.window_from}
    if received is None:
        is_late = late_from is not None and as_of is not None and as_of >= late_from
    else:
        is_late = late_from is not None and received >= late_from
    rule = "a credit is given for lines that the customer claims within the claim window"
    steps += (Step(PARAGRAPH, rule, not is_late, facts, f"{_TERM}.window_from"),)
    if not is_late:
        return Computed((True, late_from), steps)
    owed = process.late == "none"
    rule = "a late claim is still good" if owed else "a credit not claimed in time is lost and uses up no limit"
    return Computed((owed, late_from), (*steps, Step(LATE_PARAGRAPH, rule, owed, facts, f"{_TERM}.late")))


def statement_received(month: Span, notices: Sequence[Notice], as_of: datetime | None) -> datetime | None:
    """Return when the provider's statement of a month was first received, None where none is on record."""
    found = (_received(n) for n in _known(notices, as_of) if n.kind == STATEMENT and _covers(n, month))
    return min(found, default=None)


def _known(notices: Sequence[Notice], as_of: datetime | None) -> list[Notice]:
    """Return the notices received when the statement is made."""
    return [n for n in notices if as_of is None or _received(n) <= as_of]


def _received(notice: Notice) -> datetime:
    """Return when a notice was received, when it was sent where no receipt is on record."""
    return (notice.received_at or notice.sent_at).astimezone(UTC)


def _covers(notice: Notice, month: Span) -> bool:
    if notice.covers_from is None and notice.covers_to is None:
        return month[1] <= _received(notice)
    return (notice.covers_from is None or notice.covers_from < month[1]) and (
        notice.covers_to is None or month[0] < notice.covers_to
    )


def _event(
    month: Span, last_outage_end: datetime | None, stated: datetime | None, process: CreditProcess, zone: str
) -> date | None:
    """Return the day from whose end the claim window runs; None while it has not begun."""
    if process.window_from == "period_end":
        return deadlines.day_that_ends(month[1], zone)
    if process.window_from == "incident_end":
        return deadlines.day_that_ends(last_outage_end, zone) if last_outage_end else None
    return deadlines.local_day(stated, zone) if stated else None
