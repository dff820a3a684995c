"""Monthly statements of nodes from telemetry: minutes, availability and the credit of each line.

Most lines are counted by the rules on arrays, all nodes at once. Lines that those rules do not cover, by the terms of
the deal or by what is on record of one node, are made by the exact rules from the same spells; the two agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from risk.contract_rules import bands, minutes
from risk.contract_rules.counting_rules import counting_rules
from schemas.credit_shapes import CreditBands
from schemas.deal import Deal
from schemas.errors import DealError, MissingTermError, NotComputedError, Problem
from schemas.incidents import Incident, UnitService
from schemas.money import minor_unit_places, rounded_to_minor_unit
from schemas.periods import Month
from schemas.service_levels import ServiceLevel
from slakit.statements.telemetry import states
from slakit.statements.telemetry.account import Account
from slakit.statements.telemetry.rows import OPEN_END, IntArray
from slakit.statements.telemetry.spells import Spells, Telemetry, telemetry
from slakit.statements.telemetry.times import MICROSECONDS, at, microseconds
from slakit.statements.units import unit_names

if TYPE_CHECKING:
    import polars as pl

COLUMNS = (
    "period",
    "service_level",
    "service",
    "unit",
    "window_minutes",
    "down_minutes",
    "excluded_minutes",
    "disregarded_minutes",
    "counted_minutes",
    "unknown_minutes",
    "availability_numerator",
    "availability_denominator",
    "credit_fraction",
    "credit",
    "currency",
)
NUMBERS = COLUMNS[4:12]
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


@dataclass(frozen=True)
class NodeStatements:
    """The lines of all nodes, and what became of the rows behind them."""

    lines: pl.DataFrame
    """Columns `COLUMNS`, by period, service level and node in the order of the fees. Minutes are whole; availability is
    its numerator over its denominator, 0 over 0 where the node was in service for no minute; `credit_fraction` and
    `credit` are decimals as text, and the credit is that of the line, before claims, the choice between levels and the
    caps of month and year."""
    account: Account
    without_fee: tuple[str, ...]
    """Units in the file that are no node of the contract; they have no line."""
    without_rows: tuple[str, ...]
    """Nodes of the contract that the file does not name; readings leave their time unknown."""
    by_exact_rules: int
    """Lines made by the exact rules. [1]"""


def node_statements(
    path: Path, deal: Deal, fees: Sequence[UnitService], months: Sequence[Month], zone: str | None = None
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
        When the file as a whole cannot be read, or two of its names are one unit of the contract.
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
    names, without_fee = _places(read, deal, fees, nodes)
    edges = np.array([microseconds(m.start(deal.measurement.zone)) for m in (*asked, asked[-1].plus(1))])
    spells = _of_nodes(read, names, len(nodes), int(edges[0]), int(edges[-1]))
    alike = _alike(deal, levels, asked) & _served_alike(fees, nodes, spells, edges)
    rows = _by_arrays(deal, levels, fees, nodes, asked, spells, alike)
    exactly = []
    if not alike.all():
        exactly = _by_rules(deal, fees, nodes, asked, spells, ~alike, read.source.name)
    return NodeStatements(
        lines=_table([*rows, *exactly], list(levels), nodes),
        account=read.account,
        without_fee=without_fee,
        without_rows=tuple(nodes[i] for i in sorted(set(range(len(nodes))) - set(names.tolist()))),
        by_exact_rules=len(exactly),
    )


def _check(deal: Deal, months: Sequence[Month], nodes: Sequence[str], levels: dict[str, ServiceLevel]) -> None:
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


def _alike(deal: Deal, levels: dict[str, ServiceLevel], months: Sequence[Month]) -> bool:
    """Return whether the terms are such that the rules on arrays say what the exact rules say."""
    follow = all(after == before.plus(1) for before, after in pairwise(months))
    return (
        follow
        and not deal.amendments
        and _all_alike(deal.measurement, _MEASURED_ALIKE)
        and _all_alike(deal.credits, _CREDITS_ALIKE)
        and all(isinstance(level.credit, CreditBands) and _all_alike(level, _LEVEL_ALIKE) for level in levels.values())
    )


def _all_alike(terms: Any, alike: dict[str, tuple[Any, ...]]) -> bool:
    return all(getattr(terms, name) in values for name, values in alike.items())


def _served_alike(
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
        served[i] &= begins and lasts and not record.spare
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


def _by_arrays(
    deal: Deal,
    levels: dict[str, ServiceLevel],
    fees: Sequence[UnitService],
    nodes: Sequence[str],
    months: Sequence[Month],
    spells: Spells,
    alike: NDArray[np.bool_],
) -> list[dict[str, Any]]:
    """Return the columns of the lines of the nodes that are `alike`, a part for each level and month."""
    if not alike.any():
        return []
    zone = deal.measurement.zone
    edges = np.array([microseconds(m.start(zone)) for m in (*months, months[-1].plus(1))]) // MICROSECONDS
    # what has not ended runs up to the end of the last month
    unit, start = spells.unit, spells.start // MICROSECONDS
    end = np.where(spells.end == OPEN_END, edges[-1], spells.end // MICROSECONDS)
    out = _is_out(spells) & alike[unit]
    silent = (spells.state == states.UNKNOWN) & alike[unit]
    unknown = _seconds(unit[silent], start[silent], end[silent], len(nodes), edges) // 60
    record = {r.unit_id: r for r in fees if r.level == "node"}
    currency = _currency(deal)
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


def _by_rules(
    deal: Deal,
    fees: Sequence[UnitService],
    nodes: Sequence[str],
    months: Sequence[Month],
    spells: Spells,
    which: NDArray[np.bool_],
    file: str,
) -> list[dict[str, Any]]:
    """Return the lines of some nodes by the exact rules, one row each."""
    from risk.contract_rules.statement import Records, statement

    concerned = spells.where(which[spells.unit])
    incidents = incidents_of(concerned, nodes)
    stated = statement(deal, Records(incidents=incidents, units=tuple(fees)), months)
    asked = {name for name, one in zip(nodes, which.tolist(), strict=True) if one}
    rows = []
    for line in stated.lines:
        level = deal.service_levels[line.service_level]
        if line.unit not in asked or level.level != "node":
            continue
        value = line.availability if line.availability is not None else None
        whole = [
            line.window_minutes,
            line.down_minutes,
            line.excluded_minutes,
            line.disregarded_minutes,
            line.counted_minutes,
            line.unknown_minutes,
            value.numerator if value is not None else 0,
            value.denominator if value is not None else 0,
        ]
        if any(number != int(number) for number in whole):
            remedy = "use `slakit credits`, which shows parts of minutes"
            raise NotComputedError("measurement", f"parts of minutes of {line.unit!r} in a table of minutes", remedy)
        rows.append(
            {
                "period": str(line.period),
                "service_level": line.service_level,
                "service": [line.service],
                "unit": [line.unit],
                **{name: [int(number)] for name, number in zip(NUMBERS, whole, strict=True)},
                "credit_fraction": [f"{line.credit_fraction:f}"],
                "credit": [f"{line.credit.amount:f}"],
                "currency": line.credit.currency,
            }
        )
    return rows


def incidents_of(spells: Spells, names: Sequence[str]) -> tuple[Incident, ...]:
    """Return spells as incidents of nodes, without evidence."""
    wide = (spells.unit, spells.state, spells.start, spells.end, spells.line)
    return tuple(
        Incident(
            id=f"{names[unit]}:{i}"[:200],
            level="node",
            unit_id=names[unit],
            state=states.NAMES[state],
            started_at=at(start),
            ended_at=at(end) if end < OPEN_END else None,
        )
        for i, (unit, state, start, end, _) in enumerate(zip(*(v.tolist() for v in wide), strict=True))
    )


def _table(parts: list[dict[str, Any]], levels: list[str], nodes: Sequence[str]) -> pl.DataFrame:
    """Return all lines by period, level and node."""
    import polars as pl

    numbers = dict.fromkeys(NUMBERS, pl.Int64())
    schema = {name: numbers.get(name, pl.String()) for name in COLUMNS}
    if not parts:
        return pl.DataFrame(schema=schema)
    columns: dict[str, Any] = {}
    for name in COLUMNS:
        lengths = [len(part["unit"]) for part in parts]
        if name in NUMBERS:
            columns[name] = np.concatenate([np.asarray(part[name], dtype=np.int64) for part in parts])
            continue
        columns[name] = [
            text
            for part, length in zip(parts, lengths, strict=True)
            for text in (part[name] if isinstance(part[name], list) else [part[name]] * length)
        ]
    place = {name: i for i, name in enumerate(nodes)}
    order = {name: i for i, name in enumerate(levels)}
    table = pl.DataFrame(columns, schema=schema)
    keys = [
        pl.col("period"),
        pl.col("service_level").replace_strict(order, return_dtype=pl.Int64),
        pl.col("unit").replace_strict(place, return_dtype=pl.Int64),
    ]
    return table.sort(keys)
