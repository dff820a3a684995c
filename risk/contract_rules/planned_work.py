"""How many nodes of a cluster were under planned work at once: a check that moves no money."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from fractions import Fraction

from risk.contract_rules.intervals import Spans
from risk.core.computed import Computed, Step

PARAGRAPH = "scheduled-maintenance.at-once"


def exact(nodes: Sequence[tuple[Spans, Spans]], limit: Decimal, where: str) -> Computed[Fraction]:
    """Return the greatest share of nodes in service that were under scheduled maintenance at the same time. [1]

    Parameters
    ----------
    nodes : for each node, when it is in service and when it was down in scheduled maintenance.
    limit : the share that the contract allows. [1]
    where : the cluster, for the step.
    """
    change: dict[datetime, list[int]] = {}
    for in_service, work in nodes:
        for position, spans in enumerate((in_service, work)):
            for start, end in spans:
                change.setdefault(start, [0, 0])[position] += 1
                change.setdefault(end, [0, 0])[position] -= 1
    greatest, at = Fraction(0), None
    served = working = 0
    for moment in sorted(change):
        served += change[moment][0]
        working += change[moment][1]
        if served > 0 and Fraction(working, served) > greatest:
            greatest, at = Fraction(working, served), moment
    rule = f"at most {limit} of the slots of a cluster may be under scheduled maintenance at the same time"
    is_kept = greatest <= Fraction(limit)
    facts = {"where": where, "greatest_share": greatest, "allowed": limit, "at": at}
    step = Step(PARAGRAPH, rule, is_kept, facts, "exclusions.scheduled.max_concurrent_fraction")
    return Computed(greatest, (step,))
