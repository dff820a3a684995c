"""Readings of many units: what they say, what they do not, and that two ways of counting them agree."""

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from risk.contract_rules.statement import Records, statement
from schemas.deal import Deal
from schemas.errors import DealError, MissingTermError, NotComputedError
from schemas.incidents import Incident, UnitService
from schemas.periods import Month
from slakit.load import load_deal
from slakit.statements.importers.find import form_of
from slakit.statements.importers.form import Options
from slakit.statements.importers.log import Log
from slakit.statements.telemetry import rows, runs, source, states, times
from slakit.statements.telemetry.node_statements import node_statements
from slakit.statements.telemetry.spells import Telemetry, telemetry
from slakit.statements.units import contracted_units

START = datetime(2026, 3, 1, tzinfo=UTC)
INTERVAL = 60
HEADER = "time,unit_id,state\n"
BANDS = [
    {"below": "0.999", "credit_fraction": "0.05"},
    {"below": "0.99", "credit_fraction": "0.1"},
    {"below": "0.9", "credit_fraction": "0.333"},
]


def stamp(minute: float) -> str:
    return (START + timedelta(minutes=minute)).isoformat().replace("+00:00", "Z")


def readings(*said: tuple[float, str, str]) -> bytes:
    return (HEADER + "".join(f"{stamp(minute)},{unit},{state}\n" for minute, unit, state in said)).encode()


def read(data: bytes, zone: str | None = None, interval: int = INTERVAL) -> Telemetry:
    return telemetry("readings.csv", data, interval, zone)


def told(found: Telemetry) -> list[tuple[str, str, float, float]]:
    """Return the spells of a file with their times in minutes from the start."""

    def minute(microsecond: int) -> float:
        return (times.at(microsecond) - START).total_seconds() / 60

    spells = found.spells
    wide = zip(spells.unit.tolist(), spells.state.tolist(), spells.start.tolist(), spells.end.tolist(), strict=True)
    return sorted((found.units[unit], states.NAMES[state], minute(a), minute(b)) for unit, state, a, b in wide)


def deal(measurement: dict[str, Any] | None = None, level: dict[str, Any] | None = None, **sections: Any) -> Deal:
    levels = {"nodes": {"level": "node", "target": "0.999", "credit": {"bands": BANDS}, **(level or {})}}
    return Deal.model_validate(
        {
            "schema_version": 1,
            "measurement": {"monitor_interval_seconds": INTERVAL, **(measurement or {})},
            "service_levels": levels,
            "commercial": {"currency": "USD", "charges": {}, "term": {"months": 12}},
            **sections,
        }
    )


def node(name: str, fee: str = "12345.67", **more: Any) -> UnitService:
    return UnitService(unit_id=name, level="node", service="compute", monthly_fee=Decimal(fee), **more)


def test_a_reading_holds_until_the_next_of_its_unit():
    found = read(readings((0, "a", "up"), (0, "b", "up"), (1, "a", "down"), (2, "b", "up"), (3, "a", "up")))
    assert told(found) == [("a", "down", 1, 3)]


def test_after_three_intervals_without_a_reading_the_time_is_unknown_and_not_down():
    found = read(readings((0, "a", "down"), (3, "a", "down"), (7, "a", "up"), (10.5, "a", "up")))
    assert told(found) == [("a", "down", 0, 6), ("a", "unknown", 6, 7), ("a", "unknown", 10, 10.5)]


def test_readings_exactly_three_intervals_apart_leave_no_gap():
    assert told(read(readings((0, "a", "up"), (3, "a", "up"), (6, "a", "up")))) == []


def test_of_two_readings_at_one_time_the_worse_counts_in_any_order_and_each_is_accounted_for():
    rank = ["down", "degraded", "planned", "unknown", "up"]
    for i, worse in enumerate(rank):
        for better in rank[i + 1 :]:
            for pair in ((worse, better), (better, worse)):
                data = readings((0, "a", "up"), *((1, "a", state) for state in pair), (2, "a", "up"))
                found = read(data)
                assert told(found) == ([("a", worse, 1, 2)] if worse != "up" else [])
                account = found.account
                assert (account.rows, account.used, account.duplicates, account.contradictions) == (4, 3, 1, 1)


