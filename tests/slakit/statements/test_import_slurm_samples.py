"""Real output of Slurm, counted again with a few lines that do not use our code; and every file cut anywhere."""

import json
import random
import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from schemas.errors import DealError
from slakit.statements.importers.find import form_of
from slakit.statements.importers.form import Form, Options
from slakit.statements.importers.formats import slurm_sacct
from slakit.statements.importers.imported import Imported
from slakit.statements.importers.log import Log

TAKEN = datetime(2026, 8, 1, tzinfo=UTC)
OPTIONS = Options(zone="America/Los_Angeles", captured_at=TAKEN)
CUTS = 30


def read(path: Path, options: Options = OPTIONS) -> Imported:
    log = Log.open(path)
    return form_of(log).read(log, options)


def adds_up(found: Imported) -> bool:
    return found.records == found.used + len(found.skipped) + sum(found.left_out.values()) + found.duplicates


@pytest.mark.parametrize("version", ["24.11", "26.05"])
def test_nodes_of_scontrol(logs, version):
    path = logs / "slurm-scontrol-node" / f"scontrol_nodes_{version}.txt"
    states = re.findall(r"State=(\S+)", path.read_text())
    bad = [state for state in states if re.search("DOWN|DRAIN|FAIL|MAINT|RESPOND", state)]
    found = read(path, Options())
    assert (found.form, found.records, len(found.incidents)) == ("slurm-scontrol-node", len(states), len(bad))
    assert found.left_out == {"node healthy at the capture": len(states)}
    assert found.healthy_units == set(re.findall(r"NodeName=(\S+)", path.read_text()))


def test_a_reservation_called_maintenance_without_the_flag_is_none(logs):
    path = logs / "slurm-scontrol-node" / "scontrol_reservation.txt"
    assert "MAINT" not in re.search(r"Flags=(\S+)", path.read_text())[1].split(",")
    found = read(path)
    assert (found.form, found.records, found.windows, found.incidents) == ("slurm-scontrol-reservation", 1, (), ())


def test_the_wide_table_of_sinfo(logs):
    path = logs / "slurm-sinfo" / "gcm_sinfo_2022.psv"
    header, *rows = [[cell.strip() for cell in line.split("|")] for line in path.read_text().splitlines()]
    node, state = header.index("HOSTNAMES"), header.index("STATE")
    bad = {row[node] for row in rows if row[state].startswith(("drain", "down"))}
    found = read(path)
    assert (found.form, found.records) == ("slurm-sinfo", len(rows))
    assert {made.unit_id for made in found.incidents} == bad
    assert found.used + found.duplicates == sum(row[state].startswith(("drain", "down")) for row in rows)
    (made,) = found.incidents
    assert made.started_at == datetime(2022, 6, 2, 12, 54, 34, tzinfo=UTC)  # 05:54:34 in Los Angeles, in summer
    with pytest.raises(DealError, match="--zone"):
        read(path, Options())


def test_the_exporters_table_without_a_header(logs):
    path = logs / "slurm-sinfo" / "exporter_sinfo_reason_24.11.psv"
    lines = path.read_text().split()
    found = read(path, Options())
    assert (found.records, found.incidents) == (len(lines), ())
    assert found.duplicates == len(lines) - len(set(lines))
    assert found.healthy_units == {line.split("|")[0] for line in lines}


def test_the_exporters_table_of_memory(logs):
    path = logs / "slurm-sinfo" / "exporter_sinfo_mem.txt"
    by_node: dict[str, set[str]] = {}
    for line in path.read_text().splitlines():
        by_node.setdefault(line.split()[0], set()).add("down" if line.split()[-1] == "down" else "up")
    found = read(path)
    assert Counter(made.state for made in found.incidents) == {
        "down": sum(states == {"down"} for states in by_node.values()),
        "unknown": sum(len(states) == 2 for states in by_node.values()),
    }
    assert {made.started_at for made in found.incidents} == {TAKEN}
    with pytest.raises(DealError, match="--captured-at"):
        read(path, Options())


def test_replies_of_slurmrestd(logs):
    paths = sorted((logs / "slurm-slurmrestd").glob("*.json"))
    read_ones = 0
    for path in paths:
        reply = json.loads(path.read_text())
        if reply["errors"]:
            with pytest.raises(DealError, match="does not say that any node is well"):
                read(path)
            continue
        expected = Counter()
        for node in reply["nodes"]:
            words = set(node["state"])
            if "DOWN" in words or {"IDLE", "DRAIN"} <= words:
                expected[node["name"], "down", node["reason_changed_at"]["number"]] += 1
            elif "DRAIN" in words:
                expected[node["name"], "degraded", node["reason_changed_at"]["number"]] += 1
        found = read(path, Options())
        made = Counter((i.unit_id, i.state, int(i.started_at.timestamp())) for i in found.incidents)
        assert made == expected, path.name
        assert (found.form, found.records) == ("slurm-restd", len(reply["nodes"]))
        assert adds_up(found)
        read_ones += 1
    assert (len(paths), read_ones) == (8, 7)


def test_the_older_json_is_a_reply_of_slurmrestd(logs):
    path = logs / "slurm-sinfo" / "exporter_sinfo_22.json"
    nodes = json.loads(path.read_text())["nodes"]
    down = [node["name"] for node in nodes if node["state"] == "down"]
    found = read(path)
    assert (found.form, [made.unit_id for made in found.incidents]) == ("slurm-restd", down)
    without = read(path, Options())
    assert (len(without.skipped), without.left_out) == (
        len(down),
        {"node healthy at the capture": len(nodes) - len(down)},
    )


