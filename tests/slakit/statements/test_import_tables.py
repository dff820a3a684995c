"""Tables with a start and an end, and traces of faults."""

import csv
import io
import json
import random
from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from schemas.errors import DealError
from schemas.incidents import Incident
from slakit.statements.importers.find import form_of
from slakit.statements.importers.form import Options
from slakit.statements.importers.imported import Imported
from slakit.statements.importers.log import Log

ONE_UNIT = Options(unit_id="page")


def read(text: str | bytes, name: str, options: Options | None = None) -> Imported:
    log = Log(name, text if isinstance(text, bytes) else text.encode())
    return form_of(log).read(log, options or Options())


def seconds(incidents: tuple[Incident, ...]) -> Decimal:
    return sum(
        (Decimal((i.ended_at - i.started_at) // timedelta(microseconds=1)) / 10**6 for i in incidents if i.ended_at),
        Decimal(0),
    )


def table(*rows: str) -> str:
    return "\n".join(rows) + "\n"


# A table of outages


def test_the_names_of_columns_tell_their_roles():
    found = read(table("Host;Began;Restored;Reason", "gx-1;2026-05-01T10:00Z;2026-05-01T12:30Z;fan"), "o.csv")
    (made,) = found.incidents
    assert (found.form, made.unit_id, made.cause, made.state) == ("outage-table", "gx-1", "fan", "down")
    assert seconds(found.incidents) == 9000
    assert "start = 'Began', end = 'Restored', unit = 'Host'" in found.notes[0]


@pytest.mark.parametrize("end", ["", "Unknown", "?", "None", "ongoing"])
def test_an_open_end_has_many_spellings(end):
    found = read(table("node,start,end", f"gx-1,2026-05-01T10:00Z,{end}"), "o.csv")
    assert found.incidents[0].ended_at is None


def test_a_table_without_units_needs_one_named():
    text = table("start,end", "2026-05-01T10:00Z,2026-05-01T12:30Z")
    with pytest.raises(DealError, match="no column that names the unit"):
        read(text, "o.csv")
    assert read(text, "o.csv", ONE_UNIT).incidents[0].unit_id == "page"


def test_a_word_that_no_table_knows_is_unknown_and_none_is_no_outage():
    rows = [f"gx-{n},2026-05-01T10:00Z,2026-05-01T11:00Z,{word}" for n, word in
            enumerate(["critical", "minor", "maintenance", "none", "wobbly", ""])]  # fmt: skip
    found = read(table("node,start,end,impact", *rows), "o.csv")
    assert [made.state for made in found.incidents] == ["down", "degraded", "planned", "unknown", "unknown"]
    assert found.unknown_states == {"wobbly": 1, "(blank)": 1}
    assert found.left_out == {"impact 'none': reports no outage": 1}


def test_a_printed_duration_is_compared_and_never_used():
    found = read(
        table(
            "node,start,end,duration_minutes",
            "a,2026-05-01T10:00Z,2026-05-01T11:00Z,60",
            "b,2026-05-01T10:00Z,2026-05-01T11:00Z,59",
            "c,2026-05-01T10:00Z,2026-05-01T11:00Z,120",
            "d,2026-05-01T10:00Z,2026-05-01T11:00Z,about an hour",
        ),
        "o.csv",
    )
    assert seconds(found.incidents) == 4 * 3600
    (note,) = [note for note in found.notes if "differs" in note]
    assert "2 of 3 rows" in note
    assert "1 by +1 min, 1 by -60 min" in note
    assert "lines 3, 4" in note
    assert any("not compared in 1 rows" in note for note in found.notes)


def test_elapsed_time_across_a_change_of_clocks_agrees_with_the_printed_minutes():
    # failure records of the kind of section 7 of the layouts: local clock, elapsed minutes, one hour more in autumn
    text = table(
        "System,nodenum,Prob Started,Prob Fixed,Down Time,Facilities,Hardware",
        "20,7,11/4/2028 22:00,11/5/2028 6:00,540,,Fan",
        "20,7,3/11/2028 22:00,3/12/2028 6:00,420,Chiller,",
        "19,7,6/13/2028 1:00,6/13/2028 1:30,31,,",
    )
    found = read(text, "failures.csv", Options(zone="America/Denver"))
    assert [made.unit_id for made in found.incidents] == ["20/7", "20/7", "19/7"]
    assert [made.cause for made in found.incidents] == ["Hardware: Fan", "Facilities: Chiller", None]
    assert any("1 of 3 rows" in note and "1 by -1 min" in note for note in found.notes)
    with pytest.raises(DealError, match="times without an offset"):
        read(text, "failures.csv")


def test_a_time_that_comes_twice_is_a_bound():
    text = table("node,start,end", "gx-1,2026-10-25 02:30,2026-10-25 02:10", "gx-2,2026-10-25 01:00,2026-10-25 02:10")
    found = read(text, "o.csv", Options(zone="Europe/Oslo"))
    assert [one.ended_at for one in found.incidents] == [
        datetime(2026, 10, 25, 1, 10, tzinfo=UTC),  # before its start at the first reading
        datetime(2026, 10, 25, 0, 10, tzinfo=UTC),
    ]
    assert {(one.field, one.latest - one.earliest) for one in found.bounds if one.latest and one.earliest} == {
        ("started_at", timedelta(hours=1)),
        ("ended_at", timedelta(hours=1)),
    }


def test_a_time_that_the_clock_skips_is_a_bad_line():
    text = table("node,start,end", "gx-1,2026-03-29 02:30,2026-03-29 04:10", "gx-2,2026-03-30 02:30,2026-03-30 04:10")
    found = read(text, "o.csv", Options(zone="Europe/Oslo"))
    assert [one.unit_id for one in found.incidents] == ["gx-2"]
    assert "does not exist" in found.skipped[0].reason


def test_dates_whose_order_cannot_be_told_are_refused():
    with pytest.raises(DealError, match="no number above 12"):
        read(table("node,start,end", "a,3/4/2026 1:00,3/4/2026 2:00"), "o.csv", Options(zone="UTC"))
    found = read(
        table("node,start,end", "a,3/4/2026 1:00,3/4/2026 2:00 PM", "b,3/14/2026 1:00 AM,3/14/2026 2:00"), "o.csv",
        Options(zone="UTC"),
    )  # fmt: skip
    assert [made.started_at.month for made in found.incidents] == [3, 3]
    assert found.incidents[0].ended_at == datetime(2026, 3, 4, 14, tzinfo=UTC)


@pytest.mark.parametrize("count", ["sys_mod_count", "changes"])
def test_the_row_of_a_ticket_changed_last_counts(count: str):
    # tickets of the kind that a service desk exports: one row a change, `?` where nothing is known
    text = table(
        f"number,incident_state,{count},opened_at,sys_updated_at,resolved_at,cmdb_ci,caller_id,short_description",
        "T77,New,0,29-02-2028 01:16,29-02-2028 01:23,?,rack-3,Kim Ode,fan of Kim Ode",
        "T77,Closed,2,29-02-2028 01:16,05-03-2028 12:00,29-02-2028 11:29,rack-3,Kim Ode,fan of Kim Ode",
        "T77,Active,1,29-02-2028 01:16,29-02-2028 08:53,?,rack-3,Kim Ode,fan of Kim Ode",
        "T78,New,0,01-03-2028 01:00,01-03-2028 01:00,?,?,Kim Ode,pump",
    )
    found = read(text, "tickets.csv", Options(zone="UTC"))
    (made,) = found.incidents
    assert (found.records, found.duplicates, len(found.skipped)) == (4, 2, 1)
    assert (made.started_at, made.notice_at) == (datetime(2028, 2, 29, 1, 16, tzinfo=UTC),) * 2
    assert made.ended_at == datetime(2028, 2, 29, 11, 29, tzinfo=UTC)
    assert found.bounds[0].earliest is None
    assert "Kim" not in str(found)
    assert "Kim" in str(read(text, "tickets.csv", Options(zone="UTC", with_names=True)))


def test_rows_that_are_equal_count_once():
    row = "gx-1,2026-05-01T10:00Z,2026-05-01T12:00Z"
    found = read(table("node,start,end", row, row, row.replace("gx-1", "gx-2")), "o.csv")
    assert (len(found.incidents), found.duplicates, found.records) == (2, 1, 3)


def test_the_published_windows_add_up(logs: Path):
    path = logs / "status-page" / "github_downtime_windows.csv"
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))
    found = read(path.read_bytes(), path.name, ONE_UNIT)
    counted = [row for row in rows if row["impact"] != "none"]
    assert (found.records, len(found.incidents), sum(found.left_out.values())) == (819, len(counted), 31)
    assert seconds(found.incidents) == sum(int(row["duration_minutes"]) for row in counted) * 60
    assert Counter(made.state for made in found.incidents) == {
        "degraded": sum(row["impact"] == "minor" for row in rows),
        "down": sum(row["impact"] in ("major", "critical") for row in rows),
        "planned": sum(row["impact"] == "maintenance" for row in rows),
    }
    assert sum(seconds((made,)) > 86400 for made in found.incidents) == 21  # of 22; one has impact none
    assert not found.skipped
    assert not found.unknown_states


