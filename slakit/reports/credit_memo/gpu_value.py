"""Section 7: what the GPUs are worth against the debt, and what a hall can become."""

from __future__ import annotations

from slakit.reports import exhibits, figures
from slakit.reports.answer import estimated
from slakit.reports.credit_memo.parts import Facts, Notes, Section, sentence, years
from slakit.reports.exhibits.exhibit import WIDE
from slakit.reports.exhibits.of_value import of_basis
from slakit.reports.tables import Row, Table

NUMBER, TITLE = 7, "GPU value against debt"
BASES = (("market", "Market"), ("book", "Book"), ("floor", "Floor"))
FAN_HEIGHT = 235
PEAKS = ("base_peak", "peak_p50", "peak_p95")


def section(facts: Facts) -> Section:
    """Return the section."""
    found = facts.score.get("residual_value")
    density = {"density": _density(facts), "density_note": _density_note(facts)}
    if found is None:
        add = "add assumptions.market and assumptions.value"
        return Section(NUMBER, TITLE, f"The value of the GPUs is {figures.not_computed(add)}.", density)
    chart = exhibits.value_and_debt(facts.score, facts.palette, WIDE, FAN_HEIGHT, all_bases=True)
    return Section(
        NUMBER,
        TITLE,
        _finding(facts),
        {"fan": chart, "peaks": _peaks(facts), "by_year": _by_year(facts), "basis": _basis(facts), **density},
    )


def _finding(facts: Facts) -> str:
    found = facts.score["residual_value"].get("loan_to_value", {}).get("market")
    if not found:
        return "The deal has no loan to set against the value of the GPUs."
    if found.get("base_peak") is None:
        return f"The highest loan to value is {figures.not_defined(found.get('base_peak_reason', ''))}."
    head = (
        f"In the base case the loan is at most {figures.loan_to_value(found['base_peak'])} of the GPUs' market value, "
    )
    head += f"in month {found['base_peak_month']}."
    above = found.get("probability_above_1")
    if above is None:
        return head
    if not above:
        return sentence(head, "In no future is it ever above that value before a default.")
    return sentence(head, f"It is above that value at some time in {figures.percent_in_words(above)} of futures.")


def _peaks(facts: Facts) -> Table | None:
    """Return the highest loan to value on each basis."""
    found = facts.score["residual_value"].get("loan_to_value")
    if not found:
        return None
    rows: list[Row] = []
    missing = []
    for name, words in BASES:
        one = found.get(name)
        if one is None:
            missing.append(words.lower())
            continue
        peak = one.get("base_peak")
        rows.append(
            (
                words,
                figures.loan_to_value(peak),
                str(one["base_peak_month"]) if "base_peak_month" in one else figures.UNDEFINED,
                *(figures.loan_to_value(one.get(key)) for key in ("peak_p50", "peak_p95")),
                str(estimated(one, "probability_above_1")) if "probability_above_1" in one else figures.UNDEFINED,
            )
        )
    said = [f"{' and '.join(missing).capitalize()}: {figures.not_computed('add residual_value')}"] if missing else []
    reasons = {one.get(f"{key}_reason") for one in found.values() if isinstance(one, dict) for key in PEAKS}
    said += [f"{figures.UNDEFINED} {figures.not_defined(str(reason))}" for reason in sorted(reasons - {None}, key=str)]
    rest = "; ".join(said) or None
    head = ("Value", "Base, highest", "In month", "P50", "P95", "Loan above value")
    note = "Highest loan to value while a loan is outstanding, to default; share of futures in which it passes 100%"
    return Table("Loan to value at its highest", note, head, tuple(rows), rest=rest)


def _by_year(facts: Facts) -> Table:
    """Return debt and value at the end of each year."""
    found = facts.score["residual_value"]
    values, balance = found["value_by_month"], found.get("balance")
    bases = [(words, of_basis(found, name)) for name, words in BASES[1:]] if balance else []
    bases = [(words, column) for words, column in bases if any(column)]
    at = [months[-1] - 1 for _, months in years(facts.months)]
    columns = {
        "P5": values["p5"],
        "Median": values["p50"],
        "P95": values["p95"],
        **dict(bases),
        **({"Debt": balance} if balance else {}),
    }
    written = figures.millions_alike(column[i] for column in columns.values() for i in at)
    ratios = found.get("loan_to_value", {}).get("market", {}).get("base", [])
    rows = []
    for k, i in enumerate(at):
        cells = written[k :: len(at)]
        if ratios:
            cells.append(figures.loan_to_value(ratios[i]))
        rows.append((str(k + 1), str(i + 1), *cells))
    head = ("Year", "Month", *columns, *(("Loan to value",) if ratios else ()))
    note = f"{facts.millions()}; P5, median and P95 of market value over futures"
    note += (
        "; book, floor and loan to value of the base case, while a loan is outstanding"
        if bases
        else "; loan to value of the base case"
        if ratios
        else ""
    )
    return Table("Value and debt at the end of each year", note, head, tuple(rows))


def _basis(facts: Facts) -> Notes | None:
    """Return on what value rests, the right to switch off among it."""
    law, market = facts.deal.assumptions.value, facts.deal.assumptions.market
    if law is None or market is None:
        return None
    life = figures.agreed_number(law.life.value)
    lost, hours = (figures.percent_in_words(float(share)) for share in (law.haircut, law.utilisation))
    rate = figures.rate_a_year(float(law.discount_rate))
    said = [
        f"The market value of a GPU is the rent it would earn on {hours} of hours, less {lost} lost in letting again "
        f"and less its cash cost, for what is left of a life of {life} years, at {rate}.",
        "It is switched off for good once rent no longer covers cash cost, power included, so it is worth nothing then "
        "and never less than nothing.",
    ]
    terms = facts.deal.residual_value
    if terms is not None:
        said.append(
            f"Book value falls to nothing over {figures.months(terms.book_life_months)}; the floor takes "
            f"{figures.percent_in_words(float(terms.floor_rent_share))} of market rent."
        )
    return Notes("What value rests on", tuple(said))


def _density(facts: Facts) -> Table | None:
    found = facts.score.get("power_density")
    if not found:
        return None
    rows = []
    for name, one in sorted(found["options"].items(), key=lambda item: -item[1]["npv"]):
        stop = one["stop_after_years"]
        rows.append(
            (
                figures.in_words(name).capitalize() + (" (best)" if name == found["best"] else ""),
                figures.count(one["units"]) if one["units"] else figures.UNDEFINED,
                figures.count(one["gpus"]) if one["gpus"] else figures.UNDEFINED,
                figures.millions(one["cash_by_year"][0], 1),
                figures.millions(one["npv"], 1),
                "at once" if not stop else f"{stop}",
            )
        )
    head = ("Option", "Servers or racks", "GPUs", "Cash at the start", "Present value", "Years run")
    note = f"{facts.millions()}, before tax and debt; {figures.count(round(found['equipment_kw']))} kW for equipment"
    title = f"{figures.in_words(found['best']).capitalize()} is worth most for a hall built for thinner racks"
    return Table(title, note, head, tuple(rows))


def _density_note(facts: Facts) -> Notes | None:
    found = facts.score.get("power_density")
    if not found:
        return None
    equal = found["equal_contract_rent"]
    if equal is None:
        reason = figures.not_defined(found.get("equal_contract_rent_reason", ""))
        said = f"The contract rent that makes a retrofit equal to the next best is {reason}."
    else:
        said = f"A retrofit equals the next best option at a contract rent of {figures.price(equal, facts.currency)}."
    return Notes("Retrofit", (said, found["ignores"]))
