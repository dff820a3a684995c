"""Rights to leave, used or not: golden deal GD-12 exactly, and the rules of each right on typed futures."""

import copy
import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from risk.availability import enumerate_bad_months
from risk.core.protocol import Phase
from risk.engine import Model
from schemas.deal import Deal

GOLDEN = Path(__file__).parents[1] / "golden"
GD_12 = json.loads((GOLDEN / "expected.json").read_text())["GD-12"]["expected"]
RENT = 2.15
STAYS, TAKES_NEW_RENT = 0.9, 0.1
"""Scores of re-pricing above and below the probability of golden deal GD-12, 0.4."""


class Watch:
    """A risk that does nothing but write down cash, rents and rights, and may end all contracts in one month."""

    streams = ()

    def __init__(self, default_month=0):
        self.default_month = default_month
        self.factor, self.bound, self.cash, self.rights = [], [], [], []

    def sample(self, rng, draws):
        return {}

    def base(self):
        return {}

    def steps(self):
        return {Phase.COUNTERPARTY: self.fail, Phase.EXERCISE: self.write}

    def ignores(self):
        return ()

    def fail(self, month, state):
        if month == self.default_month:
            state.end_contract(np.ones(state.under_contract.shape, dtype=bool), "customer_default", month, month - 1)

    def write(self, month, state):
        self.factor.append(state.now["rent_factor"].copy())
        self.bound.append(state.under_contract.copy())
        self.cash.append({name: line.amount.copy() for name, line in state.cash.items()})
        self.rights.append({name: right.copy() for name, right in state.rights.items()})

    def line(self, name):
        return np.array([lines.get(name, np.zeros(1))[0] for lines in self.cash])

    def arises(self, name):
        return [month for month, rights in enumerate(self.rights, 1) if rights[name].any()]

    def last_months(self):
        """Return the last month of each tranche's contract in the first draw, 37 where it never ends."""
        return np.array(self.bound)[:, 0].sum(axis=0) + 1


def golden_data(name="gd-12") -> dict:
    return yaml.safe_load((GOLDEN / f"{name}.yaml").read_text())


def sourced(value, unit="1"):
    return {"value": str(value), "unit": unit, "kind": "judgement", "as_of": "2026-11-30", "rationale": "worked here"}


def run(data, *, bad=(), ready=None, spot=None, scores=(0.5, STAYS), leaves=True, default_month=0):
    """Return the watch and the result of one typed future; `bad` are months of all tranches."""
    model = Model.of(Deal.model_validate(data))
    paths = model.base_paths()
    tranches, months = len(model.setting.tranches), model.setting.months
    paths["bad_month"] = np.zeros((1, tranches, months), dtype=bool)
    paths["bad_month"][:, :, np.array(bad, dtype=int) - 1] = True
    paths["exercise_score"] = np.array([scores])
    paths["may_leave"] = np.array([leaves])
    if ready is not None:
        paths["ready"] = np.array([ready], dtype=float)
    if spot is not None:
        paths["spot_rent"] = np.array([spot], dtype=float)
    watch = Watch(default_month)
    return watch, Model(model.setting, model.risks | {"watch": watch}).run(paths, 1)


def first_end(result):
    return str(result.column["first_cause"][0]), int(result.column["first_month"][0])


# --- golden deal GD-12: a right used only when it pays, part of the time re-priced -------------------------------


@pytest.fixture(scope="module")
def weighted():
    """Every month of first use once with each answer to a new rent, through the engine's own steps."""
    model = Model.of(Deal.model_validate(golden_data()))
    bad, weights = enumerate_bad_months("0.05", 2, 6, 36, first=GD_12["first_month_exercise_pays"])
    nodes = 2 * len(weights)
    paths = {name: np.repeat(array, nodes, axis=0) for name, array in model.base_paths().items()}
    paths["bad_month"] = np.concatenate([bad, bad])[:, None, :]
    paths["exercise_score"] = np.repeat([[1.0, TAKES_NEW_RENT], [1.0, STAYS]], len(weights), axis=0)
    paths["may_leave"] = np.ones(nodes, dtype=bool)
    watch = Watch()
    result = Model(model.setting, model.risks | {"watch": watch}).run(paths, nodes)
    return watch, result, np.concatenate([0.4 * weights, 0.6 * weights])


def months_of_first_use(watch):
    lowered = np.array(watch.factor)[:, :, 0] < 1
    left = ~np.array(watch.bound)[:, :, 0]
    used = lowered | left
    return np.where(used.any(axis=0), used.argmax(axis=0) + 1, 0)


