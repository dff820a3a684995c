"""The credit of one service level in a few words, for tables and abstracts; the clause says it in full."""

from __future__ import annotations

from typing import assert_never

from schemas.credit_shapes import (
    CreditBands,
    CreditShape,
    DurationTable,
    HourWaiver,
    LinearCredit,
    MultipleOfPrice,
    OnsetPlusHourly,
    PerBreach,
    StepCredit,
    TermExtension,
    UnstatedCredit,
)
from slakit.documents.wording import NBSP, amount, counted, number, percent


def credit_in_words(credit: CreditShape, currency: str | None) -> str:
    """Return what a miss pays, as the end of a sentence or a cell.

    Parameters
    ----------
    currency : currency of amounts; they stand without one when the deal names none.

    Examples
    --------
    >>> credit_in_words(PerBreach(shape="per_breach", credit_fraction="0.1", at_risk="0.3"), "USD")
    '10% of the fee for each outage, at most 30%'
    """
    match credit:
        case CreditBands(bands=bands):
            return ", ".join(f"{percent(band.credit_fraction)} below {percent(band.below)}" for band in bands)
        case LinearCredit(slope=slope, cap=cap):
            times = "the shortfall" if slope == 1 else f"{number(slope)} times the shortfall"
            return f"{times} below the target, at most {percent(cap)} of the fee"
        case StepCredit():
            step = counted(credit.step * 100, "point")
            each = f"{percent(credit.credit_fraction)} of the fee for each {credit.counted} step of {step}"
            return f"{each} below the target, at most {percent(credit.cap)}"
        case DurationTable():
            given = [row.credit_hours for row in credit.rows if row.credit_hours is not None]
            spread = "no hours" if not given else counted(max(given), "hour")
            if given and min(given) != max(given):
                spread = f"{number(min(given))} to {spread}"
            of = "each outage" if credit.per == "outage" else "the downtime of the period"
            left_out = "" if len(given) == len(credit.rows) else "; what other lengths earn is not stated"
            return f"{spread} of price by the length of {of}{left_out}"
        case MultipleOfPrice(multiple=multiple, least=least):
            times = "the price" if multiple == 1 else f"{number(multiple)} times the price"
            money = amount(least, currency) if currency else number(least)
            return f"{times} of the downtime" + (f", at least {money}" if least else "")
        case PerBreach(credit_fraction=fraction, at_risk=at_risk):
            return f"{percent(fraction)} of the fee for each outage, at most {percent(at_risk)}"
        case HourWaiver(minutes_in_clock_hour=allowed):
            return f"the price of each clock hour with more than {counted(allowed, 'minute')} of downtime"
        case OnsetPlusHourly():
            onset = f"{percent(credit.onset)} of the fee at its onset and " if credit.onset else ""
            hourly = f"{percent(credit.hourly)}{'' if credit.onset else ' of the fee'} for each {credit.counted}"
            of = "each outage" if credit.per == "outage" else "the downtime of the period"
            free = f" after {counted(credit.free_minutes, 'minute')}" if credit.free_minutes else ""
            length = f"{credit.hour_minutes}{NBSP}minutes"
            return f"for {of}, {onset}{hourly} {length}{free}, at most {percent(credit.cap)}"
        case TermExtension(rows=rows):
            days = f"{rows[0].days} to " if len(rows) > 1 else ""
            return f"{days}{counted(rows[-1].days, 'day')} added to the term, no money"
        case UnstatedCredit():
            return "not stated"
        case _:
            assert_never(credit)
