"""The lines of a statement as a table: minutes, availability, share and credit of each, and the clause that decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from slakit.reports import figures
from slakit.reports.credit_statement.facts import (
    LEVELS,
    LOST_UNDER,
    Facts,
    Line,
    bare,
    counted,
    is_of_availability,
    listed,
    minutes,
    number,
    owed,
    sentence,
    share,
)
from slakit.reports.rounding import NBSP
from slakit.reports.tables import Table

Column = tuple[str, str]
"""Name of a figure of a line, and the head of its column."""
COLUMNS = (
    ("down", "Down"), ("excluded", "Excluded"), ("disregarded", "Disregarded"), ("degraded", "Degraded"),
    ("counted", "Counted"), ("disputed", "Disputed"), ("unknown", "Unknown"),
)  # fmt: skip
"""Minutes of a line, and the heads of their columns."""
ALWAYS = ("down", "excluded", "counted")
"""Columns that stand also where no line has any of those minutes."""
HEAD_PARAGRAPHS = {
    "replacement": ("replacement-times.credit", "replacement-times.target"),
    "response": ("support-response.credit", "support-response.first-response"),
}
"""Paragraphs that decide a line of another head than availability: where it was late, and where it was not."""


def lines_table(facts: Facts, lines: list[Line], of: int) -> Table | None:
    """Return the lines given as a table with their sums."""
    if not lines:
        return None
    several = len(facts.document["asked"]) > 1
    alike = len({(line["service_level"], line["head"]) for line in facts.with_downtime()}) == 1
    columns = [
        (f"{name}_minutes", head)
        for name, head in COLUMNS
        if name in ALWAYS or any(line[f"{name}_minutes"] for line in facts.lines() if is_of_availability(line))
    ]
    left = of - len(lines)
    return Table(
        title=_lines_title(facts, alike),
        note=" ".join(_note(facts, columns, of)),
        head=(
            "Unit", *(("Period",) if several else ()), *(() if alike else ("Level",)), *(head for _, head in columns),
            "Availability", "Share", f"Credit, {facts.currency}", "Clause",
        ),
        rows=tuple(
            (
                line["unit"],
                *((line["period"],) if several else ()),
                *(() if alike else (facts.level_words(line),)),
                *(minutes(line[name]) if is_of_availability(line) else figures.UNDEFINED for name, _ in columns),
                facts.availability(line),
                _share_words(line),
                bare(line["payable"]) if line["payable"] is None or owed(line) else figures.UNDEFINED,
                _clause(facts, line),
            )
            for line in lines
        ),
        total=_total(facts, several, alike, columns),
        rest=f"{sentence(counted(left, 'more line is', 'more lines are') + ' in the ledger')}" if left else None,
        text_columns=1 + several + (not alike),
        words_last=True,
    )  # fmt: skip


def _note(facts: Facts, columns: list[Column], of: int) -> Iterator[str]:
    """Yield what the columns are, and how many lines have nothing to say."""
    names = [head.lower() for _, head in columns]
    less = [name for name in ("excluded", "disregarded") if name in names]
    weighed = "; degraded minutes count at their weight" if "degraded" in names else ""
    yield f"Minutes; counted is down less {listed(less)}{weighed}." if len(less) > 1 or weighed else "Minutes."
    clean = len(facts.lines()) - of
    if clean:
        yield sentence(f"{counted(clean, 'more line has', 'more lines have')} no outage on record")


def _lines_title(facts: Facts, alike: bool) -> str:
    level = facts.deal.service_levels.get(facts.with_downtime()[0]["service_level"]) if alike else None
    return f"Credit by {LEVELS[level.level][0]}" if level else "Credit by unit"


def _total(facts: Facts, several: bool, alike: bool, columns: list[Column]) -> tuple[str, ...]:
    """Return the sums of all lines; minutes of several levels overlap, so theirs are not added."""
    sums = [minutes(number(sum(Fraction(line[name]) for line in facts.lines()))) for name, _ in columns]
    return (
        "In all",
        *([NBSP] * (several + (not alike))),
        *(sums if alike else [NBSP] * len(columns)),
        NBSP,
        NBSP,
        bare(facts.document["total"]),
        facts.clause_of("credit-caps.order") or NBSP,
    )


def _share_words(line: Line) -> str:
    if line["target_met"] and not owed(line):
        return "met"
    return share(line["credit_fraction"])


def _clause(facts: Facts, line: Line) -> str:
    """Return the clause that decides a line: why it pays, or why it does not."""
    own = facts.steps_of(line)
    steps: dict[str, str | None] = {step["paragraph"]: step["clause"] for step in own}
    return next((number for one in _deciding(line, own) if (number := steps.get(one) or facts.clause_of(one))), "")


def _deciding(line: Line, steps: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the paragraphs that may decide a line, the likeliest first."""
    if line["lost"]:
        yield LOST_UNDER[list(line["lost"])[-1]]
    if not is_of_availability(line):
        late, target = HEAD_PARAGRAPHS[line["head"]]
        yield from (target,) if line["target_met"] else (late, target)
        return
    if not line["counted_minutes"] and not owed(line):
        for name, paragraph in (
            ("excluded_minutes", "excluded-downtime.closed-list"),
            ("disputed_minutes", "monitor-evidence.conflict"),
            ("unknown_minutes", "monitor-evidence.silent"),
        ):
            if line[name]:
                yield paragraph
        if any(one["paragraph"] == "outage-clock.minimum" and one["result"] is False for one in steps):
            yield "outage-clock.minimum"
    elif line["excluded_minutes"] and not owed(line):
        yield "excluded-downtime.closed-list"
    yield from (one["paragraph"] for one in steps if one["paragraph"].startswith("credit-schedule."))
    yield "service-levels.formula"
