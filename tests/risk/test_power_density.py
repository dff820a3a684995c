"""A hall of yesterday's racks: golden deal GD-09, a second method, and the edges of the choice."""

import json
from copy import deepcopy
from decimal import Decimal
from math import exp
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from risk.power_density import choices, racks_that_fit, units_that_fit
from risk.power_density.fit import equipment_kw
from schemas.deal import Deal
from schemas.errors import MissingTermError, NotComputedError

GOLDEN = Path(__file__).parents[1] / "golden"
EXPECTED = json.loads((GOLDEN / "expected.json").read_text())["GD-09"]["expected"]
TERMS = yaml.safe_load((GOLDEN / "gd-09.yaml").read_text())


def with_terms(**changes) -> dict:
    """Return the comparison with other terms; None removes one, two underscores go inside."""
    data = deepcopy(TERMS)
    for path, value in changes.items():
        *trail, last = path.split("__")
        holder = data["power"]["density_choice"]
        for step in trail:
            holder = holder[step]
        if value is None:
            del holder[last]
        else:
            holder[last] = value
    return choices(Deal.model_validate(data))


@pytest.fixture(scope="module")
def golden() -> dict:
    return with_terms()


def test_the_golden_choice_agrees(golden):
    options = golden["options"]
    assert {name: option["npv"] for name, option in options.items()} == pytest.approx(EXPECTED["npv_usd"], rel=1e-9)
    stops = {name: options[name]["stop_after_years"] for name in ("keep", "repurpose", "retrofit")}
    assert stops == EXPECTED["stop_after_years"]
    assert golden["best"] == EXPECTED["best"]
    assert options["keep"]["gpus"] == options["repurpose"]["gpus"] == EXPECTED["old_gpus"]
    assert options["retrofit"]["gpus"] == EXPECTED["new_gpus"]
    assert golden["site_rent_per_year"] == pytest.approx(EXPECTED["site_rent_usd_per_year"], rel=1e-12)
    assert golden["equal_contract_rent"] == pytest.approx(
        EXPECTED["retrofit_contract_rent_at_which_it_equals_the_best_other"], rel=1e-9
    )


def test_at_the_equal_rent_the_retrofit_is_worth_the_best_other(golden):
    even = with_terms(retrofit__contract_rent=str(round(golden["equal_contract_rent"], 6)))
    assert even["options"]["retrofit"]["npv"] == pytest.approx(even["options"]["repurpose"]["npv"], rel=1e-6)


def test_keeping_agrees_with_a_geometric_sum(golden):
    # a second method: rent and costs of six years as two geometric series
    gpus, fade, growth = 784 * 8, exp(-0.25), 1 / 1.12
    rent = gpus * 8760 * 0.85 * 1.6 * growth * (1 - (fade * growth) ** 6) / (1 - fade * growth)
    power = gpus * 8760 * 0.85 * 10.2 / 8 * 1.25 * 65 / 1000
    costs = (power + 12 * 130 * 8000) * (1 - growth**6) / 0.12
    assert golden["options"]["keep"]["npv"] == pytest.approx(rent - costs, rel=1e-12)


def test_no_other_year_to_stop_is_better(golden):
    for option in golden["options"].values():
        cash = option["cash_by_year"]
        worth = [sum(x / 1.12**year for year, x in enumerate(cash[: stop + 1])) for stop in range(len(cash))]
        assert option["npv"] == pytest.approx(max(worth), rel=1e-12)
        assert worth[option["stop_after_years"]] == pytest.approx(max(worth), rel=1e-12)


def test_a_loss_is_carried_where_later_years_make_up_for_it():
    slow = with_terms(repurpose__first_year_open="0.0")
    cash = slow["options"]["repurpose"]["cash_by_year"]
    assert cash[1] == pytest.approx(-12_480_000)
    assert slow["options"]["repurpose"]["stop_after_years"] == 8


