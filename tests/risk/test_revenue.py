"""Fees, prepayment and its refund, and service levels that wait until all tranches are ready."""

from pathlib import Path

import numpy as np
import pytest
import yaml

from risk import availability, revenue
from risk.contract_rules import stacking
from risk.core.protocol import Phase, State
from risk.core.rng import generator
from risk.core.setting import setting
from risk.revenue.settling import Settling
from schemas.deal import Deal
from schemas.errors import NotComputedError

HOUR, MONTH_S = 3600, 730 * 3600
FEE = 1_000_000
GOLDEN = Path(__file__).parents[1] / "golden" / "gd-10.yaml"


def sourced(value, unit="1"):
    return {"value": str(value), "unit": unit, "kind": "judgement", "as_of": "2026-11-30", "rationale": "worked here"}


def reference() -> Deal:
    return Deal.model_validate(yaml.safe_load(GOLDEN.read_text()))


def deal(
    *, ready=(0,), months=24, term=12, ends_by=None, prepayment=None, refund_days=30, level=None, measurement=None
):
    """Return tranches of 1,000,000 a month each, in one service and one cluster."""
    names = [f"t{j}" for j in range(len(ready))]
    data = {
        "schema_version": 1,
        "clusters": {"c": {"units": {"gpu": 100, "node": 100}}},
        "services": {"compute": {"tranches": names}},
        "delivery": {
            "tranches": {
                name: {
                    "cluster": "c",
                    "ready_for_service_date": {"close_plus_months": at},
                    "share_of_service": str(1 / len(ready)),
                }
                for name, at in zip(names, ready, strict=True)
            }
        },
        "commercial": {
            "currency": "USD",
            "charges": {"compute": {"price": {"per": "lump_month", "amount": str(FEE * len(ready))}}},
            "term": {"months": term},
        },
        "cancellation": {"refund_days": refund_days},
        "finance": {"close": "2026-01-01", "currency": "USD", "horizon_months": months},
        "assumptions": {"calendar": "equal_730"},
    }
    if ends_by is not None:
        data["commercial"]["term"]["ends_by"] = {"close_plus_months": ends_by}
    if prepayment:
        data["commercial"]["prepayment"] = prepayment
    if level is not None:
        bands = {"bands": [{"below": "0.99", "credit_fraction": "0.10"}]}
        data["service_levels"] = {"site": {"level": "site", "target": "0.99", "credit": bands} | level}
        data["cancellation"]["chronic_failure"] = {
            "limbs": [{"form": "bad_months", "service_level": "site", "below": "0.99", "k": 1, "m": 1}]
        }
        data["assumptions"]["prescribed"] = {
            "outages": {"mean_up_hours": sourced(1000, "h"), "median_hours": sourced(1, "h"), "sigma": sourced(0)}
        }
    if measurement:
        data["measurement"] = measurement
    return Deal.model_validate(data)


class Months:
    """Months of one deal, run through fees, outages and service alone."""

    def __init__(self, terms, paths=None, draws=1, ends=(), defaults=()):
        """Run all months; `ends` holds (month, tranche) of contracts ended with it, `defaults` of those before it."""
        frame = setting(terms)
        self.frame, self.risk = frame, revenue.from_deal(terms, frame)
        outages = availability.from_deal(terms, frame)
        tranches = len(frame.tranches)
        path = {"ready": np.tile(frame.planned_ready, (draws, 1))} | (outages.base() if outages else {}) | (paths or {})
        state = State(
            path=path,
            under_contract=np.ones((draws, tranches), dtype=bool),
            last_billed=np.zeros((draws, tranches), dtype=np.int64),
            first_cause=np.full(draws, "", dtype="U24"),
            first_month=np.zeros(draws, dtype=np.int64),
        )
        self.now, self.cash = [], []
        for month in range(1, frame.months + 1):
            state.cash = {}
            for at, tranche in defaults:
                if at == month:
                    state.end_contract(self._one(state, tranche), "customer_default", month, month - 1)
            self.risk.steps()[Phase.FEES](month, state)
            if outages:
                outages.steps()[Phase.OUTAGE](month, state)
            self.risk.steps()[Phase.SERVICE](month, state)
            self.now.append(dict(state.now))
            self.cash.append(state.cash)
            for at, tranche in ends:
                if at == month:
                    state.end_contract(self._one(state, tranche), "chronic_failure", month, month)

    def _one(self, state, tranche):
        return np.broadcast_to(np.arange(state.under_contract.shape[1]) == tranche, state.under_contract.shape)

    def of(self, name):
        """Return one array by month."""
        return np.array([now[name] for now in self.now])

    def posted(self, name):
        """Return the line of the first draw by month."""
        return np.array([cash[name].amount[0] if name in cash else 0.0 for cash in self.cash])


