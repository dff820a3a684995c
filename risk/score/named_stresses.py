"""The built-in stresses: what a lender asks of every deal, each as a change of the deal's terms or sampled paths."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from risk.core.protocol import Paths
from risk.core.setting import Setting
from risk.engine import Model
from risk.score.mitigations import NO_LOAN, ChangeOfPaths, at_close, draws_of
from risk.score.stresses import Stress
from schemas.cancellation import BadMonths
from schemas.deal import Deal, value_at
from schemas.errors import TermsError

SLIP_MONTHS = 6
PAST_LONG_STOP = 1.0
"""How long after the long stop a tranche is ready in its stress. [month]"""
OUT_HOURS = 7 * 24
DAY_HOURS = 24
OUTAGES_WITHOUT_A_RIGHT = 3
"""Outages of a cluster of them where the contract gives no right for bad months."""
LONGEST_MONTH_HOURS = 31 * 24
BEGINS_AFTER_HOURS = 48
"""An outage of a stress starts this long after its month does. [h]"""
FALL_OF_RENT = 0.5
SECOND_YEAR = 13
"""First month of the second year."""
DEFAULT_MONTH = 18
DEARER_LOAN = 0.02
DEARER_POWER = 1.5
CUSTOMER = "assumptions.counterparties.customer"
LAUNCH = "assumptions.market.next_generation"
EXERCISE = "assumptions.exercise"

Event = tuple[int, list[int], int]
"""An outage: month, positions of the tranches, hours."""


def stresses(deal: Deal) -> tuple[Stress, ...]:
    """Return the built-in stresses for a deal; one that it has nothing for carries the reason.

    Raises
    ------
    DealError, MissingTermError, NotComputedError
        When the deal cannot be simulated.
    """
    deal = at_close(deal)
    setting = Model.of(deal).setting
    return (
        _delivery_slip(),
        _long_stop(deal),
        _site_out(deal, setting),
        _clustered_outages(deal, setting),
        _fall_of_rent(deal, setting),
        _generation_jump(deal, setting),
        *_defaults(deal, setting),
        _dearer_loan(deal),
        _dearer_power(deal),
        _retrofit(deal, setting),
        _refinancing_shut(deal),
    )


def first_whole_month(setting: Setting) -> int:
    """Return the first month in which every tranche is planned to be ready throughout. [month]"""
    return int(np.ceil(setting.planned_ready.max())) + 1


def default_month(setting: Setting) -> int:
    """Return the month in which the customer defaults: 18, or the middle of what is shorter: contract or simulation.

    [month]
    """
    runs = min(setting.months, int(np.floor(setting.term_ends(setting.planned_ready).max())))
    return DEFAULT_MONTH if runs > DEFAULT_MONTH else max(1, runs // 2)


def _delivery_slip() -> Stress:
    def slip(model: Model, paths: Paths) -> Paths:
        return {**paths, "ready": paths["ready"] + SLIP_MONTHS}

    says = f"Every tranche is ready {SLIP_MONTHS} months late; on the base path the customer stays"
    return Stress("delivery_slip", f"Slip of {SLIP_MONTHS} months", says, paths=slip)


def _long_stop(deal: Deal) -> Stress:
    """Return every tranche ready just after its long stop, and the customer leaving at it."""
    says = "Every tranche misses its long stop, and the customer leaves"
    stress = Stress("long_stop", "Long-stop hit", says)
    tranches = deal.delivery.tranches if deal.delivery else {}
    if not any(tranche.long_stop for tranche in tranches.values()):
        return replace(stress, reason="no tranche has a long stop")

    def miss(model: Model, paths: Paths) -> Paths:
        setting, ready = model.setting, paths["ready"].copy()
        for j, tranche in enumerate(setting.tranches):
            terms = tranches[tranche].long_stop
            if terms is not None:
                stop = setting.planned_ready[j] + setting.timeline.length(terms.after)
                ready[:, j] = np.maximum(ready[:, j], stop + PAST_LONG_STOP)
        return {**paths, "ready": ready}

    return replace(
        stress,
        terms={f"{EXERCISE}.long_stop": "always"},
        on_base={f"{EXERCISE}.chronic_failure": "never", f"{EXERCISE}.convenience": "never"},
        paths=miss,
        may_leave=True,
    )


def _site_out(deal: Deal, setting: Setting) -> Stress:
    """Return a week without service on the site that earns most."""
    month = first_whole_month(setting)
    place, members = max(_standing_together(setting).items(), key=lambda item: float(setting.fees[item[1]].sum()))
    says = f"{place[:1].upper()}{place[1:]} is out for 7 days in month {month}{_leaving(deal)}"
    stress = Stress("site_out", "One site out 7 days", says)
    return _with_events(stress, deal, setting, [(month, members, OUT_HOURS)])


def _clustered_outages(deal: Deal, setting: Setting) -> Stress:
    """Return one bad month after another until the right to leave arises."""
    chronic = deal.cancellation.chronic_failure
    limb = next((one for one in chronic.limbs if isinstance(one, BadMonths)), None) if chronic else None
    months, hours = OUTAGES_WITHOUT_A_RIGHT, DAY_HOURS
    if limb is not None:
        months = limb.k
        hours = max(DAY_HOURS, int(np.ceil((1 - float(limb.below)) * LONGEST_MONTH_HOURS)) + 1)
    first, everyone = first_whole_month(setting), list(range(len(setting.tranches)))
    last = first + months - 1
    says = f"Everything is out for {hours} hours in each of months {first} to {last}{_leaving(deal)}"
    events: list[Event] = [(month, everyone, hours) for month in range(first, last + 1)]
    return _with_events(Stress("clustered_outages", "Clustered outages", says), deal, setting, events)


def _leaving(deal: Deal) -> str:
    right = deal.cancellation.chronic_failure is not None
    return "; on the base path the customer uses any right to leave that this gives" if right else ""


def _with_events(stress: Stress, deal: Deal, setting: Setting, events: list[Event]) -> Stress:
    """Return the stress with its outages; on the base path the customer uses a right for bad service, and no other."""
    if events[-1][0] > setting.months:
        return replace(stress, reason=f"the simulation ends in month {setting.months}")
    if not deal.service_levels:
        return replace(stress, reason="no service level looks at outages")

    def go_out(model: Model, paths: Paths) -> Paths:
        return _with_outages(model.setting, paths, events)

    rights = {f"{EXERCISE}.long_stop": "never", f"{EXERCISE}.convenience": "never"}
    if deal.cancellation.chronic_failure is not None:
        rights[f"{EXERCISE}.chronic_failure"] = "always"
    return replace(stress, on_base=rights, paths=go_out, may_leave=True)


def _with_outages(setting: Setting, paths: Paths, events: list[Event]) -> Paths:
    """Return paths with outages added to every draw."""
    draws = draws_of(paths)
    if "bad_month" in paths:
        bad = paths["bad_month"].copy()
        for month, tranches, _ in events:
            bad[:, tranches, month - 1] = True
        return {**paths, "bad_month": bad}
    if "outage_draw" not in paths:
        raise TermsError("no outages in this deal", "a service level of a cluster, hall or site", "add one")
    rows = [
        (j, int(setting.timeline.edges_seconds[month - 1]) + BEGINS_AFTER_HOURS * 3600, hours * 3600)
        for month, tranches, hours in events
        for j in tranches
    ]
    tranche, start, length = (np.tile(np.array(column), draws) for column in zip(*rows, strict=True))
    added = {
        "outage_draw": np.repeat(np.arange(draws), len(rows)),
        "outage_tranche": tranche,
        "outage_start_s": start,
        "outage_end_s": start + length,
    }
    joined = {name: np.concatenate([paths[name], more]) for name, more in added.items()}
    order = np.lexsort((joined["outage_start_s"], joined["outage_tranche"], joined["outage_draw"]))
    return {**paths, **{name: column[order] for name, column in joined.items()}}


def _standing_together(setting: Setting) -> dict[str, list[int]]:
    """Return the positions of the tranches of each site; of each cluster or tranche where no site is named."""
    assert setting.deal.delivery is not None
    groups: dict[str, list[int]] = {}
    for j, tranche in enumerate(setting.tranches):
        cluster, name = setting.cluster_of(j), setting.deal.delivery.tranches[tranche].cluster
        if cluster is not None:
            place = f"site {cluster.site}" if cluster.site else f"cluster {name}"
        else:
            place = f"tranche {tranche}"
        groups.setdefault(place, []).append(j)
    return groups


def _fall_of_rent(deal: Deal, setting: Setting) -> Stress:
    """Return half the market rent from the second year on, in the customer's strength too."""
    says = f"Market rent, and with it the customer's strength, falls by {FALL_OF_RENT:.0%} from month {SECOND_YEAR} on"
    stress = Stress("fall_of_rent", f"Rent −{FALL_OF_RENT:.0%} from year 2", says)
    if deal.assumptions.market is None:
        return replace(stress, reason="assumptions.market is not given")
    if setting.months < SECOND_YEAR:
        return replace(stress, reason=f"the simulation ends in month {setting.months}")

    def fall(model: Model, paths: Paths) -> Paths:
        later = np.arange(1, model.setting.months + 1) >= SECOND_YEAR
        changed = {**paths, "spot_rent": paths["spot_rent"] * np.where(later, 1 - FALL_OF_RENT, 1.0)}
        if "rent_deviation" in paths:
            changed["rent_deviation"] = paths["rent_deviation"] + np.where(later, np.log(1 - FALL_OF_RENT), 0.0)
        return changed

    return replace(stress, paths=fall)


