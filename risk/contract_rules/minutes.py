"""Counted minutes of one unit: whole minutes of what is left of its outages after exclusions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from risk.contract_rules import straddle
from risk.contract_rules.counting_rules import CountingRules, counting_rules
from risk.contract_rules.degraded_performance import Weighted
from risk.contract_rules.flaps import Outage
from risk.contract_rules.intervals import (
    MINUTE,
    Minutes,
    Span,
    Spans,
    clipped,
    difference,
    exact_minutes,
    intersection,
    length,
    plain,
    union,
    whole_minutes,
)
from risk.core.computed import Computed, Step
from schemas.errors import NotComputedError

__all__ = ["PARAGRAPH", "Counted", "CountingRules", "arrays", "counting_rules", "exact"]

PARAGRAPH = "time-money-rules.minutes"
WITHIN_LEVEL_PARAGRAPH = "stacking.within-level"

_RULES = {
    "floor_piece": "each separate piece of downtime left after exclusions is cut down to whole minutes",
    "floor_outage": "each outage is cut down to whole minutes once; a minute belongs to the month, and to the "
    "exclusion, in which it starts",
    "ceil_outage": "each outage is rounded up to whole minutes once; a minute belongs to the month, and to the "
    "exclusion, in which it starts",
    "exact_seconds": "downtime is counted to the second",
}
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Counted:
    """Minutes of one unit in one month. [min]"""

    down: Minutes = 0
    """Downtime, exclusions and outages too short to count included."""
    excluded: Minutes = 0
    counted: Minutes = 0
    """Weighted minutes included."""
    degraded: Minutes = 0
    """Minutes that count in part, before they are weighted."""
    weighted: Minutes = 0
    """What those minutes count."""

    @property
    def disregarded(self) -> Minutes:
        """Return downtime that is neither excluded nor counted: outages too short, and parts of minutes."""
        return max(plain(self.down - self.excluded - self.degraded - (self.counted - self.weighted)), 0)


def exact(
    outages: Sequence[Outage],
    disregarded: Sequence[Outage],
    excluded: Spans,
    month: Span,
    rules: CountingRules,
    level: str | None = None,
    *,
    longest_only: bool = False,
    weighted: Sequence[Weighted] = (),
) -> Computed[Counted]:
    """Return the minutes of one unit in `month`.

    Parameters
    ----------
    outages : outages that count, over all months.
    disregarded : outages too short to count.
    excluded : excluded downtime, over all months.
    longest_only : whether only the outage with the most counted minutes in the month is looked at.
    weighted : time of which each minute counts in part, outside the outages that count. It is always divided at the
        end of a month; each stretch of one weight that is left is cut down to whole minutes and then weighted.
    """
    steps: list[Step] = []
    down: Minutes = 0
    left_out: Minutes = 0
    counted: Minutes = 0
    longest: Minutes = 0
    summed = 0
    for outage in outages:
        pieces = straddle.exact(outage, month, rules)
        if not pieces.value:
            continue
        steps += pieces.steps
        minutes = _of_outage(outage, pieces.value, excluded, rules)
        down, left_out = plain(down + minutes.down), plain(left_out + minutes.excluded)
        counted = plain(counted + minutes.counted)
        longest = max(longest, minutes.counted)
        summed += 1
    if longest_only:
        counted = longest
    for outage in disregarded:
        short = straddle.exact(outage, month, rules).value
        short = difference(short, union(one.span for one in weighted)) if weighted else short
        down = plain(down + _of_outage(outage, short, (), rules).down)
    value = Counted(max(down, plain(left_out + counted)), left_out, counted)
    if weighted:
        value = _with_weighted(value, weighted, excluded, month, rules, longest_only=longest_only)
        counted = value.counted
    inputs: dict[str, object] = {"down": value.down, "excluded": value.excluded, "disregarded": value.disregarded}
    if value.degraded:
        inputs |= {"degraded": value.degraded, "weighted": value.weighted}
    steps.append(Step(PARAGRAPH, _RULES[rules.minute_rule], counted, inputs, rules.path("minute_rule", level)))
    if summed > 1:
        rule = "the downtime of all outages of a unit in the month is added up before the table is applied; together"
        if longest_only:
            rule = "only the longest outage of a unit in the month is looked at; it counts"
        steps.append(Step(WITHIN_LEVEL_PARAGRAPH, rule, counted, {"outages": summed}, "credits.within_level"))
    return Computed(value, tuple(steps))


def _with_weighted(
    value: Counted,
    weighted: Sequence[Weighted],
    excluded: Spans,
    month: Span,
    rules: CountingRules,
    *,
    longest_only: bool,
) -> Counted:
    """Return the minutes of outages together with those that count in part."""
    down, left_out = value.down, value.excluded
    degraded: Minutes = 0
    counts: Minutes = 0
    longest: Minutes = 0
    for one in weighted:
        pieces = clipped((one.span,), *month)
        out = intersection(pieces, excluded)
        left = difference(pieces, out) if out else pieces
        kept, taken = _plainly(left, rules), _plainly(out, rules)
        down = plain(down + max(_plainly(pieces, rules), kept + taken))
        left_out, degraded = plain(left_out + taken), plain(degraded + kept)
        counts = plain(counts + kept * one.weight)
        longest = max(longest, plain(kept * one.weight))
    if longest_only:
        counts = longest if longest > value.counted else 0
        return Counted(down, left_out, max(value.counted, longest), degraded, counts)
    return Counted(down, left_out, plain(value.counted + counts), degraded, counts)


def _plainly(spans: Spans, rules: CountingRules) -> Minutes:
    """Return the minutes of time that is no outage: to the second, or in whole minutes for each span. [min]"""
    return exact_minutes(length(spans)) if rules.minute_rule == "exact_seconds" else _floors(spans)


def of_spans(outage: Outage, spans: Spans, rules: CountingRules) -> Minutes:
    """Return the minutes of the parts `spans` of an outage. [min]"""
    return _of_outage(outage, spans, (), rules).down


def _of_outage(outage: Outage, pieces: Spans, excluded: Spans, rules: CountingRules) -> Counted:
    """Return the minutes of the pieces of one outage that belong to a month."""
    out = intersection(pieces, excluded) if excluded else ()
    if rules.minute_rule == "floor_piece":
        left = difference(pieces, out) if out else pieces
        return Counted(_floors(pieces), _floors(out), _floors(left))
    if rules.minute_rule == "exact_seconds":
        down, taken = exact_minutes(length(pieces)), exact_minutes(length(out))
        return Counted(down, taken, plain(down - taken))
    whole = _minutes_started(outage.length)
    if rules.minute_rule == "floor_outage":
        whole = whole_minutes(outage.length)
    minutes, away = _minutes_in(outage, pieces, whole), _minutes_in(outage, out, whole)
    return Counted(minutes, away, minutes - away)


def _floors(spans: Spans) -> int:
    return sum(whole_minutes(end - start) for start, end in spans)


def _minutes_started(downtime: timedelta) -> int:
    """Return how many minutes have started once `downtime` has passed, counted from the start of an outage."""
    return -(-downtime // MINUTE)


def _minutes_in(outage: Outage, spans: Spans, whole: int) -> int:
    """Return how many of the first `whole` minutes of an outage start inside `spans`, which lie in its pieces."""
    found, before = 0, timedelta()
    for start, end in outage.pieces:
        for piece_start, piece_end in intersection(spans, ((start, end),)):
            first = min(_minutes_started(before + (piece_start - start)), whole)
            found += min(_minutes_started(before + (piece_end - start)), whole) - first
        before += end - start
    return found


def arrays(
    draw: IntArray,
    unit: IntArray,
    start_s: IntArray,
    end_s: IntArray,
    draws: int,
    units: int,
    edges_s: IntArray,
    rules: CountingRules,
) -> IntArray:
    """Return counted minutes of many histories without exclusions, shape (draws, units, months). [min]

    Parameters
    ----------
    draw, unit : indexes of the draw and the unit of each interval of downtime, shape (intervals,).
    start_s, end_s : its start and end after close, same shape. [s]
    draws, units : lengths of the first two axes of the result. [1]
    edges_s : start of each month and end of the last, shape (months + 1,). [s]
    rules : the same rules as for one history.

    Raises
    ------
    NotComputedError
        For `exact_seconds`, which has no whole minutes.
    """
    if rules.minute_rule == "exact_seconds":
        raise NotComputedError(
            rules.path("minute_rule"), "downtime to the second in the simulation", "use floor_piece there"
        )
    months = len(edges_s) - 1
    edges = np.asarray(edges_s, dtype=np.int64)
    start, end, group = _union(draw, unit, start_s, end_s, units)
    if not len(start):
        return np.zeros((draws, units, months), dtype=np.int64)
    outage = _joined(start, end, group, rules)
    first = np.flatnonzero(np.r_[True, outage[1:] != outage[:-1]])
    if rules.gap_counts:
        end = np.maximum.reduceat(end, first)
        start, group = start[first], group[first]
        outage = first = np.arange(len(start), dtype=np.int64)
    long_enough, whole, before = _tested(start, end, outage, first, rules)
    piece = np.flatnonzero(long_enough[outage])
    if rules.straddle == "split":
        piece, month = _months_of(start, end, edges, piece)
        low, high = np.maximum(start[piece], edges[month]), np.minimum(end[piece], edges[month + 1])
    else:
        last = np.r_[first[1:], len(start)] - 1
        at_start = np.searchsorted(edges, start[first], side="right") - 1
        at_end = np.searchsorted(edges, end[last], side="left") - 1
        of_outage = at_start if rules.straddle == "start_month" else at_end
        piece = piece[(of_outage[outage[piece]] >= 0) & (of_outage[outage[piece]] < months)]
        month, low, high = of_outage[outage[piece]], start[piece], end[piece]
    if rules.minute_rule == "floor_piece":
        minutes = (high - low) // 60
    else:
        passed = before[piece] - start[piece]
        limit = whole[outage[piece]]
        minutes = np.minimum(-(-(passed + high) // 60), limit) - np.minimum(-(-(passed + low) // 60), limit)
    # months lie far apart in memory, so that one month of all draws is read at once
    groups = draws * units
    flat = np.bincount(month * groups + group[piece], weights=minutes, minlength=months * groups)
    return flat.astype(np.int64).reshape(months, draws, units).transpose(1, 2, 0)


def _union(
    draw: IntArray, unit: IntArray, start_s: IntArray, end_s: IntArray, units: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Return start, end and group (draw and unit) of intervals that neither overlap nor touch in a group, sorted."""
    group = np.asarray(draw, dtype=np.int64) * units + np.asarray(unit, dtype=np.int64)
    start, end = np.asarray(start_s, dtype=np.int64), np.asarray(end_s, dtype=np.int64)
    some = end > start
    if not some.all():
        start, end, group = start[some], end[some], group[some]
    apart = (group[1:] > group[:-1]) | ((group[1:] == group[:-1]) & (start[1:] > end[:-1]))
    if apart.all():
        return start, end, group
    order = np.lexsort((start, group))
    start, end, group = start[order], end[order], group[order]
    # groups are laid end to end on one axis, so that the running greatest end never reaches into the next
    room = int(end.max()) - int(start.min()) + 2
    shift = (group - group[0]) * room
    reached = np.maximum.accumulate(end + shift)
    opens = np.r_[True, (start + shift)[1:] > reached[:-1]]
    first = np.flatnonzero(opens)
    return start[first], np.maximum.reduceat(end, first), group[first]


