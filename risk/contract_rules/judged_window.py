"""One window of the log before the closed list: what of it a head covers, and why the rest is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from risk.contract_rules import emergency_maintenance, force_majeure, scheduled_maintenance
from risk.contract_rules.intervals import END, Spans, difference, union
from risk.core.computed import Computed, Step
from schemas.errors import NotComputedError
from schemas.exclusions import Exclusions, Head
from schemas.incidents import Incident, Notice, Window

PARAGRAPH = "excluded-downtime.closed-list"
ACT_PARAGRAPH = "customer-responsibilities.act"
HOLD_PARAGRAPH = "customer-responsibilities.hold"

Reason = Literal[
    "not on the list",
    "no notice",
    "unit not named",
    "late notice",
    "outside the announced time",
    "stale fix",
    "no listed event",
    "other cause",
    "no report",
    "over the allowance",
]
"""Why time inside a window is not excluded."""

_RULES: Mapping[Head, tuple[str, str]] = {
    "customer_act": (ACT_PARAGRAPH, "downtime is excluded while an act of the customer causes it"),
    "customer_hold": (HOLD_PARAGRAPH, "time in which the customer withholds a node is excluded"),
}
_EXCLUDES_UNDER: Mapping[Head, str] = {
    "scheduled": scheduled_maintenance.PARAGRAPH,
    "emergency": emergency_maintenance.PARAGRAPH,
    "force_majeure": force_majeure.PARAGRAPH,
    "customer_act": ACT_PARAGRAPH,
    "customer_hold": HOLD_PARAGRAPH,
}
_NOTICE_PARAGRAPHS = (
    scheduled_maintenance.PARAGRAPH,
    scheduled_maintenance.LATE_PARAGRAPH,
    emergency_maintenance.PARAGRAPH,
    force_majeure.NOTICE_PARAGRAPH,
)


@dataclass(frozen=True, slots=True)
class Case:
    """What is on record about one unit and may exclude its downtime."""

    names: frozenset[str]
    """The unit and the units that contain it."""
    spells: Sequence[tuple[Incident, Spans]]
    """Its incidents, with the time each covers under the contract's clock."""
    windows: Sequence[Window]
    notices: Mapping[str, Notice]
    """Notices sent when the statement is made, by id."""
    known_until: datetime = END
    """When the statement is made: a report that can still come is not missing."""
    cluster: tuple[str, Spans] | None = None
    """Its cluster, and the time in which any unit of that was under scheduled maintenance; None: not looked at."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Time that is not excluded although a window covers it."""

    spans: Spans
    reason: Reason
    paragraph: str


@dataclass(frozen=True, slots=True)
class Judged:
    """One window, divided into what excludes and what does not."""

    window: Window
    valid: Spans
    """Time that its head covers, before any allowance; time to recover included."""
    refusals: tuple[Refusal, ...] = ()
    """The rest of it, each moment under the first reason that applies."""

    @property
    def paragraph(self) -> str:
        """Return the paragraph under which it excludes."""
        return _EXCLUDES_UNDER.get(self.window.kind, PARAGRAPH)

    def without(self, blocked: Refusal) -> Judged:
        """Return the window without time that is refused for a further reason."""
        refused = difference(self.valid, difference(self.valid, blocked.spans))
        if not refused:
            return self
        further = Refusal(refused, blocked.reason, blocked.paragraph)
        return Judged(self.window, difference(self.valid, refused), (*self.refusals, further))


def exact(window: Window, case: Case, terms: Exclusions, zone: str) -> Computed[Judged]:
    """Return the part of one window that its head of the list covers, and the rest with reasons.

    Raises
    ------
    MissingTermError
        When the list names emergency maintenance and the terms say nothing on it.
    NotComputedError
        When the list is open and the head is not on it.
    """
    found = _covered(window, case, terms, zone)
    whole = union([(window.starts_at, window.ends_at)])
    covered = union(found.value)  # a window of no length covers nothing, and no time to recover comes after it
    refusals = _refusals(window, difference(whole, covered), found.steps)
    return Computed(Judged(window, covered, refusals), found.steps)


def _covered(window: Window, case: Case, terms: Exclusions, zone: str) -> Computed[Spans]:
    """Return the part of one window that its head of the list covers."""
    is_listed = window.kind in terms.heads
    if not is_listed and terms.open_ended:
        raise NotComputedError(
            "exclusions.open_ended",
            f"whether an open list also covers {window.kind!r} (window {window.id!r})",
            "add the head to exclusions.heads, or close the list",
        )
    listed = Step(
        PARAGRAPH,
        "downtime is excluded under a head of the list, and no other",
        is_listed,
        {"window": window.id, "head": window.kind},
        "exclusions.heads",
    )
    if not is_listed:
        return Computed((), (listed,))
    notice = case.notices.get(window.notice_id) if window.notice_id is not None else None
    if window.kind == "scheduled":
        found = scheduled_maintenance.exact(window, notice, case.names, terms.scheduled, zone)
    elif window.kind == "emergency":
        found = emergency_maintenance.exact(window, notice, case.names, terms.emergency, zone)
    elif window.kind == "force_majeure":
        found = force_majeure.exact(window, notice, case.names, terms.force_majeure, zone)
    else:
        spans = ((window.starts_at, window.ends_at),)
        steps: tuple[Step, ...] = ()
        if window.kind in _RULES:
            paragraph, rule = _RULES[window.kind]
            steps = (Step(paragraph, rule, spans, {"window": window.id}),)
        found = Computed(spans, steps)
    return Computed(found.value, (listed, *found.steps))


def _refusals(window: Window, refused: Spans, steps: tuple[Step, ...]) -> tuple[Refusal, ...]:
    """Return why each part of `refused` is not covered, read off the steps that led there."""
    found: list[Refusal] = []
    left = refused
    for step in steps:
        reason, spans = _reason(step), left
        if step.paragraph == scheduled_maintenance.OVERRUN_PARAGRAPH:
            assert isinstance(step.result, tuple)
            announced = union([step.result])
            reason, spans = "outside the announced time", difference(left, announced)
        if reason is not None and spans:
            found.append(Refusal(spans, reason, step.paragraph))
            left = difference(left, spans)
    if left:  # urgent work: its paragraph on notice also says that work outside the announced time is not covered
        found.append(Refusal(left, "outside the announced time", _EXCLUDES_UNDER.get(window.kind, PARAGRAPH)))
    return tuple(found)


def _reason(step: Step) -> Reason | None:
    """Return the reason for a refusal that a step gives for all that is left, None where it gives none."""
    if step.paragraph == PARAGRAPH:
        return None if step.result else "not on the list"
    if step.paragraph in (force_majeure.PARAGRAPH, force_majeure.NEVER_PARAGRAPH):
        return None if step.result else "no listed event"
    if step.paragraph == emergency_maintenance.STALE_PARAGRAPH:
        return "stale fix" if step.result is True else None
    if step.paragraph in _NOTICE_PARAGRAPHS:
        if "found" in step.inputs:
            return "no notice" if step.inputs["found"] == "no notice on record" else "unit not named"
        if step.paragraph == scheduled_maintenance.PARAGRAPH:
            return None  # what a late notice brings is a paragraph of its own, whose step follows
        return None if step.result is True else "late notice"
    return None