def _generation_jump(deal: Deal, setting: Setting) -> Stress:
    """Return the next generation early and with twice its effect."""
    says = f"The next generation is launched in month {SECOND_YEAR} and takes twice as much off the logarithm of rent"
    stress = Stress("generation_jump", "Generation jump", says)
    market = deal.assumptions.market
    if market is None or market.next_generation is None:
        return replace(stress, reason=f"{LAUNCH} is not given")
    if setting.months < SECOND_YEAR:
        return replace(stress, reason=f"the simulation ends in month {setting.months}")
    drop = 2 * float(market.next_generation.log_drop)
    terms = {f"{LAUNCH}.earliest": SECOND_YEAR, f"{LAUNCH}.latest": SECOND_YEAR, f"{LAUNCH}.log_drop": drop}
    return replace(stress, terms=terms)


def _defaults(deal: Deal, setting: Setting) -> Iterator[Stress]:
    """Yield the default of the customer alone, with its cover's provider, and with the cover failing otherwise."""
    month = default_month(setting)
    fails = f"The customer defaults in month {month}"
    base = replace(Stress("", ""), terms=_customer_that_may_fail(deal), paths=_customer_fails(month))

    def both_fail(model: Model, paths: Paths) -> Paths:
        provider = {"cover_provider_default_time": np.full(draws_of(paths), float(month))}
        return {**_customer_fails(month)(model, paths), **provider}

    yield replace(base, id="customer_default", name=f"Customer default, month {month}", says=fails)
    together = replace(
        base,
        id="provider_default",
        name="Cover provider fails with it",
        says=f"{fails}, and the provider of the backstop with it",
    )
    missed = replace(
        base, id="cover_not_started", name="Backstop start missed", says=f"{fails}, and the backstop never starts"
    )
    used = replace(
        base,
        id="cover_halved",
        name="Backstop half used up",
        says=f"{fails}, and half of the backstop's limit is used up before; its fee stays",
    )
    cover = deal.backstop
    if cover is None:
        yield from (replace(one, reason="the deal has no backstop") for one in (together, missed, used))
        return
    yield replace(together, paths=both_fail)
    never = {"starts": "date", "start_date": {"close_plus_months": setting.months + 1}, "expires": None}
    yield replace(missed, terms={**base.terms, **{f"backstop.{name}": value for name, value in never.items()}})
    limits = [f"backstop.{name}" for name in ("amount", "amount_per_year") if getattr(cover, name) is not None]
    if not limits:
        yield replace(used, reason="the backstop has no limit")
        return
    halved = {path: round(float(value_at(deal, path)) / 2, 6) for path in limits}
    if cover.fee_rate:
        halved["backstop.fee_rate"] = round(2 * float(cover.fee_rate), 12)
    yield replace(used, terms={**base.terms, **halved})


