"""`slakit read`: the terms out of a document that slakit drafted."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slakit.cli.outcome import Outcome
from slakit.files import refuse_place, write_whole
from slakit.json_text import json_text

if TYPE_CHECKING:
    from rich.console import Console


def run(path: Path, out: Path | None) -> Outcome:
    """Return the terms, their hash and whether the document is as it was drafted; the terms as a deal file too."""
    from slakit.documents.embed import read

    if out is not None:
        refuse_place(out, "-o", path)
    found = read(path)
    if out is not None:
        write_whole(out, json_text({"schema_version": found["schema_version"], **found["terms"]}).encode())
    return Outcome(found, lambda console: _show(console, found), found_errors=not found["intact"])


def _show(console: Console, found: Mapping[str, Any]) -> None:
    from slakit.reports.terminal import print_line

    state = "is as it was drafted" if found["intact"] else "was changed after it was drafted; do not rely on it"
    print_line(console, f"The document {state}. Terms {found['sha256'][:8]}:", style="bold")
    console.file.write(json_text(found["terms"]))
