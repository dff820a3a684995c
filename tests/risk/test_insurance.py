"""Insurance by the hour of an outage: one outage by hand, the law of one payment, and a term month by month."""

from collections import defaultdict
from datetime import date
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy.special import ndtr

from risk.core.protocol import Phase, State
from risk.core.setting import setting
from risk.engine import Model
from risk.insurance import from_deal
from risk.insurance.payment import payment
from schemas.deal import Deal
from schemas.errors import MissingTermError, NotComputedError
from schemas.insurance import ParametricLayer

HOUR, MONTH = 3600, 730 * 3600
LAYER = {"rate_per_hour": "40000", "wait_hours": 8, "event_cap_hours": 72, "premium_per_month": "60000"}
PUBLISHED = {  # cases D1, D3 and D4 of the method's insurance cases: mean payment a year of six outages
    "deductible": 478_455.2832473797,
    "qualifying": 768_589.7654929777,
    "completed_hours": 446_291.42156214383,
}
MEDIAN, SIGMA, OUTAGES_A_YEAR = 1.5, 1.4, 6


def layer(trigger: str = "deductible", **terms) -> ParametricLayer:
    return ParametricLayer.model_validate(LAYER | {"trigger": trigger} | terms)


def deal(layers: dict, *, measured_from: str = "each_tranche", loan: bool = True, **assumptions) -> Deal:
    """Three tranches, two of them in one cluster, due in months 2, 5 and 3, in term to month 30."""
    due = {"a": ("north", 2), "b": ("north", 5), "c": ("south", 3)}
    return Deal.model_validate(
        {
            "schema_version": 1,
            "clusters": {"north": {"units": {"gpu": 200}}, "south": {"units": {"gpu": 100}}},
            "services": {"compute": {"tranches": list(due)}},
            "service_levels": {
                "whole": {
                    "level": "cluster",
                    "target": "0.995",
                    "nodes_needed_share": "1",
                    "measured_from": measured_from,
                    "credit": {"bands": [{"below": "0.995", "credit_fraction": "0.05"}]},
                }
            },
            "commercial": {
                "currency": "USD",
                "charges": {"compute": {"price": {"per": "gpu_hour", "amount": "2.25"}}},
                "term": {"months": 60, "ends_by": {"close_plus_months": 30}},
            },
            "delivery": {
                "tranches": {
                    name: {
                        "cluster": cluster,
                        "share_of_service": "0.34" if name == "a" else "0.33",
                        "ready_for_service_date": {"close_plus_months": month},
                    }
                    for name, (cluster, month) in due.items()
                }
            },
            "finance": {
                "close": date(2026, 1, 1),
                "currency": "USD",
                "horizon_months": 32,
                "loan": {"amount": "1000000", "annual_rate": "0.09", "first_payment_month": 8, "payments": 20}
                if loan
                else None,
            },
            "insurance": {"layers": layers},
            "assumptions": {"calendar": "equal_730", **assumptions},
        }
    )


class Run:
    """All months of the insurance alone, along outages (draw, tranche, start [h], length [h])."""

    def __init__(self, terms: Deal, outages: list[tuple], draws: int = 1, ready=None, leaves=None) -> None:
        frame = setting(terms)
        risk = from_deal(terms, frame)
        assert risk is not None
        rows = sorted((d, t, round(s * HOUR), round((s + length) * HOUR)) for d, t, s, length in outages)
        columns = np.array(rows, dtype=np.int64).reshape(-1, 4).T
        names = ("outage_draw", "outage_tranche", "outage_start_s", "outage_end_s")
        state = State(
            path={
                **dict(zip(names, columns, strict=True)),
                "ready": np.tile(frame.planned_ready, (draws, 1)) if ready is None else ready,
            },
            under_contract=np.ones((draws, len(frame.tranches)), dtype=bool),
            last_billed=np.zeros((draws, len(frame.tranches)), dtype=np.int64),
            first_cause=np.full(draws, "", dtype="U24"),
            first_month=np.zeros(draws, dtype=np.int64),
        )
        names = ("insurance_recovery", "insurance_premium", *(f"insurance_recovery:{n}" for n in risk.layers))
        self.by_month: dict[str, np.ndarray] = {name: np.zeros((draws, frame.months)) for name in names}
        for month in range(1, frame.months + 1):
            state.cash = {}
            risk.steps()[Phase.COSTS](month, state)
            for name in names:
                self.by_month[name][:, month - 1] = state.now[name]
            np.testing.assert_array_equal(state.cash["insurance_recovery"].amount, state.now["insurance_recovery"])
            np.testing.assert_array_equal(state.cash["insurance_premium"].amount, -state.now["insurance_premium"])
            if leaves is not None:
                state.end_contract(leaves == month, "convenience", month, month)

    def paid(self, name: str = "insurance_recovery") -> dict[int, float]:
        """Return what the first draw is paid by month, months without payment left out."""
        return {month + 1: float(x) for month, x in enumerate(self.by_month[name][0]) if x}