def test_a_repeated_row_counts_once_and_contradicts_nothing():
    account = read(readings((0, "a", "up"), (1, "a", "down"), (1, "a", "down"), (2, "a", "up"))).account
    assert (account.used, account.duplicates, account.contradictions) == (3, 1, 0)


def test_the_evidence_of_a_contradiction_is_the_row_that_says_the_worst():
    found = read(readings((0, "a", "up"), (1, "a", "up"), (1, "a", "down"), (2, "a", "up")))
    assert found.spells.line.tolist() == [4]


def test_rows_in_any_order_say_the_same():
    said = [(i, unit, "down" if 10 <= i < 20 else "up") for i in range(40) for unit in "abc"]
    shuffled = [said[i] for i in np.random.default_rng(3).permutation(len(said))]
    assert told(read(readings(*shuffled))) == told(read(readings(*said)))


def test_ones_and_zeros_and_any_case_are_states_and_strange_words_are_unknown_and_counted():
    found = read(readings((0, "a", "1"), (1, "a", "0"), (2, "a", "UP"), (3, "a", "melted"), (4, "a", "Up")))
    assert told(found) == [("a", "down", 1, 2), ("a", "unknown", 3, 4)]
    assert found.account.unknown_states == {"melted": 1}


def test_a_bad_row_is_skipped_with_its_number_and_reason_and_the_rest_is_read():
    lines = [
        HEADER.strip(),
        f"{stamp(0)},a,up",
        "yesterday,a,down",
        "",
        f"{stamp(1)},,down",
        f"{stamp(1)},a",
        f"{stamp(1)},a,down,and more",
        "2026-02-30T00:00:00Z,a,down",
        "1850-01-01T00:00:00Z,a,down",
        f"{stamp(2)},a,up",
    ]
    account = read("\n".join(lines).encode()).account
    assert [(skipped.line, skipped.reason.split(" ")[0]) for skipped in account.listed] == [
        (3, "'yesterday'"),
        (5, "no"),
        (6, "no"),
        (7, "more"),
        (8, "'2026-02-30T00:00:00Z'"),
        (9, "1850-01-01"),
    ]
    assert (account.rows, account.used, account.skipped, account.left_out) == (9, 2, 6, {"blank row": 1})


def test_of_more_than_a_thousand_bad_rows_the_first_thousand_are_listed_and_all_counted():
    account = read(HEADER.encode() + b"never,a,up\n" * 1_500 + readings((0, "a", "up"))[len(HEADER) :]).account
    assert (len(account.listed), account.skipped, account.rows) == (1_000, 1_500, 1_501)
    assert account.reasons == {"unusable time": 1_500}


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-01T06:00:00Z",
        "2026-03-01 06:00:00Z",
        "2026-03-01T11:30:00+05:30",
        "2026-03-01T11:30:00.000+0530",
        "2026-03-01T00:00:00-06:00",
        "2026-03-01T06:00Z",
        "1772344800",
        "1772344800.0",
        "1772344800000",
        "1772344800000000",
        "1772344800000000000",
    ],
)
def test_a_time_reads_the_same_in_every_spelling_alone_or_in_a_column(text):
    alone = read(f"{HEADER}{text},a,up\n".encode())
    among = read(f"{HEADER}2026-03-01T05:59:00+00:00,a,up\n{text},b,up\n".encode())
    assert alone.first is not None
    assert among.first is not None
    expected = times.microseconds(datetime(2026, 3, 1, 6, tzinfo=UTC))
    assert (alone.first[0], among.first[1]) == (expected, expected)


def test_a_time_without_an_offset_needs_a_zone_and_is_never_guessed():
    data = f"{HEADER}2026-03-01 06:00:00,a,up\n".encode()
    assert "name the zone" in read(data).account.listed[0].reason
    found = read(data, zone="America/New_York")
    assert found.first is not None
    assert times.at(int(found.first[0])) == datetime(2026, 3, 1, 11, tzinfo=UTC)


def test_a_local_time_that_comes_twice_or_never_is_skipped():
    data = f"{HEADER}2026-10-25 02:30:00,a,up\n2026-03-29 02:30:00,a,up\n2026-10-25 03:30:00,a,up\n".encode()
    account = read(data, zone="Europe/Berlin").account
    assert account.used == 1
    assert ["comes twice" in account.listed[0].reason, "does not exist" in account.listed[1].reason] == [True, True]


