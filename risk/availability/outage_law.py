"""Outages of whole clusters in the simulation, as intervals, and the minutes of them that a contract counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from risk.availability.bad_months import BadMonths
from risk.availability.blocks import HOURS_PER_YEAR
from risk.availability.renewal import GraphLaw, RenewalLaw, RepeatLaw, draw_outages
from risk.availability.report import IGNORES, site_ignores
from risk.availability.site import analyse
from risk.contract_rules import minutes
from risk.contract_rules.counting_rules import CountingRules, counting_rules
from risk.core.calendar import Timeline
from risk.core.downtime import Lengths
from risk.core.notes import grouped
from risk.core.protocol import Paths, Phase, Risk, State, StepFunction
from risk.core.setting import Setting
from schemas.assumptions import OutageLaw
from schemas.deal import Deal
from schemas.errors import DealError, NotComputedError, Problem

MOST_OUTAGES = 500.0
"""Greatest mean number of outages of one unit over the horizon; a limit of the method."""
MOST_OUTAGES_IN_ALL = 5_000.0
"""The same of all tranches together: a block of more does not fit into memory."""
SECONDS_PER_MINUTE = 60
OTHER_LEVELS = ("fabric", "storage", "control_plane")
"""Levels whose own failures are not simulated."""


@dataclass(frozen=True, slots=True)
class Unit:
    """Tranches that lose service together, and the law of their outages."""

    stream: str
    tranches: tuple[int, ...]
    """Positions among the tranches."""
    law: RenewalLaw
    path: str
    """Where the law comes from in the deal."""


@dataclass(slots=True)
class ClusterOutages:
    """Outages of whole clusters, drawn once for all tranches that share them.

    Paths, one entry for each outage of each tranche, sorted by draw, tranche and start: `outage_draw`,
    `outage_tranche`, `outage_start_s`, `outage_end_s` [s from close].
    """

    units: tuple[Unit, ...]
    tranches: int
    timeline: Timeline
    term_ends: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    """When the term of each tranche ends, by its readiness. [month]"""
    rules: Mapping[str, CountingRules]
    """Counting rules of each service level."""
    notes: tuple[str, ...]
    streams: tuple[str, ...] = field(init=False)
    """One for each site, or for each cluster under a typed law."""

    def __post_init__(self) -> None:
        self.streams = tuple(unit.stream for unit in self.units)

    def sample(self, rng: Mapping[str, Generator], draws: int) -> Paths:
        """Return the outages of every tranche."""
        horizon = int(self.timeline.edges_seconds[-1])
        drawn = [(unit.tranches, *draw_outages(unit.law, rng[unit.stream], draws, horizon)) for unit in self.units]
        count = np.zeros((draws, self.tranches), dtype=np.int64)
        for tranches, draw, _, _ in drawn:
            count[:, tranches] = np.bincount(draw, minlength=draws)[:, None]
        before = np.cumsum(count).reshape(count.shape) - count  # outages of earlier draws and tranches
        start_s, end_s = (np.empty(int(count.sum()), dtype=np.int64) for _ in range(2))
        for tranches, draw, start, end in drawn:
            number = np.arange(len(draw)) - np.searchsorted(draw, np.arange(draws))[draw]
            for tranche in tranches:
                place = before[:, tranche][draw] + number
                start_s[place], end_s[place] = start, end
        each = np.divmod(np.arange(count.size), self.tranches)
        return {
            "outage_draw": np.repeat(each[0], count.ravel()),
            "outage_tranche": np.repeat(each[1], count.ravel()),
            "outage_start_s": start_s,
            "outage_end_s": end_s,
        }

    def base(self) -> Paths:
        """Return no outages."""
        return {f"outage_{name}": np.zeros(0, dtype=np.int64) for name in ("draw", "tranche", "start_s", "end_s")}

    def steps(self) -> Mapping[Phase, StepFunction]:
        """Return the count of minutes, made once for all months."""
        return {Phase.OUTAGE: self._count}

    def ignores(self) -> tuple[str, ...]:
        """Return what the law leaves out, with its numbers."""
        return self.notes

    def _term_ends(self, ready: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return when the term of each tranche ends, beyond all outages where that is after the last month. [s]"""
        ends = self.term_ends(ready)
        beyond = ends > self.timeline.months
        return np.where(beyond, np.iinfo(np.int64).max, self.timeline.seconds(np.where(beyond, 0.0, ends)))

    def _count(self, month: int, state: State) -> None:
        """Write what counts of each month, shape (draws, tranches, months), in the first month.

        `counted_minutes:<service level>` [min], or `counted_seconds:<service level>` [s] where downtime is counted to
        the second.
        """
        if month != 1:
            return
        counted: dict[CountingRules, NDArray[np.int64]] = {}
        draw, tranche, start, end = (state.path[f"outage_{name}"] for name in ("draw", "tranche", "start_s", "end_s"))
        if "ready" in state.path:  # a tranche is measured from its readiness to the end of its term
            ready, of = state.path["ready"], draw * self.tranches + tranche
            start = np.maximum(start, self.timeline.seconds(ready).ravel()[of])
            end = np.minimum(end, self._term_ends(ready).ravel()[of])
        for level, rules in self.rules.items():
            by_second = rules.minute_rule == "exact_seconds"
            if rules not in counted:
                scale = SECONDS_PER_MINUTE if by_second else 1
                counted[rules] = minutes.arrays(
                    draw,
                    tranche,
                    start * scale,
                    end * scale,
                    state.draws,
                    self.tranches,
                    self.timeline.edges_seconds * scale,
                    _seconds_as_minutes(rules) if by_second else rules,
                )
            state.now[f"counted_{'seconds' if by_second else 'minutes'}:{level}"] = counted[rules]


