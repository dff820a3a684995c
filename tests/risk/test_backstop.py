"""The backstop: eight formulas, start, limit, price and credit of its provider; golden deals GD-06 and GD-11."""

import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from risk.backstop import Limit, formulas, price_floor_value, put_on_forward
from risk.core.protocol import Phase
from risk.engine import Model
from schemas.deal import Deal
from schemas.errors import MissingTermError, NotComputedError

GOLDEN = Path(__file__).parents[1] / "golden"
EXPECTED = {name: case["expected"] for name, case in json.loads((GOLDEN / "expected.json").read_text()).items()}
CENT = 0.005


def golden(name):
    return Deal.model_validate(yaml.safe_load((GOLDEN / f"{name}.yaml").read_text()))


def judged(value, unit="1"):
    return {"value": value, "unit": unit, "kind": "judgement", "as_of": "2026-11-30", "rationale": "a test"}


# --- GD-11: the formulas -------------------------------------------------------------------------------------------

HOURS, FLOOR, FRACTION = 2000 * 730.0, 2.2, 0.8
MONTHS = {  # share sold, rent it was sold at, index, owed by the tenant
    "full at 3.00": (1.0, 3.0, 3.0, 0.0),
    "full, price collapses to 1.00": (1.0, 1.0, 1.0, 0.0),
    "half sold at 3.00": (0.5, 3.0, 3.0, 0.0),
    "empty, index 1.00": (0.0, 1.0, 1.0, 0.0),
    "tenant owes 2.50 and does not pay, rest unsold": (0.0, 0.0, 1.5, 3_650_000.0),
}


@pytest.mark.parametrize("month", MONTHS)
def test_six_shapes_pay_for_the_same_month_what_the_golden_deal_says(month):
    sold, rent, index, owed = MONTHS[month]
    revenue, hours = sold * HOURS * rent, np.array([HOURS])
    paid = {
        "unsold_hours_put": formulas.unsold_hours_put(hours, sold * hours, FRACTION, FLOOR),
        "utilisation_floor_at_spot": formulas.utilisation_floor(hours, sold * hours, FRACTION, index),
        "revenue_floor": formulas.revenue_floor(hours, revenue, FRACTION, FLOOR),
        "index_price_floor": formulas.index_price_floor(hours, index, FRACTION, FLOOR),
        "leaseback_net_of_market_revenue": formulas.leaseback(hours, revenue, FLOOR),
        "payment_guarantee": formulas.payment_guarantee(np.array([owed]), 0.0),
    }
    truth = EXPECTED["GD-11"]["payment_usd"][month]
    assert truth.keys() == paid.keys()
    for shape, amount in paid.items():
        assert amount[0] == pytest.approx(truth[shape], abs=CENT), shape


def test_a_residual_guarantee_pays_the_shortfall_up_to_its_limit_unless_renewed():
    for case in EXPECTED["GD-11"]["residual_guarantee"]:
        due = formulas.residual_guarantee(np.array([case["value"]]), case["threshold"], np.array([case["renewed"]]))
        limit = Limit(case["cap"], np.inf, None)
        nothing = np.zeros(1)
        paid = np.minimum(due, limit.room(1, nothing, nothing, nothing))
        assert paid[0] == pytest.approx(case["pays"], abs=CENT), case


def test_a_first_loss_bears_the_loss_up_to_its_size():
    for case in EXPECTED["GD-11"]["first_loss"]:
        borne = np.minimum(formulas.first_loss(np.array([case["lender_loss"]]), 1.0), case["first_loss"])
        assert borne[0] == pytest.approx(case["absorbed"], abs=CENT)
        assert case["lender_loss"] - borne[0] == pytest.approx(case["lender_after"], abs=CENT)


# --- through the engine ----------------------------------------------------------------------------------------------


class Seen:
    """A risk that does nothing but keep what others wrote, at the end of each month."""

    streams = ()

    def __init__(self, names):
        self.rows = {name: [] for name in names}
        self.posted = []

    def sample(self, rng, draws):
        return {}

    def base(self):
        return {}

    def ignores(self):
        return ()

    def steps(self):
        return {Phase.EXERCISE: self._keep}

    def _keep(self, month, state):
        for name, rows in self.rows.items():
            rows.append(np.array(state.now.get(name, np.zeros(state.draws)), dtype=float))
        self.posted.append({name: line.amount for name, line in state.cash.items()})


class Lender(Seen):
    """Finance in which the loan of each draw defaults in a typed month, with a typed exposure and recovery."""

    def __init__(self, default_month, exposure=0.0, recovery=0.0):
        self.month, self.exposure, self.recovery = np.array(default_month), exposure, recovery

    def steps(self):
        return {Phase.DEFAULT: self._default}

    def _default(self, month, state):
        state.now["fails_now"] = self.month == month
        state.now["default_month"] = np.where(self.month <= month, self.month, 0)
        state.now["exposure"] = np.where(self.month <= month, self.exposure, 0.0)
        for name in ("recovery", "recovery_sale"):
            state.now[name] = np.where(self.month <= month, self.recovery, 0.0)


