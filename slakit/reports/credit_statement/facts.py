"""What the parts of a credit statement read, and how they write it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

from schemas.credit_shapes import CreditBands
from schemas.deal import Deal
from schemas.money import minor_unit_places
from slakit.reports import figures
from slakit.reports.credit_statement.times import in_zone, stretch_in_zone
from slakit.reports.paper import signs
from slakit.reports.rounding import NBSP

Document = Mapping[str, Any]
Line = Mapping[str, Any]
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
LEVELS = {
    "node": ("node", "nodes"),
    "scale_up_domain": ("scale-up domain", "scale-up domains"),
    "rack": ("rack", "racks"),
    "cluster": ("cluster", "clusters"),
    "hall": ("hall", "halls"),
    "site": ("site", "sites"),
    "fabric": ("fabric", "fabrics"),
    "storage": ("storage system", "storage systems"),
    "control_plane": ("control plane", "control planes"),
}
"""Levels as words, one and many."""
LOST_UNDER = {
    "other_level": "stacking.between-levels",
    "parent_level": "stacking.between-levels",
    "other_head": "stacking.between-heads",
    "below_minimum": "credit-caps.minimum",
    "late_claim": "credit-process.late",
    "month_cap": "credit-caps.month",
    "year_cap": "credit-caps.year",
    "term_cap": "credit-caps.term",
    "carried_forward": "credit-caps.month",
}
"""Paragraphs under which a credit is not owed."""


@dataclass(frozen=True, slots=True)
class Facts:
    """A statement and the terms it was made on."""

    deal: Deal
    document: Document

    @property
    def zone(self) -> str:
        """Return the contract's zone, in which times are printed."""
        return str(self.document["zone"])

    @property
    def currency(self) -> str:
        """Return the currency of all money."""
        return str(self.document["currency"])

    def span(self) -> str:
        """Return the periods stated, in words."""
        asked = self.document["asked"]
        return period_words(asked[0]) if len(asked) == 1 else f"{period_words(asked[0])} to {period_words(asked[-1])}"

    def availability(self, line: Line) -> str:
        """Return the availability of a line with digits enough to stand on its side of every edge of its level."""
        if line["availability"] is None:
            return figures.UNDEFINED
        measured = Fraction(line["availability"])
        level = self.deal.service_levels.get(line["service_level"])
        edges = [level.target] if level is not None and level.target is not None else []
        if level is not None and isinstance(level.credit, CreditBands):
            edges += [band.below for band in level.credit.bands]
        nearest = min(map(Fraction, edges), key=lambda edge: abs(edge - measured), default=None)
        return figures.availability(measured, nearest)

    def level_words(self, line: Line) -> str:
        """Return the service level of a line in words; for what is not availability, how long it took."""
        return level_words(line)

    def span_short(self) -> str:
        """Return the periods stated, months cut to three letters."""
        words = self.span()
        for month in MONTHS:
            words = words.replace(f"{month} ", f"{month[:3]} ") if " to " in words else words
        return words

    def deadlines(self) -> dict[str, str]:
        """Return the moment from which a claim is late, by period, of what is owed and not claimed yet."""
        found: dict[str, str] = {}
        for line in self.lines():
            if line["claim_by"] and owed(line) and line["claim_received"] is None:
                found[line["period"]] = min(line["claim_by"], found.get(line["period"], line["claim_by"]))
        return dict(sorted(found.items()))

    def lines(self) -> Sequence[Line]:
        """Return all lines."""
        found: Sequence[Line] = self.document["periods"]
        return found

    def with_downtime(self) -> list[Line]:
        """Return the lines that have something to say, the dearest first."""
        kept = [line for line in self.lines() if says_something(line)]
        return sorted(kept, key=by_weight)

    def when(self, moment: str | None) -> str:
        """Return a moment in the contract's zone, to the second where it is not a whole minute."""
        return figures.UNDEFINED if moment is None else in_zone(moment, self.zone)

    def stretch(self, start: str, end: str) -> str:
        """Return a stretch of time in the contract's zone."""
        return stretch_in_zone(start, end, self.zone)

    def steps_of(self, line: Line) -> Sequence[Mapping[str, Any]]:
        """Return the steps of a line, those of the line that it repeats word for word where it does."""
        found: Sequence[Mapping[str, Any]] = line["steps"]
        if line["steps_of"] is None:
            return found
        key = (line["period"], line["service_level"], line["steps_of"])
        return next(
            (one["steps"] for one in self.lines() if (one["period"], one["service_level"], one["unit"]) == key), found
        )

    def lasting(self, minutes: int | str) -> str:
        """Return how long something took."""
        return minutes_words(minutes)

    def clause_of(self, paragraph: str) -> str | None:
        """Return the printed number of a paragraph that the statement cites."""
        known = self.document["clauses"].get(paragraph)
        return known or next((step["clause"] for step in self.steps() if step["paragraph"] == paragraph), None)

    def cited(self, *paragraphs: str) -> str:
        """Return the numbers of paragraphs in brackets, nothing where none has one."""
        numbers = list(dict.fromkeys(number for one in paragraphs if (number := self.clause_of(one))))
        if not numbers:
            return ""
        return f" (clause{'s' if len(numbers) > 1 else ''}{NBSP}{listed(numbers)})"

    def steps(self) -> Iterator[Mapping[str, Any]]:
        """Yield every step of the statement."""
        for holder in (*self.lines(), *self.document["settlements"], *self.document["rights"]):
            yield from holder["steps"]


