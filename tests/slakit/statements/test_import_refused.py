"""Acceptance tests, targets and checklists: known, and refused with what they are and what they are good for."""

import json
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest

from schemas.errors import DealError
from slakit.statements.importers.find import SURE_ENOUGH, form_of, forms
from slakit.statements.importers.form import Options
from slakit.statements.importers.log import Log

KNOWN = Options(zone="UTC", unit_id="u", captured_at=datetime(2026, 1, 1, tzinfo=UTC))
FOLDERS = {
    "nccl-tests": 6,
    "perftest": 1,
    "hpl": 1,
    "gpu-burn": 1,
    "gpcnet": 1,
    "fio": 1,
    "mllog": 2,
    "dcgmi-diag": 2,
    "clustermax": 2,
    "openslo": 3,
}
"""Folders of real samples, named as their formats, and how many files each has."""

NCCL_HEADER = (
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw\n"
)
LOOK_ALIKES = {
    "nccl-tests": (
        NCCL_HEADER + "  8  2  float  sum  -1  9.9  0.0  0.0  0\n# Out of bounds values : 2 FAILED\n",
        "2 FAILED",
    ),
    "perftest": (
        "      Send BW Test\n #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n",
        "one link",
    ),
    "hpl": ("HPLinpack 2.3  --  High-Performance Linpack benchmark  --\nWR01 1 1 1 1\n", "did not complete"),
    "gpu-burn": (
        "1.2%  proc'd: 12 (90 Gflop/s)   errors: 0 - 4 \rTested 2 GPUs:\n\tGPU 0: OK\n\tGPU 1: FAULTY\n",
        "1 GPUs FAULTY, 1 GPUs OK",
    ),
    "gpcnet": ("NetworkLoad Tests v1.3\n  Test with 8 MPI ranks\n", "one network test"),
    "fio": ('fio: warning\n{\n "fio version" : "fio-3.30",\n "jobs" : [{"error" : 5}]\n}\n', "errors of its jobs: 5"),
    "ior": (
        "IOR-4.0.0: MPI Coordinated Test of Parallel I/O\nBegan               : Thu Nov  6 21:38:35 2025\n",
        "MiB/s",
    ),
    "io500": ("[RESULT] BW phase 1 ior_easy_write 7.1 GB/s : time 417 seconds\n[SCORE] INVALID\n", "marked invalid"),
    "mllog": (
        ':::MLLOG {"namespace": "", "time_ms": 1, "key": "run_stop", "metadata": {"status": "aborted"}}\n',
        "run_stop: aborted",
    ),
    "dcgmi-diag": (
        json.dumps({"DCGM Diagnostic": {"test_categories": [{"tests": [{"results": [{"status": "Skip"}] * 3}]}]}}),
        "3 Skip; nothing ran",
    ),
    "clustermax": (json.dumps({"schema_version": 1, "runner": {}, "audit_data": {"gpus": "pass"}}), "no availability"),
    "openslo": (
        "apiVersion: openslo/v1\nkind: SLO\nspec:\n  budgetingMethod: Timeslices\n",
        "targets and no measurements",
    ),
}


@pytest.mark.parametrize("form", LOOK_ALIKES)
def test_each_is_known_and_refused_with_what_it_shows(form: str):
    text, shown = LOOK_ALIKES[form]
    log = Log("run.out", text.encode())
    found = form_of(log)
    assert (found.id, found.holds_outages) == (form, False)
    with pytest.raises(DealError, match=r"run\.out") as error:
        found.read(log, KNOWN)
    (problem,) = error.value.problems
    assert problem.path == "run.out"
    assert shown in problem.found
    assert "when a unit was down" in problem.expected
    assert problem.remedy


def test_all_forms_that_hold_no_outages_always_refuse():
    for form in forms().values():
        if not form.holds_outages:
            with pytest.raises(DealError, match=r"x\.txt"):
                form.read(Log("x.txt", b"nothing of the kind"), KNOWN)


def test_an_mpirun_tag_before_every_line_does_not_hide_the_table():
    tagged = "".join(f"   [1,0]<stdout>:{line}\n" for line in NCCL_HEADER.splitlines())
    assert form_of(Log("out.txt", tagged.encode())).id == "nccl-tests"


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_real_sample_is_known_and_refused(logs: Path, folder: str):
    paths = [path for path in sorted((logs / folder).iterdir()) if path.name != "SOURCE.md"]
    assert len(paths) == FOLDERS[folder]
    rng = Random(folder)
    for path in paths:
        data = path.read_bytes()
        log = Log(path.name, data)
        assert form_of(log).id == folder
        sure = [form.id for form in forms().values() if form.sniff(log) >= SURE_ENOUGH]
        assert sure == [folder]
        with pytest.raises(DealError, match="when a unit was down"):
            form_of(log).read(log, KNOWN)
        for _ in range(20):
            with pytest.raises(DealError, match=path.name.split(".")[0]):
                forms()[folder].read(Log(path.name, data[: rng.randrange(1, len(data))]), KNOWN)
