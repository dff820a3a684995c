"""The first day on which a customer's termination can take effect beside the lender's time to cure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta


@dataclass(frozen=True, slots=True)
class LenderTime:
    """What the lender is promised by the customer. [day]"""

    extra_cure_days: int = 30
    """Beyond the provider's own time to cure."""
    standstill_days: int = 60
    """In which nothing ends, counted from the lender's copy of the notice."""
    step_in_max_days: int = 180
    """Longest time for which a lender that has stepped in keeps the contract alive."""
    hard_stop_days: int = 270
    """The contract is never kept alive for longer than this after the lender's copy."""


def exact(
    noticed: date, copied: date | None, provider_cure_days: int, lender: LenderTime, *, step_in_days: int = 0
) -> date | None:
    """Return the first day on which the termination can take effect, None while the lender has no copy of the notice.

    Parameters
    ----------
    noticed, copied : days on which the provider and the lender received the notice.
    provider_cure_days : the provider's time to cure. [day]
    lender : the lender's times.
    step_in_days : how long a lender that steps in stays; counted up to its limit, from the end of its time to cure.
        [day]

    Notes
    -----
    The day after an event is day 1, and a time ends with its last day; the end comes on the day after. The hard stop
    limits what the lender adds; it never shortens the provider's own time to cure.
    """
    if copied is None:
        return None
    own = noticed + timedelta(days=provider_cure_days)
    cured = copied + timedelta(days=max(provider_cure_days + lender.extra_cure_days, lender.standstill_days))
    kept = cured + timedelta(days=min(step_in_days, lender.step_in_max_days))
    last = max(own, min(kept, copied + timedelta(days=lender.hard_stop_days)))
    return last + timedelta(days=1)
