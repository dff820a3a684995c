"""What a backstop pays by month, and what is left of it."""

from __future__ import annotations

from itertools import accumulate

from slakit.reports import figures
from slakit.reports.charts.lines import Line, line_chart
from slakit.reports.exhibits.exhibit import Exhibit, Score, half_by
from slakit.reports.theme import Palette


def ledger(score: Score, palette: Palette, width: float = 380, height: float = 236) -> Exhibit | None:
    """Return what the backstop has paid by each month on average and what is left; None where it never pays."""
    found = score.get("backstop")
    if found is None or not found["expected_paid"] or not found["by_month"].get("expected_paid"):
        return None
    months = found["by_month"]["months"]
    paid = list(accumulate(found["by_month"]["expected_paid"]))
    left = found["by_month"].get("expected_left")
    note = f"{score['currency']} million, mean of {figures.count(score['draws'])} futures"
    lines = [Line("paid, added up", paid, palette.focus, bold=True)]
    if left:
        lines.append(Line("left of the limit", left, palette.context, 2.0))
    said = f"{figures.millions(paid[-1])} paid by month {months[-1]}"
    said += f", {figures.millions(left[-1])} left of the limit" if left else ""
    svg = line_chart(
        months,
        palette=palette,
        alt=f"{note}: {said}.",
        write_value=figures.millions,
        lines=lines,
        from_zero=True,
        width=width,
        height=height,
    )
    return Exhibit(f"Half of what the backstop pays is paid by month {half_by(paid)}", note, svg)
