"""What became of every row of a file."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from slakit.statements.importers.imported import SkippedLine

MOST_LISTED = 1_000
"""Skipped rows that are listed with number and reason; all are counted. [1]"""


@dataclass(slots=True)
class Account:
    """Counts of rows: `rows` = `used` + `skipped` + `left_out` + `duplicates`."""

    rows: int = 0
    skipped: int = 0
    listed: list[SkippedLine] = field(default_factory=list)
    """The first `MOST_LISTED` skipped rows."""
    reasons: Counter[str] = field(default_factory=Counter)
    """All skipped rows by reason, values in the reason left out."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Rows that say nothing, such as blank ones."""
    duplicates: int = 0
    """Rows beside another of the same unit and time."""
    contradictions: int = 0
    """Times at which rows of one unit differ: the worst state counts."""
    unknown_states: Counter[str] = field(default_factory=Counter)
    """States that no table knows, with their rows: their time is unknown, never guessed."""

    @property
    def used(self) -> int:
        """Return the rows that say what a unit was in at their time."""
        return self.rows - self.skipped - sum(self.left_out.values()) - self.duplicates

    def skip(self, file: str, line: int, text: str, kind: str, reason: str) -> None:
        """Count a row that cannot be used, and list it while there is room."""
        self.skipped += 1
        self.reasons[kind] += 1
        if len(self.listed) < MOST_LISTED:
            self.listed.append(SkippedLine(file, line, text, reason))
