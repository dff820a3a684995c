"""Logs and record files to the records of a statement: names, repeats, order, and every problem at once."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from schemas.errors import DealError, MissingTermError
from slakit.load import load_deal
from slakit.reports.credit_statement.statement import html
from slakit.reports.credits_terminal import answer, details, read_words
from slakit.statements.gather import Sources, gathered
from slakit.statements.importers.form import Options
from slakit.statements.record_files import read_records
from slakit.statements.words import NOTHING_READ

HEAD = "unit_id,started_at,ended_at,cause,cause_party\n"
ONE = HEAD + "n02,2026-10-03T07:14Z,2026-10-03T14:41Z,xid 79,provider\n"


def units_of(stated):
    return [(incident.unit_id, incident.started_at) for incident in stated.gathered.records.incidents]


@pytest.mark.parametrize("name", ["n02", "N02", " n02 ", "n02.ridge.example", "N02.Ridge.Example"])
def test_a_log_name_leads_to_its_unit_by_id_or_pattern_in_any_case(state, name):
    found = state(HEAD + f"{name},2026-10-03T07:14Z,2026-10-03T14:41Z,xid 79,provider\n")
    assert [unit for unit, _ in units_of(found)] == ["n02"]
    assert not found.gathered.not_mapped


@pytest.mark.parametrize(
    "name", ["n13", "n2", "xn02", "n02.ridge", "n02.ridge.example.org", "n02 n03", "ridge.example"]
)
def test_a_name_that_fits_no_unit_is_listed_with_its_records_and_counts_nothing(state, name):
    row = f"{name},2026-10-03T07:14Z,2026-10-03T14:41Z,xid 79,provider\n"
    met = "n03,2026-10-03T07:14Z,2026-10-03T07:24Z,nic,provider\n"
    found = state(HEAD + met + row + row.replace("07:14", "06:14"))
    assert found.gathered.not_mapped == {name: 2}
    assert [incident.unit_id for incident in found.gathered.records.incidents] == ["n03"]
    assert found.document["not_mapped"] == {name: 2}
    assert found.document["total"]["amount"] == "0.00"


PROMETHEUS = (
    '{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"up","instance":"%s"},'
    '"values":[[1791000000,"1"],[1791000060,"%s"],[1791000120,"1"]]}]}}'
)


@pytest.mark.parametrize("seen", ["0", "1"])
def test_a_log_of_which_no_record_belongs_to_a_unit_is_refused_with_the_names_of_both_sides(state, ridge, seen):
    log = {"prom_json": PROMETHEUS % ("n02:9100", seen)}
    with pytest.raises(DealError, match="no record of the logs belongs to a unit of the contract") as caught:
        state(log)
    said = str(caught.value)
    assert all(words in said for words in ("n02:9100", "n01, n02, n03", "log_names", "--units"))
    named = ridge.replace('"{}.ridge.example"', '"{}:*"')
    assert state(log, named).document["total"]["amount"] == "0.00"


def test_a_log_of_strangers_beside_one_of_units_is_named(state):
    strangers = HEAD + "login1,2026-10-03T07:14Z,2026-10-03T14:41Z,xid 79,provider\n"
    document = state({"a_csv": ONE, "b_csv": strangers}).document
    assert document["warnings"] == ["b.csv: none of its records belongs to a unit of the contract"]
    assert document["total"] == state(ONE).document["total"]


def test_a_log_without_a_row_says_that_nothing_was_read(state):
    document = state(HEAD).document
    assert document["nothing_read"]
    assert answer(document) == NOTHING_READ
    page = html(state(HEAD).deal, document)
    assert NOTHING_READ in page
    assert "No unit missed its target" not in page + " ".join(details(document))
    assert not state(ONE).document["nothing_read"]


def test_a_period_before_any_unit_is_in_service_is_refused_with_the_first_day(state):
    with pytest.raises(DealError, match=r"2025-11, in which no unit is in service: the first .* from 2026-01-12"):
        state(ONE, periods="2025-11")
    assert state(ONE, periods="2025-12..2026-01").document["periods"]


def test_a_period_after_the_time_of_the_statement_is_refused(state):
    with pytest.raises(DealError, match=r"2026-10, of which nothing is known at 2026-10-01 05:00 UTC"):
        state(ONE, as_of=datetime(2026, 10, 1, 5, tzinfo=UTC))
    assert state(ONE, as_of=datetime(2026, 10, 1, 5, 1, tzinfo=UTC)).document["periods"]


def test_where_every_record_is_skipped_the_missing_period_says_why(state):
    with pytest.raises(DealError, match="no outage on record") as caught:
        state(HEAD + "n02,2026-10-03T14:41Z,2026-10-03T07:14Z,xid 79,provider\n", periods=None)
    said = str(caught.value)
    assert "1 of the records skipped, the first (log.csv, line 2) because" in said
    assert "Value error" not in said


KUBERNETES = (
    '{"kind":"Node","metadata":{"name":"n02"},"status":{"conditions":[{"type":"Ready","status":"False",'
    '"reason":"KubeletNotReady","message":"runtime","lastTransitionTime":"2026-10-03T07:00:00Z"}]}}'
)
SCRAPE = 'DCGM_FI_DEV_XID_ERRORS{gpu="1",Hostname="n02"} 79\n'


def minutes_of(found, unit):
    (line,) = [one for one in found.document["periods"] if one["unit"] == unit]
    return line["down_minutes"], line["unknown_minutes"]


def test_a_snapshot_is_known_up_to_its_capture_and_unknown_after_it(state):
    taken = datetime(2026, 10, 3, 9, tzinfo=UTC)
    found = state({"nodes_json": KUBERNETES}, options=Options(captured_at=taken))
    end = datetime(2026, 11, 1, 5, tzinfo=UTC)
    assert minutes_of(found, "n02") == (120, (end - taken).total_seconds() / 60)
    assert "nodes.json was taken at 2026-10-03 09:00:00 UTC" in found.document["warnings"][0]
    assert next(read_words(found.document)).startswith("nodes.json was taken")
    assert not any("count up to" in note for note in found.document["notes"])


def test_a_snapshot_that_nobody_dates_counts_on_and_says_so_first(state):
    found = state({"nodes_json": KUBERNETES})
    assert minutes_of(found, "n02")[1] == 0
    assert "--captured-at" in found.document["warnings"][0]
    assert "--captured-at" in next(read_words(found.document))


def test_a_scrape_knows_no_downtime_before_it_or_after_it(state):
    taken = datetime(2026, 10, 3, 9, tzinfo=UTC)
    found = state({"scrape_prom": SCRAPE}, options=Options(captured_at=taken))
    assert minutes_of(found, "n02") == (0, (datetime(2026, 11, 1, 5, tzinfo=UTC) - taken).total_seconds() / 60)


def test_a_snapshot_that_dates_itself_is_known_up_to_that(state):
    reply = {
        "last_update": 1791018000,  # 2026-10-03 09:00 UTC
        "meta": {},
        "errors": [],
        "nodes": [{"name": "n02", "state": ["DOWN"], "reason": "gpu", "reason_changed_at": 1791010800}],
    }
    found = state({"nodes_json": json.dumps(reply)})
    assert minutes_of(found, "n02")[0] == 120


def test_of_two_snapshots_the_newer_is_the_end_of_what_is_known(files, ridge):
    head = "HOSTNAMES|STATE|REASON|USER|TIMESTAMP\n"
    down = "n02|down|gpu|root|2026-10-03T07:00:00\n"
    written = files(deal_yaml=ridge, a_psv=head + down, b_psv=head + down)
    taken = (datetime(2026, 10, 3, 8, tzinfo=UTC), datetime(2026, 10, 3, 11, tzinfo=UTC))
    sources = Sources((written["a_psv"], written["b_psv"]), captured=taken)
    found = gathered(load_deal(written["deal_yaml"]).deal, sources, Options(zone="UTC"))
    assert [
        (one.state, one.started_at.hour, one.ended_at and one.ended_at.hour) for one in found.records.incidents
    ] == [
        ("down", 7, 11),
        ("unknown", 11, None),
    ]


def test_a_log_with_more_incidents_than_a_statement_can_show_is_refused(state, monkeypatch):
    monkeypatch.setattr("slakit.statements.gather.MOST_INCIDENTS", 1)
    with pytest.raises(DealError, match=r"2 incidents; expected at most 1 in one statement; .*--nodes"):
        state(ONE + "n03,2026-10-03T07:14Z,2026-10-03T07:24Z,nic,provider\n")


def test_a_name_that_two_patterns_lead_to_different_units_is_refused(state, ridge):
    deal = ridge.replace('"{}.ridge.example"', '"{}-*", "*-{}"')
    with pytest.raises(DealError, match=r"'n02-n03', which stands for n02 and n03"):
        state(ONE.replace("n02", "n02-n03"), deal)


def test_a_pattern_without_a_place_for_the_id_is_refused(state, ridge):
    with pytest.raises(DealError, match=r"a pattern with \{\} in the place of the id"):
        state(ONE, ridge.replace('"{}.ridge.example"', '"node.ridge.example"'))


def test_records_that_say_the_same_become_one_and_keep_the_evidence_of_both(state):
    found = state({"a_csv": ONE, "b_csv": ONE})
    (incident,) = found.gathered.records.incidents
    assert [str(line) for line in incident.evidence] == ["a.csv:2", "b.csv:2"]
    assert found.gathered.merged == found.document["merged"] == 1
    assert found.document["total"] == state(ONE).document["total"]


def test_records_that_differ_in_one_field_stay_apart_and_no_minute_counts_twice(state):
    found = state({"a_csv": ONE, "b_csv": ONE.replace("xid 79", "xid 48")})
    assert len(found.gathered.records.incidents) == 2
    assert found.document["total"] == state(ONE).document["total"]


def test_the_order_of_files_and_rows_changes_nothing(state):
    rows = [
        "n02,2026-10-03T07:14Z,2026-10-03T14:41Z,xid 79,provider\n",
        "n02,2026-10-03T14:00Z,2026-10-03T16:00Z,nic,provider\n",
        "n07,2026-10-05T01:00Z,2026-10-05T03:00Z,nic,provider\n",
        "n07,2026-10-09T01:00Z,,psu,provider\n",
    ]
    first = state({"a_csv": HEAD + "".join(rows[:2]), "b_csv": HEAD + "".join(rows[2:])})
    turned = state({"b_csv": HEAD + "".join(rows[:1:-1]), "a_csv": HEAD + "".join(rows[1::-1])})

    def without_places(document):
        """Leave out what names a row: records, evidence and steps carry its number."""
        return [
            {k: v for k, v in line.items() if "minutes" in k or k in ("unit", "payable", "availability")}
            for line in document["periods"]
        ]

    assert units_of(first) == units_of(turned)
    assert without_places(first.document) == without_places(turned.document)
    assert first.document["total"] == turned.document["total"]


def test_the_same_files_in_another_order_give_the_same_lines_and_steps(state):
    parts = {"a_csv": ONE, "b_csv": ONE.replace("n02", "n03")}
    first, turned = state(parts), state(dict(reversed(parts.items())))
    assert first.document["periods"] == turned.document["periods"]
    assert first.document["incidents"] == turned.document["incidents"]


def test_time_of_one_monitor_that_is_down_and_unknown_at_once_is_down(state):
    head = "unit_id,state,started_at,ended_at,monitor_id\n"
    down, unknown = (
        "n02,down,2026-10-03T07:00Z,2026-10-03T09:00Z,m1\n",
        "n02,unknown,2026-10-03T08:00Z,2026-10-03T10:00Z,m1\n",
    )
    (line,) = [one for one in state(head + unknown + down).document["periods"] if one["unit"] == "n02"]
    assert (line["counted_minutes"], line["unknown_minutes"]) == (120, 60)


def test_an_open_record_counts_up_to_the_time_of_the_statement(state):
    found = state(HEAD + "n02,2026-10-03T07:00Z,,nic,provider\n", as_of=datetime(2026, 10, 3, 9, tzinfo=UTC))
    (line,) = [one for one in found.document["periods"] if one["unit"] == "n02"]
    assert line["counted_minutes"] == 120


def test_a_deal_without_units_says_where_to_name_them(files, ridge):
    written = files(deal_yaml=ridge[: ridge.index("operations:")], log_csv=ONE)
    deal = load_deal(written["deal_yaml"]).deal
    with pytest.raises(MissingTermError, match=r"operations\.units"):
        gathered(deal, Sources((written["log_csv"],)), Options())


def test_problems_of_all_files_come_at_once(files, ridge):
    written = files(
        deal_yaml=ridge,
        log_csv="nothing, that, is a log\n1,2,3\n",
        windows_csv="id,kind,starts_at,ends_at\nw1,holiday,2026-10-12T05:00Z,2026-10-12T07:00Z\n",
        notices_csv="id,kind,sent_at\nm1,maintenance,tomorrow\n",
    )
    sources = Sources((written["log_csv"],), windows=written["windows_csv"], notices=written["notices_csv"])
    with pytest.raises(DealError, match="found") as caught:
        gathered(load_deal(written["deal_yaml"]).deal, sources, Options())
    said = str(caught.value)
    assert all(name in said for name in ("log.csv", "windows.csv", "notices.csv"))


WINDOWS = [
    {
        "id": "w1",
        "kind": "scheduled",
        "starts_at": "2026-10-12T05:00Z",
        "ends_at": "2026-10-12T07:00Z",
        "unit_ids": ["n05", "n06"],
        "notice_id": "m1",
    },
    {
        "id": "w2",
        "kind": "emergency",
        "starts_at": "2026-10-13T05:00Z",
        "ends_at": "2026-10-13T07:00Z",
        "unit_ids": ["n07"],
    },
]
FORMS = {
    "records.csv": "id,kind,starts_at,ends_at,unit_ids,notice_id\n"
    "w1,scheduled,2026-10-12T05:00Z,2026-10-12T07:00Z,n05;n06,m1\n\n"
    "w2,emergency,2026-10-13T05:00Z,2026-10-13T07:00Z,n07,\n",
    "records.json": json.dumps(WINDOWS),
    "keyed.json": json.dumps({"windows": WINDOWS, "notices": []}),
    "records.jsonl": "\n".join(json.dumps(row) for row in WINDOWS) + "\n",
    "records.yaml": json.dumps({"windows": WINDOWS}, indent=1),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_a_record_file_gives_the_same_records(tmp_path, name):
    path, plain = tmp_path / name, tmp_path / "plain.json"
    path.write_text(FORMS[name])
    plain.write_text(json.dumps(WINDOWS))
    assert read_records(path, "windows") == read_records(plain, "windows")
    assert [window.id for window in read_records(path, "windows")] == ["w1", "w2"]


def test_a_record_file_names_every_problem_with_its_line(tmp_path):
    path = tmp_path / "w.csv"
    path.write_text(
        "id,kind,starts_at,ends_at,colour\nw1,holiday,2026-10-12T05:00Z,2026-10-12T07:00Z,\n"
        "w2,scheduled,2026-10-12T05:00Z,yesterday,\nw3,scheduled,2026-10-12T05:00Z,2026-10-12T07:00Z,red\n"
    )
    with pytest.raises(DealError, match="holiday") as caught:
        read_records(path, "windows")
    assert {problem.line for problem in caught.value.problems} == {2, 3, 4}
    assert {Path(problem.file).name for problem in caught.value.problems} == {"w.csv"}


def test_a_row_with_a_cell_too_many_is_named_and_loses_nothing_in_silence(tmp_path):
    path = tmp_path / "w.csv"
    path.write_text("id,kind,starts_at,ends_at\nw1,scheduled,2026-10-12T05:00Z,2026-10-12T07:00Z,extra\n")
    with pytest.raises(DealError, match="5 cells") as caught:
        read_records(path, "windows")
    assert caught.value.problems[0].line == 2


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "id,id\n1,2\n"),
        ("a.json", '{"holidays": []}'),
        ("a.json", "[1, 2"),
        ("a.yaml", "windows: 7\n"),
        ("a.jsonl", '{"id": "w1"}\n{"id": \n'),
    ],
)
def test_what_is_no_record_file_is_refused(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(DealError, match="found"):
        read_records(path, "windows")


def test_a_file_of_units_without_a_row_is_an_error_and_not_the_units_of_the_deal(state):
    with pytest.raises(DealError, match="a file without a unit"):
        state(ONE, units="unit_id,level,service,monthly_fee\n")


@pytest.mark.parametrize("kind", ["units", "windows"])
def test_a_file_without_rows_and_with_columns_of_nothing_is_refused(tmp_path, kind):
    path = tmp_path / "junk.csv"
    path.write_text("hello,world\n")
    with pytest.raises(DealError, match="the column 'hello'"):
        read_records(path, kind)