NAMES = (
    "cover_formula",
    "cover_paid",
    "cover_not_started",
    "cover_provider_failed",
    "cover_beyond_limit",
    "cover_left",
    "cover_market_revenue",
    "backstop_fee",
    "backstop_revenue_share",
    "loss_cover",
)


def run(data, draws=1, lender=None, **paths):
    """Return the ledger, each array by month and draw, and the lines posted by month, of typed paths."""
    deal = data if isinstance(data, Deal) else Deal.model_validate(data)
    model = Model.of(deal)
    if lender is not None:
        model.risks["finance"] = lender
    model.risks["seen"] = seen = Seen(NAMES)
    base = {name: np.repeat(array, draws, axis=0) for name, array in model.base_paths().items()}
    model.run(base | {name: np.asarray(path) for name, path in paths.items()}, draws)
    return {name: np.array(rows) for name, rows in seen.rows.items()}, seen.posted


def line(posted, name, draw=0):
    """Return one cash line of one draw by month, 0 where it was not posted."""
    return [float(lines[name][draw]) if name in lines else 0.0 for lines in posted]


def terms(*, loan=None, months=24, **backstop):
    """A tranche of 1,000 GPUs ready at close and one of 500 ready in month 3, at 2.00 an hour for two years.

    Market rent is 1.50 throughout; half of what is under no contract is let again after one empty month at 1.20.
    """
    ready = {"first": ("one", 0, "0.6"), "second": ("two", 3, "0.4")}
    return {
        "schema_version": 1,
        "parties": {"guarantor": {"name": "Guarantor C", "role": "guarantor"}},
        "clusters": {"one": {"units": {"gpu": 1000}}, "two": {"units": {"gpu": 500}}},
        "services": {"compute": {"tranches": ["first", "second"]}},
        "commercial": {
            "currency": "USD",
            "charges": {"compute": {"price": {"per": "gpu_hour", "amount": "2.00"}}},
            "term": {"months": 24},
        },
        "delivery": {
            "tranches": {
                name: {
                    "cluster": cluster,
                    "ready_for_service_date": {"close_plus_months": month},
                    "share_of_service": share,
                }
                for name, (cluster, month, share) in ready.items()
            }
        },
        "backstop": {"provider": "guarantor"} | backstop,
        "finance": {"close": "2026-01-01", "currency": "USD", "horizon_months": months}
        | ({"loan": loan} if loan else {}),
        "assumptions": {
            "calendar": "equal_730",
            "market": {
                "spot_rent": judged("1.50", "USD/GPU-hour"),
                "decay_per_year": judged(0, "1/year"),
                "persistence": judged(1),
                "monthly_noise": judged(0),
            },
            "counterparties": {
                "customer": {"default_rate": judged("0.05", "1/year")},
                "cover_provider": {"default_rate": judged("0.01", "1/year")},
            },
            "reletting": {
                "empty": judged(1, "month"),
                "haircut": judged("0.2"),
                "first_utilisation": judged("0.5"),
                "utilisation_step": judged(0),
                "highest_utilisation": judged("0.5"),
            },
        },
    }


LOAN = {"amount": "20000000", "annual_rate": "0.12", "first_payment_month": 4, "payments": 20}
FLOOR_TERMS = {"shape": "revenue_floor", "floor_rent": "1.70"}
GUARANTEE = {"shape": "payment_guarantee", "triggers": ["payment_default"]}
BOTH, ONE, TWO = 1500 * 730.0, 1000 * 730.0, 500 * 730.0
LET_AGAIN = 0.5 * 1.2
"""Earned on each hour under no contract from the second month on. [USD/GPU-hour]"""


def test_the_ledger_of_the_golden_deal_is_exact():
    ledger, _ = run(golden("gd-11"), cover_provider_default_time=[4.5])
    for m, (paid, left) in enumerate(EXPECTED["GD-11"]["ledger_paid_and_left"]):
        assert ledger["cover_paid"][m, 0] == pytest.approx(paid, abs=CENT)
        assert ledger["cover_left"][m, 0] == pytest.approx(left, abs=CENT)
    month = 2_569_600.0
    assert ledger["cover_formula"][:, 0] == pytest.approx([month] * 5)
    assert ledger["cover_not_started"][:, 0] == pytest.approx([month, 0, 0, 0, 0])
    assert ledger["cover_beyond_limit"][:, 0] == pytest.approx([0, 0, 2 * month - 5e6, month, month])


