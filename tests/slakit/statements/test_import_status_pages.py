"""Status pages, their feeds, and notices of clouds."""

import csv
import io
import json
import random
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import DealError
from schemas.incidents import Incident
from slakit.statements.importers.find import form_of
from slakit.statements.importers.form import Options
from slakit.statements.importers.imported import Imported
from slakit.statements.importers.log import Log


def read(text: str | bytes, name: str, options: Options | None = None) -> Imported:
    log = Log(name, text if isinstance(text, bytes) else text.encode())
    return form_of(log).read(log, options or Options())


def seconds(incidents: tuple[Incident, ...]) -> float:
    return sum((made.ended_at - made.started_at).total_seconds() for made in incidents if made.ended_at)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


# Statuspage, JSON


def page(**fields: Any) -> dict[str, Any]:
    return {
        "id": "k1",
        "name": "Slow volumes",
        "status": "resolved",
        "impact": "major",
        "created_at": "2027-02-03T04:05:06.500+01:00",
        "monitoring_at": "2027-02-03T05:00:00.000+01:00",
        "resolved_at": "2027-02-03T06:05:06.500+01:00",
        "updated_at": "2027-02-03T06:05:06.500+01:00",
        "incident_updates": [],
        "components": [{"id": "c1", "name": "Block storage"}],
    } | fields


def pages(*incidents: dict[str, Any]) -> str:
    return json.dumps({"page": {"name": "Ode Cloud"}, "incidents": incidents}, indent=1)


def test_an_incident_runs_from_its_notice_to_resolved_with_monitoring_as_a_bound():
    found = read(pages(page()), "incidents.json")
    (made,) = found.incidents
    assert (made.unit_id, made.level, made.state) == ("Block storage", "site", "down")
    assert made.notice_at == made.started_at == at("2027-02-03T03:05:06.5+00:00")
    assert seconds(found.incidents) == 7200
    assert [(one.field, one.earliest, one.latest) for one in found.bounds] == [
        ("started_at", None, made.started_at),
        ("ended_at", at("2027-02-03T04:00:00+00:00"), made.ended_at),
    ]
    assert made.evidence[0].line == 6  # of the indented text


def test_a_page_says_when_its_components_count_and_not_that_they_never_do():
    notes = " ".join(read(pages(page()), "incidents.json").notes)
    assert "counts only where a unit of the contract bears the name" in notes
    assert "evidence only" not in notes


def test_a_start_that_the_page_gives_is_taken_before_the_notice():
    found = read(pages(page(started_at="2027-02-03T03:00:00Z")), "incidents.json")
    assert found.incidents[0].started_at == at("2027-02-03T03:00:00+00:00")
    assert found.incidents[0].notice_at == at("2027-02-03T03:05:06.5+00:00")
    assert [one.field for one in found.bounds] == ["ended_at"]


def test_planned_work_begins_when_it_is_in_progress_not_when_it_was_announced():
    planned = page(
        impact="maintenance",
        status="completed",
        resolved_at=None,
        scheduled_for="2027-02-10T00:00:00Z",
        scheduled_until="2027-02-10T04:00:00Z",
        incident_updates=[
            {"status": "completed", "display_at": "2027-02-10T03:00:00Z"},
            {"status": "in_progress", "display_at": "2027-02-10T01:00:00Z"},
            {"status": "scheduled", "display_at": "2027-02-03T00:00:00Z"},
        ],
    )
    found = read(json.dumps({"page": {"name": "Ode"}, "scheduled_maintenances": [planned]}), "planned.json")
    (made,) = found.incidents
    assert (made.state, made.started_at.hour, made.ended_at) == ("planned", 1, at("2027-02-10T03:00:00+00:00"))


def test_each_component_is_a_unit_and_the_record_counts_once():
    components = [{"name": "Compute"}, {"name": "Network"}, {"name": "Compute"}]
    found = read(pages(page(components=components), page(id="k2", components=[])), "incidents.json")
    assert [made.unit_id for made in found.incidents] == ["Compute", "Network", "Ode Cloud"]
    assert (found.records, found.used) == (2, 2)


