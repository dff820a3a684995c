"""The value of the GPUs against the debt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from slakit.reports import figures
from slakit.reports.charts.lines import Band, EdgeLabel, Line, line_chart
from slakit.reports.exhibits.exhibit import Exhibit, Score, ends_as_one, spoken, when
from slakit.reports.theme import Palette

OTHER_BASES = (("book", "1.5 2.5"), ("floor", "6 3"))
"""Bases of value beside the market's, each with its dashes."""
REPAID = 0.005
"""A balance up to this is none. [currency]"""


def value_and_debt(
    score: Score, palette: Palette, width: float = 380, height: float = 236, *, all_bases: bool = False
) -> Exhibit | None:
    """Return the value of the GPUs against the loan's balance; None where there is no value.

    Parameters
    ----------
    all_bases : whether book and floor value of the base case are drawn too, where the deal gives them.
    """
    found = score.get("residual_value")
    if found is None:
        return None
    values = found["value_by_month"]
    months, balance = values["months"], found.get("balance")
    note = f"{score['currency']} million: market value of all GPUs" + (", and the loan's balance" if balance else "")
    same = ends_as_one(values)
    lines = [Line("value, P5 to P95" if same else "value, median", values["p50"], palette.focus, bold=True)]
    title = "What the GPUs are worth"
    if balance:
        lines.append(Line("debt", balance, palette.total, 2.0))
        if all_bases:
            of_bases = [(name, dash, of_basis(found, name)) for name, dash in OTHER_BASES]
            drawn = [
                Line(name, value, palette.context, 1.75, dash=dash) for name, dash, value in of_bases if any(value)
            ]
            lines += drawn
            names = " and ".join(line.label for line in drawn)
            note += f"; {names} value of the base case, while a loan is outstanding" if drawn else ""
        owed = [debt if debt > REPAID else None for debt in balance]
        half = [m for m, v, d in zip(months, values["p50"], owed, strict=True) if _short(v, d)]
        low = [m for m, v, d in zip(months, values["p5"], owed, strict=True) if _short(v, d)]
        due = [m for m, d in zip(months, owed, strict=True) if d is not None]
        if half:
            title = f"The GPUs are worth less than the debt in half of futures {when(half, due)}"
        elif low:
            title = f"The GPUs cover the debt at the median, at\u00a0P5 not {when(low, due)}"
        else:
            title = "The GPUs cover the debt in every month, even at\u00a0P5"
    svg = line_chart(
        months,
        palette=palette,
        alt=f"{note}. {spoken(months, values, figures.millions)}",
        write_value=figures.millions,
        lines=lines,
        bands=[Band(values["p5"], values["p95"], palette.outer_band)],
        edges=[] if same else [EdgeLabel("P95", values["p95"]), EdgeLabel("P5", values["p5"])],
        from_zero=True,
        width=width,
        height=height,
    )
    return Exhibit(title, note, svg)


def of_basis(found: Mapping[str, Any], basis: str) -> Sequence[float | None]:
    """Return the base case's value on a basis by month, None where no loan is outstanding. [currency]

    Parameters
    ----------
    found : `residual_value` of a score.
    """
    ratios = found.get("loan_to_value", {}).get(basis, {}).get("base")
    if not ratios:
        return [None] * len(found["value_by_month"]["months"])
    return [owed / ratio if ratio else None for owed, ratio in zip(found["balance"], ratios, strict=True)]


def _short(value: float | None, debt: float | None) -> bool:
    return value is not None and debt is not None and value < debt
