"""Capacity under no contract: from when it is let again, how much of it, at what rent, and when not."""

from pathlib import Path

import numpy as np
import pytest
import yaml

from risk.core.protocol import Phase, State
from risk.core.setting import setting
from risk.revenue import from_deal
from schemas.deal import Deal
from schemas.errors import MissingTermError

GPUS, HOURS = 1000, 730
GOLDEN = Path(__file__).parents[1] / "golden" / "gd-10.yaml"


def sourced(value, unit="1"):
    return {"value": str(value), "unit": unit, "kind": "judgement", "as_of": "2026-11-30", "rationale": "worked here"}


RELETTING = {  # those of golden deal GD-10
    "empty": sourced(3, "month"),
    "haircut": sourced("0.1"),
    "first_utilisation": sourced("0.4"),
    "utilisation_step": sourced("0.15"),
    "highest_utilisation": sourced("0.85"),
}


def deal(*, months=30, term=60, reletting=RELETTING, cluster=True, market=True, calendar="equal_730", ends_by=None):
    """Return one tranche of 1,000 GPUs, ready at close, whose power costs 0.20 for a GPU-hour."""
    data = {
        "schema_version": 1,
        "clusters": {"c": {"units": {"gpu": GPUS}}},
        "services": {"compute": {"tranches": ["a"]}},
        "delivery": {"tranches": {"a": {"ready_for_service_date": {"close_plus_months": 0}}}},
        "commercial": {
            "currency": "USD",
            "charges": {"compute": {"price": {"per": "lump_month", "amount": "1000000"}}},
            "term": {"months": term},
        },
        "finance": {"close": "2026-01-01", "currency": "USD", "horizon_months": months},
        "assumptions": {"calendar": calendar},
    }
    if cluster:
        data["delivery"]["tranches"]["a"]["cluster"] = "c"
        data["finance"]["operating_costs"] = {"power": {"amount": "0.20"}}
    if ends_by is not None:
        data["commercial"]["term"]["ends_by"] = {"close_plus_months": ends_by}
    if market:
        data["assumptions"]["market"] = {
            "spot_rent": sourced("2.00", "USD/GPU-hour"),
            "decay_per_year": sourced(0, "1/year"),
            "persistence": sourced(0),
            "monthly_noise": sourced(0),
        }
    if reletting:
        data["assumptions"]["reletting"] = reletting
    return Deal.model_validate(data)


def lettings(terms, *, ends=None, ready=0.0, rents=2.0, default=None):
    """Return, for one draw, the months' share out of contract, utilisation and income of the first tranche.

    The contract ends with month `ends`; the customer fails in month `default`, which is then not billed.
    """
    frame = setting(terms)
    risk, months = from_deal(terms, frame), frame.months
    shape = (1, len(frame.tranches))
    state = State(
        path={"ready": np.full(shape, ready), "spot_rent": np.full((1, months), rents)},
        under_contract=np.ones(shape, dtype=bool),
        last_billed=np.zeros(shape, dtype=np.int64),
        first_cause=np.full(1, "", dtype="U24"),
        first_month=np.zeros(1, dtype=np.int64),
    )
    steps = risk.steps()
    found, posted = [], []
    for month in range(1, months + 1):
        state.cash = {}
        if month == default:
            state.end_contract(np.ones(shape, dtype=bool), "customer_default", month, month - 1)
        for phase in (Phase.FEES, Phase.SERVICE, Phase.RELETTING):
            steps[phase](month, state)
        found.append([state.now[name][0, 0] for name in ("out_share", "relet_utilisation", "relet_income_by_tranche")])
        posted.append(state.cash["reletting"].amount[0] if "reletting" in state.cash else 0.0)
        if month == ends:
            state.end_contract(np.ones(shape, dtype=bool), "chronic_failure", month, month)
    out, used, income = np.array(found).T
    np.testing.assert_allclose(posted, income * shape[1])
    return out, used, income