def test_a_revenue_floor_pays_what_capacity_under_no_contract_earns_too_little():
    ledger, posted = run(terms(**FLOOR_TERMS), customer_default_month=[6])
    first, later = 1.7 * BOTH, (1.7 - LET_AGAIN) * BOTH
    assert ledger["cover_paid"][:, 0] == pytest.approx([0] * 5 + [first] + [later] * 18)
    assert line(posted, "backstop") == pytest.approx([0] * 5 + [first] + [later] * 18)


def test_no_cover_for_late_delivery_until_all_tranches_are_ready_for_a_whole_month():
    ledger, _ = run(terms(**FLOOR_TERMS), customer_default_month=[2], ready=[[0.0, 4.5]])
    due = [1.7 * ONE] + [(1.7 - LET_AGAIN) * ONE] * 2  # months 2 to 4; half of the second tranche's 5th month is out
    assert ledger["cover_not_started"][:5, 0] == pytest.approx([0, *due, due[-1] + 1.7 * TWO / 2])
    assert ledger["cover_paid"][:5, 0] == pytest.approx([0] * 5)
    assert ledger["cover_paid"][5:7, 0] == pytest.approx([due[-1] + 1.7 * TWO, (1.7 - LET_AGAIN) * BOTH])


@pytest.mark.parametrize(
    ("starts", "first_month"), [("signing", 2), ("rfs_each_tranche", 2), ("rfs_all", 4), ("date", 7)]
)
def test_cover_starts_as_agreed(starts, first_month):
    when = {"start_date": {"close_plus_months": "5.5"}} if starts == "date" else {}
    ledger, _ = run(terms(**FLOOR_TERMS, starts=starts, **when), customer_default_month=[2])
    paid = ledger["cover_paid"][:, 0] > 0
    assert int(np.argmax(paid)) + 1 == first_month
    assert paid[first_month - 1 :].all()


def test_cover_from_the_commencement_of_rent_waits_for_the_first_fee():
    for default, paid in ((1, False), (2, True)):
        ledger, _ = run(terms(**FLOOR_TERMS, starts="rent_commenced"), customer_default_month=[default])
        assert bool(ledger["cover_paid"][2:].all()) is paid
        assert bool(ledger["cover_not_started"][2:].all()) is not paid


def test_the_provider_pays_no_claim_of_the_month_in_which_it_fails():
    ledger, _ = run(
        terms(**FLOOR_TERMS), draws=2, customer_default_month=[6, 6], cover_provider_default_time=[8.5, 8.0]
    )
    due = (1.7 - LET_AGAIN) * BOTH
    assert ledger["cover_paid"][6:10, 0] == pytest.approx([due, due, 0, 0])
    assert ledger["cover_paid"][6:10, 1] == pytest.approx([due, 0, 0, 0])
    assert ledger["cover_provider_failed"][6:10, 1] == pytest.approx([0, due, due, due])


def test_the_amount_of_a_year_starts_anew_each_twelve_months_from_close():
    ledger, _ = run(terms(**FLOOR_TERMS, amount_per_year="3000000"), customer_default_month=[6])
    due = [1.7 * BOTH] + [(1.7 - LET_AGAIN) * BOTH] * 18
    first_year = [due[0], 3e6 - due[0], 0, 0, 0, 0, 0]
    second_year = [due[1], due[1], 3e6 - 2 * due[1]] + [0] * 9
    assert ledger["cover_paid"][5:, 0] == pytest.approx(first_year + second_year)
    assert ledger["cover_beyond_limit"][5:, 0] == pytest.approx(np.array(due) - (first_year + second_year))
    assert not ledger["cover_left"].any()  # no total amount, so nothing is said of what is left of it


def test_an_amortising_amount_falls_to_nothing_and_counts_what_was_paid():
    ledger, _ = run(terms(**FLOOR_TERMS, amount="10000000", amortisation_months=10), customer_default_month=[6])
    # from month 3 on 1,000,000 a month less: 7,000,000 in month 6, all paid so far counted against it
    due = np.array([1.7 * BOTH, (1.7 - LET_AGAIN) * BOTH, (1.7 - LET_AGAIN) * BOTH])
    room = 5e6 - due[:2].sum()  # in month 8
    assert ledger["cover_paid"][5:9, 0] == pytest.approx([due[0], due[1], min(due[2], room), 0])
    assert ledger["cover_left"][2:6, 0] == pytest.approx([1e7, 9e6, 8e6, 7e6 - due[0]])
    assert ledger["cover_left"][12, 0] == 0


def test_nothing_is_paid_after_expiry():
    ledger, _ = run(terms(**FLOOR_TERMS, expires={"close_plus_months": "8.5"}), customer_default_month=[6])
    assert (ledger["cover_paid"][5:8] > 0).all()
    assert not ledger["cover_formula"][8:].any()


