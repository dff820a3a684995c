"""One line worked out, as a person would tell it: down from when to when, what counts, the share, the money."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from schemas.credit_shapes import CreditBands
from slakit.reports import figures
from slakit.reports.credit_statement.facts import (
    LOST_UNDER,
    Facts,
    Line,
    bare_money,
    counted,
    money,
    number_words,
    percent_words,
    sentence,
    share,
)
from slakit.reports.credit_statement.steps import Told, step_words
from slakit.statements.words import HEADS, LOSSES

MOST_STRETCHES = 5
"""Outages told one by one; the rest are in the ledger. [1]"""
SAID_ELSEWHERE = (
    "time-money-rules.zone", "time-money-rules.comparison", "time-money-rules.edges", "service-levels.per-unit",
    "node-availability.per-slot", "service-levels.excluded", "measurement-period.amended", "outage-clock.end",
    "outage-clock.open", "measurement-period.month", "time-money-rules.rounding", "credit-process.statement",
    "time-money-rules.days",
)  # fmt: skip
"""Paragraphs whose step another sentence tells, or the page itself."""
ROLLED_UP = ("domain-availability.", "cluster-availability.")
EXCLUDING = ("excluded-downtime.", "scheduled-maintenance.", "emergency-maintenance.", "customer-responsibilities.")


def worked(facts: Facts, line: Line) -> tuple[Told, ...]:
    """Return the steps that decide a line, in the order of the contract."""
    return tuple(dict.fromkeys(_told(facts, line)))


def _told(facts: Facts, line: Line) -> Iterator[Told]:
    steps: dict[str, list[Mapping[str, Any]]] = {}
    for step in facts.steps_of(line):
        steps.setdefault(step["paragraph"], []).append(step)
    for paragraph, same in sorted(steps.items(), key=lambda item: _rolled_up_first(item[0], list(steps))):
        if paragraph in SAID_ELSEWHERE:
            continue
        if paragraph.startswith(EXCLUDING):
            yield from _excluded(facts, line)
            continue
        match paragraph:
            case "outage-clock.start":
                yield from _outages(
                    facts, same, [*steps.get("outage-clock.end", ()), *steps.get("outage-clock.open", ())]
                )
            case "outage-clock.minimum":
                yield _minimum(same)
            case "time-money-rules.minutes":
                yield from _excluded(facts, line)
                yield from _each(facts, same)
            case "service-levels.formula":
                yield _availability(same[-1])
            case "service-levels.table" if steps.get("credit-schedule.bands") and line["target_met"] is False:
                continue
            case "credit-schedule.bands":
                yield _band(facts, line, same[-1])
            case "credit-base.fee":
                yield from _money(facts, line, same[-1])
            case "credit-caps.unit":
                yield from _each(facts, same)
                for step in steps.get("time-money-rules.rounding", ()):
                    yield _told_as(
                        f"Rounded once, to the smallest unit of the currency: {money(step['result'])}.", step
                    )
            case _:
                yield from _each(facts, same)
    for reason, amount in line["lost"].items():
        yield Told(f"{money(amount)} of it is not owed: {LOSSES[reason]}.", facts.clause_of(LOST_UNDER[reason]) or "")


def _rolled_up_first(paragraph: str, order: list[str]) -> float:
    """Return the place of a paragraph: when a unit is down stands before whether that is long enough."""
    place: float = order.index(paragraph)
    if paragraph.startswith(ROLLED_UP) and "outage-clock.minimum" in order:
        place = min(place, order.index("outage-clock.minimum") - 0.5)
    return place


def _told_as(words: str, step: Mapping[str, Any]) -> Told:
    return Told(sentence(words), step["clause"] or step["paragraph"])


def _each(facts: Facts, steps: list[Mapping[str, Any]]) -> Iterator[Told]:
    for step in steps:
        yield _told_as(step_words(facts, step), step)


def _outages(facts: Facts, starts: list[Mapping[str, Any]], ends: list[Mapping[str, Any]]) -> Iterator[Told]:
    """Yield when the unit was down, outage by outage."""
    ended = {step["inputs"].get("incident"): step for step in ends}
    for step in starts[:MOST_STRETCHES]:
        record = step["inputs"].get("incident")
        end = ended.get(record)
        if step["result"] is None or end is None or end["result"] is None:
            yield _told_as(step_words(facts, step), step)
            continue
        still = ", when it was still down" if end["paragraph"] == "outage-clock.open" else ""
        yield _told_as(f"Down from {facts.stretch(step['result'], end['result'])}{still} (record {record}).", step)
    left = len(starts) - MOST_STRETCHES
    if left > 0:
        yield _told_as(f"{counted(left, 'more outage', 'more outages')}, as in the ledger.", starts[-1])


def _minimum(steps: list[Mapping[str, Any]]) -> Told:
    """Return which outages were long enough."""
    limit = steps[-1]["rule"].removeprefix("an outage counts if the whole of it lasts ").partition(";")[0]
    limit = "1 minute".join(limit.split("1 minutes")) if limit.endswith(" 1 minutes") else limit
    short = [step for step in steps if not step["result"]]
    if not short:
        words = "It lasted" if len(steps) == 1 else "Each of them lasted"
        return _told_as(f"{words} {limit}, and counts.", steps[-1])
    if len(short) == len(steps):
        words = "It did not last" if len(steps) == 1 else "None of them lasted"
        return _told_as(f"{words} {limit}, and is disregarded.", steps[-1])
    return _told_as(
        f"{counted(len(short), 'of them', 'of them')} did not last {limit} and {'is' if len(short) == 1 else 'are'} "
        "disregarded; the others count.",
        steps[-1],
    )


def _excluded(facts: Facts, line: Line) -> Iterator[Told]:
    """Yield what of the downtime is excluded and what is not, window by window."""
    rows = [
        row
        for row in facts.document["exclusions"]
        if (row["period"], row["service_level"], row["unit"]) == (line["period"], line["service_level"], line["unit"])
    ]
    for row in rows[:MOST_STRETCHES]:
        head = HEADS.get(row["head"], row["head"])
        judged = "excluded as" if row["reason"] is None else "not excluded as"
        why = "" if row["reason"] is None else f": {row['reason']}"
        yield Told(
            f"{facts.stretch(row['start'], row['end'])}, {number_words(row['minutes'])} minutes, {judged} {head} "
            f"(window {row['window']}){why}.",
            row["clause"] or row["paragraph"],
        )
    if not rows and not Fraction(line["excluded_minutes"]):
        yield Told(
            "No maintenance, force majeure or act of the customer is on record for that time: nothing is excluded.", ""
        )


def _availability(step: Mapping[str, Any]) -> Told:
    minutes, down = number_words(step["inputs"]["minutes"]), number_words(step["inputs"]["counted"])
    return _told_as(
        f"Availability = ({minutes} − {down}) ÷ {minutes} = {percent_words(step['result'])}, not rounded before it is "
        "compared.",
        step,
    )


def _band(facts: Facts, line: Line, step: Mapping[str, Any]) -> Told:
    """Return the row of the table that applies, and by how much."""
    level = facts.deal.service_levels.get(line["service_level"])
    bands = level.credit.bands if level is not None and isinstance(level.credit, CreditBands) else ()
    if line["availability"] is None:
        return _told_as(step_words(facts, step), step)
    measured, window = Fraction(line["availability"]), Fraction(line["window_minutes"])
    reached = [band for band in bands if measured < Fraction(band.below)]
    if reached and share(step["result"]) == share(str(max(band.credit_fraction for band in reached))):
        band = max(reached, key=lambda one: one.credit_fraction)
        by = number_words(str((Fraction(band.below) - measured) * window), places=1)
        edge = figures.agreed_percent(band.below)
        return _told_as(f"Below {edge}, by {by} minutes: {share(step['result'])}.", step)
    if bands and not reached:
        edge = figures.agreed_percent(max(band.below for band in bands))
        return _told_as(f"Not below {edge}: nothing is credited.", step)
    return _told_as(step_words(facts, step), step)


def _money(facts: Facts, line: Line, step: Mapping[str, Any]) -> Iterator[Told]:
    if line["credit_fraction"] is None or not Fraction(line["credit_fraction"]):
        return
    part, base = Fraction(line["credit_fraction"]), Fraction(line["base"]["amount"])
    yield _told_as(
        f"{share(line['credit_fraction'])} of {bare_money(line['base']['amount'], facts.currency)}, {step['rule']}: "
        f"{bare_money(str(part * base), facts.currency)}.",
        step,
    )
