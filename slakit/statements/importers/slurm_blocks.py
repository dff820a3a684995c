"""Records of `scontrol show`: `Key=Value` with blanks in values, on one line or with continuation lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from slakit.statements.importers.log import Log

MOST_CHARACTERS = 200_000
"""Longest record that is taken apart. [character]"""

_KEYS = (
    # of nodes
    "NodeName Arch CoresPerSocket CPUAlloc CPUEfctv CPUErr CPUTot CPULoad AvailableFeatures ActiveFeatures "
    "Gres GresDrain GresUsed NodeAddr NodeHostName Port Version OS RealMemory AllocMem FreeMem Sockets Boards "
    "CoreSpecCount CPUSpecList MemSpecLimit State ThreadsPerCore TmpDisk Weight Owner MCS_label Partitions "
    "NextState BootTime SlurmdStartTime LastBusyTime ResumeAfterTime SuspendTime CfgTRES AllocTRES CapWatts "
    "CurrentWatts AveWatts LowestJoules ConsumedJoules ExtSensorsJoules ExtSensorsWatts ExtSensorsTemp GPUSpec "
    "Reason Comment Extra InstanceId InstanceType Topology CertFlags "
    # of reservations
    "ReservationName StartTime EndTime Duration Nodes NodeCnt CoreCnt Features PartitionName Flags TRES Users "
    "Groups Accounts Licenses BurstBuffer Watts MaxStartDelay QOS Partitions NodeSets PurgeTime "
)
_KEY = re.compile(rf"(?:^|(?<=\s))({'|'.join(sorted(set(_KEYS.split()), key=len, reverse=True))})=")


@dataclass(frozen=True, slots=True)
class Block:
    """One record."""

    line: int
    raw: str
    values: Mapping[str, str]
    twice: tuple[str, ...] = ()
    """Keys that stand in it more than once, outside free text."""
    at_end: str | None = None
    """Key whose value ends with the file, without a line break: the file may be cut off within it."""


def blocks(log: Log, first: str) -> Iterator[Block | tuple[int, str]]:
    """Yield each record, which begins with the key `first`; a line before any record as its number and text."""
    begun: list[tuple[int, list[str]]] = []
    for number, line in log.lines():
        if line.lstrip().startswith(f"{first}="):
            begun.append((number, [line]))
        elif begun:
            begun[-1][1].append(line)
        else:
            yield number, line
    ends_in_break = log.data[-1:] in (b"\n", b"\r")
    for place, (number, lines) in enumerate(begun):
        is_last = place == len(begun) - 1
        yield _block(number, "\n".join(lines)[:MOST_CHARACTERS], is_cut=is_last and not ends_in_break)


def _block(number: int, raw: str, *, is_cut: bool) -> Block:
    """Return one record taken apart: of a key that seems to stand in free text, the one outside counts."""
    found = [(match[1], match.start(), match.end()) for match in _KEY.finditer(raw)]
    kept: list[tuple[str, int, int]] = []
    for key, start, end in found:
        inside = kept[-1][0] if kept else None
        if inside in ("Reason", "Comment", "Extra") and key not in _AFTER[inside]:
            continue
        kept.append((key, start, end))
    values: dict[str, str] = {}
    twice: dict[str, None] = {}
    for place, (key, _, end) in enumerate(kept):
        until = kept[place + 1][1] if place + 1 < len(kept) else len(raw)
        if key in values:
            twice[key] = None
        else:
            values[key] = " ".join(raw[end:until].split())
    at_end = kept[-1][0] if is_cut and kept and not raw[-1:].isspace() else None
    return Block(number, raw, values, tuple(twice), at_end)


_AFTER = {
    "Reason": frozenset({"Comment", "Extra", "InstanceId", "InstanceType"}),
    "Comment": frozenset({"Extra", "InstanceId", "InstanceType"}),
    "Extra": frozenset({"InstanceId", "InstanceType"}),
}
"""Keys that may stand after free text, for Slurm prints keys in one order."""
