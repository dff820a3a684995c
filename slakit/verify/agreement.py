"""Contracts: the text is assembled again from the terms that the document carries, and from nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schemas.errors import DealError, TermsError
from slakit.documents.draft import contract_manifest, made_again
from slakit.documents.embed import attached_terms
from slakit.documents.partial import deal_of
from slakit.documents.reading import ATTACHMENT
from slakit.documents.tree import assemble
from slakit.verify.carriers import Carried
from slakit.verify.found import Findings, refused
from slakit.verify.remade import Remade, Work, check_manifest, look_for_reasons

LARGEST_TERMS = 1_000_000
"""Terms of a contract of the field are some tens of kilobytes. [byte]"""


def remake(carried: Carried, work: Work, found: Findings) -> Remade:
    """Return the contract made again from its terms.

    Raises
    ------
    DealError
        When it lacks its terms, or they are no terms of a contract.
    """
    if len(carried.file(ATTACHMENT)) > LARGEST_TERMS:
        raise refused(carried.name, f"{ATTACHMENT} of more than {LARGEST_TERMS:,} bytes", "do not trust it")
    data = carried.data(ATTACHMENT)
    terms, about = data.get("terms"), data.get("document")
    if not isinstance(terms, Mapping) or not isinstance(about, Mapping):
        raise refused(carried.name, f"{ATTACHMENT} without terms", "ask for the file again")
    form = carried.manifest.get("form")
    if form not in ("pdf", "html", "md") or (form == "pdf") != (carried.form == "pdf"):
        raise refused(carried.name, f"a contract as {str(form)[:20]!r} in its manifest", "ask for the file again")
    try:
        tree = assemble(deal_of(terms), str(about.get("id")), str(about.get("position")))
    except (DealError, TermsError, TypeError, AttributeError) as error:
        raise _no_terms(carried, error) from None
    here = contract_manifest(tree, form)
    look_for_reasons(carried, here, found)
    check_manifest(carried, here, found)
    content = made_again(tree, form, carried.manifest)
    return Remade(content, {ATTACHMENT: attached_terms(tree)}, numbering=tree.numbering)


def _no_terms(carried: Carried, error: Exception) -> DealError:
    """Return the error of terms from which no contract can be assembled."""
    first: Any = error.problems[0] if isinstance(error, DealError) else error
    return refused(carried.name, f"terms that are no terms of a contract ({first})"[:300], "do not trust it")
