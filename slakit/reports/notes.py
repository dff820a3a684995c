"""What the models leave out, in fewer sentences: those that differ only in a name are said once for all names."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NAME = re.compile(r"'([^']+)'")
_FOR_LENDERS = (
    *("Default", "Backstop", "Finance", "Recovery", "Market", "GPU value", "Delivery", "Exits"),
    *("Prepayment", "Revenue", "Exclusions", "Chronic failure"),
)
"""First words of the notes that a lender reads first."""


def for_lenders(sentences: Iterable[str]) -> list[str]:
    """Return the notes in the order in which a lender asks; those on single sites and service levels last."""

    def rank(sentence: str) -> tuple[bool, int]:
        found = (i for i, words in enumerate(_FOR_LENDERS) if sentence.startswith(words))
        return is_on_a_part(sentence), next(found, len(_FOR_LENDERS))

    return sorted(condensed(sentences), key=rank)


def is_on_a_part(sentence: str) -> bool:
    """Tell whether a sentence speaks of a site, cluster or service level by its name."""
    return _NAME.search(sentence) is not None


def condensed(sentences: Iterable[str]) -> list[str]:
    """Return the sentences, general ones first; equal ones once, and those that differ in one name as one.

    >>> condensed(["Site 'a': no crew.", "No tax.", "Site 'b': no crew.", "No tax."])
    ['No tax.', "Site 'a' and 'b': no crew."]
    """
    groups: dict[str, list[str]] = {}
    for sentence in dict.fromkeys(sentences):
        groups.setdefault(_NAME.sub("''", sentence), []).append(sentence)
    merged = [sentence for group in groups.values() for sentence in _merged(group)]
    return sorted(merged, key=is_on_a_part)


def _merged(group: list[str]) -> list[str]:
    """Return one sentence for a group whose names differ in one place only."""
    names = [_NAME.findall(sentence) for sentence in group]
    differing = [i for i, column in enumerate(zip(*names, strict=True)) if len(set(column)) > 1]
    if len(differing) != 1:
        return group
    place = differing[0]
    listed = [f"'{row[place]}'" for row in names]
    all_names = f"{', '.join(listed[:-1])} and {listed[-1]}"
    found = list(_NAME.finditer(group[0]))[place]
    return [group[0][: found.start()] + all_names + group[0][found.end() :]]
