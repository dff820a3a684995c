"""Nodes and events of Kubernetes: what is bad, since when, and what a repeated event does not say."""

import json
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest

from schemas.errors import DealError
from slakit.statements.importers.find import form_of
from slakit.statements.importers.form import Options
from slakit.statements.importers.imported import Imported
from slakit.statements.importers.log import Log

CAPTURED = datetime(2026, 8, 3, 12, 0, tzinfo=UTC)


def read(value: Any, name: str = "dump.json", options: Options | None = None) -> Imported:
    text = value if isinstance(value, str) else json.dumps(value, indent=2)
    log = Log(name, text.encode())
    found = form_of(log).read(log, options or Options())
    assert found.records == found.used + len(found.skipped) + sum(found.left_out.values()) + found.duplicates
    return found


def condition(kind: str, status: str, changed: str = "2026-08-03T09:00:40Z", **more: str) -> dict[str, str]:
    return {
        "type": kind,
        "status": status,
        "lastHeartbeatTime": "2026-08-03T11:59:50Z",
        "lastTransitionTime": changed,
        "reason": f"{kind}Reason",
        "message": "as told by the kubelet",
    } | more


def node(name: str, *conditions: dict[str, str], **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "uid": f"uid-{name}"},
        "spec": {"providerID": f"metal://{name}"} | spec,
        "status": {"conditions": list(conditions), "nodeInfo": {"machineID": "5a1c"}},
    }


def nodes(*items: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "v1", "items": list(items), "kind": "List", "metadata": {"resourceVersion": ""}}


FINE = (condition("MemoryPressure", "False"), condition("DiskPressure", "False"), condition("Ready", "True"))


def event(
    reason: str, first: str | None, last: str | None = None, count: int = 1, node: str = "kx-04"
) -> dict[str, Any]:
    return {
        "kind": "Event",
        "apiVersion": "v1",
        "metadata": {"name": f"{node}.{reason}.{first}", "namespace": "default"},
        "involvedObject": {"kind": "Node", "name": node, "uid": node},
        "reason": reason,
        "message": f"Node {node} status is now: {reason}",
        "source": {"component": "node-controller"},
        "firstTimestamp": first,
        "lastTimestamp": last or first,
        "count": count,
        "type": "Normal",
    }


def at(hour: int, minute: int = 0, second: int = 0) -> datetime:
    return datetime(2026, 8, 3, hour, minute, second, tzinfo=UTC)


def test_a_node_not_heard_from_is_down_since_the_change_and_at_earliest_since_its_last_heartbeat():
    lost = [
        condition(kind, "Unknown", lastHeartbeatTime="2026-08-03T08:59:55Z", reason="NodeStatusUnknown")
        for kind in ("MemoryPressure", "DiskPressure", "Ready")
    ]
    found = read(nodes(node("kx-04", *lost), node("kx-05", *FINE)))
    (incident,) = found.incidents  # the other conditions follow from the same silence
    assert (incident.unit_id, incident.state, incident.level) == ("kx-04", "down", "node")
    assert incident.started_at == incident.detected_at == at(9, 0, 40)
    assert incident.ended_at is None
    (bound,) = found.bounds
    assert (bound.incident, bound.earliest, bound.latest) == (incident.id, at(8, 59, 55), at(9, 0, 40))
    assert found.left_out == {"node healthy at the capture": 1}
    assert "lastHeartbeatTime" in incident.evidence[0].text


def test_a_node_that_says_itself_that_it_is_not_ready_has_no_doubt_about_its_start():
    found = read(nodes(node("kx-04", condition("Ready", "False", reason="KubeletNotReady"))))
    assert found.incidents[0].state == "down"
    assert not found.bounds


