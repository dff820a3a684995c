"""A score in the terminal: the answer, its figures, the tables, what is left out, and what it was made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from slakit.reports import figures, tables
from slakit.reports.answer import answer, headlines, not_computed
from slakit.reports.notes import for_lenders
from slakit.reports.tables import Table
from slakit.reports.terminal import MARGIN, print_line, print_list, print_table

if TYPE_CHECKING:
    from rich.console import Console

    from schemas.deal import Deal

Score = Mapping[str, Any]
WIDE = 96
"""Letters from which on the figures stand side by side."""


def show(console: Console, score: Score, deal: Deal | None = None) -> None:
    """Print the score; with the deal, dates and names of tranches and levels are those of the deal."""
    found = answer(score)
    console.print()
    print_line(console, f"{score['title']}", style="dim")
    print_line(console, found.headline, style="bold")
    if found.detail:
        print_line(console, found.detail)
    missing = not_computed(score)
    if missing:
        print_line(console, missing, style="dim")
    console.print()
    _figures(console, score)
    for table in score_tables(score, deal):
        print_table(console, table)
    print_list(console, "Not modelled", for_lenders(score.get("ignored", ())))
    print_list(console, "Settings", [*score.get("settings", ()), *_prescribed(score)])
    console.print()
    print_line(console, foot(score), style="dim")
    print_line(console, "Not a credit rating. Not investment, legal or insurance advice.", style="dim")


def score_tables(score: Score, deal: Deal | None = None) -> Iterator[Table]:
    """Yield the tables of a score that it has figures for."""
    if "default" in score:
        yield tables.defaults(score)
    yield tables.endings(score)
    if score.get("delivery", {}).get("tranches"):
        yield tables.delivery(deal, score)
    yield tables.credits(deal, score)
    if score.get("base_case"):
        yield tables.base_case(score)


def foot(score: Score) -> str:
    """Return what the figures were computed from."""
    manifest = score.get("manifest", {})
    sha256, versions = str(manifest.get("deal_sha256", ""))[:8], manifest.get("versions", {})
    draws, seed = manifest.get("draws", score.get("draws")), manifest.get("seed", score.get("seed"))
    parts = [f"Deal {sha256}"] if sha256 else []
    parts += [f"seed {seed}", f"{figures.count(draws)} futures"]
    parts += [f"slakit {versions['slakit']}"] if "slakit" in versions else []
    return f"{', '.join(parts)}. ± is one standard error of the simulation."


def _figures(console: Console, score: Score) -> None:
    """Print the figures that carry the answer side by side, or below each other where they do not fit."""
    from rich.padding import Padding
    from rich.table import Table as RichTable
    from rich.text import Text

    wide = console.width >= WIDE
    grid = RichTable.grid(padding=(0, 4 if wide else 2, 0, 0))
    cells = [
        (Text(figure.label, style="dim"), Text(figure.value, style="bold"), Text(figure.note))
        for figure in headlines(score)
    ]
    for row in zip(*cells, strict=True) if wide else cells:
        grid.add_row(*row)
    console.print(Padding(grid, (0, 0, 0, MARGIN), expand=False))


def _prescribed(score: Score) -> list[str]:
    names = [figures.in_words(name) for name in score.get("prescribed", ())]
    return [f"Prescribed by the deal file instead of modelled: {', '.join(names)}."] if names else []