# --- one outage --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("trigger", "hours"),
    [("deductible", [0, 0, 2.5, 72, 72]), ("qualifying", [0, 0, 10.5, 72, 72]), ("completed_hours", [0, 0, 2, 72, 72])],
)
def test_three_triggers_pay_one_outage_by_hand(trigger, hours):
    lengths = np.array([3.0, 8.0, 10.5, 80.0, 400.0])
    assert payment(layer(trigger), lengths) == pytest.approx(40_000 * np.array(hours, dtype=float))


def test_without_a_cap_a_long_outage_is_paid_to_its_end():
    assert payment(layer(event_cap_hours=None), np.array([508.0])) == pytest.approx(20_000_000)
    assert payment(layer("qualifying", event_cap_hours=None), np.array([508.0])) == pytest.approx(20_320_000)


def test_completed_hours_stay_under_a_broken_cap():
    assert payment(layer("completed_hours", event_cap_hours="2.5"), np.array([30.0])) == pytest.approx(80_000)


def limited_mean(limit: float) -> float:
    """Return the mean of a lognormal length cut at a limit, E[min(D, limit)]. [h]"""
    score = (np.log(limit) - np.log(MEDIAN)) / SIGMA
    return float(MEDIAN * np.exp(SIGMA**2 / 2) * ndtr(score - SIGMA) + limit * ndtr(-score))


def exceeds(limit: float) -> float:
    return float(ndtr(-(np.log(limit) - np.log(MEDIAN)) / SIGMA))


@pytest.mark.parametrize("trigger", ["deductible", "qualifying", "completed_hours"])
def test_the_mean_payment_of_a_lognormal_outage_agrees_with_its_closed_form(trigger):
    wait, cap, rate = 4, 24, 50_000
    exact = {
        "deductible": limited_mean(wait + cap) - limited_mean(wait),
        "qualifying": limited_mean(wait + cap) - limited_mean(wait) + wait * exceeds(wait),
        "completed_hours": sum(exceeds(wait + hour) for hour in range(1, cap + 1)),
    }[trigger]
    assert rate * exact * OUTAGES_A_YEAR == pytest.approx(PUBLISHED[trigger], rel=1e-9)
    cover = layer(
        trigger,
        rate_per_hour=rate,
        wait_hours=wait,
        event_cap_hours=cap + wait if trigger == "qualifying" else cap,  # the published cap is beyond the wait
    )
    lengths = MEDIAN * np.exp(SIGMA * np.random.default_rng(12).standard_normal(200_000))
    paid = payment(cover, lengths)
    assert abs(paid.mean() - rate * exact) <= 5 * paid.std(ddof=1) / np.sqrt(len(paid))


# --- a term ------------------------------------------------------------------------------------------------------


def test_an_outage_is_paid_in_full_in_the_month_it_starts():
    run = Run(deal({"hours": LAYER}), [(0, 0, 7 * 730 + 725, 20)])
    assert run.paid() == {8: 480_000.0}


