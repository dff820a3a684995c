"""Nodes as Slurm shows them at one time: what holds now, and when its reason was set; never an end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from slakit.statements.importers import slurm_reasons, slurm_states, slurm_times
from slakit.statements.importers.clock import Reading
from slakit.statements.importers.form import Options
from slakit.statements.importers.imported import Bound, Collector, State
from slakit.statements.importers.slurm_states import Meaning

SNAPSHOT = (
    "a snapshot: it shows no end, and nothing that ended before it; each start is the time at which the reason was "
    "set, which somebody who writes a new reason moves"
)
NO_TIME = (
    "a node without a time of its reason: it is taken from the time of the snapshot on, and began at some time before"
)
TWO_STATES = "a node that one snapshot shows in several states is taken as unknown"
HEALTHY = "node healthy at the capture"
NO_STATE = "(no state column)"


@dataclass(frozen=True, slots=True)
class Seen:
    """One record of a snapshot: some nodes in one state."""

    line: int
    raw: str
    """Without users in brackets."""
    nodes: Sequence[str]
    state: str | None
    """As written; None where the snapshot has no column of states."""
    meaning: Meaning
    reason: str
    set_at: Reading | None
    """When the reason was set."""
    busy_at: datetime | None = None
    """When jobs last ran on the node."""
    private: tuple[str, ...] = ()


def add(found: Collector, records: Iterable[Seen], taken: datetime | None, options: Options) -> None:
    """Account for the records of a snapshot; a node that several of them show counts once.

    Parameters
    ----------
    taken : when the snapshot was taken, for nodes without a time of their own; they are skipped without it.
    """
    records = list(records)
    by_node: dict[str, list[Seen]] = defaultdict(list)
    for record in records:
        for node in record.nodes:
            by_node[node].append(record)
    found.note(SNAPSHOT)
    for record in records:
        firsts = [node for node in record.nodes if by_node[node][0] is record]
        if not firsts:
            found.duplicate()
            continue
        _account(found, record, firsts, by_node, taken, options)
    found.skipped.sort(key=lambda one: one.line or 0)


def _account(
    found: Collector,
    record: Seen,
    firsts: Sequence[str],
    by_node: dict[str, list[Seen]],
    taken: datetime | None,
    options: Options,
) -> None:
    """Account for one record by the nodes that it is the first to show."""
    used, problem = False, None
    for node in firsts:
        others = by_node[node][1:]
        state, notes = record.meaning.state, record.meaning.notes
        differing = [one for one in others if one.meaning.state != state]
        if differing:
            state, notes = "unknown", (TWO_STATES,)
            found.unknown_state(" and ".join(dict.fromkeys(str(one.state) for one in by_node[node])))
        elif record.state is None:
            found.unknown_state(NO_STATE)
        else:
            for word in record.meaning.unmapped or ((record.state or "(blank)",) if state == "unknown" else ()):
                found.unknown_state(word)
        for note in notes:
            found.note(note)
        if state is None:
            found.healthy(node)
            continue
        of = record if record.set_at is not None else next((o for o in others if o.set_at is not None), record)
        reason = _incident(found, of, node, state, taken, options, first=not used, others=differing)
        used = used or reason is None
        problem = reason or problem
    if not used and problem is not None:
        found.skip(record.line, record.raw, problem, record.private)
    elif not used:
        found.leave_out(HEALTHY)


def _incident(
    found: Collector,
    record: Seen,
    node: str,
    state: State,
    taken: datetime | None,
    options: Options,
    *,
    first: bool,
    others: Sequence[Seen],
) -> str | None:
    """Add one node that is not healthy; return why it cannot be, None where it was."""
    start = record.set_at
    if start is None:
        if taken is None:
            return "gives no time since when: say when the snapshot was taken with --captured-at"
        start = Reading(taken)
    elif taken is not None and start.at > taken:
        return f"its reason was set at {start.at:%Y-%m-%d %H:%M:%S} UTC, after the snapshot was taken"
    made = found.incident(
        line=record.line,
        raw=record.raw,
        unit_id=node,
        level=options.unit_level or "node",
        state=state,
        started_at=start.at,
        ended_at=None,
        detected_at=start.at,
        cause=slurm_reasons.cause(found.log, record.reason, record.state or "not shown", record.private),
        private=record.private,
        also=[found.log.evidence(one.line, one.raw, one.private) for one in others],
        counts=first,
    )
    if made is None:  # nothing but times is checked, and it has no end
        return "contradicts itself"
    if record.set_at is None:
        found.bound(Bound(made.id, "started_at", record.busy_at, start.at))
        found.note(NO_TIME)
        return None
    slurm_times.bound_twice(found, made.id, start)
    if start.later is None:
        _bound(found, made.id, record, state, start.at)
    return None


def _bound(found: Collector, incident: str, record: Seen, state: State, set_at: datetime) -> None:
    """Note between what times a node that is down went down, where the snapshot shows it."""
    early = slurm_reasons.earliest_start(record.reason, set_at)
    busy = record.busy_at if state == "down" else None
    if early is not None:
        found.bound(Bound(incident, "started_at", max(early, min(busy or early, set_at)), set_at))
    elif busy is not None and busy != set_at:
        found.bound(Bound(incident, "started_at", min(busy, set_at), max(busy, set_at)))


def meaning_of(state: str | None) -> Meaning:
    """Return what a state as written means; unknown where the snapshot has none."""
    return Meaning("unknown") if state is None else slurm_states.meaning(slurm_states.words_of(state))
