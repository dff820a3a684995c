"""Named stresses, against cash worked by hand."""

from pathlib import Path

import pytest
import yaml

from risk.core.parameters import with_values
from risk.engine import Model
from risk.score.mitigations import paired
from risk.score.named_stresses import stresses
from risk.score.stresses import Stress, run_stresses
from schemas.deal import Deal

GOLDEN = Path(__file__).parents[1] / "golden"
HAND = (
    """
schema_version: 1
parties: {guarantor: {name: Guarantor, role: guarantor}}
clusters: {c: {units: {gpu: 100}}}
services: {compute: {tranches: [t]}}
service_levels:
  cluster:
    level: cluster
    target: "0.99"
    nodes_needed_share: "1"
    credit: {bands: [{below: "0.99", credit_fraction: "0.10"}, {below: "0.9", credit_fraction: "0.50"}]}
cancellation:
  chronic_failure:
    limbs: [{form: bad_months, service_level: cluster, below: "0.99", k: 3, m: 12}]
    exercise: {months: 0}
commercial: {currency: USD, charges: {compute: {price: {per: lump_month, amount: 1000000}}}, term: {months: 48}}
delivery:
  tranches:
    t:
      cluster: c
      ready_for_service_date: {close_plus_months: 0}
      long_stop: {after: {months: 2}, exercise: {months: 0}}
finance:
  close: 2026-01-01
  currency: USD
  loan: {amount: 14400000, annual_rate: 0, first_payment_month: 1, payments: 24}
  reserve: {months: 2}
  operating_costs: {power: {amount: 2}}
assumptions:
  calendar: equal_730
  prescribed:
    lgd: {loss_share: "0.5"}
    outages: {outages_per_year: OUTAGES, median_hours: HOURS, sigma: SIGMA}
""".replace("OUTAGES", "{value: 0, unit: 1/year, kind: judgement, as_of: 2026-11-30, rationale: a test}")
    .replace("HOURS", "{value: 1, unit: h, kind: judgement, as_of: 2026-11-30, rationale: a test}")
    .replace("SIGMA", '{value: 1, unit: "1", kind: judgement, as_of: 2026-11-30, rationale: a test}')
)
"""One million a month; debt service 0.6 million a month for 24 months; 100 GPUs x 730 h x 2 = 0.146 million of power.

The base month leaves 0.854 million, cover 1.4233; the reserve holds 1.2 million. Half of what is owed is lost.
"""


def hand(**changes):
    return with_values(Deal.model_validate(yaml.safe_load(HAND)), changes)


def under(deal, id_, **options):
    rows = run_stresses(deal, stresses(deal), **options)
    (row,) = [row for row in rows if row["id"] == id_]
    return row


def test_the_deal_as_it_is_comes_first():
    first, *rest = run_stresses(hand(), stresses(hand()))
    assert (first["id"], first["computed"], first["draws"]) == ("as_is", True, None)
    assert first["base_case"]["minimum_dscr"] == pytest.approx(854 / 600)
    assert first["base_case"]["first_unpaid_month"] is None
    assert first["base_case"]["first_unpaid_month_reason"] == "all debt service is paid"
    assert (first["base_case"]["loss"], first["base_case"]["contract_ends"]) == (0, None)
    assert len(rest) == 14


def test_a_stress_that_the_deal_has_nothing_for_is_listed_with_its_reason():
    reasons = {row["id"]: row["reason"] for row in run_stresses(hand(), stresses(hand())) if not row["computed"]}
    assert reasons == {
        "fall_of_rent": "assumptions.market is not given",
        "generation_jump": "assumptions.market.next_generation is not given",
        "provider_default": "the deal has no backstop",
        "cover_not_started": "the deal has no backstop",
        "cover_halved": "the deal has no backstop",
        "retrofit": "assumptions.reletting is not given, so nothing is let again anyway",
        "refinancing_shut": "the payments of a loan of profile annuity leave nothing",
    }


def test_six_months_late_spend_the_reserve_and_default():
    # no income and no power: the reserve pays months 1 and 2, month 3 is unpaid; 14.4 - 1.2 owed
    base = under(hand(), "delivery_slip")["base_case"]
    assert (base["first_unpaid_month"], base["default_month"]) == (3, 3)
    assert base["exposure"] == pytest.approx(13.2e6)
    assert base["loss"] == pytest.approx(6.6e6)
    assert base["loss_bp"] == pytest.approx(0.5 * 13.2 / 14.4 * 1e4)
    assert (base["minimum_dscr"], base["contract_ends"]) == (0, None)


def test_a_missed_long_stop_ends_the_contract_at_its_month():
    base = under(hand(), "long_stop")["base_case"]
    assert base["contract_ends"] == {"cause": "long_stop", "month": 2}
    assert base["default_month"] == 3
    without = hand(**{"delivery.tranches.t.long_stop": None})
    assert under(without, "long_stop")["reason"] == "no tranche has a long stop"


def test_a_week_out_costs_the_deepest_band_of_one_month():
    # 168 of 730 hours: availability 77%, half the fee; one bad month gives no right
    row = under(hand(), "site_out")
    assert row["base_case"]["minimum_dscr"] == pytest.approx((1000 - 500 - 146) / 600)
    assert row["base_case"]["minimum_dscr_month"] == 1
    assert (row["base_case"]["contract_ends"], row["base_case"]["default_month"]) == (None, None)


