"""Late delivery: the law of golden deal GD-10, and damages with what suppliers pay back of them."""

from pathlib import Path

import numpy as np
import pytest
import yaml

from risk.core.protocol import Phase
from risk.delay import Delay
from risk.engine import Model
from schemas.deal import Deal

GOLDEN = Path(__file__).parents[1] / "golden"
FEE = 3e6
"""Monthly fee of the tranche of golden deal GD-04. [currency]"""
LAW = Delay(share_late=0.35, median=2.0, sigma=0.8, shared_share=0.6)


class Watch:
    """A risk that does nothing but write down the cash of each month, and may end all contracts in one."""

    streams = ()

    def __init__(self, default_month=0):
        self.default_month = default_month
        self.lines = []

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
        self.lines.append({name: line.amount.copy() for name, line in state.cash.items()})

    def line(self, name):
        nothing = np.zeros(1)
        return np.array([lines.get(name, nothing)[0] for lines in self.lines])


def late(delay, watch, recovered="0.5"):
    """Return what one future of GD-04 writes down, with the damages of GD-10: one month's grace, four months' cap."""
    data = yaml.safe_load((GOLDEN / "gd-04.yaml").read_text())
    terms = data["delivery"]["tranches"]["tranche-1"]["delay_damages"]
    terms |= {"steps": [{"fee_fraction": "0.30"}], "cap": {"months": 4}}
    data["operations"] = {"damages_recovered": recovered}
    data["assumptions"]["exercise"] = {"long_stop": "never"}
    model = Model.of(Deal.model_validate(data))
    paths = model.base_paths()
    paths["ready"] = model.setting.planned_ready + np.array([[delay]])
    paths["may_leave"] = np.ones(1, dtype=bool)
    result = Model(model.setting, model.risks | {"watch": watch}).run(paths, 1)
    return watch, result


# --- the law -----------------------------------------------------------------------------------------------------


def test_the_chance_of_the_long_stop_and_the_mean_delay_are_those_of_the_golden_deal():
    assert LAW.probability_over(6) == pytest.approx(0.029692226720487, abs=1e-14)
    assert LAW.limited_mean(1e9) == pytest.approx(0.96398943503517, rel=1e-13)


def test_sampled_delays_have_the_exact_mean_and_tail_and_share_their_cause():
    rng = np.random.default_rng(1)
    delays = LAW.of_scores(rng.standard_normal(40_000), rng.standard_normal((40_000, 2)))
    error = delays.std(axis=0) / 200
    assert (abs(delays.mean(axis=0) - 0.96398943503517) < 5 * error).all()
    tail = 0.029692226720487
    assert (abs((delays > 6).mean(axis=0) - tail) < 5 * np.sqrt(tail * (1 - tail)) / 200).all()
    assert (delays > 6).all(axis=1).mean() > 5 * tail**2


# --- damages and what is recovered -------------------------------------------------------------------------------


@pytest.mark.parametrize("delay", [0.0, 0.7, 1.5, 3.25, 5.0, 9.0])
def test_damages_run_from_one_month_late_to_five_and_suppliers_pay_back_half(delay):
    watch, result = late(delay, Watch())
    month = np.arange(1, 19)
    length = np.clip(np.minimum(4 + delay, 9) - np.maximum(5, month - 1), 0, 1)
    paid = 0.30 * FEE * np.where(month > 5, length, 0.0)
    np.testing.assert_allclose(watch.line("delay_damages"), -paid, atol=1e-6)
    np.testing.assert_allclose(watch.line("damages_recovered"), paid / 2, atol=1e-6)
    assert result.total["damages"][0] == pytest.approx(0.30 * FEE * np.clip(delay - 1, 0, 4), abs=1e-6)


def test_what_suppliers_pay_back_reaches_the_cash_of_its_month():
    cash = [late(3.0, Watch(), recovered=share)[1].monthly["cfads"][0] for share in ("0", "1")]
    watch, _ = late(3.0, Watch())
    np.testing.assert_allclose(cash[1] - cash[0], -watch.line("delay_damages"), atol=1e-6)


def test_suppliers_pay_back_their_share_of_damages_that_are_set_off_when_they_accrue():
    data = yaml.safe_load((GOLDEN / "gd-04.yaml").read_text())
    data["delivery"]["tranches"]["tranche-1"]["delay_damages"]["form"] = "fee_credit"
    data["operations"] = {"damages_recovered": "0.5"}
    model = Model.of(Deal.model_validate(data))
    paths = model.base_paths() | {"ready": np.array([[6.5]])}
    watch = Watch()
    Model(model.setting, model.risks | {"watch": watch}).run(paths, 1)
    assert watch.line("damages_recovered")[5:7].tolist() == pytest.approx([0.5 * 0.25 * FEE, 0.25 * 0.25 * FEE])
    assert watch.line("delay_damages_set_off").sum() == pytest.approx(-1.5 * 0.25 * FEE)


def test_damages_stop_with_the_contract():
    watch, _ = late(20.0, Watch(default_month=7))
    paid = -watch.line("delay_damages")
    assert paid[5] == pytest.approx(0.30 * FEE)
    assert paid[6:].tolist() == [0.0] * 12
    assert watch.line("damages_recovered")[6:].tolist() == [0.0] * 12


def test_the_words_on_what_is_left_out_follow_the_terms():
    def words(recovered, form):
        data = yaml.safe_load((GOLDEN / "gd-04.yaml").read_text())
        data["operations"] = {"damages_recovered": recovered}
        data["delivery"]["tranches"]["tranche-1"]["delay_damages"]["form"] = form
        return " ".join(Model.of(Deal.model_validate(data)).risks["delay"].ignores())

    assert "suppliers pay nothing back" in words("0", "cash")
    assert "suppliers" not in words("0.5", "cash")
    assert "not paid out" in words("0.5", "fee_credit")
