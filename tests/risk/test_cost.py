"""Operating costs of a month, and the cost of ownership over the term."""

from datetime import date

import numpy as np
import pytest

from risk.core.protocol import Phase, State
from risk.core.running_cost import running_cost
from risk.core.setting import setting, share_in_term
from risk.cost import cost_of_ownership, from_deal
from schemas.deal import Deal
from schemas.errors import MissingTermError

GOLDEN_10 = {  # golden deal GD-10, base case: months, and unit costs
    "opex": {4: 0.0, 5: 1_033_036.0, 6: 1_033_036.0, 7: 1_033_036.0, 8: 2_066_072.0, 9: 2_066_072.0, 55: 2_066_072.0},
    "power_usd_per_gpu_hour": 0.16024305555556,
    "fixed_usd_per_gpu_month": 331.38888888889,
}
POWER = {
    "kw_per_gpu": "1.972222222222222",  # 142 kW a rack of 72
    "pue": "1.25",
    "price_per_mwh": "65",
    "idle_share": "0.1",
    "site_rent_per_kw_month": "130",
}
OPERATIONS = {"staff_per_gpu_month": "55", "property_insurance_rate": "0.006"}


def deal(months: int = 55, *, cluster: dict | None = None, costs: dict | None = None, **sections) -> Deal:
    """Two tranches of 2,304 GPUs at 2.25 a GPU-hour, due in months 4 and 7."""
    tranche = {"cluster": "all", "share_of_service": "0.5"}
    return Deal.model_validate(
        {
            "schema_version": 1,
            "clusters": {"all": {"units": {"gpu": 4608}, **(cluster or {})}},
            "services": {"compute": {"tranches": ["first", "second"]}},
            "commercial": {
                "currency": "USD",
                "charges": {"compute": {"price": {"per": "gpu_hour", "amount": "2.25"}}},
                "term": {"months": 60, "ends_by": {"close_plus_months": months}},
            },
            "delivery": {
                "tranches": {
                    "first": {**tranche, "ready_for_service_date": {"close_plus_months": 4}},
                    "second": {**tranche, "ready_for_service_date": {"close_plus_months": 7}},
                }
            },
            "finance": {
                "close": date(2026, 1, 1),
                "currency": "USD",
                "horizon_months": months,
                "capital_expenditure": "184320000",
                "operating_costs": costs or {},
            },
            "assumptions": {"calendar": "equal_730"},
            **sections,
        }
    )


def costs_of(terms: Deal, month: int, **arrays) -> np.ndarray:
    """Return the operating costs that one month posts, for draws with the arrays given."""
    frame = setting(terms)
    ready = np.atleast_2d(arrays.pop("ready", frame.planned_ready)).astype(float)
    draws, tranches = ready.shape
    state = State(
        path={"ready": ready},
        under_contract=np.ones((draws, tranches), dtype=bool),
        last_billed=np.zeros((draws, tranches), dtype=np.int64),
        first_cause=np.full(draws, "", dtype="U24"),
        first_month=np.zeros(draws, dtype=np.int64),
    )
    state.now["share_in_term"] = share_in_term(ready, month, frame.term_ends(ready))
    state.now |= {name: np.atleast_2d(array) for name, array in arrays.items()}
    risk = from_deal(terms, frame)
    assert risk is not None
    risk.steps()[Phase.COSTS](month, state)
    np.testing.assert_array_equal(state.cash["operating_costs"].amount, -state.now["operating_costs"])
    return state.now["operating_costs"]


def test_the_base_case_of_the_whole_model_agrees_month_by_month():
    terms = deal(power=POWER, operations=OPERATIONS)
    for month, opex in GOLDEN_10["opex"].items():
        assert costs_of(terms, month) == pytest.approx(opex, rel=1e-9, abs=1e-4), month
    cost = running_cost(setting(terms))
    assert cost.power == pytest.approx(GOLDEN_10["power_usd_per_gpu_hour"], rel=1e-12)
    assert cost.fixed_per_gpu_month == pytest.approx(GOLDEN_10["fixed_usd_per_gpu_month"], rel=1e-12)
    assert cost.cash_cost == pytest.approx(0.16024305555556 + 331.38888888889 / 730, rel=1e-12)


def test_fixed_cost_is_paid_for_what_is_not_delivered_and_power_is_not():
    terms = deal(power=POWER, operations=OPERATIONS)
    late = costs_of(terms, 8, ready=[6.5, 9.0])
    fixed = 4608 * GOLDEN_10["fixed_usd_per_gpu_month"]
    assert late == pytest.approx(fixed + 2304 * 730 * GOLDEN_10["power_usd_per_gpu_hour"], rel=1e-12)
    assert costs_of(terms, 7, ready=[6.5, 9.0]) == pytest.approx(
        fixed / 2 + 0.5 * 2304 * 730 * GOLDEN_10["power_usd_per_gpu_hour"], rel=1e-12
    )


