"""Section 8: who pays when the customer or the market fails: backstop, insurance, letting again."""

from __future__ import annotations

from itertools import accumulate

from schemas.backstop import Backstop, FirstLoss, FloorCover, Leaseback, PaymentGuarantee, ResidualGuarantee
from schemas.insurance import ParametricLayer
from slakit.reports import exhibits, figures
from slakit.reports.answer import estimated
from slakit.reports.contract_lines import STARTS, day_in_words
from slakit.reports.credit_memo.parts import Facts, Section, listed, sentence, terms_table, years
from slakit.reports.exhibits.exhibit import HALF
from slakit.reports.rounding import NBSP
from slakit.reports.tables import Row, Table

NUMBER, TITLE = 8, "Backstop, insurance and letting again"
NOT_PAID = (
    ("not_started", "Cover had not started"),
    ("provider_failed", "Provider had failed"),
    ("beyond_limit", "Beyond the limit"),
)
TRIGGERS = {
    "deductible": "hours beyond the wait",
    "qualifying": "all hours once the wait is passed",
    "completed_hours": "whole hours beyond the wait",
}


def section(facts: Facts) -> Section:
    """Return the section."""
    return Section(
        NUMBER,
        TITLE,
        sentence(_finding(facts), _without(facts)),
        {
            "terms": _terms(facts),
            "ledger": exhibits.ledger(facts.score, facts.palette, width=HALF),
            "paid": _paid(facts),
            "by_year": _by_year(facts),
            "worth": _worth(facts),
            "layers": _layers(facts),
            "reletting": _reletting(facts),
        },
    )


def _finding(facts: Facts) -> str | None:
    found = facts.score.get("backstop")
    if facts.deal.backstop is None:
        return None
    if found is None:
        return f"What the backstop pays is {figures.not_computed('score the deal again with this version')}."
    if not found["expected_paid"]:
        return "The backstop pays in no future."
    head = f"The backstop pays in {figures.percent_in_words(found['probability_pays'])} of futures, "
    head += f"{figures.money_in_words(found['expected_paid'], facts.currency)} on average over all"
    used = found.get("probability_used_up")
    if used:
        head += f", and is used up in {figures.percent_in_words(used)}"
    gain = found.get("value_to_lender_bp")
    if gain is None:
        return f"{head}."
    value = figures.estimate_basis_points(abs(gain), found.get("value_to_lender_bp_standard_error")).value
    worth = f"it takes {value} off the expected loss" if gain >= 0 else f"its fee costs {value} more than it saves"
    return f"{head}; {worth}."


def _without(facts: Facts) -> str | None:
    """Return what the deal has not, and what that means, in one sentence each."""
    said = []
    if facts.deal.backstop is None:
        said.append(
            "The deal has no backstop: when a contract ends, only its GPUs and what they earn stand behind the loan."
        )
    if facts.deal.insurance is None:
        subject = "It" if facts.deal.backstop is None else "The deal"
        said.append(f"{subject} has no outage insurance: credits and lost fees are borne by cash flow.")
    if facts.deal.assumptions.reletting is None:
        said.append(
            "Letting again is not modelled: capacity earns nothing once its contract is over, until the GPUs are sold."
        )
    return " ".join(said) or None


def _terms(facts: Facts) -> Table | None:
    cover = facts.deal.backstop
    if cover is None:
        return None
    currency, path = facts.currency, "backstop"
    start = STARTS.get(cover.starts) or (
        f"from {day_in_words(cover.start_date)}" if cover.start_date else figures.UNDEFINED
    )
    limits = []
    if cover.amount is not None:
        limits.append(f"{figures.money_agreed(cover.amount, currency)} in all")
    if cover.amount_per_year is not None:
        limits.append(f"{figures.money_agreed(cover.amount_per_year, currency)} a year")
    limit = listed(limits) if limits else "none"
    if cover.amortisation_months is not None:
        limit += f", falling to nothing over {figures.months(cover.amortisation_months)}"
    fee = f"{figures.agreed_percent(cover.fee_rate)} a year of the amount" if cover.fee_rate else "none"
    if cover.revenue_share:
        fee += f"; {figures.agreed_percent(cover.revenue_share)} of market revenue"
        if cover.revenue_share_above:
            fee += f" above {figures.money_in_words(cover.revenue_share_above, currency)} a month"
    provider = facts.deal.parties[cover.provider].name
    assumed = facts.deal.assumptions.counterparties
    fails = "never fails: add assumptions.counterparties.cover_provider"
    if assumed.cover_provider is not None:
        rate = assumed.cover_provider.default_rate
        fails = f"fails at {figures.rate_a_year(float(rate))}"
        fails = figures.judged(fails) if rate.kind == "judgement" else fails
    together = "independent of the customer"
    if assumed.correlation is not None and float(assumed.correlation):
        together = f"correlation with the customer {figures.agreed_number(assumed.correlation.value)}"
        together = figures.judged(together) if assumed.correlation.kind == "judgement" else together
    rows = [
        ("Provider", f"{provider}; {fails}, {together}", f"{path}.provider"),
        ("What it pays", _unit(cover, currency), f"{path}.shape"),
        ("Start", start, f"{path}.starts"),
        ("End", day_in_words(cover.expires) if cover.expires else "with the loan or the simulation", f"{path}.expires"),
        ("Limit", limit, f"{path}.amount"),
        ("Fee", fee, f"{path}.fee_rate"),
        ("After default", _after_default(cover), f"{path}.assignable"),
    ]
    return terms_table("Terms of the backstop", "As the deal file has them", rows, "Path")


