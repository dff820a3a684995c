"""Steps of a computation as sentences, each with the clause that orders it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from slakit.reports import figures
from slakit.reports.credit_statement.facts import (
    Facts,
    Line,
    bare_money,
    minutes_words,
    money,
    number_words,
    percent_words,
    sentence,
    share,
)
from slakit.statements.words import HEADS

SHARES_IN_RULE = (
    "service-levels.table", "cluster-availability.k-of-n", "credit-caps.unit", "credit-caps.month",
    "credit-caps.year", "credit-schedule.steps", "credit-schedule.linear", "credit-schedule.per-breach",
    "credit-schedule.onset-plus-hourly", "chronic-failure.bad-months", "support-response.credit",
    "replacement-times.credit", "scheduled-maintenance.at-once", "delay-damages.rate",
)  # fmt: skip
"""Paragraphs whose rule names a share as a number of 1."""
SHARES = (
    "credit-schedule.bands", "credit-schedule.steps", "credit-schedule.linear", "credit-schedule.per-breach",
    "credit-schedule.onset-plus-hourly", "support-response.credit", "replacement-times.credit",
)  # fmt: skip
"""Paragraphs that come to a share of the base."""
RATIOS = ("time-money-rules.comparison", "service-levels.per-unit", "service-levels.no-window")
"""Paragraphs that come to an availability."""
AMOUNTS = (
    "credit-base.fee", "credit-base.partial", "credit-base.prepaid", "force-majeure.fees", "credit-caps.unit",
    "credit-schedule.multiple-of-price", "credit-schedule.hourly-price", "partial-billing.price",
)  # fmt: skip
"""Paragraphs that come to money which is not rounded yet."""
MINUTES = (
    "measurement-period.month", "measurement-period.in-service", "time-money-rules.edges", "service-levels.excluded",
    "scheduled-maintenance.cap", "scheduled-maintenance.cluster-cap", "emergency-maintenance.cap",
    "excluded-downtime.year-cap", "outage-clock.flaps", "stacking.within-level",
)  # fmt: skip
"""Paragraphs that come to minutes."""
COUNTED = {
    "credit-schedule.duration-table": "hours of price",
    "credit-schedule.hour-waiver": "hours",
    "credit-schedule.term-extension": "days",
}
"""Paragraphs that come to a number of something."""
VERDICTS = {
    "excluded-downtime.closed-list": ("it is on the list", "it is not on the list, and counts"),
    "excluded-downtime.concurrent": ("excluded", "not excluded"),
    "excluded-downtime.no-report": ("received in time", "not received in time"),
    "scheduled-maintenance.notice": ("given in time", "not given in time"),
    "scheduled-maintenance.at-once": ("kept", "exceeded"),
    "emergency-maintenance.notice": ("given in time", "not given in time"),
    "emergency-maintenance.stale": ("it was, so the time counts", "it was not"),
    "force-majeure.events": ("it is on the list", "it is not on the list, and counts"),
    "force-majeure.notice": ("given", "not given"),
    "service-levels.table": ("met", "missed"),
    "credit-process.claim": ("in time", "too late"),
    "credit-caps.minimum": ("paid", "not paid"),
    "measurement-period.all-ready": ("all were ready", "not all were ready"),
    "chronic-failure.bad-months": ("the right arises", "the right does not arise"),
    "long-stop.right": ("the right arises", "the right does not arise"),
    "delivery-milestones.extension": ("it is on the list", "it is not on the list"),
    "delivery-milestones.notice": ("given in time", "not given in time"),
    "replacement-times.target": ("in time", "late"),
    "support-response.first-response": ("in time", "late"),
    "root-cause-reports.preliminary": ("in time", "late"),
    "root-cause-reports.final": ("in time", "late"),
}
"""What a yes and a no of a paragraph mean."""
ALONE = (
    "credit-process.statement", "credit-process.late", "force-majeure.never", "credit-schedule.edge",
    "measurement-period.first-partial", "long-stop.scope", "credit-schedule.step-edge", "service-levels.own-rules",
)  # fmt: skip
"""Paragraphs whose rule says the result already."""
_SHARE = re.compile(
    r"(?<![\d.,-])(?<!first )(0\.\d+|0|1(?:\.0+)?)(?![\d]|\.\d)(?! (?:minute|hour|day|month|time|business|of \d|node))"
)
_ONE = re.compile(r"\b1 (minute|hour|day|month|year)s\b")
_DAY = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
MOST_LISTED = 6
"""Entries of a list that a step prints; the attached document has all. [1]"""


@dataclass(frozen=True, slots=True)
class Told:
    """One step in words."""

    words: str
    clause: str
    """Printed number, else the id of the paragraph; nothing where no paragraph orders it."""


def told(facts: Facts, line: Line) -> tuple[Told, ...]:
    """Return every step of a line in the order of the contract, each once."""
    found: dict[tuple[str, str], Told] = {}
    for step in facts.steps_of(line):
        words = step_words(facts, step)
        found[words, step["paragraph"]] = Told(words, step["clause"] or step["paragraph"])
    return tuple(found.values())


def step_words(facts: Facts, step: Mapping[str, Any]) -> str:
    """Return one step as a sentence."""
    return sentence(_words(facts, step))


def _words(facts: Facts, step: Mapping[str, Any]) -> str:
    rule = rule_words(step)
    paragraph, inputs, result = step["paragraph"], step["inputs"], step["result"]
    match paragraph:
        case "outage-clock.start":
            record = f" (record {inputs['incident']})" if inputs.get("incident") else ""
            return f"{rule}: {facts.when(result)}{record}." if result else f"{rule}."
        case "outage-clock.minimum":
            return f"{rule}: {minutes_words(inputs['minutes'])}, which {'counts' if result else 'does not count'}."
        case "service-levels.formula":
            counted, window = number_words(inputs["counted"]), number_words(inputs["minutes"])
            exact = f" = {result}" if "/" in str(result) else ""
            return f"Availability = 1 − {counted} ÷ {window}{exact} = {percent_words(result)}, not rounded."
        case "time-money-rules.minutes":
            return f"{rule}: {number_words(result)} counted of {number_words(inputs['down'])} minutes down."
        case "time-money-rules.zone":
            return f"{rule} ({inputs.get('zone')}): {shown(facts, result)}."
        case "excluded-downtime.closed-list":
            head = HEADS.get(str(inputs.get("head")), str(inputs.get("head")))
            return f"{rule}; window {inputs.get('window')}, {head}: {VERDICTS[paragraph][0 if result else 1]}."
        case "support-response.first-response":
            waited = f"ticket {inputs['ticket']} waited {facts.lasting(inputs['minutes'])}"
            return f"{rule}; {waited}{_colon(_result(facts, step))}."
        case "replacement-times.target":
            taken = f"it took {facts.lasting(inputs['minutes'])}" + ("" if inputs["is_back"] else " so far")
            return f"{rule}; {taken}{_colon(_result(facts, step))}."
        case "credit-caps.unit":
            return f"{rule}: {bare_money(result, facts.currency)}{_reduced(inputs, result)}."
        case "cluster-availability.k-of-n" if inputs.get("needed") is not None:
            of = f" ({number_words(inputs['needed'])} of {number_words(inputs['nodes'])})"
            rule = rule.replace(", rounded up,", f", rounded up{of},")
    words = _result(facts, step)
    return f"{rule}: {words}." if words else f"{rule}."


def _colon(words: str) -> str:
    return f": {words}" if words else ""


def _reduced(inputs: Mapping[str, Any], result: Any) -> str:
    return ", which cuts the credit" if Fraction(inputs["credit"]) > Fraction(result) else ", not reached"


def rule_words(step: Mapping[str, Any]) -> str:
    """Return the rule of a step with shares in percent, dates in words and one of a thing in the singular."""
    rule: str = step["rule"]
    if step["paragraph"] in SHARES_IN_RULE:
        rule = _SHARE.sub(lambda match: figures.agreed_percent(Decimal(match[1])), rule)
    rule = _ONE.sub(r"1 \1", rule)
    rule = _DAY.sub(lambda match: figures.date_long(date(*map(int, match.groups()))), rule)
    return rule


def _result(facts: Facts, step: Mapping[str, Any]) -> str:
    """Return what a step comes to, nothing where its rule says so already."""
    paragraph, result = step["paragraph"], step["result"]
    if paragraph in ALONE:
        return ""
    if isinstance(result, bool):
        yes, no = VERDICTS.get(paragraph, ("this is so", "this is not so"))
        return yes if result else str(step["inputs"].get("found") or no)
    if _is_number(result):
        if "every reading comes to the same credit" in step["rule"] or paragraph in AMOUNTS:
            return bare_money(result, facts.currency)
        if paragraph in SHARES:
            return share(result)
        if paragraph in RATIOS:
            return percent_words(result)
        unit = COUNTED.get(paragraph, "minutes" if paragraph in MINUTES else "")
        return f"{number_words(result)} {unit}".rstrip()
    return shown(facts, result)


def _is_number(value: Any) -> bool:
    if isinstance(value, int):
        return True
    return isinstance(value, str) and re.fullmatch(r"-?\d+(\.\d+|/\d+)?", value) is not None


def shown(facts: Facts, value: Any) -> str:
    """Return the result of a step as a reader takes it."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case {"amount": _, "currency": _}:
            return money(value)
        case str() if _moment(value):
            return facts.when(value)
        case str() if _DAY.fullmatch(value):
            return figures.date_long(date.fromisoformat(value))
        case int() | str():
            return number_words(value) if _is_number(value) else str(value)
        case [str() as start, str() as end] if _moment(start) and _moment(end):
            return facts.stretch(start, end)
        case list():
            words = [shown(facts, part) for part in value[:MOST_LISTED]]
            more = f" and {len(value) - MOST_LISTED} more" if len(value) > MOST_LISTED else ""
            return ("; " if any("," in word for word in words) else ", ").join(words) + more
        case Mapping():
            return ", ".join(f"{key.replace('_', ' ')} {shown(facts, part)}" for key, part in value.items())
    return str(value)


def _moment(text: str) -> datetime | None:
    if not text.endswith("Z"):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
