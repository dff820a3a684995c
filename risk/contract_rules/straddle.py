"""Which period gets the minutes of an outage over the end of one."""

from __future__ import annotations

from risk.contract_rules.counting_rules import CountingRules
from risk.contract_rules.flaps import Outage
from risk.contract_rules.intervals import Span, Spans, clipped
from risk.core.computed import Computed, Step

PARAGRAPH = "measurement-period.straddle"

_RULES = {
    "split": "an outage over the end of a period is divided at midnight, and each part counts in its own period; in "
    "this one",
    "start_month": "an outage over the end of a period counts as a whole in the period in which it starts; in this one",
    "end_month": "an outage over the end of a period counts as a whole in the period in which it ends; in this one",
}


def exact(outage: Outage, month: Span, rules: CountingRules) -> Computed[Spans]:
    """Return the downtime of one outage that belongs to `month`; a step only where the outage crosses its edge."""
    start, end = month
    if start <= outage.start and outage.end <= end:
        return Computed(outage.pieces, ())
    if outage.end <= start or outage.start >= end:
        return Computed((), ())
    if rules.straddle == "split":
        pieces = clipped(outage.pieces, start, end)
    else:
        belongs = start <= outage.start < end if rules.straddle == "start_month" else start < outage.end <= end
        pieces = outage.pieces if belongs else ()
    inputs = {"outage": outage.span, "month": month}
    return Computed(
        pieces, (Step(PARAGRAPH, _RULES[rules.straddle], pieces or "nothing", inputs, "measurement.straddle"),)
    )
