"""Edges of the simulation: small last blocks, windows of fans, ranges of months, shared clusters, bases and caps."""

from pathlib import Path

import numpy as np
import pytest
import yaml

from risk.cluster.counts import inverse_binomial
from risk.core.rng import generator
from risk.core.setting import setting
from risk.engine import Model
from risk.finance.loan import reserve_targets
from risk.market.rent import Rent
from risk.score import score
from schemas.deal import Deal
from schemas.finance import Loan

GOLDEN = Path(__file__).parents[1] / "golden"


def golden(name: str) -> dict:
    return yaml.safe_load((GOLDEN / f"{name}.yaml").read_text())


def sourced(value, unit="1"):
    return {"value": str(value), "unit": unit, "kind": "judgement", "as_of": "2026-11-30", "rationale": "worked here"}


MARKET = {
    "spot_rent": sourced("2.40", "USD/GPU-hour"),
    "decay_per_year": sourced("0.18", "1/year"),
    "persistence": sourced(0),
    "monthly_noise": sourced("0.05"),
}


def model(data: dict) -> Model:
    return Model.of(Deal.model_validate(data))


# --- draws -----------------------------------------------------------------------------------------------------


def test_a_last_block_of_one_draw_in_which_no_right_arises_joins_the_others():
    data = golden("gd-02")
    data["commercial"]["charges"]["compute"]["price"] = {"per": "gpu_hour", "amount": "2.15"}
    data["assumptions"]["market"] = MARKET
    data["assumptions"]["exercise"] = {"chronic_failure": "rational_or_reprice", "reprice_probability": sourced("0.4")}
    one = model(data)
    seed = next(s for s in range(50) if not one.sample(s, 1)["bad_month"][0].any())
    result = one.simulate(8193, seed=seed)
    assert result.column["repriced"].shape == (8193,)


@pytest.mark.parametrize("name", ["spot_rent", "bad_month"])
def test_a_longer_horizon_leaves_the_months_before_it_as_they_were(name):
    data = golden("gd-02")
    data["assumptions"]["market"] = MARKET
    short = model(data).sample(3, 0, 500)[name]
    data["finance"]["loan"]["payments"] = 40
    long = model(data).sample(3, 0, 500)[name]
    np.testing.assert_array_equal(long[..., :36], short)
    assert long.shape[-1] == 40


def test_a_further_tranche_leaves_the_delay_of_the_others_as_it_was():
    data = golden("gd-04")
    data["assumptions"]["delay"]["shared_share"]["value"] = "0.5"
    alone = model(data).sample(3, 0, 500)["ready"]
    tranches = data["delivery"]["tranches"]
    tranches["tranche-1"]["share_of_service"] = "0.5"
    tranches["tranche-2"] = tranches["tranche-1"]
    data["services"]["compute"]["tranches"] = ["tranche-1", "tranche-2"]
    np.testing.assert_array_equal(model(data).sample(3, 0, 500)["ready"][:, :1], alone)


def test_the_next_generation_comes_in_each_month_of_its_range_alike():
    rent = Rent(
        months=24,
        spot_rent=1.0,
        decay_per_year=0.0,
        persistence=0.0,
        monthly_noise=0.0,
        tight_to_loose=0.0,
        loose_to_tight=0.0,
        tight_level=0.0,
        loose_level=0.0,
        starts_tight=True,
        launch_earliest=12.0,
        launch_latest=15.0,
        log_drop=0.5,
    )
    draws = 20_000
    rents = rent.sample({name: generator(4, name, 0) for name in rent.streams}, draws)["spot_rent"]
    fell = (rents < 0.9).argmax(axis=1) + 1
    shares = np.bincount(fell, minlength=17)[12:17] / draws
    np.testing.assert_allclose(shares[:4], 0.25, atol=5 * np.sqrt(0.25 * 0.75 / draws))
    assert shares[4] == 0


@pytest.mark.parametrize(("number", "p"), [(200, 0.3), (500, 0.9), (25_000, 0.01), (10, 0.2)])
def test_the_base_case_of_many_nodes_has_none_in_any_band(number, p):
    assert inverse_binomial(0.0, number, p) == 0
    assert abs(inverse_binomial(0.5, number, p) - number * p) <= 1


# --- cover and reserve -----------------------------------------------------------------------------------------


