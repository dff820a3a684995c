"""Any table with a column for the start and one for the end of an outage.

Which column is which is told from its name (`table_words.yaml`). Durations that a table prints are never used: they are
compared with end minus start, and every difference is reported. Several rows of one ticket are one record's history:
the last one counts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation

from slakit.statements.importers import delimited
from slakit.statements.importers.clock import Clock, Reading, order_of_dates
from slakit.statements.importers.delimited import BadRow, Row
from slakit.statements.importers.form import Form, Options
from slakit.statements.importers.imported import Bound, Collector, Imported, State
from slakit.statements.importers.log import Log
from slakit.statements.importers.refusal import refused
from slakit.statements.importers.table_words import plain, table_words
from slakit.statements.importers.times import TimeError, is_open

SHOWN_DIFFERENCES = 8
"""Differences of printed durations that a note lists one by one. [1]"""

_CLOCK_DURATION = re.compile(r"(?:(\d+) days?,? *)?(\d{1,5}):(\d{2})(?::(\d{2}))?")


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column plays which role, by place; a role that a table lacks has none."""

    header: tuple[str, ...]
    places: dict[str, int]
    people: tuple[int, ...]
    flags: tuple[int, ...]
    duration: tuple[int, int | None] | None
    """Place of a printed duration and the seconds in its unit, None where its column does not say."""

    def cell(self, row: Row, role: str) -> str:
        """Return a cell; blank where the table lacks the role or the cell holds nothing."""
        if role not in self.places:
            return ""
        cell = row.cells[self.places[role]].strip()
        return "" if table_words().is_missing(cell) else cell


def read(log: Log, options: Options) -> Imported:
    """Read a table of outages.

    Raises
    ------
    DealError
        When it lacks a start, an end or a name of units, or its times cannot be placed.
    """
    found = Collector(log, "outage-table")
    columns = _columns(delimited.columns(log))
    start, end = _role(columns, "start", "opened"), _role(columns, "end", "closed")
    if _is_of_jobs(columns.header):
        raise refused(
            log.name, "starts and ends of jobs", "starts and ends of outages", "give the events of nodes instead"
        )
    if start is None or end is None:
        what = "start" if start is None else "end"
        raise refused(log.name, f"no column for the {what} of an outage", "started_at and ended_at", f"name the {what}")
    if "unit" not in columns.places and options.unit_id is None:
        raise refused(log.name, "no column that names the unit", "node, host, service or unit_id", "give --unit")
    rows: list[Row] = []
    for row in delimited.rows(log, len(columns.header)):
        if isinstance(row, BadRow):
            found.skip(row.line, row.raw, row.reason)
        else:
            rows.append(row)
    named = ", ".join(
        f"{role} = {columns.header[place]!r}" for role, place in columns.places.items() if role in (start, end, "unit")
    )
    found.note(f"columns taken: {named}")
    if start == "opened":
        found.note(
            "the table gives when a ticket was opened, not when the outage began: the start is no later than that"
        )
    if "state" not in columns.places:
        found.note("the table has no column for the state of a unit: every outage in it is taken as down")
    times = [columns.cell(row, role) for row in rows for role in ("start", "opened", "end", "closed")]
    clock = Clock(log, options, order_of_dates(log, times))
    differences = _Differences(columns)
    ordering = Clock(log, replace(options, zone="UTC"), clock.order)  # changes of tickets are compared, not placed
    for row in _latest(columns, rows, found, ordering):
        _add(found, columns, row, clock, options, differences)
    clock.check()
    if not log.text.endswith(("\n", "\r")):
        found.note("the last line has no end of line: the file may have been cut off in it")
    for words in differences.notes():
        found.note(words)
    return found.finish()


