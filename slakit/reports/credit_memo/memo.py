"""The credit memo as a document: its first page, eleven sections, annexes, and the printing."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from schemas.deal import Deal
from slakit.documents.pdf import PrintedPdf, count_pages
from slakit.files import write_whole
from slakit.load import LoadedDeal
from slakit.reports.clauses import clauses_of
from slakit.reports.credit_memo import (
    annexes,
    cash_flow,
    contract,
    default,
    delivery,
    gpu_value,
    method,
    protection,
    sources_and_uses,
    stresses,
    unknown,
)
from slakit.reports.credit_memo.parts import Blocks, Facts, Score, Section
from slakit.reports.credit_memo.summary import ROOMS, Room, summary
from slakit.reports.judgements import latest_source
from slakit.reports.lender_document import with_inputs
from slakit.reports.paper import print_report, report_style, report_template
from slakit.reports.tables import Table

RUNNING_TITLE = 70
"""Longest title in the running head. [letters]"""
SECTIONS = (
    sources_and_uses,
    contract,
    delivery,
    cash_flow,
    default,
    gpu_value,
    protection,
    stresses,
    unknown,
    method,
)


def write(loaded: LoadedDeal, score: Score, path: Path) -> int:
    """Write the credit memo as a PDF and return its pages.

    Raises
    ------
    DealError
        When a name of the deal holds a sign that the fonts cannot print.
    """
    printed = print_memo(loaded.deal, score)
    write_whole(path, printed.content)
    return printed.pages


def print_memo(deal: Deal, score: Score, manifest: Mapping[str, Any] | None = None) -> PrintedPdf:
    """Return the credit memo as a PDF with deal, score and manifest; the same deal and score give the same bytes.

    Parameters
    ----------
    manifest
        That of the first copy, where a memo is made again; else a new one.
    """
    facts = Facts(deal, score, clauses_of(deal))
    room = ROOMS[min(bisect_left(ROOMS, True, key=lambda room: _fits(facts, room)), len(ROOMS) - 1)]
    return with_inputs("credit_memo", print_report(_html(facts, room, sections(facts))), deal, score, manifest)


def html(deal: Deal, score: Score) -> str:
    """Return the memo as one HTML document with its style inside."""
    facts = Facts(deal, score, clauses_of(deal))
    return _html(facts, ROOMS[0], sections(facts))


def sections(facts: Facts) -> tuple[tuple[Section, str], ...]:
    """Return the sections after the first page, each with the name of its template."""
    return tuple((one.section(facts), _template(one.__name__)) for one in SECTIONS)


def _template(module: str) -> str:
    """Return the template of a section, named as its module is.

    >>> _template("slakit.reports.credit_memo.cash_flow")
    'credit-memo/cash-flow.html.j2'
    """
    return f"credit-memo/{module.rpartition('.')[2].replace('_', '-')}.html.j2"


def _fits(facts: Facts, room: Room) -> bool:
    """Tell whether the first page holds the summary."""
    return count_pages(_html(facts, room, ())) == 1


def _html(facts: Facts, room: Room, found: Sequence[tuple[Section, str]]) -> str:
    return report_template("credit-memo.html.j2").render(
        **_head(facts),
        summary=summary(facts, room),
        sections=[(section, partial, Blocks(section.blocks)) for section, partial in found],
        annexes=_annexes(facts) if found else [],
    )


def _annexes(facts: Facts) -> list[tuple[str, Table | None, tuple[int, ...]]]:
    """Return the annexes, each with the name of its style and the widths of its columns. [%]"""
    return [
        ("months", annexes.base_case(facts), ()),
        ("numbers", annexes.assumptions(facts), (24, 13, 14, 16, 33)),
        ("sources", annexes.sources(facts), (25, 16, 59)),
    ]


def _head(facts: Facts) -> dict[str, Any]:
    """Return what every page carries."""
    deal, version = facts.deal, method.slakit_version(facts.score)
    sha256 = str(facts.score.get("manifest", {}).get("deal_sha256", ""))
    dated = latest_source(deal)
    style = report_style(
        deal,
        f"Credit memo: {_shortened(deal.title)}",
        f"Sources to {dated}" if dated else "",
        f"deal {sha256[:8]} · slakit {version}",
        sheets=("report.css", "credit-memo.css"),
    )
    return {"title": deal.title, "style": style, "version": version}


def _shortened(title: str) -> str:
    return title if len(title) <= RUNNING_TITLE else f"{title[: RUNNING_TITLE - 1].rstrip()}…"
