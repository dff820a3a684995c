"""A statement as the files that people pass on: PDF, CSV, JSON, and the claim pack that holds all of them."""

from __future__ import annotations

from pathlib import Path

from slakit.files import write_whole
from slakit.json_text import json_text
from slakit.reports.credit_statement import lines_csv, print_statement
from slakit.statements.carried import records_file
from slakit.statements.credits import Stated


def write(stated: Stated, path: Path) -> None:
    """Write a statement in the form that the ending of `path` names: .pdf, .csv, .json or .zip (the claim pack)."""
    match path.suffix.lower():
        case ".csv":
            content = lines_csv(stated.document).encode()
        case ".json":
            content = json_text(stated.document).encode()
        case ".zip":
            from slakit.statements.claim_pack import claim_pack

            content = claim_pack(stated)
        case _:
            content = statement_pdf(stated)
    write_whole(path, content)


def statement_pdf(stated: Stated) -> bytes:
    """Return the statement as a PDF."""
    records = records_file(stated.gathered.records, stated.asked)
    return print_statement(stated.deal, stated.document, records).content