def test_the_published_windows_cut_off_anywhere_add_up(logs: Path):
    data = (logs / "status-page" / "github_downtime_windows.csv").read_bytes()
    whole = {str(made) for made in read(data, "w.csv", ONE_UNIT).incidents}
    for cut in random.Random(4).sample(range(200, len(data)), 20):
        found = read(data[:cut], "w.csv", ONE_UNIT)
        assert found.records == sum(bool(line) for line in data[:cut].split(b"\n")) - 1
        assert sum(str(made) not in whole for made in found.incidents) <= 1  # the line cut in its last word


def test_a_table_of_jobs_is_no_table_of_outages():
    log = Log("jobs.csv", b"Job_Name,Node,Start,End\n7,gx-1,2026-05-01T10:00Z,2026-05-01T12:00Z\n")
    with pytest.raises(DealError, match="expected one of the formats known"):
        form_of(log)
    with pytest.raises(DealError, match="starts and ends of jobs"):
        form_of(log, "outage-table").read(log, Options())


# A trace of faults


def event(node: str, day: str, kind: str, what: str = "GPU") -> str:
    return (
        f'{{"node_id": "{node}", "event_time": {day}, "event_type": "fault_{kind}", '
        f'"fault_type": {{"Level": "Hardware", "Class": "{what}"}}}}'
    )


