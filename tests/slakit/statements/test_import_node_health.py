"""Node health tools and NVSentinel: a failed check begins, the same one passed ends, any other passed ends nothing."""

import json
import re
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest

from schemas.errors import DealError
from slakit.statements.importers.find import form_of, forms
from slakit.statements.importers.form import Options
from slakit.statements.importers.imported import Imported
from slakit.statements.importers.log import Log

CAPTURED = datetime(2026, 5, 6, 7, 8, 9, tzinfo=UTC)
KNOWN = Options(zone="Asia/Tokyo", unit_id="blade-9", captured_at=CAPTURED)

AZURE = """\
blade-1 | Healthy
blade-2 | ERROR: nhc: Health check failed: check_gpu_xid: [ 12.5] NVRM: Xid (PCI:0003:00:00): 95, pid=4, name=fit, x
blade-3 | ERROR: nhc: Health check failed: check_nccl_allreduce: BUS BW (expected >=40.0 GB/s, but measured 21.5 GB/s)
blade-4 | ERROR: nhc: Health check failed: Bandwidth is low on device 2. Reported bandwidth is 9 GB/s.
blade-5 | ERROR: No results reported
blade-6 | ERROR: nhc: Health check failed: check_tea_kettle: cold
blade-7 | ERROR: nhc: Health check failed: check_gpu_count: found 7 of 8
blade-8 | Splendid
blade-1 | Healthy
what is this
"""

ORACLE = """\
admin@blade-9:~$ sudo ./check_gpu_setup.py
2026-05-06 09:00:00,100 - INFO - Node details: blade-9 - BM Instance: 2218AAA01B - BM.GPU.X.8
2026-05-06 09:00:01,100 - INFO - GPU Count Test: Passed
2026-05-06 09:00:02,100 - ERROR - GPU 3 has 9 remapped rows
2026-05-06 09:00:02,200 - ERROR - GPU Row Remap Test: Failed
2026-05-06 09:00:03,100 - WARNING - RTTCC Disabled Check: Failed
2026-05-06 09:00:04,100 - ERROR - Teapot Test: Failed
2026-05-06 10:00:01,100 - ERROR - GPU Count Test: Failed
2026-05-06 10:00:02,200 - INFO - GPU Row Remap Test: Passed
2026-05-06 10:30:02,200 - INFO - Teapot Test: Maybe
2026-05-06 11:00:01,100 - ERROR - GPU Count Test: Failed
2026-05-06 12:00:01,100 - INFO - GPU Count Test: Passed
"""


def read(text: str | bytes, options: Options | None = None, name: str = "nhc.log") -> Imported:
    log = Log(name, text if isinstance(text, bytes) else text.encode())
    found = form_of(log).read(log, options or Options())
    check_sums(found, log)
    return found


def check_sums(found: Imported, log: Log) -> None:
    assert found.records == found.used + len(found.skipped) + sum(found.left_out.values()) + found.duplicates
    if found.form in ("node-health-text", "node-health-json"):
        assert found.records == sum(bool(line.strip()) for line in re.split(r"\r\n|\n|\r", log.text))


def test_azures_results_are_a_snapshot_of_each_host():
    found = read(AZURE, KNOWN)
    assert found.form == "node-health-text"
    assert [(one.unit_id, one.state, one.fault_code, one.metric, one.measured) for one in found.incidents] == [
        ("blade-2", "down", "95", None, None),
        ("blade-3", "degraded", None, "check_nccl_allreduce", Decimal("21.5")),
        ("blade-4", "degraded", None, "bandwidth", Decimal(9)),
        ("blade-5", "unknown", None, None, None),
        ("blade-6", "unknown", None, None, None),
        ("blade-7", "down", None, None, None),
        ("blade-8", "unknown", None, None, None),
    ]
    assert {one.started_at for one in found.incidents} == {CAPTURED}
    assert {(bound.earliest, bound.latest) for bound in found.bounds} == {(None, CAPTURED)}
    assert found.unknown_states == {"Splendid": 1, "check check_tea_kettle": 1}
    assert (found.duplicates, [one.line for one in found.skipped]) == (1, [10])
    assert "fit" not in found.incidents[0].model_dump_json().replace("PCI", "")


def test_the_time_of_azures_results_is_in_the_name_of_their_file_or_must_be_given():
    with pytest.raises(DealError, match="--captured-at"):
        read(AZURE, Options(zone="UTC"))
    with pytest.raises(DealError, match="--zone"):
        read(AZURE, Options(), "health-2026-05-06_16-08-09.log")
    named = read(AZURE, Options(zone="Asia/Tokyo"), "health-2026-05-06_16-08-09.log")
    assert named.incidents[0].started_at == CAPTURED