def test_quoted_fields_and_a_quotation_mark_that_never_closes_lose_no_other_row():
    data = f'{HEADER}"{stamp(0)}","a","up"\n{stamp(1)},"a,down\n{stamp(1)},a,"down"\n{stamp(2)},a,up\n'.encode()
    found = read(data)
    assert told(found) == [("a", "down", 1, 2)]
    assert [(skipped.line, skipped.reason[:6]) for skipped in found.account.listed] == [(3, "broken")]


def test_windows_line_ends_a_byte_order_mark_and_other_columns_do_no_harm():
    said = ((0, " a ", "up"), (1, "a", " down"), (2, "a", "up"))
    table = [f"x,{stamp(minute)},{unit},{state},5," for minute, unit, state in said]
    data = "\r\n".join(["\ufeffline,Time,unit_id,state,more,", *table, ""])
    assert told(read(data.encode())) == [("a", "down", 1, 2)]


def test_json_lines_and_parquet_say_what_the_same_table_says(tmp_path):
    said = [(0, "a", "up"), (1, "a", "down"), (2, "a", "up"), (5.5, "a", "up")]
    expected = told(read(readings(*said)))
    assert len(expected) == 2
    lines = [json.dumps({"time": stamp(m), "unit_id": u, "state": s, "rack": 7}) for m, u, s in said]
    assert told(read("\n".join([*lines, "{broken", ""]).encode())) == expected
    moments = [START + timedelta(minutes=minute) for minute, _, _ in said]
    for column in (moments, [stamp(m) for m, _, _ in said], [int(m.timestamp()) for m in moments]):
        frame = pl.DataFrame({"time": column, "unit_id": [u for _, u, _ in said], "state": [s for _, _, s in said]})
        frame.write_parquet(tmp_path / "readings.parquet")
        assert told(telemetry("readings.parquet", tmp_path / "readings.parquet", INTERVAL)) == expected


def test_parquet_of_booleans_and_numbered_units_is_read(tmp_path):
    frame = pl.DataFrame({"time": [1772323200, 1772323260, 1772323320], "unit_id": [7, 7, 7]})
    frame.with_columns(state=pl.Series([True, False, True])).write_parquet(tmp_path / "r.parquet")
    assert told(telemetry("r.parquet", tmp_path / "r.parquet", INTERVAL)) == [("7", "down", 1, 2)]


def test_rows_of_spells_are_read_and_where_they_overlap_the_worst_counts():
    table = [
        f"a,{stamp(0)},{stamp(60)},degraded",
        f"a,{stamp(10)},{stamp(20)},down",
        f"a,{stamp(10)},{stamp(20)},down",
        f"a,{stamp(70)},{stamp(80)},up",
        f"b,{stamp(5)},,down",
        f"b,{stamp(5)},{stamp(4)},down",
    ]
    found = read("\n".join(["unit_id,started_at,ended_at,state", *table]).encode())
    assert [(unit, state, start) for unit, state, start, _ in told(found)] == [
        ("a", "degraded", 0),
        ("a", "degraded", 20),
        ("a", "down", 10),
        ("b", "down", 5),
    ]
    assert found.spells.end[-1] == rows.OPEN_END
    account = found.account
    assert (account.rows, account.used, account.duplicates, account.skipped) == (6, 3, 1, 1)
    assert account.left_out == {"unit up": 1}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"when,unit_id,state\n1,a,up\n", "columns time, unit_id, state"),
        (b"time,unit_id,state,state\n1,a,up,up\n", "give the column state once"),
        (b"PAR1 and nothing else", "columns time, unit_id, state"),
        (b"", "columns time, unit_id, state"),
        (b'{"time": 1}\n', "columns time, unit_id, state"),
    ],
)
def test_a_file_without_the_columns_of_telemetry_is_refused(data, reason):
    with pytest.raises(DealError, match=reason):
        read(data)


