"""One history and many histories agree; and what must hold for every history."""

import math
import pkgutil
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import risk.contract_rules
from risk.contract_rules import (
    bands,
    caps,
    chronic_failure,
    delay_damages,
    long_stop,
    minutes,
    prepayment,
    stacking,
)
from risk.contract_rules.counting_rules import counting_rules
from risk.contract_rules.effective_term import in_months
from risk.contract_rules.statement import Line, Records, statement
from schemas.cancellation import BadMonths
from schemas.commercial import Prepayment
from schemas.credits import CreditCaps
from schemas.deal import Deal
from schemas.delivery import DelayDamages, LongStop
from schemas.errors import NotComputedError
from schemas.incidents import Incident, Notice, UnitService, Window
from schemas.money import Money, rounded_to_minor_unit
from schemas.periods import Month
from schemas.service_levels import CreditBands, Measurement

CALM = settings(deadline=None)
FEW = settings(deadline=None, max_examples=30)
ZONES = ("UTC", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe")
FIRST = Month(2026, 2)
MONTHS = [FIRST.plus(i) for i in range(3)]  # February to April: clocks change in two of the zones
TABLE = CreditBands.model_validate(
    {
        "bands": [
            {"below": "0.999", "credit_fraction": "0.1"},
            {"below": "0.99", "credit_fraction": "0.25"},
            {"below": "0.95", "credit_fraction": "1"},
        ]
    }
)


def usd(amount: object) -> Money:
    return Money(Decimal(str(amount)).quantize(Decimal("0.01")), "USD")


def deal(measurement: dict[str, Any] | None = None, **sections: Any) -> Deal:
    level = {"level": "node", "target": "0.999", "credit": TABLE.model_dump()}
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


def test_every_rule_on_arrays_has_its_exact_twin_and_a_test_that_pairs_them():
    found = set()
    for module in pkgutil.iter_modules(risk.contract_rules.__path__):
        rule = import_module(f"risk.contract_rules.{module.name}")
        if hasattr(rule, "arrays"):
            found.add(module.name)
            assert callable(rule.exact)
            assert rule.PARAGRAPH in risk.contract_rules.paragraphs()
            assert f"test_{module.name}_agree_on_one_and_many_histories" in globals(), module.name
    assert "minutes" in found


@CALM
@given(spells=spells, measurement=counting)
def test_minutes_agree_on_one_and_many_histories(spells, measurement):
    terms = deal(measurement)
    zone = terms.measurement.zone
    close = FIRST.start(zone)
    units = [f"u{i}" for i in range(3)]
    incidents = [down(units[u], close + timedelta(seconds=s), close + timedelta(seconds=s + n)) for u, s, n in spells]
    lines = statement(terms, Records(incidents=incidents, units=[node(u) for u in units]), MONTHS).lines
    exact = {(line.unit, line.period): line for line in lines}

    edges = np.array([int((m.start(zone) - close).total_seconds()) for m in [*MONTHS, MONTHS[-1].plus(1)]])
    unit, start, length = (np.array([row[i] for row in spells], dtype=np.int64) for i in range(3))
    draws = 2  # the same history stands in draw 1; draw 0 stays empty
    counted = minutes.arrays(
        np.ones(len(spells), dtype=np.int64),
        unit,
        start,
        start + length,
        draws,
        3,
        edges,
        counting_rules(terms.measurement, None),
    )
    window = np.diff(edges) // 60 if terms.measurement.month_length == "actual" else np.full(3, 43_200)
    credit = bands.arrays(counted, window, TABLE) * 12345.67
    assert counted.dtype == np.int64
    assert not counted[0].any()
    for i, name in enumerate(units):
        for j, month in enumerate(MONTHS):
            line = exact[name, month]
            assert counted[1, i, j] == line.counted_minutes
            assert window[j] == line.window_minutes
            assert round(credit[1, i, j], 2) == float(line.credit.amount)


def test_minutes_do_not_depend_on_the_order_of_the_table():
    rules = counting_rules(Measurement(), None)
    rng = np.random.default_rng(7)
    draw, unit = rng.integers(0, 5, 300), rng.integers(0, 4, 300)
    start = rng.integers(0, 3_000_000, 300)
    end = start + rng.integers(1, 20_000, 300)
    edges = np.array([0, 1_000_000, 2_000_000, 3_000_000])
    order = rng.permutation(300)
    first = minutes.arrays(draw, unit, start, end, 5, 4, edges, rules)
    again = minutes.arrays(draw[order], unit[order], start[order], end[order], 5, 4, edges, rules)
    np.testing.assert_array_equal(first, again)
    assert first.sum() > 0


def test_seconds_are_refused_in_the_simulation():
    rules = counting_rules(Measurement(minute_rule="exact_seconds"), None)
    none = np.zeros(0, dtype=np.int64)
    with pytest.raises(NotComputedError, match=r"measurement\.minute_rule"):
        minutes.arrays(none, none, none, none, 1, 1, np.array([0, 60]), rules)


@CALM
@given(
    window=st.integers(0, 60_000),
    counted=st.integers(0, 70_000),
    below=st.one_of(
        st.sampled_from([Decimal(0), Decimal(1), Decimal("0.99"), Decimal("0.9999")]),
        st.decimals(0, 1, places=24, allow_nan=False),
    ),
)
def test_bands_agree_on_one_and_many_histories(window, counted, below):
    exact = window > 0 and max(1 - Fraction(counted, window), 0) < Fraction(below)
    assert bool(bands.is_below(np.array([counted]), np.array([window]), below)[0]) == exact
    if window:
        least = bands.threshold_minutes(window, below)
        assert 1 - Fraction(least, window) < Fraction(below)
        assert least == 0 or not 1 - Fraction(least - 1, window) < Fraction(below)
        share = bands.exact(max(1 - Fraction(counted, window), Fraction(0)), TABLE, "nodes").value
        assert bands.arrays(np.array([counted]), window, TABLE)[0] == float(share)


@CALM
@given(bad=st.lists(st.booleans(), min_size=6, max_size=6), k=st.integers(1, 6))
def test_chronic_failure_agree_on_one_and_many_histories(bad, k):
    limb = BadMonths(service_level="x", below=Decimal("0.98"), k=k, m=6)
    history = [(FIRST.plus(i), Fraction(97, 100) if b else Fraction(1)) for i, b in enumerate(bad)]
    exact = chronic_failure.exact(history, limb, "cancellation.chronic_failure.limbs[0]").value
    window = np.array(bad)[None, None, :]
    assert bool(chronic_failure.arrays(window, k)[0, 0]) == bool(exact)
    assert exact == () or len(exact) == sum(bad)


@CALM
@given(
    amounts=st.lists(st.integers(0, 10**9), min_size=1, max_size=4), rule=st.sampled_from(list(stacking.Rule.__args__))
)
def test_stacking_agree_on_one_and_many_histories(amounts, rule):
    sums = {f"level-{i}": usd(Decimal(cents) / 100) for i, cents in enumerate(amounts)}
    chosen = stacking.exact(sums, rule).value
    arrays = {name: np.full((1, 1), float(money.amount)) for name, money in sums.items()}
    total, position = stacking.arrays(arrays, rule)
    assert total[0, 0] == pytest.approx(float(sum(sums[name].amount for name in chosen)), abs=0.001)
    if position[0, 0] != stacking.ALL_LEVELS:
        assert chosen == {list(sums)[position[0, 0]]}
    else:
        assert chosen == set(sums)


shares = st.one_of(st.none(), st.decimals("0.01", 1, places=2))


@CALM
@given(
    cents=st.lists(st.integers(0, 10**8), min_size=1, max_size=30),
    month=shares,
    year=shares,
    before=st.integers(0, 10**9),
    fee=st.integers(0, 10**8),
)
def test_caps_agree_on_one_and_many_histories(cents, month, year, before, fee):
    lines = [usd(Decimal(c) / 100) for c in cents]
    terms = CreditCaps(month=month, year=year)
    month_base, year_base, given_before = Fraction(fee), Fraction(fee) * 12, usd(Decimal(before) / 100)
    of_month = caps.exact(
        lines, Fraction(month) * month_base if month is not None else None, usd(0), "half_up", share=month
    ).value
    of_year = caps.exact(
        of_month,
        Fraction(year) * year_base if year is not None else None,
        given_before,
        "half_up",
        year=True,
        share=year,
    ).value
    paid = sum(line.amount for line in of_year)
    many = caps.arrays(
        np.array([[float(sum(line.amount for line in lines))]]),
        np.array([[float(month_base)]]),
        np.array([[float(year_base)]]),
        np.array([[float(given_before.amount)]]),
        terms,
    )
    assert float(paid) == pytest.approx(many[0, 0], abs=0.0051, rel=1e-12)
    for line, left in zip(lines, of_year, strict=True):
        assert 0 <= left.amount <= line.amount
    if month is not None:
        assert paid <= rounded_to_minor_unit(Fraction(month) * month_base, "USD")
    if year is not None:
        room = rounded_to_minor_unit(Fraction(year) * year_base, "USD") - given_before.amount
        assert paid <= max(room, 0)


@CALM
@given(
    grace=st.integers(0, 2),
    kind=st.sampled_from(["deductible", "franchise"]),
    first=st.integers(1, 3),
    cap=st.integers(1, 6),
    late=st.integers(0, 300),
)
def test_delay_damages_agree_on_one_and_many_histories(grace, kind, first, cap, late):
    terms = DelayDamages.model_validate(
        {
            "grace": {"months": grace},
            "grace_kind": kind,
            "steps": [{"until": {"months": first}, "fee_fraction": "0.5"}, {"fee_fraction": "1.25"}],
            "cap": {"months": cap},
        }
    )
    planned = date(2026, 1, 1)
    ready = planned + timedelta(days=late)
    exact = delay_damages.exact(planned, ready, usd(310_000), terms, "delivery.tranches.a.delay_damages").value
    days = (Month(ready.year, ready.month).plus(1).first_day() - Month(ready.year, ready.month).first_day()).days
    position = (ready.year - 2026) * 12 + ready.month - 1 + (ready.day - 1) / days
    fees = sum(
        delay_damages.arrays(
            np.array([[position]]), np.zeros(1), m, terms, lambda duration: float(in_months(duration))
        )[0, 0]
        for m in range(1, 16)
    )
    assert fees * 310_000 == pytest.approx(float(exact.amount), abs=0.006)


@CALM
@given(after=st.integers(0, 6), exercise=st.integers(0, 3), ready=st.integers(1, 14))
def test_long_stop_agree_on_one_and_many_histories(after, exercise, ready):
    terms = LongStop.model_validate({"after": {"months": after}, "exercise": {"months": exercise}})
    path = "delivery.tranches.a.long_stop"
    day = Month(2026, 1).plus(ready).first_day()
    exact = long_stop.exact(date(2026, 3, 1), day, terms, "UTC", path, is_first_tranche=True).value
    is_open = [
        bool(
            long_stop.arrays(
                np.array([[float(ready)]]), np.array([2.0]), m, terms, lambda duration: float(in_months(duration))
            )[0, 0]
        )
        for m in range(1, 16)
    ]
    assert any(is_open) == (exact is not None)
    if exact is not None:
        assert is_open.index(True) + 1 == 2 + after
        assert sum(is_open) == min(exercise + 1, ready - 2 - after)


@CALM
@given(amount=st.integers(1, 10**12), months=st.integers(1, 60), start=st.integers(1, 60))
def test_prepayment_agree_on_one_and_many_histories(amount, months, start):
    start = min(start, months)
    terms = Prepayment.model_validate({"fraction": "0.2", "credited_from_month": start})
    paid = usd(Decimal(amount) / 100)
    balances = [paid, *prepayment.exact(paid, months, terms).value]
    shares = prepayment.arrays(months, terms)
    assert shares.sum() == pytest.approx(1.0)
    assert balances[-1].amount == 0
    for share, before, after in zip(shares, balances, balances[1:], strict=False):
        assert float((before - after).amount) == pytest.approx(share * float(paid.amount), abs=0.0101, rel=1e-9)


# what must hold for every history


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
    level = {"level": "cluster", "target": "0.999", "nodes_needed_share": share, "credit": TABLE.model_dump()}
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
