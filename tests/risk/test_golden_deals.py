"""Deals with known answers, run through the engine: closed forms to their tolerance, simulations within 5 errors."""

import json
from datetime import date
from pathlib import Path

import numpy as np
import pytest
import yaml

from risk.availability import enumerate_bad_months
from risk.engine import Model
from risk.finance.ratios import dscr
from risk.score import score
from schemas.deal import Deal
from schemas.errors import NotComputedError

GOLDEN = Path(__file__).parents[1] / "golden"
EXPECTED = {name: case["expected"] for name, case in json.loads((GOLDEN / "expected.json").read_text()).items()}


def golden(name: str) -> Deal:
    return Deal.model_validate(yaml.safe_load((GOLDEN / f"{name}.yaml").read_text()))


def within_five_errors(figure: float, error: float, truth: float) -> bool:
    return abs(figure - truth) <= 5 * error


# --- GD-01: no risk ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certain() -> dict:
    return score(golden("gd-01"), draws=64)


def test_the_base_case_table_agrees_month_by_month(certain):
    rows = {row["month"]: row for row in certain["base_case"]["rows"]}
    names = {
        "revenue": "fees",
        "opex": "operating_costs",
        "interest": "interest",
        "principal": "principal",
        "tax": "tax",
        "cfads": "cfads",
        "debt_service": "debt_service",
        "balance": "balance",
        "dsra": "reserve",
        "distribution": "distribution",
    }
    expected = EXPECTED["GD-01"]["rows"]
    assert len(expected) == 36
    for row in expected:
        ours = rows[row["month"]]
        for theirs, name in names.items():
            assert ours[name] == pytest.approx(row[theirs], rel=1e-9, abs=1e-4), (row["month"], name)
        assert ours["dscr"] == pytest.approx(row["dscr"], abs=1e-9)


def test_sources_equal_uses_and_equity_is_what_is_left_open(certain):
    money = certain["sources_and_uses"]
    assert money["interest_during_construction"] == pytest.approx(630000.0, abs=1e-4)
    assert money["uses"] == pytest.approx(EXPECTED["GD-01"]["total_uses"], rel=1e-9)
    assert money["equity"] == pytest.approx(EXPECTED["GD-01"]["equity"], rel=1e-9)
    assert money["loan"] + money["prepayment"] + money["equity"] == pytest.approx(money["uses"], rel=1e-12)


def test_cover_ratios_and_the_return_agree(certain):
    truth = EXPECTED["GD-01"]
    assert certain["dscr"]["base_minimum"] == pytest.approx(truth["dscr_min"], abs=1e-9)
    assert certain["dscr"]["base_average"] == pytest.approx(truth["dscr_avg"], abs=1e-9)
    life = certain["llcr"]
    assert life["at_first_payment"] == pytest.approx(truth["llcr_at_first_payment_date_start"], abs=1e-9)
    assert life["by_month"][15 - 1] == pytest.approx(truth["llcr_at_month_15_end"], abs=1e-9)
    assert life["project_life_at_first_payment"] == pytest.approx(truth["plcr_at_month_3_end"], abs=1e-9)
    assert certain["equity_irr"]["base"] == pytest.approx(truth["equity_irr_annual_effective"], abs=1e-9)
    assert certain["equity_irr"]["distributions"] == pytest.approx(truth["sum_of_distributions"], rel=1e-9)


def test_with_all_risks_off_every_draw_is_the_base_case(certain):
    model = Model.of(golden("gd-01"))
    base, drawn = model.base(), model.run(model.sample(seed=7, block=0, draws=16), 16)
    np.testing.assert_allclose(drawn.monthly["cfads"], np.repeat(base.monthly["cfads"], 16, axis=0), atol=0.005)


def test_a_deal_without_default_says_so(certain):
    default = certain["default"]
    assert default["pd_term"] == 0
    assert default["pd_term_upper_95"] == pytest.approx(3 / 64)
    assert default["expected_loss_bp_reason"] == "finance.recovery is not given"


