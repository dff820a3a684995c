"""Words printed with a result: what holds for several things is said once."""

from __future__ import annotations

from collections.abc import Iterable


def grouped(kind: str, notes: Iterable[tuple[str, str]]) -> list[str]:
    """Return notes of the form `Site 'a': words`, one for each different text, in the order they came.

    Parameters
    ----------
    kind
        What the names are names of, capitalised, in the singular.
    notes
        Name and words.

    Examples
    --------
    >>> grouped("Site", [("north", "Two feeds."), ("south", "Two feeds."), ("west", "One feed.")])
    ["Sites 'north', 'south': Two feeds.", "Site 'west': One feed."]
    """
    names: dict[str, list[str]] = {}
    for name, words in notes:
        names.setdefault(words, []).append(repr(name))
    return [f"{kind}{'s' if len(of) > 1 else ''} {', '.join(of)}: {words}" for words, of in names.items()]
