"""Rules that hold the credit step down, each printed with its figure, whether it fires and whether it is off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from risk.engine import Model
from risk.finance.loan import Schedule
from risk.score.firmness import firmness
from risk.score.grade import scale, step_of_hazard, worse_of
from risk.score.weak_points import SitePower
from schemas.deal import Deal
from schemas.sources import Sourced

NO_FIRM_TERM, UNCOVERED_TAIL, SINGLE_SITE = "S12", "S13", "S10"
"""Best steps under the caps of these names."""
MOST_JUDGEMENT = 0.5
"""Share of the variance of the expected loss above which the grade is printed as a band. [1]"""
JUDGEMENT = "judgement"


@dataclass(frozen=True, slots=True)
class Cap:
    """One rule and what it does to this deal."""

    id: str
    fires: bool | None
    """None where the deal does not say what the rule looks at."""
    limit: str | None
    """Best step that it allows; None where it does something else."""
    words: str
    figure: dict[str, Any] = field(default_factory=dict)
    off: str | None = None
    """Why it is switched off, in the words of the deal file."""

    @property
    def holds(self) -> bool:
        """Return whether the rule has an effect."""
        return bool(self.fires) and self.off is None

    def as_json(self) -> dict[str, Any]:
        """Return the rule as it is printed."""
        out: dict[str, Any] = {"id": self.id, "fires": self.fires, "limit": self.limit, "words": self.words}
        if self.fires is None:
            out["fires_reason"] = self.words
        if self.limit is None:
            out["limit_reason"] = "the rule sets no step"
        out |= {"figure": self.figure, "switched_off": self.off is not None}
        return out if self.off is None else out | {"switched_off_because": self.off}


def caps(
    model: Model, plan: Schedule, power: tuple[SitePower, ...], uncertainty: Mapping[str, Any] | None
) -> tuple[Cap, ...]:
    """Return every rule of the grade, in their order.

    Parameters
    ----------
    power : of each site of the deal.
    uncertainty : what `parameter_uncertainty` found, None where it was not asked.
    """
    deal = model.setting.deal
    found = (
        *_term(model, plan),
        _single_site(power),
        _recovery(deal),
        _judgement(uncertainty),
        _cover_provider(deal),
    )
    off = {str(name): why for name, why in deal.assumptions.grade_caps_off.items()}
    return tuple(replace(cap, off=off.get(cap.id)) for cap in found)


def capped(step: str, rules: tuple[Cap, ...]) -> str:
    """Return a step under the limits that hold."""
    return worse_of(step, *(rule.limit for rule in rules if rule.holds and rule.limit is not None))


def least_loss(deal: Deal) -> float:
    """Return the share of the exposure that a default of the deal loses at least in its grade. [1]"""
    holds = bool(judged_recovery(deal)) and "recovery_without_sales" not in deal.assumptions.grade_caps_off
    return float(scale().least_loss_given_default) if holds else 0.0


def _term(model: Model, plan: Schedule) -> tuple[Cap, Cap]:
    found = firmness(model.setting, plan)
    figure = {"firm_to_month": found.firm_end, "last_payment_month": found.last_payment, "tail_months": found.tail}
    if found.tail == 0:
        words = "the term is firm to the last payment of the loan"
        return (
            Cap("no_firm_term", False, NO_FIRM_TERM, words, figure),
            Cap("uncovered_tail", False, UNCOVERED_TAIL, words, figure),
        )
    words = f"the firm term ends {found.tail:.1f} months before the last payment of the loan"
    bare = found.uncovered_tail
    covered = f"no cover is in force in {bare:.1f} months of it" if bare else "a cover is in force to the last payment"
    return (
        Cap("no_firm_term", True, NO_FIRM_TERM, words, figure),
        Cap(
            "uncovered_tail",
            bare > 0,
            UNCOVERED_TAIL,
            f"{words}; {covered}",
            figure | {"uncovered_months": bare},
        ),
    )


def _single_site(power: tuple[SitePower, ...]) -> Cap:
    if len(power) > 1:
        words = f"the capacity stands at {len(power)} sites"
        return Cap("single_site", False, SINGLE_SITE, words, {"sites": len(power)})
    if not power or power[0].single_feed is None:
        words = "one site, and the deal does not describe a second feed"
        return Cap("single_site", True, SINGLE_SITE, words, {"sites": 1})
    feed = power[0].single_feed
    if feed == "":
        words = "one site, which no single component on the way of its power from the grid takes down"
        return Cap("single_site", False, SINGLE_SITE, words, {"sites": 1})
    words = f"one site, and {feed}, on the way of its power from the grid, alone takes it down"
    return Cap("single_site", True, SINGLE_SITE, words, {"sites": 1, "block": feed})


def _recovery(deal: Deal) -> Cap:
    """A recovery that no sale supports does not count in full."""
    name, least = "recovery_without_sales", float(scale().least_loss_given_default)
    judged = judged_recovery(deal)
    figure = {"least_lgd": least, "paths": judged}
    if not judged:
        return Cap(name, False, None, "the inputs of recovery rest on sales, or none is modelled", figure)
    words = f"inputs of recovery are judgements, so a default counts as losing at least {least:.0%} of the exposure"
    return Cap(name, True, None, words, figure)


def judged_recovery(deal: Deal) -> list[str]:
    """Return the paths of the inputs of recovery that are judgements."""
    if deal.assumptions.prescribed.lgd is not None:
        path = "assumptions.prescribed.lgd.loss_share"
        return [path] if _kind(deal, path) == JUDGEMENT else []
    recovery = deal.finance.recovery if deal.finance else None
    if recovery is None:
        return []
    inputs = ((name, getattr(recovery, name)) for name in type(recovery).model_fields)
    return [
        f"finance.recovery.{name}"
        for name, number in inputs
        if isinstance(number, Sourced) and number.kind == JUDGEMENT
    ]


def _kind(deal: Deal, path: str) -> str:
    """Return how a typed value is known by `provenance`: the longest entry that holds its path, else a judgement."""
    parts = path.split(".")
    keys = [path, *(".".join([*parts[:n], "*"]) for n in range(len(parts), -1, -1))]
    return next((deal.provenance[key].kind for key in keys if key in deal.provenance), JUDGEMENT)


def _judgement(uncertainty: Mapping[str, Any] | None) -> Cap:
    name = "judgement_band"
    share = None if uncertainty is None else uncertainty.get("judgement_share")
    if share is None:
        why = (
            "not asked"
            if uncertainty is None
            else uncertainty.get("judgement_share_reason", "not computed").replace("_", " ")
        )
        words = f"how much of the variance of the expected loss rests on judgement: {why}"
        return Cap(name, None, None, words)
    words = f"{share:.0%} of the variance of the expected loss rests on judgement"
    if share > MOST_JUDGEMENT:
        words += ", so the grade is a band"
    return Cap(name, share > MOST_JUDGEMENT, None, words, {"judgement_share": share})


def _cover_provider(deal: Deal) -> Cap:
    """The cover never lifts a deal above its provider: a deal with cover is graded no better than the provider."""
    name = "cover_provider"
    if deal.backstop is None:
        return Cap(name, False, None, "the deal has no backstop")
    provider = deal.assumptions.counterparties.cover_provider
    if provider is None:
        words = "assumptions.counterparties.cover_provider is not given, so its own step is not known"
        return Cap(name, None, None, words)
    rate = float(provider.default_rate)
    own = step_of_hazard(rate)
    words = f"a deal with cover stands no better than the provider of it, {own} at a hazard of {rate:.2%} a year"
    return Cap(name, True, own, words, {"hazard_per_year": rate, "step": own})
