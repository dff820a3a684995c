"""What one file gave: incidents, windows, and an account of every record in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from pydantic import ValidationError

from schemas.incidents import Evidence, Incident, Window
from schemas.service_levels import Level
from slakit.statements.importers.log import Log, printable

State = Literal["down", "degraded", "planned", "unknown"]


@dataclass(frozen=True, slots=True)
class SkippedLine:
    """A record that could not be used, and why."""

    file: str
    line: int | None
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Bound:
    """A time of an incident that the file gives only within bounds."""

    incident: str
    field: Literal["started_at", "ended_at"]
    earliest: datetime | None
    latest: datetime | None


@dataclass(frozen=True, slots=True)
class Imported:
    """Everything in one file: `records` = those used + `skipped` + `left_out` + `duplicates`."""

    file: str
    form: str
    records: int
    used: int
    incidents: tuple[Incident, ...] = ()
    windows: tuple[Window, ...] = ()
    skipped: tuple[SkippedLine, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Records that say nothing about an outage, counted by reason, such as `unit healthy`."""
    duplicates: int = 0
    unknown_states: Mapping[str, int] = field(default_factory=dict)
    """States that no table knows; their time is unknown, never guessed."""
    bounds: tuple[Bound, ...] = ()
    notes: tuple[str, ...] = ()
    healthy_units: frozenset[str] = frozenset()
    """Units that a snapshot shows as healthy, which end what an older one shows."""
    named_units: frozenset[str] = frozenset()
    """Units of which a file of readings speaks, be they up or down."""
    covers: tuple[datetime, datetime] | None = None
    """Stretch of which a file of readings speaks; outside it nothing is known of its units."""
    captured_at: datetime | None = None
    """When a snapshot was taken, where the file itself or its name says it."""
    warnings: tuple[str, ...] = ()
    """Those of the notes without which the result would be misread."""


MOST_NAMED_TWICE = 20
"""Times that come twice which are named with their unit; the bounds hold all. [1]"""
TWICE = (
    "a local time comes twice in the night when clocks are put back: the first is taken where nothing shows which, "
    "the other is an hour later"
)


