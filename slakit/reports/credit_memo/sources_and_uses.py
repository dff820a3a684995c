"""Section 2: what is paid at close and with what, and the terms of the loan."""

from __future__ import annotations

from schemas.finance import Finance, Loan, Recovery
from schemas.sources import Sourced
from slakit.reports import figures
from slakit.reports.credit_memo.parts import Facts, Section, listed, terms_table
from slakit.reports.judgements import Input
from slakit.reports.tables import Table

NUMBER, TITLE = 2, "Sources and uses"
USES = (
    ("capital_expenditure", "Capital expenditure"),
    ("interest_during_construction", "Interest before the first payment"),
    ("commitment_fee", "Commitment fee"),
    ("reserve", "Debt service reserve"),
    ("other_uses", "Other uses at close"),
)
SOURCES = (("loan", "Loan"), ("prepayment", "Prepayment by the customer"), ("equity", "Equity"))
RETURNS = (
    ("base", "Base case, with the value left in the GPUs"),
    ("base_without_terminal_value", "Base case, nothing left in the GPUs"),
    ("of_expected_flows", "Flows expected over all futures"),
)


def section(facts: Facts) -> Section:
    """Return the section."""
    found = facts.score.get("sources_and_uses")
    if found is None or facts.deal.finance is None:
        return Section(NUMBER, TITLE, f"Sources and uses: {figures.not_computed('add finance')}.", {})
    return Section(
        NUMBER,
        TITLE,
        _finding(facts),
        {
            "uses": _money(facts, "Uses", USES, "uses") if found["uses"] else None,
            "sources": _money(facts, "Sources", SOURCES, "uses") if found["uses"] else None,
            "loan": _loan(facts, facts.deal.finance),
            "returns": _returns(facts),
            "recovery": _recovery(facts.deal.finance.recovery),
        },
    )


def _finding(facts: Facts) -> str:
    found, currency = facts.score["sources_and_uses"], facts.currency
    uses = found["uses"]
    if not uses:
        return "The deal types no uses at close."
    parts = [
        f"{words} {figures.percent_in_words(found[name] / uses)}"
        for name, words in (
            ("loan", "the loan pays"),
            ("prepayment", "the customer's prepayment"),
            ("equity", "equity"),
        )
        if found.get(name)
    ]
    head = f"Of {figures.money_in_words(uses, currency)} of uses {listed(parts)}." if parts else ""
    waiting, reserve = found.get("interest_during_construction") or 0.0, found.get("reserve") or 0.0
    tied = waiting + reserve
    if not tied:
        return head
    return (
        f"{head} Interest before the first payment and the reserve tie up "
        f"{figures.money_in_words(tied, currency)}, {figures.percent_in_words(tied / uses)} of it."
    )


def _money(facts: Facts, title: str, names: tuple[tuple[str, str], ...], whole: str) -> Table:
    """Return one side: each sum, and its share of the whole."""
    found = facts.score["sources_and_uses"]
    given = [(words, found[name]) for name, words in names if found.get(name)]
    total = found[whole]
    written = figures.millions_alike([*(value for _, value in given), total])
    rows = tuple(
        (words, money, figures.percent(value / total) if total else figures.UNDEFINED)
        for (words, value), money in zip(given, written, strict=False)
    )
    return Table(title, facts.millions(), (title, "Amount", "Share"), rows, ("Total", written[-1], "100%"))


