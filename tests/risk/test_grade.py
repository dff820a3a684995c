"""The credit step: the scale, its two routes, the caps, the sampling error and the reasons."""

import json
from dataclasses import replace
from math import sqrt
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from risk.engine import Model
from risk.result import Columns, Result
from risk.score import score
from risk.score.caps import capped, caps
from risk.score.credit_step import credit_step
from risk.score.firmness import firmness
from risk.score.grade import (
    boundaries,
    default_route,
    loss_at_boundaries,
    loss_route,
    step_of,
    step_of_hazard,
    steps,
    steps_between,
    worse_of,
)
from risk.score.reason import Reason, percent
from risk.score.weak_points import SitePower, site_power
from schemas.deal import Deal

GOLDEN = Path(__file__).parents[1] / "golden"
TRUTH = json.loads((GOLDEN / "expected.json").read_text())["GD-10"]["expected"]["grade"]
ANCHORS_PERCENT = (
    0.01, 0.10, 0.20, 0.40, 0.70, 1.20, 1.80, 2.60, 3.60, 6.10, 9.40, 13.50, 17.66, 22.20, 27.20, 34.90, 47.70, 65.00,
    80.70, 100.0,
)  # fmt: skip
"""Ten-year default probabilities of S1 to S19 and D; the method, section 21.1."""
DOLLAR_YEARS, COMMITMENT = 411.6, 150.0
"""Of golden deal 10, in millions; section 21.8."""


def golden(name: str) -> dict:
    return yaml.safe_load((GOLDEN / f"{name}.yaml").read_text())


def sourced(value, unit="1", kind="judgement"):
    source = {"source": "worked here"} if kind != "judgement" else {"rationale": "worked here"}
    return {"value": str(value), "unit": unit, "kind": kind, "as_of": "2026-11-30", **source}


# --- the scale ---------------------------------------------------------------------------------------------------


def test_there_are_nineteen_steps_and_default():
    assert steps() == (*(f"S{i}" for i in range(1, 20)), "D")


def test_a_boundary_is_the_geometric_mean_of_its_anchors_and_belongs_to_the_worse_step():
    assert len(boundaries()) == 19
    for i, boundary in enumerate(boundaries()):
        assert boundary == pytest.approx(sqrt(ANCHORS_PERCENT[i] * ANCHORS_PERCENT[i + 1]) / 100, rel=1e-12)
        assert step_of(boundary) == steps()[i + 1]
        assert step_of(np.nextafter(boundary, 0)) == steps()[i]


@pytest.mark.parametrize(("i", "percent_of_anchor"), list(enumerate(ANCHORS_PERCENT)))
def test_an_anchor_lies_in_its_own_step(i, percent_of_anchor):
    assert step_of(percent_of_anchor / 100) == steps()[i]


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_likelier_default_is_never_a_better_step(one, other):
    low, high = sorted((one, other))
    assert worse_of(step_of(low), step_of(high)) == step_of(high)


def test_the_worked_example_comes_out():
    by_loss = loss_route(TRUTH["el_bp_per_year"])
    assert by_loss.hazard_per_year == pytest.approx(TRUTH["el_route"]["lambda_per_year"], rel=1e-12)
    assert by_loss.as_json()["pd_10_years"] == pytest.approx(TRUTH["el_route"]["pd10_percent"] / 100, rel=1e-12)
    assert by_loss.step == TRUTH["el_route"]["step"] == "S15"
    by_default = default_route(0.237742, 55)
    assert by_default.hazard_per_year == pytest.approx(TRUTH["pd_route"]["lambda_per_year"], rel=1e-12)
    assert by_default.as_json()["pd_10_years"] == pytest.approx(TRUTH["pd_route"]["pd10_percent"] / 100, rel=1e-12)
    assert by_default.step == TRUTH["pd_route"]["step"] == "S17"
    assert steps_between("S15", "S17") == 2


def test_the_loss_over_the_life_at_each_boundary_comes_out():
    found = loss_at_boundaries(468.91140396531 / TRUTH["el_bp_per_year"])
    for name, loss in TRUTH["el_bp_over_life_at_boundaries"].items():
        assert found[name] == pytest.approx(loss, rel=1e-9)
    assert found == pytest.approx(loss_at_boundaries(DOLLAR_YEARS / COMMITMENT), rel=2e-4)


