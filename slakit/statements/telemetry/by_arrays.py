"""Lines of nodes by the rules on arrays, all nodes at once, where these say what the exact rules say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from risk.contract_rules import bands, minutes
from risk.contract_rules.counting_rules import counting_rules
from schemas.credit_shapes import CreditBands
from schemas.deal import Deal
from schemas.incidents import UnitService
from schemas.money import minor_unit_places, rounded_to_minor_unit
from schemas.periods import Period
from schemas.service_levels import ServiceLevel
from slakit.statements.telemetry import states
from slakit.statements.telemetry.rows import OPEN_END, IntArray
from slakit.statements.telemetry.spells import Spells
from slakit.statements.telemetry.times import MICROSECONDS, microseconds

_MEASURED_ALIKE: dict[str, tuple[Any, ...]] = {
    "period": ("calendar_month",),
    "starts_at": ("first_failed_reading", "detection"),  # a reading is its own detection
    "backdate_limit_hours": (None,),
    "minute_rule": ("floor_piece", "floor_outage", "ceil_outage"),
}
_LEVEL_ALIKE: dict[str, tuple[Any, ...]] = {
    "aggregation": ("per_unit",),
    "measured_from": ("each_tranche",),
    "requires": ((),),
    "degraded": ({},),
    "base_share": (None,),
    "nodes_needed_share": (None,),
    "k": (None,),
}
_CREDITS_ALIKE: dict[str, tuple[Any, ...]] = {
    "base": ("unit_fee_accrued",),
    "within_level": ("sum_minutes",),
    "minimum_payable": (0,),
}
"""Terms under which the rules on arrays say what the exact rules say; any others go to the exact rules."""


def terms_alike(deal: Deal, levels: dict[str, ServiceLevel], months: Sequence[Period]) -> bool:
    """Return whether the terms are such that the rules on arrays say what the exact rules say."""
    follow = all(after.first_day() == before.day_after() for before, after in pairwise(months))
    return (
        follow
        and not deal.amendments
        and _all_alike(deal.measurement, _MEASURED_ALIKE)
        and _all_alike(deal.credits, _CREDITS_ALIKE)
        and all(isinstance(level.credit, CreditBands) and _all_alike(level, _LEVEL_ALIKE) for level in levels.values())
    )


def _all_alike(terms: Any, alike: dict[str, tuple[Any, ...]]) -> bool:
    return all(getattr(terms, name) in values for name, values in alike.items())


def served_alike(
    fees: Sequence[UnitService], nodes: Sequence[str], spells: Spells, edges: IntArray
) -> NDArray[np.bool_]:
    """Return which nodes are in service throughout with one fee and have spells of whole seconds, shape (nodes,)."""
    place = {name: i for i, name in enumerate(nodes)}
    records = np.zeros(len(nodes), dtype=np.int64)
    served = np.full(len(nodes), True)
    started, stopped = np.full(len(nodes), edges[0]), np.full(len(nodes), OPEN_END)
    for record in fees:
        i = place.get(record.unit_id)
        if i is None:
            continue
        records[i] += 1
        begins = record.in_service_from is None or microseconds(record.in_service_from) <= edges[0]
        lasts = record.in_service_to is None or microseconds(record.in_service_to) >= edges[-1]
        served[i] &= begins and lasts and not record.spare and not record.accrues_by_hour
        if record.in_service_from is not None:
            started[i] = microseconds(record.in_service_from)
        if record.in_service_to is not None:
            stopped[i] = microseconds(record.in_service_to)
    out, silent = _is_out(spells), spells.state == states.UNKNOWN
    # an outage beyond the service, or before the first month where no start is known, is cut by the exact rules
    odd = out & ((spells.start < started[spells.unit]) | (spells.end > stopped[spells.unit]))
    whole = (spells.start % MICROSECONDS == 0) & (spells.end % MICROSECONDS == 0)
    served[spells.unit[odd | ((out | silent) & ~whole)]] = False
    return np.asarray(served & (records == 1))


def lines_by_arrays(
    deal: Deal,
    levels: dict[str, ServiceLevel],
    fees: Sequence[UnitService],
    nodes: Sequence[str],
    months: Sequence[Period],
    spells: Spells,
    alike: NDArray[np.bool_],
    currency: str,
) -> list[dict[str, Any]]:
    """Return the columns of the lines of the nodes that are `alike`, a part for each level and month."""
    if not alike.any():
        return []
    zone = deal.measurement.zone
    edges = (
        np.array([microseconds(at) for at in (*(m.start(zone) for m in months), months[-1].end(zone))]) // MICROSECONDS
    )
    # what has not ended runs up to the end of the last month
    unit, start = spells.unit, spells.start // MICROSECONDS
    end = np.where(spells.end == OPEN_END, edges[-1], spells.end // MICROSECONDS)
    out = _is_out(spells) & alike[unit]
    silent = (spells.state == states.UNKNOWN) & alike[unit]
    unknown = _seconds(unit[silent], start[silent], end[silent], len(nodes), edges) // 60
    record = {r.unit_id: r for r in fees if r.level == "node"}
    parts: list[dict[str, Any]] = []
    for level_id, level in levels.items():
        rules = counting_rules(deal.measurement, level.measurement)
        of_level = np.array([level.service in (None, record[name].service) for name in nodes]) & alike
        which = np.flatnonzero(of_level)
        members = [record[nodes[n]] for n in which.tolist()]
        given = (np.zeros(int(out.sum()), dtype=np.int64), unit[out], start[out], end[out], 1, len(nodes), edges)
        counted = minutes.arrays(*given, rules)[0]
        none_too_short = replace(rules, minimum_outage_minutes=0, minimum_test="at_least")
        down = minutes.arrays(*given, none_too_short)[0]
        for i, month in enumerate(months):
            window = 43_200 if rules.month_length == "fixed_30" else int(edges[i + 1] - edges[i]) // 60
            this = counted[which, i]
            fractions, credits = _credits(deal, level, this, window, members, currency)
            parts.append(
                {
                    "period": str(month),
                    "service_level": level_id,
                    "service": [member.service for member in members],
                    "unit": [member.unit_id for member in members],
                    "window_minutes": np.full(len(which), window),
                    "down_minutes": np.maximum(down[which, i], this),
                    "excluded_minutes": np.zeros(len(which), dtype=np.int64),
                    "disregarded_minutes": np.maximum(down[which, i] - this, 0),
                    "counted_minutes": this,
                    "unknown_minutes": unknown[which, i],
                    "availability_numerator": np.maximum(window - this, 0),
                    "availability_denominator": np.full(len(which), window),
                    "credit_fraction": fractions,
                    "credit": credits,
                    "currency": currency,
                }
            )
    return parts


def _is_out(spells: Spells) -> NDArray[np.bool_]:
    """Return which spells are downtime; planned work is, until a window excludes it."""
    return np.isin(spells.state, (states.DOWN, states.PLANNED))


def _seconds(unit: IntArray, start: IntArray, end: IntArray, units: int, edges: IntArray) -> IntArray:
    """Return the time of spells that do not overlap in each month, shape (units, months). [s]"""
    found = np.zeros((units, len(edges) - 1), dtype=np.int64)
    for i, (low, high) in enumerate(pairwise(edges.tolist())):
        inside = np.clip(np.minimum(end, high) - np.maximum(start, low), 0, None)
        np.add.at(found[:, i], unit, inside)
    return found


def _credits(
    deal: Deal, level: ServiceLevel, counted: IntArray, window: int, records: list[UnitService], currency: str
) -> tuple[list[str], list[str]]:
    """Return the fraction and the credit of each line as text: thresholds compared and money rounded exactly.

    Notes
    -----
    The band of a line is the lowest whose threshold lies above its availability, since lower bands credit more. Money
    is worked out once for each pair of a band and a fee.
    """
    assert isinstance(level.credit, CreditBands)
    table = level.credit.bands
    band = sum((bands.is_below(counted, window, row.below).astype(np.int64) for row in table), np.zeros_like(counted))
    nothing = f"{0:.{minor_unit_places(currency)}f}"
    known: dict[tuple[int, Any, Any], tuple[str, str]] = {}
    fractions, credits = [], []
    for i, record in zip(band.tolist(), records, strict=True):
        key = (i, record.monthly_fee, record.prepaid_fraction)
        if key not in known:
            share = table[i - 1].credit_fraction if i else None
            fee = Fraction(record.monthly_fee)
            base = fee if deal.credits.includes_prepaid else fee * (1 - Fraction(record.prepaid_fraction))
            due = min(Fraction(share or 0) * base, Fraction(deal.credits.caps.unit) * fee)
            credit = rounded_to_minor_unit(due, currency, deal.credits.rounding)
            known[key] = ("0", nothing) if not share else (f"{share:f}", f"{credit:f}")
        fraction, credit_text = known[key]
        fractions.append(fraction)
        credits.append(credit_text)
    return fractions, credits
