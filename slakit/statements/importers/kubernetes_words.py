"""The words of Kubernetes about nodes, from `kubernetes_words.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from slakit.statements.importers.imported import State


@dataclass(frozen=True, slots=True)
class Polarity:
    """What a condition means."""

    bad: str
    """The status that is bad, `True` or `False`."""
    state: State
    """Of the node while it is bad."""
    unknown: State = "unknown"
    """Of the node while its status is `Unknown`."""


@dataclass(frozen=True, slots=True)
class Words:
    """What conditions and events mean."""

    conditions: Mapping[str, Polarity]
    no_outage: frozenset[str]
    events: Mapping[str, str]
    no_outage_events: frozenset[str]


@cache
def kubernetes_words() -> Words:
    """Return the words, read once."""
    data = yaml.safe_load(Path(__file__).with_name("kubernetes_words.yaml").read_text(encoding="utf-8"))
    return Words(
        {name: Polarity(**terms) for name, terms in data["conditions"].items()},
        frozenset(data["no_outage"]),
        data["events"],
        frozenset(data["no_outage_events"]),
    )
