"""Legal but extreme deals: refused by name, or every figure is a number, or undefined with the reason beside it.

`SLAKIT_EXTREME_DEALS=5000 pytest tests/risk/test_extreme_deals.py` tries that many deals instead of a few.
"""

import copy
import json
import math
import os
import re
import time
import types
from collections.abc import Callable, Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import numpy as np
import pytest
import yaml
from annotated_types import Ge, Gt, Le
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from pydantic.fields import FieldInfo
from typer.testing import CliRunner

from risk.availability.report import site_report
from risk.core.parameters import Parameter, _bounds
from risk.engine import Model
from risk.finance.loan import schedule
from risk.residual_value import value_per_gpu
from risk.score import score
from risk.score.levers import levers
from risk.score.named_stresses import stresses
from risk.score.stresses import run_stresses
from risk.score.uncertainty import parameter_uncertainty
from schemas.base import Terms
from schemas.deal import Deal
from schemas.errors import DealError, MissingTermError, NotComputedError, SlakitError
from schemas.finance import Loan
from schemas.periods import Duration, MonthsAfterClose
from schemas.sources import Sourced
from slakit.cli.main import app

ROOT = Path(__file__).parents[2]
DEALS = {
    name: yaml.safe_load((ROOT / place / f"{name}.yaml").read_text(encoding="utf-8"))
    for place, names in (
        ("tests/golden", ("gd-10", "gd-01", "gd-05", "gd-08")),
        ("templates/starters", ("small-cluster",)),
        ("examples", ("startup-1024-h100", "ninety-day-exit")),
    )
    for name in names
}
QUICK = ("gd-01", "gd-05", "gd-08", "small-cluster")
"""Deals of which many runs take little time."""
MANY = int(os.environ.get("SLAKIT_EXTREME_DEALS", "0"))
"""Deals to try; 0 is a few."""


def sourced(value: float | str, unit: str = "1") -> dict[str, Any]:
    return {"value": str(value), "unit": unit, "as_of": "2026-11-30", "kind": "judgement", "rationale": "the edge"}


def deal(name: str = "gd-10", **changes: Any) -> Deal:
    """Return a deal with some terms changed, by `section__name`; None takes one out."""
    data = copy.deepcopy(DEALS[name]) | {"provenance": {}}
    for path, value in changes.items():
        put(data, tuple(path.split("__")), value)
    return Deal.model_validate(data)


def put(data: dict[str, Any], path: tuple[str | int, ...], value: Any) -> None:
    holder: Any = data
    for step in path[:-1]:
        holder = holder[step] if isinstance(holder, list) else holder.setdefault(step, {})
    if value is None:
        holder.pop(path[-1], None)
    else:
        holder[path[-1]] = copy.deepcopy(value)


# --- extreme deals, by the types of their terms --------------------------------------------------------------------

FLOOR = {"provider": "guarantor", "starts": "signing", "amount": "0.01"}
BACKSTOPS = [
    {**FLOOR, "shape": "unsold_hours_put", "floor_rent": "1000000000000000", "covers": "all"},
    {**FLOOR, "shape": "utilisation_floor", "covers": "all", "amount": "1000000000000000"},
    {**FLOOR, "shape": "revenue_floor", "floor_rent": "0.000001", "amount_per_year": "0.01", "fee_rate": "5"},
    {**FLOOR, "shape": "index_price_floor", "floor_rent": "1000000000000000", "amortisation_months": 1},
    {"provider": "guarantor", "shape": "leaseback", "floor_rent": "0.000001", "starts": "rent_commenced"},
    {"provider": "guarantor", "shape": "leaseback", "floor_rent": "1000000000000000"},
    {**FLOOR, "shape": "payment_guarantee", "triggers": ["insolvency", "convenience"], "starts": "rfs_each_tranche"},
    {"provider": "guarantor", "shape": "payment_guarantee", "triggers": ["chronic_failure"], "assignable": True},
    {**FLOOR, "shape": "residual_guarantee", "threshold": "1000000000000000", "at": {"close_plus_months": 1}},
    {"provider": "guarantor", "shape": "first_loss", "share": "0"},
    {"provider": "guarantor", "shape": "first_loss", "amount": "1000000000000000", "starts": "rfs_all"},
]
WHOLE = {
    ("backstop",): BACKSTOPS,
    ("commercial", "prepayment"): [{"fraction": f, "credited_from_month": 1} for f in ("0", "1")],
    ("cancellation", "convenience"): [
        {"first_exercise": {"close_plus_months": 0}, "notice": {"days": days}, "fee": fee}
        for days, fee in ((0, "0"), (0, "1000000000000000"), (40000, "1"))
    ],
    ("finance", "loan", "sweep"): ["1"],
    ("finance", "loan", "profile"): ["straight", "bullet"],
    ("finance", "covenants"): [
        {"minimum_dscr": "1000", "on_breach": "default"},
        {"minimum_llcr": "0.000000000001", "maximum_ltv": "0.000000000001", "on_breach": "lock_up"},
    ],
    ("finance", "tax"): [{"rate": "1", "depreciation_months": 1, "losses": "refunded", "prepayment": "on_receipt"}],
    ("assumptions", "prescribed", "gpu_value"): [
        {"amount": "1", "decay_per_month": decay} for decay in ("-1000000000000000", "0", "1000000000000000")
    ],
    ("insurance",): [
        {
            "layers": {
                "one": {
                    "trigger": trigger,
                    "rate_per_hour": "1000000000000000",
                    "wait_hours": "0",
                    "year_cap": cap,
                    "premium_per_month": "1000000000000000",
                }
            }
        }
        for trigger, cap in (("deductible", "0"), ("qualifying", "1000000000000000"))
    ],
}
"""Sections and terms that are put in as a whole."""
NOT_SIMULATED = ("parties", "acceptance", "exclusions", "provenance", "amendments", "title", "about", "schema_version")


