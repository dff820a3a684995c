"""A site's redundancy, exactly: availability, outages, capacity, cut sets, importance and a month's downtime."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal

import numpy as np

from risk.availability.blocks import HOURS_PER_YEAR, BlockLaw, block_law
from risk.availability.cut_sets import CutSets, minimal_cut_sets
from risk.availability.exact import SiteValues, site_values
from risk.availability.structure import row_diagram
from risk.core.calendar import HOURS_PER_EQUAL_MONTH
from risk.core.downtime import DowntimeLaw, Lengths, whole_minutes
from schemas.errors import MissingTermError, NotComputedError
from schemas.topology import ComponentBlock, Site, Topology

MOST_ROWS = 100_000
"""Rows of racks for which the law of rows served is listed; a limit of the method."""
EXCEEDED_HOURS = (0.0, 0.5, 1.0, 4.0, 8.0, 24.0, 72.0)
"""Downtime of a month whose chance of being exceeded is reported. [h]"""
QUANTILES = (0.5, 0.9, 0.95, 0.99, 0.999)
NEVER_UP = 1e-12
"""A site up for less than this share of time is never up. [1]"""
MOST_KEPT = 64
"""Graphs whose analysis is kept, because halls of one campus, and one deal under many assumptions, are alike."""


@dataclass(frozen=True, slots=True)
class CapacityState:
    """A share of the rows being served."""

    fraction: float
    """Rows served over all rows. [1]"""
    probability: float
    """[1]"""


@dataclass(frozen=True, slots=True)
class Importance:
    """How much one block matters. A figure that is not defined is None, and `reason` says why."""

    block: str
    component: str
    per: Literal["site", "row"]
    system: str
    birnbaum: float
    """Rise of the site's unavailability per rise of that of one copy of the block. [1]"""
    fussell_vesely: float | None
    """Share of the site's unavailability that goes if no copy of the block ever fails. [1]"""
    risk_achievement_worth: float | None
    """Unavailability of the site while one copy of the block is down, over its long-run mean. [1]"""
    outage_share: float | None
    """Share of the site's outages that begin at the moment a copy of the block goes down. [1]"""
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class MonthlyDowntime:
    """Hours of a month of 730 hours in which the site gives no service, restart included, in the long run."""

    mean: float
    """[h]"""
    exceeded: tuple[tuple[float, float], ...]
    """Hours and the probability that a month has more. [h, 1]"""
    quantiles: tuple[tuple[float, float], ...]
    """Probability and the hours that a month has no more than, with it. [1, h]"""


@dataclass(frozen=True, slots=True)
class SiteResult:
    """What the graph of a site says, without what the model ignores."""

    rows: int
    rows_needed: int
    availability: float
    """Share of time in which enough rows are served. [1]"""
    unavailability: float
    """[1]"""
    outages_per_year: float
    """[1/year]"""
    mean_outage_hours: float | None
    """Mean time without supply, restart not counted; None when there are no outages. [h]"""
    restart_hours: float
    """Added to each outage until service is back. [h]"""
    service_availability: float
    """Share of time with service, restart counted as down. [1]"""
    mean_up_hours: float | None
    """Mean time from supply back to the next outage. [h]"""
    capacity_states: tuple[CapacityState, ...]
    expected_rows_served: float
    """Mean share of rows served. [1]"""
    cut_sets: CutSets
    cut_set_coverage: float | None
    """Sum of the frequencies of the cut sets listed, over the exact frequency of outages. [1]"""
    importance: tuple[Importance, ...]
    lengths: Lengths | None
    """Law of the time without supply: one exponential for each form of cut set, scaled to the exact mean. [min]"""
    blocks: tuple[BlockLaw, ...]

    @property
    def monthly_downtime(self) -> MonthlyDowntime | None:
        """Return the law of a month's downtime; None when outages are too many for it."""
        return _month(self.mean_up_hours, self.lengths, self.restart_hours)


def analyse(site: Site, path: str = "site") -> SiteResult:
    """Return the exact long-run behaviour of a site.

    Parameters
    ----------
    path
        Where the site stands in the deal, for messages.

    Notes
    -----
    Blocks are independent, each component with its own repairer. Unavailability, frequency, capacity and importance
    are exact: conditioning on the blocks of the site by a decision diagram, a binomial law over like rows below.
    Frequency is the sum over blocks of Birnbaum importance x how often the block goes down. The law of outage lengths
    is an approximation: each outage ends when a block of its cut set is back.

    Raises
    ------
    MissingTermError
        When the site has no topology.
    NotComputedError
        When the structure is too large to be exact, or the site is never up.

    References
    ----------
    Bryant, Graph-based algorithms for Boolean function manipulation, IEEE Transactions on Computers 35, 1986;
    Billinton and Allan, Reliability Evaluation of Engineering Systems, 2nd edition 1992 (frequency and duration).
    """
    if site.topology is None:
        raise MissingTermError(f"{path}.topology", "the site's redundancy", "describe its blocks and rows")
    result = _analysed(_Graph(site.topology.model_dump_json(), site.spare_rows, site.topology, path))
    mean_up, mean_outage = result.mean_up_hours, result.mean_outage_hours
    if site.restart_hours is None or mean_up is None or mean_outage is None:
        return replace(result, restart_hours=float(site.restart_hours or 0.0))
    restart = float(site.restart_hours)
    return replace(result, restart_hours=restart, service_availability=mean_up / (mean_up + mean_outage + restart))


@dataclass(frozen=True, slots=True)
class _Graph:
    """What a site is before it restarts; two are equal when their terms are, wherever they stand."""

    terms: str
    spare_rows: int
    topology: Topology = field(compare=False)
    path: str = field(compare=False)


