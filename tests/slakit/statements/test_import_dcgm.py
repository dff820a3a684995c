"""Scrapes of the DCGM exporter and output of nvidia-smi: snapshots, with the latest time at which a fault began."""

import re
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest

from schemas.errors import DealError
from slakit.statements.importers.find import form_of, forms
from slakit.statements.importers.form import Options
from slakit.statements.importers.imported import Imported
from slakit.statements.importers.log import Log

CAPTURED = datetime(2026, 4, 5, 6, 7, 8, tzinfo=UTC)
KNOWN = Options(zone="America/Chicago", unit_id="rig-3", captured_at=CAPTURED)

SCRAPE = """\
# HELP DCGM_FI_DEV_XID_ERRORS Value of the last XID error encountered.
# TYPE DCGM_FI_DEV_XID_ERRORS gauge
DCGM_FI_DEV_XID_ERRORS{gpu="0",UUID="GPU-aa",device="nvidia0",Hostname="rig-3",err_msg="No Error"} 0
DCGM_FI_DEV_XID_ERRORS{gpu="1", UUID="GPU-bb", hostname="rig-3", err_msg="fallen, {off} the \\"bus\\""} 79
DCGM_FI_DEV_XID_ERRORS{gpu="2",UUID="GPU-cc",Hostname="rig-3"} 43
DCGM_FI_DEV_XID_ERRORS{gpu="3",UUID="GPU-dd",Hostname="rig-3",GPU_I_ID="1"} 94
DCGM_FI_DEV_XID_ERRORS{gpu="3",UUID="GPU-dd",Hostname="rig-3",GPU_I_ID="2"} 94
DCGM_FI_DEV_XID_ERRORS{gpu="4",UUID="GPU-ee",Hostname="rig-3"} 9223372036854775794
DCGM_FI_DEV_XID_ERRORS{gpu="5",UUID="GPU-ff",Hostname="rig-3"} 1.40737488355328e+14
DCGM_FI_DEV_XID_ERRORS{gpu="6",UUID="GPU-gg",Hostname="rig-3"} NaN
DCGM_FI_DEV_XID_ERRORS{gpu="7",UUID="GPU-hh",Hostname="rig-3"} 777 1775371628000
DCGM_FI_DEV_ROW_REMAP_FAILURE{gpu="0",UUID="GPU-aa",Hostname="rig-3"} 1
DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-aa",Hostname="rig-3"} 41
DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-
"""

REPORT = """\

==============NVSMI LOG==============

Timestamp                                 : Sun Apr  5 01:07:08 2026
Driver Version                            : 570.86.10

Attached GPUs                             : 3
GPU 00000000:1B:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    Serial Number                         : 1650111222333
    GPU UUID                              : GPU-aa
    ECC Errors
        Volatile
            DRAM Correctable              : 4
    Remapped Rows
        Correctable Error                 : 1
        Pending                           : Yes
        Remapping Failure Occurred        : No
GPU 00000000:2C:00.0
    Remapped Rows
        Pending                           : Yes
        Remapping Failure Occurred        : Yes
    Fan Speed                             : N/A
GPU 00000000:3D:00.0
    Remapped Rows
        Pending                           : No
        Remapping Failure Occurred        : No
"""

QUERY = """\
timestamp, index, uuid, pci.bus_id, remapped_rows.pending, remapped_rows.failure, temperature.gpu
2026/04/05 01:07:08.250, 0, GPU-aa, 00000000:1B:00.0, Yes, No, 40
2026/04/05 01:07:08.250, 1, GPU-bb, 00000000:2C:00.0, No, No, 41
2026/04/05 01:07:08.250, 2, GPU-cc, 00000000:3D:00.0, [N/A], [N/A], 41
"""


def read(text: str | bytes, options: Options | None = None, name: str = "dump.txt") -> Imported:
    log = Log(name, text if isinstance(text, bytes) else text.encode())
    found = form_of(log).read(log, options or Options())
    check_sums(found, log)
    return found


def check_sums(found: Imported, log: Log) -> None:
    assert found.records == found.used + len(found.skipped) + sum(found.left_out.values()) + found.duplicates
    if found.form == "dcgm-exporter":
        assert found.records == sum(bool(line.strip()) for line in re.split(r"\r\n|\n|\r", log.text))


