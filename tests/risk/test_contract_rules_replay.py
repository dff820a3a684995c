"""Statements of random deals against a replay with sets of ticks and plain sums, and what it brought to light."""

import importlib.util
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from risk.contract_rules.statement import Line, Records, Statement, statement
from schemas.deal import Deal
from schemas.incidents import Incident, Notice, UnitService, Window
from schemas.periods import Month


def _beside(name: str) -> ModuleType:
    """Return a module that stands beside this one."""
    source = importlib.util.spec_from_file_location(name, Path(__file__).parent / f"{name}.py")
    assert source is not None
    assert source.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(source)
    source.loader.exec_module(module)
    return module


replay_of_minutes = _beside("replay_of_minutes")
replay_of_statements = _beside("replay_of_statements")
random_deals = _beside("random_deals")

SLOW = (0, 3, 10, 19, 49, 51, 52, 56, 66)  # outages of months in small ticks
SEEDS = (*(seed for seed in range(70) if seed not in SLOW), 95, 121, 124)
_STATED: dict[int, tuple[Any, Statement]] = {}


def stated(seed: int) -> tuple[Any, Statement]:
    """Return one case and its statement under the rules, worked out once."""
    if seed not in _STATED:
        case, periods = random_deals.Draw(seed).case()
        records = Records(case.incidents, case.windows, case.notices, case.units)
        _STATED[seed] = case, statement(case.deal, records, periods, case.as_of)
    return _STATED[seed]


def of_rules(line: Line) -> dict[str, object]:
    return {
        "window": line.window_minutes,
        "down": line.down_minutes,
        "excluded": line.excluded_minutes,
        "disregarded": line.disregarded_minutes,
        "counted": line.counted_minutes,
        "unknown": line.unknown_minutes,
        "disputed": line.disputed_minutes,
        "degraded": line.degraded_minutes,
        "availability": line.availability,
        "credit": line.credit.amount,
        "payable": line.payable.amount,
        "claim_by": line.claim_by,
        "days_added": line.days_added,
    }


