"""Assumptions at and beyond the ends of their ranges: an error by name or the plain limit, never a fault."""

import copy
from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from risk.delay import Delay
from risk.score import score
from schemas.deal import Deal
from schemas.errors import MissingTermError, NotComputedError

STARTERS = Path(__file__).parents[2] / "templates" / "starters"
SMALL = yaml.safe_load((STARTERS / "small-cluster.yaml").read_text(encoding="utf-8"))


def sourced(value: float, unit: str = "1") -> dict[str, object]:
    return {"value": value, "unit": unit, "as_of": "2026-11-30", "kind": "judgement", "rationale": "the edge"}


def deal(**assumptions: object) -> Deal:
    """Return the small starter with some of its assumptions changed, by `section__name`; None takes one out."""
    data = copy.deepcopy(SMALL) | {"provenance": {}}
    for path, value in assumptions.items():
        *trail, last = path.split("__")
        holder = data["assumptions"]
        for step in trail:
            holder = holder[step]
        if value is None:
            del holder[last]
        else:
            holder[last] = value
    return Deal.model_validate(data)


def test_a_delay_of_nothing_is_no_delay():
    found = score(deal(delay__median=sourced(0, "month"), delay__share_late=sourced(1)), draws=20)
    (tranche,) = found["delivery"]["tranches"]
    assert tranche["probability_late"] == tranche["probability_late_exact"] == 0.0
    assert tranche["probability_after_grace_exact"] == tranche["probability_past_long_stop_exact"] == 0.0
    assert Delay(0.0, 0.0, 0.7, 0.0).limited_mean(3.0) == 0.0


@pytest.mark.parametrize("name", ["delay__sigma", "market__monthly_noise"])
def test_a_spread_that_no_number_holds_is_refused(name: str):
    with pytest.raises(ValidationError, match="expected 0 to 10"):
        deal(**{name: sourced(1000)})


@pytest.mark.filterwarnings("error")
def test_a_rent_beyond_any_number_is_refused_by_name_and_without_a_warning():
    wild = deal(market__persistence=sourced(0.99), market__monthly_noise=sourced(10))
    with pytest.raises(NotComputedError, match=r"a rent above 1e\+15 for one GPU-hour"):
        score(wild, draws=20)


def test_a_rent_in_another_currency_than_the_deal_is_refused():
    with pytest.raises(ValidationError, match="EUR/GPU-hour and money in USD; expected one currency"):
        deal(market__spot_rent=sourced(2.4, "EUR/GPU-hour"))


def test_a_launch_whose_last_month_is_before_its_first_is_refused():
    launch = {"earliest": sourced(10, "month"), "latest": sourced(5, "month"), "log_drop": sourced(0.3)}
    with pytest.raises(ValidationError, match="before earliest 10; expected months in order"):
        deal(market__next_generation=launch)


def test_a_recovery_of_what_has_no_value_is_refused():
    with pytest.raises(MissingTermError, match=r"assumptions\.value: missing, and needed by finance\.recovery"):
        score(deal(value=None), draws=20)
