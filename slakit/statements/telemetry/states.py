"""States of a unit, from the best to the worst, and the words that files use for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

UP: Final = 0
UNKNOWN: Final = 1
PLANNED: Final = 2
DEGRADED: Final = 3
DOWN: Final = 4
NAMES: Final = ("up", "unknown", "planned", "degraded", "down")
"""Names by code. Of readings of one unit at one time that differ the worst counts: the greatest code."""
WORDS: Final[Mapping[str, int]] = {
    **{name: code for code, name in enumerate(NAMES)},
    "1": UP,
    "0": DOWN,
    "1.0": UP,
    "0.0": DOWN,
    "true": UP,
    "false": DOWN,
}
"""Codes by word, in lower case."""


def state_of(word: str) -> int | None:
    """Return the code of a word in any case of letters, None when no state is called so."""
    return WORDS.get(word.strip().strip('"').casefold())
