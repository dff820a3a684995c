"""The charts of a score, each under a title that is its finding."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slakit.reports import figures
from slakit.reports.answer import is_small_loss
from slakit.reports.causes import cause, default_shares, ending_shares, loss_shares
from slakit.reports.charts.bars import ROW, Bar, bar_chart, waterfall
from slakit.reports.charts.lines import Band, EdgeLabel, Line, Threshold, Values, line_chart
from slakit.reports.rounding import NBSP
from slakit.reports.theme import Palette

Score = Mapping[str, Any]
ROOM_ABOVE = 2.5
"""The scale of cover ends at this multiple of the highest upper quartile, so that a rare high does not flatten it."""


ONE_END = 0.12
"""Share of the scale within which the ends of a fan carry one name."""


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A chart with its title and second line."""

    title: str
    note: str
    svg: str


def cover(score: Score, palette: Palette, width: float = 380, height: float = 236) -> Exhibit | None:
    """Return the fan of the debt service cover ratio, or None where there is no debt service."""
    dscr = score.get("dscr")
    if dscr is None:
        return None
    fan, covenant = dscr["fan"], dscr.get("covenant")
    months, middle = fan["months"], fan["p50"]
    if not any(value is not None for value in middle):
        return None
    floor = 1.0 if covenant is None else covenant
    level = figures.ratio(floor)
    name = f"covenant {level}" if covenant is not None else level
    low, half = _months_below(months, fan["p5"], floor), _months_below(months, middle, floor)
    if half:
        title = f"Cover is below {level} in half of futures {_when(half, months)}"
    elif low:
        title = f"Cover is thin {_when(low, months)}: below {level} at\u00a0P5"
    else:
        title = f"Cover holds above {level}, even at\u00a0P5"
    draws = score.get("draws", fan["draws"][0])
    note = f"Debt service cover ratio; {figures.count(draws)} futures"
    first, last = fan["draws"][0], fan["draws"][-1]
    if first != draws:
        note += f", {figures.count(first)} at first and {figures.count(last)} at the end without default"
    elif last != draws:
        note += f", {figures.count(last)} of them without default"
    upper = [value for value in fan["p75"] if value is not None]
    same = _ends_as_one(fan)
    edges = [] if same else [EdgeLabel(key.upper(), fan[key]) for key in ("p95", "p75", "p25", "p5")]
    svg = line_chart(
        months,
        palette=palette,
        alt=f"{note}. {_spoken(months, fan, figures.ratio)} Threshold {name}.",
        write_value=lambda value: figures.ratio(value),
        lines=[Line("P5 to P95" if same else "median", middle, palette.focus, bold=True)],
        bands=[
            Band(fan["p5"], fan["p95"], palette.outer_band),
            Band(fan["p25"], fan["p75"], palette.inner_band),
        ],
        edges=edges,
        threshold=Threshold(name, floor),
        ceiling=ROOM_ABOVE * max([*upper, floor]),
        width=width,
        height=height,
    )
    return Exhibit(title, note, svg)


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


def endings(score: Score, palette: Palette, width: float = 300, row: float = ROW) -> Exhibit | None:
    """Return how the contract ends early, by cause; None where it never does."""
    found = score["cancellation"]
    if not found["probability"]:
        return None
    note = "Share of futures by the first ending"
    bars = [Bar(cause(code).name, value, figures.percent(value)) for code, value in ending_shares(score).items()]
    spoken = ", ".join(f"{bar.label} {bar.written}" for bar in bars)
    title = f"{figures.percent_in_words(found['probability'])} of contracts end early"
    return Exhibit(title, note, bar_chart(bars, palette=palette, alt=f"{note}: {spoken}.", width=width, row=row))


def by_month(score: Score, palette: Palette, width: float = 380, height: float = 236) -> Exhibit | None:
    """Return cancellation and default by month, added up; None where neither ever happens."""
    ended = score["cancellation"]["by_month"]
    defaulted = score["default"]["by_month"] if "default" in score else []
    lines = []
    if ended and ended[-1]:
        lines.append(Line(f"ended early {figures.percent(ended[-1])}", ended, palette.adverse))
    if defaulted and defaulted[-1]:
        lines.append(Line(f"default {figures.percent(defaulted[-1])}", defaulted, palette.total))
    if not lines:
        return None
    main = max(lines, key=lambda line: line.values[-1] or 0.0)
    last = main.values[-1] or 0.0
    half = next(month for month, value in enumerate(main.values, start=1) if (value or 0.0) >= last / 2)
    what = "defaults" if main.label.startswith("default") else "early endings"
    note = "Share of futures by month, added up"
    svg = line_chart(
        list(range(1, len(main.values) + 1)),
        palette=palette,
        alt=f"{note}: {', '.join(line.label for line in lines)} by the last month.",
        write_value=_whole_percent(last),
        lines=lines,
        from_zero=True,
        width=width,
        height=height,
    )
    return Exhibit(f"Half of the {what} come by month {half}", note, svg)