def test_capacity_out_of_contract_draws_power_for_hours_let_and_a_share_of_the_rest():
    terms = deal(power=POWER)
    month_of_power = 2304 * 730 * GOLDEN_10["power_usd_per_gpu_hour"]
    out = costs_of(terms, 20, share_in_term=[1.0, 0.0], out_share=[0.0, 1.0], relet_utilisation=[0.0, 0.55])
    rent = 4608 * 142 / 72 * 130
    assert out == pytest.approx(rent + month_of_power * (1 + 0.55 + 0.1 * 0.45), rel=1e-12)
    empty = costs_of(terms, 20, share_in_term=[0.25, 0.0], out_share=[0.75, 1.0], relet_utilisation=[0.0, 0.0])
    assert empty == pytest.approx(rent + month_of_power * (0.25 + 0.75 * 0.1 + 0.1), rel=1e-12)


def test_without_letting_again_only_capacity_under_contract_draws_power():
    terms = deal(power=POWER | {"site_rent_per_kw_month": "0"})
    assert costs_of(terms, 20, share_in_term=[0.0, 0.0]) == 0.0


def test_other_cost_runs_on_every_ready_gpu_hour():
    terms = deal(costs={"other": {"amount": "0.25"}, "power": {"amount": "0.15"}})
    gone = costs_of(terms, 8, ready=[4.0, 7.5], share_in_term=[0.0, 0.5])
    assert gone == pytest.approx(730 * 2304 * (0.25 * 1.5 + 0.15 * 0.5), rel=1e-12)


def test_the_fixed_cost_of_the_project_runs_from_its_date():
    terms = deal(costs={"fixed": {"amount": "90000", "starts": {"close_plus_months": "2.5"}}})
    assert [float(costs_of(terms, month)[0]) for month in (2, 3, 4)] == pytest.approx([0.0, 45_000.0, 90_000.0])


def test_rent_staff_and_the_fixed_cost_grow_by_years_from_close_and_property_insurance_does_not():
    terms = deal(
        power=POWER,
        operations=OPERATIONS | {"cost_growth": "0.04"},
        costs={"fixed": {"amount": "10000", "starts": {"close_plus_months": 0}}},
    )
    power = 4608 * 730 * GOLDEN_10["power_usd_per_gpu_hour"]
    insured, growing = 184_320_000 * 0.006 / 12, 4608 * (142 / 72 * 130 + 55) + 10_000
    for month, steps in ((12, 0), (13, 1), (24, 1), (25, 2)):
        assert costs_of(terms, month) == pytest.approx(power + insured + growing * 1.04**steps, rel=1e-12)


def test_rent_is_paid_on_the_contracted_power_where_it_is_given():
    terms = deal(power=POWER | {"contracted_kw": "10000"})
    whole = costs_of(terms, 8, share_in_term=[0.0, 0.0])
    assert whole == pytest.approx(10_000 * 130, rel=1e-12)
    assert costs_of(terms, 5, share_in_term=[0.0, 0.0]) == pytest.approx(whole / 2, rel=1e-12)


def test_power_is_that_of_the_hardware_file_where_the_deal_gives_none():
    unnamed = {name: value for name, value in POWER.items() if name != "kw_per_gpu"}
    with pytest.raises(MissingTermError, match=r"power\.kw_per_gpu"):
        running_cost(setting(deal(power=unnamed)))
    cost = running_cost(setting(deal(power=unnamed, cluster={"hardware": "gb300_nvl72"})))
    assert cost.power == pytest.approx(1.97 * 1.25 * 0.065, rel=0.01)


@pytest.mark.parametrize(
    "section", [{"power": POWER}, {"operations": OPERATIONS}, {"costs": {"other": {"amount": "0.1"}}}]
)
def test_a_cost_for_each_gpu_is_refused_where_the_gpus_are_not_known(section):
    data = deal(**section).model_dump(exclude_unset=True)
    data["commercial"]["charges"]["compute"]["price"] = {"per": "lump_month", "amount": "1000000"}
    del data["delivery"]["tranches"]["second"]["cluster"]
    with pytest.raises(MissingTermError, match=r"delivery\.tranches\.second\.cluster"):
        running_cost(setting(Deal.model_validate(data)))


# --- cost of ownership ---------------------------------------------------------------------------------------


def line(out: dict, name: str) -> dict:
    return next(entry for entry in out["lines"] if entry["name"] == name)