def printable(document: Document) -> Document:
    """Return a document whose texts from logs hold no sign that our fonts lack; each such sign becomes a `?`."""
    known = signs() | {"\n", "\t"}

    def cleaned(value: Any) -> Any:
        match value:
            case str():
                return value if known.issuperset(value) else "".join(s if s in known else "?" for s in value)
            case Mapping():
                return {cleaned(key): cleaned(inner) for key, inner in value.items()}
            case list() | tuple():
                return [cleaned(inner) for inner in value]
        return value

    found: Document = cleaned(document)
    return found


def says_something(line: Line) -> bool:
    """Whether a line has a record, downtime, unknown time or a credit."""
    noted = ("down_minutes", "unknown_minutes", "degraded_minutes", "disputed_minutes", "days_added", "incidents")
    return line["payable"] is None or bool(owed(line)) or any(line[name] for name in noted)


def is_of_availability(line: Line) -> bool:
    """Whether a line measures availability, and not how long a replacement or an answer took."""
    return bool(line["head"] == "availability")


def level_words(line: Line) -> str:
    """Return the service level of a line in words; for what is not availability, how long it took."""
    if is_of_availability(line):
        return figures.in_words(line["service_level"])
    taken = minutes(line["counted_minutes"])
    return line["head"] if taken == figures.UNDEFINED else f"{line['head']}, {taken}{NBSP}min"


def by_weight(line: Line) -> tuple[object, ...]:
    """Return by what lines are ordered: the dearest first, then those with most downtime that counts."""
    counted = -Fraction(line["counted_minutes"])
    return (-owed(line), not is_of_availability(line), counted, line["period"], line["unit"])


def owed(line: Line) -> Decimal:
    """Return what is owed of a line. [currency]"""
    return Decimal(line["payable"]["amount"]) if line["payable"] else Decimal(0)


def money(amount: Mapping[str, str] | None) -> str:
    """Return money with its currency."""
    return figures.UNDEFINED if amount is None else f"{amount['currency']}{NBSP}{bare(amount)}"


