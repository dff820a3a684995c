"""The credit summary: two pages that a lender reads first, computed from a score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from schemas.deal import Deal
from schemas.parties import Party
from slakit.documents.pdf import PrintedPdf, count_pages
from slakit.files import write_whole
from slakit.load import LoadedDeal
from slakit.paths import templates_dir
from slakit.reports import exhibits, figures, tables
from slakit.reports.answer import answer, headlines, not_computed
from slakit.reports.contract_lines import contract_lines
from slakit.reports.judgements import judgements, latest_source
from slakit.reports.lender_document import with_inputs
from slakit.reports.notes import for_lenders
from slakit.reports.paper import print_report, report_style
from slakit.reports.theme import print_palette

Score = Mapping[str, Any]
RUNNING_TITLE = 70
"""Longest title in the running head. [letters]"""


class FirstSheet(NamedTuple):
    """What may be shortened on the first sheet."""

    tranches: int
    chart_height: float
    bar_row: float


class SecondSheet(NamedTuple):
    """What may be shortened on the second sheet."""

    years: int
    judgements: int
    chart_height: float
    notes: int
    """Sentences on what is not modelled."""


FIRST_SHEETS = (
    FirstSheet(12, 255, 28),
    FirstSheet(9, 235, 28),
    FirstSheet(8, 215, 26),
    FirstSheet(7, 200, 24),
    FirstSheet(5, 180, 22),
    FirstSheet(3, 150, 19),
)
SECOND_SHEETS = (
    SecondSheet(12, 9, 200, 40),
    SecondSheet(10, 7, 180, 15),
    SecondSheet(9, 6, 165, 11),
    SecondSheet(8, 5, 155, 9),
    SecondSheet(7, 5, 145, 8),
    SecondSheet(6, 4, 140, 8),
    SecondSheet(6, 3, 120, 6),
    SecondSheet(5, 3, 105, 4),
)
"""Tried in this order until the sheet fits its page; what is left out is counted where it would stand."""
BOTH = (1, 2)
NAMED_VERSIONS = ("slakit", "python", "numpy", "scipy")


def write(loaded: LoadedDeal, score: Score, path: Path) -> int:
    """Write the credit summary as a PDF and return its pages.

    Raises
    ------
    DealError
        When a name of the deal holds a sign that the fonts cannot print.
    """
    printed = print_summary(loaded.deal, score)
    write_whole(path, printed.content)
    return printed.pages


def print_summary(deal: Deal, score: Score, manifest: Mapping[str, Any] | None = None) -> PrintedPdf:
    """Return the credit summary as a PDF with deal, score and manifest; the same deal and score give the same bytes.

    Parameters
    ----------
    manifest
        That of the first copy, where a summary is made again; else a new one.
    """
    first = next((room for room in FIRST_SHEETS if _fits(deal, score, room, SECOND_SHEETS[0], 1)), FIRST_SHEETS[-1])
    second = next((room for room in SECOND_SHEETS if _fits(deal, score, first, room, 2)), SECOND_SHEETS[-1])
    return with_inputs("credit_summary", print_report(html(deal, score, first, second)), deal, score, manifest)


def html(
    deal: Deal,
    score: Score,
    first: FirstSheet = FIRST_SHEETS[0],
    second: SecondSheet = SECOND_SHEETS[0],
    sheets: tuple[int, ...] = BOTH,
) -> str:
    """Return the summary, or one of its sheets, as one HTML document with its style inside."""
    from jinja2 import FileSystemLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(templates_dir() / "documents"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    template = environment.get_template("credit-summary.html.j2")
    return template.render(
        sheets=sheets,
        **_head(deal, score),
        **_first_sheet(deal, score, first),
        **_second_sheet(deal, score, second),
    )


def _fits(deal: Deal, score: Score, first: FirstSheet, second: SecondSheet, sheet: int) -> bool:
    """Tell whether one sheet fits its page."""
    return count_pages(html(deal, score, first, second, (sheet,))) == 1


def _head(deal: Deal, score: Score) -> dict[str, Any]:
    """Return what both sheets carry."""
    sha256, version = str(score.get("manifest", {}).get("deal_sha256", "")), slakit_version(score)
    dated = latest_source(deal)
    style = report_style(
        deal,
        f"Credit summary: {_shortened(deal.title)}",
        f"Sources to {dated}" if dated else "",
        f"deal {sha256[:8]} · slakit {version}",
    )
    return {
        "title": deal.title,
        "style": style,
        "version": version,
        "sha256": sha256,
        "answer": answer(score),
    }


def _first_sheet(deal: Deal, score: Score, room: FirstSheet) -> dict[str, Any]:
    """Return what the first sheet prints."""
    palette = print_palette()
    charts = [
        exhibits.cover(score, palette, height=room.chart_height),
        exhibits.losses(score, palette, row=room.bar_row),
        exhibits.endings(score, palette, row=room.bar_row),
    ]
    return {
        "loan": loan_in_one_line(deal),
        "headlines": headlines(score),
        "missing": not_computed(score),
        "first_charts": [chart for chart in charts if chart],
        "delivery": tables.delivery(deal, score, room.tranches),
        "contract": contract_lines(deal, score),
        "foot": f"{judgements(deal).sentence} {foot(score)}",
    }


def _second_sheet(deal: Deal, score: Score, room: SecondSheet) -> dict[str, Any]:
    """Return what the second sheet prints."""
    palette, height = print_palette(), room.chart_height
    charts = [exhibits.value_and_debt(score, palette, height=height), exhibits.by_month(score, palette, height=height)]
    found = judgements(deal).found
    shown = found if len(found) <= room.judgements + 1 else found[: room.judgements]
    hidden = len(found) - len(shown)
    notes = for_lenders(ignored(deal, score))
    if len(notes) > room.notes:
        others = len(notes) - room.notes
        notes = [*notes[: room.notes], f"{others} further notes stand in the output of slakit score."]
    return {
        "base_case": tables.base_case(score, room.years) if score.get("base_case") else None,
        "second_charts": [chart for chart in charts if chart],
        "credits": tables.credits(deal, score),
        "judged": shown,
        "judged_note": f"{figures.JUDGEMENT} no public source. Recovery, then delay and market; widest range first",
        "judged_rest": f"{hidden} others in the deal file" if hidden else None,
        "ignored": notes,
        "computed": list(_computed(score)),
    }


def loan_in_one_line(deal: Deal) -> str:
    """Return what is lent to whom and against what, in one line."""
    provider, customer = deal.party("provider"), deal.party("customer")
    gpus = sum(cluster.units.gpu for cluster in deal.clusters.values())
    counted = any(cluster.hardware or cluster.units.node for cluster in deal.clusters.values())
    let = f"let to {_name(customer)}" if customer else "let to one customer"
    what = "GPUs" if counted else "positions for a GPU"
    on = f"{figures.count(gpus)} {what} {let}" if gpus else f"capacity {let}"
    finance = deal.finance
    if finance is None or finance.loan is None:
        by = f" by {_name(provider)}" if provider else ""
        return f"{on}{by}; no loan in the deal file."
    loan = finance.loan
    to = f" to {_name(provider)}" if provider else ""
    amount = f"{finance.currency}\u00a0{loan.amount:,f}"
    amount = amount.rstrip("0").rstrip(".") if "." in amount else amount
    return (
        f"{amount} {loan.profile} loan{to} at {figures.agreed_percent(loan.annual_rate)}, {loan.payments} monthly "
        f"payments from month {loan.first_payment_month}, against {on}."
    )


def foot(score: Score) -> str:
    """Return what the figures were computed from."""
    manifest = score.get("manifest", {})
    sha256, seed = str(manifest.get("deal_sha256", ""))[:8], manifest.get("seed", score.get("seed"))
    draws = manifest.get("draws", score.get("draws"))
    return f"Deal {sha256}, seed {seed}, {figures.count(draws)} futures, slakit {slakit_version(score)}."


def slakit_version(score: Score) -> str:
    """Return the version that computed the score."""
    return str(score.get("manifest", {}).get("versions", {}).get("slakit", ""))


def ignored(deal: Deal, score: Score) -> Iterator[str]:
    """Yield what no figure counts, in words."""
    notes = score.get("ignored", ())
    yield from notes
    if deal.backstop is not None and not any(note.startswith("Backstop") for note in notes):
        yield "Backstop: typed in the deal file and not simulated; no payment under it is counted."


def _computed(score: Score) -> Iterator[str]:
    """Yield how the figures came about and how to get them again."""
    manifest = score.get("manifest", {})
    draws, seed = manifest.get("draws", score.get("draws")), manifest.get("seed", score.get("seed"))
    yield (
        f"One joint simulation of {figures.count(draws)} futures over {figures.months(score['months'])} from close, "
        f"seed {seed}. The same deal file, seed and versions give the same figures "
        f"(slakit score DEAL --draws {draws} --seed {seed})."
    )
    yield from score.get("settings", ())
    prescribed = score.get("prescribed", ())
    if prescribed:
        yield f"Prescribed by the deal file instead of modelled: {', '.join(map(figures.in_words, prescribed))}."
    versions = manifest.get("versions", {})
    named = [f"{name} {versions[name]}" for name in NAMED_VERSIONS if name in versions]
    if named:
        yield f"Versions: {', '.join(named)}; all in the JSON."


def _name(party: Party) -> str:
    """Return a party's name as it may end a sentence."""
    return party.name.rstrip(".")


def _shortened(title: str) -> str:
    return title if len(title) <= RUNNING_TITLE else f"{title[: RUNNING_TITLE - 1].rstrip()}…"
