"""What moves the expected loss of the whole deal GD-10: mitigations and switches, on the deal's own draws."""

import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
import yaml

from risk.core.parameters import with_values
from risk.engine import Model
from risk.score.mitigations import difference, outcome, simulate
from schemas.deal import Deal

GOLDEN = Path(__file__).parents[1] / "golden"
TRUTH = json.loads((GOLDEN / "expected.json").read_text())["GD-10"]["expected"]
MITIGATIONS = TRUTH["mitigations_200000_draws"]
SWITCHES = TRUTH["structural_switches_200000_draws"]
DRAWS, SEED = 8_192, 5

OUTAGES = "assumptions.prescribed.outages"
MARKET = "assumptions.market"
COVER = "assumptions.counterparties"
EXERCISE = "assumptions.exercise"
LAYER = {
    "rate_per_hour": 40_000,
    "wait_hours": 8,
    "event_cap_hours": 72,
    "year_cap": 3_000_000,
    "premium_per_month": 60_000,
}


def extra_cost(amount: int) -> dict:
    """Return a running cost from month 8 on."""
    return {"finance.operating_costs": {"fixed": {"amount": amount, "starts": {"close_plus_months": 7}}}}


CHANGES = {
    "no backstop": {"backstop": None},
    "backstop from a provider that cannot default": {f"{COVER}.cover_provider.default_rate.value": 0},
    "parametric outage cover (8 h wait, 40,000 USD/h, 72 h a event, 3m a year; premium 60,000 a month)": {
        "insurance": {"layers": {"outage": LAYER}}
    },
    "second feed (long up-time mean 3,500 to 6,000 h; 35,000 USD a month)": {
        f"{OUTAGES}.mean_up_hours.value": 6000,
        **extra_cost(35_000),
    },
    "spares and staff (median outage 3.0 to 2.0 h; 25,000 USD a month)": {
        f"{OUTAGES}.median_hours.value": 2,
        **extra_cost(25_000),
    },
    "reserve of 6 months instead of 4": {"finance.reserve.months": 6},
    "chronic right 4 in 12 instead of 3 in 12": {"cancellation.chronic_failure.limbs[0].k": 4},
    "supplier recovers all delay damages": {"operations.damages_recovered": 1},
    "late share 0.35 to 0.20": {"assumptions.delay.share_late.value": Decimal("0.2")},
    "outages without repeats, same outage rate": {
        f"{OUTAGES}.repeat_share.value": 0,
        f"{OUTAGES}.mean_up_hours.value": 2700,
    },
    "outage length fixed at its mean": {
        f"{OUTAGES}.sigma.value": 0,
        f"{OUTAGES}.median_hours.value": Decimal("6.9839334437107"),
    },
    "customer always cancels when it may": {},  # the case takes the cost of moving to -99, which is no share
    "customer never cancels": {f"{EXERCISE}.long_stop": "never", f"{EXERCISE}.chronic_failure": "never"},
    "provider default independent of customer": {f"{COVER}.correlation.value": 0},
    "backstop provider cannot default": {f"{COVER}.cover_provider.default_rate.value": 0},
    "customer default independent of market": {f"{COVER}.customer.market_link.value": 0},
    "no market noise (median path, one regime)": {
        f"{MARKET}.monthly_noise.value": 0,
        f"{MARKET}.regimes.tight_to_loose.value": 0,
        f"{MARKET}.regimes.tight_level.value": Decimal("-0.008"),
    },
    "one regime, same long-run mean": {
        f"{MARKET}.regimes.tight_to_loose.value": 0,
        f"{MARKET}.regimes.tight_level.value": Decimal("-0.008"),
    },
    "tranche delays independent": {"assumptions.delay.shared_share.value": 0},
    "no delay": {"assumptions.delay.share_late.value": 0},
    "no re-letting": {
        f"assumptions.reletting.{name}.value": 0
        for name in ("first_utilisation", "utilisation_step", "highest_utilisation")
    },
    "no new generation": {f"{MARKET}.next_generation.log_drop.value": 0},
    "no tax": {"finance.tax.rate": 0},
    "no recovery lag": {"finance.recovery.lag_months.value": 0},
    "no novation": {"finance.recovery.novation_share.value": 0},
}


def golden() -> Deal:
    data = yaml.safe_load((GOLDEN / "gd-10.yaml").read_text())
    for sourced in _sourced(data):  # a changed value may lie outside the law of what we do not know about it
        sourced.pop("spread", None)
    return Deal.model_validate(data)


def _sourced(data: object):
    if isinstance(data, dict):
        if "value" in data and "unit" in data:
            yield data
        for inner in data.values():
            yield from _sourced(inner)


def run(deal: Deal, draws: int, seed: int, *, always_gains: bool = False):
    model = Model.of(deal)
    if always_gains:
        exits = model.risks["cancellation"]
        exits.choice = replace(exits.choice, switching_cost=-99.0)
    return outcome(model, simulate(model, draws, seed))


@pytest.fixture(scope="module")
def before():
    return run(golden(), DRAWS, SEED)


def test_every_change_of_the_case_is_made():
    assert set(CHANGES) == set(MITIGATIONS) | set(SWITCHES)


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_moves_the_expected_loss_as_the_case_says(name, before):
    truth = (MITIGATIONS | SWITCHES)[name]
    gains = name == "customer always cancels when it may"
    after = run(with_values(golden(), CHANGES[name]), DRAWS, SEED, always_gains=gains)
    found = difference(before, after)
    loss = after.loss_bp - before.loss_bp
    error = loss.std() / np.sqrt(len(loss))
    assert found["d_el_bp"] == pytest.approx(loss.mean())
    assert abs(found["d_el_bp"] - truth["d_el_bp"]) <= 5 * np.hypot(error, truth["paired_se"])