def test_a_scrape_is_a_snapshot_of_the_last_xid_of_each_gpu():
    found = read(SCRAPE, KNOWN)
    assert found.form == "dcgm-exporter"
    assert [(one.fault_code, one.state, one.unit_id) for one in found.incidents] == [
        ("79", "down", "rig-3"),
        ("94", "degraded", "rig-3"),
        ("777", "unknown", "rig-3"),
        ("row_remap_failure", "down", "rig-3"),
    ]
    assert all(one.ended_at is None for one in found.incidents)
    assert [one.started_at for one in found.incidents] == [
        CAPTURED,
        CAPTURED,
        datetime(2026, 4, 5, 6, 47, 8, tzinfo=UTC),
        CAPTURED,
    ]
    assert [bound.earliest for bound in found.bounds] == [None] * 4
    assert found.duplicates == 1  # one row for each slice of a GPU
    assert found.unknown_states == {"XID 777": 1}
    assert [one.line for one in found.skipped] == [14]


def test_numbers_by_which_dcgm_says_that_it_has_none_are_no_values():
    assert read(SCRAPE, KNOWN).left_out["no value"] == 3


def test_a_scrape_needs_its_time_and_a_unit_only_where_something_counts():
    fault = 'DCGM_FI_DEV_XID_ERRORS{gpu="0",UUID="GPU-aa"} 79\n'
    with pytest.raises(DealError, match="--unit"):
        read(fault, Options(captured_at=CAPTURED))
    with pytest.raises(DealError, match="--captured-at"):
        read(fault, Options(unit_id="rig-3"))
    assert read(fault, Options(unit_id="rig-3"), "scrape-2026-04-05T06:07:08Z.prom").incidents[0].started_at == CAPTURED
    assert not read(fault.replace("79", "13")).incidents


def test_the_fault_list_of_the_contract_decides_about_scrapes_too():
    found = read(SCRAPE, Options(captured_at=CAPTURED, fault_list={"43": "down", "79": "no_event"}))
    assert [one.fault_code for one in found.incidents] == ["43"]


def test_a_report_of_nvidia_smi_shows_repairs_that_wait_and_repairs_that_failed():
    found = read(REPORT, KNOWN)
    assert found.form == "nvidia-smi"
    assert [(one.fault_code, one.state) for one in found.incidents] == [
        ("row_remap_pending", "degraded"),
        ("row_remap_failure", "down"),
    ]
    assert {one.started_at for one in found.incidents} == {CAPTURED}  # 01:07:08 in Chicago, summer time
    assert "serial 1650111222333" in str(found.incidents[0].cause)
    assert (found.records, found.left_out) == (3, {"GPU without a finding": 1})
    assert len(found.incidents[1].evidence) == 2


def test_a_report_needs_zone_and_unit_where_it_has_findings():
    with pytest.raises(DealError, match="--zone"):
        read(REPORT, Options(unit_id="rig-3"))
    with pytest.raises(DealError, match="--unit"):
        read(REPORT, Options(zone="UTC"))


@pytest.mark.parametrize(
    ("line", "state"),
    [
        ("    GPU Recovery Action                   : None", None),
        ("    GPU Recovery Action                   : Reset", "down"),
        ("    GPU Recovery Action                   : Drain and Reset", "degraded"),
        ("    GPU Recovery Action                   : Pray", "unknown"),
        ("    Fan Speed                             : ERR!", "unknown"),
        ("Unable to determine the device handle for GPU0000:A1:00.0: Unknown Error", "down"),
    ],
)
def test_further_findings_of_a_report(line: str, state: str | None):
    text = REPORT.split("GPU 00000000:2C")[0].replace("Pending                           : Yes", "Pending : No")
    found = read(f"{text}{line}\n", KNOWN)
    assert [one.state for one in found.incidents] == ([state] if state else [])


def test_a_report_that_shows_fewer_gpus_than_it_counts_says_so():
    found = read(REPORT.split("GPU 00000000:3D")[0], KNOWN)
    assert any("counts 3 GPUs and shows 2" in note for note in found.notes)


