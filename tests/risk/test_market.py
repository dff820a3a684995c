"""Spot rent: order of sampling, the quoted path, means in closed form. Figures of golden deal GD-10 are copied here."""

import numpy as np
import pytest

from risk.core.rng import generator
from risk.market.rent import Rent
from risk.residual_value import value_per_gpu
from schemas.assumptions import MarketLaw

GD_10 = Rent(
    months=55,
    spot_rent=2.4,
    decay_per_year=0.18,
    persistence=0.9,
    monthly_noise=0.06,
    tight_to_loose=0.04,
    loose_to_tight=0.06,
    tight_level=0.12,
    loose_level=-0.2,
    starts_tight=True,
    launch_earliest=18.0,
    launch_latest=36.0,
    log_drop=0.2,
)
MEANS = {24: 1.6127918695996, 48: 0.96744753766125}


def changed(**terms) -> Rent:
    return Rent(**({name: getattr(GD_10, name) for name in Rent.__dataclass_fields__} | terms))


def drawn(rent: Rent, draws: int = 20_000) -> dict:
    return rent.sample({name: generator(4, name, 0) for name in rent.streams}, draws)


def sourced(value, unit="1"):
    return {"value": str(value), "unit": unit, "kind": "judgement", "as_of": "2026-11-30", "rationale": "worked here"}


def law(**terms) -> MarketLaw:
    return MarketLaw.model_validate(
        {
            "spot_rent": sourced("2.40", "USD/GPU-hour"),
            "decay_per_year": sourced("0.18", "1/year"),
            "persistence": sourced("0.9"),
            "monthly_noise": sourced("0.06"),
        }
        | terms
    )


# --- the quoted path ---------------------------------------------------------------------------------------------


def test_the_base_path_is_the_quoted_one_whatever_the_regimes_and_the_noise():
    base = GD_10.base()
    month = np.arange(1, 56)
    quoted = 2.4 * np.exp(-0.18 * month / 12 - 0.2 * (month >= 27))  # the launch in the middle of 18 to 36
    np.testing.assert_allclose(base["spot_rent"], quoted[None], rtol=1e-14)
    np.testing.assert_array_equal(base["rent_deviation"], np.zeros((1, 55)))
    assert base["spot_rent"][0, 54] == pytest.approx(0.86111151697428, rel=1e-12)


def test_the_value_left_at_the_end_of_the_quoted_path_is_that_of_the_golden_deal():
    rent = 0.9 * GD_10.base()["spot_rent"][0, 54:]
    cost = 0.16024305555556 + 331.38888888889 / 730
    worth = sum(
        2304
        * value_per_gpu(
            rent, np.float64(6 - (55 - planned) / 12), cash_cost=cost, decay=0.18, discount=0.15, utilisation=0.85
        )[0]
        for planned in (4, 7)
    )
    assert worth == pytest.approx(3_218_917.778276, rel=1e-9)


# --- means -------------------------------------------------------------------------------------------------------


def test_the_exact_mean_of_rent_is_that_of_the_golden_deal():
    for month, truth in MEANS.items():
        assert GD_10.mean()[month - 1] == pytest.approx(truth, rel=1e-12)


def test_sampled_rent_has_the_exact_mean_in_every_month():
    rents = drawn(GD_10)["spot_rent"]
    gap = (rents.mean(axis=0) - GD_10.mean()) / (rents.std(axis=0) / np.sqrt(len(rents)))
    assert abs(gap).max() < 5
    for month, truth in MEANS.items():
        column = rents[:, month - 1]
        assert abs(column.mean() - truth) < 5 * column.std() / np.sqrt(len(column))


@pytest.mark.parametrize("persistence", [0.0, 0.7, 1.0])
def test_noise_that_preserves_the_mean_leaves_the_quoted_path_as_the_mean(persistence):
    rent = changed(persistence=persistence, mean_preserving=True, tight_level=0.0, loose_level=0.0, log_drop=0.0)
    np.testing.assert_allclose(rent.mean(), rent.base()["spot_rent"][0], rtol=1e-13)
    rents = drawn(rent)["spot_rent"]
    gap = (rents.mean(axis=0) - rent.mean()) / (rents.std(axis=0) / np.sqrt(len(rents)))
    assert abs(gap).max() < 5


@pytest.mark.parametrize("persistence", [0.7, 1.0])
def test_noise_that_does_not_preserve_the_mean_leaves_the_quoted_path_as_a_median(persistence):
    rent = changed(persistence=persistence, tight_level=0.0, loose_level=0.0, log_drop=0.0)
    above = (drawn(rent)["spot_rent"] > rent.base()["spot_rent"]).mean(axis=0)
    assert abs(above - 0.5).max() < 5 * 0.5 / np.sqrt(20_000)
    assert (rent.mean() > rent.base()["spot_rent"][0]).all()


def test_only_a_random_walk_preserves_the_mean_unless_the_deal_says_otherwise():
    assert not Rent.of(law(), 12).mean_preserving
    assert Rent.of(law(persistence=sourced(1)), 12).mean_preserving
    assert Rent.of(law(mean_preserving=True), 12).mean_preserving
    assert not Rent.of(law(persistence=sourced(1), mean_preserving=False), 12).mean_preserving


# --- order of a month --------------------------------------------------------------------------------------------


def test_the_regime_moves_before_the_rent_of_its_month():
    rent = changed(tight_to_loose=1.0, loose_to_tight=0.0, monthly_noise=0.0)
    deviation = drawn(rent, 3)["rent_deviation"]
    np.testing.assert_allclose(deviation[:, 0], 0.1 * -0.2, rtol=1e-14)
    np.testing.assert_allclose(deviation[:, 1], 0.9 * 0.1 * -0.2 + 0.1 * -0.2, rtol=1e-14)


def test_the_deviation_is_what_rent_does_beyond_age_and_launch():
    rent = changed(log_drop=0.0)
    paths = drawn(rent, 500)
    aged = 2.4 * np.exp(-0.18 * np.arange(1, 56) / 12)
    np.testing.assert_allclose(np.log(paths["spot_rent"] / aged), paths["rent_deviation"], atol=1e-13)
    np.testing.assert_array_equal(drawn(GD_10, 500)["rent_deviation"], paths["rent_deviation"])


def test_each_whole_month_of_the_range_is_as_likely_to_see_the_launch():
    rent = changed(monthly_noise=0.0, tight_level=0.0, loose_level=0.0, launch_earliest=17.5, launch_latest=36.0)
    fallen = np.log(drawn(rent)["spot_rent"] / changed(log_drop=0.0).base()["spot_rent"]) < -0.1
    launch = fallen.argmax(axis=1) + 1
    months, count = np.unique(launch, return_counts=True)
    assert months.tolist() == list(range(18, 37))
    assert abs(count / 20_000 - 1 / 19).max() < 5 * np.sqrt(1 / 19 * 18 / 19 / 20_000)
