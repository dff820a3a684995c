"""Credits by breach: a share for each counted outage that starts in the period."""

from __future__ import annotations

from fractions import Fraction

from risk.contract_rules.credit_facts import ShapeCredit, ShapeFacts, share_of
from risk.core.computed import Computed, Step
from schemas.credit_shapes import PerBreach

PARAGRAPH = "credit-schedule.per-breach"


def exact(facts: ShapeFacts, terms: PerBreach, level_id: str) -> Computed[ShapeCredit]:
    """Return the share of the base for the outages that start in the period, at most what is at risk.

    Notes
    -----
    An outage starts with its first counted downtime, and is one breach however long it lasts.
    """
    breaches = sum(1 for o in facts.find_outages() if o.starts and (o.minutes or o.later_minutes))
    fraction = min(Fraction(terms.at_risk), breaches * Fraction(terms.credit_fraction))
    rule = f"{terms.credit_fraction} for each outage that starts in the period, at most {terms.at_risk}"
    term = f"service_levels.{level_id}.credit.credit_fraction"
    step = Step(PARAGRAPH, rule, fraction, {"outages": breaches}, term)
    return Computed(share_of(facts.base, fraction), (step,))
