"""Records of `scontrol show node` and `scontrol show reservation`, with `-o` or over several lines.

Nodes are a snapshot. A reservation is planned work only with the flag MAINT; it proves no notice to the customer.
"""

from __future__ import annotations

import re
from datetime import datetime

from schemas.errors import TermsError
from schemas.incidents import Window
from slakit.statements.host_lists import expanded
from slakit.statements.importers import slurm_blocks, slurm_reasons, slurm_snapshots, slurm_times
from slakit.statements.importers.clock import Clock
from slakit.statements.importers.form import Form, Options
from slakit.statements.importers.imported import TWICE, Collector, Imported
from slakit.statements.importers.log import WITHHELD, Log
from slakit.statements.importers.refusal import refused
from slakit.statements.importers.slurm_blocks import Block
from slakit.statements.importers.slurm_snapshots import Seen
from slakit.statements.importers.times import TimeError

SHOWN = ("NodeName", "State", "Reason", "BootTime", "SlurmdStartTime", "LastBusyTime", "NodeHostName", "Partitions")
"""Fields of a node kept as evidence."""
MAINTENANCE = "MAINT"
REPEATED = frozenset({"HOURLY", "DAILY", "WEEKLY", "WEEKDAY", "WEEKEND"})
"""Flags of reservations that repeat."""
NOTICE = "a reservation with MAINT is a window of planned work: it proves no notice to the customer"
REPEATS = "a reservation repeats, and only its next time is shown: ask for its earlier times"


def read_nodes(log: Log, options: Options) -> Imported:
    """Read nodes.

    Raises
    ------
    DealError
        When there is no node, or times need a zone and none is named.
    """
    found, clock = Collector(log, "slurm-scontrol-node"), Clock(log, options)
    records: list[Seen] = []
    blocks = 0
    for block in slurm_blocks.blocks(log, "NodeName"):
        if isinstance(block, tuple):
            found.skip(*block, "stands before the first node")
            continue
        blocks += 1
        record = _node(found, block, clock, options)
        if record is not None:
            records.append(record)
    if not blocks:
        raise refused(log.name, "no NodeName=", "records of nodes", "ask with scontrol show node -o")
    slurm_times.check_zone(clock)
    slurm_snapshots.add(found, records, options.captured_at, options)
    return found.finish()


def _node(found: Collector, block: Block, clock: Clock, options: Options) -> Seen | None:
    """Return what one node shows; account for one that shows nothing."""
    reason = slurm_reasons.taken_apart(block.values.get("Reason", ""))
    private = slurm_reasons.names_of([reason.user, block.values.get("Owner")], options)
    shown = " ".join(f"{key}={block.values[key]}" for key in SHOWN if key in block.values)
    raw = slurm_reasons.without_users(shown, options)
    problem = _problem(block, ("NodeName", "State"))
    if problem is not None:
        found.skip(block.line, raw, problem, private)
        return None
    try:
        set_at = slurm_times.read(clock, reason.set_at) if reason.set_at else None
        nodes = expanded(block.values["NodeName"])
    except TimeError as error:
        found.skip(block.line, raw, str(error), private)
        return None
    except TermsError as error:
        found.skip(block.line, raw, f"its name: {error}", private)
        return None
    state = block.values["State"]
    meaning = slurm_snapshots.meaning_of(state)
    busy_at = _busy_at(block, clock) if meaning.state is not None else None
    return Seen(block.line, raw, nodes, state, meaning, reason.text, set_at, busy_at, private)


def _problem(block: Block, needed: tuple[str, ...]) -> str | None:
    """Return why a record cannot be used, None where it can."""
    missing = [key for key in needed if not block.values.get(key)]
    if missing:
        return f"has no {' and no '.join(missing)}"
    if block.at_end in needed:
        return f"the file is cut off within {block.at_end}"
    twice = [key for key in block.twice if key in (*needed, "Reason")]
    return f"has {twice[0]} twice" if twice else None


