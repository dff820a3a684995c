"""What Slurm's words for the state of a node mean, from `slurm_states.yaml`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path

import yaml

from slakit.statements.importers.imported import State

DRAINED = (
    "DRAIN of an idle node is taken as down: the contract decides whether the drain is the provider's or customer's"
)
DRAIN_ALONE = "DRAIN without a word about jobs is taken as down, though jobs may still have run on the node"
DRAINING = "DRAIN of a node on which jobs still run is taken as degraded"
NOT_RESPONDING = "a node that does not respond and is not yet DOWN is taken as down, with low certainty"
PLANNED = "MAINT is taken as planned work: it proves no notice to the customer"
DOWN_IN_MAINTENANCE = "DOWN inside a reservation for maintenance is taken as down: a window with its notice excludes it"
POWER_SAVING = "a node powered down by Slurm to save power is taken as no outage"

_SIGNED = re.compile(r"([A-Za-z_]+)([*~#!%$@^-]{0,3})")


@dataclass(frozen=True, slots=True)
class Meaning:
    """What the words of one node mean together."""

    state: State | None
    """None where they are no outage."""
    notes: tuple[str, ...] = ()
    """What a reader must know of how they were taken."""
    unmapped: tuple[str, ...] = ()
    """Words that no table knows."""


@dataclass(frozen=True, slots=True)
class Words:
    """The table."""

    classes: Mapping[str, str]
    """Class of each word."""
    signs: Mapping[str, str]
    """Word of each sign."""
    slurmd_timeout: timedelta


@cache
def slurm_words() -> Words:
    """Return the table, read once."""
    data = yaml.safe_load(Path(__file__).with_name("slurm_states.yaml").read_text(encoding="utf-8"))
    return Words(
        {word: name for name, words in data["classes"].items() for word in words},
        data["signs"],
        timedelta(seconds=data["slurmd_timeout"]["value"]),
    )


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a state such as `IDLE+DRAIN` or `drained*`, signs written as words.

    Examples
    --------
    >>> words_of("idle*+DRAIN")
    ('IDLE', 'NOT_RESPONDING', 'DRAIN')
    """
    found: list[str] = []
    text = text.strip()
    ends_in_plus = text.endswith("+") and text.count("+") == 1  # sinfo: a part of the jobs is completing
    for part in text.split("+"):
        signed = _SIGNED.fullmatch(part.strip())
        if signed is None:
            found += [part.strip()] if part.strip() else []
            continue
        found += [signed[1].upper(), *(slurm_words().signs[sign] for sign in signed[2])]
    return tuple(dict.fromkeys([*found, slurm_words().signs["+"]] if found and ends_in_plus else found))


def meaning(words: Iterable[str]) -> Meaning:
    """Return what the words of a node mean together; a word that decides comes before one that no table knows."""
    words = tuple(words)
    table = slurm_words().classes
    classes = {table[word] for word in words if word in table}
    unmapped = tuple(word for word in words if word not in table)
    state, *notes = _decided(classes, is_empty=not words, has_unmapped=bool(unmapped))
    return Meaning(state, tuple(notes), unmapped)


def _decided(classes: set[str], *, is_empty: bool, has_unmapped: bool) -> tuple[State | None, *tuple[str, ...]]:
    """Return the state and its notes."""
    drain: tuple[State, str] | None = None
    if "draining" in classes or ("drain" in classes and "busy" in classes):
        drain = "degraded", DRAINING
    elif "drained" in classes or ("drain" in classes and "idle" in classes):
        drain = "down", DRAINED
    elif "drain" in classes:
        drain = "down", DRAIN_ALONE
    if "down" in classes:
        return ("down", DOWN_IN_MAINTENANCE) if "planned" in classes else ("down",)
    if "planned" in classes:
        return "planned", PLANNED
    if "not responding" in classes and "power saving" not in classes:
        return ("down", NOT_RESPONDING, drain[1]) if drain == ("down", DRAINED) else ("down", NOT_RESPONDING)
    if drain is not None:
        return drain
    if "degraded" in classes:
        return ("degraded",)
    if is_empty or has_unmapped or "unknown" in classes:
        return ("unknown",)
    return (None, POWER_SAVING) if "power saving" in classes else (None,)
