"""A statement as a PDF that carries what it was computed from, and its lines as CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

from schemas.deal import Deal
from slakit.documents.attach import attach_manifest
from slakit.documents.pdf import Attached, PrintedPdf, document_time, typesetter
from slakit.json_text import json_text, typed_text
from slakit.manifest import document_manifest, print_sha256
from slakit.reports.credit_statement import first_page, ledger
from slakit.reports.credit_statement.facts import Document, Facts, printable
from slakit.reports.lender_document import PRINTED_FROM
from slakit.reports.paper import print_report, report_style, report_template
from slakit.statements.incident_files import guarded
from slakit.statements.terms import contract_terms

KIND = "credit_statement"
DEAL, RECORDS, STATEMENT = "terms.json", "records.json", "statement.json"
"""Names of the terms, of the records and of the statement among the files that travel with it."""
COLUMNS = (
    "period", "service_level", "service", "unit", "head", "window_minutes", "up_minutes", "down_minutes",
    "excluded_minutes", "disregarded_minutes", "degraded_minutes", "weighted_minutes", "disputed_minutes",
    "counted_minutes",
    "unknown_minutes", "availability", "availability_percent", "target_met", "credit_fraction", "base", "credit",
    "payable", "currency", "days_added", "not_computed", "claim_by", "log_lines",
)  # fmt: skip


def print_statement(
    deal: Deal, document: Document, records: bytes, manifest: Mapping[str, Any] | None = None
) -> PrintedPdf:
    """Return a statement as a PDF with its terms, records, document and manifest.

    Parameters
    ----------
    records : everything that was read, as `slakit.statements.carried` writes it.
    manifest : that of the first copy, where a statement is made again; else a new one.
    """
    terms = contract_terms(deal)
    files = statement_files(terms, document, records)
    printed = print_report(html(terms, document))
    about = (
        Attached(DEAL, files[DEAL], "The terms of the contract that this statement was computed on", "Source"),
        Attached(RECORDS, files[RECORDS], "The records that it was computed from", "Source"),
        Attached(STATEMENT, files[STATEMENT], "Every figure and every step of this statement", "Data"),
    )
    whole = manifest or statement_manifest(document, files)
    return PrintedPdf(attach_manifest(printed.content, whole, about), printed.pages)


def statement_files(terms: Deal, document: Document, records: bytes) -> dict[str, bytes]:
    """Return the files that travel with a statement, by name."""
    return {DEAL: typed_text(terms).encode(), RECORDS: records, STATEMENT: json_text(document).encode()}


def statement_manifest(document: Document, files: Mapping[str, bytes]) -> dict[str, Any]:
    """Return the manifest of a statement: what it was computed from, and what laid out its pages."""
    made_from = dict(document["manifest"])
    return document_manifest(
        KIND,
        made_from
        | {
            "versions": made_from.get("versions", {}) | typesetter(),
            "templates_sha256": print_sha256(*PRINTED_FROM),
            "document_time": document_time().isoformat(),
        },
        files,
    )


def html(deal: Deal, document: Document) -> str:
    """Return the statement as one HTML document with its style inside."""
    shown = printable(document)
    facts = Facts(deal, shown)
    logs = "; ".join(
        f"{log['file']} {log['sha256'][:8]} ({log['records']:,} records: {log['used']:,} used, "
        f"{log['records'] - log['used']:,} not)"
        for log in shown["logs"]
    )
    version = document["manifest"]["versions"].get("slakit", "")
    first_log = next((log["sha256"][:8] for log in document["logs"]), "none")
    return report_template("credit-statement.html.j2").render(
        page=first_page.first_page(facts),
        tables=list(ledger.tables(facts)),
        worked=ledger.worked(facts),
        notes=ledger.notes(facts),
        logs=logs,
        version=version,
        title=deal.title,
        style=report_style(
            deal,
            f"Credit Statement: {deal.title}",
            facts.span_short(),
            f"terms {document['manifest']['terms_sha256'][:8]} · log {first_log}",
            sheets=("report.css", "credit-statement.css"),
        ),
    )


def lines_csv(document: Document) -> str:
    """Return the lines of a statement as CSV, with a column for each figure; texts cannot be taken for formulas."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(COLUMNS)
    for line in document["periods"]:
        writer.writerow([_cell(line, name, document) for name in COLUMNS])
    return written.getvalue()


def _cell(line: Mapping[str, Any], name: str, document: Document) -> str:
    value: Any = document["currency"] if name == "currency" else line[name]
    if value is None:
        return ""
    if isinstance(value, Mapping):
        return str(value["amount"])
    if isinstance(value, Sequence) and not isinstance(value, str):
        value = "; ".join(str(part) for part in value)
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if re.fullmatch(r"-?\d+(\.\d+)?", text) else guarded(text)
