"""What a check of a document finds: differences, notes, and how much was compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from schemas.errors import DealError, Problem

ABSENT = "nothing"
"""Said of what one side does not have."""
LONGEST = 300
"""Letters of a value that are shown. [letter]"""


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where a document is not what it is when made again."""

    where: str
    """For example `page 3, line 12` or `score.json: default.pd_term`."""
    stored: Any
    """What the document says."""
    recomputed: Any
    """What it says when made again."""

    def as_json(self) -> dict[str, Any]:
        """Return the difference as it is printed."""
        return {"where": self.where, "stored": self.stored, "recomputed": self.recomputed}


@dataclass(frozen=True, slots=True)
class Verified:
    """What a check of a document found."""

    kind: str
    words: str
    """The kind as a person says it, for example `credit memo`."""
    manifest: Mapping[str, Any]
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]
    """What is no difference and should be known; reasons why figures may differ come first."""
    compared: Mapping[str, int]
    """How many `figures` were recomputed, and how many `pages`, `cells` or `lines` were made again. [1]"""
    to_the_byte: bool
    """Whether the file made again is the file, byte for byte."""

    @property
    def same(self) -> bool:
        """Return whether nothing differs."""
        return not self.differences

    def as_json(self) -> dict[str, Any]:
        """Return the check as it is printed."""
        return {
            "same": self.same,
            "kind": self.kind,
            "differences": [difference.as_json() for difference in self.differences],
            "notes": list(self.notes),
            "compared": dict(self.compared),
            "byte_for_byte": self.to_the_byte,
            "manifest": dict(self.manifest),
        }


@dataclass(slots=True)
class Findings:
    """Differences and notes as they are found."""

    differences: list[Difference] = field(default_factory=list)
    versions: list[str] = field(default_factory=list)
    """Other versions than those of today."""
    reasons: list[str] = field(default_factory=list)
    """What else has changed since, worth saying where the file made again is not the file."""
    notes: list[str] = field(default_factory=list)

    def differ(self, where: str, stored: Any, recomputed: Any) -> None:
        """Add a difference, its texts cut to what can be read."""
        self.differences.append(Difference(where, shortened(stored), shortened(recomputed)))

    def take(self, found: Mapping[str, Any]) -> None:
        """Add what another process found."""
        for one in found["differences"]:
            self.differ(one["where"], one["stored"], one["recomputed"])
        self.notes += found["notes"]


def shortened(value: Any) -> Any:
    """Return a value as it may be shown; long texts are cut, and what is no single value is named by its size."""
    match value:
        case str():
            return value if len(value) <= LONGEST else f"{value[:LONGEST]}…"
        case Mapping():
            return f"a mapping with {len(value)} keys"
        case list() | tuple():
            return f"a list of {len(value)}"
    return value


def refused(name: str, found: str, remedy: str, path: str = "document") -> DealError:
    """Return the error of a file that cannot be checked."""
    return DealError([Problem(path, found, "a document that slakit made", remedy, file=name)])
