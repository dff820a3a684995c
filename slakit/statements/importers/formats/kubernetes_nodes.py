"""Nodes of Kubernetes as `kubectl get nodes -o json` prints them: what holds now, and since when.

Only the last change of a condition is stored: an outage that ended before the capture, and flapping, are not in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from slakit.statements.importers import gpu_faults, json_records
from slakit.statements.importers.form import Form, Options
from slakit.statements.importers.imported import Bound, Collector, Imported, State
from slakit.statements.importers.json_records import Element
from slakit.statements.importers.kubernetes_words import kubernetes_words
from slakit.statements.importers.log import Log
from slakit.statements.importers.refusal import refused
from slakit.statements.importers.times import TimeError, moment

CORDON = "node.kubernetes.io/unschedulable"
"""Taint of a node that is cordoned."""

OF_GPU_FAULTS = frozenset({"XidCriticalError", "XIDErrors", "AcceleratedHardwareReady"})
"""Conditions whose reason may name an XID."""

_TABLE = re.compile(r"\s*NAME\s+STATUS\s+ROLES\s+AGE\s+VERSION")
_XID = re.compile(r"\bxid\D{0,12}(\d{1,3})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Finding:
    """One thing wrong with a node."""

    state: State
    since: datetime
    earliest: datetime | None
    is_bounded: bool
    cause: str
    raw: str
    fault_code: str | None = None


def read(log: Log, options: Options) -> Imported:
    """Read nodes.

    Raises
    ------
    DealError
        When the file is a table of ages, no plain JSON, or has no node in it.
    """
    if _TABLE.match(log.head):
        raise refused(
            log.name,
            "the table of kubectl, which shows ages and no times",
            "the nodes with their conditions and times",
            "export them with kubectl get nodes -o json",
        )
    found = Collector(log, "kubernetes-nodes")
    root = log.json()
    inside = isinstance(root, Mapping) and isinstance(root.get("items"), list)
    records = json_records.elements(log, "items") if inside else json_records.elements(log)
    if not inside and not any(isinstance(one.value, Mapping) and one.value.get("kind") == "Node" for one in records):
        raise refused(log.name, "JSON without a node", "a Node or a list of them", "use kubectl get nodes -o json")
    seen: dict[str, Any] = {}
    for record in records:
        _node(found, record, options, seen)
    if found.used or found.left_out:
        found.note("Kubernetes stores the last change of a condition alone: what ended before the capture is not here")
    return found.finish()


def _node(found: Collector, record: Element, options: Options, seen: dict[str, Any]) -> None:
    """Account for one node: one record, an incident for each thing wrong with it."""
    node = record.value
    if not isinstance(node, Mapping) or node.get("kind", "Node") != "Node":
        found.skip(record.line, record.raw, "no Node")
        return
    metadata, spec, status = (_mapping(node, name) for name in ("metadata", "spec", "status"))
    name = metadata.get("name")
    if not isinstance(name, str) or not name.strip():
        found.skip(record.line, record.raw, "names no node")
        return
    if name in seen and seen[name] == node:
        found.duplicate()
        return
    seen[name] = node
    conditions = [one for one in status.get("conditions") or [] if isinstance(one, Mapping)]
    ready = next((one for one in conditions if one.get("type") == "Ready"), None)
    if ready is None:
        found.skip(record.line, record.raw, "has no condition Ready: its state is not in the file")
        return
    findings: list[_Finding] = []
    problem = None
    for condition in conditions:
        if condition is not ready and ready.get("status") != "True" and condition.get("status") == "Unknown":
            continue  # follows from a node that is not heard from
        try:
            finding = _condition(found, condition, options)
        except TimeError as error:
            problem = f"{condition.get('type')}: {error}"
            continue
        findings += [finding] if finding else []
    try:
        findings += _cordon(spec, ready, options)
    except TimeError as error:
        problem = f"cordoned: {error}"
    if problem is not None:
        found.skip(record.line, record.raw, problem)
        counted = True
    else:
        counted = False
    if not findings and not counted:
        found.leave_out("node healthy at the capture")
        return
    _add(found, record.line, name, findings, options, counted=counted)


def _add(
    found: Collector, line: int, name: str, findings: Sequence[_Finding], options: Options, *, counted: bool
) -> None:
    for number, one in enumerate(findings):
        made = found.incident(
            line=line,
            raw=one.raw,
            counts=number == 0 and not counted,
            id=f"{found.log.name}:{line}:{name}:{number + 1}"[:200],
            unit_id=name,
            level=options.unit_level or "node",
            state=one.state,
            started_at=one.since,
            ended_at=None,
            detected_at=one.since,
            cause=one.cause,
            fault_code=one.fault_code,
        )
        if made is not None and one.is_bounded:
            found.bound(Bound(made.id, "started_at", one.earliest, one.since))


def _condition(found: Collector, condition: Mapping[str, Any], options: Options) -> _Finding | None:
    """Return what is wrong by one condition; None where it is good or says nothing.

    Raises
    ------
    TimeError
        When nothing says since when.
    """
    kind, status = str(condition.get("type")), str(condition.get("status"))
    words = kubernetes_words()
    if kind in words.no_outage:
        return None
    polarity = words.conditions.get(kind)
    if polarity is None:
        found.unknown_state(f"condition {kind} {status}")
        return None
    if status not in ("True", "False", "Unknown"):
        found.unknown_state(f"status {status} of condition {kind}")
        state: State = "unknown"
    elif status == "Unknown":
        state = polarity.unknown
    elif status == polarity.bad:
        state = polarity.state
    else:
        return None
    reason, message = (str(condition.get(name) or "") for name in ("reason", "message"))
    code = None
    if kind in OF_GPU_FAULTS and status == polarity.bad and (match := _XID.search(f"{reason} {message}")):
        effect = gpu_faults.xid(int(match[1]), message, options.fault_list)
        code = effect.code
        if options.fault_list and effect.state is None:
            found.note(effect.reason)
            return None
        if effect.state is not None and effect.state != "unknown":
            state = effect.state
    since = _time(condition, "lastTransitionTime") or options.captured_at
    if since is None:
        raise TimeError("has no lastTransitionTime: say when the nodes were read with --captured-at")
    heard = _time(condition, "lastHeartbeatTime")
    is_late = heard is not None and heard < since
    return _Finding(
        state,
        since,
        heard if is_late else None,
        is_late or condition.get("lastTransitionTime") is None,
        f"{kind} {status}: {reason}: {message}".rstrip(": "),
        json.dumps(condition, ensure_ascii=False),
        code,
    )


def _cordon(spec: Mapping[str, Any], ready: Mapping[str, Any], options: Options) -> list[_Finding]:
    """Return that a node is cordoned though ready.

    Raises
    ------
    TimeError
        When nothing says since when.
    """
    if spec.get("unschedulable") is not True or ready.get("status") != "True":
        return []
    taints = [one for one in spec.get("taints") or [] if isinstance(one, Mapping) and one.get("key") == CORDON]
    since = next((at for one in taints if (at := _time(one, "timeAdded"))), None)
    at = since or options.captured_at
    if at is None:
        raise TimeError("nothing says since when: say when the nodes were read with --captured-at")
    shown = json.dumps({"unschedulable": True, "taints": taints}, ensure_ascii=False)
    return [_Finding("degraded", at.astimezone(UTC), None, since is None, "cordoned, and Ready", shown)]


def _time(of: Mapping[str, Any], name: str) -> datetime | None:
    written = of.get(name)
    return moment(str(written), None) if written else None


def _mapping(of: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = of.get(name)
    return value if isinstance(value, Mapping) else {}


def _sniff(log: Log) -> int:
    if _TABLE.match(log.head):
        return 90
    keys = json_records.keys(log)
    if not keys.issuperset({"kind", "metadata"}) or "involvedObject" in keys or "regarding" in keys:
        return 0
    if keys.issuperset({"lastTransitionTime", "conditions"}) and re.search(r'"kind"\s*:\s*"Node"', log.head):
        return 92
    return 90 if re.search(r'"kind"\s*:\s*"(?:Node|NodeList)"', log.head) else 0


FORMS = (Form("kubernetes-nodes", "Nodes of Kubernetes, JSON", _sniff, read, is_snapshot=True),)
