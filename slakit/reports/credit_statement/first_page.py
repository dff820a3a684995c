"""The first page: what is owed, how to dispute or claim it, the lines, and the dearest of them step by step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from schemas.credit_shapes import CreditBands
from slakit.reports import figures
from slakit.reports.credit_statement.facts import (
    LEVELS,
    Facts,
    Line,
    bare,
    counted,
    listed,
    minutes,
    money,
    number,
    owed,
    period_words,
    sentence,
    share,
)
from slakit.reports.credit_statement.steps import Told
from slakit.reports.credit_statement.worked import worked
from slakit.reports.rounding import NBSP
from slakit.reports.tables import Table
from slakit.statements.words import NOTHING_READ

ROWS_AND_STEPS = 18
"""Rows of the table and steps of the worked line that fit the first page together. [1]"""
FEWEST_ROWS = 5


@dataclass(frozen=True, slots=True)
class Figure:
    """One of the figures under the answer."""

    label: str
    value: str
    note: str


@dataclass(frozen=True, slots=True)
class FirstPage:
    """Everything on the first page."""

    title: str
    under: str
    headline: str
    detail: str
    figures: tuple[Figure, ...]
    lines: Table | None
    bands: str
    worked_title: str
    worked: tuple[Told, ...]


def first_page(facts: Facts) -> FirstPage:
    """Return the first page of a statement."""
    dearest = facts.with_downtime()[:1]
    told = worked(facts, dearest[0]) if dearest else ()
    return FirstPage(
        title=f"Credit Statement, {facts.span()}",
        under=_under(facts),
        headline=_headline(facts),
        detail=" ".join(_detail(facts)),
        figures=_figures(facts),
        lines=lines_table(facts, facts.with_downtime()[: rows_beside(told)], len(facts.with_downtime())),
        bands=_bands(facts),
        worked_title=_worked_title(dearest[0]) if dearest else "",
        worked=told,
    )


def rows_beside(told: tuple[Told, ...]) -> int:
    """Return how many lines the first page shows beside the steps of the dearest."""
    return max(FEWEST_ROWS, ROWS_AND_STEPS - len(told))


def _under(facts: Facts) -> str:
    provider, customer = (facts.deal.party(role) for role in ("provider", "customer"))
    who = f"{sentence(f'{provider.name} to {customer.name}')} " if provider and customer else ""
    zone = facts.clause_of("time-money-rules.zone")
    known = facts.document["as_of"]
    state = f" What was known at {facts.when(known)}." if known else ""
    return f"{who}Times in {facts.zone}{f' (clause{NBSP}{zone})' if zone else ''}.{state}"


def _headline(facts: Facts) -> str:
    total, unknown = facts.document["total"], facts.document["not_computed"]
    nothing = not Decimal(total["amount"])
    days = sum(line["days_added"] for line in facts.lines())
    if facts.document.get("nothing_read"):
        return NOTHING_READ
    if unknown and nothing:
        return f"What is owed for {facts.span()} cannot be computed from these terms."
    if days and nothing:
        return sentence(f"{counted(days, 'day is', 'days are')} added to the term for {facts.span()}")
    if nothing:
        return f"No credit is owed for {facts.span()}."
    words = {
        "next_invoice": "is credited to the next invoice",
        "future_credit": "is credited to future invoices",
        "cash": "is to be paid",
        "spread_over_term": "is credited in equal parts over the invoices left of the term",
        "added_days": "is given as days at no charge",
    }[facts.deal.credits.form.form]
    start = "At least " if unknown else ""
    if facts.deal.credits.process.mode == "claimed":
        return f"{start}{money(total)} is owed for {facts.span()} if it is claimed in time."
    return f"{start}{money(total)} for {facts.span()} {words}."


def _detail(facts: Facts) -> list[str]:
    found = []
    missed: dict[str, set[str]] = {}
    for line in facts.lines():
        if line["target_met"] is False:
            missed.setdefault(line["service_level"], set()).add(line["unit"])
    parts = []
    for level_id, units in missed.items():
        level = facts.deal.service_levels.get(level_id)
        target = f" {figures.agreed_percent(level.target)}" if level and level.target is not None else " the target"
        parts.append(f"{counted(len(units), *(LEVELS[level.level] if level else ('unit', 'units')))} missed{target}")
    found.append(sentence("; ".join(parts)) if parts else _no_miss(facts))
    deadlines = facts.deadlines()
    if deadlines:
        found.append(_claim_words(facts, deadlines))
    elif facts.deal.credits.process.mode == "claimed":
        blank = facts.deal.blank("credits.process.window_days", "credits.process.window_from")
        how = f"how the time for it runs is not stated ({blank.partition(': ')[2]})" if blank else ""
        found.append(f"It must be claimed; {how or 'the time for it has not begun to run'}.")
    else:
        number = facts.clause_of("monitor-evidence.objection")
        dated = min((one["object_by"] for one in facts.document["settlements"] if one["object_by"]), default=None)
        until = (
            f"by {facts.last_day(dated)}, 24:00 {facts.zone}"
            if dated
            else f"within {facts.deal.measurement.objection_business_days} Business Days of this statement"
        )
        found.append(f"An objection must be made {until}{f' (clause{NBSP}{number})' if number else ''}.")
    return found


def _claim_words(facts: Facts, deadlines: Mapping[str, str]) -> str:
    number = facts.clause_of("credit-process.claim")
    clause = f" (clause{NBSP}{number})" if number else ""
    by = [facts.last_day(moment) for moment in deadlines.values()]
    if len(set(by)) == 1:
        return f"A claim must be received by {by[0]}, 24:00 {facts.zone}{clause}."
    each = listed([f"by {day} for {period_words(p)}" for p, day in zip(deadlines, by, strict=True)])
    return f"Claims must be received {each}, 24:00 {facts.zone}{clause}."


def _no_miss(facts: Facts) -> str:
    if facts.document.get("nothing_read"):
        return "Whether a unit missed its target is not known."
    if facts.with_downtime():
        return "No unit missed its target."
    return f"None of the {figures.count(len(facts.lines()))} lines has an outage on record."


def _figures(facts: Facts) -> tuple[Figure, ...]:
    settled = facts.document["settlements"]
    last = [one for one in settled if one["period"] == facts.document["asked"][-1]]
    cap = facts.deal.credits.caps
    fee = sum((Fraction(one["fee"]["amount"]) for one in settled), Fraction(0))
    total = Decimal(facts.document["total"]["amount"])
    note = f"{share(str(Fraction(total) / fee))} of the fees" if fee else "no fee accrued"
    if cap.month is not None and len(facts.document["asked"]) == 1 and fee:
        used = Fraction(total) / (fee * Fraction(cap.month))
        note = f"{figures.percent(used)} of the cap of the period{_cited(facts, 'credit-caps.month')}"
    year = sum((Decimal(one["given_before"]["amount"]) + Decimal(one["payable"]["amount"]) for one in last), Decimal(0))
    planned = sum((Fraction(one["planned_year_fee"]["amount"]) for one in last), Fraction(0))
    year_note = "no cap of the year"
    if cap.year is not None:
        most = {"amount": _cents(planned * Fraction(cap.year)), "currency": facts.currency}
        year_note = f"cap of the year {money(most)}{_cited(facts, 'credit-caps.year')}"
    given = {"amount": _cents(Fraction(year)), "currency": facts.currency}
    rights = facts.document["rights"]
    return (
        _stated(facts, note),
        Figure("Credits this contract year", money(given), year_note),
        Figure("Right to leave", "Reached" if rights else "Not reached", _rights_note(facts)),
    )


def _stated(facts: Facts, note: str) -> Figure:
    total = money(facts.document["total"])
    if not facts.document["not_computed"]:
        return Figure("Credit stated", total, note)
    if not Decimal(facts.document["total"]["amount"]):
        return Figure("Credit stated", "Not computed", "the reasons are among the notes")
    return Figure("Credit stated, at least", total, "the rest is not computed; the notes say why")


def _cited(facts: Facts, paragraph: str) -> str:
    number = facts.clause_of(paragraph)
    return f", clause{NBSP}{number}" if number else ""


def _cents(amount: Fraction) -> str:
    return f"{Decimal(round(amount * 100)) / 100:.2f}"


def _rights_note(facts: Facts) -> str:
    rights = facts.document["rights"]
    if rights:
        first = rights[0]
        return f"{first['unit']}, since {facts.when(first['arises'])}"
    if facts.deal.cancellation.chronic_failure is None:
        return "the contract has no such right"
    return "no limb of chronic failure is met"


def lines_table(facts: Facts, lines: list[Line], of: int) -> Table | None:
    """Return the lines given as a table with their sums."""
    if not lines:
        return None
    several = len(facts.document["asked"]) > 1
    alike = len({line["service_level"] for line in facts.with_downtime()}) == 1
    left = of - len(lines)
    clean = len(facts.lines()) - of
    return Table(
        title=_lines_title(facts, alike),
        note=f"Minutes. {sentence(counted(clean, 'more line has', 'more lines have') + ' no outage on record')}"
        if clean
        else "Minutes.",
        head=(
            "Unit", *(("Period",) if several else ()), *(() if alike else ("Level",)), "Down", "Excluded", "Counted",
            "Availability", "Share", f"Credit, {facts.currency}", "Clause",
        ),
        rows=tuple(
            (
                line["unit"],
                *((line["period"],) if several else ()),
                *(() if alike else (facts.level_words(line),)),
                minutes(line["down_minutes"]),
                minutes(line["excluded_minutes"]),
                minutes(line["counted_minutes"]),
                facts.availability(line),
                _share_words(line),
                bare(line["payable"]) if line["payable"] is None or owed(line) else figures.UNDEFINED,
                _clause(line),
            )
            for line in lines
        ),
        total=_total(facts, several, alike),
        rest=f"{sentence(counted(left, 'more line is', 'more lines are') + ' in the ledger')}" if left else None,
        text_columns=1 + several + (not alike),
        words_last=True,
    )  # fmt: skip


def _lines_title(facts: Facts, alike: bool) -> str:
    level = facts.deal.service_levels.get(facts.with_downtime()[0]["service_level"]) if alike else None
    return f"Credit by {LEVELS[level.level][0]}" if level else "Credit by unit"


def _total(facts: Facts, several: bool, alike: bool) -> tuple[str, ...]:
    """Return the sums of all lines; minutes of several levels overlap, so theirs are not added."""
    names = ("down_minutes", "excluded_minutes", "counted_minutes")
    sums = [minutes(number(sum(Fraction(line[name]) for line in facts.lines()))) for name in names]
    return (
        "Stated in all",
        *([NBSP] * (several + (not alike))),
        *(sums if alike else [NBSP] * len(names)),
        NBSP,
        NBSP,
        bare(facts.document["total"]),
        facts.clause_of("credit-caps.order") or NBSP,
    )


def _share_words(line: Line) -> str:
    if line["target_met"] and not owed(line):
        return "met"
    return share(line["credit_fraction"])


DECIDING = (
    "credit-process.late", "credit-caps.year", "credit-caps.month", "stacking.between-levels",
    "scheduled-maintenance.cap",
)  # fmt: skip


def _clause(line: Line) -> str:
    """Return the clause that decides a line: why it pays, or why it does not."""
    steps: dict[str, str | None] = {step["paragraph"]: step["clause"] for step in line["steps"]}
    if line["lost"]:
        decided = next((steps[name] for name in DECIDING if steps.get(name)), None)
        if decided:
            return decided
    if line["excluded_minutes"] and not owed(line):
        return steps.get("excluded-downtime.closed-list") or ""
    shape = next((number for name, number in steps.items() if name.startswith("credit-schedule.") and number), None)
    return shape or steps.get("service-levels.formula") or ""


def _bands(facts: Facts) -> str:
    """Return the tables of bands in words."""
    words = []
    for name, level in facts.deal.service_levels.items():
        if not isinstance(level.credit, CreditBands):
            continue
        rows = level.credit.bands
        parts = []
        for i, band in enumerate(rows):
            floor = f" and not below {figures.agreed_percent(rows[i + 1].below)}" if i + 1 < len(rows) else ""
            parts.append(
                f"{figures.agreed_percent(band.credit_fraction)} below {figures.agreed_percent(band.below)}{floor}"
            )
        one = len(facts.deal.service_levels) == 1
        words.append(f"Bands{'' if one else f' of {figures.in_words(name)}'}: {'; '.join(parts)}.")
    return " ".join(words)


def _worked_title(line: Line) -> str:
    if line["payable"] is None:
        return f"Why the credit of {line['unit']} is not computed"
    if owed(line):
        return f"How {line['unit']} comes to {money(line['payable'])} in {period_words(line['period'])}"
    return f"How {line['unit']} is judged in {period_words(line['period'])}"