def test_at_the_rent_that_covers_it_the_present_value_is_zero():
    """A ledger in plain Python, month by month, with every kind of line."""
    terms = deal(
        power=POWER,
        operations=OPERATIONS | {"cost_growth": "0.03"},
        costs={"other": {"amount": "0.02"}, "fixed": {"amount": "25000", "starts": {"close_plus_months": 2}}},
    )
    value, premium, fee = np.linspace(180e6, 40e6, 55), np.full(55, 60_000.0), np.full(55, 112_500.0)
    out = cost_of_ownership(setting(terms), annual_rate=0.12, gpu_value=value, insurance_premium=premium, cover_fee=fee)
    worth = -184_320_000.0
    for month in range(1, 56):
        gpus = 2304 * ((month > 4) + (month > 7))
        growth = 1.03 ** ((month - 1) // 12)
        earned = gpus * 730 * (out["rent_to_cover_it"] - 0.1602430555555556 - 0.02)
        fixed = gpus * ((142 / 72 * 130 + 55) * growth + 20) + (25_000 * growth if month > 2 else 0)
        worth += (earned - fixed - 60_000 - 112_500) / 1.12 ** (month / 12)
    worth += 40e6 / 1.12 ** (55 / 12)
    assert worth == pytest.approx(0.0, abs=0.01)
    assert out["contract_rent"] == pytest.approx(2.25, rel=1e-12)
    assert out["last_month"] == 55


def test_lines_add_up_to_the_rent_and_their_totals_to_its_revenue():
    out = cost_of_ownership(setting(deal(power=POWER, operations=OPERATIONS)), annual_rate=0.12)
    hours = 730 * 2304 * (51 + 48)
    assert out["gpu_hours"] == pytest.approx(hours)
    assert sum(entry["per_gpu_hour"] for entry in out["lines"]) == pytest.approx(out["rent_to_cover_it"])
    assert sum(entry["total"] for entry in out["lines"]) == pytest.approx(out["rent_to_cover_it"] * hours)
    assert line(out, "power")["per_gpu_hour"] == pytest.approx(GOLDEN_10["power_usd_per_gpu_hour"], rel=1e-12)
    assert line(out, "staff")["per_gpu_month"] == pytest.approx(55, rel=1e-12)
    assert line(out, "staff")["cash"] == pytest.approx(55 * 2304 * (51 + 48))
    assert all(entry["rests_on"] for entry in out["lines"])


def test_capital_recovery_is_the_annuity_of_capital_less_what_is_left():
    # worked by hand: level payments from months 5 and 8 to 55 at 1% a month
    out = cost_of_ownership(setting(deal()), annual_rate=1.01**12 - 1, gpu_value=np.append(np.zeros(54), 20_000_000.0))
    annuities = (1.01**-4 - 1.01**-55) / 0.01 + (1.01**-7 - 1.01**-55) / 0.01
    each = (184_320_000 - 20_000_000 * 1.01**-55) / (2304 * 730 * annuities)
    assert [entry["name"] for entry in out["lines"]] == ["capital_recovery"]
    assert out["rent_to_cover_it"] == pytest.approx(each, rel=1e-12)
    assert out["lines"][0]["cash"] == pytest.approx(164_320_000)


def test_with_money_for_nothing_capital_is_spread_over_the_hours():
    out = cost_of_ownership(setting(deal()), annual_rate=0.0)
    assert out["rent_to_cover_it"] == pytest.approx(184_320_000 / (730 * 2304 * (51 + 48)), rel=1e-12)


def test_the_rate_is_that_of_the_value_law_or_else_of_the_loan_and_none_is_made_up():
    frame = setting(deal())
    with pytest.raises(MissingTermError, match="discount_rate"):
        cost_of_ownership(frame)
    data = deal().model_dump(exclude_unset=True)
    data["finance"]["loan"] = {
        "amount": "150000000",
        "annual_rate": "0.12",
        "first_payment_month": 8,
        "payments": 48,
    }
    out = cost_of_ownership(setting(Deal.model_validate(data)))
    assert out["annual_rate"] == pytest.approx(1.01**12 - 1)
    assert "loan" in out["annual_rate_rests_on"]


def test_months_of_the_term_that_are_not_simulated_are_said():
    data = deal().model_dump(exclude_unset=True)
    data["finance"]["horizon_months"] = 30
    out = cost_of_ownership(setting(Deal.model_validate(data)), annual_rate=0.1)
    assert out["last_month"] == 30
    assert "25 months past the last month simulated" in out["ignores"]


def test_costs_after_the_term_are_left_out():
    data = deal(power=POWER, operations=OPERATIONS).model_dump(exclude_unset=True)
    data["finance"]["horizon_months"] = 70
    longer = cost_of_ownership(setting(Deal.model_validate(data)), annual_rate=0.1)
    assert longer["last_month"] == 55
    assert longer["rent_to_cover_it"] == pytest.approx(
        cost_of_ownership(setting(deal(power=POWER, operations=OPERATIONS)), annual_rate=0.1)["rent_to_cover_it"]
    )


def test_without_gpus_the_cost_of_a_gpu_hour_is_undefined_and_says_why():
    data = deal().model_dump(exclude_unset=True)
    data["commercial"]["charges"]["compute"]["price"] = {"per": "lump_month", "amount": "1000000"}
    del data["delivery"]["tranches"]["second"]["cluster"]
    out = cost_of_ownership(setting(Deal.model_validate(data)), annual_rate=0.1)
    assert out["rent_to_cover_it"] is None
    assert "cluster" in out["rent_to_cover_it_reason"]
