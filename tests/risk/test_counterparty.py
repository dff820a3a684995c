"""Customer and cover provider that fail: closed forms, month by month, through the engine, and golden deal GD-05."""

import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import ndtr, ndtri

from risk.core.protocol import CAUSES, Phase
from risk.core.rng import generator
from risk.counterparty import default_probability, joint_default_law, joint_default_probability
from risk.counterparty.law import hazard_at_default
from risk.engine import Model
from schemas.deal import Deal
from schemas.errors import MissingTermError, NotComputedError

GOLDEN = Path(__file__).parents[1] / "golden"
TRUTH = json.loads((GOLDEN / "expected.json").read_text())["GD-05"]["expected"]
RHO = ("0", "0.4", "0.8")


def judged(value, unit="1"):
    return {"value": value, "unit": unit, "kind": "judgement", "as_of": "2026-11-30", "rationale": "a test"}


def gd_05(rho=None, horizon=None):
    data = yaml.safe_load((GOLDEN / "gd-05.yaml").read_text())
    if rho is not None:
        data["assumptions"]["counterparties"]["correlation"]["value"] = rho
    if horizon is not None:
        data["finance"]["horizon_months"] = horizon
    return Deal.model_validate(data)


# --- closed forms ------------------------------------------------------------------------------------------------


def test_a_constant_hazard_gives_the_closed_form():
    assert default_probability(0.04) == pytest.approx(TRUTH["pd_12_months"], abs=1e-9)
    assert default_probability(0.04 * 4) == pytest.approx(TRUTH["pd_term"], abs=1e-9)
    assert default_probability(0.0) == 0


@pytest.mark.parametrize("rho", [-0.95, -0.3, 0.0, 0.4, 0.8, 0.999])
@pytest.mark.parametrize(("p", "q"), [(0.14, 0.04), (0.5, 0.5), (0.5, 0.01), (0.9, 0.2), (1e-6, 1e-4), (0.999, 0.7)])
def test_two_defaults_together_agree_with_quadrature(p, q, rho):
    h, k = ndtri(p), ndtri(q)

    def density(angle):  # of the two scores at (h, k), along correlations sin(angle) from 0 to rho
        return np.exp(-(h * h + k * k - 2 * h * k * np.sin(angle)) / (2 * np.cos(angle) ** 2)) / (2 * np.pi)

    truth = p * q + quad(density, 0, np.arcsin(rho), epsabs=1e-14, epsrel=1e-10, limit=400)[0]
    assert joint_default_probability(p, q, rho) == pytest.approx(truth, abs=1e-13)


@given(p=st.floats(0, 1), q=st.floats(0, 1), rho=st.floats(-1, 1))
def test_two_defaults_together_are_no_likelier_than_either(p, q, rho):
    joint = joint_default_probability(p, q, rho)
    assert max(p + q - 1, 0) - 1e-15 <= joint <= min(p, q)
    assert joint == pytest.approx(joint_default_probability(q, p, rho), abs=1e-14)
    if rho >= 0:
        assert joint >= p * q - 1e-14


def test_one_score_for_both_or_two_that_mirror_each_other():
    assert joint_default_probability(0.2, 0.3, 1.0) == 0.2
    assert joint_default_probability(0.2, 0.9, -1.0) == pytest.approx(0.1)
    assert joint_default_probability(1.0, 0.3, 0.5) == 0.3
    assert joint_default_probability(0.0, 0.3, 0.5) == 0.0


@pytest.mark.parametrize("rho", [-0.5, 0.0, 0.8])
def test_the_joint_law_of_months_has_both_marginals(rho):
    months, law = joint_default_law(0.04, 0.01, rho, 48)
    assert months.tolist() == [*range(1, 49), 0]
    assert law.sum() == pytest.approx(1, abs=1e-14)
    assert law.sum(axis=1)[:-1].sum() == pytest.approx(default_probability(0.16), abs=1e-14)
    assert law.sum(axis=0)[:12].sum() == pytest.approx(default_probability(0.01), abs=1e-14)


def test_a_score_keeps_its_digits_in_the_tail():
    assert hazard_at_default(0.0) == pytest.approx(np.log(2))
    assert hazard_at_default(-8.0) == pytest.approx(ndtr(-8.0), rel=1e-14)
    assert hazard_at_default(np.inf) == np.inf


# --- month by month ------------------------------------------------------------------------------------------------