def test_a_damaged_file_says_the_same_read_whole_or_line_by_line_and_every_row_is_accounted_for(monkeypatch):
    rng = np.random.default_rng(11)
    said = [(i, unit, "down" if 20 <= i < 30 else "up") for i in range(60) for unit in "ab"]
    whole = readings(*said)
    lost = 0
    for _ in range(100):
        data = bytearray(whole)
        for _ in range(rng.integers(1, 6)):
            at = int(rng.integers(len(HEADER), len(data)))
            kind = rng.integers(4)
            if kind == 0:
                data[at] = int(rng.choice([0, 9, 10, 44, 48, 90, 130, 195, 255]))
            elif kind == 1:
                del data[at : at + int(rng.integers(1, 90))]
            elif kind == 2:
                data[at:at] = data[at - 40 : at]
            else:
                data[at:at] = b"\n" * int(rng.integers(1, 3))
        found = read(bytes(data))
        with monkeypatch.context() as patch:
            patch.setattr(source.Source, "_is_plain", lambda _: False)
            slowly = read(bytes(data))
        assert told(found) == told(slowly)
        assert found.spells.line.tolist() == slowly.spells.line.tolist()
        account = found.account
        assert (account.rows, account.used, account.listed) == (
            slowly.account.rows,
            slowly.account.used,
            slowly.account.listed,
        )
        lines = bytes(data).count(b"\n") - 1 + (not bytes(data).endswith(b"\n"))
        assert account.rows == lines == account.used + account.skipped + account.duplicates + account.left_out.total()
        lost += account.skipped
    assert lost > 50


def test_a_command_that_reads_no_telemetry_does_not_import_polars():
    modules = "slakit.statements.telemetry.node_statements, slakit.statements.importers.formats.telemetry"
    code = f"import sys, {modules}; sys.exit('polars' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# --- batches ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    def shrink() -> None:
        monkeypatch.setattr(rows, "ROWS_AT_ONCE", 40)
        monkeypatch.setattr(source, "LINES_AT_ONCE", 40)
        monkeypatch.setattr(runs, "LATENESS_US", 2 * 60_000_000)
        monkeypatch.setattr(runs, "ROWS_TOGETHER", 100)

    return shrink


@pytest.mark.parametrize("disorder", [0, 1, 5, 400])
@pytest.mark.parametrize("quoted", [False, True])
def test_batches_say_what_the_whole_says_however_late_rows_come(small_batches, disorder, quoted):
    rng = np.random.default_rng(disorder)
    said = []
    for minute in range(150):
        for unit in "abc":
            if rng.random() < 0.95:
                state = rng.choice(["up", "down", "degraded"], p=[0.8, 0.15, 0.05])
                said += [(minute, unit, state)] * int(rng.choice([1, 2], p=[0.9, 0.1]))
                if rng.random() < 0.02:
                    said.append((minute, unit, "planned"))
    place = np.arange(len(said)) + np.where(rng.random(len(said)) < 0.1, rng.integers(0, disorder + 1, len(said)), 0)
    data = readings(*(said[i] for i in np.argsort(place, kind="stable")))
    if quoted:
        data = data.replace(b",up\n", b',"up"\n')
    whole = read(data)
    small_batches()
    found = read(data)
    assert told(found) == told(whole)
    assert found.spells.line.tolist() == whole.spells.line.tolist()
    same = ("rows", "used", "duplicates", "contradictions", "skipped")
    assert [getattr(found.account, n) for n in same] == [getattr(whole.account, n) for n in same]
    assert whole.account.duplicates > 20


def test_readings_too_many_or_too_fine_for_one_number_are_sorted_all_the_same():
    rng = np.random.default_rng(5)
    count = 500
    unit = rng.integers(0, 2**30, 20).astype(np.int32)[rng.integers(0, 20, count)]
    time = rng.integers(0, 2**51, 60)[rng.integers(0, 60, count)]
    order, step = runs._in_order(unit, time, 180_000_000)
    expected = sorted(range(count), key=lambda i: (unit[i], time[i], i))
    assert order.tolist() == expected
    few = np.unique(unit, return_inverse=True)[1].astype(np.int32)
    packed, packed_step = runs._in_order(few, time % 2**40, 180_000_000)
    assert packed.tolist() == sorted(range(count), key=lambda i: (few[i], time[i] % 2**40, i))
    for steps, units, at in ((step, unit[order], time[order]), (packed_step, few[packed], time[packed] % 2**40)):
        inside = units[1:] == units[:-1]
        assert (steps[inside] == np.diff(at)[inside]).all()
        assert (steps[~inside] > 180_000_000).all()


# --- as a log --------------------------------------------------------------------------------------------------------


