"""One history and many histories agree, rule by rule."""

import pkgutil
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import risk.contract_rules
from risk.contract_rules import (
    bands,
    caps,
    chronic_failure,
    credit_shape,
    delay_damages,
    long_stop,
    measured_from,
    minutes,
    monthly_price,
    prepayment,
    stacking,
    take_or_pay,
)
from risk.contract_rules.counting_rules import counting_rules
from risk.contract_rules.effective_term import in_months
from risk.contract_rules.records import UnitTree
from risk.contract_rules.statement import Records, statement
from risk.core.setting import setting
from schemas.cancellation import BadMonths
from schemas.commercial import Charge, Prepayment
from schemas.credit_shapes import CreditBands
from schemas.credits import CreditCaps
from schemas.deal import Deal
from schemas.delivery import DelayDamages, LongStop
from schemas.errors import NotComputedError
from schemas.incidents import Incident, UnitService
from schemas.money import Money, rounded_to_minor_unit
from schemas.periods import Month
from schemas.service_levels import Measurement, ServiceLevel

CALM = settings(deadline=None)
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


tenths = st.integers(0, 50).map(lambda n: Decimal(n) / 10)
shares = st.integers(0, 1000).map(lambda n: Decimal(n) / 1000)
counted_words = st.sampled_from(["started", "completed"])


def shape_agrees(spells, measurement, credit: dict[str, Any]) -> None:
    """Assert that a shape pays the same on one history as on many, three months of it."""
    terms = deal(measurement, service_levels={"nodes": {"level": "node", "target": "0.999", "credit": credit}})
    zone = terms.measurement.zone
    close = FIRST.start(zone)
    incidents = [down("u", close + timedelta(seconds=s), close + timedelta(seconds=s + n)) for _, s, n in spells]
    lines = statement(terms, Records(incidents=incidents, units=[node("u")]), MONTHS).lines
    assert len(lines) == len(MONTHS)
    counted = np.array([line.counted_minutes for line in lines], dtype=np.int64)
    window = np.array([line.window_minutes for line in lines], dtype=np.int64)
    fee = np.full(len(lines), 12345.67)
    price = fee / np.array([month.minutes(zone) / 60 for month in MONTHS])
    level = terms.service_levels["nodes"]
    for ticks in (1, 60):  # minutes, or seconds
        many = credit_shape.simulated(counted * ticks, window * ticks, level, "nodes", fee, price, minute=ticks)
        many = np.minimum(many, fee)  # the cap of the unit
        for line, one in zip(lines, many, strict=True):
            assert abs(one - float(line.credit.amount)) <= 0.005 + 1e-6  # the line is rounded to the cent


@CALM
@given(spells=spells, measurement=counting, slope=tenths, cap=shares)
def test_linear_agree_on_one_and_many_histories(spells, measurement, slope, cap):
    shape_agrees(spells, measurement, {"shape": "linear", "slope": slope, "cap": cap})


@CALM
@given(
    spells=spells,
    measurement=counting,
    step=st.sampled_from(["0.01", "0.001", "0.0333", "0.000000000000000001"]),
    share=shares,
    counted=counted_words,
    cap=shares,
)
def test_steps_agree_on_one_and_many_histories(spells, measurement, step, share, counted, cap):
    credit = {"shape": "steps", "step": step, "credit_fraction": share, "counted": counted, "cap": cap}
    shape_agrees(spells, measurement, credit)


@CALM
@given(
    spells=spells,
    measurement=counting,
    starts=st.sets(st.integers(2, 50_000), min_size=2, max_size=2),
    hours=st.tuples(tenths, tenths, tenths),
    cap=st.one_of(st.none(), tenths),
)
def test_duration_table_agree_on_one_and_many_histories(spells, measurement, starts, hours, cap):
    rows = [{"from_minutes": m, "credit_hours": h} for m, h in zip([1, *sorted(starts)], hours, strict=True)]
    shape_agrees(spells, measurement, {"shape": "duration_table", "per": "period", "rows": rows, "cap_hours": cap})


@CALM
@given(spells=spells, measurement=counting, multiple=tenths, least=tenths)
def test_multiple_of_price_agree_on_one_and_many_histories(spells, measurement, multiple, least):
    shape_agrees(spells, measurement, {"shape": "multiple_of_price", "multiple": multiple, "least": least})


@CALM
@given(
    spells=spells,
    measurement=counting,
    onset=shares,
    hourly=shares,
    minutes=st.sampled_from([1, 15, 60, 720]),
    free=st.integers(0, 200),
    counted=counted_words,
    cap=shares,
)
def test_onset_plus_hourly_agree_on_one_and_many_histories(
    spells, measurement, onset, hourly, minutes, free, counted, cap
):
    credit = {
        "shape": "onset_plus_hourly",
        "onset": onset,
        "hourly": hourly,
        "hour_minutes": minutes,
        "free_minutes": free,
        "counted": counted,
        "per": "period",
        "cap": cap,
    }
    shape_agrees(spells, measurement, credit)


