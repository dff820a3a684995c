"""Tables of `sinfo`: `sinfo -R` with the reasons of nodes that are not all right, and lists of nodes with their states.

All are snapshots. `sinfo -R` does not say the state unless it is asked for, and lists drained nodes beside those that
are down and those on which jobs still run: without a column of states each is unknown. A node comes once per partition.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime

from schemas.errors import TermsError
from slakit.statements.host_lists import expanded
from slakit.statements.importers import (
    slurm_reasons,
    slurm_snapshots,
    slurm_states,
    slurm_tables,
    slurm_times,
    snapshots,
)
from slakit.statements.importers.clock import Clock
from slakit.statements.importers.delimited import BadRow, Row
from slakit.statements.importers.form import Form, Options
from slakit.statements.importers.imported import Collector, Imported
from slakit.statements.importers.log import WITHHELD, Log
from slakit.statements.importers.refusal import refused
from slakit.statements.importers.slurm_snapshots import Seen
from slakit.statements.importers.slurm_tables import Header
from slakit.statements.importers.times import TimeError

NODES = ("nodelist", "hostnames", "node_list", "nodenames")
TIMES = ("timestamp",)
STATES = ("state", "statelong", "statecompact", "statecomplete")
USERS = ("user", "userlong")
ASK = "ask with sinfo -N -o '%N|%E|%H|%T'"
ASK_REASONS = "ask with sinfo -R -o '%E|%H|%T|%N'"
MOST_NODES = 1_000_000
"""Names of nodes in all rows together. [1]"""
REASON_WIDTH = 20
"""Characters to which `sinfo -R` cuts a reason unless asked otherwise."""

_WITHOUT_HEADER = re.compile(r"[^|\s]+\|[^|]*\|(?:Unknown|None|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\|[A-Za-z_+*~#!%$@^-]+")
_MEMORY = re.compile(r"\S+\s+\d+\s+\d+\s+\d+/\d+/\d+/\d+\s+[A-Za-z_+*~#!%$@^-]+\s*")


def read(log: Log, options: Options) -> Imported:
    """Read a list of nodes with their states."""
    return _read(log, options, "slurm-sinfo")


def read_reasons(log: Log, options: Options) -> Imported:
    """Read a list of reasons."""
    return _read(log, options, "slurm-sinfo-reason")


def _read(log: Log, options: Options, form: str) -> Imported:
    """Read a snapshot.

    Raises
    ------
    DealError
        When it has no node column, no column of states and none of reasons, or nothing says when it was taken or its
        reasons were set.
    """
    header, is_padded = _header(log)
    found, clock = Collector(log, form), Clock(log, options)
    if not set(header.names) & set(NODES):
        raise refused(log.name, "no column with the nodes", "NODELIST or HOSTNAMES", ASK)
    has_states, has_reasons = bool(set(header.names) & set(STATES)), "reason" in header.names
    if not has_states and not has_reasons:
        raise refused(log.name, "neither a column STATE nor REASON", "one of them", ASK)
    free = header.names.index("reason") if header.names.count("reason") == 1 else None
    rows = slurm_tables.padded(log, header, free) if is_padded else slurm_tables.rows(log, header, free)
    records = list(_records(found, header, rows, clock, options))
    slurm_times.check_zone(clock)
    has_times = bool(set(header.names) & set(TIMES))
    taken = None if has_times and options.captured_at is None else _taken(log, clock, options)
    if taken is not None:
        found.taken(taken)
    slurm_snapshots.add(found, records, taken, options)
    if not has_states:
        found.note(
            f"sinfo -R lists nodes that are down, drained, draining or failing, and does not say which: {ASK_REASONS}"
        )
    if any(len(one.reason) == REASON_WIDTH for one in records):
        found.note(f"reasons of {REASON_WIDTH} characters may be cut off, as sinfo -R does unless asked otherwise")
    return found.finish()


def _taken(log: Log, clock: Clock, options: Options) -> datetime:
    """Return when the snapshot was taken, or refuse it."""
    return snapshots.time_of(log, clock, options).at


def _header(log: Log) -> tuple[Header, bool]:
    """Return the header and whether the columns are padded with blanks; that of a known command without a header."""
    lines = slurm_tables.first_lines(log)
    number, first = lines[0] if lines else (1, "")
    if _WITHOUT_HEADER.fullmatch(first.strip()):
        return Header(0, ("nodelist", "reason", "timestamp", "state"), delimiter="|"), False
    if _MEMORY.fullmatch(first):
        return Header(0, ("nodelist", "allocmem", "memory", "cpus", "state"), ()), True
    header = slurm_tables.header_of(log)
    if header is not None and header.delimiter is not None:
        return header, False
    return Header(number, tuple(name.casefold() for name in first.split())), True


def _records(
    found: Collector, header: Header, rows: Iterable[Row | BadRow], clock: Clock, options: Options
) -> Iterator[Seen]:
    """Yield what each row shows; account for rows that show nothing."""
    nodes = 0
    for row in rows:
        if isinstance(row, BadRow):
            hides = not options.with_names and bool(set(USERS) & set(header.names))
            found.skip(row.line, "(withheld, for it may name a user)" if hides else row.raw, row.reason)
            continue
        if tuple(cell.casefold() for cell in row.cells) == header.names:
            found.leave_out("the header again")
            continue
        record = _record(found, header, row, clock, options)
        if record is not None:
            nodes += len(record.nodes)
            if nodes > MOST_NODES:
                raise refused(found.log.name, f"more than {MOST_NODES:,} names of nodes", "one snapshot", "split it")
            yield record


def _record(found: Collector, header: Header, row: Row, clock: Clock, options: Options) -> Seen | None:
    """Return what one row shows."""
    reason = slurm_reasons.taken_apart(next(iter(_cells(header, row, ("reason",))), ""))
    users = _cells(header, row, USERS)
    private = slurm_reasons.names_of([*users, reason.user], options)
    raw = _shown(header, row, options)
    states = _cells(header, row, STATES)
    meanings = [slurm_snapshots.meaning_of(state) for state in states] or [slurm_snapshots.meaning_of(None)]
    if len({one.state for one in meanings}) > 1:
        found.skip(row.line, raw, f"two columns of states that disagree: {' and '.join(states)}", private)
        return None
    written = next(iter(_cells(header, row, TIMES)), "")
    try:
        set_at = None if not written or slurm_times.is_missing(written) else slurm_times.read(clock, written)
        nodes = expanded(next(cell for cell in _cells(header, row, NODES)))
    except TimeError as error:
        found.skip(row.line, raw, str(error), private)
        return None
    except TermsError as error:
        found.skip(row.line, raw, f"its list of nodes: {error}", private)
        return None
    if not nodes or nodes == ("n/a",):
        found.leave_out("a state in which there are no nodes")
        return None
    state = states[0] if states else None
    if state is None and not reason.text and set_at is None:
        return Seen(row.line, raw, nodes, "reason none", slurm_states.Meaning(None), "", None, private=private)
    return Seen(row.line, raw, nodes, state, meanings[0], reason.text, set_at, private=private)


def _cells(header: Header, row: Row, names: tuple[str, ...]) -> list[str]:
    return [cell for name, cell in zip(header.names, row.cells, strict=True) if name in names]


def _shown(header: Header, row: Row, options: Options) -> str:
    """Return a row as it may be shown: without the columns that name users."""
    raw = row.raw
    if not options.with_names and set(USERS) & set(header.names):
        cells = [
            WITHHELD if name in USERS and cell and cell.casefold() != "unknown" else cell
            for name, cell in zip(header.names, row.cells, strict=True)
        ]
        raw = (header.delimiter or "  ").join(cells)
    return slurm_reasons.without_users(raw, options)


def _names(log: Log) -> set[str]:
    return set(_header(log)[0].names)


def _sniff(log: Log) -> int:
    if log.head.lstrip()[:1] in ("{", "[", "<", "#"):
        return 0
    lines = slurm_tables.first_lines(log)
    if not lines:
        return 0
    number = _header(log)[0].line
    names = _names(log)
    if number == 0:
        same = [line for _, line in lines if _WITHOUT_HEADER.fullmatch(line.strip()) or _MEMORY.fullmatch(line)]
        known = any(
            slurm_snapshots.meaning_of(re.split(r"[|\s]+", line.strip())[-1]).state != "unknown" for line in same
        )
        return 60 if known and len(same) == len(lines) else 0
    if not names & set(NODES) or "jobid" in names or ("user" in names and "submit" in names):
        return 0
    if _is_of_reasons(log):
        return 40
    return 90 if names & set(STATES) else 0


def _is_of_reasons(log: Log) -> bool:
    """Return whether the first column is the reason, as `sinfo -R` prints it."""
    names = _header(log)[0].names
    return bool(names) and names[0] == "reason" and bool(set(names) & set(NODES)) and bool(set(names) & set(TIMES))


def _sniff_reasons(log: Log) -> int:
    return 94 if slurm_tables.first_lines(log) and _is_of_reasons(log) else 0


FORMS = (
    Form("slurm-sinfo", "Slurm nodes and their states, sinfo", _sniff, read, is_snapshot=True),
    Form("slurm-sinfo-reason", "Slurm reasons of nodes, sinfo -R", _sniff_reasons, read_reasons, is_snapshot=True),
)
