"""The kinds of documents we make, and how each is made again from what it carries.

A new kind is one more entry: the name that its manifest states, what a person calls it, and a function that makes the
whole file from the deal, its score and the manifest of the first copy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from schemas.deal import Deal
from slakit.verify import agreement, credited, scored
from slakit.verify.carriers import Carried
from slakit.verify.found import Findings
from slakit.verify.remade import Remade, Work


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of document."""

    words: str
    """What a person calls it."""
    remake: Callable[[Carried, Work, Findings], Remade]
    """Makes it again, and adds what its inputs show on the way."""


def of_score(words: str, make: scored.Make) -> Kind:
    """Return a kind of document that shows a score."""
    return Kind(words, partial(scored.remake, make=make))


def _credit_memo(deal: Deal, score: scored.Score, manifest: Mapping[str, Any]) -> bytes:
    from slakit.reports.credit_memo import print_memo

    return print_memo(deal, score, manifest).content


def _score(deal: Deal, score: scored.Score, manifest: Mapping[str, Any]) -> bytes:
    from slakit.reports.lender_document import score_document

    return score_document(deal, score, manifest)


def _workbook(deal: Deal, score: scored.Score, manifest: Mapping[str, Any]) -> bytes:
    from slakit.reports.workbook import workbook

    return workbook(deal, score, manifest)


KINDS: dict[str, Kind] = {
    "contract": Kind("contract", agreement.remake),
    "credit_statement": Kind("credit statement", credited.remake),
    "credit_memo": of_score("credit memo", _credit_memo),
    "score": of_score("score", _score),
    "workbook": of_score("workbook", _workbook),
}
"""By the name that manifests state."""
