"""Section 6: default and loss by cause, who may fail, and how the figures become a credit step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slakit.reports import exhibits, figures
from slakit.reports.answer import answer, estimated, step_in_words
from slakit.reports.causes import cause
from slakit.reports.credit_memo.parts import Facts, Notes, Section, sentence
from slakit.reports.exhibits.exhibit import HALF
from slakit.reports.tables import Row, Table

NUMBER, TITLE = 6, "Default, loss and the credit step"
CAPS = {
    "no_firm_term": "Term firm to the last payment",
    "uncovered_tail": "A tail that nothing covers",
    "single_site": "One site that one component takes down",
    "recovery_without_sales": "Recovery without sales",
    "judgement_band": "Much judgement",
    "cover_provider": "No better than the backstop's provider",
}


def section(facts: Facts) -> Section:
    """Return the section."""
    if "default" not in facts.score:
        finding = f"Default and loss: {figures.not_computed('add finance.loan')}."
        return Section(NUMBER, TITLE, finding, {"parties": _parties(facts)})
    return Section(
        NUMBER,
        TITLE,
        _finding(facts),
        {
            "by_cause": _by_cause(facts),
            "by_month": exhibits.defaults_by_month(facts.score, facts.palette, width=HALF),
            "loss": _loss(facts),
            "parties": _parties(facts),
            "routes": _routes(facts),
            "caps": _caps(facts),
            "step": _step(facts),
            "reasons": _reasons(facts),
        },
    )


def _finding(facts: Facts) -> str:
    default = facts.score["default"]
    head = answer(facts.score, with_step=False).headline
    if not default["pd_term"]:
        return head
    mean = default.get("mean_exposure_at_default")
    owed = f"A default finds {figures.money_in_words(mean, facts.currency)} owed on average" if mean else None
    lgd = default.get("lgd")
    if owed and lgd is not None:
        owed += f" and loses {figures.percent_in_words(lgd)} of it"
    return sentence(head, f"{owed}." if owed else None)


def _by_cause(facts: Facts) -> Table:
    """Return default and loss by cause; the causes exclude each other and add up."""
    default = facts.score["default"]
    whole = default.get("expected_loss_bp")
    rows: list[Row] = []
    ordered = sorted(
        default["by_cause"].items(), key=lambda one: (-(one[1].get("expected_loss_bp") or 0), -one[1]["pd"])
    )
    never = [cause(code).name.lower() for code, one in ordered if not one["pd"]]
    for code, one in ordered:
        if not one["pd"]:
            continue
        loss = one.get("expected_loss_bp")
        share = figures.percent(loss / whole) if whole and loss is not None else figures.UNDEFINED
        written = figures.basis_points(loss, one.get("expected_loss_bp_standard_error"))
        rows.append((cause(code).name, str(estimated(one, "pd")), written, share))
    total = (
        "Any",
        str(estimated(default, "pd_term")),
        figures.basis_points(whole, default.get("expected_loss_bp_standard_error")),
        "100%" if whole else figures.UNDEFINED,
    )
    rest = None
    if never:
        bound = next((one["pd_upper_95"] for one in default["by_cause"].values() if one.get("pd_upper_95")), None)
        rest = f"Not drawn: {', '.join(never)}" + (f"; each {figures.at_most(bound)}" if bound is not None else "")
    return Table(
        "Default by cause, over the term",
        "Share of futures; loss in bp of the loan; ± is one standard error",
        ("Cause", "Default", "Expected loss", "Share of loss"),
        tuple(rows),
        total,
        rest=rest,
    )


def _loss(facts: Facts) -> Table:
    """Return loss given default with and without what stands behind it, and the expected loss on each footing."""
    default = facts.score["default"]
    rows: list[tuple[str, str]] = []
    for name, words in (("pd_12_months", "Default within 12 months"), ("pd_24_months", "Default within 24 months")):
        if name in default:
            rows.append((words, _estimate(default, name)))
    rows.append(("Loss given default", _estimate(default, "lgd")))
    for name, words in (
        ("lgd_before_cover", "the same without the backstop's payment at default"),
        ("lgd_sale_only", "the same by sale of the GPUs alone"),
        ("lgd_unweighted", "mean over defaults, whatever was owed"),
    ):
        uncovered = name == "lgd_before_cover" and facts.deal.backstop is None
        if default.get(name) is not None and not uncovered:
            rows.append((words, _estimate(default, name)))
    mean = default.get("mean_exposure_at_default")
    if mean is not None:
        rows.append(("Owed at default, mean", figures.money_in_words(mean, facts.currency)))
    for name, words in (
        ("expected_loss_bp", "Expected loss, of the loan over the term"),
        ("el_pv_bp", "the same at present value, at the loan's rate"),
        ("expected_loss_bp_per_year", "a year, of the balance outstanding"),
    ):
        if name in default:
            value = default[name]
            error = default.get(f"{name}_standard_error")
            written = (
                figures.not_defined(default.get(f"{name}_reason", ""))
                if value is None
                else figures.basis_points(value, error)
            )
            rows.append((words, written))
    few = " Few defaults were drawn, so the loss given default is uncertain." if default.get("lgd_flag") else ""
    drawn = default.get("defaults_drawn")
    note = "± is one standard error"
    if drawn is not None:
        note += f"; {figures.count(drawn)} defaults drawn in {figures.count(facts.score['draws'])} futures.{few}"
    return Table("Loss given default and expected loss", note, ("Figure", "Value"), tuple(rows))


def _estimate(found: Mapping[str, Any], name: str) -> str:
    if found.get(name) is None:
        return figures.not_defined(found.get(f"{name}_reason", ""))
    return str(estimated(found, name))


def _parties(facts: Facts) -> Table | None:
    """Return who may fail to pay, each alone and together."""
    found = facts.score.get("counterparties")
    if not found:
        return None
    rows: list[Row] = []
    for name, words in (("customer", "Customer"), ("cover_provider", "Provider of the backstop")):
        one = found.get(name)
        if one is not None:
            rows.append(
                (
                    words,
                    figures.rate_a_year(one["hazard_per_year"]),
                    str(estimated(one, "pd_12_months")),
                    str(estimated(one, "pd_term")),
                    one["step"],
                )
            )
    both = found.get("both")
    if both is not None:
        rows.append(("Both", figures.UNDEFINED, figures.UNDEFINED, str(estimated(both, "pd_term")), figures.UNDEFINED))
    if not rows:
        return None
    terms = facts.deal.assumptions.counterparties
    notes = ["Hazard at the expected level of rent; step on the same scale, by the hazard"]
    if terms.customer is not None and terms.customer.market_link is not None and float(terms.customer.market_link):
        notes.append(
            f"the customer's is multiplied by exp(−{float(terms.customer.market_link):g} x log deviation of rent)"
        )
    if terms.correlation is not None:
        notes.append(f"correlation of the two {float(terms.correlation):g}")
    head = ("Party", "Hazard", "Within 12 months", f"Within {facts.months} months", "Step")
    return Table("Who may fail to pay", "; ".join(notes), head, tuple(rows))


def _routes(facts: Facts) -> Table | None:
    """Return both ways from the figures to the scale."""
    grade = facts.score.get("grade")
    if not grade:
        return None
    rows: list[Row] = []
    loss, default = grade.get("el_route"), grade["pd_route"]
    if loss is not None:
        figure = figures.basis_points(loss["expected_loss_bp_per_year"])
        rows.append(("Expected loss a year", figure, *_route(loss)))
    rows.append((f"Default in {default['months']} months", figures.percent(default["pd_term"]), *_route(default)))
    head = ("Route", "Figure", "Hazard a year", "Default in 10 years", "Step", "After caps")
    return Table(
        "Two routes to the credit step",
        "The first is the headline; S1 is the best step, S19 the last before D",
        head,
        tuple(rows),
    )


def _route(route: Mapping[str, Any]) -> tuple[str, str, str, str]:
    hazard = route["hazard_per_year"]
    written = (
        figures.not_defined(route.get("hazard_per_year_reason", "")) if hazard is None else figures.percent(hazard)
    )
    return written, figures.percent(route["pd_10_years"]), route["step"], route["step_after_caps"]


def _caps(facts: Facts) -> Table | None:
    """Return the rules that hold the step down, whether each fires, and what it does alone."""
    grade = facts.score.get("grade")
    if not grade:
        return None
    rows: list[Row] = []
    for cap in grade["caps"]:
        if cap.get("switched_off"):
            fires = "off"
        else:
            fires = {True: "fires", False: "no", None: "not known"}[cap["fires"]]
        words = cap["words"][:1].upper() + cap["words"][1:]
        if cap.get("switched_off_because"):
            words += f". Switched off: {cap['switched_off_because']}"
        alone = f"{cap['step_before']} to {cap['step_after_it_alone']}" if "step_before" in cap else figures.UNDEFINED
        if alone.startswith(f"{cap.get('step_before')} to {cap.get('step_before')}"):
            alone = "no change"
        rows.append((CAPS.get(cap["id"], figures.in_words(cap["id"])), fires, cap.get("limit") or "none", alone, words))
    head = ("Rule", "Fires", "Best step", "Alone", "Why")
    note = "What each does to the step of the loss by itself; a step set here is the best that the rule allows"
    return Table("Rules that hold the step down", note, head, tuple(rows), text_columns=5)


def _step(facts: Facts) -> Notes | None:
    """Return how sure the step is, in sentences."""
    grade = facts.score.get("grade")
    if not grade:
        return None
    said = [sentence(_headline(facts, grade), _nearest(facts, grade))]
    loss = grade.get("el_route") or {}
    counted, yearly = loss.get("expected_loss_bp_per_year_in_grade"), loss.get("expected_loss_bp_per_year")
    if counted is not None and yearly is not None and abs(counted - yearly) > 1e-9:
        in_grade = figures.basis_points(counted, loss.get("expected_loss_bp_per_year_in_grade_standard_error"))
        said.append(
            f"The step counts a loss of {in_grade} a year where the simulation finds {figures.basis_points(yearly)}, "
            "because no sale supports the recovery."
        )
    band = grade.get("sampling_band")
    if band:
        said.append(f"The number of futures leaves it open: {band['words']}.")
    inputs = grade.get("parameter_band")
    if inputs:
        ends = inputs["best"] if inputs["best"] == inputs["worst"] else f"{inputs['best']} to {inputs['worst']}"
        said.append(f"Over what is not known of the inputs it is {ends} (90%).")
    elif grade.get("parameter_band_reason"):
        said.append(f"How far the inputs could move it: {figures.in_words(grade['parameter_band_reason'])}.")
    if grade.get("why_routes_differ"):
        said.append(f"The routes lie {grade['steps_between_routes']} steps apart because {grade['why_routes_differ']}.")
    said.append(grade["note"])
    return Notes("How sure the step is", tuple(said))


def _headline(facts: Facts, grade: Mapping[str, Any]) -> str:
    step = step_in_words(facts.score)
    if step is None:
        reason = facts.score.get("credit_step_reason") or grade.get("el_route_reason", "")
        return f"The credit step is {figures.not_defined(reason)}."
    before = grade.get("step_before_caps")
    if before and before != grade.get("step_after_caps") and not grade.get("base_case_defaults"):
        return f"{step} The loss alone gives {before}; the rules below make it {grade['step_after_caps']}."
    return step


def _nearest(facts: Facts, grade: Mapping[str, Any]) -> str | None:
    """Return the loss at which the step of the loss would be better, and worse."""
    edges, step = grade.get("loss_bp_at_boundaries"), grade.get("step_before_caps")
    if not edges or step is None:
        return None
    better = next((edge for name, edge in edges.items() if name.endswith(f"|{step}")), None)
    worse = next((edge for name, edge in edges.items() if name.startswith(f"{step}|")), None)
    parts = []
    if better is not None:
        parts.append(f"better below {figures.basis_points(better)}")
    if worse is not None:
        parts.append(f"worse from {figures.basis_points(worse)}")
    if not parts:
        return None
    return f"Before the rules, the step of the loss is {step}: {' and '.join(parts)} of the loan over the term."


def _reasons(facts: Facts) -> Table | None:
    found = facts.score.get("reasons")
    if not found:
        return None
    rows = tuple(
        (
            one["code"],
            one["words"],
            figures.UNDEFINED if one["loss_share"] is None else figures.percent_in_words(one["loss_share"]),
            one["path"],
        )
        for one in found
    )
    others = facts.score.get("reasons_not_listed")
    return Table(
        "Reasons for the step",
        "Share of the expected loss in the futures each speaks of; a fact about the deal has none; shares overlap",
        ("Code", "Reason", "Loss", "Path"),
        rows,
        rest=f"Others that hold: {', '.join(others)}" if others else None,
        text_columns=2,
        words_last=True,
    )
