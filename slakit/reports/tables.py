"""Tables of the score, as words in rows: the same for terminal, page and paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from schemas.deal import Deal
from schemas.periods import DatePoint, MonthsAfterClose
from slakit.reports import figures
from slakit.reports.answer import estimated
from slakit.reports.causes import cause, ending_shares
from slakit.reports.rounding import NBSP

Score = Mapping[str, Any]
Row = tuple[str, ...]
MONTHS_OF_A_YEAR = 12
LEVELS = {"scale_up_domain": "scale-up domain"}
"""Levels whose name is not their code with spaces."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table: text left, numbers right, the row's name first."""

    title: str
    note: str
    """Quantity, unit and population."""
    head: Row
    rows: tuple[Row, ...]
    total: Row | None = None
    rest: str | None = None
    """What stands for rows left out, never nothing."""
    text_columns: int = 1
    """Columns from the left that hold words."""
    may_drop: Row = ()
    """Columns that a narrow terminal leaves out, the first to go first."""
    words_last: bool = False
    """Whether the last column holds words too, such as a clause."""

    def align(self, column: int) -> Literal["left", "right"]:
        """Return how a column is set."""
        words = column < self.text_columns or (self.words_last and column == len(self.head) - 1)
        return "left" if words else "right"


def without_blank_columns(table: Table) -> Table:
    """Return a table without the columns in which no row has a figure."""
    kept = [i for i in range(len(table.head)) if i == 0 or any(row[i] != figures.UNDEFINED for row in table.rows)]

    def cut(row: Row) -> Row:
        return tuple(row[i] for i in kept)

    return replace(
        table,
        head=cut(table.head),
        rows=tuple(map(cut, table.rows)),
        total=cut(table.total) if table.total else None,
        text_columns=sum(i < table.text_columns for i in kept),
        words_last=table.words_last and len(table.head) - 1 in kept,
    )


def delivery(deal: Deal | None, score: Score, limit: int = 8) -> Table:
    """Return when each tranche is due and how likely it is to be late, the likeliest first."""
    currency = score["currency"]
    tranches = score.get("delivery", {}).get("tranches", [])
    terms = deal.delivery.tranches if deal and deal.delivery else {}
    ordered = sorted(tranches, key=lambda tranche: -(tranche.get("probability_late") or 0.0))
    limit = limit if len(ordered) > limit + 1 else len(ordered)
    has_damages = any(tranche.get("expected_damages") is not None for tranche in tranches)
    head = ("Tranche", "Due", "Late", "After grace", "Past long stop", "P50 delay", "P90 delay")
    rows = []
    for tranche in sorted(ordered[:limit], key=lambda tranche: tranches.index(tranche)):
        name = tranche["id"]
        given = terms.get(name)
        row = (
            (given.name if given and given.name else name),
            _due(given.ready_for_service_date) if given else f"month{NBSP}{tranche['planned_month']:.1f}",
            *(_probability(tranche, key) for key in ("late", "after_grace", "past_long_stop")),
            *(_delay(tranche, key) for key in ("p50", "p90")),
        )
        if has_damages:
            damages = tranche.get("expected_damages")
            row += (figures.money_estimate(damages, currency) if damages is not None else figures.UNDEFINED,)
        rows.append(row)
    rest = None
    if len(ordered) > limit:
        highest = max(tranche.get("probability_late") or 0.0 for tranche in ordered[limit:])
        rest = f"{len(ordered) - limit} others, each late in at most {figures.percent(highest)} of futures"
    damages = score.get("delivery", {}).get("expected_damages")
    note = "Share of futures; delay in months, ± is one standard error"
    if damages and not has_damages:
        error = score["delivery"].get("expected_damages_standard_error")
        note += f"; delay damages {figures.money_estimate(damages, currency, error)} in all"
    whole = [(*head, "Damages") if has_damages else head, *rows]
    kept = [i for i in range(len(whole[0])) if any(row[i] != figures.UNDEFINED for row in whole[1:])]
    names, *body = (tuple(row[i] for i in kept) for row in whole)
    return Table(
        "Delivery",
        note,
        names,
        tuple(body),
        rest=rest,
        text_columns=2,
        may_drop=tuple(name for name in ("P50 delay", "After grace", "Due", "P90 delay") if name in names),
    )


def endings(score: Score) -> Table:
    """Return how the contract ends early."""
    by_cause = score["cancellation"]["by_cause"]
    rows = [(cause(code).name, str(estimated(by_cause, code))) for code in ending_shares(score)]
    whole = str(estimated(score["cancellation"], "probability"))
    return Table(
        "Ways the contract ends early",
        "Share of futures, first ending",
        ("Cause", "Probability"),
        tuple(rows),
        ("Any", whole),
    )


def defaults(score: Score) -> Table:
    """Return default and expected loss by cause; the causes exclude each other and add up."""
    default = score["default"]
    rows = []
    by_cause = sorted(default["by_cause"].items(), key=lambda item: -(item[1].get("expected_loss_bp") or item[1]["pd"]))
    for code, found in by_cause:
        rows.append(
            (cause(code).name, str(estimated(found, "pd")), figures.basis_points(found.get("expected_loss_bp")))
        )
    total = (
        "Any",
        str(estimated(default, "pd_term")),
        figures.basis_points(default.get("expected_loss_bp"), default.get("expected_loss_bp_standard_error")),
    )
    return Table(
        "Default by cause",
        "Share of futures; expected loss in bp of the loan, over the term",
        ("Cause", "Default", "Expected loss"),
        tuple(rows),
        total,
    )


