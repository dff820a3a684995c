"""What all exhibits share: a chart under its title, and the words for months and for those who do not see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slakit.reports.charts.lines import Values

Score = Mapping[str, Any]
HALF, WIDE = 330.0, 680.0
"""Width of a chart that shares the page with another, and of one that does not: their letters print alike. [px]"""
ONE_END = 0.12
"""Share of the scale within which the ends of a fan carry one name."""


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A chart with its title and second line."""

    title: str
    note: str
    svg: str


def whole_percent(highest: float) -> Callable[[float], str]:
    """Return a writer of ticks that needs no more decimals than the scale does."""
    decimals = 0 if highest >= 0.04 else 1 if highest >= 0.004 else 2
    return lambda value: f"{100 * value:.{decimals}f}%"


def months_below(months: Sequence[int], values: Values, floor: float) -> list[int]:
    """Return the months in which a value is known to be below a floor."""
    return [month for month, value in zip(months, values, strict=True) if value is not None and value < floor]


def when(found: Sequence[int], months: Sequence[int]) -> str:
    """Return the months found as words: all, a run to the end, a run, or the first and last of many.

    >>> when([1, 2, 3], [1, 2, 3]), when([3], [1, 2, 3, 4]), when([3, 4], [1, 2, 3, 4])
    ('in every month', 'in month 3', 'from month 3')
    >>> when([1, 2], [1, 2, 3]), when([2, 3, 5], [1, 2, 3, 4, 5, 6]), when([2, 3], [1, 2, 3, 4])
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


def half_by(added_up: Sequence[float]) -> int:
    """Return the month by which half of what has happened by the last month has happened.

    >>> half_by([0.0, 0.1, 0.2, 0.2])
    2
    """
    return next(month for month, value in enumerate(added_up, start=1) if value >= added_up[-1] / 2)


def ends_as_one(fan: Mapping[str, Any]) -> bool:
    """Tell whether the quantiles end so close together that their names would not fit beside them."""
    known = [value for key in ("p5", "p95") for value in fan[key] if value is not None]
    last = [next((value for value in reversed(fan[key]) if value is not None), None) for key in ("p5", "p95")]
    if last[0] is None or last[1] is None:
        return False
    return bool(last[1] - last[0] <= ONE_END * (max(known) - min(known)))


def spoken(months: Sequence[int], values: Mapping[str, Any], write: Callable[[float], str]) -> str:
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
