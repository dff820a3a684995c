"""Plain data with the place of every value in the file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from schemas.deal import steps_of
from schemas.errors import TermsError

_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]{1,80}")
_LONGEST_KEY = 80

Place = tuple[int, int]
"""Line and column, both from 1."""


def written(steps: Sequence[str | int]) -> str:
    """Return a path for people: like `path_of`, with keys that are no plain words in brackets and quotes.

    Examples
    --------
    >>> written(("provenance", "finance.*", "kind")), written(("limbs", 0, "k"))
    ("provenance['finance.*'].kind", 'limbs[0].k')
    """
    text = ""
    for step in steps:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _PLAIN_KEY.fullmatch(step):
            text += f".{step}" if text else step
        else:
            text += f"[{step[:_LONGEST_KEY]!r}]"
    return text


@dataclass(slots=True)
class Node:
    """One value of the file, where it starts, and for a container what it holds."""

    value: Any
    place: Place
    entries: dict[str, tuple[Place, Node]] = field(default_factory=dict)
    """For a mapping: key to the place of the key and its value."""
    items: list[Node] = field(default_factory=list)
    """For a list."""
    size: int = 1
    """Values in it, itself included."""
    height: int = 1
    """Containers from it down to the deepest value, itself included."""

    def child(self, step: str | int) -> tuple[Place, Node] | None:
        """Return the place of the key (or of the item) and the value one step down."""
        if isinstance(step, str):
            return self.entries.get(step)
        if isinstance(self.value, list) and 0 <= step < len(self.items):
            return self.items[step].place, self.items[step]
        return None

    def is_container(self) -> bool:
        """Whether it is a mapping or a list."""
        return isinstance(self.value, (dict, list))


@dataclass(frozen=True, slots=True)
class Positions:
    """Where each value of a deal file stands."""

    root: Node

    def of(self, path: str) -> Place:
        """Return where `path` stands; for a path the file does not hold, where its nearest holder stands."""
        try:
            return self.at(steps_of(path))
        except TermsError:
            return self.root.place

    def at(self, steps: Sequence[str | int], *, key: bool = False) -> Place:
        """Return where the value at `steps` stands, or its key with `key`; walks up to what is there.

        A mapping or list stands where its key does, for that is the line a reader looks for.
        """
        node, place = self.root, self.root.place
        for step in steps:
            found = node.child(step)
            if found is None:
                return place
            key_place, node = found
            place = key_place if key or node.is_container() else node.place
        return place
