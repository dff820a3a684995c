"""`slakit credits`: logs and a deal to a statement of credits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import typer

from slakit.cli.options import known_zone, level_of, moment_of
from slakit.cli.outcome import Outcome, placed
from slakit.files import refuse_place
from slakit.load import load_deal

ENDINGS = (".pdf", ".csv", ".json", ".zip")
"""Kinds of file that `-o` writes: the statement, its lines, its document, the claim pack."""


@dataclass(frozen=True, slots=True)
class Request:
    """What the command line says."""

    deal: Path
    logs: tuple[Path, ...]
    periods: str | None
    windows: Path | None
    notices: Path | None
    units: Path | None
    ledger: Path | None
    tickets: Path | None
    against: tuple[Path, ...]
    contract: Path | None
    zone: str | None
    form: str | None
    level: str | None
    unit: str | None
    captured_at: tuple[str, ...]
    as_of: str | None
    with_names: bool
    nodes: bool
    out: Path | None


def run(asked: Request) -> Outcome:
    """Return the statement, written as a file where one is named."""
    if asked.out is not None:
        if asked.out.suffix.lower() not in ENDINGS:
            raise typer.BadParameter(f"{asked.out} does not end in {', '.join(ENDINGS)}", param_hint="-o")
        refuse_place(asked.out, "-o", asked.deal)
    if asked.nodes:
        return _nodes(asked)
    as_of = moment_of(asked.as_of, "--as-of")
    taken = tuple(moment for text in asked.captured_at if (moment := moment_of(text, "--captured-at")) is not None)
    if len(taken) not in (0, 1, len(asked.logs)):
        raise typer.BadParameter("give it once, or once for each LOG", param_hint="--captured-at")
    loaded = load_deal(asked.deal)
    from slakit.reports import credits_terminal
    from slakit.statements.credits import stated
    from slakit.statements.gather import Sources
    from slakit.statements.importers.form import Options
    from slakit.statements.numbers import clauses_for

    options = Options(
        zone=known_zone(asked.zone),
        unit_level=level_of(asked.level),
        unit_id=asked.unit,
        captured_at=taken[0] if len(taken) == 1 else None,
        with_names=asked.with_names,
    )
    sources = Sources(
        asked.logs,
        asked.windows,
        asked.notices,
        asked.units,
        asked.ledger,
        asked.tickets,
        taken if len(taken) > 1 else (),
    )
    with placed(loaded):
        found = stated(
            loaded,
            sources,
            options,
            form=asked.form,
            periods=asked.periods,
            as_of=as_of,
            clauses=clauses_for(loaded.deal, asked.contract),
        )
        if asked.against:
            from slakit.statements.compared import against

            against(
                found, loaded, replace(sources, logs=asked.against, captured=()), options, form=asked.form, as_of=as_of
            )
        if asked.out is not None:
            from slakit.statements.files import write

            write(found, asked.out)
    return Outcome(found.document, lambda terminal: credits_terminal.show(terminal, found.document))


def _nodes(asked: Request) -> Outcome:
    """Return the table of nodes from one file of telemetry."""
    if len(asked.logs) > 1:
        raise typer.BadParameter("one file of telemetry at a time", param_hint="--nodes")
    if asked.out is not None and asked.out.suffix.lower() not in (".csv", ".json"):
        raise typer.BadParameter(f"{asked.out} does not end in .csv or .json", param_hint="-o")
    loaded = load_deal(asked.deal)
    from slakit.files import write_whole
    from slakit.json_text import json_text
    from slakit.reports import nodes_terminal
    from slakit.statements.node_table import document, node_table, table_csv

    with placed(loaded):
        found = node_table(loaded.deal, asked.logs[0], asked.units, asked.periods, known_zone(asked.zone))
    said = document(loaded.deal, found)
    if asked.out is not None:
        write_whole(asked.out, table_csv(found) if asked.out.suffix.lower() == ".csv" else json_text(said).encode())
    return Outcome(said, lambda terminal: nodes_terminal.show(terminal, said))