def _add(
    found: Collector, columns: Columns, row: Row, clock: Clock, options: Options, differences: _Differences
) -> None:
    """Account for one row."""
    private = () if options.with_names else tuple(c for p in columns.people if (c := row.cells[p].strip()))
    unit = columns.cell(row, "unit") or options.unit_id or ""
    if not unit:
        found.skip(row.line, row.raw, "names no unit", private)
        return
    if "unit" in columns.places and (within := columns.cell(row, "within")):
        unit = f"{within}/{unit}"
    opened = columns.cell(row, "opened")
    begins, ends = columns.cell(row, "start"), columns.cell(row, "end") or columns.cell(row, "closed")
    if not (begins or opened):
        found.skip(row.line, row.raw, "gives no start", private)
        return
    try:
        notice = clock.read(opened) if opened else None
        start = clock.read(begins) if begins else notice
        end = None if is_open(ends) else clock.read(ends)
    except TimeError as error:
        found.skip(row.line, row.raw, str(error), private)
        return
    assert start is not None
    if end is not None and end.at < start.at and end.later is not None:
        end = Reading(end.later, None)  # the clock was put back while it lasted
    state = _state(found, columns, row)
    if state is None:
        return
    made = found.incident(
        line=row.line,
        raw=row.raw,
        unit_id=unit,
        level=options.unit_level or "node",
        state=state,
        started_at=start.at,
        ended_at=end.at if end else None,
        notice_at=notice.at if notice else None,
        cause=_cause(found, columns, row, private),
        private=private,
    )
    if made is None:
        return
    if not begins:
        found.bound(Bound(made.id, "started_at", None, start.at))
    elif start.later is not None:
        found.bound(Bound(made.id, "started_at", start.at, start.later))
        found.comes_twice(made.id, "started_at", start.at, start.later)
    if end is not None and end.later is not None:
        found.bound(Bound(made.id, "ended_at", end.at, end.later))
        found.comes_twice(made.id, "ended_at", end.at, end.later)
    if end is not None:
        differences.compare(row, start.at, end.at)


def _state(found: Collector, columns: Columns, row: Row) -> State | None:
    """Return the state of a row; None where it reports no outage, which is then counted."""
    if "state" not in columns.places:
        return "down"
    word = columns.cell(row, "state")
    meaning = table_words().meaning(row.cells[columns.places["state"]])
    if meaning == "none":
        found.leave_out(f"{columns.header[columns.places['state']]} {word.casefold() or 'none'!r}: reports no outage")
        return None
    if meaning == "ticket":
        found.note("the column of states speaks of tickets, not of units: every outage in it is taken as down")
        return "down"
    if meaning is None:
        found.unknown_state(word or "(blank)")
        return "unknown"
    return meaning


def _cause(found: Collector, columns: Columns, row: Row, private: tuple[str, ...]) -> str | None:
    """Return what a row names as its cause, without names of people."""
    cause = columns.cell(row, "cause") or "; ".join(
        f"{columns.header[place]}: {cell}" for place in columns.flags if (cell := row.cells[place].strip())
    )
    return found.log.evidence(None, cause, private).text if cause else None


def _latest(columns: Columns, rows: Sequence[Row], found: Collector, ordering: Clock) -> list[Row]:
    """Return the rows that count, in the order of the file; the others repeat one of them.

    With a column that says when a ticket was last changed, the last row of each ticket counts; without one, the last of
    those with the same ticket, unit and start. Rows that are equal in every cell are one.
    """
    kept: dict[tuple[str, ...], Row] = {}
    has_history = "updated" in columns.places and "ticket" in columns.places
    for row in rows:
        ticket = columns.cell(row, "ticket")
        if ticket and has_history:
            key: tuple[str, ...] = (ticket,)
        elif ticket:
            key = (ticket, columns.cell(row, "unit"), columns.cell(row, "start") or columns.cell(row, "opened"))
        else:
            key = ("", *row.cells)
        if key in kept:
            found.duplicate()
            if (
                has_history
                and ticket
                and _is_newer(columns.cell(kept[key], "updated"), columns.cell(row, "updated"), ordering)
            ):
                continue
        kept[key] = row
    if has_history:
        found.note("several rows of one ticket: the one changed last counts")
    return sorted(kept.values(), key=lambda row: row.line)


def _is_newer(one: str, other: str, clock: Clock) -> bool:
    """Return whether a count or time of a change is above another; False where that cannot be told."""
    if one.isdecimal() and other.isdecimal() and len(one) < 9:
        return int(one) > int(other)
    try:
        return clock.read(one).at > clock.read(other).at
    except TimeError:
        return False


