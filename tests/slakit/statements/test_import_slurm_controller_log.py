"""The log of Slurm's controller."""

from datetime import UTC, datetime, timedelta

import pytest

from schemas.errors import DealError
from slakit.statements.importers.find import form_of
from slakit.statements.importers.form import Options
from slakit.statements.importers.imported import Imported
from slakit.statements.importers.log import Log

UTC_ZONE = Options(zone="UTC")


def read(*lines: str, options: Options = UTC_ZONE) -> Imported:
    log = Log("slurmctld.log", ("\n".join(lines) + "\n").encode())
    return form_of(log).read(log, options)


def at(clock: str, text: str, day: str = "2026-06-01") -> str:
    return f"[{day}T{clock}] {text}"


def spans(found: Imported) -> list[tuple[str, str, str, str | None]]:
    return [
        (i.unit_id, i.state, f"{i.started_at:%H:%M:%S}", f"{i.ended_at:%H:%M:%S}" if i.ended_at else None)
        for i in found.incidents
    ]


def adds_up(found: Imported) -> bool:
    return found.records == found.used + len(found.skipped) + sum(found.left_out.values()) + found.duplicates


def test_nodes_set_down_are_down_until_each_returns():
    found = read(
        at("10:00:00.000", "error: Nodes gx[03-04] not responding"),
        at("10:04:30.250", "error: Nodes gx[03-04] not responding, setting DOWN"),
        at("10:04:30.251", "Killing JobId=48 on failed node gx03"),
        at("10:05:00.000", "Node gx03 now responding"),
        at("10:05:01.000", "node gx03 returned to service"),
        at("10:06:00.000", "sched: Allocate JobId=50 NodeList=gx03"),
    )
    assert found.form == "slurm-controller-log"
    assert spans(found) == [("gx03", "down", "10:04:30", "10:05:01"), ("gx04", "down", "10:04:30", None)]
    assert found.incidents[0].started_at.microsecond == 250_000
    first = next(bound for bound in found.bounds if bound.incident == found.incidents[0].id)
    assert first.earliest == datetime(2026, 6, 1, 10, 0, tzinfo=UTC)
    assert [one.line for one in found.incidents[0].evidence] == [2, 1, 3, 5]
    assert adds_up(found)
    assert found.records == 6


def test_responding_again_does_not_end_what_a_person_set():
    found = read(
        at("10:00:00", "update_node: node gx01 reason set to: swap the board [quimby@2026-06-01T10:00:00]"),
        at("10:00:00", "update_node: node gx01 state set to DOWN"),
        at("10:30:00", "Node gx01 now responding"),
    )
    (made,) = found.incidents
    assert (made.ended_at, made.cause) == (None, "swap the board")
    assert any("stays down until it is" in note for note in found.notes)
    assert "quimby" not in repr(found)


def test_down_and_drain_are_followed_apart():
    found = read(
        at("10:00:00", "drain_nodes: node gx01 state set to DRAIN"),
        at("10:10:00", "error: Nodes gx01 not responding, setting DOWN"),
        at("10:20:00", "validate_node_specs: node gx01 returned to service"),
        at("10:40:00", "update_node: node gx01 state set to IDLE"),
    )
    assert sorted(spans(found)) == [("gx01", "down", "10:00:00", "10:40:00"), ("gx01", "down", "10:10:00", "10:20:00")]
    assert adds_up(found)


def test_draining_and_then_drained_are_two_states_that_touch():
    found = read(
        at("10:00:00", "update_node: node gx01 state set to DRAINING"),
        at("10:15:00", "update_node: node gx01 state set to DRAINED"),
        at("10:40:00", "update_node: node gx01 state set to IDLE"),
    )
    assert spans(found) == [("gx01", "degraded", "10:00:00", "10:15:00"), ("gx01", "down", "10:15:00", "10:40:00")]


