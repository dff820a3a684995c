"""What we do not know: laws of uncertain numbers, the outer loop over them, and what its spread rests on."""

import copy
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy.stats import beta, norm

from risk.core.parameters import latin_hypercube, parameters, values_at, with_values
from risk.engine import Model
from risk.score.mitigations import outcome
from risk.score.uncertainty import parameter_uncertainty
from risk.score.variance import Table, variance_shares
from schemas.deal import Deal
from schemas.errors import DealError

GOLDEN = Path(__file__).parents[1] / "golden"
ENDS = np.array([-1.6448536269514722, 0.0, 1.6448536269514722])


def number(value, **rest):
    known = {"unit": "1", "kind": "judgement", "as_of": "2026-11-30", "rationale": "a test"}
    return {**known, "value": value, **rest}


def always_defaults(recovery=None, **assumptions):
    """Return a loan without any cash: every draw defaults in month 4, once three payments of reserve are spent."""
    data = yaml.safe_load((GOLDEN / "gd-02.yaml").read_text())
    data["finance"]["recovery"] |= recovery or {}
    data["finance"]["loan"]["payments"] = 6
    data["assumptions"]["prescribed"]["cfads"] = {"while_contracted": "0", "after": "0"}
    data["assumptions"]["prescribed"]["gpu_value"] = {"amount": "10000000", "decay_per_month": "0"}
    data["assumptions"] |= assumptions
    return Deal.model_validate(data)


def only(deal, path):
    (found,) = [one for one in parameters(deal) if one.path == path]
    return found


# --- laws -----------------------------------------------------------------------------------------------------


def test_a_range_of_a_share_is_a_beta_law_with_its_mean_and_width():
    stress = only(
        always_defaults({"sale_stress": number("0.8", low="0.6", high="0.95")}), "finance.recovery.sale_stress"
    )
    assert stress.law == "beta"
    assert beta.mean(0.8 * stress.up, 0.2 * stress.up) == pytest.approx(0.8)
    low, _, high = stress.at(ENDS)
    assert high - low == pytest.approx(0.95 - 0.6)


def test_a_range_of_a_positive_quantity_is_a_lognormal_law_about_its_value():
    lag = only(
        always_defaults({"lag_months": number(9, unit="month", low=6, high=13.5)}), "finance.recovery.lag_months"
    )
    assert lag.law == "lognormal"
    assert lag.at(ENDS) == pytest.approx([6, 9, 13.5])  # 9/6 = 13.5/9, so both ends are met


def test_a_range_of_a_quantity_with_a_sign_is_a_normal_law():
    market = {
        "spot_rent": number(2, unit="USD/GPU-hour"),
        "decay_per_year": number("0.2", unit="1/year", low="0.1", high="0.3"),
        "persistence": number(1),
        "monthly_noise": number(0),
    }
    decay = only(always_defaults(market=market), "assumptions.market.decay_per_year")
    assert decay.law == "normal"
    assert decay.at(ENDS) == pytest.approx([0.1, 0.2, 0.3])


@pytest.mark.parametrize(
    ("recovery", "path", "ends"),
    [
        ({"lag_months": number(4, unit="month", low=0, high=9)}, "lag_months", (0, 4, 9)),
        ({"sale_cost_share": number(0, low=0, high="0.2")}, "sale_cost_share", (0, 0, 0.2)),
    ],
)
def test_where_no_such_law_exists_each_side_has_its_own_width(recovery, path, ends):
    found = only(always_defaults(recovery), f"finance.recovery.{path}")
    assert found.law == "two_piece_normal"
    assert found.at(ENDS) == pytest.approx(ends)


def test_a_typed_spread_is_taken_before_a_range():
    typed = number("0.8", low="0.1", high="0.9", spread={"law": "beta", "size": 25})
    stress = only(always_defaults({"sale_stress": typed}), "finance.recovery.sale_stress")
    assert (stress.law, stress.up) == ("beta", 25)
    assert stress.at(ENDS) == pytest.approx(beta.ppf(norm.cdf(ENDS), 20, 5))


def test_a_draw_stays_inside_the_bounds_of_its_type():
    wide = number("0.8", spread={"law": "normal", "size": 5})
    stress = only(always_defaults({"sale_stress": wide}), "finance.recovery.sale_stress")
    assert stress.at(ENDS).tolist() == [0, 0.8, 1]


def test_a_number_without_a_width_is_not_uncertain():
    paths = [one.path for one in parameters(always_defaults({"sale_stress": number("0.8", low="0.8", high="0.8")}))]
    assert paths == []


