"""A small deal and a score of the engine's shape, made up by formula: what is tested is how its figures read."""

from __future__ import annotations

import copy
import math
from typing import Any

import pytest

from schemas.deal import Deal

DRAWS = 10_000
FIRST, LAST = 5, 60
TRANCHES = {"hall-1": ("2027-01-01", 0.21, 0.034), "hall-2": ("2027-04-01", 0.36, 0.074)}


def judged(value: float, unit: str = "1", low: float | None = None, high: float | None = None) -> dict[str, Any]:
    """Return a number that rests on judgement."""
    number = {"value": value, "unit": unit, "kind": "judgement", "as_of": "2026-11-30", "rationale": "made up"}
    return number if low is None else number | {"low": low, "high": high}


def deal_data() -> dict[str, Any]:
    """Return the terms of the small deal as plain data."""
    return {
        "schema_version": 1,
        "title": "Northfield A",
        "parties": {
            "provider": {"name": "Northfield Compute LLC", "role": "provider"},
            "customer": {"name": "Aurelia Labs, Inc.", "role": "customer"},
        },
        "clusters": {name: {"units": {"gpu": 2304, "node": 576, "rack": 32}} for name in TRANCHES},
        "services": {"compute": {"tranches": list(TRANCHES)}},
        "service_levels": {
            "nodes": {
                "level": "node",
                "target": 0.99,
                "credit": {"bands": [{"below": 0.99, "credit_fraction": 0.1}]},
            },
            "racks": {
                "level": "rack",
                "target": 0.999,
                "credit": {"bands": [{"below": 0.999, "credit_fraction": 0.05}]},
            },
        },
        "credits": {"caps": {"month": 0.15, "year": 0.10}},
        "delivery": {
            "tranches": {
                name: {
                    "cluster": name,
                    "ready_for_service_date": day,
                    "share_of_service": 0.5,
                    "long_stop": {"after": {"months": 9}, "scope": "tranche"},
                }
                for name, (day, _, _) in TRANCHES.items()
            }
        },
        "cancellation": {
            "chronic_failure": {
                "limbs": [
                    {"form": "bad_months", "service_level": "racks", "below": 0.99, "k": 3, "m": 6},
                    {"form": "single_outage", "service_level": "racks", "hours": 72},
                ]
            }
        },
        "commercial": {
            "currency": "USD",
            "charges": {"compute": {"price": {"per": "lump_month", "amount": "9000000"}}},
            "term": {"months": 60},
            "governing_law": "new_york",
        },
        "finance": {
            "close": "2026-09-01",
            "currency": "USD",
            "capital_expenditure": 240_000_000,
            "loan": {"amount": 182_000_000, "annual_rate": 0.09, "first_payment_month": FIRST, "payments": 56},
            "reserve": {"months": 3},
            "covenants": {"minimum_dscr": 1.20},
            "lock_up": {"dscr": 1.30, "look_back_months": 6},
            "recovery": {
                "sale_stress": judged(0.75, low=0.4, high=0.95),
                "lag_months": judged(9, "month", 4, 18),
            },
        },
        "assumptions": {
            "delay": {
                "share_late": judged(0.36, low=0.26, high=0.5)
                | {"kind": "published", "source": "A survey of 110 projects"},
                "median": judged(2, "month", 1, 4),
                "sigma": judged(0.9),
                "shared_share": judged(0.6, low=0.3, high=0.9),
            }
        },
        "provenance": {"delivery.*": {"kind": "judgement", "as_of": "2026-11-28", "rationale": "not public"}},
    }


def probability(name: str, share: float) -> dict[str, Any]:
    """Return a probability beside its standard error, as the engine writes it."""
    if share == 0:
        return {
            name: 0.0,
            f"{name}_standard_error": None,
            f"{name}_standard_error_reason": "no_event",
            f"{name}_upper_95": 3 / DRAWS,
        }
    return {name: share, f"{name}_standard_error": math.sqrt(share * (1 - share) / DRAWS)}


