"""The league table in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from slakit.reports import figures
from slakit.reports.credit_statement.facts import counted
from slakit.reports.credits_terminal import money, read_words
from slakit.reports.tables import Table
from slakit.reports.terminal import print_line, print_list, print_table
from slakit.statements.words import LOSSES, NO_NOTICE, NOTHING_DOWN, PAYS_NOTHING, TARGET_MET, TOO_SHORT

if TYPE_CHECKING:
    from rich.console import Console


SHORT = {
    NOTHING_DOWN: "nothing down",
    NO_NOTICE: "no notice in log",
    TOO_SHORT: "too short",
    TARGET_MET: "target met",
    PAYS_NOTHING: "table pays 0",
    LOSSES["late_claim"]: "claim too late",
    LOSSES["below_minimum"]: "below its minimum",
}
"""Reasons in two or three words, for a column; the rest stand below the table."""


def show(console: Console, document: Mapping[str, Any]) -> None:
    """Print the table, what pays most first."""
    asked = document["asked"]
    span = asked[0] if len(asked) == 1 else f"{asked[0]} to {asked[-1]}"
    paid = sum(1 for row in document["rows"] if _pays(row))
    unknown = sum(1 for row in document["rows"] if row["credit"] is None)
    console.print()
    print_line(
        console,
        f"{figures.count(paid)} of {figures.count(len(document['rows']))} promises pay for {span}; "
        f"{figures.count(unknown)} cannot be computed.",
        style="bold",
    )
    print_table(console, _table(document))
    print_list(console, "Why some pay nothing or are not computed", _reasons(document))
    print_list(console, "Settings", document["settings"])
    print_list(console, "What was read", read_words({**document, "not_mapped": {}}))
    console.print()
    print_line(console, "Figures of published schedules as facts, not the contracts. Not legal advice.", style="dim")


def _table(document: Mapping[str, Any]) -> Table:
    """Return the rows that pay, or whose credit is computed as nothing, under their shortest reason."""
    return Table(
        title="What each would have paid",
        note=f"for a monthly fee of {money(document['fee'])} a unit; availability of the worst unit and month",
        head=("Schedule", "Level", "Claim", "Availability", f"Credit, {document['fee']['currency']}", "Why not"),
        rows=tuple(
            (
                row["schedule"],
                row["service_level"],
                row["claim_window"],
                f"{row['availability_percent']}%" if row["availability_percent"] else figures.UNDEFINED,
                _credit(row),
                "" if _pays(row) else SHORT.get(row["reason"], "see below"),
            )
            for row in document["rows"]
        ),
        text_columns=3,
        words_last=True,
        may_drop=("Availability", "Level"),
    )


def _reasons(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the reasons that the table has no room for."""
    for row in document["rows"]:
        if not _pays(row) and row["reason"] not in SHORT:
            yield f"{row['schedule']}, {row['service_level']}: {row['reason']}"


def _pays(row: Mapping[str, Any]) -> bool:
    return bool(row["days_added"]) or bool(row["credit"] and row["credit"]["amount"].strip("0."))


def _credit(row: Mapping[str, Any]) -> str:
    if row["days_added"]:
        return counted(row["days_added"], "day", "days")
    if row["credit"] is None:
        return "not computed"
    return money(row["credit"]).partition(" ")[2] if _pays(row) else figures.UNDEFINED
