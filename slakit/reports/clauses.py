"""Numbers of the clauses of the agreement that slakit drafts from a deal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from schemas.deal import Deal
from schemas.errors import SlakitError, TermsError, TermsErrors
from slakit.reports.rounding import NBSP


@dataclass(frozen=True, slots=True)
class Clauses:
    """Printed numbers by the id of a clause or paragraph; none where no agreement can be drafted."""

    numbers: Mapping[str, str]
    copy: str | None = None
    """Digest of the terms of the signed copy that they are taken from, which the foot of each of its pages begins."""

    def of(self, *ids: str) -> str | None:
        """Return the number of the first of these that the agreement has."""
        found = next((self.numbers[one] for one in ids if one in self.numbers), None)
        return None if found is None else f"cl.{NBSP}{found}"

    def where(self, path: str, *ids: str) -> str:
        """Return a clause's number, or the path of the term where the agreement has no such clause."""
        return self.of(*ids) or path


def clauses_of(deal: Deal) -> Clauses:
    """Return the numbers of the agreement of a deal."""
    from slakit.documents.tree import assemble

    try:
        return Clauses(assemble(deal).numbering)
    except (SlakitError, TermsError, TermsErrors):
        return Clauses({})
