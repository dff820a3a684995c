"""What was promised and not kept, in words."""

from __future__ import annotations

from collections.abc import Iterator

from schemas.deal import Deal
from slakit.reports import figures
from slakit.reports.credit_statement.facts import LEVELS, Document, counted, is_of_availability

LATE = {
    "replacement": ("replacement-times.target", "replacement was late", "replacements were late"),
    "response": ("support-response.first-response", "first response was late", "first responses were late"),
}
"""What a line of another head than availability promises: the paragraph, and its misses in words, one and many."""


def missed_words(document: Document, deal: Deal | None = None) -> Iterator[str]:
    """Yield what was missed, level by level and then head by head.

    Parameters
    ----------
    deal : names the target and the kind of unit of each level; units missed a target, whatever it is, when None.
    """
    missed: dict[str, set[str]] = {}
    late = dict.fromkeys(LATE, 0)
    for line in document["periods"]:
        if is_of_availability(line):
            if line["target_met"] is False:
                missed.setdefault(line["service_level"] if deal else "", set()).add(line["unit"])
        else:
            paragraph = LATE[line["head"]][0]
            late[line["head"]] += sum(s["paragraph"] == paragraph and s["result"] is False for s in line["steps"])
    for level_id, units in missed.items():
        level = deal.service_levels.get(level_id) if deal else None
        named = LEVELS[level.level] if level else ("unit", "units")
        target = f" {figures.agreed_percent(level.target)}" if level and level.target is not None else " a target"
        yield f"{counted(len(units), *named)} missed{target}"
    for head, number in late.items():
        if number:
            yield counted(number, *LATE[head][1:])