def test_an_outage_of_a_site_that_two_tranches_share_is_paid_once():
    shared = [(0, 0, 9 * 730, 20), (0, 1, 9 * 730, 20)]
    assert Run(deal({"hours": LAYER}), shared).paid() == {10: 480_000.0}
    apart = [(0, 0, 9 * 730, 20), (0, 2, 9 * 730 + 5, 20)]
    assert Run(deal({"hours": LAYER}), apart).paid() == {10: 960_000.0}


def test_a_shared_outage_pays_as_soon_as_one_of_its_tranches_is_measured():
    shared = [(0, 0, 2 * 730, 20), (0, 1, 2 * 730, 20)]  # the first tranche is ready at 2, the second at 5
    assert Run(deal({"hours": LAYER}), shared).paid() == {3: 480_000.0}


def test_nothing_is_paid_before_the_tranche_is_ready_for_a_whole_month():
    ready = np.array([[2.5, 5.0, 3.0]])
    outages = [(0, 0, month * 730 + 600, 20) for month in range(1, 5)]
    assert Run(deal({"hours": LAYER}), outages, ready=ready).paid() == {4: 480_000.0, 5: 480_000.0}


def test_where_all_must_be_ready_nothing_is_paid_before_the_last_tranche_is():
    outages = [(0, 0, month * 730, 20) for month in range(2, 8)]
    run = Run(deal({"hours": LAYER}, measured_from="all_ready"), outages)
    assert run.paid() == {6: 480_000.0, 7: 480_000.0, 8: 480_000.0}
    cancelled = np.array([[0, 4, 0]])  # the tranche that is waited for leaves at the end of month 4
    run = Run(deal({"hours": LAYER}, measured_from="all_ready"), outages, leaves=cancelled)
    assert run.paid() == {5: 480_000.0, 6: 480_000.0, 7: 480_000.0, 8: 480_000.0}


def test_nothing_is_paid_after_the_contract_or_its_term_has_ended():
    outages = [(0, 2, month * 730, 20) for month in (18, 19, 20, 29, 30)]
    assert Run(deal({"hours": LAYER}), outages, leaves=np.array([[0, 0, 19]])).paid() == {19: 480_000.0}
    assert list(Run(deal({"hours": LAYER}), outages).paid()) == [19, 20, 21, 30]


def test_the_year_cap_holds_for_twelve_months_from_close_and_starts_anew():
    capped = {"hours": LAYER | {"year_cap": "1000000"}}
    outages = [(0, 0, month * 730 + hour, 20) for month in (9, 10, 11, 12) for hour in (1, 100)]
    assert Run(deal(capped), outages).paid() == {10: 960_000.0, 11: 40_000.0, 13: 960_000.0}


def test_layers_pay_beside_each_other_and_each_is_told_apart():
    two = {"short": LAYER, "long": LAYER | {"wait_hours": 72, "event_cap_hours": None, "rate_per_hour": "100000"}}
    run = Run(deal(two), [(0, 0, 10 * 730, 100)])
    assert run.paid("insurance_recovery:short") == {11: 72 * 40_000.0}
    assert run.paid("insurance_recovery:long") == {11: 28 * 100_000.0}
    assert run.paid() == {11: 72 * 40_000.0 + 28 * 100_000.0}


def test_premium_is_paid_from_the_first_debt_payment_or_from_its_date():
    two = {"usual": LAYER, "dated": LAYER | {"premium_from": {"close_plus_months": "10.5"}}}
    premium = Run(deal(two), []).by_month["insurance_premium"][0]
    assert premium[6] == 0
    assert premium[7] == 60_000
    assert premium[10] == 90_000
    assert premium[11] == premium[-1] == 120_000


def test_a_premium_without_a_date_or_a_debt_is_refused():
    terms = deal({"hours": LAYER}, loan=False)
    with pytest.raises(MissingTermError, match=r"insurance\.layers\.hours\.premium_from"):
        from_deal(terms, setting(terms))


