"""Stresses in the terminal: what breaks the loan, side by side, and what the deal has nothing for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from slakit.reports import figures
from slakit.reports.causes import cause
from slakit.reports.tables import Table
from slakit.reports.terminal import print_line, print_list, print_table

if TYPE_CHECKING:
    from rich.console import Console

Document = Mapping[str, Any]
Row = Mapping[str, Any]


def show(console: Console, document: Document) -> None:
    """Print the stresses of `slakit scenarios`."""
    rows = document["scenarios"]
    run = [row for row in rows if row["computed"]]
    console.print()
    print_line(console, document["title"], style="dim")
    print_line(console, answer(rows), style="bold")
    print_table(console, base_table(run, document["currency"]))
    if document["draws"]:
        print_table(console, draws_table(run, document["draws"]))
    print_list(console, "What happens", [f"{row['name']}: {_inside(row['says'])}." for row in run if row["says"]])
    print_list(console, "Not computed", [f"{row['name']}: {row['reason']}." for row in rows if not row["computed"]])
    console.print()
    sha256 = document["manifest"]["deal_sha256"][:8]
    print_line(console, f"Deal {sha256}, seed {document['seed']}. Not investment, legal or insurance advice.", "dim")


def answer(rows: Sequence[Row]) -> str:
    """Return the sentence that answers."""
    stressed = [row for row in rows[1:] if row["computed"]]
    if rows[0]["base_case"].get("default_month_reason") not in (None, "no default"):
        return f"{len(stressed)} stresses, without a loan that could default."
    if rows[0]["base_case"]["default_month"] is not None:
        return f"The loan defaults in month {rows[0]['base_case']['default_month']} without any stress."
    fall = [row for row in stressed if row["base_case"]["default_month"] is not None]
    if not fall:
        return f"The loan survives each of {len(stressed)} stresses with nothing else going wrong."
    head = f"The loan survives {len(stressed) - len(fall)} of {len(stressed)} stresses with nothing else going wrong."
    lost = [row for row in fall if row["base_case"]["loss_bp"]]
    if not lost:
        return head
    worst = max(lost, key=lambda row: row["base_case"]["loss_bp"])
    loss = figures.basis_points(worst["base_case"]["loss_bp"])
    when = f"when {_inside(worst['says'])}" if worst["says"] else f"under {worst['name']!r}"
    return f"{head} The lender loses most, {loss} of the loan, {when}."


def base_table(rows: Sequence[Row], currency: str | None) -> Table:
    """Return each stress on the base path."""
    body = tuple((row["name"], *_base_figures(row["base_case"])) for row in rows)
    return Table(
        "Base path under stress",
        f"Nothing else is late, down or ended early; first month with unpaid debt service, loss in bp of the loan, "
        f"cover in {currency} million",
        ("Stress", "Contract ends", "Lowest cover", "First unpaid", "Loss", "Cover paid"),
        body,
        text_columns=2,
        may_drop=("Contract ends", "Cover paid"),
    )


def draws_table(rows: Sequence[Row], draws: int) -> Table:
    """Return each stress on draws, beside the deal as it is on the same draws."""
    body = tuple((row["name"], *_drawn_figures(row["draws"], changed=row is not rows[0])) for row in rows)
    return Table(
        "The same futures under stress",
        f"{figures.count(draws)} futures; loss in bp of the loan over the term, ± is one paired standard error",
        ("Stress", "Default", "Change of default", "Expected loss", "Change of loss"),
        body,
        may_drop=("Change of default",),
    )


def _base_figures(base: Mapping[str, Any]) -> tuple[str, ...]:
    ends, cover = base["contract_ends"], base["cover_paid"]
    return (
        f"{cause(ends['cause']).name}, month {ends['month']}" if ends else figures.UNDEFINED,
        figures.ratio(base["minimum_dscr"]),
        _month(base["first_unpaid_month"]),
        figures.basis_points(base["loss_bp"]) if base["loss_bp"] is not None else figures.UNDEFINED,
        figures.millions(cover) if cover is not None else figures.UNDEFINED,
    )


def _drawn_figures(drawn: Mapping[str, Any], *, changed: bool) -> tuple[str, ...]:
    if drawn["pd_term"] is None:
        return (figures.UNDEFINED,) * 4
    default = figures.percent(drawn["pd_term"])
    if not changed:
        return default, figures.UNDEFINED, figures.basis_points(drawn["el_bp"]), figures.UNDEFINED
    change = figures.percentage_points(drawn["d_pd"])
    if drawn["el_bp"] is None:
        return default, change, figures.UNDEFINED, figures.UNDEFINED
    _, error = figures.estimate_basis_points(drawn["d_el_bp"], drawn["d_el_bp_standard_error"] or None)
    moved = f"{figures.basis_points_change(drawn['d_el_bp'])} {error}".strip()
    return default, change, figures.basis_points(drawn["el_bp"]), moved


def _month(number: int | None) -> str:
    return figures.UNDEFINED if number is None else str(number)


def _inside(name: str) -> str:
    """Return a name as it stands inside a sentence."""
    return name[:1].lower() + name[1:]
