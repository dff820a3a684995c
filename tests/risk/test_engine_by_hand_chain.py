"""The whole chain draw by draw: the engine against plain Python on the same sampled paths.

Each deal is golden deal 10 with other terms, chosen so that what is rare in it happens often.
"""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from risk.core.parameters import with_values
from risk.engine import Model
from schemas.deal import Deal

HERE = Path(__file__).parent
GOLDEN = Deal.model_validate(yaml.safe_load((HERE.parent / "golden" / "gd-10.yaml").read_text()))
_source = importlib.util.spec_from_file_location("chain_by_hand", HERE / "chain_by_hand.py")
assert _source is not None
assert _source.loader is not None
by_hand = importlib.util.module_from_spec(_source)
_source.loader.exec_module(by_hand)

DRAWS = 60  # few enough for the engine to keep every month of every draw
EVERY_MONTH = ("fees", "credits", "damages", "damages_recovered", "relet_income", "insurance_recovery")
WHILE_IT_LIVES = (
    "cfads",
    "tax",
    "operating_costs",
    "insurance_premium",
    "cover_paid",
    "backstop_fee",
    "debt_service",
    "interest",
    "unpaid",
    "reserve",
    "trapped",
    "distribution",
    "balance",
)


def sourced(value: float, unit: str = "1") -> dict[str, str]:
    return {"value": str(value), "unit": unit, "kind": "judgement", "as_of": "2026-11-30", "rationale": "worked here"}


def after_close(months: float) -> dict[str, float]:
    return {"close_plus_months": months}


def layer(trigger: str, rate: int, wait: int, premium: int, **more: Any) -> dict[str, Any]:
    return {"trigger": trigger, "rate_per_hour": rate, "wait_hours": wait, "premium_per_month": premium, **more}


