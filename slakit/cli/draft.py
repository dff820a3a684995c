"""`slakit draft`: a deal to the files of its contract."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from schemas.errors import NotComputedError
from slakit.cli.outcome import Outcome, placed
from slakit.load import load_deal

if TYPE_CHECKING:
    from rich.console import Console

    from slakit.documents.draft import DraftedFile

FORMATS = ("pdf", "html", "md")
LATER_FORMATS = ("docx",)


def formats_of(listed: str) -> tuple[str, ...]:
    """Return the formats of a list such as `pdf,html`, each once."""
    wanted = tuple(dict.fromkeys(word.strip().lower() for word in listed.split(",") if word.strip()))
    for word in wanted:
        if word in LATER_FORMATS:
            raise NotComputedError("--format", f"a draft as {word}", f"use any of {', '.join(FORMATS)}")
        if word not in FORMATS:
            raise typer.BadParameter(f"{word!r} is none of {', '.join(FORMATS)}", param_hint="--format")
    if not wanted:
        raise typer.BadParameter(f"name one of {', '.join(FORMATS)}", param_hint="--format")
    return wanted


def day_of(text: str | None) -> date | None:
    """Return the day of a text such as 2027-03-01, None for none."""
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no day such as 2027-03-01", param_hint="--as-of") from None


def run(path: Path, out: Path, listed: str, as_of: str | None) -> Outcome:
    """Return the files written: the terms as signed, or as amended on a day."""
    formats, day = formats_of(listed), day_of(as_of)
    loaded = load_deal(path)
    from slakit.documents.draft import draft

    with placed(loaded):
        files = draft(loaded if day is None else loaded.deal.at(day), out, formats, as_of=day)
    document = {
        "files": [{"path": file.path, "kind": file.kind, "pages": file.pages, "sha256": file.sha256} for file in files]
    }
    return Outcome(document, lambda console: _show(console, files))


def _show(console: Console, files: list[DraftedFile]) -> None:
    from slakit.reports.terminal import print_line

    for file in files:
        pages = f", {file.pages} {'page' if file.pages == 1 else 'pages'}" if file.pages else ""
        print_line(console, f"Wrote {file.path}{pages}")
    print_line(console, "A draft, for review by counsel.", style="dim")