def _joined(start: IntArray, end: IntArray, group: IntArray, rules: CountingRules) -> IntArray:
    """Return the number of the outage to which each interval belongs."""
    apart = start[1:] - end[:-1] >= rules.merge_gap_minutes * 60
    opens = np.r_[True, (group[1:] != group[:-1]) | apart]
    return np.cumsum(opens) - 1


def _tested(
    start: IntArray, end: IntArray, outage: IntArray, first: IntArray, rules: CountingRules
) -> tuple[NDArray[np.bool_], IntArray, IntArray]:
    """Return whether each outage counts, its rounded minutes, and the downtime of it before each piece. [s]"""
    seconds = end - start
    in_one_piece = len(first) == len(start)
    total = seconds if in_one_piece else np.add.reduceat(seconds, first)
    minimum = rules.minimum_outage_minutes * 60
    counts = total >= minimum if rules.minimum_test == "at_least" else total > minimum
    whole = -(-total // 60) if rules.minute_rule == "ceil_outage" else total // 60
    if in_one_piece:
        return counts, whole, np.zeros_like(seconds)
    running = np.cumsum(seconds) - seconds
    return counts, whole, running - running[first][outage]


def _months_of(start: IntArray, end: IntArray, edges: IntArray, piece: IntArray) -> tuple[IntArray, IntArray]:
    """Return each piece once for every month it reaches into, and that month."""
    months = len(edges) - 1
    starts, ends = start[piece], end[piece]
    from_month = np.clip(np.searchsorted(edges, starts, side="right") - 1, 0, months)
    to_month = np.minimum(from_month + 1, months)
    further = np.flatnonzero((ends > edges[to_month]) | (starts < edges[0]))
    to_month[further] = np.clip(np.searchsorted(edges, ends[further], side="left"), 0, months)
    reach = np.maximum(to_month - from_month, 0)
    repeated = np.repeat(piece, reach)
    offset = np.arange(len(repeated)) - np.repeat(np.cumsum(reach) - reach, reach)
    return repeated, np.repeat(from_month, reach) + offset