def core(annotation: Any, metadata: Any = ()) -> tuple[Any, list[Any]]:
    """Return a type without its marks, and the marks; an optional type counts as the type itself."""
    marks = list(metadata)
    while True:
        if get_origin(annotation) is Annotated:
            annotation, *more = get_args(annotation)
            marks += more
        elif get_origin(annotation) in (Union, types.UnionType):
            kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
            if len(kinds) > 1:
                return annotation, marks
            annotation = kinds[0]
        else:
            return annotation, [m for mark in marks for m in (mark.metadata if isinstance(mark, FieldInfo) else [mark])]


def ends(field: FieldInfo, now: Any) -> list[Any]:
    """Return values at and near the ends of a field's type."""
    kind, marks = core(field.annotation, field.metadata)
    if kind is Sourced and isinstance(now, dict):
        low, high = _bounds(field.annotation, field.metadata)
        near = sorted({low, low + 1e-9, 0.0, min(high, 1.0), high})
        return [sourced(repr(x), now["unit"]) for x in near]
    if kind is Duration:
        return [{"months": "0"}, {"months": "0.000000001"}, {"months": "1200"}, {"days": 0}, {"days": 40000}]
    if date in get_args(field.annotation) or MonthsAfterClose in get_args(kind):
        return [{"close_plus_months": months} for months in ("0", "0.5", "12.25", "1200")]
    if get_origin(kind) is Literal:
        return list(get_args(kind))
    if kind is bool:
        return [True, False]
    if kind not in (Decimal, int):
        return []
    low = next((m.ge if isinstance(m, Ge) else m.gt for m in marks if isinstance(m, (Ge, Gt))), -(10**15))
    high = next((m.le for m in marks if isinstance(m, Le)), 10**15)
    step = 1 if kind is int else Decimal("0.000001")
    strict = any(isinstance(m, Gt) for m in marks)
    return [str(x) for x in (low + step, min(1, high), high, *(() if strict else (low,)))]


def places(terms: type[Terms], data: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple, list[Any]]]:
    """Yield the path of every term that a deal says, with extreme values for it."""
    for name, field in terms.model_fields.items():
        if name in NOT_SIMULATED or data.get(name) is None:
            continue
        here, now = (*path, name), data[name]
        yield here, ends(field, now) + ([] if field.is_required() else [None])
        kind, _ = core(field.annotation, field.metadata)
        if kind not in (Sourced, Duration):
            yield from _below(kind, now, here)