def test_a_certain_default_is_d_and_says_why_it_has_no_hazard():
    certain = default_route(1.0, 36)
    assert certain.step == "D"
    assert certain.as_json()["hazard_per_year_reason"] == "default is certain"
    assert step_of_hazard(0.01) == "S11"  # 9.5% over ten years
    assert loss_route(0.0).step == "S1"


# --- caps ----------------------------------------------------------------------------------------------------------


def rules(data: dict, power: tuple[SitePower, ...] = (), uncertainty: dict | None = None) -> dict:
    model = Model.of(Deal.model_validate(data))
    return {rule.id: rule for rule in caps(model, model.risks["finance"].plan, power, uncertainty)}


def test_a_term_firm_to_the_last_payment_is_not_capped():
    found = rules(golden("gd-10"))
    assert not found["no_firm_term"].fires
    assert not found["uncovered_tail"].fires


def test_a_term_that_ends_before_the_loan_is_capped_and_a_cover_on_the_tail_lifts_one_of_the_two():
    data = golden("gd-10")
    data["commercial"]["term"] = {"months": 36}
    found = rules(data)
    assert (found["no_firm_term"].fires, found["no_firm_term"].limit) == (True, "S12")
    assert found["no_firm_term"].figure["tail_months"] == 15  # the first tranche's term ends in month 40 of 55
    assert not found["uncovered_tail"].fires
    data["backstop"]["expires"] = {"close_plus_months": 50}
    found = rules(data)
    assert (found["uncovered_tail"].fires, found["uncovered_tail"].limit) == (True, "S13")
    assert found["uncovered_tail"].figure["uncovered_months"] == 5


def test_notice_ends_the_firm_term():
    data = golden("gd-10")
    data["cancellation"]["convenience"] = {"first_exercise": {"close_plus_months": 24}, "notice": {"months": 6}}
    model = Model.of(Deal.model_validate(data))
    assert firmness(model.setting, model.risks["finance"].plan).firm_end == 30
    assert rules(data)["no_firm_term"].fires


@pytest.mark.parametrize(
    ("power", "fires"),
    [
        ((), True),
        ((SitePower("one", None, None, 0.0),), True),
        ((SitePower("one", "feed", "feed", 0.9),), True),
        ((SitePower("one", "", "feed-a with feed-b", 0.2),), False),
        ((SitePower("one", "feed", "feed", 0.9), SitePower("two", "feed", "feed", 0.9)), False),
    ],
)
def test_one_site_on_one_feed_is_capped_and_so_is_one_that_nobody_describes(power, fires):
    rule = rules(golden("gd-10"), power)["single_site"]
    assert (rule.fires, rule.limit) == (fires, "S10")


def on_feeds(*names: str) -> dict:
    """Return a site of two rows that is up while one of the named feeds is."""
    blocks = {name: {"component": "utility_feed_distribution"} for name in names}
    topology = {"blocks": {**blocks, "feeds": {"any_of": list(names)}}, "rows": {"count": 2, "up_when": "feeds"}}
    return {"name": "North", "place": "Town, region", "topology": topology}


def test_a_single_feed_is_found_in_the_graph_of_the_site():
    data = golden("gd-02")
    data["clusters"]["cluster-1"]["site"] = "north"
    data["sites"] = {"north": on_feeds("feed")}
    (alone,) = site_power(Model.of(Deal.model_validate(data)).setting)
    assert (alone.single_feed, alone.greatest_cut_set, alone.greatest_share) == ("feed", "feed", 1.0)
    data["sites"] = {"north": on_feeds("feed-a", "feed-b")}
    (twice,) = site_power(Model.of(Deal.model_validate(data)).setting)
    assert (twice.single_feed, twice.greatest_cut_set) == ("", "feed-a with feed-b")


def test_a_recovery_by_judgement_counts_a_default_as_losing_a_quarter():
    data = golden("gd-02")
    data["assumptions"]["prescribed"]["gpu_value"]["amount"] = "90000000"  # a sale pays everything back
    out = score(Deal.model_validate(data), draws=2_000)
    assert out["default"]["expected_loss_bp"] == 0
    route, default = out["grade"]["el_route"], out["default"]
    quarter = 0.25 * default["mean_exposure_at_default"] * default["pd_term"] / default["dollar_years"] * 1e4
    assert route["expected_loss_bp_per_year_in_grade"] == pytest.approx(quarter, rel=1e-9)
    assert (route["step"], out["grade"]["step_before_caps"]) == ("S1", "S1")
    assert out["credit_step"] == step_of_hazard(quarter / 1e4 / 0.55)
    (rule,) = (rule for rule in out["grade"]["caps"] if rule["id"] == "recovery_without_sales")
    assert rule["fires"]
    assert rule["step_after_it_alone"] == out["credit_step"]