@pytest.mark.parametrize(
    ("kind", "status", "state"),
    [
        ("MemoryPressure", "True", "degraded"),
        ("MemoryPressure", "False", None),
        ("AcceleratedHardwareReady", "False", "down"),
        ("AcceleratedHardwareReady", "True", None),
        ("GPUMissing", "True", "down"),
        ("KernelReady", "Unknown", "unknown"),
        ("VMEventScheduled", "True", None),
    ],
)
def test_each_condition_has_its_own_bad_status(kind: str, status: str, state: str | None):
    found = read(nodes(node("kx-04", *FINE[1:], condition(kind, status))))
    assert [one.state for one in found.incidents] == ([state] if state else [])


def test_a_condition_that_no_table_knows_is_listed_and_never_guessed():
    found = read(nodes(node("kx-04", *FINE, condition("FluxCapacitorReady", "False"))))
    assert found.unknown_states == {"condition FluxCapacitorReady False": 1}
    assert not found.incidents


def test_a_condition_about_an_xid_takes_the_state_of_the_xid():
    sick = condition("XidCriticalError", "True", reason='{"xid":"79"}', message="GPU gone")
    mild = condition("XidCriticalError", "True", reason='{"xid":"94"}', message="contained")
    found = read(nodes(node("kx-04", *FINE, sick), node("kx-05", *FINE, mild)))
    assert [(one.unit_id, one.state, one.fault_code) for one in found.incidents] == [
        ("kx-04", "down", "79"),
        ("kx-05", "degraded", "94"),
    ]
    listed = read(nodes(node("kx-04", *FINE, sick)), options=Options(fault_list={"94": "down"}))
    assert not listed.incidents
    assert any("not in the fault list" in note for note in listed.notes)


def test_a_cordoned_node_is_degraded_since_its_taint_and_else_since_the_capture():
    taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule", "timeAdded": "2026-08-03T07:30:00Z"}
    found = read(nodes(node("kx-04", *FINE, unschedulable=True, taints=[taint])))
    assert [(one.state, one.started_at) for one in found.incidents] == [("degraded", at(7, 30))]
    bare = nodes(node("kx-04", *FINE, unschedulable=True))
    assert "--captured-at" in read(bare).skipped[0].reason
    known = read(bare, options=Options(captured_at=CAPTURED))
    assert known.incidents[0].started_at == CAPTURED
    assert known.bounds[0].earliest is None


def test_one_node_alone_and_a_node_twice_are_read_once():
    assert len(read(node("kx-04", condition("Ready", "False"))).incidents) == 1
    found = read(nodes(*[node("kx-04", condition("Ready", "False"))] * 2))
    assert (len(found.incidents), found.duplicates) == (1, 1)


def test_broken_nodes_are_skipped_and_do_not_lose_the_rest():
    found = read(
        nodes(node("kx-04", condition("Ready", "False")), node("kx-05"), {"kind": "Node"}, node("kx-06", *FINE))
    )
    assert (found.records, found.used, len(found.skipped)) == (4, 1, 2)
    found = read(nodes(node("kx-04", condition("Ready", "False", changed="yesterday")), node("kx-06", *FINE)))
    assert "'yesterday'" in found.skipped[0].reason
    assert not found.incidents


@pytest.mark.parametrize(
    "table",
    [
        "NAME    STATUS     ROLES    AGE   VERSION\nkx-04   NotReady   <none>   11d   v1.31.2\n",
        "LAST SEEN   TYPE     REASON         OBJECT   MESSAGE\n23m         Normal   NodeNotReady   node/kx-04\n",
    ],
)
def test_tables_of_ages_are_refused(table: str):
    with pytest.raises(DealError, match=r"shows ages.*-o json"):
        read(table, "out.txt")


def test_an_outage_goes_from_not_ready_to_ready():
    items = [
        event("NodeReady", "2026-08-03T09:41:00Z"),
        event("NodeNotReady", "2026-08-03T09:10:00Z"),
        event("NodeNotReady", "2026-08-03T10:00:00Z", node="kx-09"),
        event("NodeReady", "2026-08-03T08:00:00Z", node="kx-10"),
    ]
    found = read(nodes(*items))
    assert [(one.unit_id, one.started_at, one.ended_at) for one in found.incidents] == [
        ("kx-04", at(9, 10), at(9, 41)),
        ("kx-09", at(10), None),
    ]
    assert found.left_out == {"ready, and nothing before it in the file": 1}
    assert (found.records, found.used) == (4, 3)
    assert len(found.incidents[0].evidence) == 2


