"""The answer: who loses how much and why, and the surprising thing, in words that its figures bear out."""

from typing import Any

import pytest

from slakit.reports.answer import answer, headlines, not_computed
from slakit.reports.causes import CAUSES, cause
from slakit.reports.rounding import NBSP
from slakit.reports.tables import Score


def said(score: Score) -> str:
    return str(answer(score)).replace(NBSP, " ")


def figures_of(score: Score) -> dict[str, tuple[str, str]]:
    return {one.label: (one.value.replace(NBSP, " "), one.note.replace(NBSP, " ")) for one in headlines(score)}


def no_default(score: dict[str, Any]) -> None:
    """Let no draw default, as the engine writes it."""
    default = score["default"]
    for name in ("pd_term", "pd_12_months"):
        default |= {name: 0.0, f"{name}_standard_error": None, f"{name}_upper_95": 3e-4}
    default |= {"lgd": None, "lgd_reason": "no default drawn", "expected_loss_bp": 0.0}
    default["expected_loss_bp_standard_error"] = 0.0


def test_the_lender_reads_the_loss_its_cause_and_what_follows(score: dict[str, Any]):
    assert said(score) == (
        "The lender loses 211 bp of the loan over the term, half of it because capacity arrives late. "
        "Cover falls below the 1.20x covenant in 12% of futures. Outage credits, the usual worry, cost 0.4% of fees. "
        "The contract ends early in 14% of futures."
    )


def test_five_figures_each_with_its_uncertainty(score: dict[str, Any]):
    assert figures_of(score) == {
        "Default, 12 months": ("1.9%", "± 0.1 pp"),
        "Default, term": ("6.8%", "± 0.3 pp"),
        "Loss given default": ("31%", "± 1 pp"),
        "Expected loss": ("211 bp", "± 7 bp"),
        "Lowest cover, base": ("1.34x", "1.18x at P5"),
    }


def test_the_credit_step_comes_first_with_the_steps_between_which_it_is_open(score: dict[str, Any]):
    score |= {"credit_step": "S13", "grade": {"base_case_defaults": False}}
    assert said(score).startswith("Credit step S13. The lender loses 211 bp")
    score["grade"]["sampling_band"] = {"best": "S12", "worst": "S13"}
    assert said(score).startswith("Credit step S13, open between S12 and S13.")
    score["grade"]["parameter_band"] = {"best": "S11", "worst": "S16", "printed_as_band": True}
    assert said(score).startswith("Credit step S13, in a band of S11 to S16.")
    score["credit_step"] = None
    assert said(score).startswith("The lender loses 211 bp")


def test_no_default_is_said_with_its_bound_and_not_as_zero_risk(score: dict[str, Any]):
    no_default(score)
    assert said(score).startswith(
        "The loan is repaid in every one of 10,000 futures; the probability of default is at most 0.03% (95%)."
    )
    assert figures_of(score)["Default, term"] == ("0%", "at most 0.03% (95%)")
    assert figures_of(score)["Loss given default"] == ("–", "no default drawn")


def test_where_recovery_covers_nearly_all_the_headline_speaks_of_default(score: dict[str, Any]):
    score["default"] |= {"lgd": 0.004, "lgd_sale_only": 0.35, "expected_loss_bp": 0.95}
    score["default"]["expected_loss_bp_standard_error"] = 0.9
    assert said(score).startswith(
        "The loan defaults in 6.8% of futures, half of them because capacity arrives late; recovery leaves a loss of "
        "0.9 bp of the loan. A sale of the GPUs alone would lose 35% of the debt at default."
    )
    assert figures_of(score)["Loss given default"][1].endswith(", sale 35%")


def test_a_loss_without_recovery_terms_is_not_computed(score: dict[str, Any]):
    reason = "finance.recovery is not given"
    score["default"] |= {"lgd": None, "lgd_reason": reason, "expected_loss_bp": None, "expected_loss_bp_reason": reason}
    assert said(score).startswith("The loan defaults in 6.8% of futures, half of them because capacity arrives late.")
    assert figures_of(score)["Expected loss"] == ("–", reason)