def outages(*spells, tranches=2):
    """Return the paths of outages (start and length in hours) that strike all tranches of the one draw."""
    each = len(spells)
    start = np.array([start for start, _ in spells]) * HOUR
    end = start + np.array([round(length * HOUR) for _, length in spells])
    return {
        "outage_draw": np.zeros(each * tranches, dtype=np.int64),
        "outage_tranche": np.repeat(np.arange(tranches), each),
        "outage_start_s": np.tile(start, tranches).astype(np.int64),
        "outage_end_s": np.tile(end, tranches).astype(np.int64),
    }


# --- fees ----------------------------------------------------------------------------------------------------------


def test_fees_of_the_reference_deal_start_with_each_tranche_and_last_to_the_end():
    fees = Months(reference()).of("fees")[:, 0]  # 2304 GPUs x 730 h x 2.25 for each tranche
    np.testing.assert_allclose(fees, [0] * 4 + [3_784_320] * 3 + [7_568_640] * 48)


def test_a_customer_that_fails_pays_nothing_for_that_month_and_later():
    fees = Months(deal(), defaults=[(5, 0)]).of("fees")[:, 0]
    assert fees.tolist() == [FEE] * 4 + [0] * 20


def test_an_exit_at_the_end_of_a_month_leaves_its_fee_due():
    fees = Months(deal(), ends=[(5, 0)]).of("fees")[:, 0]
    assert fees.tolist() == [FEE] * 5 + [0] * 19


def test_a_term_ends_by_its_day_however_late_the_tranche_was():
    terms = deal(ready=(0, 6), ends_by="9.5")
    found = Months(terms, {"ready": np.array([[0.0, 7.25]])})
    by_tranche = found.of("fees_by_tranche")[:, 0]
    np.testing.assert_allclose(by_tranche[:, 0], [FEE] * 9 + [FEE / 2] + [0] * 14)
    np.testing.assert_allclose(by_tranche[:, 1], [0] * 7 + [0.75 * FEE, FEE, FEE / 2] + [0] * 14)
    late = Months(terms, {"ready": np.array([[0.0, 11.0]])})  # ready after all terms have ended
    assert not late.of("fees_by_tranche")[:, 0, 1].any()


# --- prepayment ----------------------------------------------------------------------------------------------------

AHEAD = {"fraction": "0.25", "credited_from_month": 7}  # of twelve fees: 3,000,000 in six parts of 500,000


def test_the_prepayment_is_credited_in_equal_parts_and_leaves_the_fee_taxable():
    found = Months(deal(prepayment=AHEAD))
    np.testing.assert_allclose(found.posted("prepayment_credited"), [0] * 6 + [-500_000] * 6 + [0] * 12, atol=1e-6)
    lines = [cash["prepayment_credited"] for cash in found.cash if "prepayment_credited" in cash]
    assert not any(line.taxable for line in lines)
    assert found.cash[6]["fees"].taxable
    np.testing.assert_allclose(found.of("prepaid_left")[11], 0, atol=1e-6)
    assert not found.posted("prepayment_refunded").any()
    np.testing.assert_allclose(found.of("fees_payable")[7], FEE - 500_000)


@pytest.mark.parametrize(
    ("refund_days", "month"),
    [(0, 9), (30, 9), (31, 10), (60, 10), (90, 11)],  # a month has 30.4375 days
)
def test_what_an_exit_leaves_of_the_prepayment_is_paid_back_when_its_days_have_run(refund_days, month):
    found = Months(deal(prepayment=AHEAD, refund_days=refund_days), ends=[(8, 0)])
    back = found.posted("prepayment_refunded")
    assert np.flatnonzero(back).tolist() == [month - 1]
    assert back[month - 1] == pytest.approx(-2_000_000)  # two of six parts were credited
    assert not found.cash[month - 1]["prepayment_refunded"].taxable
    np.testing.assert_allclose(found.of("prepaid_left")[month - 2 : month, 0, 0], [2_000_000, 0])
    assert found.of("prepaid_refunded")[month - 1, 0, 0] == pytest.approx(2_000_000)


