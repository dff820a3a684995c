"""Node events of Slurm's accounting, and its table of jobs."""

from datetime import UTC, datetime, timedelta

import pytest

from schemas.errors import DealError
from slakit.statements.importers.find import form_of
from slakit.statements.importers.form import Options
from slakit.statements.importers.formats import slurm_sacct
from slakit.statements.importers.imported import Imported
from slakit.statements.importers.log import Log

OSLO = Options(zone="Europe/Oslo")
DEFAULT = "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User"


def read(text: str | bytes, options: Options = OSLO, name: str = "events.txt") -> Imported:
    log = Log(name, text if isinstance(text, bytes) else text.encode())
    return form_of(log).read(log, options)


def table(*rows: str, header: str = DEFAULT) -> str:
    return "\n".join((header, *rows)) + "\n"


def adds_up(found: Imported) -> bool:
    return found.records == found.used + len(found.skipped) + sum(found.left_out.values()) + found.duplicates


def test_a_row_is_an_incident_of_its_node():
    found = read(table("fjord|gx-07|2026-05-01T10:00:00|2026-05-01T12:30:00|DOWN|Low RealMemory|root(0)"))
    (made,) = found.incidents
    assert (found.form, found.records, made.unit_id, made.level, made.state) == (
        "slurm-events",
        1,
        "gx-07",
        "node",
        "down",
    )
    assert made.started_at == datetime(2026, 5, 1, 8, 0, tzinfo=UTC)
    assert made.ended_at == datetime(2026, 5, 1, 10, 30, tzinfo=UTC)
    assert (made.detected_at, made.cause) == (made.started_at, "Low RealMemory")


@pytest.mark.parametrize("end", ["Unknown", "None", ""])
def test_an_open_event_stays_open(end):
    found = read(table(f"fjord|gx-07|2026-05-01T10:00:00|{end}|DOWN|fan|root"))
    assert found.incidents[0].ended_at is None


@pytest.mark.parametrize("header", [DEFAULT, DEFAULT + "|"])
def test_bars_and_breaks_in_a_reason_are_put_back(header):
    bar = "|" if header.endswith("|") else ""
    found = read(
        table(
            f"fjord|gx-07|2026-05-01T10:00:00|2026-05-01T11:00:00|DOWN|fan 1|fan 2|{bar}",
            f"fjord|gx-08|2026-05-01T10:00:00|2026-05-01T11:00:00|DOWN|first line\nsecond line|{bar}",
            f"fjord|gx-09|2026-05-01T10:00:00|2026-05-01T11:00:00|DOWN|plain|{bar}",
            header=header,
        )
    )
    assert [made.cause for made in found.incidents] == ["fan 1|fan 2", "first line second line", "plain"]
    assert found.skipped == ()
    assert found.records == 3


def test_a_cut_row_is_skipped_and_does_not_lose_the_next():
    found = read(
        table(
            "fjord|gx-07|2026-05-01T10:0",
            "fjord|gx-08|2026-05-01T10:00:00|2026-05-01T11:00:00|DOWN|fan|",
            "fjord|gx-09|2026-05-01T10:00:00|2026-05-01T11:00|DOWN|fan|",
            "fjord|gx-10|2026-05-01T10:00:00|2026-05-01T09:00:00|DOWN|fan|",
            "fjord|gx-[1-2]|2026-05-01T10:00:00|2026-05-01T11:00:00|DOWN|fan|",
        )
    )
    assert [made.unit_id for made in found.incidents] == ["gx-08"]
    assert [one.line for one in found.skipped] == [2, 4, 5, 6]
    assert ["3 fields" in found.skipped[0].reason, "is no time" in found.skipped[1].reason] == [True, True]
    assert "is not one node" in found.skipped[3].reason
    assert adds_up(found)


def test_two_rows_that_lack_a_field_are_two_bad_rows_not_one_long_reason():
    row = "fjord|gx-0{}|2026-05-01T10:00:00|2026-05-01T11:00:00|DOWN|fan"
    found = read(table(row.format(7), row.format(8)))
    assert ([one.line for one in found.skipped], found.incidents) == ([2, 3], ())


def test_rows_that_touch_stay_separate_and_a_repeat_is_one():
    down = "fjord|gx-07|2026-05-01T10:00:00|2026-05-01T10:20:00|DOWN*|Not responding|slurm"
    both = "fjord|gx-07|2026-05-01T10:20:00|2026-05-01T12:00:00|DOWN+DRAIN|board|root"
    found = read(table(down, both, down))
    assert [(made.state, len(made.evidence)) for made in found.incidents] == [("down", 1), ("down", 1)]
    assert found.incidents[0].ended_at == found.incidents[1].started_at
    assert found.duplicates == 1