@pytest.mark.parametrize("name", ["gcm_sacct_2020.psv", "gcm_sacct_invalid_lines.txt", "gcm_sacct_midnight_small.txt"])
def test_tables_of_jobs_are_refused_with_every_row_accounted_for(logs, name):
    path = logs / "slurm-sacct" / name
    header, *rows = [line for line in path.read_bytes().decode("utf-8", "replace").split("\n") if line.strip()]
    bad = [row for row in rows if row.count("|") != header.count("|")]
    steps = {row for row in rows if row not in bad and "." in row.split("|")[header.split("|").index("JobID")]}
    found = slurm_sacct.account(Log.open(path), OPTIONS)
    assert (found.records, len(found.skipped), found.incidents) == (len(rows), len(bad), ())
    assert found.duplicates == len(rows) - len(set(rows))
    assert found.left_out.get("a step of a job", 0) == len(steps)
    with pytest.raises(DealError, match="hold no outage of a node"):
        read(path)


def _parts(found: Imported) -> set[tuple[str, datetime]]:
    return {(made.unit_id, made.started_at) for made in found.incidents}


def _try(form: Form, name: str, data: bytes) -> Imported | None:
    try:
        return form.read(Log(name, data), OPTIONS)
    except DealError:
        return None


def _survives_cuts(path_name: str, data: bytes) -> int:
    """Cut a file at random bytes: it is refused, or holds nothing that the whole does not, but on the cut line."""
    form = form_of(Log(path_name, data))
    whole = _try(form, path_name, data)
    rng = random.Random(f"{path_name}")
    read_ones = 0
    for at in sorted(rng.sample(range(1, len(data)), min(CUTS, len(data) - 1))):
        found = _try(form, path_name, data[:at])
        if found is None:
            continue
        read_ones += 1
        assert adds_up(found), (path_name, at)
        last = len(re.split(rb"\r\n|\n|\r", data[:at]))
        at_cut = {(made.unit_id, made.started_at) for made in found.incidents if _touches(made, last, data[:at])}
        assert whole is not None
        assert _parts(found) - at_cut <= _parts(whole), (path_name, at)
    return read_ones


def _touches(made, last: int, data: bytes) -> bool:
    """Return whether an incident rests on the record in which the cut lies."""
    begins = data.rfind(b"NodeName=")
    line = data[:begins].count(b"\n") + 1 if begins >= 0 else last
    return any(one.line is not None and one.line >= min(last, line) for one in made.evidence)


def test_no_cut_makes_an_incident_up(logs):
    for folder in ("slurm-sinfo", "slurm-scontrol-node", "slurm-slurmrestd", "slurm-sacct"):
        for path in sorted((logs / folder).iterdir()):
            if path.name != "SOURCE.md":
                _survives_cuts(path.name, path.read_bytes())


LOOK_ALIKES = {
    "events.txt": "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\n"
    + "".join(
        f"fjord|gx-{n:02}|2026-05-{n:02}T10:00:00|2026-05-{n:02}T11:{n:02}:00|{state}|fan {n}|part {n}|root\n"
        for n, state in enumerate(["DOWN", "IDLE+DRAIN", "MIXED+DRAIN", "DOWN*"] * 6, start=1)
    ),
    "ends.txt": "NodeName|State|TimeStart|TimeEnd\n"
    + "".join(f"gx-{n:02}|DOWN|2026-05-{n:02}T10:00:00|2026-05-{n:02}T11:{n:02}:00\n" for n in range(1, 25)),
    "reasons.txt": "REASON               USER      TIMESTAMP           NODELIST\n"
    + "".join(
        f"board {n:02} is bad      root      2026-05-{n:02}T10:00:00 c[{n:02}1-{n:02}4]\n" for n in range(10, 25)
    ),
    "nodes.txt": "".join(
        f"NodeName=c{n} Arch=x86_64 CPUTot=4 State=IDLE+DRAIN Weight=1 LastBusyTime=2026-05-01T00:00:00 "
        f"Reason=fan {n} [root@2026-05-{n:02}T10:00:00]\n"
        for n in range(10, 25)
    ),
    "slurmctld.log": "".join(
        f"[2026-05-{n:02}T10:00:00.001] error: Nodes gx[{n}-{n + 1}] not responding, setting DOWN\n"
        f"[2026-05-{n:02}T11:00:00.001] node gx{n} returned to service\n"
        f"[2026-05-{n:02}T12:00:00.001] update_node: node gx{n + 1} state set to IDLE\n"
        for n in range(10, 25)
    ),
}


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_no_cut_of_a_look_alike_makes_an_incident_up(name):
    assert _survives_cuts(name, LOOK_ALIKES[name].encode()) > CUTS // 2


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_a_changed_byte_is_refused_named_or_changes_one_record(name):
    data = LOOK_ALIKES[name].encode()
    form = form_of(Log(name, data))
    whole = _parts(form.read(Log(name, data), OPTIONS))
    rng = random.Random(name)
    for _ in range(CUTS):
        at = rng.randrange(len(data))
        found = _try(form, name, data[:at] + bytes([rng.choice(b"x0|\n ]-\xff")]) + data[at + 1 :])
        if found is not None:
            assert adds_up(found)
            assert len(whole - _parts(found)) <= 8  # at most two records of four nodes each
