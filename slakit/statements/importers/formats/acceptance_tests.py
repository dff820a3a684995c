"""Output of acceptance tests, recognised only to be refused: a test that ran shows no outage and no time of one.

What each is evidence of, and what to look at before it is accepted, stands in its refusal.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from slakit.statements.importers import json_records
from slakit.statements.importers.form import Form, Options
from slakit.statements.importers.imported import Imported
from slakit.statements.importers.log import Log
from slakit.statements.importers.refusal import refused

USE = "keep it as evidence of acceptance; for outages give the scheduler's node events or a monitor's log"

_NCCL_HEADER = re.compile(r"#\s+size\s+count\s+(?:type|\(elements\)).*\btime\s+algbw\s+busbw\b")


def _form(
    form: str, title: str, what: str, remedy: str, sniff: Callable[[Log], int], told: Callable[[Log], str]
) -> Form:
    """Return a format that is refused: `told` says in a few words what its file shows."""

    def read(log: Log, options: Options) -> Imported:
        """Refuse an acceptance test; raise `DealError` always."""
        shown = told(log)
        raise refused(
            log.name, f"{what}{f' ({shown})' if shown else ''}", "records of when a unit was down", f"{remedy}; {USE}"
        )

    return Form(form, title, sniff, read, holds_outages=False)


def _nothing(log: Log) -> str:
    return ""


def _nccl(log: Log) -> str:
    wrong = re.search(r"# Out of bounds values {0,20}: {0,20}(\d{1,20}) {1,20}(\w{1,20})", log.text)
    return f"out of bounds values: {wrong[1]} {wrong[2]}" if wrong else "the run was cut before its summary"


def _sniff_nccl(log: Log) -> int:
    if _NCCL_HEADER.search(log.head):
        return 92
    return 60 if re.search(r"# nThread \d+ nGpus \d+ minBytes", log.head) else 0


def _sniff_perftest(log: Log) -> int:
    named = re.search(
        r"(?m)^[ \t]*(?:RDMA_Write|RDMA_Read|Send|Atomic_\w+|Write|Read)\s.{0,40}(?:BW|Latency)[ -]Test", log.head
    )
    table = re.search(r"#bytes\s+#iterations\s+(?:BW|t_min)", log.head)
    return 92 if named and table else 80 if named or table else 0


def _hpl(log: Log) -> str:
    passed = re.search(r"(\d{1,9}) tests completed and passed residual checks", log.text)
    failed = re.search(r"(\d{1,9}) tests completed and failed residual checks", log.text)
    if passed is None:
        return "the run has no final summary: it did not complete"
    return f"residual checks: {passed[1]} passed, {failed[1] if failed else 0} failed"


def _sniff_hpl(log: Log) -> int:
    return 92 if re.search(r"High-Performance Linpack benchmark|HPL-NVIDIA|HPLinpack \d", log.head) else 0


def _gpu_burn(log: Log) -> str:
    verdicts = Counter(re.findall(r"(?m)^[ \t]*GPU \d{1,3}: (OK|FAULTY)[ \t\r]*$", log.text))
    if not verdicts:
        return "the run was cut before its verdicts"
    return ", ".join(f"{count} GPUs {word}" for word, count in sorted(verdicts.items()))


def _sniff_gpu_burn(log: Log) -> int:
    if re.search(r"\d%\s+proc'd: \d+ \(", log.head):
        return 92
    if re.search(r"Burning for \d+ seconds|(?m:^Tested \d+ GPUs:$)", log.head):
        return 85
    return 60 if re.match(r"GPU 0: [^\n]{1,80} \(UUID: GPU-[0-9a-f-]{36}\)\r?\n", log.head) else 0


def _sniff_gpcnet(log: Log) -> int:
    return 92 if re.search(r"Network(?:Load)? Tests v\d|Isolated Network Tests", log.head) else 0


def _fio(log: Log) -> str:
    errors = re.findall(r'"error" {0,4}: {0,4}(-?\d{1,9})', log.text)
    return f"errors of its jobs: {', '.join(errors[:20])}" if errors else ""


def _sniff_fio(log: Log) -> int:
    if '"fio version"' in log.head:
        return 92
    return 80 if re.search(r"(?m)^fio-\d+\.\d+\r?$", log.head) and "rw=" in log.head else 0


def _sniff_ior(log: Log) -> int:
    return 90 if re.search(r"(?m)^(?:IOR-\d+\.\d+|mdtest-\d+\.\d+)", log.head) else 0


def _sniff_io500(log: Log) -> int:
    if re.search(r"(?m)^\[(?:RESULT(?:-invalid)?|SCORE) ?\]\s", log.head):
        return 90
    return 90 if re.search(r"(?m)^\[ior-easy-write\]", log.head) else 0


def _mllog(log: Log) -> str:
    stops = re.findall(r'"key": "run_stop".{0,400}?"status": "(\w+)"', log.text)
    return f"run_stop: {', '.join(sorted(set(stops)))}" if stops else "no run_stop: the run did not complete"


def _sniff_mllog(log: Log) -> int:
    return 92 if re.search(r"(?m)^.{0,80}?:::MLLOGv?\S{0,12} ", log.head) else 0


def _dcgmi(log: Log) -> str:
    """Return the status words of a diagnosis, counted."""
    start = log.text.find("{")
    try:
        root = json.loads(log.text[start:]) if start >= 0 else None
    except (ValueError, RecursionError):
        return "the file was cut off"
    words: Counter[str] = Counter()

    def look(value: Any) -> None:
        if isinstance(value, dict):
            if isinstance(value.get("status"), str):
                words[value["status"][:20]] += 1
            for one in value.values():
                look(one)
        elif isinstance(value, list):
            for one in value:
                look(one)

    try:
        look(root)
    except RecursionError:
        return "nested too deeply to be one"
    shown = ", ".join(f"{count} {word}" for word, count in sorted(words.items())) or "no result"
    return f"{shown}; nothing ran" if words and words.keys() <= {"Skip", "Not Run"} else shown


def _sniff_dcgmi(log: Log) -> int:
    if json_records.keys(log) & {"DCGM GPU Diagnostic", "DCGM Diagnostic"}:
        return 92
    return 88 if re.search(r'"DCGM (?:GPU )?Diagnostic"|Successfully ran diagnostic for group', log.head) else 0


FORMS = (
    _form(
        "nccl-tests",
        "Output of nccl-tests or rccl-tests",
        "bandwidths of one test run, without a time or a state of a unit",
        "compare busbw at the sizes of the contract, and #wrong",
        _sniff_nccl,
        _nccl,
    ),
    _form(
        "perftest",
        "Output of perftest (ib_write_bw and others)",
        "bandwidth or latency of one link at one moment, without a time",
        "compare it in its own unit, MB/sec being 2^20 bytes",
        _sniff_perftest,
        _nothing,
    ),
    _form(
        "hpl",
        "Output of HPL",
        "the rate of one Linpack run",
        "compare Gflops of the result line, and the residual",
        _sniff_hpl,
        _hpl,
    ),
    _form(
        "gpu-burn",
        "Output of gpu-burn",
        "verdicts of one stress run",
        "look at each GPU's verdict",
        _sniff_gpu_burn,
        _gpu_burn,
    ),
    _form(
        "gpcnet",
        "Output of GPCNeT",
        "latencies and bandwidths of one network test, without a time",
        "compare it with and without congestion",
        _sniff_gpcnet,
        _nothing,
    ),
    _form(
        "fio",
        "Output of fio",
        "rates of one storage test",
        "compare bw_bytes and iops; error must be 0",
        _sniff_fio,
        _fio,
    ),
    _form(
        "ior",
        "Output of IOR or mdtest",
        "rates of one storage test, in MiB/s",
        "compare them by the names of their columns",
        _sniff_ior,
        _nothing,
    ),
    _form(
        "io500",
        "Results of IO500",
        "results of one storage test",
        "a result marked invalid is none",
        _sniff_io500,
        lambda log: "marked invalid" if "invalid" in log.text.casefold() else "",
    ),
    _form(
        "mllog",
        "Training log of MLPerf",
        "times of one training run, not of a unit",
        "time to train is from run_start to run_stop",
        _sniff_mllog,
        _mllog,
    ),
    _form(
        "dcgmi-diag",
        "Result of dcgmi diag",
        "results of one diagnosis, without a time or a host",
        "a passed one ends no outage by itself, and one that skips all accepts nothing",
        _sniff_dcgmi,
        _dcgmi,
    ),
)