def _loan(facts: Facts, finance: Finance) -> Table | None:
    loan = finance.loan
    if loan is None:
        return None
    path, currency = "finance.loan", finance.currency
    rows = [
        ("Amount", figures.money_agreed(loan.amount, currency), f"{path}.amount"),
        ("Profile", _profile(loan, currency), f"{path}.profile"),
        ("Rate", f"{figures.agreed_percent(loan.annual_rate)} a year, a twelfth a month", f"{path}.annual_rate"),
        (
            "Payments",
            f"{loan.payments} monthly, the first in month {loan.first_payment_month} after close",
            f"{path}.payments",
        ),
    ]
    if loan.drawings:
        drawn = [f"{figures.money_in_words(one.amount, currency)} in month {one.month}" for one in loan.drawings]
        fee = (
            f"; {figures.agreed_percent(loan.commitment_fee)} a year on what is not drawn"
            if loan.commitment_fee
            else ""
        )
        rows.append(("Drawn after close", f"{listed(drawn)}{fee}", f"{path}.drawings"))
    if loan.sweep:
        effect = "ends the loan sooner" if loan.sweep_effect == "shortens" else "lowers all payments left"
        words = f"{figures.agreed_percent(loan.sweep)} of each month's surplus after the reserve; it {effect}"
        rows.append(("Sweep", words, f"{path}.sweep"))
    grace = figures.months(loan.grace_months) if loan.grace_months else "none: unpaid debt service is a default at once"
    rows.append(("Grace", grace, f"{path}.grace_months"))
    held = f"{figures.months(finance.reserve.months)} of payments, funded at close" if finance.reserve else "none"
    rows.append(("Reserve", held, "finance.reserve"))
    lock_up = "none"
    if finance.lock_up is not None:
        level = figures.ratio(finance.lock_up.dscr)
        lock_up = f"no distributions below {level} over {figures.months(finance.lock_up.look_back_months)}"
    rows.append(("Lock-up", lock_up, "finance.lock_up"))
    rows.append(("Covenants", covenants_in_words(finance), "finance.covenants"))
    if finance.tax is not None:
        words = f"{figures.agreed_percent(finance.tax.rate)} on cash-basis profit, "
        words += f"depreciation over {figures.months(finance.tax.depreciation_months)}"
        rows.append(("Tax", words, "finance.tax"))
    return terms_table("Terms of the loan", "As the deal file has them", rows, "Path")


def covenants_in_words(finance: Finance) -> str:
    """Return the levels that the loan must keep, and what a breach does."""
    covenants = finance.covenants
    parts = []
    if covenants.minimum_dscr is not None:
        parts.append(f"cover {figures.ratio(covenants.minimum_dscr)}")
    if covenants.minimum_llcr is not None:
        parts.append(f"life cover {figures.ratio(covenants.minimum_llcr)}")
    if covenants.maximum_ltv is not None:
        level = figures.agreed_percent(covenants.maximum_ltv)
        parts.append(f"loan at most {level} of {covenants.ltv_basis} value")
    if not parts:
        return "none"
    cure = f" after {figures.months(covenants.cure_months)}" if covenants.cure_months else ""
    breach = {
        "report": "a breach is reported only",
        "lock_up": "a breach stops distributions",
        "default": f"a breach not cured is a default{cure}",
    }
    return f"{', '.join(parts)}; {breach[covenants.on_breach]}"


def _profile(loan: Loan, currency: str) -> str:
    words = {
        "annuity": "annuity: level payments",
        "straight": "level principal",
        "sculpted": "sculpted to base-case cash",
        "bullet": "bullet: all principal with the last payment",
        "balloon": "balloon: level payments, the rest with the last",
    }[loan.profile]
    if loan.target_dscr is not None:
        words += f" at a cover of {figures.ratio(loan.target_dscr)}"
    if loan.balloon is not None:
        words += f", {figures.money_in_words(loan.balloon, currency)}"
    if loan.refinancing_ltv is not None:
        words += f"; refinanced up to {figures.agreed_percent(loan.refinancing_ltv)} of the GPUs' market value"
    return words


def _returns(facts: Facts) -> Table | None:
    found = facts.score.get("equity_irr")
    if found is None:
        return None
    rows = tuple(
        (
            words,
            figures.rate_a_year(found[name])
            if found.get(name) is not None
            else figures.not_defined(found.get(f"{name}_reason", "")),
        )
        for name, words in RETURNS
        if name in found
    )
    return Table("Return on equity", "Annual, after tax; what stands behind the lender", ("Case", "Return"), rows)


def _recovery(recovery: Recovery | None) -> Table | None:
    """Return the inputs of recovery, on which the loss given default rests."""
    if recovery is None:
        return None
    rows = []
    for name in type(recovery).model_fields:
        number = getattr(recovery, name)
        if isinstance(number, Sourced):
            words = figures.in_words(name)
            typed = Input(f"finance.recovery.{name}", number)
            rows.append((words[:1].upper() + words[1:], typed.value, typed.range))
    return Table(
        "What a default gives back",
        f"Inputs of recovery; {figures.JUDGEMENT} rests on judgement",
        ("Input", "Value", "Range or law"),
        tuple(rows),
    )
