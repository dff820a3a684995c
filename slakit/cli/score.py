"""`slakit score`: one joint simulation of a deal, its figures, its summary."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from schemas.errors import NotComputedError
from slakit.cli.outcome import Outcome, console, is_watched, placed
from slakit.files import refuse_place, write_whole
from slakit.load import load_deal

Progress = Callable[[int, int], None]


def run(path: Path, draws: int, seed: int, workers: int, out: Path | None, save_json: Path | None) -> Outcome:
    """Return the score, written as a summary and as JSON where files are named."""
    _check_summary(out)
    for place, option in ((out, "-o"), (save_json, "--save-json")):
        if place is not None:
            refuse_place(place, option, path)
    loaded = load_deal(path)
    from slakit.reports import score_terminal
    from slakit.scoring import score_deal

    with progress_bar(draws) as progress, placed(loaded):
        result = score_deal(loaded, draws=draws, seed=seed, workers=workers, progress=progress)
    if save_json is not None:
        from slakit.reports.lender_document import score_document

        write_whole(save_json, score_document(loaded.deal, result))
    if out is not None:
        from slakit.reports import credit_summary

        with placed(loaded):
            credit_summary.write(loaded, result, out)
    return Outcome(result, lambda terminal: score_terminal.show(terminal, result, loaded.deal))


def _check_summary(out: Path | None) -> None:
    """Refuse a kind of file that is not written, before any work is done."""
    if out is None or out.suffix.lower() == ".pdf":
        return
    if out.suffix.lower() in (".xlsx", ".docx"):
        raise NotComputedError("-o", f"a summary as {out.suffix.lower()}", "name a file that ends in .pdf")
    raise typer.BadParameter(f"{out} does not end in .pdf", param_hint="-o")


@contextmanager
def progress_bar(draws: int | None) -> Iterator[Progress | None]:
    """Yield what reports progress on standard error, None where nobody watches.

    Without a number of draws the bar waits for the first report.
    """
    if not is_watched():
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("Scoring: {task.completed:,.0f} of {task.total:,.0f} futures"),
        BarColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console(to_errors=True), transient=True) as bar:
        task = bar.add_task("score", total=draws or 0, visible=draws is not None)
        yield lambda done, total: bar.update(task, completed=done, total=total, visible=True)
