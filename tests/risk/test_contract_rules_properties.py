"""What must hold for every history and all terms: minutes add up, worse is never better, a log's form is nothing.

The last test holds the rules on arrays against the exact ones on ten thousand histories under a hundred sets of terms.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from risk.contract_rules import bands, flaps, minimum_outage, minutes
from risk.contract_rules.counting_rules import CountingRules
from risk.contract_rules.intervals import Spans, clipped, difference, exact_minutes, length, union
from risk.contract_rules.lines import Line, Statement
from risk.contract_rules.measurement_period import period_calendar
from risk.contract_rules.records import Records
from risk.contract_rules.statement import statement
from schemas.credit_shapes import CreditBands
from schemas.deal import Deal
from schemas.incidents import Incident, Notice, UnitService, Window
from schemas.periods import Month, Period

FEW = settings(deadline=None, max_examples=25)
ZONES = ("UTC", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe")
SERVICE_STARTS = datetime(2026, 2, 1, 6, tzinfo=UTC)
FIRST_RECORD = datetime(2026, 2, 1, tzinfo=UTC)
UNITS = ("u0", "u1", "u2")
TABLE = {
    "bands": [
        {"below": "0.999", "credit_fraction": "0.1"},
        {"below": "0.99", "credit_fraction": "0.25"},
        {"below": "0.95", "credit_fraction": "1"},
    ]
}


def deal(measurement: dict[str, Any] | None = None, level: dict[str, Any] | None = None, **sections: Any) -> Deal:
    nodes = {"level": "node", "target": "0.999", "credit": TABLE, **(level or {})}
    limbs = [
        {"form": "single_outage", "service_level": "nodes", "hours": 24},
        {"form": "cumulative_hours", "service_level": "nodes", "hours": 48, "window_days": 30},
    ]
    return Deal.model_validate(
        {
            "schema_version": 1,
            "measurement": measurement or {},
            "service_levels": {"nodes": nodes},
            "cancellation": {"chronic_failure": {"limbs": limbs}},
            "commercial": {"currency": "USD", "charges": {}, "term": {"months": 12}},
            **sections,
        }
    )


def node(name: str) -> UnitService:
    return UnitService(
        unit_id=name,
        level="node",
        service="compute",
        monthly_fee=Decimal("12345.67"),
        in_service_from=SERVICE_STARTS,
    )


NODES = tuple(node(name) for name in UNITS)


def stated(terms: Deal, incidents: list[Incident], windows: list[Window] | None = None) -> Statement:
    """Return the statement of all periods from February to April."""
    calendar = replace(period_calendar(terms, NODES), cuts=())
    first, last = calendar.of(SERVICE_STARTS), calendar.of(datetime(2026, 4, 30, 12, tzinfo=UTC))
    notices = [Notice(id="told", kind="work", sent_at=datetime(2026, 1, 1, tzinfo=UTC))]
    records = Records(incidents=incidents, windows=windows or [], notices=notices, units=NODES)
    return statement(terms, records, calendar.between(first, last))


Row = tuple[str, int, int, str]
"""Unit, start after the first record, length, state. [s]"""


def incident(row: Row, number: int = 0) -> Incident:
    name, start, lasts, state = row
    more = {"metric": "speed", "measured": Decimal("0.6")} if state == "degraded" else {}
    return Incident(
        id=f"{name} {start} {lasts} {state} {number}",
        level="node",
        unit_id=name,
        state=state,
        started_at=FIRST_RECORD + timedelta(seconds=start),
        ended_at=FIRST_RECORD + timedelta(seconds=start + lasts),
        cause="pump",
        **more,
    )


def window(row: tuple[int, int, str]) -> Window:
    start, lasts, kind = row
    begins = FIRST_RECORD + timedelta(seconds=start)
    return Window(
        id=f"{kind} {start} {lasts}",
        kind=kind,
        starts_at=begins,
        ends_at=begins + timedelta(seconds=lasts),
        notice_id="told" if kind == "scheduled" else None,
    )


def rows(step: int, *states: str) -> st.SearchStrategy[list[Row]]:
    """Return histories whose times are whole steps of so many seconds."""
    starts = st.integers(0, 89 * 86_400 // step).map(lambda n: n * step)
    lasts = st.one_of(st.integers(1, 900), st.integers(1, 90_000), st.integers(1, 40 * 86_400))
    return st.lists(
        st.tuples(st.sampled_from(UNITS), starts, lasts.map(lambda n: -(-n // step) * step), st.sampled_from(states)),
        max_size=10,
    )


spans_of_windows = st.lists(
    st.tuples(
        st.integers(0, 89 * 24).map(lambda n: n * 3600),
        st.integers(1, 48).map(lambda n: n * 3600),
        st.sampled_from(["scheduled", "customer_hold", "customer_act"]),
    ),
    max_size=4,
)
PERIODS = {
    "period": st.sampled_from(["calendar_month", "billing_month", "rolling_days", "quarter", "year"]),
    "billing_day": st.integers(1, 28),
    "rolling_days": st.sampled_from([7, 30, 45]),
    "first_partial": st.sampled_from(["own_period", "merge_next", "none"]),
    "min_window_days": st.sampled_from([0, 5, 28]),
    "zone": st.sampled_from(ZONES),
}
COUNTING = {
    "minimum_outage_minutes": st.sampled_from([0, 1, 5, 60]),
    "minimum_test": st.sampled_from(["at_least", "more_than"]),
    "merge_gap_minutes": st.sampled_from([0, 1, 5, 240]),
    "gap_counts": st.booleans(),
}
any_measurement = st.fixed_dictionaries(
    {
        **PERIODS,
        **COUNTING,
        "minute_rule": st.sampled_from(["floor_piece", "floor_outage", "ceil_outage", "exact_seconds"]),
        "straddle": st.sampled_from(["split", "start_month", "end_month"]),
        "month_length": st.sampled_from(["actual", "fixed_30"]),
    }
)
split_measurement = st.fixed_dictionaries(
    {**PERIODS, **COUNTING, "minute_rule": st.sampled_from(["floor_piece", "floor_outage", "exact_seconds"])}
)
monotone_measurement = st.fixed_dictionaries(
    {**PERIODS, **COUNTING, "minute_rule": st.sampled_from(["floor_piece", "exact_seconds"])}
)
SLOW = {"degraded": {"speed": {"minimum_minutes": 30}}}


def adds_up(line: Line) -> bool:
    in_full = line.counted_minutes - line.weighted_minutes
    parts = line.excluded_minutes + line.disregarded_minutes + in_full + line.degraded_minutes
    whole = line.up_minutes + parts + line.unknown_minutes + line.disputed_minutes
    return line.down_minutes == parts and line.window_minutes == whole


@FEW
@given(history=rows(1, "down", "planned", "unknown", "degraded"), out=spans_of_windows, measurement=any_measurement)
def test_the_minutes_of_every_line_add_up(history, out, measurement):
    result = stated(deal(measurement, SLOW), [incident(row) for row in history], [window(row) for row in out])
    for line in result.lines:
        assert adds_up(line), line


@FEW
@given(history=rows(1, "down", "planned", "unknown", "degraded"), out=spans_of_windows, measurement=split_measurement)
def test_no_minute_stands_in_two_places(history, out, measurement):
    terms = deal(measurement, SLOW)
    result = stated(terms, [incident(row) for row in history], [window(row) for row in out])
    for line in result.lines:
        parts = (line.excluded_minutes, line.disregarded_minutes, line.unknown_minutes, line.degraded_minutes)
        assert min(*parts, line.up_minutes) >= 0
        assert 0 <= line.weighted_minutes <= line.degraded_minutes
        assert line.counted_minutes >= line.weighted_minutes


@FEW
@given(history=rows(1, "down", "planned", "unknown"), measurement=st.fixed_dictionaries(PERIODS))
def test_up_minutes_are_the_time_in_service_that_no_record_touches(history, measurement):
    terms = deal({**measurement, "minute_rule": "exact_seconds", "minimum_outage_minutes": 0})
    result = stated(terms, [incident(row) for row in history])
    touched: dict[str, list[tuple[datetime, datetime]]] = {name: [] for name in UNITS}
    for row in history:
        one = incident(row)
        touched[row[0]].append((one.started_at, one.ended_at))
    for line in result.lines:
        assert line.span is not None
        served = (max(line.span[0], SERVICE_STARTS), line.span[1])
        free = difference((served,), union(touched[line.unit]))
        assert line.up_minutes == exact_minutes(length(free))
        assert line.window_minutes == exact_minutes(served[1] - served[0])


@FEW
@given(
    history=rows(60, "down", "degraded"),
    more=rows(60, "down"),
    out=spans_of_windows,
    measurement=monotone_measurement,
)
def test_more_downtime_never_raises_availability(history, more, out, measurement):
    terms, windows = deal(measurement, SLOW), [window(row) for row in out]
    better = stated(terms, [incident(row) for row in history], windows)
    worse = stated(terms, [incident(row) for row in (*history, *more)], windows)
    for fine, bad in zip(better.lines, worse.lines, strict=True):
        assert (fine.period, fine.unit) == (bad.period, bad.unit)
        assert bad.availability <= fine.availability
        assert fine.credit <= bad.credit


def told(result: Statement) -> tuple[object, ...]:
    """Return what a statement says, without the steps, which name records."""
    return (
        tuple(replace(line, steps=()) for line in result.lines),
        tuple(replace(one, steps=()) for one in result.settlements),
        tuple(replace(right, steps=()) for right in result.rights),
        result.total,
    )


@FEW
@given(
    history=rows(1, "down", "planned", "unknown", "degraded"),
    out=spans_of_windows,
    measurement=any_measurement,
    data=st.data(),
)
def test_the_form_of_a_log_changes_nothing(history, out, measurement, data):
    terms, windows = deal(measurement, SLOW), [window(row) for row in out]
    plain = [incident(row) for row in history]
    expected = told(stated(terms, plain, windows))

    twice = [*plain, *(incident(row, 1) for row in history if data.draw(st.booleans()))]
    assert told(stated(terms, twice, windows)) == expected

    assert told(stated(terms, data.draw(st.permutations(plain)), data.draw(st.permutations(windows)))) == expected

    zone = ZoneInfo(data.draw(st.sampled_from(ZONES)))
    moved = [
        one.revise({"started_at": one.started_at.astimezone(zone), "ended_at": one.ended_at.astimezone(zone)})
        for one in plain
    ]
    assert told(stated(terms, moved, windows)) == expected

    halves: list[Incident] = []
    for name, start, lasts, state in history:
        cut = data.draw(st.integers(0, lasts))
        halves += [incident((name, start, cut, state)), incident((name, start + cut, lasts - cut, state), 1)]
    assert told(stated(terms, halves, windows)) == expected


# ten thousand histories

SETS, HISTORIES, MONTHS = 100, 100, 3


def random_terms(rng: np.random.Generator) -> tuple[CountingRules, str, CreditBands]:
    """Return counting rules, a zone and a table, drawn at random."""
    rules = CountingRules(
        minimum_outage_minutes=int(rng.choice([0, 1, 2, 5, 15, 60])),
        minimum_test=str(rng.choice(["at_least", "more_than"])),  # type: ignore[arg-type]
        merge_gap_minutes=int(rng.choice([0, 1, 5, 30, 240])),
        gap_counts=bool(rng.integers(2)),
        minute_rule=str(rng.choice(["floor_piece", "floor_outage", "ceil_outage"])),  # type: ignore[arg-type]
        straddle=str(rng.choice(["split", "start_month", "end_month"])),  # type: ignore[arg-type]
        month_length=str(rng.choice(["actual", "fixed_30"])),  # type: ignore[arg-type]
    )
    edges = sorted({Decimal(int(n)) / 10_000 for n in rng.integers(9_000, 10_000, size=3)}, reverse=True)
    table = [{"below": below, "credit_fraction": Decimal(i + 1) / 10} for i, below in enumerate(edges)]
    return rules, str(rng.choice(ZONES)), CreditBands.model_validate({"bands": table})


def exactly(down: Spans, months: list[Period], zone: str, rules: CountingRules) -> list[int]:
    """Return the counted minutes of one history in each month by the exact rules."""
    outages = flaps.exact(down, rules).value
    kept = [outage for outage in outages if minimum_outage.exact(outage, rules).value]
    dropped = [outage for outage in outages if outage not in kept]
    return [int(minutes.exact(kept, dropped, (), (m.start(zone), m.end(zone)), rules).value.counted) for m in months]


def test_arrays_and_exact_rules_agree_on_ten_thousand_histories():
    rng = np.random.default_rng(20_261_201)
    compared = 0
    for _ in range(SETS):
        rules, zone, table = random_terms(rng)
        first = Month(2026, int(rng.choice([2, 9, 10])))
        months: list[Period] = [first.plus(i) for i in range(MONTHS)]
        close = months[0].start(zone)
        number = rng.integers(0, 7, size=HISTORIES)
        draw = np.repeat(np.arange(HISTORIES), number)
        start = rng.integers(-86_400, 93 * 86_400, size=len(draw))
        lasts = np.exp(rng.uniform(0, np.log(30 * 86_400), size=len(draw))).astype(np.int64)
        near = rng.random(len(draw)) < 0.3  # close to another one, so that flaps occur
        start[near] = np.roll(start + lasts, 1)[near] + rng.integers(0, 600, size=int(near.sum()))
        edges = np.array([int((m.start(zone) - close).total_seconds()) for m in (*months, first.plus(MONTHS))])
        unit = np.zeros(len(draw), dtype=np.int64)
        counted = minutes.arrays(draw, unit, start, start + lasts, HISTORIES, 1, edges, rules)[:, 0, :]
        window = np.diff(edges) // 60 if rules.month_length == "actual" else np.full(MONTHS, 43_200)
        share = bands.arrays(counted, window, table)
        for d in range(HISTORIES):
            mine = np.flatnonzero(draw == d)
            down = union(
                (close + timedelta(seconds=int(start[i])), close + timedelta(seconds=int(start[i] + lasts[i])))
                for i in mine
            )
            exact = exactly(down, months, zone, rules)
            assert counted[d].tolist() == exact, (rules, zone, down)
            for j, lost in enumerate(exact):
                availability = max(1 - Fraction(lost, int(window[j])), Fraction(0))
                assert share[d, j] == float(bands.exact(availability, table, "nodes").value)
            compared += 1
    assert compared == 10_000


def test_the_periods_of_a_calendar_follow_each_other_without_a_gap():
    for kind in ("calendar_month", "billing_month", "rolling_days", "quarter", "year"):
        terms = deal({"period": kind, "billing_day": 28, "rolling_days": 45, "zone": "America/New_York"})
        calendar = period_calendar(terms, NODES)
        first = calendar.of(SERVICE_STARTS)
        row = calendar.between(first, calendar.of(datetime(2029, 3, 1, tzinfo=UTC)))
        for before, after in pairwise(row):
            assert before.day_after() == after.first_day()
            assert before.end("America/New_York") == after.start("America/New_York")
            assert before < after
            assert calendar.plus(after, -1) == before
            assert calendar.containing(after.first_day()) == after
            assert calendar.parse(str(after)) == after


@pytest.mark.parametrize(("kind", "text"), [("quarter", "2026-10"), ("billing_month", "2026-10-14"), ("year", "x")])
def test_a_text_that_names_no_period_of_the_contract_is_refused(kind, text):
    with pytest.raises(ValueError, match=r".+"):
        period_calendar(deal({"period": kind, "billing_day": 15}), NODES).parse(text)


def test_what_lies_outside_a_period_does_not_count_in_it():
    spans = ((FIRST_RECORD, FIRST_RECORD + timedelta(hours=1)),)
    assert clipped(spans, FIRST_RECORD + timedelta(hours=1), FIRST_RECORD + timedelta(hours=2)) == ()
