"""Section 3: an abstract of the contract, each line with its clause, and what its credits cost."""

from __future__ import annotations

from collections.abc import Iterator

from schemas.delivery import DelayDamages
from schemas.service_levels import ServiceLevel
from slakit.documents.credit_words import credit_in_words
from slakit.reports import figures, tables
from slakit.reports.contract_lines import contract_lines, day_in_words, duration
from slakit.reports.credit_memo.parts import Facts, Section, listed, sentence, terms_table
from slakit.reports.rounding import NBSP

NUMBER, TITLE = 3, "The contract"
Row = tuple[str, str, str]
UNITS = {"scale_up_domain": "scale-up domain"}
PER = {
    "lump_month": "a month for the whole service",
    "gpu_hour": "per GPU-hour",
    "node_month": "per node and month",
    "kw_month": "per kW of equipment power and month",
}


def section(facts: Facts) -> Section:
    """Return the section."""
    numbers = "Clause numbers are those of the agreement that slakit drafts from this deal file"
    note = numbers if facts.clauses.numbers else "No agreement can be drafted from this deal file, so paths stand here"
    return Section(
        NUMBER,
        TITLE,
        _finding(facts),
        {
            "abstract": terms_table("The contract in short", note, tuple(_rows(facts))),
            "credits": tables.credits(facts.deal, facts.score) if facts.deal.service_levels else None,
        },
    )


def _finding(facts: Facts) -> str:
    ending, cancellation = facts.score["cancellation"], facts.deal.cancellation
    firm, effective = ending.get("firm_months"), ending.get("effective_firm_months")
    head = None
    if firm is not None and effective is not None:
        head = f"Fees are firm for {figures.months(effective)}"
        head += " of the whole term." if effective >= firm - 0.05 else f" of a term of {figures.months(firm)}."
        if effective >= firm - 0.05:
            head = f"All {figures.months(firm)} of the term are firm."
    ways = []
    tranches = facts.deal.delivery.tranches.values() if facts.deal.delivery else ()
    if any(tranche.long_stop for tranche in tranches):
        ways.append("at a long stop")
    if cancellation.chronic_failure is not None:
        ways.append("after repeated bad service")
    if cancellation.convenience is not None:
        ways.append("on notice without cause")
    leave = f"The customer may leave {listed(ways)}." if ways else "The customer has no right to leave early."
    return sentence(head, leave)


def _rows(facts: Facts) -> Iterator[Row]:
    lines = dict(contract_lines(facts.deal, facts.score))
    yield from _price(facts)
    yield from _term(facts, lines)
    yield (
        "Notice",
        lines["Notice"],
        facts.clauses.where("cancellation.convenience", "term-renewal-notice.convenience"),
    )
    yield from _chronic_failure(facts, lines)
    yield ("Long stop", lines["Long stop"], facts.clauses.where("delivery.tranches", "long-stop.right"))
    yield from _delay_damages(facts)
    for name, level in facts.deal.service_levels.items():
        yield _level(facts, name, level)
    yield ("Credit caps", lines["Credit caps"], facts.clauses.where("credits.caps", "credit-caps"))
    yield from _process(facts)
    yield from _prepayment(facts)
    yield from _liability(facts)


def _price(facts: Facts) -> Iterator[Row]:
    commercial = facts.deal.commercial
    for name, charge in commercial.charges.items() if commercial else ():
        assert commercial is not None
        price = f"{figures.money_agreed(charge.price.amount, commercial.currency)} {PER[charge.price.per]}"
        where = facts.clauses.where(f"commercial.charges.{name}", "partial-billing.price")
        yield (f"Fee, {figures.in_words(name)}", f"{price}, on what is ready for service", where)
        if charge.take_or_pay is None:
            words = "all reserved capacity is paid for, used or not"
        else:
            words = f"{figures.agreed_percent(charge.take_or_pay)} of reserved capacity is paid for, used or not"
        where = facts.clauses.where(f"commercial.charges.{name}.take_or_pay", "take-or-pay")
        yield ("Take-or-pay", words, where)


def _term(facts: Facts, lines: dict[str, str]) -> Iterator[Row]:
    commercial = facts.deal.commercial
    yield ("Firm term", lines["Firm term"], facts.clauses.where("commercial.term", "term-renewal-notice.firm-term"))
    if commercial is None:
        return
    if commercial.term.ends_by is not None:
        words = f"at the latest {day_in_words(commercial.term.ends_by)}, however late a tranche was ready"
        where = facts.clauses.where("commercial.term.ends_by", "term-renewal-notice.firm-term")
        yield ("End of the term", words, where)
    if commercial.renewal_months:
        words = f"{figures.months(commercial.renewal_months)} by the customer's notice of "
        words += f"{commercial.renewal_notice_days}{NBSP}days"
        where = facts.clauses.where("commercial.renewal_months", "term-renewal-notice.renewal")
        yield ("Renewal", f"{words}; not simulated", where)


