"""What a change is worth on the same futures, and what would move the deal by one credit step."""

import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy.optimize import brentq

from risk.availability import enumerate_bad_months
from risk.core.parameters import with_values
from risk.engine import Model
from risk.score.grade import loss_at_boundaries
from risk.score.levers import levers
from risk.score.mitigations import backstop_value, difference, outcome, paired, removals, simulate
from risk.score.movable_terms import levers_of
from schemas.deal import Deal

GOLDEN = Path(__file__).parents[1] / "golden"
DRAWS = 2_000


def golden(name):
    return Deal.model_validate(yaml.safe_load((GOLDEN / f"{name}.yaml").read_text()))


DEAL = golden("gd-02")  # months bad with 5%, independently; two in six end the contract and its cash
"""EL 299 bp of the loan over its life: S15; S14 begins below 249.5 bp, S16 at 325.9 bp."""


def exact(chance: float, reserve: int = 3) -> dict[str, float]:
    """Return the exact loss of the deal at a chance of a bad month: every month of the first right is one draw."""
    model = Model.of(with_values(DEAL, {"finance.reserve.months": reserve}))
    bad, weights = enumerate_bad_months(probability=round(chance, 9), k=2, m=6, months=36)
    paths = {name: np.repeat(array, len(weights), axis=0) for name, array in model.base_paths().items()}
    paths["bad_month"], paths["may_leave"] = bad[:, None, :], np.ones(len(weights), dtype=bool)
    found = outcome(model, model.run(paths, len(weights)))
    return {"el_bp": float(weights @ found.loss_bp), "years": found.dollar_years / found.commitment}


def named(found, lever, direction="better"):
    (one,) = [one for one in found[direction]["levers"] if one["lever"] == lever]
    return one


# --- the same futures with and without ---------------------------------------------------------------------------


def test_a_paired_difference_is_that_of_two_runs_and_known_far_better():
    with_more = with_values(DEAL, {"finance.reserve.months": 4})
    found = paired(Model.of(DEAL), Model.of(with_more), DRAWS, seed=1)
    before, after = (outcome(Model.of(deal), simulate(Model.of(deal), DRAWS, seed=1)) for deal in (DEAL, with_more))
    assert found["d_el_bp"] == pytest.approx(after.el_bp - before.el_bp)
    assert found["d_pd"] == pytest.approx(after.defaulted.mean() - before.defaulted.mean())
    apart = np.hypot(before.loss_bp.std(), after.loss_bp.std()) / np.sqrt(DRAWS)
    assert found["d_el_bp_standard_error"] < apart / 3
    truth = exact(0.05, reserve=4)["el_bp"] - exact(0.05)["el_bp"]
    assert abs(found["d_el_bp"] - truth) < 5 * found["d_el_bp_standard_error"]


def test_the_runs_are_the_first_futures_of_the_score():
    model = Model.of(DEAL)
    assert np.array_equal(simulate(model, 100, seed=4).column["loss"], model.simulate(100, seed=4).column["loss"])


def test_a_first_loss_cover_is_worth_what_it_pays_the_lender():
    cover = {"shape": "first_loss", "provider": "sponsor", "amount": "1000000"}
    deal = with_values(DEAL, {"parties": {"sponsor": {"name": "Sponsor", "role": "guarantor"}}, "backstop": cover})
    loss = outcome(Model.of(DEAL), simulate(Model.of(DEAL), DRAWS, seed=1)).loss
    found = backstop_value(deal, DRAWS, seed=1)
    assert found["value_to_lender"] == pytest.approx(np.minimum(loss, 1e6).mean())
    assert found["value_to_lender_bp"] == pytest.approx(np.minimum(loss, 1e6).mean() / 30e6 * 1e4)
    assert found["value_before_fee_bp"] == found["value_to_lender_bp"]  # it costs nothing
    assert found["el_without_bp"] == pytest.approx(loss.mean() / 30e6 * 1e4)
    assert backstop_value(DEAL, DRAWS, seed=1)["value_to_lender_bp_reason"] == "the deal has no backstop"


