"""The claim notice: what the customer sends so that a credit is not lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from schemas.deal import Deal
from slakit.documents.pdf import PrintedPdf
from slakit.reports import figures
from slakit.reports.credit_statement.claims import PROCESS, is_too_late, later, lost_words, no_day_words
from slakit.reports.credit_statement.facts import (
    Document,
    Facts,
    Line,
    bare,
    counted,
    is_of_availability,
    minutes,
    money,
    owed,
    period_words,
    printable,
    sentence,
)
from slakit.reports.credit_statement.missed import missed_words
from slakit.reports.credit_statement.times import last_day
from slakit.reports.paper import print_report, report_style, report_template
from slakit.reports.rounding import NBSP
from slakit.reports.tables import Table
from slakit.reports.terminal import fitted

MOST_CLAIMED = 14
"""Lines that the letter lists; the enclosures have all. [1]"""
BLANK = "________________"
"""Where a person writes."""


@dataclass(frozen=True, slots=True)
class Letter:
    """The parts of a claim notice."""

    title: str
    to: tuple[str, ...]
    sender: str
    answer: str
    deadline: str
    paragraphs: tuple[str, ...]
    lines: Table | None
    enclosed: tuple[str, ...]


def letter(facts: Facts) -> Letter:
    """Return the claim notice of a statement."""
    provider, customer = (facts.deal.party(role) for role in ("provider", "customer"))
    claimed = [line for line in facts.with_downtime() if owed(line)]
    clause = facts.clause_of("credit-process.claim") or facts.clause_of("credit-schedule.bands")
    under = f"under clause{NBSP}{clause} of the Service Level Agreement" if clause else "under the agreement"
    who = customer.name if customer else "The customer"
    total = money(facts.document["total"])
    nothing = not Decimal(facts.document["total"]["amount"])
    return Letter(
        title=f"Claim Notice, {facts.span()}",
        to=(
            provider.name if provider else "The provider",
            *((provider.notice_address or "").splitlines() if provider else ()),
        ),
        sender=who,
        answer=f"Nothing is claimed for {facts.span()}." if nothing else f"{who} claims {total} {under}.",
        deadline=_deadline(facts),
        paragraphs=_paragraphs(facts, claimed),
        lines=_table(facts, claimed),
        enclosed=(
            "Credit statement with every step of the computation; the terms and records are attached to it",
            "Lines of the statement (lines.csv)",
            "Evidence: every line of the logs that it rests on (evidence.csv)",
        ),
    )


def _deadline(facts: Facts) -> str:
    """Return by when the notice must be received, and what was lost because no claim was in time."""
    lost = [lost_words(facts.document, facts.cited(*PROCESS))] if is_too_late(facts.document) else []
    if facts.document["claim"] is None:
        return " ".join([*lost, "Credits are given with the statement; this notice keeps the claim on record."])
    return " ".join((*lost, *_time_left(facts)))


def _time_left(facts: Facts) -> Iterator[str]:
    unclaimed = [line for line in facts.lines() if owed(line) and line["claim_received"] is None]
    if not unclaimed:
        if any(owed(line) for line in facts.lines()):
            yield "A claim is on record already; this notice repeats it."
        return
    deadlines = facts.deadlines()
    if not deadlines:
        yield f"This notice must be received {no_day_words(facts)}; send it at once."
        return
    several = f" for {period_words(min(deadlines, key=deadlines.__getitem__))}" if len(deadlines) > 1 else ""
    by = last_day(min(deadlines.values()), facts.zone)
    yield f"This notice must be received by {by}, 24:00 {facts.zone}{several}; {later(facts.document)}."


def _paragraphs(facts: Facts, claimed: list[Line]) -> tuple[str, ...]:
    found = []
    if claimed:
        missed = "; ".join(missed_words(facts.document, facts.deal))
        said = f"{sentence(f'{missed} in {facts.span()}')} " if missed else ""
        found.append(
            f"{said}The table shows the minutes counted, the availability and the credit of each unit; times are in "
            f"{facts.zone}."
        )
    formula = facts.clause_of("service-levels.formula")
    found.append(
        "Downtime is counted as the agreement says: outages as logged, exclusions as far as they are proved, "
        f"availability as an exact fraction{f' (clause{NBSP}{formula})' if formula else ''}. Every step is in the "
        "enclosed statement with the number of its clause."
    )
    unknown = [line for line in facts.lines() if line["unknown_minutes"]]
    if unknown:
        found.append(
            f"For {counted(len(unknown), 'line', 'lines')} there are minutes without a reading. They are not counted "
            "here; readings of them are asked for."
        )
    if facts.document["not_computed"]:
        found.append(f"Not computed, and reserved: {'; '.join(facts.document['not_computed'])}.")
    found.append("All further rights are reserved.")
    return tuple(found)


def _table(facts: Facts, claimed: list[Line]) -> Table | None:
    if not claimed:
        return None
    left = len(claimed) - MOST_CLAIMED
    return Table(
        "What is claimed",
        "minutes",
        ("Unit", "Period", "Level", "Counted", "Availability", f"Credit, {facts.currency}"),
        tuple(
            (
                line["unit"],
                line["period"],
                facts.level_words(line),
                minutes(line["counted_minutes"]) if is_of_availability(line) else figures.UNDEFINED,
                facts.availability(line),
                bare(line["payable"]),
            )
            for line in claimed[:MOST_CLAIMED]
        ),
        rest=sentence(f"{counted(left, 'more line is', 'more lines are')} in the enclosed statement and in lines.csv")
        if left > 0
        else None,
        total=("In all", *([NBSP] * 4), bare(facts.document["total"])),
        text_columns=3,
    )


def print_letter(deal: Deal, document: Document) -> PrintedPdf:
    """Return the claim notice as a PDF."""
    facts = Facts(deal, printable(document))
    found = letter(facts)
    style = report_style(
        deal,
        f"Claim Notice: {deal.title}",
        facts.span_short(),
        f"terms {document['manifest']['terms_sha256'][:8]}",
        sheets=("report.css", "credit-statement.css"),
    )
    return print_report(report_template("claim-notice.html.j2").render(letter=found, blank=BLANK, style=style))


def letter_text(deal: Deal, document: Document) -> str:
    """Return the claim notice as plain text, for an e-mail or a portal."""
    found = letter(Facts(deal, document))
    parts = [found.title, f"To: {', '.join(found.to)}", f"From: {found.sender}", "", found.answer, found.deadline, ""]
    for paragraph in found.paragraphs:
        parts += [paragraph, ""]
    if found.lines is not None:
        table, _ = fitted(found.lines, 120)
        rows = [table.head, *table.rows, *([table.total] if table.total else [])]
        widths = [max(len(row[i]) for row in rows) for i in range(len(table.head))]
        for row in rows:
            cells = (
                cell.ljust(width) if table.align(i) == "left" else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            parts.append("  ".join(cells).rstrip())
        parts += [table.rest] if table.rest else []
        parts.append("")
    parts += ["Enclosed:", *(f"- {words}" for words in found.enclosed), ""]
    parts += [f"Name: {BLANK}", f"Date: {BLANK}", ""]
    return "\n".join(parts).replace(NBSP, " ")
