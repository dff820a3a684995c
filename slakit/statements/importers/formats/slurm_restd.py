"""Nodes as JSON: replies of `slurmrestd`, and `scontrol show nodes --json` with the same layout. A snapshot.

An error in a reply comes with no nodes, and its number may be 0: it does not say that all are well. `hostname` may be
that of another machine, so `name` is the unit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from slakit.statements.importers import json_records, slurm_reasons, slurm_snapshots, slurm_states
from slakit.statements.importers.clock import Reading
from slakit.statements.importers.form import Form, Options
from slakit.statements.importers.imported import Collector, Imported
from slakit.statements.importers.json_records import Element
from slakit.statements.importers.log import Log
from slakit.statements.importers.refusal import refused
from slakit.statements.importers.slurm_snapshots import Seen
from slakit.statements.importers.times import TimeError, from_epoch

SHOWN = (
    "name",
    "hostname",
    "state",
    "state_flags",
    "reason",
    "reason_changed_at",
    "reason_set_by_user",
    "last_busy",
    "boot_time",
    "reservation",
)
"""Fields kept as evidence."""


def read(log: Log, options: Options) -> Imported:
    """Read nodes.

    Raises
    ------
    DealError
        When the file is no plain JSON, an error of the interface, or has no nodes in it.
    """
    found = Collector(log, "slurm-restd")
    root = log.json()
    _check(log, root)
    for warning in root.get("warnings") or ():
        words = warning.get("description") if isinstance(warning, Mapping) else warning
        found.note(f"a warning of the interface: {str(words)[:120]}")
    taken = options.captured_at or _taken(root)
    if taken is not None:
        found.taken(taken)
    records = [one for element in json_records.elements(log, "nodes") if (one := _node(found, element, options))]
    slurm_snapshots.add(found, records, taken, options)
    return found.finish()


def _check(log: Log, root: Any) -> None:
    """Refuse a reply that is no list of nodes."""
    if not isinstance(root, Mapping):
        raise refused(log.name, "JSON that is no reply of slurmrestd", "an object with nodes", "ask for /nodes")
    if errors := root.get("errors"):
        first = errors[0] if isinstance(errors, list) else errors
        words = first.get("description") or first.get("error") if isinstance(first, Mapping) else first
        raise refused(
            log.name,
            f"an error of the interface, {str(words)[:120]!r}, which does not say that any node is well",
            "nodes with their states",
            "ask again, for nodes that there are",
        )
    if isinstance(root.get("sinfo"), list):
        raise refused(
            log.name, "sinfo --json of Slurm 23 or later, by groups of nodes", "nodes", "use scontrol show nodes --json"
        )
    if not isinstance(root.get("nodes"), list) or not root["nodes"]:
        raise refused(
            log.name,
            "no nodes, which does not say that all are well",
            "nodes with their states",
            "ask for /nodes again",
        )


def _taken(root: Mapping[str, Any]) -> datetime | None:
    """Return when any node last changed, at which its state was what the reply shows."""
    try:
        return _time(root.get("last_update"))
    except TimeError:
        return None


def _node(found: Collector, element: Element, options: Options) -> Seen | None:
    """Return what one node shows; account for one that shows nothing."""
    node = element.value
    if not isinstance(node, Mapping):
        found.skip(element.line, "(no object)", "no node")
        return None
    user = node.get("reason_set_by_user")
    reason = slurm_reasons.taken_apart(str(node.get("reason") or ""))
    private = slurm_reasons.names_of([user if isinstance(user, str) else None, reason.user], options)
    raw = _shown(node, options)
    name = node.get("name")
    if not isinstance(name, str) or not name.strip():
        found.skip(element.line, raw, "names no node", private)
        return None
    words = _words(node)
    if words is None:
        found.skip(element.line, raw, "has no state", private)
        return None
    try:
        set_at = _time(node.get("reason_changed_at"))
        busy_at = _time(node.get("last_busy"))
    except TimeError as error:
        found.skip(element.line, raw, str(error), private)
        return None
    return Seen(
        element.line,
        raw,
        (name.strip(),),
        "+".join(words),
        slurm_states.meaning(words),
        reason.text,
        Reading(set_at) if set_at is not None else None,
        busy_at,
        private,
    )


def _words(node: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the words of a state: a list, or one word with a list of flags as older interfaces have it."""
    state, flags = node.get("state"), node.get("state_flags") or []
    listed = [state] if isinstance(state, str) else state
    if not isinstance(listed, list) or not listed or not isinstance(flags, list):
        return None
    found = [word for one in [*listed, *flags] for word in slurm_states.words_of(str(one))]
    return tuple(dict.fromkeys(found)) or None


def _time(value: Any) -> datetime | None:
    """Return a time in seconds since 1970, or an object that holds one; None where there is no value.

    Raises
    ------
    TimeError
        When it is no time.
    """
    if isinstance(value, Mapping):
        if value.get("set") is False or value.get("infinite") is True:
            return None
        value = value.get("number")
    if value is None or value == 0:
        return None
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise TimeError(f"{str(value)[:40]!r} is no time in seconds since 1970")
    return from_epoch(value if isinstance(value, int) else str(value))


def _shown(node: Mapping[str, Any], options: Options) -> str:
    """Return the fields that bear on the state, as JSON."""
    shown = {name: node[name] for name in SHOWN if name in node}
    if not options.with_names:
        shown.pop("reason_set_by_user", None)
    return slurm_reasons.without_users(json.dumps(shown, ensure_ascii=False, default=str), options)


def _sniff(log: Log) -> int:
    keys = json_records.keys(log)
    if {"nodes", "reason_changed_at", "state"} <= keys or {"sinfo", "meta", "errors"} <= keys:
        return 95
    is_reply = "errors" in keys and "meta" in keys and bool({"plugin", "Slurm", "slurm"} & keys)
    return 90 if is_reply and "jobs" not in keys else 0


FORMS = (Form("slurm-restd", "Slurm nodes, JSON of slurmrestd or scontrol", _sniff, read, is_snapshot=True),)