@pytest.mark.parametrize(
    ("changes", "pieces", "expected"),
    [
        # the gap is exactly five minutes: two outages, each shorter than five
        ({"minimum_outage_minutes": 5}, [(0, 180), (480, 660)], [0, 0]),
        ({"minimum_outage_minutes": 5}, [(0, 180), (479, 660)], [6, 0]),
        ({"minimum_outage_minutes": 3}, [(0, 180)], [3, 0]),
        ({"minimum_outage_minutes": 3, "minimum_test": "more_than"}, [(0, 180)], [0, 0]),
        # an outage that ends with the first month, and one that starts with the second
        ({"straddle": "end_month"}, [(600, 6000)], [90, 0]),
        ({"straddle": "start_month"}, [(6000, 6600)], [0, 10]),
        ({"straddle": "end_month"}, [(5940, 6060)], [0, 2]),
        ({}, [(5940, 6060)], [1, 1]),
        ({}, [(0, 90), (90, 180)], [3, 0]),
        # outages before the first month, and into it
        ({}, [(-600, -60), (-30, 120)], [2, 0]),
        ({}, [(-600, 12_600)], [100, 100]),
    ],
)
def test_minutes_on_arrays_at_every_edge(changes, pieces, expected):
    rules = counting_rules(Measurement.model_validate(changes), None)
    zero = np.zeros(len(pieces), dtype=np.int64)
    start, end = (np.array([piece[i] for piece in pieces], dtype=np.int64) for i in range(2))
    counted = minutes.arrays(zero, zero, start, end, 1, 1, np.array([0, 6000, 12_000]), rules)
    assert counted[0, 0].tolist() == expected


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
@given(amounts=st.lists(st.integers(0, 10**9), min_size=1, max_size=4), rule=st.sampled_from(get_args(stacking.Rule)))
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
    month_cap, year_cap = (
        caps.amount_of(share, base, "USD", "half_up") for share, base in ((month, month_base), (year, year_base))
    )
    of_month = caps.exact(lines, month_cap, usd(0), share=month).value
    of_year = caps.exact(of_month, year_cap, given_before, of="year", share=year).value
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
@given(after=st.integers(1, 6), exercise=st.integers(0, 3), ready=st.integers(1, 14))
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


@CALM
@given(
    starts=st.lists(st.integers(0, 5), min_size=1, max_size=4),
    ends=st.lists(st.integers(0, 6), min_size=4, max_size=4),
    month=st.integers(0, 4),
)
def test_measured_from_agree_on_one_and_many_histories(starts, ends, month):
    months = [FIRST.plus(i) for i in range(8)]
    moments = [m.start("UTC") for m in months]
    pairs = [(start, max(start + 1, end)) for start, end in zip(starts, ends, strict=False)]
    units = UnitTree(
        [
            node(f"n{i}", in_service_from=moments[start], in_service_to=moments[end])
            for i, (start, end) in enumerate(pairs)
        ],
        moments[0],
    ).units.values()
    level = ServiceLevel.model_validate(
        {"level": "node", "target": "0.999", "credit": TABLE.model_dump(), "measured_from": "all_ready"}
    )
    found = measured_from.exact(units, (moments[month], moments[month + 1]), level, "nodes")
    ready = np.array([[start for start, _ in pairs]], dtype=float)
    bound = np.array([[end > month for _, end in pairs]])
    assert measured_from.arrays(ready, bound, month + 1).tolist() == [found.value]
    assert not found.value or all(start <= month or end <= month for start, end in pairs)


shares_used = st.decimals("0", "1", places=4)


@CALM
@given(price=st.integers(0, 10**10), used=shares_used, least=st.none() | shares_used)
def test_take_or_pay_agree_on_one_and_many_histories(price, used, least):
    charge = Charge.model_validate({"price": {"per": "lump_month", "amount": price}, "take_or_pay": least})
    fee = take_or_pay.exact(Fraction(price), Fraction(used), charge, "USD", "commercial.charges.compute").value
    (share,) = take_or_pay.arrays(np.array([float(used)]), charge)
    assert float(fee.amount) == pytest.approx(share * price, abs=0.0051, rel=1e-9)
    assert fee.amount <= price
    assert share >= float(1 if least is None else least)


@CALM
@given(
    per=st.sampled_from(["lump_month", "gpu_hour", "node_month", "kw_month"]),
    amount=st.decimals("0.01", "9999", places=2),
    used=shares_used,
    least=st.none() | shares_used,
)
def test_the_fees_of_the_simulation_are_those_of_the_rules(per, amount, used, least):
    charge = Charge.model_validate({"price": {"per": per, "amount": amount}, "take_or_pay": least})
    usage = {"value": used, "unit": "1", "as_of": "2026-11-30", "kind": "judgement", "rationale": "drawn"}
    terms = deal(
        clusters={"c": {"units": {"gpu": 80, "node": 10, "kw": "123.5"}}},
        services={"compute": {"tranches": ["t"]}},
        delivery={"tranches": {"t": {"cluster": "c", "ready_for_service_date": "2026-02-01"}}},
        commercial={
            "currency": "USD",
            "charges": {"compute": charge.model_dump()},
            "term": {"months": 12},
            "prepayment": {"fraction": "0.2", "credited_from_month": 1},
        },
        finance={"close": "2026-02-01", "currency": "USD", "horizon_months": 1},
        assumptions={"usage": usage},
    )
    plan = setting(terms)
    count = {None: None, "gpu": 80, "node": 10, "kw": Decimal("123.5")}[charge.price.counted]
    price = monthly_price.exact(charge.price, count, 28 * 24, "commercial.charges.compute.price").value
    fee = take_or_pay.exact(price, Fraction(used), charge, "USD", "commercial.charges.compute").value
    assert plan.fees[0, 0] == pytest.approx(float(fee.amount), abs=0.0051, rel=1e-9)
    # paid ahead is a fifth of what is due for twelve months whatever is used
    sure = Fraction(1 if least is None else least) * price * 12 / 5
    assert plan.prepaid[0] == pytest.approx(float(sure), rel=1e-9)