def test_cover_ends_with_the_loan_or_with_its_default():
    data = terms(**FLOOR_TERMS, loan=LOAN | {"payments": 15})
    ledger, _ = run(data, draws=2, lender=Lender([99, 10]), customer_default_month=[6, 6])
    assert (ledger["cover_paid"][5:18, 0] > 0).all()
    assert not ledger["cover_formula"][18:, 0].any()
    assert (ledger["cover_paid"][5:10, 1] > 0).all()
    assert not ledger["cover_formula"][10:, 1].any()


def test_the_fee_runs_from_the_first_debt_payment_whatever_is_left_of_the_cover():
    data = terms(**FLOOR_TERMS, amount="2000000", fee_rate="0.03", loan=LOAN)
    ledger, posted = run(
        data, draws=2, lender=Lender([99, 10]), customer_default_month=[6, 0], cover_provider_default_time=[7.0, 1.0]
    )
    assert ledger["backstop_fee"][:, 0] == pytest.approx([0] * 3 + [5000] * 20 + [0])
    assert ledger["backstop_fee"][:, 1] == pytest.approx([0] * 3 + [5000] * 7 + [0] * 14)
    assert line(posted, "backstop_fee") == pytest.approx([0] * 3 + [-5000] * 20 + [0])


def test_without_a_loan_the_fee_runs_from_the_first_month():
    ledger, _ = run(terms(**FLOOR_TERMS, amount="2000000", fee_rate="0.03"))
    assert ledger["backstop_fee"][:, 0] == pytest.approx([5000] * 24)


def test_the_provider_shares_market_revenue_above_a_level_once_cover_has_started():
    data = terms(**FLOOR_TERMS, covers="all", revenue_share="0.1", revenue_share_above="2000000")
    ledger, posted = run(data)
    share = 0.1 * (2 * BOTH - 2e6)
    assert ledger["backstop_revenue_share"][:, 0] == pytest.approx([0] * 3 + [share] * 21)
    assert line(posted, "backstop_revenue_share") == pytest.approx([0] * 3 + [-share] * 21)


# --- each shape in the simulation --------------------------------------------------------------------------------


def test_a_put_of_unsold_hours_counts_what_is_let_again_as_sold():
    data = terms(shape="unsold_hours_put", floor_rent="1.00", floor_fraction="0.8", covers="all", starts="signing")
    ledger, _ = run(data, customer_default_month=[6])
    assert ledger["cover_paid"][4:8, 0] == pytest.approx([0, 0.8 * BOTH, 0.3 * BOTH, 0.3 * BOTH])


def test_a_utilisation_floor_pays_market_rent():
    data = terms(shape="utilisation_floor", floor_fraction="0.8", covers="out_of_contract", starts="signing")
    ledger, _ = run(data, customer_default_month=[6])
    assert ledger["cover_paid"][4:8, 0] == pytest.approx([0, 1.5 * 0.8 * BOTH, 1.5 * 0.3 * BOTH, 1.5 * 0.3 * BOTH])


def test_a_floor_on_all_capacity_counts_contract_fees_and_what_is_let_again():
    data = terms(shape="revenue_floor", floor_rent="2.20", covers="all", starts="signing")
    ledger, _ = run(data, customer_default_month=[6])
    assert ledger["cover_paid"][4:8, 0] == pytest.approx(
        [0.2 * BOTH, 2.2 * BOTH, (2.2 - LET_AGAIN) * BOTH, (2.2 - LET_AGAIN) * BOTH]
    )


def test_fees_paid_ahead_are_revenue_of_the_month_that_uses_them():
    data = terms(shape="revenue_floor", floor_rent="2.20", covers="all", starts="signing")
    data["commercial"]["prepayment"] = {"fraction": "0.5", "credited_from_month": 1}
    ledger, _ = run(data)
    assert ledger["cover_paid"][5, 0] == pytest.approx(0.2 * BOTH)


def test_an_index_floor_pays_whatever_the_deal_earns():
    ledger, _ = run(terms(shape="index_price_floor", floor_rent="1.80", covers="all", starts="signing"))
    assert ledger["cover_paid"][2:4, 0] == pytest.approx([0.3 * ONE, 0.3 * BOTH])


def test_a_lessee_pays_its_rent_and_keeps_market_revenue():
    ledger, posted = run(terms(shape="leaseback", floor_rent="1.60", starts="signing"), customer_default_month=[6])
    assert ledger["cover_paid"][4:8, 0] == pytest.approx([1.6 * BOTH] * 4)
    assert ledger["cover_market_revenue"][4:8, 0] == pytest.approx([2 * BOTH, 0, LET_AGAIN * BOTH, LET_AGAIN * BOTH])
    assert line(posted, "backstop")[4:7] == pytest.approx([-0.4 * BOTH, 1.6 * BOTH, (1.6 - LET_AGAIN) * BOTH])