def test_the_fan_of_cover_holds_the_draws_that_default_in_the_month_itself():
    out = score(Deal.model_validate(golden("gd-02")), draws=2_000, seed=1)
    by_month, fan = out["default"]["by_month"], out["dscr"]["fan"]
    before = [0.0, *by_month[:-1]]
    assert fan["draws"] == [round(2_000 * (1 - share)) for share in before]
    assert by_month[-1] > 0


def test_the_reserve_is_held_for_payments_past_the_last_month_that_is_simulated():
    loan = Loan(amount="1200", annual_rate="0", first_payment_month=3, payments=12)
    assert reserve_targets(loan, 3, 10).tolist() == [300] * 11
    assert reserve_targets(loan, 3, 15).tolist() == [300] * 12 + [200, 100, 0, 0]
    assert reserve_targets(loan, 20, 3).tolist() == [1200, 1200, 1200, 1100]


def test_cash_is_free_once_the_loan_is_repaid():
    data = golden("gd-01")
    data["finance"]["horizon_months"] = 45
    data["commercial"]["term"]["months"] = 42
    base = model(data).base()
    cash = base.monthly["cfads"][0, 39:]
    assert (cash > 0).all()
    np.testing.assert_allclose(base.monthly["distribution"][0, 39:], cash)


def test_cover_exactly_at_the_level_passes_the_lock_up_test_and_the_covenant():
    data = golden("gd-02")
    data["finance"]["lock_up"] = {"dscr": "1.30", "look_back_months": 3}
    data["finance"]["covenants"] = {"minimum_dscr": "1.30"}
    data["assumptions"]["prescribed"]["bad_month"]["probability"] = "0"
    out = score(Deal.model_validate(data), draws=32)
    assert out["dscr"]["probability_below_covenant"] == 0
    assert min(row["distribution"] for row in out["base_case"]["rows"]) > 0


# --- tranches, terms, credits ------------------------------------------------------------------------------------


def test_tranches_of_one_cluster_share_its_gpus_and_their_fees():
    data = golden("gd-01")
    tranches = data["delivery"]["tranches"]
    tranches["tranche-1"]["share_of_service"] = "0.25"
    tranches["tranche-2"] = tranches["tranche-1"] | {"share_of_service": "0.75"}
    data["services"]["compute"]["tranches"] = ["tranche-1", "tranche-2"]
    frame, whole = setting(Deal.model_validate(data)), setting(Deal.model_validate(golden("gd-01")))
    assert frame.gpus.tolist() == [250, 750]
    np.testing.assert_allclose(frame.fees.sum(axis=0), whole.fees[0])


def test_a_term_that_is_over_neither_earns_nor_runs():
    data = golden("gd-01")
    data["commercial"]["term"]["months"] = 20
    base = model(data).base()
    assert base.monthly["fees"][0, 22] > 0
    assert not base.monthly["fees"][0, 23:].any()
    other = 0.35 * 1000 * 730  # the site is still paid for; power is not used
    np.testing.assert_allclose(base.monthly["operating_costs"][0, 23:], other)


def test_what_a_short_month_cannot_take_of_the_prepayment_waits():
    data = golden("gd-01")
    data["assumptions"]["calendar"] = "real"
    data["commercial"]["prepayment"] = {"fraction": "0.5", "credited_from_month": 19}  # all of the fees of 18 months
    del data["finance"]["tax"]
    paid_ahead = model(data)
    del data["commercial"]["prepayment"]
    with_it, without = paid_ahead.base(), model(data).base()
    credited = (without.monthly["cfads"] - with_it.monthly["cfads"])[0]
    waiting = 0.0
    for fee, used in zip(with_it.monthly["fees"][0, -18:], credited[-18:], strict=True):
        waiting += paid_ahead.setting.prepaid[0] / 18
        assert used == pytest.approx(min(waiting, fee))
        waiting -= min(waiting, fee)
    assert waiting > 0  # February could not take its part


def outage_paths(one: Model, month: int, hours: float) -> dict:
    """Return the base paths with one outage in `month`, which strikes every tranche."""
    tranches = len(one.setting.tranches)
    start = int(one.setting.timeline.edges_seconds[month - 1]) + 3600
    return one.base_paths() | {
        "outage_draw": np.zeros(tranches, dtype=np.int64),
        "outage_tranche": np.arange(tranches),
        "outage_start_s": np.full(tranches, start),
        "outage_end_s": np.full(tranches, start + int(hours * 3600)),
    }


