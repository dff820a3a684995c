"""Annexes: the base case by month, every number about the world with its source, and the sources of the terms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slakit.reports import figures
from slakit.reports.credit_memo.parts import Facts
from slakit.reports.judgements import inputs
from slakit.reports.tables import Row, Table

COLUMNS = (
    ("fees", "Fees", 1),
    ("credits", "Credits", -1),
    ("relet_income", "Let again", 1),
    ("cover_paid", "Backstop", 1),
    ("insurance_recovery", "Insurance", 1),
    ("operating_costs", "Costs", -1),
    ("insurance_premium", "Premium", -1),
    ("backstop_fee", "Cover fee", -1),
    ("tax", "Tax", -1),
    ("cfads", "CFADS", 1),
    ("interest", "Interest", 1),
    ("principal", "Principal", 1),
    ("balance", "Balance", 1),
    ("reserve", "Reserve", 1),
    ("distribution", "Paid out", 1),
)
"""Figures of a month, their heads, and the sign under which they are printed."""
NOTHING = 0.005
"""Money up to this is none. [currency]"""


def base_case(facts: Facts) -> Table | None:
    """Return the base case by month; figures that are nothing in every month have no column and are named."""
    found = facts.score.get("base_case")
    if not found or not found["rows"]:
        return None
    rows = found["rows"]
    kept = [column for column in COLUMNS if any(abs(row.get(column[0]) or 0.0) > NOTHING for row in rows)]
    kept = [column for column in kept if column[0] not in ("interest", "principal") or _pays(rows)]
    none = [head.lower() for name, head, _ in COLUMNS if name in rows[0] and name not in [one[0] for one in kept]]
    columns = [_column(rows, name, sign) for name, _, sign in kept]
    body = []
    dated = not str(rows[0]["label"]).startswith("M")
    for i, row in enumerate(rows):
        cover = figures.ratio(row["dscr"], 1) if row.get("dscr") is not None else figures.UNDEFINED
        names = (str(row["month"]), figures.month_short(row["label"])) if dated else (str(row["month"]),)
        body.append((*names, *(column[i] for column in columns), cover))
    head = ("Month", *(("Of",) if dated else ()), *(words for _, words, _ in kept), "Cover")
    note = f"{facts.millions()}; costs as negative sums; interest before the first payment is paid from uses"
    note += f"; nothing in any month: {', '.join(none)}" if none else ""
    return Table("Annex A. The base case by month", note, head, tuple(body), text_columns=2 if dated else 1)


def _pays(rows: Any) -> bool:
    return any((row.get("debt_service") or 0.0) > NOTHING for row in rows)


def _column(rows: Any, name: str, sign: int) -> list[str]:
    values = [row.get(name) for row in rows]
    signed = [None if value is None else -abs(value) if sign < 0 else value for value in values]
    largest = max((abs(value) for value in signed if value is not None), default=0.0)
    decimals = 1 if largest >= 1e8 else 2
    return [figures.UNDEFINED if value is None else figures.millions(value, decimals) for value in signed]


def assumptions(facts: Facts) -> Table:
    """Return every number about the world in the deal file: value, unit, range, kind, date and source."""
    rows: list[Row] = []
    for one in inputs(facts.deal):
        rows.append(
            (
                one.path if one.places == 1 else f"{one.path} and {one.places - 1} more alike",
                one.value,
                one.range,
                f"{one.number.kind}, {figures.date_short(one.number.as_of)}",
                one.reason,
            )
        )
    note = f"{figures.JUDGEMENT} rests on judgement; a law stands where no range is typed"
    head = ("Number", "Value", "Range or law", "Kind and date", "Source or reason")
    return Table("Annex B. Every number about the world", note, head, tuple(rows), text_columns=5)


def sources(facts: Facts) -> Table | None:
    """Return where the terms of the deal come from, by the path they stand under."""
    found: Mapping[str, Any] = facts.deal.provenance
    if not found:
        return None
    rows = tuple(
        (
            "all that is not named" if path == "*" else path,
            f"{source.kind}, {figures.date_short(source.as_of)}"
            + (figures.JUDGEMENT if source.kind == "judgement" else ""),
            source.source or source.rationale or figures.UNDEFINED,
        )
        for path, source in found.items()
    )
    head = ("Terms under", "Kind and date", "Source or reason")
    return Table(
        "Annex C. Where the terms come from",
        "As the section provenance of the deal file says",
        head,
        rows,
        text_columns=3,
    )