def test_a_recovery_with_sales_behind_it_counts_in_full():
    data = golden("gd-02")
    for name, number in data["finance"]["recovery"].items():
        data["finance"]["recovery"][name] = sourced(number["value"], number["unit"], "measured")
    assert not rules(data)["recovery_without_sales"].fires
    data["finance"]["recovery"]["novation_share"] = sourced("0.5")
    rule = rules(data)["recovery_without_sales"]
    assert rule.fires
    assert rule.figure["paths"] == ["finance.recovery.novation_share"]


def test_a_typed_loss_is_a_judgement_unless_its_source_says_otherwise():
    data = golden("gd-05")
    assert rules(data)["recovery_without_sales"].fires
    data["provenance"]["assumptions.prescribed.lgd.loss_share"] = {
        "source": "sales of 2025",
        "as_of": "2026-11-30",
        "kind": "measured",
    }
    assert not rules(data)["recovery_without_sales"].fires


def test_a_deal_with_cover_stands_no_better_than_the_provider():
    data = golden("gd-10")
    rule = rules(data)["cover_provider"]
    assert (rule.fires, rule.limit) == (True, "S11")  # 1% a year
    assert capped("S3", (rule,)) == "S11"
    assert capped("S15", (rule,)) == "S15"
    del data["assumptions"]["counterparties"]["cover_provider"], data["assumptions"]["counterparties"]["correlation"]
    assert rules(data)["cover_provider"].fires is None
    del data["backstop"]
    assert rules(data)["cover_provider"].fires is False


def test_a_cap_that_is_switched_off_prints_why_and_does_nothing():
    data = golden("gd-10")
    data["assumptions"]["grade_caps_off"] = {"cover_provider": "the provider posts cash"}
    rule = rules(data)["cover_provider"]
    assert rule.fires
    assert capped("S3", (rule,)) == "S3"
    assert rule.as_json()["switched_off_because"] == "the provider posts cash"


def test_a_loss_that_rests_on_judgement_makes_the_grade_a_band():
    assert rules(golden("gd-10"))["judgement_band"].fires is None
    assert not rules(golden("gd-10"), uncertainty={"judgement_share": 0.32})["judgement_band"].fires
    assert rules(golden("gd-10"), uncertainty={"judgement_share": 0.62})["judgement_band"].fires


# --- the grade of a run --------------------------------------------------------------------------------------------


def graded(losses, exposures=None, base_month=0, **more) -> dict:
    """Return the grade of golden deal 2 with typed losses in place of simulated ones."""
    data = golden("gd-02")
    data["assumptions"]["grade_caps_off"] = {"recovery_without_sales": "typed here", "single_site": "typed here"}
    model = Model.of(Deal.model_validate(data))
    plan = model.risks["finance"].plan
    loss = np.asarray(losses, dtype=float)
    exposure = loss if exposures is None else np.asarray(exposures, dtype=float)
    column = Columns(default_month=(exposure > 0).astype(int) * 5, exposure=exposure, loss=loss)
    result = Result(len(loss), 36, column=column)
    base = SimpleNamespace(column={"default_month": np.array([base_month])})
    default = {
        "pd_term": float((exposure > 0).mean()),
        "expected_loss_bp_per_year": float(loss.mean()) / plan.dollar_years * 1e4,
        "lgd": float(loss.sum() / exposure.sum()) if exposure.any() else None,
        "lgd_reason": "no default drawn",
        "mean_exposure_at_default": float(exposure[exposure > 0].mean()) if exposure.any() else None,
    }
    return credit_step(model, plan, (), base, result, default, more.get("uncertainty"))