# --- GD-02: bad months, two in six -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def weighted():
    """The exact law of the month of the first right, each month one path, through the engine's own steps."""
    model = Model.of(golden("gd-02"))
    bad, weights = enumerate_bad_months(probability=0.05, k=2, m=6, months=36)
    paths = {name: np.repeat(array, len(weights), axis=0) for name, array in model.base_paths().items()}
    paths["bad_month"] = bad[:, None, :]
    paths["may_leave"] = np.ones(len(weights), dtype=bool)
    return model, model.run(paths, len(weights)), weights


def test_cancellation_by_month_is_exact(weighted):
    _, result, weights = weighted
    month = result.column["first_month"]
    for by, truth in EXPECTED["GD-02"]["cancel_cumulative_by_month"].items():
        assert weights @ ((month > 0) & (month <= int(by))) == pytest.approx(truth, abs=1e-11)


def test_default_by_month_is_exact(weighted):
    _, result, weights = weighted
    month = result.column["default_month"]
    for by, truth in EXPECTED["GD-02"]["pd_by_month"].items():
        assert weights @ ((month > 0) & (month <= int(by))) == pytest.approx(truth, abs=1e-11)


def test_loss_is_exact(weighted):
    model, result, weights = weighted
    truth = EXPECTED["GD-02"]
    loss, exposure, month = (result.column[name] for name in ("loss", "exposure", "default_month"))
    plan = model.risks["finance"].plan
    assert plan.service[0] == pytest.approx(truth["level_payment"], rel=1e-9)
    assert weights @ loss == pytest.approx(truth["expected_loss_usd"], rel=1e-9)
    assert weights @ loss / 30e6 * 1e4 == pytest.approx(truth["expected_loss_bp"], rel=1e-9)
    discounted = loss * (1 + plan.monthly_rate) ** -month.astype(float)
    assert weights @ discounted / 30e6 * 1e4 == pytest.approx(truth["expected_loss_pv_bp"], rel=1e-9)
    assert (weights @ loss) / (weights @ exposure) == pytest.approx(truth["lgd"], rel=1e-9)
    assert (weights @ exposure) / (weights @ (month > 0)) == pytest.approx(
        truth["expected_ead_given_default"], rel=1e-9
    )
    for at, figure in truth["loss_at_default_month"].items():
        assert loss[month == int(at)] == pytest.approx(figure, rel=1e-9, abs=1e-4)


def test_the_simulation_agrees_with_the_exact_figures():
    out = score(golden("gd-02"), draws=40_000, seed=1)
    truth, default = EXPECTED["GD-02"], out["default"]
    assert within_five_errors(default["pd_term"], default["pd_term_standard_error"], truth["pd_term"])
    assert within_five_errors(default["pd_12_months"], default["pd_12_months_standard_error"], truth["pd_12_months"])
    assert within_five_errors(
        default["expected_loss_bp"], default["expected_loss_bp_standard_error"], truth["expected_loss_bp"]
    )
    assert within_five_errors(default["lgd"], default["lgd_standard_error"], truth["lgd"])
    assert sum(cause["pd"] for cause in default["by_cause"].values()) == pytest.approx(default["pd_term"])


# --- GD-04: late delivery --------------------------------------------------------------------------------------


def run_delays(model: Model, delays: np.ndarray):
    """Return the outcome of typed delays, one draw each, with a customer free to leave."""
    paths = {name: np.repeat(array, len(delays), axis=0) for name, array in model.base_paths().items()}
    paths["ready"] = model.setting.planned_ready + delays[:, None]
    paths["may_leave"] = np.ones(len(delays), dtype=bool)
    return model.run(paths, len(delays))


def first_cover(model: Model, result) -> np.ndarray:
    service = model.risks["finance"].service[4:7].sum()
    return result.monthly["cfads"][:, 4:7].sum(axis=1) / service


