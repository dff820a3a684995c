"""A statement of credits in the terminal: what is owed, by when to claim it, the lines behind it, what was not used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from slakit.reports import figures
from slakit.reports.credit_statement.claims import condition, later, lost_words
from slakit.reports.credit_statement.facts import by_weight, counted, is_of_availability, level_words, sentence
from slakit.reports.credit_statement.missed import missed_words
from slakit.reports.credit_statement.times import in_zone, last_day, times_in_zone
from slakit.reports.tables import Table
from slakit.reports.terminal import print_line, print_list, print_table
from slakit.statements.words import LOSSES, NOTHING_READ, SCOPES

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
    for words in details(document):
        print_line(console, words)
    _print(console, lines_table(document, MOST_LINES))
    if document.get("against"):
        _print(console, against_table(document, MOST_LINES))
    print_list(console, "Rights", (right_words(right, document["zone"]) for right in document["rights"]))
    print_list(console, "Not computed", document["not_computed"])
    print_list(console, "What was read", read_words(document))
    print_list(console, "Notes", (sentence(times_in_zone(words, document["zone"])) for words in document["notes"]))
    console.print()
    print_line(console, "Not legal advice. The contract as signed prevails.", style="dim")


def _print(console: Console, table: Table) -> None:
    """Print a table, of one without rows only what stands for those left out."""
    if table.rows:
        print_table(console, table)
    elif table.rest:
        console.print()
        print_line(console, table.rest, style="dim")


def answer(document: Document) -> str:
    """Return what the statement comes to in one sentence."""
    total, asked = document["total"], document["asked"]
    if document.get("nothing_read"):
        return NOTHING_READ
    span = asked[0] if len(asked) == 1 else f"{asked[0]} to {asked[-1]}"
    if document["not_computed"] and total["amount"].strip("0.") == "":
        return f"What is owed for {span} cannot be computed."
    owed = f"{money(total)} is owed for {span}{condition(document)}"
    return f"At least {owed}; part of it cannot be computed." if document["not_computed"] else f"{owed}."


def details(document: Document) -> Iterator[str]:
    """Yield the sentences below the answer."""
    missed = list(missed_words(document))
    if missed:
        yield sentence("; ".join(missed))
    elif document.get("nothing_read"):
        yield "Whether a unit missed its target is not known."
    else:
        yield "No unit missed its target."
    if document["claim_by"]:
        by = last_day(document["claim_by"], document["zone"])
        yield f"A claim must be received by {by}, 24:00 {document['zone']}; {later(document)}."
    for reason, amount in document["lost"].items():
        if reason == "late_claim":
            yield lost_words(document)
        else:
            yield f"{money(amount)} of the credits is not owed: {LOSSES[reason]}."


def lines_table(document: Document, limit: int) -> Table:
    """Return the lines with downtime or credit, the dearest first, at most `limit`."""
    lines = [
        line
        for line in document["periods"]
        if line["down_minutes"] or line["unknown_minutes"] or line["credit"] is None or _amount(line)
    ]
    lines.sort(key=by_weight)
    rest = len(document["periods"]) - len(lines[:limit])
    several = len(document["asked"]) > 1
    return Table(
        title="Lines",
        note=f"minutes and {document['currency']}; a line is one unit of one service level in one period",
        head=(
            "Period",
            "Level",
            "Unit",
            "Window",
            "Down",
            "Excluded",
            "Disregarded",
            "Counted",
            "Unknown",
            "Availability",
            "Owed",
        ),
        rows=tuple(
            (
                line["period"],
                level_words(line),
                line["unit"],
                *(
                    minutes(line[f"{name}_minutes"]) if is_of_availability(line) else figures.UNDEFINED
                    for name in ("window", "down", "excluded", "disregarded", "counted", "unknown")
                ),
                f"{line['availability_percent']}%" if line["availability_percent"] else figures.UNDEFINED,
                owed(line),
            )
            for line in lines[:limit]
        ),
        text_columns=3,
        may_drop=("Window", "Disregarded", *(() if several else ("Period",)), "Excluded", "Unknown", "Down"),
        rest=sentence(f"{counted(rest, 'further line is', 'further lines are')} not shown; --json and -o have all")
        if rest
        else None,
    )


def against_table(document: Document, limit: int) -> Table:
    """Return the minutes on which two sides' logs differ, at most `limit` stretches."""
    found = document["against"]
    rest = len(found["minutes"]) - limit
    return Table(
        title="Against the other log",
        note=f"{money(found['total'])} by this log, {money(found['other_total'])} by the other; times in "
        f"{document['zone']}",
        head=("Level", "Unit", "Counted by", "From", "To", "Minutes"),
        rows=tuple(
            (
                figures.in_words(row["service_level"]),
                row["unit"],
                "this log" if row["counted_by"] == "this" else "the other",
                in_zone(row["start"], document["zone"]),
                in_zone(row["end"], document["zone"]),
                minutes(row["minutes"]),
            )
            for row in found["minutes"][:limit]
        ),
        text_columns=3,
        may_drop=("Level",),
        rest=f"{figures.count(rest)} more stretches are not shown; --json has all." if rest > 0 else None,
    )