def test_an_option_that_never_earns_its_site_rent_stops_at_once():
    poor = with_terms(keep__market__rent="0.20")
    assert poor["options"]["keep"]["stop_after_years"] == 0
    assert poor["options"]["keep"]["npv"] == 0


def test_power_is_paid_on_hours_sold_only(golden):
    first = golden["options"]["retrofit"]["cash_by_year"][1]
    power = 142 / 72 * 1.25 * 0.065
    assert first == pytest.approx(56 * 72 * 8760 * 0.25 * (3.0 - power) - 12_480_000)
    half = with_terms(retrofit__contract_utilisation="0.5")["options"]["retrofit"]["cash_by_year"][2]
    assert half == pytest.approx(56 * 72 * 8760 * 0.5 * (3.0 - power) - 12_480_000)


def test_site_rent_grows_as_the_deal_says():
    data = deepcopy(TERMS) | {"operations": {"cost_growth": "0.05"}}
    cash = choices(Deal.model_validate(data))["options"]["keep"]["cash_by_year"]
    flat = with_terms()["options"]["keep"]["cash_by_year"]
    assert cash[1] == pytest.approx(flat[1])
    assert cash[3] == pytest.approx(flat[3] - 12_480_000 * (1.05**2 - 1))


def test_the_equal_rent_is_undefined_with_its_reason():
    assert with_terms(retrofit=None)["equal_contract_rent_reason"] == "no retrofit is given"
    open_market = with_terms(retrofit__contract_rent=None, retrofit__contract_years=None)
    assert open_market["equal_contract_rent"] is None
    assert open_market["equal_contract_rent_reason"] == "the retrofit has no contract"
    unpaid = with_terms(retrofit__contract_utilisation="0")
    assert unpaid["equal_contract_rent_reason"] == "no contract rent makes up for the cost of the retrofit"
    gift = with_terms(retrofit__gpu_price="0", retrofit__cost_per_mw="0", retrofit__market__rent="30")
    assert gift["equal_contract_rent_reason"] == "the retrofit is worth more at any contract rent"


def test_a_hall_too_small_for_one_unit_is_refused_by_name():
    with pytest.raises(NotComputedError, match=r"density_choice\.old\.server_kw"):
        with_terms(facility_mw="0.01")
    with pytest.raises(NotComputedError, match=r"density_choice\.retrofit\.rack_kw"):
        with_terms(facility_mw="0.1")


def test_a_deal_without_the_choice_is_told_what_is_missing():
    data = deepcopy(TERMS)
    del data["power"]["density_choice"]
    with pytest.raises(MissingTermError, match=r"power\.density_choice"):
        choices(Deal.model_validate(data))


# --- what fits -----------------------------------------------------------------------------------------------


def test_ten_megawatts_feed_ever_fewer_racks():
    # published figures of the method's finance cases: racks of 30, 140 and 200 kW
    assert [units_that_fit(Decimal(10_000), Decimal(kw)) for kw in (30, 140, 200)] == [333, 71, 50]


@given(units=st.integers(1, 5000), tenths=st.integers(1, 3000), pue=st.sampled_from(["1.1", "1.25", "1.3", "1.47"]))
def test_power_for_just_so_many_racks_feeds_just_so_many(units, tenths, pue):
    """Floats would lose a rack here."""
    kw = Decimal(tenths) / 10
    facility_mw = units * kw * Decimal(pue) / 1000
    assert units_that_fit(equipment_kw(facility_mw, Decimal(pue)), kw) == units
    assert units_that_fit(units * kw - Decimal("0.000001"), kw) == units - 1


def test_every_generation_is_counted_in_whole_racks(golden):
    rows = {row["hardware"]: row for row in golden["racks_that_fit"]}
    assert rows == {row["hardware"]: row for row in racks_that_fit(Decimal(10), Decimal("1.25"))}
    assert rows["gb300_nvl72"]["racks"] == 56
    assert rows["gb300_nvl72"]["gpus"] == 56 * 72
    assert all(row["racks"] * row["rack_kw"] <= golden["equipment_kw"] for row in rows.values())