def test_the_balance_goes_back_to_a_customer_that_fails_too():
    back = Months(deal(prepayment=AHEAD), defaults=[(8, 0)]).posted("prepayment_refunded")
    # month 7 was the last that was billed, with one part; thirty days later is within month 8
    assert np.flatnonzero(back).tolist() == [7]
    assert back[7] == pytest.approx(-2_500_000)


def test_a_tranche_that_never_came_gets_all_of_its_prepayment_back():
    terms = deal(ready=(0, 1), prepayment=AHEAD)
    found = Months(terms, {"ready": np.array([[0.0, 30.0]])}, ends=[(10, 1)])
    back = found.of("prepaid_refunded")[:, 0]
    assert not back[:, 0].any()
    assert np.flatnonzero(back[:, 1]).tolist() == [10]
    assert back[10, 1] == pytest.approx(3_000_000)


def test_a_term_cut_short_by_its_last_day_pays_back_what_is_not_credited():
    terms = deal(ready=(0, 3), ends_by="9.5", prepayment=AHEAD)
    found = Months(terms)
    used, back = found.of("prepaid_used")[:, 0], found.of("prepaid_refunded")[:, 0]
    np.testing.assert_allclose(used.sum(axis=0), [3.5 * 500_000, 0.5 * 500_000])  # 3.5 and 0.5 months of parts
    assert np.flatnonzero(back.sum(axis=1)).tolist() == [10]  # 9.5 and thirty days are within month 11
    np.testing.assert_allclose(back[10], [2.5 * 500_000, 5.5 * 500_000])


def test_every_prepayment_is_credited_or_paid_back():
    terms = deal(ready=(0, 2, 4, 5), term=10, ends_by=13, prepayment=AHEAD, months=30)
    rng = np.random.default_rng(2)
    draws = 200
    ready = setting(terms).planned_ready + 6 * rng.random((draws, 4)) * (rng.random((draws, 4)) < 0.7)
    found = Months(terms, {"ready": ready}, draws=draws, ends=[(11, 1)], defaults=[(9, 0)])
    given = found.of("prepaid_used").sum(axis=0) + found.of("prepaid_refunded").sum(axis=0)
    np.testing.assert_allclose(given, np.broadcast_to(found.frame.prepaid, given.shape), atol=0.01)
    assert (found.of("prepaid_used").sum(axis=0) > 0).any(axis=0).all()
    assert (found.of("prepaid_refunded").sum(axis=0) > 0).any(axis=0).all()


def test_without_a_prepayment_nothing_is_credited_or_said():
    found = Months(deal())
    for name in ("prepaid_used", "prepaid_refunded", "prepaid_left"):
        assert not found.of(name).any()
    assert "Prepayment" not in " ".join(found.risk.ignores())


def test_what_the_prepayment_leaves_out_is_said():
    words = " ".join(Months(deal(prepayment=AHEAD | {"security": "escrow"})).risk.ignores())
    assert "the 30 days for it run out; no damages that the customer owes are taken off it" in words
    assert "held in escrow by the contract, counted as paid to the project at close" in words


# --- months that are measured once all tranches are ready ----------------------------------------------------------

ALL_READY = {"measured_from": "all_ready"}


def bad_months(found):
    """Return the months that are bad for each tranche."""
    return [(np.flatnonzero(found.of("bad_month:0")[:, 0, j]) + 1).tolist() for j in range(2)]


EVERY_MONTH = outages(*((m * 730 + 600, 20) for m in range(12)))  # twenty hours late in each of twelve months


def test_nothing_is_measured_until_every_tranche_has_been_ready_for_a_whole_month():
    terms = deal(ready=(0, 3), level=ALL_READY)
    found = Months(terms, EVERY_MONTH | {"ready": np.array([[0.0, 4.5]])})
    assert bad_months(found) == [list(range(6, 13))] * 2  # ready within month 5
    np.testing.assert_allclose(found.of("credits")[:12, 0], [0] * 5 + [200_000] * 7)


def test_each_tranche_is_measured_from_its_own_readiness_where_the_contract_says_so():
    found = Months(deal(ready=(0, 3), level={}), EVERY_MONTH | {"ready": np.array([[0.0, 4.5]])})
    assert bad_months(found) == [list(range(1, 13)), list(range(5, 13))]


def test_a_tranche_ready_as_a_month_begins_is_ready_for_the_whole_of_it():
    found = Months(deal(ready=(0, 3), level=ALL_READY), EVERY_MONTH | {"ready": np.array([[0.0, 4.0]])})
    assert bad_months(found) == [list(range(5, 13))] * 2