def terms(**counterparties):
    """Two tranches of 1,000 GPUs at 2.00 an hour, ready in months 0 and 3, for two years."""
    return {
        "schema_version": 1,
        "clusters": {"one": {"units": {"gpu": 1000}}, "two": {"units": {"gpu": 1000}}},
        "services": {"compute": {"tranches": ["first", "second"]}},
        "commercial": {
            "currency": "USD",
            "charges": {"compute": {"price": {"per": "gpu_hour", "amount": "2.00"}}},
            "term": {"months": 24},
        },
        "delivery": {
            "tranches": {
                "first": {
                    "cluster": "one",
                    "ready_for_service_date": {"close_plus_months": 0},
                    "share_of_service": "0.5",
                },
                "second": {
                    "cluster": "two",
                    "ready_for_service_date": {"close_plus_months": 3},
                    "share_of_service": "0.5",
                },
            }
        },
        "finance": {"close": "2026-01-01", "currency": "USD", "horizon_months": 30},
        "assumptions": {"calendar": "equal_730", "counterparties": counterparties},
    }


CUSTOMER = {"default_rate": judged(0.04, "1/year")}
PROVIDER = {"default_rate": judged(0.01, "1/year")}
MARKET = {
    "spot_rent": judged(2.0, "USD/GPU-hour"),
    "decay_per_year": judged(0.0, "1/year"),
    "persistence": judged(0.9),
    "monthly_noise": judged(0.2),
}
FEE = 2.0 * 1000 * 730
"""Of one tranche. [USD/month]"""


class Seen:
    """A risk that does nothing but keep what others wrote, at the end of each month."""

    streams = ()

    def __init__(self, *names):
        self.rows = {name: [] for name in names}
        self.state = None

    def sample(self, rng, draws):
        return {}

    def base(self):
        return {}

    def ignores(self):
        return ()

    def steps(self):
        return {Phase.EXERCISE: self._keep}

    def _keep(self, month, state):
        self.state = state
        for name, rows in self.rows.items():
            rows.append(np.array(state.now.get(name, np.zeros(state.draws))))


def run(data, *names, draws=1, **paths):
    """Return the named arrays by month and draw, the state at the end, and the outcome of typed paths."""
    model = Model.of(Deal.model_validate(data))
    model.risks["seen"] = seen = Seen(*names)
    base = {name: np.repeat(array, draws, axis=0) for name, array in model.base_paths().items()}
    result = model.run(base | {name: np.asarray(path) for name, path in paths.items()}, draws)
    return {name: np.array(rows) for name, rows in seen.rows.items()}, seen.state, result


def test_the_customers_default_ends_all_contracts_and_its_months_fee_is_not_paid():
    rows, state, result = run(terms(customer=CUSTOMER), "fees", draws=2, customer_default_month=[6, 0])
    assert rows["fees"][:8, 0] == pytest.approx([FEE, FEE, FEE, 2 * FEE, 2 * FEE, 0, 0, 0])
    assert rows["fees"][:8, 1] == pytest.approx([FEE, FEE, FEE] + [2 * FEE] * 5)
    assert result.column["first_cause"].tolist() == ["customer_default", ""]
    assert result.column["first_month"].tolist() == [6, 0]
    assert state.last_billed.tolist() == [[5, 5], [0, 0]]
    assert [CAUSES[code] for code in state.ended_by[0]] == ["customer_default"] * 2
    assert not state.ended_by[1].any()


def test_a_term_that_is_over_is_not_ended_by_a_later_default():
    rows, state, result = run(terms(customer=CUSTOMER), "fees", customer_default_month=[26])
    assert state.ended_by.tolist() == [[0, CAUSES.index("customer_default")]]
    assert rows["fees"][24:, 0] == pytest.approx([FEE, 0, 0, 0, 0, 0])
    assert result.column["first_month"].tolist() == [26]


def test_only_causes_that_have_a_name_end_a_contract():
    _, state, _ = run(terms(customer=CUSTOMER))
    with pytest.raises(ValueError, match="bankruptcy"):
        state.end_contract(np.ones((1, 2), dtype=bool), "bankruptcy", 1, 1)


def test_the_provider_is_alive_until_the_month_of_its_default():
    rows, _, _ = run(
        terms(cover_provider=PROVIDER), "provider_alive", draws=3, cover_provider_default_time=[4.5, 4.0, np.inf]
    )
    assert rows["provider_alive"][:6, 0].tolist() == [1, 1, 1, 1, 0, 0]
    assert rows["provider_alive"][:6, 1].tolist() == [1, 1, 1, 0, 0, 0]
    assert rows["provider_alive"][:, 2].all()


def test_in_the_base_case_nobody_fails():
    model = Model.of(Deal.model_validate(terms(customer=CUSTOMER, cover_provider=PROVIDER)))
    result = model.base()
    assert result.column["customer_default_month"].tolist() == [0]
    assert result.column["cover_provider_default_time"].tolist() == [np.inf]
    assert result.column["first_cause"].tolist() == [""]


