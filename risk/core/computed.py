"""A value together with the steps that made it: the trace is the rule's return value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a computation, keyed by the paragraph of the contract that orders it."""

    paragraph: str
    """Id `<clause slug>.<name>`; the printed number comes from the signed copy's map."""
    rule: str
    """The rule in words."""
    result: object
    inputs: Mapping[str, object] = field(default_factory=dict)
    term: str | None = None
    """Path of the term that was read, for example `service_levels.nodes.credit.bands[1]`."""


@dataclass(frozen=True, slots=True)
class Computed(Generic[T]):
    """A value and its ledger of steps, in the order of computation."""

    value: T
    steps: tuple[Step, ...]