TRANCHES = "delivery.tranches.tranche-{}"
CUSTOMER, PROVIDER = "assumptions.counterparties.customer", "assumptions.counterparties.cover_provider"
CHRONIC, EXERCISE, LOAN = "cancellation.chronic_failure", "assumptions.exercise", "finance.loan"
COVER = {"provider": "guarantor"}
ROUGH = {
    "assumptions.delay.share_late": 0.5,
    "assumptions.delay.median": 2.5,
    f"{CUSTOMER}.default_rate": 0.1,
    f"{PROVIDER}.default_rate": 0.1,
    "assumptions.market.monthly_noise": 0.1,
    "assumptions.prescribed.outages.mean_up_hours": 1500,
    "assumptions.prescribed.outages.median_hours": 5,
    "finance.reserve.months": 2,
    "finance.loan.amount": 125e6,
}
CHANGES: dict[str, dict[str, Any]] = {
    "golden deal 10": {},
    "put, dear insurance, level principal": {
        "backstop": COVER
        | {"shape": "unsold_hours_put", "starts": "rfs_each_tranche", "floor_rent": 1.5, "floor_fraction": 0.9}
        | {"covers": "all", "amount": 30e6, "amount_per_year": 6e6, "amortisation_months": 40, "fee_rate": 0.03}
        | {"expires": after_close(44)},
        "finance.tax.losses": "refunded",
        "finance.tax.first_month_share": 0.3,
        f"{LOAN}.profile": "straight",
        "assumptions.reletting.rent_fixed_months": 6,
        "operations.cost_growth": 0.05,
        "insurance": {
            "layers": {
                "all-hours": layer("qualifying", 20000, 8, 20000, event_cap_hours=72, year_cap=600000),
                "whole-hours": layer("completed_hours", 9000, 4, 11000, premium_from=after_close(4.5)),
                "beyond": layer("deductible", 15000, 6, 11000, event_cap_hours=20, year_cap=400000),
            }
        },
    },
    "guarantee, prepayment, grace": {
        "backstop": COVER
        | {"shape": "payment_guarantee", "triggers": ["payment_default", "chronic_failure", "long_stop"]}
        | {"starts": "rfs_all", "amount": 40e6, "amount_per_year": 15e6, "fee_rate": 0.02},
        f"{CUSTOMER}.default_rate": 0.2,
        f"{CUSTOMER}.assumed_share": sourced(0.3),
        "commercial.prepayment": {"fraction": 0.05, "credited_from_month": 7},
        "commercial.term.months": 40,
        "finance.tax.prepayment": "on_receipt",
        "finance.recovery.novation_until": "term_end",
        "finance.operating_costs.fixed": {"amount": 60000, "starts": after_close(3.5)},
        TRANCHES.format(2) + ".delay_damages.form": "fee_credit",
        "operations.cost_growth": 0.04,
        f"{LOAN}.grace_months": 2,
        f"{LOAN}.amount": 90e6,
        f"{LOAN}.payments": 36,
        "finance.horizon_months": 55,
        "finance.reserve.months": 4,
    },
    "index floor, sculpted, swept": {
        "backstop": COVER
        | {"shape": "index_price_floor", "starts": "signing", "floor_rent": 1.6, "floor_fraction": 0.8}
        | {"amount": 30e6, "fee_rate": 0.02},
        f"{LOAN}.profile": "sculpted",
        f"{LOAN}.target_dscr": 1.4,
        f"{LOAN}.sweep": 0.5,
        "finance.covenants": {"minimum_dscr": 1.1, "on_breach": "lock_up", "minimum_llcr": 1.1},
    },
    "swept and shortened, drawn in steps": {
        f"{LOAN}.sweep": 0.6,
        f"{LOAN}.grace_months": 1,
        f"{LOAN}.drawings": [{"month": 2, "amount": 20e6}, {"month": 4, "amount": 35e6}],
        "commercial.charges.compute.price.amount": 2.6,
        "finance.covenants": {"maximum_ltv": 1.5, "on_breach": "default", "cure_months": 3},
        "finance.horizon_months": 60,
        "commercial.term.months": 44,
        "backstop.amount": 10e6,
    },
    "balloon, re-levelled": {
        f"{LOAN}.sweep": 0.6,
        f"{LOAN}.sweep_effect": "re_levels",
        f"{LOAN}.profile": "balloon",
        f"{LOAN}.balloon": 40e6,
        f"{LOAN}.refinancing_ltv": 0.8,
        "commercial.charges.compute.price.amount": 2.6,
        "finance.lock_up": None,
    },
    "bullet, residual guarantee": {
        f"{LOAN}.profile": "bullet",
        f"{LOAN}.refinancing_ltv": 2.5,
        f"{LOAN}.amount": 30e6,
        f"{LOAN}.payments": 40,
        "assumptions.delay.share_late": 0.2,
        "finance.reserve.months": 24,
        "finance.horizon_months": 55,
        "backstop": COVER
        | {"shape": "residual_guarantee", "threshold": 80e6, "at": after_close(45), "amount": 30e6, "fee_rate": 0.01},
        "commercial.term.months": 38,
        "commercial.term.ends_by": after_close(43.5),
    },
    "leaseback, notice by either": {
        "backstop": COVER
        | {"shape": "leaseback", "floor_rent": 1.55, "amount": 200e6, "fee_rate": 0.001, "starts": "rent_commenced"},
        f"{LOAN}.amount": 95e6,
        "cancellation.convenience": {"first_exercise": after_close(20), "notice": {"days": 90}, "fee": 3e6},
        f"{EXERCISE}.waiver": sourced(0.2),
        f"{EXERCISE}.provider": "rational",
        "assumptions.market.spot_rent": 2.6,
    },
    "first loss, by tranche": {
        "backstop": COVER
        | {"shape": "first_loss", "share": 0.8, "amount": 20e6, "fee_rate": 0.01, "amortisation_months": 60},
        "finance.covenants": {"maximum_ltv": 5, "ltv_basis": "floor", "minimum_dscr": 0.9}
        | {"on_breach": "default", "cure_months": 2},
        "residual_value": {"book_life_months": 60, "floor_rent_share": sourced(0.9)},
        "finance.tax": None,
        f"{LOAN}.amount": 100e6,
        f"{EXERCISE}.long_stop": "always",
        f"{EXERCISE}.chronic_failure": "rational",
        f"{CHRONIC}.scope": "tranche",
        f"{CHRONIC}.exercise": {"days": 60},
        TRANCHES.format(1) + ".long_stop.exercise": {"months": 2},
        "clusters.cluster-1.units.gpu": 2304,
        "clusters.cluster-2": {"units": {"gpu": 2000}},
        TRANCHES.format(2) + ".cluster": "cluster-2",
        "service_levels.site.measured_from": "each_tranche",
    },
    "utilisation floor, long stop re-priced": {
        "assumptions.delay.share_late": 0.9,
        "assumptions.delay.median": 4,
        f"{EXERCISE}.long_stop": "rational_or_reprice",
        TRANCHES.format(1) + ".long_stop.scope": "tranche",
        TRANCHES.format(1) + ".long_stop.exercise": {"months": 3},
        "backstop": COVER
        | {"shape": "utilisation_floor", "starts": "date", "start_date": after_close(10.5), "floor_fraction": 0.95}
        | {"revenue_share": 0.3, "revenue_share_above": 2e6, "covers": "all", "amount": 20e6},
        "finance.reserve.months": 8,
        f"{LOAN}.amount": 90e6,
        "assumptions.market.spot_rent": 2.2,
    },
    "guarantee for the lender, notice": {
        "backstop": COVER
        | {"shape": "payment_guarantee", "triggers": ["insolvency", "convenience"], "starts": "rfs_each_tranche"}
        | {"net_of_reletting": False, "amount": 80e6, "amount_per_year": 15e6, "amortisation_months": 60}
        | {"assignable": True},
        f"{CUSTOMER}.market_link": sourced(3),
        "assumptions.counterparties.correlation": 0.7,
        "finance.covenants": {"maximum_ltv": 0.9, "ltv_basis": "book", "on_breach": "default"},
        "residual_value": {"book_life_months": 72, "floor_rent_share": sourced(0.7)},
        "finance.recovery.sale_stress": 0.4,
        "finance.recovery.novation_share": 0.2,
        "cancellation.convenience": {"first_exercise": after_close(12), "notice": {"months": 2}, "fee": 2e6}
        | {"party": "customer"},
        "assumptions.reletting.empty": 0,
        f"{LOAN}.amount": 120e6,
        "finance.reserve.months": 1,
    },
}


