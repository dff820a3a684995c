"""The pages after the first: every line, every excluded minute, every record, every step, and what was not used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from slakit.reports import figures
from slakit.reports.credit_statement.facts import Facts, Line, minutes, money, period_words
from slakit.reports.credit_statement.first_page import lines_table
from slakit.reports.credit_statement.steps import Told, told
from slakit.reports.rounding import NBSP
from slakit.reports.tables import Table
from slakit.statements.words import HEADS, LOSSES

MOST_WORKED = 200
"""Lines whose steps are printed; the JSON has all. [1]"""


@dataclass(frozen=True, slots=True)
class Worked:
    """The steps of one line."""

    title: str
    steps: tuple[Told, ...]


def tables(facts: Facts) -> Iterator[Table]:
    """Yield the tables of the ledger that have rows."""
    for table in (
        lines_table(facts, facts.with_downtime(), len(facts.with_downtime())),
        _settlements(facts),
        _against_lines(facts),
        _against_minutes(facts),
        _rights(facts),
        _exclusions(facts),
        _records(facts),
        _skipped(facts),
        _not_mapped(facts),
    ):
        if table is not None:
            yield table


def worked(facts: Facts) -> tuple[Worked, ...]:
    """Return the steps of every line that has something to say."""
    return tuple(Worked(_title(line), told(facts, line, whole=True)) for line in facts.with_downtime()[:MOST_WORKED])


def notes(facts: Facts) -> tuple[str, ...]:
    """Return what a reader must know besides."""
    found = [*facts.document["not_computed"], *facts.document["notes"]]
    for log in facts.document["logs"]:
        found += log["notes"]
        found += [
            f"{log['file']}: {figures.count(times)} records say {reason}." for reason, times in log["left_out"].items()
        ]
        found += [
            f"{log['file']}: the state {word!r} is not known; its time ({times} records) is unknown and not downtime."
            for word, times in log["unknown_states"].items()
        ]
    left = len(facts.with_downtime()) - MOST_WORKED
    if left > 0:
        found.append(f"The steps of {figures.count(left)} more lines are in the attached document alone.")
    return tuple(dict.fromkeys(found))


def _title(line: Line) -> str:
    return f"{line['unit']}, {line['service_level']}, {period_words(line['period'])}: {money(line['payable'])}"


def _settlements(facts: Facts) -> Table | None:
    rows = []
    for one in facts.document["settlements"]:
        lost = "; ".join(f"{money(amount)}: {LOSSES[reason]}" for reason, amount in one["lost"].items())
        rows.append(
            (
                one["service"],
                one["period"],
                lost or "nothing",
                money(one["fee"]),
                money(one["credit"]),
                money(one["payable"]),
            )
        )
    if not rows:
        return None
    return Table(
        "From lines to what is owed",
        "by service and period; caps in the order of the contract",
        ("Service", "Period", "Not owed, and why", "Fee accrued", "Credits of lines", "Owed"),
        tuple(rows),
        text_columns=3,
    )


def _against_lines(facts: Facts) -> Table | None:
    found = facts.document.get("against")
    if found is None:
        return None
    rows = tuple(
        (
            row["unit"],
            row["service_level"],
            row["period"],
            _either(row["counted_minutes"]),
            _either(row["other_counted_minutes"]),
            money(row["payable"]),
            money(row["other_payable"]),
        )
        for row in found["lines"]
    )
    head = ("Unit", "Level", "Period", "Counted", "Counted, other", "Owed", "Owed, other")
    total = ("In all", "", "", "", "", money(found["total"]), money(found["other_total"]))
    note = "this log and the other side's on the same terms, windows and notices; lines that differ"
    return Table("Counter-statement", note, head, rows, total=total, text_columns=3)


def _either(value: int | str | None) -> str:
    return "no line" if value is None else minutes(value)


def _against_minutes(facts: Facts) -> Table | None:
    found = facts.document.get("against")
    if not found or not found["minutes"]:
        return None
    rows = tuple(
        (
            row["unit"],
            row["service_level"],
            "this log" if row["counted_by"] == "this" else "the other",
            ", ".join(row["this_lines"][:2]) or "nothing",
            ", ".join(row["other_lines"][:2]) or "nothing",
            f"{facts.when(row['start'])} to {facts.when(row['end'])}",
            minutes(row["minutes"]),
        )
        for row in found["minutes"]
    )
    head = ("Unit", "Level", "Counted by", "Lines of this log", "Lines of the other", "Time", "Minutes")
    note = "each stretch of downtime that one side counts alone"
    return Table("Minutes on which the logs differ", note, head, rows, text_columns=6)


def _rights(facts: Facts) -> Table | None:
    rows = tuple(
        (
            right["unit"],
            right["form"].replace("_", " "),
            next((step["clause"] for step in right["steps"] if step["clause"]), right["term"]),
            facts.when(right["arises"]),
            facts.when(right["exercise_from"]),
            facts.when(right["exercise_by"]),
        )
        for right in facts.document["rights"]
    )
    head = ("Unit", "Limb", "Clause", "Arises", "From", "Lapses at")
    return Table("Rights to leave", "times as in the contract", head, rows, text_columns=3) if rows else None


def _exclusions(facts: Facts) -> Table | None:
    rows = tuple(
        (
            row["unit"],
            HEADS[row["head"]],
            f"window {row['window']}" + (f", notice {row['notice']}" if row["notice"] else ", no notice"),
            "excluded" if row["reason"] is None else f"counts: {row['reason']}",
            row["clause"] or row["paragraph"],
            f"{facts.when(row['start'])} to {facts.when(row['end'])}",
            minutes(row["minutes"]),
        )
        for row in facts.document["exclusions"]
    )
    if not rows:
        return None
    return Table(
        "Downtime inside windows",
        "how each minute was judged; the rows that are excluded add up to the excluded minutes of the line",
        ("Unit", "Head", "On record", "Judged", "Clause", "Time", "Minutes"),
        rows,
        text_columns=6,
    )


def _records(facts: Facts) -> Table | None:
    rows = tuple(
        (
            incident["unit"],
            incident["state"],
            incident["cause"] or figures.UNDEFINED,
            _lines(incident),
            facts.when(incident["started_at"]),
            facts.when(incident["ended_at"]) if incident["ended_at"] else "open",
            minutes(incident["minutes"]) if incident["minutes"] is not None else figures.UNDEFINED,
        )
        for incident in facts.document["incidents"]
    )
    if not rows:
        return None
    return Table(
        "Records of the logs",
        "as they stand in the files; minutes from start to end",
        ("Unit", "State", "Cause on record", "Line", "Start", "End", "Minutes"),
        rows,
        text_columns=4,
    )


def _lines(incident: Line) -> str:
    places = [f"{e['file']}:{e['line']}" if e["line"] else e["file"] for e in incident["evidence"]]
    shown = ", ".join(places[:3])
    return f"{shown} and {len(places) - 3} more" if len(places) > 3 else shown or figures.UNDEFINED


def _skipped(facts: Facts) -> Table | None:
    rows = tuple(
        (f"{log['file']}{NBSP}{one['line'] or ''}", one["reason"], one["text"])
        for log in facts.document["logs"]
        for one in log["skipped"]
    )
    if not rows:
        return None
    limit = 120
    return Table(
        "Lines that were skipped",
        "they are in no figure of this statement",
        ("Line", "Why", "Text"),
        rows[:limit],
        rest=f"{figures.count(len(rows) - limit)} more are in the attached document." if len(rows) > limit else None,
        text_columns=3,
    )


def _not_mapped(facts: Facts) -> Table | None:
    rows = tuple((name, figures.count(times)) for name, times in facts.document["not_mapped"].items())
    if not rows:
        return None
    return Table(
        "Names that are no unit of the contract", "their records are in no figure", ("Name", "Records"), rows[:200]
    )