def test_a_late_tranche_that_was_left_holds_nothing_up():
    terms = deal(ready=(0, 3), level=ALL_READY)
    found = Months(terms, EVERY_MONTH | {"ready": np.array([[0.0, 20.0]])}, ends=[(6, 1)])
    assert bad_months(found) == [list(range(7, 13)), []]


def test_a_tranche_still_to_come_after_all_terms_have_ended_holds_nothing_up():
    terms = deal(ready=(0, 3), term=12, ends_by=8, level=ALL_READY)
    found = Months(terms, EVERY_MONTH | {"ready": np.array([[0.0, 20.0]])})
    assert bad_months(found) == [[], []]  # up to month 8 it is bound and late; then no term runs
    assert not found.of("credits").any()


def test_a_tranche_of_another_service_holds_nothing_up():
    terms = deal(ready=(0, 3), level=ALL_READY)
    services = {"compute": {"tranches": ["t0"]}, "storage": {"tranches": ["t1"]}}
    charge = {"price": {"per": "lump_month", "amount": "1000000"}}
    tranches = {
        name: tranche.model_dump(exclude_unset=True) | {"share_of_service": "1"}
        for name, tranche in terms.delivery.tranches.items()
    }
    level = terms.service_levels["site"].model_dump(exclude_unset=True) | {"service": "compute"}
    apart = terms.revise(
        {
            "services": services,
            "delivery": {"tranches": tranches},
            "service_levels": {"site": level},
            "commercial": terms.commercial.model_dump(exclude_unset=True)
            | {"charges": {"compute": charge, "storage": charge}},
        }
    )
    found = Months(apart, EVERY_MONTH | {"ready": np.array([[0.0, 4.5]])})
    assert bad_months(found) == [list(range(1, 13)), []]


def test_no_month_is_measured_once_no_tranche_is_under_contract():
    found = Months(deal(ready=(0, 3), level=ALL_READY), EVERY_MONTH, ends=[(6, 0), (6, 1)])
    assert bad_months(found) == [[4, 5, 6]] * 2


@pytest.mark.parametrize(
    ("hours", "share", "bad"),
    [
        (3.65, 0.0, False),  # exactly 99.5 %
        (3.66, 0.05, False),
        (7.3, 0.05, False),  # exactly 99 %
        (7.3 + 1 / HOUR, 0.10, True),  # one second more
        (30.0, 0.25, True),
        (100.0, 0.50, True),
    ],
)
def test_the_reference_deal_credits_a_share_of_all_fees_of_the_month_to_the_second(hours, share, bad):
    found = Months(reference(), outages((10 * 730 + 5, hours)))  # in month 11, both tranches ready
    credits = np.zeros(55)
    credits[10] = share * 7_568_640
    np.testing.assert_allclose(found.of("credits")[:, 0], credits, atol=0.02)
    assert bad_months(found) == ([[11]] * 2 if bad else [[], []])


def test_an_outage_over_a_month_end_counts_in_both_months():
    found = Months(reference(), outages((12 * 730 - 8, 16)))
    assert bad_months(found) == [[12, 13]] * 2


def test_bad_months_are_the_same_for_tranches_that_share_their_outages():
    terms = reference()
    risk = availability.from_deal(terms, setting(terms))
    assert len(risk.units) == 1
    draws = 300
    paths = risk.sample({name: generator(5, name, 0) for name in risk.streams}, draws)
    ready = np.array([[4.0, 7.0]]) + 3 * np.random.default_rng(1).random((draws, 2))
    bad = Months(terms, paths | {"ready": ready}, draws=draws).of("bad_month:0")
    assert bad.sum() > 500
    np.testing.assert_array_equal(bad[:, :, 0], bad[:, :, 1])


def test_minutes_and_seconds_agree_where_outages_last_whole_minutes():
    spells = outages((700, 7), (1460, 0.5), (2000, 50.25), (4000, 7.5), (5000, 2.0), (5003, 4.0))
    by = {
        rule: Months(deal(ready=(0, 3), level={}, measurement={"minute_rule": rule}), spells)
        for rule in ("floor_piece", "exact_seconds")
    }
    np.testing.assert_array_equal(by["floor_piece"].of("bad_month:0"), by["exact_seconds"].of("bad_month:0"))
    np.testing.assert_allclose(by["floor_piece"].of("credits"), by["exact_seconds"].of("credits"))
    assert by["exact_seconds"].of("credits").any()


TABLE = [{"from_minutes": 0, "credit_hours": 12}, {"from_minutes": 60, "credit_hours": 48}]


