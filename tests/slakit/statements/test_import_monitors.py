"""Uptime monitors: readings, beats, logs of states, and pagers."""

import json
import random
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import DealError
from slakit.statements.importers.find import form_of, imported
from slakit.statements.importers.form import Options
from slakit.statements.importers.imported import Imported
from slakit.statements.importers.log import Log

T0 = 1_800_000_000
START = datetime.fromtimestamp(T0, UTC)


def read(text: str | bytes, name: str, options: Options | None = None) -> Imported:
    log = Log(name, text if isinstance(text, bytes) else text.encode())
    return form_of(log).read(log, options or Options())


def spells(found: Imported) -> list[tuple[str, str, float, float | None]]:
    """Unit, state, start and end in seconds after the first reading."""
    return [
        (
            made.unit_id,
            made.state,
            (made.started_at - START).total_seconds(),
            (made.ended_at - START).total_seconds() if made.ended_at else None,
        )
        for made in found.incidents
    ]


# Prometheus


def matrix(*series: tuple[dict[str, str], str], step: int = 30) -> str:
    """Series whose readings are one letter each; a blank is no reading."""
    result = [
        {
            "metric": labels,
            "values": [[T0 + step * n, "NaN" if c == "N" else c] for n, c in enumerate(text) if c != " "],
        }
        for labels, text in series
    ]
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}})


UP = {"__name__": "up", "instance": "gx-1:9100", "job": "node"}


def test_a_run_of_failed_readings_is_down_until_the_first_good_one():
    found = read(matrix((UP, "1110011")), "range.json")
    assert spells(found) == [("gx-1:9100", "down", 90, 150)]
    assert [(one.earliest, one.latest) for one in found.bounds] == [
        (START + timedelta(seconds=60), START + timedelta(seconds=90)),
        (START + timedelta(seconds=120), START + timedelta(seconds=150)),
    ]
    assert (found.records, found.used, found.left_out) == (7, 2, {"reading good": 5})


def test_a_gap_is_unknown_and_a_series_that_others_outlast_too():
    found = read(
        matrix((UP, "110  01"), (UP | {"instance": "gx-2"}, " 1111  "), (UP | {"instance": "gx-3"}, "1N11111")),
        "r.json",
    )
    assert spells(found) == [
        ("gx-1:9100", "down", 60, 90),
        ("gx-1:9100", "unknown", 90, 150),
        ("gx-1:9100", "down", 150, 180),
        ("gx-2", "unknown", 0, 30),
        ("gx-2", "unknown", 150, 210),
        ("gx-3", "unknown", 30, 60),
    ]


def test_a_range_that_ends_in_an_outage_says_nothing_of_what_comes_after():
    found = read(matrix((UP, "100")), "r.json")
    assert spells(found) == [("gx-1:9100", "down", 30, 90)]
    assert found.bounds[-1].latest is None


def test_node_conditions_are_read_by_their_polarity():
    ready = {"__name__": "kube_node_status_condition", "condition": "Ready", "node": "gx-1"}
    found = read(
        matrix(
            (ready | {"status": "true"}, "1011"),
            (ready | {"status": "unknown"}, "0100"),
            (ready | {"status": "unknown", "node": "gx-2"}, "0010"),
            (ready | {"condition": "DiskPressure", "status": "true"}, "1111"),
        ),
        "r.json",
    )
    assert spells(found) == [("gx-1", "down", 30, 60), ("gx-2", "down", 60, 90)]
    assert (found.records, sum(found.left_out.values())) == (16, 14)


def test_readings_that_are_none_are_skipped():
    text = matrix((UP, "1101")).replace('"0"', '"17"').replace(f"[{T0}, ", '["then", ')
    found = read(text, "r.json")
    assert [one.reason for one in found.skipped] == [
        "no reading [seconds, value]",
        "the value 17 of a metric that is 0 or 1",
    ]
    assert found.records == 4


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (matrix(({"state": "down"}, "0123")), "an aggregate, whose values count units and name none"),
        (matrix(({"__name__": "node_load1", "instance": "a"}, "01")), "does not say whether a unit is up"),
        ('{"status": "success", "data": {"resultType": "vector", "result": []}}', "readings of one moment"),
        ('{"status": "success", "data": {"resultType": "matrix", "result": []}}', "no series"),
        ('{"status": "error", "error": "too many", "data": {"resultType": "", "result": []}}', "the error 'too many'"),
        (matrix((UP, "1")), "one reading a series"),
    ],
)
def test_an_answer_that_names_no_unit_is_refused_with_the_reason(text: str, reason: str):
    with pytest.raises(DealError, match=reason):
        read(text, "r.json")