def _below(kind: Any, now: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple, list[Any]]]:
    kind, _ = core(kind)
    if isinstance(kind, type) and issubclass(kind, Terms) and isinstance(now, dict):
        yield from places(kind, now, path)
    elif get_origin(kind) in (Union, types.UnionType):
        for one, _ in map(core, get_args(kind)):
            if isinstance(one, type) and issubclass(one, Terms) and isinstance(now, dict):
                named = [get_args(f.annotation) for n, f in one.model_fields.items() if n in ("shape", "form")]
                if now.keys() <= one.model_fields.keys() and all(now.get("shape", now.get("form")) in n for n in named):
                    yield from places(one, now, path)
    elif get_origin(kind) is dict:
        for key, inner in now.items():
            yield from _below(get_args(kind)[1], inner, (*path, key))
    elif get_origin(kind) is tuple:
        for i, inner in enumerate(now):
            yield from _below(get_args(kind)[0], inner, (*path, i))


@st.composite
def extreme_deals(draw: st.DrawFn, names: tuple[str, ...] = tuple(DEALS)) -> tuple[Deal, str]:
    """Return a legal deal with one to eight extreme terms, and those terms in words."""
    name = draw(st.sampled_from(names))
    data, said = copy.deepcopy(DEALS[name]) | {"provenance": {}}, [name]
    for _ in range(draw(st.integers(1, 8))):
        open_ = [place for place in places(Deal, data) if place[1]]
        open_ += [place for place in WHOLE.items() if _there(data, place[0][:-1])]
        path, values = draw(st.sampled_from(open_))
        value = draw(st.sampled_from(values))
        put(data, path, value)
        said.append(f"{'.'.join(map(str, path))} = {value}")
    try:
        return Deal.model_validate(data), "; ".join(said)
    except ValidationError:  # what types refuse is tested with the types
        reject()


def _there(data: Any, path: tuple[str, ...]) -> bool:
    for step in path:
        data = data.get(step) if isinstance(data, dict) else None
    return isinstance(data, dict)


# --- what a result must hold ---------------------------------------------------------------------------------------

SHARE = re.compile(r"(probability(?!.*months)|pd_|lgd|share_of|judgement_share)")
NOT_A_NUMBER = re.compile(r"(?<![a-z])(nan|inf|None)(?![a-z])")
EXPLAINED_ELSEWHERE = {"d_el_bp": "to_reason", "to": "to_reason", "contract_ends": "contract_ends", "draws": "id"}
"""Figures that may be none, and what their neighbour that says so is called."""


def faults(found: Any, path: str = "", explained: bool = False) -> Iterator[str]:
    """Yield what is wrong with a result: nan, none without a reason, shares beyond 0 to 1, errors below 0."""
    if isinstance(found, dict):
        for name, value in found.items():
            here = f"{path}.{name}"
            reason = found.get(f"{name}_reason") or found.get("reason") or found.get(EXPLAINED_ELSEWHERE.get(name, ""))
            nothing = value is None or (isinstance(value, list) and None in value)
            if nothing and not reason and not explained and EXPLAINED_ELSEWHERE.get(name) not in found:
                yield f"{here} is none without a reason"
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                is_error = name.endswith("_standard_error")
                if is_error and value < 0:
                    yield f"{here} is {value}"
                if SHARE.match(name) and not is_error and not -1e-12 <= value <= 1 + 1e-9:
                    yield f"{here} is {value}"
            if name != "set":  # what the user asked for, given back as it is
                yield from faults(value, here, explained=bool(found.get(f"{name}_reason")))
    elif isinstance(found, (list, tuple)):
        for i, value in enumerate(found):
            yield from faults(value, f"{path}[{i}]")
    elif isinstance(found, float) and not math.isfinite(found):
        yield f"{path} is {found}"
    elif isinstance(found, str) and NOT_A_NUMBER.search(found):
        yield f"{path} says {found!r}"
    elif not isinstance(found, (str, int, float, bool, type(None))):
        yield f"{path} is of type {type(found).__name__}"


def sums_that_do_not_hold(out: dict[str, Any]) -> Iterator[str]:
    """Yield sums of a score that do not add up."""
    default, leaving = out.get("default"), out["cancellation"]
    pairs = [
        ("cancellation", sum(leaving["by_cause"][c] for c in leaving["by_cause_and_month"]), "probability", leaving)
    ]
    if default is not None:
        causes = default["by_cause"].values()
        pairs.append(("default", sum(cause["pd"] for cause in causes), "pd_term", default))
        if default["expected_loss_bp"] is not None:
            pairs.append(("loss", sum(cause["expected_loss_bp"] for cause in causes), "expected_loss_bp", default))
    for what, total, name, of in pairs:
        if total != pytest.approx(of[name], rel=1e-9, abs=1e-9):
            yield f"{what}: causes add up to {total}, not {of[name]}"
    cover = out.get("backstop")
    if cover and cover["amount"] is not None and cover["expected_paid"] > cover["amount"] * (1 + 1e-9):
        yield f"cover of {cover['amount']} pays {cover['expected_paid']}"