def test_an_estate_that_keeps_the_contract_leaves_one_fee_unpaid():
    data = terms(customer=CUSTOMER | {"assumed_share": judged(0.3)})
    rows, state, result = run(
        data,
        "fees",
        "unpaid_fees",
        "customer_defaults_now",
        "fees_withheld",
        draws=2,
        customer_default_month=[6, 6],
        assumed_score=[0.29, 0.31],
    )
    assert rows["customer_defaults_now"][5].tolist() == [1, 1]
    assert rows["fees_withheld"][5].tolist() == [1, 0]
    assert rows["unpaid_fees"][:, 0] == pytest.approx([0] * 5 + [2 * FEE] + [0] * 24)
    cash = result.monthly["cfads"][:, 4:7]
    assert cash == pytest.approx(np.array([[2 * FEE, 0, 2 * FEE], [2 * FEE, 0, 0]]))
    assert rows["fees"][5:8] == pytest.approx(np.array([[2 * FEE, 0]] * 3))
    assert result.column["first_cause"].tolist() == ["", "customer_default"]
    assert state.ended_by[0].tolist() == [0, 0]


def test_what_an_estate_leaves_unpaid_is_net_of_what_was_prepaid():
    data = terms(customer=CUSTOMER | {"assumed_share": judged(1.0)})
    data["commercial"]["prepayment"] = {"fraction": "0.25", "credited_from_month": 1}
    rows, _, _ = run(data, "unpaid_fees", customer_default_month=[6], assumed_score=[0.0])
    assert rows["unpaid_fees"][5, 0] == pytest.approx(2 * FEE * 0.75)


def test_a_cheap_market_is_a_weak_customer():
    data = terms(customer=CUSTOMER | {"market_link": judged(1.5)})
    data["assumptions"]["market"] = MARKET
    law = Model.of(Deal.model_validate(data)).risks["counterparty"]
    deviation = np.zeros((3, 30))
    deviation[1], deviation[2, 10:] = -0.5, -10.0
    score = np.full(3, ndtri(default_probability(0.04 * 20.5 / 12)))  # reached in month 21 by the plain hazard
    # by hand: exp(0.75) = 2.117 times the hazard reaches 20.5 months' worth in 9.68; exp(15) reaches it at once
    assert law.customer_default_months(score, deviation).tolist() == [21, 10, 11]


def test_a_hazard_beyond_measure_is_a_certain_default():
    data = terms(customer={"default_rate": judged(1e6, "1/year"), "market_link": judged(100)})
    data["assumptions"]["market"] = MARKET
    law = Model.of(Deal.model_validate(data)).risks["counterparty"]
    assert law.customer_default_months(np.array([0.0]), np.full((1, 30), -100.0)).tolist() == [1]


def test_a_customer_tied_to_the_market_needs_one():
    with pytest.raises(MissingTermError, match=r"assumptions\.market: missing"):
        Model.of(Deal.model_validate(terms(customer=CUSTOMER | {"market_link": judged(1.5)})))


def test_without_credit_of_either_nobody_is_modelled():
    model = Model.of(Deal.model_validate(terms()))
    assert "counterparty" not in model.risks


def test_what_is_left_out_names_whose_credit_is_not_given():
    model = Model.of(Deal.model_validate(terms(cover_provider=PROVIDER)))
    assert any("the customer always pays" in words for words in model.ignores())
    model = Model.of(Deal.model_validate(terms(customer=CUSTOMER)))
    assert any("claims against the estate have no value" in words for words in model.ignores())


# --- random numbers ------------------------------------------------------------------------------------------------


def sampled(data, draws=256):
    return Model.of(Deal.model_validate(data)).sample(3, 0, draws)


def test_a_provider_or_a_correlation_moves_no_customer():
    alone = sampled(terms(customer=CUSTOMER))
    both = sampled(terms(customer=CUSTOMER, cover_provider=PROVIDER))
    tied = sampled(terms(customer=CUSTOMER, cover_provider=PROVIDER, correlation=judged(0.8)))
    for other in (both, tied):
        np.testing.assert_array_equal(other["customer_score"], alone["customer_score"])
        np.testing.assert_array_equal(other["assumed_score"], alone["assumed_score"])
    expected = 0.8 * both["customer_score"] + 0.6 * both["cover_provider_score"]
    np.testing.assert_allclose(tied["cover_provider_score"], expected, rtol=1e-12)


def test_counterparties_move_no_other_risks_draws():
    data = terms()
    data["assumptions"]["market"] = MARKET
    data["assumptions"]["delay"] = {
        "share_late": judged(0.4),
        "median": judged(2, "month"),
        "sigma": judged(0.8),
        "shared_share": judged(0.5),
    }
    without = sampled(data)
    data["assumptions"]["counterparties"] = {"customer": CUSTOMER, "cover_provider": PROVIDER}
    added = sampled(data)
    assert added.keys() - without.keys() == {"customer_score", "cover_provider_score", "assumed_score"}
    for name, path in without.items():
        np.testing.assert_array_equal(added[name], path, err_msg=name)


