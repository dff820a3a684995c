"""What would move the credit step, in words: each lever with the section that holds what it turns on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from schemas.deal import Deal, value_at
from schemas.sources import Sourced
from slakit.reports import figures
from slakit.reports.contract_lines import STARTS
from slakit.reports.rounding import NBSP

Score = Mapping[str, Any]
Lever = Mapping[str, Any]

SECTIONS = (
    ("finance.", 2),
    ("backstop.", 8),
    ("assumptions.counterparties.cover_provider", 8),
    ("assumptions.counterparties", 6),
    ("assumptions.market", 7),
    ("assumptions.value", 7),
    ("credits.", 3),
    ("", 4),
)
"""Start of a path and the section that speaks of it; the first that fits."""


class Move(NamedTuple):
    """One lever as a table prints it."""

    words: str
    loss: str
    default: str
    step: str
    section: int
    reaches: bool


def moves(deal: Deal, score: Score, direction: str) -> Iterator[Move]:
    """Yield the levers that do something in one direction, those that reach the next step first."""
    found = (score.get("moves") or {}).get(direction)
    if not found:
        return
    for lever in found["levers"]:
        if lever.get("d_el_bp") and _helps(lever, direction):
            yield Move(
                lever_words(deal, lever),
                figures.basis_points_moved(lever["d_el_bp"], lever.get("d_el_bp_standard_error")),
                figures.percentage_points_moved(lever.get("d_pd"), lever.get("d_pd_standard_error")),
                found["step"] if lever["reaches"] else "not alone",
                section_of(lever["path"]),
                lever["reaches"],
            )


def how_counted(score: Score) -> str:
    """Return how levers count the loss of a default, where the rules of the step set a least one; else nothing."""
    for cap in score.get("grade", {}).get("caps", ()):
        least = cap.get("figure", {}).get("least_lgd")
        if least and cap["fires"] and not cap.get("switched_off"):
            return f"; a default counts as losing at least {figures.percent_in_words(least)}"
    return ""


def section_of(path: str) -> int:
    """Return the section of the memo that speaks of a term.

    >>> section_of("finance.reserve.months"), section_of("cancellation.chronic_failure.limbs[0].k")
    (2, 4)
    """
    return next(number for start, number in SECTIONS if path.startswith(start))


def lever_words(deal: Deal, lever: Lever) -> str:
    """Return a lever moved, as a change of terms: what it becomes, and what it is now."""
    words = _WORDS.get(lever["lever"], _plain)(lever)
    return figures.judged(words) if is_judged(deal, lever["path"]) else words


def is_judged(deal: Deal, path: str) -> bool:
    """Tell whether the number at a path rests on judgement."""
    try:
        number = value_at(deal, path)
    except KeyError:
        return False
    return isinstance(number, Sourced) and number.kind == "judgement"


def _helps(lever: Lever, direction: str) -> bool:
    return bool(lever["d_el_bp"] < 0) if direction == "better" else bool(lever["d_el_bp"] > 0)


def _plain(lever: Lever) -> str:
    name = figures.in_words(lever["lever"])
    unit = "" if lever["unit"] in ("1", "") else f"{NBSP}{lever['unit']}"
    return f"{name[:1].upper()}{name[1:]} of {_number(lever['to'])}{unit}, not {_number(lever['from'])}"


def _number(x: Any) -> str:
    return figures.in_words(x) if isinstance(x, str) else figures.agreed_number(x)


def _months(template: str) -> Callable[[Lever], str]:
    """Return a writer of a lever that counts months or days."""

    def write(lever: Lever) -> str:
        to = f"{_number(lever['to'])}{NBSP}{lever['unit']}{'' if lever['to'] == 1 else 's'}"
        return template.format(to=to, now=_number(lever["from"]))

    return write


def _share(template: str) -> Callable[[Lever], str]:
    def write(lever: Lever) -> str:
        return template.format(to=figures.agreed_percent(lever["to"]), now=figures.agreed_percent(lever["from"]))

    return write


def _hours(template: str) -> Callable[[Lever], str]:
    def write(lever: Lever) -> str:
        return template.format(to=figures.hours(lever["to"]), now=figures.hours(lever["from"]))

    return write


def _money(template: str) -> Callable[[Lever], str]:
    def write(lever: Lever) -> str:
        to, now = (figures.money_in_words(lever[key], lever["unit"]) for key in ("to", "from"))
        return template.format(to=to, now=now.removeprefix(f"{lever['unit']}{NBSP}"))

    return write


def _rent(template: str) -> Callable[[Lever], str]:
    def write(lever: Lever) -> str:
        currency = lever["unit"].split("/")[0]
        return template.format(to=figures.price(lever["to"], currency), now=figures.per_unit(lever["from"]))

    return write


def _starts(lever: Lever) -> str:
    return f"A backstop {_start(lever['to'])}, not {_start(lever['from'])}"


def _start(word: str) -> str:
    return STARTS.get(word, figures.in_words(word))


def _count(template: str) -> Callable[[Lever], str]:
    def write(lever: Lever) -> str:
        return template.format(to=_number(lever["to"]), now=_number(lever["from"]))

    return write


def _bad_months(lever: Lever) -> str:
    to = "one bad month" if lever["to"] == 1 else f"{_number(lever['to'])} bad months"
    return f"A right to leave after {to}, not {_number(lever['from'])}"


_WORDS: Mapping[str, Callable[[Lever], str]] = {
    "reserve_months": _months("A debt service reserve of {to}, not {now}"),
    "loan": _money("A loan of {to}, not {now}"),
    "payments": _count("{to} monthly payments, not {now}"),
    "backstop_amount": _money("A backstop of up to {to}, not {now}"),
    "backstop_floor_rent": _rent("A backstop floor of {to}, not {now}"),
    "backstop_starts": _starts,
    "cover_provider_default_rate": _share("A backstop provider that fails at {to} a year, not {now}"),
    "chronic_bad_months": _bad_months,
    "chronic_window": _months("Bad months counted within {to}, not {now}"),
    "chronic_threshold": _share("A month is bad below {to}, not {now}"),
    "credit_cap_of_a_month": _share("Credits of a month capped at {to} of its fees, not {now}"),
    "long_stop": _months("A long stop {to} after the date, not {now}"),
    "damages_recovered": _share("Suppliers pay back {to} of delay damages, not {now}"),
    "share_late": _share("{to} of tranches late, not {now}"),
    "delay_median": _months("Late tranches {to} late at the median, not {now}"),
    "bad_month": _share("{to} of months bad, not {now}"),
    "mean_up_hours": _hours("{to} between outages, not {now}"),
    "outages_per_year": _count("{to} outages a year, not {now}"),
    "outage_median_hours": _hours("Outages of {to} at the median, not {now}"),
    "restart_hours": _hours("A restart in {to} after an outage, not {now}"),
    "customer_default_rate": _share("A customer that fails at {to} a year, not {now}"),
    "rent_decay": _share("Market rent that falls at {to} a year, not {now}"),
    "spot_rent": _rent("A market rent today of {to}, not {now}"),
}
"""How each lever is said; one that is not listed is named by its code."""