def bare_money(amount: int | str, currency: str) -> str:
    """Return money that is not rounded yet: its smallest unit, and a sign that more digits follow.

    >>> print(bare_money("128563.20", "USD"), bare_money("2/3", "USD"), bare_money(72000, "USD"))
    USD 128,563.20 USD 0.66… USD 72,000.00
    """
    places = minor_unit_places(currency)
    exact = Fraction(amount) * 10**places
    cut = Decimal(exact.numerator // exact.denominator).scaleb(-places)
    return f"{currency}{NBSP}{figures.amount_owed(cut, currency)}{'' if exact.denominator == 1 else '…'}"


def bare(amount: Mapping[str, str] | None) -> str:
    """Return money for a column whose head names the currency."""
    if amount is None:
        return "not computed"
    whole, _, cents = amount["amount"].partition(".")
    return f"{int(whole):,}{'.' + cents if cents else ''}"


def minutes(value: int | str) -> str:
    """Return minutes for a column; a fraction with two digits."""
    if isinstance(value, int):
        return f"{value:,}" if value else figures.UNDEFINED
    return f"{float(Fraction(value)):,.2f}"


def share(value: int | str | None) -> str:
    """Return a share of the base in percent."""
    if value is None:
        return figures.UNDEFINED
    percent = Fraction(value) * 100
    if percent.denominator == 1:
        return f"{percent.numerator}%"
    return f"{float(percent):.4f}".rstrip("0").rstrip(".") + "%"


def number(value: Fraction | int) -> int | str:
    """Return a number as the document writes it."""
    exact = Fraction(value)
    return exact.numerator if exact.denominator == 1 else str(exact)


def number_words(value: int | str, places: int = 4) -> str:
    """Return a number grouped, with the digits it has, at most `places`, and a sign where more follow.

    >>> number_words(44640), number_words("0.5"), number_words("2/3"), number_words("2/3", places=1)
    ('44,640', '0.5', '0.6666…', '0.6…')
    """
    exact = Fraction(value)
    scaled = exact * 10**places
    cut = Decimal(scaled.numerator // scaled.denominator).scaleb(-places)
    return figures.agreed_number(cut) + ("" if scaled.denominator == 1 else "…")


def minutes_words(value: int | str) -> str:
    """Return a length of time as a sentence says it.

    >>> minutes_words(1), minutes_words(507), minutes_words("2/3")
    ('1 minute', '507 minutes', '0.6666… minutes')
    """
    return f"{number_words(value)} {'minute' if value == 1 else 'minutes'}"


def percent_words(value: int | str) -> str:
    """Return an exact ratio in percent with nine digits, and a sign where more follow.

    >>> percent_words("14731/14880"), percent_words(1)
    ('98.998655913…%', '100%')
    """
    return f"{number_words(str(Fraction(value) * 100), places=9)}%"


def counted(number: int, one: str, many: str) -> str:
    """Return so many of something, small numbers in words.

    >>> counted(1, "node", "nodes"), counted(7, "node", "nodes"), counted(1300, "node", "nodes")
    ('one node', 'seven nodes', '1,300 nodes')
    """
    words = SMALL[number] if number < len(SMALL) else figures.count(number)
    return f"{words} {one if number == 1 else many}"


def sentence(words: str) -> str:
    """Return words as a sentence: a capital first letter, unless it begins a path of terms, and one full stop.

    >>> sentence("two lines are here"), sentence("credits.base is not stated."), sentence("it is 0.66…")
    ('Two lines are here.', 'credits.base is not stated.', 'It is 0.66…')
    """
    first = words.split(maxsplit=1)[0]
    begins = words[0] if "_" in first or "." in first[:-1] else words[0].upper()
    ended = f"{begins}{words[1:].rstrip('.')}"
    return ended if ended.endswith("…") else f"{ended}."


def names_in_words(names: Sequence[str]) -> str:
    """Return names of units, those that follow each other in their last number as a range.

    >>> names_in_words(["gpu031", "gpu032", "gpu033", "gpu040", "north"])
    'gpu031 to gpu033, gpu040, north'
    """
    runs: list[list[str]] = []
    for name in names:
        if runs and _follows(runs[-1][-1], name):
            runs[-1].append(name)
        else:
            runs.append([name])
    words = [f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(run) for run in runs]
    return ", ".join(words)


def _follows(name: str, after: str) -> bool:
    first, second = (re.fullmatch(r"(.*?)(\d{1,15})", one, re.DOTALL) for one in (name, after))
    if first is None or second is None or (first[1], len(first[2])) != (second[1], len(second[2])):
        return False
    return int(second[2]) == int(first[2]) + 1


SMALL = ("no", *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"))


def period_words(period: str) -> str:
    """Return a period in words.

    >>> period_words("2026-10"), period_words("2026-Q4"), period_words("2026-10-15"), period_words("2026")
    ('October 2026', 'fourth quarter of 2026', 'the period from 15\\xa0October\\xa02026', '2026')
    """
    parts = period.split("-")
    if len(parts) == 3:
        return f"the period from {figures.date_long(date.fromisoformat(period))}"
    if len(parts) == 2 and parts[1].startswith("Q"):
        return f"{('first', 'second', 'third', 'fourth')[int(parts[1][1:]) - 1]} quarter of {parts[0]}"
    if len(parts) == 2:
        return f"{MONTHS[int(parts[1]) - 1]} {parts[0]}"
    return period


def listed(words: Sequence[str]) -> str:
    """Return words as a sentence lists them."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
