"""The table of nodes from telemetry of any size, as a document and as CSV."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from schemas.deal import Deal
from schemas.errors import DealError, Problem
from slakit.statements.credits import periods_of
from slakit.statements.record_files import read_records
from slakit.statements.telemetry.node_statements import NodeStatements, node_statements
from slakit.statements.units import check_known, units_for

NOTE = (
    "Each line is the credit of one node in one month, before claims, the choice between service levels and the caps "
    "of month and year; nothing is excluded. The whole statement of the same file: slakit credits without --nodes."
)


def node_table(deal: Deal, path: Path, units: Path | None, periods: str | None, zone: str | None) -> NodeStatements:
    """Return the lines of all nodes in a file of telemetry.

    Raises
    ------
    DealError, MissingTermError, NotComputedError
        As reading and computing raise them; the periods must be named.
    """
    if periods is None:
        problem = Problem("--period", "no period", "a period such as 2026-10", "name it: telemetry is not read twice")
        raise DealError([problem])
    fees = units_for(deal, read_records(units, "units") if units else None, "a table of nodes")
    asked = periods_of(deal, periods, (), None, fees)
    check_known(deal, fees, asked, None)
    return node_statements(path, deal, fees, asked, zone)


def document(deal: Deal, found: NodeStatements) -> dict[str, Any]:
    """Return the table as JSON knows it."""
    account = found.account
    return {
        "deal": deal.title,
        "lines": found.lines.to_dicts(),
        "rows": account.rows,
        "used": account.used,
        "skipped": account.skipped,
        "skipped_by_reason": dict(account.reasons),
        "skipped_lines": [{"line": one.line, "reason": one.reason, "text": one.text} for one in account.listed],
        "left_out": dict(account.left_out),
        "duplicates": account.duplicates,
        "contradictions": account.contradictions,
        "unknown_states": dict(account.unknown_states),
        "without_fee": list(found.without_fee),
        "without_rows": list(found.without_rows),
        "by_exact_rules": found.by_exact_rules,
        "notes": [*found.warnings, NOTE],
    }


def table_csv(found: NodeStatements) -> bytes:
    """Return the table as CSV."""
    return found.lines.write_csv().encode()