def deal_of(name: str) -> Deal:
    return with_values(GOLDEN, ROUGH | CHANGES[name] if CHANGES[name] else {})


def differences(hand: Any, result: Any, i: int) -> list[tuple[str, Any, Any]]:
    """Return every figure of draw `i` that the engine and the draw by hand do not share."""
    column = result.column
    found = [
        (name, mine, theirs)
        for name, mine, theirs in (
            ("default_month", hand.default_month, int(column["default_month"][i])),
            ("default_cause", hand.cause, str(column["default_cause"][i])),
            ("first_cause", hand.first_cause, str(column["first_cause"][i])),
            ("first_month", hand.first_month, int(column["first_month"][i])),
            ("customer_default_month", hand.customer_fails, int(column["customer_default_month"][i])),
            ("repriced", hand.repriced, bool(column["repriced"][i])),
            *((name, month, int(column[f"breach_month:{name}"][i])) for name, month in hand.breach_month.items()),
        )
        if mine != theirs
    ]
    for name in ("exposure", "recovery", "loss", "loss_sale_only", "loss_cover"):
        if name in column and not np.isclose(getattr(hand, name), column[name][i], rtol=1e-6, atol=0.02):
            found.append((name, getattr(hand, name), float(column[name][i])))
    last = hand.default_month or len(hand.rows)
    for names, months in ((EVERY_MONTH, len(hand.rows)), (WHILE_IT_LIVES, last)):
        for name in names:
            theirs = result.by_month(name)
            if theirs is None:
                continue
            mine = np.array([row.get(name, 0.0) for row in hand.rows[:months]])
            there = theirs[i, :months].copy()
            if name == "balance":  # in the month of default what is owed is the exposure
                mine += [row["refinanced"] for row in hand.rows[:months]]
                mine[last - 1 :], there[last - 1 :] = 0.0, 0.0
            apart = ~np.isclose(mine, there, rtol=1e-6, atol=0.02)
            if apart.any():
                m = int(np.argmax(apart))
                found.append((f"{name} of month {m + 1}", mine[m], there[m]))
    return found


RARE = {  # what must have happened in some draw, or the deal does not try what it is there for
    "golden deal 10": {"cover", "re-priced", "default: late_delivery", "default: chronic_failure"},
    "put, dear insurance, level principal": {"cover", "insurance", "default: long_stop"},
    "guarantee, prepayment, grace": {"cover", "cover for the lender", "estate pays", "default: customer_default"},
    "index floor, sculpted, swept": {"cover", "breach", "default: chronic_failure"},
    "swept and shortened, drawn in steps": {"cover", "breach", "default: repricing", "default: credits_and_market"},
    "balloon, re-levelled": {"cover", "refinanced", "re-priced"},
    "bullet, residual guarantee": {"cover", "refinanced"},
    "leaseback, notice by either": {"cover", "notice by customer", "notice by provider", "default: convenience"},
    "first loss, by tranche": {"cover for the lender", "breach", "default: customer_default"},
    "utilisation floor, long stop re-priced": {"cover", "re-priced", "default: long_stop"},
    "guarantee for the lender, notice": {"cover for the lender", "notice by customer", "default: convenience"},
}


def what_happened(hand: Any) -> set[str]:
    """Return what of `RARE` happened in one draw."""
    assumed = hand.customer_fails and "customer_default" not in hand.ended_by
    happened = {
        "cover": any(row["cover_paid"] for row in hand.rows),
        "cover for the lender": hand.loss_cover > 0,
        "insurance": any(row["insurance_recovery"] for row in hand.rows),
        "re-priced": hand.repriced,
        "refinanced": hand.refinanced > 0,
        "breach": any(hand.breach_month.values()),
        "estate pays": assumed and None in hand.billed,
        f"notice by {hand.notice_by}": True,
        f"default: {hand.cause}": True,
    }
    return {name for name, there in happened.items() if there}


@pytest.mark.parametrize("name", CHANGES)
def test_every_draw_is_that_of_the_chain_worked_by_hand(name):
    deal = deal_of(name)
    model = Model.of(deal)
    terms = by_hand.terms_of(deal, model.base_paths())
    paths = model.sample(1, 0, DRAWS)
    result = model.run(paths, DRAWS)
    seen = set()
    for i in range(DRAWS):
        hand = by_hand.Future(terms, by_hand.plain(paths, i, len(terms.all))).run()
        assert not differences(hand, result, i), (name, i)
        seen |= what_happened(hand)
    assert seen >= RARE[name], RARE[name] - seen
