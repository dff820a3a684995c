"""A stretch of availability, or of downtime, that misses the promise and pays nothing or no one knows what.

Bands are typed strictly below their edge and in order, so that two answers for one edge, an overlap, a gap between rows
and words that differ from the test cannot be written down here; a gap above the first row can, and so can a row of a
table of durations for which the contract gives no hours, and a promise without a price.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise

from schemas.credit_shapes import CreditBands, DurationTable, TermExtension, UnstatedCredit
from schemas.deal import Deal
from schemas.service_levels import ServiceLevel
from slakit.checks.finding import Raised, everybody
from slakit.reports.figures import agreed_percent

ID = "trap-08-table-gap"
CONCERN = everybody("error")


def find(deal: Deal) -> Iterator[Raised]:
    """Yield levels whose table starts below the target or leaves a stretch out, and levels without a price."""
    for name, level in deal.service_levels.items():
        match level.credit:
            case CreditBands(bands=bands):
                yield from _starts_late(name, level, bands[0].below, "credit-schedule.bands", "bands")
            case TermExtension(rows=days):
                yield from _starts_late(name, level, days[0].below, "credit-schedule.term-extension", "rows")
            case DurationTable():
                yield from _left_out(name, level.credit)
            case UnstatedCredit():
                yield Raised(
                    CONCERN,
                    "credit-schedule.unstated",
                    f"service_levels.{name}.credit",
                    "The level is promised and nothing says what a miss of it pays: agree on a credit.",
                )


def _starts_late(name: str, level: ServiceLevel, first: Decimal, paragraph: str, rows: str) -> Iterator[Raised]:
    if level.target is not None and first < level.target:
        yield Raised(
            CONCERN,
            paragraph,
            f"service_levels.{name}.credit.{rows}[0].below",
            f"From {agreed_percent(first)} up to the target of {agreed_percent(level.target)} the promise is "
            f"broken and the table {'pays' if rows == 'bands' else 'adds'} nothing: start the first "
            f"{'band' if rows == 'bands' else 'row'} at the target, or lower the target.",
        )


def _left_out(name: str, table: DurationTable) -> Iterator[Raised]:
    ends = [later.from_minutes for _, later in pairwise(table.rows)]
    for i, row in enumerate(table.rows):
        if row.credit_hours is None:
            up_to = f" and less than {ends[i]:,}" if i < len(ends) else ""
            yield Raised(
                CONCERN,
                "credit-schedule.duration-table",
                f"service_levels.{name}.credit.rows[{i}].unstated",
                f"For a downtime of {row.from_minutes:,} minutes or more{up_to} the table gives no credit that anyone "
                "could compute: give the hours.",
            )
