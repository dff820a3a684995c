"""Lines of a text against the same text made again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

NO_LINE = "no such line"


def changed_lines(stored: Sequence[str], recomputed: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """Yield each line that differs: its number in the stored text, counted from 1, as stored, as made again.

    >>> list(changed_lines(["a", "1.2", "c"], ["a", "1.3", "c", "d"]))
    [(2, '1.2', '1.3'), (4, 'no such line', 'd')]
    """
    for tag, start, end, from_, to in SequenceMatcher(None, stored, recomputed, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        for k in range(max(end - start, to - from_)):
            mine = stored[start + k] if start + k < end else NO_LINE
            theirs = recomputed[from_ + k] if from_ + k < to else NO_LINE
            yield min(start + k, end) + 1, mine, theirs