def _seconds_as_minutes(rules: CountingRules) -> CountingRules:
    """Return rules that count, on a clock that runs sixty times as fast, a minute for each second."""
    return replace(
        rules,
        minute_rule="floor_piece",
        minimum_outage_minutes=rules.minimum_outage_minutes * SECONDS_PER_MINUTE,
        merge_gap_minutes=rules.merge_gap_minutes * SECONDS_PER_MINUTE,
    )


def from_deal(deal: Deal, setting: Setting) -> Risk | None:
    """Return the outages of a deal's clusters; None when no service level looks at them.

    Raises
    ------
    DealError
        When two laws of outages are typed, or one contradicts itself.
    NotComputedError
        When a site is too large to be exact, or outages are too many to be drawn.
    """
    prescribed = deal.assumptions.prescribed
    if prescribed.bad_month is not None:
        if prescribed.outages is not None:
            raise DealError(
                [
                    Problem(
                        "assumptions.prescribed",
                        "both bad_month and outages",
                        "one of them",
                        "remove one: each takes the place of the same model",
                    )
                ]
            )
        return BadMonths(float(prescribed.bad_month.probability), len(setting.tranches), setting.months)
    if not deal.service_levels:
        return None
    if prescribed.outages is not None:
        units, notes = _typed(prescribed.outages, setting)
    else:
        units, notes = _of_sites(deal, setting)
    horizon = float(setting.timeline.edges_seconds[-1]) / 3600.0
    _refuse_too_many(units, horizon)
    return ClusterOutages(
        units=units,
        tranches=len(setting.tranches),
        timeline=setting.timeline,
        term_ends=setting.term_ends,
        rules={
            name: counting_rules(deal.measurement, level.measurement) for name, level in deal.service_levels.items()
        },
        notes=(*notes, *_level_notes(deal)),
    )


def _refuse_too_many(units: tuple[Unit, ...], horizon_hours: float) -> None:
    """Refuse outages that are too many to be drawn: of one cluster, or of all tranches together."""
    in_all = 0.0
    for unit in units:
        mean = horizon_hours / unit.law.mean_cycle_within(horizon_hours)
        in_all += mean * len(unit.tranches)
        if mean > MOST_OUTAGES:
            raise NotComputedError(
                unit.path,
                f"{mean:,.0f} outages of one cluster over the term; more than {MOST_OUTAGES:.0f}",
                "check the failure rates",
            )
    if in_all > MOST_OUTAGES_IN_ALL:
        raise NotComputedError(
            units[0].path,
            f"{in_all:,.0f} outages of all tranches over the term; more than {MOST_OUTAGES_IN_ALL:,.0f}",
            "check the failure rates, simulate fewer months, or merge tranches that are alike",
        )


