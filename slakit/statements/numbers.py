"""Clause numbers of a statement: those of the signed copy where it is at hand, else of the agreement as drafted now."""

from __future__ import annotations

from pathlib import Path

from schemas.deal import Deal
from slakit.reports.clauses import Clauses, clauses_of


def clauses_for(deal: Deal, contract: Path | None) -> Clauses:
    """Return the printed numbers by paragraph.

    Parameters
    ----------
    contract : a PDF that slakit drafted, whose own map of numbers is used.

    Raises
    ------
    DealError
        When the file is no such PDF.
    """
    if contract is None:
        return clauses_of(deal)
    from slakit.documents.embed import read

    return Clauses(read(contract)["numbering"])
