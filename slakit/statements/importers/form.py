"""What a format is: its name, how it is recognised, how it is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from schemas.service_levels import Level
from slakit.statements.importers.imported import Imported
from slakit.statements.importers.log import Log


@dataclass(frozen=True, slots=True)
class Options:
    """What the user says about a file and the file does not."""

    zone: str | None = None
    """IANA zone of times without an offset; without it such times are refused, never guessed."""
    unit_level: Level | None = None
    """Level of the units, where the format does not say; each format has its own default."""
    unit_id: str | None = None
    """Unit that the whole file is about, where it names none (a kernel log without host, a monitor of one service)."""
    captured_at: datetime | None = None
    """When a snapshot was taken, or when the machine wrote a file whose times are relative."""
    with_names: bool = False
    """Whether names of users and jobs may stay in causes and evidence."""
    monitor_interval_seconds: int | None = None
    """Interval of the monitor under the contract, which says how long a reading holds; readings are refused without it.
    [s]"""
    fault_list: Mapping[str, str] | None = None
    """Fault list of the contract, `measurement.fault_list`: readers of fault codes take it before their own table."""


@dataclass(frozen=True, slots=True)
class Form:
    """One format of file."""

    id: str
    """Name on the command line, for example `slurm-events`."""
    title: str
    """Name in words, for example `Slurm node events`."""
    sniff: Callable[[Log], int]
    """Certainty that a file is of this format, 0 (no) to 100 (sure), from its name and its first bytes alone."""
    read: Callable[[Log, Options], Imported]
    """Raises `DealError` where the whole file must be refused; single lines are skipped instead."""
    holds_outages: bool = True
    """False for files that are recognised only to be refused with the true reason, such as acceptance tests."""
    is_snapshot: bool = False
    """Whether a file shows one moment, so that it says nothing of the time after it was taken."""
