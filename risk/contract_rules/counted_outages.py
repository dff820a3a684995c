"""The counted downtime of a period by outage, for credits that look at single outages."""

from __future__ import annotations

from risk.contract_rules import minutes, straddle
from risk.contract_rules.counting_rules import CountingRules
from risk.contract_rules.credit_facts import CountedOutage
from risk.contract_rules.flaps import Outage
from risk.contract_rules.intervals import Minutes, Span, Spans, difference
from risk.contract_rules.unit_history import UnitHistory


def within(
    history: UnitHistory, span: Span, rules: CountingRules, level_id: str, *, longest_only: bool = False
) -> tuple[CountedOutage, ...]:
    """Return the outages of a unit with counted downtime in the period of `span`, exclusions taken out.

    Parameters
    ----------
    longest_only : whether only the outage with the most counted minutes in the period is looked at; the first of
        several that are equal.
    """
    found: list[CountedOutage] = []
    for outage in history.outages:
        spans, counted = _counted(history, outage, span, rules, level_id)
        if not spans:
            continue
        earlier, earlier_minutes = _counted(history, outage, (outage.start, span[0]), rules, level_id)
        _, later_minutes = _counted(history, outage, (span[1], outage.end), rules, level_id)
        found.append(CountedOutage(counted, spans, earlier_minutes, later_minutes, starts=not earlier))
    if longest_only and found:
        return (max(found, key=lambda one: one.minutes),)
    return tuple(found)


def _counted(
    history: UnitHistory, outage: Outage, span: Span, rules: CountingRules, level_id: str
) -> tuple[Spans, Minutes]:
    """Return the counted downtime of one outage that belongs to `span`, as time and in minutes."""
    if span[0] >= span[1]:
        return (), 0
    spans = difference(straddle.exact(outage, span, rules).value, history.excluded.spans)
    counted = minutes.exact((outage,), (), history.excluded.spans, span, rules, level_id).value.counted
    return spans, counted
