"""Credits that come by themselves, and credits that must be claimed in time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from fractions import Fraction
from typing import Literal

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
WindowFrom = Literal["period_end", "incident_end", "incident_start", "statement", "next_period_end"]
READINGS: tuple[WindowFrom, ...] = ("incident_start", "incident_end", "period_end")
"""From what the time for a claim is counted where the contract leaves that blank."""
_TERM = "credits.process"
_FROM = f"{_TERM}.window_from"


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
    readings: tuple[datetime, ...] = ()
    """Where the contract leaves blank from what the time runs: `late_from` by each reading of that, the earliest
    first."""
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

    Notes
    -----
    Where the contract leaves blank from what the time runs, it is counted from the end of the period and from the end
    and the start of the last outage. A claim that is late by each of these is late; where only some make it late, the
    credit is not computed unless a late claim is worth the same.
    """
    process = terms.credits.process
    if process.mode == "automatic":
        rule = "credits are given with the statement, without a claim"
        step = Step(STATEMENT_PARAGRAPH, rule, True, {}, f"{_TERM}.mode")
        return Computed(Claimed(Fraction(1), None), (step,))
    window = _window(line, notices, terms, as_of)
    moments = sorted(set(window.value.values()))
    late_from = moments[0] if len(moments) == 1 else None
    blank = terms.blank(_FROM)
    readings = tuple(moments) if blank is not None else ()
    received = min(
        (received_at(n) for n in claims_of(notices, line.period, as_of) if is_named(line.names, n.unit_ids)),
        default=None,
    )
    claimed_at = as_of if received is None else received
    late = [claimed_at is not None and claimed_at >= moment for moment in moments]
    is_late = bool(late) and all(late)
    facts: dict[str, object] = {
        "claim_received": received,
        "late_from": late_from if len(moments) < 2 else tuple(moments),
        "window_from": process.window_from if blank is None else tuple(window.value),
    }
    rule = f"a credit is given for lines that the customer claims within the claim window; {_on_record(received, late)}"
    if blank is not None and any(late) and not is_late and _share(terms) != 1:
        first, last = (deadlines.local_day(moment, terms.measurement.zone) for moment in (moments[0], moments[-1]))
        why = f"a claim is late from {first} by one reading and from {last} by another, and {blank}"
        step = Step(PARAGRAPH, f"{rule} by some readings and not by others", blank, facts, _FROM)
        return Computed(Claimed(None, None, readings, why), (*window.steps, step))
    steps = (*window.steps, Step(PARAGRAPH, rule, not is_late, facts, _FROM))
    if not is_late:
        return Computed(Claimed(Fraction(1), late_from, readings), steps)
    share, blank = _share(terms), terms.blank(f"{_TERM}.late")
    if share is None:
        rule = "what becomes of a late claim is not stated, so the credit is not computed"
        step = Step(LATE_PARAGRAPH, rule, blank, facts, f"{_TERM}.late")
        return Computed(Claimed(None, late_from, readings, f"the claim is late, and {blank}"), (*steps, step))
    match process.late:
        case "none":
            rule = "a late claim is still good"
        case "reduced":
            rule = f"a late claim is worth {process.late_share} of the credit; the rest is lost and uses up no limit"
        case "forfeit":
            rule = "a credit not claimed in time is lost and uses up no limit"
    step = Step(LATE_PARAGRAPH, rule, share, facts, f"{_TERM}.late")
    return Computed(Claimed(share, late_from, readings), (*steps, step))


def _share(terms: Deal) -> Fraction | None:
    """Return what is left of a credit that is claimed late, None where the contract leaves that blank. [1]"""
    process = terms.credits.process
    if terms.blank(f"{_TERM}.late") is not None:
        return None
    shares = {"none": Fraction(1), "reduced": Fraction(process.late_share), "forfeit": Fraction(0)}
    return shares[process.late]


def _on_record(received: datetime | None, late: Sequence[bool]) -> str:
    """Return what of a claim is on record, in words that whether it is late can follow."""
    if received is not None:
        return "the claim on record is"
    if not late:
        return "no claim is on record, and no time for one is known to have begun; a claim is"
    return "no claim is on record; one made when this is stated is"


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
) -> Computed[dict[str, datetime]]:
    """Return the moment from which a claim is late, by the event from which its time runs.

    Several events where the contract leaves blank which of them it is; none while the time has not begun, or where its
    length is not stated.
    """
    process = terms.credits.process
    length = next((n for n in ("window_business_days", "window_months") if getattr(process, n) is not None), None)
    term = f"{_TERM}.{length or 'window_days'}"
    blank = terms.blank(term)
    if blank is not None:
        rule = "the time for a claim is not stated, so none is known to be late"
        return Computed({}, (Step(PARAGRAPH, rule, blank, {}, term),))
    blank = terms.blank(_FROM)
    stated = statement_received(line.period, notices, as_of)
    found: dict[str, datetime] = {}
    steps: tuple[Step, ...] = ()
    for window_from in (process.window_from,) if blank is None else READINGS:
        event = _event(line, window_from, stated, terms.measurement.zone)
        if event is not None:
            late_from = _late_from(event, terms, term)
            found[window_from] = late_from.value
            steps += late_from.steps
    if blank is not None:
        rule = "from what the time for a claim runs is not stated; counted from each of these a claim is late from"
        steps = (Step(PARAGRAPH, rule, dict(found), {"not_stated": blank}, _FROM),)
    return Computed(found, steps)


def _late_from(event: date, terms: Deal, term: str) -> Computed[datetime]:
    """Return the moment from which a claim is late whose time runs from a day."""
    process, zone, day_count = terms.credits.process, terms.measurement.zone, terms.measurement.day_count
    if process.window_business_days is not None:
        calendars = deadlines.business_calendars(terms)
        days = process.window_business_days
        return deadlines.in_business_days(event, days, zone, calendars, term=term, day_count=day_count)
    if process.window_months is not None:
        return deadlines.in_months(event, process.window_months, zone, term=term, day_count=day_count)
    return deadlines.exact(event, process.window_days, zone, term=term, day_count=day_count)


def _event(line: Claimable, window_from: WindowFrom, stated: datetime | None, zone: str) -> date | None:
    """Return the day of the event from which the claim window runs; None while it has not begun."""
    outage = line.last_outage
    match window_from:
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