def is_whole(error: Exception) -> bool:
    """Return whether a refusal says where, what was found or is needed, and what to do."""
    match error:
        case DealError():
            return all(p.path and p.found and p.expected and p.remedy for p in error.problems) and bool(error.problems)
        case NotComputedError():
            return bool(error.path and error.what and error.remedy)
        case MissingTermError():
            return bool(error.path and error.needed_by and error.remedy)
    return False


def wrong_with(run: Callable[[], dict[str, Any]]) -> list[str]:
    """Return what is wrong with a result or with its refusal."""
    try:
        out = run()
    except SlakitError as error:
        return [] if is_whole(error) and not NOT_A_NUMBER.search(str(error)) else [repr(error)]
    json.dumps(out, allow_nan=False, default=str)
    return [*faults(out), *(sums_that_do_not_hold(out) if "cancellation" in out else ())]


def tries(few: int) -> Any:
    slow = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
    return settings(max_examples=MANY or few, suppress_health_check=slow)


@tries(8)
@given(extreme_deals())
def test_a_legal_deal_has_a_score_or_a_reason_for_each_figure_that_it_lacks(extreme):
    legal, said = extreme
    wrong = wrong_with(lambda: score(legal, draws=64))
    assert not wrong, f"{said}: {wrong[:5]}"


@tries(2)
@given(extreme_deals() if MANY else extreme_deals(names=QUICK))
def test_stresses_and_the_uncertainty_of_a_legal_deal_say_why_they_lack_a_figure(extreme):
    legal, said = extreme
    for run in (
        lambda: {"rows": run_stresses(legal, stresses(legal), draws=8)},
        lambda: parameter_uncertainty(legal, outer=3, inner=8),
    ):
        wrong = wrong_with(run)
        assert not wrong, f"{said}: {wrong[:5]}"


@tries(2)
@given(extreme_deals() if MANY else extreme_deals(names=QUICK[:3]))
def test_levers_of_a_legal_deal_say_why_they_lack_a_figure(extreme):
    legal, said = extreme
    wrong = wrong_with(lambda: levers(legal, draws=8))
    assert not wrong, f"{said}: {wrong[:5]}"


# --- found by them: undefined, and why -----------------------------------------------------------------------------


def test_cover_of_twelve_months_is_none_where_a_sweep_has_repaid_the_loan_sooner():
    out = score(deal("gd-01", finance__loan__sweep="1"), draws=16)
    year = out["dscr"]["dscr_12"]
    assert None in year["base"]
    assert year["base_minimum"] == min(one for one in year["base"] if one is not None)
    assert "fewer than twelve months of debt service" in year["base_reason"]
    assert not list(faults(out))


def test_a_loan_of_less_than_a_year_has_no_last_year_to_default_in():
    out = score(deal("startup-1024-h100", finance__loan__payments=2), draws=64)
    told = {reason["code"]: reason["figures"] for reason in out["reasons"]}
    assert out["default"]["defaults_drawn"] > 0
    assert "R15" not in {*told, *out["reasons_not_listed"]}
    assert not list(faults(out))


def test_thin_cover_of_a_loan_of_less_than_a_year_says_why_it_has_none_over_twelve_months():
    out = score(deal("gd-01", finance__loan__payments=6), draws=16)
    (figures,) = [reason["figures"] for reason in out["reasons"] if reason["code"] == "R09"]
    assert figures["base_minimum_12"] is None
    assert figures["base_minimum_12_reason"] == "fewer than twelve months of debt service"


@pytest.mark.parametrize(("rate", "payments"), [("0.5", 360), ("1", 600), ("5", 1200)])
def test_a_long_and_dear_loan_is_repaid_with_its_last_payment(rate: str, payments: int):
    plan = schedule(Loan(amount="1000000", annual_rate=rate, first_payment_month=1, payments=payments), payments)
    assert plan.closing[-1] == pytest.approx(0, abs=1e-6)
    assert (plan.principal > 0).all()
    np.testing.assert_allclose(plan.service, plan.service[0], rtol=1e-12)