def _unit(cover: Backstop, currency: str) -> str:
    """Return in words what the cover pays for."""
    match cover:
        case FloorCover():
            share = "" if cover.floor_fraction == 1 else f"{figures.agreed_percent(cover.floor_fraction)} of "
            covers = (
                "capacity that is ready and under no contract"
                if cover.covers == "out_of_contract"
                else "ready capacity"
            )
            rent = getattr(cover, "floor_rent", None)
            floor = figures.price(rent, currency) if rent is not None else ""
            words = {
                "unsold_hours_put": f"buys unsold hours of {share}{covers} at {floor}",
                "utilisation_floor": f"pays market rent for hours short of {share}{covers}",
                "revenue_floor": f"makes market revenue of {share}{covers} up to {floor}",
                "index_price_floor": f"pays what the rent index falls short of {floor} on {share}{covers}",
            }
            return words[cover.shape]
        case Leaseback():
            return f"rents the capacity at {figures.price(cover.floor_rent, currency)} and keeps its market revenue"
        case PaymentGuarantee():
            net = ", less income from letting again" if cover.net_of_reletting else ""
            return f"pays the rent after {listed([figures.in_words(one) for one in cover.triggers])}{net}"
        case ResidualGuarantee():
            level = figures.money_in_words(cover.threshold, currency)
            return f"makes the GPUs' value up to {level} on {day_in_words(cover.at)}, if then under no contract"
        case FirstLoss():
            return f"bears {figures.agreed_percent(cover.share)} of the lender's loss first"
    return figures.in_words(cover.shape)


def _after_default(cover: Backstop) -> str:
    may = cover.assignable if cover.assignable is not None else isinstance(cover, PaymentGuarantee)
    return "the lender may go on claiming" if may else "payments end with the loan's default"


def _paid(facts: Facts) -> Table | None:
    """Return what is paid, what is not and why, over all futures."""
    found = facts.score.get("backstop")
    if found is None:
        return None
    rows = [
        ("Paid", facts.money(found["expected_paid"], found.get("expected_paid_standard_error"))),
        ("Pays at all, share of futures", str(estimated(found, "probability_pays"))),
    ]
    used = found.get("probability_used_up")
    rows.append(
        (
            "Used up, share of futures",
            figures.not_defined(found.get("probability_used_up_reason", ""))
            if used is None
            else str(estimated(found, "probability_used_up")),
        )
    )
    for name, words in NOT_PAID:
        one = found["expected_not_paid"]
        if name in one:
            rows.append((f"Not paid: {words.lower()}", facts.money(one[name], one.get(f"{name}_standard_error"))))
    rows.append(("Fee", facts.money(found["expected_fee"], found.get("expected_fee_standard_error"))))
    for name, words in (
        ("expected_revenue_share", "Share of revenue to the provider"),
        ("expected_for_the_lender_at_default", "To the lender at default"),
    ):
        if found.get(name) is not None:
            rows.append((words, facts.money(found[name], found.get(f"{name}_standard_error"))))
    failed = found.get("probability_provider_failed_given_claim")
    if failed is not None:
        rows.append(
            ("Provider failed by the first claim", str(estimated(found, "probability_provider_failed_given_claim")))
        )
        alone = found.get("probability_provider_failed_by_the_same_months")
        if alone is not None:
            rows.append(("what its own hazard alone would give", figures.percent(alone)))
    note = f"{facts.currency} expected over the term where nothing else is said; ± is one standard error"
    return Table("What the backstop pays and does not pay", note, ("Entry", "Figure"), tuple(rows))