def test_the_published_range_is_refused_because_it_counts_nodes(logs: Path):
    path = logs / "prometheus-range" / "slurm_nodes_query_range.json"
    data = path.read_bytes()
    series = json.loads(data)["data"]["result"]
    assert not any("__name__" in one["metric"] or "node" in one["metric"] for one in series)
    assert max(int(value) for one in series for _, value in one["values"]) > 1000  # so no 0 or 1
    with pytest.raises(DealError, match=r"6 series of which none .*labels instance, job, state"):
        imported(path, Options())
    for cut in random.Random(9).sample(range(2, len(data) - 1), 20):
        log = Log(path.name, data[:cut])
        with pytest.raises(DealError, match="expected JSON"):
            form_of(log, "prometheus-range").read(log, Options())


# Uptime Kuma


def when(seconds: float) -> str:
    return (START + timedelta(seconds=seconds)).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]


def beats(statuses: str, monitor: int = 1) -> list[tuple[int, str, str, str]]:
    return [(monitor, c, when(60 * n), "timeout" if c == "0" else "200") for n, c in enumerate(statuses) if c != " "]


def kuma(path: Path, rows: list[tuple[int, str, str, str]], *, extra: str = "") -> bytes:
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            "CREATE TABLE monitor (id INTEGER PRIMARY KEY, name TEXT, interval INTEGER);"
            "CREATE TABLE heartbeat (id INTEGER PRIMARY KEY, monitor_id INTEGER, status INTEGER, time TEXT, msg TEXT);"
            "INSERT INTO monitor VALUES (1, 'gate', 60), (2, 'gate', 60);" + extra
        )
        database.executemany("INSERT INTO heartbeat (monitor_id, status, time, msg) VALUES (?, ?, ?, ?)", rows)
        database.commit()
    return path.read_bytes()


def test_beats_of_a_database_become_spells(tmp_path: Path):
    # pending then down failed from its first retry; pending then up did not fail; 3 is maintenance; a gap is unknown
    data = kuma(tmp_path / "kuma.db", beats("112200121133    0 1") + beats("10", 2))
    found = read(data, "kuma.db")
    assert spells(found) == [
        ("gate #1", "down", 120, 360),
        ("gate #1", "planned", 600, 720),
        ("gate #1", "unknown", 720, 960),
        ("gate #1", "down", 960, 1080),
        ("gate #2", "down", 60, None),
    ]
    assert found.records == 14 + 2
    assert found.incidents[0].evidence[0].line == 3


def test_an_export_of_beats_is_read_like_the_database():
    rows = beats("1100 1")
    listed = [dict(zip(("monitor_id", "status", "time", "msg"), row, strict=True)) | {"ping": 1} for row in rows]
    table = "monitor_id,status,time,msg\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
    by_page = {"heartbeatList": {"1": [{k: v for k, v in one.items() if k != "monitor_id"} for one in listed]}}
    expected = [("1", "down", 120, 300)]
    for text, name in ((json.dumps(listed), "b.json"), (table, "b.csv"), (json.dumps(by_page), "p.json")):
        found = read(text, name)
        assert spells(found) == expected, name
        assert found.records == 5
        assert any("pauses between beats were not looked for" in note for note in found.notes)


def test_a_status_that_no_table_knows_is_unknown():
    found = read("monitor_id,status,time\n1,1," + when(0) + "\n1,7," + when(60) + "\n1,1," + when(120) + "\n", "b.csv")
    assert spells(found) == [("1", "unknown", 60, 120)]
    assert found.unknown_states == {"7": 1}


