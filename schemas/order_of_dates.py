"""Dates of different sections that cannot both hold."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from schemas.backstop import Backstop, ResidualGuarantee
from schemas.cancellation import Cancellation
from schemas.commercial import Commercial
from schemas.delivery import Delivery
from schemas.errors import TermsError
from schemas.periods import DatePoint, MonthsAfterClose, is_before


def term_over_before_it_starts(
    commercial: Commercial | None, delivery: Delivery | None, close: date | None
) -> Iterator[TermsError]:
    """Yield the latest end of the term where it is not after the date of a tranche."""
    end = commercial.term.ends_by if commercial else None
    if end is None or delivery is None:
        return
    dates = {name: tranche.ready_for_service_date for name, tranche in delivery.tranches.items()}
    late = [f"{name!r} {shown(ready)}" for name, ready in dates.items() if is_before(ready, end, close) is False]
    if late:
        yield TermsError(
            f"commercial.term.ends_by {shown(end)}, when tranches are due later or then: {', '.join(late)}",
            "a term that ends after the Ready-for-Service Date of every tranche",
            "move ends_by, or delivery.tranches.*.ready_for_service_date",
        )


def right_to_leave_before_close(cancellation: Cancellation, close: date | None) -> Iterator[TermsError]:
    """Yield the first day of notice where it lies before the month of close."""
    leave = cancellation.convenience
    if leave is None or close is None:
        return
    if is_before(leave.first_exercise, close.replace(day=1), close):
        yield TermsError(
            f"cancellation.convenience.first_exercise {shown(leave.first_exercise)}",
            f"not before financial close, {close.isoformat()}",
            "write the first day after close on which notice may be given",
        )


def cover_over_before_it_starts(
    backstop: Backstop | None, delivery: Delivery | None, close: date | None
) -> Iterator[TermsError]:
    """Yield the end of a backstop where it is not after its start, and a value measured when it does not run."""
    if backstop is None:
        return
    start = _cover_starts(backstop, delivery, close)
    if backstop.expires is not None and start is not None and is_before(start, backstop.expires, close) is False:
        yield TermsError(
            f"backstop.expires {shown(backstop.expires)}, when cover starts {shown(start)}",
            "an end after the start",
            "move backstop.expires, or let it start sooner",
        )
    if not isinstance(backstop, ResidualGuarantee):
        return
    if start is not None and is_before(backstop.at, start, close):
        yield TermsError(
            f"backstop.at {shown(backstop.at)}, when cover starts {shown(start)}",
            "a day on which cover has started",
            "move backstop.at, or let cover start sooner",
        )
    if backstop.expires is not None and is_before(backstop.expires, backstop.at, close):
        yield TermsError(
            f"backstop.at {shown(backstop.at)}, when cover ends {shown(backstop.expires)}",
            "a day on which cover has not ended",
            "move backstop.at or backstop.expires",
        )


def _cover_starts(backstop: Backstop, delivery: Delivery | None, close: date | None) -> DatePoint | None:
    """Return the earliest day on which cover can start with every tranche on its date; None where it is not known."""
    if backstop.starts == "date":
        return backstop.start_date
    if backstop.starts == "signing":
        return MonthsAfterClose.model_validate({"close_plus_months": 0})
    ready = [tranche.ready_for_service_date for tranche in delivery.tranches.values()] if delivery else []
    found: DatePoint | None = None
    for point in ready:
        before = None if found is None else is_before(point, found, close)
        if found is None or before is (backstop.starts != "rfs_all"):
            found = point
        elif before is None:
            return None
    return found


def shown(point: DatePoint) -> str:
    """Return a date as people read it.

    >>> shown(date(2026, 9, 1)), shown(MonthsAfterClose(close_plus_months=4))
    ('2026-09-01', '4 months after close')
    """
    if not isinstance(point, MonthsAfterClose):
        return point.isoformat()
    months = point.close_plus_months
    return f"{months:f} month{'' if months == 1 else 's'} after close"