def test_a_layer_is_refused_where_no_outages_are_drawn():
    terms = deal({"hours": LAYER}, prescribed={"bad_month": {"probability": "0.05"}})
    with pytest.raises(NotComputedError, match=r"insurance\.layers\.hours"):
        from_deal(terms, setting(terms))
    data = deal({"hours": LAYER}).model_dump(exclude_unset=True)
    del data["service_levels"]
    unmeasured = Deal.model_validate(data)
    with pytest.raises(NotComputedError, match="no service level"):
        from_deal(unmeasured, setting(unmeasured))


def test_a_deal_without_insurance_has_no_such_risk():
    data = deal({"hours": LAYER}).model_dump(exclude_unset=True)
    del data["insurance"]
    terms = Deal.model_validate(data)
    assert from_deal(terms, setting(terms)) is None


@pytest.mark.parametrize("measured_from", ["each_tranche", "all_ready"])
def test_many_draws_agree_with_a_ledger_in_plain_python(measured_from):
    rng = np.random.default_rng(5)
    draws = 60
    outages = []
    for draw in range(draws):
        for together in ((0, 1), (2,)):
            for start, length in zip(rng.uniform(0, 32 * 730, 30), rng.lognormal(2, 1.2, 30), strict=True):
                outages += [(draw, tranche, start, length) for tranche in together]
    ready = np.array([2.0, 5.0, 3.0]) + np.where(rng.random((draws, 3)) < 0.5, 0.0, rng.exponential(4, (draws, 3)))
    leaves = np.where(rng.random((draws, 3)) < 0.4, rng.integers(1, 30, (draws, 3)), 0)
    terms = LAYER | {"trigger": "completed_hours", "year_cap": "900000"}
    run = Run(deal({"hours": terms}, measured_from=measured_from), outages, draws, ready, leaves)

    expected = np.zeros((draws, 32))
    for draw in range(draws):
        by_month = defaultdict(set)
        for of, tranche, start, length in outages:
            if of == draw:
                start_s, end_s = round(start * HOUR), round((start + length) * HOUR)
                by_month[start_s // MONTH + 1].add((start_s, end_s, 0 if tranche < 2 else 2))
        left = 900_000.0
        for month in range(1, 33):
            left = 900_000.0 if month % 12 == 1 else left
            contracted = [(not leaves[draw, j] or month <= leaves[draw, j]) and month <= 30 for j in range(3)]
            begun = [ready[draw, j] <= month - 1 for j in range(3)]
            waits = any(c and not b for c, b in zip(contracted, begun, strict=True))
            for start_s, end_s, first in sorted(by_month[month]):
                takes = (0, 1) if first == 0 else (2,)
                if (measured_from == "all_ready" and waits) or not any(contracted[j] and begun[j] for j in takes):
                    continue
                hours = min(max((end_s - start_s) / HOUR - 8, 0), 72) // 1
                paid = min(40_000 * hours, left)
                left -= paid
                expected[draw, month - 1] += paid
    assert expected.any(axis=1).mean() > 0.9
    np.testing.assert_allclose(run.by_month["insurance_recovery"], expected)


# --- the whole model ---------------------------------------------------------------------------------------------


def test_the_cover_of_the_whole_model_is_worth_what_the_reference_says():
    """Golden deal GD-10 with and without the layer, on the same draws; the reference has 200,000."""
    received, received_error = 1_113_609.8586969, 2_700.0  # while the loan lives; a draw deviates by 1.2m
    dearer, dearer_error = 13.766868337278, 0.27684997909876  # expected loss in bp of the loan, paired
    terms = yaml.safe_load((Path(__file__).parents[1] / "golden" / "gd-10.yaml").read_text())
    covered = terms | {"insurance": {"layers": {"outages": LAYER | {"year_cap": "3000000"}}}}
    draws = 4096
    without, bought = (Model.of(Deal.model_validate(t)).block(7, 0, draws) for t in (terms, covered))
    paid = bought.living["insurance_recovery"]
    assert abs(paid.mean() - received) <= 5 * np.hypot(received_error, paid.std() / np.sqrt(draws))
    change = (bought.column["loss"] - without.column["loss"]).astype(float) / 150e6 * 1e4
    assert abs(change.mean() - dearer) <= 5 * np.hypot(dearer_error, change.std() / np.sqrt(draws))