def test_a_lessee_whose_limit_is_used_up_keeps_revenue_for_the_part_it_pays():
    data = terms(shape="leaseback", floor_rent="1.60", starts="signing", amount=str(1.6 * (3 * ONE + BOTH / 4)))
    ledger, posted = run(data)
    assert ledger["cover_market_revenue"][2:5, 0] == pytest.approx([2 * ONE, 2 * BOTH / 4, 0])
    assert line(posted, "backstop")[2:5] == pytest.approx([-0.4 * ONE, -0.4 * BOTH / 4, 0])


def test_a_residual_guarantee_pays_at_its_date_if_nothing_is_under_contract():
    data = terms(shape="residual_guarantee", threshold="9000000", at={"close_plus_months": 12}, amount="2500000")
    data["assumptions"]["prescribed"] = {"gpu_value": {"amount": "7000000", "decay_per_month": "0"}}
    ledger, _ = run(data, draws=2, customer_default_month=[6, 0])
    assert ledger["cover_formula"][:, 0] == pytest.approx([0] * 11 + [2e6] + [0] * 12)
    assert ledger["cover_paid"][11].tolist() == [pytest.approx(2e6), 0]
    data["assumptions"]["prescribed"]["gpu_value"]["amount"] = "5000000"
    ledger, _ = run(data, customer_default_month=[6])
    assert ledger["cover_paid"][11, 0] == pytest.approx(2.5e6)


def test_a_residual_guarantee_lives_to_its_date_beyond_the_loan():
    data = terms(shape="residual_guarantee", threshold="9000000", at={"close_plus_months": 30}, months=30, loan=LOAN)
    data["assumptions"]["prescribed"] = {"gpu_value": {"amount": "7000000", "decay_per_month": "0"}}
    ledger, _ = run(data, lender=Lender([99]))
    assert ledger["cover_paid"][:, 0] == pytest.approx([0] * 29 + [2e6])  # both terms are over by then


# --- guarantee of payment ----------------------------------------------------------------------------------------


def test_a_guarantor_pays_rent_less_what_is_let_again_to_the_end_of_the_term():
    ledger, _ = run(terms(**GUARANTEE, months=30), customer_default_month=[6])
    later = (2 - LET_AGAIN) * BOTH
    tail = [(2 - LET_AGAIN) * TWO] * 3 + [0] * 3  # the second tranche's term runs three months longer
    assert ledger["cover_paid"][:, 0] == pytest.approx([0] * 5 + [2 * BOTH] + [later] * 18 + tail)


def test_a_guarantee_may_take_no_account_of_letting_again():
    ledger, _ = run(terms(**GUARANTEE, net_of_reletting=False), customer_default_month=[6])
    assert ledger["cover_paid"][5:, 0] == pytest.approx([2 * BOTH] * 19)


def test_a_guarantee_does_not_answer_for_a_contract_that_ended_before_it_started():
    ledger, _ = run(terms(**GUARANTEE), draws=2, customer_default_month=[3, 5], ready=[[0, 3.0], [0, 3.0]])
    assert ledger["cover_paid"][4, 0] == pytest.approx((2 - LET_AGAIN) * ONE)  # the second tranche was not ready
    assert ledger["cover_not_started"][4, 0] == pytest.approx((2 - LET_AGAIN) * TWO)
    assert ledger["cover_paid"][4, 1] == pytest.approx(2 * BOTH)


def test_a_guarantee_from_the_readiness_of_all_tranches_answers_for_none_before():
    ledger, _ = run(
        terms(**GUARANTEE, starts="rfs_all"), draws=2, customer_default_month=[3, 4], ready=[[0, 3.0], [0, 3.0]]
    )
    assert not ledger["cover_paid"][:, 0].any()
    assert ledger["cover_paid"][3, 1] == pytest.approx(2 * BOTH)


def leaving(**exercise):
    """Terms under which the customer may leave the first tranche at a long stop of two months, or give notice."""
    data = terms(**(GUARANTEE | {"triggers": ["insolvency", "convenience"], "starts": "signing"}))
    data["cancellation"] = {"convenience": {"first_exercise": {"close_plus_months": 8}, "notice": {"months": 2}}}
    data["assumptions"]["exercise"] = exercise
    return data


def test_a_guarantee_answers_for_its_triggers_alone():
    data = leaving(convenience="rational")
    free = {"may_leave": [True]}
    ledger, _ = run(data, **free)  # contract rent 2.00, market 1.50: notice in month 8, out from month 11
    assert ledger["cover_paid"][:, 0] == pytest.approx([0] * 10 + [2 * BOTH] + [(2 - LET_AGAIN) * BOTH] * 13)
    data["backstop"]["triggers"] = ["insolvency"]
    ledger, _ = run(data, **free)
    assert not ledger["cover_formula"].any()


