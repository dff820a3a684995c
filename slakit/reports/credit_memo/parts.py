"""What the sections of a credit memo share: what they read, and the pieces they are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from schemas.deal import Deal
from slakit.reports import figures
from slakit.reports.clauses import Clauses
from slakit.reports.exhibits import Exhibit
from slakit.reports.rounding import NBSP
from slakit.reports.tables import Table
from slakit.reports.theme import Palette, print_palette

Score = Mapping[str, Any]
MONTHS_OF_A_YEAR = 12


@dataclass(frozen=True, slots=True)
class Facts:
    """What a section reads: the deal, its score, and the numbers of the clauses of its agreement."""

    deal: Deal
    score: Score
    clauses: Clauses
    palette: Palette = field(default_factory=print_palette)

    @property
    def currency(self) -> str:
        """Return the currency of the deal."""
        return str(self.score.get("currency") or (self.deal.commercial.currency if self.deal.commercial else ""))

    @property
    def months(self) -> int:
        """Return the months simulated. [month]"""
        return int(self.score["months"])

    def millions(self) -> str:
        """Return the unit of a column of money."""
        return f"{self.currency} million"

    def money(self, x: float | None, error: float | None = None) -> str:
        """Return estimated money for a column whose head names the currency."""
        return figures.money_estimate(x, self.currency, error).removeprefix(f"{self.currency}{NBSP}")


@dataclass(frozen=True, slots=True)
class Notes:
    """Sentences under a title."""

    title: str
    sentences: tuple[str, ...]
    small: bool = False


Block = Table | Exhibit | Notes | None


class Blocks(dict[str, Block]):
    """Blocks by name; one that a deal has nothing for is None, and so is one that is not there."""

    def __missing__(self, name: str) -> None:
        return None


@dataclass(frozen=True, slots=True)
class Section:
    """A numbered section: the sentence it comes to, and its blocks by name."""

    number: int
    title: str
    finding: str
    blocks: Mapping[str, Block]


def terms_table(title: str, note: str, rows: Sequence[tuple[str, str, str]], where: str = "Clause or path") -> Table:
    """Return a table of agreed terms: its name, what is agreed, and where it stands."""
    return Table(title, note, ("Term", "What is agreed", where), tuple(rows), text_columns=3)


def years(months: int) -> list[tuple[str, range]]:
    """Return the years from close, each with its months, the last one short where the simulation ends in it.

    >>> years(14)
    [('1', range(1, 13)), ('2', range(13, 15))]
    """
    starts = range(1, months + 1, MONTHS_OF_A_YEAR)
    return [
        (str(year), range(start, min(start + MONTHS_OF_A_YEAR, months + 1))) for year, start in enumerate(starts, 1)
    ]


def sentence(*parts: str | None) -> str:
    """Return sentences that have something to say, one after the other."""
    return " ".join(part for part in parts if part)


def listed(words: Sequence[str]) -> str:
    """Return words as a sentence lists them.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
