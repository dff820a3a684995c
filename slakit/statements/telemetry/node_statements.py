"""Monthly statements of nodes from telemetry: minutes, availability and the credit of each line.

Most lines are counted by the rules on arrays. Lines that those do not cover, by the terms of the deal or by what is on
record of one node, are made by the exact rules from the same spells; the two agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from risk.contract_rules.counting_rules import counting_rules
from schemas.deal import Deal
from schemas.errors import DealError, MissingTermError, NotComputedError, Problem
from schemas.incidents import UnitService
from schemas.periods import Period
from schemas.service_levels import ServiceLevel
from slakit.statements.telemetry import states
from slakit.statements.telemetry.account import Account
from slakit.statements.telemetry.by_arrays import lines_by_arrays, served_alike, terms_alike
from slakit.statements.telemetry.by_rules import lines_by_rules
from slakit.statements.telemetry.lines import table
from slakit.statements.telemetry.rows import IntArray
from slakit.statements.telemetry.spells import Spells, Telemetry, telemetry
from slakit.statements.telemetry.times import microseconds
from slakit.statements.units import no_unit_named, unit_names

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class NodeStatements:
    """The lines of all nodes, and what became of the rows behind them."""

    lines: pl.DataFrame
    """Columns `telemetry.lines.COLUMNS`, by period, service level and node in the order of the fees.

    Minutes are whole; availability is its numerator over its denominator, 0 over 0 where the node was in service for no
    minute; `credit_fraction` and `credit` are decimals as text, and the credit is that of the line, before claims, the
    choice between levels and the caps of month and year.
    """
    account: Account
    without_fee: tuple[str, ...]
    """Units in the file that are no node of the contract; they have no line."""
    without_rows: tuple[str, ...]
    """Nodes of the contract that the file does not name; readings leave their time unknown."""
    by_exact_rules: int
    """Lines made by the exact rules. [1]"""
    warnings: tuple[str, ...] = ()
    """What the figures would be misread without."""


def node_statements(
    path: Path, deal: Deal, fees: Sequence[UnitService], months: Sequence[Period], zone: str | None = None
) -> NodeStatements:
    """Return the line of each node, month and node service level.

    Parameters
    ----------
    path : a file of readings or of spells, of any size; see `slakit.statements.telemetry`.
    deal : the terms.
    fees : the units in service with their fees.
    months : months to state.
    zone : IANA zone of times without an offset.

    Raises
    ------
    DealError
        When the file as a whole cannot be read, two of its names are one unit of the contract, none of its units is a
        node of the contract, or its readings stand so far apart that most of the time would be unknown.
    MissingTermError
        When there are no nodes, no months, no service level of nodes or no currency.
    NotComputedError
        When the contract counts seconds.
    """
    asked = tuple(sorted(set(months)))
    nodes = tuple(dict.fromkeys(record.unit_id for record in fees if record.level == "node"))
    levels = {name: level for name, level in deal.service_levels.items() if level.level == "node"}
    _check(deal, asked, nodes, levels)
    read = telemetry(path.name, path, deal.measurement.monitor_interval_seconds, zone)
    interval = deal.measurement.monitor_interval_seconds
    if read.spacing is not None:
        read.spacing.check(read.source.name, interval)
    names, without_fee = _places(read, deal, fees, nodes)
    if read.units and (names < 0).all():
        raise no_unit_named(read.units, nodes)
    bounds = (*(m.start(deal.measurement.zone) for m in asked), asked[-1].end(deal.measurement.zone))
    edges = np.array([microseconds(moment) for moment in bounds])
    spells = _of_nodes(read, names, len(nodes), int(edges[0]), int(edges[-1]))
    alike = terms_alike(deal, levels, asked) & served_alike(fees, nodes, spells, edges)
    if deal.measurement.gap_counts:  # silence in a gap that counts is downtime
        alike[spells.unit[spells.state == states.UNKNOWN]] = False
    rows = lines_by_arrays(deal, levels, fees, nodes, asked, spells, alike, _currency(deal))
    exactly = []
    if not alike.all():
        exactly = lines_by_rules(deal, fees, nodes, asked, spells, ~alike)
    return NodeStatements(
        lines=table([*rows, *exactly], list(levels), nodes),
        account=read.account,
        without_fee=without_fee,
        without_rows=tuple(nodes[i] for i in sorted(set(range(len(nodes))) - set(names.tolist()))),
        by_exact_rules=len(exactly),
        warnings=() if read.spacing is None else (read.spacing.words(interval),),
    )


def _check(deal: Deal, months: Sequence[Period], nodes: Sequence[str], levels: dict[str, ServiceLevel]) -> None:
    what = "statements of nodes"
    if not months:
        raise MissingTermError("periods", what, "name a month such as 2026-10")
    if not nodes:
        raise MissingTermError("units", what, "list the nodes in service, with their monthly fees")
    if not levels:
        raise MissingTermError("service_levels", what, "add a service level with level: node")
    for name, level in levels.items():
        rules = counting_rules(deal.measurement, level.measurement)
        if rules.minute_rule == "exact_seconds":
            remedy = "use `slakit credits`, which shows parts of minutes"
            raise NotComputedError(rules.path("minute_rule", name), "parts of minutes in a table of minutes", remedy)


def _currency(deal: Deal) -> str:
    if deal.commercial is not None:
        return deal.commercial.currency
    if deal.finance is not None:
        return deal.finance.currency
    raise MissingTermError("commercial.currency", "statements of nodes", "add commercial with its currency")


def _places(
    read: Telemetry, deal: Deal, fees: Sequence[UnitService], nodes: Sequence[str]
) -> tuple[IntArray, tuple[str, ...]]:
    """Return the place among the nodes of each unit of the file, -1 for one that is no node of the contract."""
    known, place = unit_names(deal, fees), {name: i for i, name in enumerate(nodes)}
    found = np.full(len(read.units), -1, dtype=np.int64)
    taken: dict[int, str] = {}
    for i, name in enumerate(read.units):
        node = place.get(known.of(name) or "")
        if node is None:
            continue
        if node in taken:
            where, both = read.source.name, f"{taken[node]!r} and {name!r} for the node {nodes[node]!r}"
            raise DealError([Problem(where, both, "one name for one node", "give the readings of a node one name")])
        taken[node] = name
        found[i] = node
    return found, tuple(sorted(name for i, name in enumerate(read.units) if found[i] < 0))


def _of_nodes(read: Telemetry, place: IntArray, nodes: int, start: int, end: int) -> Spells:
    """Return the spells of the nodes, silence from `start` to `end` included. [us]"""
    silent = read.unknown_outside(start, end)
    if read.first is not None:
        absent = np.setdiff1d(np.arange(nodes), place)
        whole = [np.full(len(absent), value) for value in (states.UNKNOWN, start, end, 0)]
        parts = [
            Spells(place[part.unit], part.state, part.start, part.end, part.line) for part in (read.spells, silent)
        ]
        every = Spells.together(*parts, Spells(absent, *whole))
    else:
        part = read.spells
        every = Spells.together(Spells(place[part.unit], part.state, part.start, part.end, part.line))
    return every.where(every.unit >= 0)