def test_a_second_cause_of_a_third_or_more_is_named_beside_the_first(score: dict[str, Any]):
    losses = {"late_delivery": 105.0, "long_stop": 84.4, "chronic_failure": 21.9}
    score["default"]["by_cause"] = {name: {"pd": 0.02, "expected_loss_bp": loss} for name, loss in losses.items()}
    assert said(score).startswith(
        "The lender loses 211 bp of the loan over the term, half of it because capacity arrives late and 40% because "
        "the customer leaves at the long-stop date."
    )


def test_where_the_base_case_cannot_pay_no_other_cause_is_blamed(score: dict[str, Any]):
    score["dscr"] |= {"base_minimum": 0.55, "base_minimum_month": 15}
    short = "With nothing late, down or ended early, cover still falls to 0.55x in month 15."
    assert answer(score).detail.startswith(short)
    assert "because capacity arrives late" in answer(score).headline
    score["default"] |= {"pd_term": 1.0}
    assert answer(score).headline.endswith("because cash falls short even in the base case.")
    score["default"] |= {"lgd": 0.0}
    assert answer(score).headline.startswith("The loan defaults in 100% of futures, because cash falls short even")


def test_a_deal_without_a_loan_is_answered_by_its_contract(score: dict[str, Any]):
    del score["default"], score["dscr"]
    assert said(score).startswith(
        "The contract ends early in 14% of futures, half of them because the customer leaves at the long-stop date and "
        "half because the customer leaves after repeated outages."
    )
    assert not_computed(score) == "Default and loss and cover: not computed: add finance.loan."
    assert list(figures_of(score)) == [
        "Contract ends early",
        "hall-2 late",
        "Outage credits",
        "Credits, share of fees",
        "Firm months",
    ]


def test_a_contract_that_never_ends_early_says_so(score: dict[str, Any]):
    del score["default"], score["dscr"]
    score["cancellation"] |= {"probability": 0.0, "probability_upper_95": 3e-4}
    assert said(score).startswith("The contract runs to its end in every one of 10,000 futures.")


def test_a_short_firm_term_comes_first_among_what_follows(score: dict[str, Any]):
    score["cancellation"] |= {"firm_months": 33, "effective_firm_months": 5.957}
    assert answer(score).detail.replace(NBSP, " ").startswith("Only 6 months of a term of 33 months are firm.")


def test_large_credits_are_no_surprise(score: dict[str, Any]):
    score["credits"]["expected_share_of_fees"] = 0.031
    assert "Outage credits cost 3.1% of fees." in said(score)


def test_few_defaults_are_flagged_beside_the_loss(score: dict[str, Any]):
    score["default"]["lgd_flag"] = "few_defaults"
    assert figures_of(score)["Loss given default"][1] == "± 1 pp, few defaults"


def test_a_covenant_that_always_holds_is_said(score: dict[str, Any]):
    score["dscr"]["probability_below_covenant"] = 0.0
    assert "Cover stays above the 1.20x covenant in every future." in said(score)


@pytest.mark.parametrize("share", [0.999, 0.7, 0.5, 0.33, 0.25, 0.12])
def test_the_greatest_cause_is_never_called_all_when_there_is_another(score: dict[str, Any], share: float):
    by_cause = score["default"]["by_cause"]
    for code in by_cause:
        by_cause[code]["expected_loss_bp"] = 211.0 * (1 - share) / (len(by_cause) - 1)
    by_cause["convenience"]["expected_loss_bp"] = 211.0 * max(share, 0.2)
    headline = answer(score).headline
    assert headline.endswith("because the contract is ended on notice.")
    assert "term, because" not in headline


def test_every_cause_of_the_engine_has_words_of_its_own():
    from risk.score.debt import LABELS

    assert set(LABELS) <= set(CAUSES)
    assert cause("customer_default").name == "Customer default"


def test_a_lender_is_told_that_the_customer_always_pays(score: dict[str, Any]):
    noted = score | {"ignored": ["Default of the customer, insurance: not simulated by this version."]}
    assert answer(noted).detail.endswith("The customer always pays in these figures: its own default is not simulated.")
    assert "customer always pays" not in answer(score | {"ignored": []}).detail
