"""Steps of a computation as sentences, each with the clause that orders it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any

from slakit.reports import figures
from slakit.reports.credit_statement.facts import Facts, Line, money
from slakit.reports.rounding import NBSP

QUIET = (
    "time-money-rules.zone", "time-money-rules.comparison", "time-money-rules.edges", "service-levels.per-unit",
    "node-availability.per-slot", "service-levels.excluded", "measurement-period.amended",
)  # fmt: skip
"""Paragraphs whose step repeats what the page says already; the ledger has them all."""


@dataclass(frozen=True, slots=True)
class Told:
    """One step in words."""

    words: str
    clause: str


def told(facts: Facts, line: Line, *, whole: bool = False) -> tuple[Told, ...]:
    """Return the steps of a line in the order of the contract, those of `QUIET` only where the whole is asked."""
    found: dict[tuple[str, str], Told] = {}
    for step in line["steps"]:
        if step["paragraph"] in QUIET and not whole:
            continue
        words = _words(facts, step)
        found[words, step["paragraph"]] = Told(words, step["clause"] or step["paragraph"])
    return tuple(found.values())


def _words(facts: Facts, step: Mapping[str, Any]) -> str:
    rule = step["rule"][0].upper() + step["rule"][1:]
    inputs, result = step["inputs"], step["result"]
    match step["paragraph"]:
        case "outage-clock.start":
            return f"Down from {facts.when(result)} (record {inputs.get('incident')})." if result else f"{rule}."
        case "outage-clock.end":
            return f"{rule}: {facts.when(result)}."
        case "service-levels.formula":
            counted, window = _number(inputs["counted"]), _number(inputs["minutes"])
            percent = float(Fraction(str(result)) * 100)
            return (
                f"Availability = 1 − {counted} ÷ {window} = {result} = {percent:.9f}"
                f"{'' if _ends(Fraction(str(result)) * 100) else '…'}%, not rounded before it is compared."
            )
        case "time-money-rules.minutes":
            return f"{rule}: {_number(result)} counted of {_number(inputs['down'])} minutes down."
    shown = _shown(facts, result)
    return f"{rule}: {shown}." if shown else f"{rule}."


def _ends(value: Fraction) -> bool:
    return (value * 10**9).denominator == 1


def _shown(facts: Facts, value: Any) -> str:
    """Return the result of a step as a reader takes it."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case int():
            return figures.count(value)
        case {"amount": _, "currency": _}:
            return money(value)
        case str():
            moment = _moment(value)
            return facts.when(value) if moment else value
        case list():
            if len(value) == 2 and all(isinstance(part, str) and _moment(part) for part in value):
                return f"{facts.when(value[0])} to {facts.when(value[1])}"
            return ", ".join(_shown(facts, part) for part in value) if len(value) <= 6 else f"{len(value)} entries"
        case Mapping():
            return ", ".join(f"{key.replace('_', ' ')} {_shown(facts, part)}" for key, part in value.items())
    return str(value)


def _moment(text: str) -> datetime | None:
    if not text.endswith("Z"):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _number(value: int | str) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def clause_words(number: str) -> str:
    """Return a clause number as prose cites it."""
    return f"clause{NBSP}{number}"