def _by_year(facts: Facts) -> Table | None:
    """Return the ledger by year from close."""
    found = facts.score.get("backstop")
    if found is None or not found["by_month"].get("expected_paid") or not found["expected_paid"]:
        return None
    paid, left = found["by_month"]["expected_paid"], found["by_month"].get("expected_left")
    spans = years(facts.months)
    by_year = [sum(paid[months[0] - 1 : months[-1]]) for _, months in spans]
    columns = {"Paid in the year": by_year, "Paid so far": list(accumulate(by_year))}
    if left:
        columns["Left of the limit"] = [left[months[-1] - 1] for _, months in spans]
    written = figures.millions_alike(value for column in columns.values() for value in column)
    rows = tuple((name, str(months[-1]), *written[i :: len(spans)]) for i, (name, months) in enumerate(spans))
    rest = (
        None if left else f"Left of the limit: {figures.not_defined(found['by_month'].get('expected_left_reason', ''))}"
    )
    note = f"{facts.millions()}, mean over futures"
    return Table("Ledger of the backstop by year", note, ("Year", "To month", *columns), rows, rest=rest)


def _worth(facts: Facts) -> Table | None:
    """Return the expected loss with the backstop and without it, on the same futures."""
    found, default = facts.score.get("backstop"), facts.score.get("default", {})
    if found is None or found.get("value_to_lender_bp") is None or default.get("expected_loss_bp") is None:
        return None
    loss, gain = default["expected_loss_bp"], found["value_to_lender_bp"]
    error = found.get("value_to_lender_bp_standard_error")
    gross = found.get("value_before_fee_bp")
    rows = [
        ("With the backstop", figures.basis_points(loss, default.get("expected_loss_bp_standard_error"))),
        ("What it takes off, its fee paid", figures.basis_points_moved(-gain, error)),
    ]
    if gross is not None:
        rows.append(
            (
                "the same if it cost nothing",
                figures.basis_points_moved(-gross, found.get("value_before_fee_bp_standard_error")),
            )
        )
    rows.append(("Without it", figures.basis_points(loss + gain)))
    if found.get("d_pd") is not None:
        rows.append(
            ("Default without it", figures.percentage_points_moved(found["d_pd"], found.get("d_pd_standard_error")))
        )
    note = "bp of the loan over the term; differences on the same futures, ± paired"
    return Table("Expected loss with the backstop and without", note, ("Footing", "Expected loss"), tuple(rows))


def _layers(facts: Facts) -> Table | None:
    found, terms = facts.score.get("insurance"), facts.deal.insurance
    if found is None or terms is None:
        return None
    rows: list[Row] = []
    for name, one in found["layers"].items():
        layer = terms.layers[name]
        rows.append(
            (
                figures.in_words(name),
                _layer_words(layer, facts.currency),
                str(estimated(one, "probability_pays")),
                facts.money(one["expected_paid"], one.get("expected_paid_standard_error")),
                figures.money_in_words(one["premium_per_month"], facts.currency).removeprefix(
                    f"{facts.currency}{NBSP}"
                ),
            )
        )
    premium = facts.money(found["expected_premium"], found.get("expected_premium_standard_error"))
    paid = facts.money(found["expected_paid"], found.get("expected_paid_standard_error"))
    return Table(
        "Outage insurance",
        f"{facts.currency}, expected over the term; premium a month, in all {premium}",
        ("Layer", "Pays", "Pays at all", "Expected", "Premium"),
        tuple(rows),
        ("All", "", "", paid, ""),
        text_columns=2,
    )


def _layer_words(layer: ParametricLayer, currency: str) -> str:
    words = f"{figures.money_agreed(layer.rate_per_hour, currency)} an hour for {TRIGGERS[layer.trigger]} of "
    words += figures.hours(float(layer.wait_hours))
    if layer.event_cap_hours is not None:
        words += f", at most {figures.hours(float(layer.event_cap_hours))} an outage"
    if layer.year_cap is not None:
        words += f", at most {figures.money_in_words(layer.year_cap, currency)} a year"
    return words


def _reletting(facts: Facts) -> Table | None:
    found, law = facts.score.get("reletting"), facts.deal.assumptions.reletting
    if found is None or law is None:
        return None
    rows = [
        ("Empty first", figures.months(float(law.empty))),
        ("Share of market rent lost", figures.percent_in_words(float(law.haircut))),
        (
            "Hours let",
            f"{figures.percent_in_words(float(law.first_utilisation))}, rising to "
            f"{figures.percent_in_words(float(law.highest_utilisation))}",
        ),
        ("Lets again at all, share of futures", str(estimated(found, "probability"))),
        ("Income expected", facts.money(found["expected_income"], found.get("expected_income_standard_error"))),
        (
            "of it while the loan lives",
            facts.money(found["while_the_loan_lives"], found.get("while_the_loan_lives_standard_error")),
        ),
    ]
    note = f"Capacity that is ready and under no contract; {facts.currency} over the term"
    return Table("Letting again", note, ("Entry", "Figure"), tuple(rows))
