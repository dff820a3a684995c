"""Deals that cannot be meant: each is refused where it stands, with what was found, expected and to be done."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from schemas.errors import DealError, Problem
from slakit.cli.main import app
from slakit.load import load_deal

JUDGED = {"kind": "judgement", "as_of": "2026-11-30", "rationale": "a test"}


def about(value: Any, unit: str = "1", **more: Any) -> dict[str, Any]:
    """Return a number about the world."""
    return {"value": value, "unit": unit, **JUDGED, **more}


SENSE: dict[str, Any] = {
    "schema_version": 1,
    "title": "A deal that makes sense",
    "parties": {
        "seller": {"name": "Seller", "role": "provider"},
        "buyer": {"name": "Buyer", "role": "customer"},
        "backer": {"name": "Backer", "role": "guarantor"},
        "insurer": {"name": "Insurer", "role": "insurer"},
    },
    "clusters": {"east": {"units": {"gpu": 800, "node": 100, "kw": 1400}}},
    "services": {"compute": {"tranches": ["one", "two"]}},
    "service_levels": {
        "cluster": {
            "level": "cluster",
            "target": 0.995,
            "nodes_needed_share": 0.95,
            "credit": {"bands": [{"below": 0.995, "credit_fraction": 0.1}]},
        }
    },
    "delivery": {
        "tranches": {
            "one": {
                "cluster": "east",
                "ready_for_service_date": "2026-04-01",
                "share_of_service": 0.5,
                "delay_damages": {
                    "grace": {"days": 30},
                    "steps": [{"fee_fraction": 0.3}],
                    "cap": {"months": 4},
                },
                "long_stop": {"after": {"months": 6}},
            },
            "two": {"cluster": "east", "ready_for_service_date": "2026-07-01", "share_of_service": 0.5},
        }
    },
    "cancellation": {
        "chronic_failure": {
            "limbs": [{"form": "bad_months", "service_level": "cluster", "below": 0.99, "k": 3, "m": 12}]
        },
        "convenience": {"first_exercise": "2028-01-01", "notice": {"days": 90}},
    },
    "commercial": {
        "currency": "USD",
        "charges": {"compute": {"price": {"per": "gpu_hour", "amount": 2.25}, "take_or_pay": 0.8}},
        "term": {"months": 48, "ends_by": "2030-12-31"},
        "prepayment": {"fraction": 0.2, "credited_from_month": 25},
    },
    "operations": {"staff_per_gpu_month": 55, "damages_recovered": 0.5},
    "power": {"kw_per_gpu": 1.5, "pue": 1.25, "price_per_mwh": 65, "idle_share": 0.1},
    "residual_value": {"book_life_months": 60, "floor_rent_share": about(0.7)},
    "backstop": {
        "shape": "revenue_floor",
        "provider": "backer",
        "starts": "rfs_all",
        "floor_rent": 1.7,
        "amount": 9000000,
        "fee_rate": 0.0225,
    },
    "insurance": {
        "layers": {"outage": {"insurer": "insurer", "rate_per_hour": 5000, "wait_hours": 8, "premium_per_month": 20000}}
    },
    "finance": {
        "close": "2026-01-01",
        "currency": "USD",
        "capital_expenditure": 32000000,
        "loan": {"amount": 24000000, "annual_rate": 0.09, "first_payment_month": 8, "payments": 36},
        "reserve": {"months": 4},
        "lock_up": {"dscr": 1.15, "look_back_months": 3},
        "covenants": {"minimum_dscr": 1.1, "on_breach": "default", "cure_months": 3},
        "recovery": {"sale_stress": about(0.8), "lag_months": about(9, "month")},
        "tests": {"year": {"months": 12, "at_month": 24}},
    },
    "assumptions": {
        "delay": {
            "share_late": about(0.35),
            "median": about(2, "month"),
            "sigma": about(0.8),
            "shared_share": about(0.6),
        },
        "market": {
            "spot_rent": about(2.4, "USD/GPU-hour", low=1.5, high=3.5),
            "decay_per_year": about(0.18, "1/year"),
            "persistence": about(0.9),
            "monthly_noise": about(0.06, spread={"law": "lognormal", "size": 0.3}),
        },
        "value": {
            "life": about(6, "year"),
            "discount_rate": about(0.15, "1/year"),
            "utilisation": about(0.85),
            "haircut": about(0.1),
            "age_at_close": about(0, "year"),
        },
        "usage": about(0.9),
        "counterparties": {
            "customer": {"default_rate": about(0.035, "1/year"), "market_link": about(1.5)},
            "cover_provider": {"default_rate": about(0.01, "1/year")},
            "correlation": about(0.35),
        },
        "reletting": {
            "empty": about(3, "month"),
            "haircut": about(0.1),
            "first_utilisation": about(0.4),
            "utilisation_step": about(0.15),
            "highest_utilisation": about(0.85),
        },
    },
}
"""Every section that money depends on."""
GONE = object()
"""A value that is taken out of the deal."""

GUARANTEE = {"shape": "payment_guarantee", "provider": "backer", "triggers": ["payment_default"], "amount": 9000000}
RESIDUAL = {"shape": "residual_guarantee", "provider": "backer", "threshold": 5000000, "at": "2029-01-01"}
SHAPES = (
    "unsold_hours_put, utilisation_floor, revenue_floor, index_price_floor, leaseback, payment_guarantee, "
    "residual_guarantee, first_loss"
)

NONSENSE: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    # money and numbers
    "negative capital expenditure": (
        {"finance.capital_expenditure": -1},
        {"finance.capital_expenditure": "found -1; expected at least 0"},
    ),
    "money that is not a number": (
        {"finance.capital_expenditure": float("nan")},
        {"finance.capital_expenditure": "expected a finite number"},
    ),
    "money without end": ({"finance.loan.amount": float("inf")}, {"finance.loan.amount": "expected a finite number"}),
    "a rent that is not a number": (
        {"assumptions.market.spot_rent.value": float("nan")},
        {"assumptions.market.spot_rent.value": "expected a finite number"},
    ),
    "money in words": ({"finance.loan.amount": "24m"}, {"finance.loan.amount": "write digits with a point"}),
    "a yes where a number is meant": (
        {"finance.capital_expenditure": True, "finance.loan.payments": False},
        {"finance.capital_expenditure": "found true; expected a number", "finance.loan.payments": "found false"},
    ),
    "a number where a yes is meant": ({"backstop.assignable": 1}, {"backstop.assignable": "expected true or false"}),
    "a rate in percent": ({"finance.loan.annual_rate": "9%"}, {"finance.loan.annual_rate": "the fraction of 1: 0.09"}),
    "half a payment": ({"finance.loan.payments": 36.5}, {"finance.loan.payments": "expected a whole number"}),
    "two currencies": (
        {"finance.currency": "EUR"},
        {"finance.currency": "one currency", "assumptions.market.spot_rent": "slakit never does"},
    ),
    # power, price, term
    "a site that uses less than its equipment": ({"power.pue": 0.9}, {"power.pue": "found 0.9; expected at least 1"}),
    "power paid for twice": (
        {"finance.operating_costs": {"power": {"amount": 0.1}}},
        {"power": "remove finance.operating_costs.power"},
    ),
    "more than all to be paid for": (
        {"commercial.charges.compute.take_or_pay": 1.5},
        {"commercial.charges.compute.take_or_pay": "expected at most 1"},
    ),
    "a price per something that is not sold": (
        {"commercial.charges.compute.price.per": "kw_hour"},
        {"commercial.charges.compute.price.per": "did you mean"},
    ),
    "a term that ends before a tranche is ready": (
        {"commercial.term.ends_by": "2026-06-30"},
        {"commercial.term.ends_by": "due later or then: 'two' 2026-07-01;"},
    ),
    "a term that ends in months before a day": (
        {"commercial.term.ends_by": {"close_plus_months": 2}},
        {"commercial.term.ends_by": "due later or then: 'one' 2026-04-01, 'two' 2026-07-01"},
    ),
    "a prepayment that is never credited": (
        {"commercial.prepayment.credited_from_month": 49},
        {"commercial.prepayment.credited_from_month": "a month of the firm term of 48 months"},
    ),
    # delivery and leaving
    "a long stop of no length": (
        {"delivery.tranches.one.long_stop.after": {"months": 0}},
        {"delivery.tranches.one.long_stop.after": "a length of time after the date"},
    ),
    "a long stop before the date": (
        {"delivery.tranches.one.long_stop.after": {"months": -2}},
        {"delivery.tranches.one.long_stop.after.months": "found -2; expected at least 0"},
    ),
    "a long stop within the grace": (
        {"delivery.tranches.one.long_stop.after": {"days": 20}},
        {"delivery.tranches.one.long_stop.after": "20 days, within the grace of 30 days"},
    ),
    "a right to leave before close": (
        {"cancellation.convenience.first_exercise": "2025-12-31"},
        {"cancellation.convenience.first_exercise": "not before financial close, 2026-01-01"},
    ),
    "thirteen bad months of twelve": (
        {"cancellation.chronic_failure.limbs": [{**SENSE["cancellation"]["chronic_failure"]["limbs"][0], "k": 13}]},
        {"cancellation.chronic_failure.limbs[0].k": "expected k <= m"},
    ),
    "shares of a service above one": (
        {"delivery.tranches.one.share_of_service": 0.9},
        {"services.compute": "add up to 1.4"},
    ),
    # the loan
    "covenants, lock-up, reserve and recovery of a loan that is not there": (
        {"finance.loan": GONE, "finance.horizon_months": 48},
        {
            "finance.reserve": "add finance.loan or remove finance.reserve",
            "finance.lock_up": "found lock_up without a loan",
            "finance.covenants": "found covenants without a loan",
            "finance.recovery": "found recovery without a loan",
        },
    ),
    "a balloon larger than the loan": (
        {"finance.loan.profile": "balloon", "finance.loan.balloon": 25000000},
        {"finance.loan.balloon": "expected less than the loan"},
    ),
    "a balloon without one": ({"finance.loan.profile": "balloon"}, {"finance.loan.profile": "add balloon"}),
    "a balloon that the profile does not have": (
        {"finance.loan.balloon": 1000000},
        {"finance.loan.balloon": "found balloon with profile 'annuity'"},
    ),
    "a sculpted loan without a target": (
        {"finance.loan.profile": "sculpted"},
        {"finance.loan.profile": "add target_dscr"},
    ),
    "a target that cash cannot pay": (
        {"finance.loan.profile": "sculpted", "finance.loan.target_dscr": 0.9},
        {"finance.loan.target_dscr": "expected at least 1"},
    ),
    "a drawing once payments have begun": (
        {"finance.loan.drawings": [{"month": 3, "amount": 1}, {"month": 9, "amount": 1}]},
        {"finance.loan.drawings[1].month": "first payment in month 8"},
    ),
    "drawings above the loan": (
        {"finance.loan.drawings": [{"month": 3, "amount": 25000000}]},
        {"finance.loan.drawings": "25000000 from a loan of 24000000"},
    ),
    "refinancing of a loan that leaves nothing": (
        {"finance.loan.refinancing_ltv": 0.6},
        {"finance.loan.refinancing_ltv": "profile 'bullet' or 'balloon'"},
    ),
    "refinancing against a value that nothing gives": (
        {"finance.loan.profile": "bullet", "finance.loan.refinancing_ltv": 0.6, "assumptions.value": GONE},
        {"finance.loan.refinancing_ltv": "add assumptions.market with assumptions.value"},
    ),
    "a covenant on book value without books": (
        {"finance.covenants.maximum_ltv": 0.8, "finance.covenants.ltv_basis": "book", "residual_value": GONE},
        {"finance.covenants.maximum_ltv": "without a book value of the GPUs"},
    ),
    "a breach of nothing": (
        {"finance.covenants": {"on_breach": "lock_up"}},
        {"finance.covenants.on_breach": "without a level to breach"},
    ),
    "a cure of what is only reported": (
        {"finance.covenants.on_breach": "report"},
        {"finance.covenants.cure_months": "write on_breach: default"},
    ),
    "a test past the last month": (
        {"finance.tests.year.at_month": 99},
        {"finance.tests.year.at_month": "at most 43"},
    ),
    "a test of months before close": (
        {"finance.tests.year.at_month": 6},
        {"finance.tests.year.months": "months after close alone"},
    ),
    # who pays if it fails
    "a cover without a provider": ({"backstop.provider": GONE}, {"backstop.provider": "add `provider`"}),
    "a cover of nobody": (
        {"backstop.provider": "nobody"},
        {"backstop.provider": "an entry of parties: backer, buyer, insurer, seller"},
    ),
    "a customer who covers itself": (
        {"backstop.provider": "buyer"},
        {"backstop.provider": "the customer of the contract"},
    ),
    "a shape that is none": ({"backstop.shape": "promise"}, {"backstop.shape": f"expected one of {SHAPES}"}),
    "a shape misspelt": ({"backstop.shape": "revenue_flor"}, {"backstop.shape": "did you mean revenue_floor?"}),
    "no shape at all": ({"backstop.shape": GONE}, {"backstop": f"expected `shape`, one of {SHAPES}"}),
    "no shape where the keys say which": (
        {"backstop": {"provider": "backer", "triggers": ["insolvency"]}},
        {"backstop": "add `shape: payment_guarantee`"},
    ),
    "a field of another shape": (
        {"backstop.triggers": ["insolvency"]},
        {"backstop.triggers": "correct the key or delete it"},
    ),
    "a guarantee of nothing": (
        {"backstop": {**GUARANTEE, "triggers": []}},
        {"backstop.triggers": "expected at least 1 entry"},
    ),
    "a guarantee against war": (
        {"backstop": {**GUARANTEE, "triggers": ["war"]}},
        {"backstop.triggers[0]": "one of payment_default, insolvency"},
    ),
    "a fee of no amount": ({"backstop.amount": GONE}, {"backstop.fee_rate": "amount, of which the fee is a share"}),
    "a cover that starts on a day that is not named": ({"backstop.starts": "date"}, {"backstop.starts": "add the day"}),
    "a day that is not read": (
        {"backstop.start_date": "2026-07-01"},
        {"backstop.start_date": "remove start_date, or write starts: date"},
    ),
    "a cover that expires before it starts": (
        {"backstop.expires": "2026-06-01"},
        {"backstop.expires": "2026-06-01, when cover starts 2026-07-01"},
    ),
    "a share of revenue above a level that is not shared": (
        {"backstop.revenue_share_above": 100000},
        {"backstop.revenue_share_above": "without revenue_share"},
    ),
    "a value guaranteed on a day without cover": (
        {"backstop": {**RESIDUAL, "expires": "2028-06-01"}},
        {"backstop.at": "when cover ends 2028-06-01"},
    ),
    "a value guaranteed that nothing gives": (
        {"backstop": RESIDUAL, "assumptions.market": GONE},
        {"backstop.threshold": "without a market value of the GPUs"},
    ),
    "an insurer who is no party": (
        {"insurance.layers.outage.insurer": "acme"},
        {"insurance.layers.outage.insurer": "correct the name or add the entry"},
    ),
    "a wait of less than nothing": (
        {"insurance.layers.outage.wait_hours": -1},
        {"insurance.layers.outage.wait_hours": "found -1; expected at least 0"},
    ),
    # what is assumed
    "a correlation of two": (
        {"assumptions.counterparties.correlation.value": 2},
        {"assumptions.counterparties.correlation.value": "found value 2; expected -1 to 1"},
    ),
    "a correlation of minus two": (
        {"assumptions.counterparties.correlation.value": -2},
        {"assumptions.counterparties.correlation.value": "found value -2; expected -1 to 1"},
    ),
    "a correlation with nobody": (
        {"assumptions.counterparties.cover_provider": GONE},
        {"assumptions.counterparties": "add the other, or remove correlation"},
    ),
    "a hazard below nothing": (
        {"assumptions.counterparties.customer.default_rate.value": -0.1},
        {"assumptions.counterparties.customer.default_rate.value": "expected 0 to 1,000,000"},
    ),
    "letting again that never rises": (
        {"assumptions.reletting.highest_utilisation.value": 0.2},
        {"assumptions.reletting.highest_utilisation.value": "first_utilisation <= highest_utilisation"},
    ),
    "letting again without a step": (
        {"assumptions.reletting.utilisation_step": GONE},
        {"assumptions.reletting.utilisation_step": "add `utilisation_step`"},
    ),
    "a low end above the high one": (
        {"assumptions.market.spot_rent.low": 5, "assumptions.market.spot_rent.high": 1},
        {
            "assumptions.market.spot_rent.low": "found low 5 above value 2.4",
            "assumptions.market.spot_rent.high": "found high 1 below value 2.4",
        },
    ),
    "a share whose range is wider than shares are": (
        {"assumptions.usage.low": -0.5, "assumptions.usage.high": 1.5},
        {"assumptions.usage.low": "expected 0 to 1", "assumptions.usage.high": "expected 0 to 1"},
    ),
    "a spread of no size": (
        {"assumptions.market.monthly_noise.spread.size": 0},
        {"assumptions.market.monthly_noise.spread.size": "expected more than 0"},
    ),
    "a spread of a share around a whole": (
        {"assumptions.usage": about(1, spread={"law": "beta", "size": 20})},
        {"assumptions.usage.spread.law": "a value between 0 and 1"},
    ),
    "a logarithm of nothing": (
        {"assumptions.market.monthly_noise.value": 0},
        {"assumptions.market.monthly_noise.spread.law": "a value above 0"},
    ),
    "a rent in the wrong unit": (
        {"assumptions.market.spot_rent.unit": "USD/h"},
        {"assumptions.market.spot_rent.unit": "convert the value and write that unit"},
    ),
    "a number that nobody answers for": (
        {"assumptions.usage.rationale": GONE},
        {"assumptions.usage": "say why this value was chosen"},
    ),
}
"""Changes to the deal that makes sense, and the path of each problem with words that it says."""


def changed(changes: dict[str, Any]) -> str:
    """Return the text of the deal that makes sense with some values set or taken out."""
    data = deepcopy(SENSE)
    for path, value in changes.items():
        *trail, last = path.split(".")
        holder = data
        for step in trail:
            holder = holder.setdefault(step, {})
        if value is GONE:
            del holder[last]
        else:
            holder[last] = deepcopy(value)
    return str(yaml.dump(data, Dumper=_Plain, sort_keys=False))


class _Plain(yaml.SafeDumper):
    """Writes every value where it stands, without aliases, and dates as dates."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def problems_of(text: str, folder: Path) -> tuple[Problem, ...]:
    """Return the problems of a deal that must be refused."""
    path = folder / "deal.yaml"
    path.write_text(text)
    with pytest.raises(DealError, match="found") as caught:
        load_deal(path)
    return caught.value.problems