def _customer_fails(month: int) -> ChangeOfPaths:
    """Return the change of paths in which the customer defaults in a month of every draw."""

    def fail(model: Model, paths: Paths) -> Paths:
        return {**paths, "customer_default_month": np.full(draws_of(paths), month, dtype=np.int64)}

    return fail


def _customer_that_may_fail(deal: Deal) -> dict[str, Any]:
    """Return the terms that give a deal without one a customer's credit, which by itself never fails."""
    if deal.assumptions.counterparties.customer is not None:
        return {}
    assert deal.finance is not None
    rate = {
        "value": 0,
        "unit": "1/year",
        "kind": "judgement",
        "as_of": deal.finance.close,
        "rationale": "A stress: the default is set, not drawn.",
    }
    return {CUSTOMER: {"default_rate": rate}}


def _dearer_loan(deal: Deal) -> Stress:
    stress = Stress("dearer_loan", "Loan +200 bp", "The loan costs 200 basis points more")
    if deal.finance is None or deal.finance.loan is None:
        return replace(stress, reason=NO_LOAN)
    rate = round(float(deal.finance.loan.annual_rate) + DEARER_LOAN, 12)
    return replace(stress, terms={"finance.loan.annual_rate": rate})


def _dearer_power(deal: Deal) -> Stress:
    """Return power at one and a half times its price, wherever the deal prices it."""
    stress = Stress("dearer_power", "Power +50%", "Power costs half as much again")
    costs = deal.finance.operating_costs if deal.finance else None
    if deal.power is not None:
        path = "power.price_per_mwh"
    elif costs is not None and costs.power is not None:
        path = "finance.operating_costs.power.amount"
    else:
        return replace(stress, reason="the deal prices no power of its own")
    return replace(stress, terms={path: round(float(value_at(deal, path)) * DEARER_POWER, 6)})


