"""What a statement says of claims and objections: whether a claim is needed or on record, and by when each is late."""

from __future__ import annotations

from slakit.reports.credit_statement.facts import (
    Document,
    Facts,
    Line,
    listed,
    money,
    owed,
    period_words,
    sentence,
    share,
)
from slakit.reports.credit_statement.times import day_of, last_day
from slakit.reports.rounding import NBSP

LATER = {
    "forfeit": "later ones are lost",
    "none": "later ones are still good",
    None: "what becomes of later ones is not stated",
}
"""What becomes of claims that are late."""
PROCESS = ("credit-process.claim", "credit-process.late")


def condition(document: Document) -> str:
    """Return on what claim the sum owed rests, as the end of a sentence; nothing where none is needed.

    >>> line = {"payable": {"amount": "5.00", "currency": "USD"}, "claim_received": None}
    >>> condition({"claim": {"late": "forfeit"}, "periods": [line]})
    ' if it is claimed in time'
    >>> line["claim_received"] = "2026-12-10T09:00:00Z"
    >>> print(condition({"claim": {"late": "forfeit"}, "periods": [line], "zone": "UTC"}))
    , claimed on 10 December 2026
    """
    if document["claim"] is None:
        return ""
    lines = [line for line in document["periods"] if owed(line)]
    if not lines:
        return ""
    received = sorted({line["claim_received"] for line in lines} - {None})
    if not received:
        return " once it is claimed" if document["claim"]["late"] == "none" else " if it is claimed in time"
    days = listed(_days(received, document["zone"]))
    open_ones = [line for line in lines if line["claim_received"] is None]
    if not open_ones:
        return f", claimed on {days}"
    left = {"amount": str(sum(owed(line) for line in open_ones)), "currency": document["currency"]}
    return f": all but {money(left)} was claimed on {days}, and that must still be claimed"


def later(document: Document) -> str:
    """Return what becomes of late claims, in words."""
    late = document["claim"]["late"]
    return f"of later ones {share(document['claim']['late_share'])} is left" if late == "reduced" else LATER[late]


def is_too_late(document: Document) -> bool:
    """Whether something is not owed because it was claimed late or not at all."""
    return "late_claim" in document["lost"]


def lost_words(document: Document, cited: str = "") -> str:
    """Return what was lost because it was not claimed in time, by when it had to be, and what is on record.

    Parameters
    ----------
    cited : numbers of clauses that follow.
    """
    zone = document["zone"]
    lines = [line for line in document["periods"] if "late_claim" in line["lost"]]
    by = _last_days(lines, zone)
    until = f"had to be claimed by {listed(by)}, 24:00 {zone}" if by else "was not claimed in time"
    received = sorted({line["claim_received"] for line in lines} - {None})
    record = f"the claim was received on {listed(_days(received, zone))}" if received else "no claim is on record"
    return f"{money(document['lost']['late_claim'])} of the credits is not owed: it {until}, and {record}{cited}."


def open_claim_words(facts: Facts) -> str | None:
    """Return by when what is owed must be claimed, None where no claim is needed, or all is claimed or lost."""
    unclaimed = [line for line in facts.lines() if owed(line) and line["claim_received"] is None]
    if facts.document["claim"] is None or not unclaimed:
        return None
    deadlines = facts.deadlines()
    cited = facts.cited(*PROCESS)
    if not deadlines:
        return f"A claim must be received {no_day_words(facts)}; {later(facts.document)}{cited}."
    by = [last_day(moment, facts.zone) for moment in deadlines.values()]
    if len(set(by)) == 1:
        return f"A claim must be received by {by[0]}, 24:00 {facts.zone}; {later(facts.document)}{cited}."
    each = listed([f"by {day} for {period_words(p)}" for p, day in zip(deadlines, by, strict=True)])
    return f"Claims must be received {each}, 24:00 {facts.zone}; {later(facts.document)}{cited}."


def no_day_words(facts: Facts) -> str:
    """Return by when a claim must be received where no day is known, as words that follow `must be received`."""
    blank = facts.deal.blank("credits.process.window_days", "credits.process.window_from")
    if blank:
        return f"in a time that is not stated ({blank.partition(': ')[2]})"
    process = facts.deal.credits.process
    length = (
        f"{process.window_business_days} Business Days"
        if process.window_business_days is not None
        else f"{process.window_months} months"
        if process.window_months is not None
        else f"{process.window_days} days"
    )
    return f"within {length} after the Credit Statement is received, of which nothing is on record"


def objection_words(facts: Facts) -> str | None:
    """Return by when a reading must be objected to, None where nothing is settled."""
    settled = facts.document["settlements"]
    if not settled:
        return None
    cited = facts.cited("monitor-evidence.objection")
    dated = min((one["object_by"] for one in settled if one["object_by"]), default=None)
    if dated:
        return f"An objection must be made by {last_day(dated, facts.zone)}, 24:00 {facts.zone}{cited}."
    days = facts.deal.measurement.objection_business_days
    within = f"An objection must be made within {days} Business Days after this statement is received"
    due = {(one["due_by"], one["object_by_if_stated_when_due"]) for one in settled if one["due_by"]}
    if len(due) != 1 or facts.document.get("made_for"):
        return f"{within}{cited}."
    ((received, until),) = due
    return (
        f"{within}; if it is received on {last_day(received, facts.zone)}, when it is due, by "
        f"{last_day(until, facts.zone)}, 24:00 {facts.zone}{cited}."
    )


def maker(facts: Facts) -> str:
    """Return who made the statement and for whom."""
    provider, customer = (facts.deal.party(role) for role in ("provider", "customer"))
    if facts.document.get("made_for"):
        # a claim rests on its own clause; without one, the customer may state what the provider has not stated
        under = facts.clause_of("credit-process.claim") or facts.clause_of("credit-process.no-statement")
        ending = f", under clause{NBSP}{under}" if under else ""
        return f"Computed by {customer.name if customer else 'the customer'} from its own records{ending}."
    return sentence(f"{provider.name} to {customer.name}") if provider and customer else ""


def _last_days(lines: list[Line], zone: str) -> list[str]:
    return [last_day(moment, zone) for moment in sorted({line["claim_by"] for line in lines} - {None})]


def _days(moments: list[str], zone: str) -> list[str]:
    return list(dict.fromkeys(day_of(moment, zone) for moment in moments))