def test_removals_do_not_add_up_and_say_by_how_much():
    # without bad months no right arises, without exits none is used: each alone saves everything
    found = removals(Model.of(DEAL), DRAWS, seed=1)
    whole = outcome(Model.of(DEAL), simulate(Model.of(DEAL), DRAWS, seed=1)).el_bp
    for name in ("outages_of_sites", "exits"):
        assert found["risks"][name]["d_el_bp"] == pytest.approx(-whole)
        assert found["risks"][name]["pd_term"] == 0
    assert found["risks"]["late_delivery"]["d_el_bp"] == 0
    assert found["all"]["d_el_bp"] == pytest.approx(-whole)
    assert found["joint_effect_bp"] == pytest.approx(whole)


def test_a_grade_may_count_a_default_at_a_least_loss():
    model = Model.of(DEAL)
    result = simulate(model, DRAWS, seed=1)
    plain, counted = outcome(model, result), outcome(model, result, least_loss=0.25)
    assert np.allclose(counted.loss, np.maximum(plain.loss, 0.25 * plain.exposure))
    assert counted.el_bp > plain.el_bp


MITIGATIONS = {
    "reserve of 6 months instead of 4": {"finance.reserve.months": 6},
    "chronic right 4 in 12 instead of 3 in 12": {"cancellation.chronic_failure.limbs[0].k": 4},
    "late share 0.35 to 0.20": {"assumptions.delay.share_late": 0.20},
    "supplier recovers all delay damages": {"operations.damages_recovered": 1},
    "backstop from a provider that cannot default": {"assumptions.counterparties.cover_provider.default_rate": 0},
    "no backstop": {"backstop": None},
    "parametric outage cover (8 h wait, 40,000 USD/h, 72 h a event, 3m a year; premium 60,000 a month)": {
        "insurance.layers.outage": {
            "rate_per_hour": 40_000,
            "wait_hours": 8,
            "event_cap_hours": 72,
            "year_cap": 3_000_000,
            "premium_per_month": 60_000,
        }
    },
}


@pytest.fixture(scope="module")
def whole_model():
    model = Model.of(golden("gd-10"))
    return outcome(model, simulate(model, DRAWS, seed=1))


@pytest.mark.parametrize("name", MITIGATIONS)
def test_mitigations_of_the_whole_model_agree_with_the_reference(name, whole_model):
    reference = json.loads((GOLDEN / "expected.json").read_text())["GD-10"]["expected"]
    truth = reference["mitigations_200000_draws"][name]
    model = Model.of(with_values(golden("gd-10"), MITIGATIONS[name]))
    found = difference(whole_model, outcome(model, simulate(model, DRAWS, seed=1)))
    error = np.hypot(found["d_el_bp_standard_error"], truth["paired_se"])
    assert abs(found["d_el_bp"] - truth["d_el_bp"]) < 5 * error
    assert abs(found["d_pd"] - truth["d_pd"]) < 5 * found["d_pd_standard_error"]


# --- one step --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def found():
    truth = exact(0.05)
    return levers(DEAL, DRAWS, seed=1, el_bp=truth["el_bp"], el_bp_per_year=truth["el_bp"] / truth["years"])


def test_the_steps_and_their_boundaries_are_those_of_the_grade(found):
    at = loss_at_boundaries(exact(0.05)["years"])
    assert (found["step"], found["better"]["step"], found["worse"]["step"]) == ("S15", "S14", "S16")
    assert found["better"]["el_bp"] == pytest.approx(at["S14|S15"])
    assert found["worse"]["el_bp"] == pytest.approx(at["S15|S16"])