def _retrofit(deal: Deal, setting: Setting) -> Stress:
    """Return capacity that stands empty while its hall is rebuilt, once the customer has failed."""
    month = default_month(setting)
    says = f"The customer defaults in month {month}, and the hall is rebuilt for {SLIP_MONTHS} months before it is let"
    stress = Stress("retrofit", f"Retrofit of {SLIP_MONTHS} months", says, paths=_customer_fails(month))
    if deal.assumptions.reletting is None:
        return replace(stress, reason="assumptions.reletting is not given, so nothing is let again anyway")
    empty = float(deal.assumptions.reletting.empty) + SLIP_MONTHS
    return replace(stress, terms={**_customer_that_may_fail(deal), "assumptions.reletting.empty": empty})


def _refinancing_shut(deal: Deal) -> Stress:
    stress = Stress("refinancing_shut", "Refinancing shut", "Nobody refinances what the last payment leaves")
    loan = deal.finance.loan if deal.finance else None
    if loan is None:
        return replace(stress, reason=NO_LOAN)
    if loan.profile not in ("bullet", "balloon"):
        return replace(stress, reason=f"the payments of a loan of profile {loan.profile} leave nothing")
    if loan.refinancing_ltv is None:
        return replace(stress, reason="finance.loan.refinancing_ltv is not given, so it is paid from cash anyway")
    return replace(stress, terms={"finance.loan.refinancing_ltv": 0})
