"""Credits that come by themselves, and credits that must be claimed in time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from fractions import Fraction

from risk.contract_rules import deadlines
from risk.contract_rules.intervals import Span
from risk.contract_rules.scheduled_maintenance import is_named
from risk.core.computed import Computed, Step
from schemas.deal import Deal
from schemas.incidents import Notice

PARAGRAPH = "credit-process.claim"
STATEMENT_PARAGRAPH = "credit-process.statement"
LATE_PARAGRAPH = "credit-process.late"

CLAIM = "claim"
"""Kind of a notice by which the customer claims credits."""
STATEMENT = "credit_statement"
"""Kind of a notice by which the provider states the credits of a month."""
_TERM = "credits.process"


@dataclass(frozen=True, slots=True)
class Claimable:
    """What may start the time for a claim on one line."""

    period: Span
    """The measurement period."""
    next_period_end: datetime
    last_outage: Span | None
    """Last outage of the unit that reaches into the period."""
    names: frozenset[str]
    """The unit and the units that contain it; a claim may name any of them."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """What is left of the credit of one line after the claim filter."""

    share: Fraction | None
    """Share of the credit that is owed; None where the contract leaves that blank. [1]"""
    late_from: datetime | None
    """A claim from this moment on is late; None where none is needed, or its time has not begun or is not stated."""
    undecided: str | None = None
    """What the contract leaves blank, where the credit turns on it."""


def exact(line: Claimable, notices: Sequence[Notice], terms: Deal, as_of: datetime | None) -> Computed[Claimed]:
    """Return how much of the credit of one line is owed, and from when on a claim is late.

    Parameters
    ----------
    notices : claims (kind `claim`) and statements (kind `credit_statement`) among them are read; one that names no
        time covers every period that was over when it was received.
    as_of : when the statement is made; a claim that is missing is lost only if its time is known to be over.

    Raises
    ------
    DealError
        When the window is in Business Days of a calendar that is not known.
    """
    process = terms.credits.process
    if process.mode == "automatic":
        rule = "credits are given with the statement, without a claim"
        step = Step(STATEMENT_PARAGRAPH, rule, True, {}, f"{_TERM}.mode")
        return Computed(Claimed(Fraction(1), None), (step,))
    window = _window(line, notices, terms, as_of)
    late_from, steps = window.value, window.steps
    received = min(
        (received_at(n) for n in claims_of(notices, line.period, as_of) if is_named(line.names, n.unit_ids)),
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
        return Computed(Claimed(Fraction(1), late_from), steps)
    blank = terms.blank(f"{_TERM}.late")
    if blank is not None:
        rule = "what becomes of a late claim is not stated, so the credit is not computed"
        step = Step(LATE_PARAGRAPH, rule, blank, facts, f"{_TERM}.late")
        return Computed(Claimed(None, late_from, f"the claim is late, and {blank}"), (*steps, step))
    match process.late:
        case "none":
            share, rule = Fraction(1), "a late claim is still good"
        case "reduced":
            share = Fraction(process.late_share)
            rule = f"a late claim is worth {process.late_share} of the credit; the rest is lost and uses up no limit"
        case "forfeit":
            share, rule = Fraction(0), "a credit not claimed in time is lost and uses up no limit"
    return Computed(Claimed(share, late_from), (*steps, Step(LATE_PARAGRAPH, rule, share, facts, f"{_TERM}.late")))


def statement_received(month: Span, notices: Sequence[Notice], as_of: datetime | None) -> datetime | None:
    """Return when the provider's statement of a month was first received, None where none is on record."""
    found = (received_at(n) for n in _known(notices, as_of) if n.kind == STATEMENT and _covers(n, month))
    return min(found, default=None)


def claims_of(notices: Iterable[Notice], month: Span, as_of: datetime | None) -> tuple[Notice, ...]:
    """Return the claims that cover a month and are known when the statement is made, by receipt."""
    found = [n for n in _known(notices, as_of) if n.kind == CLAIM and _covers(n, month)]
    return tuple(sorted(found, key=received_at))


def received_at(notice: Notice) -> datetime:
    """Return when a notice was received, when it was sent where no receipt is on record."""
    return (notice.received_at or notice.sent_at).astimezone(UTC)


def _known(notices: Iterable[Notice], as_of: datetime | None) -> list[Notice]:
    """Return the notices received when the statement is made."""
    return [n for n in notices if as_of is None or received_at(n) <= as_of]


def _covers(notice: Notice, month: Span) -> bool:
    if notice.covers_from is None and notice.covers_to is None:
        return month[1] <= received_at(notice)
    return (notice.covers_from is None or notice.covers_from < month[1]) and (
        notice.covers_to is None or month[0] < notice.covers_to
    )


def _window(
    line: Claimable, notices: Sequence[Notice], terms: Deal, as_of: datetime | None
) -> Computed[datetime | None]:
    """Return the moment from which a claim is late; None while its time has not begun, or where it is not stated."""
    process, measurement = terms.credits.process, terms.measurement
    zone, day_count = measurement.zone, measurement.day_count
    length = next((n for n in ("window_business_days", "window_months") if getattr(process, n) is not None), None)
    term = f"{_TERM}.{length or 'window_days'}"
    blank = terms.blank(term, f"{_TERM}.window_from")
    if blank is not None:
        rule = "the time for a claim is not stated, so none is known to be late"
        return Computed(None, (Step(PARAGRAPH, rule, blank, {}, term),))
    event = _event(line, statement_received(line.period, notices, as_of), terms)
    if event is None:
        return Computed(None, ())
    found: Computed[datetime]
    if process.window_business_days is not None:
        calendars = deadlines.business_calendars(terms)
        days = process.window_business_days
        found = deadlines.in_business_days(event, days, zone, calendars, term=term, day_count=day_count)
    elif process.window_months is not None:
        found = deadlines.in_months(event, process.window_months, zone, term=term, day_count=day_count)
    else:
        found = deadlines.exact(event, process.window_days, zone, term=term, day_count=day_count)
    return Computed(found.value, found.steps)


def _event(line: Claimable, stated: datetime | None, terms: Deal) -> date | None:
    """Return the day of the event from which the claim window runs; None while it has not begun."""
    zone, outage = terms.measurement.zone, line.last_outage
    match terms.credits.process.window_from:
        case "period_end":
            return deadlines.day_that_ends(line.period[1], zone)
        case "next_period_end":
            return deadlines.day_that_ends(line.next_period_end, zone)
        case "incident_end":
            return deadlines.day_that_ends(outage[1], zone) if outage is not None else None
        case "incident_start":
            return deadlines.local_day(outage[0], zone) if outage is not None else None
        case "statement":
            return deadlines.local_day(stated, zone) if stated is not None else None