@pytest.fixture(scope="module")
def late():
    return Model.of(golden("gd-04"))


def test_damages_and_cover_are_exact_by_quadrature_through_the_engine(late):
    truth, law = EXPECTED["GD-04"], late.risks["delay"].law
    delays, weights = law.quadrature(breaks=(1, 2, 3, 7, 9))
    result = run_delays(late, delays)
    assert weights @ result.total["damages"] == pytest.approx(truth["expected_damages_usd"], rel=1e-9)
    assert weights @ (result.column["first_cause"] == "long_stop") == pytest.approx(
        truth["p_cancel_long_stop"], abs=1e-8
    )
    assert weights @ first_cover(late, result) == pytest.approx(truth["expected_first_dscr"], abs=1e-8)
    assert weights @ delays == pytest.approx(truth["expected_delay_months"], rel=1e-8)
    fees = result.monthly["cfads"][:, 4:7].sum(axis=1) + 3e6 + damages_of_months_5_to_7(delays)
    lost = 9e6 - fees
    assert weights @ lost == pytest.approx(truth["expected_lost_fee_first_quarter_usd"], rel=1e-9)


def damages_of_months_5_to_7(delays: np.ndarray) -> np.ndarray:
    """Return what the terms say: 750,000 a month of delay after one month of grace, planned in month 4."""
    return 750_000 * np.clip(np.minimum(4 + delays, 7) - 5, 0, None)


def test_closed_forms_of_the_law_agree(late):
    truth, law = EXPECTED["GD-04"], late.risks["delay"].law
    assert law.probability_over(1) == pytest.approx(truth["p_late_after_grace"], abs=1e-8)
    assert law.probability_over(7) == pytest.approx(truth["p_damages_cap_hit"], abs=1e-8)
    assert law.probability_over(9) == pytest.approx(truth["p_cancel_long_stop"], abs=1e-8)
    assert 750_000 * (law.limited_mean(7) - law.limited_mean(1)) == pytest.approx(
        truth["expected_damages_usd"], rel=1e-9
    )


def test_the_delay_that_breaks_the_first_cover_test_is_found_through_the_engine(late):
    from scipy.optimize import brentq

    truth, law = EXPECTED["GD-04"], late.risks["delay"].law
    assert first_cover(late, run_delays(late, np.array([0.0])))[0] == pytest.approx(truth["dscr_first_if_on_time"])
    for level, delay_name, chance_name in (
        (1.0, "delay_months_at_dscr_1", "p_first_dscr_below_1"),
        (1.15, "delay_months_at_dscr_1_15", "p_first_dscr_below_1_15"),
    ):
        delay = brentq(lambda d, c=level: first_cover(late, run_delays(late, np.array([d])))[0] - c, 0.0, 2.9)
        assert delay == pytest.approx(truth[delay_name], abs=1e-8)
        assert law.probability_over(delay) == pytest.approx(truth[chance_name], abs=1e-8)
    assert first_cover(late, run_delays(late, np.array([6.0])))[0] == pytest.approx(
        truth["first_dscr_if_later_than_3_months"], abs=1e-8
    )


def test_the_simulation_of_late_delivery_agrees():
    out = score(golden("gd-04"), draws=40_000, seed=3)
    truth, delivery = EXPECTED["GD-04"], out["delivery"]
    tranche, test = delivery["tranches"][0], out["dscr"]["tests"]["first_dscr"]
    for figure, error, expected in (
        (delivery["expected_damages"], delivery["expected_damages_standard_error"], truth["expected_damages_usd"]),
        (
            tranche["probability_after_grace"],
            tranche["probability_after_grace_standard_error"],
            truth["p_late_after_grace"],
        ),
        (
            out["cancellation"]["by_cause"]["long_stop"],
            out["cancellation"]["by_cause"]["long_stop_standard_error"],
            truth["p_cancel_long_stop"],
        ),
        (test["mean"], test["mean_standard_error"], truth["expected_first_dscr"]),
        (test["probability_below_1"], test["probability_below_1_standard_error"], truth["p_first_dscr_below_1"]),
        (
            test["probability_below_1_15"],
            test["probability_below_1_15_standard_error"],
            truth["p_first_dscr_below_1_15"],
        ),
    ):
        assert within_five_errors(figure, error, expected)


