"""The law of the minutes down in one month, against closed forms and a plain simulation."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from risk.core.downtime import DowntimeLaw, Lengths, whole_minutes
from schemas.errors import NotComputedError

MONTH = 730 * 60


def law(up, lengths, *, window=MONTH, rule="nearest", minimum=0, by_start=False):
    mass, mean = whole_minutes(lengths, window, rule=rule, minimum=minimum)
    return DowntimeLaw(up, mass, mean, window, by_start=by_start)


def test_the_mean_of_the_law_is_the_long_run_share_of_the_month():
    lengths = Lengths((360.0, 2880.0), (0.7, 0.3), 20.0)
    up = 8760 * 60 / 3.0
    survival = law(up, lengths).survival(MONTH)
    assert survival.sum() == pytest.approx(MONTH * lengths.mean / (lengths.mean + up), rel=1e-5)


def test_a_month_without_downtime_needs_the_unit_up_at_its_start_and_all_through_it():
    lengths, up = Lengths((600.0,), (1.0,)), 50_000.0
    mass, mean = whole_minutes(lengths, MONTH)
    found = law(up, lengths)
    # the lattice drops outages of less than half a minute
    rate = (1 - mass[0]) / up
    share_up = 1 / (1 + rate * mean / (1 - mass[0]))
    rest_under_a_minute = (1 - share_up) * (1 - mass[0]) / mean
    assert 1 - found.survival(MONTH)[0] == pytest.approx(
        (share_up + rest_under_a_minute) * math.exp(-rate * MONTH), rel=1e-12
    )


def test_the_law_agrees_with_a_simulation_of_the_same_unit():
    rng = np.random.default_rng(20261130)
    draws, up = 200_000, 8760 * 60 / 3.0
    lengths = Lengths((360.0, 2880.0), (0.7, 0.3), 20.0)
    time, down, active = np.full(draws, -4.0 * MONTH), np.zeros(draws), np.arange(draws)
    while len(active):
        start = time[active] + rng.exponential(up, len(active))
        mean = np.where(rng.random(len(active)) < 0.7, 360.0, 2880.0)
        end = start + rng.exponential(mean) + 20.0
        down[active] += np.clip(np.minimum(end, MONTH) - np.maximum(start, 0), 0, None)
        time[active] = end
        active = active[end < MONTH]
    survival = law(up, lengths).survival(MONTH)
    for minutes in (0, 60, 240, 1440, 4000, 10_000):
        p = survival[minutes]
        assert abs((down > minutes).mean() - p) < 5 * math.sqrt(p * (1 - p) / draws)


def test_booking_by_the_month_of_start_is_compound_poisson():
    lengths, up = Lengths((100.0,), (1.0,)), 100_000.0
    found = law(up, lengths, rule="floor", by_start=True)
    mass, mean = whole_minutes(lengths, MONTH, rule="floor")
    starts = MONTH / (up / (1 - mass[0]) + mean / (1 - mass[0]))
    assert found.survival(MONTH)[0] == pytest.approx(1 - math.exp(-starts), rel=1e-12)
    assert found.survival(MONTH).sum() == pytest.approx(starts * mean / (1 - mass[0]), rel=1e-6)


def test_whole_minutes_are_those_of_an_exponential_length():
    lengths = Lengths((30.0,), (1.0,))
    step = math.exp(-1 / 30)
    floor, floor_mean = whole_minutes(lengths, 50, rule="floor")
    ceil, ceil_mean = whole_minutes(lengths, 50, rule="ceil")
    assert floor == pytest.approx([(1 - step) * step**j for j in range(51)])
    assert ceil == pytest.approx([0, *((1 - step) * step ** (j - 1) for j in range(1, 51))])
    assert floor_mean == pytest.approx(step / (1 - step))
    assert ceil_mean == pytest.approx(1 / (1 - step))


def test_outages_under_the_minimum_count_as_nothing():
    lengths = Lengths((30.0,), (1.0,))
    step = math.exp(-1 / 30)
    mass, mean = whole_minutes(lengths, 50, rule="floor", minimum=10)
    assert mass[0] == pytest.approx(1 - step**10)
    assert mass[1:10] == pytest.approx(np.zeros(9))
    assert mass[10] == pytest.approx(step**10 * (1 - step))
    assert mean == pytest.approx(step**10 * (10 + step / (1 - step)))
    assert whole_minutes(lengths, 5, rule="floor", minimum=10)[1] == pytest.approx(mean)


@settings(deadline=None)
@given(
    up=st.floats(1000, 1e8),
    first=st.floats(1, 5000),
    second=st.floats(1, 5000),
    share=st.floats(0, 1),
    fixed=st.floats(0, 300),
)
def test_more_downtime_is_never_more_likely_than_less(up, first, second, share, fixed):
    survival = law(up, Lengths((first, second), (share, 1 - share), fixed), window=2000).survival(2000)
    assert np.all(survival >= 0)
    assert np.all(survival <= 1)
    assert np.all(np.diff(survival) <= 1e-12)


def test_too_many_outages_are_refused_by_name():
    with pytest.raises(NotComputedError, match="outage law: 438 outages expected in one window"):
        law(100.0, Lengths((1e-9,), (1.0,), 1.0))
