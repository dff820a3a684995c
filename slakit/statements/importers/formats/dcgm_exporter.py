"""Metrics of the DCGM exporter, as one scrape shows them: the last XID of each GPU, and failed or waiting row remaps.

The gauge of XIDs keeps the last one until the exporter or the driver restarts: it is a snapshot that says an XID came
at some time before, never a count and never a length of time. A scrape holds no time of its own.
"""

from __future__ import annotations

import re
from datetime import datetime
from decimal import Decimal, InvalidOperation

from slakit.statements.importers import gpu_faults, snapshots
from slakit.statements.importers.clock import Clock, Reading
from slakit.statements.importers.form import Form, Options
from slakit.statements.importers.gpu_faults import Effect
from slakit.statements.importers.imported import Bound, Collector, Imported
from slakit.statements.importers.log import Log
from slakit.statements.importers.times import TimeError, from_epoch

XID = "DCGM_FI_DEV_XID_ERRORS"
MEMORY = {"DCGM_FI_DEV_ROW_REMAP_FAILURE": "row_remap_failure", "DCGM_FI_DEV_ROW_REMAP_PENDING": "row_remap_pending"}
HOSTS = ("Hostname", "hostname", "node", "kubernetes_node", "nodename")
"""Labels that name the node, the first that a sample has."""
LONGEST_SAMPLE = 10_000
"""[character]"""
BLANK = Decimal(2147483632)
"""Least of the numbers by which DCGM says that it has no value: whole numbers of 32 and 64 bits, and floating ones."""

_SAMPLE = re.compile(
    r"([A-Za-z_:][\w:]{0,200})(?:\{((?:[^\"{}]|\"(?:[^\"\\]|\\.)*\")*)\})?[ \t]+(\S{1,40})(?:[ \t]+(-?\d{1,18}))?\s*$",
    re.ASCII,
)
_LABEL = re.compile(r'\s*([A-Za-z_]\w*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*,?', re.ASCII)


def read(log: Log, options: Options) -> Imported:
    """Read one scrape.

    Raises
    ------
    DealError
        When it holds a fault and nothing says when it was taken, or of which unit it is.
    """
    found, clock = Collector(log, "dcgm-exporter"), Clock(log, options)
    taken: Reading | None = None
    seen: set[tuple[str, str, str, datetime]] = set()
    for number, line in log.lines():
        if line.lstrip().startswith("#"):
            found.leave_out("a comment")
            continue
        match = _SAMPLE.match(line.strip()) if len(line) <= LONGEST_SAMPLE else None
        value = _number(match[3]) if match else None
        if match is None or value is None:
            found.skip(number, line, "no sample of a metric")
            continue
        name, labels = match[1], _labels(match[2] or "")
        if name != XID and name not in MEMORY:
            found.leave_out("a metric that says nothing about an outage")
            continue
        if not value.is_finite() or value >= BLANK:
            found.leave_out("no value")
            continue
        if value == 0:
            found.leave_out("no fault at the scrape")
            continue
        if value != int(value) or not 0 < value < 10_000:
            found.skip(number, line, f"{match[3]} is no code")
            continue
        effect = _effect(name, int(value), labels, options)
        if effect.state is None:
            found.leave_out(effect.reason)
            continue
        unit = next((labels[host] for host in HOSTS if labels.get(host)), None) or options.unit_id
        if unit is None:
            raise snapshots.needs_unit(log)
        if match[4]:
            try:
                at = Reading(from_epoch(int(match[4]) / 1000))
            except TimeError as error:
                found.skip(number, line, str(error))
                continue
        else:
            at = taken = taken or snapshots.time_of(log, clock, options)
        found.taken(at.later or at.at)
        gpu = labels.get("UUID") or labels.get("gpu") or labels.get("device") or ""
        key = (unit, gpu, effect.code, at.at)
        if key in seen:  # one row for each slice of a GPU
            found.duplicate()
            continue
        seen.add(key)
        if not effect.is_known:
            found.unknown_state(f"XID {effect.code}")
        _add(found, number, line, unit, gpu, name, effect, at, options)
    return found.finish()


def _effect(name: str, value: int, labels: dict[str, str], options: Options) -> Effect:
    if name != XID:
        return gpu_faults.memory(MEMORY[name], options.fault_list)
    return gpu_faults.xid(value, labels.get("err_msg", ""), options.fault_list)


def _add(
    found: Collector,
    number: int,
    line: str,
    unit: str,
    gpu: str,
    name: str,
    effect: Effect,
    at: Reading,
    options: Options,
) -> None:
    what = f"last XID {effect.code}" if name == XID else effect.code
    made = found.incident(
        line=number,
        raw=line,
        unit_id=unit,
        level=options.unit_level or "node",
        state=effect.state or "unknown",
        started_at=at.at,
        ended_at=None,
        detected_at=at.at,
        fault_code=effect.code,
        cause=f"{what} of GPU {gpu} at the scrape" if gpu else f"{what} at the scrape",
    )
    if made is not None:
        found.bound(Bound(made.id, "started_at", None, at.later or at.at))
    found.note("the exporter keeps the last XID until it restarts: when it came is before the scrape, and not known")


def _labels(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in _LABEL.findall(text):
        found.setdefault(name, re.sub(r"\\(.)", lambda one: "\n" if one[1] == "n" else one[1], value))
    return found


def _number(text: str) -> Decimal | None:
    try:
        return Decimal(text.replace("Inf", "Infinity"))
    except InvalidOperation:
        return None


def _sniff(log: Log) -> int:
    return 90 if re.search(r"(?m)^DCGM_FI_[A-Z0-9_]{1,80}[{ ]", log.head) else 0


FORMS = (Form("dcgm-exporter", "Metrics of the DCGM exporter, one scrape", _sniff, read, is_snapshot=True),)
