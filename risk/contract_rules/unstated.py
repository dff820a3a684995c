"""A promise for which the contract, as known, does not say what a miss pays."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from risk.contract_rules.credit_facts import ShapeCredit, ShapeFacts
from risk.core.computed import Computed, Step
from schemas.credit_shapes import UnstatedCredit

PARAGRAPH = "credit-schedule.unstated"


def exact(facts: ShapeFacts, terms: UnstatedCredit, target: Decimal | None, level_id: str) -> Computed[ShapeCredit]:
    """Return why there is no figure; nothing is due for a period whose target is met, or without counted downtime."""
    met = not facts.counted or facts.availability is None
    if target is not None and facts.availability is not None:
        met = facts.availability >= Fraction(target)
    reason = None if met else terms.reason
    rule = "the contract does not say what a miss of this level pays: no figure is computed"
    if met:
        rule = "it makes no difference that the contract does not say what a miss pays, for nothing was missed; due"
    inputs = {"availability": facts.availability, "counted": facts.counted}
    step = Step(PARAGRAPH, rule, reason or Fraction(0), inputs, f"service_levels.{level_id}.credit.reason")
    return Computed(ShapeCredit(not_computed=reason), (step,))
