"""Section 4: when capacity comes, and how and when the contract ends early."""

from __future__ import annotations

from schemas.deal import Deal
from slakit.reports import exhibits, figures, tables
from slakit.reports.answer import estimated
from slakit.reports.causes import cause, ending_shares
from slakit.reports.credit_memo.parts import MONTHS_OF_A_YEAR, Facts, Notes, Section, sentence
from slakit.reports.exhibits.exhibit import HALF
from slakit.reports.tables import Row, Table

NUMBER, TITLE = 4, "Delivery and cancellation"
CLAUSES = {
    "long_stop": ("delivery.tranches", "long-stop.right"),
    "chronic_failure": ("cancellation.chronic_failure", "chronic-failure"),
    "convenience": ("cancellation.convenience", "term-renewal-notice.convenience"),
    "customer_default": ("assumptions.counterparties", "termination-refund.rights.for-insolvency"),
}
"""Cause of an early end to its path, and the paragraph that gives the right."""
MOST_TRANCHES = 24
"""Tranches listed one by one. [1]"""


def section(facts: Facts) -> Section:
    """Return the section."""
    score = facts.score
    has_law = bool(score["delivery"]["tranches"])
    return Section(
        NUMBER,
        TITLE,
        _finding(facts),
        {
            "tranches": tables.delivery(facts.deal, score, MOST_TRANCHES) if has_law else None,
            "no_law": None if has_law else Notes("Delivery", (_no_law(facts),)),
            "damages": _damages(facts),
            "by_month": exhibits.endings_by_month(score, facts.palette, width=HALF),
            "by_cause": _by_cause(facts),
            "bridge": _bridge(facts),
        },
    )


def _finding(facts: Facts) -> str:
    ending = facts.score["cancellation"]
    passed = [
        tranche["probability_past_long_stop"]
        for tranche in facts.score["delivery"]["tranches"]
        if tranche.get("probability_past_long_stop") is not None
    ]
    late = None
    if passed:
        share = figures.percent_in_words(max(passed))
        late = f"A tranche passes its long stop in {share} of futures."
        if len(passed) > 1:
            late = f"The tranche most often late passes its long stop in {share} of futures."
    if not ending["probability"]:
        bound = ending.get("probability_upper_95")
        doubt = f" ({figures.at_most(bound)})" if bound else ""
        return sentence(late, f"The contract ends early in no future{doubt}.")
    code, part = next(iter(ending_shares(facts.score).items()))
    share = figures.share_in_words(part / ending["probability"])
    mostly = {"all": "always", "nearly all": "nearly always", "most": "mostly"}.get(share, f"{share} of them")
    early = (
        f"The contract ends early in {figures.percent_in_words(ending['probability'])} of futures, {mostly} because "
    )
    return sentence(late, f"{early}{cause(code).because}.")


def _no_law(facts: Facts) -> str:
    reason = facts.score["delivery"].get("tranches_reason", "the deal has no tranches")
    return f"Lateness is {figures.not_computed(f'{reason}')}."


def _damages(facts: Facts) -> Table | None:
    found = facts.score["delivery"]
    if found.get("expected_damages") is None:
        return None
    rows: dict[str, str] = {}
    for name, words in (
        ("expected_damages", "Paid to the customer"),
        ("expected_net_damages", "Net of what suppliers pay back"),
        ("net_damages_while_the_loan_lives", "of it while the loan lives"),
    ):
        if found.get(name) is not None:
            rows.setdefault(facts.money(found[name], found.get(f"{name}_standard_error")), words)
    note = f"{facts.currency}, expected over the term; ± is one standard error"
    return Table("Delay damages", note, ("Damages", "Expected"), tuple((words, money) for money, words in rows.items()))


def _by_cause(facts: Facts) -> Table:
    """Return early ends by cause, added up to the end of each year."""
    found = facts.score["cancellation"]
    by_month = found.get("by_cause_and_month", {})
    marks = list(range(MONTHS_OF_A_YEAR, facts.months, MONTHS_OF_A_YEAR))[:4]
    rows: list[Row] = []
    given = _rights(facts.deal)
    never = [cause(code).name.lower() for code in found["by_cause"] if code in CLAUSES and code not in given]
    for code in ending_shares(facts.score):
        if code in CLAUSES and code not in given:
            continue
        months = by_month.get(code, {}).get("probability")
        early = [_share(months[month - 1]) if months else figures.UNDEFINED for month in marks]
        rows.append((cause(code).name, *early, str(estimated(found["by_cause"], code)), _where(facts, code)))
    whole = [_share(found["by_month"][month - 1]) for month in marks]
    total = ("Any", *whole, str(estimated(found, "probability")), "")
    head = ("Cause", *(f"Month {month}" for month in marks), "Term", "Clause or path")
    note = "Share of futures by the end of the month, by the first ending; ± is one standard error of the simulation"
    rest = f"The deal gives no inputs or no right for: {', '.join(never)}" if never else None
    return Table("How the contract ends early", note, head, tuple(rows), total, rest=rest, words_last=True)


def _share(x: float) -> str:
    return figures.percent(x)


def _where(facts: Facts, code: str) -> str:
    return facts.clauses.where(*CLAUSES[code]) if code in CLAUSES else figures.UNDEFINED


def _bridge(facts: Facts) -> Table | None:
    """Return the way from credits and bad months to an exit, as far as the contract gives rights."""
    score = facts.score
    found, rows = score["cancellation"], []
    chronic = facts.deal.cancellation.chronic_failure
    share = score["credits"].get("expected_share_of_fees")
    if share is not None and facts.deal.service_levels:
        error = score["credits"].get("expected_share_of_fees_standard_error")
        rows.append(("Credits paid, share of fees", str(figures.estimate_percent(share, error))))
    for bad in found.get("bad_months", ()):
        limb = chronic.limbs[bad["limb"]] if chronic else None
        below = getattr(limb, "below", None)
        name = f"Months below {figures.agreed_percent(below)}" if below is not None else "Bad months"
        rows.append((name, f"{bad['expected_total']:.2f} in the term"))
    given = _rights(facts.deal)
    for code, arises in found.get("rights", {}).items():
        if code in given:
            rows.append((f"A right arises: {cause(code).name.lower()}", str(estimated(arises, "probability_arises"))))
            rows.append((f"It ends the contract: {cause(code).name.lower()}", str(estimated(found["by_cause"], code))))
    repriced = score.get("repriced")
    if repriced is not None and _may_reprice(facts.deal):
        rows.append(("The rent is set anew instead", str(estimated(repriced, "probability"))))
    if not rows:
        return None
    note = "Shares of futures where nothing else is said; a right that arises is used only where leaving pays"
    return Table("From an outage to an exit", note, ("Step", "Figure"), tuple(rows))


def _rights(deal: Deal) -> set[str]:
    """Return the causes for which the contract may end early."""
    tranches = deal.delivery.tranches.values() if deal.delivery else ()
    there = {
        "long_stop": any(tranche.long_stop for tranche in tranches),
        "chronic_failure": deal.cancellation.chronic_failure is not None,
        "convenience": deal.cancellation.convenience is not None,
        "customer_default": deal.assumptions.counterparties.customer is not None,
    }
    return {code for code, given in there.items() if given}


def _may_reprice(deal: Deal) -> bool:
    exercise = deal.assumptions.exercise
    return "rational_or_reprice" in (exercise.long_stop, exercise.chronic_failure)