def value_and_debt(score: Score, palette: Palette, width: float = 380, height: float = 236) -> Exhibit | None:
    """Return the value of the GPUs against the loan's balance; None where there is no value."""
    found = score.get("residual_value")
    if found is None:
        return None
    values = found["value_by_month"]
    months, balance = values["months"], found.get("balance")
    note = f"{score['currency']} million: value of all GPUs" + (", and the loan's balance" if balance else "")
    same = _ends_as_one(values)
    lines = [Line("value, P5 to P95" if same else "value, median", values["p50"], palette.focus, bold=True)]
    title = "What the GPUs are worth"
    if balance:
        lines.append(Line("debt", balance, palette.total, 2.0))
        owed = [debt if debt > 0.005 else None for debt in balance]
        half = [m for m, v, d in zip(months, values["p50"], owed, strict=True) if _short(v, d)]
        low = [m for m, v, d in zip(months, values["p5"], owed, strict=True) if _short(v, d)]
        due = [m for m, d in zip(months, owed, strict=True) if d is not None]
        if half:
            title = f"The GPUs are worth less than the debt in half of futures {_when(half, due)}"
        elif low:
            title = f"The GPUs cover the debt at the median, at\u00a0P5 not {_when(low, due)}"
        else:
            title = "The GPUs cover the debt in every month, even at\u00a0P5"
    svg = line_chart(
        months,
        palette=palette,
        alt=f"{note}. {_spoken(months, values, figures.millions)}",
        write_value=figures.millions,
        lines=lines,
        bands=[Band(values["p5"], values["p95"], palette.outer_band)],
        edges=[] if same else [EdgeLabel("P95", values["p95"]), EdgeLabel("P5", values["p5"])],
        from_zero=True,
        width=width,
        height=height,
    )
    return Exhibit(title, note, svg)


def _short(value: float | None, debt: float | None) -> bool:
    return value is not None and debt is not None and value < debt


def _whole_percent(highest: float) -> Callable[[float], str]:
    """Return a writer of ticks that needs no more decimals than the scale does."""
    decimals = 0 if highest >= 0.04 else 1 if highest >= 0.004 else 2
    return lambda value: f"{100 * value:.{decimals}f}%"


def _months_below(months: Sequence[int], values: Values, floor: float) -> list[int]:
    return [month for month, value in zip(months, values, strict=True) if value is not None and value < floor]


def _when(found: Sequence[int], months: Sequence[int]) -> str:
    """Return the months found as words: all, a run to the end, a run, or the first and last of many.

    >>> _when([1, 2, 3], [1, 2, 3]), _when([3], [1, 2, 3, 4]), _when([3, 4], [1, 2, 3, 4])
    ('in every month', 'in month 3', 'from month 3')
    >>> _when([1, 2], [1, 2, 3]), _when([2, 3, 5], [1, 2, 3, 4, 5, 6]), _when([2, 3], [1, 2, 3, 4])
    ('until month 2', 'in 3 months between 2 and 5', 'in months 2 to 3')
    """
    first, last = found[0], found[-1]
    if list(found) == list(months):
        return "in every month"
    if len(found) == 1:
        return f"in month {first}"
    if len(found) != last - first + 1:
        return f"in {len(found)} months between {first} and {last}"
    if last == months[-1]:
        return f"from month {first}"
    return f"until month {last}" if first == months[0] else f"in months {first} to {last}"


def _ends_as_one(fan: Mapping[str, Any]) -> bool:
    """Tell whether the quantiles end so close together that their names would not fit beside them."""
    known = [value for key in ("p5", "p95") for value in fan[key] if value is not None]
    last = [next((value for value in reversed(fan[key]) if value is not None), None) for key in ("p5", "p95")]
    if last[0] is None or last[1] is None:
        return False
    return bool(last[1] - last[0] <= ONE_END * (max(known) - min(known)))


def _spoken(months: Sequence[int], values: Mapping[str, Any], write: Callable[[float], str]) -> str:
    """Return a band in words, for those who do not see it: its first and last month and its lowest P5."""
    parts = []
    known = [i for i, value in enumerate(values["p50"]) if value is not None]
    for i in (known[0], known[-1]):
        edges = [values[key][i] for key in ("p5", "p95")]
        around = f" ({write(edges[0])} to {write(edges[1])})" if None not in edges else ""
        parts.append(f"Month {months[i]}: median {write(values['p50'][i])}{around}.")
    low = [(value, month) for value, month in zip(values["p5"], months, strict=True) if value is not None]
    if low:
        parts.append(f"Lowest P5 {write(min(low)[0])} in month {min(low)[1]}.")
    return " ".join(parts)
