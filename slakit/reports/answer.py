"""The answer to a score: a sentence with its number and its cause, what follows from it, and five figures.

Nothing is computed here that the score does not hold; the words are chosen by its figures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from slakit.reports import figures
from slakit.reports.causes import cause, default_shares, ending_shares, loss_shares
from slakit.reports.rounding import NBSP

Score = Mapping[str, Any]

SMALL_CREDITS = 0.02
"""Share of fees under which outage credits are called small. [1]"""
SHORT_TERM = 0.7
"""Share of the term under which the firm part is called short. [1]"""


SMALL_LOSS = 0.05
"""Loss given default under which the headline speaks of default. [1]"""
WIDE_GAP = 0.1
"""Loss given default by sale alone less that of the model, from which on it is said. [1]"""
ANYWAY = "because cash falls short even in the base case"
"""Why a deal defaults whatever happens."""
DETAILS = 3
"""Sentences under the headline at most, before the one thing left out that a lender must not miss."""
CUSTOMER_ALWAYS_PAYS = "Default of the customer"
"""How the note begins that says it is not simulated."""
HALF, A_THIRD = 0.55, 0.33
"""Up to this share the greatest cause is not alone; from this share on the second is named beside it. [1]"""
NEARLY_EVERY = 0.995
"""Probability of default from which on its cause is the base case, where that cannot pay. [1]"""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a reader takes away if they read nothing else."""

    headline: str
    detail: str

    def __str__(self) -> str:
        return f"{self.headline} {self.detail}".strip()


@dataclass(frozen=True, slots=True)
class Headline:
    """One of the figures under the answer."""

    label: str
    value: str
    note: str


def answer(score: Score, *, with_step: bool = True) -> Answer:
    """Return the sentence that answers, the credit step before it where there is one, and what follows from it."""
    headline = _loss(score) if "default" in score else _ending(score)
    step = step_in_words(score) if with_step else None
    headline = f"{step} {headline}" if step else headline
    details = list(_details(score))[:DETAILS]
    if "default" in score and any(note.startswith(CUSTOMER_ALWAYS_PAYS) for note in score.get("ignored", ())):
        details.append("The customer always pays in these figures: its own default is not simulated.")
    return Answer(headline, " ".join(details))


def step_in_words(score: Score) -> str | None:
    """Return the credit step as a sentence, with the steps between which it is open; None where there is none."""
    step, grade = score.get("credit_step"), score.get("grade", {})
    if step is None:
        return None
    if grade.get("base_case_defaults"):
        return f"Credit step {step}."
    inputs, sampling = grade.get("parameter_band") or {}, grade.get("sampling_band")
    if inputs.get("printed_as_band") and inputs["best"] != inputs["worst"]:
        return f"Credit step {step}, in a band of {inputs['best']} to {inputs['worst']}."
    if sampling:
        return f"Credit step {step}, open between {sampling['best']} and {sampling['worst']}."
    return f"Credit step {step}."


def headlines(score: Score) -> list[Headline]:
    """Return the five figures that carry the answer, each with its uncertainty."""
    found = [*_credit_figures(score), *_cover_figures(score), *_contract_figures(score)]
    return found[:5]


def not_computed(score: Score) -> str | None:
    """Return what the deal gives no inputs for, with what to add."""
    missing = [words for key, words in (("default", "default and loss"), ("dscr", "cover")) if key not in score]
    if not missing:
        return None
    words = " and ".join(missing).capitalize()
    return f"{words}: {figures.not_computed('add finance.loan')}."


def estimated(figure_of: Mapping[str, Any], name: str) -> figures.Estimate:
    """Return a probability of the score as a figure and its note: the error, the upper bound, or the reason."""
    value = figure_of.get(name)
    if value is None:
        return figures.Estimate(figures.UNDEFINED, figures.in_words(figure_of.get(f"{name}_reason", "")))
    bound = figure_of.get(f"{name}_upper_95")
    if value == 0 and bound is not None:
        return figures.Estimate("0%", figures.at_most(bound))
    return figures.estimate_percent(value, figure_of.get(f"{name}_standard_error"))


def _loss(score: Score) -> str:
    default = score["default"]
    loss, pd = default.get("expected_loss_bp"), default["pd_term"]
    if pd == 0:
        bound = default.get("pd_term_upper_95")
        doubt = f"; the probability of default is {figures.at_most(bound)}" if bound else ""
        return f"The loan is repaid in every one of {_futures(score)}{doubt}."
    if loss is not None and not is_small_loss(default):
        head = f"The lender loses {_points(default)} of the loan over the term"
        return f"{head}, {ANYWAY if _defaults_anyway(score) else _because(loss_shares(score), loss, 'it')}."
    share = figures.percent_in_words(pd)
    because = ANYWAY if _defaults_anyway(score) else _because(default_shares(score), pd, "them")
    head = f"The loan defaults in {share} of futures, {because}"
    if loss is None:
        return f"{head}."
    rest = f"a loss of {_points(default)} of the loan" if loss else "no loss"
    return f"{head}; recovery leaves {rest}."


def _ending(score: Score) -> str:
    ending = score["cancellation"]
    if ending["probability"] == 0:
        return f"The contract runs to its end in every one of {_futures(score)}."
    because = _because(ending_shares(score), ending["probability"], "them")
    return f"The contract ends early in {figures.percent_in_words(ending['probability'])} of futures, {because}."