def test_the_deal_that_makes_sense_is_loaded(tmp_path: Path):
    path = tmp_path / "deal.yaml"
    path.write_text(changed({}))
    assert load_deal(path).deal.title == "A deal that makes sense"


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_is_refused_where_it_stands_with_what_to_do(name: str, tmp_path: Path):
    changes, expected = NONSENSE[name]
    text = changed(changes)
    found = problems_of(text, tmp_path)
    assert {problem.path for problem in found} == set(expected)
    assert len(found) == len(expected)
    for problem in found:
        assert expected[problem.path] in str(problem), str(problem)
        assert problem.file == str(tmp_path / "deal.yaml")
        assert problem.line is not None
        assert problem.column is not None
        line = text.splitlines()[problem.line - 1]
        assert any(step.partition("[")[0] in line for step in problem.path.split(".")) or line.lstrip().startswith("-")
        for words in (problem.found, problem.expected, problem.remedy):
            assert words == words.strip() != ""
        assert "None" not in str(problem)


def test_much_nonsense_is_listed_at_once_in_the_order_of_the_file(tmp_path: Path):
    wrong = [
        "negative capital expenditure",
        "a site that uses less than its equipment",
        "a correlation of two",
        "a guarantee of nothing",
        "a wait of less than nothing",
        "a long stop of no length",
    ]
    changes = {path: value for name in wrong for path, value in NONSENSE[name][0].items()}
    found = problems_of(changed(changes), tmp_path)
    assert [problem.path for problem in found] == [
        "delivery.tranches.one.long_stop.after",
        "power.pue",
        "backstop.triggers",
        "insurance.layers.outage.wait_hours",
        "finance.capital_expenditure",
        "assumptions.counterparties.correlation.value",
    ]
    assert [problem.line for problem in found] == sorted(problem.line or 0 for problem in found)


def test_the_command_prints_each_problem_with_its_place_and_ends_with_an_error(tmp_path: Path):
    path = tmp_path / "deal.yaml"
    path.write_text(changed({"finance.capital_expenditure": -1, "power.pue": 0.9}))
    ended = CliRunner().invoke(app, ["check", str(path)])
    assert ended.exit_code == 1
    said = " ".join(ended.output.split())
    assert "finance.capital_expenditure: found -1; expected at least 0; write a greater number" in said
    assert "power.pue: found 0.9; expected at least 1; write a greater number" in said