def read_words(document: Document) -> Iterator[str]:
    """Yield what became of the records of every log, first what the statement would be misread without."""
    yield from (sentence(words) for words in document.get("warnings", ()))
    for log in document["logs"]:
        parts = [f"{figures.count(log['used'])} used"]
        parts += [f"{figures.count(log['duplicates'])} repeats"] if log["duplicates"] else []
        parts += [f"{figures.count(number)} left out ({reason})" for reason, number in log["left_out"].items()]
        parts += [f"{figures.count(len(log['skipped']))} skipped"] if log["skipped"] else []
        records = f"{figures.count(log['records'])} {'record' if log['records'] == 1 else 'records'}"
        yield f"{log['file']} ({log['title']}): {records}, {', '.join(parts)}."
        for skipped in log["skipped"][:MOST_SKIPPED]:
            place = f"line {skipped['line']}" if skipped["line"] else "a record"
            yield f"{log['file']}, {place} was skipped: {skipped['reason']}."
        if len(log["skipped"]) > MOST_SKIPPED:
            yield f"{log['file']}: {figures.count(len(log['skipped']) - MOST_SKIPPED)} more lines were skipped."
        for word, times in log["unknown_states"].items():
            found = counted(times, "record", "records")
            yield f"{log['file']}: state {word!r} is not known ({found}); its time is unknown, not down."
        yield from (sentence(words) for words in log["notes"] if words not in document.get("warnings", ()))
    if document["not_mapped"]:
        names = ", ".join(f"{name} ({times})" for name, times in list(document["not_mapped"].items())[:12])
        yield f"No unit of the contract: {names}{' and others' if len(document['not_mapped']) > 12 else ''}."


def right_words(right: Mapping[str, Any], zone: str) -> str:
    """Return a right that arose in one sentence, with its times in `zone`."""
    until = f", until {in_zone(right['exercise_by'], zone)}" if right["exercise_by"] else ""
    return (
        f"{right['unit']}: a right to end {SCOPES[right['scope']]} ({right['form'].replace('_', ' ')}) arose on "
        f"{in_zone(right['arises'], zone)}; it may be used from {in_zone(right['exercise_from'], zone)}{until}."
    )


def money(amount: Mapping[str, str]) -> str:
    """Return money with its currency and thousands."""
    whole, _, cents = amount["amount"].partition(".")
    return f"{amount['currency']} {int(whole):,}{'.' + cents if cents else ''}"


def minutes(value: int | str) -> str:
    """Return minutes, a fraction with two digits after the point, nothing as a dash."""
    if isinstance(value, int):
        return f"{value:,}" if value else figures.UNDEFINED
    return f"{_minutes(value):,.2f}"


def owed(line: Mapping[str, Any]) -> str:
    """Return what is owed of a line, for a column whose head names the currency."""
    if line["payable"] is None:
        return "not computed"
    if line["days_added"]:
        return counted(line["days_added"], "day", "days")
    return money(line["payable"]).partition(" ")[2] if _amount(line) else figures.UNDEFINED


def _minutes(value: int | str) -> float:
    if isinstance(value, str) and "/" in value:
        above, below = value.split("/")
        return int(above) / int(below)
    return float(value)


def _amount(line: Mapping[str, Any]) -> float:
    return float(line["payable"]["amount"]) if line["payable"] else 0.0
