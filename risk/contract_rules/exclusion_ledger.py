"""How each minute inside a window was judged: excluded under which entry of the list, or why not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from risk.contract_rules import minutes, straddle
from risk.contract_rules.counting_rules import CountingRules, counting_rules
from risk.contract_rules.excluded_downtime import Excluded
from risk.contract_rules.flaps import Outage
from risk.contract_rules.intervals import MINUTE, Minutes, Span, Spans, clipped, difference, intersection, union
from risk.contract_rules.judged_window import Judged, Reason
from risk.contract_rules.records import Unit
from risk.contract_rules.register import Register
from schemas.exclusions import Head
from schemas.incidents import Evidence
from schemas.periods import Period


@dataclass(frozen=True, slots=True)
class ExclusionRow:
    """One stretch of downtime inside a window."""

    start: datetime
    end: datetime
    """Not included; both in UTC."""
    minutes: Minutes
    """Minutes of the line that it stands for. [min]"""
    head: Head
    window: str
    notice: str | None
    """Id of the notice that the window names."""
    paragraph: str
    """Paragraph under which it is excluded, or refused."""
    reason: Reason | None
    """Why it counts although a window covers it; None where it is excluded."""
    evidence: tuple[Evidence, ...]
    """Lines of logs on which the window rests."""

    @property
    def is_excluded(self) -> bool:
        """Return whether it is excluded."""
        return self.reason is None


def exclusion_ledger(register: Register, unit: Unit, level_id: str, month: Period) -> tuple[ExclusionRow, ...]:
    """Return how the downtime of one unit inside windows was judged, in order of time.

    Parameters
    ----------
    unit : a unit that the service level measures.
    month : a period of the statement.

    Notes
    -----
    Excluded rows add up to the excluded minutes of the line; the other rows are the part of the counted minutes that
    lies inside windows, degraded time before it is weighted. Where each piece is cut down to whole minutes, a row
    stands for the minutes that are completed in it, counted from the start of its piece. Downtime that the nodes of a
    rack or cluster bring about is judged at the nodes and has no row here.
    """
    rows: list[ExclusionRow] = []
    for view, since in register.at_incident(month) or ((month, None),):
        if level_id in register.terms(view).service_levels:
            rows += _rows(register, unit, level_id, view, since)
    return tuple(sorted(rows, key=lambda row: (row.start, row.end)))


def _rows(register: Register, unit: Unit, level_id: str, month: Period, since: Span | None) -> Iterator[ExclusionRow]:
    """Yield the rows of one unit on the terms of a period, of what started in `since` where that is given."""
    terms = register.terms(month)
    rules = counting_rules(terms.measurement, terms.service_levels[level_id].measurement)
    history = register.history(unit, level_id, month)
    if since is not None:
        history = history.started(*since)
    span = register.span_of(unit, month)
    if span is None:  # measured together with the next period
        return
    slow_rules = rules if rules.minute_rule == "exact_seconds" else replace(rules, minute_rule="floor_piece")
    parts = [(outage, straddle.exact(outage, span, rules).value, rules) for outage in history.outages]
    parts += [(Outage((one.span,)), clipped((one.span,), *span), slow_rules) for one in history.weighted]
    for outage, pieces, counted in parts:
        excluded = intersection(pieces, history.excluded.spans)
        for piece, judged, reason, paragraph in (
            *_excluded(excluded, history.excluded),
            *_refused(difference(pieces, excluded), history.excluded),
        ):
            whole = excluded if reason is None else difference(pieces, excluded)
            window = judged.window
            yield ExclusionRow(
                piece[0],
                piece[1],
                _minutes(outage, piece, whole, counted),
                window.kind,
                window.id,
                window.notice_id,
                paragraph,
                reason,
                window.evidence,
            )


_Found = tuple[Span, Judged, Reason | None, str]


def _excluded(excluded: Spans, found: Excluded) -> Iterator[_Found]:
    """Yield excluded time with the window that excludes it; the first one where several do."""
    for head, spans in found.by_head.items():
        left = intersection(excluded, spans)
        for judged in found.windows:
            if judged.window.kind == head:
                for piece in intersection(left, judged.valid):
                    yield piece, judged, None, judged.paragraph
                left = difference(left, judged.valid)


def _refused(counted: Spans, found: Excluded) -> Iterator[_Found]:
    """Yield time that counts although a window covers it, with the first window and the first reason."""
    left = counted
    for judged in found.windows:
        refusals = (*judged.refusals, *found.over)
        inside = union([*judged.valid, (judged.window.starts_at, judged.window.ends_at)])
        here = intersection(left, inside)
        for refusal in refusals:
            for piece in intersection(here, refusal.spans):
                yield piece, judged, refusal.reason, refusal.paragraph
            here = difference(here, refusal.spans)
        left = difference(left, difference(inside, here))


def _minutes(outage: Outage, piece: Span, whole: Spans, rules: CountingRules) -> Minutes:
    """Return the minutes that a piece stands for, so that the pieces of `whole` add up to its minutes. [min]"""
    if rules.minute_rule != "floor_piece":
        return minutes.of_spans(outage, (piece,), rules)
    start = next(start for start, end in whole if start <= piece[0] < end)
    return (piece[1] - start) // MINUTE - (piece[0] - start) // MINUTE
