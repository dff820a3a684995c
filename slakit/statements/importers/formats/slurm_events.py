"""Node events of Slurm's accounting, `sacctmgr show events`: one row from the start of a state to its end.

No real output of this command with a source was found: the layout is the one that Slurm's source and manual document.
`-P` and `-p` give bars, and the columns asked for; without either, widths are fixed and long values are cut, which can
be read only where a line of dashes shows the widths. Rows that touch, such as DOWN and then DOWN+DRAIN, stay separate.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from schemas.errors import TermsError
from slakit.statements.host_lists import expanded
from slakit.statements.importers import slurm_reasons, slurm_states, slurm_tables, slurm_times
from slakit.statements.importers.clock import Clock, Reading
from slakit.statements.importers.delimited import BadRow, Row
from slakit.statements.importers.form import Form, Options
from slakit.statements.importers.imported import Bound, Collector, Imported
from slakit.statements.importers.log import WITHHELD, Log
from slakit.statements.importers.refusal import refused
from slakit.statements.importers.slurm_states import Meaning
from slakit.statements.importers.slurm_tables import Header
from slakit.statements.importers.times import TimeError

ASK = "ask with sacctmgr show events -P format=Cluster,NodeName,Start,End,State,Reason,User"
USERS = ("user", "reasonuid")
NO_STATE = "(no column State)"
SHOWN_DIFFERENCES = 8
"""Lines that a note on durations lists one by one. [1]"""

_DURATION = re.compile(r"(?:(\d{1,5})-)?(\d{1,2}):(\d\d):(\d\d)")


@dataclass(slots=True)
class _Durations:
    """Compares the printed duration of closed rows with end minus start, which counts."""

    compared: int = 0
    differing: list[int] = field(default_factory=list)

    def compare(self, line: int, written: str, elapsed: timedelta) -> None:
        """Compare one row."""
        parts = _DURATION.fullmatch(written)
        if parts is None:
            return
        days, hours, minutes, seconds = (int(part or 0) for part in parts.groups())
        self.compared += 1
        if timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds) != elapsed:
            self.differing.append(line)

    def note(self, found: Collector) -> None:
        """Say what differs."""
        if self.differing:
            lines = ", ".join(str(line) for line in self.differing[:SHOWN_DIFFERENCES])
            more = " and more" if len(self.differing) > SHOWN_DIFFERENCES else ""
            found.note(
                f"Duration differs from TimeEnd minus TimeStart in {len(self.differing)} of {self.compared} rows "
                f"(lines {lines}{more}): TimeEnd minus TimeStart counts"
            )


def read(log: Log, options: Options) -> Imported:
    """Read node events.

    Raises
    ------
    DealError
        When columns are missing or of unknown width, or times need a zone and none is named.
    """
    header = _header(log)
    found, clock, durations = Collector(log, "slurm-events"), Clock(log, options), _Durations()
    free = header.names.index("reason") if "reason" in header.names else None
    seen: set[tuple[str, ...]] = set()
    ends_in_break = log.data[-1:] in (b"\n", b"\r")
    last = max((number for number, _ in log.lines()), default=0)
    for row in slurm_tables.rows(log, header, free):
        if isinstance(row, BadRow):
            found.skip(row.line, _bad(row, header, options), row.reason)
        elif tuple(cell.casefold() for cell in row.cells) == header.names:
            found.leave_out("the header again")
        elif row.cells in seen:
            found.duplicate()
        else:
            seen.add(row.cells)
            is_cut = not ends_in_break and row.line == last and header.names[-1] == "timeend" and not row.cells[-1]
            _add(found, header, row, clock, options, durations, is_cut=is_cut)
    slurm_times.check_zone(clock)
    durations.note(found)
    if "state" not in header.names:
        found.note(f"without the column State every event is unknown: {ASK}")
    return found.finish()


def _header(log: Log) -> Header:
    """Return the header, or refuse the file."""
    header = slurm_tables.header_of(log)
    if header is None:
        first = next((line for _, line in slurm_tables.first_lines(log)), "")
        raise refused(
            log.name,
            f"{first.strip()[:60]!r} without bars, and without a line of dashes that shows the widths of its columns",
            "node events with a header",
            ASK,
        )
    missing = [name for name in ("NodeName", "TimeStart", "TimeEnd") if name.casefold() not in header.names]
    twice = sorted({name for name in header.names if header.names.count(name) > 1})
    if missing or twice:
        what = f"no column {', '.join(missing)}" if missing else f"the column {twice[0]} twice"
        raise refused(log.name, what, "NodeName, TimeStart and TimeEnd, each once", ASK)
    return header


def _bad(row: BadRow, header: Header, options: Options) -> str:
    """Return what of a row without its fields may be shown: not where any of them may be a user."""
    if options.with_names or not set(USERS) & set(header.names):
        return row.raw
    return f"{row.raw.split('|')[0][:40]}… (the rest is withheld, for it may name a user)"


def _add(
    found: Collector,
    header: Header,
    row: Row,
    clock: Clock,
    options: Options,
    durations: _Durations,
    *,
    is_cut: bool,
) -> None:
    """Account for one row."""
    cells = dict(zip(header.names, row.cells, strict=True))
    reason = slurm_reasons.taken_apart(cells.get("reason", ""))
    users = [cells.get(name) for name in USERS]
    private = slurm_reasons.names_of([*users, reason.user], options)
    raw = _shown(header, row, options)
    node, begins, ends = cells["nodename"], cells["timestart"], cells["timeend"]
    if not node:
        if cells.get("state"):
            found.skip(row.line, raw, "names no node", private)
        else:
            found.leave_out("an event of the cluster's size, which names no node")
        return
    try:
        if is_cut:
            raise TimeError("the file is cut off before TimeEnd")
        (unit,) = expanded(node)
        start = slurm_times.read(clock, begins)
        end = None if not ends or slurm_times.is_missing(ends) else slurm_times.read(clock, ends)
    except TimeError as error:
        found.skip(row.line, raw, str(error), private)
        return
    except (TermsError, ValueError):
        found.skip(row.line, raw, f"{node[:40]!r} is not one node", private)
        return
    if header.spans and node.endswith("+"):
        found.skip(row.line, raw, f"the name {node!r} is cut off", private)
        return
    if end is not None and end.at < start.at and end.later is not None:
        end = Reading(end.later)  # the clock was put back while it lasted
    meaning = _meaning(found, header, cells)
    if meaning.state is None:
        found.leave_out(f"state {cells['state']}: no outage")
        return
    made = found.incident(
        line=row.line,
        raw=raw,
        unit_id=unit,
        level=options.unit_level or "node",
        state=meaning.state,
        started_at=start.at,
        ended_at=end.at if end else None,
        detected_at=start.at,
        cause=slurm_reasons.cause(found.log, reason.text, cells.get("state") or "not shown", private),
        private=private,
    )
    if made is None:
        return
    _bounds(found, made.id, start, end, slurm_reasons.earliest_start(reason.text, start.at))
    if end is not None:
        durations.compare(row.line, cells.get("duration", ""), end.at - start.at)


def _bounds(found: Collector, incident: str, start: Reading, end: Reading | None, earliest: datetime | None) -> None:
    """Note what is known of a start or an end only within bounds."""
    if earliest is not None:
        found.bound(Bound(incident, "started_at", earliest, start.later or start.at))
        found.note(
            "a node that did not respond may have failed up to SlurmdTimeout, 300 s by default, before TimeStart"
        )
        if start.later is not None:
            found.comes_twice(incident, "started_at", start.at, start.later)
        start = Reading(start.at)
    slurm_times.bound_twice(found, incident, start, end)


def _meaning(found: Collector, header: Header, cells: dict[str, str]) -> Meaning:
    """Return what the state of a row means, with its notes and unknown words."""
    if "state" not in cells:
        found.unknown_state(NO_STATE)
        return Meaning("unknown")
    written = cells["state"]
    words = slurm_states.words_of(written)
    if header.spans and written.endswith("+"):
        start, end = header.spans[header.names.index("state")]
        if len(written) == end - start:  # cut off: only what stands before it is known, and DOWN decides alone
            found.note(f"fixed widths cut values off: {ASK}")
            words = ("DOWN",) if "DOWN" in words[:-1] or written.startswith("DOWN+") else (f"{written} (cut off)",)
    meaning = slurm_states.meaning(words)
    for word in meaning.unmapped or ((written or "(blank)",) if meaning.state == "unknown" else ()):
        found.unknown_state(word)
    for note in meaning.notes:
        found.note(note)
    return meaning


def _shown(header: Header, row: Row, options: Options) -> str:
    """Return a row as it may be shown: without the columns that name users."""
    if options.with_names:
        return row.raw
    raw = row.raw
    if set(USERS) & set(header.names):
        cells = [
            WITHHELD if name in USERS and cell and cell.casefold() != "unknown" else cell
            for name, cell in zip(header.names, row.cells, strict=True)
        ]
        raw = (header.delimiter or "  ").join(cells)
    return slurm_reasons.without_users(raw, options)


def _sniff(log: Log) -> int:
    header = slurm_tables.header_of(log)
    if header is not None:
        return 96 if {"timestart", "timeend"} <= set(header.names) else 0
    first = next((line for _, line in slurm_tables.first_lines(log)), "").casefold().split()
    return 80 if {"timestart", "timeend"} <= set(first) and not any("," in word for word in first) else 0


FORMS = (Form("slurm-events", "Slurm node events, sacctmgr show events", _sniff, read),)