def of_replay(line: Any) -> dict[str, object]:
    m = line.minutes
    return {
        "window": m.window,
        "down": m.down,
        "excluded": m.excluded,
        "disregarded": m.disregarded,
        "counted": m.counted,
        "unknown": m.unknown,
        "disputed": m.disputed,
        "degraded": m.degraded,
        "availability": m.availability,
        "credit": line.credit,
        "payable": line.payable,
        "claim_by": line.claim_by,
        "days_added": line.days_added,
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_a_statement_is_that_of_a_count_of_every_twenty_seconds(seed):
    case, found = stated(seed)
    expected = replay_of_statements.replay(case)
    assert {(one.period.first_day(), one.service_level, one.unit): of_rules(one) for one in found.lines} == {
        (one.period, one.level, one.unit): of_replay(one) for one in expected.lines
    }
    assert {
        (one.period.first_day(), one.service): tuple(
            money.amount for money in (one.credit, one.payable, one.brought_forward, one.carried_forward)
        )
        for one in found.settlements
    } == {
        key: (one.credit, one.payable, one.brought_forward, one.carried_forward)
        for key, one in expected.settlements.items()
    }
    assert found.total.amount == expected.total
    zone = case.deal.measurement.zone
    first, last = (replay_of_minutes.moment(day, zone) for day in (case.periods[0][0], case.periods[-1][1]))
    # rights of earlier periods that are still open are shown too, and the replay does not look at how long they are
    assert {
        (one.form, one.service_level, one.unit, one.arises)
        for one in found.rights
        if one.kind == "chronic_failure" and first <= one.arises <= last
    } == {(one.form, one.level, one.unit, one.arises) for one in expected.rights if first <= one.arises <= last}


def test_the_cases_reach_every_rule_that_they_are_about():
    seen: Counter[str] = Counter()
    for seed in SEEDS:
        case, found = stated(seed)
        terms = case.deal.measurement
        rules = {terms.period, terms.straddle, terms.minute_rule, terms.first_partial, terms.conflict}
        for line in found.lines:
            shape = case.deal.service_levels[line.service_level].credit.shape
            if line.credit.amount or line.days_added:
                seen.update({shape, case.deal.credits.base, case.deal.credits.between_levels})
            if line.counted_minutes:
                seen.update(rules)
            seen.update(iter(line.lost))
            names = ("excluded", "disregarded", "unknown", "degraded", "disputed")
            seen.update(name for name in names if getattr(line, f"{name}_minutes"))
        seen.update(right.form for right in found.rights)
        seen.update("brought_forward" for one in found.settlements if one.brought_forward.amount)
    shapes = {"bands", "linear", "steps", "duration_table", "multiple_of_price", "per_breach", "hour_waiver"}
    expected = shapes | {
        *("onset_plus_hourly", "term_extension", "unit_fee_accrued", "service_fee_accrued", "order_fee_accrued"),
        *("highest_level", "cumulative", "parent_absorbs_children", "choose_one"),
        *("calendar_month", "billing_month", "quarter", "rolling_days", "split", "start_month", "end_month"),
        *("floor_piece", "floor_outage", "ceil_outage", "exact_seconds", "own_period", "merge_next", "none"),
        *("excluded", "disregarded", "unknown", "degraded", "disputed"),
        *("other_level", "parent_level", "below_minimum", "late_claim", "month_cap", "year_cap", "term_cap"),
        *("carried_forward", "brought_forward", "single_outage", "cumulative_hours", "bad_months"),
    }
    assert expected - set(seen) == set()


# what the replay brought to light


NOVEMBER = Month(2026, 11)
BANDS = {"bands": [{"below": "0.999", "credit_fraction": "0.1"}]}


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def deal(levels: dict[str, Any], **sections: Any) -> Deal:
    return Deal.model_validate(
        {
            "schema_version": 1,
            "service_levels": levels,
            "commercial": {"currency": "USD", "charges": {}, "term": {"months": 12}},
            **sections,
        }
    )


def unit(name: str, level: str = "node", fee: str = "43200", **more: Any) -> UnitService:
    more = {"in_service_from": at("2026-11-01"), **more}
    return UnitService(unit_id=name, level=level, service="compute", monthly_fee=Decimal(fee), **more)


def incident(start: str, minutes: int, **more: Any) -> Incident:
    begins = at(start)
    more = {"ended_at": begins + timedelta(minutes=minutes), **more}
    return Incident(id=start, level="node", unit_id="n1", started_at=begins, **more)


@pytest.mark.parametrize(("as_of", "minutes"), [(None, 15 * 1440), ("2026-11-20", 4 * 1440)])
def test_a_rack_with_too_few_nodes_left_in_service_is_down_up_to_the_statement(as_of, minutes):
    rack = {"level": "rack", "target": "0.999", "k": 2, "n": 2, "credit": BANDS}
    limb = {"form": "cumulative_hours", "service_level": "racks", "hours": 24, "window_days": 7}
    terms = deal({"racks": rack}, cancellation={"chronic_failure": {"limbs": [limb]}})
    gone = unit("n2", parent_id="r", in_service_to=at("2026-11-16"))
    records = Records(units=[unit("r", "rack"), unit("n1", parent_id="r"), gone])
    found = statement(terms, records, [NOVEMBER], at(as_of) if as_of else None)
    (line,) = found.lines
    assert (line.down_minutes, line.counted_minutes) == (minutes, minutes)
    assert [right.arises for right in found.rights] == [at("2026-11-17")]


def test_an_outage_that_ends_with_the_statement_belongs_to_the_month_of_the_statement():
    rack = {"level": "rack", "target": "0.999", "k": 1, "n": 1, "credit": BANDS}
    terms = deal({"racks": rack}, measurement={"straddle": "end_month"})
    records = Records(units=[unit("r", "rack"), unit("n1", parent_id="r", in_service_to=at("2026-11-29"))])
    (line,) = statement(terms, records, [NOVEMBER]).lines
    assert line.counted_minutes == 2880


def test_the_fee_stops_while_force_majeure_keeps_a_unit_down_and_not_while_it_makes_it_slow():
    level = {"level": "node", "target": "0.999", "degraded": {"clock": {"weight": "full"}}, "credit": BANDS}
    storm = Window(
        id="w",
        kind="force_majeure",
        starts_at=at("2026-11-10"),
        ends_at=at("2026-11-11"),
        notice_id="m",
        event="natural_disaster_beyond_design_basis",
    )
    notice = Notice(id="m", kind="force_majeure", sent_at=at("2026-11-10"))
    slow = {"state": "degraded", "metric": "clock", "measured": Decimal("0.5")}
    bases = []
    for more in ({}, slow):
        records = Records([incident("2026-11-10", 1440, **more)], [storm], [notice], [unit("n1")])
        (line,) = statement(deal({"nodes": level}), records, [NOVEMBER]).lines
        assert (line.excluded_minutes, line.counted_minutes) == (1440, 0)
        bases.append(line.base)
    assert bases == [43_200 - 1440, 43_200]


def test_no_time_to_recover_comes_after_a_window_of_no_length():
    moment, grace = at("2026-11-10T01:00"), {"recovery_grace_hours": "2"}
    nothing = Window(id="w", kind="customer_hold", starts_at=moment, ends_at=moment)
    levels = {"nodes": {"level": "node", "target": "0.999", "credit": BANDS}}
    terms = deal(levels, exclusions=grace)
    records = Records([incident("2026-11-10", 240)], [nothing], (), [unit("n1")])
    (line,) = statement(terms, records, [NOVEMBER]).lines
    assert (line.excluded_minutes, line.counted_minutes) == (0, 240)