def test_a_guarantee_does_not_answer_for_a_notice_of_the_provider():
    data = leaving(convenience="never", provider="rational")
    data["assumptions"]["market"]["spot_rent"]["value"] = "4.00"
    ledger, _ = run(data, may_leave=[True])
    assert not ledger["cover_formula"].any()


def test_a_guarantee_answers_for_a_long_stop_if_it_says_so():
    data = terms(**(GUARANTEE | {"triggers": ["long_stop"], "starts": "signing", "net_of_reletting": False}))
    data["delivery"]["tranches"]["second"]["long_stop"] = {
        "after": {"months": 2},
        "scope": "tranche",
        "exercise": {"months": 0},
    }
    data["assumptions"]["exercise"] = {"long_stop": "always"}
    ledger, _ = run(data, draws=2, may_leave=[True, True], ready=[[0, 7.5], [0, 3.0]])
    assert ledger["cover_paid"][:, 0] == pytest.approx([0] * 7 + [TWO] + [2 * TWO] * 16)
    assert not ledger["cover_paid"][:, 1].any()


def test_a_guarantor_pays_the_fee_that_an_estate_leaves_unpaid():
    data = terms(**GUARANTEE)
    data["assumptions"]["counterparties"]["customer"]["assumed_share"] = judged(1)
    ledger, _ = run(data, draws=2, customer_default_month=[6, 3], assumed_score=[0, 0], ready=[[0, 3], [0, 2.5]])
    assert ledger["cover_paid"][:, 0] == pytest.approx([0] * 5 + [2 * BOTH] + [0] * 18)
    assert ledger["cover_paid"][2, 1] == pytest.approx(2 * ONE)
    assert ledger["cover_not_started"][2, 1] == pytest.approx(2 * TWO / 2)


# --- after a default of the loan ---------------------------------------------------------------------------------


def test_a_first_loss_bears_its_share_up_to_its_size_if_its_provider_is_there():
    data = terms(shape="first_loss", share="0.5", amount="2000000", loan=LOAN)
    data["assumptions"]["prescribed"] = {"lgd": {"loss_share": "0.5"}}
    ledger, posted = run(
        data,
        draws=4,
        lender=Lender([5, 5, 5, 99], exposure=np.array([4e6, 9e6, 9e6, 9e6]), recovery=1e6),
        cover_provider_default_time=[np.inf, np.inf, 5.0, np.inf],
    )
    assert ledger["loss_cover"][3].tolist() == [0, 0, 0, 0]
    assert ledger["loss_cover"][-1] == pytest.approx([1.5e6, 2e6, 0, 0])
    assert ledger["cover_paid"][4] == pytest.approx([1.5e6, 2e6, 0, 0])
    assert ledger["cover_beyond_limit"][4] == pytest.approx([0, 2e6, 2e6, 0])
    assert ledger["cover_provider_failed"][4] == pytest.approx([0, 0, 2e6, 0])
    assert ledger["cover_left"][-1] == pytest.approx([0.5e6, 0, 2e6, 2e6])
    assert not any("backstop" in lines for lines in posted)


def guaranteed_rent(months, of=BOTH, rate=0.12 / 12, hazard=0.01 / 12):
    """Return the present value of rent of the `months` months to come, weighed by the provider's survival."""
    ahead = np.arange(1, months + 1)
    return 2 * of * ((1 + rate) ** -ahead * np.exp(-hazard * ahead)).sum()


def test_a_lender_goes_on_claiming_under_an_assignable_guarantee():
    ledger, posted = run(
        terms(**GUARANTEE, loan=LOAN),
        draws=4,
        lender=Lender([8, 8, 8, 99]),
        customer_default_month=[6, 6, 0, 6],
        cover_provider_default_time=[np.inf, 7.5, np.inf, np.inf],
    )
    # months 9 to 23, the last of the loan, both terms run on
    assert ledger["loss_cover"][-1] == pytest.approx([guaranteed_rent(15), 0, 0, 0], rel=1e-12)
    assert ledger["cover_paid"][7, 0] == pytest.approx((2 - LET_AGAIN) * BOTH)
    assert not ledger["cover_paid"][8:, 0].any()
    assert not any("backstop" in lines and lines["backstop"][0] for lines in posted[8:])