def test_a_deal_without_a_loan_reports_cover_and_no_default():
    out = score(golden("gd-04"), draws=64)
    assert "default" not in out
    assert out["dscr"]["base_minimum"] == pytest.approx(dscr(np.array([2e6]), np.array([1.5e6]))[0])


# --- GD-08: the balloon against the value of the GPUs ------------------------------------------------------------


@pytest.fixture(scope="module")
def refinanced():
    """The lognormal law of rent at maturity, cut at every kink of value and loss, through the engine's own steps."""
    model = Model.of(golden("gd-08"))
    value = model.risks["residual_value"]

    def of_rent(rent: float) -> float:
        return float(value.at(np.array([rent]), 48.0)[0, 0]) * 1000

    from scipy.optimize import brentq

    def rent_at(worth: float) -> float:
        return brentq(lambda rent: of_rent(rent) - worth, 0.5, 10.0, xtol=1e-15, rtol=1e-14)

    stops_with_life = 0.5 * np.exp(0.20 * 3)  # rent that falls to its cost just when the life of a GPU ends
    kinks = [0.5, stops_with_life, *(rent_at(3e6 / share) for share in (0.80, 0.85, 1.0))]
    median, spread = 3.2 * np.exp(-0.20 * 4 - 0.35**2 * 4 / 2), 0.35 * 2
    edges = np.array([-9.0, *sorted(np.log(np.array(kinks) / median) / spread), 9.0])
    x, w = np.polynomial.legendre.leggauss(60)
    half = np.diff(edges)[:, None] / 2
    z = (edges[:-1, None] + half + half * x).ravel()
    weights = (half * w).ravel() * np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
    paths = {name: np.repeat(array, len(z), axis=0) for name, array in model.base_paths().items()}
    paths["spot_rent"] = np.tile(paths["spot_rent"][:1], (len(z), 1))
    paths["spot_rent"][:, -1] = median * np.exp(spread * z)
    return rent_at(3e6 / 0.80), model, model.run(paths, len(z)), weights, median


def test_the_value_with_the_right_to_switch_off_is_exact_by_quadrature(refinanced):
    boundary, model, result, weights, median = refinanced
    truth, value = EXPECTED["GD-08"], result.monthly["gpu_value_total"][:, -1] / 1000
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert median == pytest.approx(truth["median_spot"], rel=1e-8)
    assert boundary == pytest.approx(truth["spot_at_default_boundary"], rel=1e-8)
    for rent, worth in truth["value_usd_per_gpu_at_spot"].items():
        at = model.risks["residual_value"].at(np.array([float(rent)]), 48.0)[0, 0]
        assert at == pytest.approx(worth, rel=1e-8, abs=1e-8)
    assert weights @ value == pytest.approx(truth["expected_value_usd_per_gpu"], rel=1e-8)
    # without the right value is linear in rent, so that its mean is the value on the mean path, which is the base case
    linear = model.base().monthly["gpu_value_total"][0, -1] / 1000
    assert linear == pytest.approx(truth["expected_value_without_switch_off_usd_per_gpu"], rel=1e-8)
    assert weights @ value - linear == pytest.approx(truth["switch_off_option_usd_per_gpu"], rel=1e-8)
    assert weights @ (value == 0) == pytest.approx(truth["p_switched_off"], abs=1e-9)
    assert weights @ (value < 3000) == pytest.approx(truth["p_value_below_balloon"], abs=1e-9)


