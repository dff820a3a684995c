"""Section 1, the first page: what a lender takes away who reads nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from schemas.parties import Party
from slakit.reports import exhibits, figures
from slakit.reports.answer import Answer, Headline, answer, headlines, not_computed
from slakit.reports.contract_lines import contract_lines
from slakit.reports.credit_memo import method, unknown
from slakit.reports.credit_memo.levers import Move, how_counted, moves
from slakit.reports.credit_memo.parts import Facts, sentence
from slakit.reports.credit_memo.stresses import worst
from slakit.reports.exhibits import Exhibit
from slakit.reports.judgements import judgements
from slakit.reports.notes import for_lenders
from slakit.reports.tables import Table

BETTER, WORSE = 3, 2
"""Levers on the first page, each way."""
STRESSES = 3
MOST_LEFT_OUT = 4
"""Subjects named as not modelled on the first page."""
LINES = {
    "Firm term": ("commercial.term", "term-renewal-notice.firm-term"),
    "Long stop": ("delivery.tranches", "long-stop.right"),
    "Credit caps": ("credits.caps", "credit-caps"),
    "Chronic failure": ("cancellation.chronic_failure", "chronic-failure"),
    "Notice": ("cancellation.convenience", "term-renewal-notice.convenience", "term-renewal-notice"),
    "Covenant": ("section 5",),
    "Backstop": ("section 8",),
}
"""A line of the contract to its path, and the clauses that may hold it."""


class Room(NamedTuple):
    """What may be shortened so that the first page holds it all."""

    chart_height: float
    bar_row: float
    better: int = BETTER
    worse: int = WORSE


ROOMS = (
    Room(240, 31),
    Room(225, 29),
    Room(210, 27),
    Room(195, 25),
    Room(182, 24),
    Room(182, 24, 3, 1),
    Room(182, 24, 2, 1),
    Room(170, 22, 2, 1),
    Room(155, 20, 2, 1),
    Room(140, 18, 2, 1),
    Room(128, 17, 2, 1),
    Room(128, 17, 1, 1),
    Room(115, 15, 1, 1),
    Room(105, 15, 1, 0),
)
"""Tried in this order until the page holds it; what is left out stands in section 9."""


class Summary(NamedTuple):
    """What the first page prints."""

    loan: str
    answer: Answer
    headlines: list[Headline]
    missing: str | None
    charts: tuple[Exhibit | None, ...]
    moves: Table | None
    contract: list[tuple[str, str, str]]
    stresses: list[tuple[str, str]]
    stresses_note: str
    left_out: str
    foot: str


def summary(facts: Facts, room: Room = ROOMS[0]) -> Summary:
    """Return the first page."""
    score = facts.score
    return Summary(
        loan=loan_in_one_line(facts),
        answer=_answer(facts),
        headlines=headlines(score),
        missing=not_computed(score),
        charts=(
            exhibits.cover(score, facts.palette, height=room.chart_height),
            exhibits.losses(score, facts.palette, row=room.bar_row),
            exhibits.endings(score, facts.palette, row=room.bar_row) if "default" not in score else None,
        ),
        moves=_moves(facts, room),
        contract=[
            (label, words, facts.clauses.where(*LINES[label])) for label, words in contract_lines(facts.deal, score)
        ],
        stresses=worst(score, STRESSES),
        stresses_note=_stresses_note(facts),
        left_out=_left_out(facts),
        foot=_foot(facts),
    )


def loan_in_one_line(facts: Facts) -> str:
    """Return what is lent to whom and against what, in one line."""
    deal = facts.deal
    provider, customer = deal.party("provider"), deal.party("customer")
    gpus = sum(cluster.units.gpu for cluster in deal.clusters.values())
    counted = any(cluster.hardware or cluster.units.node for cluster in deal.clusters.values())
    let = f"let to {_name(customer)}" if customer else "let to one customer"
    what = "GPUs" if counted else "positions for a GPU"
    on = f"{figures.count(gpus)} {what} {let}" if gpus else f"capacity {let}"
    finance = deal.finance
    if finance is None or finance.loan is None:
        by = f" by {_name(provider)}" if provider else ""
        return f"{on[:1].upper()}{on[1:]}{by}; no loan in the deal file."
    loan = finance.loan
    to = f" to {_name(provider)}" if provider else ""
    return (
        f"{figures.money_agreed(loan.amount, finance.currency)} {loan.profile} loan{to} at "
        f"{figures.agreed_percent(loan.annual_rate)}, {loan.payments} monthly payments from month "
        f"{loan.first_payment_month}, against {on}."
    )


def _answer(facts: Facts) -> Answer:
    """Return the answer, with what would move the step before what follows from it."""
    found = answer(facts.score)
    return Answer(found.headline, sentence(_conditions(facts), unknown.finding(facts), found.detail))


def _conditions(facts: Facts) -> str | None:
    """Return what agreed terms would bring the next step, two of them at most, as changes and not as advice."""
    found = [move for move in moves(facts.deal, facts.score, "better") if move.reaches]
    agreed = [move for move in _agreed_first(found) if figures.JUDGEMENT not in move.words][:2]
    if not agreed:
        return None
    words = " or ".join(f"{_inside(move.words)} ({move.loss.split(' ±')[0]})" for move in agreed)
    now, final = facts.score["moves"]["step"], facts.score.get("credit_step")
    counted = how_counted(facts.score).removeprefix("; ")
    now_in_words = f"{now} where {counted}" if counted else now
    said = f"The step of the loss, {now_in_words}, would be {agreed[0].step} with {words}"
    return f"{said}." if now == final else f"{said}; the rules of section 6 make it {final}."


def _agreed_first(found: list[Move]) -> list[Move]:
    """Return levers so that each section is heard before any is heard twice, sections of agreed terms first."""
    by_section: dict[int, list[Move]] = {}
    for move in found:
        by_section.setdefault(move.section, []).append(move)
    ordered = sorted(by_section.items(), key=lambda item: item[0] in (6, 7))
    rounds = max(map(len, by_section.values()), default=0)
    return [held[i] for i in range(rounds) for _, held in ordered if i < len(held)]


def _moves(facts: Facts, room: Room) -> Table | None:
    better = _agreed_first([move for move in moves(facts.deal, facts.score, "better") if move.reaches])[: room.better]
    if not better:
        better = list(moves(facts.deal, facts.score, "better"))[: room.better]
    worse = _agreed_first(list(moves(facts.deal, facts.score, "worse")))[: room.worse]
    rows = tuple((one.words, one.loss, one.default, one.step, str(one.section)) for one in [*better, *worse])
    if not rows:
        return None
    head = ("Change", "Expected loss", "Default, term", "Step", "Section")
    note = "Each moves one thing just far enough, on the same draws; ± is paired; step before caps"
    return Table("What would move the step", note + how_counted(facts.score), head, rows)


def _stresses_note(facts: Facts) -> str:
    rows = (facts.score.get("scenarios") or ())[1:]
    if not rows:
        return figures.not_computed("make the memo with slakit score").capitalize()
    if not worst(facts.score, 1):
        return "No stress adds to the expected loss"
    drawn = any(row["draws"] for row in rows if row["computed"])
    return "Change of the expected loss, on the same futures" if drawn else "Loss of the base path"


def _left_out(facts: Facts) -> str:
    """Return the first subjects that no figure counts, and where all of them stand."""
    subjects: dict[str, None] = {}
    for note in for_lenders(method.ignored(facts.deal, facts.score)):
        subject = note.split(":")[0].rstrip(".")
        if ":" in note and "'" not in subject and len(subject) <= 90:
            subjects[subject] = None
    names = [*subjects][:MOST_LEFT_OUT]
    more = f"; {len(subjects) - len(names)} more subjects" if len(subjects) > len(names) else ""
    return f"Left out in whole or part: {'; '.join(_inside(name) for name in names)}{more} (section {method.NUMBER})."


def _foot(facts: Facts) -> str:
    return " ".join(_sentences(facts))


def _sentences(facts: Facts) -> Iterator[str]:
    share = facts.score.get("judgement_share")
    if share is not None:
        part = figures.percent_in_words(share)
        yield (
            f"{figures.JUDGEMENT} rests on judgement: {part} of the spread in expected loss comes from inputs without "
            "a public source (section 10)."
        )
    else:
        yield judgements(facts.deal).sentence
    if facts.score.get("credit_step"):
        yield "Credit steps run from S1, the best, to S19 and D; they are no credit rating."
    yield method.foot(facts.score)
    yield "Recompute with the deal file attached to this PDF: slakit verify."


def _name(party: Party) -> str:
    """Return a party's name as it may end a sentence."""
    return party.name.rstrip(".")


def _inside(words: Any) -> str:
    """Return words as they stand inside a sentence; abbreviations stay as they are."""
    text = str(words)
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]
