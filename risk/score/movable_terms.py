"""Terms and inputs of a deal that somebody can move, and how far each is tried."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

from schemas.backstop import Starts
from schemas.cancellation import BadMonths
from schemas.deal import Deal, value_at

Direction = Literal["better", "worse"]
Value = float | int | str

MOST_RESERVE_MONTHS = 12
MOST_WINDOW_MONTHS = 36
LOWEST_BELOW = 0.05
"""How far under its level the threshold of a bad month is tried. [1]"""
MOST_MORE_DECAY = 0.3
"""How much faster rent may decay. [1/year]"""
DECIMALS = 6
"""Decimals of money and of moved values; a deal file carries no more."""


@dataclass(frozen=True, slots=True)
class Lever:
    """A term or an input that somebody can move, and how far it is tried."""

    name: str
    paths: tuple[str, ...]
    """Where it stands; several move together, in proportion."""
    value: Value
    """What it is now; of several paths, the first."""
    unit: str
    lowest: float = 0.0
    highest: float = 0.0
    """Range that is tried; the value lies in it."""
    good: Literal["more", "less", "either"] = "more"
    """Where the lender's loss falls."""
    is_pulled: bool = True
    """Whether somebody can move it; of the market only the worse side is tried."""
    whole: bool = False
    choices: tuple[str, ...] = ()
    """For a choice among words, the others."""
    each: tuple[float, ...] = ()
    """Values of several paths."""

    def changes(self, value: Value) -> dict[str, Any]:
        """Return the terms to change so that the lever stands at `value`."""
        if isinstance(value, str):
            return {self.paths[0]: value} | (
                {"backstop.start_date": None} if self.paths[0] == "backstop.starts" else {}
            )
        if not self.each:
            return dict.fromkeys(self.paths, value)
        scale = value / float(self.value)
        moved = [round(one * scale, None if self.whole else DECIMALS) for one in self.each]
        return dict(zip(self.paths, moved, strict=True))

    def ends(self, direction: Direction) -> tuple[float, ...]:
        """Return the ends of the range to try; a choice among words has none."""
        if self.choices or (direction == "better" and not self.is_pulled):
            return ()
        if self.good == "either":
            found: tuple[float, ...] = (self.lowest, self.highest)
        else:
            found = (self.highest,) if (self.good == "more") == (direction == "better") else (self.lowest,)
        return tuple(end for end in found if end != self.value)


def levers_of(deal: Deal) -> tuple[Lever, ...]:
    """Return the levers that the deal has, each with the range in which it is tried."""
    return (*_debt(deal), *_cover(deal), *_service(deal), *_delivery(deal), *_world(deal))


def _number(name: str, deal: Deal, paths: tuple[str, ...], unit: str, less: float, more: float, **rest: Any) -> Lever:
    """Return a lever whose range is a multiple of what it is now, on each side."""
    each = tuple(float(value_at(deal, path)) for path in paths)
    value: Value = round(each[0]) if rest.get("whole") else each[0]
    together = each if len(each) > 1 else ()
    low, high = (round(each[0] * times, None if rest.get("whole") else DECIMALS) for times in (less, more))
    return Lever(name, paths, value, unit, low, high, each=together, **rest)


def _debt(deal: Deal) -> Iterator[Lever]:
    """Yield the levers of the loan."""
    finance = deal.finance
    if finance is None or finance.loan is None:
        return
    held = finance.reserve.months if finance.reserve else 0
    most = max(min(MOST_RESERVE_MONTHS, finance.loan.payments), held)
    yield Lever("reserve_months", ("finance.reserve.months",), held, "month", 0, most, "more", whole=True)
    yield _number("loan", deal, ("finance.loan.amount",), finance.currency, 0.6, 1.3, good="less")
    yield _number("payments", deal, ("finance.loan.payments",), "month", 0.6, 1.5, good="either", whole=True)


def _cover(deal: Deal) -> Iterator[Lever]:
    """Yield the levers of the backstop."""
    cover = deal.backstop
    if cover is None:
        return
    currency = deal.finance.currency if deal.finance else ""
    if cover.amount is not None:
        yield _number("backstop_amount", deal, ("backstop.amount",), currency, 0.2, 3.0, good="more")
    if getattr(cover, "floor_rent", None) is not None:
        unit = f"{currency}/GPU-hour"
        yield _number("backstop_floor_rent", deal, ("backstop.floor_rent",), unit, 0.7, 1.4, good="either")
    others = tuple(word for word in get_args(Starts) if word not in (cover.starts, "date"))
    yield Lever("backstop_starts", ("backstop.starts",), cover.starts, "", choices=others)
    path = "assumptions.counterparties.cover_provider.default_rate"
    if deal.assumptions.counterparties.cover_provider is not None:
        yield _number("cover_provider_default_rate", deal, (path,), "1/year", 0.0, 4.0, good="less")


