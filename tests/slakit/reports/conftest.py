"""A small deal and a score of the engine's shape, made up by formula: what is tested is how its figures read."""

from __future__ import annotations

import copy
import math
from typing import Any

import pytest

from risk.score.grade import loss_at_boundaries
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
    worth = worths()
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


def added_up(share: float, first: int, last: int) -> list[float]:
    """Return a probability that grows evenly from one month to another."""
    return [share * min(max(m - first, 0) / (last - first), 1.0) for m in range(1, LAST + 1)]


def moved(words: str, path: str, now: Any, to: Any, unit: str, loss: float, *, reaches: bool = True) -> dict[str, Any]:
    """Return one lever, as the engine writes it."""
    return {
        "lever": words,
        "path": path,
        "paths": [path],
        "from": now,
        "to": to,
        "unit": unit,
        "reaches": reaches,
        "d_el_bp": loss,
        "d_el_bp_standard_error": 3.0,
        "d_pd": loss / 10_000,
        "d_pd_standard_error": 0.001,
    }


def stressed(name: str, loss: float, moved_by: float, ends: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return one stress, as the engine writes it."""
    base = {
        "contract_ends": ends,
        "cover_paid": None,
        "cover_paid_reason": "the deal has no backstop",
        "minimum_dscr": 0.4,
        "minimum_dscr_month": 9,
        "default_month": 12 if loss else None,
        "loss_bp": loss,
    }
    if not loss:
        base["default_month_reason"] = "no default"
    drawn = {
        "d_pd": moved_by / 10_000,
        "d_pd_standard_error": 0.002,
        "d_el_bp": moved_by,
        "d_el_bp_standard_error": 5.0,
    }
    return {
        "id": name,
        "name": name.replace("_", " ").capitalize(),
        "says": f"What happens in {name.replace('_', ' ')}",
        "set": {},
        "computed": True,
        "base_case": base,
        "draws": drawn,
    }


def memo_data() -> dict[str, Any]:
    """Return the score with all that a memo shows beside it."""
    score = score_data()
    rows, default = score["base_case"]["rows"], score["default"]
    for one in default["by_cause"].values():
        one["by_month"] = added_up(one["pd"], 8, 40)
    default |= {
        "pd_24_months": 0.031,
        "pd_24_months_standard_error": 0.002,
        "defaults_drawn": 680,
        "lgd_sale_only": 0.52,
        "lgd_sale_only_standard_error": 0.011,
        "mean_exposure_at_default": 141e6,
        "expected_loss_bp_per_year": 77.2,
        "expected_loss_bp_per_year_standard_error": 2.6,
    }
    ending = score["cancellation"]
    ending["by_cause_and_month"] = {
        "long_stop": {"probability": added_up(0.074, 12, 13)},
        "chronic_failure": {"probability": added_up(0.068, 12, 60)},
        "convenience": {"probability": added_up(0.0, 12, 60)},
    }
    edges = loss_at_boundaries(2.7)
    route = {"hazard_per_year": 0.014, "pd_10_years": 0.131, "step": "S12", "step_after_caps": "S13"}
    score |= {
        "credit_step": "S13",
        "grade": {
            "note": "Arithmetic with printed caps.",
            "base_case_defaults": False,
            "pd_route": {"pd_term": 0.068, "months": 60, **route},
            "el_route": {
                "expected_loss_bp_per_year": 77.2,
                "expected_loss_bp_per_year_in_grade": 77.2,
                "expected_loss_bp_per_year_in_grade_standard_error": 2.6,
                **route,
            },
            "step_before_caps": "S12",
            "step_after_caps": "S13",
            "sampling_band": None,
            "parameter_band": {"best": "S11", "worst": "S15", "printed_as_band": False},
            "steps_between_routes": 0,
            "why_routes_differ": None,
            "loss_bp_at_boundaries": edges,
            "caps": [
                {
                    "id": "single_site",
                    "fires": True,
                    "limit": "S13",
                    "words": "one site",
                    "figure": {},
                    "switched_off": False,
                    "step_before": "S12",
                    "step_after_it_alone": "S13",
                },
                {"id": "judgement_band", "fires": None, "limit": None, "words": "not asked", "switched_off": False},
            ],
        },
        "reasons": [
            {"code": "R01", "words": "Late delivery carries it.", "loss_share": 0.49, "path": "assumptions.delay"},
            {"code": "R09", "words": "Cover is thin.", "loss_share": None, "path": "finance.loan"},
        ],
        "reasons_not_listed": ["R14"],
        "sources_and_uses": {
            "capital_expenditure": 240e6,
            "interest_during_construction": 5.46e6,
            "commitment_fee": 0.0,
            "reserve": 11.3e6,
            "other_uses": 0.0,
            "uses": 256.76e6,
            "loan": 182e6,
            "prepayment": 0.0,
            "equity": 74.76e6,
        },
        "llcr": {"at_first_payment": 1.61, "by_month": [1.6 if row["dscr"] else None for row in rows]},
        "equity_irr": {
            "base": 0.171,
            "base_without_terminal_value": None,
            "base_without_terminal_value_reason": "no_sign",
        },
        "covenants": {"minimum_dscr": {**probability("probability", 0.12), "by_month": added_up(0.12, 5, 20)}},
        "judgement_share": 0.34,
        "parameters": {
            "outer_draws": 200,
            "inner_draws": 2000,
            "inputs": 9,
            "not_computed": 0,
            "el_bp": doubtful(226.0, 15.0, 150.0, 205.0, 410.0),
            "el_bp_per_year": doubtful(82.7, 5.5, 55.0, 75.0, 150.0),
            "pd_term": doubtful(0.072, 0.004, 0.04, 0.07, 0.13),
            "judgement_share": 0.34,
            "r_squared_adjusted": 0.93,
            "terms": 40,
            "shares": [
                {"paths": ["assumptions.delay.median"], "kind": "judgement", "share": 0.5},
                {"paths": ["assumptions.delay.share_late"], "kind": "published", "share": 0.3},
            ],
        },
        "scenarios": [
            stressed("as_is", 0.0, 0.0),
            stressed("delivery_slip", 1800.0, 164.0),
            stressed("long_stop", 2100.0, 150.0, {"cause": "long_stop", "month": 13}),
            stressed("fall_of_rent", 0.0, 122.0),
            stressed("dearer_loan", 0.0, 31.0),
            {"id": "refinancing_shut", "name": "Refinancing shut", "computed": False, "reason": "nothing is left"}
            | {"base_case": None, "draws": None},
        ],
        "moves": {
            "draws": 4096,
            "step": "S12",
            "el_bp": 211.0,
            "better": {
                "step": "S11",
                "el_bp": edges["S11|S12"],
                "levers": [
                    moved("reserve_months", "finance.reserve.months", 3, 6, "month", -41.0),
                    moved("delay_median", "assumptions.delay.median", 2.0, 1.4, "month", -38.0),
                    moved("chronic_bad_months", "cancellation.chronic_failure.limbs[0].k", 3, 4, "month", -37.0),
                    moved("loan", "finance.loan.amount", 182e6, 170e6, "USD", -20.0, reaches=False),
                ],
            },
            "worse": {
                "step": "S13",
                "el_bp": edges["S12|S13"],
                "levers": [moved("spot_rent", "assumptions.market.spot_rent", 2.4, 2.2, "USD/GPU-hour", 44.0)],
            },
            "pair": None,
            "pair_reason": "fewer than two levers",
        },
    }
    score["manifest"] |= {"outer": 200, "stress_draws": 8192, "lever_draws": 4096}
    score["residual_value"]["loan_to_value"] = {
        "market": {
            "base": [row["balance"] / value for row, value in zip(rows, worths(), strict=True)],
            "base_peak": 1.41,
            "base_peak_month": 40,
            "peak_p50": 1.5,
            "peak_p95": None,
            "peak_p95_reason": "the value is 0 while a loan is outstanding",
            **probability("probability_above_1", 0.62),
        }
    }
    return score


def doubtful(mean: float, added: float, low: float, middle: float, high: float) -> dict[str, Any]:
    """Return one figure over what is not known, as the engine writes it."""
    quantiles = {"p5": low, "p50": middle, "p95": high}
    return {"mean": mean, "mean_less_own": added, "mean_less_own_standard_error": mean / 40, "quantiles": quantiles}


def worths() -> list[float]:
    """Return the market value of all GPUs by month. [USD]"""
    return [250e6 * math.exp(-m / 38) for m in range(1, LAST + 1)]


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


@pytest.fixture
def memo() -> dict[str, Any]:
    """The score with all that a memo shows, to be changed by a test."""
    return copy.deepcopy(memo_data())


@pytest.fixture(scope="session")
def sample_memo() -> dict[str, Any]:
    """The same for tests that only read it."""
    return memo_data()
