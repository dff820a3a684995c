"""The first page: what is owed, how to dispute or claim it, the lines, and the dearest of them step by step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from schemas.credit_shapes import CreditBands
from slakit.reports import figures
from slakit.reports.credit_statement.claims import (
    PROCESS,
    condition,
    is_too_late,
    lost_words,
    maker,
    objection_words,
    open_claim_words,
)
from slakit.reports.credit_statement.facts import (
    LOST_UNDER,
    Facts,
    Line,
    counted,
    listed,
    money,
    owed,
    period_words,
    sentence,
    share,
)
from slakit.reports.credit_statement.lines_table import lines_table
from slakit.reports.credit_statement.missed import missed_words
from slakit.reports.credit_statement.steps import Told
from slakit.reports.credit_statement.worked import worked
from slakit.reports.rounding import NBSP
from slakit.reports.tables import Table
from slakit.statements.words import LOSSES, NOTHING_READ

LINES = 22
"""Rows of the table, lines of the worked steps and further lines above them that fit the first page together. [1]"""
FEWEST_ROWS = 5
WIDE, OF_HEADLINE, OF_STEP = 98, 68, 94
"""Letters on a line of running words, of the headline and of a step. [letter]"""
USUAL = 4
"""Lines of words above the table that `LINES` allows for: one below the title, one of headline, two of detail. [1]"""


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
    is_overfull: bool
    """Whether it goes on over the page, so that the ledger follows without one of its own."""


def first_page(facts: Facts) -> FirstPage:
    """Return the first page of a statement."""
    dearest = facts.with_downtime()[:1]
    told = worked(facts, dearest[0]) if dearest else ()
    lines = facts.with_downtime()
    rows = rows_beside(facts, told)
    return FirstPage(
        title=f"Credit Statement, {facts.span()}",
        under=_under(facts),
        headline=_headline(facts),
        detail=" ".join(_detail(facts)),
        figures=_figures(facts),
        lines=lines_table(facts, lines[:rows], len(lines)),
        bands=_bands(facts),
        worked_title=_worked_title(dearest[0]) if dearest else "",
        worked=told,
        is_overfull=bool(told) and min(rows, len(lines)) + _lines_beside(facts, told) > LINES,
    )


def rows_beside(facts: Facts, told: tuple[Told, ...]) -> int:
    """Return how many lines the first page shows beside the steps of the dearest."""
    return max(FEWEST_ROWS, LINES - _lines_beside(facts, told))


def _lines_beside(facts: Facts, told: tuple[Told, ...]) -> int:
    """Return how many lines the steps take, and the words above the table beyond the usual."""
    above = _lines(_under(facts), WIDE) + _lines(_headline(facts), OF_HEADLINE)
    above += _lines(" ".join(_detail(facts)), WIDE)
    steps = sum(_lines(f"{one.words} (clause {one.clause})", OF_STEP) for one in told)
    return steps + max(above - USUAL, 0)


def _lines(words: str, width: int) -> int:
    return -(-len(words) // width)


def _under(facts: Facts) -> str:
    who = f"{made_by} " if (made_by := maker(facts)) else ""
    known = facts.document["as_of"]
    state = f" What was known at {facts.when(known)}." if known else ""
    return f"{who}Times in {facts.zone}{facts.cited('time-money-rules.zone')}.{state} {numbered_by(facts)}".rstrip()


def numbered_by(facts: Facts) -> str:
    """Return of which agreement the numbers of clauses are, nothing where none are printed."""
    copy = facts.document["manifest"].get("contract_sha256")
    if copy:
        return f"Clause numbers of the signed copy, terms{NBSP}{str(copy)[:8]}."
    if not facts.document["clauses"]:
        return ""
    return "Clause numbers of the agreement as it would be drafted from this deal."


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
    if nothing and is_too_late(facts.document):
        lost = money(facts.document["lost"]["late_claim"])
        return f"No credit is owed for {facts.span()}: {lost} was not claimed in time."
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
    if facts.document["claim"] is not None:
        return f"{start}{money(total)} is owed for {facts.span()}{condition(facts.document)}."
    return f"{start}{money(total)} for {facts.span()} {words}."


def _detail(facts: Facts) -> list[str]:
    missed = list(missed_words(facts.document, facts.deal))
    found = [sentence("; ".join(missed)) if missed else _no_miss(facts)]
    against = facts.document.get("against")
    if against:
        found.append(_other_side(against))
    for reason, amount in facts.document["lost"].items():
        if reason == "late_claim":
            found.append(lost_words(facts.document, facts.cited(*PROCESS)))
        else:
            cited = facts.cited(LOST_UNDER[reason])
            found.append(f"{money(amount)} of the credits is not owed: {LOSSES[reason]}{cited}.")
    return [*found, *(words for words in (open_claim_words(facts), objection_words(facts)) if words)]


def _other_side(against: Mapping[str, Any]) -> str:
    """Return what the other side's log comes to."""
    logs = listed([log["file"] for log in against["logs"]]) if against["logs"] else "no log"
    difference = Decimal(against["difference"]["amount"])
    by = {"amount": f"{abs(difference)}", "currency": against["difference"]["currency"]}
    compared = f"{money(by)} {'less' if difference > 0 else 'more'}" if difference else "the same"
    return f"By the other side's log ({logs}), on the same terms, it is {money(against['other_total'])}, {compared}."


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