def base_case(score: Score, limit: int = 10) -> Table:
    """Return the base case by year from close, in millions; later years in one row where there are too many."""
    rows = score["base_case"]["rows"]
    years = [rows[start : start + MONTHS_OF_A_YEAR] for start in range(0, len(rows), MONTHS_OF_A_YEAR)]
    groups = [(str(i), year) for i, year in enumerate(years, start=1)]
    if len(groups) > limit + 1:
        later = [row for year in years[limit - 1 :] for row in year]
        groups = [*groups[: limit - 1], (f"{limit} to {len(years)}", later)]
    largest = max(abs(month.get(key) or 0.0) for month in rows for key in ("fees", "balance", "cfads"))
    decimals = 0 if largest >= 1e9 else 1 if largest >= 1e7 else 2
    body = tuple(_year(name, months, decimals) for name, months in groups)
    return Table(
        "Base case by year from close",
        f"{score['currency']} million; no default, outage, delay, exit or market noise; month by month in the JSON"
        f"{other_cash(score)}",
        ("Year", "Ends", "Fees", "Operating costs", "Tax", "CFADS", "Debt service", "Lowest cover", "Loan at end"),
        body,
        text_columns=2,
        may_drop=("Ends", "Tax", "Operating costs", "Fees"),
    )


def other_cash(score: Score) -> str:
    """Return the income of the base case that is not a fee and is in its CFADS, as the end of a note; else nothing."""
    rows = score["base_case"]["rows"]
    kinds = (("relet_income", "letting again"), ("cover_paid", "the backstop"))
    held = [words for key, words in kinds if any(row.get(key) for row in rows)]
    return f"; CFADS also counts income from {' and '.join(held)}" if held else ""


def credits(deal: Deal | None, score: Score) -> Table:
    """Return outage credits expected over the term, by service level."""
    found, currency = score["credits"], score["currency"]
    levels = found.get("by_level_before_stacking_and_caps", {})
    rows = []
    for name, expected in sorted(levels.items(), key=lambda item: -item[1]):
        terms = deal.service_levels.get(name) if deal else None
        promised = terms.target if terms else None
        target = figures.UNDEFINED if promised is None else figures.agreed_percent(promised)
        level = LEVELS.get(terms.level, figures.in_words(terms.level)) if terms else figures.UNDEFINED
        rows.append((figures.in_words(name), level, target, _money(expected, currency)))
    whole = _money(found["expected_total"], currency, found.get("expected_total_standard_error"))
    notes = [f"{currency} over the term"]
    share = found.get("expected_share_of_fees")
    if share is not None:
        notes.append(f"{figures.percent(share, found.get('expected_share_of_fees_standard_error'))} of fees")
    worst = found.get("worst_month_p99")
    if worst is not None:
        notes.append(f"worst month {_money(worst, currency)} at{NBSP}P99")
    return Table(
        "Outage credits by level",
        "; ".join(notes),
        ("Level", "Unit", "Target", "Expected") if deal else ("Level", "Expected"),
        tuple(rows) if deal else tuple((row[0], row[-1]) for row in rows),
        ("After caps", "", "", whole) if deal else ("After caps", whole),
        text_columns=2 if deal else 1,
    )


def _year(name: str, months: Sequence[Mapping[str, Any]], decimals: int) -> Row:
    """Return one row of the base case from its months."""

    def total(*keys: str) -> str:
        return figures.millions(sum(abs(month.get(key) or 0.0) for month in months for key in keys), decimals)

    covers = [month["dscr"] for month in months if month.get("dscr") is not None]
    cash = figures.millions(sum(month.get("cfads") or 0.0 for month in months), decimals)
    balance = months[-1].get("balance")
    return (
        name,
        figures.month_short(months[-1]["label"]),
        total("fees"),
        total("operating_costs"),
        total("tax"),
        cash,
        total("debt_service"),
        figures.ratio(min(covers)) if covers else figures.UNDEFINED,
        figures.millions(balance, decimals) if balance is not None else figures.UNDEFINED,
    )


def _due(point: DatePoint) -> str:
    if isinstance(point, MonthsAfterClose):
        return f"close + {figures.months(point.close_plus_months)}"
    return figures.date_short(point)


def _probability(tranche: Mapping[str, Any], name: str) -> str:
    """Return one probability of a tranche; a right the contract does not give is a dash."""
    key = f"probability_{name}"
    return str(estimated(tranche, key)) if tranche.get(key) is not None else figures.UNDEFINED


def _delay(tranche: Mapping[str, Any], name: str) -> str:
    value = tranche.get("delay_quantiles_months", {}).get(name)
    return (
        figures.UNDEFINED
        if value is None
        else figures.months(value).replace(f"{NBSP}months", "").replace(f"{NBSP}month", "")
    )


def _money(x: float, currency: str, error: float | None = None) -> str:
    """Return estimated money for a column whose head names the currency."""
    return figures.money_estimate(x, currency, error).removeprefix(f"{currency}{NBSP}")
