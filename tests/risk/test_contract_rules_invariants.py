"""What must hold for every history: worse never earns less, caps hold, and a count of every minute agrees."""

import math
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from risk.contract_rules.statement import Line, Records, statement
from schemas.deal import Deal
from schemas.incidents import Incident, Notice, UnitService, Window
from schemas.money import rounded_to_minor_unit
from schemas.periods import Month

FEW = settings(deadline=None, max_examples=30)
ZONES = ("UTC", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe")
FIRST = Month(2026, 2)
MONTHS = [FIRST.plus(i) for i in range(3)]  # February to April: clocks change in two of the zones
TABLE = {
    "bands": [
        {"below": "0.999", "credit_fraction": "0.1"},
        {"below": "0.99", "credit_fraction": "0.25"},
        {"below": "0.95", "credit_fraction": "1"},
    ]
}


def deal(measurement: dict[str, Any] | None = None, **sections: Any) -> Deal:
    level = {"level": "node", "target": "0.999", "credit": TABLE}
    return Deal.model_validate(
        {
            "schema_version": 1,
            "measurement": measurement or {},
            "service_levels": {"nodes": level},
            "commercial": {"currency": "USD", "charges": {}, "term": {"months": 12}},
            **sections,
        }
    )


def node(name: str, fee: str = "12345.67", **more: Any) -> UnitService:
    return UnitService(unit_id=name, level="node", service="compute", monthly_fee=Decimal(fee), **more)


def down(name: str, start: datetime, end: datetime, **more: Any) -> Incident:
    return Incident(id=f"{name} {start} {end}", level="node", unit_id=name, started_at=start, ended_at=end, **more)


def facts(line: Line) -> tuple[object, ...]:
    return (
        line.period,
        line.unit,
        line.window_minutes,
        line.down_minutes,
        line.excluded_minutes,
        line.counted_minutes,
        line.availability,
        line.credit,
        line.payable,
    )


seconds = st.integers(0, 92 * 86_400)
lengths = st.one_of(st.integers(1, 900), st.integers(1, 90_000), st.integers(1, 40 * 86_400))
spells = st.lists(st.tuples(st.integers(0, 2), seconds, lengths), max_size=12)
counting = st.fixed_dictionaries(
    {
        "minimum_outage_minutes": st.sampled_from([0, 1, 5, 60]),
        "minimum_test": st.sampled_from(["at_least", "more_than"]),
        "merge_gap_minutes": st.sampled_from([0, 1, 5, 240]),
        "gap_counts": st.booleans(),
        "minute_rule": st.sampled_from(["floor_piece", "floor_outage", "ceil_outage"]),
        "straddle": st.sampled_from(["split", "start_month", "end_month"]),
        "month_length": st.sampled_from(["actual", "fixed_30"]),
        "zone": st.sampled_from(ZONES),
    }
)
shares = st.one_of(st.none(), st.decimals("0.01", 1, places=2))


monotone = st.fixed_dictionaries(
    {
        "minimum_outage_minutes": st.sampled_from([0, 1, 5, 60]),
        "merge_gap_minutes": st.sampled_from([0, 5, 240]),
        "gap_counts": st.booleans(),
        "minute_rule": st.sampled_from(["floor_piece", "exact_seconds"]),
    }
)


@FEW
@given(spells=spells, more=spells, measurement=monotone, cap=shares, year=shares)
def test_a_worse_history_never_earns_less(spells, more, measurement, cap, year):
    start = FIRST.start("UTC")
    units = [node(f"u{i}") for i in range(3)]
    credits = {"caps": {"month": cap, "year": year}}

    def incidents(rows: Any) -> list[Incident]:
        return [down(f"u{u}", start + timedelta(seconds=s), start + timedelta(seconds=s + n)) for u, s, n in rows]

    terms = deal(measurement, credits=credits)
    better = statement(terms, Records(incidents=incidents(spells), units=units), MONTHS)
    worse = statement(terms, Records(incidents=incidents([*spells, *more]), units=units), MONTHS)
    assert better.total <= worse.total
    for fine, bad in zip(better.lines, worse.lines, strict=True):
        assert fine.counted_minutes <= bad.counted_minutes
        assert fine.credit <= bad.credit


@FEW
@given(spells=spells, measurement=counting, cut=st.floats(0.01, 0.99))
def test_two_touching_halves_of_a_record_are_the_record(spells, measurement, cut):
    terms = deal(measurement)
    close = FIRST.start(terms.measurement.zone)
    units = [node(f"u{i}") for i in range(3)]
    whole, halves = [], []
    for u, s, n in spells:
        start, end = close + timedelta(seconds=s), close + timedelta(seconds=s + n)
        middle = start + timedelta(seconds=int(n * cut))
        whole.append(down(f"u{u}", start, end))
        halves += [down(f"u{u}", middle, end), down(f"u{u}", start, middle)]
    first = statement(terms, Records(incidents=whole, units=units), MONTHS)
    second = statement(terms, Records(incidents=halves, units=units), MONTHS)
    assert [facts(line) for line in first.lines] == [facts(line) for line in second.lines]


@FEW
@given(spells=spells, unit_cap=st.decimals("0.01", 1, places=2), month=shares, year=shares)
def test_credits_never_exceed_any_cap(spells, unit_cap, month, year):
    start = FIRST.start("UTC")
    incidents = [down(f"u{u}", start + timedelta(seconds=s), start + timedelta(seconds=s + n)) for u, s, n in spells]
    terms = deal(credits={"caps": {"unit": unit_cap, "month": month, "year": year}})
    result = statement(terms, Records(incidents=incidents, units=[node(f"u{i}") for i in range(3)]), MONTHS)
    fee = Fraction("12345.67")
    given_in_year = Decimal(0)
    for settlement in result.settlements:
        lines = [line for line in result.lines if line.period == settlement.period]
        for line in lines:
            assert line.credit.amount <= rounded_to_minor_unit(Fraction(unit_cap) * fee, "USD")
            assert line.credit.amount == line.payable.amount + sum(m.amount for m in line.lost.values())
        assert settlement.payable.amount == sum(line.payable.amount for line in lines)
        if month is not None:
            assert settlement.payable.amount <= rounded_to_minor_unit(Fraction(month) * fee * 3, "USD")
        given_in_year += settlement.payable.amount
        if year is not None:
            assert given_in_year <= rounded_to_minor_unit(Fraction(year) * fee * 36, "USD")
    assert result.total.amount == given_in_year


# the same answers minute by minute, from sets of minutes


@FEW
@given(
    spells=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 40_000), st.integers(1, 3000)), max_size=14),
    joins=st.lists(st.integers(0, 30_000), min_size=6, max_size=6),
    share=st.sampled_from(["0.5", "0.8", "0.95", "1"]),
)
def test_a_cluster_is_rolled_up_as_a_count_of_every_minute_says(spells, joins, share):
    month = Month(2026, 2)
    start = month.start("UTC")
    level = {"level": "cluster", "target": "0.999", "nodes_needed_share": share, "credit": TABLE}
    terms = deal({"minimum_outage_minutes": 0, "merge_gap_minutes": 0}, service_levels={"cluster": level})
    units = [node(f"u{i}", parent_id="c", in_service_from=start + timedelta(minutes=m)) for i, m in enumerate(joins)]
    cluster = UnitService(unit_id="c", level="cluster", service="compute", monthly_fee=6, in_service_from=start)
    incidents = [down(f"u{u}", start + timedelta(minutes=s), start + timedelta(minutes=s + n)) for u, s, n in spells]
    (line,) = statement(terms, Records(incidents=incidents, units=[cluster, *units]), [month]).lines

    is_down = np.zeros((6, 40_320), dtype=bool)
    serves = np.arange(40_320) >= np.array(joins)[:, None]
    for u, s, n in spells:
        is_down[u, s : s + n] = True
    up = (serves & ~is_down).sum(axis=0)
    needed = np.array([math.ceil(Fraction(share) * n) for n in range(7)])[serves.sum(axis=0)]
    assert line.counted_minutes == int((up < needed).sum())


