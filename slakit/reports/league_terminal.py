"""The league table in the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from slakit.reports import figures
from slakit.reports.credits_terminal import money, read_words
from slakit.reports.tables import Table
from slakit.reports.terminal import print_line, print_list, print_table

if TYPE_CHECKING:
    from rich.console import Console


def show(console: Console, document: Mapping[str, Any]) -> None:
    """Print the table, what pays most first."""
    asked = document["asked"]
    span = asked[0] if len(asked) == 1 else f"{asked[0]} to {asked[-1]}"
    paid = sum(1 for row in document["rows"] if row["credit"] and row["credit"]["amount"].strip("0."))
    unknown = sum(1 for row in document["rows"] if row["credit"] is None)
    console.print()
    print_line(
        console,
        f"{figures.count(paid)} of {figures.count(len(document['rows']))} promises pay for {span}; "
        f"{figures.count(unknown)} cannot be computed.",
        style="bold",
    )
    print_table(console, _table(document))
    print_list(console, "Settings", document["settings"])
    print_list(console, "What was read", read_words({**document, "not_mapped": {}}))
    console.print()
    print_line(console, "Figures of published schedules as facts, not the contracts. Not legal advice.", style="dim")


def _table(document: Mapping[str, Any]) -> Table:
    rows = []
    for row in document["rows"]:
        words = [row["reason"], row["claim"] if row["credit"] and row["credit"]["amount"].strip("0.") else None]
        rows.append(
            (
                row["schedule"],
                row["service_level"],
                "; ".join(word for word in words if word),
                f"{row['availability_percent']}%" if row["availability_percent"] else figures.UNDEFINED,
                money(row["credit"]) if row["credit"] else figures.UNDEFINED,
            )
        )
    return Table(
        title="What each would have paid",
        note=f"a monthly fee of {money(document['fee'])} a unit; availability of the worst unit and month",
        head=("Schedule", "Level", "Why, and how it is claimed", "Availability", "Credit"),
        rows=tuple(rows),
        text_columns=3,
    )