@pytest.mark.parametrize("discount", [0.15, 0.1, 0.0, -0.05])
def test_the_value_of_a_gpu_whose_rent_rises_is_the_integral_of_what_it_earns(discount: float):
    t = (np.arange(200_000) + 0.5) / 50_000  # 4 years
    earned = 8760 * 0.8 * (2 * np.exp(0.1 * t) - 0.5) * np.exp(-discount * t)
    value = value_per_gpu(np.array([2.0]), np.float64(4), cash_cost=0.5, decay=-0.1, discount=discount, utilisation=0.8)
    assert value[0] == pytest.approx(earned.mean() * 4, rel=1e-8)


def test_a_notice_in_months_after_close_may_fall_beyond_the_years_that_are_typed_as_dates():
    leave = {"first_exercise": {"close_plus_months": 1200}, "notice": {"days": 90}}
    out = score(deal("ninety-day-exit", cancellation__convenience=leave), draws=16)
    assert out["cancellation"]["effective_firm_months"] == out["cancellation"]["firm_months"]
    assert not list(faults(out))


def test_nothing_that_grows_stays_nothing():
    growing = {"amount": "0", "decay_per_month": "-1000000000000000"}
    out = score(deal(assumptions__prescribed__gpu_value=growing), draws=16)
    assert set(out["residual_value"]["base"]) == {0.0}
    assert not list(faults(out))


def test_a_spread_beyond_any_number_ends_at_the_bounds_of_its_type():
    wide = Parameter(("a",), 2.0, "month", "judgement", "lognormal", 1e15, 1e15, 0.0, 1200.0)
    assert wide.at(np.array([-2.0, 0.0, 2.0])).tolist() == [0.0, 2.0, 1200.0]


def test_bad_months_are_counted_over_the_months_there_are_and_not_over_a_century():
    def leaves(m: int) -> list[float]:
        limb = {"form": "bad_months", "service_level": "site", "below": "0.999", "k": 3, "m": m}
        limbs = {"limbs": [limb], "scope": "order", "exercise": {"months": 0}}
        one = Model.of(deal(cancellation__chronic_failure=limbs, assumptions__exercise__chronic_failure="always"))
        result = one.run(one.sample(1, 0, 64), 64)
        assert result.months == 55
        return result.column["first_month"].tolist()

    assert any(leaves(55))
    assert leaves(55) == leaves(1200)


# --- found by them: refused by name, before anything is simulated --------------------------------------------------

MANY_TRANCHES = {
    f"t{i}": {
        "cluster": "cluster-1",
        "ready_for_service_date": {"close_plus_months": 4},
        "share_of_service": "0.015625",
    }
    for i in range(64)
}
NODES = {
    "level": "node",
    "target": "0.999",
    "credit": {"bands": [{"below": f"0.99{9 - i}", "credit_fraction": f"0.0{i + 1}"} for i in range(5)]},
}
OF_NODES = {
    "units": {"gpu": 8, "node": 8},
    "nodes": {
        "interrupts_per_node_year": sourced(1, "1/year"),
        "hardware_share": sourced(1),
        "reset_hours": sourced(1, "h"),
        "swap_hours": sourced(1, "h"),
        "repair_hours": sourced(1, "h"),
    },
}
OFTEN = {"mean_up_hours": sourced(200, "h"), "median_hours": sourced(1, "h"), "sigma": sourced(1)}
TOO_LARGE: dict[str, tuple[dict[str, Any], str]] = {
    "a century of 64 tranches": (
        {
            "services__compute__tranches": list(MANY_TRANCHES),
            "delivery__tranches": MANY_TRANCHES,
            "finance__horizon_months": 1200,
        },
        r"finance\.horizon_months: 1,200 months of 64 tranches, more than 8,192",
    ),
    "a million nodes and one": (
        {
            "clusters__cluster-1": OF_NODES | {"units": {"gpu": 8, "node": 1_000_001}},
            "service_levels__nodes": NODES,
        },
        r"clusters\.cluster-1\.units\.node: .* 1,000,001 units",
    ),
    "bands of nodes that fit into no memory": (
        {
            "services__compute__tranches": list(MANY_TRANCHES),
            "delivery__tranches": MANY_TRANCHES,
            "clusters__cluster-1": OF_NODES,
            "service_levels__nodes": NODES,
            "finance__horizon_months": 120,
            "measurement__minute_rule": "floor_piece",
        },
        r"service_levels\.nodes\.credit\.bands: 5 credit bands .* 64 tranches and 120 months",
    ),
    "outages that are many in all": (
        {
            "services__compute__tranches": list(MANY_TRANCHES),
            "delivery__tranches": MANY_TRANCHES,
            "assumptions__prescribed__outages": OFTEN,
        },
        r"assumptions\.prescribed\.outages: .* outages of all tranches",
    ),
    "outages whose mean is that of lengths that never come": (
        {
            "assumptions__prescribed__outages": {
                "mean_up_hours": sourced("0.001", "h"),
                "median_hours": sourced("0.0003", "h"),
                "sigma": sourced(5),
            }
        },
        r"assumptions\.prescribed\.outages: .* outages of one cluster",
    ),
    "a value that grows without end": (
        {"assumptions__prescribed__gpu_value": {"amount": "1", "decay_per_month": "-14"}},
        r"assumptions\.prescribed\.gpu_value\.decay_per_month: a value above 1e\+18",
    ),
    "a discount that makes the last hour of a life worth all": (
        {"assumptions__value__discount_rate": sourced(-5, "1/year"), "assumptions__value__life": sourced(100, "year")},
        r"assumptions\.value\.discount_rate: a value that grows",
    ),
    "rent to be compared that the deal does not give": (
        {
            "assumptions__market": None,
            "assumptions__value": None,
            "assumptions__reletting": None,
            "assumptions__counterparties": None,
            "finance__recovery": None,
        },
        r"assumptions\.market and delivery\.tranches\.\*\.cluster: missing",
    ),
}
"""Changes to the reference deal, and what is said of them."""


