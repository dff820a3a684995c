"""One document: what it carries, made again, held against the file."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from slakit.documents.bounded import NotReadable, ask
from slakit.reports.lender_document import SCORE
from slakit.verify.carriers import PDF_PROCESS, WORKBOOK_PROCESS, Carried, carried_by
from slakit.verify.found import Findings, Verified, refused
from slakit.verify.kinds import KINDS
from slakit.verify.remade import Progress, Remade, Work, check_digests, compare_files
from slakit.verify.texts import compare_json, compare_texts


def verify(path: Path, workers: int = 1, progress: Progress | None = None) -> Verified:
    """Return what differs between a document that we made and the same document made again from what it carries.

    Parameters
    ----------
    path
        A contract as PDF, HTML or Markdown, a credit memo, a workbook, or the JSON of a score.
    workers
        Processes of the simulation; figures do not depend on it.
    progress
        Told the futures done and the futures asked for.

    Raises
    ------
    DealError
        When the file is none of ours, is broken, or cannot be read within bounds of memory and time.
    SlakitError
        When its deal cannot be computed by this version.
    """
    carried = carried_by(path)
    kind = KINDS.get(carried.kind)
    if kind is None:
        raise refused(carried.name, f"a document of kind {carried.kind[:40]!r}", "use the version that made it")
    _refuse_moment(carried)
    found = Findings()
    try:
        check_digests(carried, found)
        remade = kind.remake(carried, Work(workers, progress), found)
        compare_files(carried, remade, found, frozenset({SCORE}))
        to_the_byte = carried.content == remade.content
        compared = {"figures": remade.figures} if remade.figures else {}
        compared |= _compare(carried, remade, found, to_the_byte)
        if not (to_the_byte or found.differences or found.notes):
            found.notes.append("Another program saved the file: its bytes are others, and it says the same.")
    except RecursionError:
        raise refused(carried.name, "data nested deeper than any of ours", "do not trust it") from None
    return Verified(
        kind=carried.kind,
        words=kind.words,
        manifest=carried.manifest,
        differences=tuple(found.differences),
        notes=(*found.versions, *(() if to_the_byte else found.reasons), *found.notes),
        compared=compared,
        to_the_byte=to_the_byte,
    )


def _compare(carried: Carried, remade: Remade, found: Findings, to_the_byte: bool) -> dict[str, int]:
    """Hold the file against the one made again and return how much that was."""
    if carried.form == "json":
        return {} if to_the_byte else compare_json(carried, remade, found)
    if carried.form == "text":
        return compare_texts(carried, remade, found)
    if not to_the_byte:
        try:
            process = PDF_PROCESS if carried.form == "pdf" else WORKBOOK_PROCESS
            found.take(ask(process, carried.content, remade.content, asked={"what": "compared"}))
        except NotReadable as error:
            raise refused(carried.name, error.found, error.remedy) from None
    return dict(carried.counted)


def _refuse_moment(carried: Carried) -> None:
    """Refuse a PDF whose manifest states no time for its files."""
    if carried.form == "pdf":
        stated = carried.manifest.get("document_time")
        try:
            datetime.fromisoformat(str(stated))
        except ValueError:
            raise refused(carried.name, f"document_time of {str(stated)[:40]!r}", "ask for the file again") from None
