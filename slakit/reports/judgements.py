"""Which numbers of a deal rest on judgement, and how far they may be off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from schemas.base import Terms
from schemas.deal import Deal
from schemas.sources import Sourced
from slakit.reports import figures

CURRENCIES = ("USD", "EUR", "GBP")
"""Units that stand before their number."""
FIRST: tuple[tuple[str, ...], ...] = (("finance.recovery.",), ("assumptions.delay.", "assumptions.market."))
"""Sections whose numbers decide loss and default directly; they are listed first."""


@dataclass(frozen=True, slots=True)
class Input:
    """One number about the world, as the deal file types it."""

    path: str
    number: Sourced
    places: int = 1
    """Places of the deal file that hold this same number for this same reason. [1]"""

    @property
    def name(self) -> str:
        """Return the last two steps of its path in words, and in how many places it stands."""
        name = figures.in_words(self.path.split(".")[-1])
        return f"{name}, {self.places} places" if self.places > 1 else input_name(self.path)

    @property
    def is_judged(self) -> bool:
        """Tell whether it rests on judgement."""
        return self.number.kind == "judgement"

    @property
    def value(self) -> str:
        """Return the value with its unit, marked where it rests on judgement."""
        words = quantity(self.number.value, self.number.unit)
        return figures.judged(words) if self.is_judged else words

    @property
    def range(self) -> str:
        """Return the range given for it, the law where there is none, or that there is neither."""
        low, high, law = self.number.low, self.number.high, self.number.spread
        if low is not None and high is not None:
            return f"{plain(low)} to {plain(high)}"
        if law is not None:
            return f"{law.law}, size {plain(law.size)}"
        if low is not None or high is not None:
            return f"from {plain(low)}" if high is None else f"to {plain(high)}"
        return "no range given"

    @property
    def reason(self) -> str:
        """Return its source, and why it was chosen."""
        said = [" ".join(words.split()) for words in (self.number.source, self.number.rationale) if words]
        return " ".join(words if words.endswith((".", "?", "!")) else f"{words}." for words in said)

    @property
    def spread(self) -> float:
        """Return how wide the range is, as a share of its greatest figure; 0 without a range. [1]"""
        low, high = self.number.low, self.number.high
        if low is None or high is None or low == high:
            return 0.0
        return float((high - low) / max(abs(low), abs(high)))

    @property
    def rank(self) -> int:
        """Return the place of its section among those listed first, or after them."""
        return next((i for i, sections in enumerate(FIRST) if self.path.startswith(sections)), len(FIRST))


@dataclass(frozen=True, slots=True)
class Judgements:
    """The numbers of a deal that rest on judgement, the most telling first, and how many numbers there are."""

    found: tuple[Input, ...]
    numbers: int
    """Different numbers about the world in the deal file; one that stands in many places counts once. [1]"""
    terms: int
    """Different reasons for which terms of the contract are judgement. [1]"""

    @property
    def sentence(self) -> str:
        """Return how much rests on judgement."""
        rest = "rests" if len(self.found) == 1 else "rest"
        words = (
            f"{figures.JUDGEMENT} {len(self.found)} of {self.numbers} numbers about the world in the deal file {rest} "
            "on judgement, not on a public source"
        )
        if self.terms:
            words += (
                f"; so do contract terms under {self.terms} {'entry' if self.terms == 1 else 'entries'} of provenance"
            )
        return words + "."


def inputs(deal: Deal) -> list[Input]:
    """Return every number about the world in a deal, in its order; the same number in many places is one."""
    places: dict[tuple[str, Sourced], list[str]] = {}
    for path, number in _numbers(deal, ""):
        places.setdefault((path.split(".")[-1], number), []).append(path)
    return [Input(paths[0], number, len(paths)) for (_, number), paths in places.items()]


def judgements(deal: Deal) -> Judgements:
    """Return every number of `deal` that is a judgement."""
    found = inputs(deal)
    judged = sorted(
        (one for one in found if one.is_judged),
        key=lambda judgement: (judgement.rank, -judgement.spread, judgement.path),
    )
    terms = len({source for source in deal.provenance.values() if source.kind == "judgement"})
    return Judgements(tuple(judged), len(found), terms)


def input_name(path: str) -> str:
    """Return the last two steps of the path of a number in words.

    >>> input_name("finance.recovery.sale_stress")
    'recovery: sale stress'
    """
    section, name = (figures.in_words(step) for step in path.split(".")[-2:])
    return f"{section}: {name}"


def latest_source(deal: Deal) -> str | None:
    """Return the date of the newest source of the deal, as sentences write it."""
    days = [number.as_of for _, number in _numbers(deal, "")]
    days += [source.as_of for source in deal.provenance.values()]
    return figures.date_long(max(days)) if days else None


def quantity(value: object, unit: str) -> str:
    """Return a typed number with its unit.

    >>> print(quantity("2.40", "USD/GPU-hour"), "|", quantity("0.35", "1"), "|", quantity("3", "month"))
    2.4 USD/GPU-hour | 0.35 | 3 months
    >>> print(quantity("2000000", "USD"), "|", quantity("0.035", "1/year"))
    USD 2,000,000 | 0.035 a year
    """
    number = plain(value)
    if unit == "1":
        return number
    if unit in CURRENCIES:
        return f"{unit}\u00a0{figures.agreed_number(Decimal(str(value)))}"
    if unit == "1/year":
        return f"{number} a year"
    if unit in ("month", "year", "day") and number != "1":
        unit += "s"
    return f"{number}\u00a0{unit}"


def plain(value: object) -> str:
    """Return a typed number without zeros at its end.

    >>> plain("0.350"), plain("1200"), plain("-0.1")
    ('0.35', '1200', '−0.1')
    """
    text = f"{value}"
    return (text.rstrip("0").rstrip(".") if "." in text else text).replace("-", "−")


def _numbers(terms: object, path: str) -> Iterator[tuple[str, Sourced]]:
    """Yield every number with a source under `terms`, with its path."""
    if isinstance(terms, Sourced):
        yield path, terms
    elif isinstance(terms, Terms):
        for name in type(terms).model_fields:
            yield from _numbers(getattr(terms, name), f"{path}.{name}" if path else name)
    elif isinstance(terms, Mapping):
        for key, value in terms.items():
            yield from _numbers(value, f"{path}.{key}")
    elif isinstance(terms, tuple):
        for i, value in enumerate(terms):
            yield from _numbers(value, f"{path}[{i}]")
