"""Data files: every number has its unit, date, source and range, and a wrong name or file says what to do."""

from datetime import date

import pytest

from risk.core import data
from schemas.errors import DealError
from schemas.sources import Sourced

GENERATIONS = ("b200_hgx", "gb200_nvl72", "gb300_nvl72", "h100_hgx", "h200_hgx")


def numbers(entry):
    return {name: value for name, value in entry if isinstance(value, Sourced)}


def test_generations_are_found_by_looking():
    assert data.hardware_generations() == GENERATIONS


@pytest.mark.parametrize("name", data.component_types())
def test_every_component_has_a_range_and_a_reason(name):
    entry = data.component(name)
    found = numbers(entry)
    assert set(found) == {"failures_per_year", "repair_hours"}
    for number in found.values():
        assert number.value > 0
        assert number.source or number.rationale
        assert date(2000, 1, 1) <= number.as_of <= date(2026, 12, 31)
    rate = entry.failures_per_year
    assert rate.low < rate.value < rate.high


@pytest.mark.parametrize("name", GENERATIONS)
def test_every_generation_is_consistent(name):
    entry = data.hardware(name)
    found = {key: float(number) for key, number in numbers(entry).items()}
    gpus = found["gpus_per_node"] * found["nodes_per_rack"]
    assert found["kw_per_gpu"] * gpus == pytest.approx(found["rack_kw"], rel=0.03)
    assert found["reset_hours"] < found["swap_hours"] < found["repair_hours"]
    rate = entry.interrupts_per_gpu_year
    assert rate.low < rate.value < rate.high


def test_the_utility_feed_is_the_published_average():
    # US EIA, Electric Power Annual table 11.1, 2023: 1.333 interruptions of 256.6 minutes
    feed = data.component("utility_feed_distribution")
    assert float(feed.failures_per_year) == 1.333
    assert float(feed.repair_hours) == pytest.approx(256.6 / 60, abs=0.005)
    assert feed.failures_per_year.kind == "published"


def test_the_h100_rate_is_that_of_the_published_training_record():
    # 419 interruptions of 16,384 GPUs in 54 days
    rate = data.hardware("h100_hgx").interrupts_per_gpu_year
    assert float(rate) == pytest.approx(419 / (16384 * 54 / 365), abs=5e-4)
    assert float(data.hardware("h100_hgx").hardware_share) == pytest.approx(220 / 419, abs=5e-4)


def test_a_standby_set_is_as_unavailable_as_its_source_says():
    # NREL REopt: 0.5% out for maintenance and 0.94% failing to start
    entry = data.component("generator_standby")
    load = float(entry.failures_per_year) * float(entry.repair_hours) / 8760
    assert load / (1 + load) == pytest.approx(1 - 0.995 * (1 - 0.0094), rel=0.03)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(DealError, match=r"risk/data/hardware: found 'h9000'; expected one of b200_hgx, .*h200_hgx"):
        data.hardware("h9000")
    with pytest.raises(DealError, match=r"risk/data/components: found 'perpetuum_mobile'"):
        data.component("perpetuum_mobile")


def test_a_name_cannot_leave_the_folder():
    with pytest.raises(DealError, match="found"):
        data.read("hardware", "../components/ats")


def test_every_problem_of_a_broken_file_is_reported(monkeypatch):
    broken = {
        "title": "Broken",
        "failures_per_year": {"value": 1, "unit": "1/month", "as_of": "2026-11-30", "kind": "judgement"},
        "repair_hours": {"value": -1, "unit": "h", "as_of": "2026-11-30", "kind": "judgement", "rationale": "x"},
        "colour": "red",
    }
    monkeypatch.setattr(data, "read", lambda folder, name: broken)
    with pytest.raises(DealError, match=r"risk/data/components/a_broken_one\.yaml failures_per_year") as caught:
        data.component("a_broken_one")
    assert {problem.path for problem in caught.value.problems} == {"failures_per_year", "repair_hours", "colour"}
