"""What is sold: clusters of units, and services made of tranches."""

from __future__ import annotations

from pydantic import Field

from schemas.base import Terms
from schemas.sources import SourcedHours, SourcedPerYear, SourcedShare
from schemas.units import Count, Identifier, Kilowatts, Name, Positive


class Units(Terms):
    """Contracted units of a cluster. [1]"""

    gpu: Positive
    node: Positive | None = None
    """Servers or compute trays with their own operating system; contracted slots, spares not included."""
    rack: Positive | None = None
    kw: Kilowatts | None = None
    """Contracted power of the equipment. [kW]"""


class Spares(Terms):
    """Units kept ready beside the contracted ones. [1]"""

    node: Count = 0


class NodeLaw(Terms):
    """How nodes of this cluster fail and come back, instead of the hardware file's figures."""

    interrupts_per_node_year: SourcedPerYear | None = None
    """Interruptions of one node a year that make it down under the contract. [1/year]"""
    swap_hours: SourcedHours | None = None
    """Failure to re-admission when a spare takes the slot. [h]"""
    repair_hours: SourcedHours | None = None
    """Failure to re-admission when no spare is free. [h]"""
    hardware_share: SourcedShare | None = None
    """Share of interruptions that need a swap or a repair; the rest end by a reset. [1]"""
    reset_hours: SourcedHours | None = None
    """Interruption to re-admission when a reset ends it. [h]"""


class Cluster(Terms):
    """Units of one hardware generation on one fabric at one site."""

    name: Name | None = None
    site: Identifier | None = None
    hardware: Identifier | None = None
    """Generation, a file of `risk/data/hardware`."""
    units: Units
    spares: Spares = Spares()
    nodes: NodeLaw | None = None


class Service(Terms):
    """A service line of the order, delivered in tranches."""

    name: Name = "Compute Service"
    tranches: tuple[Identifier, ...] = Field(min_length=1, max_length=64)
    """Tranches of `delivery.tranches` that make up this service."""