class Collector:
    """Gathers what a reader finds, so that no record is lost in silence.

    Each record of a file ends in exactly one of `incident` or `window` (with `counts=True`), `use`, `skip`,
    `leave_out` or `duplicate`.
    """

    def __init__(self, log: Log, form: str) -> None:
        """Start with nothing."""
        self.log, self.form = log, form
        self.used = self.duplicates = 0
        self.incidents: list[Incident] = []
        self.windows: list[Window] = []
        self.skipped: list[SkippedLine] = []
        self.left_out: Counter[str] = Counter()
        self.unknown_states: Counter[str] = Counter()
        self.bounds: list[Bound] = []
        self.notes: dict[str, None] = {}
        self.healthy_units: set[str] = set()
        self.named_units: set[str] = set()
        self.covers: tuple[datetime, datetime] | None = None
        self.captured_at: datetime | None = None
        self._twice: list[tuple[str, Literal["started_at", "ended_at"], datetime, datetime]] = []

    def incident(
        self,
        *,
        line: int | None,
        raw: str,
        unit_id: str,
        level: Level,
        state: State,
        started_at: datetime,
        ended_at: datetime | None,
        private: tuple[str, ...] = (),
        also: Sequence[Evidence] = (),
        counts: bool = True,
        **more: Any,
    ) -> Incident | None:
        """Add one incident; skip its record with the reason where it contradicts itself.

        Parameters
        ----------
        line, raw : the record that it rests on.
        private : names that are left out of evidence.
        also : further lines that it rests on.
        counts : whether this is what becomes of a record that no other call accounts for.
        more : further fields of `Incident`; `cause` is cut to one printable line.
        """
        for name in ("cause", "monitor_id", "metric", "fault_code"):
            if more.get(name) is not None:
                more[name] = " ".join(printable(str(more[name])).split())[:200] or None
        try:
            found = Incident(
                id=more.pop("id", None)
                or f"{self.log.name}:{line or len(self.incidents) + 1}:{printable(unit_id)}"[:200],
                level=level,
                unit_id=printable(unit_id.strip())[:200],
                state=state,
                started_at=started_at,
                ended_at=ended_at,
                evidence=(self.log.evidence(line, raw, private), *also),
                **more,
            )
        except ValidationError as error:
            if counts:
                self.skip(
                    line, raw, "; ".join(str(e["msg"]).removeprefix("Value error, ") for e in error.errors()), private
                )
            return None
        self.incidents.append(found)
        self.used += counts
        return found

    def window(self, window: Window, *, counts: bool = True) -> None:
        """Add a window of planned work or of another head of exclusion."""
        self.windows.append(window)
        self.used += counts

    def use(self, records: int = 1) -> None:
        """Account for records that became part of an incident made from several."""
        self.used += records

    def skip(self, line: int | None, raw: str, reason: str, private: tuple[str, ...] = ()) -> None:
        """Name a record that cannot be used."""
        self.skipped.append(SkippedLine(self.log.name, line, self.log.evidence(line, raw, private).text, reason))

    def leave_out(self, reason: str, records: int = 1) -> None:
        """Count records that say nothing about an outage."""
        self.left_out[reason] += records

    def duplicate(self, records: int = 1) -> None:
        """Count records that repeat another."""
        self.duplicates += records

    def unknown_state(self, word: str) -> None:
        """Count a state that no table knows; account for its record by another call."""
        self.unknown_states[printable(word)[:80]] += 1

    def bound(self, bound: Bound) -> None:
        """Note that a time is known only within bounds."""
        self.bounds.append(bound)

    def comes_twice(
        self, incident: str, name: Literal["started_at", "ended_at"], taken: datetime, other: datetime
    ) -> None:
        """Name a time of an incident that may be either of two, because clocks were put back that night."""
        self._twice.append((incident, name, taken, other))

    def taken(self, at: datetime) -> None:
        """Remember when a snapshot was taken by its own words, the latest time where it gives several."""
        self.captured_at = at if self.captured_at is None else max(self.captured_at, at)

    def note(self, words: str) -> None:
        """Say once what a reader of the result must know."""
        self.notes[words] = None

    def healthy(self, unit_id: str) -> None:
        """Remember that a snapshot shows a unit as healthy; account for its record by another call."""
        self.healthy_units.add(printable(unit_id.strip())[:200])

    def finish(self) -> Imported:
        """Return what was found."""
        left_out = sum(self.left_out.values())
        self._name_what_comes_twice()
        return Imported(
            file=self.log.name,
            form=self.form,
            records=self.used + len(self.skipped) + left_out + self.duplicates,
            used=self.used,
            incidents=tuple(self.incidents),
            windows=tuple(self.windows),
            skipped=tuple(self.skipped),
            left_out=dict(sorted(self.left_out.items())),
            duplicates=self.duplicates,
            unknown_states=dict(sorted(self.unknown_states.items())),
            bounds=tuple(self.bounds),
            notes=tuple(self.notes),
            healthy_units=frozenset(self.healthy_units),
            named_units=frozenset(self.named_units),
            covers=self.covers,
            captured_at=self.captured_at,
        )

    def _name_what_comes_twice(self) -> None:
        if not self._twice:
            return
        units = {incident.id: incident.unit_id for incident in self.incidents}
        self.note(TWICE)
        for incident, name, taken, other in self._twice[:MOST_NAMED_TWICE]:
            what = "starts" if name == "started_at" else "ends"
            self.note(
                f"{units.get(incident, incident)} {what} at {taken:%Y-%m-%d %H:%M:%S} UTC as read, or at "
                f"{other:%Y-%m-%d %H:%M:%S} UTC: the record alone does not show which"
            )
        rest = len(self._twice) - MOST_NAMED_TWICE
        if rest > 0:
            self.note(f"{rest} more times that come twice are among the bounds of this log in the JSON")
