"""The words of tables of outages, from `table_words.yaml`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import yaml

from slakit.statements.importers.imported import State

Meaning = State | Literal["none", "ticket"]
"""State of a unit; `none` for a word that reports no outage, `ticket` for one that says nothing about a unit."""


@dataclass(frozen=True, slots=True)
class Words:
    """What columns and cells mean."""

    columns: Mapping[str, tuple[str, ...]]
    jobs: frozenset[str]
    """Columns of tables of jobs, which hold no outages."""
    cause_flags: tuple[str, ...]
    durations: Mapping[str, int]
    """Seconds in one unit of a printed duration, by the name of its column. [s]"""
    durations_without_unit: tuple[str, ...]
    meanings: Mapping[str, Meaning]
    missing: frozenset[str]

    def meaning(self, word: str) -> Meaning | None:
        """Return what a state means, None where no table knows it."""
        return self.meanings.get(plain(word))

    def is_missing(self, cell: str) -> bool:
        """Return whether a cell holds nothing."""
        return cell.strip().casefold() in self.missing


def plain(name: str) -> str:
    """Return a name in lower case, with every run of other characters than letters and digits as one underscore."""
    return re.sub(r"[^0-9a-z]+", "_", name.strip().casefold()).strip("_")


@cache
def table_words() -> Words:
    """Return the words, read once."""
    data = yaml.safe_load(Path(__file__).with_name("table_words.yaml").read_text(encoding="utf-8"))
    meanings: dict[str, Meaning] = {word: state for state, words in data["states"].items() for word in words}
    meanings.update(dict.fromkeys(data["ticket_words"], "ticket"))
    return Words(
        {role: tuple(names) for role, names in data["columns"].items()},
        frozenset(data["jobs"]),
        tuple(data["cause_flags"]),
        data["durations"],
        tuple(data["durations_without_unit"]),
        meanings,
        frozenset(data["missing"]),
    )
