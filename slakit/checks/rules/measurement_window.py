"""A month, a zone or a rounding that moves an outage across a threshold.

Not expressible in this version, so not looked at: percentages rounded before they are compared, and a ledger kept in
another zone.
"""

from __future__ import annotations

from collections.abc import Iterator

from schemas.deal import Deal
from slakit.checks.finding import Raised, everybody
from slakit.checks.stored_set import moved_words

ID = "trap-09-measurement-window"
CONCERN = everybody("warning")

_THIRTY_DAYS = (
    "Every month counts as 30 days: in a month of 31 days the same outage weighs more than its share of the month, in "
    "February less."
)
_FLOORED = (
    "Each outage is cut down to whole minutes before exclusions, so that many short outages lose up to a minute each."
)
_STRADDLE = {
    "start_month": "An outage over a month end counts in the month it began, even past that month's own length.",
    "end_month": "An outage over a month end counts in the month it ended, which may have had little of it.",
}


def find(deal: Deal) -> Iterator[Raised]:
    """Yield conventions of counting that differ from the calendar month in a named zone."""
    if not deal.service_levels:
        return
    measurement = deal.measurement
    if "zone" not in measurement.model_fields_set:
        yield Raised(
            CONCERN,
            "time-money-rules.zone",
            "measurement.zone",
            "The deal names no zone, so UTC cuts its months: an outage on the last evening of a local month may fall "
            "into the next one.",
        )
    if measurement.month_length == "fixed_30":
        yield _priced(deal, "measurement-period.month", "measurement.month_length", "actual", _THIRTY_DAYS)
    if measurement.minute_rule == "floor_outage":
        yield _priced(deal, "time-money-rules.minutes", "measurement.minute_rule", "floor_piece", _FLOORED)
    if measurement.straddle != "split":
        words = _STRADDLE[measurement.straddle]
        yield _priced(deal, "measurement-period.straddle", "measurement.straddle", "split", words)
    for name, level in deal.service_levels.items():
        own = level.measurement
        if own is None:
            continue
        path = f"service_levels.{name}.measurement"
        if own.month_length == "fixed_30":
            yield _priced(deal, "measurement-period.month", f"{path}.month_length", "actual", _THIRTY_DAYS)
        if own.minute_rule == "floor_outage":
            yield _priced(deal, "time-money-rules.minutes", f"{path}.minute_rule", "floor_piece", _FLOORED)


def _priced(deal: Deal, paragraph: str, path: str, standard: str, message: str) -> Raised:
    """Return a finding with what the term is worth on the stored outages against the standard."""
    words, money = moved_words(deal, {path: standard})
    return Raised(CONCERN, paragraph, path, message + words, money)