def test_a_loss_close_to_a_boundary_prints_both_steps_and_how_many_draws_would_settle_it():
    plan = Model.of(Deal.model_validate(golden("gd-02"))).risks["finance"].plan
    at = loss_at_boundaries(plan.dollar_years / plan.commitment)["S14|S15"] / 1e4 * plan.commitment
    losses = np.zeros(10_000)
    losses[:2_000] = at * 1.01 / 0.2  # 1% above the boundary, 2% of standard error
    found = graded(losses, np.where(losses > 0, 25e6, 0.0))["grade"]
    assert found["sampling_band"]["best"] == "S14"
    assert found["sampling_band"]["worst"] == "S15"
    assert found["sampling_band"]["draws_to_settle"] == pytest.approx(10_000 * (2 * 0.02 / 0.01) ** 2, rel=0.1)
    far = graded(losses * 1.2, np.where(losses > 0, 25e6, 0.0))["grade"]
    assert far["sampling_band"] is None
    assert "one step" in far["sampling_band_reason"]


def test_where_no_default_is_drawn_the_step_is_open_up_to_three_in_n():
    found = graded(np.zeros(1_000))
    assert found["credit_step"] == "S1"
    band = found["grade"]["sampling_band"]
    plan = Model.of(Deal.model_validate(golden("gd-02"))).risks["finance"].plan
    assert band["best"] == "S1"
    assert band["worst"] == loss_route(30 * plan.commitment / plan.dollar_years).step  # 3 in 1,000 lose all: 30 bp
    assert band["draws_to_settle"] is None


def test_a_loan_that_the_base_case_does_not_pay_is_d_though_all_is_recovered():
    found = graded(np.zeros(100), np.full(100, 1e6), base_month=3)
    assert found["credit_step"] == "D"
    assert found["grade"]["step_before_caps"] == "S1"
    assert found["grade"]["pd_route"]["step_after_caps"] == "D"
    assert found["grade"]["base_case_defaults"]


def test_routes_far_apart_say_why():
    exposure = np.zeros(1_000)
    exposure[:300] = 6e6
    found = graded(0.1 * exposure, exposure)["grade"]
    assert found["steps_between_routes"] >= 3
    assert found["why_routes_differ"] == (
        "a default finds 20% of the commitment outstanding on average and loses 10% of it"
    )


def test_the_band_over_what_is_not_known_is_under_the_same_caps():
    found = graded(
        np.full(100, 1e5), uncertainty={"judgement_share": 0.6, "steps": {"p5": "S3", "mean": "S8", "p95": "S16"}}
    )
    assert found["grade"]["parameter_band"] == {"best": "S3", "worst": "S16", "printed_as_band": True}


def test_without_a_recovery_there_is_no_step_and_the_reason_is_said():
    out = score(Deal.model_validate(golden("gd-01")), draws=32)
    assert out["credit_step"] is None
    assert out["credit_step_reason"] == "finance.recovery is not given"
    assert out["grade"]["pd_route"]["step"] == "S1"


# --- golden deal 10, drawn -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def drawn() -> dict:
    return score(Deal.model_validate(golden("gd-10")), draws=8_192, seed=7)


def test_the_reasons_of_the_worked_example_come_in_its_order(drawn):
    assert [reason["code"] for reason in drawn["reasons"]] == ["R03", "R02", "R01", "R06", "R07"]
    shares = [reason["loss_share"] for reason in drawn["reasons"][:3]]
    assert shares == pytest.approx([0.51, 0.30, 0.19], abs=0.05)
    assert drawn["reasons"][3]["figures"]["probability_used_up_where_it_pays"] == pytest.approx(0.67, abs=0.05)
    assert set(drawn["reasons_not_listed"]) == {"R05", "R10", "R11", "R12", "R15"}


def test_every_reason_has_words_figures_and_a_path_of_the_deal(drawn):
    deal = golden("gd-10")
    for reason in drawn["reasons"]:
        assert reason["words"].endswith(".")
        assert reason["figures"]
        section, *_ = reason["path"].split(".")
        assert section in deal


def test_no_agency_s_letters_are_printed(drawn):
    text = json.dumps({name: drawn[name] for name in ("credit_step", "grade", "reasons")})
    for letters in ("Aaa", "Baa", "BBB", "BB+", "Caa", "Moody", "Fitch"):
        assert letters not in text


def test_the_headline_is_the_route_through_loss(drawn):
    grade, default = drawn["grade"], drawn["default"]
    assert drawn["credit_step"] == grade["el_route"]["step_after_caps"] == grade["step_after_caps"]
    assert grade["el_route"]["hazard_per_year"] == pytest.approx(default["expected_loss_bp_per_year"] / 1e4 / 0.55)
    assert grade["pd_route"]["months"] == 55
    assert [rule["id"] for rule in grade["caps"]] == [
        "no_firm_term", "uncovered_tail", "single_site", "recovery_without_sales", "judgement_band", "cover_provider",
    ]  # fmt: skip