@lru_cache(MOST_KEPT)
def _analysed(graph: _Graph) -> SiteResult:
    """Return the behaviour of a graph whose service is back at once with its supply."""
    topology, path = graph.topology, graph.path
    rows, least = topology.rows.count, graph.spare_rows + 1
    if rows > MOST_ROWS:
        raise NotComputedError(f"{path}.topology.rows.count", f"a site of more than {MOST_ROWS:,} rows", "merge rows")
    diagram = row_diagram(topology, f"{path}.topology")
    blocks = tuple(_law(topology.blocks[name], name) for name in diagram.names)
    down = [block.down for block in blocks]
    values = site_values(diagram, down, rows, least)
    birnbaum = values.birnbaum(down)
    starts = [
        move * block.per_hour * (1 if i < diagram.shared else rows)
        for i, (move, block) in enumerate(zip(birnbaum, blocks, strict=True))
    ]
    frequency, unavailability = sum(starts), values.unavailability
    if unavailability > 1.0 - NEVER_UP:
        raise NotComputedError(
            f"{path}.topology",
            "a site that is never up",
            "check count, failures_per_year and repair_hours of its blocks",
        )
    cut_sets = minimal_cut_sets(diagram, [b.order for b in blocks], down, [b.per_hour for b in blocks], rows, least)
    mean_outage = unavailability / frequency if frequency > 0 else None
    mean_up = (1.0 - unavailability) / frequency if frequency > 0 else None
    lengths = _lengths(cut_sets, mean_outage)
    served = values.rows_down()[::-1]
    fractions = np.arange(rows + 1) / rows
    return SiteResult(
        rows=rows,
        rows_needed=rows - graph.spare_rows,
        availability=1.0 - unavailability,
        unavailability=unavailability,
        outages_per_year=frequency * HOURS_PER_YEAR,
        mean_outage_hours=mean_outage,
        restart_hours=0.0,
        service_availability=1.0 - unavailability,
        mean_up_hours=mean_up,
        capacity_states=tuple(CapacityState(float(f), float(p)) for f, p in zip(fractions, served, strict=True)),
        expected_rows_served=1.0 - sum(values.reached[n] * values.row_down[n] for n in values.entries()),
        cut_sets=cut_sets,
        cut_set_coverage=(sum(s.alike * s.per_hour for s in cut_sets.sets) / frequency if frequency > 0 else None),
        importance=_importance(values, blocks, down, birnbaum, starts),
        lengths=lengths,
        blocks=blocks,
    )


def _law(block: object, name: str) -> BlockLaw:
    assert isinstance(block, ComponentBlock)
    return block_law(name, block)


def _lengths(cut_sets: CutSets, mean_outage: float | None) -> Lengths | None:
    """Return the law of outage lengths with the exact mean."""
    if mean_outage is None:
        return None
    parts: dict[float, float] = {}
    for cut, share in zip(cut_sets.sets, cut_sets.shares(), strict=True):
        if share > 0:
            parts[cut.mean_hours] = parts.get(cut.mean_hours, 0.0) + share
    mixed = sum(mean * share for mean, share in parts.items())
    if mixed <= 0.0:
        return Lengths((mean_outage * 60.0,), (1.0,))
    scale = 60.0 * mean_outage / mixed
    return Lengths(tuple(mean * scale for mean in parts), tuple(parts.values()))


def _importance(
    values: SiteValues,
    blocks: Sequence[BlockLaw],
    down: Sequence[float],
    birnbaum: Sequence[float],
    starts: Sequence[float],
) -> tuple[Importance, ...]:
    """Return the importance of every block, the most outages first."""
    total, frequency = values.unavailability, sum(starts)
    reason = None if total > 0 else "the site is never down in this model"
    found = []
    for i, law in enumerate(blocks):
        if i < values.diagram.shared:  # the unavailability is linear in that of each single block
            gone = down[i] * birnbaum[i]
        else:  # every row's copy
            mended = [0.0 if j == i else q for j, q in enumerate(down)]
            gone = total - site_values(values.diagram, mended, values.rows, values.least).unavailability
        found.append(
            Importance(
                block=law.name,
                component=law.title,
                per=law.block.per,
                system=law.block.system,
                birnbaum=birnbaum[i],
                fussell_vesely=gone / total if total > 0 else None,
                risk_achievement_worth=(1.0 + (1.0 - down[i]) * birnbaum[i] / total if total > 0 else None),
                outage_share=starts[i] / frequency if frequency > 0 else None,
                reason=reason,
            )
        )
    return tuple(sorted(found, key=lambda item: (-(item.outage_share or 0.0), item.block)))


def _month(mean_up: float | None, lengths: Lengths | None, restart: float) -> MonthlyDowntime | None:
    """Return the law of a month's downtime; None when outages are too many for the law."""
    window = HOURS_PER_EQUAL_MONTH * 60
    if mean_up is None or lengths is None:
        return MonthlyDowntime(0.0, tuple((h, 0.0) for h in EXCEEDED_HOURS), tuple((p, 0.0) for p in QUANTILES))
    whole = Lengths(lengths.means, lengths.weights, lengths.fixed + restart * 60.0)
    mass, mean = whole_minutes(whole, window)
    try:
        survival = DowntimeLaw(mean_up * 60.0, mass, mean, window).survival(window)
    except NotComputedError:
        return None
    within = 1.0 - survival
    return MonthlyDowntime(
        mean=HOURS_PER_EQUAL_MONTH * whole.mean / (whole.mean + mean_up * 60.0),
        exceeded=tuple((hours, float(survival[round(hours * 60)])) for hours in EXCEEDED_HOURS),
        quantiles=tuple((p, float(np.argmax(within >= p)) / 60.0) for p in QUANTILES),
    )