def test_the_month_of_first_use_has_the_exact_law(weighted):
    watch, _, weights = weighted
    month = months_of_first_use(watch)
    assert month[month > 0].min() == GD_12["first_month_exercise_pays"]
    for by, truth in GD_12["p_right_used_by_month"].items():
        assert weights @ ((month > 0) & (month <= int(by))) == pytest.approx(truth, abs=1e-11)


def test_first_uses_part_into_endings_and_new_rents_exactly(weighted):
    watch, result, weights = weighted
    left = result.column["first_cause"] == "chronic_failure"
    repriced = result.column["repriced"]
    assert weights @ left == pytest.approx(GD_12["p_first_use_is_cancellation_36"], abs=1e-11)
    assert weights @ repriced == pytest.approx(GD_12["p_first_use_is_reprice_36"], abs=1e-11)
    rent = RENT * watch.factor[-1][:, 0]
    mean = (weights * repriced) @ rent / (weights @ repriced)
    assert mean == pytest.approx(GD_12["expected_rent_after_first_reprice"], abs=1e-11)


def test_a_right_that_is_always_used_has_the_exact_law_of_rights():
    data = golden_data()
    data["assumptions"]["exercise"] = {"chronic_failure": "always"}
    model = Model.of(Deal.model_validate(data))
    bad, weights = enumerate_bad_months("0.05", 2, 6, 36)
    paths = {name: np.repeat(array, len(weights), axis=0) for name, array in model.base_paths().items()}
    paths |= {"bad_month": bad[:, None, :], "may_leave": np.ones(len(weights), dtype=bool)}
    left = model.run(paths, len(weights)).column["first_month"] > 0
    assert weights @ left == pytest.approx(GD_12["p_if_always_exercised_36"], abs=1e-11)


def test_the_simulation_of_first_uses_agrees():
    model = Model.of(Deal.model_validate(golden_data()))
    draws = 30_000
    watch = Watch()
    result = Model(model.setting, model.risks | {"watch": watch}).run(model.sample(3, 0, draws), draws)
    month, repriced = months_of_first_use(watch), result.column["repriced"]

    def agrees(events, truth):
        return abs(events.mean() - truth) < 5 * np.sqrt(truth * (1 - truth) / draws)

    for by, truth in GD_12["p_right_used_by_month"].items():
        assert agrees((month > 0) & (month <= int(by)), truth)
    assert agrees(repriced, GD_12["p_first_use_is_reprice_36"])
    assert agrees((month > 0) & ~repriced, GD_12["p_first_use_is_cancellation_36"])
    rents = RENT * np.array(watch.factor)[month[repriced] - 1, np.flatnonzero(repriced), 0]
    error = rents.std() / np.sqrt(len(rents))
    assert abs(rents.mean() - GD_12["expected_rent_after_first_reprice"]) < 5 * error


def first_use(path, k, m, first):
    for end in range(first, len(path) + 1):
        if path[end - 1] and path[max(0, end - m) : end].sum() >= k:
            return end
    return 0


@settings(deadline=None)
@given(
    probability=st.floats(0, 1), m=st.integers(1, 5), months=st.integers(1, 9), first=st.integers(1, 10), data=st.data()
)
def test_enumerated_first_uses_agree_with_every_path_there_is(probability, m, months, first, data):
    k = data.draw(st.integers(1, m))
    paths, weights = enumerate_bad_months(probability, k, m, months, first=first)
    exact = np.zeros(months + 1)
    for code in range(1 << months):
        path = np.array([code >> i & 1 for i in range(months)], dtype=bool)
        bad = int(path.sum())
        exact[first_use(path, k, m, first)] += probability**bad * (1 - probability) ** (months - bad)
    month = [first_use(path, k, m, first) for path in paths]
    assert len(set(month)) == len(month)
    assert weights == pytest.approx([exact[i] for i in month], abs=1e-12)  # the sum here runs in floats
    assert weights.sum() == pytest.approx(1, abs=1e-15)


# --- chronic failure ---------------------------------------------------------------------------------------------


def test_a_right_that_lapses_revives_only_with_a_later_bad_month():
    # leaving pays from month 15 on
    assert first_end(run(golden_data(), bad=(13, 14))[1]) == ("", 0)
    watch, result = run(golden_data(), bad=(13, 14, 17))
    assert first_end(result) == ("chronic_failure", 17)
    assert watch.arises("chronic_failure") == [14, 17]


def test_a_right_with_a_window_waits_in_it_for_the_market_to_fall():
    data = golden_data()
    data["cancellation"]["chronic_failure"]["exercise"] = {"months": 2}
    assert first_end(run(data, bad=(12, 13))[1]) == ("chronic_failure", 15)
    assert first_end(run(data, bad=(11, 12))[1]) == ("", 0)