def _busy_at(block: Block, clock: Clock) -> datetime | None:
    """Return when jobs last ran; None where it is not known exactly, for it only serves as a bound."""
    written = block.values.get("LastBusyTime", "")
    if block.at_end == "LastBusyTime" or slurm_times.is_missing(written):
        return None
    try:
        reading = slurm_times.read(clock, written)
    except TimeError:
        return None
    return reading.at if reading.later is None else None


def read_reservations(log: Log, options: Options) -> Imported:
    """Read reservations as windows of planned work.

    Raises
    ------
    DealError
        When there is no reservation, or times need a zone and none is named.
    """
    found, clock = Collector(log, "slurm-scontrol-reservation"), Clock(log, options)
    blocks = 0
    seen: set[str] = set()
    for block in slurm_blocks.blocks(log, "ReservationName"):
        if isinstance(block, tuple):
            found.skip(*block, "stands before the first reservation")
            continue
        blocks += 1
        if block.raw in seen:
            found.duplicate()
            continue
        seen.add(block.raw)
        _reservation(found, block, clock, options)
    if not blocks:
        raise refused(log.name, "no ReservationName=", "reservations", "ask with scontrol show reservation -o")
    slurm_times.check_zone(clock)
    return found.finish()


def _reservation(found: Collector, block: Block, clock: Clock, options: Options) -> None:
    """Account for one reservation."""
    users = re.split(r"[,\s]+", block.values.get("Users", ""))
    private = slurm_reasons.names_of([user.lstrip("-+") for user in users], options)
    raw = block.raw if options.with_names else re.sub(r"(?<=\bUsers=)\S+", WITHHELD, block.raw)
    flags = block.values.get("Flags", "").split(",")
    if "Flags" in block.values and MAINTENANCE not in flags and block.at_end != "Flags":
        found.leave_out("a reservation without the flag MAINT, which is no planned work")
        return
    problem = _problem(block, ("ReservationName", "StartTime", "EndTime", "Nodes", "Flags"))
    if problem is not None:
        found.skip(block.line, raw, problem, private)
        return
    try:
        start = slurm_times.read(clock, block.values["StartTime"])
        end = slurm_times.read(clock, block.values["EndTime"])
        units = expanded(block.values["Nodes"])
    except TimeError as error:
        found.skip(block.line, raw, str(error), private)
        return
    except TermsError as error:
        found.skip(block.line, raw, f"its nodes: {error}", private)
        return
    if units in ((), ("(null)",), ("ALL",)):
        found.skip(block.line, raw, "names no nodes: write the window by hand", private)
        return
    if end.at < start.at:
        found.skip(block.line, raw, "ends before it begins", private)
        return
    if start.later is not None or end.later is not None:
        found.note(TWICE)
    found.note(NOTICE)
    if REPEATED & set(flags):
        found.note(REPEATS)
    name = found.log.evidence(None, block.values["ReservationName"], private).text
    found.window(
        Window(
            id=f"{found.log.name}:{block.line}:{name}"[:200],
            kind="scheduled",
            starts_at=start.at,
            ends_at=end.at,
            unit_ids=units,
            evidence=(found.log.evidence(block.line, raw, private),),
        )
    )


def _sniff_nodes(log: Log) -> int:
    return 94 if re.match(r"\s*NodeName=\S+ +.{0,400}?\b(?:Arch|CPUAlloc|State)=", log.head, re.DOTALL) else 0


def _sniff_reservations(log: Log) -> int:
    return 94 if re.match(r"\s*ReservationName=\S+ +StartTime=", log.head) else 0


FORMS = (
    Form("slurm-scontrol-node", "Slurm nodes, scontrol show node", _sniff_nodes, read_nodes, is_snapshot=True),
    Form(
        "slurm-scontrol-reservation",
        "Slurm reservations, scontrol show reservation",
        _sniff_reservations,
        read_reservations,
    ),
)
