"""Loan profiles, drawings, sweep, grace, refinancing, covenants, tax and recovery, against worked figures."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from risk.core.protocol import Phase, State
from risk.engine import Model
from risk.finance.loan import level_payment, reserve_targets, schedule, sculpt
from risk.finance.ratios import life_cover_ratio
from schemas.deal import Deal
from schemas.errors import NotComputedError
from schemas.finance import Loan

GOLDEN = Path(__file__).parents[1] / "golden"


def golden(name: str) -> dict[str, Any]:
    return yaml.safe_load((GOLDEN / f"{name}.yaml").read_text())


def sourced(value: object, unit: str = "1") -> dict[str, str]:
    return {"value": str(value), "unit": unit, "kind": "judgement", "as_of": "2026-11-30", "rationale": "worked here"}


def terms(**changes: object) -> Loan:
    """Return a loan of 1,200 at 1% a month in twelve payments from month 1."""
    return Loan.model_validate(
        {"amount": "1200", "annual_rate": "0.12", "first_payment_month": 1, "payments": 12} | changes
    )


def deal(loan: dict[str, Any] | None = None, **finance: Any) -> Deal:
    """Return golden deal 1 with that loan, or its own, and sections changed; None takes one out."""
    data = golden("gd-01")
    data["assumptions"].pop("prescribed")
    data["assumptions"] |= finance.pop("assumptions", {})
    if "ready" in finance:
        data["delivery"]["tranches"]["tranche-1"]["ready_for_service_date"]["close_plus_months"] = finance.pop("ready")
    small = {"amount": "1200", "annual_rate": "0.12", "first_payment_month": 1, "payments": 12}
    data["finance"] |= {"loan": small | loan} if loan is not None else {}
    for name, value in finance.items():
        if value is None:
            data["finance"].pop(name, None)
        elif name in ("residual_value", "commercial"):
            data[name] = data.get(name, {}) | value
        else:
            data["finance"][name] = value
    return Deal.model_validate(data)


def plain(loan: dict[str, object], **finance: object) -> Model:
    """Return the small loan with no reserve, lock-up or tax but those given."""
    return Model.of(deal(loan, **({"reserve": None, "lock_up": None, "tax": None} | finance)))


def typed_loss(share: str = "0.4") -> dict[str, object]:
    return {"prescribed": {"lgd": {"loss_share": share}}}


def drive(model: Model, cash: list[float] | np.ndarray, **arrays: np.ndarray) -> dict[str, np.ndarray]:
    """Return the money of each month when cash flow is as typed, each of shape (months,), one draw."""
    return {name: array[0] for name, array in drive_all(model, np.atleast_2d(cash), **arrays).items()}


def drive_all(model: Model, cash: np.ndarray, **arrays: np.ndarray) -> dict[str, np.ndarray]:
    state, steps = state_of(model, len(cash)), model.risks["finance"].steps()
    names = ("unpaid", "debt_paid", "debt_service", "interest", "principal", "balance", "reserve", "trapped")
    names += ("distribution", "default_month", "exposure", "arrears", "owed_before", "loss", "recovery")
    found: dict[str, list[np.ndarray]] = {name: [] for name in names}
    for month in range(1, cash.shape[1] + 1):
        state.now["cfads"] = cash[:, month - 1]
        for name, array in arrays.items():
            state.now[name] = array
        for phase in (Phase.WATERFALL, Phase.DEFAULT, Phase.LOSS):
            steps[phase](month, state)
        for name in names:
            found[name].append(np.array(state.now.get(name, np.zeros(len(cash)))))
    out = {name: np.stack(rows, axis=1) for name, rows in found.items()}
    return out | {name: array for name, array in state.now.items() if name.startswith("breach_month")}


def state_of(model: Model, draws: int = 1) -> State:
    tranches = len(model.setting.tranches)
    return State(
        path={"ready": np.tile(model.setting.planned_ready, (draws, 1))},
        under_contract=np.ones((draws, tranches), dtype=bool),
        last_billed=np.zeros((draws, tranches), dtype=np.int64),
        first_cause=np.full(draws, "", dtype="U24"),
        first_month=np.zeros(draws, dtype=np.int64),
    )


# --- sculpting ---------------------------------------------------------------------------------------------------


def test_a_sculpted_debt_is_the_worked_one():
    # reference case PF-11, by year
    debt, interest, principal = sculpt(np.array([40.0, 36, 30, 24, 18]), 0.09, 1.35)
    assert debt == pytest.approx(88.0475569517, rel=1e-9)
    np.testing.assert_allclose(interest, [7.9242801257, 5.9707986703, 4.1081705506, 2.4779059002, 1.1009174312])
    np.testing.assert_allclose(principal, [21.705349504, 20.6958679964, 18.1140516716, 15.2998718776, 12.2324159021])
    np.testing.assert_allclose(
        interest + principal, [29.6296296296, 26.6666666667, 22.2222222222, 17.7777777778, 13.3333333333]
    )


@pytest.mark.parametrize(
    ("cash", "rate", "dscr", "limit", "balances"),
    [
        # SAM Single Owner, version 7.1.1, four of its runs by year; the third sizes on cash before tax
        (
            np.full(5, 26e6),
            0.09,
            1.4,
            np.inf,
            [72236380.60509, 60166226.288123, 47009758.082629, 32669207.73864, 17038007.863693],
        ),
        (
            45e6 * 0.85 ** np.arange(5) - 8e6,
            0.10,
            1.5,
            np.inf,
            [66721739.800851, 48727247.114269, 33433305.159029, 20434969.008265, 9388049.242424],
        ),
        (
            np.full(5, 29e6),
            0.09,
            1.4,
            np.inf,
            [80571347.598002, 67108483.167536, 52433960.938328, 36438731.708491, 19003931.847969],
        ),
        (
            np.full(5, 51e6),
            0.09,
            1.3,
            80e6,
            [80000000.0, 66632603.44346, 52062141.196832, 36180337.348008, 18869171.152789],
        ),
    ],
)
def test_sculpted_debt_agrees_with_an_independent_program(cash, rate, dscr, limit, balances):
    debt, interest, principal = sculpt(cash, rate, dscr, limit)
    assert debt == pytest.approx(balances[0], rel=1e-9)
    np.testing.assert_allclose(debt - np.cumsum(principal), [*balances[1:], 0.0], rtol=1e-9, atol=1e-3)
    cover = cash / (interest + principal)
    np.testing.assert_allclose(cover, cover[0])
    if limit < np.inf:
        assert cover[0] == pytest.approx(2.479653, rel=1e-6)


def test_a_month_without_cash_pays_its_interest_and_carries_no_debt():
    debt, interest, principal = sculpt(np.array([26.0, -5.0, 26.0]), 0.1, 1.3)
    assert debt == pytest.approx(20 / 1.1 + 20 / 1.331)
    assert principal[1] == 0
    assert interest[1] > 0
    assert (principal >= 0).all()
    assert principal.sum() == pytest.approx(debt)
    assert interest[2] + principal[2] < 20  # what was paid in the month without cash is not paid twice


@given(cash=st.lists(st.floats(-20, 100), min_size=2, max_size=30), rate=st.floats(0, 0.05), target=st.floats(1, 3))
def test_principal_is_never_negative_and_repays_all(cash, rate, target):
    debt, _, principal = sculpt(np.array(cash), rate, target)
    assert (principal >= 0).all()
    assert principal.sum() == pytest.approx(debt, abs=1e-9)


def sculpted(**finance: object) -> Model:
    loan = {"amount": "60000000", "annual_rate": "0.09", "first_payment_month": 4, "payments": 36}
    return Model.of(deal(loan | {"profile": "sculpted", "target_dscr": "1.35"}, **finance))


def test_a_loan_is_sculpted_to_the_base_case_after_tax():
    model = sculpted()
    finances, base = model.risks["finance"], model.base()
    plan, cash = finances.plan, base.monthly["cfads"][0]
    np.testing.assert_allclose(cash[3:39] / plan.service[3:39], 1.35, rtol=1e-10)
    assert base.monthly["tax"][0, 3:39].sum() > 0
    assert plan.closing[-1] == pytest.approx(0.0, abs=1e-4)
    for month in (3, 10, 30):
        cover = life_cover_ratio(cash[month:39], plan.monthly_rate, float(plan.closing[month - 1]))
        assert cover == pytest.approx(1.35, rel=1e-9)  # one flat cover is the cover over the life at any date
    assert finances.sources.loan == plan.commitment
    assert finances.sources.uses == pytest.approx(finances.sources.loan + finances.sources.equity)


def test_less_tax_carries_more_debt():
    assert sculpted(tax=None).risks["finance"].plan.commitment > sculpted().risks["finance"].plan.commitment


def test_the_typed_amount_is_the_greatest_a_sculpted_loan_can_be():
    free = sculpted().risks["finance"].plan.commitment
    loan = {"amount": "20000000", "annual_rate": "0.09", "first_payment_month": 4, "payments": 36}
    model = Model.of(deal(loan | {"profile": "sculpted", "target_dscr": "1.35"}))
    plan = model.risks["finance"].plan
    assert plan.commitment == 20e6 < free
    cover = model.base().monthly["cfads"][0, 3:39] / plan.service[3:39]
    np.testing.assert_allclose(cover, cover[0], rtol=1e-10)
    assert cover[0] > 1.35


def test_a_worker_sculpts_the_same_loan():
    one, two = sculpted().risks["finance"].plan, sculpted().risks["finance"].plan
    np.testing.assert_array_equal(one.opening, two.opening)


def test_a_loan_is_not_sculpted_to_cash_that_is_not_there():
    loan = {"amount": "60000000", "first_payment_month": 4, "payments": 36, "profile": "sculpted", "target_dscr": "1.3"}
    with pytest.raises(
        NotComputedError, match=r"target_dscr: cash to the last payment in month 39, of which 24 months"
    ):
        Model.of(deal(loan, horizon_months=24))
    with pytest.raises(NotComputedError, match=r"finance\.loan\.profile: a loan sculpted to cash that is itself"):
        Model.of(deal(loan, assumptions={"prescribed": {"cfads": {"while_contracted": "1.3", "after": "0"}}}))
    with pytest.raises(NotComputedError, match="a loan that the base case has no cash to pay"):
        Model.of(deal(loan, operating_costs={"other": {"amount": "10"}}))


# --- profiles, drawings, reserve -----------------------------------------------------------------------------------


def test_equal_principal_on_a_falling_book_value_never_passes_the_advance():
    # reference case PF-20: 71.42% advance, five years of equal principal, books over six years
    plan = schedule(terms(amount="71.42", payments=60, profile="straight"), 60)
    loan = np.array([71.42, *plan.closing[11::12]])
    book = 100 * (1 - np.arange(6) / 6)
    np.testing.assert_allclose(loan, [71.42, 57.136, 42.852, 28.568, 14.284, 0.0], atol=1e-9)
    np.testing.assert_allclose(loan / book, [0.7142, 0.685632, 0.64278, 0.57136, 0.42852, 0.0], atol=1e-9)
    bullet = schedule(terms(amount="71.42", payments=72, profile="bullet"), 72)
    only_interest = np.array([71.42, *bullet.closing[11:71:12]]) / book
    np.testing.assert_allclose(only_interest, [0.7142, 0.85704, 1.0713, 1.4284, 2.1426, 4.2852], atol=1e-9)


def test_the_covenant_on_book_value_breaks_in_the_first_year_of_interest_only():
    # the same case through the engine, month by month: 0.7142 / (1 - m/72) passes 0.85 between months 11 and 12, and
    # equal principal over 36 months falls faster than the books
    breaches = {}
    for profile in ("straight", "bullet"):
        loan = {"amount": "28568000", "annual_rate": "0", "payments": 36, "profile": profile}
        model = Model.of(
            deal(
                loan,
                covenants={"maximum_ltv": "0.85", "ltv_basis": "book"},
                residual_value={"book_life_months": 72, "floor_rent_share": sourced("0.6")},
                assumptions=MARKET,
                ready=0,
            )
        )
        breaches[profile] = int(model.base().column["breach_month:maximum_ltv"][0])
    assert breaches == {"straight": 0, "bullet": 12}


MARKET: dict[str, object] = {
    "market": {
        "spot_rent": sourced("2.40", "USD/GPU-hour"),
        "decay_per_year": sourced("0.18", "1/year"),
        "persistence": sourced("0.9"),
        "monthly_noise": sourced("0.06"),
    },
    "value": {
        "life": sourced("6", "year"),
        "discount_rate": sourced("0.15", "1/year"),
        "cash_cost": sourced("0.30", "USD/GPU-hour"),
        "utilisation": sourced("0.85"),
        "haircut": sourced("0.10"),
        "age_at_close": sourced("0", "year"),
    },
}


def test_level_payments_leave_the_balloon_for_the_last():
    plan = schedule(terms(profile="balloon", balloon="300"), 12)
    payment = level_payment(1200, 0.01, 12, 300)
    np.testing.assert_allclose(plan.service[:11], payment)
    assert plan.service[11] == pytest.approx(payment + 300)
    assert plan.closing[10] * 1.01 == pytest.approx(payment + 300)
    # worked by hand: (1,200 - 300 / 1.01^12) x 0.01 / (1 - 1.01^-12)
    assert payment == pytest.approx((1200 - 300 / 1.01**12) * 0.01 / (1 - 1.01**-12), rel=1e-12)
    assert level_payment(1200, 0.0, 12, 300) == 75


def test_a_bullet_pays_interest_until_all_of_it_is_due():
    plan = schedule(terms(profile="bullet"), 12)
    np.testing.assert_allclose(plan.service, [12.0] * 11 + [1212.0])


@pytest.mark.parametrize("profile", ["annuity", "straight", "bullet", "balloon"])
def test_every_profile_repays_what_it_lends(profile):
    plan = schedule(terms(profile=profile, **({"balloon": "500"} if profile == "balloon" else {})), 14)
    assert plan.principal.sum() == pytest.approx(1200)
    assert plan.closing[11] == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(plan.interest[:12], 0.01 * plan.opening[:12])
    assert not plan.service[12:].any()


def test_interest_and_fee_before_the_first_payment_follow_what_is_drawn():
    loan = terms(
        amount="100",
        first_payment_month=7,
        drawings=[{"month": 2, "amount": "30"}, {"month": 4, "amount": "30"}],
        commitment_fee="0.012",
    )
    plan = schedule(loan, 18)
    np.testing.assert_allclose(plan.opening[:7], [40, 40, 70, 70, 100, 100, 100])
    assert plan.interest_during_construction == pytest.approx(0.01 * (2 * 40 + 2 * 70 + 2 * 100))
    assert plan.commitment_fee == pytest.approx(0.001 * (2 * 60 + 2 * 30))
    assert not plan.interest[:6].any()
    short = schedule(loan, 3)  # interest is paid from uses at close, so the months simulated do not change it
    assert short.interest_during_construction == plan.interest_during_construction


def test_uses_hold_interest_and_fee_and_equity_is_what_is_left():
    loan = {"amount": "28000000", "annual_rate": "0.09", "first_payment_month": 4, "payments": 36}
    later = {"drawings": [{"month": 2, "amount": "14000000"}], "commitment_fee": "0.01"}
    one, two = (Model.of(deal(loan | more)).risks["finance"].sources for more in ({}, later))
    assert one.interest_during_construction == pytest.approx(630_000)  # golden deal 1
    assert two.interest_during_construction == pytest.approx(630_000 - 0.0075 * 2 * 14e6)
    assert two.commitment_fee == pytest.approx(0.01 / 12 * 2 * 14e6)
    assert two.uses == pytest.approx(two.loan + two.equity)


def test_the_reserve_holds_the_next_payments_and_no_balloon():
    straight = reserve_targets(terms(annual_rate="0.12", profile="straight"), 2, 12)
    np.testing.assert_allclose(straight[0], 112 + 111)
    np.testing.assert_allclose(straight[10:], [102 + 101, 101, 0])
    bullet = reserve_targets(terms(profile="bullet"), 3, 12)
    np.testing.assert_allclose(bullet, [36] * 10 + [24, 12, 0])


# --- sweep ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("effect", ["shortens", "re_levels"])
def test_without_surplus_a_swept_loan_is_the_scheduled_one(effect):
    model = plain({"sweep": "1", "sweep_effect": effect})
    plan = model.risks["finance"].plan
    found = drive(model, plan.service[:12])
    for name in ("interest", "principal", "closing"):
        np.testing.assert_allclose(found["balance" if name == "closing" else name], getattr(plan, name)[:12], atol=1e-9)


def test_early_repayment_takes_the_last_payments_away():
    model = plain({"sweep": "0.5", "sweep_effect": "shortens"})
    payment = model.risks["finance"].plan.service[0]
    found = drive(model, np.full(12, payment + 100))
    last = int(np.flatnonzero(found["debt_service"] > 0)[-1])
    assert last < 11
    np.testing.assert_allclose(found["debt_service"][:last], payment)
    assert found["principal"].sum() == pytest.approx(1200)
    assert found["balance"][last:] == pytest.approx(0, abs=1e-9)
    # worked by hand: month 1 repays the payment less 12 of interest, and half of 100
    assert found["balance"][0] == pytest.approx(1200 - (payment - 12) - 50)
    assert found["distribution"][0] == pytest.approx(50)
    np.testing.assert_allclose(found["distribution"][last + 1 :], payment + 100)


def test_early_repayment_lowers_all_payments_that_are_left():
    model = plain({"sweep": "1", "sweep_effect": "re_levels"})
    payment = model.risks["finance"].plan.service[0]
    cash = np.full(12, payment)
    cash[0] += 200
    found = drive(model, cash)
    left = 1200 - (payment - 12) - 200
    again = level_payment(left, 0.01, 11)
    assert again < payment
    assert found["debt_service"][1] == pytest.approx(again)
    assert found["balance"][0] == pytest.approx(left)


def test_nothing_is_swept_before_the_first_payment():
    model = plain({"sweep": "1", "first_payment_month": 4})
    found = drive(model, np.full(6, 500.0))
    np.testing.assert_allclose(found["balance"][:3], 1200)
    assert found["balance"][3] < 1200


def test_each_draw_has_its_own_balance_and_lender_cover_looks_at_its_own_service():
    model = plain({"sweep": "1"}, covenants={"minimum_dscr": "1.2"})
    payment = model.risks["finance"].plan.service[0]
    cash = np.array([np.full(12, payment), np.full(12, payment + 300)])
    found = drive_all(model, cash)
    assert found["balance"][0, 3] > found["balance"][1, 3]
    assert found["breach_month:minimum_dscr"].tolist() == [1, 0]


# --- grace ---------------------------------------------------------------------------------------------------------


def test_without_grace_the_first_unpaid_payment_is_a_default():
    model = plain({}, assumptions=typed_loss())
    payment = model.risks["finance"].plan.service[0]
    found = drive(model, [payment - 1, payment])
    assert found["default_month"].tolist() == [1, 1]
    assert found["exposure"][0] == pytest.approx(1212 - payment + 1)


def test_arrears_are_paid_first_with_their_interest():
    model = plain({"grace_months": 1})
    payment = model.risks["finance"].plan.service[0]
    found = drive(model, [payment - 10, payment + 10.1, payment + 5])
    np.testing.assert_allclose(found["arrears"], [10, 0, 0], atol=1e-9)
    np.testing.assert_allclose(found["distribution"], [0, 0, 5], atol=1e-9)
    assert not found["default_month"].any()


def test_debt_service_unpaid_for_longer_than_the_grace_is_a_default_of_all_that_is_owed():
    model = plain({"grace_months": 2}, assumptions=typed_loss())
    payment = model.risks["finance"].plan.service[0]
    found = drive(model, np.zeros(5))
    assert found["default_month"].tolist() == [0, 0, 3, 3, 3]
    assert found["exposure"][2] == pytest.approx(1200 * 1.01**3)
    assert found["arrears"][1] == pytest.approx(payment * 2.01)
    # what keeps paying a month late never outlasts one month of grace
    late = drive(plain({"grace_months": 1}), [0.0, *(payment * 1.01 for _ in range(10))])
    assert not late["default_month"].any()
    # two months late does
    later = drive(plain({"grace_months": 1}), [0.0, 0.0, *(payment * 1.01 for _ in range(9))])
    assert later["default_month"][1] == 2


def test_grace_ends_with_the_last_payment_and_is_not_for_costs():
    model = plain({"grace_months": 3})
    payment = model.risks["finance"].plan.service[0]
    assert drive(model, [*np.full(11, payment), payment - 1])["default_month"][-1] == 12
    assert drive(model, [payment, -1.0])["default_month"].tolist() == [0, 2]


def test_costs_that_cannot_be_paid_before_the_first_payment_are_a_default():
    model = plain({"first_payment_month": 4}, reserve={"months": 1}, assumptions=typed_loss())
    payment = model.risks["finance"].plan.service[3]
    found = drive(model, [-payment / 2, -payment / 2, -1.0])
    assert found["default_month"].tolist() == [0, 0, 3]
    np.testing.assert_allclose(found["reserve"], [payment / 2, 0, 0], atol=1e-9)
    assert found["exposure"][2] == pytest.approx(1200)


# --- refinancing -----------------------------------------------------------------------------------------------------


def bullet(**loan: object) -> Model:
    return plain(
        {"profile": "bullet", "refinancing_ltv": "0.8", "payments": 3, "annual_rate": "0.12"} | loan,
        assumptions=typed_loss() | MARKET,
    )


def test_a_balloon_within_the_limit_is_refinanced_and_stays_owed():
    found = drive(bullet(), [12.0, 12.0, 15.0], gpu_value=np.array([[1500.0]]))
    assert not found["default_month"].any()
    np.testing.assert_allclose(found["debt_service"], 12)  # what is refinanced is not due in cash
    assert found["balance"][2] == pytest.approx(1200)
    assert found["distribution"][2] == pytest.approx(3)


def test_a_balloon_above_the_limit_takes_all_cash_and_is_a_default_of_the_rest():
    found = drive(bullet(), [12.0, 12.0, 52.0], gpu_value=np.array([[1499.0]]))
    assert found["default_month"].tolist() == [0, 0, 3]
    assert found["distribution"][2] == 0
    assert found["exposure"][2] == pytest.approx(1200 - 40)
    assert found["recovery"][2] == pytest.approx(0.6 * 1160)
    assert found["loss"][2] == pytest.approx(0.4 * 1160)


def test_without_a_limit_the_balloon_is_paid_from_cash():
    model = plain({"profile": "bullet", "payments": 3})
    assert drive(model, [12.0, 12.0, 1212.0])["default_month"][2] == 0
    assert drive(model, [12.0, 12.0, 1211.0])["default_month"][2] == 3


# --- covenants -------------------------------------------------------------------------------------------------------


def test_a_breach_is_reported_with_its_first_month_and_changes_nothing():
    model = plain({}, covenants={"minimum_dscr": "1.2"})
    payment = model.risks["finance"].plan.service[0]
    cash = payment * np.array([1.3, 1.1, 1.3, 1.0])
    found, free = drive(model, cash), drive(plain({}), cash)
    assert found["breach_month:minimum_dscr"] == 2
    np.testing.assert_allclose(found["distribution"], free["distribution"])


def test_cover_is_looked_back_on_over_the_months_of_the_lock_up():
    model = plain({}, covenants={"minimum_dscr": "1.2"}, lock_up={"dscr": "0", "look_back_months": 3})
    payment = model.risks["finance"].plan.service[0]
    assert drive(model, payment * np.array([1.3, 1.1, 1.3, 1.0]))["breach_month:minimum_dscr"] == 4


def test_a_breach_stops_distributions_until_it_is_over():
    model = plain({}, covenants={"minimum_dscr": "1.2", "on_breach": "lock_up"})
    payment = model.risks["finance"].plan.service[0]
    found = drive(model, payment * np.array([1.3, 1.1, 1.1, 1.25]))
    np.testing.assert_allclose(found["distribution"], payment * np.array([0.3, 0, 0, 0.45]))
    np.testing.assert_allclose(found["trapped"], payment * np.array([0, 0.1, 0.2, 0]), atol=1e-9)


def test_a_breach_that_outlasts_its_cure_is_a_default_and_what_is_held_goes_to_the_lender():
    finance = {"covenants": {"minimum_dscr": "1.2", "on_breach": "default", "cure_months": 1}, "reserve": {"months": 1}}
    recovery = {"sale_stress": sourced("0"), "lag_months": sourced(0, "month")}
    model = plain({}, **finance, recovery=recovery, assumptions=MARKET)
    payment = model.risks["finance"].plan.service[0]
    found = drive(model, payment * np.array([1.1, 1.3, 1.1, 1.1, 1.1]), gpu_value=np.zeros((1, 1)))
    assert found["default_month"].tolist() == [0, 0, 0, 4, 4]  # one month was cured
    owed = model.risks["finance"].plan.closing[3]
    assert found["exposure"][3] == pytest.approx(owed)
    held = payment * (1 + 0.1 + 0.1)  # reserve, and what was trapped in the months in breach
    assert found["recovery"][3] == pytest.approx(held)
    assert found["loss"][3] == pytest.approx(owed - held)
    assert found["trapped"][3] == found["reserve"][3] == 0


def test_cover_over_the_life_is_that_of_the_base_case_from_the_date_on():
    model = sculpted(covenants={"minimum_llcr": "1.35"})
    base = model.base()
    assert base.column["breach_month:minimum_llcr"][0] == 0
    tight = sculpted(covenants={"minimum_llcr": "1.36", "on_breach": "default", "cure_months": 2})
    result = tight.base()
    assert result.column["breach_month:minimum_llcr"][0] == 4
    assert result.column["default_month"][0] == 6


def test_a_loan_above_its_share_of_market_value_is_in_breach():
    model = plain({}, covenants={"maximum_ltv": "0.5"}, assumptions=MARKET)
    payment = model.risks["finance"].plan.service[0]
    closing = model.risks["finance"].plan.closing
    value = np.array([[2 * closing[0] + 1], [2 * closing[0] - 1]])
    found = drive_all(model, np.full((2, 12), payment), gpu_value=value)
    assert found["breach_month:maximum_ltv"].tolist() == [0, 1]


def test_no_breach_is_noted_once_the_loan_has_defaulted():
    model = plain({}, covenants={"minimum_dscr": "1.2"}, assumptions=typed_loss())
    payment = model.risks["finance"].plan.service[0]
    found = drive_all(model, payment * np.array([[1.3, 0.5, 0.5], [1.3, 1.3, 0.5]]))
    assert found["default_month"][:, 2].tolist() == [2, 3]
    assert found["breach_month:minimum_dscr"].tolist() == [2, 3]


# --- tax -------------------------------------------------------------------------------------------------------------


def tax_of(**tax: object) -> np.ndarray:
    data = {"rate": "0.25", "depreciation_months": 60} | tax
    prepaid = data.pop("prepaid", None)
    more = {"commercial": {"prepayment": prepaid}} if prepaid else {}
    return Model.of(deal(tax=data, **more)).base().monthly["tax"][0]


def test_a_share_of_capital_is_deducted_at_once_and_its_loss_is_carried_forward():
    level, early = tax_of(), tax_of(first_month_share="0.4")
    assert level[3] == pytest.approx(136_708.33333333, rel=1e-9)  # golden deal 1
    assert early[3] == 0
    # worked by hand: 0.4 x 40m at once, 0.6 x 40m / 60 a month; income is 1,423,500 less interest
    losses = 0.4 * 40e6 + 0.6 * 40e6 / 60 + 210_000 - 1_423_500
    months = Model.of(deal()).risks["finance"].plan.interest
    for month in range(5, 40):
        losses -= 1_423_500 - 0.6 * 40e6 / 60 - months[month - 1]
        assert early[month - 1] == pytest.approx(0.25 * max(0.0, -losses), abs=1e-4)
        losses = max(0.0, losses)


def test_refunded_losses_are_paid_out_at_once():
    refunded = tax_of(first_month_share="0.4", losses="refunded")
    assert refunded[3] == pytest.approx(0.25 * (1_423_500 - 0.4 * 40e6 - 0.6 * 40e6 / 60 - 210_000), rel=1e-9)
    assert (refunded[4:] > 0).all()


def test_prepaid_fees_are_taxed_when_received_or_when_earned():
    prepaid = {"fraction": "0.2", "credited_from_month": 1}
    plain_fees = tax_of(losses="refunded")
    earned = tax_of(losses="refunded", prepaid=prepaid)
    np.testing.assert_allclose(earned, plain_fees)  # as if nothing had been paid ahead
    received = tax_of(losses="refunded", prepayment="on_receipt", prepaid=prepaid)
    ahead = 0.2 * 36 * 1_825_000
    assert received[0] - earned[0] == pytest.approx(0.25 * ahead)
    np.testing.assert_allclose(received[3:39], earned[3:39] - 0.25 * ahead / 36)
    assert received.sum() == pytest.approx(earned.sum())


# --- recovery ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mid_size() -> Model:
    return Model.of(Deal.model_validate(golden("gd-10")))


def in_default(model: Model, month: int, **arrays: np.ndarray) -> State:
    state = state_of(model)
    state.now |= {"prepaid_left": np.zeros((1, 2)), "reserve": np.zeros(1), "trapped": np.zeros(1)}
    state.now |= {"gpu_value": np.array([[30e6, 40e6]])} | arrays
    return state


def test_a_sale_bears_its_costs_and_the_haircut_of_what_is_not_delivered(mid_size):
    law, rows = mid_size.risks["finance"].recovery, np.zeros(1, dtype=np.int64)
    both = (0.80 * 70e6 * 0.95 - 2e6) / 1.0075**9  # golden deal 10
    assert law.sale(9, in_default(mid_size, 9), rows)[0] == pytest.approx(both)
    first = (0.80 * (30e6 + 0.70 * 40e6) * 0.95 - 2e6) / 1.0075**9
    assert law.sale(5, in_default(mid_size, 5), rows)[0] == pytest.approx(first)
    worthless = in_default(mid_size, 9, gpu_value=np.array([[1e6, 1e6]]))
    assert law.sale(9, worthless, rows)[0] == 0  # never below nothing


def test_a_novation_is_worth_the_margin_at_the_rent_now_agreed_to_the_end_of_the_term(mid_size):
    law, rows, month = mid_size.risks["finance"].recovery, np.zeros(1, dtype=np.int64), 20
    power = 142 / 72 * 1.25 * 0.065
    fixed = 142 / 72 * 130 + 55 + 40_000 * 0.006 / 12
    annuity = (1 - 1.0075 ** -(55 - month)) / 0.0075

    def worth(rent: float, tranches: int = 2) -> float:
        return 0.60 * tranches * 2304 * max(730 * (rent - power) - fixed, 0.0) * annuity

    assert law.novation(month, in_default(mid_size, month), rows)[0] == pytest.approx(worth(2.25), rel=1e-9)
    lower = in_default(mid_size, month, rent_factor=np.array([[0.8, 0.8]]))
    assert law.novation(month, lower, rows)[0] == pytest.approx(worth(1.8), rel=1e-9)
    one = in_default(mid_size, month)
    one.under_contract[0, 0] = False
    assert law.novation(month, one, rows)[0] == pytest.approx(worth(2.25, 1), rel=1e-9)
    for since, expected in ((20, 0.0), (21, worth(2.25))):
        failed = in_default(mid_size, month, customer_default_month=np.array([since]))
        assert law.novation(month, failed, rows)[0] == pytest.approx(expected, rel=1e-9)


def test_a_tranche_that_is_not_delivered_counts_to_the_end_of_its_term_and_bears_its_whole_cost(mid_size):
    law, rows = mid_size.risks["finance"].recovery, np.zeros(1, dtype=np.int64)
    late = in_default(mid_size, 5)
    late.path["ready"] = np.array([[4.0, 12.0]])
    prompt = in_default(mid_size, 5)
    assert law.novation(5, late, rows)[0] == pytest.approx(law.novation(5, prompt, rows)[0])


def test_a_typed_loss_takes_the_place_of_every_recovery():
    model = plain({}, assumptions=typed_loss("0.55"))
    found = drive(model, [0.0])
    assert found["exposure"][0] == pytest.approx(1212)
    assert found["recovery"][0] == pytest.approx(0.45 * 1212)
    assert found["loss"][0] == pytest.approx(0.55 * 1212)


def test_cover_for_the_lender_comes_off_the_loss_and_a_loss_is_never_negative():
    model = plain({}, assumptions=typed_loss("0.55"))
    found = drive_all(model, np.zeros((2, 1)), loss_cover=np.array([100.0, 9e9]))
    np.testing.assert_allclose(found["loss"][:, 0], [0.55 * 1212 - 100, 0.0])


def test_without_a_recovery_no_loss_is_written():
    result = plain({}).base()
    assert "loss" not in result.column
    assert "recovery" not in result.column


# --- invariants --------------------------------------------------------------------------------------------------

FEATURES: tuple[dict[str, object], ...] = (
    {},
    {"sweep": "0.5"},
    {"sweep": "1", "sweep_effect": "re_levels"},
    {"grace_months": 2},
    {"grace_months": 1, "sweep": "0.7", "profile": "straight"},
    {"profile": "bullet", "refinancing_ltv": "0.8", "sweep": "0.3"},
    {"profile": "balloon", "balloon": "400", "grace_months": 1, "sweep": "1", "sweep_effect": "re_levels"},
)
MODELS = [
    plain(
        loan | {"first_payment_month": 3},
        reserve={"months": 2},
        lock_up={"dscr": "1.15", "look_back_months": 2},
        covenants={"minimum_dscr": "1.05", "on_breach": "lock_up"},
        assumptions=MARKET | typed_loss(),
    )
    for loan in FEATURES
]


@pytest.mark.parametrize("model", MODELS, ids=[",".join(map(str, loan.values())) or "annuity" for loan in FEATURES])
@given(cash=st.lists(st.floats(-100, 500), min_size=14, max_size=14), value=st.floats(0, 3000))
def test_money_comes_in_and_goes_out_alike_whatever_the_loan(model, cash, value):
    found = drive(model, cash, gpu_value=np.array([[value]]))
    failed = int(found["default_month"][-1])
    lives = failed - 1 if failed else 14
    held = found["reserve"] + found["trapped"]
    at_start = model.risks["finance"].targets[0]
    costs_unpaid = np.where(found["owed_before"] > 0.005, 0.0, found["unpaid"])  # once the loan is repaid
    swept = found["principal"] + found["interest"] - found["debt_service"]
    if model.risks["finance"].plan.refinances:
        swept[-1] = 0.0
    for month in range(1, lives + 1):  # a sum up to half a cent is not missed
        out = found["debt_paid"][:month].sum() + swept[:month].sum() + found["distribution"][:month].sum()
        out -= costs_unpaid[:month].sum()
        assert at_start + sum(cash[:month]) == pytest.approx(out + held[month - 1], abs=0.011 * month)
    assert (found["distribution"] >= 0).all()
    assert (found["reserve"] >= -1e-9).all()
    assert (found["balance"] >= -1e-6).all()
    assert 0 <= found["loss"][-1] <= found["exposure"][-1] + 1e-9
    if not failed:
        owed_to_new_lender = 0.0 if not model.risks["finance"].plan.refinances else found["balance"][-1]
        assert found["balance"][-1] == pytest.approx(owed_to_new_lender, abs=1e-6)