@pytest.mark.parametrize("rule", ["floor_piece", "exact_seconds"])
@pytest.mark.parametrize(
    ("credit", "due"),
    [
        # ten hours of a month of 730 hours at 1,000,000: 1.369863% down, 0.369863 points short of 99%
        ({"shape": "linear", "slope": 1}, 3_698.63),
        ({"shape": "steps", "step": "0.001", "credit_fraction": "0.01"}, 40_000),
        ({"shape": "steps", "step": "0.001", "credit_fraction": "0.01", "counted": "completed"}, 30_000),
        ({"shape": "multiple_of_price", "multiple": 10}, 136_986.30),
        ({"shape": "multiple_of_price", "multiple": 100}, 1_000_000),  # the cap of the unit
        ({"shape": "onset_plus_hourly", "onset": "0.03", "hourly": "0.03", "per": "period"}, 330_000),
        ({"shape": "duration_table", "rows": TABLE, "per": "period"}, 65_753.42),
    ],
)
def test_a_credit_of_any_shape_that_one_month_decides_is_simulated(credit, due, rule):
    terms = deal(level={"credit": credit}, measurement={"minute_rule": rule})
    found = Months(terms, outages((100, 10), tranches=1))
    np.testing.assert_allclose(found.of("credits")[:2, 0], [due, 0], atol=0.005)


def test_the_price_of_an_hour_is_the_same_in_a_month_that_starts_late():
    # ready at half of the first month: half the fee for half the hours; ten hours at 1,369.86 times ten
    terms = deal(ready=(0.5,), level={"credit": {"shape": "multiple_of_price", "multiple": 10}})
    found = Months(terms, outages((500, 10), tranches=1))
    np.testing.assert_allclose(found.of("credits")[0, 0], 136_986.30, atol=0.005)


@pytest.mark.parametrize(
    ("level", "path"),
    [
        ({"credit": {"shape": "per_breach", "credit_fraction": "0.1"}}, r"site\.credit.*each outage"),
        ({"credit": {"shape": "hour_waiver", "minutes_in_clock_hour": 6}}, r"site\.credit.*clock hours"),
        ({"credit": {"shape": "duration_table", "rows": TABLE}}, r"site\.credit\.per.*duration_table"),
        ({"credit": {"shape": "unstated", "reason": "missing"}}, r"site\.credit.*does not state"),
        (
            {"level": "rack", "k": 1, "n": 2, "credit": {"shape": "linear", "slope": 1}},
            r"site\.credit.*linear.*single units",
        ),
    ],
)
def test_a_credit_that_the_simulation_cannot_read_is_refused_by_name(level, path):
    terms = deal(level=level).model_dump(exclude_unset=True) | {"schema_version": 1, "cancellation": {}}
    terms = Deal.model_validate(terms)
    with pytest.raises(NotComputedError, match=path):
        revenue.from_deal(terms, setting(terms))


def test_a_credit_with_a_blank_term_is_refused_by_name():
    terms = deal(level={"credit": {"shape": "steps", "step": "0.001", "credit_fraction": "0.01"}}).revise(
        {"unknown": {"service_levels.site.credit.counted": "the page is cut off"}}
    )
    with pytest.raises(NotComputedError, match=r"site\.credit\.counted.*the page is cut off"):
        revenue.from_deal(terms, setting(terms))


def test_nodes_earn_no_credit_in_a_month_that_is_not_measured():
    level = {"level": "node", "target": "0.99", "credit": {"bands": [{"below": "0.99", "credit_fraction": "0.10"}]}}
    for measurement, first in (({}, 50_000), ({"first_partial": "none"}, 0.0)):
        terms = Deal.model_validate(
            deal().model_dump(exclude_unset=True)
            | {"service_levels": {"nodes": level}, "measurement": measurement, "schema_version": 1}
        )
        frame = setting(terms)
        risk = revenue.from_deal(terms, frame)
        state = State(
            path={"ready": np.array([[0.5]])},
            under_contract=np.ones((1, 1), dtype=bool),
            last_billed=np.zeros((1, 1), dtype=np.int64),
            first_cause=np.full(1, "", dtype="U24"),
            first_month=np.zeros(1, dtype=np.int64),
        )
        credits = []
        for month in (1, 2):
            state.cash = {}
            risk.steps()[Phase.FEES](month, state)
            state.now["nodes_in_band:nodes"] = np.array([[[100.0]]])  # all hundred nodes
            risk.steps()[Phase.SERVICE](month, state)
            credits.append(float(state.now["credits"][0]))
        assert credits == pytest.approx([first, 100_000])


