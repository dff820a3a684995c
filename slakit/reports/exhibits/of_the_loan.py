"""What the loan's default and loss are made of, and when."""

from __future__ import annotations

from collections.abc import Mapping

from slakit.reports import figures
from slakit.reports.answer import is_small_loss
from slakit.reports.causes import cause, default_shares, loss_shares
from slakit.reports.charts.bars import ROW, Bar, waterfall
from slakit.reports.exhibits.exhibit import Exhibit, Score, half_by
from slakit.reports.exhibits.of_the_contract import causes_chart
from slakit.reports.rounding import NBSP
from slakit.reports.theme import Palette


def losses(score: Score, palette: Palette, width: float = 300, row: float = ROW) -> Exhibit | None:
    """Return what the expected loss, or default where no loss is defined, is made of."""
    default = score.get("default")
    if default is None or not default["pd_term"]:
        return None
    if default.get("expected_loss_bp") and not is_small_loss(default):
        return _loss_by_cause(score, palette, width, row)
    shares, whole = {code: part for code, part in default_shares(score).items() if part}, default["pd_term"]
    note = "Probability of default by cause"
    bars = [Bar(cause(code).name, value, figures.percent(value)) for code, value in shares.items()]
    return _waterfall(
        f"{_greatest(shares, whole)} of the defaults", note, bars, whole, figures.percent(whole), palette, width, row
    )


def defaults_by_month(score: Score, palette: Palette, width: float = 380, height: float = 236) -> Exhibit | None:
    """Return default by cause and month, added up; None where none is drawn or no cause has its months."""
    default = score.get("default")
    if default is None or not default["pd_term"]:
        return None
    parts = {code: one["by_month"] for code, one in default["by_cause"].items() if "by_month" in one}
    if not any(months[-1] for months in parts.values()):
        return None
    note = "Share of futures in default by month, added up; the causes exclude each other"
    title = f"Half of the defaults come by month {half_by(default['by_month'])}"
    return Exhibit(title, note, causes_chart(parts, note, palette, width, height))


def _loss_by_cause(score: Score, palette: Palette, width: float, row: float) -> Exhibit:
    default = score["default"]
    error, whole = default.get("expected_loss_bp_standard_error"), default["expected_loss_bp"]
    shares = {code: part for code, part in loss_shares(score).items() if part}

    total = figures.estimate_basis_points(whole, error).value.removesuffix(f"{NBSP}bp")
    decimals = len(total.partition(".")[2])

    def points(value: float) -> str:
        """Return a part of the total with as many decimals as the total has."""
        return f"+{value:,.{decimals}f}" if round(value, decimals) else f"less than {10.0**-decimals:g}"

    note = "Expected loss by cause, bp of the loan"
    bars = [Bar(cause(code).name, value, points(value)) for code, value in shares.items()]
    return _waterfall(f"{_greatest(shares, whole)} of the loss", note, bars, whole, total, palette, width, row)


def _waterfall(
    title: str, note: str, bars: list[Bar], whole: float, written: str, palette: Palette, width: float, row: float
) -> Exhibit:
    total = Bar("Total", whole, written)
    spoken = ", ".join(f"{bar.label} {bar.written}" for bar in [*bars, total])
    return Exhibit(title, note, waterfall(bars, total, palette=palette, alt=f"{note}: {spoken}.", width=width, row=row))


def _greatest(shares: Mapping[str, float], whole: float) -> str:
    """Return the greatest cause and its share in words."""
    code, part = next(iter(shares.items()))
    return f"{cause(code).name} is {figures.share_in_words(part / whole)}"
