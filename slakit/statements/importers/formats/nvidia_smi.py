"""Output of nvidia-smi: what `-q` and `--query-gpu` say of each GPU at one moment.

A memory repair that waits for a reset, a failed repair, a recovery action that is due and a GPU that is lost are
findings; all else says nothing about an outage. The machine is not named.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from slakit.statements.importers import delimited, gpu_faults, snapshots
from slakit.statements.importers.clock import MONTHS, Clock, Reading
from slakit.statements.importers.delimited import BadRow
from slakit.statements.importers.form import Form, Options
from slakit.statements.importers.gpu_faults import Effect
from slakit.statements.importers.imported import Bound, Collector, Imported, State
from slakit.statements.importers.log import Log
from slakit.statements.importers.refusal import refused
from slakit.statements.importers.times import TimeError

FIELDS = {
    ("remapped rows", "pending"): "row_remap_pending",
    ("remapped rows", "remapping failure occurred"): "row_remap_failure",
    ("retired pages", "pending page blacklist"): "page_retirement_pending",
    ("retired pages", "pending page retirement"): "page_retirement_pending",
}
"""Lines of `-q` by section, and the fault that `Yes` means."""
COLUMNS = {
    "remapped_rows.pending": "row_remap_pending",
    "remapped_rows.failure": "row_remap_failure",
    "retired_pages.pending": "page_retirement_pending",
}
"""Columns of `--query-gpu`, and the fault that `Yes` means."""

_TIME = re.compile(r"Timestamp *: *[A-Z][a-z]{2} ([A-Z][a-z]{2}) +(\d{1,2}) (\d\d):(\d\d):(\d\d) (\d{4})$")
_GPU = re.compile(r"GPU ([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}(?:\.[0-9A-Fa-f])?)$")
_LOST = re.compile(
    r"Unable to determine the device handle for (?:GPU ?)?([0-9A-Fa-f:.]{7,20}?)[.:]? |No devices were found"
)
_BANNER = re.compile(r"\| NVIDIA-SMI \d")


@dataclass(slots=True)
class _Gpu:
    """What the output says of one GPU."""

    line: int
    place: str
    raw: str
    uuid: str = ""
    serial: str = ""
    faults: list[tuple[int, str, Effect]] = field(default_factory=list)


def read(log: Log, options: Options) -> Imported:
    """Read what nvidia-smi printed.

    Raises
    ------
    DealError
        When it holds no field of health, or findings without a unit or a time that can be placed.
    """
    if log.head.lstrip().startswith("<"):
        raise refused(log.name, "the XML of nvidia-smi -x", "text", "give the output of nvidia-smi -q")
    columns = delimited.columns(log)
    if len(columns) > 2 and _is_query(columns):
        return _read_query(log, options, columns)
    if _BANNER.search(log.head) and not re.search(r"(?m)^GPU [0-9A-Fa-f]{4,8}:", log.text):
        raise refused(
            log.name, "the summary table of nvidia-smi, without fields of health", "nvidia-smi -q", "give that instead"
        )
    return _read_report(log, options)


def _read_report(log: Log, options: Options) -> Imported:
    found, clock = Collector(log, "nvidia-smi"), Clock(log, options)
    written: re.Match[str] | None = None
    gpus: list[_Gpu] = []
    section = ""
    for number, line in log.lines():
        text = line.strip()
        if match := _TIME.match(text):
            written = match
        elif match := _GPU.match(text):
            gpus.append(_Gpu(number, gpu_faults.pci(match[1]), text))
            section = ""
        elif match := _LOST.search(text):
            place = gpu_faults.pci(match[1]) if match[1] else "all"
            gpus.append(_Gpu(number, place, text, faults=[(number, text, Effect("down", "gpu_lost"))]))
        elif ":" in text:
            if gpus:
                _field(found, gpus[-1], number, section, text, options)
        elif line[:1] == " ":
            section = text.casefold()
    if not gpus:
        raise refused(log.name, "no GPU in it", "the output of nvidia-smi -q", "export it again")
    for gpu in gpus:
        if not gpu.faults:
            found.leave_out("GPU without a finding")
            continue
        try:
            at = _time(log, clock, options, written)
        except TimeError as error:
            found.skip(gpu.line, gpu.raw, str(error))
            continue
        _add(found, gpu, at, options)
    clock.check()
    _say_attached(found, log, len(gpus))
    return found.finish()


def _field(found: Collector, gpu: _Gpu, number: int, section: str, text: str, options: Options) -> None:
    """Take one line of a GPU."""
    label, _, value = (part.strip() for part in text.partition(":"))
    name = label.casefold()
    if name == "gpu uuid":
        gpu.uuid = value
    elif name == "serial number" and value != "N/A":
        gpu.serial = value
    elif name == "gpu recovery action" and value not in ("N/A", "[N/A]"):
        says = gpu_faults.recovery(value)
        if says == "unknown":
            found.unknown_state(f"GPU Recovery Action {value}")
        if says != "no_outage":
            state: State = "down" if says == "down" else "degraded" if says == "degraded" else "unknown"
            gpu.faults.append((number, text, Effect(state, "154")))
    elif (fault := FIELDS.get((section, name))) is not None:
        _flag(found, gpu, number, text, fault, value, options)
    elif value == "ERR!" or value == "Unknown Error" or value == "GPU is lost":
        found.unknown_state(f"{label}: {value}")
        gpu.faults.append((number, text, Effect("unknown" if value == "ERR!" else "down", "gpu_lost")))


def _flag(found: Collector, gpu: _Gpu, number: int, raw: str, fault: str, value: str, options: Options) -> None:
    """Take a field that says Yes or No."""
    if value == "Yes":
        effect = gpu_faults.memory(fault, options.fault_list)
        if effect.state is not None:
            gpu.faults.append((number, raw, effect))
        else:
            found.note(effect.reason)
    elif value not in ("No", "N/A", "[N/A]"):
        found.unknown_state(f"{fault}: {value}")
        gpu.faults.append((number, raw, Effect("unknown", fault)))


def _read_query(log: Log, options: Options, columns: Sequence[str]) -> Imported:
    """Read a table of `--query-gpu`."""
    names = [re.sub(r" \[[^]]*\]$", "", name.strip()).casefold() for name in columns]
    if not any(name in COLUMNS for name in names):
        raise refused(
            log.name,
            f"a table of {', '.join(names[:6])} and the like, without a field of health",
            f"one of {', '.join(COLUMNS)}",
            "query these fields, with timestamp, or give nvidia-smi -q",
        )
    found, clock = Collector(log, "nvidia-smi"), Clock(log, options)
    for row in delimited.rows(log, len(columns)):
        if isinstance(row, BadRow):
            found.skip(row.line, row.raw, row.reason)
            continue
        cells = dict(zip(names, (cell.strip() for cell in row.cells), strict=True))
        place = next(
            (cells[name] for name in ("pci.bus_id", "gpu_bus_id", "uuid", "gpu_uuid", "index") if name in cells), ""
        )
        gpu = _Gpu(row.line, gpu_faults.pci(place) if ":" in place else place, row.raw)
        gpu.uuid, gpu.serial = (
            cells.get("uuid", cells.get("gpu_uuid", "")),
            cells.get("serial", "").replace("[N/A]", ""),
        )
        for name, fault in COLUMNS.items():
            if name in cells:
                _flag(found, gpu, row.line, row.raw, fault, cells[name], options)
        if not gpu.faults:
            found.leave_out("GPU without a finding")
            continue
        try:
            at = clock.read(cells["timestamp"]) if "timestamp" in cells else snapshots.time_of(log, clock, options)
        except TimeError as error:
            found.skip(row.line, row.raw, str(error))
            continue
        _add(found, gpu, at, options)
    clock.check()
    return found.finish()


def _add(found: Collector, gpu: _Gpu, at: Reading, options: Options) -> None:
    """Add the finding of one GPU, its worst one named."""
    if options.unit_id is None:
        raise snapshots.needs_unit(found.log)
    line, raw, effect = max(gpu.faults, key=lambda one: gpu_faults.RANK[one[2].state or "unknown"])
    found.taken(at.later or at.at)
    card = ", ".join(part for part in (gpu.uuid, f"serial {gpu.serial}" if gpu.serial else "") if part)
    made = found.incident(
        line=line,
        raw=f"{gpu.raw}: {raw.strip()}" if raw != gpu.raw else raw,
        unit_id=options.unit_id,
        level=options.unit_level or "node",
        state=effect.state or "unknown",
        started_at=at.at,
        ended_at=None,
        detected_at=at.at,
        fault_code=effect.code,
        cause=f"{effect.code} of GPU {gpu.place}{f' ({card})' if card else ''}: {raw.strip()}",
        also=[found.log.evidence(number, text) for number, text, _ in gpu.faults if number != line],
    )
    if made is not None:
        found.bound(Bound(made.id, "started_at", None, at.later or at.at))
    found.note("a snapshot: a finding began at some time before it, and nothing here shows what came after it")


def _time(log: Log, clock: Clock, options: Options, written: re.Match[str] | None) -> Reading:
    """Return when the report was printed, or raise `TimeError`."""
    if written is None:
        return snapshots.time_of(log, clock, options)
    month, day, hour, minute, second, year = written.groups()
    if month.casefold() not in MONTHS:
        raise TimeError(f"{month!r} is no month")
    try:
        naive = datetime(  # noqa: DTZ001 - its zone follows
            int(year), MONTHS.index(month.casefold()) + 1, int(day), int(hour), int(minute), int(second)
        )
    except ValueError as error:
        raise TimeError(f"its Timestamp is no time: {error}") from error
    return clock.local(naive)


def _say_attached(found: Collector, log: Log, seen: int) -> None:
    attached = re.search(r"(?m)^Attached GPUs *: *(\d{1,4})[ \r]*$", log.text)
    if attached and int(attached[1]) != seen:
        found.note(f"the report counts {attached[1]} GPUs and shows {seen}: it was cut, or GPUs are missing")


def _is_query(columns: Sequence[str]) -> bool:
    names = {re.sub(r" \[[^]]*\]$", "", name.strip()).casefold() for name in columns}
    return bool(names & {"uuid", "gpu_uuid", "pci.bus_id", "index", "gpu_name", "name"}) and bool(
        names & {*COLUMNS, "driver_version", "vbios_version", "pci.bus_id", "gpu_uuid", "compute_cap"}
    )


def _sniff(log: Log) -> int:
    head = log.head
    if "NVSMI LOG" in head or "<nvidia_smi_log>" in head or "nvidia_smi_log SYSTEM" in head:
        return 92
    if (
        re.search(r"(?m)^GPU [0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d[ \r]*$", head)
        and "Driver Version" in head
    ):
        return 90
    if _BANNER.search(head) or "Unable to determine the device handle for" in head:
        return 70
    if head.strip() == "No devices were found":
        return 60
    columns = delimited.columns(log)
    return 75 if len(columns) > 2 and _is_query(columns) else 0


FORMS = (Form("nvidia-smi", "Output of nvidia-smi -q or --query-gpu", _sniff, read, is_snapshot=True),)