def test_a_failed_check_followed_by_a_passed_one_ends_within_bounds():
    found = read(ORACLE, KNOWN)
    remap = next(one for one in found.incidents if "Row Remap" in str(one.cause))
    assert (remap.unit_id, remap.state) == ("blade-9", "degraded")
    assert remap.started_at == datetime(2026, 5, 6, 0, 0, 2, 200_000, tzinfo=UTC)
    assert remap.ended_at == datetime(2026, 5, 6, 1, 0, 2, 200_000, tzinfo=UTC)
    assert "9 remapped rows" in str(remap.cause)
    count = next(one for one in found.incidents if "GPU Count" in str(one.cause))
    assert (count.state, count.ended_at) == ("down", datetime(2026, 5, 6, 3, 0, 1, 100_000, tzinfo=UTC))
    assert {(bound.field, bound.earliest, bound.latest) for bound in found.bounds if bound.incident == count.id} == {
        ("started_at", datetime(2026, 5, 6, 0, 0, 1, 100_000, tzinfo=UTC), count.started_at),
        ("ended_at", datetime(2026, 5, 6, 2, 0, 1, 100_000, tzinfo=UTC), count.ended_at),
    }


def test_a_check_that_no_table_knows_is_unknown_and_a_setting_is_no_outage():
    found = read(ORACLE, KNOWN)
    teapot = next(one for one in found.incidents if "Teapot" in str(one.cause))
    assert teapot.state == "unknown"
    assert found.unknown_states == {"check Teapot Test": 1}
    assert found.left_out["RTTCC Disabled Check: a setting, no outage"] == 1


def test_failed_checks_in_local_time_need_a_zone_and_passed_ones_alone_do_not():
    with pytest.raises(DealError, match="--zone"):
        read(ORACLE)
    passed = read("".join(line for line in ORACLE.splitlines(keepends=True) if "Failed" not in line))
    assert not passed.incidents


def defect(node: str, details: str) -> str:
    return json.dumps({"Category": "Copy", "Defective Details": details, "copy/bw:0": -0.2, "index": node})


def test_defects_of_superbench_keep_what_was_measured_and_missing_results_are_unknown():
    text = "\n".join(
        [
            defect("blade-1", "copy/bw:0(B/L: 25.0000 VAL: 20.1250 VAR: -19.50% Rule:lambda x:x<-0.05)"),
            defect("blade-2", "copy/bw:0_miss,copy/bw:1_miss"),
            defect("blade-3", ""),
            '{"Category": "Copy", "Defective',
        ]
    )
    found = read(text, KNOWN, "diagnosis.jsonl")
    assert [(one.unit_id, one.state, one.metric, one.measured) for one in found.incidents] == [
        ("blade-1", "degraded", "copy/bw:0", Decimal("20.1250")),
        ("blade-2", "unknown", None, None),
    ]
    assert (found.left_out, len(found.skipped)) == ({"node without a defect": 1}, 1)
    with pytest.raises(DealError, match="--captured-at"):
        read(text, name="diagnosis.jsonl")


def sample(minute: int, errors: int) -> str:
    values = {"time": f"2026-05-06 09:{minute:02}:00", "gpu_usage:0": 50, "gpu_uncorrected_ecc:0": errors}
    return json.dumps(values)


def test_samples_of_a_monitor_say_nothing_but_for_uncorrected_errors():
    found = read("\n".join(sample(m, e) for m, e in ((0, 0), (1, 2), (2, 2), (3, 0))), KNOWN, "monitor.jsonl")
    (incident,) = found.incidents
    assert (incident.state, incident.metric, incident.measured) == ("unknown", "gpu_uncorrected_ecc", 2)
    assert incident.started_at == datetime(2026, 5, 6, 0, 1, tzinfo=UTC)
    assert incident.ended_at == datetime(2026, 5, 6, 0, 3, tzinfo=UTC)
    assert len(found.bounds) == 2
    with pytest.raises(DealError, match="--unit"):
        read(sample(0, 1), Options(zone="UTC"), "monitor.jsonl")


def sentinel(at: int | None, *, healthy: bool = False, fatal: bool = True, **more: Any) -> dict[str, Any]:
    made = {
        "version": 1,
        "agent": "gpu-health-monitor",
        "componentClass": "GPU",
        "checkName": "GpuXidError",
        "isFatal": fatal,
        "isHealthy": healthy,
        "message": "told",
        "errorCode": ["79"],
        "entitiesImpacted": [{"entityType": "GPU", "entityValue": "3"}],
        "nodeName": "blade-9",
    }
    return made | ({"generatedTimestamp": {"seconds": at, "nanos": 500_000_000}} if at else {}) | more


START = 1_778_050_000


def test_a_healthy_event_with_the_same_check_and_entity_ends_an_unhealthy_one():
    events = [
        sentinel(START),
        sentinel(START + 60, entitiesImpacted=[{"entityType": "gpu", "entityValue": "3"}], message="again"),
        sentinel(START + 120, healthy=True, entitiesImpacted=[{"entityType": "gpu", "entityValue": "4"}]),
        sentinel(START + 150, healthy=True, checkName="GpuPcieWatch"),
        sentinel(START + 180, healthy=True, fatal=False, errorCode=[]),
        sentinel(START + 180, healthy=True, fatal=False, errorCode=[]),
    ]
    found = read(json.dumps(events), name="events.json")
    (incident,) = found.incidents
    assert (incident.unit_id, incident.state, incident.fault_code) == ("blade-9", "down", "79")
    assert incident.ended_at is not None
    assert (incident.started_at.timestamp(), incident.ended_at.timestamp()) == (START + 0.5, START + 180.5)
    (bound,) = found.bounds
    assert bound.field == "ended_at"
    assert bound.earliest == datetime.fromtimestamp(START + 60.5, UTC)
    assert (found.records, found.used, found.duplicates) == (6, 3, 1)


