"""Credit statements: computed again from the terms and records that they carry."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from risk.contract_rules.statement import statement
from schemas.deal import Deal
from slakit.json_text import canonical_sha256, plain
from slakit.load import deal_in
from slakit.loading.source import source_of
from slakit.reports.clauses import Clauses
from slakit.reports.credit_statement.statement import (
    DEAL,
    RECORDS,
    STATEMENT,
    print_statement,
    statement_files,
    statement_manifest,
)
from slakit.statements.carried import records_file, records_of
from slakit.statements.credits import periods_of, statement_document
from slakit.verify.carriers import Carried
from slakit.verify.figures import figures
from slakit.verify.found import Findings, refused
from slakit.verify.remade import Remade, Work, check_manifest, look_for_reasons


def remake(carried: Carried, work: Work, found: Findings) -> Remade:
    """Return the statement made again; every figure and every step is held against the one it carries.

    Raises
    ------
    DealError
        When it lacks its terms or records, or they are none of ours.
    SlakitError
        When the terms cannot be computed by this version.
    """
    deal, document, carried_again = restated(carried.name, carried.file(DEAL), carried.file(RECORDS))
    again = plain(document)
    count = 0
    for figure in figures(carried.data(STATEMENT), again):
        count += 1
        if not figure.same:
            found.differ(carried.place(STATEMENT, figure.path), figure.stored, figure.recomputed)
    files = statement_files(deal, document, carried_again)
    here = statement_manifest(document, files)
    look_for_reasons(carried, here, found)
    check_manifest(carried, here, found)
    content = print_statement(deal, document, carried_again, carried.manifest).content
    return Remade(content, {name: file for name, file in files.items() if name != STATEMENT}, count)


def restated(name: str, terms: bytes, records: bytes) -> tuple[Deal, dict[str, Any], bytes]:
    """Return the terms, the statement made again from them and its records, and these records written again.

    Parameters
    ----------
    name : name of the file that carries them, for messages.

    Raises
    ------
    DealError
        When terms or records are none of ours.
    SlakitError
        When the terms cannot be computed by this version.
    """
    loaded = deal_in(source_of(f"{name}/{DEAL}", terms))
    found, asked = records_of(records, f"{name}/{RECORDS}")
    try:
        named, known = asked["periods"], asked["as_of"]
        periods = periods_of(loaded.deal, f"{named[0]}..{named[-1]}", found.incidents, None, found.units)
        as_of = None if known is None else datetime.fromisoformat(known)
        clauses = Clauses({str(key): str(number) for key, number in asked["clauses"].items()})
        about: dict[str, Any] = asked["about"]
        about["manifest"]["terms_sha256"] = canonical_sha256(loaded.deal)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        raise refused(name, f"{RECORDS} that does not say what was asked", "ask for the file again") from None
    result = statement(loaded.deal, found, periods, as_of)
    document = statement_document(loaded.deal, found, result, periods, as_of, clauses, about)
    return loaded.deal, document, records_file(found, asked)