def test_readings_become_incidents_with_the_row_they_rest_on():
    data = readings((0, "a", "up"), (0, "b", "up"), (1, "a", "down"), (2, "a", "down"), (3, "a", "up"), (6, "a", "up"))
    log = Log("readings.csv", data)
    form = form_of(log)
    found = form.read(log, Options(monitor_interval_seconds=INTERVAL))
    assert form.id == "telemetry"
    down, silent = found.incidents
    assert (down.unit_id, down.state, down.level) == ("a", "down", "node")
    assert (down.started_at, down.ended_at) == (START + timedelta(minutes=1), START + timedelta(minutes=3))
    assert (str(down.evidence[0]), down.evidence[0].text) == ("readings.csv:4", f"{stamp(1)},a,down")
    # b was silent from three intervals after its only reading on; the file goes on to minute 9
    assert (silent.unit_id, silent.state, silent.evidence[0].line) == ("b", "unknown", None)
    assert (silent.started_at, silent.ended_at) == (START + timedelta(minutes=3), START + timedelta(minutes=9))
    assert found.records == found.used + len(found.skipped) + sum(found.left_out.values()) + found.duplicates == 6
    assert "180 seconds" in found.notes[0]


def test_readings_without_the_interval_of_the_monitor_are_refused():
    log = Log("readings.csv", readings((0, "a", "up")))
    with pytest.raises(DealError, match="how long a reading holds"):
        form_of(log).read(log, Options())


def test_a_stored_table_is_recognised_and_its_rows_are_evidence(tmp_path):
    pl.DataFrame({"time": [stamp(m) for m in range(3)], "unit_id": ["a"] * 3, "state": [1, 0, 1]}).write_parquet(
        tmp_path / "r.parquet"
    )
    log = Log.open(tmp_path / "r.parquet")
    (incident,) = form_of(log, "telemetry").read(log, Options(monitor_interval_seconds=INTERVAL)).incidents
    assert str(incident.evidence[0]) == "r.parquet:2"
    assert "state 0" in incident.evidence[0].text


def test_the_account_of_an_import_adds_up_when_not_all_skipped_rows_are_listed():
    data = HEADER.encode() + b"never,a,up\n" * 1_200 + readings((0, "a", "up"))[len(HEADER) :]
    log = Log("readings.csv", data)
    found = form_of(log).read(log, Options(monitor_interval_seconds=INTERVAL))
    assert found.records == found.used + len(found.skipped) + sum(found.left_out.values()) + found.duplicates == 1_201
    assert found.left_out == {"skipped, not listed": 200}


# --- statements of nodes ---------------------------------------------------------------------------------------------

MARCH = Month(2026, 3)


