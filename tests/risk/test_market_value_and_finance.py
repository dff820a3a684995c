"""Market, GPU value, loan arithmetic, waterfall and exits against closed forms and worked tables."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from risk.core.rng import generator
from risk.core.setting import share_in_term
from risk.delay import Delay
from risk.engine import Model
from risk.finance.loan import level_payment
from risk.finance.ratios import annual_return, dscr, life_cover_ratio
from risk.market.rent import Rent
from risk.residual_value import value_per_gpu
from risk.score import score
from schemas.deal import Deal

GOLDEN = Path(__file__).parents[1] / "golden"


def golden_data(name: str) -> dict:
    return yaml.safe_load((GOLDEN / f"{name}.yaml").read_text())


# --- GPU value: closed form of the discounted rent above cash cost ---------------------------------------------


@pytest.mark.parametrize(
    ("age", "truth"),
    [
        (0, 49953.941546),
        (1, 37270.681978),
        (2, 27107.214454),
        (3, 19034.917631),
        (4, 12706.45373),
        (5, 7841.49174),
        (6, 4215.076893),
        (7, 1648.174151),
    ],
)
def test_a_gpu_is_worth_its_discounted_rent_above_cash_cost(age, truth):
    # reference case RV-01: rent 3.00 falling 20% a year, cost 0.45, discount 12%, life 8 years, utilisation 0.9
    rent = np.array([3.0 * np.exp(-0.2 * age)])
    value = value_per_gpu(rent, np.array([8.0 - age]), cash_cost=0.45, decay=0.2, discount=0.12, utilisation=0.9)
    assert value[0] == pytest.approx(truth, rel=1e-8)


@pytest.mark.parametrize(
    ("spot", "truth"),
    [
        (0.4, 0.0),
        (0.6, 336.26349751819),
        (0.8, 2346.1478637116),
        (1.0, 5272.6438332215),
        (1.5, 12874.632094116),
        (2.0, 20476.62035501),
        (3.0, 35680.596876798),
    ],
)
def test_the_right_to_switch_off_ends_the_value_when_rent_meets_cost(spot, truth):
    # reference case GD-08: cost 0.50, three years of life left
    value = value_per_gpu(np.array([spot]), np.array([3.0]), cash_cost=0.5, decay=0.2, discount=0.12, utilisation=0.9)
    assert value[0] == pytest.approx(truth, rel=1e-8, abs=1e-8)


@given(rent=st.floats(0.01, 20), cost=st.floats(0.01, 5), decay=st.floats(0, 1), life=st.floats(0, 8))
def test_value_is_never_negative_and_never_below_half_the_rent(rent, cost, decay, life):
    def value(r: float) -> float:
        return float(
            value_per_gpu(np.array([r]), np.array([life]), cash_cost=cost, decay=decay, discount=0.1, utilisation=1)[0]
        )

    assert value(rent) >= value(rent / 2) >= 0


# --- market ------------------------------------------------------------------------------------------------------


def walk(**changes: float) -> Rent:
    terms = {
        "months": 36,
        "spot_rent": 2.4,
        "decay_per_year": 0.18,
        "persistence": 0.8,
        "monthly_noise": 0.06,
        "tight_to_loose": 0.0,
        "loose_to_tight": 0.0,
        "tight_level": 0.0,
        "loose_level": 0.0,
        "starts_tight": True,
        "launch_earliest": np.inf,
        "launch_latest": np.inf,
        "log_drop": 0.0,
    }
    return Rent(**(terms | changes))


def drawn(rent: Rent, draws: int = 20_000) -> np.ndarray:
    return rent.sample({name: generator(4, name, 0) for name in rent.streams}, draws)["spot_rent"]


def test_without_noise_rent_falls_by_age_alone():
    expected = 2.4 * np.exp(-0.18 * np.arange(1, 37) / 12)
    np.testing.assert_allclose(walk(monthly_noise=0.0).base()["spot_rent"][0], expected, rtol=1e-14)


def test_the_median_of_a_mean_reverting_path_is_the_quoted_path_and_its_spread_is_the_stationary_one():
    log_rent = np.log(drawn(walk()))[:, -1]
    sd = 0.06 * np.sqrt((1 - 0.8 ** (2 * 36)) / (1 - 0.8**2))
    assert abs(log_rent.mean() - (np.log(2.4) - 0.18 * 3)) < 5 * sd / np.sqrt(20_000)
    assert log_rent.std() == pytest.approx(sd, rel=0.03)


def test_a_random_walk_keeps_its_mean():
    rents = drawn(walk(persistence=1.0, mean_preserving=True))[:, -1] / np.exp(-0.18 * 3)
    assert abs(rents.mean() - 2.4) < 5 * rents.std() / np.sqrt(20_000)


def test_regimes_settle_at_their_long_run_shares():
    log_rent = np.log(
        drawn(
            walk(
                persistence=0.0,
                monthly_noise=0.0,
                decay_per_year=0.0,
                loose_level=-0.3,
                tight_to_loose=0.1,
                loose_to_tight=0.3,
                months=60,
            )
        )
    )[:, -1]
    loose = (log_rent < np.log(2.4) - 0.1).mean()
    assert loose == pytest.approx(0.25, abs=5 * np.sqrt(0.25 * 0.75 / 20_000))


def test_the_next_generation_takes_its_drop_from_its_month_on():
    rents = drawn(walk(monthly_noise=0.0, launch_earliest=12.0, launch_latest=24.0, log_drop=0.2))
    plain = walk(monthly_noise=0.0).base()["spot_rent"][0]
    np.testing.assert_allclose(rents[:, :11], np.tile(plain[:11], (20_000, 1)))
    np.testing.assert_allclose(rents[:, 24:], np.tile(plain[24:] * np.exp(-0.2), (20_000, 1)))


# --- loan, ratios, returns -----------------------------------------------------------------------------------------


def test_the_level_payment_is_the_textbook_one():
    # numpy-financial's documented pmt(0.075/12, 15*12, 200000)
    assert level_payment(200_000, 0.075 / 12, 180) == pytest.approx(1854.0247200055, rel=1e-12)
    assert level_payment(1200, 0.0, 12) == 100


def test_the_internal_rate_of_return_is_the_textbook_one():
    # numpy-financial's documented irr([-100, 39, 59, 55, 20]) = 0.28095, here a month
    rate, reason = annual_return(np.array([-100, 39, 59, 55, 20.0]))
    assert reason is None
    assert (1 + rate) ** (1 / 12) - 1 == pytest.approx(0.2809484212, abs=1e-9)


def test_a_return_without_a_change_of_sign_is_undefined_and_says_so():
    assert annual_return(np.array([100.0, 5.0])) == (None, "no_sign_change")
    assert annual_return(np.array([-1.0, 2.4, -1.43])) == (None, "several_roots")


def test_cover_ratios_of_a_falling_cash_flow():
    # reference case PF-13, by year
    cash = np.array([40, 36, 30, 24, 18, 12.0])
    payment = level_payment(70, 0.09, 5)
    np.testing.assert_allclose(
        dscr(cash[:5], np.full(5, payment)),
        [2.2226578648, 2.0003920783, 1.6669933986, 1.3335947189, 1.0001960391],
        rtol=1e-9,
    )
    assert life_cover_ratio(cash[:5], 0.09, 70) == pytest.approx(1.6980600269, rel=1e-9)
    assert life_cover_ratio(cash, 0.09, 70) == pytest.approx(1.800277283, rel=1e-9)
    assert life_cover_ratio(cash, 0.09, 0) is None


def test_the_waterfall_pays_in_its_order():
    """Reference case PF-18: debt service, reserve draw, trap draw, top-up, lock-up test, distribution."""
    model = Model.of(Deal.model_validate(golden_data("gd-01")))
    finances = model.risks["finance"]
    finances.service, finances.targets = np.full(39, 18.0), np.full(40, 9.0)
    state = state_of(model)
    rows = []
    for month, cash in enumerate([30.0, 20.0, 12.0, 35.0], start=1):
        state.now["cfads"] = np.array([cash])
        finances._waterfall(month, state)
        rows.append(tuple(float(state.now[name][0]) for name in ("unpaid", "reserve", "distribution", "trapped")))
    assert rows == [(0, 9, 12, 0), (0, 9, 0, 2), (0, 3, 0, 2), (0, 9, 13, 0)]


def state_of(model: Model):
    from risk.core.protocol import State

    tranches = len(model.setting.tranches)
    return State(
        path={"ready": np.zeros((1, tranches))},
        under_contract=np.ones((1, tranches), dtype=bool),
        last_billed=np.zeros((1, tranches), dtype=np.int64),
        first_cause=np.array([""], dtype="U24"),
        first_month=np.zeros(1, dtype=np.int64),
    )


@given(cash=st.lists(st.floats(-30, 60), min_size=39, max_size=39))
def test_cash_in_equals_cash_out_in_every_draw(cash):
    model = Model.of(Deal.model_validate(golden_data("gd-01")))
    finances, state = model.risks["finance"], state_of(model)
    finances.residual = None
    finances.service, finances.targets = np.full(39, 18.0), np.full(40, 9.0)
    paid = distributed = 0.0
    for month, amount in enumerate(cash, start=1):
        state.now["cfads"] = np.array([amount])
        finances._waterfall(month, state)
        if state.now["unpaid"][0] > 0:
            break
        paid += 18.0
        distributed += float(state.now["distribution"][0])
        held = float(state.now["reserve"][0] + state.now["trapped"][0])
        assert 9.0 + sum(cash[:month]) == pytest.approx(paid + distributed + held, abs=1e-9)


# --- delay -----------------------------------------------------------------------------------------------------


def test_limited_means_agree_with_sampling():
    law = Delay(share_late=0.35, median=2.0, sigma=0.9, shared_share=0.5)
    rng = generator(9, "delivery", 0)
    scores = rng.standard_normal((200_000, 2))
    delays = law.of_scores(scores[:, 0], scores[:, 1:])[:, 0]
    for cut in (1.0, 6.0):
        cut_delays = np.minimum(delays, cut)
        assert abs(cut_delays.mean() - law.limited_mean(cut)) < 5 * cut_delays.std() / np.sqrt(200_000)
    assert abs((delays > 6).mean() - law.probability_over(6)) < 5 * np.sqrt(law.probability_over(6) / 200_000)
    assert np.quantile(delays, 0.9) == pytest.approx(law.quantile(0.9), rel=0.03)
    assert law.quantile(0.5) == 0


def test_tranches_share_the_common_part_of_their_delay():
    law = Delay(share_late=1.0, median=2.0, sigma=0.5, shared_share=0.64)
    scores = generator(2, "delivery", 0).standard_normal((50_000, 3))
    logs = np.log(law.of_scores(scores[:, 0], scores[:, 1:]))
    assert np.corrcoef(logs.T)[0, 1] == pytest.approx(0.64, abs=0.02)


@given(ready=st.floats(0, 40), term=st.integers(1, 36))
def test_a_tranche_is_billed_for_exactly_its_term(ready, term):
    billed = sum(float(share_in_term(np.array([ready]), month, np.array([ready + term]))[0]) for month in range(1, 90))
    assert billed == pytest.approx(term, abs=1e-9)


# --- exits -----------------------------------------------------------------------------------------------------


def test_a_right_is_used_only_when_it_pays_and_part_of_the_time_rent_is_set_anew():
    """Reference case GD-12: exact chain; rights lapse before month 15, the first that pays."""
    data = golden_data("gd-02")
    number = {"kind": "judgement", "as_of": "2026-11-30", "rationale": "reference case GD-12"}
    data["commercial"]["charges"]["compute"]["price"] = {"per": "gpu_hour", "amount": "2.15"}
    data["assumptions"]["exercise"] = {
        "chronic_failure": "rational_or_reprice",
        "switching_cost": {"value": "0.10", "unit": "1", **number},
        "reprice_probability": {"value": "0.4", "unit": "1", **number},
        "reprice_floor": {"value": "0.80", "unit": "1", **number},
    }
    data["assumptions"]["market"] = {
        "spot_rent": {"value": "2.40", "unit": "USD/GPU-hour", **number},
        "decay_per_year": {"value": "0.18", "unit": "1/year", **number},
        "persistence": {"value": "0", "unit": "1", **number},
        "monthly_noise": {"value": "0", "unit": "1", **number},
    }
    model = Model.of(Deal.model_validate(data))
    draws, parts = 0, []
    for block in range(6):
        parts.append(model.run(model.sample(13, block), 8192))
        draws += 8192
    month = np.concatenate([part.column["first_month"] for part in parts])
    cause = np.concatenate([part.column["first_cause"] for part in parts])
    assert month[month > 0].min() == 15
    # a draw that was re-priced first may be cancelled later only if rent falls below the new rent again
    first_use_is_cancellation = 0.11524174403202
    share = ((cause == "chronic_failure") & ~repriced_before(parts)).mean()
    assert abs(share - first_use_is_cancellation) < 5 * np.sqrt(0.115 * 0.885 / draws)


def repriced_before(parts) -> np.ndarray:
    return np.concatenate([part.column["repriced"] for part in parts])


def test_notice_ends_the_contract_after_its_months_and_only_from_its_date():
    data = golden_data("gd-01")
    number = {"kind": "judgement", "as_of": "2026-11-30", "rationale": "worked here"}
    data["cancellation"] = {"convenience": {"first_exercise": {"close_plus_months": 12}, "notice": {"months": 3}}}
    data["assumptions"]["exercise"]["convenience"] = "rational"
    data["assumptions"]["market"] = {
        "spot_rent": {"value": "1.00", "unit": "USD/GPU-hour", **number},
        "decay_per_year": {"value": "0", "unit": "1/year", **number},
        "persistence": {"value": "0", "unit": "1", **number},
        "monthly_noise": {"value": "0", "unit": "1", **number},
    }
    out = score(Deal.model_validate(data), draws=32)
    assert out["cancellation"]["by_cause"]["convenience"] == 1.0
    by_month = out["cancellation"]["by_month"]
    assert by_month[15 - 2] == 0.0
    assert by_month[15 - 1] == 1.0  # notice at the end of month 12, three months


def test_a_larger_reserve_makes_no_draw_default_earlier():
    small, large = golden_data("gd-02"), golden_data("gd-02")
    large["finance"]["reserve"]["months"] = 6
    months = []
    for data in (small, large):
        model = Model.of(Deal.model_validate(data))
        column = model.run(model.sample(3, 0, 4096), 4096).column["default_month"].astype(int)
        months.append(np.where(column == 0, 10_000, column))
    assert (months[1] >= months[0]).all()
    assert (months[1] > months[0]).any()