def test_a_node_that_did_not_respond_may_have_failed_up_to_the_timeout_earlier():
    found = read(table("fjord|gx-07|2026-05-01T10:00:00|2026-05-01T10:20:00|DOWN*|Not responding|slurm"))
    (bound,) = found.bounds
    made = found.incidents[0]
    assert (bound.incident, bound.field, bound.latest) == (made.id, "started_at", made.started_at)
    assert bound.earliest == made.started_at - timedelta(seconds=300)


def test_without_a_zone_the_whole_file_is_refused_and_seconds_since_1970_need_none():
    row = "fjord|gx-07|2026-05-01T10:00:00|2026-05-01T12:30:00|DOWN|fan|root"
    with pytest.raises(DealError, match="--zone"):
        read(table(row), Options())
    found = read(table("fjord|gx-07|1777622400|0|DOWN|fan|root"), Options())
    assert found.incidents[0].started_at == datetime.fromtimestamp(1777622400, UTC)
    assert found.incidents[0].ended_at is None


def test_a_time_that_the_spring_skips_is_one_skipped_line():
    found = read(table("fjord|gx-07|2026-03-29T02:30:00|2026-03-29T04:00:00|DOWN|fan|root"))
    assert (len(found.incidents), "does not exist" in found.skipped[0].reason) == (0, True)


def test_the_hour_that_comes_twice_is_read_first_with_a_bound():
    found = read(
        table(
            "fjord|gx-07|2026-10-25T02:30:00|2026-10-25T04:00:00|DOWN|fan|root",
            "fjord|gx-08|2026-10-25T02:50:00|2026-10-25T02:10:00|DOWN|fan|root",
        )
    )
    one, two = found.incidents
    assert one.started_at == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    assert two.ended_at - two.started_at == timedelta(minutes=20)
    assert {(b.incident, b.latest - b.earliest) for b in found.bounds} == {
        (one.id, timedelta(hours=1)),
        (two.id, timedelta(hours=1)),
    }
    assert any("an hour later" in note for note in found.notes)
    named = [note for note in found.notes if note.startswith("gx-0")]
    assert "gx-07 starts at 2026-10-25 00:30:00 UTC as read, or at 2026-10-25 01:30:00 UTC" in named[0]
    assert "gx-08 starts at" in named[1] or "gx-08 ends at" in named[1]


@pytest.mark.parametrize(
    ("written", "state"),
    [
        ("DOWN", "down"),
        ("IDLE+DRAIN", "down"),
        ("DRAINED", "down"),
        ("MIXED+DRAIN", "degraded"),
        ("DRAINING", "degraded"),
        ("IDLE+MAINT", "planned"),
        ("IDLE+DRAIN+MAINT", "planned"),
        ("DOWN+MAINT", "down"),
        ("IDLE*", "down"),
        ("REBOOT_ISSUED", "degraded"),
        ("FUTURE", "unknown"),
        ("UNKNOWN", "unknown"),
        ("WOBBLING", "unknown"),
        ("", "unknown"),
    ],
)
def test_states_are_taken_by_the_table(written, state):
    found = read(table(f"fjord|gx-07|2026-05-01T10:00:00|2026-05-01T12:00:00|{written}|words|root"))
    assert found.incidents[0].state == state
    assert bool(found.unknown_states) == (state == "unknown")


def test_a_state_without_effect_is_left_out():
    found = read(table("fjord|gx-07|2026-05-01T10:00:00|2026-05-01T12:00:00|IDLE+CLOUD|words|root"))
    assert (found.incidents, found.left_out) == ((), {"state IDLE+CLOUD: no outage": 1})


def test_an_event_of_the_cluster_names_no_node():
    found = read(table("fjord||2026-05-01T10:00:00|2026-05-01T12:00:00||Cluster Registered TRES|"))
    assert found.left_out == {"an event of the cluster's size, which names no node": 1}


def test_asked_columns_in_any_order_are_read_and_missing_ones_refused():
    found = read(table("fan|2026-05-01T10:00:00|gx-07|Unknown", header="Reason|TimeStart|NodeName|TimeEnd"))
    assert (found.incidents[0].state, found.unknown_states) == ("unknown", {"(no column State)": 1})
    with pytest.raises(DealError, match="no column NodeName"):
        read(table("2026-05-01T10:00:00|Unknown", header="TimeStart|TimeEnd"))


def test_an_end_cut_off_with_the_file_is_not_an_open_end():
    text = table("gx-07|DOWN|2026-05-01T10:00:00|2026-05-01T12:00:00", header="NodeName|State|TimeStart|TimeEnd")
    cut = text[: text.index("2026-05-01T12")]
    assert read(cut).incidents == ()
    assert "cut off" in read(cut).skipped[0].reason


def test_a_printed_duration_is_compared_and_never_used():
    head = DEFAULT + "|Duration"
    found = read(
        table(
            "fjord|gx-07|2026-05-01T10:00:00|2026-05-01T12:00:00|DOWN|fan|root|02:00:00",
            "fjord|gx-08|2026-05-01T10:00:00|2026-05-02T12:00:00|DOWN|fan|root|1-02:30:00",
            header=head,
        )
    )
    assert found.incidents[1].ended_at - found.incidents[1].started_at == timedelta(hours=26)
    assert any("1 of 2 rows (lines 3)" in note for note in found.notes)