def test_impacts_are_told_apart_and_an_unknown_one_is_unknown():
    words = ["none", "minor", "critical", "severe", None]
    found = read(pages(*(page(id=str(n), impact=word) for n, word in enumerate(words))), "incidents.json")
    assert [made.state for made in found.incidents] == ["degraded", "down", "unknown", "unknown"]
    assert found.unknown_states == {"severe": 1, "(no impact)": 1}
    assert sum(found.left_out.values()) == 1


def test_an_open_incident_is_open_and_a_closed_one_without_a_time_is_skipped():
    found = read(pages(page(status="monitoring", resolved_at=None), page(id="k2", resolved_at=None)), "incidents.json")
    assert [made.ended_at for made in found.incidents] == [None]
    assert "does not say since when" in found.skipped[0].reason


def test_the_newest_version_of_an_incident_counts():
    later = page(updated_at="2027-02-04T00:00:00+01:00", resolved_at="2027-02-03T07:05:06.500+01:00")
    found = read(pages(later, page()), "incidents.json")
    assert (found.records, found.duplicates, seconds(found.incidents)) == (2, 1, 10800)


def test_the_published_incidents_add_up(logs: Path):
    path = logs / "status-page" / "github_incidents_first60.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    found = read(path.read_bytes(), path.name)
    expected: Counter[str] = Counter()
    total = 0.0
    for one in lines:
        if one["impact"] == "none":
            continue
        begun = one["started_at"]
        if one["impact"] == "maintenance":
            begun = next(update["at"] for update in one["updates"] if update["status"] == "In progress")
        units = one.get("components") or ["www.githubstatus.com"]
        expected.update(units)
        total += len(units) * (at(one["resolved_at"]) - at(begun)).total_seconds()
    assert (found.records, found.used, sum(found.left_out.values())) == (60, 57, 3)
    assert Counter(made.unit_id for made in found.incidents) == expected
    assert seconds(found.incidents) == total
    assert not found.skipped


def test_the_published_incidents_cut_off_anywhere_add_up(logs: Path):
    data = (logs / "status-page" / "github_incidents_first60.jsonl").read_bytes()
    whole = {str(made) for made in read(data, "i.jsonl").incidents}
    for cut in random.Random(6).sample(range(2000, len(data)), 20):
        found = read(data[:cut], "i.jsonl")
        assert found.records == sum(bool(line.strip()) for line in data[:cut].split(b"\n"))
        assert {str(made) for made in found.incidents} <= whole


# Feeds


def update(when: str, word: str, zone: str = "UTC") -> str:
    day, time = when.split(", ")
    month, number = day.split()
    return (
        f"&lt;p&gt; &lt;small&gt;{month} &lt;var data-var='date'&gt;{number}&lt;/var&gt;, &lt;var data-var='time'&gt;"
        f"{time}&lt;/var&gt; {zone}&lt;/small&gt;&lt;br&gt; &lt;strong&gt;{word}&lt;/strong&gt; - Words. &lt;/p&gt;"
    )


def feed(*entries: tuple[str, str]) -> str:
    body = "".join(
        f"<entry>\n<id>{n}</id><published>{published}</published><title>Entry {n}</title>"
        f'<content type="html">{text}</content></entry>\n'
        for n, (published, text) in enumerate(entries)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n'
        f"<title>Ode Status</title><author><name>Ode</name></author>\n{body}</feed>\n"
    )


def test_years_follow_from_the_last_update_across_new_year():
    text = (
        update("Jan  1, 02:30", "Resolved")
        + update("Jan  1, 00:10", "Monitoring")
        + update("Dec 31, 23:00", "Investigating")
    )
    found = read(feed(("2027-01-01T02:30:44Z", text)), "history.atom")
    (made,) = found.incidents
    assert (made.started_at, made.unit_id, made.state) == (at("2026-12-31T23:00:00+00:00"), "Ode", "unknown")
    assert seconds(found.incidents) == 3.5 * 3600
    assert found.bounds[1].earliest == at("2027-01-01T00:10:00+00:00")
    assert found.unknown_states == {"(a feed names no impact)": 1}
    assert made.evidence[0].line == 4