def test_a_balloon_above_the_limit_of_value_defaults_with_the_exact_probability_and_loss(refinanced):
    _, _, result, weights, _ = refinanced
    truth, month = EXPECTED["GD-08"], result.column["default_month"]
    assert set(month.tolist()) == {0, 48}
    assert weights @ (month == 48) == pytest.approx(truth["pd_at_maturity"], abs=1e-9)
    loss, exposure = result.column["loss"], result.column["exposure"]
    assert weights @ loss == pytest.approx(truth["expected_loss_usd"], rel=1e-8)
    assert weights @ loss / 3e6 * 1e4 == pytest.approx(truth["expected_loss_bp_of_balloon"], rel=1e-8)
    assert (weights @ loss) / (weights @ exposure) == pytest.approx(truth["lgd"], rel=1e-8)
    assert set(exposure[month == 48].tolist()) == {3e6}


def test_the_simulation_of_the_balloon_agrees():
    draws = 32_768
    result, truth = Model.of(golden("gd-08")).simulate(draws, seed=8), EXPECTED["GD-08"]
    for name, drawn in (
        ("pd_at_maturity", result.column["default_month"] > 0),
        ("expected_loss_usd", result.column["loss"]),
        ("expected_value_usd_per_gpu", result.monthly["gpu_value_total"][:, -1] / 1000),
    ):
        assert within_five_errors(drawn.mean(), drawn.std() / np.sqrt(draws), truth[name]), name


# --- the engine itself -------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_score_on_one_process_and_on_two():
    deal = golden("gd-02")
    one = score(deal, draws=9_000, seed=11, workers=1)
    assert json.dumps(score(deal, draws=9_000, seed=11, workers=1)) == json.dumps(one)
    assert json.dumps(score(deal, draws=9_000, seed=11, workers=2)) == json.dumps(one)
    assert json.dumps(score(deal, draws=9_000, seed=12, workers=1)) != json.dumps(one)


def test_the_order_in_which_risks_are_found_changes_nothing():
    model = Model.of(golden("gd-02"))
    turned = Model(model.setting, dict(reversed(model.risks.items())))
    one, two = (m.run(m.sample(seed=5, block=0, draws=256), 256) for m in (model, turned))
    for name, column in one.column.items():
        np.testing.assert_array_equal(column, two.column[name], err_msg=name)


def test_terms_of_a_later_day_are_scored_as_amended():
    deal = golden("gd-01")
    assert deal.at(date(2026, 1, 1)).finance == deal.finance


def test_one_future_is_no_score():
    with pytest.raises(NotComputedError, match="at least 2"):
        score(golden("gd-02"), draws=1)


def test_figures_of_the_whole_loan_are_undefined_when_the_months_end_before_it():
    data = yaml.safe_load((GOLDEN / "gd-02.yaml").read_text())
    data["finance"]["horizon_months"] = 24
    out = score(Deal.model_validate(data), draws=2_000)
    assert out["llcr"]["at_first_payment"] is None
    assert out["llcr"]["at_first_payment_reason"] == "the simulated months end before the loan"
    assert out["default"]["expected_loss_bp_per_year"] is None


def test_without_a_law_of_delay_nothing_is_said_of_lateness():
    out = score(golden("gd-01"), draws=64)
    assert out["delivery"]["tranches"] == []
    assert "assumptions.delay is not given" in out["delivery"]["tranches_reason"]
    assert any("lateness is not simulated" in words for words in out["ignored"])


def test_where_the_base_case_cannot_pay_it_is_the_cause():
    data = yaml.safe_load((GOLDEN / "gd-02.yaml").read_text())
    data["assumptions"]["prescribed"]["cfads"] = {"while_contracted": "0.5", "after": "0"}
    data["assumptions"]["prescribed"]["bad_month"] = {"probability": "0"}
    causes = score(Deal.model_validate(data), draws=64)["default"]["by_cause"]
    assert causes["base_case"]["pd"] == 1.0
    assert causes["credits_and_market"]["pd"] == 0.0