# --- reasons one by one ---------------------------------------------------------------------------------------------


def codes(data: dict, draws: int = 1_000, **more) -> set[str]:
    out = score(Deal.model_validate(data), draws=draws, **more)
    return {reason["code"] for reason in out["reasons"]} | set(out["reasons_not_listed"])


def test_a_customer_that_never_fails_is_no_reason():
    data = golden("gd-10")
    data["assumptions"]["counterparties"]["customer"]["default_rate"] = sourced("0", "1/year")
    assert "R03" not in codes(data)


def test_a_tail_after_the_firm_term_is_a_reason_that_carries_no_loss_of_its_own():
    data = golden("gd-02")
    assert "R04" not in codes(data)
    data["commercial"]["term"] = {"months": 24}
    out = score(Deal.model_validate(data), draws=1_000)
    (tail,) = (reason for reason in out["reasons"] if reason["code"] == "R04")
    assert tail["loss_share"] is None
    balance = out["base_case"]["rows"][24 - 1]["balance"]
    assert tail["figures"]["tail_balance"] == pytest.approx(balance)
    assert tail["path"] == "commercial.term"


def test_one_deep_credit_that_takes_what_debt_service_leaves_is_a_reason():
    data = golden("gd-02")  # fees 1,240,189.57, cash after debt service 286,197: 23.08% of fees
    data["service_levels"]["cluster"]["credit"]["bands"][0]["credit_fraction"] = "0.24"
    assert "R10" in codes(data)
    data["service_levels"]["cluster"]["credit"]["bands"][0]["credit_fraction"] = "0.22"
    assert "R10" not in codes(data)
    data["service_levels"]["cluster"]["credit"]["bands"][0]["credit_fraction"] = "0.24"
    data["credits"] = {"caps": {"month": "0.22"}}
    assert "R10" not in codes(data)


def test_a_site_on_a_single_feed_is_a_reason():
    data = golden("gd-02")
    assert "R14" not in codes(data)
    data["sites"] = {"north": on_feeds("feed")}
    data["clusters"]["cluster-1"]["site"] = "north"
    assert "R14" in codes(data)


def test_thin_cover_in_the_base_case_is_a_reason():
    data = golden("gd-02")
    assert "R09" not in codes(data)
    data["assumptions"]["prescribed"]["cfads"]["while_contracted"] = "1.15"
    assert "R09" in codes(data)


def test_a_provider_that_fails_with_the_customer_is_a_reason():
    data = golden("gd-05")
    data["assumptions"]["counterparties"]["correlation"]["value"] = "0.8"
    assert "R08" in codes(data, draws=8_000, seed=3)
    data["assumptions"]["counterparties"]["correlation"]["value"] = "0"
    assert "R08" not in codes(data, draws=8_000, seed=3)


def test_judgement_is_a_reason_where_it_carries_more_than_half():
    share = {"paths": ["assumptions.delay.median"], "kind": "judgement", "share": 0.6}
    found = {"judgement_share": 0.6, "shares": [share], "steps": None}
    assert "R13" in codes(golden("gd-02"), uncertainty=found)
    assert "R13" not in codes(golden("gd-02"), uncertainty=found | {"judgement_share": 0.4})


def test_a_condition_is_ranked_by_what_those_before_it_leave_unexplained():
    from risk.score.reasons import _by_what_is_left

    loss = np.array([5.0, 4.0, 1.0, 2.0])

    def condition(code: str, *draws: int) -> Reason:
        return Reason(code, "", {}, "", 0.0, np.isin(np.arange(4), draws))

    facts = SimpleNamespace(loss=loss)
    found = _by_what_is_left([condition("same", 0, 1), condition("wide", 0, 1, 2), condition("other", 3)], facts)
    assert [reason.code for reason in found] == ["wide", "other", "same"]


def test_shares_in_words_keep_what_is_small():
    assert [percent(x) for x in (0.0, 0.0004, 0.031, 0.0999, 0.5)] == ["0%", "less than 0.1%", "3.1%", "10%", "50%"]


def test_a_reason_without_a_share_says_why():
    fact = Reason("R05", "Words.", {}, "commercial")
    assert "fact" in fact.as_json()["loss_share_reason"]
    assert "loss_share_reason" not in replace(fact, loss_share=0.2).as_json()