def test_a_healthy_event_without_entities_ends_all_of_its_check_on_the_node():
    events = [
        sentinel(START, entitiesImpacted=[{"entityType": "GPU", "entityValue": n} for n in "12"]),
        sentinel(START + 60, healthy=True, entitiesImpacted=[]),
    ]
    found = read("\n".join(json.dumps(one) for one in events), name="events.jsonl")
    assert [one.ended_at is not None for one in found.incidents] == [True, True]
    assert (found.records, found.used) == (2, 2)


def test_an_event_that_is_not_fatal_is_degraded_and_the_contracts_list_decides_about_xids():
    assert read(json.dumps(sentinel(START, fatal=False, errorCode=["94"]))).incidents[0].state == "degraded"
    listed = read(json.dumps([sentinel(START)]), Options(fault_list={"79": "degraded"}))
    assert listed.incidents[0].state == "degraded"
    assert not read(json.dumps([sentinel(START)]), Options(fault_list={"48": "down"})).incidents


def test_events_without_time_or_node_are_refused_unless_both_are_given():
    event = json.dumps(sentinel(None, nodeName="NODE_NAME"))
    with pytest.raises(DealError, match="nodeName"):
        read(event)
    with pytest.raises(DealError, match="generatedTimestamp"):
        read(event, Options(unit_id="blade-9"))
    assert read(event, KNOWN).incidents[0].started_at == CAPTURED


def test_times_of_databases_and_text_are_read():
    for written in (
        "2026-05-06T07:08:09Z",
        {"$date": "2026-05-06T07:08:09Z"},
        {"seconds": {"$numberLong": "1778051289"}},
    ):
        event = {"healthevent": sentinel(None, generatedTimestamp=written)}
        assert read(json.dumps(event)).incidents[0].started_at == CAPTURED


def test_text_cut_anywhere_is_refused_or_adds_up():
    rng = Random(3)
    sources = [
        ("node-health-text", AZURE),
        ("node-health-text", ORACLE),
        ("node-health-json", "\n".join(sample(m, m) for m in range(3))),
        ("nvsentinel", "\n".join(json.dumps(sentinel(START + i)) for i in range(3))),
    ]
    for form, text in sources:
        for _ in range(20):
            log = Log("cut.log", text.encode()[: rng.randrange(1, len(text))])
            try:
                check_sums(forms()[form].read(log, KNOWN), log)
            except DealError as error:
                assert error.problems[0].remedy  # noqa: PT017


def test_every_real_sample_agrees_with_a_count_of_its_own(logs: Path):
    seen = []
    for path in sorted(
        one for d in ("node-health-text", "node-health-json", "nvsentinel") for one in (logs / d).iterdir()
    ):
        if path.name == "SOURCE.md" or "nvsmi" in path.name:  # those are read as nvidia-smi
            continue
        text = path.read_text()
        found = read(path.read_bytes(), KNOWN, path.name)
        seen.append(path.name)
        if found.form == "nvsentinel":
            assert [(one.state, one.unit_id) for one in found.incidents] == [("down", "blade-9")]
            with pytest.raises(DealError, match="generatedTimestamp"):
                read(path.read_bytes(), Options(unit_id="blade-9"), path.name)
        elif "Defective Details" in text:
            assert len(found.incidents) == len(text.splitlines()) == 2
            assert [one.unit_id for one in found.incidents] == re.findall(r'"index": "([^"]+)"', text)
        elif "gpu_usage" in text:
            assert not found.incidents
            assert set(re.findall(r'"gpu_uncorrected_ecc:\d": (\d+)', text)) == {"0"}
        elif "Node details" in text:
            assert not found.incidents
            passed = len(re.findall(r"(?m): Passed$", text))
            assert found.left_out["a passed check, which ends nothing by itself"] == passed
        else:
            hosts = re.findall(r"(?m)^(\S+) \| (.*)$", text)
            assert [one.unit_id for one in found.incidents] == [host for host, said in hosts if said != "Healthy"]
            unknown = [host for host, said in hosts if "No results" in said]
            assert [one.unit_id for one in found.incidents if one.state == "unknown"] == unknown
    assert len(seen) == 6


def test_real_samples_cut_anywhere_are_refused_or_add_up(logs: Path):
    rng = Random(4)
    for path in sorted(
        one for d in ("node-health-text", "node-health-json", "nvsentinel") for one in (logs / d).iterdir()
    ):
        if path.name == "SOURCE.md":
            continue
        data = path.read_bytes()
        form = form_of(Log(path.name, data))
        for _ in range(20):
            log = Log(path.name, data[: rng.randrange(1, len(data))])
            try:
                check_sums(form.read(log, KNOWN), log)
            except DealError as error:
                assert error.problems[0].remedy  # noqa: PT017