def test_a_repeated_event_is_not_one_interval():
    items = [
        event("NodeNotReady", "2026-08-03T09:00:00Z", "2026-08-03T11:00:00Z", 4),
        event("NodeReady", "2026-08-03T09:05:00Z", "2026-08-03T11:02:00Z", 4),
    ]
    found = read(nodes(*items))
    assert sorted((one.started_at, one.ended_at, one.state) for one in found.incidents) == [
        (at(9), at(9, 5), "down"),
        (at(9, 5), at(11), "unknown"),
        (at(11), at(11, 2), "down"),
    ]
    assert (found.records, found.used) == (2, 2)


def test_a_repeat_without_the_good_reading_between_is_unknown_and_not_down():
    found = read(nodes(event("NodeNotReady", "2026-08-03T09:00:00Z", "2026-08-03T11:00:00Z", 2)))
    assert [(one.state, one.started_at, one.ended_at) for one in found.incidents] == [
        ("unknown", at(9), at(11)),
        ("down", at(11), None),
    ]
    assert (found.records, found.used) == (1, 1)


def test_events_of_the_newer_interface_and_of_other_objects_are_told_apart():
    new = {
        "kind": "Event",
        "apiVersion": "events.k8s.io/v1",
        "metadata": {"name": "kx-04.1"},
        "regarding": {"kind": "Node", "name": "kx-04"},
        "reason": "NodeNotReady",
        "note": "Node kx-04 status is now: NodeNotReady",
        "eventTime": "2026-08-03T09:00:00.250000Z",
        "deprecatedFirstTimestamp": None,
        "deprecatedLastTimestamp": None,
    }
    pod = event("BackOff", "2026-08-03T09:00:00Z") | {"involvedObject": {"kind": "Pod", "name": "web"}}
    odd = event("NodeTurnedPurple", "2026-08-03T09:00:00Z")
    quiet = event("NodeHasSufficientMemory", "2026-08-03T09:00:00Z")
    timeless = event("NodeNotReady", None)
    found = read(nodes(new, pod, odd, quiet, timeless))
    assert found.incidents[0].started_at == datetime(2026, 8, 3, 9, 0, 0, 250000, tzinfo=UTC)
    assert found.unknown_states == {"event NodeTurnedPurple": 1}
    assert [one.reason for one in found.skipped] == ["has no time"]
    assert (found.records, found.used, sum(found.left_out.values())) == (5, 1, 3)


def test_cordons_pair_too():
    items = [event("NodeNotSchedulable", "2026-08-03T09:00:00Z"), event("NodeSchedulable", "2026-08-03T09:30:00Z")]
    (incident,) = read(nodes(*items)).incidents
    assert (incident.state, incident.ended_at) == ("degraded", at(9, 30))


def test_ids_are_unique_though_the_file_is_one_line():
    items = [
        event(reason, f"2026-08-03T{h:02}:{m}:00Z")
        for h in (8, 9)
        for reason, m in (("NodeNotReady", 10), ("NodeReady", 20))
    ]
    found = read(json.dumps(nodes(*items)))
    assert len({one.id for one in found.incidents}) == len(found.incidents) == 2


def test_a_file_cut_anywhere_is_refused_or_adds_up():
    rng = Random(20)
    whole = [
        json.dumps(nodes(node("kx-04", condition("Ready", "Unknown")), node("kx-05", *FINE)), indent=1),
        json.dumps(nodes(event("NodeNotReady", "2026-08-03T09:00:00Z", "2026-08-03T10:00:00Z", 3)), indent=1),
    ]
    for text in whole:
        for _ in range(20):
            with pytest.raises(DealError, match=r"cut\.json|dump\.json"):
                read(text[: rng.randrange(1, len(text) - 1)])
