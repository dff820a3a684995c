"""Section 10: what we do not know, how far it moves the loss, and how much of that is judgement."""

from __future__ import annotations

from slakit.reports import exhibits, figures
from slakit.reports.credit_memo.parts import Facts, Notes, Section, sentence
from slakit.reports.exhibits.exhibit import HALF
from slakit.reports.judgements import input_name, judgements
from slakit.reports.tables import Table

NUMBER, TITLE = 10, "What we do not know"
LISTED = 8
"""Inputs listed here; the annex has all. [1]"""
FIGURES = (
    ("el_bp", "Expected loss, of the loan over the term"),
    ("el_bp_per_year", "Expected loss a year"),
    ("pd_term", "Default, term"),
)


def section(facts: Facts) -> Section:
    """Return the section."""
    return Section(
        NUMBER,
        TITLE,
        sentence(finding(facts), judgements(facts.deal).sentence.removeprefix(f"{figures.JUDGEMENT} ")),
        {
            "figures": _figures(facts),
            "not_asked": _not_asked(facts),
            "range": exhibits.loss_range(facts.score, facts.palette, width=HALF),
            "shares": exhibits.inputs_by_share(facts.score, facts.palette, input_name, width=HALF),
            "judged": _judged(facts),
        },
    )


def finding(facts: Facts) -> str | None:
    """Return the expected loss with doubt in the inputs counted, in one sentence; None where it was not asked."""
    found, default = facts.score.get("parameters", {}).get("el_bp"), facts.score.get("default", {})
    if not found or default.get("expected_loss_bp") is None:
        return None
    own, added = default["expected_loss_bp"], found["mean_less_own"]
    predictive = figures.estimate_basis_points(own + added, found.get("mean_less_own_standard_error")).value
    head = f"With doubt in the inputs counted, the expected loss is {predictive}"
    low, high = found["quantiles"]["p5"], found["quantiles"]["p95"]
    if low is not None and high is not None:
        ends = [figures.estimate_basis_points(x).value.removesuffix("\u00a0bp") for x in (low, high)]
        head += f", between {ends[0]} and {ends[1]} with 90%"
    share = facts.score.get("judgement_share")
    if share is not None:
        head += f"; {figures.percent_in_words(share)} of that spread rests on judgement"
    return f"{head}."


def _figures(facts: Facts) -> Table | None:
    """Return each figure at the typed inputs and over what is not known of them."""
    found = facts.score.get("parameters")
    if not found or (found.get("el_bp") is None and found.get("pd_term") is None):
        return None
    default = facts.score["default"]
    own = {
        "el_bp": (default.get("expected_loss_bp"), default.get("expected_loss_bp_standard_error")),
        "el_bp_per_year": (
            default.get("expected_loss_bp_per_year"),
            default.get("expected_loss_bp_per_year_standard_error"),
        ),
        "pd_term": (default["pd_term"], default.get("pd_term_standard_error")),
    }
    rows = []
    for name, words in FIGURES:
        one = found.get(name)
        if one is None or own[name][0] is None:
            continue
        write = figures.percent if name == "pd_term" else figures.basis_points
        moved = figures.percentage_points_moved if name == "pd_term" else figures.basis_points_moved
        value, error = own[name]
        rows.append(
            (
                words,
                write(value, error),
                moved(one["mean_less_own"], one.get("mean_less_own_standard_error")),
                write(value + one["mean_less_own"], one.get("mean_less_own_standard_error")),
                *(write(one["quantiles"][key]) for key in ("p5", "p50", "p95")),
            )
        )
    sets, futures = figures.count(found["outer_draws"]), figures.count(found["inner_draws"])
    note = f"{sets} sets of {found['inputs']} inputs, {futures} futures each, the same for every set"
    if found.get("not_computed"):
        note += f"; {figures.count(found['not_computed'])} of them cannot be computed"
    head = ("Figure", "As typed", "Doubt adds", "Predictive", "P5", "P50", "P95")
    return Table("The figures over what we do not know", note, head, tuple(rows))


def _not_asked(facts: Facts) -> Notes | None:
    found = facts.score.get("parameters")
    if found is None:
        return Notes(
            "Range from the inputs", (f"It is {figures.not_computed('make the memo with slakit score, --outer 200')}.",)
        )
    said = []
    if found.get("el_bp") is None:
        said.append(f"The range of the expected loss is {figures.not_defined(found.get('el_bp_reason', ''))}.")
    elif found["el_bp"]["quantiles"]["p5"] is None:
        said.append("P5 and P95 are not defined: too few sets of inputs; ask for more with --outer.")
    if found.get("judgement_share") is None:
        reason = figures.not_defined(found.get("judgement_share_reason", ""))
        said.append(f"The share of the spread that rests on judgement is {reason}.")
    elif found.get("r_squared_adjusted") is not None:
        explained = figures.percent_in_words(max(found["r_squared_adjusted"], 0.0))
        said.append(
            f"The shares explain {explained} of the variance between sets of inputs (regression with {found['terms']} "
            "terms, adjusted)."
        )
    return Notes("How far to trust this", tuple(said)) if said else None


def _judged(facts: Facts) -> Table | None:
    """Return the inputs that rest on judgement and tell most, with why."""
    found = judgements(facts.deal).found
    if not found:
        return None
    shown = found if len(found) <= LISTED + 1 else found[:LISTED]
    rows = tuple((one.name, one.value, one.range, one.reason) for one in shown)
    hidden = len(found) - len(shown)
    return Table(
        "What rests on judgement",
        f"{figures.JUDGEMENT} no public source; recovery first, then delay and market, the widest range first",
        ("Input", "Value", "Range", "Why this value"),
        rows,
        rest=f"{hidden} others in annex B" if hidden else None,
        words_last=True,
    )