def test_nothing_in_a_database_runs(tmp_path: Path):
    path = tmp_path / "evil.db"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            "CREATE TABLE secret (x); CREATE VIEW heartbeat AS SELECT 1 AS id, 1 AS monitor_id, 0 AS status, "
            "'2027-01-01 00:00:00' AS time, load_extension('x') AS msg;"
        )
    data = path.read_bytes()
    with pytest.raises(DealError, match="without the table heartbeat"):
        read(data, "evil.db")
    assert list(tmp_path.iterdir()) == [path]


def test_a_damaged_database_is_refused_or_adds_up(tmp_path: Path):
    data = kuma(tmp_path / "kuma.db", beats("1100" * 60))
    for cut in random.Random(10).sample(range(100, len(data)), 20):
        log = Log("kuma.db", data[:cut])
        with pytest.raises(DealError, match=r"database|heartbeat"):
            form_of(log, "uptime-kuma").read(log, Options())


def test_the_product_s_template_is_refused_because_it_holds_no_beats(logs: Path):
    path = logs / "uptime-kuma" / "kuma_template.db"
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as database:
        assert database.execute("SELECT count(*) FROM heartbeat").fetchone() == (0,)
    with pytest.raises(DealError, match="found no beats"):
        imported(path, Options())
    data = path.read_bytes()
    for cut in random.Random(11).sample(range(2, len(data)), 20):
        log = Log(path.name, data[:cut])
        with pytest.raises(DealError, match=r"kuma_template.db"):
            form_of(log, "uptime-kuma").read(log, Options())


# UptimeRobot


def robot(*logs: dict[str, Any]) -> str:
    return json.dumps({"stat": "ok", "monitors": [{"id": 7, "friendly_name": "gate", "logs": list(logs)}]})


def entry(kind: int, seconds: int, duration: int) -> dict[str, Any]:
    return {"type": kind, "datetime": T0 + seconds, "duration": duration, "reason": {"code": "503", "detail": "busy"}}


def test_each_log_lasts_until_the_next_and_a_pause_is_unknown():
    newest_first = (
        entry(1, 5000, 90), entry(98, 4000, 1000), entry(99, 3000, 1000), entry(2, 1600, 1400), entry(1, 1000, 500),
        entry(98, 0, 1000),
    )  # fmt: skip
    found = read(robot(*newest_first, entry(1, 1000, 500)), "monitors.json")
    assert spells(found) == [
        ("gate", "down", 1000, 1600),
        ("gate", "unknown", 3000, 4000),
        ("gate", "down", 5000, None),
    ]
    assert (found.records, found.duplicates) == (7, 1)
    assert "1 printed durations differ from the time to the next log, which counts" in found.notes


def test_monitors_without_a_log_are_refused():
    with pytest.raises(DealError, match="without one log"):
        read(robot(), "monitors.json")


# Upptime


@pytest.mark.parametrize(
    "text",
    [
        '[{"name": "gate", "uptime": "97.82%", "dailyMinutesDown": {"2027-01-02": 1440}}]',
        "url: https://x\nstatus: up\ncode: 200\nresponseTime: 9\nlastUpdated: 2027-01-02\n"
        "startTime: 2026-01-01\ngenerator: Upptime\n",
    ],
)
def test_totals_by_day_are_refused(text: str):
    with pytest.raises(DealError, match=r"without the time at which|when watching began"):
        read(text, "summary.json")


# PagerDuty


def test_a_page_says_when_somebody_was_called_and_no_more():
    one = {
        "id": "P1", "incident_number": 4, "title": "gx-1 down, says Kim Ode", "status": "resolved",
        "created_at": "2027-01-15T08:00:00Z", "last_status_change_at": "2027-01-15T09:00:00Z",
        "service": {"summary": "gx-1"}, "assignments": [{"assignee": {"type": "user_reference", "summary": "Kim Ode"}}],
    }  # fmt: skip
    merged = one | {"id": "P2", "resolve_reason": {"type": "merge_resolve_reason", "incident": {"id": "P1"}}}
    still = one | {"id": "P3", "status": "acknowledged"}
    found = read(json.dumps({"incidents": [one, merged, still]}), "pages.json")
    assert [(made.state, made.ended_at is None) for made in found.incidents] == [("unknown", False), ("unknown", True)]
    assert (found.records, found.duplicates) == (3, 1)
    assert found.bounds[0].earliest is None
    assert "Kim" not in str(found)


