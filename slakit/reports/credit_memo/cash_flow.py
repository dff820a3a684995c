"""Section 5: the cash that pays the debt, in the base case and over futures, against covenants and cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from slakit.reports import exhibits, figures, tables
from slakit.reports.answer import estimated
from slakit.reports.credit_memo.parts import MONTHS_OF_A_YEAR, Facts, Notes, Section, sentence, years
from slakit.reports.exhibits.exhibit import WIDE
from slakit.reports.tables import Table

NUMBER, TITLE = 5, "Cash flow and cover"
MOST_YEARS = 12
"""Years listed one by one. [year]"""
FAN_HEIGHT = 250
BASE_NOTE = "{}; no default, outage, delay, exit or market noise; month by month in annex A"
COVENANTS = {
    "minimum_dscr": ("Cover", "minimum_dscr"),
    "minimum_llcr": ("Life cover", "minimum_llcr"),
    "maximum_ltv": ("Loan to value", "maximum_ltv"),
    "dscr": ("Cover", "minimum_dscr"),
    "llcr": ("Life cover", "minimum_llcr"),
    "ltv": ("Loan to value", "maximum_ltv"),
}
LINES = {
    "capital_recovery": "Capital recovery",
    "site_rent": "Site rent",
    "property_insurance": "Property insurance",
    "insurance_premium": "Outage insurance",
    "cover_fee": "Fee of the backstop",
}
"""Lines of cost whose name is not their code with spaces."""


def section(facts: Facts) -> Section:
    """Return the section."""
    score, finance = facts.score, facts.deal.finance
    if not score.get("base_case"):
        return Section(NUMBER, TITLE, f"Cash flow: {figures.not_computed('add finance')}.", {"cost": _cost(facts)})
    lock_up = float(finance.lock_up.dscr) if finance and finance.lock_up else None
    no_debt = None if "dscr" in score else Notes("Cover", (_no_cover(facts),))
    return Section(
        NUMBER,
        TITLE,
        _finding(facts),
        {
            "base_case": _base_case(facts),
            "fan": exhibits.cover(score, facts.palette, width=WIDE, height=FAN_HEIGHT, lock_up=lock_up),
            "cover": _cover(facts),
            "no_debt": no_debt,
            "covenants": _covenants(facts),
            "tests": _tests(facts),
            "cost": _cost(facts),
        },
    )


def _base_case(facts: Facts) -> Table:
    table = tables.without_blank_columns(tables.base_case(facts.score, MOST_YEARS))
    return replace(table, note=BASE_NOTE.format(facts.millions()) + tables.other_cash(facts.score))


def _no_cover(facts: Facts) -> str:
    missing = facts.deal.finance is None or facts.deal.finance.loan is None
    action = "add finance.loan" if missing else "the months simulated have no debt service"
    return f"Cover is {figures.not_computed(action)}."


def _finding(facts: Facts) -> str:
    dscr, llcr = facts.score.get("dscr", {}), facts.score.get("llcr", {})
    if dscr.get("base_minimum") is None:
        rows = facts.score["base_case"]["rows"]
        cash = sum(row.get("cfads") or 0.0 for row in rows)
        left = figures.money_in_words(cash, facts.currency)
        return f"The base case leaves {left} after costs and tax, with no debt service."
    lowest = figures.ratio(dscr["base_minimum"], 1)
    head = f"With nothing going wrong, cover is {figures.ratio(dscr['base_average'])} on average and lowest in "
    head += f"month {dscr['base_minimum_month']}, at {lowest}"
    life = llcr.get("at_first_payment")
    if life is not None:
        head += f"; over the loan's life cash is worth {figures.ratio(life)} of the debt"
    fan = dscr.get("fan", {})
    low = [
        (value, month)
        for value, month in zip(fan.get("p5", ()), fan.get("months", ()), strict=False)
        if value is not None
    ]
    tail = None
    if low:
        value, month = min(low)
        tail = f"In one future of twenty it is {figures.ratio(value, 1)} or less in month {month}."
    return sentence(f"{head}.", tail)


def _cover(facts: Facts) -> Table | None:
    """Return cover by year from close, of the base case and over futures."""
    dscr = facts.score.get("dscr")
    if dscr is None:
        return None
    base = {row["month"]: row.get("dscr") for row in facts.score["base_case"]["rows"]}
    fan = {name: _by_month(dscr["fan"], name) for name in ("p5", "p50")}
    year_back = _by_month(dscr.get("dscr_12", {}), "base")
    life = dict(enumerate(facts.score.get("llcr", {}).get("by_month", ()), start=1))
    rows = []
    for name, months in years(facts.months):
        of_base = _known(base, months)
        if not of_base:
            continue
        last = months[-1]
        rows.append(
            (
                name,
                figures.ratio(min(of_base), 1),
                figures.ratio(sum(of_base) / len(of_base)),
                _ratio(min(_known(fan["p50"], months), default=None)),
                _ratio(min(_known(fan["p5"], months), default=None)),
                _ratio(year_back.get(last)),
                _ratio(life.get(last)),
            )
        )
    whole = _known(base, range(1, facts.months + 1))
    total = (
        "Life",
        figures.ratio(dscr.get("base_minimum"), 1) if dscr.get("base_minimum") is not None else figures.UNDEFINED,
        figures.ratio(sum(whole) / len(whole)) if whole else figures.UNDEFINED,
        _ratio(min(_known(fan["p50"], fan["p50"]), default=None)),
        _ratio(min(_known(fan["p5"], fan["p5"]), default=None)),
        _ratio(dscr.get("dscr_12", {}).get("base_minimum")),
        _ratio(facts.score.get("llcr", {}).get("at_first_payment")),
    )
    head = ("Year", "Base, lowest", "Base, mean", "Median, lowest", "P5, lowest", "Last 12 months", "Life cover")
    return Table("Cover by year from close", _cover_note(facts), head, tuple(rows), total)


def _cover_note(facts: Facts) -> str:
    note = (
        "Lowest month of each year; median and P5 over futures without default before the month; last 12 months and "
        f"life cover at the year's end, base case, {figures.UNDEFINED} where there are not yet twelve payments or no "
        "loan is left; life cover of the last row at the first payment"
    )
    llcr = facts.score.get("llcr", {})
    project = llcr.get("project_life_at_first_payment")
    if project is not None:
        return f"{note}; project life cover, which counts cash after the loan too, {figures.ratio(project)}"
    return f"{note}; project life cover is not defined: no months after the loan are given"


def _covenants(facts: Facts) -> Table | None:
    """Return how far the base case is from each covenant, and when futures first breach it."""
    found = facts.score.get("covenants")
    finance = facts.deal.finance
    if not found or finance is None:
        return None
    rows, marks = [], _marks(facts)
    for name, one in found.items():
        title, field = COVENANTS.get(name, (figures.in_words(name), name))
        level = getattr(finance.covenants, field, None)
        months = one["by_month"]
        rows.append(
            (
                title,
                figures.ratio(level) if level is not None else figures.UNDEFINED,
                *(figures.percent(months[month - 1]) for month in marks),
                str(estimated(one, "probability")),
            )
        )
    head = ("Covenant", "Level", *(f"Month {month}" for month in marks), "Term")
    note = "Share of futures that have breached it by the end of the month; ± is one standard error"
    return Table("First breach of a covenant", note, head, tuple(rows))


def _marks(facts: Facts) -> list[int]:
    return list(range(MONTHS_OF_A_YEAR, facts.months, MONTHS_OF_A_YEAR))[:4]


def _tests(facts: Facts) -> Table | None:
    found = facts.score.get("dscr", {}).get("tests")
    if not found:
        return None
    rows = []
    for name, test in found.items():
        if test["base"] is None:
            reason = figures.not_defined(test["base_reason"])
            rows.append((figures.in_words(name), *(figures.UNDEFINED,) * 3, reason))
            continue
        rows.append(
            (
                figures.in_words(name),
                f"{test['months']} to month {test['at_month']}",
                figures.ratio(test["base"]),
                str(estimated(test, "probability_below_1")),
                str(estimated(test, "probability_below_1_15")),
            )
        )
    head = ("Test", "Months", "Base", "Below 1.00x", "Below 1.15x")
    return Table("Cover on single dates", "Cash of the months over their debt service", head, tuple(rows))


def _cost(facts: Facts) -> Table | None:
    """Return what a GPU-hour costs its owner, against what the contract pays for it."""
    found = facts.score.get("cost")
    if not found or not found.get("lines") or found.get("rent_to_cover_it") is None:
        return None
    lines = [line for line in found["lines"] if line["per_gpu_hour"]]
    needed, paid = found["rent_to_cover_it"], found.get("contract_rent")
    *each, whole = figures.per_unit_alike([*(line["per_gpu_hour"] for line in lines), needed])
    *totals, all_of_it = figures.millions_alike(
        [*(line["total"] for line in lines), sum(line["total"] for line in lines)]
    )
    rows = tuple(
        (_line_name(line["name"]), hour, total, line["rests_on"])
        for line, hour, total in zip(lines, each, totals, strict=True)
    )
    title = "What a GPU-hour costs its owner"
    if paid is not None:
        verb = "covers" if paid >= needed else "does not cover"
        against = " against ".join(figures.per_unit_alike([paid, needed]))
        title = f"The contract rent {verb} the cost of owning: {against}"
    note = f"{facts.currency} per GPU-hour, levelled over the term at {figures.rate_a_year(found['annual_rate'])}; "
    note += f"total in {facts.millions()}"
    head = ("Line", "Per GPU-hour", "Total", "Rests on")
    return Table(title, note, head, rows, ("Rent that covers it", whole, all_of_it, figures.UNDEFINED), words_last=True)


def _line_name(code: str) -> str:
    words = figures.in_words(code)
    return LINES.get(code, words[:1].upper() + words[1:])


def _by_month(found: Mapping[str, Any], name: str) -> dict[int, float | None]:
    return dict(zip(found.get("months", ()), found.get(name, ()), strict=False))


def _known(values: Mapping[int, float | None], months: Sequence[int] | Mapping[int, Any] | range) -> list[float]:
    return list(_values(values, months))


def _values(values: Mapping[int, float | None], months: Any) -> Iterator[float]:
    for month in months:
        value = values.get(month)
        if value is not None:
            yield value


def _ratio(x: float | None) -> str:
    return figures.ratio(x, 1) if x is not None else figures.UNDEFINED