@pytest.mark.parametrize("direction", ["better", "worse"])
def test_the_value_found_is_that_at_which_the_exact_loss_reaches_the_boundary(found, direction):
    boundary = found[direction]["el_bp"]
    truth = brentq(lambda chance: exact(chance)["el_bp"] - boundary, 0.03, 0.08, xtol=1e-6)
    slope = (exact(0.051)["el_bp"] - exact(0.049)["el_bp"]) / 0.002
    lever = named(found, "bad_month", direction)
    tolerance = (5 * lever["d_el_bp_standard_error"] + 0.01 * boundary) / slope  # the search ends within 1%
    assert lever["reaches"]
    assert lever["to"] == pytest.approx(truth, abs=tolerance)
    assert lever["el_bp"] == pytest.approx(exact(0.05)["el_bp"] + lever["d_el_bp"])


def test_a_whole_number_moves_by_the_fewest_steps_that_reach(found):
    reserve = named(found, "reserve_months")
    fewest = next(m for m in range(4, 13) if exact(0.05, m)["el_bp"] < found["better"]["el_bp"])
    assert abs(reserve["to"] - fewest) <= 1  # the draws decide between neighbours
    assert isinstance(reserve["to"], int)
    assert (reserve["from"], reserve["path"]) == (3, "finance.reserve.months")


def test_every_move_lies_on_its_side_of_the_boundary(found):
    for direction, sign in (("better", -1), ("worse", 1)):
        reached = [one for one in found[direction]["levers"] if one["reaches"] and one["lever"] != "payments"]
        assert len(reached) >= 4
        for one in reached:
            assert sign * (one["el_bp"] - found[direction]["el_bp"]) >= -1e-9, one["lever"]
            assert one["runs"] <= 16


def test_a_lever_without_effect_does_not_reach_the_step(found):
    cap = named(found, "credit_cap_of_a_month")  # the prescribed cash knows no credits
    assert (cap["reaches"], cap["to"], cap["d_el_bp"]) == (False, None, None)
    assert cap["to_reason"] == "no value tried makes it better"


def test_two_levers_that_help_alone_too_little_are_tried_together(found):
    # a loss of 1,200 bp a year is S19, whose boundary to S18 lies further away than all that this deal can lose
    out = levers(DEAL, 300, seed=1, el_bp=1900, el_bp_per_year=1200)
    assert not any(one["reaches"] for one in out["better"]["levers"])
    first, second, *_ = out["better"]["levers"]
    assert [one["lever"] for one in out["pair"]["levers"]] == [first["lever"], second["lever"]]
    assert first["d_el_bp"] <= second["d_el_bp"] < 0
    assert out["pair"]["d_el_bp"] <= first["d_el_bp"]
    assert out["pair"]["reaches"] is False
    assert found["pair_reason"].startswith("fewer than two levers help")  # nearly every lever of it reaches the step


def test_a_lever_is_listed_where_the_deal_has_it():
    names = {lever.name for lever in levers_of(golden("gd-10"))}
    assert names >= {
        "reserve_months",
        "loan",
        "payments",
        "backstop_amount",
        "backstop_floor_rent",
        "backstop_starts",
        "chronic_bad_months",
        "chronic_window",
        "credit_cap_of_a_month",
        "long_stop",
        "share_late",
        "delay_median",
        "mean_up_hours",
        "outage_median_hours",
        "customer_default_rate",
    }
    assert "backstop_amount" not in {lever.name for lever in levers_of(DEAL)}


def test_tranches_with_their_own_long_stop_move_in_proportion():
    deal = with_values(golden("gd-10"), {"delivery.tranches.tranche-2.long_stop.after.months": 9})
    (lever,) = [one for one in levers_of(deal) if one.name == "long_stop"]
    assert lever.changes(8) == {
        "delivery.tranches.tranche-1.long_stop.after.months": 8,
        "delivery.tranches.tranche-2.long_stop.after.months": 12,
    }


def test_without_a_loan_or_a_recovery_there_is_no_step_to_reach():
    data = yaml.safe_load((GOLDEN / "gd-02.yaml").read_text())
    del data["finance"]["recovery"]
    found = levers(Deal.model_validate(data), 50, seed=1)
    assert (found["step"], found["step_reason"]) == (None, "finance.recovery is not given")
    assert (found["better"], found["better_reason"]) == (None, "finance.recovery is not given")