@pytest.mark.parametrize("name", TOO_LARGE)
def test_what_would_take_minutes_or_gigabytes_or_beyond_any_number_is_refused_at_once(name: str):
    changes, words = TOO_LARGE[name]
    legal, began = deal(**changes), time.perf_counter()
    with pytest.raises(SlakitError, match=words) as caught:
        score(legal, draws=64)
    assert is_whole(caught.value)
    assert time.perf_counter() - began < 5


def test_more_futures_than_fit_into_memory_are_refused_with_how_many_do():
    with pytest.raises(NotComputedError, match=r"draws: .* ask for at most 1,818,181"):
        score(deal(), draws=1_818_182)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("operations__cost_growth", "5", r"operations\.cost_growth: site rent that grows"),
        ("power__density_choice__keep__market__decay_per_year", sourced(-5, "1/year"), "a rent that grows"),
    ],
)
def test_a_hall_looked_at_for_centuries_is_refused_where_rents_leave_all_numbers(path: str, value: Any, words: str):
    with pytest.raises(NotComputedError, match=words):
        score(deal("startup-1024-h100", power__density_choice__horizon_years=1200, **{path: value}), draws=16)


def test_a_sculpted_loan_that_the_base_case_defaults_on_and_off_is_refused_after_a_few_runs_of_it(monkeypatch):
    runs, base = [], Model.base
    monkeypatch.setattr(Model, "base", lambda self: (runs.append(1), base(self))[1])
    with pytest.raises(NotComputedError, match=r"finance\.loan\.target_dscr: a debt that moves its own cash"):
        score(deal("startup-1024-h100", finance__loan__payments=200), draws=16)
    assert len(runs) < 8


def test_a_domain_that_is_never_up_is_refused():
    rates = OF_NODES["nodes"] | {
        "interrupts_per_node_year": sourced(1e6, "1/year"),
        "repair_hours": sourced(1e6, "h"),
    }
    rack = NODES | {"level": "rack", "k": 8, "n": 8}
    never = deal(**{"clusters__cluster-1": OF_NODES | {"nodes": rates}, "service_levels__racks": rack})
    with pytest.raises(NotComputedError, match=r"service_levels\.racks\.k: .* never up"):
        score(never, draws=16)


@pytest.mark.parametrize("run", [lambda one: score(one, draws=16), site_report], ids=["score", "site"])
def test_a_site_that_is_never_up_is_refused_and_not_taken_for_one_that_is_never_down(run: Callable[[Deal], Any]):
    dark = deal("startup-1024-h100", sites__hall__topology__blocks__pumps={"component": "ats", "count": 100_000_000})
    with pytest.raises(NotComputedError, match=r"sites\.hall\.topology: a site that is never up"):
        run(dark)