def _details(score: Score) -> Iterator[str]:
    """Yield what follows, the most telling first."""
    ending, default, dscr = score["cancellation"], score.get("default", {}), score.get("dscr", {})
    lowest = dscr.get("base_minimum")
    if lowest is not None and lowest < 1:
        when = f"in month {dscr['base_minimum_month']}"
        yield f"With nothing late, down or ended early, cover still falls to {figures.ratio(lowest, 1)} {when}."
    firm, effective = ending.get("firm_months"), ending.get("effective_firm_months")
    if firm and effective is not None and effective < SHORT_TERM * firm:
        yield f"Only {figures.months(effective)} of a term of {figures.months(firm)} are firm."
    by_sale, lgd = default.get("lgd_sale_only"), default.get("lgd")
    if by_sale is not None and lgd is not None and by_sale - lgd > WIDE_GAP:
        yield f"A sale of the GPUs alone would lose {figures.percent_in_words(by_sale)} of the debt at default."
    below, covenant = dscr.get("probability_below_covenant"), dscr.get("covenant")
    if covenant is not None and below is not None:
        level = figures.ratio(covenant)
        if below == 0:
            yield f"Cover stays above the {level} covenant in every future."
        else:
            yield f"Cover falls below the {level} covenant in {figures.percent_in_words(below)} of futures."
    share = score["credits"].get("expected_share_of_fees")
    if share is not None:
        cost = f"cost {figures.percent(share)} of fees"
        yield f"Outage credits, the usual worry, {cost}." if share < SMALL_CREDITS else f"Outage credits {cost}."
    if default and ending["probability"] > 0:
        yield f"The contract ends early in {figures.percent_in_words(ending['probability'])} of futures."


def is_small_loss(default: Mapping[str, Any]) -> bool:
    """Tell whether so little is lost in a default that the defaults say more than the loss."""
    return (default.get("lgd") or 0.0) < SMALL_LOSS


def _points(default: Mapping[str, Any]) -> str:
    """Return the expected loss with as many digits as its error allows."""
    error = default.get("expected_loss_bp_standard_error")
    return figures.estimate_basis_points(default["expected_loss_bp"], error).value


def _defaults_anyway(score: Score) -> bool:
    """Tell whether nearly every future defaults and the base case cannot pay either."""
    lowest = score.get("dscr", {}).get("base_minimum")
    return lowest is not None and lowest < 1 and score["default"]["pd_term"] >= NEARLY_EVERY


def _because(shares: Mapping[str, float], whole: float, of: str) -> str:
    """Return the greatest cause with its share in words, and the second where it weighs nearly as much."""
    (code, part), *others = shares.items()
    share = figures.share_in_words(part / whole)
    words = {"all": "", "most": "mostly ", "nearly all": "nearly always "}.get(share, f"{share} of {of} ")
    said = f"{words}because {cause(code).because}"
    if part <= HALF * whole and others and others[0][1] >= A_THIRD * whole:
        code, part = others[0]
        said += f" and {figures.share_in_words(part / whole)} because {cause(code).because}"
    return said


def _credit_figures(score: Score) -> Iterator[Headline]:
    default = score.get("default")
    if default is None:
        return
    for label, name in (("Default, 12 months", "pd_12_months"), ("Default, term", "pd_term")):
        yield Headline(label, *estimated(default, name))
    lgd = estimated(default, "lgd")
    if default.get("lgd_flag"):
        lgd = lgd._replace(error=f"{lgd.error}, few defaults")
    if default.get("lgd_sale_only") is not None:
        by_sale = figures.percent_in_words(default["lgd_sale_only"])
        lgd = lgd._replace(error=f"{lgd.error}, sale {by_sale}".removeprefix(", "))
    yield Headline("Loss given default", *lgd)
    loss = default.get("expected_loss_bp")
    if loss is None:
        reason = figures.in_words(default.get("expected_loss_bp_reason", ""))
        yield Headline("Expected loss", figures.UNDEFINED, reason)
    else:
        value, error = figures.estimate_basis_points(loss, default.get("expected_loss_bp_standard_error"))
        yield Headline("Expected loss", value, f"{error}{NBSP}bp" if error else "no loss drawn")


def _cover_figures(score: Score) -> Iterator[Headline]:
    dscr = score.get("dscr")
    if dscr is None:
        return
    fan = dscr.get("fan", {})
    low = [value for value in fan.get("p5", ()) if value is not None]
    month = f"base case, month {dscr['base_minimum_month']}"
    note = f"{figures.ratio(min(low))} at P5" if low else month
    yield Headline("Lowest cover, base", figures.ratio(dscr["base_minimum"], dscr.get("covenant")), note)


def _contract_figures(score: Score) -> Iterator[Headline]:
    """Yield what any deal has, for deals without a loan."""
    yield Headline("Contract ends early", *estimated(score["cancellation"], "probability"))
    tranches = score.get("delivery", {}).get("tranches", ())
    if tranches:
        worst = max(tranches, key=lambda tranche: tranche.get("probability_late") or 0)
        yield Headline(f"{worst['id']} late", *estimated(worst, "probability_late"))
    credits, currency = score["credits"], score["currency"]
    total = figures.estimate_money(credits["expected_total"], currency, credits.get("expected_total_standard_error"))
    yield Headline("Outage credits", *total)
    share = credits.get("expected_share_of_fees")
    if share is not None:
        error = credits.get("expected_share_of_fees_standard_error")
        yield Headline("Credits, share of fees", *figures.estimate_percent(share, error))
    effective = score["cancellation"].get("effective_firm_months")
    if effective is not None:
        yield Headline(
            "Firm months", figures.months(effective), f"of {figures.months(score['cancellation']['firm_months'])}"
        )


def _futures(score: Score) -> str:
    draws = score.get("draws") or score.get("manifest", {}).get("draws")
    return f"{figures.count(draws)} futures"