def trace(*events: str) -> str:
    return "[\n" + ",\n".join(events) + "\n]"


def test_faults_that_overlap_on_one_node_are_one_outage():
    text = trace(
        event("a", "1.5", "start"),
        event("a", "1.75", "start", "NIC"),
        event("b", "1.8", "start"),
        event("a", "2.0", "end"),
        event("b", "2.1", "end", "NIC"),
        event("a", "3.0", "end", "NIC"),
        event("c", "3.25", "start"),
        event("c", "3.25", "end"),
    )
    found = read(text, "trace.json", Options(zone="UTC"))
    spells = {made.unit_id: made for made in found.incidents}
    assert spells["a"].started_at == datetime(2024, 3, 31, 12, tzinfo=UTC)
    assert spells["a"].ended_at == datetime(2024, 4, 2, tzinfo=UTC)
    assert [one.line for one in spells["a"].evidence] == [2, 3, 5, 7]
    assert spells["b"].ended_at is None
    assert spells["c"].ended_at == spells["c"].started_at
    assert (found.records, found.used) == (8, 7)
    assert found.skipped[0].line == 6


def test_a_trace_without_a_day_0_is_refused():
    with pytest.raises(DealError, match="since a day 0 that the file does not hold"):
        read(trace(event("a", "1.5", "start")), "trace.json")


def test_the_published_trace_adds_up(logs: Path):
    path = logs / "gpu-fault-trace" / "infinitehbd_fault_trace_a.json"
    events = json.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
    found = read(path.read_bytes(), path.name, Options(zone="UTC"))
    began: dict[str, list[tuple[str, Decimal]]] = defaultdict(list)
    lasted, zero = Decimal(0), 0
    for one in events:
        key = str(one["node_id"]) + str(one["fault_type"])
        if one["event_type"] == "fault_start":
            began[key].append(one["event_time"])
        else:
            day = one["event_time"] - began[key].pop()
            lasted, zero = lasted + day, zero + (day == 0)
    still = sum(map(len, began.values()))
    assert (found.records, found.used, len(found.incidents)) == (560, 560, 282)
    assert sum(made.ended_at is None for made in found.incidents) == still == 4
    assert sum(made.ended_at == made.started_at for made in found.incidents) == zero == 14
    assert seconds(found.incidents) == lasted * 86400
    assert all(one.line for made in found.incidents for one in made.evidence)


def test_the_published_trace_cut_off_anywhere_is_refused(logs: Path):
    data = (logs / "gpu-fault-trace" / "infinitehbd_fault_trace_a.json").read_bytes()
    for cut in random.Random(5).sample(range(200, len(data) - 3), 20):
        with pytest.raises(DealError, match="expected JSON"):
            read(data[:cut], "trace.json", Options(zone="UTC"))


def test_the_published_totals_are_refused_because_they_hold_no_times(logs: Path):
    path = logs / "gpu-fault-trace" / "infinitehbd_fault_statistics.json"
    with pytest.raises(DealError, match="counts of faults by kind, without nodes or times"):
        read(path.read_bytes(), path.name)
