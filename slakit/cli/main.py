"""The command `slakit`: names, options and help. What a command does is imported when it runs."""

from __future__ import annotations

import io
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

LARGEST_SEED = 2**63 - 1
FEWEST_DRAWS = 2
"""One future has no standard error."""
MOST_DRAWS = 10_000_000
MOST_WORKERS = 64
MOST_OUTER = 100_000

app = typer.Typer(
    name="slakit",
    help="Drafts the service-level agreement of a GPU cluster and underwrites the deal behind it, from one deal file.",
    epilog="Drafts are for review by counsel. Nothing here is legal, investment or insurance advice.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help is three times as fast
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Reader(StrEnum):
    """For whom findings are weighed."""

    LAWYER = "lawyer"
    LENDER = "lender"
    INSURER = "insurer"
    PROVIDER = "provider"
    CUSTOMER = "customer"


DealFile = Annotated[Path, typer.Argument(metavar="DEAL", help="Deal file, YAML or JSON.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


def _version(wanted: bool) -> None:
    if wanted:
        from slakit.manifest import versions

        typer.echo(f"slakit {versions()['slakit']}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    """Take the options before the command."""


@app.command()
def new(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Deal to write; none lists them.")] = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FILE", help="File to write.", show_default="NAME.yaml")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the deals to start from, or write one."""
    from slakit.cli import new as command

    _finish(as_json, command.run, name, out)


@app.command()
def check(
    deal: DealFile,
    reader: Annotated[Reader, typer.Option("--for", help="Whose findings, weighed as they see them.")] = Reader.LAWYER,
    as_json: Json = False,
) -> None:
    """Validate a deal and say what to know before signing it."""
    from slakit.cli import check as command

    _finish(as_json, command.run, deal, reader.value)


@app.command()
def draft(
    deal: DealFile,
    out: Annotated[Path, typer.Option("-o", "--out", metavar="DIR", help="Folder to write to.", show_default=False)],
    formats: Annotated[
        str, typer.Option("--format", metavar="LIST", help="Any of pdf, html, md; commas between.")
    ] = "pdf",
    as_of: Annotated[
        str | None,
        typer.Option("--as-of", metavar="DAY", help="Terms in force on this day; default, those of signing."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Draft the service-level agreement of a deal."""
    from slakit.cli import draft as command

    _finish(as_json, command.run, deal, out, formats, as_of)


@app.command()
def read(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="PDF that slakit drafted.", show_default=False)],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FILE", help="Deal file (.json) to write the terms to.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Give the terms back from a draft, and say if it was changed."""
    from slakit.cli import read as command

    _finish(as_json, command.run, file, out)


@app.command()
def site(deal: DealFile, as_json: Json = False) -> None:
    """Say how often, how long and why the sites of a deal go down."""
    from slakit.cli import site as command

    _finish(as_json, command.run, deal)


@app.command()
def score(
    deal: DealFile,
    draws: Annotated[
        int, typer.Option("--draws", metavar="N", min=FEWEST_DRAWS, max=MOST_DRAWS, help="Futures simulated.")
    ] = 10_000,
    seed: Annotated[
        int, typer.Option("--seed", metavar="S", min=0, max=LARGEST_SEED, help="Seed; the same gives the same figures.")
    ] = 20261130,
    workers: Annotated[
        int,
        typer.Option("--workers", metavar="W", min=1, max=MOST_WORKERS, help="Processes; figures do not depend on it."),
    ] = 1,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="FILE", help="Credit memo to write, a PDF; or an .xlsx workbook."),
    ] = None,
    save_json: Annotated[
        Path | None, typer.Option("--save-json", metavar="FILE", help="File to keep the JSON in, with its deal.")
    ] = None,
    outer: Annotated[
        int | None,
        typer.Option(
            "--outer",
            metavar="J",
            min=0,
            max=MOST_OUTER,
            help="Sets of uncertain inputs simulated beside the typed ones.",
            show_default="200 with a memo, else 0",
        ),
    ] = None,
    no_levers: Annotated[
        bool, typer.Option("--no-levers", help="Leave out of the memo what would move the credit step.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Underwrite a deal by one joint simulation."""
    from slakit.cli import score as command

    _finish(as_json, command.run, deal, draws, seed, workers, out, save_json, outer, no_levers)


@app.command()
def scenarios(
    deal: DealFile,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="More of them: a list of {name, set}.", show_default=False)
    ] = None,
    draws: Annotated[
        int | None,
        typer.Option(
            "--draws", metavar="N", min=FEWEST_DRAWS, max=MOST_DRAWS, help="Futures simulated; none, base path alone."
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", metavar="S", min=0, max=LARGEST_SEED, help="Seed; the same gives the same figures.")
    ] = 20261130,
    as_json: Json = False,
) -> None:
    """Put a deal under stresses, side by side."""
    from slakit.cli import scenarios as command

    _finish(as_json, command.run, deal, file, draws, seed)


@app.command()
def credits(
    deal: DealFile,
    logs: Annotated[list[Path], typer.Argument(metavar="LOG...", help="Logs, tickets, exports.", show_default=False)],
    periods: Annotated[
        str | None,
        typer.Option("--period", metavar="P", help="2026-10, or 2026-01..2026-06; default, all the logs reach into."),
    ] = None,
    windows: Annotated[Path | None, typer.Option(metavar="F", help="Maintenance and other excluded windows.")] = None,
    notices: Annotated[Path | None, typer.Option(metavar="F", help="Notices, claims and reports as sent.")] = None,
    units: Annotated[Path | None, typer.Option(metavar="F", help="Units and fees; default, those of the deal.")] = None,
    ledger: Annotated[Path | None, typer.Option(metavar="F", help="Invoices and credits used, by month.")] = None,
    tickets: Annotated[Path | None, typer.Option(metavar="F", help="Tickets, for times of response.")] = None,
    against: Annotated[
        list[Path] | None,
        typer.Option(metavar="LOG", help="The other side's log: both statements and every minute of difference."),
    ] = None,
    contract: Annotated[
        Path | None, typer.Option(metavar="PDF", help="Signed copy whose clause numbers are cited.")
    ] = None,
    zone: Annotated[str | None, typer.Option(metavar="Z", help="Zone of times in the logs without one.")] = None,
    form: Annotated[str | None, typer.Option("--format", metavar="NAME", help="Format of the logs.")] = None,
    level: Annotated[str | None, typer.Option(metavar="LEVEL", help="Level of units where a log names none.")] = None,
    unit: Annotated[str | None, typer.Option(metavar="ID", help="Unit of a log that names none.")] = None,
    captured_at: Annotated[
        list[str] | None,
        typer.Option("--captured-at", metavar="T", help="When a snapshot was taken; of several, once for each LOG."),
    ] = None,
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="T", help="Nothing after this is known; default, all is.")
    ] = None,
    with_names: Annotated[bool, typer.Option("--with-names", help="Keep names of users and jobs.")] = False,
    nodes: Annotated[
        bool, typer.Option("--nodes", help="The table of nodes alone, from telemetry of any size.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="FILE", help="Statement .pdf, lines .csv, all .json, claim pack .zip."),
    ] = None,
    as_json: Json = False,
) -> None:
    """State the credits that logs give under a deal, minute by minute."""
    from slakit.cli import credits as command

    asked = command.Request(
        deal, tuple(logs), periods, windows, notices, units, ledger, tickets, tuple(against or ()), contract,
        zone, form, level, unit, tuple(captured_at or ()), as_of, with_names, nodes, out,
    )  # fmt: skip
    _finish(as_json, command.run, asked)


@app.command()
def league(
    logs: Annotated[list[Path], typer.Argument(metavar="LOG...", help="Logs of one service.", show_default=False)],
    fee: Annotated[str, typer.Option(metavar="F", help="Monthly fee of one unit.")] = "100000",
    currency: Annotated[str, typer.Option(metavar="C", help="Currency of the fee.")] = "USD",
    periods: Annotated[
        str | None,
        typer.Option("--period", metavar="P", help="2026-10, or 2026-01..2026-06; default, all the logs reach into."),
    ] = None,
    zone: Annotated[str | None, typer.Option(metavar="Z", help="Zone of times in the logs without one.")] = None,
    form: Annotated[str | None, typer.Option("--format", metavar="NAME", help="Format of the logs.")] = None,
    unit: Annotated[str | None, typer.Option(metavar="ID", help="The one unit of the logs to look at.")] = None,
    monitor: Annotated[
        str | None, typer.Option(metavar="ID", help="Of several monitors of a unit the one that is believed.")
    ] = None,
    captured_at: Annotated[
        str | None, typer.Option("--captured-at", metavar="T", help="When a snapshot was taken.")
    ] = None,
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="T", help="When it is asked; late claims are then lost.")
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--schedules", metavar="DIR", help="Other schedules than those that come along.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Say what every published schedule would have paid for a log."""
    from slakit.cli import league as command

    asked = command.Request(
        tuple(logs), fee, currency, periods, zone, form, unit, captured_at, as_of, folder, monitor
    )  # fmt: skip
    _finish(as_json, command.run, asked)


@app.command()
def verify(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Document that slakit made.", show_default=False)],
    workers: Annotated[
        int,
        typer.Option("--workers", metavar="W", min=1, max=MOST_WORKERS, help="Processes; figures do not depend on it."),
    ] = 1,
    as_json: Json = False,
) -> None:
    """Make a document again from what it carries, and name what differs."""
    from slakit.cli import verify as command

    _finish(as_json, command.run, file, workers)


@app.command()
def schema(
    out: Annotated[Path | None, typer.Option("-o", "--out", metavar="FILE", help="File to write to.")] = None,
    as_json: Json = False,
) -> None:
    """Print the JSON Schema of the deal file, for editors."""
    from slakit.cli import schema as command

    _finish(as_json, command.run, out)


@app.command()
def serve(
    port: Annotated[int, typer.Option("--port", metavar="PORT", min=1, max=65535, help="Port on 127.0.0.1.")] = 8501,
    as_json: Json = False,
) -> None:
    """Open the app in the browser, for this machine only."""
    from slakit.cli import serve as command

    _finish(as_json, command.run, port)


def _finish(as_json: bool, run: Any, *arguments: Any) -> None:
    """Run a command and end with its exit code; problems are printed, never raised to the user."""
    from slakit.cli.outcome import finished

    raise typer.Exit(finished(as_json, run, *arguments))


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    app()
