"""What a statement reads: incidents, windows, notices, and the units with the tree they stand in."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import cached_property
from itertools import pairwise

from risk.contract_rules.intervals import END, Span, Spans, union
from schemas.errors import DealError, Problem
from schemas.incidents import Incident, LedgerEntry, Notice, Ticket, UnitService, Window
from schemas.service_levels import Level


@dataclass(frozen=True, slots=True)
class Records:
    """The records of one statement, as importers make them.

    A window on record is taken as proved. An incident concerns the unit it names and no other; what it brought about
    below or above that unit has incidents of its own, except that units are rolled up from their nodes and from the
    units they need (`roll_up`), and that a test of a service level may name what fails above its units (`affected`).
    """

    incidents: Sequence[Incident] = ()
    windows: Sequence[Window] = ()
    notices: Sequence[Notice] = ()
    units: Sequence[UnitService] = ()
    tickets: Sequence[Ticket] = ()
    ledger: Sequence[LedgerEntry] = ()


@dataclass(frozen=True, slots=True)
class Spell:
    """One stretch of service of a unit at one fee."""

    span: Span
    monthly_fee: Decimal
    """[currency/month]"""
    prepaid_fraction: Decimal
    """[1]"""
    hourly_price: Decimal | None = None
    """Price for an hour, where the record gives it. [currency/h]"""
    by_hour: bool = False
    """Whether the fee accrues by the hour at that price."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One contracted unit over all its stretches of service."""

    id: str
    level: Level
    service: str
    parent_id: str | None
    spells: tuple[Spell, ...]
    """In order of time."""
    starts_known: bool
    """Whether the record says when its service started."""
    is_spare: bool = False
    """Whether it stands ready beside the contracted units."""

    @property
    def in_service(self) -> Spans:
        """Return when it is in service."""
        return union(spell.span for spell in self.spells)


class UnitTree:
    """Units by id, with those that contain each of them and the nodes within."""

    def __init__(self, units: Sequence[UnitService], default_start: datetime) -> None:
        """Take `default_start` as the start of service of units whose record does not say."""
        groups: dict[str, list[UnitService]] = {}
        for record in units:
            groups.setdefault(record.unit_id, []).append(record)
        problems: list[Problem] = []
        self.units: dict[str, Unit] = {}
        for name, records in groups.items():
            unit, problem = _unit(name, records, default_start)
            self.units[name] = unit
            problems += [problem] if problem else []
        if not problems:
            problems = [problem for name in self.units if (problem := self._circle(name))]
        if problems:
            raise DealError(problems)

    def names(self, unit: str) -> frozenset[str]:
        """Return the unit and all that contain it."""
        found: list[str] = []
        name: str | None = unit
        while name is not None:
            found.append(name)
            name = self.units[name].parent_id if name in self.units else None
        return frozenset(found)

    @cached_property
    def _nodes(self) -> dict[str, list[Unit]]:
        """Nodes within each unit, at any depth."""
        found: dict[str, list[Unit]] = {}
        for unit in self.units.values():
            if unit.level == "node":
                for name in self.names(unit.id) - {unit.id}:
                    found.setdefault(name, []).append(unit)
        return found

    def nodes_within(self, unit: str, *, spares: bool = False) -> Sequence[Unit]:
        """Return the nodes that a unit contains, at any depth, in the order of the records; spares only if asked."""
        nodes = self._nodes.get(unit, ())
        return nodes if spares else [node for node in nodes if not node.is_spare]

    def needed_by(self, unit: Unit, levels: Collection[Level]) -> Sequence[Unit]:
        """Return the units of some levels that stand within a unit, or beside it in the same parent."""
        if not levels:
            return ()
        return [
            other
            for other in self._shared
            if other.level in levels
            and other.id != unit.id
            and (unit.id in self.names(other.id) or (other.parent_id is not None and other.parent_id == unit.parent_id))
        ]

    @cached_property
    def _shared(self) -> list[Unit]:
        """Units that others may need."""
        return [unit for unit in self.units.values() if unit.level in ("fabric", "storage", "control_plane")]

    def _circle(self, start: str) -> Problem | None:
        seen: list[str] = []
        name: str | None = start
        while name is not None and name in self.units:
            if name in seen:
                return Problem(
                    f"units[{start}].parent_id",
                    " in ".join((*seen, name)),
                    "units that contain each other in one direction",
                    "correct one parent_id",
                )
            seen.append(name)
            name = self.units[name].parent_id
        return None


def _unit(name: str, records: Sequence[UnitService], default_start: datetime) -> tuple[Unit, Problem | None]:
    """Return one unit from its records, with the problem that they hold, if any."""
    spells = tuple(
        sorted(
            (
                Spell(
                    (
                        (record.in_service_from or default_start).astimezone(UTC),
                        record.in_service_to.astimezone(UTC) if record.in_service_to else END,
                    ),
                    record.monthly_fee,
                    record.prepaid_fraction,
                    record.hourly_price,
                    record.accrues_by_hour,
                )
                for record in records
            ),
            key=lambda spell: spell.span,
        )
    )
    first = records[0]
    starts_known = all(record.in_service_from is not None for record in records)
    unit = Unit(name, first.level, first.service, first.parent_id, spells, starts_known, first.spare)
    for field in ("level", "service", "parent_id", "spare"):
        values = sorted({str(getattr(record, field)) for record in records})
        if len(values) > 1:
            return unit, Problem(
                f"units[{name}].{field}", " and ".join(values), "one value for one unit", "give each unit one id"
            )
    for before, after in pairwise(spells):
        if after.span[0] < before.span[1]:
            return unit, Problem(
                f"units[{name}].in_service_from",
                f"service from {after.span[0]} while a record up to {before.span[1]} runs",
                "stretches of service that do not overlap",
                "correct in_service_from or in_service_to",
            )
    return unit, None