def written(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "readings.csv"
    path.write_bytes(data)
    return path


def stated_slowly(
    terms: Deal, units: list[UnitService], months: list[Month], data: bytes, interval: int = INTERVAL
) -> dict[tuple[str, str, str], Any]:
    """Return the lines of the exact rules on incidents that a plain loop makes of the readings."""
    said: dict[str, dict[datetime, str]] = {}
    for line in data.decode().splitlines()[1:]:
        time, unit, state = line.split(",")
        moment = datetime.fromisoformat(time)
        worse = max(said.setdefault(unit, {}).get(moment, "up"), state, key=states.NAMES.index)
        said[unit][moment] = worse
    holds = timedelta(seconds=3 * interval)
    low, high = months[0].start(terms.measurement.zone), months[-1].end(terms.measurement.zone)
    spells: list[tuple[str, str, datetime, datetime]] = []
    for unit in units:
        at = sorted(said.get(unit.unit_id, {}).items())
        if not at:
            spells.append((unit.unit_id, "unknown", low, high))
            continue
        spells.append((unit.unit_id, "unknown", low, max(at[0][0], low)))
        for i, (moment, state) in enumerate(at):
            following = at[i + 1][0] if i + 1 < len(at) else high
            end = min(moment + holds, at[i + 1][0]) if i + 1 < len(at) else moment + holds
            spells.append((unit.unit_id, state, moment, end))
            spells.append((unit.unit_id, "unknown", end, max(following, end)))
    incidents = [
        Incident(id=str(i), level="node", unit_id=unit, state=state, started_at=a, ended_at=b)  # type: ignore[arg-type]
        for i, (unit, state, a, b) in enumerate(spells)
        if state != "up" and a < b
    ]
    lines = statement(terms, Records(incidents=incidents, units=units), months).lines
    return {(str(line.period), line.service_level, line.unit): line for line in lines}


def assert_same(found: pl.DataFrame, lines: dict[tuple[str, str, str], Any]) -> None:
    assert {(row["period"], row["service_level"], row["unit"]) for row in found.iter_rows(named=True)} == set(lines)
    for row in found.iter_rows(named=True):
        line = lines[row["period"], row["service_level"], row["unit"]]
        for name in ("window", "down", "excluded", "disregarded", "counted", "unknown"):
            assert row[f"{name}_minutes"] == getattr(line, f"{name}_minutes"), (name, row)
        share = Fraction(row["availability_numerator"], row["availability_denominator"])
        assert share == line.availability
        assert Decimal(row["credit_fraction"]) == line.credit_fraction
        assert row["credit"] == f"{line.credit.amount:f}"
        assert row["currency"] == line.credit.currency


@st.composite
def histories(draw: st.DrawFn) -> tuple[bytes, str, int]:
    """Draw readings of three nodes about a month end in a zone where clocks change, flaps and silence among them."""
    zone = draw(st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"]))
    interval = draw(st.sampled_from([60, 300, 3_600]))
    first = draw(st.sampled_from([datetime(2026, 3, 1), datetime(2026, 3, 28, 12), datetime(2026, 3, 31, 20)]))  # noqa: DTZ001
    said = []
    for unit in "abc":
        at = first.replace(tzinfo=UTC)
        for _ in range(draw(st.integers(0, 9))):
            length = draw(st.sampled_from([1, 59, 60, 61, 240, 299, 300, 301, 1_234, 7 * interval, 40 * interval]))
            state = draw(st.sampled_from(["up", "up", "down", "down", "planned", "degraded", "unknown"]))
            end = at + timedelta(seconds=length)
            while at < end:
                said.append((at, unit, state))
                at += timedelta(seconds=2 * interval)
            at = end + timedelta(seconds=draw(st.sampled_from([0, 0, 0, 1, 10_000])))
    ordered = draw(st.permutations(said)) if len(said) < 40 else said
    text = HEADER + "".join(f"{moment.isoformat()},{unit},{state}\n" for moment, unit, state in ordered)
    return text.encode(), zone, interval


COUNTING = st.fixed_dictionaries(
    {
        "minimum_outage_minutes": st.sampled_from([0, 1, 5, 60]),
        "minimum_test": st.sampled_from(["at_least", "more_than"]),
        "merge_gap_minutes": st.sampled_from([0, 1, 5, 240]),
        "gap_counts": st.booleans(),
        "minute_rule": st.sampled_from(["floor_piece", "floor_outage", "ceil_outage"]),
        "straddle": st.sampled_from(["split", "start_month", "end_month"]),
        "month_length": st.sampled_from(["actual", "fixed_30"]),
    }
)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=histories(), counting=COUNTING, months=st.sampled_from([[MARCH], [MARCH, MARCH.plus(1)]]))
def test_statements_of_nodes_are_those_of_the_exact_rules_on_the_same_records(tmp_path, history, counting, months):
    data, zone, interval = history
    terms = deal({**counting, "zone": zone, "monitor_interval_seconds": interval})
    start = months[0].plus(-2).start(zone)
    units = [node("a", in_service_from=start), node("b", "0.10", in_service_from=start), node("c", "999.995")]
    found = node_statements(written(tmp_path, data), terms, units, months)
    assert_same(found.lines, stated_slowly(terms, units, months, data, interval))


def test_a_month_of_four_nodes_is_counted_by_the_rules_on_arrays(tmp_path):
    said = [(i, unit, "up") for unit in "abcd" for i in range(0, 31 * 1440, 3)]
    for minute, unit in ((99, "a"), (198, "b"), (498, "b")):
        said += [(minute + i, unit, "down") for i in range(0, 90, 3)]
    data = readings(*said)
    units = [node(name, "1000.10") for name in "abcd"]
    found = node_statements(written(tmp_path, data), deal(), units, [MARCH])
    assert found.by_exact_rules == 0
    assert found.account.contradictions == 90
    lines = {row["unit"]: row for row in found.lines.iter_rows(named=True)}
    # worked by hand: 90 of 44,640 minutes is 99.798 %, 180 is 99.597 %; both lie below 99.9 % and not below 99 %
    assert [lines[name]["counted_minutes"] for name in "abcd"] == [90, 180, 0, 0]
    assert [lines[name]["credit"] for name in "abcd"] == ["50.01", "50.01", "0.00", "0.00"]
    assert lines["a"]["availability_numerator"] == 44_550
    assert {row["unknown_minutes"] for row in lines.values()} == {0}


@pytest.mark.parametrize(
    ("measurement", "level", "sections"),
    [
        ({}, {"aggregation": "fleet_mean"}, {}),
        ({"starts_at": "customer_notice"}, {}, {}),
        ({}, {}, {"credits": {"base": "service_fee_accrued"}}),
        ({}, {"measured_from": "all_ready"}, {}),
    ],
)
def test_terms_that_arrays_do_not_cover_go_to_the_exact_rules(tmp_path, measurement, level, sections):
    data = readings(*((i, u, "down" if 50 <= i < 900 else "up") for i in range(0, 1440, 2) for u in "ab"))
    terms = deal(measurement, level, **sections)
    units = [node("a"), node("b")]
    found = node_statements(written(tmp_path, data), terms, units, [MARCH])
    assert found.by_exact_rules == 2
    assert_same(found.lines, stated_slowly(terms, units, [MARCH], data))


def test_a_node_in_service_for_part_of_a_month_and_parts_of_seconds_go_to_the_exact_rules(tmp_path):
    data = readings(
        *((i, "a", "down" if 5000 <= i < 9000 else "up") for i in range(0, 44_640, 2)),
        *((i, "b", "down" if i == 100 else "up") for i in range(0, 44_640, 2)),
        (300.0001, "c", "down"),
        (302, "c", "up"),
    )
    units = [node("a", in_service_from=START + timedelta(days=5)), node("b"), node("c")]
    found = node_statements(written(tmp_path, data), deal(), units, [MARCH])
    assert found.by_exact_rules == 2
    assert_same(found.lines, stated_slowly(deal(), units, [MARCH], data))


def test_units_without_a_fee_and_nodes_without_a_row_are_named(tmp_path):
    found = node_statements(
        written(tmp_path, readings((0, "a", "up"), (0, "x", "down"))), deal(), [node("a"), node("b")], [MARCH]
    )
    assert (found.without_fee, found.without_rows) == (("x",), ("b",))
    silent = {row["unit"]: row["unknown_minutes"] for row in found.lines.iter_rows(named=True)}
    assert silent == {"a": 44_637, "b": 44_640}


def test_money_has_the_places_of_its_currency(tmp_path):
    terms = deal(commercial={"currency": "JPY", "charges": {}, "term": {"months": 12}})
    data = readings(*((i, "a", "down" if i < 900 else "up") for i in range(0, 1440, 2)))
    found = node_statements(written(tmp_path, data), terms, [node("a", "1005")], [MARCH])
    assert found.lines["credit"].to_list() == ["101"]  # 2 % down: a tenth of 1,005, half a yen rounded up


def test_what_is_missing_for_statements_of_nodes_is_said(tmp_path):
    path = written(tmp_path, readings((0, "a", "up")))
    with pytest.raises(MissingTermError, match="month"):
        node_statements(path, deal(), [node("a")], [])
    with pytest.raises(MissingTermError, match="nodes in service"):
        node_statements(path, deal(), [], [MARCH])
    with pytest.raises(NotComputedError, match="parts of minutes"):
        node_statements(path, deal({"minute_rule": "exact_seconds"}), [node("a")], [MARCH])
    with pytest.raises(DealError, match="one name for one node"):
        node_statements(written(tmp_path, readings((0, "a", "up"), (0, "A", "up"))), deal(), [node("a")], [MARCH])


# --- readings further apart than the contract's monitor reads ---------------------------------------------------------


def spaced(seconds: int, units: str = "ab", readings_each: int = 60) -> bytes:
    return readings(*((i * seconds / 60, unit, "up") for i in range(readings_each) for unit in units))


def as_log(data: bytes) -> Any:
    log = Log("readings.csv", data)
    return form_of(log).read(log, Options(monitor_interval_seconds=INTERVAL))


def as_nodes(tmp_path: Path, data: bytes) -> Any:
    return node_statements(written(tmp_path, data), deal(), [node("a"), node("b")], [MARCH])


def test_readings_that_would_leave_a_quarter_of_the_time_unknown_are_refused_as_a_log_and_as_a_table(tmp_path):
    words = (
        r"readings about every 300 s under a monitor of every 60 s, which would leave 40% .*monitor_interval_seconds"
    )
    for ask in (as_log, lambda data: as_nodes(tmp_path, data)):
        with pytest.raises(DealError, match=words):
            ask(spaced(300))


def test_readings_a_little_too_far_apart_are_read_with_a_loud_note_as_a_log_and_as_a_table(tmp_path):
    words = (
        "readings come about every 200 s, the contract's monitor every 60 s (measurement.monitor_interval_seconds): "
        "the time beyond three intervals after each reading is unknown"
    )
    found = as_log(spaced(200))
    assert (found.notes[0], found.warnings) == (words, (words,))
    assert as_nodes(tmp_path, spaced(200)).warnings == (words,)


@pytest.mark.parametrize("seconds", [60, 180])
def test_readings_close_enough_have_no_such_note(tmp_path, seconds):
    assert as_log(spaced(seconds)).warnings == as_nodes(tmp_path, spaced(seconds)).warnings == ()


def test_a_long_silence_of_a_monitor_is_unknown_and_refuses_nothing():
    early = [(i, unit, "up") for i in range(60) for unit in "ab"]
    found = as_log(readings(*early, *((5000 + i, unit, "up") for i, unit, _ in early)))
    assert found.warnings == ()
    assert {incident.state for incident in found.incidents} == {"unknown"}


def test_one_slow_unit_among_many_refuses_nothing():
    slow = [(5.0 * i, "a", "up") for i in range(60)]
    assert as_log(readings(*slow, *((i, unit, "up") for i in range(300) for unit in "bc"))).warnings == ()


def test_a_file_with_more_spells_than_a_statement_can_show_names_the_table_of_nodes(monkeypatch):
    monkeypatch.setattr("slakit.statements.importers.formats.telemetry.MOST_SPELLS", 1)
    data = readings(*((i, "a", "down" if i in (3, 9) else "up") for i in range(20)))
    with pytest.raises(DealError, match=r"2 spells in which a unit was not up.*--nodes"):
        as_log(data)


def test_a_table_of_nodes_of_strangers_is_refused_with_the_names_of_both_sides(tmp_path):
    with pytest.raises(DealError, match="they name x, y; expected names of units of the contract: a, b"):
        as_nodes(tmp_path, spaced(60, "xy"))


def test_the_statement_and_the_table_of_nodes_know_and_do_not_know_the_same_minutes(tmp_path, state, ridge):
    said = [(i * 3, unit, "down" if 500 <= i < 900 else "up") for i in range(1, 9_000) for unit in ("n01", "n02")]
    said += [(i * 3, "n03", "up") for i in range(4_000, 5_000)]
    data = readings(*said)
    document = state({"readings_csv": data.decode()}, periods="2026-03").document
    path = tmp_path / "deal.yaml"
    path.write_text(ridge)
    terms = load_deal(path).deal
    table = node_statements(written(tmp_path, data), terms, contracted_units(terms), [MARCH]).lines
    minutes = {line["unit"]: (line["counted_minutes"], line["unknown_minutes"]) for line in document["periods"]}
    assert minutes == {row["unit"]: (row["counted_minutes"], row["unknown_minutes"]) for row in table.to_dicts()}
    assert minutes["n01"][1] > 0  # the file ends before the month does
    assert minutes["n12"][1] == 31 * 1440 - 60  # no reading of it, in a month that loses an hour


def test_two_files_of_readings_that_follow_each_other_leave_no_time_unknown(state):
    def part(first: int, last: int) -> str:
        names = [f"n{i:02d}" for i in range(1, 13)]
        rows = [(i * 3, unit, "up") for i in range(first, last) for unit in names]
        return readings(*rows).decode()

    whole = 31 * 24 * 20 + 100  # steps of three minutes, beyond the end of the month in Chicago
    both = state({"a_csv": part(100, 7_000), "b_csv": part(7_000, whole)}, periods="2026-03").document["periods"]
    assert {line["unknown_minutes"] for line in both} == {0}
    alone = state({"a_csv": part(100, 7_000)}, periods="2026-03").document["periods"]
    assert min(line["unknown_minutes"] for line in alone) > 20_000