@pytest.mark.parametrize("path", ["commercial__term__months", "backstop__amortisation_months"])
def test_a_number_of_months_is_a_century_at_most(path: str):
    with pytest.raises(ValidationError, match="less than or equal to 1200"):
        deal(**{path: 1201})


@pytest.mark.parametrize(
    ("typed", "remedy"),
    [
        (sourced(85), "write the fraction of 1: 0.85 for 85%"),
        (sourced(101), "correct the number or its unit"),
        (sourced(35) | {"spread": {"law": "beta", "size": 20}}, "write the fraction of 1: 0.35 for 35%"),
    ],
)
def test_a_share_typed_in_percent_is_refused_with_the_fraction_to_write(typed: dict[str, Any], remedy: str):
    with pytest.raises(ValidationError, match=remedy):
        deal(assumptions__value__utilisation=typed)


# --- as an analyst types them --------------------------------------------------------------------------------------

TYPED = (ROOT / "tests" / "golden" / "gd-10.yaml").read_text(encoding="utf-8")
TIRED = (
    ("target: '0.995'", "target: 99.5", "service_levels.site.target", "write a fraction of 1"),
    ("after: {months: 6}", "after: {months: -6}", "delivery.tranches.tranche-1.long_stop.after.months", "at least 0"),
    ("pue: '1.25'", "pue: 125%", "power.pue", "write the fraction of 1"),
    ("provider: guarantor, ", "", "backstop.provider", "add `provider`"),
    ("close: '2026-01-01'", "close: 31/12/2026", "finance.close", "a date written yyyy-mm-dd"),
    ("payments: 48", "payments: four years", "finance.loan.payments", "a whole number"),
    (
        "correlation:\n      value: '0.35'",
        "correlation:\n      value: 2",
        "assumptions.counterparties.correlation.value",
        "-1",
    ),
)
"""Text of the reference deal, what was typed instead, the path of the problem and words that it says."""


def said_of(text: str, folder: Path, *command: str) -> tuple[int, dict[str, Any]]:
    """Return the exit code and the one JSON document that a command prints about a deal."""
    path = folder / "deal.yaml"
    path.write_text(text, encoding="utf-8")
    ended = CliRunner().invoke(app, [command[0], str(path), *command[1:], "--json"])
    return ended.exit_code, json.loads(ended.stdout)


@pytest.mark.parametrize("command", [("score", "--draws", "64"), ("scenarios",)])
def test_all_that_a_tired_analyst_mistyped_is_said_at_once_where_it_stands(command: tuple[str, ...], tmp_path: Path):
    text = TYPED
    for meant, typed, _, _ in TIRED:
        assert meant in text
        text = text.replace(meant, typed, 1)
    code, document = said_of(text, tmp_path, *command)
    assert code == 1
    assert [problem["path"] for problem in document["errors"]] == [path for _, _, path, _ in TIRED]
    for problem, (_, _, _, words) in zip(document["errors"], TIRED, strict=True):
        assert words in f"{problem['expected']}; {problem['remedy']}"
        assert problem["found"]
        assert problem["file"].endswith("deal.yaml")
        assert problem["line"] > 0 < problem["column"]


LOAN = "  loan: {amount: '150000000', annual_rate: '0.09', first_payment_month: 8, payments: 48}\n"
DELIVERY = TYPED[TYPED.index("delivery:\n") : TYPED.index("operations:")]
NONSENSE = {
    "covenants, reserve and recovery without a loan": (LOAN, "", "finance.reserve"),
    "a thousand million GPUs": ("gpu: 4608", "gpu: 1000000000", "clusters.cluster-1.units.gpu"),
    "two currencies": ("currency: USD\n  charges", "currency: EUR\n  charges", "finance.currency"),
    "a market that doubles every day": ("noise: {value: '0.06'", "noise: {value: '6'", "assumptions.market"),
    "a section that is missing": (DELIVERY, "", "services.compute.tranches[0]"),
}
"""What was meant, what was typed instead, and the path of the first problem."""


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_is_one_document_of_errors_with_their_places(name: str, tmp_path: Path):
    meant, typed, path = NONSENSE[name]
    text = TYPED.replace(meant, typed, 1)
    assert text != TYPED
    code, document = said_of(text, tmp_path, "score", "--draws", "64")
    assert code == 1
    first = document["errors"][0]
    assert first["path"] == path
    assert all(first[part] for part in ("found", "expected", "remedy", "file", "line", "column"))