def repeat_law(terms: OutageLaw) -> RepeatLaw:
    """Return the typed law, with the up time that gives its outages a year where that is how it is typed.

    Notes
    -----
    A year of 8,760 hours holds `outages_per_year` cycles of an up time and an outage; of the up times a share
    `repeat_share` has the mean `repeat_mean_hours`, and the rest share what is left.

    Raises
    ------
    DealError
        When repeats lack a part of their law, or leave no outage that is none, or when repeats and outages leave no
        time for the other up times.
    """
    share = float(terms.repeat_share) if terms.repeat_share is not None else 0.0
    soon = float(terms.repeat_mean_hours) if terms.repeat_mean_hours is not None else 0.0
    median, sigma = float(terms.median_hours), float(terms.sigma)
    path = "assumptions.prescribed.outages"
    problems = []
    if share > 0 and terms.repeat_mean_hours is None:
        problems.append(Problem(f"{path}.repeat_mean_hours", "nothing", "the mean time to a repeat", "add it"))
    if terms.repeat_share is None and terms.repeat_mean_hours is not None:
        problems.append(Problem(f"{path}.repeat_share", "nothing", "the share of repeats", "add it"))
    if share == 1.0:
        problems.append(Problem(f"{path}.repeat_share", "1", "less than 1, or all outages are repeats", "lower it"))
    if terms.mean_up_hours is not None and not terms.mean_up_hours.value:
        problems.append(Problem(f"{path}.mean_up_hours", "0 h", "time up between outages", "raise it"))
    if problems:
        raise DealError(problems)
    if terms.mean_up_hours is not None:
        return RepeatLaw(float(terms.mean_up_hours), share, soon, median, sigma)
    assert terms.outages_per_year is not None
    yearly = float(terms.outages_per_year)
    mean_up = HOURS_PER_YEAR / yearly - median * float(np.exp(sigma**2 / 2))
    left = mean_up - share * soon
    if left <= 0:
        raise DealError(
            [
                Problem(
                    path,
                    f"{yearly:g} outages a year, of which repeats and the outages themselves fill "
                    f"{HOURS_PER_YEAR / yearly - left:,.0f} of every {HOURS_PER_YEAR / yearly:,.0f} hours",
                    "time up between outages that are no repeats",
                    "lower outages_per_year, median_hours, sigma or repeat_share",
                )
            ]
        )
    return RepeatLaw(left / (1.0 - share), share, soon, median, sigma)


def _typed(terms: OutageLaw, setting: Setting) -> tuple[tuple[Unit, ...], list[str]]:
    """Return one unit for each cluster, or each tranche without one, under a typed law."""
    assert setting.deal.delivery is not None
    together: dict[str, list[int]] = {}
    for position, name in enumerate(setting.tranches):
        cluster = setting.deal.delivery.tranches[name].cluster
        together.setdefault(f"cluster {cluster}" if cluster else f"tranche {name}", []).append(position)
    if terms.outages_per_year is not None and not terms.outages_per_year.value:
        return (), ["Outages are prescribed as none."]
    law = repeat_law(terms)
    units = tuple(
        Unit(f"outage:{setting.tranches[of[0]]}", tuple(of), law, "assumptions.prescribed.outages")
        for of in together.values()
    )
    return units, [
        "Outages follow a prescribed law, the same for each cluster and independent between clusters; the sites' own "
        "graphs are not read.",
        "The law of outages starts at close with all up, and does not change with age or season.",
    ]


def _of_sites(deal: Deal, setting: Setting) -> tuple[tuple[Unit, ...], list[str]]:
    """Return one unit for each site with a topology, and what is left out."""
    at: dict[str, list[int]] = {}
    notes: list[str] = []
    for position, name in enumerate(setting.tranches):
        cluster = setting.cluster_of(position)
        site = cluster.site if cluster else None
        if site is None:
            notes.append(f"Tranche {name!r} stands at no site, so it has no outages of power, cooling or network.")
        elif deal.sites[site].topology is None:
            notes.append(f"Site {site!r} has no topology, so tranche {name!r} has no outages from it.")
        else:
            at.setdefault(site, []).append(position)
    units, said = [], []
    for name, positions in at.items():
        site_terms = deal.sites[name]
        result = analyse(site_terms, f"sites.{name}")
        said += [(name, words) for words in site_ignores(result, site_terms)]
        if result.mean_up_hours is None or result.lengths is None:
            said.append((name, "never down in its model."))
            continue
        lengths = Lengths(result.lengths.means, result.lengths.weights, result.restart_hours * 60.0)
        law = GraphLaw(result.mean_up_hours, lengths)
        units.append(Unit(f"outage:{name}", tuple(positions), law, f"sites.{name}.topology"))
        said.append(
            (
                name,
                f"{result.outages_per_year:.3g} outages a year of {result.mean_outage_hours:.3g} h and "
                f"{result.restart_hours:g} h of restart on average, from the graph; sites fail independently.",
            )
        )
    notes += grouped("Site", said)
    if units:
        notes += [
            *IGNORES,
            "Outages start at close with all up, and their rate does not change with age or season; a second failure "
            "while service restarts is not an outage of its own.",
        ]
    return tuple(units), notes


def _level_notes(deal: Deal) -> list[str]:
    """Return words on levels of which only the part common to the whole site is simulated."""
    return [
        f"Service level {name!r} ({level.level}): only outages of the whole site are simulated, not failures of the "
        f"{level.level.replace('_', ' ')} itself."
        for name, level in deal.service_levels.items()
        if level.level in OTHER_LEVELS
    ]
