"""A statement of credits in the terminal: what is owed, by when to claim it, the lines behind it, what was not used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from slakit.reports import figures
from slakit.reports.tables import Table
from slakit.reports.terminal import print_line, print_list, print_table
from slakit.statements.words import LOSSES

if TYPE_CHECKING:
    from rich.console import Console

Document = Mapping[str, Any]
MOST_LINES = 40
"""Lines printed; all are in the JSON and in the files. [1]"""
MOST_SKIPPED = 8


def show(console: Console, document: Document) -> None:
    """Print a statement."""
    console.print()
    print_line(console, document["deal"], style="dim")
    print_line(console, answer(document), style="bold")
    for sentence in details(document):
        print_line(console, sentence)
    print_table(console, lines_table(document, MOST_LINES))
    if document.get("against"):
        print_table(console, against_table(document, MOST_LINES))
    print_list(console, "Rights", (right_words(right) for right in document["rights"]))
    print_list(console, "Not computed", document["not_computed"])
    print_list(console, "What was read", read_words(document))
    print_list(console, "Notes", document["notes"])
    console.print()
    print_line(console, "Not legal advice. The contract as signed prevails.", style="dim")


def answer(document: Document) -> str:
    """Return what the statement comes to in one sentence."""
    total, asked = document["total"], document["asked"]
    span = asked[0] if len(asked) == 1 else f"{asked[0]} to {asked[-1]}"
    if document["not_computed"] and total["amount"].strip("0.") == "":
        return f"What is owed for {span} cannot be computed."
    owed = f"{money(total)} is owed for {span}"
    return f"At least {owed}; part of it cannot be computed." if document["not_computed"] else f"{owed}."


def details(document: Document) -> Iterator[str]:
    """Yield the sentences below the answer."""
    missed = {(line["service_level"], line["unit"]) for line in document["periods"] if line["target_met"] is False}
    if missed:
        yield f"{figures.count(len(missed))} {'unit' if len(missed) == 1 else 'units'} missed a target."
    else:
        yield "No unit missed its target."
    if document["claim_by"]:
        yield f"A claim must be received before {document['claim_by']}; later ones may be lost."
    for reason, amount in document["lost"].items():
        yield f"{money(amount)} of the credits is not owed: {LOSSES[reason]}."


def lines_table(document: Document, limit: int) -> Table:
    """Return the lines with downtime or credit, the dearest first, at most `limit`."""
    lines = [
        line
        for line in document["periods"]
        if line["down_minutes"] or line["unknown_minutes"] or line["credit"] is None or _amount(line)
    ]
    lines.sort(
        key=lambda line: (-_amount(line), -float(_minutes(line["counted_minutes"])), line["period"], line["unit"])
    )
    rest = len(document["periods"]) - len(lines[:limit])
    return Table(
        title="Lines",
        note="minutes; a line is one unit of one service level in one period",
        head=("Period", "Level", "Unit", "Window", "Down", "Excluded", "Counted", "Unknown", "Availability", "Credit"),
        rows=tuple(
            (
                line["period"],
                line["service_level"],
                line["unit"],
                *(minutes(line[f"{name}_minutes"]) for name in ("window", "down", "excluded", "counted", "unknown")),
                f"{line['availability_percent']}%" if line["availability_percent"] else figures.UNDEFINED,
                money(line["payable"]) if line["payable"] else "not computed",
            )
            for line in lines[:limit]
        ),
        text_columns=3,
        may_drop=("Window", "Unknown", "Period", "Excluded", "Down"),
        rest=f"{figures.count(rest)} further lines are not shown; --json and -o have all." if rest else None,
    )


def against_table(document: Document, limit: int) -> Table:
    """Return the minutes on which two sides' logs differ, at most `limit` stretches."""
    found = document["against"]
    rest = len(found["minutes"]) - limit
    return Table(
        title="Against the other log",
        note=f"{money(found['total'])} by this log, {money(found['other_total'])} by the other",
        head=("Level", "Unit", "Counted by", "From", "To", "Minutes"),
        rows=tuple(
            (
                row["service_level"],
                row["unit"],
                "this log" if row["counted_by"] == "this" else "the other",
                row["start"],
                row["end"],
                minutes(row["minutes"]),
            )
            for row in found["minutes"][:limit]
        ),
        text_columns=5,
        may_drop=("Level",),
        rest=f"{figures.count(rest)} more stretches are not shown; --json has all." if rest > 0 else None,
    )


def read_words(document: Document) -> Iterator[str]:
    """Yield what became of the records of every log."""
    for log in document["logs"]:
        parts = [f"{figures.count(log['used'])} used"]
        parts += [f"{figures.count(log['duplicates'])} repeats"] if log["duplicates"] else []
        parts += [f"{figures.count(number)} left out ({reason})" for reason, number in log["left_out"].items()]
        parts += [f"{figures.count(len(log['skipped']))} skipped"] if log["skipped"] else []
        yield f"{log['file']} ({log['title']}): {figures.count(log['records'])} records, {', '.join(parts)}."
        for skipped in log["skipped"][:MOST_SKIPPED]:
            place = f"line {skipped['line']}" if skipped["line"] else "a record"
            yield f"{log['file']}, {place} was skipped: {skipped['reason']}."
        if len(log["skipped"]) > MOST_SKIPPED:
            yield f"{log['file']}: {figures.count(len(log['skipped']) - MOST_SKIPPED)} more lines were skipped."
        for word, times in log["unknown_states"].items():
            yield f"{log['file']}: state {word!r} is not known ({times} times); its time is unknown, not down."
        yield from log["notes"]
    if document["not_mapped"]:
        names = ", ".join(f"{name} ({times})" for name, times in list(document["not_mapped"].items())[:12])
        yield f"No unit of the contract: {names}{' and others' if len(document['not_mapped']) > 12 else ''}."


def right_words(right: Mapping[str, Any]) -> str:
    """Return a right that arose in one sentence."""
    until = f", until {right['exercise_by']}" if right["exercise_by"] else ""
    return (
        f"{right['unit']}: a right to end the {right['scope']} ({right['form'].replace('_', ' ')}) arose on "
        f"{right['arises']}; it may be used from {right['exercise_from']}{until}."
    )


def money(amount: Mapping[str, str]) -> str:
    """Return money with its currency and thousands."""
    whole, _, cents = amount["amount"].partition(".")
    return f"{amount['currency']} {int(whole):,}{'.' + cents if cents else ''}"


def minutes(value: int | str) -> str:
    """Return minutes, a fraction with two digits after the point."""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{_minutes(value):,.2f}"


def _minutes(value: int | str) -> float:
    if isinstance(value, str) and "/" in value:
        above, below = value.split("/")
        return int(above) / int(below)
    return float(value)


def _amount(line: Mapping[str, Any]) -> float:
    return float(line["payable"]["amount"]) if line["payable"] else 0.0