# caps, choice between levels and bases


def settled(credits, amounts, *, months=3, chronic=None):
    """Return what each month owes of the credits of two tranches, and the states of all months."""
    terms = deal(ready=(0, 0), months=months, term=12).revise({"credits": credits})
    if chronic:
        terms = terms.revise({"cancellation": {"chronic_failure": {"limbs": chronic}}})
    frame = setting(terms)
    settling = Settling(frame, np.ones((2, 1)))
    ones = np.ones((1, 2))
    state = State(
        path={"ready": np.zeros((1, 2))},
        under_contract=ones > 0,
        last_billed=np.zeros((1, 2), dtype=np.int64),
        first_cause=np.full(1, "", dtype="U24"),
        first_month=np.zeros(1, dtype=np.int64),
    )
    found = []
    for month, amount in enumerate(amounts, start=1):
        state.cash = {}
        settling.step(month, state, {"site": ones * amount / 2}, ones * FEE)
        found.append(dict(state.now))
    return [float(now["credits"][0]) for now in found], found


def test_what_exceeds_the_cap_of_a_month_is_owed_in_later_months():
    # two tranches of 1,000,000: a cap of 5% is 100,000
    owed, _ = settled({"caps": {"month": "0.05", "carry_forward": True}}, [250_000, 0, 80_000])
    assert owed == [100_000, 100_000, 100_000]
    lost, _ = settled({"caps": {"month": "0.05"}}, [250_000, 0, 80_000])
    assert lost == [100_000, 0, 80_000]


def test_a_cap_of_the_month_before_lets_nothing_through_at_first():
    owed, _ = settled({"caps": {"month": "0.05", "month_of": "previous_period"}}, [50_000, 50_000])
    assert owed == [0, 50_000]


def test_a_cap_of_the_term_ends_all_credits():
    # 1% of 24,000,000
    owed, _ = settled({"caps": {"term": "0.01"}}, [150_000, 150_000, 150_000])
    assert owed == [150_000, 90_000, 0]


def test_credits_that_reach_a_cap_are_marked_in_the_month_in_which_they_do():
    limbs = [{"form": "cap_reached", "cap": cap} for cap in ("month", "year")]
    caps = {"caps": {"month": "0.05", "year": "0.0075"}}  # 100,000 and 180,000
    _, found = settled(caps, [100_000, 80_000, 100_000], chronic=limbs)
    assert [bool(now["cap_reached:month"].all()) for now in found] == [True, False, True]
    assert [bool(now["cap_reached:year"].any()) for now in found] == [False, True, False]


def test_a_credited_site_takes_the_place_of_what_stands_in_it():
    nodes, site = np.array([[30.0, 40.0]]), np.array([[100.0, 0.0]])
    assert stacking.absorbed_arrays({"nodes": nodes, "site": site}, {"nodes": 0, "site": 1}).tolist() == [[100, 40]]
    with pytest.raises(ValueError, match=r"at least one level"):
        stacking.absorbed_arrays({}, {})


@pytest.mark.parametrize(
    ("credits", "words"),
    [
        ({"between_levels": "choose_one"}, "choose the service level that pays most"),
        ({"within_level": "worst_outage"}, "although only its longest outage counts"),
        ({"minimum_payable": "5"}, "lines of up to 5 are paid too"),
        ({"form": {"form": "added_days"}}, "added days; taken off the fee at once"),
    ],
)
def test_what_the_simulation_does_not_read_is_said(credits, words):
    terms = deal(level={}).revise({"credits": credits})
    assert any(words in said for said in revenue.from_deal(terms, setting(terms)).ignores())


@pytest.mark.parametrize(
    ("credits", "base"),
    [
        ({}, [[100, 50]]),
        ({"includes_prepaid": False}, [[80, 50]]),
        ({"base": "service_fee_accrued"}, [[150, 150]]),
        ({"base": "order_fee_accrued"}, [[150, 150]]),
        ({"base": "invoiced"}, [[130, 130]]),
    ],
)
def test_credits_are_taken_of_the_base_of_the_contract(credits, base):
    terms = deal(ready=(0, 0)).revise({"credits": credits})
    fees, prepaid = np.array([[100.0, 50.0]]), np.array([[20.0, 0.0]])
    assert Settling(setting(terms), np.ones((2, 1))).base(fees, prepaid).tolist() == base
