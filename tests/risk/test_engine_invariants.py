"""What must hold whatever the deal: money, causes, streams, and what more cover or more reserve may not do."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from risk.core.parameters import with_values
from risk.engine import Model, first_draws
from risk.result import ENDINGS, LEDGER, Result
from risk.score.debt import default
from schemas.deal import Deal

GOLDEN = Deal.model_validate(yaml.safe_load((Path(__file__).parents[1] / "golden" / "gd-10.yaml").read_text()))
KEPT = 64  # up to here the engine keeps every month of every draw
MANY = 1000
HALF_A_CENT, CENT = 0.005, 0.01
LOAN, MARKET = "finance.loan", "assumptions.market"
CUSTOMER, PROVIDER = "assumptions.counterparties.customer", "assumptions.counterparties.cover_provider"
OUTAGES = "assumptions.prescribed.outages"
EXERCISE = "assumptions.exercise"
ROUGH = {
    "assumptions.delay.share_late": 0.5,
    f"{CUSTOMER}.default_rate": 0.1,
    f"{PROVIDER}.default_rate": 0.1,
    f"{MARKET}.monthly_noise": 0.1,
    f"{OUTAGES}.mean_up_hours": 1500,
    "finance.reserve.months": 2,
    f"{LOAN}.amount": 125e6,
}
COVER = {"provider": "guarantor", "amount": 20e6}
FIRST_LOSS = COVER | {"shape": "first_loss", "fee_rate": 0.01}
GUARANTEE = COVER | {"shape": "payment_guarantee", "triggers": ["insolvency", "chronic_failure"], "fee_rate": 0.01}
INSURANCE = {"layers": {"hours": {"rate_per_hour": 9000, "wait_hours": 4, "premium_per_month": 10000}}}
DEALS: dict[str, dict[str, Any]] = {
    "floor": {},
    "first loss": {"backstop": FIRST_LOSS},
    "guarantee, grace": {"backstop": GUARANTEE, f"{LOAN}.grace_months": 2},
    "swept": {f"{LOAN}.sweep": 0.5, f"{LOAN}.profile": "straight", "backstop.amount_per_year": 5e6},
    "prepaid, insured, covenants": {
        "commercial.prepayment": {"fraction": 0.05, "credited_from_month": 7},
        "finance.covenants": {"minimum_dscr": 1.1, "on_breach": "default", "cure_months": 1},
        "finance.horizon_months": 66,
        "insurance": INSURANCE,
    },
}


def model_of(changes: dict[str, Any]) -> Model:
    return Model.of(with_values(GOLDEN, ROUGH | changes))


def futures(changes: dict[str, Any], draws: int) -> Result:
    model = model_of(changes)
    return model.run(model.sample(7, 0, draws), draws)


def by_month(result: Result, name: str) -> np.ndarray:
    found = result.by_month(name)
    assert found is not None, name
    return found


@pytest.fixture(scope="module", params=DEALS)
def lived(request):
    model = model_of(DEALS[request.param])
    return model, model.run(model.sample(7, 0, KEPT), KEPT)


# --- money -----------------------------------------------------------------------------------------------------------


def test_what_comes_in_goes_out_in_every_draw(lived):
    model, result = lived
    loan = model.setting.deal.finance.loan
    growth = 1 + float(loan.annual_rate) / 12
    cash, due, paid_out = (by_month(result, name) for name in ("cfads", "debt_service", "distribution"))
    swept = by_month(result, "interest") + by_month(result, "principal") - due
    unpaid, held = by_month(result, "unpaid"), by_month(result, "reserve") + by_month(result, "trapped")
    for i, month in enumerate(result.column["default_month"]):
        before, arrears = model.risks["finance"].targets[0], 0.0
        for m in range(month - 1 if month else result.months):
            claim = due[i, m] + arrears * growth
            out = claim - unpaid[i, m] + swept[i, m] + paid_out[i, m]
            assert before + cash[i, m] == pytest.approx(out + held[i, m], abs=CENT), (i, m + 1)
            before, arrears = held[i, m], min(unpaid[i, m], claim) if loan.grace_months else 0.0


def test_a_default_owes_something_and_loses_no_more_than_that(lived):
    _, result = lived
    column, failed = result.column, result.column["default_month"] > 0
    assert failed.sum() > 20
    assert (column["exposure"][failed] > HALF_A_CENT).all()
    for name in ("loss", "loss_sale_only", "recovery"):
        assert (column[name] >= 0).all()
        assert (column[name] <= column["exposure"]).all()
    assert (column["loss"] <= column["loss_sale_only"] + CENT).all()


def test_no_cover_pays_more_than_its_amounts(lived):
    model, result = lived
    terms = model.setting.deal.backstop
    paid = by_month(result, "cover_paid")
    given = result.column["loss_cover"] if terms.shape == "payment_guarantee" else 0.0
    assert (paid.sum(axis=1) + given <= float(terms.amount) + CENT).all()
    assert paid.any()
    if terms.amount_per_year is not None:
        years = [paid[:, year : year + 12].sum(axis=1) for year in range(0, result.months, 12)]
        assert np.max(years) == pytest.approx(float(terms.amount_per_year))


def test_causes_exclude_each_other_and_add_up(lived):
    model, result = lived
    found = default(model.risks["finance"], model.base(), result)
    causes = list(found["by_cause"].values())
    assert sum(cause["pd"] for cause in causes) == pytest.approx(found["pd_term"])
    assert sum(cause["expected_loss_bp"] for cause in causes) == pytest.approx(found["expected_loss_bp"])
    np.testing.assert_array_equal(result.column["default_cause"] != "", result.column["default_month"] > 0)
    ended = (result.column["first_month"] > 0) & (result.column["first_month"] < result.column["default_month"])
    np.testing.assert_array_equal(result.column["default_cause"][ended], result.column["first_cause"][ended])
    assert not np.isin(result.column["default_cause"][result.column["first_month"] == 0], ENDINGS).any()


def test_sources_are_uses_whatever_the_loan():
    for changes in (
        DEALS["prepaid, insured, covenants"],
        {f"{LOAN}.drawings": [{"month": 3, "amount": 40e6}], f"{LOAN}.commitment_fee": 0.01},
        {f"{LOAN}.profile": "sculpted", f"{LOAN}.target_dscr": 1.5},
    ):
        model = model_of(changes)
        money, finance, plan = model.risks["finance"].sources, model.setting.deal.finance, model.risks["finance"].plan
        balance, idle = plan.commitment, 0.0
        for drawing in finance.loan.drawings:
            balance, idle = balance - float(drawing.amount), idle + float(drawing.amount) * drawing.month
        drawn_later = {drawing.month: float(drawing.amount) for drawing in finance.loan.drawings}
        interest = 0.0
        for month in range(1, finance.loan.first_payment_month):
            interest += balance * float(finance.loan.annual_rate) / 12
            balance += drawn_later.get(month, 0.0)
        reserve = sum(plan.service[plan.first_payment_month - 1 :][: finance.reserve.months])
        uses = float(finance.capital_expenditure) + interest + idle * float(finance.loan.commitment_fee) / 12 + reserve
        prepaid = float(model.setting.prepaid.sum())
        assert money.uses == pytest.approx(uses, abs=CENT)
        assert money.equity == pytest.approx(uses - plan.commitment - prepaid, abs=CENT)


def test_a_loan_that_is_paid_as_scheduled_is_repaid():
    for profile in ({}, {f"{LOAN}.profile": "straight"}, {f"{LOAN}.profile": "sculpted", f"{LOAN}.target_dscr": 1.5}):
        base = model_of({f"{LOAN}.amount": 90e6} | profile).base()
        assert base.column["default_month"][0] == 0
        assert by_month(base, "balance")[0, -1] == pytest.approx(0.0, abs=CENT)


# --- a loan that is repaid -------------------------------------------------------------------------------------------

NOTHING_LATER = {"assumptions.reletting": None, "backstop": None, "commercial.term.months": 36}


def test_costs_that_no_cash_pays_once_the_loan_is_repaid_are_no_default():
    """Default is debt service that is unpaid; the project costs money after the contract, and the loan is over."""
    result = futures(NOTHING_LATER | {f"{LOAN}.payments": 24, f"{LOAN}.amount": 60e6}, KEPT)
    assert (result.column["default_month"] <= 31).all()
    later = futures(
        NOTHING_LATER | {f"{LOAN}.payments": 24, f"{LOAN}.amount": 60e6, "finance.horizon_months": 55}, KEPT
    )
    lives = later.column["default_month"] == 0
    assert (by_month(later, "unpaid")[lives, -1] > HALF_A_CENT).sum() > 20
    np.testing.assert_array_equal(later.column["default_month"], result.column["default_month"])


def test_a_breach_is_over_once_the_loan_is_repaid():
    """The look-back still holds months in which service was due, but the covenant is of a loan."""
    swept = {
        "commercial.charges.compute.price.amount": 3.5,
        f"{LOAN}.sweep": 1,
        f"{LOAN}.amount": 60e6,
        "finance.lock_up.look_back_months": 12,
    }
    covenant = {"minimum_dscr": 50, "on_breach": "default", "cure_months": 20}
    result = futures(swept | {"finance.covenants": covenant}, KEPT)
    outlasts = 8 + 20
    repaid = by_month(result, "balance")[:, outlasts - 2] < HALF_A_CENT
    assert repaid.sum() > 20
    assert (result.column["default_month"][repaid] < outlasts).all()
    assert (result.column["breach_month:minimum_dscr"][repaid] > 0).all()


def test_cash_is_free_once_nothing_is_owed_under_whatever_profile():
    """A loan sculpted to cash that ends with the contract is repaid before its last payment."""
    changes = NOTHING_LATER | {f"{LOAN}.profile": "sculpted", f"{LOAN}.target_dscr": 1.5, "finance.reserve.months": 6}
    model = model_of(changes | {"commercial.term.months": 30, "finance.lock_up.look_back_months": 1})
    result = model.run(model.sample(7, 0, KEPT), KEPT)
    repaid = np.flatnonzero(model.risks["finance"].plan.opening < HALF_A_CENT)
    assert repaid[0] + 1 < model.risks["finance"].plan.last_payment_month
    lives = result.column["default_month"] == 0
    assert lives.sum() > 5
    assert not by_month(result, "trapped")[lives][:, repaid].any()


def test_what_a_first_loss_leaves_of_a_sale_is_counted_on_the_loss_of_a_sale():
    model = model_of({"backstop": FIRST_LOSS | {"share": 0.8}})
    result = model.run(model.sample(7, 0, KEPT), KEPT)
    column = result.column
    alive = column["cover_provider_default_time"] > column["default_month"]
    lost = column["exposure"] - column["recovery_sale"]
    borne = np.minimum(0.8 * lost, float(model.setting.deal.backstop.amount)) * alive
    np.testing.assert_allclose(column["loss_sale_only"], lost - borne, atol=CENT)
    assert ((column["loss_cover"] == 0) & (borne > 0)).sum() > 3  # a novation leaves no loss; a sale would


# --- what more of a thing may not do ---------------------------------------------------------------------------------


def test_with_a_larger_reserve_no_draw_defaults_earlier():
    before = None
    for months in (0, 2, 5):
        found = futures({"finance.reserve.months": months}, MANY).column["default_month"]
        when = np.where(found > 0, found, 10_000)
        if before is not None:
            assert (when >= before).all()
            assert (when > before).sum() > 50
        before = when


def test_a_larger_amount_of_cover_at_the_same_fee_lowers_the_expected_loss():
    losses = []
    for amount in (5e6, 20e6, 60e6):
        changes = {"backstop.amount": amount, "backstop.fee_rate": 0.3e6 / amount}
        losses.append(futures(changes, MANY).column["loss"].mean())
    assert losses[0] > losses[1] > losses[2]


# --- risks that are off, and streams ---------------------------------------------------------------------------------

OFF: dict[str, Any] = {
    "assumptions.delay.share_late": 0,
    f"{CUSTOMER}.default_rate": 0,
    f"{PROVIDER}.default_rate": 0,
    f"{MARKET}.monthly_noise": 0,
    f"{MARKET}.regimes": None,
    f"{MARKET}.next_generation": None,
    f"{OUTAGES}.mean_up_hours": None,
    f"{OUTAGES}.outages_per_year": {"value": "0", "unit": "1/year", "as_of": "2026-11-30"}
    | {"kind": "judgement", "rationale": "off"},
    **{f"{EXERCISE}.{name}": "never" for name in ("long_stop", "chronic_failure", "convenience")},
}


@pytest.mark.parametrize("name", DEALS)
def test_with_all_risks_off_every_draw_is_the_base_case_to_a_cent(name):
    model = model_of(DEALS[name] | OFF)
    result, base = model.run(model.sample(3, 0, 5), 5), model.base()
    for figure in LEDGER:
        if base.by_month(figure) is not None:
            mine, theirs = by_month(result, figure), by_month(base, figure)
            np.testing.assert_allclose(mine, np.broadcast_to(theirs, mine.shape), rtol=0, atol=CENT, err_msg=figure)
    assert (result.column["first_cause"] == "").all()


MOVES: tuple[tuple[dict[str, Any], set[str]], ...] = (
    ({"assumptions.delay": None}, {"ready"}),
    ({"assumptions.delay.sigma": 0.1}, {"ready"}),
    ({f"{MARKET}.regimes": None}, {"spot_rent", "rent_deviation"}),
    ({f"{MARKET}.next_generation": None}, {"spot_rent"}),
    ({"assumptions.counterparties": {}}, {"customer_score", "cover_provider_score", "assumed_score"}),
    ({"assumptions.counterparties.correlation": 0.9}, {"cover_provider_score"}),
    (
        {f"{CUSTOMER}.default_rate": 0.5, PROVIDER: None, "assumptions.counterparties.correlation": None},
        {"cover_provider_score"},
    ),
    ({f"{OUTAGES}.mean_up_hours": 900}, {"outage_draw", "outage_tranche", "outage_start_s", "outage_end_s"}),
    (
        {"service_levels": {}, "cancellation.chronic_failure": None},
        {"outage_draw", "outage_tranche", "outage_start_s", "outage_end_s"},
    ),
    ({"backstop": None, "insurance": INSURANCE, "assumptions.reletting": None, "finance.tax": None}, set()),
    ({f"{EXERCISE}.chronic_failure": "never", f"{LOAN}.sweep": 0.5, "operations.cost_growth": 0.03}, set()),
    ({"commercial.term.months": 30, "commercial.prepayment": {"fraction": 0.1, "credited_from_month": 3}}, set()),
)


@pytest.mark.parametrize(("changes", "moved"), MOVES, ids=[",".join(changes) for changes, _ in MOVES])
def test_switching_a_risk_off_or_on_moves_no_other_draws(changes, moved):
    as_is, other = model_of({}).sample(7, 1, 200), model_of(changes).sample(7, 1, 200)
    assert as_is.keys() - moved <= other.keys()
    for name in as_is.keys() - moved:
        np.testing.assert_array_equal(as_is[name], other[name], err_msg=name)
    for name in moved & other.keys():
        assert not np.array_equal(as_is[name], other[name]), name


def test_a_block_is_the_same_whatever_ran_before_it_and_a_draw_whatever_runs_beside_it():
    changes = DEALS["prepaid, insured, covenants"]
    used, new = model_of(changes), model_of(changes)
    used.run(used.sample(7, 0, KEPT), KEPT)
    paths = used.sample(7, 1, KEPT)
    second, alone = used.run(paths, KEPT), new.run(new.sample(7, 1, KEPT), KEPT)
    for kind in ("column", "monthly", "shared", "total", "living", "worst"):
        for name, array in getattr(alone, kind).items():
            np.testing.assert_array_equal(getattr(second, kind)[name], array, err_msg=name)
    few = KEPT // 4
    fewer = new.run(first_draws(paths, few), few)
    for name in ("default_month", "first_month", "exposure", "loss", "loss_cover", "default_cause_code"):
        np.testing.assert_allclose(fewer.column[name], alone.column[name][:few], rtol=1e-12, err_msg=name)