def test_after_a_new_rent_the_count_starts_again_and_the_next_use_ends_the_contract():
    data = golden_data()
    data["cancellation"]["chronic_failure"]["limbs"][0]["m"] = 12
    scores = (0.5, TAKES_NEW_RENT)
    # new rent of month 21: 2.40 exp(-0.18 x 21/12) = 1.7515, above the floor 1.72; leaving pays again from month 28 on
    watch, result = run(data, bad=(20, 21, 30), scores=scores)
    assert result.column["repriced"][0]
    assert watch.factor[21][0, 0] * RENT == pytest.approx(2.40 * np.exp(-0.18 * 21 / 12))
    assert first_end(result) == ("", 0)  # without the new start, 20, 21 and 30 would have been a right in month 30
    assert watch.arises("chronic_failure") == [21]
    watch, result = run(data, bad=(20, 21, 30, 31), scores=scores)
    assert first_end(result) == ("chronic_failure", 31)
    assert watch.factor[-1][0, 0] == watch.factor[21][0, 0]


def test_a_new_rent_is_billed_from_the_next_month_and_not_below_its_floor():
    watch, _ = run(golden_data(), bad=(29, 30), scores=(0.5, TAKES_NEW_RENT))
    np.testing.assert_allclose(watch.line("fees")[:30], 1000 * 730 * RENT)
    np.testing.assert_allclose(watch.line("fees")[30:], 1000 * 730 * 0.80 * RENT)


def test_who_waives_or_may_not_leave_stays_although_leaving_pays():
    data = golden_data()
    data["assumptions"]["exercise"]["waiver"] = sourced("0.3")
    assert first_end(run(data, bad=(19, 20), scores=(0.29, STAYS))[1]) == ("", 0)
    assert first_end(run(data, bad=(19, 20), scores=(0.31, STAYS))[1]) == ("chronic_failure", 20)
    assert first_end(run(data, bad=(19, 20), scores=(0.31, STAYS), leaves=False)[1]) == ("", 0)


# --- long stop: two tranches with the reach of golden deal GD-10 -------------------------------------------------


def two_tranches(rent="2.40", **exercise) -> dict:
    data = golden_data()
    data["commercial"]["charges"]["compute"]["price"]["amount"] = rent
    stop = {"after": {"months": 6}, "scope": "order_if_first", "exercise": {"months": 0}}
    data["services"]["compute"]["tranches"] = ["tranche-1", "tranche-2"]
    data["delivery"]["tranches"] = {
        name: {
            "cluster": "cluster-1",
            "ready_for_service_date": {"close_plus_months": planned},
            "share_of_service": "0.5",
            "long_stop": copy.deepcopy(stop),
        }
        for name, planned in (("tranche-1", 4), ("tranche-2", 7))
    }
    data["assumptions"]["exercise"] |= {"long_stop": "rational"} | exercise
    return data


@pytest.mark.parametrize(
    ("ready", "end", "last"),
    [
        ((10.5, 7), ("long_stop", 10), [10, 10]),  # the first tranche takes the whole order with it
        ((10.0, 7), ("", 0), [37, 37]),  # ready at the last moment
        ((4, 13.5), ("long_stop", 13), [37, 13]),  # the second goes alone
        ((10.5, 20), ("long_stop", 10), [10, 10]),
    ],
)
def test_the_first_tranche_reaches_the_order_and_a_later_one_itself(ready, end, last):
    watch, result = run(two_tranches(), ready=ready)
    assert first_end(result) == end
    assert watch.last_months().tolist() == last


def test_a_long_stop_that_does_not_pay_in_its_month_lapses_for_good():
    # rent 2.25: leaving pays below 2.025, from month 12 on; the right of the first tranche is of month 10
    watch, result = run(two_tranches("2.25"), ready=(15, 7))
    assert first_end(result) == ("", 0)
    assert watch.arises("long_stop") == [10]
    assert first_end(run(two_tranches("2.25", long_stop="always"), ready=(15, 7))[1]) == ("long_stop", 10)
    assert first_end(run(two_tranches("2.25"), ready=(4, 15))[1]) == ("long_stop", 13)


def test_a_new_rent_taken_for_a_long_stop_spends_it():
    data = two_tranches(long_stop="rational_or_reprice")
    data["delivery"]["tranches"]["tranche-1"]["long_stop"]["exercise"] = {"months": 12}
    watch, result = run(data, ready=(25, 7), scores=(0.5, TAKES_NEW_RENT))
    assert first_end(result) == ("", 0)
    assert result.column["repriced"][0]
    np.testing.assert_allclose(watch.factor[-1], 2.40 * np.exp(-0.18 * 10 / 12) / 2.40)