def test_the_stream_is_drawn_to_the_same_length_whoever_may_fail():
    used = []
    for parties in (
        {"customer": CUSTOMER},
        {"cover_provider": PROVIDER},
        {"customer": CUSTOMER | {"assumed_share": judged(1)}},
    ):
        stream = generator(1, "counterparty", 0)
        Model.of(Deal.model_validate(terms(**parties))).risks["counterparty"].sample({"counterparty": stream}, 64)
        used.append(stream.random())
    assert used[0] == used[1] == used[2]


def test_a_longer_horizon_leaves_the_months_before_it():
    months = []
    for horizon in (12, 30):
        data = terms(customer=CUSTOMER)
        data["finance"]["horizon_months"] = horizon
        law = Model.of(Deal.model_validate(data)).risks["counterparty"]
        months.append(law.customer_default_months(np.linspace(-3, 3, 101), None))
    np.testing.assert_array_equal(months[0], np.where(months[1] <= 12, months[1], 0))


def test_default_frequencies_agree_with_the_closed_forms():
    law = Model.of(gd_05("0.8")).risks["counterparty"]
    draws = 200_000
    paths = law.sample({"counterparty": generator(7, "counterparty", 0)}, draws)
    customer = law.customer_default_months(paths["customer_score"], None)
    provider = law.cover_provider_default_times(paths["cover_provider_score"])
    first, second = (default_probability(rate * 4) for rate in (0.04, 0.01))
    for share, truth in (
        ((customer > 0).mean(), first),
        ((provider <= 48).mean(), second),
        (((customer > 0) & (provider <= 48)).mean(), joint_default_probability(first, second, 0.8)),
    ):
        assert abs(share - truth) <= 5 * np.sqrt(truth * (1 - truth) / draws)


# --- GD-05: first loss of a provider that can fail with the customer -----------------------------------------------


@pytest.fixture(scope="module", params=RHO)
def enumerated(request):
    """Every pair of default months with its exact probability, through the engine."""
    model = Model.of(gd_05(request.param))
    paths, weights = model.risks["counterparty"].enumerate_defaults()
    base = {name: np.repeat(array, len(weights), axis=0) for name, array in model.base_paths().items()}
    return request.param, model.run(base | paths, len(weights)), paths, weights


def test_the_exact_loss_under_a_first_loss_agrees(enumerated):
    rho, result, paths, weights = enumerated
    truth, column = TRUTH["by_rho"][rho], result.column
    assert weights @ (column["default_month"] > 0) == pytest.approx(TRUTH["pd_term"], abs=1e-9)
    first_year = (column["default_month"] > 0) & (column["default_month"] <= 12)
    assert weights @ first_year == pytest.approx(TRUTH["pd_12_months"], abs=1e-9)
    assert weights @ column["loss_cover"] == pytest.approx(truth["guarantee_expected_payment_usd"], rel=1e-8)
    assert weights @ column["loss"] == pytest.approx(truth["el_usd"], rel=1e-8)
    assert weights @ column["loss"] / 50e6 * 1e4 == pytest.approx(truth["el_bp"], rel=1e-8)
    before = weights @ (column["exposure"] - column["recovery"])
    assert before == pytest.approx(truth["el_no_guarantee_usd"], rel=1e-8)
    month, time = paths["customer_default_month"], paths["cover_provider_default_time"]
    failed = weights @ ((month > 0) & (time <= month)) / (weights @ (month > 0))
    assert failed == pytest.approx(truth["p_provider_failed_by_claim_given_customer_default"], abs=1e-9)


def test_every_default_is_put_down_to_the_customer(enumerated):
    _, result, _, _ = enumerated
    assert set(result.column["default_cause"][result.column["default_month"] > 0]) == {"customer_default"}


@pytest.mark.parametrize("rho", RHO)
def test_the_simulated_loss_under_a_first_loss_agrees(rho):
    result = Model.of(gd_05(rho)).simulate(16_384, seed=5)
    loss = result.column["loss"]
    error = loss.std(ddof=1) / np.sqrt(len(loss))
    assert abs(loss.mean() - TRUTH["by_rho"][rho]["el_usd"]) <= 5 * error


def test_months_of_default_have_no_exact_law_when_the_hazard_follows_the_market():
    data = terms(customer=CUSTOMER | {"market_link": judged(1.5)})
    data["assumptions"]["market"] = MARKET
    with pytest.raises(NotComputedError, match="a hazard that follows the market"):
        Model.of(Deal.model_validate(data)).risks["counterparty"].enumerate_defaults()
