"""Moments at which time within a rolling window passes a limit."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise

from risk.contract_rules.intervals import Spans


def passes(spans: Spans, limit: timedelta, look_back: timedelta) -> tuple[datetime, ...]:
    """Return each moment at which time of the last `look_back` comes to be more than `limit`.

    Parameters
    ----------
    spans : the time that counts.

    Notes
    -----
    Between moments at which a span starts, ends or begins or ceases to leave the window, that time grows with the
    clock, stays, or shrinks with it. It is counted anew from the first moment at which it is not more than the limit.
    """
    edges = sorted({edge + shift for span in spans for edge in span for shift in (timedelta(), look_back)})
    found = []
    for moment, following in pairwise(edges):
        now, then = (_within(spans, m, look_back) for m in (moment, following))
        if now <= limit < then:
            found.append(moment + (limit - now))
    return tuple(found)


def _within(spans: Spans, moment: datetime, look_back: timedelta) -> timedelta:
    """Return the time of the window that ends at `moment`."""
    start = moment - look_back
    return sum((max(min(b, moment) - max(a, start), timedelta()) for a, b in spans), timedelta())
