"""Extensions: days are added to the end of the term instead of money."""

from __future__ import annotations

from fractions import Fraction

from risk.contract_rules.bands import COMPARISON_PARAGRAPH, EDGE_PARAGRAPH
from risk.contract_rules.credit_facts import ShapeCredit, ShapeFacts
from risk.core.computed import Computed, Step
from schemas.credit_shapes import TermExtension

PARAGRAPH = "credit-schedule.term-extension"


def exact(facts: ShapeFacts, terms: TermExtension, level_id: str) -> Computed[ShapeCredit]:
    """Return the days of the lowest row whose threshold lies strictly above the availability; no money."""
    path = f"service_levels.{level_id}.credit"
    days, term = 0, f"{path}.rows"
    steps: list[Step] = []
    if facts.availability is not None:
        rule = "availability is compared as an exact fraction, never rounded first"
        steps.append(Step(COMPARISON_PARAGRAPH, rule, facts.availability))
        for i, row in enumerate(terms.rows):
            if facts.availability == Fraction(row.below):
                rule = "availability exactly at an edge belongs to the row with the higher availability"
                steps.append(Step(EDGE_PARAGRAPH, rule, False, {"below": row.below}, f"{path}.rows[{i}]"))
            if facts.availability < Fraction(row.below):
                days, term = row.days, f"{path}.rows[{i}]"
    rule = "no money is due; by the row in which the availability lies, days are added to the term at no charge"
    steps.append(Step(PARAGRAPH, rule, days, {"availability": facts.availability}, term))
    return Computed(ShapeCredit(days_added=days), tuple(steps))
