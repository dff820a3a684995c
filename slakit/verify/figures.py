"""Figures as a document states them against the same figures computed again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from slakit.verify.found import ABSENT

ROUNDING = 1e-9
"""Share of itself by which a figure may move on another processor or with another version of a library. [1]"""
_NONE = object()


@dataclass(frozen=True, slots=True)
class Figure:
    """One value of a JSON document on both sides."""

    path: str
    stored: Any
    recomputed: Any

    @property
    def is_number(self) -> bool:
        """Return whether both sides are numbers."""
        return _is_number(self.stored) and _is_number(self.recomputed)

    @property
    def moved(self) -> float:
        """Return by which share of itself a number moved; 0 for what is the same. [1]"""
        if self.stored == self.recomputed:
            return 0.0
        return float(abs(self.stored - self.recomputed) / max(abs(self.stored), abs(self.recomputed)))

    @property
    def same(self) -> bool:
        """Return whether both sides say the same."""
        return (self.is_number and self.stored == self.recomputed) or _alike(self.stored, self.recomputed)


def figures(stored: Any, recomputed: Any, path: str = "") -> Iterator[Figure]:
    """Yield every single value of two JSON documents by its path; what one side lacks is said to be `nothing` there.

    >>> [(f.path, f.stored, f.recomputed) for f in figures({"a": [1, 2]}, {"a": [1]})]
    [('a[0]', 1, 1), ('a[1]', 2, 'nothing')]
    """
    if isinstance(stored, Mapping) and isinstance(recomputed, Mapping):
        for name in dict.fromkeys((*stored, *recomputed)):
            below = f"{path}.{name}" if path else name
            yield from figures(stored.get(name, _NONE), recomputed.get(name, _NONE), below)
    elif isinstance(stored, list) and isinstance(recomputed, list):
        for i, (one, other) in enumerate(zip_longest(stored, recomputed, fillvalue=_NONE)):
            yield from figures(one, other, f"{path}[{i}]")
    else:
        yield Figure(path, *(ABSENT if side is _NONE else side for side in (stored, recomputed)))


def agreed(stored: Any, recomputed: Any) -> Any:
    """Return what was computed again, with the numbers of the document where they differ by no more than rounding."""
    if isinstance(stored, Mapping) and isinstance(recomputed, Mapping):
        return {name: agreed(stored.get(name), value) for name, value in recomputed.items()}
    if isinstance(stored, list) and isinstance(recomputed, list):
        return [agreed(one, other) for one, other in zip_longest(stored, recomputed)][: len(recomputed)]
    figure = Figure("", stored, recomputed)
    return stored if figure.is_number and figure.moved <= ROUNDING else recomputed


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _alike(stored: Any, recomputed: Any) -> bool:
    return type(stored) is type(recomputed) and bool(stored == recomputed)
