"""Node failures: long-run figures, the months of one slot, counts by band, racks, and the risk in a deal."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from risk.cluster import from_deal, node_law, node_rates
from risk.cluster.counts import inverse_binomial, slots_by_band
from risk.cluster.domains import domain_law
from risk.cluster.nodes import NodeRates
from risk.cluster.slot_month import allowed_minutes, slot_law
from risk.contract_rules.counting_rules import counting_rules
from risk.core.data import hardware
from risk.core.downtime import DowntimeLaw, Lengths, whole_minutes
from risk.core.protocol import Phase, State
from risk.core.rng import generator
from risk.core.setting import setting
from schemas.capacity import Cluster
from schemas.credit_shapes import CreditBands
from schemas.deal import Deal
from schemas.errors import MissingTermError, NotComputedError
from schemas.service_levels import Measurement, ServiceLevel

MONTH = 730 * 60


def sourced(value, unit):
    return {"value": value, "unit": unit, "as_of": "2026-11-30", "kind": "judgement", "rationale": "reference case"}


def bands(*rows):
    return {"bands": [{"below": below, "credit_fraction": fraction} for below, fraction in rows]}


THREE = bands(("0.995", "0.10"), ("0.99", "0.25"), ("0.95", "0.50"))
NODES = {"level": "node", "target": "0.995", "credit": THREE}


def rates(nodes=64, spares=0, yearly=1.4, hardware_share=1.0, reset=0.33, swap=0.5, repair=48.0):
    return NodeRates(nodes, spares, yearly, hardware_share, reset, swap, repair)


# --- long-run figures ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("nodes", "yearly", "repair", "mean", "for_99", "for_999"),
    [(648, 2.4, 24.0, 4.26082, 10, 12), (64, 1.4, 72.0, 0.736438, 3, 4)],
)
def test_spares_needed_are_a_quantile_of_the_poisson_law(nodes, yearly, repair, mean, for_99, for_999):
    # Palm: nodes in repair are Poisson with mean nodes x rate x hours / 8760
    law = rates(nodes, yearly=yearly, repair=repair)
    assert law.in_repair == pytest.approx(mean, rel=1e-5)
    assert law.spares_needed() == for_99
    assert law.spares_needed(0.999) == for_999


@pytest.mark.parametrize(("repair", "availability"), [(24.0, 0.996179), (48.0, 0.992387)])
def test_a_slot_without_spares_is_up_as_often_as_its_renewal_says(repair, availability):
    assert rates(repair=repair).availability() == pytest.approx(availability, abs=5e-7)


def test_a_spare_is_free_while_fewer_nodes_are_in_repair_than_there_are_spares():
    law = rates(648, spares=5, yearly=2.4, repair=24.0)
    assert law.spare_free == pytest.approx(stats.poisson.cdf(4, law.in_repair), rel=1e-12)
    assert rates(spares=0).spare_free == 0.0


def test_time_down_is_a_mixture_of_what_ends_it():
    law = rates(648, spares=5, yearly=2.4, hardware_share=0.5, repair=24.0)
    free = law.spare_free
    assert law.lengths().mean == pytest.approx(60 * (0.5 * 0.33 + 0.5 * (free * 0.5 + (1 - free) * 24.0)))
    assert law.lengths(swaps=False).mean == pytest.approx(60 * (0.5 * 0.33 + 0.5 * 24.0))


@settings(deadline=None)
@given(spares=st.integers(0, 20))
def test_one_more_spare_never_makes_a_slot_worse(spares):
    assert (
        rates(648, spares + 1, 2.4, repair=24.0).availability() >= rates(648, spares, 2.4, repair=24.0).availability()
    )


def test_too_few_nodes_is_a_binomial_tail():
    law = rates(64, spares=0, yearly=20.0)
    down = 1 - law.availability()
    assert law.chance_of_too_few(60) == pytest.approx(stats.binom.sf(4, 64, down), rel=1e-10)
    assert law.chance_of_too_few(64) == pytest.approx(1 - law.availability() ** 64, rel=1e-10)
    assert law.chance_of_too_few(0) == 0.0
    assert law.chance_of_too_few(65) == 1.0


def test_figures_come_from_the_hardware_and_the_deal_may_replace_each():
    plain = Cluster.model_validate({"hardware": "h100_hgx", "units": {"gpu": 1024, "node": 128}})
    law = node_rates(plain)
    assert law.interrupts_per_year == pytest.approx(8 * 0.173)
    assert (law.repair_hours, law.hardware_share) == (48.0, 0.525)
    own = plain.revise({"nodes": {"repair_hours": sourced(8, "h"), "interrupts_per_node_year": sourced(2, "1/year")}})
    law = node_rates(own)
    assert (law.interrupts_per_year, law.repair_hours, law.swap_hours) == (2.0, 8.0, 0.5)


def test_missing_figures_are_asked_for_by_name():
    with pytest.raises(MissingTermError, match=r"clusters\.c\.hardware: missing, and needed by the law of node"):
        node_rates(Cluster.model_validate({"units": {"gpu": 8, "node": 1}}), "clusters.c")
    with pytest.raises(MissingTermError, match=r"clusters\.c\.units\.node: missing"):
        node_rates(Cluster.model_validate({"hardware": "h100_hgx", "units": {"gpu": 8}}), "clusters.c")
    partly = {"units": {"gpu": 8, "node": 1}, "nodes": {"interrupts_per_node_year": sourced(2, "1/year")}}
    with pytest.raises(MissingTermError, match=r"clusters\.c\.nodes\.hardware_share: missing"):
        node_rates(Cluster.model_validate(partly), "clusters.c")


# --- the month of one slot -------------------------------------------------------------------------------------


def simulated_minutes(law, yearly, draws, months, seed):
    """Counted minutes of each month of slots that fail and come back, one by one."""
    rng = np.random.default_rng(seed)
    up = 8760 * 60 / yearly
    minutes = np.zeros((draws, months))
    time, active = np.full(draws, -2.0 * MONTH), np.arange(draws)
    while len(active):
        start = time[active] + rng.exponential(up, len(active))
        kind = rng.choice(len(law.means), len(active), p=law.weights)
        end = start + rng.exponential(np.array(law.means)[kind])
        for month in range(months):
            low, high = np.maximum(start, month * MONTH), np.minimum(end, (month + 1) * MONTH)
            minutes[active, month] += np.floor(np.clip(high - low, 0, None))
        time[active] = end
        active = active[end < months * MONTH]
    return minutes


def test_bands_of_one_slot_agree_with_a_simulation():
    law = rates(64, spares=1, yearly=12.0, hardware_share=0.5, repair=24.0)
    cluster = Cluster.model_validate(
        {
            "units": {"gpu": 512, "node": 64},
            "spares": {"node": 1},
            "nodes": {
                "interrupts_per_node_year": sourced(12, "1/year"),
                "hardware_share": sourced("0.5", "1"),
                "reset_hours": sourced("0.33", "h"),
                "swap_hours": sourced("0.5", "h"),
                "repair_hours": sourced(24, "h"),
            },
        }
    )
    found = node_law(cluster, ServiceLevel.model_validate(NODES))
    minutes = simulated_minutes(law.lengths(), 12.0, 60_000, 2, seed=3)[:, 1]
    edges = [219, 438, 2190, np.inf]
    for low, high, p in zip(edges, edges[1:], found.band_probabilities, strict=False):
        share = ((minutes > low) & (minutes <= high)).mean()
        assert abs(share - p) < 5 * math.sqrt(p * (1 - p) / len(minutes))
    assert found.availability == pytest.approx(law.availability())
    assert found.expected_nodes_down == pytest.approx(64 * (1 - law.availability()))
    assert found.spares_needed == law.spares_needed()


def test_a_threshold_is_compared_exactly():
    credit = CreditBands.model_validate(THREE)
    actual = counting_rules(Measurement(), None)
    assert allowed_minutes(credit, actual, 43_800).tolist() == [219, 438, 2190]
    fixed = counting_rules(Measurement(month_length="fixed_30"), None)
    assert allowed_minutes(credit, fixed, 44_640).tolist() == [216, 432, 2160]


def test_a_minimum_outage_takes_short_interruptions_out():
    credit = CreditBands.model_validate(bands(("0.9999", "0.1")))
    lengths = Lengths((20.0,), (1.0,))

    def chance(minutes):
        rules = counting_rules(Measurement(minimum_outage_minutes=minutes), None)
        return slot_law(1e-5, lengths, credit, rules, MONTH).survival(MONTH)[0]

    # nothing but outages of at least the minimum can leave a trace, plus the rest of one under way
    assert 1 - chance(60) == pytest.approx(math.exp(-1e-5 * MONTH * math.exp(-60 / 20)), rel=1e-3)
    assert chance(60) < chance(1)


def test_minutes_booked_by_the_month_of_start_are_never_cut_at_its_end():
    credit = CreditBands.model_validate(THREE)
    lengths = Lengths((3000.0,), (1.0,))
    split = slot_law(1e-5, lengths, credit, counting_rules(Measurement(), None), MONTH).survival(MONTH)
    whole = slot_law(1e-5, lengths, credit, counting_rules(Measurement(straddle="start_month"), None), MONTH).survival(
        MONTH
    )
    assert split[0] > whole[0]  # a month also holds what began before it
    assert whole[2190] / whole[0] > split[2190] / split[0]


def test_a_slot_that_never_fails_is_never_in_a_band():
    law = slot_law(
        0.0, Lengths((60.0,), (1.0,)), CreditBands.model_validate(THREE), counting_rules(Measurement(), None), MONTH
    )
    assert not law.survival(MONTH).any()


def test_downtime_to_the_second_is_refused_by_name():
    rules = counting_rules(Measurement(minute_rule="exact_seconds"), None)
    credit = CreditBands.model_validate(THREE)
    with pytest.raises(NotComputedError, match=r"measurement\.minute_rule: downtime to the second"):
        slot_law(1e-5, Lengths((60.0,), (1.0,)), credit, rules, MONTH)


# --- counts ----------------------------------------------------------------------------------------------------


@settings(deadline=None)  # the first call compiles
@given(
    uniform=st.floats(0, 1, exclude_max=True),
    number=st.integers(0, 5000),
    p=st.floats(0, 1),
)
def test_a_count_is_the_quantile_of_its_binomial_law(uniform, number, p):
    found = inverse_binomial(uniform, number, p)
    assert 0 <= found <= number
    slack = 1e-11
    assert stats.binom.cdf(found, number, p) >= uniform - slack
    assert found == 0 or stats.binom.cdf(found - 1, number, p) <= uniform + slack


def test_counts_at_the_ends_of_the_law():
    assert inverse_binomial(0.0, 100, 0.3) == 0
    assert inverse_binomial(0.999999, 100, 0.0) == 0
    assert inverse_binomial(0.0, 100, 1.0) == 100
    assert inverse_binomial(0.5, 1_000_000, 0.25) == 250_000


def test_counts_by_band_have_the_means_and_variances_of_the_multinomial_law():
    survival, allowed = np.linspace(0.4, 0.0, 41), np.array([5, 10, 30])
    draws, slots = 40_000, 50
    uniform = np.random.default_rng(5).random((draws, 3))
    found = np.zeros((draws, 3))
    slots_by_band(uniform, slots, survival, allowed, np.zeros(draws, dtype=np.int64), found)
    inside = survival[allowed]
    share = inside - np.r_[inside[1:], 0.0]
    error = np.sqrt(slots * share * (1 - share) / draws)
    assert np.all(np.abs(found.mean(axis=0) - slots * share) < 5 * error)
    covariance = np.cov(found[:, 0], found[:, 1])
    spread = math.sqrt(covariance[0, 0] * covariance[1, 1] / draws)
    assert abs(covariance[0, 1] + slots * share[0] * share[1]) < 5 * spread
    assert found.sum(axis=1).max() <= slots


def test_common_downtime_moves_every_slot_towards_the_deeper_bands():
    survival, allowed = np.linspace(0.4, 0.0, 41), np.array([5, 10, 30])
    uniform = np.full((4, 3), 0.5)
    found = np.zeros((4, 3))
    slots_by_band(uniform, 100, survival, allowed, np.array([0, 6, 11, 31]), found)
    any_band = survival[5]
    assert found[0].sum() == stats.binom.ppf(0.5, 100, any_band)
    assert found[1].sum() == 100
    assert found[2].tolist()[0] == 0
    assert found[3].tolist() == [0, 0, 100]


@settings(deadline=None)  # the first call compiles
@given(common=st.integers(0, 40), more=st.integers(0, 10))
def test_more_common_downtime_never_takes_slots_out_of_all_bands(common, more):
    survival, allowed = np.linspace(0.4, 0.0, 41), np.array([5, 10, 30])
    uniform = np.random.default_rng(common).random((2, 3))
    uniform[1] = uniform[0]
    found = np.zeros((2, 3))
    slots_by_band(uniform, 60, survival, allowed, np.array([common, common + more]), found)
    assert found[1].sum() >= found[0].sum()


# --- racks and domains -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tray", "needed", "up"), [(0.99, 16, 0.999271), (0.99, 18, 0.834514), (0.98, 16, 0.994788), (0.98, 18, 0.695135)]
)
def test_a_rack_is_up_with_the_binomial_probability_of_its_trays(tray, needed, up):
    # 64 of 72 GPUs is 16 of 18 trays
    yearly = 8760 * (1 - tray) / tray / 48.0
    law = domain_law(rates(18, yearly=yearly), needed, 18, None)
    assert 1 - law.unavailability == pytest.approx(up, abs=5e-7)


def test_shared_parts_of_a_rack_are_in_series_with_its_trays():
    data = hardware("gb200_nvl72")
    alone = domain_law(rates(18, yearly=1.2), 16, 18, None)
    whole = domain_law(rates(18, yearly=1.2), 16, 18, data)
    shared = 1 / (1 + 1.4 * 4 / 8760)
    assert 1 - whole.unavailability == pytest.approx((1 - alone.unavailability) * shared, rel=1e-12)
    assert whole.per_hour == pytest.approx(
        alone.per_hour * shared + 1.4 / 8760 * shared * (1 - alone.unavailability), rel=1e-12
    )
    assert whole.lengths.mean / 60 == pytest.approx(whole.unavailability / whole.per_hour, rel=1e-9)


@pytest.mark.parametrize(("yearly", "needed", "slack"), [(1.2, 18, 0.01), (6.0, 17, 0.1)])
def test_a_rack_of_failing_trays_agrees_with_a_simulation(yearly, needed, slack):
    law = rates(18, yearly=yearly, hardware_share=0.525)
    domain = domain_law(law, needed, 18, None)
    months, rng = 20_000, np.random.default_rng(9)
    horizon = (months + 2) * MONTH
    lengths = law.lengths(swaps=False)
    times, moves = [], []
    for _ in range(18):
        count = int(horizon / (8760 * 60 / yearly) * 1.1 + 400)
        up = rng.exponential(8760 * 60 / yearly, count)
        down = rng.exponential(np.array(lengths.means)[rng.choice(3, count, p=lengths.weights)])
        clock = np.cumsum(np.column_stack([up, down]).ravel())
        assert clock[-1] > horizon
        times.append(clock)
        moves.append(np.tile([1, -1], count))
    clock, move = np.concatenate(times), np.concatenate(moves)
    order = np.argsort(clock)
    clock, out = clock[order], np.cumsum(move[order]) > 18 - needed
    begins = clock[np.flatnonzero(out & ~np.r_[False, out[:-1]])]
    ends = clock[np.flatnonzero(~out & np.r_[False, out[:-1]])][: len(begins)]
    begins = begins[: len(ends)]
    kept = (begins > MONTH) & (begins < horizon)
    begins, ends = begins[kept], ends[kept]
    assert len(begins) / (months + 1) * 12 == pytest.approx(domain.per_hour * 8760, rel=0.04)
    assert (ends - begins).sum() / (months + 1) / MONTH == pytest.approx(domain.unavailability, rel=0.06)
    minutes = np.zeros(months + 3)
    first = (begins // MONTH).astype(int)
    for step in range(3):
        month = np.minimum(first + step, months + 2)
        overlap = np.minimum(ends, (month + 1) * MONTH) - np.maximum(begins, month * MONTH)
        np.add.at(minutes, month, np.clip(overlap, 0, None))
    mass, mean = whole_minutes(domain.lengths, 2200, rule="floor")
    survival = DowntimeLaw(1 / domain.per_minute_up, mass, mean, MONTH).survival(MONTH)
    measured = minutes[1 : months + 1]
    for allowed in (219, 438, 2190):
        p = survival[allowed]
        assert abs((measured >= allowed + 1).mean() - p) < 5 * math.sqrt(p / months) + slack * p


# --- in a deal -------------------------------------------------------------------------------------------------


def deal(levels, *, cluster=None, prescribed=None, months=6):
    cluster = cluster or {"hardware": "h100_hgx", "units": {"gpu": 1024, "node": 128}, "spares": {"node": 1}}
    return Deal.model_validate(
        {
            "schema_version": 1,
            "clusters": {"c1": cluster, "c2": cluster},
            "services": {"compute": {"tranches": ["t1"]}, "extra": {"tranches": ["t2"]}},
            "service_levels": levels,
            "delivery": {
                "tranches": {
                    f"t{i}": {"cluster": f"c{i}", "ready_for_service_date": {"close_plus_months": 0}} for i in (1, 2)
                }
            },
            "commercial": {
                "currency": "USD",
                "charges": {
                    name: {"price": {"per": "lump_month", "amount": "1000000"}} for name in ("compute", "extra")
                },
                "term": {"months": months},
            },
            "finance": {"close": "2026-01-01", "currency": "USD", "horizon_months": months},
            "assumptions": {"prescribed": prescribed or {}},
        }
    )


def risk_of(terms):
    return from_deal(terms, setting(terms))


def state_of(paths, draws, tranches=2):
    return State(
        path=paths,
        under_contract=np.ones((draws, tranches), dtype=bool),
        last_billed=np.zeros((draws, tranches), dtype=np.int64),
        first_cause=np.full(draws, "", dtype="U24"),
        first_month=np.zeros(draws, dtype=np.int64),
    )


def test_nodes_in_band_have_the_law_of_one_slot_in_a_month_of_that_length():
    terms = deal({"nodes": NODES | {"service": "compute"}})
    risk = risk_of(terms)
    assert risk.streams == ("outage:nodes:nodes",)
    draws = 8000
    paths = risk.sample({"outage:nodes:nodes": generator(3, "outage:nodes:nodes", 0)}, draws)
    assert {name: array.shape for name, array in paths.items()} == {"node_uniform:nodes": (draws, 2, 6, 3)}
    state = state_of(paths, draws)
    level = terms.service_levels["nodes"]
    for month, days in ((1, 31), (2, 28)):
        risk.steps()[Phase.NODES](month, state)
        found = state.now["nodes_in_band:nodes"]
        assert found.shape == (draws, 2, 3)
        assert not found[:, 1].any()  # the second tranche is not of this service
        law = node_law(terms.clusters["c1"], level, terms.measurement, days * 1440)
        for band, p in enumerate(law.band_probabilities):
            error = math.sqrt(128 * p * (1 - p) / draws)
            assert abs(found[:, 0, band].mean() - 128 * p) < 5 * error


def test_common_downtime_of_the_month_enters_the_count_of_nodes():
    risk = risk_of(deal({"nodes": NODES}))
    paths = {"node_uniform:nodes": np.full((2, 2, 6, 3), 0.5)}
    state = state_of(paths, 2)
    minutes = np.zeros((2, 2, 6), dtype=np.int64)
    minutes[1, 0, 2] = 10_000
    state.now["counted_minutes:nodes"] = minutes
    risk.steps()[Phase.NODES](3, state)
    found = state.now["nodes_in_band:nodes"]
    assert found[1, 0].tolist() == [0, 0, 128]
    assert found[0, 0].sum() < 128
    assert np.array_equal(found[0, 0], found[1, 1])


def test_the_base_case_has_no_failures():
    risk = risk_of(deal({"nodes": NODES}))
    state = state_of(risk.base(), 1)
    risk.steps()[Phase.NODES](1, state)
    assert not state.now["nodes_in_band:nodes"].any()


def test_racks_are_counted_in_nodes():
    rack = {"level": "scale_up_domain", "target": "0.995", "k": 16, "n": 18, "credit": THREE}
    cluster = {"hardware": "gb300_nvl72", "units": {"gpu": 288, "node": 73}}
    risk = risk_of(deal({"racks": rack}, cluster=cluster))
    paths = risk.sample({"outage:nodes:racks": generator(3, "outage:nodes:racks", 0)}, 500)
    state = state_of(paths, 500)
    risk.steps()[Phase.NODES](1, state)
    found = state.now["nodes_in_band:racks"]
    assert found.any()
    assert np.all(found % 18 == 0)
    assert found.sum(axis=2).max() <= 72
    words = " ".join(risk.ignores())
    assert "4 units of 18 nodes of which 16 must be up" in words
    assert "1 nodes that fill no unit are left out" in words


def test_what_a_rack_level_needs_is_asked_for_by_name():
    rack = {"level": "rack", "target": "0.995", "credit": THREE}
    with pytest.raises(MissingTermError, match=r"service_levels\.racks\.k: missing"):
        risk_of(deal({"racks": rack}))
    with pytest.raises(NotComputedError, match=r"service_levels\.racks\.k: a unit that stays up with 8 nodes down"):
        risk_of(deal({"racks": rack | {"k": 10, "n": 18}}))
    with pytest.raises(MissingTermError, match=r"clusters\.c1\.units\.node: missing, and needed by service_levels"):
        risk_of(deal({"racks": rack | {"k": 199, "n": 200}}))


def test_a_fleet_mean_is_refused_by_name():
    with pytest.raises(NotComputedError, match=r"service_levels\.nodes\.aggregation: a fleet mean"):
        risk_of(deal({"nodes": NODES | {"aggregation": "fleet_mean"}}))


def test_a_cluster_level_says_how_often_node_failures_alone_would_break_it():
    level = {"level": "cluster", "target": "0.99", "nodes_needed_share": "0.98", "credit": bands(("0.99", "0.1"))}
    terms = deal({"cluster": level})
    risk = risk_of(terms)
    assert risk.steps() == {}
    chance = node_rates(terms.clusters["c1"]).chance_of_too_few(126)
    assert f"with 126 of 128 nodes needed that is {chance:.2g} of the time" in risk.ignores()[0]
    bare = risk_of(deal({"cluster": level}, cluster={"units": {"gpu": 8}}))
    assert "not known, because the cluster gives no nodes or no hardware" in bare.ignores()[0]


def test_deals_without_node_levels_have_no_node_risk():
    site = {"level": "site", "target": "0.99", "credit": bands(("0.99", "0.1"))}
    cluster = site | {"level": "cluster", "nodes_needed_share": "1"}
    assert risk_of(deal({"site": site})) is None
    assert risk_of(deal({"cluster": cluster}, prescribed={"bad_month": {"probability": "0.05"}})) is None


def test_what_is_ignored_is_said():
    words = " ".join(risk_of(deal({"nodes": NODES})).ignores())
    for part in (
        "does not depend on what it did the month before",
        "early failures",
        "bad batches",
        "where they overlap",
    ):
        assert part in words