# --- notice ------------------------------------------------------------------------------------------------------


def notice_data(party="either", provider="never", customer="rational", months=3, fee="100000", haircut=None) -> dict:
    data = golden_data()
    data["cancellation"] = {
        "convenience": {
            "party": party,
            "first_exercise": {"close_plus_months": 6},
            "notice": {"months": months},
            "fee": fee,
        }
    }
    exercise = data["assumptions"]["exercise"]
    exercise |= {"convenience": customer, "provider": provider}
    if haircut is not None:
        data["assumptions"]["reletting"] = {
            "empty": sourced(3, "month"),
            "haircut": sourced(haircut),
            "first_utilisation": sourced(0),
            "utilisation_step": sourced(0),
            "highest_utilisation": sourced(0),
        }
    return data


def flat(*levels):
    """Return spot rents: each level for twelve months."""
    return np.repeat(levels, 12)


def test_a_customer_gives_notice_at_the_first_month_end_with_gain_and_pays_for_it():
    watch, result = run(notice_data(), spot=flat(2.0, 1.9, 1.9))  # 1.9 < 0.9 x 2.15, from month 13 on
    assert first_end(result) == ("convenience", 16)
    assert np.flatnonzero(watch.line("fees") > 0).tolist() == list(range(16))  # the notice months are paid
    fee = watch.line("fee_for_leaving")
    assert fee[15] == 100_000
    assert np.delete(fee, 15).tolist() == [0.0] * 35


def test_no_notice_is_given_before_its_first_day():
    assert first_end(run(notice_data(), spot=flat(1.0, 1.0, 1.0))[1]) == ("convenience", 9)


def test_a_provider_gives_notice_when_letting_again_earns_more_and_pays_the_fee():
    # 2.15 x 1.1 = 2.365
    watch, result = run(notice_data(provider="rational"), spot=flat(2.2, 2.4, 2.4))
    assert first_end(result) == ("convenience", 16)
    assert watch.line("fee_for_leaving")[15] == -100_000
    assert watch.line("fee_for_leaving").sum() == -100_000


@pytest.mark.parametrize(
    ("terms", "spot", "end"),
    [
        ({"provider": "never"}, 3.0, ("", 0)),
        ({"provider": "rational", "party": "customer"}, 3.0, ("", 0)),
        ({"provider": "rational"}, 2.36, ("", 0)),
        ({"provider": "rational"}, 2.37, ("convenience", 9)),
        ({"provider": "rational", "haircut": "0.1"}, 2.62, ("", 0)),  # 2.62 x 0.9 = 2.358
        ({"provider": "rational", "haircut": "0.1"}, 2.63, ("convenience", 9)),  # 2.367
        ({"provider": "rational", "customer": "never"}, 2.37, ("convenience", 9)),
        ({"provider": "rational", "customer": "never"}, 1.0, ("", 0)),
    ],
)
def test_a_provider_needs_the_right_and_the_gain_after_its_haircut_and_the_cost_of_moving(terms, spot, end):
    assert first_end(run(notice_data(**terms), spot=flat(spot, spot, spot))[1]) == end


def test_a_waiver_binds_the_customer_and_not_the_provider():
    data = notice_data(provider="rational")
    data["assumptions"]["exercise"]["waiver"] = sourced("0.3")
    assert first_end(run(data, spot=flat(1.0, 1.0, 1.0), scores=(0.1, STAYS))[1]) == ("", 0)
    assert first_end(run(data, spot=flat(3.0, 3.0, 3.0), scores=(0.1, STAYS))[1]) == ("convenience", 9)


def test_nobody_gives_notice_in_the_base_case():
    data = notice_data(provider="rational")
    for spot in (1.0, 3.0):
        assert first_end(run(data, spot=flat(spot, spot, spot), leaves=False)[1]) == ("", 0)


def test_notice_without_delay_ends_the_contract_at_once_and_is_paid_a_month_later():
    watch, result = run(notice_data(months=0), spot=flat(1.0, 1.0, 1.0))
    assert first_end(result) == ("convenience", 6)
    assert np.flatnonzero(watch.line("fee_for_leaving")).tolist() == [6]
    assert watch.line("fee_for_leaving")[6] == 100_000


