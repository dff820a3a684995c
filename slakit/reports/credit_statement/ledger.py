"""The pages after the first: every line, every excluded minute, every record, every step, and what was not used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from slakit.reports import figures
from slakit.reports.credit_statement.facts import (
    Facts,
    Line,
    bare,
    bare_money,
    counted,
    is_of_availability,
    minutes,
    money,
    names_in_words,
    period_words,
    sentence,
)
from slakit.reports.credit_statement.first_page import rows_beside
from slakit.reports.credit_statement.lines_table import lines_table
from slakit.reports.credit_statement.steps import Told, told
from slakit.reports.credit_statement.times import times_in_zone
from slakit.reports.credit_statement.worked import worked as line_worked
from slakit.reports.rounding import NBSP
from slakit.reports.tables import Table
from slakit.statements.words import HEADS, LOSSES

MOST_WORKED = 200
"""Lines, or groups of lines with the same steps, whose steps are printed; the JSON has all. [1]"""
HEADS_OF_LINES = {"replacement": "replacement", "response": "first response"}
"""Heads of lines other than availability, in words."""
MOST_SKIPPED = 120
MOST_NAMES = 200
MOST_RECORDS = 2000
"""Rows that one table prints; the JSON has all. [1]"""


@dataclass(frozen=True, slots=True)
class Worked:
    """The steps of one line."""

    title: str
    under: str
    """What holds for other units too."""
    steps: tuple[Told, ...]


def tables(facts: Facts) -> Iterator[Table]:
    """Yield the tables of the ledger that have rows."""
    for table in (
        _lines_left(facts),
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
    """Return the steps of every line that has something to say.

    Lines with the same steps but for times are told once, and so are steps that every line of a level and period has.
    """
    groups = _alike(facts)[:MOST_WORKED]
    steps = [told(facts, lines[0]) for lines in groups]
    shared: dict[_Kind, dict[Told, None]] = {}
    number: Counter[_Kind] = Counter()
    for lines, own in zip(groups, steps, strict=True):
        kind = _kind(lines[0])
        number[kind] += 1
        shared[kind] = {one: None for one in shared.get(kind, own) if one in own}
    shared = {kind: common for kind, common in shared.items() if number[kind] > 1 and common}
    general = [
        Worked(f"Every line of {what}, {period_words(period)}", "Steps that are the same for each.", tuple(common))
        for (period, what, _), common in shared.items()
    ]
    own_steps = [
        Worked(
            _title(facts, lines),
            _under(lines),
            tuple(one for one in own if one not in shared.get(_kind(lines[0]), ())),
        )
        for lines, own in zip(groups, steps, strict=True)
    ]
    return (*general, *own_steps)


_Kind = tuple[str, str, str]
"""Period, service level and head of a line, in words."""


def _kind(line: Line) -> _Kind:
    what = figures.in_words(line["service_level"]) if is_of_availability(line) else HEADS_OF_LINES[line["head"]]
    return line["period"], what, line["head"]


class _Timeless(Facts):
    """A statement that names no time, by which the steps of two lines can be compared."""

    __slots__ = ()

    def when(self, moment: str | None) -> str:
        """Return the same for every moment."""
        return "then" if moment else figures.UNDEFINED

    def stretch(self, start: str, end: str) -> str:
        """Return the same for every stretch of time."""
        return "then"

    def lasting(self, minutes: int | str) -> str:
        """Return the same for every length of time."""
        return "so long"


def _alike(facts: Facts) -> list[list[Line]]:
    """Return the lines that have something to say, those together whose steps differ in times and names alone."""
    timeless = _Timeless(facts.deal, facts.document)
    groups: dict[tuple[object, ...], list[Line]] = {}
    for line in facts.with_downtime():
        names = sorted({line["unit"], *line["incidents"]}, key=len, reverse=True)
        told_so = []
        for one in told(timeless, line):
            words = one.words
            for name in names:
                words = words.replace(name, "it")
            told_so.append((words, one.clause))
        money_said = (str(line["payable"]), str(line["lost"]))
        key = (line["period"], line["service_level"], line["head"], *money_said, tuple(told_so))
        groups.setdefault(key, []).append(line)
    return list(groups.values())


def _under(lines: list[Line]) -> str:
    if len(lines) == 1:
        return ""
    first = lines[0]["unit"]
    others = names_in_words([line["unit"] for line in lines[1:]])
    return f"{others}: as {first}, whose times are given; those of the others are among the records of the logs."


def notes(facts: Facts) -> tuple[str, ...]:
    """Return what a reader must know besides."""
    warnings = facts.document.get("warnings", ())
    said = (*warnings, *facts.document["not_computed"], *facts.document["notes"])
    found = [sentence(times_in_zone(words, facts.zone)) for words in said]
    for log in facts.document["logs"]:
        found += [sentence(times_in_zone(words, facts.zone)) for words in log["notes"] if words not in warnings]
        found += [
            f"{log['file']}: {counted(times, 'record says', 'records say')} {reason}."
            for reason, times in log["left_out"].items()
        ]
        found += [
            f"{log['file']}: the state {word!r} is not known; its time ({counted(times, 'record', 'records')}) is "
            "unknown and not downtime."
            for word, times in log["unknown_states"].items()
        ]
    if "?" in str(facts.document["incidents"]) + str(facts.document["logs"]):
        found.append("Signs that the fonts of this page lack are printed as ?; the attached document holds them.")
    left = sum(len(lines) for lines in _alike(facts)[MOST_WORKED:])
    if left > 0:
        found.append(
            sentence(f"the steps of {counted(left, 'more line are', 'more lines are')} in the attached document alone")
        )
    return tuple(dict.fromkeys(found))


def _title(facts: Facts, lines: list[Line]) -> str:
    line = lines[0]
    owed_words = "not computed" if line["payable"] is None else money(line["payable"])
    if line["days_added"]:
        owed_words = counted(line["days_added"], "day added", "days added")
    units = line["unit"] if len(lines) == 1 else f"{line['unit']} and {counted(len(lines) - 1, 'other', 'others')}"
    each = " each" if len(lines) > 1 and line["payable"] is not None else ""
    return f"{units}, {_kind(line)[1]}, {period_words(line['period'])}: {owed_words}{each}"


def _lines_left(facts: Facts) -> Table | None:
    """Return all lines where the first page does not hold them."""
    lines = facts.with_downtime()
    fit = rows_beside(facts, line_worked(facts, lines[0])) if lines else 0
    return lines_table(facts, lines, len(lines)) if len(lines) > fit else None


def _settlements(facts: Facts) -> Table | None:
    rows = []
    for one in facts.document["settlements"]:
        lost = "; ".join(f"{money(amount)}: {LOSSES[reason]}" for reason, amount in one["lost"].items())
        rows.append(
            (
                one["service"],
                one["period"],
                lost or "nothing",
                bare_money(one["fee"]["amount"], facts.currency).removeprefix(f"{facts.currency}{NBSP}"),
                bare(one["credit"]),
                bare(one["payable"]),
            )
        )
    if not rows:
        return None
    return Table(
        "From lines to what is owed",
        f"{facts.currency}; by service and period, limits in the order of the contract",
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
            figures.in_words(row["service_level"]),
            row["period"],
            _either(row["counted_minutes"]),
            _either(row["other_counted_minutes"]),
            _either_money(row["payable"]),
            _either_money(row["other_payable"]),
        )
        for row in found["lines"]
    )
    head = ("Unit", "Level", "Period", "Counted", "Counted, other", "Owed", "Owed, other")
    total = ("In all", *([NBSP] * 4), bare(found["total"]), bare(found["other_total"]))
    note = f"minutes and {facts.currency}; this log and the other side's on the same terms, windows and notices; "
    note += "lines that differ" if rows else "no line differs"
    return Table("Counter-statement", note, head, rows, total=total, text_columns=3)


def _either(value: int | str | None) -> str:
    return "no line" if value is None else minutes(value)


def _either_money(amount: Mapping[str, str] | None) -> str:
    return "no line" if amount is None else bare(amount)


def _against_minutes(facts: Facts) -> Table | None:
    found = facts.document.get("against")
    if not found or not found["minutes"]:
        return None
    rows = tuple(
        (
            row["unit"],
            figures.in_words(row["service_level"]),
            "this log" if row["counted_by"] == "this" else "the other",
            ", ".join(row["this_lines"][:2]) or "nothing",
            ", ".join(row["other_lines"][:2]) or "nothing",
            facts.stretch(row["start"], row["end"]),
            minutes(row["minutes"]),
        )
        for row in found["minutes"]
    )
    head = ("Unit", "Level", "Counted by", "Lines of this log", "Lines of the other", "Time", "Minutes")
    note = "each stretch of downtime that one side counts alone"
    return _cut(Table("Minutes on which the logs differ", note, head, rows, text_columns=6))


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
            facts.stretch(row["start"], row["end"]),
            minutes(row["minutes"]),
        )
        for row in facts.document["exclusions"]
    )
    if not rows:
        return None
    return _cut(
        Table(
            "Downtime inside windows",
            "how each minute was judged; the rows that are excluded add up to the excluded minutes of the line",
            ("Unit", "Head", "On record", "Judged", "Clause", "Time", "Minutes"),
            rows,
            text_columns=6,
        )
    )


def _cut(table: Table) -> Table:
    """Return a table of at most `MOST_RECORDS` rows, which says how many more there are."""
    left = len(table.rows) - MOST_RECORDS
    if left <= 0:
        return table
    rest = sentence(f"{counted(left, 'more row is', 'more rows are')} in the attached document")
    return replace(table, rows=table.rows[:MOST_RECORDS], rest=rest)


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
    return _cut(
        Table(
            "Records of the logs",
            "as they stand in the files; minutes from start to end",
            ("Unit", "State", "Cause on record", "Line", "Start", "End", "Minutes"),
            rows,
            text_columns=4,
        )
    )


def _lines(incident: Line) -> str:
    places = [f"{e['file']}:{e['line']}" if e["line"] else e["file"] for e in incident["evidence"]]
    shown = ", ".join(places[:3])
    return f"{shown} and {len(places) - 3} more" if len(places) > 3 else shown or figures.UNDEFINED


def _skipped(facts: Facts) -> Table | None:
    rows = tuple(
        (f"{log['file']}:{one['line']}" if one["line"] else log["file"], one["reason"], one["text"])
        for log in facts.document["logs"]
        for one in log["skipped"]
    )
    if not rows:
        return None
    return Table(
        "Lines that were skipped",
        "they are in no figure of this statement",
        ("Line", "Why", "Text"),
        rows[:MOST_SKIPPED],
        rest=f"{figures.count(len(rows) - MOST_SKIPPED)} more are in the attached document."
        if len(rows) > MOST_SKIPPED
        else None,
        text_columns=3,
    )


def _not_mapped(facts: Facts) -> Table | None:
    rows = tuple((name, figures.count(times)) for name, times in facts.document["not_mapped"].items())
    if not rows:
        return None
    left = len(rows) - MOST_NAMES
    rest = sentence(f"{counted(left, 'more name is', 'more names are')} in the attached document") if left > 0 else None
    title = "Names that are no unit of the contract"
    return Table(title, "their records are in no figure", ("Name", "Records"), rows[:MOST_NAMES], rest=rest)
