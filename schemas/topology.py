"""The site as blocks of components: what must work for a row of racks to be served."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from schemas.base import Terms
from schemas.errors import TermsError, TermsErrors
from schemas.sources import SourcedHours, SourcedHoursOfAYear, SourcedPerYear
from schemas.units import Count, Identifier, KilowattsPerRack, Megawatts, Name, Positive, Zone

Blocks = Annotated[tuple[Identifier, ...], Field(min_length=1, max_length=200)]


class ComponentBlock(Terms):
    """`count` like components, of which `needed` must work. Components fail and are repaired independently."""

    component: Identifier
    """Type of component, an entry of `risk/data/components`."""
    count: Positive = 1
    needed: Positive | None = None
    """How many of `count` must work; all of them when not given."""
    per: Literal["site", "row"] = "site"
    """`row`: each row has its own."""
    system: Literal["power", "cooling", "network"] = "power"
    """System that an outage caused here is counted under."""
    failures_per_year: SourcedPerYear | None = None
    """Failures of one component a year, instead of the data file's. [1/year]"""
    repair_hours: SourcedHours | None = None
    """Mean time to repair one, instead of the data file's. [h]"""

    @model_validator(mode="after")
    def _no_more_needed_than_there_are(self) -> Self:
        if self.needed is not None and self.needed > self.count:
            raise TermsError(f"needed {self.needed} of {self.count}", "needed <= count", "lower needed or raise count")
        return self


class AllOf(Terms):
    """Works while every named block works."""

    all_of: Blocks


class AnyOf(Terms):
    """Works while at least one named block works."""

    any_of: Blocks


class AtLeast(Terms):
    """Works while at least `at_least` of the named blocks work."""

    at_least: Positive
    of: Blocks

    @model_validator(mode="after")
    def _no_more_than_named(self) -> Self:
        if self.at_least > len(self.of):
            raise TermsError(
                f"at_least {self.at_least} of {len(self.of)}",
                "at_least <= number of blocks",
                "lower at_least",
            )
        return self


Block = ComponentBlock | AllOf | AnyOf | AtLeast


def members(block: Block) -> tuple[str, ...]:
    """Return the names of the blocks that a block is made of; none for components."""
    match block:
        case AllOf():
            return block.all_of
        case AnyOf():
            return block.any_of
        case AtLeast():
            return block.of
    return ()


class Rows(Terms):
    """Like rows of racks fed by the site."""

    count: Positive
    """Rows of racks. [1]"""
    up_when: Identifier
    """Block that must work for a row to be served."""


class Topology(Terms):
    """Redundancy of power, cooling and network, by named blocks."""

    blocks: dict[Identifier, Block] = Field(max_length=2000)
    rows: Rows

    @model_validator(mode="after")
    def _blocks_are_known_and_have_no_circle(self) -> Self:
        unknown = [
            TermsError(
                f"block {member!r} in blocks.{name}",
                "a block of this topology",
                f"define {member!r} or correct the name",
            )
            for name, block in self.blocks.items()
            for member in members(block)
            if member not in self.blocks
        ]
        if self.rows.up_when not in self.blocks:
            unknown.append(
                TermsError(f"rows.up_when {self.rows.up_when!r}", "a block of this topology", "correct the name")
            )
        if unknown:
            raise TermsErrors(unknown)
        done: set[str] = set()
        for start in self.blocks:
            stack: list[tuple[str, int]] = [(start, 0)]
            trail = [start]
            while stack:
                name, position = stack.pop()
                following = members(self.blocks[name])
                if name in done or position == len(following):
                    done.add(name)
                    trail.pop()
                    continue
                stack.append((name, position + 1))
                member = following[position]
                if member in trail:
                    raise TermsError(
                        " -> ".join([*trail[trail.index(member) :], member]),
                        "blocks without a circle",
                        "remove one of these references",
                    )
                stack.append((member, 0))
                trail.append(member)
        return self


class Site(Terms):
    """A building or campus where clusters stand."""

    name: Name
    place: Name
    """Town and region, as printed."""
    zone: Zone = "UTC"
    it_capacity_mw: Megawatts | None = None
    """Power the site can give to information technology. [MW]"""
    hall_kw_per_rack: KilowattsPerRack | None = None
    """Greatest power and cooling the hall gives one rack. [kW/rack]"""
    restart_hours: SourcedHoursOfAYear | None = None
    """Time from power and cooling back to service back, added to every site outage. [h]"""
    spare_rows: Count = 0
    """Rows that may be without supply before the site counts as down. [1]"""
    topology: Topology | None = None

    @model_validator(mode="after")
    def _can_be_down(self) -> Self:
        if self.topology is not None and self.spare_rows >= self.topology.rows.count:
            raise TermsError(
                f"spare_rows {self.spare_rows}",
                f"fewer than the {self.topology.rows.count} rows of topology.rows.count",
                "lower spare_rows, or the site could never be down",
            )
        return self