def _chronic_failure(facts: Facts, lines: dict[str, str]) -> Iterator[Row]:
    chronic = facts.deal.cancellation.chronic_failure
    words = lines["Chronic failure"]
    if chronic is not None:
        reach = "the whole order" if chronic.scope == "order" else "the tranche"
        open_for = "at once or never" if not _has_length(chronic.exercise) else f"for {duration(chronic.exercise)}"
        words += f"; reaches {reach}, may be used {open_for}"
    where = facts.clauses.where("cancellation.chronic_failure", "chronic-failure.bad-months", "chronic-failure")
    yield ("Chronic failure", words, where)


def _has_length(length: object) -> bool:
    return bool(getattr(length, "months", None) or getattr(length, "days", None))


def _delay_damages(facts: Facts) -> Iterator[Row]:
    tranches = facts.deal.delivery.tranches.values() if facts.deal.delivery else ()
    found = list(dict.fromkeys(_damages(tranche.delay_damages) for tranche in tranches if tranche.delay_damages))
    words = "; or ".join(found) if found else "none: late delivery costs the provider no damages"
    yield (
        "Delay damages",
        words,
        facts.clauses.where("delivery.tranches", "delay-damages.rate", "delivery-milestones"),
    )


def _damages(terms: DelayDamages) -> str:
    steps = [
        f"{figures.agreed_percent(step.fee_fraction)} of the fee for the time late"
        + (f" up to {duration(step.until)}" if step.until else "")
        for step in terms.steps
    ]
    grace = f"after a grace of {duration(terms.grace)}" if _has_length(terms.grace) else "from the first day"
    if terms.grace_kind == "franchise" and _has_length(terms.grace):
        grace += " that falls away once passed"
    form = "in cash" if terms.form == "cash" else "set off against the first fees"
    return f"{', then '.join(steps)}, {grace}, for at most {duration(terms.cap)}, {form}"


def _level(facts: Facts, name: str, level: ServiceLevel) -> Row:
    unit = UNITS.get(level.level, figures.in_words(level.level))
    promise = "no availability" if level.target is None else figures.agreed_percent(level.target)
    money = facts.deal.commercial or facts.deal.finance
    credit = credit_in_words(level.credit, money.currency if money else None)
    words = f"{promise} a month for each {unit}; credit of {credit}"
    if level.credit.shape != "bands":
        words = f"{promise} a month for each {unit}; credit: {credit}"
    where = facts.clauses.where(f"service_levels.{name}", "credit-schedule.bands", "service-levels.table")
    return (f"Level, {figures.in_words(name)}", words, where)


def _process(facts: Facts) -> Iterator[Row]:
    process = facts.deal.credits.process
    if process.mode == "automatic":
        words = "given without a claim"
    else:
        length, unit = process.window_days, "days"
        if process.window_business_days is not None:
            length, unit = process.window_business_days, "Business Days"
        elif process.window_months is not None:
            length, unit = process.window_months, "months"
        late = {
            "forfeit": "is lost",
            "reduced": f"is worth {figures.agreed_percent(process.late_share)}",
            "none": "is still good",
        }[process.late]
        words = f"given on a claim within {length}{NBSP}{unit}; a late claim {late}"
    yield ("Credits", words, facts.clauses.where("credits.process", "credit-process"))


def _prepayment(facts: Facts) -> Iterator[Row]:
    prepaid = facts.deal.commercial.prepayment if facts.deal.commercial else None
    where = facts.clauses.where("commercial.prepayment", "prepayment.amount")
    if prepaid is None:
        yield ("Prepayment", "none", "commercial.prepayment")
        return
    words = (
        f"{figures.agreed_percent(prepaid.fraction)} of the fees of the firm term at close, credited in equal parts "
    )
    words += f"from month {prepaid.credited_from_month} of the term"
    if prepaid.security != "none":
        words += f", secured by {figures.in_words(prepaid.security)}"
    yield ("Prepayment", words, where)


def _liability(facts: Facts) -> Iterator[Row]:
    commercial = facts.deal.commercial
    if commercial is None:
        return
    cap = commercial.liability_cap_fraction
    words = "no general cap" if cap is None else f"{figures.agreed_percent(cap)} of twelve months' fees"
    yield (
        "Liability",
        f"{words}; not simulated beyond credits, damages and refunds",
        facts.clauses.where("commercial.liability_cap_fraction", "liability-caps.general"),
    )
    law = commercial.governing_law.replace("_", " ").title().replace(" Wales", " and Wales")
    yield (
        "Governing law",
        law,
        facts.clauses.where("commercial.governing_law", "governing-law-disputes.law"),
    )