def test_an_entry_whose_year_cannot_be_told_is_skipped():
    good = update("Jan  1, 02:30", "Resolved") + update("Jan  1, 01:00", "Investigating")
    found = read(feed(("2027-01-01T02:30:44Z", good), ("2027-05-01T02:30:44Z", good)), "history.atom")
    assert (len(found.incidents), found.records) == (1, 2)
    assert "its year cannot be told" in found.skipped[0].reason


def test_updates_in_another_zone_need_the_zone():
    text = update("May  2, 02:30", "Resolved", "PDT") + update("May  2, 01:30", "Investigating", "PDT")
    with pytest.raises(DealError, match="none tells when its outage began and ended"):
        read(feed(("2027-05-02T09:30:00Z", text)), "history.atom")
    found = read(feed(("2027-05-02T09:30:00Z", text)), "history.atom", Options(zone="America/Los_Angeles"))
    assert found.incidents[0].started_at == at("2027-05-02T08:30:00+00:00")


def test_a_feed_of_words_alone_is_refused_with_the_reason():
    text = (
        '<rss version="2.0"><channel><title>Ode</title><item><title>[RESOLVED] Slow</title>'
        "<pubDate>Sun, 02 May 2027 09:30:00 GMT</pubDate><description>All well.</description></item></channel></rss>"
    )
    with pytest.raises(DealError, match="only the time of the post"):
        read(text, "feed.rss")


@pytest.mark.parametrize(
    "evil",
    [
        '<!DOCTYPE feed [<!ENTITY a "b">]>',
        '<!doctype feed SYSTEM "file:///etc/passwd">',
        '<!DOCTYPE feed [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>',
    ],
)
def test_a_feed_with_a_document_type_or_entities_is_refused(evil: str):
    text = feed(("2027-01-01T02:30:44Z", "&a;")).replace("?>\n", f"?>\n{evil}\n", 1)
    with pytest.raises(DealError, match="a document type or entities"):
        read(text, "history.atom")


def test_the_published_feed_agrees_with_the_windows_derived_from_it(logs: Path):
    folder = logs / "status-page"
    found = read((folder / "github_status_history.atom").read_bytes(), "history.atom")
    text = (folder / "github_downtime_windows.csv").read_text(encoding="utf-8")
    derived = {row["incident_id"]: row for row in csv.DictReader(io.StringIO(text))}
    assert (found.records, found.used, len(found.incidents)) == (25, 25, 25)
    compared = 0
    for made in found.incidents:
        number = re.search(r"Incident/(\d+)", made.evidence[0].text)
        assert number is not None
        row = derived.get(number[1])
        if row is not None and row["source"] == "updates":  # the others were moved by what a postmortem says
            assert (made.started_at, made.ended_at) == (at(row["downtime_start"]), at(row["downtime_end"]))
            compared += 1
    assert compared >= 5
    # counted by hand-written expressions alone: the first and the last time of each entry, all in 2026
    body = (folder / "github_status_history.atom").read_text(encoding="utf-8")
    total = 0.0
    for entry in body.split("<entry>")[1:]:
        times = re.findall(r"&lt;small&gt;(\w+) +&lt;var data-var='date'&gt; *(\d+)&lt;/var&gt;, "
                           r"&lt;var data-var='time'&gt;(\d\d:\d\d)", entry)  # fmt: skip
        places = [datetime.strptime(f"2026 {' '.join(one)} +0000", "%Y %b %d %H:%M %z") for one in times]
        total += (places[0] - places[-1]).total_seconds()
    assert seconds(found.incidents) == total


def test_the_published_feed_cut_off_anywhere_is_refused(logs: Path):
    data = (logs / "status-page" / "github_status_history.atom").read_bytes()
    for cut in random.Random(7).sample(range(200, len(data) - 9), 20):
        with pytest.raises(DealError, match="expected well-formed XML"):
            read(data[:cut], "history.atom")


# Google Cloud