def test_notice_ends_the_whole_order_so_it_is_the_gain_on_all_of_it_that_counts():
    data = notice_data()
    data["clusters"]["cluster-2"] = {"units": {"gpu": 3000}}
    data["services"]["training"] = {"tranches": ["tranche-2"]}
    data["service_levels"]["cluster"]["service"] = "compute"
    data["delivery"]["tranches"]["tranche-2"] = {
        "cluster": "cluster-2",
        "ready_for_service_date": {"close_plus_months": 0},
    }
    data["commercial"]["charges"]["training"] = {"price": {"per": "gpu_hour", "amount": "1.00"}}
    # 1,000 GPUs at 0.9 x 2.15 and 3,000 at 0.9 x 1.00: the order breaks even at 1.15875
    assert first_end(run(data, spot=flat(1.16, 1.16, 1.16))[1]) == ("", 0)
    watch, result = run(data, spot=flat(1.15, 1.15, 1.15))
    assert first_end(result) == ("convenience", 9)
    assert watch.last_months().tolist() == [9, 9]


def test_a_contract_that_ends_before_its_notice_does_pays_no_fee_for_leaving():
    data = notice_data()
    data["cancellation"]["chronic_failure"] = golden_data()["cancellation"]["chronic_failure"]
    watch, result = run(data, spot=flat(1.0, 1.0, 1.0), bad=(7, 8))
    assert first_end(result) == ("chronic_failure", 8)
    assert not watch.line("fee_for_leaving").any()


# --- default of the customer -------------------------------------------------------------------------------------


def test_a_contract_ended_by_default_of_the_customer_gives_no_right_and_keeps_its_cause():
    data = two_tranches(chronic_failure="always", long_stop="always")
    data["cancellation"]["convenience"] = notice_data()["cancellation"]["convenience"]
    watch, result = run(
        data, bad=range(1, 37), ready=(20, 20), spot=flat(0.5, 0.5, 0.5), scores=(0.5, STAYS), default_month=5
    )
    assert first_end(result) == ("customer_default", 5)
    assert watch.arises("long_stop") == watch.arises("chronic_failure") == []
    assert not watch.line("fee_for_leaving").any()


def test_a_right_used_the_month_before_comes_before_default_of_the_customer():
    result = run(golden_data(), bad=(19, 20), default_month=21)[1]
    assert first_end(result) == ("chronic_failure", 20)
    result = run(golden_data(), bad=(19, 20), default_month=20)[1]
    assert first_end(result) == ("customer_default", 20)


# --- words -------------------------------------------------------------------------------------------------------


def test_the_words_on_what_is_left_out_follow_the_terms():
    def words(data):
        return " ".join(Model.of(Deal.model_validate(data)).risks["cancellation"].ignores())

    assert "the provider never does" in words(notice_data())
    assert "compares rents alone" in words(notice_data(provider="rational"))
    assert "provider" not in words(notice_data(party="customer", provider="rational"))
    assert "provider" not in words(golden_data())


def test_rights_that_are_not_simulated_are_named():
    data = golden_data()
    level = next(iter(data["service_levels"]))
    limbs = [
        {"form": "cumulative_hours", "service_level": level, "hours": 10, "window_days": 30},
        {"form": "same_cause", "service_level": level, "count": 2, "window_days": 30},
        {"form": "replacement_missed", "count": 2, "window_days": 30},
    ]
    data["cancellation"]["chronic_failure"] = {"limbs": limbs}
    words = " ".join(Model.of(Deal.model_validate(data)).risks["cancellation"].ignores())
    for limb in limbs:
        assert f"no right of form {limb['form']!r} is simulated" in words


def test_a_cap_that_is_reached_gives_a_right_in_the_month_in_which_it_is():
    data = golden_data()
    data["cancellation"]["chronic_failure"] = {"limbs": [{"form": "cap_reached", "cap": "month"}]}
    data["credits"] = {"caps": {"month": "0.05"}}
    data["assumptions"]["exercise"] = {"chronic_failure": "always"}
    data["assumptions"]["prescribed"] = {
        "outages": {"mean_up_hours": sourced(1000, "h"), "median_hours": sourced(1, "h"), "sigma": sourced(0)}
    }
    model = Model.of(Deal.model_validate(data))
    paths = model.base_paths()
    hours = model.setting.timeline.edges_seconds
    start = int(hours[20]) + 3600  # in month 21, for four days
    paths |= {"outage_draw": np.array([0]), "outage_tranche": np.array([0])}
    paths |= {"outage_start_s": np.array([start]), "outage_end_s": np.array([start + 4 * 86_400])}
    paths |= {"exercise_score": np.array([[0.5, STAYS]]), "may_leave": np.array([True])}
    assert first_end(model.run(paths, 1)) == ("chronic_failure", 21)
