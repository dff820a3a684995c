"""What `slakit site` prints, as plain values."""

from __future__ import annotations

import math
from typing import Any

from risk.availability.blocks import HOURS_PER_YEAR, BlockLaw
from risk.availability.cut_sets import CutSet
from risk.availability.site import SiteResult, analyse
from schemas.deal import Deal
from schemas.errors import MissingTermError
from schemas.sources import Sourced
from schemas.topology import Site

LISTED_SETS = 50
"""Forms of cut sets printed; the rest are counted."""
LISTED_PROBABILITY = 1e-12
"""Capacity states less likely than this are added up in one figure."""

NEVER_DOWN = "the site is never down in this model"

IGNORES = (
    "Components fail and are repaired independently, each with its own repairer, and do not age; common causes, "
    "maintenance and human error count only where they stand as blocks of their own.",
    "Switching is perfect and at once: no failure to start or to transfer on demand beyond what a block's rate holds, "
    "no fuel limit, no battery time, no warming of a hall without cooling.",
    "Each outage ends when the first block of its cut set is back, scaled to the exact mean; the time to the next "
    "outage is exponential.",
)


def site_report(deal: Deal) -> dict[str, Any]:
    """Return the redundancy of every site of a deal, as the JSON of `slakit site`.

    A figure that is not defined is None, and the entry `<name>_reason` beside it says why.

    Raises
    ------
    MissingTermError
        When no site of the deal has a topology.
    """
    if not any(site.topology for site in deal.sites.values()):
        raise MissingTermError("sites.*.topology", "slakit site", "describe the blocks and rows of at least one site")
    return {"sites": [_site(name, site) for name, site in deal.sites.items()]}


def _site(name: str, site: Site) -> dict[str, Any]:
    """Return one site's entry."""
    if site.topology is None:
        return {
            "id": name,
            "name": site.name,
            "availability": None,
            "availability_reason": "the site has no topology",
        }
    result = analyse(site, f"sites.{name}")
    month = _month(result)
    entry: dict[str, Any] = {
        "id": name,
        "name": site.name,
        "rows": result.rows,
        "rows_needed": result.rows_needed,
        "availability": result.availability,
        "unavailability": result.unavailability,
        "outages_per_year": result.outages_per_year,
        "mean_outage_hours": result.mean_outage_hours,
        "restart_hours": result.restart_hours,
        "service_availability": result.service_availability,
        "probability_of_outage_in_a_year": (
            0.0 if result.mean_up_hours is None else -math.expm1(-HOURS_PER_YEAR / result.mean_up_hours)
        ),
        "outages_per_year_by_system": _by_system(result),
        "expected_fraction_served": result.expected_rows_served,
        **_capacity(result),
        **_cut_sets(result),
        "importance": _importance(result),
        "monthly_downtime_hours": month,
        "blocks": [_block(law) for law in result.blocks],
        "ignores": [*IGNORES, *site_ignores(result, site)],
    }
    if result.mean_outage_hours is None:
        entry["mean_outage_hours_reason"] = NEVER_DOWN
    if month is None:
        entry["monthly_downtime_hours_reason"] = "outages are too many for the law of one month"
    return entry


def site_ignores(result: SiteResult, site: Site) -> tuple[str, ...]:
    """Return what is left out for this site in particular, with its numbers."""
    notes = []
    if site.restart_hours is None:
        notes.append("No restart time is given, so service is counted as back at the moment supply is.")
    if result.rows > 1:
        notes.append(
            f"The site counts as down, all of it, while fewer than {result.rows_needed} of {result.rows} rows are "
            f"served, {result.unavailability:.3g} of the time; on average {1.0 - result.expected_rows_served:.3g} of "
            "its rows are without supply."
        )
    if result.cut_set_coverage is not None and result.cut_set_coverage < 0.99:
        notes.append(
            f"Cut sets of up to {result.cut_sets.highest_order} components carry {result.cut_set_coverage:.1%} of the "
            "outages; larger ones were not looked for."
        )
    return tuple(notes)