def test_what_several_sites_say_in_the_same_words_is_one_number():
    hours = number(8, unit="h", low=4, high=16)
    site = {"name": "Hall", "place": "Town", "restart_hours": hours}
    other = site | {"restart_hours": hours | {"rationale": "another hall, another reason"}}
    deal = Deal.model_validate({"schema_version": 1, "sites": {"a": site, "b": site, "c": other}})
    found = parameters(deal)
    assert [one.paths for one in found] == [
        ("sites.a.restart_hours", "sites.b.restart_hours"),
        ("sites.c.restart_hours",),
    ]
    (values,) = values_at(found, np.array([[1.0, -1.0]]))
    assert values["sites.a.restart_hours"] == values["sites.b.restart_hours"] > 8 > values["sites.c.restart_hours"]


# --- the hypercube and the deal at other values ------------------------------------------------------------------


def test_every_stratum_of_every_input_is_drawn_once():
    deal = always_defaults(
        {"sale_stress": number("0.8", low="0.6", high="0.9"), "lag_months": number(9, unit="month", low=6, high=12)}
    )
    scores = latin_hypercube(parameters(deal), 40, seed=3)
    strata = np.floor(norm.cdf(scores) * 40)
    assert np.array_equal(np.sort(strata, axis=0), np.tile(np.arange(40.0)[:, None], (1, 2)))
    assert abs(np.corrcoef(scores.T)[0, 1]) < 0.6


def test_a_range_given_to_one_input_moves_the_draws_of_no_other():
    one = {"sale_stress": number("0.8", low="0.6", high="0.9")}
    both = one | {"lag_months": number(9, unit="month", low=6, high=12)}
    alone = latin_hypercube(parameters(always_defaults(one)), 20, seed=3)
    together = latin_hypercube(parameters(always_defaults(both)), 20, seed=3)
    assert np.array_equal(alone[:, 0], together[:, 0])


def test_a_changed_number_keeps_its_source_and_loses_its_range():
    deal = always_defaults({"sale_stress": number("0.8", low="0.6", high="0.9")})
    for path in ("finance.recovery.sale_stress", "finance.recovery.sale_stress.value"):
        stress = with_values(deal, {path: 0.2}).finance.recovery.sale_stress
        assert (float(stress), stress.low, stress.high, stress.rationale) == (0.2, None, None, "a test")


def test_everything_wrong_with_changed_values_is_said_at_once():
    with pytest.raises(DealError, match="leads nowhere") as nowhere:
        with_values(always_defaults(), {"finance.loan[1]": 1, "clusters.cluster-1.units.gpu.x": 2})
    assert len(nowhere.value.problems) == 2
    with pytest.raises(DealError, match="greater than or equal to 0") as wrong:
        with_values(always_defaults(), {"finance.loan.amount": -1, "finance.reserve.months": -1})
    assert {problem.path for problem in wrong.value.problems} == {"finance.loan.amount", "finance.reserve.months"}


# --- where variance comes from ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def scores():
    return np.random.default_rng(5).standard_normal((300, 3))


def test_a_result_linear_in_one_input_owes_it_all_its_variance(scores):
    found = variance_shares(scores, 7 - 3 * scores[:, 1])
    assert found.of_inputs == pytest.approx([0, 1, 0], abs=1e-12)
    assert found.r_squared == pytest.approx(1)


def test_squares_and_products_are_shared_out(scores):
    a, b, _ = scores.T
    found = variance_shares(scores, 2 * a + (b**2 - 1) / np.sqrt(2) + 2 * a * b)  # variances 4, 1 and 4
    assert found.of_inputs == pytest.approx([6 / 9, 3 / 9, 0], abs=1e-12)
    assert found.r_squared_adjusted == pytest.approx(1)


def test_noise_is_not_explained(scores):
    noise = np.random.default_rng(6).standard_normal(300)
    found = variance_shares(scores, 3 * scores[:, 0] + noise)
    assert found.r_squared == pytest.approx(0.9, abs=0.03)  # 9 of 10
    assert found.of_inputs[0] > 0.99


def test_too_few_draws_for_the_inputs_give_no_shares(scores):
    assert variance_shares(scores[:11], scores[:11, 0]) is None
    assert variance_shares(scores[:12], scores[:12, 0]) is not None


def test_common_futures_cancel_where_parameters_only_add():
    rng = np.random.default_rng(7)
    of_parameters, of_futures = rng.normal(0, 2, 50), rng.normal(0, 30, 200)
    table = Table(200)
    for one in of_parameters:
        table.add(10 + one + of_futures)
    found = table.components()
    assert found.sampling == pytest.approx(0, abs=1e-9)
    assert found.from_parameters == pytest.approx(of_parameters.var(ddof=1))
    assert found.error_from_sampling == pytest.approx(of_futures.std(ddof=1) / np.sqrt(200))
    assert found.mean == pytest.approx(10 + of_parameters.mean() + of_futures.mean())


def test_sampling_that_differs_between_sets_is_taken_off():
    rng = np.random.default_rng(8)
    of_parameters = rng.normal(0, 1, 400)
    table = Table(50)
    for one in of_parameters:
        table.add(one + rng.normal(0, 10, 50))  # each set its own futures: sampling variance 100/50 = 2
    found = table.components()
    assert found.sampling == pytest.approx(2, rel=0.1)
    assert found.from_parameters == pytest.approx(1, abs=0.5)


