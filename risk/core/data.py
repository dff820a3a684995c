"""Numbers about the world, read from `risk/data`: each with its unit, date, source and kind."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Annotated, Any, Literal, TypeVar

import yaml
from pydantic import ValidationError

from schemas.base import Terms
from schemas.errors import DealError, Problem
from schemas.sources import (
    Sourced,
    SourcedHours,
    SourcedPerYear,
    SourcedPositive,
    SourcedShare,
    quantity,
)
from schemas.units import Name

T = TypeVar("T", bound=Terms)
SourcedRackKilowatts = Annotated[Sourced, quantity("kW/rack", high=10_000.0)]
SourcedGpuKilowatts = Annotated[Sourced, quantity("kW/GPU", high=1000.0)]


class Component(Terms):
    """A type of plant and how often it fails."""

    title: Name
    failures_per_year: SourcedPerYear
    """Failures of one component in a year in which it is up. [1/year]"""
    repair_hours: SourcedHours
    """Mean time from failure to work again. [h]"""


class Hardware(Terms):
    """A generation of GPUs as it is built into nodes, racks and scale-up domains."""

    title: Name
    node_kind: Literal["server", "compute tray"]
    gpus_per_node: SourcedPositive
    """[1]"""
    nodes_per_rack: SourcedPositive
    """[1]"""
    domain_nodes: SourcedPositive
    """Nodes of one scale-up domain. [1]"""
    rack_kw: SourcedRackKilowatts
    """[kW/rack]"""
    kw_per_gpu: SourcedGpuKilowatts
    """At full load, its share of the node and rack included. [kW/GPU]"""
    interrupts_per_gpu_year: SourcedPerYear
    """Interruptions that make the node down, for one GPU in a year. [1/year]"""
    hardware_share: SourcedShare
    """Share of interruptions that need a swap or a repair; a reset ends the rest. [1]"""
    reset_hours: SourcedHours
    """[h]"""
    swap_hours: SourcedHours
    """[h]"""
    repair_hours: SourcedHours
    """[h]"""
    rack_interrupts_per_year: SourcedPerYear
    """Interruptions of one whole rack by parts that its nodes share. [1/year]"""
    rack_repair_hours: SourcedHours
    """[h]"""


def _folder(name: str) -> Traversable:
    return files("risk") / "data" / name


@cache
def names(folder: str) -> tuple[str, ...]:
    """Return the names of the YAML files of one folder of `risk/data`, in alphabetical order."""
    place = _folder(folder)
    if not place.is_dir():
        return ()
    return tuple(sorted(entry.name[:-5] for entry in place.iterdir() if entry.name.endswith(".yaml")))


@cache
def read(folder: str, name: str) -> Mapping[str, Any]:
    """Return one YAML file of `risk/data` as plain values.

    Raises
    ------
    DealError
        When there is no such file; the message lists those there are.
    """
    if name not in names(folder):
        raise DealError(
            [
                Problem(
                    f"risk/data/{folder}",
                    repr(name),
                    f"one of {', '.join(names(folder))}",
                    f"use one of these names, or add {name}.yaml with its sources",
                )
            ]
        )
    text = (_folder(folder) / f"{name}.yaml").read_text(encoding="utf-8")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the C parser is missing from some builds
    values: Mapping[str, Any] = yaml.load(text, Loader=loader)
    return values


def component_types() -> tuple[str, ...]:
    """Return the types of component that have a data file."""
    return names("components")


def hardware_generations() -> tuple[str, ...]:
    """Return the hardware generations that have a data file."""
    return names("hardware")


@cache
def component(name: str) -> Component:
    """Return the failure and repair data of one type of component.

    Raises
    ------
    DealError
        When the type has no data file, or the file is not valid.

    Examples
    --------
    >>> float(component("utility_feed_distribution").failures_per_year)
    1.333
    """
    return _checked(Component, "components", name)


@cache
def hardware(name: str) -> Hardware:
    """Return the data of one hardware generation.

    Raises
    ------
    DealError
        When the generation has no data file, or the file is not valid.

    Examples
    --------
    >>> int(hardware("h100_hgx").gpus_per_node.value)
    8
    """
    return _checked(Hardware, "hardware", name)


def _checked(kind: type[T], folder: str, name: str) -> T:
    """Return a data file as `kind`, with every problem of the file at once."""
    try:
        return kind.model_validate(read(folder, name))
    except ValidationError as error:
        raise DealError(
            Problem(
                ".".join(str(part) for part in problem["loc"]),
                repr(problem.get("input"))[:80],
                problem["msg"],
                "correct the data file",
                file=f"risk/data/{folder}/{name}.yaml",
            )
            for problem in error.errors()
        ) from error