def test_clustered_outages_end_the_contract_by_the_right_they_give():
    # 24 hours of 730 in months 1 to 3: 10% each; the third bad month gives the right
    base = under(hand(), "clustered_outages")["base_case"]
    assert base["contract_ends"] == {"cause": "chronic_failure", "month": 3}
    assert base["default_month"] == 6  # months 4 and 5 from the reserve
    assert base["exposure"] == pytest.approx((24 - 5) * 0.6e6)


def test_a_prescribed_bad_month_is_made_bad_by_an_outage():
    deal = Deal.model_validate(yaml.safe_load((GOLDEN / "gd-02.yaml").read_text()))
    base = under(deal, "clustered_outages")["base_case"]
    assert base["contract_ends"] == {"cause": "chronic_failure", "month": 2}  # two in six
    assert base["default_month"] == 6


def test_the_customer_defaults_in_month_18_and_pays_nothing_for_it():
    base = under(hand(), "customer_default")["base_case"]
    assert base["contract_ends"] == {"cause": "customer_default", "month": 18}
    assert base["default_month"] == 20  # months 18 and 19 from the reserve
    assert base["exposure"] == pytest.approx((24 - 19) * 0.6e6)


def test_in_a_shorter_simulation_the_customer_defaults_in_its_middle():
    row = under(hand(**{"finance.loan.payments": 12}), "customer_default")
    assert row["base_case"]["contract_ends"]["month"] == 6
    assert row["name"] == "Customer default, month 6"


def test_a_guarantee_pays_what_its_provider_start_and_limit_leave():
    cover = {
        "shape": "payment_guarantee",
        "provider": "guarantor",
        "starts": "signing",
        "triggers": ["payment_default"],
        "amount": "4000000",
        "fee_rate": "0.03",
    }
    rows = {row["id"]: row for row in run_stresses(hand(backstop=cover), stresses(hand(backstop=cover)))}
    alone = rows["customer_default"]["base_case"]
    assert alone["cover_paid"] == pytest.approx(4e6)  # four months' rent
    for name in ("provider_default", "cover_not_started"):
        assert rows[name]["base_case"]["cover_paid"] == 0
        assert rows[name]["base_case"]["default_month"] < alone["default_month"]
    assert rows["cover_halved"]["base_case"]["cover_paid"] == pytest.approx(2e6)
    fee = rows["as_is"]["base_case"]["minimum_dscr"]
    assert fee == pytest.approx((854 - 4000 * 0.03 / 12) / 600)  # 0.01 million a month


def test_terms_change_by_what_the_stress_says():
    dearer = under(hand(), "dearer_loan")
    assert dearer["set"] == {"finance.loan.annual_rate": 0.02}
    payment = 14.4e6 * (0.02 / 12) / (1 - (1 + 0.02 / 12) ** -24)
    assert dearer["base_case"]["minimum_dscr"] == pytest.approx(854e3 / payment)
    power = under(hand(), "dearer_power")
    assert power["set"] == {"finance.operating_costs.power.amount": 3.0}
    assert power["base_case"]["minimum_dscr"] == pytest.approx((1000 - 219) / 600)


def test_a_balloon_that_nobody_refinances_is_a_default():
    loan = {
        "amount": 14400000,
        "annual_rate": 0,
        "first_payment_month": 1,
        "payments": 24,
        "profile": "bullet",
        "refinancing_ltv": 1,
    }
    value = {"amount": "20000000", "decay_per_month": "0"}
    deal = hand(**{"finance.loan": loan, "assumptions.prescribed.gpu_value": value})
    rows = {row["id"]: row["base_case"] for row in run_stresses(deal, stresses(deal))}
    assert rows["as_is"]["default_month"] is None
    assert rows["refinancing_shut"]["default_month"] == 24


def test_on_draws_a_stress_is_the_paired_difference_to_the_deal_as_it_is():
    deal = Deal.model_validate(yaml.safe_load((GOLDEN / "gd-02.yaml").read_text()))
    row = under(deal, "dearer_loan", draws=500, seed=3)
    dearer = Model.of(with_values(deal, {"finance.loan.annual_rate": 0.11}))
    assert row["draws"] == paired(Model.of(deal), dearer, 500, seed=3)
    everyone = under(deal, "customer_default", draws=500, seed=3)["draws"]
    assert everyone["pd_term"] == 1  # whoever had not left before


def test_a_scenario_of_ones_own_changes_terms_and_says_why_it_cannot():
    chosen = [
        Stress("scenario-1", "Less reserve", terms={"finance.reserve.months": 0}),
        Stress("scenario-2", "No price", terms={"commercial.charges": {}}),
    ]
    _, less, without = run_stresses(hand(), chosen)
    assert less["set"] == {"finance.reserve.months": 0}
    assert less["base_case"]["minimum_dscr"] == pytest.approx(854 / 600)
    assert (without["computed"], without["base_case"]) == (False, None)
    assert without["reason"].startswith("commercial.charges.compute: missing")


def test_a_deal_without_a_loan_has_no_default_to_stress():
    data = yaml.safe_load(HAND)
    del data["finance"]["loan"], data["finance"]["reserve"], data["assumptions"]["prescribed"]["lgd"]
    data["finance"]["horizon_months"] = 12
    deal = Deal.model_validate(data)
    rows = run_stresses(deal, stresses(deal), draws=20)
    assert rows[0]["base_case"]["default_month_reason"] == "finance.loan is not given"
    assert rows[0]["draws"]["el_bp_reason"] == "finance.loan is not given"
    assert {row["id"]: row.get("reason") for row in rows}["dearer_loan"] == "finance.loan is not given"
