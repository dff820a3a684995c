"""Jobs of Slurm's accounting, `sacct`: refused, for a job that failed does not show which of its nodes did, or when.

What such a file can support stands in the refusal: how many jobs ended NODE_FAIL, and on which nodes they ran.
"""

from __future__ import annotations

from collections.abc import Iterator

from schemas.errors import TermsError
from slakit.statements.host_lists import expanded
from slakit.statements.importers import slurm_tables
from slakit.statements.importers.delimited import BadRow, Row
from slakit.statements.importers.form import Form, Options
from slakit.statements.importers.imported import Collector, Imported
from slakit.statements.importers.log import Log
from slakit.statements.importers.refusal import refused
from slakit.statements.importers.slurm_tables import Header

COLUMNS = frozenset({"state", "end", "start", "elapsed", "nodelist", "exitcode", "jobname", "partition", "account"})
"""Columns, one of which stands beside JobID."""
DELIMITERS = ("|", "||", ",", ";", "\t", "^", "!", "~", "@", "#")
"""Delimiters that sacct is asked for."""
SHOWN = 8
"""Lines, and nodes of a job, that a note lists one by one. [1]"""


def account(log: Log, options: Options) -> Imported:
    """Return an account of every row: no incident, and notes on jobs that ended NODE_FAIL.

    Raises
    ------
    DealError
        When the file has no header.
    """
    header = _header(log)
    if header is None:
        raise refused(log.name, "no header with JobID", "rows of sacct under their header", "ask again without -n")
    found = Collector(log, "slurm-sacct")
    seen: set[tuple[str, ...]] = set()
    for row in _rows(log, header):
        if isinstance(row, BadRow):
            found.skip(row.line, row.raw if options.with_names else "(withheld: it may name a user)", row.reason)
        elif row.cells in seen:
            found.duplicate()
        else:
            seen.add(row.cells)
            _row(found, header, row)
    return found.finish()


def _row(found: Collector, header: Header, row: Row) -> None:
    """Account for one row."""
    cells = dict(zip(header.names, row.cells, strict=True))
    job, state = cells["jobid"], cells.get("state", "").split(" ")[0].rstrip("+").upper()
    if "." in job:
        found.leave_out("a step of a job")
        return
    if state != "NODE_FAIL":
        found.leave_out("a job, which says nothing about a node")
        return
    found.leave_out("a job that ended NODE_FAIL: it names all its nodes, not the one that failed")
    try:
        nodes = expanded(cells.get("nodelist", ""))
    except TermsError:
        nodes = ()
    listed = ", ".join(nodes[:SHOWN]) + (f" and {len(nodes) - SHOWN} more" if len(nodes) > SHOWN else "")
    end = cells.get("end") or "a time that the file does not give"
    found.note(f"line {row.line}: a job ended NODE_FAIL at {end[:40]}, on one or more of {listed or 'unnamed nodes'}")


def read(log: Log, options: Options) -> Imported:
    """Refuse jobs, with an account of the file.

    Raises
    ------
    DealError
        Always.
    """
    found = account(log, options)
    said = [f"jobs and their steps, {found.records:,} row{'s' * (found.records != 1)}, which hold no outage of a node"]
    if found.duplicates:
        said.append(f"{found.duplicates:,} repeat another")
    if found.skipped:
        lines = ", ".join(str(one.line) for one in found.skipped[:SHOWN])
        more = " and more" if len(found.skipped) > SHOWN else ""
        said.append(f"{len(found.skipped):,} cannot be read, lines {lines}{more}: {found.skipped[0].reason}")
    said += found.notes[:SHOWN]
    if len(found.notes) > SHOWN:
        said.append(f"and {len(found.notes) - SHOWN} more jobs that ended NODE_FAIL")
    raise refused(
        log.name,
        "; ".join(said),
        "records of when a node was down",
        "keep it as supporting evidence, and give the events of the nodes: sacctmgr show events -P",
    )


def _header(log: Log) -> Header | None:
    """Return the header of a table of jobs; None for other files."""
    for delimiter in sorted(DELIMITERS, key=len, reverse=True):
        header = slurm_tables.header_of(log, delimiter)
        if header is not None and _is_of_jobs(header):
            return header
    return None


def _is_of_jobs(header: Header) -> bool:
    return header.names.count("jobid") == 1 and bool(COLUMNS & set(header.names))


def _rows(log: Log, header: Header) -> Iterator[Row | BadRow]:
    """Yield each row; one whose fields a line break cut in two is two bad rows."""
    return slurm_tables.rows(log, header, None)


def _sniff(log: Log) -> int:
    return 96 if _header(log) is not None else 0


FORMS = (Form("slurm-sacct", "Slurm jobs, sacct", _sniff, read, holds_outages=False),)
