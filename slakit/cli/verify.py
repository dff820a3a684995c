"""`slakit verify`: a document that slakit made, made again from what it carries and held against the file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from slakit.cli.outcome import Outcome

if TYPE_CHECKING:
    from rich.console import Console

    from slakit.verify.found import Verified

SHOWN = 30
"""Differences printed one by one; all are in the JSON."""


def run(path: Path, workers: int) -> Outcome:
    """Return whether the document is the same when made again, and every difference if it is not."""
    from slakit.cli.score import progress_bar
    from slakit.verify.verification import verify

    with progress_bar(None) as progress:
        found = verify(path, workers, progress)
    return Outcome(found.as_json(), lambda console: _show(console, found), found_errors=not found.same)


def _show(console: Console, found: Verified) -> None:
    from slakit.reports.terminal import print_line

    print_line(console, answer(found), style="bold")
    for note in found.notes:
        print_line(console, _visible(note))
    for difference in found.differences[:SHOWN]:
        console.print()
        print_line(console, _visible(difference.where))
        print_line(console, f"as it stands:   {_visible(difference.stored)}")
        print_line(console, f"as made again:  {_visible(difference.recomputed)}")
    left = len(found.differences) - SHOWN
    if left > 0:
        console.print()
        print_line(console, f"{left:,} further differences: slakit verify --json lists all.")
    print_line(console, origin(found), style="dim")


def origin(found: Verified) -> str:
    """Return what the document says it is made from, in one line."""
    about = found.manifest
    digests = (
        ("deal_sha256", "deal"),
        ("terms_sha256", "terms"),
        ("contract_sha256", "numbers of the copy with terms"),
    )
    inputs = [f"{words} {str(about[key])[:8]}" for key, words in digests if key in about]
    inputs += [f"{key} {about[key]}" for key in ("seed", "draws") if key in about]
    return _visible(f"{found.words.capitalize()}: {', '.join(inputs)}, slakit {about['versions'].get('slakit', '')}.")


def answer(found: Verified) -> str:
    """Return in one sentence whether the document is the same, and what that rests on."""
    counted = dict(found.compared)
    figures = counted.pop("figures", 0)
    parts = [f"all {figures:,} figures recomputed"] if figures else []
    how = " byte for byte" if found.to_the_byte else ""
    parts += [f"{_counted(number, noun)} remade{how}" for noun, number in counted.items()]
    if not counted:
        parts += [f"the file remade{how}"]
    if found.same:
        return f"Same: {'; '.join(parts)}."
    places = "1 place" if len(found.differences) == 1 else f"{len(found.differences):,} places"
    return f"Different in {places}: the {found.words} is not what comes of what it carries."


def _counted(number: int, plural: str) -> str:
    return f"{number:,} {plural if number != 1 else plural.removesuffix('s')}"


def _visible(value: object) -> str:
    """Return a value as a terminal may show it: what a file holds moves no cursor."""
    return "".join(sign if sign.isprintable() else "·" for sign in str(value))