FIXED = """\
   Cluster        NodeName           TimeStart             TimeEnd  State                         Reason       User
---------- --------------- ------------------- ------------------- ------ ------------------------------ ----------
     fjord           gx-07 2026-05-01T10:00:00 2026-05-01T12:00:00   DOWN board number two was taken ou+       root
     fjord           gx-08 2026-05-01T10:00:00             Unknown IDLE++ fan                                  root
     fjord gx-long-name-a+ 2026-05-01T10:00:00             Unknown   DOWN fan                                  root
     fjord           gx-09 2026-05-01T10:00:00             Unknown DOWN*+ fan                                  root
     fjord      gx-10 moved by two 2026-05-01T10:00:00     Unknown   DOWN fan                                  root
"""


def test_fixed_widths_are_read_by_the_line_of_dashes():
    found = read(FIXED)
    assert [(made.unit_id, made.state) for made in found.incidents] == [
        ("gx-07", "down"),
        ("gx-08", "unknown"),
        ("gx-09", "down"),
    ]
    assert found.incidents[0].cause == "board number two was taken ou+"
    assert [one.line for one in found.skipped] == [5, 7]
    assert found.unknown_states == {"IDLE++ (cut off)": 1}
    assert any("fixed widths cut values off" in note for note in found.notes)


def test_fixed_widths_without_dashes_are_refused():
    lines = FIXED.splitlines(keepends=True)
    with pytest.raises(DealError, match="sacctmgr show events -P"):
        read(lines[0] + "".join(lines[2:]))


def test_names_of_users_stay_out_unless_asked_for():
    rows = table(
        "fjord|gx-07|2026-05-01T10:00:00|Unknown|DOWN|quimby pulled it [quimby@2026-05-01T10:00:00]|quimby(4242)",
        "fjord|gx-08|2026-05-01T1|quimby",
    )
    found = read(rows)
    shown = repr(found)
    assert "quimby" not in shown
    assert "4242" not in shown
    assert found.incidents[0].cause == "[name withheld] pulled it"
    named = read(rows, Options(zone="Europe/Oslo", with_names=True))
    assert named.incidents[0].cause == "quimby pulled it"
    assert "quimby(4242)" in named.incidents[0].evidence[0].text


def test_signs_that_cannot_be_seen_and_bytes_that_are_not_text_are_shown_as_numbers():
    row = "fjord|gx-07|2026-05-01T10:00:00|Unknown|DOWN|bad \u202efan\x00 ".encode() + b"\xff|root\n"
    found = read(DEFAULT.encode() + b"\n" + row)
    assert "<U+202E>" in found.incidents[0].cause
    assert "<U+0000>" in found.incidents[0].cause


# Jobs

JOBS = """\
JobID|JobName|User|State|Start|End|NodeList
71|sim|quimby|COMPLETED|2026-05-01T10:00:00|2026-05-01T11:00:00|gx-01
71.batch|batch||COMPLETED|2026-05-01T10:00:00|2026-05-01T11:00:00|gx-01
72|sim|quimby|NODE_FAIL|2026-05-01T10:00:00|2026-05-01T11:30:00|gx-[01-03]
72.0|sim||CANCELLED by 4242|2026-05-01T10:00:00|2026-05-01T11:30:00|gx-[01-03]
73|a|job|quimby|COMPLETED
72|sim|quimby|NODE_FAIL|2026-05-01T10:00:00|2026-05-01T11:30:00|gx-[01-03]
"""


def test_jobs_are_refused_with_the_true_reason_and_their_account():
    log = Log("jobs.txt", JOBS.encode())
    form = form_of(log)
    assert (form.id, form.holds_outages) == ("slurm-sacct", False)
    with pytest.raises(DealError, match="hold no outage of a node") as error:
        form.read(log, Options())
    said = str(error.value)
    assert "6 rows" in said
    assert "1 cannot be read, lines 6: 5 fields under a header of 7" in said
    assert "line 4: a job ended NODE_FAIL at 2026-05-01T11:30:00, on one or more of gx-01, gx-02, gx-03" in said
    assert "quimby" not in said


def test_the_account_of_jobs_adds_up():
    found = slurm_sacct.account(Log("jobs.txt", JOBS.encode()), Options())
    assert adds_up(found)
    assert (found.records, found.duplicates, len(found.skipped), found.incidents) == (6, 1, 1, ())
    assert "quimby" not in repr(found)


def test_jobs_with_another_delimiter_are_jobs_too():
    log = Log("jobs.txt", JOBS.replace("|", "^").encode())
    assert form_of(log).id == "slurm-sacct"
    with pytest.raises(DealError, match="6 rows"):
        form_of(log).read(log, Options())
