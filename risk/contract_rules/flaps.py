"""Outages close together are one outage."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from risk.contract_rules.counting_rules import CountingRules
from risk.contract_rules.intervals import Span, Spans, exact_minutes, length
from risk.core.computed import Computed, Step

PARAGRAPH = "outage-clock.flaps"


@dataclass(frozen=True, slots=True)
class Outage:
    """One outage: pieces of downtime that the contract takes as one."""

    pieces: Spans
    """Its downtime; one piece, gaps included, where gaps count."""
    parts: int = 1
    """Intervals that were joined. [1]"""

    @property
    def start(self) -> datetime:
        """Return its first moment."""
        return self.pieces[0][0]

    @property
    def end(self) -> datetime:
        """Return the moment after its last."""
        return self.pieces[-1][1]

    @property
    def span(self) -> Span:
        """Return the time from its start to its end."""
        return self.start, self.end

    @property
    def length(self) -> timedelta:
        """Return its downtime, without gaps unless they count."""
        return length(self.pieces)


def exact(down: Spans, rules: CountingRules, level: str | None = None) -> Computed[tuple[Outage, ...]]:
    """Return outages in order of time; one step for each that was joined from several intervals.

    Parameters
    ----------
    down : sorted intervals of downtime of one unit, apart from each other.
    """
    groups: list[list[Span]] = []
    for span in down:
        if groups and span[0] - groups[-1][-1][1] < rules.merge_gap:
            groups[-1].append(span)
        else:
            groups.append([span])
    outages: list[Outage] = []
    steps: list[Step] = []
    for group in groups:
        pieces = ((group[0][0], group[-1][1]),) if rules.gap_counts else tuple(group)
        outage = Outage(pieces, len(group))
        outages.append(outage)
        if len(group) > 1:
            gap = "the gaps count" if rules.gap_counts else "the gaps do not count"
            steps.append(
                Step(
                    PARAGRAPH,
                    f"outages less than {rules.merge_gap_minutes} minutes apart are one outage, and {gap}; it lasts",
                    exact_minutes(outage.length),
                    {"intervals": tuple(group)},
                    rules.path("merge_gap_minutes", level),
                )
            )
    return Computed(tuple(outages), tuple(steps))