def test_what_the_lender_goes_on_claiming_stays_within_the_amount():
    plenty, _ = run(terms(**GUARANTEE, loan=LOAN), lender=Lender([6]), customer_default_month=[6])
    for limits in (
        {"amount": "200000000"},
        {"amount_per_year": "200000000"},
        {"amount": "900000000", "amortisation_months": 120},
    ):
        same, _ = run(terms(**GUARANTEE, loan=LOAN, **limits), lender=Lender([6]), customer_default_month=[6])
        assert same["loss_cover"][-1] == pytest.approx(plenty["loss_cover"][-1], rel=1e-12)
    amount = str(2 * BOTH * 4)  # month 6 is paid in cash, then three months of rent are left
    some, _ = run(terms(**GUARANTEE, loan=LOAN, amount=amount), lender=Lender([6]), customer_default_month=[6])
    assert some["loss_cover"][-1, 0] == pytest.approx(guaranteed_rent(3), rel=1e-12)
    yearly = str(2 * BOTH * 2)  # month 7, then nothing to month 12, then months 13 and 14
    some, _ = run(terms(**GUARANTEE, loan=LOAN, amount_per_year=yearly), lender=Lender([6]), customer_default_month=[6])
    expected = guaranteed_rent(1) + guaranteed_rent(8) - guaranteed_rent(6)
    assert some["loss_cover"][-1, 0] == pytest.approx(expected, rel=1e-12)


def test_a_guarantee_that_is_not_assignable_gives_the_lender_nothing():
    data = terms(**GUARANTEE, assignable=False, loan=LOAN)
    ledger, _ = run(data, lender=Lender([8]), customer_default_month=[6])
    assert not ledger["loss_cover"].any()


# --- what must hold in every draw -----------------------------------------------------------------------------------


def paid_in_draws(draws=512, **backstop):
    model = Model.of(Deal.model_validate(terms(**backstop)))
    model.risks["seen"] = seen = Seen(NAMES)
    paths = model.sample(11, 0, draws)
    paths["customer_default_month"] = np.arange(draws) % 25
    paths["cover_provider_default_time"] = np.where(np.arange(draws) % 3, np.inf, np.arange(draws) / draws * 24)
    model.run(paths, draws)
    return {name: np.array(rows) for name, rows in seen.rows.items()}


LIMITS = {"amount": "9000000", "amount_per_year": "6000000", "amortisation_months": 30}


@pytest.mark.parametrize(
    "shape",
    [
        FLOOR_TERMS,
        GUARANTEE,
        {"shape": "leaseback", "floor_rent": "1.60"},
        {"shape": "unsold_hours_put", "floor_rent": "2", "covers": "all"},
    ],
    ids=lambda shape: shape["shape"],
)
def test_what_the_formula_gives_is_paid_or_has_a_reason_not_to_be(shape):
    ledger = paid_in_draws(**shape, **LIMITS)
    reasons = ("cover_not_started", "cover_provider_failed", "cover_beyond_limit")
    for name in ("cover_paid", *reasons):
        assert (ledger[name] >= 0).all()
        assert ledger[name].any(), name
    total = ledger["cover_paid"] + sum(ledger[name] for name in reasons)
    np.testing.assert_allclose(total, ledger["cover_formula"], rtol=1e-12, atol=1e-6)
    assert (ledger["cover_paid"].sum(axis=0) <= 9e6 + CENT).all()


def test_a_larger_limit_never_pays_less_by_any_month():
    small, large = (
        np.cumsum(paid_in_draws(**FLOOR_TERMS, amount=amount)["cover_paid"], axis=0) for amount in ("4e6", "7e6")
    )
    assert (large >= small - CENT).all()
    assert (large > small + CENT).any()


@given(
    amount=st.floats(0, 1e9),
    year=st.floats(0, 1e9),
    months=st.one_of(st.none(), st.integers(1, 240)),
    month=st.integers(1, 240),
    start=st.floats(0, 240),
    paid=st.floats(0, 1e9),
)
def test_room_is_within_every_limit_and_never_negative(amount, year, months, month, start, paid):
    limit = Limit(amount, year, months)
    room = limit.room(month, np.array([start]), np.array([paid]), np.array([min(paid, year)]))[0]
    assert 0 <= room <= max(amount - paid, 0)
    assert room <= max(year - min(paid, year), 0)


def test_a_backstop_moves_no_draws_of_another_risk():
    data = terms(**FLOOR_TERMS)
    covered = Model.of(Deal.model_validate(data)).sample(3, 0, 64)
    del data["backstop"]
    bare = Model.of(Deal.model_validate(data)).sample(3, 0, 64)
    assert covered.keys() == bare.keys()
    for name, path in bare.items():
        np.testing.assert_array_equal(covered[name], path, err_msg=name)


# --- GD-06: a price floor under lognormal rent --------------------------------------------------------------------

WALK = {"spot_rent": 4.0, "decay_per_year": 0.20, "volatility": 0.45, "strike": 2.35, "discount_rate": 0.05}


def test_a_price_floor_without_limit_has_the_closed_form():
    truth = EXPECTED["GD-06"]
    for month, value in truth["put_usd_per_hour_at_month"].items():
        years = int(month) / 12
        assert put_on_forward(4 * np.exp(-0.2 * years), 2.35, 0.45, years, 0.05) == pytest.approx(value, rel=1e-9)
    whole = price_floor_value(**WALK, hours=np.full(60, 1000 * 730 * 0.85))
    assert whole == pytest.approx(truth["put_total_value_usd"], rel=1e-9)