def test_after_three_empty_months_utilisation_rises_by_its_step_to_its_highest():
    out, used, income = lettings(deal(), ends=10)
    assert out.tolist() == [0] * 10 + [1] * 20
    np.testing.assert_allclose(used, [0] * 13 + [0.40, 0.55, 0.70] + [0.85] * 14)  # first month 10 + 3 + 1
    np.testing.assert_allclose(income, used * 2.00 * 0.9 * GPUS * HOURS)
    assert income[13] == pytest.approx(525_600)


def test_nothing_is_let_while_the_contract_runs():
    out, used, income = lettings(deal())
    assert not out.any()
    assert not used.any()
    assert not income.any()


def test_a_customer_that_fails_leaves_its_month_empty_and_counted():
    out, used, _ = lettings(deal(), default=11)  # month 10 was the last that was billed
    assert out[10] == 1
    assert np.flatnonzero(used)[0] + 1 == 14


def test_a_customer_that_fails_in_the_first_month_was_never_billed():
    _, used, _ = lettings(deal(), default=1)
    assert np.flatnonzero(used)[0] + 1 == 4


def test_capacity_is_switched_off_while_rent_does_not_exceed_its_power():
    rents = np.full(30, 2.0)
    rents[[15, 16]] = 0.20 / 0.9, 0.20  # exactly the cost of power, and less
    _, used, income = lettings(deal(), ends=10, rents=rents)
    np.testing.assert_allclose(used[13:20], [0.40, 0.55, 0, 0, 0.85, 0.85, 0.85])  # the ramp counts on meanwhile
    assert not income[15:17].any()


def test_after_its_term_a_tranche_is_let_again_and_its_last_month_in_part_is_not():
    out, used, _ = lettings(deal(term=20), ready=0.4)  # the term runs to 20.4, within month 21
    np.testing.assert_allclose(out[:22], [0] * 20 + [0.6, 1])
    assert np.flatnonzero(used)[0] + 1 == 21 + 3 + 1


def test_a_term_that_ends_with_a_month_was_billed_to_that_month():
    _, used, _ = lettings(deal(term=20))
    assert np.flatnonzero(used)[0] + 1 == 24


def test_a_contract_ended_after_its_term_is_let_again_from_the_term():
    _, used, _ = lettings(deal(term=10), ends=12)
    assert np.flatnonzero(used)[0] + 1 == 14


def test_a_tranche_that_is_late_and_under_no_contract_is_let_from_its_readiness():
    out, used, _ = lettings(deal(), ends=6, ready=12.3)
    np.testing.assert_allclose(out[11:15], [0, 0.7, 1, 1])
    assert np.flatnonzero(used)[0] + 1 == 13 + 3 + 1


def test_a_tranche_ready_after_the_day_by_which_all_terms_end_is_let_from_its_readiness():
    out, used, _ = lettings(deal(ends_by=10), ready=12.0)
    assert out.tolist() == [0] * 12 + [1] * 18
    assert np.flatnonzero(used)[0] + 1 == 16


@pytest.mark.parametrize(("empty", "first"), [("0", 11), ("0.5", 12), ("2.2", 14), ("3", 14)])
def test_a_part_of_an_empty_month_is_a_whole_one(empty, first):
    _, used, _ = lettings(deal(reletting=RELETTING | {"empty": sourced(empty, "month")}), ends=10)
    assert np.flatnonzero(used)[0] + 1 == first


def test_a_fixed_rent_is_that_of_the_month_of_letting_until_it_is_renewed():
    rents = np.linspace(3.0, 1.0, 30)
    terms = deal(reletting=RELETTING | {"rent_fixed_months": 6})
    _, used, income = lettings(terms, ends=10, rents=rents)
    let = np.flatnonzero(used)
    assert let.tolist() == list(range(13, 30))
    rent = income[let] / (used[let] * GPUS * HOURS)
    np.testing.assert_allclose(rent, 0.9 * np.repeat(rents[[13, 19, 25]], [6, 6, 5]))