class _Differences:
    """Compares printed durations with end minus start."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.compared = 0
        self.differing: list[tuple[int, Decimal]] = []
        self.unreadable = 0

    def compare(self, row: Row, started_at: datetime, ended_at: datetime) -> None:
        """Compare one row."""
        if self.columns.duration is None:
            return
        place, unit = self.columns.duration
        cell = row.cells[place].strip()
        if table_words().is_missing(cell):
            return
        elapsed = Decimal((ended_at - started_at) // timedelta(microseconds=1)).scaleb(-6)
        if parts := _CLOCK_DURATION.fullmatch(cell):
            days, hours, minutes, seconds = (int(part or 0) for part in parts.groups())
            printed, size, ulp = Decimal(((days * 24 + hours) * 60 + minutes) * 60 + seconds), 1, Decimal(1)
        elif unit is None:
            self.unreadable += 1
            return
        else:
            try:
                number = Decimal(cell.replace(",", ""))
                exponent = number.as_tuple().exponent
            except InvalidOperation:
                self.unreadable += 1
                return
            if not isinstance(exponent, int) or not -9 <= exponent <= 9:
                self.unreadable += 1
                return
            printed, size, ulp = number * unit, unit, Decimal(1).scaleb(exponent) * unit
        self.compared += 1
        if abs(elapsed - printed) >= ulp:
            self.differing.append((row.line, (elapsed - printed) / size))

    def notes(self) -> list[str]:
        """Return what there is to say."""
        if self.columns.duration is None:
            return []
        place, unit = self.columns.duration
        name = self.columns.header[place]
        word = {1: "s", 60: "min", 3600: "h", 86400: "day", None: "s"}[unit]
        found = []
        if self.differing:
            counts = Counter(difference.normalize() for _, difference in self.differing).most_common()
            listed = ", ".join(f"{count} by {difference:+f} {word}" for difference, count in counts[:SHOWN_DIFFERENCES])
            more = (
                f", and {len(counts) - SHOWN_DIFFERENCES} other differences" if len(counts) > SHOWN_DIFFERENCES else ""
            )
            places = ", ".join(str(line) for line, _ in self.differing[:SHOWN_DIFFERENCES])
            found.append(
                f"{name!r} differs from end minus start in {len(self.differing)} of {self.compared} rows "
                f"(end minus start is longer: {listed}{more}; lines {places}"
                f"{' and more' if len(self.differing) > SHOWN_DIFFERENCES else ''}); end minus start counts"
            )
        elif self.compared:
            found.append(f"{name!r} agrees with end minus start in all {self.compared} rows compared")
        if self.unreadable:
            found.append(f"{name!r} was not compared in {self.unreadable} rows: it is no number of a known unit")
        return found


def _columns(header: tuple[str, ...]) -> Columns:
    """Return which column plays which role."""
    words = table_words()
    names = [plain(name) for name in header]
    places = {
        role: names.index(name)
        for role, known in words.columns.items()
        if role != "people" and (name := next((n for n in known if n in names), None)) is not None
    }
    printed: tuple[int, int | None] | None = next(
        ((place, words.durations[name]) for place, name in enumerate(names) if name in words.durations), None
    ) or next(((place, None) for place, name in enumerate(names) if name in words.durations_without_unit), None)
    found = Columns(
        header,
        places,
        tuple(place for place, name in enumerate(names) if name in words.columns["people"]),
        tuple(place for place, name in enumerate(names) if name in words.cause_flags),
        printed,
    )
    if printed is not None and header[printed[0]].startswith("Down Time") and "prob_started" in names:
        return replace(found, duration=(printed[0], 60))  # LANL's failure records count minutes
    return found


def _role(columns: Columns, *roles: str) -> str | None:
    return next((role for role in roles if role in columns.places), None)


def _is_of_jobs(header: tuple[str, ...]) -> bool:
    return any(plain(name) in table_words().jobs for name in header)


def _sniff(log: Log) -> int:
    header = delimited.columns(log)
    if not header or _is_of_jobs(header) or log.head.lstrip()[:1] in ("{", "[", "<", "#"):
        return 0
    columns = _columns(header)
    if _role(columns, "start", "opened") is None or _role(columns, "end", "closed") is None:
        return 0
    return 45 if "start" in columns.places and "unit" in columns.places else 35


FORMS = (Form("outage-table", "A table with a start and an end column", _sniff, read),)
