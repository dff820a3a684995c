"""Kernel logs with XIDs of NVIDIA's driver, in the forms of dmesg, /dev/kmsg, journald and syslog.

A line begins a suspicion and never ends one: an incident stays open until another source shows the unit good again.
Lines of one GPU within `GROUP_SECONDS` of the line before are one fault, and the worst of them names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from schemas.errors import DealError, Problem
from slakit.statements.importers import gpu_faults, kernel_times
from slakit.statements.importers.clock import Clock
from slakit.statements.importers.form import Form, Options
from slakit.statements.importers.gpu_faults import Effect
from slakit.statements.importers.imported import Bound, Collector, Imported
from slakit.statements.importers.kernel_times import KernelClock, KernelLine, Placed
from slakit.statements.importers.log import WITHHELD, Log
from slakit.statements.importers.times import TimeError

GROUP_SECONDS = 60
"""[s]"""
MOST_EVIDENCE = 20
"""Lines of one fault that are kept as evidence; all of them are counted. [1]"""

_XID = re.compile(r"NVRM: +Xid +\(([^)]{1,60})\): (\d{1,4})(?:,? (.*))?$")
_SXID = re.compile(r"nvidia-nvswitch\d*: +SXid +\(([^)]{1,60})\): (\d{1,6})(?:,? (.*))?$")
_MENTIONS = re.compile(r"NVRM: +Xid\b|nvidia-nvswitch\d*: +SXid\b")
_DATA = re.compile(r"(?:Severity \d+ Engine instance|Data \{)")
_PROCESS = re.compile(r"pid='?([^,']{0,40})'?(?:, name=([^,]{0,200}))?, ?(.*)")
_UUID = re.compile(r"NVRM: GPU at (?:PCI:)?([0-9A-Fa-f:.]{5,20}): (GPU-[0-9a-f-]{8,60})")
_SERIAL = re.compile(r"NVRM: GPU Board Serial Number: (\S{1,40})")


@dataclass(frozen=True, slots=True)
class _Suspect:
    """One line that says something about a unit."""

    line: KernelLine
    place: str
    card: str
    """UUID and serial number of the GPU, as far as the log gave them."""
    effect: Effect
    words: str
    private: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Fault:
    """A suspicion with its time and its unit."""

    line: KernelLine
    placed: Placed
    unit: str
    place: str
    card: str
    effect: Effect
    words: str
    private: tuple[str, ...]


def read(log: Log, options: Options) -> Imported:
    """Read a kernel log.

    Raises
    ------
    DealError
        When no fault of the file can be placed for want of a zone, a time of capture or a unit.
    """
    found = Collector(log, "xid-kernel-log")
    clock = KernelClock(Clock(log, options), options)
    faults, nameless = _placed(found, list(_suspects(found, clock, options)), clock, options)
    _refuse_unplaced(found, clock, nameless, faults)
    groups: dict[tuple[str, str], list[list[_Fault]]] = {}
    for fault in sorted(faults, key=lambda one: (one.placed.at, one.line.number)):
        of_gpu = groups.setdefault((fault.unit, fault.place), [])
        last = of_gpu[-1] if of_gpu else None
        if last is not None and fault.placed.at - last[-1].placed.at <= timedelta(seconds=GROUP_SECONDS):
            last.append(fault)
        else:
            of_gpu.append([fault])
    for group in sorted((g for of_gpu in groups.values() for g in of_gpu), key=lambda g: g[0].line.number):
        _add(found, group, options)
    if found.incidents:
        found.note("an XID begins a suspicion and never ends one: its incident is open until another record ends it")
    return found.finish()


def _suspects(found: Collector, clock: KernelClock, options: Options) -> Iterator[_Suspect]:
    """Yield each line that says something about a unit; account for every other one."""
    cards: dict[tuple[str | None, str], str] = {}
    seen_last: dict[str | None, str] = {}
    for number, text in found.log.lines():
        line = kernel_times.parsed(number, text)
        clock.see(line)
        if line.program not in (None, "kernel"):
            found.leave_out("a line of another program than the kernel")
            continue
        if uuid := _UUID.match(line.message):
            seen_last[line.host] = gpu_faults.pci(uuid[1])
            cards[line.host, seen_last[line.host]] = uuid[2]
            found.leave_out("names a GPU")
            continue
        if serial := _SERIAL.match(line.message):
            place = seen_last.get(line.host)
            if place is not None and "serial" not in cards[line.host, place]:
                cards[line.host, place] += f", serial {serial[1]}"
            found.leave_out("names a GPU")
            continue
        suspect = _suspect(found, line, cards, options)
        if suspect is not None:
            yield suspect


def _suspect(
    found: Collector, line: KernelLine, cards: Mapping[tuple[str | None, str], str], options: Options
) -> _Suspect | None:
    """Return what a line of a fault says; account for it where it says nothing."""
    xid, sxid = _XID.match(line.message), _SXID.match(line.message)
    match = xid or sxid
    if match is None:
        if _MENTIONS.search(line.message):
            found.skip(line.number, line.raw, "a fault line that cannot be read")
        else:
            found.leave_out("no line of a GPU fault")
        return None
    place, code, text = gpu_faults.pci((match[1].split() or [""])[0]), int(match[2]), match[3] or ""
    process = _PROCESS.match(text)
    words = process[3] if process else text
    named = (process[2] or "") if process else ""
    private = () if options.with_names or not named or named == "<unknown>" else (named,)
    if sxid and _DATA.match(words):
        found.leave_out("data of the SXID before it")
        return None
    effect = (gpu_faults.xid if xid else gpu_faults.sxid)(code, words, options.fault_list)
    if effect.state is None:
        found.leave_out(effect.reason)
        return None
    if not effect.is_known:
        found.unknown_state(f"XID {code}" if xid else f"SXID {code}")
    return _Suspect(line, place, cards.get((line.host, place), ""), effect, words, private)


def _placed(
    found: Collector, suspects: Sequence[_Suspect], clock: KernelClock, options: Options
) -> tuple[list[_Fault], int]:
    """Return the faults with their times and units, the rest skipped, and how many name no unit."""
    faults: list[_Fault] = []
    nameless = 0
    for one in suspects:
        unit = one.line.host or options.unit_id
        nameless += unit is None
        try:
            placed = clock.place(one.line)
        except TimeError as error:
            found.skip(one.line.number, one.line.raw, str(error), one.private)
            continue
        if unit is None:
            found.skip(one.line.number, one.line.raw, "names no host: name the unit with --unit", one.private)
        else:
            faults.append(_Fault(one.line, placed, unit, one.place, one.card, one.effect, one.words, one.private))
    return faults, nameless


def _refuse_unplaced(found: Collector, clock: KernelClock, nameless: int, faults: Sequence[_Fault]) -> None:
    """Refuse a file of which no fault could be used for want of an option, with all that is wanted."""
    if faults:
        return
    name = found.log.name
    problems = []
    if count := clock.needs.get("zone"):
        problems.append(
            Problem(
                name,
                f"{count:,} fault lines in local time without an offset",
                "the zone of the machine that wrote them",
                "name the zone with --zone, for example --zone America/Chicago",
            )
        )
    if count := clock.needs.get("captured_at"):
        problems.append(
            Problem(
                name,
                f"{count:,} fault lines with times since boot or without a year",
                "times with a date, or when the log was captured",
                "say it with --captured-at, or export again with dmesg --time-format iso",
            )
        )
    if nameless:
        problems.append(
            Problem(
                name,
                f"{nameless:,} fault lines that name no host",
                "the unit that the log is of",
                "name it with --unit",
            )
        )
    if problems:
        raise DealError(problems)


def _add(found: Collector, group: Sequence[_Fault], options: Options) -> None:
    """Add the incident of one fault."""
    first = group[0]
    worst = max(group, key=lambda one: gpu_faults.RANK[one.effect.state or "unknown"])  # the first of the worst
    words = worst.words
    for name in worst.private:
        words = words.replace(name, WITHHELD)
    code = worst.effect.code
    card = f" ({worst.card})" if worst.card else ""
    named = code if code.upper().startswith(("SXID", "XID")) else f"XID {code}"
    made = found.incident(
        line=first.line.number,
        raw=first.line.raw,
        unit_id=first.unit,
        level=options.unit_level or "node",
        state=worst.effect.state or "unknown",
        started_at=first.placed.at,
        ended_at=None,
        detected_at=first.placed.at,
        fault_code=code,
        cause=f"{named} at {worst.place}{card}: {words}",
        private=first.private,
        also=[found.log.evidence(one.line.number, one.line.raw, one.private) for one in group[1:MOST_EVIDENCE]],
    )
    if made is None:
        for one in group[1:]:
            found.skip(one.line.number, one.line.raw, "belongs to a fault that was skipped", one.private)
        return
    found.use(len(group) - 1)
    if not first.placed.is_exact:
        found.bound(Bound(made.id, "started_at", first.placed.earliest, first.placed.latest))
        if first.placed.earliest is None:
            found.note("times since boot: the start of a fault is the latest it can be, as of the capture of the log")
    if first.line.form == "local":
        found.note("dmesg -T counts from boot: its times drift when the machine was suspended or its clock was set")


def _sniff(log: Log) -> int:
    kernel = stamped = seen = 0
    for text in re.split(r"\r\n|\n|\r", log.head[:30_000]):
        if not text.strip():
            continue
        seen += 1
        line = kernel_times.parsed(1, text)
        if line.form and line.program in (None, "kernel") and _MENTIONS.match(line.message):
            return 85
        if line.form and line.program == "kernel":
            kernel += 1
        elif line.form == "since boot" or (line.form and text.startswith("kern ")) or line.form == "local":
            stamped += 1
    return 45 if kernel + stamped and 2 * (kernel + stamped) >= seen else 35 if kernel else 0


FORMS = (Form("xid-kernel-log", "Kernel log with XIDs of NVIDIA's driver", _sniff, read),)