def test_a_fixed_rent_is_renewed_only_once_it_pays_its_power():
    rents = np.full(30, 2.0)
    rents[14:19] = 0.1  # the letting of month 14 holds on to its rent
    rents[19:21] = 0.1  # and is not renewed in months 20 and 21
    rents[21:] = 1.5
    _, used, income = lettings(deal(reletting=RELETTING | {"rent_fixed_months": 6}), ends=10, rents=rents)
    assert (used[13:19] > 0).all()
    assert not used[19:21].any()
    np.testing.assert_allclose(income[13:19] / (used[13:19] * GPUS * HOURS), 1.8)
    np.testing.assert_allclose(income[21:27] / (0.85 * GPUS * HOURS), 1.35)


def test_months_of_a_real_calendar_earn_by_their_own_hours():
    _, _, income = lettings(deal(calendar="real"), ends=10)
    february = 25  # the twenty-sixth month from January 2026 is February 2028
    assert income[february] == pytest.approx(0.85 * 1.8 * GPUS * 29 * 24)


def test_without_an_assumption_capacity_earns_nothing_and_its_share_is_still_told():
    terms = deal(reletting=None)
    out, used, income = lettings(terms, ends=10)
    assert out.tolist() == [0] * 10 + [1] * 20
    assert not used.any()
    assert not income.any()
    words = " ".join(from_deal(terms, setting(terms)).ignores())
    assert "nothing is let again after the contract ends" in words
    assert "nothing is let again" not in " ".join(from_deal(deal(), setting(deal())).ignores())


def test_letting_again_needs_a_market_and_the_number_of_gpus():
    for terms, path in (
        (deal(market=False), r"assumptions\.market"),
        (deal(cluster=False), r"delivery\.tranches\.a\.cluster"),
    ):
        with pytest.raises(MissingTermError, match=path):
            from_deal(terms, setting(terms))


def test_each_tranche_of_the_reference_deal_lets_its_half_of_the_cluster():
    terms = Deal.model_validate(yaml.safe_load(GOLDEN.read_text()))
    _, used, income = lettings(terms, ends=20, ready=7.0, rents=2.0)
    np.testing.assert_allclose(used[20:28], [0, 0, 0, 0.40, 0.55, 0.70, 0.85, 0.85])
    assert income[23] == pytest.approx(0.40 * 2304 * HOURS * 1.80)
    power = 142 / 72 * 1.25 * 65 / 1000  # 0.1602 for a GPU-hour
    _, used, _ = lettings(terms, ends=20, ready=7.0, rents=power / 0.9 * 0.9999)
    assert not used.any()


def test_draws_and_tranches_are_let_each_by_its_own_dates():
    terms = Deal.model_validate(yaml.safe_load(GOLDEN.read_text()))
    frame = setting(terms)
    risk = from_deal(terms, frame)
    rng = np.random.default_rng(3)
    draws, months = 40, frame.months
    ready = frame.planned_ready + np.where(rng.random((draws, 2)) < 0.4, 5 * rng.random((draws, 2)), 0.0)
    ends = rng.integers(1, 70, (draws, 2))
    rents = rng.uniform(0.1, 2.5, (draws, months))
    state = State(
        path={"ready": ready, "spot_rent": rents},
        under_contract=np.ones((draws, 2), dtype=bool),
        last_billed=np.zeros((draws, 2), dtype=np.int64),
        first_cause=np.full(draws, "", dtype="U24"),
        first_month=np.zeros(draws, dtype=np.int64),
    )
    steps = risk.steps()
    power = 142 / 72 * 1.25 * 65 / 1000
    for month in range(1, months + 1):
        state.cash = {}
        for phase in (Phase.FEES, Phase.SERVICE, Phase.RELETTING):
            steps[phase](month, state)
        for i in range(draws):
            for j in range(2):
                first = max(ends[i, j], int(np.ceil(ready[i, j]))) + 4
                rent = 0.9 * rents[i, month - 1]
                used = min(0.85, 0.40 + 0.15 * (month - first)) if month >= first and rent > power else 0.0
                assert state.now["relet_utilisation"][i, j] == pytest.approx(used, abs=1e-12)
                expected = used * rent * 2304 * HOURS
                assert state.now["relet_income_by_tranche"][i, j] == pytest.approx(expected, abs=1e-6)
        np.testing.assert_allclose(state.now["relet_income"], state.now["relet_income_by_tranche"].sum(axis=1))
        state.end_contract(ends == month, "chronic_failure", month, month)
