"""`slakit score`: one joint simulation of a deal, its figures, its credit memo or workbook."""

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


def run(
    path: Path,
    draws: int,
    seed: int,
    workers: int,
    out: Path | None,
    save_json: Path | None,
    outer: int | None = None,
    no_levers: bool = False,
) -> Outcome:
    """Return the score, written as a memo or workbook and as JSON where files are named.

    A memo shows stresses, levers and the range from the inputs too, so they are computed with it.
    """
    _check_kind(out)
    for place, option in ((out, "-o"), (save_json, "--save-json")):
        if place is not None:
            refuse_place(place, option, path)
    loaded = load_deal(path)
    from slakit.reports import score_terminal
    from slakit.scoring import LEVER_DRAWS, MEMO_OUTER, STRESS_DRAWS, full_score

    is_memo = out is not None and out.suffix.lower() == ".pdf"
    asked = {
        "outer": outer if outer is not None else MEMO_OUTER if is_memo else 0,
        "stress_draws": STRESS_DRAWS if is_memo else 0,
        "lever_draws": LEVER_DRAWS if is_memo and not no_levers else 0,
    }
    with progress_bar(None if any(asked.values()) else draws) as progress, placed(loaded):
        result = full_score(loaded, draws, seed, workers=workers, progress=progress, **asked)
    if save_json is not None:
        from slakit.reports.lender_document import score_document

        write_whole(save_json, score_document(loaded.deal, result))
    if out is not None:
        with placed(loaded):
            if out.suffix.lower() == ".xlsx":
                from slakit.reports import workbook

                workbook.write(loaded, result, out)
            else:
                from slakit.reports import credit_memo

                credit_memo.write(loaded, result, out)
    return Outcome(result, lambda terminal: score_terminal.show(terminal, result, loaded.deal))


def _check_kind(out: Path | None) -> None:
    """Refuse a kind of file that is not written, before any work is done."""
    if out is None or out.suffix.lower() in (".pdf", ".xlsx"):
        return
    if out.suffix.lower() == ".docx":
        raise NotComputedError("-o", "a memo as .docx", "name a file that ends in .pdf, or in .xlsx for the workbook")
    raise typer.BadParameter(f"{out} does not end in .pdf or .xlsx", param_hint="-o")


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
