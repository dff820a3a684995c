"""Outages in the simulation: the laws they are drawn from, what tranches share, and the minutes that count."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from risk.availability import analyse, enumerate_bad_months, from_deal
from risk.availability.outage_law import ClusterOutages, repeat_law
from risk.availability.renewal import GraphLaw, RepeatLaw, draw_outages
from risk.core.downtime import DowntimeLaw, Lengths, whole_minutes
from risk.core.protocol import Phase, State
from risk.core.rng import generator
from risk.core.setting import setting
from schemas.assumptions import OutageLaw
from schemas.deal import Deal
from schemas.errors import DealError, NotComputedError

MONTH_S = 730 * 3600


def sourced(value, unit):
    return {"value": value, "unit": unit, "as_of": "2026-11-30", "kind": "judgement", "rationale": "reference case"}


BANDS = {"bands": [{"below": "0.99", "credit_fraction": "0.10"}]}
GRAPH = {"blocks": {"feed": {"component": "utility_feed_distribution"}}, "rows": {"count": 1, "up_when": "feed"}}
TYPED = {
    "outages_per_year": sourced("3.2", "1/year"),
    "median_hours": sourced("3", "h"),
    "sigma": sourced("1.3", "1"),
    "repeat_share": sourced("0.25", "1"),
    "repeat_mean_hours": sourced("300", "h"),
}


def deal(*, sites=("north", "north"), topology=GRAPH, prescribed=None, levels=None, months=24, measurement=None):
    names = [f"t{i + 1}" for i in range(len(sites))]
    shares = [*("0.25",) * (len(sites) - 1), str(1 - 0.25 * (len(sites) - 1))]
    return Deal.model_validate(
        {
            "schema_version": 1,
            "sites": {
                name: {
                    "name": name,
                    "place": "Somewhere",
                    "topology": topology,
                    "restart_hours": sourced("2", "h"),
                }
                for name in sites
                if name
            },
            "clusters": {f"c{i + 1}": {"site": site, "units": {"gpu": 8}} for i, site in enumerate(sites)},
            "services": {"compute": {"tranches": names}},
            "service_levels": {"site": {"level": "site", "target": "0.99", "credit": BANDS}}
            if levels is None
            else levels,
            "measurement": measurement or {},
            "delivery": {
                "tranches": {
                    name: {
                        "cluster": f"c{i + 1}",
                        "ready_for_service_date": {"close_plus_months": 0},
                        "share_of_service": shares[i],
                    }
                    for i, name in enumerate(names)
                }
            },
            "commercial": {
                "currency": "USD",
                "charges": {"compute": {"price": {"per": "lump_month", "amount": "1000000"}}},
                "term": {"months": months},
            },
            "finance": {"close": "2026-01-01", "currency": "USD", "horizon_months": months},
            "assumptions": {"calendar": "equal_730", "prescribed": prescribed or {}},
        }
    )


def risk_of(terms):
    return from_deal(terms, setting(terms))


def paths_of(risk, draws, seed=11):
    return risk.sample({name: generator(seed, name, 0) for name in risk.streams}, draws)


def state_of(paths, draws, tranches):
    return State(
        path=paths,
        under_contract=np.ones((draws, tranches), dtype=bool),
        last_billed=np.zeros((draws, tranches), dtype=np.int64),
        first_cause=np.full(draws, "", dtype="U24"),
        first_month=np.zeros(draws, dtype=np.int64),
    )


# --- the renewal process ---------------------------------------------------------------------------------------


def test_outages_of_a_graph_come_as_often_and_last_as_long_as_the_graph_says():
    law = GraphLaw(400.0, Lengths((120.0, 1440.0), (0.8, 0.2), 60.0))
    draws, months = 20_000, 12
    draw, start, end = draw_outages(law, generator(1, "outage:x", 0), draws, months * MONTH_S)
    lengths = (end - start) / 3600
    assert np.all(lengths >= 1.0)
    error = lengths.std() / math.sqrt(len(lengths))
    assert abs(lengths.mean() - (60 + 0.8 * 120 + 0.2 * 1440) / 60) < 5 * error
    # up at close: the first outage is exponential, and the mean number is that of the renewal process
    first = start[np.flatnonzero(np.diff(draw, prepend=-1))] / 3600
    p = 1 - math.exp(-100 / 400)
    assert abs(np.sum(first <= 100) / draws - p) < 5 * math.sqrt(p * (1 - p) / draws)


def test_months_of_drawn_outages_follow_the_exact_law():
    lengths = Lengths((120.0, 1440.0), (0.8, 0.2), 30.0)
    law, draws = GraphLaw(3000.0, lengths), 40_000
    draw, start, end = draw_outages(law, generator(2, "outage:x", 0), draws, 7 * MONTH_S)
    down = np.zeros(draws)
    np.add.at(down, draw, np.clip(np.minimum(end, 7 * MONTH_S) - np.maximum(start, 6 * MONTH_S), 0, None) / 60)
    mass, mean = whole_minutes(lengths, 730 * 60)
    survival = DowntimeLaw(3000.0 * 60, mass, mean, 730 * 60).survival(730 * 60)
    for minutes in (30, 120, 438, 1440, 3000):
        p = survival[minutes]
        assert abs((down > minutes + 0.5).mean() - p) < 5 * math.sqrt(p * (1 - p) / draws)


def test_bad_months_cluster_because_outages_straddle_month_ends():
    law, draws = GraphLaw(20_000.0, Lengths((6000.0,), (1.0,))), 60_000
    draw, start, end = draw_outages(law, generator(3, "outage:x", 0), draws, 3 * MONTH_S)
    bad = np.zeros((draws, 2))
    for m in (1, 2):
        overlap = np.clip(np.minimum(end, (m + 1) * MONTH_S) - np.maximum(start, m * MONTH_S), 0, None)
        np.add.at(bad[:, m - 1], draw, overlap)
    bad = bad > 0.01 * MONTH_S
    alone, both = bad.mean(), (bad[:, 0] & bad[:, 1]).mean()
    assert both > 2 * alone**2


def test_a_typed_law_has_its_repeats_and_its_outages_a_year():
    law = repeat_law(OutageLaw.model_validate(TYPED))
    mean_length = 3 * math.exp(1.3**2 / 2)
    assert 0.75 * law.up_mean_hours + 0.25 * 300 + mean_length == pytest.approx(8760 / 3.2)
    assert law.mean_cycle_within(1e9) == pytest.approx(8760 / 3.2)
    draws = 20_000
    draw, start, end = draw_outages(law, generator(4, "outage:x", 0), draws, 36 * MONTH_S)
    same = np.flatnonzero(np.diff(draw) == 0)
    second = same[np.r_[True, np.diff(draw[same]) > 0]]  # between the first and the second outage of a draw
    gap, cut = (start[second + 1] - end[second]) / 3600, 300.0
    early = start[second] < 6 * MONTH_S  # far from the horizon, so that long gaps are not missed
    expected = 1 - 0.25 * math.exp(-cut / 300) - 0.75 * math.exp(-cut / law.up_mean_hours)
    first = start[np.flatnonzero(np.diff(draw, prepend=-1))] < 6 * MONTH_S
    share = np.sum(gap[early] <= cut) / np.sum(first)
    assert abs(share - expected) < 5 * math.sqrt(expected * (1 - expected) / np.sum(first))
    median = np.median((end - start) / 3600)
    assert median == pytest.approx(3, rel=0.02)


def test_the_repeats_of_the_reference_deal_are_read_back():
    # a quarter of the up times mean 300 h, the rest 3,500 h, outages of median 3 h and sigma 1.3
    law = RepeatLaw(3500.0, 0.25, 300.0, 3.0, 1.3)
    yearly = 8760 / law.mean_cycle_within(1e9)
    terms = OutageLaw.model_validate(TYPED | {"outages_per_year": sourced(f"{yearly:.15f}", "1/year")})
    assert repeat_law(terms).up_mean_hours == pytest.approx(3500, rel=1e-12)


def test_a_law_typed_by_its_mean_up_time_is_read_as_it_stands():
    by_mean = {key: value for key, value in TYPED.items() if key != "outages_per_year"}
    law = repeat_law(OutageLaw.model_validate(by_mean | {"mean_up_hours": sourced("3500", "h")}))
    assert law == RepeatLaw(3500.0, 0.25, 300.0, 3.0, 1.3)
    plain = {name: by_mean[name] for name in ("median_hours", "sigma")}
    law = repeat_law(OutageLaw.model_validate(plain | {"mean_up_hours": sourced("3500", "h")}))
    assert (law.up_mean_hours, law.repeat_share) == (3500.0, 0.0)


def test_hours_down_are_those_of_the_reference_deal():
    # golden deal GD-10: 105.436 h in 55 months (standard error 0.066)
    draws, horizon = 20_000, 55 * MONTH_S
    draw, start, end = draw_outages(RepeatLaw(3500.0, 0.25, 300.0, 3.0, 1.3), generator(9, "x", 0), draws, horizon)
    hours = np.bincount(draw, weights=(np.minimum(end, horizon) - start) / 3600, minlength=draws)
    assert abs(hours.mean() - 105.43610879157) < 5 * math.hypot(hours.std() / math.sqrt(draws), 0.065982728378697)


@pytest.mark.parametrize("rate", [{"outages_per_year": sourced("3.2", "1/year")}, {"mean_up_hours": sourced(99, "h")}])
@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"repeat_mean_hours": None}, r"repeat_mean_hours: found nothing; expected the mean time to a repeat"),
        ({"repeat_share": None}, r"repeat_share: found nothing; expected the share of repeats"),
        ({"repeat_share": sourced(1, "1")}, r"repeat_share: found 1; expected less than 1"),
    ],
)
def test_repeats_are_typed_whole_and_are_not_all_there_is(rate, changes, found):
    terms = {key: value for key, value in TYPED.items() if key != "outages_per_year"} | rate | changes
    with pytest.raises(DealError, match=found):
        repeat_law(OutageLaw.model_validate(terms))


def test_no_time_up_at_all_is_refused():
    terms = {"mean_up_hours": sourced(0, "h"), "median_hours": sourced(0, "h"), "sigma": sourced(0, "1")}
    with pytest.raises(DealError, match=r"mean_up_hours: found 0 h; expected time up between outages"):
        repeat_law(OutageLaw.model_validate(terms))


def test_an_outage_is_at_most_as_long_as_the_horizon():
    law = RepeatLaw(500.0, 0.0, 0.0, 3.0, 10.0)  # lengths beyond any clock
    _, start, end = draw_outages(law, generator(6, "outage:x", 0), 5_000, 12 * MONTH_S)
    assert end.max() - start.min() > 12 * MONTH_S
    assert (end - start).max() <= 12 * MONTH_S + 1


def test_a_law_that_leaves_no_time_up_is_refused():
    terms = OutageLaw.model_validate(TYPED | {"outages_per_year": sourced("2000", "1/year")})
    with pytest.raises(DealError, match=r"assumptions\.prescribed\.outages: found 2000 outages a year"):
        repeat_law(terms)


@settings(deadline=None)
@given(scale=st.floats(1.0, 3.0))
def test_longer_outages_move_each_draw_and_no_other(scale):
    def starts(median):
        law = RepeatLaw(1000.0, 0.2, 100.0, median, 0.5)
        return draw_outages(law, generator(5, "outage:x", 0), 50, 6 * MONTH_S)

    draw, start, _ = starts(1.0)
    draw_long, start_long, _ = starts(scale)
    for i in range(50):
        n = min(np.sum(draw == i), np.sum(draw_long == i))
        assert np.sum(draw_long == i) <= np.sum(draw == i)
        assert np.all(start_long[draw_long == i][:n] >= start[draw == i][:n])


# --- in a deal -------------------------------------------------------------------------------------------------


def test_tranches_at_one_site_share_its_outages_and_those_at_another_do_not():
    risk = risk_of(deal(sites=("north", "north", "south", "south")))
    assert risk.streams == ("outage:north", "outage:south")
    paths = paths_of(risk, 500)
    by_tranche = [
        list(
            zip(
                *(paths[f"outage_{name}"][paths["outage_tranche"] == j] for name in ("draw", "start_s", "end_s")),
                strict=True,
            )
        )
        for j in range(3)
    ]
    assert by_tranche[0] == by_tranche[1]
    assert len(by_tranche[0]) > 500
    assert by_tranche[0] != by_tranche[2]


def test_paths_are_whole_seconds_sorted_by_draw_tranche_and_start():
    paths = paths_of(risk_of(deal(sites=("north", "south"))), 300)
    keys = [paths[f"outage_{name}"] for name in ("draw", "tranche", "start_s", "end_s")]
    assert all(key.dtype == np.int64 for key in keys)
    order = np.lexsort(keys[2::-1])
    assert np.array_equal(order, np.arange(len(order)))
    assert np.all(keys[3] > keys[2])
    assert np.all(keys[2] >= 0)
    assert np.all(keys[2] < 24 * MONTH_S)
    same = (np.diff(keys[0]) == 0) & (np.diff(keys[1]) == 0)
    assert np.all(keys[2][1:][same] >= keys[3][:-1][same])


def test_outages_of_a_site_last_as_its_graph_says_with_the_restart_added():
    terms = deal(sites=("north",))
    result = analyse(terms.sites["north"])
    paths = paths_of(risk_of(terms), 8000)
    hours = (paths["outage_end_s"] - paths["outage_start_s"]) / 3600
    expected = result.mean_outage_hours + result.restart_hours
    assert abs(hours.mean() - expected) < 5 * hours.std() / math.sqrt(len(hours))
    assert hours.min() >= 2.0


def test_counted_minutes_are_those_of_the_rules_for_every_level():
    levels = {
        "site": {"level": "site", "target": "0.99", "credit": BANDS},
        "hall": {"level": "hall", "target": "0.99", "credit": BANDS, "measurement": {"minimum_outage_minutes": 600}},
    }
    risk = risk_of(deal(sites=("north",), levels=levels, months=3))
    steps = risk.steps()
    assert list(steps) == [Phase.OUTAGE]
    paths = {
        "outage_draw": np.array([0, 0, 1]),
        "outage_tranche": np.array([0, 0, 0]),
        "outage_start_s": np.array([3600, MONTH_S - 3600, 5 * MONTH_S]),
        "outage_end_s": np.array([3600 + 90, MONTH_S + 12 * 3600, 5 * MONTH_S + 60]),
    }
    state = state_of(paths, 2, 1)
    steps[Phase.OUTAGE](1, state)
    assert state.now["counted_minutes:site"].tolist() == [[[61, 720, 0]], [[0, 0, 0]]]
    assert state.now["counted_minutes:hall"].tolist() == [[[60, 720, 0]], [[0, 0, 0]]]
    kept = state.now["counted_minutes:site"]
    steps[Phase.OUTAGE](2, state)
    assert state.now["counted_minutes:site"] is kept


def test_downtime_is_counted_to_the_second_where_the_contract_does_so():
    measurement = {"minute_rule": "exact_seconds", "minimum_outage_minutes": 2, "merge_gap_minutes": 1}
    risk = risk_of(deal(sites=("north",), months=3, measurement=measurement))
    spells = [(3600, 119), (7200, 121), (9000, 70), (9129, 51), (MONTH_S - 95, 200)]  # the third and fourth are one
    paths = {
        "outage_draw": np.zeros(5, dtype=np.int64),
        "outage_tranche": np.zeros(5, dtype=np.int64),
        "outage_start_s": np.array([start for start, _ in spells]),
        "outage_end_s": np.array([start + length for start, length in spells]),
    }
    state = state_of(paths, 1, 1)
    risk.steps()[Phase.OUTAGE](1, state)
    assert state.now["counted_seconds:site"].tolist() == [[[121 + 121 + 95, 105, 0]]]
    assert "counted_minutes:site" not in state.now


def test_outages_of_several_units_stand_in_the_order_of_draw_tranche_and_start():
    risk = risk_of(deal(sites=("north", "south", "north"), prescribed=None, months=24))
    assert [unit.tranches for unit in risk.units] == [(0, 2), (1,)]
    draws = 400
    paths = paths_of(risk, draws)
    for unit in risk.units:
        law, stream = unit.law, unit.stream
        draw, start, end = draw_outages(law, generator(11, stream, 0), draws, 24 * MONTH_S)
        for tranche in unit.tranches:
            mine = paths["outage_tranche"] == tranche
            assert paths["outage_draw"][mine].tolist() == draw.tolist()
            assert paths["outage_start_s"][mine].tolist() == start.tolist()
            assert paths["outage_end_s"][mine].tolist() == end.tolist()
    assert len(paths["outage_draw"]) > 500


def test_the_base_case_has_no_outages():
    risk = risk_of(deal())
    base = risk.base()
    assert {name: len(array) for name, array in base.items()} == dict.fromkeys(paths_of(risk, 10), 0)
    state = state_of(base, 1, 2)
    risk.steps()[Phase.OUTAGE](1, state)
    assert not state.now["counted_minutes:site"].any()
    assert state.now["counted_minutes:site"].shape == (1, 2, 24)


def test_a_tranche_without_site_or_topology_has_no_outages_and_says_so():
    bare = risk_of(deal(sites=(None, "north"), topology=None))
    assert bare.streams == ()
    assert len(paths_of(bare, 10)["outage_draw"]) == 0
    words = " ".join(bare.ignores())
    assert "Tranche 't1' stands at no site" in words
    assert "Site 'north' has no topology, so tranche 't2'" in words


def test_what_the_site_model_leaves_out_is_said_with_its_figures():
    words = " ".join(risk_of(deal()).ignores())
    assert "1.33 outages a year of 4.28 h and 2 h of restart" in words
    assert "common causes" in words


def test_levels_of_which_only_the_common_part_is_simulated_are_named():
    levels = {"disks": {"level": "storage", "target": "0.99", "credit": BANDS}}
    words = " ".join(risk_of(deal(levels=levels)).ignores())
    assert "Service level 'disks' (storage): only outages of the whole site are simulated" in words


def test_a_deal_without_service_levels_has_no_outage_risk():
    assert risk_of(deal(levels={})) is None


def test_a_typed_law_takes_the_place_of_the_graph():
    risk = risk_of(deal(prescribed={"outages": TYPED}))
    assert isinstance(risk, ClusterOutages)
    assert risk.streams == ("outage:t1", "outage:t2")
    assert {unit.law for unit in risk.units} == {repeat_law(OutageLaw.model_validate(TYPED))}
    paths = paths_of(risk, 50)
    starts = [paths["outage_start_s"][paths["outage_tranche"] == j].tolist() for j in range(2)]
    assert starts[0] != starts[1]
    assert "prescribed law" in " ".join(risk.ignores())


def test_tranches_of_one_cluster_share_its_typed_outages():
    terms = deal(prescribed={"outages": TYPED})
    tranches = {
        name: tranche.revise({"cluster": "c1"}).model_dump(exclude_unset=True)
        for name, tranche in terms.delivery.tranches.items()
    }
    together = terms.revise({"delivery": {"tranches": tranches}})
    risk = risk_of(together)
    assert risk.streams == ("outage:t1",)
    paths = paths_of(risk, 50)
    starts = [paths["outage_start_s"][paths["outage_tranche"] == j].tolist() for j in range(2)]
    assert starts[0] == starts[1]


def test_outages_prescribed_as_none_are_none():
    risk = risk_of(deal(prescribed={"outages": TYPED | {"outages_per_year": sourced("0", "1/year")}}))
    assert len(paths_of(risk, 10)["outage_draw"]) == 0
    assert risk.ignores()[0] == "Outages are prescribed as none."


def test_too_many_outages_to_draw_are_refused_by_name():
    often = {
        "blocks": {"feed": {"component": "ats", "failures_per_year": sourced("5000", "1/year")}},
        "rows": {"count": 1, "up_when": "feed"},
    }
    with pytest.raises(NotComputedError, match=r"sites\.north\.topology: .* outages of one cluster over the term"):
        risk_of(deal(topology=often))


# --- bad months by a prescribed chance -------------------------------------------------------------------------


def test_prescribed_bad_months_strike_the_whole_order_at_once():
    risk = risk_of(deal(prescribed={"bad_month": {"probability": "0.05"}}))
    assert risk.streams == ("outage:bad_month",)
    bad = paths_of(risk, 20_000)["bad_month"]
    assert bad.shape == (20_000, 2, 24)
    assert bad.dtype == np.bool_
    assert np.array_equal(bad[:, 0], bad[:, 1])
    assert abs(bad[:, 0].mean() - 0.05) < 5 * math.sqrt(0.05 * 0.95 / (20_000 * 24))
    assert not risk.base()["bad_month"].any()
    assert risk.steps() == {}


def test_two_prescribed_laws_at_once_are_refused():
    with pytest.raises(DealError, match=r"assumptions\.prescribed: found both bad_month and outages"):
        risk_of(deal(prescribed={"bad_month": {"probability": "0.05"}, "outages": TYPED}))


def test_the_month_of_the_first_right_has_the_reference_law():
    # golden deal GD-02: 5% bad months, two in any six, cumulative by month
    known = {
        2: 0.0025,
        6: 0.032773828125,
        12: 0.086926167661472,
        24: 0.18509428225493,
        32: 0.24459982344434,
        36: 0.27270275613486,
    }
    paths, weights = enumerate_bad_months(0.05, 2, 6, 36)
    month = np.array([_first_right(path, 2, 6) for path in paths])
    assert weights.sum() == pytest.approx(1, abs=1e-15)
    for by, probability in known.items():
        assert weights[(month > 0) & (month <= by)].sum() == pytest.approx(probability, abs=1e-13)


def _first_right(path, k, m):
    for end in range(1, len(path) + 1):
        if path[end - 1] and path[max(0, end - m) : end].sum() >= k:
            return end
    return 0


@settings(deadline=None)
@given(probability=st.floats(0, 1), m=st.integers(1, 5), months=st.integers(1, 9), data=st.data())
def test_enumerated_months_agree_with_every_path_there_is(probability, m, months, data):
    k = data.draw(st.integers(1, m))
    paths, weights = enumerate_bad_months(probability, k, m, months)
    exact = np.zeros(months + 1)
    for code in range(1 << months):
        path = np.array([code >> i & 1 for i in range(months)], dtype=bool)
        bad = int(path.sum())
        exact[_first_right(path, k, m)] += probability**bad * (1 - probability) ** (months - bad)
    month = [_first_right(path, k, m) for path in paths]
    assert len(set(month)) == len(month)
    assert weights == pytest.approx([exact[i] for i in month], abs=1e-12)  # the sum here runs in floats
    assert weights.sum() == pytest.approx(1, abs=1e-15)


def test_months_before_a_right_can_arise_leave_only_never():
    paths, weights = enumerate_bad_months(0.3, 4, 6, 3)
    assert paths.tolist() == [[False, False, False]]
    assert weights.tolist() == [1.0]


def test_an_enumeration_that_outgrows_memory_is_refused_by_name():
    with pytest.raises(NotComputedError, match="the exact law of 30 bad months in 60"):
        enumerate_bad_months(0.5, 30, 60, 120)