def score_data() -> dict[str, Any]:
    """Return a score of the small deal."""
    months = list(range(1, LAST + 1))
    due = months[FIRST - 1 :]
    rate, balance, payment = 0.09 / 12, 182e6, 182e6 * (0.09 / 12) / (1 - (1 + 0.09 / 12) ** -56)
    rows: list[dict[str, Any]] = []
    for month in months:
        interest = balance * rate if month >= FIRST else 0.0
        principal = payment - interest if month >= FIRST else 0.0
        balance -= principal
        fees = 0.0 if month < FIRST else 4.5e6 if month < 8 else 9e6
        costs = 1.2e6 if month < FIRST else 2.1e6
        cash = fees - costs - (0.35e6 if month > 24 else 0.0)
        year, number = divmod(8 + month - 1, 12)
        rows.append(
            {
                "month": month,
                "label": f"{2026 + year}-{number + 1:02d}",
                "fees": fees,
                "credits": 0.0,
                "operating_costs": costs,
                "tax": 0.35e6 if month > 24 else 0.0,
                "cfads": cash,
                "interest": interest,
                "principal": principal,
                "debt_service": interest + principal,
                "dscr": cash / payment if month >= FIRST else None,
                "balance": max(balance, 0.0),
                "reserve": 3 * payment,
                "distribution": 0.0,
            }
        )

    def middle(month: int) -> float:
        return 1.57 - 0.23 * math.exp(-(((month - 9) / 4) ** 2)) + 0.02 * math.sin(month / 5)

    widths = {"p5": -0.26, "p25": -0.1, "p50": 0.0, "p75": 0.11, "p95": 0.24}
    fan: dict[str, Any] = {name: [middle(m) + w * (0.6 + m / 100) for m in due] for name, w in widths.items()}
    worth = [250e6 * math.exp(-m / 38) for m in months]
    causes = {
        "late_delivery": (0.034, 104.0),
        "long_stop": (0.016, 58.0),
        "chronic_failure": (0.011, 36.0),
        "credits_and_market": (0.007, 13.0),
        "convenience": (0.0, 0.0),
        "repricing": (0.0, 0.0),
    }
    return {
        "title": "Northfield A",
        "currency": "USD",
        "close": "2026-09-01",
        "months": LAST,
        "draws": DRAWS,
        "seed": 1,
        "delivery": {
            "tranches": [
                {
                    "id": name,
                    "planned_month": 4.0 + 3 * i,
                    **probability("probability_late", late),
                    **probability("probability_past_long_stop", past),
                    "long_stop_month": 13.0 + 3 * i,
                    "delay_quantiles_months": {"p50": 0.0, "p90": 3.4 + i},
                }
                for i, (name, (_, late, past)) in enumerate(TRANCHES.items())
            ]
        },
        "cancellation": {
            **probability("probability", 0.142),
            "by_cause": {
                **probability("long_stop", 0.074),
                **probability("chronic_failure", 0.068),
                **probability("convenience", 0.0),
            },
            "by_month": [0.142 * (1 - math.exp(-max(m - 12, 0) / 14)) / (1 - math.exp(-48 / 14)) for m in months],
            "firm_months": 60,
            "effective_firm_months": 60.0,
        },
        "default": {
            **probability("pd_12_months", 0.019),
            **probability("pd_term", 0.068),
            "by_month": [0.068 * min(max(m - 6, 0) / 48, 1.0) for m in months],
            "lgd": 0.31,
            "lgd_standard_error": 0.012,
            "expected_loss_bp": 211.0,
            "expected_loss_bp_standard_error": 7.2,
            "by_cause": {
                name: probability("pd", share) | {"expected_loss_bp": loss} for name, (share, loss) in causes.items()
            },
        },
        "dscr": {
            "base_minimum": 1.34,
            "base_minimum_month": 9,
            "base_average": 1.55,
            "covenant": 1.20,
            **probability("probability_below_covenant", 0.12),
            "fan": {"months": due, **fan, "draws": [DRAWS - 12 * (m - FIRST) for m in due]},
        },
        "credits": {
            "expected_total": 1_870_000.0,
            "expected_total_standard_error": 21_000.0,
            "expected_share_of_fees": 0.0037,
            "expected_share_of_fees_standard_error": 0.00004,
            "by_level_before_stacking_and_caps": {"nodes": 1_310_000.0, "racks": 840_000.0},
            "worst_month_p99": 512_000.0,
        },
        "residual_value": {
            "value_by_month": {
                "months": months,
                "p5": [0.55 * v for v in worth],
                "p50": worth,
                "p95": [1.6 * v for v in worth],
            },
            "balance": [row["balance"] for row in rows],
        },
        "base_case": {"rows": rows},
        "settings": ["Calendar months from 2026-09 in UTC; close is the start of the month."],
        "prescribed": [],
        "ignored": [
            "Delivery: one number for each tranche, not a network of activities.",
            "Market: one channel of rent.",
        ],
        "manifest": {
            "deal_sha256": "3f9c21ab" * 8,
            "seed": 1,
            "draws": DRAWS,
            "versions": {"slakit": "0.1.0", "python": "3.11", "numpy": "2.4.6"},
        },
    }


@pytest.fixture(scope="session")
def deal() -> Deal:
    """A deal with two tranches, a loan and two service levels."""
    return Deal.model_validate(deal_data())


@pytest.fixture
def terms() -> dict[str, Any]:
    """The same deal as plain data, to be changed by a test."""
    return deal_data()


@pytest.fixture
def score() -> dict[str, Any]:
    """Its score, to be changed by a test."""
    return copy.deepcopy(score_data())


@pytest.fixture(scope="session")
def sample_score() -> dict[str, Any]:
    """The same score for tests that only read it."""
    return score_data()