def test_a_node_that_rebooted_was_down_from_its_last_response_on():
    last, boot = (int(datetime(2026, 6, 1, 9, minute, tzinfo=UTC).timestamp()) for minute in (50, 55))
    found = read(
        at("10:00:00", f"validate_node_specs: Node gx01 unexpectedly rebooted boot_time={boot} last response={last}"),
        at("10:05:00", "update_node: node gx01 state set to IDLE"),
    )
    (made,) = found.incidents
    assert spans(found) == [("gx01", "down", "09:50:00", "10:05:00")]
    assert made.detected_at == datetime(2026, 6, 1, 10, 0, tzinfo=UTC)
    assert [(bound.earliest.minute, bound.latest.minute) for bound in found.bounds] == [(50, 55)]


def test_silence_that_ends_before_the_timeout_is_unknown():
    found = read(at("10:00:00", "error: Nodes gx01 not responding"), at("10:02:00", "Node gx01 now responding"))
    assert spans(found) == [("gx01", "unknown", "10:00:00", "10:02:00")]


def test_a_return_without_a_beginning_is_named_and_not_guessed():
    found = read(
        at("10:00:00", "node gx01 returned to service"), at("10:01:00", "Nodes gx02 not responding, setting DOWN")
    )
    assert [(one.line, "began before this log" in one.reason) for one in found.skipped] == [(1, True)]
    assert spans(found) == [("gx02", "down", "10:01:00", None)]


def test_lines_that_cannot_be_read_are_named():
    found = read(
        at("10:00:00", "slurmctld version 24.11.5 started on cluster fjord"),
        "error: Nodes gx01 not responding, setting DOWN",
        at("10:00:00", "error: Nodes gx[01- not responding, setting DOWN"),
        at("25:00:00", "error: Nodes gx01 not responding, setting DOWN"),
        at("10:00:00", "update_node: node gx01 state set to WOBBLY"),
        "    continued",
        at("10:00:00", "error: Nodes gx02 not responding, setting DOWN"),
    )
    assert [one.line for one in found.skipped] == [2, 3, 4]
    assert spans(found) == [("gx01", "unknown", "10:00:00", None), ("gx02", "down", "10:00:00", None)]
    assert found.unknown_states == {"WOBBLY": 1}
    assert any("started again" in note for note in found.notes)
    assert adds_up(found)


def test_without_a_zone_the_log_is_refused_and_with_offsets_it_needs_none():
    line = at("10:00:00", "error: Nodes gx01 not responding, setting DOWN")
    with pytest.raises(DealError, match="--zone"):
        read(line, options=Options())
    found = read(
        "2026-06-01T10:00:00.5+02:00 head slurmctld[71]: error: Nodes gx01 not responding, setting DOWN",
        options=Options(),
    )
    assert spans(found) == [("gx01", "down", "08:00:00", None)]


def test_the_order_of_lines_tells_the_two_readings_of_an_autumn_hour_apart():
    day = "2026-10-25"
    found = read(
        at("02:50:00", "error: Nodes gx01 not responding, setting DOWN", day),
        at("02:10:00", "node gx01 returned to service", day),
        options=Options(zone="Europe/Oslo"),
    )
    (made,) = found.incidents
    assert made.ended_at - made.started_at == timedelta(minutes=20)
    ambiguous = read(
        at("02:50:00", "error: Nodes gx01 not responding, setting DOWN", day), options=Options(zone="Europe/Oslo")
    )
    (bound,) = ambiguous.bounds
    assert bound.latest - bound.earliest == timedelta(hours=1, seconds=300)


def test_an_end_before_its_beginning_leaves_it_open():
    found = read(
        at("10:00:00", "error: Nodes gx01 not responding, setting DOWN"),
        at("09:00:00", "node gx01 returned to service"),
    )
    assert spans(found) == [("gx01", "down", "10:00:00", None)]
    assert any("earlier time" in note for note in found.notes)