def _by_system(result: SiteResult) -> dict[str, float]:
    """Return outages a year by the system whose block went down last."""
    totals: dict[str, float] = {}
    for item in result.importance:
        totals[item.system] = totals.get(item.system, 0.0) + (item.outage_share or 0.0) * result.outages_per_year
    return totals


def _capacity(result: SiteResult) -> dict[str, Any]:
    """Return the capacity states, the rare ones added up."""
    listed = [s for s in result.capacity_states if s.probability >= LISTED_PROBABILITY]
    rest = sum(s.probability for s in result.capacity_states if s.probability < LISTED_PROBABILITY)
    return {
        "capacity_states": [{"fraction": s.fraction, "probability": s.probability} for s in listed],
        "capacity_states_unlisted_probability": rest,
    }


def _cut_sets(result: SiteResult) -> dict[str, Any]:
    """Return the cut sets, the most frequent first, and how many are left out."""
    pairs = list(zip(result.cut_sets.sets, result.cut_sets.shares(), strict=True))
    found: dict[str, Any] = {
        "minimal_cut_sets": [_cut_set(cut, share) for cut, share in pairs[:LISTED_SETS]],
        "minimal_cut_sets_highest_order": result.cut_sets.highest_order,
        "minimal_cut_sets_coverage": result.cut_set_coverage,
        "minimal_cut_sets_left_out": {
            "forms": len(pairs[LISTED_SETS:]),
            "share": sum(share for _, share in pairs[LISTED_SETS:]),
        },
    }
    if result.cut_set_coverage is None:
        found["minimal_cut_sets_coverage_reason"] = NEVER_DOWN
    return found


def _cut_set(cut: CutSet, share: float) -> dict[str, Any]:
    return {
        "blocks": list(cut.site_blocks),
        "row_blocks": [list(row) for row in cut.row_blocks],
        "order": cut.order,
        "alike": cut.alike,
        "probability": cut.probability,
        "outages_per_year": cut.alike * cut.per_hour * HOURS_PER_YEAR,
        "share": share,
        "mean_hours": cut.mean_hours,
    }


def _importance(result: SiteResult) -> list[dict[str, Any]]:
    """Return the importance of every block."""
    found = []
    for item in result.importance:
        entry: dict[str, Any] = {
            "block": item.block,
            "component": item.component,
            "per": item.per,
            "system": item.system,
            "birnbaum": item.birnbaum,
            "fussell_vesely": item.fussell_vesely,
            "risk_achievement_worth": item.risk_achievement_worth,
            "outage_share": item.outage_share,
        }
        if item.reason is not None:
            for name in ("fussell_vesely", "risk_achievement_worth", "outage_share"):
                if entry[name] is None:
                    entry[f"{name}_reason"] = item.reason
        found.append(entry)
    return found


def _month(result: SiteResult) -> dict[str, Any] | None:
    """Return the law of a month's downtime."""
    month = result.monthly_downtime
    if month is None:
        return None
    return {
        "mean": month.mean,
        "exceeded": [{"hours": hours, "probability": p} for hours, p in month.exceeded],
        "quantiles": [{"probability": p, "hours": hours} for p, hours in month.quantiles],
    }


def _block(law: BlockLaw) -> dict[str, Any]:
    """Return a block's inputs with their sources."""
    return {
        "block": law.name,
        "component": law.title,
        "count": law.block.count,
        "needed": law.block.needed if law.block.needed is not None else law.block.count,
        "per": law.block.per,
        "unavailability": law.down,
        "failures_per_year": _sourced(law.failures_per_year),
        "repair_hours": _sourced(law.repair_hours),
    }


def _sourced(number: Sourced) -> dict[str, Any]:
    return {
        "value": float(number.value),
        "unit": number.unit,
        "low": None if number.low is None else float(number.low),
        "high": None if number.high is None else float(number.high),
        "as_of": number.as_of.isoformat(),
        "kind": number.kind,
        "source": number.source,
        "rationale": number.rationale,
    }