# Nagios


def nagios(*lines: tuple[int, str]) -> str:
    return "".join(f"[{T0 + seconds}] {text}\n" for seconds, text in lines)


def test_a_problem_counts_from_its_first_reading_once_it_is_confirmed():
    found = read(
        nagios(
            (0, "LOG VERSION: 2.0"),
            (0, "CURRENT HOST STATE: gx-1;UP;HARD;1;PING OK"),
            (600, "HOST ALERT: gx-1;DOWN;SOFT;1;PING lost"),
            (900, "HOST ALERT: gx-1;DOWN;SOFT;2;PING lost"),
            (1200, "HOST ALERT: gx-1;DOWN;HARD;3;PING lost"),
            (1300, "HOST NOTIFICATION: kim;gx-1;DOWN;mail;PING lost"),
            (4200, "HOST ALERT: gx-1;UP;HARD;1;PING OK"),
            (5000, "HOST ALERT: gx-1;DOWN;SOFT;1;PING lost"),
            (5060, "HOST ALERT: gx-1;UP;SOFT;2;PING OK"),
        ),
        "nagios.log",
    )
    assert spells(found) == [("gx-1", "down", 600, 4200)]  # 3600 s; from the confirmation it would be 3000 s
    assert (found.bounds[0].latest, found.incidents[0].detected_at) == (START + timedelta(seconds=1200),) * 2
    assert [one.line for one in found.incidents[0].evidence] == [5, 3, 4, 7]
    assert (found.records, found.used) == (9, 3)
    assert found.left_out["SOFT problem that was never confirmed"] == 1


def test_what_the_log_does_not_see_is_unknown_or_bounded():
    found = read(
        nagios(
            (0, "CURRENT HOST STATE: gx-1;DOWN;HARD;3;lost"),
            (0, "CURRENT SERVICE STATE: gx-2;disk;OK;HARD;1;fine"),
            (100, "HOST DOWNTIME ALERT: gx-2;STARTED; Host has entered a period of scheduled downtime"),
            (200, "HOST ALERT: gx-1;UP;HARD;1;back"),
            (300, "SERVICE ALERT: gx-2;disk;WARNING;HARD;3;slow"),
            (400, "SERVICE ALERT: gx-2;disk;CRITICAL;HARD;3;gone"),
            (500, "HOST DOWNTIME ALERT: gx-2;STOPPED; Host has exited"),
            (600, "Caught SIGTERM, shutting down..."),
            (900, "Nagios 4.4.6 starting... (PID=77)"),
            (950, "SERVICE ALERT: gx-2;disk;SPLENDID;HARD;3;?"),
            (940, "HOST ALERT: gx-1;DOWN;HARD;3;late"),
        ) + "no time at all\n",
        "nagios.log",
    )  # fmt: skip
    assert sorted(spells(found), key=str) == sorted(
        [
            ("gx-1", "down", 0, 200),
            ("gx-1", "unknown", 600, 900),
            ("gx-2", "planned", 100, 500),
            ("gx-2;disk", "degraded", 300, 400),
            ("gx-2;disk", "down", 400, None),
        ],
        key=str,
    )
    assert found.bounds[0].earliest is None
    assert [one.line for one in found.skipped] == [10, 11, 12]
    assert found.records == 12


def test_a_log_cut_off_anywhere_adds_up():
    text = nagios(
        *((n * 100, f"HOST ALERT: gx-1;{'DOWN' if n % 2 else 'UP'};HARD;3;ping") for n in range(40)),
    ).encode()
    for cut in random.Random(12).sample(range(60, len(text)), 20):
        found = read(text[:cut], "nagios.log")
        assert found.records == sum(bool(line) for line in text[:cut].split(b"\n"))
