"""Snapshots of Slurm nodes: sinfo, scontrol and slurmrestd; reservations; and two snapshots together."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from schemas.errors import DealError, TermsError
from slakit.statements.host_lists import MOST_NAMES, expanded
from slakit.statements.importers.find import form_of
from slakit.statements.importers.form import Options
from slakit.statements.importers.imported import Imported
from slakit.statements.importers.log import Log
from slakit.statements.importers.snapshots import paired

NOON = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
UTC_ZONE = Options(zone="UTC")
TAKEN = Options(zone="UTC", captured_at=NOON)


def read(text: str, options: Options = UTC_ZONE, name: str = "nodes.txt") -> Imported:
    log = Log(name, text.encode())
    return form_of(log).read(log, options)


def states(found: Imported) -> list[tuple[str, str]]:
    return [(made.unit_id, made.state) for made in found.incidents]


def adds_up(found: Imported) -> bool:
    return found.records == found.used + len(found.skipped) + sum(found.left_out.values()) + found.duplicates


# Lists of hosts


def test_a_list_of_hosts_is_expanded_within_bounds():
    assert len(expanded("c[017-018],d[001-002,004-024],e7")) == 2 + 23 + 1
    many = expanded("a[1-1000],b[1-1000]")
    assert (len(many), many[-1]) == (2000, "b1000")
    for hostile in ("a[1-999999999]", "a[1-99999],b[1-99999],c[1-9]", "a[0-999][0-999]", f"a[{'1-150000,' * 9}1]"):
        with pytest.raises(TermsError, match=f"{MOST_NAMES:,}"):
            expanded(hostile)


# sinfo -R

REASONS = """\
REASON               USER      TIMESTAMP           NODELIST
Not responding       slurm     2026-06-01T10:00:00 c[017-018],d[001-002,004-024]
ecc errors on gpu 31 quimby    2026-05-30T09:15:00 c019
none                 Unknown   Unknown             c020
bad line
fan                  root      2026-06-01T99:00:00 c021
rack                 root      2026-06-01T10:00:00 c[1-
"""


def test_reasons_without_states_are_unknown_and_open():
    found = read(REASONS)
    assert found.form == "slurm-sinfo-reason"
    assert len(found.incidents) == 2 + 2 + 21 + 1
    assert {made.state for made in found.incidents} == {"unknown"}
    assert {made.ended_at for made in found.incidents} == {None}
    assert found.unknown_states == {"(no state column)": 26}
    assert [one.line for one in found.skipped] == [5, 6, 7]
    assert (found.records, found.used, found.left_out) == (6, 2, {"node healthy at the capture": 1})
    assert any("shows no end" in note for note in found.notes)
    assert any("20 characters may be cut off" in note for note in found.notes)
    assert "quimby" not in repr(found)
    assert found.incidents[-1].cause == "ecc errors on gpu 31"
    first = next(b for b in found.bounds if b.incident == found.incidents[0].id)
    assert first.latest - first.earliest == timedelta(seconds=300)


def test_reasons_with_states_are_taken_by_the_table():
    found = read(
        "REASON|TIMESTAMP|STATE|NODELIST\n"
        "fan|2026-06-01T10:00:00|drained|c1\n"
        "disk | two|2026-06-01T10:00:00|draining|c2\n"
        "gone|2026-06-01T10:00:00|down*|c[3-4]\n"
    )
    assert states(found) == [("c1", "down"), ("c2", "degraded"), ("c3", "down"), ("c4", "down")]
    assert found.incidents[1].cause == "disk | two"


def test_reasons_without_a_zone_are_refused():
    with pytest.raises(DealError, match="--zone"):
        read(REASONS, Options())


# sinfo -N

WIDE = """\
HOSTNAMES|STATE|USER|REASON |TIMESTAMP |PARTITION |PARTITION |STATE |USER
c1|drain*|root|replace |2026-05-20T05:00:00 |main* |main |drained* |root(0)
c1|drain*|root|replace |2026-05-20T05:00:00 |debug |debug |drained* |root(0)
c2|alloc|Unknown|none |Unknown |main* |main |allocated |Unknown
c3|idle~|Unknown|none |Unknown |main* |main |idle~ |Unknown
c4|mix$|Unknown|none |2026-05-20T05:00:00 |main* |main |maint |Unknown
c5|down|Unknown|none |Unknown |main* |main |down |Unknown
c6|idle|Unknown|none |Unknown |main* |main |down |Unknown
c7|plugged|quimby|odd |2026-05-20T05:00:00 |main* |main |plugged |quimby(4242)
"""


def test_a_node_comes_once_however_many_partitions_it_is_in():
    found = read(WIDE)
    assert states(found) == [("c1", "down"), ("c4", "planned"), ("c7", "unknown")]
    assert (found.duplicates, found.left_out) == (1, {"node healthy at the capture": 2})
    assert [(one.line, "--captured-at" in one.reason) for one in found.skipped] == [(7, True), (8, False)]
    assert "disagree" in found.skipped[1].reason
    assert found.unknown_states == {"PLUGGED": 1}
    assert adds_up(found)
    assert "quimby" not in repr(found)
    assert found.healthy_units == {"c2", "c3"}


def test_a_node_without_a_time_is_taken_from_the_snapshot_on():
    found = read(WIDE, TAKEN)
    made = next(made for made in found.incidents if made.unit_id == "c5")
    (bound,) = [bound for bound in found.bounds if bound.incident == made.id]
    assert (made.started_at, bound.earliest, bound.latest) == (NOON, None, NOON)


def test_a_reason_set_after_the_snapshot_is_skipped():
    found = read(WIDE, Options(zone="UTC", captured_at=datetime(2026, 5, 1, tzinfo=UTC)))
    assert sum("after the snapshot was taken" in one.reason for one in found.skipped) == 3


def test_a_table_padded_with_blanks_needs_the_time_of_capture():
    text = "NODELIST NODES PARTITION STATE\nc1           1     main* idle\nc[2-3]       2     main* down*\n"
    with pytest.raises(DealError, match="--captured-at"):
        read(text)
    found = read(text, TAKEN)
    assert states(found) == [("c2", "down"), ("c3", "down")]
    assert (found.records, found.used) == (2, 1)


def test_a_node_in_two_states_is_unknown():
    text = "NODELIST NODES PARTITION STATE\nc1 1 main* idle\nc1 1 slow down\n"
    found = read(text, TAKEN)
    assert (states(found), found.unknown_states) == ([("c1", "unknown")], {"idle and down": 1})
    assert len(found.incidents[0].evidence) == 2


def test_output_without_a_header_is_known_by_its_layout():
    found = read("c1|none|Unknown|mixed\nc2|fan|2026-05-20T05:00:00|drained\nc2|fan|2026-05-20T05:00:00|drained\n")
    assert (found.form, states(found), found.duplicates) == ("slurm-sinfo", [("c2", "down")], 1)


# scontrol show node

BROKEN = """\
NodeName=c1 Arch=x86_64 CoresPerSocket=16
   CPUAlloc=0 CPUTot=64 CPULoad=0.01
   OS=Linux 6.1 #1 SMP
   State=IDLE+DRAIN ThreadsPerCore=2 Weight=1 Owner=N/A MCS_label=N/A
   Partitions=main
   BootTime=2026-05-01T00:00:00 SlurmdStartTime=2026-05-01T00:01:00
   LastBusyTime=2026-05-20T04:30:00 ResumeAfterTime=None
   Reason=said State=IDLE and NodeName=c9, odd [quimby@2026-05-20T05:00:00]

NodeName=c2 Arch=x86_64 CoresPerSocket=16
   State=MIXED+DYNAMIC_NORM ThreadsPerCore=2
   LastBusyTime=2026-06-01T11:59:00

"""


def test_continuation_lines_and_keys_inside_a_reason_are_told_apart():
    found = read(BROKEN)
    (made,) = found.incidents
    assert (found.form, found.records, made.unit_id, made.state) == ("slurm-scontrol-node", 2, "c1", "down")
    assert made.started_at == datetime(2026, 5, 20, 5, 0, tzinfo=UTC)
    assert made.cause == "said State=IDLE and NodeName=c9, odd"
    (bound,) = found.bounds
    assert (bound.earliest, bound.latest) == (datetime(2026, 5, 20, 4, 30, tzinfo=UTC), made.started_at)
    assert "quimby" not in repr(found)
    assert "quimby" in repr(read(BROKEN, Options(zone="UTC", with_names=True)))


def test_one_line_a_node_reads_the_same():
    lines, one = [], ""
    for line in BROKEN.splitlines():
        one = f"{one} {line.strip()}".strip()
        if not line:
            lines.append(one)
            one = ""
    assert states(read("\n".join(lines) + "\n")) == states(read(BROKEN))


def test_a_node_with_two_states_or_none_is_skipped():
    found = read("NodeName=c1 Arch=x State=IDLE OS=a State=DOWN\nNodeName=c2 Arch=x CPUTot=4\nNodeName=c3 State=IDLE\n")
    assert [one.reason for one in found.skipped] == ["has State twice", "has no State"]
    assert found.left_out == {"node healthy at the capture": 1}


def test_a_node_whose_state_is_cut_off_with_the_file_is_skipped():
    found = read("NodeName=c1 Arch=x State=IDLE ThreadsPerCore=2\nNodeName=c2 Arch=x State=IDLE")
    assert [one.reason for one in found.skipped] == ["the file is cut off within State"]


def test_healthy_nodes_need_no_zone_and_others_do():
    text = "NodeName=c2 Arch=x State=IDLE LastBusyTime=2026-06-01T11:59:00\n"
    assert read(text, Options()).left_out == {"node healthy at the capture": 1}
    with pytest.raises(DealError, match="--zone"):
        read(BROKEN, Options())


# scontrol show reservation


def reservation(flags: str, nodes: str = "c[01-03]", name: str = "spring") -> str:
    return (
        f"ReservationName={name} StartTime=2026-06-02T06:00:00 EndTime=2026-06-02T12:00:00 Duration=06:00:00\n"
        f"   Nodes={nodes} NodeCnt=3 CoreCnt=96 Features=(null) PartitionName=(null) Flags={flags}\n"
        "   TRES=cpu=96\n   Users=quimby,root Groups=(null) Accounts=(null) Licenses=(null) State=INACTIVE\n\n"
    )


def test_only_a_reservation_with_the_flag_is_planned_work():
    found = read(
        reservation("MAINT,IGNORE_JOBS")
        + reservation("SPEC_NODES", name="maintenance-of-sorts")
        + reservation("MAINT", "(null)", "licences")
        + reservation("MAINT,DAILY", "c01", "nightly")
    )
    assert found.form == "slurm-scontrol-reservation"
    assert [(window.kind, window.unit_ids) for window in found.windows] == [
        ("scheduled", ("c01", "c02", "c03")),
        ("scheduled", ("c01",)),
    ]
    assert found.windows[0].starts_at == datetime(2026, 6, 2, 6, 0, tzinfo=UTC)
    assert (found.used, len(found.skipped), sum(found.left_out.values())) == (2, 1, 1)
    assert any("proves no notice" in note for note in found.notes)
    assert any("repeats" in note for note in found.notes)
    assert "quimby" not in repr(found)


# slurmrestd


def node(name: str, *words: str, reason: str = "", at: int = 0, **more: object) -> dict[str, object]:
    changed = {"set": bool(at), "infinite": False, "number": at}
    return {
        "name": name,
        "hostname": "emulator",
        "state": list(words),
        "reason": reason,
        "reason_changed_at": changed,
    } | more


def reply(*nodes: object, **more: object) -> str:
    return json.dumps({"nodes": list(nodes), "errors": [], "warnings": [], "meta": {"plugin": {}}} | more, indent=1)


def test_the_unit_is_the_name_and_the_start_when_the_reason_was_set():
    at = int(datetime(2026, 5, 20, tzinfo=UTC).timestamp())
    found = read(
        reply(
            node("n1", "DOWN", reason="fan", at=at, reason_set_by_user="quimby"),
            node("n2", "MIXED", "DRAIN", reason="ecc [quimby@2026-05-20T00:00:00]", at=at),
            node("n3", "IDLE"),
            node("n4", "IDLE", "DRAIN", reason="late", at=at, last_busy={"set": True, "number": at + 600}),
        ),
        Options(),
    )
    assert (found.form, states(found)) == ("slurm-restd", [("n1", "down"), ("n2", "degraded"), ("n4", "down")])
    assert {made.started_at for made in found.incidents} == {datetime(2026, 5, 20, tzinfo=UTC)}
    (bound,) = found.bounds  # jobs ran for ten minutes after the drain of n4 was set
    assert bound.latest - bound.earliest == timedelta(minutes=10)
    assert found.incidents[0].evidence[0].line is not None
    assert "quimby" not in repr(found)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (reply(errors=[{"description": "no such node", "error_number": 0}]), "does not say that any node is well"),
        (reply(), "no nodes, which does not say that all are well"),
        (json.dumps({"sinfo": [], "meta": {}, "errors": []}), "scontrol show nodes --json"),
        (reply(node("n1", "DOWN"))[:-40], "JSON"),
    ],
)
def test_a_reply_without_nodes_is_refused(text, words):
    with pytest.raises(DealError, match=words):
        read(text)


def test_one_word_with_flags_is_an_older_reply():
    text = json.dumps(
        {
            "meta": {"plugin": {}},
            "errors": [],
            "nodes": [
                {
                    "name": "n1",
                    "state": "idle",
                    "state_flags": ["DRAIN"],
                    "reason": "fan",
                    "reason_changed_at": 1779235200,
                },
                {"name": "n2", "state": "mixed", "state_flags": [], "reason": "", "reason_changed_at": 0},
                {"name": "n3", "reason": "", "reason_changed_at": 0},
                {"name": "n4", "state": ["DOWN"], "reason": "", "reason_changed_at": "soon"},
                7,
            ],
        }
    )
    found = read(text, Options())
    assert states(found) == [("n1", "down")]
    assert (found.records, len(found.skipped), found.left_out) == (5, 3, {"node healthy at the capture": 1})


def test_a_node_without_a_reason_is_taken_from_the_last_change_of_the_reply_on():
    found = read(reply(node("n1", "DOWN"), last_update={"set": True, "number": 1779235200}), Options())
    made = found.incidents[0]
    assert (made.started_at, found.bounds[0].latest) == (datetime.fromtimestamp(1779235200, UTC), made.started_at)


# Two snapshots


def pair(older: str, newer: str) -> Imported:
    early, late = NOON, NOON + timedelta(hours=6)
    one = read(older, Options(zone="UTC", captured_at=early), "one.txt")
    two = read(newer, Options(zone="UTC", captured_at=late), "two.txt")
    return paired(one, two, early, late)


HEAD = "NODELIST|REASON|TIMESTAMP|STATE\n"
FAN = "c1|fan|2026-06-01T10:00:00|drained\n"


def test_what_the_newer_snapshot_shows_as_well_ended_between_the_two():
    found = pair(HEAD + FAN, HEAD + "c1|none|Unknown|idle\n")
    (made,) = found.incidents
    (bound,) = [bound for bound in found.bounds if bound.field == "ended_at"]
    assert (made.started_at, made.ended_at) == (NOON - timedelta(hours=2), NOON + timedelta(hours=6))
    assert (bound.incident, bound.earliest, bound.latest) == (made.id, NOON, made.ended_at)
    assert adds_up(found)


def test_what_the_newer_snapshot_does_not_show_or_could_not_be_read_stays_open():
    assert pair(HEAD + FAN, HEAD + "c2|none|Unknown|idle\n").incidents[0].ended_at is None
    found = pair(HEAD + FAN, HEAD + "c1|none|Unknown|idle\nc2|x\n")
    assert found.incidents[0].ended_at == NOON + timedelta(hours=6)  # it is shown as well
    found = pair(HEAD + FAN, HEAD + "c1|none|Unk\n")
    assert found.incidents[0].ended_at is None
    assert any("cannot be read" in note for note in found.notes)


def test_what_both_show_is_one_incident_that_goes_on():
    found = pair(HEAD + FAN, HEAD + FAN)
    (made,) = found.incidents
    assert (made.ended_at, [str(one) for one in made.evidence]) == (None, ["one.txt:2", "two.txt:2"])


def test_a_new_reason_begins_a_new_incident_and_ends_the_older_with_a_bound():
    found = pair(HEAD + FAN, HEAD + "c1|board|2026-06-01T15:00:00|down\n")
    one, two = found.incidents
    assert one.ended_at == two.started_at == NOON + timedelta(hours=3)
    assert two.ended_at is None
    assert any("whether it was well for a time" in note for note in found.notes)


def test_a_state_that_changed_under_one_reason_changed_between_the_two():
    found = pair(HEAD + FAN.replace("drained", "draining"), HEAD + FAN)
    one, two = found.incidents
    assert [(one.state, one.ended_at), (two.state, two.started_at)] == [
        ("degraded", NOON + timedelta(hours=6)),
        ("down", NOON + timedelta(hours=6)),
    ]
    assert {(bound.incident, bound.field) for bound in found.bounds} == {(one.id, "ended_at"), (two.id, "started_at")}


def test_snapshots_without_times_give_a_start_between_them():
    head = "NODELIST NODES PARTITION STATE\n"
    found = pair(head + "c1 1 main* idle\nc2 1 main* down\n", head + "c1 1 main* down\nc2 1 main* down\n")
    two, one = found.incidents
    assert (two.unit_id, two.started_at, two.ended_at) == ("c2", NOON, None)
    assert (one.unit_id, one.started_at) == ("c1", NOON + timedelta(hours=6))
    (bound,) = [bound for bound in found.bounds if bound.incident == one.id]
    assert (bound.earliest, bound.latest) == (NOON, one.started_at)


def test_a_list_of_reasons_ends_what_it_names_no_more():
    head = "REASON|USER|TIMESTAMP|NODELIST\n"
    found = pair(f"{head}fan|root|2026-06-01T10:00:00|c[1-2]\n", f"{head}fan|root|2026-06-01T10:00:00|c2\n")
    assert {made.unit_id: made.ended_at for made in found.incidents} == {"c1": NOON + timedelta(hours=6), "c2": None}


def test_snapshots_out_of_order_or_of_two_formats_are_refused():
    one, two = read(HEAD + FAN, TAKEN), read(BROKEN, TAKEN)
    with pytest.raises(DealError, match="two snapshots of one format"):
        paired(one, two, NOON, NOON + timedelta(hours=1))
    with pytest.raises(DealError, match="taken after the older"):
        paired(one, one, NOON, NOON)
