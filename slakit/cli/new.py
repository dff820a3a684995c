"""`slakit new`: starter deals and examples, listed or written."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from schemas.errors import DealError, Problem
from slakit.cli.outcome import Outcome
from slakit.files import make_folder
from slakit.loading.source import read_source
from slakit.loading.yaml_document import read_yaml
from slakit.paths import examples_dir, templates_dir

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True, slots=True)
class Starter:
    """A deal to start from."""

    id: str
    kind: str
    """`starter` or `example`."""
    title: str
    about: str
    path: Path


def starters() -> tuple[Starter, ...]:
    """Return the starters, then the examples, each in the order of their names."""
    found = []
    for kind, folder in (("starter", templates_dir() / "starters"), ("example", examples_dir())):
        for path in sorted(folder.glob("*.yaml")):
            root, _, _ = read_yaml(read_source(path))
            title, about = (" ".join(str(root.value.get(key, "")).split()) for key in ("title", "about"))
            found.append(Starter(path.stem, kind, title, about.split(". ")[0].rstrip("."), path))
    return tuple(found)


def run(name: str | None, out: Path | None) -> Outcome:
    """Return the list of starters, with the one written when a name is given."""
    known = starters()
    listed = [{"id": s.id, "kind": s.kind, "title": s.title, "about": s.about} for s in known]
    if name is None:
        if out is not None:
            raise typer.BadParameter("name a starter to write; `slakit new` lists them", param_hint="NAME")
        return Outcome({"starters": listed}, lambda console: _show(console, known))
    chosen = next((starter for starter in known if starter.id == name), None)
    if chosen is None:
        close = get_close_matches(name, [starter.id for starter in known], 1)
        meant = f"did you mean {close[0]}?" if close else "`slakit new` lists them"
        raise typer.BadParameter(f"no starter is called {name!r}; {meant}", param_hint="NAME")
    target = out if out is not None else Path(f"{chosen.id}.yaml")
    content = chosen.path.read_bytes()
    _write(target, content)
    written: dict[str, Any] = {"id": chosen.id, "path": str(target), "sha256": sha256(content).hexdigest()}
    return Outcome({"starters": listed, "written": written}, lambda console: _say(console, chosen, target))


def _write(target: Path, content: bytes) -> None:
    """Write a file that is not there yet."""
    make_folder(target.parent)
    try:
        with target.open("xb") as file:
            file.write(content)
    except FileExistsError:
        raise DealError(
            [
                Problem(
                    str(target),
                    "a file of this name",
                    "a new name, because nothing is overwritten",
                    "choose another with -o FILE",
                )
            ]
        ) from None


def _show(console: Console, known: tuple[Starter, ...]) -> None:
    from slakit.reports.terminal import print_line

    console.print()
    print_line(console, f"{len(known)} deals to start from; write one with `slakit new NAME`.", style="bold")
    for starter in known:
        console.print()
        print_line(console, f"{starter.id} ({starter.kind})", style="bold")
        print_line(console, f"{starter.title}. {starter.about}.")


def _say(console: Console, chosen: Starter, target: Path) -> None:
    from slakit.reports.terminal import print_line

    print_line(console, f"Wrote {target}: {chosen.title}. Next: slakit check {target}")
