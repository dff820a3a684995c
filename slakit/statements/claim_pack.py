"""The claim pack: a notice to the provider, the computation, the evidence and the deadline, in one archive."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from slakit.documents.pdf import document_time
from slakit.json_text import json_text
from slakit.reports.credit_statement import lines_csv
from slakit.reports.credit_statement.letter import letter_text, print_letter
from slakit.statements.credits import Stated
from slakit.statements.files import statement_pdf
from slakit.statements.incident_files import guarded

CLAIM = "claim"
"""What the statement in the pack is made for."""
EVIDENCE = ("unit", "state", "started_at", "ended_at", "minutes", "cause", "file", "line", "text")


def claim_pack(stated: Stated) -> bytes:
    """Return the pack as a zip archive; the same statement gives the same bytes.

    It holds `claim-notice.pdf` and `claim-notice.txt` (the letter), `credit-statement.pdf` (the computation, headed as
    the customer's own, with terms and records inside), `lines.csv`, `evidence.csv` and `statement.json`.
    """
    stated = replace(stated, document={**stated.document, "made_for": CLAIM})
    files = {
        "claim-notice.pdf": print_letter(stated.deal, stated.document).content,
        "claim-notice.txt": letter_text(stated.deal, stated.document).encode(),
        "credit-statement.pdf": statement_pdf(stated),
        "lines.csv": lines_csv(stated.document).encode(),
        "evidence.csv": evidence_csv(stated.document).encode(),
        "statement.json": json_text(stated.document).encode(),
    }
    archive = io.BytesIO()
    moment = document_time()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as pack:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, moment.timetuple()[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            pack.writestr(entry, content)
    return archive.getvalue()


def evidence_csv(document: Mapping[str, Any]) -> str:
    """Return every line of the logs that the statement rests on, with the record it became part of."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(EVIDENCE)
    for incident in document["incidents"]:
        lines: Sequence[Mapping[str, Any]] = incident["evidence"] or [{"file": "", "line": "", "text": ""}]
        for line in lines:
            row = {**incident, **line}
            writer.writerow(["" if row[name] is None else guarded(str(row[name])) for name in EVIDENCE])
    return written.getvalue()
