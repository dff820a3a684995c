"""How long a failed unit took to come back, and what each started period of lateness costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from risk.contract_rules.intervals import Spans, clipped, difference, exact_minutes, hours, intersection, length, union
from risk.contract_rules.records import Unit
from risk.contract_rules.scheduled_maintenance import is_named
from risk.core.computed import Computed, Step
from schemas.incidents import Incident, Window
from schemas.operations import Replacement

PARAGRAPH = "replacement-times.target"
CLOCK_PARAGRAPH = "replacement-times.clock"
HOLD_PARAGRAPH = "replacement-times.hold"
CREDIT_PARAGRAPH = "replacement-times.credit"
_TERM = "operations.replacement"


@dataclass(frozen=True, slots=True)
class Failure:
    """One failure of one unit: records that overlap are one, a failure after re-admission is another."""

    unit: Unit
    incidents: tuple[Incident, ...]
    """In order of time."""
    ends: datetime | None
    """When the unit was back; None while it is not known to be."""


@dataclass(frozen=True, slots=True)
class Replaced:
    """The replacement of one failed unit."""

    failure: Failure
    from_: datetime
    until: datetime
    """When the unit was back, or when the statement is made."""
    taken: timedelta
    """Time on the clock, holds left out."""
    held: timedelta
    late: timedelta
    """Time beyond the target; nothing where it was in time."""
    late_from: datetime | None
    """Moment at which it became late; None where it did not."""
    share: Fraction
    """Share of the unit's monthly fee that is owed, after the cap of one replacement. [1]"""


def failures(unit: Unit, incidents: Sequence[Incident], known_until: datetime) -> tuple[Failure, ...]:
    """Return the failures of one unit that are known when the statement is made, in order of time.

    Parameters
    ----------
    incidents : incidents of the unit. One that another unit's incident caused (`parent_id`) is no failure of its own,
        and planned, slow and silent spells are none.
    """
    found: list[Failure] = []
    own = (i for i in incidents if i.state == "down" and i.parent_id is None and i.started_at < known_until)
    for incident in sorted(own, key=lambda i: (i.started_at, i.id)):
        ends = _known(incident.readmitted_at or incident.ended_at, known_until)
        last = found[-1] if found else None
        if last is not None and (last.ends is None or incident.started_at < last.ends):
            later = None if last.ends is None or ends is None else max(last.ends, ends)
            found[-1] = Failure(unit, (*last.incidents, incident), later)
        else:
            found.append(Failure(unit, (incident,), ends))
    return tuple(found)


def exact(
    failure: Failure, windows: Sequence[Window], names: frozenset[str], terms: Replacement, as_of: datetime
) -> Computed[Replaced | None]:
    """Return how long one replacement took and what it costs, None where no time is promised or no clock has started.

    Parameters
    ----------
    windows : those of kind `customer_hold` that name the unit, or one that contains it, stop the clock.
    names : the unit and the units that contain it.
    as_of : when the statement is made; a unit that is not back is late up to then.
    """
    unit = failure.unit
    target_hours = terms.target_hours.get(unit.level)
    if target_hours is None:
        return Computed(None, ())
    start = _clock_start(failure, terms, as_of)
    until = failure.ends or as_of
    inputs: dict[str, object] = {"incidents": tuple(i.id for i in failure.incidents), "clock_from": terms.clock_from}
    clock = Step(CLOCK_PARAGRAPH, _CLOCK[terms.clock_from], start, inputs, f"{_TERM}.clock_from")
    if start is None:
        return Computed(None, (clock,))
    if not clipped(unit.in_service, start, until):
        return Computed(None, ())
    steps = [clock]
    whole = clipped(unit.in_service, start, until)
    held: Spans = ()
    if terms.holds_stop:
        holds = union(
            (w.starts_at.astimezone(UTC), w.ends_at.astimezone(UTC))
            for w in windows
            if w.kind == "customer_hold" and is_named(names, w.unit_ids)
        )
        held = intersection(holds, whole)
        if held:
            rule = "the clock stands still while the customer withholds the unit"
            steps.append(
                Step(HOLD_PARAGRAPH, rule, held, {"minutes": exact_minutes(length(held))}, f"{_TERM}.holds_stop")
            )
    running = difference(whole, held)
    taken, target = length(running), hours(target_hours)
    late = max(taken - target, timedelta())
    late_from = _moment_after(running, target) if late else None
    rule = f"a failed {unit.level} must be back within {target_hours} hours, and exactly that long is in time"
    facts: dict[str, object] = {
        "from": start,
        "until": until,
        "minutes": exact_minutes(taken),
        "is_back": bool(failure.ends),
    }
    steps.append(Step(PARAGRAPH, rule, not late, facts, f"{_TERM}.target_hours"))
    share = Fraction(0)
    if late:
        periods = -(-late // hours(terms.late_hours))
        share = min(periods * Fraction(terms.late_credit), Fraction(terms.cap))
        rule = (
            f"{terms.late_credit} of the monthly fee of the unit for each started {terms.late_hours} hours late, "
            f"at most {terms.cap} for one replacement"
        )
        facts = {"late_minutes": exact_minutes(late), "periods": periods}
        steps.append(Step(CREDIT_PARAGRAPH, rule, share, facts, f"{_TERM}.late_credit"))
    return Computed(Replaced(failure, start, until, taken, length(held), late, late_from, share), tuple(steps))


_CLOCK = {
    "detection": "the first failed reading of the monitor is detection where the record names neither; the clock "
    "starts with detection or the customer's notice, whichever is earlier",
    "notice": "the clock starts with the customer's notice",
    "identification": "the clock starts when the provider has identified the fault in the ticket",
    "confirmation": "the clock starts when the provider has confirmed the fault in the ticket",
}


def _clock_start(failure: Failure, terms: Replacement, as_of: datetime) -> datetime | None:
    """Return when the clock starts, None where nothing on record starts it."""
    found: list[datetime] = []
    for incident in failure.incidents:
        if terms.clock_from == "detection":
            given = [m for m in (incident.detected_at, incident.notice_at) if m is not None] or [incident.started_at]
        elif terms.clock_from == "notice":
            given = [incident.notice_at] if incident.notice_at is not None else []
        else:
            given = [incident.ticket_at] if incident.ticket_at is not None else []
        found += given
    first = min(found, default=None)
    ends = failure.ends
    if first is None or first > as_of or (ends is not None and first > ends):
        return None
    return first.astimezone(UTC)


def _moment_after(running: Spans, target: timedelta) -> datetime:
    """Return the moment at which a clock that runs in `running` has counted `target`."""
    left = target
    for start, end in running:
        if end - start > left:
            return start + left
        left -= end - start
    raise AssertionError("the clock has run for longer than the target")


def _known(moment: datetime | None, known_until: datetime) -> datetime | None:
    return moment.astimezone(UTC) if moment is not None and moment <= known_until else None


def credit(replaced: Replaced, monthly_fee: Decimal) -> Fraction:
    """Return the credit of one replacement, not rounded. [currency]

    Parameters
    ----------
    monthly_fee : fee of the unit for a full month. [currency]
    """
    return replaced.share * Fraction(monthly_fee)