def _service(deal: Deal) -> Iterator[Lever]:
    """Yield the levers of credits and of the right to leave for bad service."""
    chronic = deal.cancellation.chronic_failure
    for i, limb in enumerate(chronic.limbs if chronic else ()):
        if isinstance(limb, BadMonths):
            path = f"cancellation.chronic_failure.limbs[{i}]"
            yield Lever("chronic_bad_months", (f"{path}.k",), limb.k, "month", 1, limb.m, "more", whole=True)
            most = max(limb.m, MOST_WINDOW_MONTHS)
            yield Lever("chronic_window", (f"{path}.m",), limb.m, "month", limb.k, most, "less", whole=True)
            if deal.assumptions.prescribed.bad_month is None:
                below = float(limb.below)
                low, high = max(0.0, below - LOWEST_BELOW), (1 + below) / 2
                yield Lever("chronic_threshold", (f"{path}.below",), below, "1", low, high, "less")
    if deal.service_levels:
        month = deal.credits.caps.month
        cap = float(month) if month is not None else 1.0
        yield Lever("credit_cap_of_a_month", ("credits.caps.month",), cap, "1", 0.0, 1.0, "less")


def _delivery(deal: Deal) -> Iterator[Lever]:
    """Yield the levers of delivery."""
    tranches = deal.delivery.tranches if deal.delivery else {}
    for part in ("months", "days"):
        paths = tuple(
            f"delivery.tranches.{name}.long_stop.after.{part}"
            for name, tranche in tranches.items()
            if tranche.long_stop is not None and getattr(tranche.long_stop.after, part)
        )
        if paths:
            unit = part.removesuffix("s")
            yield _number("long_stop", deal, paths, unit, 0.5, 2.0, good="either", whole=part == "days")
    if any(tranche.delay_damages for tranche in tranches.values()):
        back = float(deal.operations.damages_recovered)
        yield Lever("damages_recovered", ("operations.damages_recovered",), back, "1", 0.0, 1.0, "more")
    if deal.assumptions.delay is not None:
        late = float(deal.assumptions.delay.share_late)
        path = "assumptions.delay.share_late"
        yield Lever("share_late", (path,), late, "1", 0.0, max(min(1.0, 2.5 * late), late), "less")
        yield _number("delay_median", deal, ("assumptions.delay.median",), "month", 0.2, 2.5, good="less")


def _world(deal: Deal) -> Iterator[Lever]:
    """Yield outages, the customer's strength, and the market, which nobody can pull."""
    prescribed, assumed = deal.assumptions.prescribed, deal.assumptions
    path = "assumptions.prescribed.outages"
    if prescribed.bad_month is not None:
        chance = float(prescribed.bad_month.probability)
        at = "assumptions.prescribed.bad_month.probability"
        yield Lever("bad_month", (at,), chance, "1", 0.0, max(min(1.0, 4 * chance), chance), "less")
    elif prescribed.outages is not None:
        if prescribed.outages.mean_up_hours is not None:
            yield _number("mean_up_hours", deal, (f"{path}.mean_up_hours",), "h", 0.4, 3.0, good="more")
        elif prescribed.outages.outages_per_year is not None and prescribed.outages.outages_per_year.value:
            yield _number("outages_per_year", deal, (f"{path}.outages_per_year",), "1/year", 0.3, 2.5, good="less")
        yield _number("outage_median_hours", deal, (f"{path}.median_hours",), "h", 0.3, 2.5, good="less")
    else:
        named = [name for name, site in deal.sites.items() if site.topology and site.restart_hours]
        paths = tuple(
            f"sites.{name}.restart_hours" for name in named if float(value_at(deal, f"sites.{name}.restart_hours"))
        )
        if paths:
            yield _number("restart_hours", deal, paths, "h", 0.1, 3.0, good="less")
    customer = "assumptions.counterparties.customer.default_rate"
    if assumed.counterparties.customer is not None and assumed.counterparties.customer.default_rate.value:
        yield _number("customer_default_rate", deal, (customer,), "1/year", 0.05, 4.0, good="less")
    if assumed.market is not None:
        decay, spot = float(assumed.market.decay_per_year), assumed.market.spot_rent
        at = "assumptions.market.decay_per_year"
        yield Lever("rent_decay", (at,), decay, "1/year", decay, decay + MOST_MORE_DECAY, "less", is_pulled=False)
        at = "assumptions.market.spot_rent"
        yield _number("spot_rent", deal, (at,), spot.unit, 0.4, 1.0, good="more", is_pulled=False)