def test_put_and_call_differ_by_the_forward():
    # a call is a put with forward and strike changed over
    put, call = put_on_forward(1.7, 2.35, 0.45, 2.0, 0.05), put_on_forward(2.35, 1.7, 0.45, 2.0, 0.05)
    assert put - call == pytest.approx(np.exp(-0.1) * (2.35 - 1.7), rel=1e-12)


@pytest.fixture(scope="module")
def walked():
    """Discounted payments under the limited floor, and under the same without a limit, of the same draws."""
    values = []
    for amount in ("15000000", None):
        data = yaml.safe_load((GOLDEN / "gd-06.yaml").read_text())
        data["backstop"]["amount"] = amount
        cash = Model.of(Deal.model_validate(data)).simulate(16_384, seed=2).monthly["cfads"]
        values.append(cash @ np.exp(-0.05 * np.arange(1, 61) / 12))
    return values


def test_the_simulated_value_of_a_limited_price_floor_agrees(walked):
    truth = EXPECTED["GD-06"]["put_total_value_with_cap_usd"]["value"]
    error = walked[0].std(ddof=1) / np.sqrt(len(walked[0]))
    assert abs(walked[0].mean() - truth) <= 5 * error


def test_the_simulated_value_of_a_price_floor_without_limit_agrees(walked):
    error = walked[1].std(ddof=1) / np.sqrt(len(walked[1]))
    assert abs(walked[1].mean() - EXPECTED["GD-06"]["put_total_value_usd"]) <= 5 * error
    assert (walked[1] >= walked[0] - CENT).all()


# --- what is refused, and what is said ----------------------------------------------------------------------------


def test_a_floor_that_the_lender_could_go_on_claiming_under_is_refused():
    with pytest.raises(NotComputedError, match="the worth to the lender of a revenue floor after a default"):
        Model.of(Deal.model_validate(terms(**FLOOR_TERMS, assignable=True)))


def test_a_share_of_revenue_beside_a_leaseback_is_refused():
    with pytest.raises(NotComputedError, match=r"backstop\.revenue_share"):
        Model.of(Deal.model_validate(terms(shape="leaseback", floor_rent="1", revenue_share="0.1")))


def test_a_floor_needs_gpus_to_count():
    data = terms(**FLOOR_TERMS)
    for tranche in data["delivery"]["tranches"].values():
        del tranche["cluster"]
    data["commercial"]["charges"]["compute"]["price"] = {"per": "lump_month", "amount": "1000000"}
    del data["assumptions"]["reletting"]
    with pytest.raises(MissingTermError, match=r"delivery\.tranches\.\*\.cluster: missing"):
        Model.of(Deal.model_validate(data))


def test_an_index_floor_needs_a_market():
    data = terms(shape="index_price_floor", floor_rent="1")
    del data["assumptions"]["reletting"], data["assumptions"]["market"]
    with pytest.raises(MissingTermError, match=r"assumptions\.market: missing"):
        Model.of(Deal.model_validate(data))


def test_a_first_loss_needs_a_loss():
    with pytest.raises(MissingTermError, match=r"finance\.loan: missing"):
        Model.of(Deal.model_validate(terms(shape="first_loss", amount="1000000")))
    with pytest.raises(MissingTermError, match=r"finance\.recovery: missing"):
        Model.of(Deal.model_validate(terms(shape="first_loss", amount="1000000", loan=LOAN)))


@pytest.mark.parametrize(
    ("backstop", "said"),
    [
        (FLOOR_TERMS, "it ends when the loan defaults"),
        (FLOOR_TERMS | {"amount": "1000000", "fee_rate": "0.02"}, "the fee is a share of the amount first agreed"),
        (GUARANTEE, "it answers for contracts that were in force when it started"),
        (GUARANTEE, "contracts that end after the default of the loan are not claimed for"),
    ],
)
def test_what_the_model_leaves_out_is_said(backstop, said):
    model = Model.of(Deal.model_validate(terms(**backstop, loan=LOAN)))
    assert any(said in words for words in model.ignores())


def test_a_provider_whose_credit_is_not_given_never_fails_and_that_is_said():
    data = terms(**GUARANTEE)
    del data["assumptions"]["counterparties"]
    model = Model.of(Deal.model_validate(data))
    assert any("its provider never fails" in words for words in model.ignores())
    assert any("nothing is claimed for default" in words for words in model.ignores())
    ledger, _ = run(terms(**FLOOR_TERMS) | {"assumptions": data["assumptions"]}, draws=1)
    assert not ledger["cover_provider_failed"].any()