@FEW
@given(
    outages=st.lists(st.tuples(st.integers(0, 80_000), st.integers(1, 3000)), min_size=1, max_size=6),
    windows=st.lists(
        st.tuples(
            st.sampled_from(["scheduled", "emergency", "customer_hold"]), st.integers(0, 80_000), st.integers(1, 3000)
        ),
        max_size=8,
    ),
    scheduled_hours=st.integers(0, 30),
    emergency_hours=st.integers(0, 30),
)
def test_exclusions_and_allowances_are_those_of_a_count_of_every_minute(
    outages, windows, scheduled_hours, emergency_hours
):
    months = [Month(2026, 2), Month(2026, 3)]
    start = months[0].start("UTC")

    def moment(minute: int) -> datetime:
        return start + timedelta(minutes=minute)

    exclusions = {
        "scheduled": {"notice_days": 0, "cap_unit_month_hours": scheduled_hours},
        "emergency": {"min_notice_hours": 0, "cap_quarter_hours": emergency_hours},
    }
    terms = deal({"minimum_outage_minutes": 0, "merge_gap_minutes": 0}, exclusions=exclusions)
    records = Records(
        incidents=[down("u", moment(s), moment(s + n)) for s, n in outages],
        windows=[
            Window(id=f"w{i}", kind=kind, starts_at=moment(s), ends_at=moment(s + n), notice_id="n")
            for i, (kind, s, n) in enumerate(windows)
        ],
        notices=[Notice(id="n", kind="maintenance", sent_at=datetime(2026, 1, 1, tzinfo=UTC))],
        units=[node("u", in_service_from=start)],
    )
    lines = statement(terms, records, months).lines

    edges = [0, 40_320, 40_320 + 44_640]
    is_down = np.zeros(edges[-1], dtype=bool)
    covers = {kind: np.zeros(edges[-1], dtype=bool) for kind in ("scheduled", "emergency", "customer_hold")}
    for s, n in outages:
        is_down[s : s + n] = True
    for kind, s, n in windows:
        covers[kind][s : s + n] = True
    emergency_left = emergency_hours * 60
    for line, low, high in zip(lines, edges, edges[1:], strict=False):
        month = slice(low, high)
        held = is_down[month] & covers["customer_hold"][month]
        planned = is_down[month] & ~held & covers["scheduled"][month]
        planned &= planned.cumsum() <= scheduled_hours * 60
        urgent = is_down[month] & ~held & ~planned & covers["emergency"][month]
        urgent &= urgent.cumsum() <= emergency_left
        emergency_left -= urgent.sum()
        excluded = (held | planned | urgent).sum()
        assert line.down_minutes == is_down[low:high].sum()
        assert line.excluded_minutes == excluded
        assert line.counted_minutes == is_down[low:high].sum() - excluded
