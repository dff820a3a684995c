"""`slakit score`: one joint simulation of a deal, its figures, its summary."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from schemas.errors import NotComputedError
from slakit.cli.outcome import Outcome, console, is_watched
from slakit.json_text import json_text
from slakit.load import load_deal

Progress = Callable[[int, int], None]


def run(path: Path, draws: int, seed: int, workers: int, out: Path | None, save_json: Path | None) -> Outcome:
    """Return the score, written as a summary and as JSON where files are named."""
    _check_summary(out)
    loaded = load_deal(path)
    from slakit.reports import score_terminal
    from slakit.scoring import score_deal

    with progress_bar(draws) as progress:
        result = score_deal(loaded, draws=draws, seed=seed, workers=workers, progress=progress)
    if save_json is not None:
        save_json.parent.mkdir(parents=True, exist_ok=True)
        save_json.write_text(json_text(result), encoding="utf-8")
    if out is not None:
        from slakit.reports import credit_summary

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
def progress_bar(draws: int) -> Iterator[Progress | None]:
    """Yield what reports progress on standard error, None where nobody watches."""
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
        task = bar.add_task("score", total=draws)
        yield lambda done, total: bar.update(task, completed=done, total=total)