# --- the outer loop on deals with known answers ------------------------------------------------------------------


def test_a_loss_linear_in_its_inputs_has_the_law_that_algebra_gives():
    # every draw defaults in month 4; loss = exposure - stress x (1 - cost) x 10 m, all of it deterministic
    deal = always_defaults(
        {
            "sale_stress": number("0.8", spread={"law": "normal", "size": "0.05"}),
            "sale_cost_share": number(
                "0.1", kind="published", source="a test", spread={"law": "normal", "size": "0.02"}
            ),
        }
    )
    found = parameter_uncertainty(deal, outer=200, inner=4, seed=1)
    base = outcome(Model.of(deal), Model.of(deal).base())
    per_unit = 10e6 / 30e6 * 1e4
    assert found["el_bp"]["at_own_values"] == pytest.approx(base.el_bp)
    of_stress, of_cost = 0.9 * per_unit * 0.05, 0.8 * per_unit * 0.02
    sd = np.hypot(of_stress, of_cost)
    assert found["el_bp"]["mean"] == pytest.approx(base.el_bp, abs=0.05 * sd)  # the hypercube balances both inputs
    assert found["el_bp"]["sd_from_parameters"] == pytest.approx(sd, rel=0.05)
    for name, level in (("p5", 0.05), ("p95", 0.95)):
        assert found["el_bp"]["quantiles"][name] == pytest.approx(base.el_bp + norm.ppf(level) * sd, abs=0.15 * sd)
    assert found["judgement_share"] == pytest.approx(of_stress**2 / sd**2, abs=0.02)
    assert found["r_squared"] == pytest.approx(1)
    assert found["el_bp"]["sampling_share"] == pytest.approx(0, abs=1e-9)
    assert [entry["paths"][0].split(".")[-1] for entry in found["shares"]] == ["sale_stress", "sale_cost_share"]
    assert found["pd_term"]["mean"] == 1


def test_what_parameters_add_is_known_better_than_the_figure_itself():
    deal = Deal.model_validate(yaml.safe_load((GOLDEN / "gd-02.yaml").read_text()))
    stress = number("0.8", spread={"law": "beta", "size": 100})
    deal = with_values(deal, {"finance.recovery.sale_stress": stress, "finance.loan.payments": 24})
    figures = parameter_uncertainty(deal, outer=20, inner=400, seed=2)["el_bp"]
    assert figures["mean_less_own"] == pytest.approx(figures["mean"] - figures["at_own_values"])
    assert figures["mean_error_from_sampling"] > 3 * figures["mean_less_own_standard_error"]


def test_sets_of_parameters_that_are_no_deal_are_counted_with_their_reason():
    market = {
        "spot_rent": number(2, unit="USD/GPU-hour"),
        "decay_per_year": number("0.2", unit="1/year"),
        "persistence": number(1),
        "monthly_noise": number(0),
        "next_generation": {
            "earliest": number(18, unit="month", spread={"law": "lognormal", "size": "0.5"}),
            "latest": number(20, unit="month"),
            "log_drop": number("0.2"),
        },
    }
    found = parameter_uncertainty(always_defaults(market=market), outer=40, inner=4, seed=1)
    share = norm.sf(np.log(20 / 18) / 0.5)  # earliest after latest
    assert found["not_computed"] == pytest.approx(40 * share, abs=1)
    assert found["computed"] + found["not_computed"] == 40
    assert sum(found["not_computed_because"].values()) == found["not_computed"]
    assert all("latest" in reason for reason in found["not_computed_because"])


def test_what_cannot_be_said_has_its_reason():
    assert parameter_uncertainty(always_defaults(), outer=5, inner=5)["el_bp_reason"] == (
        "no number of the deal carries a range"
    )
    few = parameter_uncertainty(
        always_defaults({"sale_stress": number("0.8", low="0.7", high="0.9")}), outer=5, inner=4, seed=1
    )
    assert few["el_bp"]["quantiles"]["p5"] is None
    assert few["el_bp"]["quantiles_reason"] == "too_few_draws"
    assert few["steps"]["p5_reason"] == "too_few_draws"
    data = yaml.safe_load((GOLDEN / "gd-02.yaml").read_text())
    for name in ("loan", "reserve", "recovery"):
        del data["finance"][name]
    data["finance"]["horizon_months"] = 12
    del data["assumptions"]["prescribed"]["cfads"]
    without_loan = Deal.model_validate(copy.deepcopy(data))
    assert parameter_uncertainty(without_loan, outer=5, inner=5)["pd_term_reason"] == "finance.loan is not given"


def test_figures_do_not_depend_on_the_number_of_workers():
    deal = always_defaults({"sale_stress": number("0.8", low="0.7", high="0.9")})
    alone, together = (parameter_uncertainty(deal, outer=6, inner=4, seed=1, workers=workers) for workers in (1, 2))
    assert alone == together
