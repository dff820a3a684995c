"""The table of nodes from telemetry, in the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from slakit.reports import figures
from slakit.reports.credit_statement.facts import counted, sentence
from slakit.reports.tables import Table
from slakit.reports.terminal import print_line, print_list, print_table

if TYPE_CHECKING:
    from rich.console import Console

MOST_LINES = 20


def show(console: Console, document: Mapping[str, Any]) -> None:
    """Print the dearest lines and what became of the rows."""
    lines = sorted(
        document["lines"], key=lambda line: (-Decimal(line["credit"]), -line["counted_minutes"], line["unit"])
    )
    credited = sum(1 for line in lines if Decimal(line["credit"]))
    console.print()
    print_line(console, document["deal"], style="dim")
    words = f"{figures.count(credited)} of {figures.count(len(lines))} lines of nodes earn a credit."
    print_line(console, words, style="bold")
    rest = len(lines) - MOST_LINES
    table = Table(
        title="Lines",
        note="minutes; one node in one month",
        head=("Period", "Level", "Node", "Window", "Counted", "Unknown", "Credit"),
        rows=tuple(
            (
                line["period"],
                line["service_level"],
                line["unit"],
                *(f"{line[name]:,}" for name in ("window_minutes", "counted_minutes", "unknown_minutes")),
                f"{line['currency']} {Decimal(line['credit']):,}",
            )
            for line in lines[:MOST_LINES]
        ),
        text_columns=3,
        rest=f"{figures.count(rest)} further lines are not shown; --json and -o have all." if rest > 0 else None,
    )
    if table.rows:
        print_table(console, table)
    print_list(console, "What was read", _read(document))
    print_list(console, "Notes", map(sentence, document["notes"]))


def _read(document: Mapping[str, Any]) -> list[str]:
    found = [
        f"{figures.count(document['rows'])} rows: {figures.count(document['used'])} used, "
        f"{figures.count(document['duplicates'])} repeats, {figures.count(document['skipped'])} skipped."
    ]
    found += [
        f"Skipped: {figures.count(times)} for {reason}." for reason, times in document["skipped_by_reason"].items()
    ]
    found += [
        f"State {word!r} is not known ({counted(times, 'row', 'rows')})."
        for word, times in document["unknown_states"].items()
    ]
    for name, words in (("without_fee", "No node of the contract"), ("without_rows", "Nodes without a row")):
        if document[name]:
            shown = ", ".join(document[name][:12])
            found.append(f"{words}: {shown}{' and others' if len(document[name]) > 12 else ''}.")
    return found
