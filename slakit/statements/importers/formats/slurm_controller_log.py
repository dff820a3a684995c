"""Log of Slurm's controller, `slurmctld.log`: nodes set DOWN or to DRAIN, and returned to service.

No real log with such lines and a source was found: the messages are those of Slurm's source. A node is down until it is
returned to service or its state is set to one that takes work; that it responds again ends nothing by itself, for a
person may have set it DOWN. DOWN and DRAIN are followed apart, so that one that ends leaves the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from schemas.errors import TermsError
from schemas.incidents import Evidence
from slakit.statements.host_lists import expanded
from slakit.statements.importers import slurm_messages as messages
from slakit.statements.importers import slurm_reasons, slurm_states, slurm_times
from slakit.statements.importers.clock import Clock, Reading
from slakit.statements.importers.form import Form, Options
from slakit.statements.importers.imported import Bound, Collector, Imported, State
from slakit.statements.importers.log import Log
from slakit.statements.importers.refusal import refused
from slakit.statements.importers.times import TimeError, from_epoch

Kind = Literal["down", "drain", "silent"]
KINDS: tuple[Kind, ...] = ("down", "drain", "silent")
REASON_HOLDS = timedelta(seconds=2)
"""How long before a change of state its reason may stand in the log."""
MOST_NAMES = 2_000_000
"""Names of nodes in all lines together. [1]"""
MOST_LINES = 50
"""Lines kept as evidence of one incident; its first ones. [1]"""
OTHER = "a line about something else"
SILENT = (
    "a node that did not respond and was not set DOWN is taken as unknown, from then until it responded again: Slurm "
    "sets it DOWN after SlurmdTimeout, 300 s by default"
)
RESPONDS = "a node set DOWN responded again and was not returned to service in this log: it stays down until it is"
REBOOTED = "a node that rebooted unexpectedly is taken as down from its last response on"
RESTARTED = "slurmctld started again in this log: what happened to nodes while it did not run is not in it"
BEFORE = "what was down or drained before the first line, and did not change in this log, is not in it"


@dataclass(slots=True)
class _Spell:
    """A state of a node that has begun."""

    kind: Kind
    state: State
    since: Reading
    line: int
    raw: str
    cause: str
    detected_at: datetime
    earliest: datetime | None = None
    latest: datetime | None = None
    also: list[Evidence] = field(default_factory=list)
    counts: bool = True


@dataclass(slots=True)
class _Node:
    """What is known of a node so far."""

    spells: dict[Kind, _Spell] = field(default_factory=dict)
    reason: tuple[datetime, str, Evidence] | None = None
    """The reason set last: when, and its line."""


@dataclass(frozen=True, slots=True)
class _Entry:
    number: int
    raw: str
    at: Reading
    text: str


class _Reader:
    """Follows the nodes through one log."""

    def __init__(self, log: Log, options: Options) -> None:
        self.found = Collector(log, "slurm-controller-log")
        self.clock, self.options = Clock(log, options), options
        self.nodes: dict[str, _Node] = {}
        self.names = 0

    def read(self) -> Imported:
        """Read every line."""
        for entry in self._entries():
            self._entry(entry)
        slurm_times.check_zone(self.clock)
        for name, node in self.nodes.items():
            for kind in KINDS:
                if kind in node.spells:
                    self._add(name, node.spells[kind], None)
        self.found.note(BEFORE)
        return self.found.finish()

    def _entries(self) -> Iterator[_Entry]:
        """Yield each line with its time; account for those without one."""
        before: datetime | None = None
        for number, raw in self.found.log.lines():
            parts = messages.LINE.fullmatch(raw.strip()) or messages.SYSLOG.fullmatch(raw.strip())
            if parts is None:
                if messages.ABOUT_NODES.search(raw):
                    self._skip(number, raw, "has no time with a year in brackets, such as [2026-11-30T14:05:00.123]")
                else:
                    self.found.leave_out("a line without a time, about something else")
                continue
            text = messages.LEVEL.sub("", parts["text"].strip())
            if (
                not messages.ABOUT_NODES.search(text)
                and not messages.REASON.fullmatch(text)
                and not messages.KILLING.match(text)
            ):
                if messages.STARTED.fullmatch(text):
                    self.found.note(RESTARTED)
                self.found.leave_out(OTHER)
                continue
            try:
                at = self.clock.read(parts["at"])
            except TimeError as error:
                self._skip(number, raw, str(error))
                continue
            if at.later is not None and before is not None and at.at < before <= at.later:
                at = Reading(at.later)  # the lines stand in order: the clock was put back before this one
            before = at.at
            yield _Entry(number, raw, at, text)

    def _entry(self, entry: _Entry) -> None:
        """Account for one line about nodes."""
        for pattern, act in self._acts:
            parts = pattern.fullmatch(entry.text) if pattern is not messages.KILLING else pattern.match(entry.text)
            if parts is None:
                continue
            try:
                names = expanded(parts["nodes"].rstrip(",;"))
            except TermsError as error:
                self._skip(entry.number, entry.raw, f"its list of nodes: {error}")
                return
            self.names += len(names)
            if self.names > MOST_NAMES:
                raise refused(
                    self.found.log.name, f"more than {MOST_NAMES:,} names of nodes", "one log", "split it by time"
                )
            act(self, entry, names, parts)
            return
        self._skip(entry.number, entry.raw, "speaks of the state of nodes in words that are not known")

    def _skip(self, number: int, raw: str, reason: str) -> None:
        self.found.skip(number, slurm_reasons.without_users(raw, self.options), reason)

    def _evidence(self, entry: _Entry) -> Evidence:
        return self.found.log.evidence(entry.number, slurm_reasons.without_users(entry.raw, self.options))

    def _node(self, name: str) -> _Node:
        return self.nodes.setdefault(name, _Node())

    def _begin(
        self,
        entry: _Entry,
        names: tuple[str, ...],
        kind: Kind,
        state: State,
        cause: str,
        since: Reading | None = None,
        latest: datetime | None = None,
    ) -> None:
        """Begin a spell of each node; one that already lasts goes on, and the line becomes its evidence."""
        counts = True
        for name in names:
            node = self._node(name)
            known = node.spells.get(kind)
            if known is not None and known.state == state:
                if len(known.also) < MOST_LINES:
                    known.also.append(self._evidence(entry))
                if counts:
                    self.found.use()
                counts = False
                continue
            if known is not None:
                self._end(entry, name, kind)
            spell = _Spell(
                kind,
                state,
                since or entry.at,
                entry.number,
                entry.raw,
                cause,
                entry.at.at,
                latest=latest,
                counts=counts,
            )
            self._take_reason(node, entry, spell)
            silent = node.spells.pop("silent", None)
            if silent is not None and kind == "down":
                spell.earliest = silent.since.at
                spell.also.append(self.found.log.evidence(silent.line, silent.raw))
                self.found.use(silent.counts)
            elif silent is not None:
                node.spells["silent"] = silent
            node.spells[kind] = spell
            counts = False

    def _take_reason(self, node: _Node, entry: _Entry, spell: _Spell) -> None:
        """Give a spell the reason that was set for it just before."""
        if node.reason is None:
            return
        at, words, evidence = node.reason
        if timedelta(0) <= entry.at.at - at <= REASON_HOLDS:
            spell.cause = words
            spell.also.append(evidence)
        node.reason = None

    def _end(self, entry: _Entry, name: str, kind: Kind) -> None:
        """End a spell of a node at a line."""
        spell = self._node(name).spells.pop(kind)
        end = entry.at
        if end.at < spell.since.at and end.later is not None:
            end = Reading(end.later)
        spell.also.append(self._evidence(entry))
        self._add(name, spell, end)

    def _add(self, name: str, spell: _Spell, end: Reading | None) -> None:
        """Add the incident of a spell."""
        if end is not None and end.at < spell.since.at:
            self.found.note(
                f"line {spell.line}: what began there is ended by a line with an earlier time: it stays open"
            )
            end = None
        made = self.found.incident(
            line=spell.line,
            raw=slurm_reasons.without_users(spell.raw, self.options),
            id=f"{self.found.log.name}:{spell.line}:{name}:{spell.kind}"[:200],
            unit_id=name,
            level=self.options.unit_level or "node",
            state=spell.state,
            started_at=spell.since.at,
            ended_at=end.at if end is not None else None,
            detected_at=spell.detected_at,
            cause=spell.cause,
            also=spell.also,
            counts=spell.counts,
        )
        if made is None:
            return
        if spell.kind == "silent":
            self.found.note(SILENT)
        earliest, latest = spell.earliest, spell.latest or spell.since.at
        silent_since = slurm_reasons.earliest_start(spell.cause, spell.since.at) if spell.kind == "down" else None
        if silent_since is not None and earliest is None:
            earliest = silent_since
        if earliest is not None or spell.latest is not None:
            self.found.bound(Bound(made.id, "started_at", earliest or spell.since.at, spell.since.later or latest))
            if spell.since.later is not None:
                self.found.comes_twice(made.id, "started_at", spell.since.at, spell.since.later)
            slurm_times.bound_twice(self.found, made.id, Reading(spell.since.at), end)
        else:
            slurm_times.bound_twice(self.found, made.id, spell.since, end)

    # what each message does

    def _set_down(self, entry: _Entry, names: tuple[str, ...], parts: re.Match[str]) -> None:
        self._begin(entry, names, "down", "down", "Not responding")

    def _silent(self, entry: _Entry, names: tuple[str, ...], parts: re.Match[str]) -> None:
        free = tuple(name for name in names if "down" not in self._node(name).spells)
        if free:
            self._begin(entry, free, "silent", "unknown", "does not respond")
        else:
            self.found.leave_out("a node that is down does not respond")

    def _responds(self, entry: _Entry, names: tuple[str, ...], parts: re.Match[str]) -> None:
        ended = [name for name in names if "silent" in self._node(name).spells]
        for name in ended:
            self._end(entry, name, "silent")
        if any("down" in self._node(name).spells for name in names):
            self.found.note(RESPONDS)
        if ended:
            self.found.use()
        else:
            self.found.leave_out("a node responds, which ends nothing by itself")

    def _returned(self, entry: _Entry, names: tuple[str, ...], parts: re.Match[str]) -> None:
        self._over(entry, names, ("down", "silent"), "ends what began before this log: give the log before it too")

    def _over(self, entry: _Entry, names: tuple[str, ...], kinds: tuple[Kind, ...], otherwise: str | None) -> None:
        """End the spells of each node; skip the line where there are none and it shows that there were."""
        ended = 0
        for name in names:
            for kind in kinds:
                if kind in self._node(name).spells:
                    self._end(entry, name, kind)
                    ended += 1
        if ended:
            self.found.use()
        elif otherwise is not None:
            self._skip(entry.number, entry.raw, otherwise)
        else:
            self.found.leave_out("a node that is neither down nor drained is set to take work")

    def _rebooted(self, entry: _Entry, names: tuple[str, ...], parts: re.Match[str]) -> None:
        since, latest = None, None
        if parts["last"] is not None:
            try:
                last, boot = from_epoch(int(parts["last"])), from_epoch(int(parts["boot"]))
            except TimeError:
                last = boot = entry.at.at
            if last <= boot <= entry.at.at + timedelta(minutes=1):
                since, latest = Reading(last), min(boot, entry.at.at)
                self.found.note(REBOOTED)
        self._begin(entry, names, "down", "down", "Node unexpectedly rebooted", since, latest)

    def _set(self, entry: _Entry, names: tuple[str, ...], parts: re.Match[str]) -> None:
        words = slurm_states.words_of(parts["state"])
        meaning = slurm_states.meaning(words)
        for note in meaning.notes:
            self.found.note(note)
        for word in meaning.unmapped or ((parts["state"],) if meaning.state == "unknown" else ()):
            self.found.unknown_state(word)
        if meaning.state is None:
            self._over(entry, names, KINDS, None)
            return
        is_drain = bool({"DRAIN", "DRAINED", "DRAINING"} & set(words)) and "DOWN" not in words
        written = parts.groupdict().get("reason")
        reason = slurm_reasons.taken_apart(written or "")
        if reason.user is not None:
            private = slurm_reasons.names_of([reason.user], self.options)
            cause = slurm_reasons.cause(self.found.log, reason.text, parts["state"], private)
        else:
            cause = reason.text or f"state {parts['state']}, no reason given"
        self._begin(entry, names, "drain" if is_drain else "down", meaning.state, cause)

    def _reason(self, entry: _Entry, names: tuple[str, ...], parts: re.Match[str]) -> None:
        reason = slurm_reasons.taken_apart(parts["reason"])
        private = slurm_reasons.names_of([reason.user], self.options)
        words = slurm_reasons.cause(self.found.log, reason.text, "not shown", private)
        for name in names:
            self._node(name).reason = (entry.at.at, words, self._evidence(entry))
        self.found.use()

    def _killing(self, entry: _Entry, names: tuple[str, ...], parts: re.Match[str]) -> None:
        down = [spell for name in names if (spell := self._node(name).spells.get("down")) is not None]
        for spell in down:
            if len(spell.also) < MOST_LINES:
                spell.also.append(self._evidence(entry))
        if down:
            self.found.use()
        else:
            self.found.leave_out("a job is ended on a failed node, whose state another line gives")

    _acts = (
        (messages.SET_DOWN, _set_down),
        (messages.SILENT, _silent),
        (messages.RESPONDS, _responds),
        (messages.RETURNED, _returned),
        (messages.REBOOTED, _rebooted),
        (messages.SET, _set),
        (messages.SETTING, _set),
        (messages.REASON, _reason),
        (messages.KILLING, _killing),
    )


def read(log: Log, options: Options) -> Imported:
    """Read a log of the controller.

    Raises
    ------
    DealError
        When times need a zone and none is named.
    """
    return _Reader(log, options).read()


def _sniff(log: Log) -> int:
    lines = [line for line in log.head.splitlines()[:400] if line.strip()]
    stamped = [
        parts
        for line in lines
        if (parts := messages.LINE.fullmatch(line.strip()) or messages.SYSLOG.fullmatch(line.strip()))
    ]
    if not stamped or 2 * len(stamped) < len(lines):
        return 0
    acts = (pattern for pattern, _ in _Reader._acts)
    patterns = (*acts, messages.STARTED)
    named = any(p.match(messages.LEVEL.sub("", one["text"].strip())) for one in stamped for p in patterns)
    return 93 if named else 40 if any("slurm" in line or "JobId=" in line for line in lines) else 0


FORMS = (Form("slurm-controller-log", "Log of Slurm's controller, slurmctld.log", _sniff, read),)