def credited_deal(**credits) -> dict:
    """Return two tranches of 500,000 a month in one service, with a table of 20% below 99%."""
    data = golden("gd-02")
    data["clusters"] = {"c1": {"units": {"gpu": 8}}, "c2": {"units": {"gpu": 8}}}
    data["services"]["compute"]["tranches"] = ["t1", "t2"]
    data["delivery"]["tranches"] = {
        f"t{j}": {"cluster": f"c{j}", "ready_for_service_date": {"close_plus_months": 0}, "share_of_service": "0.5"}
        for j in (1, 2)
    }
    data["commercial"]["charges"]["compute"]["price"]["amount"] = "1000000"
    data["service_levels"]["cluster"]["credit"]["bands"] = [{"below": "0.99", "credit_fraction": "0.2"}]
    data["cancellation"] = {}
    data["credits"] = credits
    prescribed = data["assumptions"]["prescribed"]
    del prescribed["bad_month"], prescribed["cfads"]
    prescribed["outages"] = {
        "outages_per_year": sourced(1, "1/year"),
        "median_hours": sourced(1, "h"),
        "sigma": sourced("0.1"),
    }
    return data


@pytest.mark.parametrize(
    ("credits", "prepaid", "expected"),
    [
        ({}, "0", 200_000),
        ({"caps": {"unit": "0.15"}}, "0", 150_000),
        ({"base": "service_fee_accrued"}, "0", 400_000),
        ({"base": "service_fee_accrued", "caps": {"unit": "0.25"}}, "0", 250_000),
        ({"includes_prepaid": False}, "0.3", 140_000),
    ],
)
def test_credits_are_of_the_base_that_the_contract_names_up_to_the_cap_of_the_unit(credits, prepaid, expected):
    data = credited_deal(**credits)
    if prepaid != "0":
        data["commercial"]["prepayment"] = {"fraction": prepaid, "credited_from_month": 1}
    one = model(data)
    result = one.run(outage_paths(one, 5, 20), 1)
    assert result.monthly["credits"][0, 4] == pytest.approx(expected, abs=0.02)


def test_an_outage_after_the_term_does_not_count():
    data = credited_deal()
    data["commercial"]["term"]["months"] = 12
    data["delivery"]["tranches"]["t1"]["ready_for_service_date"] = {"close_plus_months": 0}
    one = model(data)
    paths = outage_paths(one, 13, 20)
    paths["ready"] = np.array([[0.5, 0.0]])  # the first tranche's term ends in the middle of month 13
    paths["outage_start_s"] += 20 * 24 * 3600
    paths["outage_end_s"] += 20 * 24 * 3600
    assert not one.run(paths, 1).monthly["credits"].any()


def test_bad_months_of_one_service_end_no_other():
    data = credited_deal()
    data["services"] = {"compute": {"tranches": ["t1"]}, "storage": {"tranches": ["t2"]}}
    for name in ("t1", "t2"):
        data["delivery"]["tranches"][name]["share_of_service"] = "1"
    data["commercial"]["charges"]["storage"] = {"price": {"per": "lump_month", "amount": "1000"}}
    data["service_levels"]["cluster"]["service"] = "storage"
    data["cancellation"] = {
        "chronic_failure": {
            "limbs": [
                {"form": "bad_months", "service_level": "cluster", "below": "0.99", "k": 1, "m": 1},
                {"form": "single_outage", "service_level": "cluster", "hours": 10},
            ],
            "scope": "tranche",
        }
    }
    data["commercial"]["term"]["months"] = 48
    one = model(data)
    result = one.run(outage_paths(one, 5, 20) | {"may_leave": np.ones(1, dtype=bool)}, 1)
    fees = result.monthly["fees"][0]
    np.testing.assert_allclose(fees[:5], 1_001_000)
    np.testing.assert_allclose(fees[5:], 1_000_000)


def test_who_gives_notice_past_the_end_of_the_term_pays_no_fee_for_leaving():
    data = golden("gd-01")
    data["commercial"]["term"]["months"] = 20  # to month 23
    data["cancellation"] = {
        "convenience": {"first_exercise": {"close_plus_months": 19}, "notice": {"months": 5}, "fee": "100000"}
    }
    data["assumptions"]["exercise"]["convenience"] = "rational"
    data["assumptions"]["market"] = MARKET | {"spot_rent": sourced("0.5", "USD/GPU-hour")}
    one = model(data)
    cash = [
        one.run(one.base_paths() | {"may_leave": np.array([leaves])}, 1).monthly["cfads"][0] for leaves in (True, False)
    ]
    np.testing.assert_allclose(cash[0], cash[1])
