"""How soon an engineer answered, and what each late answer costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction

from risk.contract_rules.intervals import MINUTE, exact_minutes
from risk.core.computed import Computed, Step
from schemas.incidents import Ticket
from schemas.operations import Support

PARAGRAPH = "support-response.first-response"
CREDIT_PARAGRAPH = "support-response.credit"
_TERM = "operations.support"


@dataclass(frozen=True, slots=True)
class Responses:
    """First responses to the tickets of one service in one period."""

    missed: tuple[str, ...]
    """Ids of tickets answered late, or not at all in the time."""
    ungraded: tuple[str, ...]
    """Ids of tickets of a grade for which no time is promised; they are no misses."""
    waited: timedelta
    """Time to the first response, added up over the tickets."""
    late: timedelta
    """Time beyond what was promised, added up."""
    share: Fraction
    """Share of the fee of the service that is owed, after the cap. [1]"""


def exact(tickets: Sequence[Ticket], terms: Support, as_of: datetime) -> Computed[Responses]:
    """Return what late first responses to the tickets opened in one period cost.

    Parameters
    ----------
    tickets : tickets of one service; each belongs to the period in which it was opened.
    as_of : when the statement is made; a ticket without an answer has waited up to then.
    """
    steps: list[Step] = []
    missed: list[str] = []
    ungraded: list[str] = []
    waited = late = timedelta()
    for ticket in sorted(tickets, key=lambda t: (t.opened_at, t.id)):
        answer = ticket.first_response_at
        if answer is not None and answer > as_of:
            answer = None
        wait = max((answer or as_of) - ticket.opened_at, timedelta())
        waited += wait
        grade = terms.severities.get(ticket.severity)
        facts: dict[str, object] = {
            "ticket": ticket.id,
            "severity": ticket.severity,
            "opened_at": ticket.opened_at,
            "first_response_at": answer,
            "minutes": exact_minutes(wait),
        }
        if grade is None:
            ungraded.append(ticket.id)
            rule = "no time of response is promised for a ticket of this grade"
            steps.append(Step(PARAGRAPH, rule, None, facts, f"{_TERM}.severities"))
            continue
        over = wait - grade.response_minutes * MINUTE
        is_late = over > timedelta()
        if is_late:
            missed.append(ticket.id)
            late += over
        kept = None if answer is None and not is_late else not is_late
        rule = f"an engineer must answer within {grade.response_minutes} minutes, and exactly that long is in time"
        path = f"{_TERM}.severities.{ticket.severity}.response_minutes"
        steps.append(Step(PARAGRAPH, rule, kept, facts, path))
    share = min(len(missed) * Fraction(terms.credit_per_miss), Fraction(terms.cap))
    if missed:
        rule = f"{terms.credit_per_miss} of the fee of the service for each miss, at most {terms.cap} in one period"
        steps.append(
            Step(
                CREDIT_PARAGRAPH,
                rule,
                share,
                {"misses": len(missed), "tickets": tuple(missed)},
                f"{_TERM}.credit_per_miss",
            )
        )
    return Computed(Responses(tuple(missed), tuple(ungraded), waited, late, share), tuple(steps))