def test_no_devices_means_that_all_are_lost():
    found = read("No devices were found\n", KNOWN)
    assert [(one.state, one.fault_code) for one in found.incidents] == [("down", "gpu_lost")]


def test_a_table_of_queried_fields_is_read_where_it_has_a_field_of_health():
    found = read(QUERY, KNOWN)
    (incident,) = found.incidents
    assert incident.started_at == CAPTURED.replace(microsecond=250_000)
    assert "0000:1b:00" in str(incident.cause)
    assert (found.records, sum(found.left_out.values())) == (3, 2)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("index, uuid, driver_version\n0, GPU-aa, 570.86\n", "without a field of health"),
        ("| NVIDIA-SMI 570.86.10    Driver Version: 570.86.10 |\n| 0  N/A  40C |\n", "summary table"),
        ("<?xml version='1.0'?>\n<nvidia_smi_log>\n</nvidia_smi_log>\n", "XML"),
    ],
)
def test_other_output_of_nvidia_smi_is_refused_with_the_reason(text: str, why: str):
    with pytest.raises(DealError, match=why):
        read(text, KNOWN)


def test_text_cut_anywhere_is_refused_or_adds_up():
    rng = Random(11)
    for form, text in (("dcgm-exporter", SCRAPE), ("nvidia-smi", REPORT), ("nvidia-smi", QUERY)):
        for _ in range(20):
            log = Log("cut.txt", text.encode()[: rng.randrange(1, len(text))])
            try:
                check_sums(forms()[form].read(log, KNOWN), log)
            except DealError as error:
                assert error.problems[0].remedy  # noqa: PT017


def test_the_real_scrape_holds_no_fault(logs: Path):
    for path in sorted((logs / "dcgm-exporter").glob("*.prom")):
        text = path.read_text()
        found = read(path.read_bytes(), name=path.name)
        assert not found.incidents
        assert found.left_out["a comment"] == len(re.findall(r"(?m)^#", text))
        samples = len(re.findall(r"(?m)^DCGM_\w+\{", text))
        assert found.left_out["a metric that says nothing about an outage"] == samples
        assert len(found.skipped) == len(text.splitlines()) - samples - len(re.findall(r"(?m)^#", text))


def test_real_reports_agree_with_a_count_of_their_own(logs: Path):
    seen = 0
    paths = [*(logs / "nvidia-smi").iterdir(), *(logs / "node-health-text").glob("*nvsmi*")]
    for path in sorted(path for path in paths if path.name != "SOURCE.md"):
        seen += 1
        text = path.read_text()
        if text.startswith("uuid,"):
            with pytest.raises(DealError, match="without a field of health"):
                read(path.read_bytes(), KNOWN, path.name)
            continue
        found = read(path.read_bytes(), KNOWN, path.name)
        assert found.records == len(re.findall(r"(?m)^GPU [0-9A-F]{8}:", text))
        assert found.used == len(re.findall(r"(?m)^ +Pending(?: Page Blacklist)? +: Yes$", text))
        assert {one.state for one in found.incidents} <= {"degraded"}
    assert seen == 4


def test_real_files_cut_anywhere_are_refused_or_add_up(logs: Path):
    rng = Random(12)
    paths = [*(logs / "nvidia-smi").glob("*.txt"), *(logs / "node-health-text").glob("*nvsmi*")]
    for form, path in [("nvidia-smi", path) for path in sorted(paths)] + [
        ("dcgm-exporter", path) for path in sorted((logs / "dcgm-exporter").glob("*.prom"))
    ]:
        data = path.read_bytes()
        assert form_of(Log(path.name, data)).id == form
        for _ in range(20):
            log = Log(path.name, data[: rng.randrange(1, len(data))])
            try:
                check_sums(forms()[form].read(log, KNOWN), log)
            except DealError as error:
                assert error.problems[0].remedy  # noqa: PT017


def test_a_code_that_is_no_whole_number_is_skipped():
    found = read('DCGM_FI_DEV_XID_ERRORS{gpu="0",Hostname="rig-3"} 79.5\n', KNOWN)
    assert found.skipped[0].reason == "79.5 is no code"
