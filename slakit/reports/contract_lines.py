"""The contract in six lines: what a lender asks about first, each line from a term of the deal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

from schemas.backstop import Backstop
from schemas.cancellation import (
    BadMonths,
    Cancellation,
    CapReached,
    CumulativeHours,
    Limb,
    ReplacementMissed,
    SameCause,
    SingleOutage,
)
from schemas.deal import Deal
from schemas.periods import DatePoint, Duration, MonthsAfterClose
from slakit.reports import figures
from slakit.reports.rounding import NBSP

Score = Mapping[str, Any]
Line = tuple[str, str]

STARTS = {
    "signing": "from close",
    "rfs_each_tranche": "for each tranche once it is ready",
    "rfs_all": "once all tranches are ready",
    "rent_commenced": "once the first fee is due",
}
"""When a backstop begins to cover; a date is said as it is."""


def contract_lines(deal: Deal, score: Score) -> list[Line]:
    """Return the lines, label and words; a seventh names a backstop, where there is one."""
    lines = [
        ("Firm term", _firm_term(deal, score)),
        ("Long stop", _long_stop(deal, score)),
        ("Credit caps", _credit_caps(deal)),
        ("Chronic failure", _chronic_failure(deal.cancellation)),
        ("Notice", _notice(deal)),
        ("Covenant", _covenant(deal, score)),
    ]
    if deal.backstop is not None:
        lines.append(("Backstop", _backstop(deal, deal.backstop, score)))
    return lines


def duration(length: Duration) -> str:
    """Return a duration of the contract.

    >>> print(duration(Duration(months=9)), "|", duration(Duration(days=1)))
    9 months | 1 day
    """
    if length.months is not None:
        return figures.months(length.months)
    days = length.days or 0
    return f"{days}{NBSP}day{'' if days == 1 else 's'}"


def _firm_term(deal: Deal, score: Score) -> str:
    ending = score["cancellation"]
    firm, effective = ending.get("firm_months"), ending.get("effective_firm_months")
    if firm is None:
        firm = deal.commercial.term.months if deal.commercial else None
    if firm is None:
        return "not given: add commercial.term"
    if effective is None or effective >= firm - 0.05:
        return f"{figures.months(firm)}, all of them firm, from each Ready-for-Service Date"
    return f"{figures.months(effective)} firm of {figures.months(firm)} from the first Ready-for-Service Date"


def _long_stop(deal: Deal, score: Score) -> str:
    tranches = deal.delivery.tranches if deal.delivery else {}
    stops = {name: tranche.long_stop for name, tranche in tranches.items() if tranche.long_stop}
    if not stops:
        return "none: however late, the customer is bound"
    lengths = sorted({duration(stop.after) for stop in stops.values()})
    scopes = {stop.scope for stop in stops.values()}
    reach = {"tranche": "the tranche", "order": "the whole order", "order_if_first": "the tranche, or all if the first"}
    scope = reach[scopes.pop()] if len(scopes) == 1 else "as each tranche says"
    passed = [
        tranche["probability_past_long_stop"]
        for tranche in score.get("delivery", {}).get("tranches", ())
        if tranche.get("probability_past_long_stop") is not None
    ]
    share = ""
    if passed:
        by = "" if len(passed) == 1 else " by the tranche most often late"
        share = f"; passed{by} in {figures.percent_in_words(max(passed))} of futures"
    return f"{' or '.join(lengths)} after the date, ends {scope}{share}"


def _credit_caps(deal: Deal) -> str:
    caps = deal.credits.caps
    parts = []
    if caps.unit < 1:
        parts.append(f"{figures.agreed_percent(caps.unit)} of a unit's monthly fee")
    if caps.month is not None:
        of = "the month before's" if caps.month_of == "previous_period" else "the month's"
        parts.append(f"{figures.agreed_percent(caps.month)} of {of} fee")
    if caps.year is not None:
        parts.append(f"{figures.agreed_percent(caps.year)} of the year's fees")
    if caps.term is not None:
        parts.append(f"{figures.agreed_percent(caps.term)} of the fees of the whole term")
    return ", ".join(parts) if parts else "no cap below the unit's own monthly fee"


def _chronic_failure(cancellation: Cancellation) -> str:
    chronic = cancellation.chronic_failure
    if chronic is None:
        return "no right to leave for bad service"
    return "; or ".join(_limb(limb) for limb in chronic.limbs)


def _limb(limb: Limb) -> str:
    match limb:
        case BadMonths():
            months = f"{limb.k} months of {limb.m} below {figures.agreed_percent(limb.below)}"
            return f"{months} ({figures.in_words(limb.service_level)})"
        case SingleOutage():
            return f"one outage over {figures.hours(limb.hours)} ({figures.in_words(limb.service_level)})"
        case CumulativeHours():
            length = f"over {figures.hours(limb.hours)} of downtime in {limb.window_days} days"
            return f"{length} ({figures.in_words(limb.service_level)})"
        case SameCause():
            outages = f"{limb.count} outages of one cause in {limb.window_days} days"
            return f"{outages} ({figures.in_words(limb.service_level)})"
        case CapReached():
            return f"credits at the cap of the {limb.cap}"
        case ReplacementMissed():
            return f"{limb.count} late replacements in {limb.window_days} days"
        case _:
            assert_never(limb)


def _notice(deal: Deal) -> str:
    right = deal.cancellation.convenience
    if right is None:
        return "no one may leave without cause"
    who = "either party" if right.party == "either" else "the customer"
    when = day_in_words(right.first_exercise)
    fee = ""
    if right.fee is not None and deal.commercial is not None:
        fee = f", for {figures.money_in_words(right.fee, deal.commercial.currency)}"
    return f"{who}, {_notice_of(right.notice)}, first on {when}{fee}"


def _notice_of(length: Duration) -> str:
    """Return a length of notice, in the possessive."""
    words = duration(length)
    return f"{words}' notice" if words.endswith("s") else f"{words}'s notice"


def day_in_words(point: DatePoint) -> str:
    """Return a day of the contract, as sentences write it."""
    if isinstance(point, MonthsAfterClose):
        return f"{figures.months(point.close_plus_months)} after close"
    return figures.date_long(point)


def _backstop(deal: Deal, backstop: Backstop, score: Score) -> str:
    """Return who covers what, up to how much, and from when."""
    currency = score["currency"]
    limits = [
        f"{figures.money_in_words(amount, currency)}{words}"
        for amount, words in ((backstop.amount, ""), (backstop.amount_per_year, " a year"))
        if amount is not None
    ]
    limit = f"up to {' and '.join(limits)}" if limits else "without limit"
    if backstop.amortisation_months is not None:
        limit += f", which falls to nothing over {figures.months(backstop.amortisation_months)}"
    start = STARTS.get(backstop.starts) or (f"from {day_in_words(backstop.start_date)}" if backstop.start_date else "")
    end = f", to {day_in_words(backstop.expires)}" if backstop.expires is not None else ""
    shape = f"{backstop.shape.replace('_', ' ')} of {deal.parties[backstop.provider].name}"
    return f"{shape}, {limit}; {start}{end}"


def _covenant(deal: Deal, score: Score) -> str:
    finance = deal.finance
    if finance is None or finance.loan is None:
        return figures.not_computed("add finance.loan")
    parts = []
    floor = finance.covenants.minimum_dscr
    if floor is not None:
        below = score.get("dscr", {}).get("probability_below_covenant")
        share = f", missed in {figures.percent_in_words(below)} of futures" if below is not None else ""
        parts.append(f"cover {figures.ratio(floor)}{share}")
    if finance.lock_up is not None:
        months = figures.months(finance.lock_up.look_back_months)
        parts.append(f"no distributions below {figures.ratio(finance.lock_up.dscr)} over {months}")
    return "; ".join(parts) if parts else "no cover covenant"