def test_a_cloud_incident_begins_at_begin_at_each_place_that_it_lists():
    one = {
        "id": "abc", "number": "1", "begin": "2027-03-01T10:00:00+00:00", "created": "2027-03-01T10:17:00+00:00",
        "end": "2027-03-01T12:00:00+00:00", "status_impact": "SERVICE_DISRUPTION", "severity": "medium",
        "service_name": "Ode Engine", "affected_products": [{"title": "Ode Engine", "id": "x9"}], "updates": [],
        "currently_affected_locations": [], "external_desc": "Slow starts",
        "previously_affected_locations": [
            {"title": "Oslo (north1)", "id": "europe-north1"}, {"title": "Global", "id": "global"},
        ],
    }  # fmt: skip
    also = one | {"id": "b", "end": None, "status_impact": "SERVICE_OUTAGE", "previously_affected_locations": []}
    more = [one | {"id": "c", "status_impact": "SERVICE_INFORMATION"}, one | {"id": "d", "status_impact": "HUH"}, one]
    found = read(json.dumps([one, also, *more]), "incidents.json")
    assert [(made.unit_id, made.state) for made in found.incidents[:3]] == [
        ("Ode Engine@europe-north1", "degraded"),
        ("Ode Engine@Global", "degraded"),
        ("Ode Engine", "down"),
    ]
    assert found.incidents[0].notice_at == found.incidents[0].started_at + timedelta(minutes=17)
    assert found.incidents[2].ended_at is None
    assert (found.records, found.used, found.duplicates, found.unknown_states) == (5, 3, 1, {"HUH": 1})


# AWS Health


def health(**detail: Any) -> dict[str, Any]:
    return {
        "source": "aws.health", "account": "918273645546", "time": "2027-03-01T11:00:00Z", "region": "eu-north-1",
        "detail": {
            "eventArn": "arn:1", "service": "EC2", "eventTypeCode": "AWS_EC2_OPERATIONAL_ISSUE",
            "eventTypeCategory": "issue", "startTime": "Mon, 1 Mar 2027 10:00:00 GMT",
            "endTime": "Mon, 1 Mar 2027 12:00:00 GMT", "affectedEntities": [{"entityValue": "i-0a1b"}],
        } | detail,
    }  # fmt: skip


def test_only_issues_count_and_planned_change_is_planned():
    found = read(
        json.dumps([
            health(),
            health(eventArn="arn:2", eventTypeCategory="scheduledChange", affectedEntities=[]),
            health(eventArn="arn:3", eventTypeCategory="accountNotification"),
            health(eventArn="arn:4", eventTypeCode="AWS_EC2_DRIVE_PERFORMANCE_DEGRADED", endTime=None),
            health(eventArn="arn:5", startTime="Tue, 1 Mar 2027 10:00:00 GMT"),
            health(),
        ]),
        "events.json",
    )  # fmt: skip
    assert [(made.unit_id, made.level, made.state) for made in found.incidents] == [
        ("i-0a1b", "node", "down"),
        ("EC2@eu-north-1", "site", "planned"),
        ("i-0a1b", "node", "degraded"),
    ]
    assert found.incidents[2].ended_at is None
    assert "that day was a Monday" in found.skipped[0].reason
    assert (found.records, found.duplicates) == (6, 1)


def test_the_api_gives_seconds():
    event = health()["detail"] | {"startTime": 1803895200.5, "endTime": 1803902400.5, "statusCode": "closed"}
    found = read(json.dumps({"events": [event]}), "events.json")
    assert found.incidents[0].started_at == datetime(2027, 3, 1, 10, 0, 0, 500000, tzinfo=UTC)
    assert seconds(found.incidents) == 7200


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("ec2_drive_degraded_event.json", "an example of the vendor"),
        ("ebs_volume_lost_mock.json", "a test event"),
        ("ecs_task_patching_sample.json", "a test event"),
    ],
)
def test_the_vendor_s_placeholders_are_left_out_with_the_reason(logs: Path, name: str, reason: str):
    data = (logs / "aws-health" / name).read_bytes()
    found = read(data, name)
    assert (found.records, found.incidents) == (1, ())
    assert [key.startswith(reason) for key in found.left_out] == [True]
    for cut in random.Random(8).sample(range(2, len(data.rstrip()) - 1), 20):
        log = Log(name, data[:cut])
        with pytest.raises(DealError, match="expected JSON"):
            form_of(log, "aws-health").read(log, Options())
