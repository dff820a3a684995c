"""What a lender's document carries: its deal and its score as data, and the manifest from which it is made again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from schemas.deal import Deal
from slakit.documents.attach import attach_manifest
from slakit.documents.pdf import Attached, PrintedPdf, document_time, typesetter
from slakit.json_text import json_text, typed_text
from slakit.manifest import document_manifest, print_sha256

Score = Mapping[str, Any]
DEAL, SCORE = "deal.json", "score.json"
"""Names of the deal and of the score among the files that a document carries."""
PRINTED_FROM = ("documents", "fonts", "styles")
"""Folders of the templates that a printed report rests on."""


def carried_files(deal: Deal, score: Score) -> dict[str, bytes]:
    """Return the deal and the score as JSON, by the names under which documents carry them.

    The deal is in canonical form, without the defaults that nobody typed: some documents say what was typed.
    """
    return {DEAL: typed_text(deal).encode(), SCORE: json_text(score).encode()}


def lender_manifest(kind: str, files: Mapping[str, bytes], score: Score) -> dict[str, Any]:
    """Return the manifest of a document that shows a score and lays nothing out."""
    return document_manifest(kind, dict(score.get("manifest", {})), files)


def printed_manifest(kind: str, files: Mapping[str, bytes], score: Score) -> dict[str, Any]:
    """Return the manifest of a printed report: what its score was computed from, and what laid out its pages."""
    made_from = dict(score.get("manifest", {}))
    return document_manifest(
        kind,
        made_from
        | {
            "versions": made_from.get("versions", {}) | typesetter(),
            "templates_sha256": print_sha256(*PRINTED_FROM),
            "document_time": document_time().isoformat(),
        },
        files,
    )


def with_inputs(
    kind: str, printed: PrintedPdf, deal: Deal, score: Score, manifest: Mapping[str, Any] | None = None
) -> PrintedPdf:
    """Return a printed report that carries its deal, its score and its manifest.

    Parameters
    ----------
    kind
        Name of the kind of document in the registry of `slakit.verify.kinds`.
    printed
        The pages.
    manifest
        That of the first copy, where a report is made again; else a new one.
    """
    files = carried_files(deal, score)
    about = (
        Attached(DEAL, files[DEAL], "The deal that this document is computed from, as canonical JSON", "Source"),
        Attached(SCORE, files[SCORE], "Every figure of the score that this document shows", "Data"),
    )
    manifest = manifest or printed_manifest(kind, files, score)
    return PrintedPdf(attach_manifest(printed.content, manifest, about), printed.pages)


def score_document(deal: Deal, score: Score, manifest: Mapping[str, Any] | None = None) -> bytes:
    """Return a score as the JSON file that is kept: its figures, its manifest and its deal."""
    figures = {name: value for name, value in score.items() if name != "manifest"}
    files = carried_files(deal, figures)
    manifest = manifest or lender_manifest("score", files, score)
    return json_text({**figures, "manifest": manifest, "deal": json.loads(files[DEAL])}).encode()
